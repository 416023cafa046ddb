/* Conv as a matrix product of weights and panels of pixels, in one of two layouts.
 * wide: the lanes of a vector are pixels, weights are packed [k][rows] and C is y itself.
 * narrow, for few pixels: the lanes are output channels, weights are packed [k][vectors], C is a scratch [pixel][channel]
 * that is transposed into y. Products run over k in blocks with C kept between them, so that the order stays that of
 * docs/conv.md: +0, then k upwards, then the bias. */
#include "conv_dense.h"

typedef struct dense_run {
  const dense_plan *p;
  const char *x, *weights;
  char *y, *shared_panels;
  const void *bias;
  size_t instance; /* when shared */
  exact_slots slots;
} dense_run;

/* ---- weights ---- */
/* Channels of the panel that starts with `left` to go. */
static size_t panel_rows(size_t left, bool wide, const struct exact_gemm_kernels *gemm) {
  if (wide) return exact_gemm_part(left, gemm->rows);
  return smaller(left, exact_gemm_part(quotient(left, gemm->lanes), gemm->vectors) * gemm->lanes);
}

bool exact_dense_narrow(const exact_op *op, const exact_conv_weights *w, size_t pixels) {
  return pixels > 0 && pixels <= EXACT_NARROW_PIXELS && w->m >= exact_conv_gemm(op)->lanes;
}

bool exact_dense_weights_size(const exact_op *op, const exact_conv_weights *w, size_t *size) {
  size_t rows = padded_rows(w->m, w->layout == EXACT_CONV_WIDE, exact_conv_gemm(op));
  return exact_mul(rows, w->groups, size) && exact_mul(*size, w->k, size) &&
         exact_mul(*size, exact_dtype_size(exact_arith(w->dtype)), size);
}

typedef struct weights_job {
  const exact_op *op;
  const exact_conv_weights *w;
  const char *src;
  char *dst;
} weights_job;

static void pack_group_weights(void *arg, size_t index) {
  const weights_job *job = arg;
  const exact_conv_weights *w = job->w;
  const struct exact_gemm_kernels *gemm = exact_conv_gemm(job->op);
  size_t element = exact_dtype_size(w->dtype);
  size_t real = exact_dtype_size(exact_arith(w->dtype)), kind = w->dtype == EXACT_FLOAT64;
  bool wide = w->layout == EXACT_CONV_WIDE;
  size_t padded = padded_rows(w->m, wide, gemm);
  for (size_t m = 0; m < w->m;) {
    size_t rows = panel_rows(w->m - m, wide, gemm), width = padded_rows(rows, wide, gemm);
    job->op->isa->conv->weights[kind](job->dst + (index * padded + m) * w->k * real, width,
                                      job->src + (index * w->m + m) * w->k * element, w->k, 1, rows, w->k, w->dtype);
    m += rows;
  }
}

void exact_dense_weights(const exact_op *op, const exact_conv_weights *w, const void *src, void *dst,
                         const exact_threads *threads) {
  weights_job job = {op, w, src, dst};
  exact_parallel(threads, w->groups, pack_group_weights, &job);
}

/* ---- run ---- */
typedef struct place {
  size_t image, group;
  exact_pixels pixels;
  size_t first; /* element of the output channel */
} place;

static place locate(const dense_plan *p, size_t instance) {
  const exact_conv_shape *s = &p->s;
  size_t pixel_group = instance % p->groups, depth = instance / p->groups % (size_t)s->out[0];
  size_t rest = instance / p->groups / (size_t)s->out[0], columns = (size_t)s->out[2];
  place at = {.image = rest / s->groups, .group = rest % s->groups};
  exact_pixels *px = &at.pixels;
  if (p->by_row) {
    size_t row = pixel_group / p->row_groups, column = pixel_group % p->row_groups * p->group_pixels;
    *px = (exact_pixels){(int64_t)depth, (int64_t)row, (int64_t)column, (int64_t)column, row * columns + column, 0, 0, 1};
    px->count = px->columns = smaller(p->group_pixels, columns - column);
  } else {
    size_t first = pixel_group * p->group_pixels, plane = (size_t)s->out[1] * columns;
    *px = (exact_pixels){(int64_t)depth, (int64_t)(first / columns), (int64_t)(first % columns), 0, first, 0, columns, 0};
    px->count = smaller(p->group_pixels, plane - first);
    px->rows = (first + px->count - 1) / columns - first / columns + 1;
  }
  at.first = depth * (size_t)s->out[1] * columns + px->first;
  return at;
}

