/* Depthwise Conv: cuts the output into units of a block of channels by a tile of an output plane (depthwise_isa.c). */
#include "conv.h"

enum { MOST_POSITIONS = 3072, LEAST_GROUPS = 4, MOST_OUTPUTS = 8, TASK_PRODUCTS = 1 << 19 };

typedef struct depthwise_plan {
  exact_plan base;
  exact_conv_shape s;
  const void *packed;
  bool bias;
  size_t real, kind, lanes, blocks;
  size_t rows, columns, high, wide; /* of a tile; positions of a slab */
  size_t row_tiles, column_tiles, units, per_task, tasks;
  size_t weights_at, bias_at, slots_at, slot, out_at;
  uint32_t at[]; /* position of each tap */
} depthwise_plan;

typedef struct depthwise_run {
  const depthwise_plan *p;
  const char *x, *weights, *bias;
  char *y;
  exact_slots slots;
} depthwise_run;

static size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

bool exact_depthwise_serves(const exact_conv_weights *w, size_t c, const int64_t extent[3]) {
  if (c != 1 || w->groups < LEAST_GROUPS || w->m < 1 || w->m > MOST_OUTPUTS || extent[0] > EXACT_DEPTHWISE_SLABS) return false;
  return extent[1] <= MOST_POSITIONS && extent[2] <= MOST_POSITIONS && extent[0] * extent[1] * extent[2] <= MOST_POSITIONS;
}

/* ---- weights: [block of channels][output of a channel][tap][lane] ---- */
bool exact_depthwise_weights_size(const exact_op *op, const exact_conv_weights *w, size_t *size) {
  size_t lanes = exact_conv_gemm(op)->lanes;
  return exact_mul(quotient(w->groups, lanes) * lanes, w->m, size) && exact_mul(*size, w->k, size) &&
         exact_mul(*size, exact_dtype_size(exact_arith(w->dtype)), size);
}

void exact_depthwise_weights(const exact_op *op, const exact_conv_weights *w, const void *src, void *dst,
                             const exact_threads *threads) {
  size_t lanes = exact_conv_gemm(op)->lanes, real = exact_dtype_size(exact_arith(w->dtype));
  (void)threads; /* small */
  for (size_t c = 0; c < w->groups; c += lanes)
    for (size_t j = 0; j < w->m; j++)
      op->isa->conv->weights[w->dtype == EXACT_FLOAT64]((char *)dst + (c * w->m + j * lanes) * w->k * real, lanes,
                                                        (const char *)src + (c * w->m + j) * w->k * exact_dtype_size(w->dtype),
                                                        w->m * w->k, 1, smaller(w->groups - c, lanes), w->k, w->dtype);
}

/* ---- run ---- */
static void depthwise_task(void *arg, size_t index) {
  depthwise_run *r = arg;
  const depthwise_plan *p = r->p;
  const exact_conv_shape *s = &p->s;
  size_t element = exact_dtype_size(s->dtype), end = smaller((index + 1) * p->per_task, p->units);
  size_t x_plane = (size_t)s->in[0] * (size_t)s->in[1] * (size_t)s->in[2] * element;
  size_t y_plane = (size_t)s->out[0] * (size_t)s->out[1] * (size_t)s->out[2] * element;
  char *slot = exact_slot_take(&r->slots);
  for (size_t unit = index * p->per_task; unit < end; unit++) {
    size_t column = unit % p->column_tiles * p->columns, row = unit / p->column_tiles % p->row_tiles * p->rows;
    size_t rest = unit / p->column_tiles / p->row_tiles, depth = rest % (size_t)s->out[0];
    size_t block = rest / (size_t)s->out[0] % p->blocks, image = rest / (size_t)s->out[0] / p->blocks;
    size_t c = block * p->lanes;
    exact_depthwise d = {.shape = s, .channels = smaller(s->groups - c, p->lanes), .depth = (int64_t)depth};
    d.x = r->x + (image * s->groups + c) * x_plane;
    d.y = r->y + (image * s->groups + c) * s->m * y_plane;
    d.weights = r->weights + c * s->m * s->taps * p->real;
    d.bias = r->bias ? r->bias + c * s->m * p->real : NULL;
    d.row = (int64_t)row;
    d.column = (int64_t)column;
    d.rows = smaller((size_t)s->out[1] - row, p->rows);
    d.columns = smaller((size_t)s->out[2] - column, p->columns);
    d.high = p->high;
    d.wide = p->wide;
    d.at = p->at;
    d.area = slot;
    d.out = slot + p->out_at;
    p->base.op->isa->conv->depthwise[p->kind](&d);
  }
  exact_slot_give(&r->slots, slot);
}

