/* ConvTranspose as a matrix product and a fold. col[(channel, tap)][input position] = w * x for a block of channels and a
 * box of input positions, then every output of the box sums its landing taps (conv_fold.h). A box is a range of outputs along
 * the first axis that is not trivial, with the inputs that reach it; neighbouring boxes compute shared inputs twice. */
#include "conv.h"

enum { BLOCK_ROWS = 256, COL_BYTES = 512 << 10, MOST_COL_BYTES = 16 << 20, LANE_PANEL_BYTES = 24 << 10, K_BLOCK = 320 };

typedef struct transpose_plan {
  exact_plan base;
  exact_conv_shape s;
  exact_conv_shape flat; /* the input as one row of positions, for the packer */
  const void *packed;
  bool bias, scatter;
  exact_tiling tiling;
  size_t real, kind, channels;      /* of a block */
  size_t blocks, boxes, box, inner; /* inner: input positions per input of the axis */
  int axis;
  size_t col_stride, k_block, tiles, tile_stride, tasks;
  size_t weights_at, slots_at, slot, panels_at, area_at;
} transpose_plan;

typedef struct transpose_run {
  const transpose_plan *p;
  const char *x, *weights, *bias;
  char *y;
  exact_slots slots;
} transpose_run;

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }

/* ---- weights: [group][block of channels][panel][c][rows], rows counting (channel, tap) ---- */
static size_t block_channels(size_t m, size_t taps) {
  size_t channels = taps < BLOCK_ROWS ? BLOCK_ROWS / taps : 1;
  return smaller(channels, m ? m : 1);
}

bool exact_transpose_weights_size(const exact_conv_shape *s, size_t *size) {
  return exact_mul(s->groups, s->c, size) && exact_mul(*size, s->m, size) && exact_mul(*size, s->taps, size) &&
         exact_mul(*size, exact_dtype_size(exact_arith(s->dtype)), size);
}

typedef struct weights_job {
  const exact_op *op;
  const exact_conv_shape *s;
  const char *src;
  char *dst;
} weights_job;

static void pack_block(void *arg, size_t index) {
  const weights_job *job = arg;
  const exact_conv_shape *s = job->s;
  size_t channels = block_channels(s->m, s->taps), blocks = quotient(s->m, channels), group = index / blocks;
  size_t first = index % blocks * channels, row0 = first * s->taps, row1 = smaller(first + channels, s->m) * s->taps;
  size_t all = s->m * s->taps, real = exact_dtype_size(exact_arith(s->dtype)), element = exact_dtype_size(s->dtype);
  for (size_t row = row0; row < row1;) {
    size_t rows = exact_gemm_part(row1 - row, exact_conv_gemm(job->op)->rows);
    job->op->isa->conv->weights[s->dtype == EXACT_FLOAT64](job->dst + (group * all + row) * s->c * real, rows,
                                                           job->src + (group * s->c * all + row) * element, 1, all, rows, s->c,
                                                           s->dtype);
    row += rows;
  }
}

void exact_transpose_weights(const exact_op *op, const exact_conv_shape *s, const void *src, void *dst,
                             const exact_threads *threads) {
  weights_job job = {op, s, src, dst};
  if (s->m) exact_parallel(threads, s->groups * quotient(s->m, block_channels(s->m, s->taps)), pack_block, &job);
}

/* ---- run ---- */
static double bias_of(const transpose_run *r, size_t channel) {
  double value[1] = {0};
  float single;
  if (!r->p->bias) return 0;
  size_t element = exact_dtype_size(r->p->s.dtype);
  void *to = r->p->kind ? (void *)value : (void *)&single;
  r->p->base.op->isa->conv->weights[r->p->kind](to, 1, r->bias + channel * element, 0, 0, 1, 1, r->p->s.dtype);
  return r->p->kind ? value[0] : single;
}

/* The box's outputs and the inputs that reach them. */
static void box_range(const transpose_plan *p, size_t index, exact_fold *f) {
  const exact_conv_shape *s = &p->s;
  int axis = p->axis;
  int64_t stride = s->stride[axis], pad = s->pad[axis], reach = (s->kernel[axis] - 1) * s->dilation[axis];
  f->shape = s;
  for (int i = 0; i < 3; i++) {
    f->in1[i] = s->in[i];
    f->out1[i] = s->out[i];
  }
  int64_t q0 = pad - pad % stride + (int64_t)(index * p->box), q1 = q0 + (int64_t)p->box;
  if (q0 < pad) q0 = pad;
  if (q1 > pad + s->out[axis]) q1 = pad + s->out[axis];
  f->out0[axis] = q0 - pad;
  f->out1[axis] = q1 - pad;
  f->in0[axis] = q0 > reach ? (q0 - reach + stride - 1) / stride : 0;
  f->in1[axis] = (q1 - 1) / stride + 1;
  if (f->in1[axis] > s->in[axis]) f->in1[axis] = s->in[axis];
  if (f->in0[axis] > f->in1[axis]) f->in0[axis] = f->in1[axis];
}