static void begin_pack(const dense_run *r, const place *at, char *slot, exact_pack *pack) {
  const dense_plan *p = r->p;
  const exact_conv_shape *s = &p->s;
  size_t plane = (size_t)s->in[0] * (size_t)s->in[1] * (size_t)s->in[2];
  *pack = (exact_pack){.shape = s, .patch = p->direct ? NULL : &p->patch, .pixels = at->pixels, .tiling = &p->tiling};
  pack->x = r->x + (at->image * s->groups + at->group) * s->c * plane * exact_dtype_size(s->dtype);
  pack->area = slot;
  pack->span = (exact_span *)(slot + p->span_at);
  pack->copies = (exact_copy *)(slot + p->copies_at);
  pack->copy_count = (uint32_t *)(slot + p->counts_at);
  pack->panels = slot + p->panels_at;
  pack->tile_stride = p->tile_stride;
  if (p->direct || !p->patch.size) return;
  memset(slot, 0, patches(p) * p->patch.size * p->real);
  exact_patch_copies(pack, p->copy_lanes);
}

typedef struct wide_job {
  const dense_run *r;
  const place *at;
  char *slot;
  size_t m0, m1, k, run;
  bool last;
} wide_job;

/* Rows [m, m + rows) of the tile `done` pixels after the first; ahead: memory wanted soon. */
static void wide_tile(const wide_job *job, size_t m, size_t rows, size_t done, size_t pixels, const char *panel,
                      const char *ahead) {
  const dense_plan *p = job->r->p;
  const exact_conv_shape *s = &p->s;
  size_t real = p->real, width = exact_tile_width(&p->tiling, pixels), vectors = width / p->tiling.lanes;
  size_t channel = job->at->group * s->m + m, tile = p->tiling.most * p->tiling.lanes;
  const char *a = job->r->weights + (channel * s->k + job->k * rows) * real;
  exact_epilogue epilogue = {job->r->bias ? (const char *)job->r->bias + channel * real : NULL, NULL};
  const exact_epilogue *finish = job->last ? &epilogue : NULL;
  size_t c_stride = (size_t)s->out[0] * (size_t)s->out[1] * (size_t)s->out[2];
  char *c = job->r->y + ((job->at->image * s->groups * s->m + channel) * c_stride + job->at->first + done) * real;
  if (p->half) {
    c_stride = p->c_stride;
    c = job->slot + p->c_at + ((m - job->m0) * c_stride + done) * real;
  } else if (pixels < width) {
    char *edge = job->slot + p->edge_at;
    if (job->k)
      for (size_t i = 0; i < rows; i++) memcpy(edge + i * tile * real, c + i * c_stride * real, pixels * real);
    p->gemm->tile(rows, vectors, job->run, a, panel, width, edge, tile, job->k == 0, finish, ahead);
    for (size_t i = 0; i < rows; i++) memcpy(c + i * c_stride * real, edge + i * tile * real, pixels * real);
    return;
  }
  p->gemm->tile(rows, vectors, job->run, a, panel, width, c, c_stride, job->k == 0, finish, ahead);
}

/* Packs tile by tile and multiplies each by all weights. */
static void wide_by_tile(const wide_job *job, exact_pack *pack) {
  const dense_plan *p = job->r->p;
  const struct exact_conv_kernels *conv = p->base.op->isa->conv;
  const exact_copy *copy = pack->copies;
  conv->fill[p->kind](pack);
  for (size_t done = 0, tile = 0, pixels; done < job->at->pixels.count; done += pixels, copy += pack->copy_count[tile++]) {
    pixels = exact_tile_pixels(&p->tiling, job->at->pixels.count - done);
    conv->pack_tile[p->kind](pack, copy, pack->copy_count[tile], pixels);
    for (size_t m = job->m0, rows; m < job->m1; m += rows) {
      rows = exact_gemm_part(p->s.m - m, p->gemm->rows);
      size_t next = (job->at->group * p->s.m + m + rows) * p->s.k + job->k * rows;
      wide_tile(job, m, rows, done, pixels, pack->panels, job->r->weights + next * p->real);
    }
  }
}