static void depthwise_run_plan(const exact_call *call) {
  const depthwise_plan *p = (const depthwise_plan *)call->plan;
  const exact_op *op = p->base.op;
  depthwise_run r = {.p = p, .x = call->in[0], .weights = p->packed, .y = call->out[0]};
  if (!p->units) return;
  if (!p->packed) {
    exact_conv_weights w = {p->s.dtype, EXACT_CONV_DEPTHWISE, p->s.groups, p->s.m, p->s.taps};
    exact_depthwise_weights(op, &w, call->in[1], call->work + p->weights_at, call->threads);
    r.weights = call->work + p->weights_at;
  }
  if (p->bias) {
    r.bias = call->in[2];
    if (exact_dtype_size(p->s.dtype) != p->real) {
      op->isa->conv->weights[p->kind](call->work + p->bias_at, 1, call->in[2], 0, 1, 1, p->s.groups * p->s.m, p->s.dtype);
      r.bias = call->work + p->bias_at;
    }
  }
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, exact_slot_count(p->tasks));
  exact_parallel(call->threads, p->tasks, depthwise_task, &r);
}

/* ---- plan ---- */
static void plan_tile(depthwise_plan *p) {
  const exact_conv_shape *s = &p->s;
  int64_t extent[3];
  for (int i = 0; i < 3; i++) extent[i] = (s->kernel[i] - 1) * s->dilation[i] + 1;
  /* Outputs of an axis such that the positions stay within a budget; at least one. */
  int64_t room = MOST_POSITIONS / s->kernel[0] / extent[1] - extent[2];
  int64_t columns = room > 0 ? room / s->stride[2] + 1 : 1;
  if (columns > s->out[2]) columns = s->out[2];
  int64_t wide = (columns - 1) * s->stride[2] + extent[2];
  room = MOST_POSITIONS / s->kernel[0] / wide - extent[1];
  int64_t rows = room > 0 ? room / s->stride[1] + 1 : 1;
  if (rows > s->out[1]) rows = s->out[1];
  p->columns = (size_t)columns;
  p->rows = quotient((size_t)s->out[1], quotient((size_t)s->out[1], (size_t)rows));
  p->wide = (size_t)wide;
  p->high = (p->rows - 1) * (size_t)s->stride[1] + (size_t)extent[1];
  for (size_t t = 0; t < s->taps; t++) {
    size_t kw = t % (size_t)s->kernel[2], kh = t / (size_t)s->kernel[2] % (size_t)s->kernel[1];
    size_t kd = t / (size_t)s->kernel[2] / (size_t)s->kernel[1];
    p->at[t] = (uint32_t)((kd * p->high + kh * (size_t)s->dilation[1]) * p->wide + kw * (size_t)s->dilation[2]);
  }
}

static bool plan_workspace(depthwise_plan *p) {
  const exact_conv_shape *s = &p->s;
  size_t weights, area, slot = 0;
  exact_conv_weights w = {s->dtype, EXACT_CONV_DEPTHWISE, s->groups, s->m, s->taps};
  p->row_tiles = quotient((size_t)s->out[1], p->rows);
  p->column_tiles = quotient((size_t)s->out[2], p->columns);
  if (!exact_mul(s->n, p->blocks, &p->units) || !exact_mul(p->units, (size_t)s->out[0], &p->units) ||
      !exact_mul(p->units, p->row_tiles, &p->units) || !exact_mul(p->units, p->column_tiles, &p->units))
    return false;
  size_t products = p->rows * p->columns * p->lanes * s->m * s->taps;
  p->per_task = products < TASK_PRODUCTS ? TASK_PRODUCTS / products : 1;
  p->tasks = quotient(p->units, p->per_task);
  if (!p->packed &&
      (!exact_depthwise_weights_size(p->base.op, &w, &weights) || !exact_part(&p->base.workspace, weights, 1, &p->weights_at)))
    return false;
  if (!exact_part(&p->base.workspace, s->groups * s->m, p->real, &p->bias_at) ||
      !exact_part(&slot, (size_t)s->kernel[0] * p->high * p->wide * p->lanes, p->real, &area) ||
      !exact_part(&slot, s->m * (p->columns + EXACT_DEPTHWISE_HELD * p->lanes) * p->lanes, p->real, &p->out_at))
    return false;
  p->slot = slot + 64;
  return exact_part(&p->base.workspace, (size_t)exact_slot_count(p->tasks), p->slot, &p->slots_at);
}

int exact_depthwise_plan(const exact_op *op, const exact_conv_shape *s, const void *packed, bool bias, const exact_tensor *y,
                         exact_plan **plan, exact_error *err) {
  depthwise_plan *p = exact_new(sizeof *p + s->taps * sizeof p->at[0], err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = depthwise_run_plan, .out = {*y}};
  p->s = *s;
  p->packed = packed;
  p->bias = bias;
  p->kind = s->dtype == EXACT_FLOAT64;
  p->real = exact_dtype_size(exact_arith(s->dtype));
  p->lanes = exact_conv_gemm(op)->lanes;
  p->blocks = quotient(s->groups, p->lanes);
  bool fits = true;
  if (s->n && s->out[0] && s->out[1] && s->out[2]) {
    plan_tile(p);
    fits = plan_workspace(p);
  }
  if (!fits) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *plan = &p->base;
  return EXACT_OK;
}