/* col rows of a block for the positions [first, first + count). Few rows are not worth packing x for. */
static void multiply(const transpose_run *r, const char *x, const char *w, size_t rows, size_t first, size_t count,
                     char *slot) {
  const transpose_plan *p = r->p;
  const struct exact_gemm_kernels *gemm = exact_conv_gemm(p->base.op);
  size_t tile = p->tiling.most * p->tiling.lanes, real = p->real, k_all = p->s.c, plane = (size_t)p->flat.in[2];
  bool plain = rows <= 2 * gemm->rows && exact_dtype_size(p->s.dtype) == real;
  exact_pack pack = {
      .shape = &p->flat, .x = x, .tiling = &p->tiling, .panels = slot + p->panels_at, .tile_stride = p->tile_stride};
  for (size_t done = 0; done < count; done += p->tiles * tile) {
    pack.pixels.first = first + done;
    pack.pixels.count = smaller(count - done, p->tiles * tile);
    bool packed = !plain || pack.pixels.count % p->tiling.lanes;
    for (size_t k = 0, run; k < k_all || k == 0; k += run ? run : 1) {
      run = smaller(k_all - k, p->k_block);
      pack.k0 = k;
      pack.k1 = k + run;
      if (packed) p->base.op->isa->conv->pack[p->kind](&pack);
      for (size_t row = 0, high; row < rows; row += high) {
        high = exact_gemm_part(rows - row, gemm->rows);
        const char *a = w + (row * k_all + k * high) * real, *ahead = a + high * k_all * real;
        const char *panel = packed ? pack.panels : x + (k * plane + pack.pixels.first) * real;
        char *c = slot + (row * p->col_stride + done) * real;
        for (size_t left = pack.pixels.count, pixels; left > 0; left -= pixels, c += pixels * real) {
          pixels = exact_tile_pixels(&p->tiling, left);
          size_t width = exact_tile_width(&p->tiling, pixels);
          gemm->tile(high, width / p->tiling.lanes, run, a, panel, packed ? width : plane, c, p->col_stride, k == 0, NULL,
                     ahead);
          ahead = a;
          panel += (packed ? p->tile_stride : pixels) * real;
        }
      }
    }
  }
}

static void box_task(void *arg, size_t index) {
  transpose_run *r = arg;
  const transpose_plan *p = r->p;
  const exact_conv_shape *s = &p->s;
  size_t block = index % p->blocks, box = index / p->blocks % p->boxes, instance = index / p->blocks / p->boxes;
  size_t group = instance % s->groups, m0 = block * p->channels, m1 = smaller(m0 + p->channels, s->m);
  size_t element = exact_dtype_size(s->dtype), positions = p->flat.in[2] ? (size_t)p->flat.in[2] : 0;
  size_t y_plane = (size_t)s->out[0] * (size_t)s->out[1] * (size_t)s->out[2];
  const char *x = r->x + instance * s->c * positions * element;
  const char *w = r->weights + (group * s->m + m0) * s->taps * s->c * p->real;
  char *slot = exact_slot_take(&r->slots), *y = r->y + instance * s->m * y_plane * element;
  exact_fold fold = {.shape = s};
  if (!p->scatter) {
    box_range(p, box, &fold);
    size_t first = (size_t)fold.in0[p->axis] * p->inner, end = (size_t)fold.in1[p->axis] * p->inner;
    multiply(r, x, w, (m1 - m0) * s->taps, first, end - first, slot);
  }
  for (size_t m = m0; m < m1; m++) {
    double bias = bias_of(r, group * s->m + m);
    size_t row = (m - m0) * s->taps;
    if (p->scatter) {
      exact_scatter scatter = {.shape = s, .x = x, .w = w, .row = row, .bias = bias, .y = y + m * y_plane * element};
      scatter.rows = (m1 - m0) * s->taps;
      scatter.panel_rows = exact_conv_gemm(p->base.op)->rows;
      p->base.op->isa->conv->scatter[p->kind](&scatter);
    } else {
      fold.col = slot + row * p->col_stride * p->real;
      fold.col_stride = p->col_stride;
      fold.bias = bias;
      fold.y = y + m * y_plane * element;
      fold.area = slot + p->area_at;
      p->base.op->isa->conv->fold[p->kind](&fold);
    }
  }
  exact_slot_give(&r->slots, slot);
}

static void transpose_run_plan(const exact_call *call) {
  const transpose_plan *p = (const transpose_plan *)call->plan;
  if (!p->tasks) return;
  transpose_run r = {.p = p, .x = call->in[0], .weights = p->packed, .bias = p->bias ? call->in[2] : NULL, .y = call->out[0]};
  if (!p->packed) {
    exact_transpose_weights(p->base.op, &p->s, call->in[1], call->work + p->weights_at, call->threads);
    r.weights = call->work + p->weights_at;
  }
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, exact_slot_count(p->tasks));
  exact_parallel(call->threads, p->tasks, box_task, &r);
}