/* Packs all tiles and multiplies them by one panel of weights after the other. */
static void wide_by_panel(const wide_job *job, exact_pack *pack) {
  const dense_plan *p = job->r->p;
  if (job->run) p->base.op->isa->conv->pack[p->kind](pack);
  for (size_t m = job->m0, rows; m < job->m1; m += rows) {
    rows = exact_gemm_part(p->s.m - m, p->gemm->rows);
    const char *panel = pack->panels, *weights = job->r->weights + (job->at->group * p->s.m + m) * p->s.k * p->real;
    const char *ahead = weights + (p->s.k + job->k) * rows * p->real;
    for (size_t done = 0, pixels; done < job->at->pixels.count; done += pixels, panel += p->tile_stride * p->real) {
      pixels = exact_tile_pixels(&p->tiling, job->at->pixels.count - done);
      wide_tile(job, m, rows, done, pixels, panel, ahead);
      ahead = panel;
    }
  }
}

static void wide_block(const dense_run *r, const place *at, char *slot, size_t m0, size_t m1) {
  const dense_plan *p = r->p;
  const exact_conv_shape *s = &p->s;
  exact_pack pack;
  begin_pack(r, at, slot, &pack);
  for (size_t k = 0, next; k < s->k || k == 0; k = next) {
    next = s->k ? next_k(p, k) : 1;
    pack.k0 = k;
    pack.k1 = s->k ? next : k;
    wide_job job = {r, at, slot, m0, m1, k, pack.k1 - k, next >= s->k};
    (p->by_tile ? wide_by_tile : wide_by_panel)(&job, &pack);
  }
  size_t y_stride = (size_t)s->out[0] * (size_t)s->out[1] * (size_t)s->out[2];
  size_t channel = (at->image * s->groups + at->group) * s->m + m0;
  if (p->half)
    p->base.op->isa->conv->store(r->y + (channel * y_stride + at->first) * 2, y_stride, (const float *)(slot + p->c_at),
                                 p->c_stride, m1 - m0, at->pixels.count, s->dtype);
}

static void narrow_block(const dense_run *r, const place *at, const char *panels, char *c, size_t m0, size_t m1) {
  const dense_plan *p = r->p;
  const exact_conv_shape *s = &p->s;
  size_t y_stride = (size_t)s->out[0] * (size_t)s->out[1] * (size_t)s->out[2], lanes = p->gemm->lanes;
  size_t channel = (at->image * s->groups + at->group) * s->m, real = p->real, group_m = at->group * p->padded_m;
  for (size_t k = 0, next; k < s->k || k == 0; k = next, panels += p->tiles * p->tile_stride * real) {
    next = s->k ? next_k(p, k) : 1;
    size_t run = s->k ? next - k : 0;
    for (size_t m = m0, width; m < m1; m += width) {
      width = padded_rows(panel_rows(s->m - m, false, p->gemm), false, p->gemm);
      const char *b = r->weights + ((group_m + m) * s->k + k * width) * real, *panel = panels;
      exact_epilogue last = {NULL, r->bias ? (const char *)r->bias + (group_m + m) * real : NULL};
      /* Weights come from far: the next panel of them is fetched meanwhile, a part with every tile. */
      const char *ahead = b + width * (m + width < m1 ? s->k : run) * real, *end = ahead + width * run * real;
      for (size_t done = 0, rows; done < at->pixels.count; done += rows, panel += p->tile_stride * real) {
        rows = exact_gemm_part(at->pixels.count - done, p->gemm->rows);
        p->gemm->tile(rows, width / lanes, run, panel, b, width, c + (done * p->c_stride + m - m0) * real, p->c_stride, k == 0,
                      next >= s->k ? &last : NULL, ahead < end ? ahead : panel);
        ahead += 64 * run;
      }
    }
  }
  p->base.op->isa->conv->store_transposed[p->kind](r->y + ((channel + m0) * y_stride + at->first) * exact_dtype_size(s->dtype),
                                                   y_stride, c, p->c_stride, at->pixels.count, m1 - m0, s->dtype);
}

static void wide_task(void *arg, size_t index) {
  dense_run *r = arg;
  const dense_plan *p = r->p;
  char *slot = exact_slot_take(&r->slots);
  place at = locate(p, index / p->m_blocks);
  size_t block = index % p->m_blocks;
  wide_block(r, &at, slot, block * p->m_block, block_end(p, block));
  exact_slot_give(&r->slots, slot);
}

/* Packs k block `block` of an instance to its place in panels. */
static void narrow_pack(const dense_run *r, exact_pack *pack, char *panels, size_t block) {
  const dense_plan *p = r->p;
  size_t parts = p->channel_block ? 0 : quotient(p->s.taps, p->k_block); /* blocks of a channel */
  pack->k0 = parts ? block / parts * p->s.taps + block % parts * p->k_block : block * p->k_block;
  pack->k1 = next_k(p, pack->k0);
  pack->panels = panels + block * p->tiles * p->tile_stride * p->real;
  p->base.op->isa->conv->pack[p->kind](pack);
}

static void narrow_pack_task(void *arg, size_t index) {
  dense_run *r = arg;
  char *slot = exact_slot_take(&r->slots);
  place at = locate(r->p, r->instance);
  exact_pack pack;
  begin_pack(r, &at, slot, &pack);
  narrow_pack(r, &pack, r->shared_panels, index);
  exact_slot_give(&r->slots, slot);
}

static void narrow_block_task(void *arg, size_t index) {
  dense_run *r = arg;
  const dense_plan *p = r->p;
  char *slot = exact_slot_take(&r->slots);
  place at = locate(p, r->instance);
  narrow_block(r, &at, r->shared_panels, slot + p->c_at, index * p->m_block, block_end(p, index));
  exact_slot_give(&r->slots, slot);
}

static void narrow_instance_task(void *arg, size_t index) {
  dense_run *r = arg;
  const dense_plan *p = r->p;
  char *slot = exact_slot_take(&r->slots);
  place at = locate(p, index);
  exact_pack pack;
  begin_pack(r, &at, slot, &pack);
  for (size_t block = 0; block < p->k_blocks; block++) narrow_pack(r, &pack, slot + p->panels_at, block);
  for (size_t block = 0; block < p->m_blocks; block++)
    narrow_block(r, &at, slot + p->panels_at, slot + p->c_at, block * p->m_block, block_end(p, block));
  exact_slot_give(&r->slots, slot);
}

void exact_dense_run(const exact_call *call) {
  const dense_plan *p = (const dense_plan *)call->plan;
  const exact_op *op = p->base.op;
  dense_run r = {.p = p, .x = call->in[0], .weights = p->packed, .y = call->out[0]};
  if (!p->instances || !p->s.m) return;
  if (!p->packed) {
    exact_dense_weights(op, &p->w, call->in[1], call->work + p->weights_at, call->threads);
    r.weights = call->work + p->weights_at;
  }
  if (p->bias_at != SIZE_MAX) {
    for (size_t g = 0; g < p->s.groups; g++)
      op->isa->conv->weights[p->kind](call->work + p->bias_at + g * p->padded_m * p->real, p->padded_m,
                                      (const char *)call->in[2] + g * p->s.m * exact_dtype_size(p->s.dtype), 1, 0, p->s.m, 1,
                                      p->s.dtype);
    r.bias = call->work + p->bias_at;
  }
  size_t tasks = p->shared ? p->m_blocks : p->wide ? p->instances * p->m_blocks : p->instances;
  if (p->shared && p->k_blocks > tasks) tasks = p->k_blocks;
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, exact_slot_count(tasks));
  if (p->wide) {
    exact_parallel(call->threads, tasks, wide_task, &r);
  } else if (!p->shared) {
    exact_parallel(call->threads, tasks, narrow_instance_task, &r);
  } else {
    r.shared_panels = call->work + p->shared_at;
    for (r.instance = 0; r.instance < p->instances; r.instance++) {
      exact_parallel(call->threads, p->k_blocks, narrow_pack_task, &r);
      exact_parallel(call->threads, p->m_blocks, narrow_block_task, &r);
    }
  }
}