/* ---- plan ---- */
size_t exact_fold_area(const exact_conv_shape *s) { return 2 * exact_align((size_t)s->out[2] + 16); }

static void plan_boxes(transpose_plan *p) {
  const exact_conv_shape *s = &p->s;
  p->axis = 0;
  while (p->axis < 2 && s->in[p->axis] == 1 && s->out[p->axis] == 1 && s->kernel[p->axis] == 1) p->axis++;
  p->inner = 1;
  for (int i = p->axis + 1; i < 3; i++) p->inner *= (size_t)s->in[i];
  double row_bytes = (double)p->channels * (double)s->taps * (double)p->inner * (double)p->real;
  size_t stride = (size_t)s->stride[p->axis], out = (size_t)s->out[p->axis], in = (size_t)s->in[p->axis];
  size_t shared = (size_t)((s->kernel[p->axis] - 1) * s->dilation[p->axis]) / stride; /* inputs that two boxes need */
  size_t inputs = row_bytes * (double)in <= COL_BYTES ? in : (size_t)(COL_BYTES / row_bytes);
  inputs = inputs > 5 * shared ? inputs - shared : 4 * shared;
  if (inputs < 1) inputs = 1;
  size_t offset = (size_t)s->pad[p->axis] % stride;
  if (inputs >= in || exact_mul(inputs, stride, &p->box) == false || p->box >= offset + out) p->box = offset + out;
  p->boxes = quotient(offset + out, p->box);
  size_t most = smaller((p->box - 1) / stride + shared + 2, in); /* inputs of a box */
  p->scatter = row_bytes * (double)most > MOST_COL_BYTES;
  size_t tile = p->tiling.most * p->tiling.lanes;
  p->col_stride = p->scatter ? 0 : quotient(most * p->inner, tile) * tile;
  if (p->col_stride * p->real % 4096 == 0) p->col_stride += p->tiling.lanes; /* rows must not share the low bits of addresses */
  size_t depth = p->k_block = s->c ? quotient(s->c, quotient(s->c, K_BLOCK)) : 0;
  p->tiles = LANE_PANEL_BYTES * p->tiling.lanes / ((depth ? depth : 1) * tile * p->real);
  if (p->tiles < 1) p->tiles = 1;
  if (p->tiles > 16) p->tiles = 16;
  p->tile_stride = depth * tile + p->tiling.lanes;
  if (p->scatter) p->boxes = 1;
}

static bool plan_workspace(transpose_plan *p) {
  const exact_conv_shape *s = &p->s;
  size_t col, weights, slot = 0;
  if (!exact_mul(s->n, s->groups, &p->tasks) || !exact_mul(p->tasks, p->blocks, &p->tasks) ||
      !exact_mul(p->tasks, p->boxes, &p->tasks))
    return false;
  if (!p->packed && (!exact_transpose_weights_size(s, &weights) || !exact_part(&p->base.workspace, weights, 1, &p->weights_at)))
    return false;
  size_t at, rows = p->scatter ? 0 : p->channels * s->taps, panels = p->scatter ? 0 : p->tiles * p->tile_stride;
  if (!exact_mul(rows, p->col_stride, &col) || !exact_part(&slot, col, p->real, &at) ||
      !exact_part(&slot, panels, p->real, &p->panels_at) ||
      !exact_part(&slot, p->scatter ? 0 : exact_fold_area(s), p->real, &p->area_at))
    return false;
  p->slot = slot + 64;
  return exact_part(&p->base.workspace, (size_t)exact_slot_count(p->tasks), p->slot, &p->slots_at);
}

int exact_transpose_plan(const exact_op *op, const exact_conv_shape *s, const void *packed, bool bias, const exact_tensor *y,
                         exact_plan **plan, exact_error *err) {
  transpose_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = transpose_run_plan, .out = {*y}};
  p->s = *s;
  p->flat = (exact_conv_shape){.dtype = s->dtype, .taps = 1, .in = {1, 1, s->in[0] * s->in[1] * s->in[2]}};
  p->packed = packed;
  p->bias = bias;
  p->kind = s->dtype == EXACT_FLOAT64;
  p->real = exact_dtype_size(exact_arith(s->dtype));
  p->tiling = (exact_tiling){true, exact_conv_gemm(op)->lanes, exact_conv_gemm(op)->vectors};
  p->channels = block_channels(s->m, s->taps);
  p->blocks = quotient(s->m, p->channels);
  bool fits = true;
  if (s->n && s->m) {
    plan_boxes(p);
    fits = plan_workspace(p);
  }
  if (!fits) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *plan = &p->base;
  return EXACT_OK;
}
