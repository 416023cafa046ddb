/* Conv as a matrix product of weights and panels of pixels, in one of two layouts.
 * wide: the lanes of a vector are pixels, weights are packed [k][<= 6 rows] and C is y itself.
 * narrow, for few pixels: the lanes are output channels, weights are packed [k][vectors], C is a scratch [pixel][channel]
 * that is transposed into y. Products run over k in blocks with C kept between them, so that the order stays that of
 * docs/conv.md: +0, then k upwards, then the bias. */
#include "conv.h"

enum {
  LANE_PANEL_BYTES = 24 << 10,
  NARROW_PIXELS = 216,
  NARROW_CHANNELS = 64,
  HALF_CHANNELS = 240,
  WIDE_K = 288,
  BY_TILE = 12,
  PATCH_BYTES = 256 << 10,
  LEAST_TASKS = 8
};

typedef struct dense_plan {
  exact_plan base;
  exact_conv_shape s;
  exact_conv_weights w;
  exact_patch patch;
  bool direct, wide, half, by_row, by_tile; /* by_tile: a panel is packed when its tile's turn comes */
  const void *packed;
  exact_tiling tiling; /* of pixels */
  const struct exact_gemm_kernels *gemm;
  size_t real, copy_lanes, kind;
  size_t padded_m;                         /* channels of a group in bias and packed weights */
  size_t group_pixels, row_groups, groups; /* pixel groups: of a row (by_row), of a plane */
  size_t k_block, channel_block, k_blocks; /* products of a block; whole channels in it, 0: part of one */
  size_t m_block, m_blocks;
  size_t tiles, tile_stride, panels, c_stride;
  size_t instances; /* of (image, group, depth, pixel group) */
  bool shared;      /* narrow: instances one after another, panels packed once for all m blocks */
  size_t weights_at, bias_at, shared_at, slots_at, slot;
  size_t span_at, copies_at, counts_at, panels_at, edge_at, c_at; /* in a slot, after the patch */
} dense_plan;

typedef struct dense_run {
  const dense_plan *p;
  const char *x, *weights;
  char *y, *shared_panels;
  const void *bias;
  size_t instance; /* when shared */
  exact_slots slots;
} dense_run;

static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }

/* ---- weights ---- */
/* Channels of a group with those that fill up its last vector. */
static size_t padded_rows(size_t m, bool wide, const struct exact_gemm_kernels *gemm) {
  return wide ? m : quotient(m, gemm->lanes) * gemm->lanes;
}

/* Channels of the panel that starts with `left` to go. */
static size_t panel_rows(size_t left, bool wide, const struct exact_gemm_kernels *gemm) {
  if (wide) return exact_gemm_part(left, gemm->rows);
  return smaller(left, exact_gemm_part(quotient(left, gemm->lanes), gemm->vectors) * gemm->lanes);
}

bool exact_dense_narrow(const exact_op *op, const exact_conv_weights *w, size_t pixels) {
  return pixels > 0 && pixels <= NARROW_PIXELS && w->m >= exact_conv_gemm(op)->lanes;
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
static size_t full_tile(const dense_plan *p) { return p->tiling.most * (p->wide ? p->tiling.lanes : 1); }

/* End of a block of output channels; the last one may be longer than m_block. */
static size_t block_end(const dense_plan *p, size_t block) {
  return block + 1 < p->m_blocks ? (block + 1) * p->m_block : p->s.m;
}

static size_t next_k(const dense_plan *p, size_t k) {
  if (p->channel_block) return smaller(k + p->k_block, p->s.k);
  return smaller(k + p->k_block, (k / p->s.taps + 1) * p->s.taps);
}

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

/* Patches that the area holds. */
static size_t patches(const dense_plan *p) { return p->by_tile && p->channel_block ? p->channel_block : 1; }

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

static void dense_run_plan(const exact_call *call) {
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

/* ---- plan ---- */
static void plan_k(dense_plan *p) {
  const exact_conv_shape *s = &p->s;
  size_t target = p->wide ? p->direct ? 384 : WIDE_K : 320;
  if (s->taps <= 2 * target) {
    size_t channels = target / s->taps ? target / s->taps : 1;
    p->k_blocks = s->c ? quotient(s->c, channels) : 0;
    p->channel_block = p->k_blocks ? quotient(s->c, p->k_blocks) : 1;
    p->k_blocks = quotient(s->c, p->channel_block);
    p->k_block = p->channel_block * s->taps;
  } else {
    size_t parts = quotient(s->taps, target);
    p->k_block = quotient(s->taps, parts);
    p->k_blocks = s->c * quotient(s->taps, p->k_block);
  }
}

/* Tiles of a group at most. */
static size_t most_tiles(const dense_plan *p) {
  if (!p->wide) return NARROW_PIXELS / full_tile(p);
  if (p->by_tile) return BY_TILE;
  size_t most = LANE_PANEL_BYTES * p->gemm->lanes / ((p->k_block ? p->k_block : 1) * full_tile(p) * p->real);
  return most < 1 ? 1 : most > 16 ? 16 : most;
}

static bool plan_pixels(dense_plan *p, size_t most) {
  const exact_conv_shape *s = &p->s;
  size_t rows = (size_t)s->out[1], columns = (size_t)s->out[2], plane, instances;
  if (!exact_mul(rows, columns, &plane) || !exact_mul(s->n, s->groups, &instances) ||
      !exact_mul(instances, (size_t)s->out[0], &instances))
    return false;
  size_t tile = full_tile(p);
  p->by_row = rows == 1 || columns >= 2 * most * tile;
  size_t tiles = quotient(p->by_row ? columns : plane, tile), groups = quotient(tiles, most);
  size_t others = p->by_row ? instances * rows : instances;
  if (p->wide && others && groups * others < LEAST_TASKS) groups = smaller(tiles, quotient(LEAST_TASKS, others));
  p->tiles = groups ? quotient(tiles, groups) : 1;
  p->group_pixels = p->tiles * tile;
  p->row_groups = quotient(p->by_row ? columns : plane, p->group_pixels);
  p->groups = p->by_row ? p->row_groups * rows : p->row_groups;
  return exact_mul(instances, p->groups, &p->instances);
}

/* Blocks of output channels, whole panels each. */
static void plan_m(dense_plan *p) {
  size_t unit = p->wide ? p->gemm->rows : p->gemm->vectors * p->gemm->lanes, m = p->s.m, wanted = m;
  if (!p->wide)
    wanted = NARROW_CHANNELS;
  else if (p->half)
    wanted = HALF_CHANNELS;
  else if (p->instances < 4 && m >= 96)
    wanted = quotient(m, quotient(4, p->instances));
  p->m_block = smaller(quotient(wanted, unit) * unit, m);
  if (!m) return;
  p->m_blocks = quotient(m, p->m_block);
  /* The last two panels of a group are evened out, so that the last block must not be shorter than half a panel. */
  if (p->m_blocks > 1 && m - (p->m_blocks - 1) * p->m_block < unit) p->m_blocks--;
}

static bool plan_workspace(dense_plan *p, bool bias) {
  const exact_conv_shape *s = &p->s;
  size_t weights, slot = 0, tile = full_tile(p), area, panels, c, copies = 2 * p->group_pixels + 2 * p->tiles;
  size_t channels = p->m_block, last = p->m_blocks ? p->s.m - (p->m_blocks - 1) * p->m_block : 0;
  if (channels < last) channels = last;
  p->tile_stride = p->k_block * tile + p->gemm->vectors * p->gemm->lanes;
  p->c_stride = p->wide ? p->group_pixels : quotient(channels, p->gemm->lanes) * p->gemm->lanes;
  if (!exact_mul((p->by_tile ? 1 : p->tiles) * p->tile_stride, p->wide ? 1 : p->k_blocks, &panels)) return false;
  c = p->wide ? (p->half ? channels * p->c_stride : 0) : p->group_pixels * p->c_stride;
  p->weights_at = p->shared_at = p->bias_at = SIZE_MAX;
  if (!p->packed &&
      (!exact_dense_weights_size(p->base.op, &p->w, &weights) || !exact_part(&p->base.workspace, weights, 1, &p->weights_at)))
    return false;
  if (bias && !exact_part(&p->base.workspace, s->groups * p->padded_m, p->real, &p->bias_at)) return false;
  if (p->shared && !exact_part(&p->base.workspace, panels, p->real, &p->shared_at)) return false;
  size_t tasks = p->shared ? (p->m_blocks > p->k_blocks ? p->m_blocks : p->k_blocks)
                 : p->wide ? p->instances * p->m_blocks
                           : p->instances;
  if (!exact_part(&slot, p->direct ? 0 : patches(p) * p->patch.size, p->real, &area) ||
      !exact_part(&slot, p->patch.lines, sizeof(exact_span), &p->span_at) ||
      !exact_part(&slot, p->patch.size ? copies : 0, sizeof(exact_copy), &p->copies_at) ||
      !exact_part(&slot, p->tiles, sizeof(uint32_t), &p->counts_at) ||
      !exact_part(&slot, p->shared ? 0 : panels, p->real, &p->panels_at) ||
      !exact_part(&slot, p->wide ? p->gemm->rows * tile : 0, p->real, &p->edge_at) || !exact_part(&slot, c, p->real, &p->c_at))
    return false;
  p->slot = slot + 64; /* slots do not share the low bits of their addresses */
  return exact_part(&p->base.workspace, (size_t)exact_slot_count(tasks), p->slot, &p->slots_at);
}

/* Pixel groups and their patch; by_tile as long as all patches of a k block fit in PATCH_BYTES. */
static bool plan_patch(dense_plan *p, void *tables) {
  p->by_tile = p->wide && !p->direct && p->s.c;
  for (size_t most = most_tiles(p);;) {
    if (!plan_pixels(p, most)) return false;
    if (!p->instances || p->direct) return true;
    size_t rows = p->by_row ? 1 : (p->group_pixels - 1) / (size_t)p->s.out[2] + 2;
    size_t columns = p->by_row ? smaller(p->group_pixels, (size_t)p->s.out[2]) : (size_t)p->s.out[2];
    exact_patch_init(&p->patch, &p->s, smaller(rows, (size_t)p->s.out[1]), columns, p->gemm->vectors * p->gemm->lanes + 16,
                     tables);
    if (!p->by_tile || (p->patch.size && patches(p) * p->patch.size * p->real <= PATCH_BYTES)) return true;
    if (most > 1) {
      most = most / 2;
    } else {
      p->by_tile = false;
      most = most_tiles(p);
    }
  }
}

int exact_dense_plan(const exact_op *op, const exact_conv_shape *s, int layout, const void *packed, bool bias,
                     const exact_tensor *y, exact_plan **plan, exact_error *err) {
  bool direct = s->taps == 1 && s->stride[0] == 1 && s->stride[1] == 1 && s->stride[2] == 1 && !s->pad[0] && !s->pad[1] &&
                !s->pad[2] && s->out[0] == s->in[0] && s->out[1] == s->in[1] && s->out[2] == s->in[2];
  size_t tables = exact_patch_bytes(s);
  dense_plan *p = exact_new(exact_align(sizeof *p) + tables, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = dense_run_plan, .out = {*y}};
  p->s = *s;
  if (direct) { /* one row */
    p->s.in[2] = p->s.out[2] = s->in[0] * s->in[1] * s->in[2];
    p->s.in[0] = p->s.in[1] = p->s.out[0] = p->s.out[1] = 1;
  }
  p->w = (exact_conv_weights){s->dtype, layout, s->groups, s->m, s->k};
  p->packed = packed;
  p->wide = layout == EXACT_CONV_WIDE;
  p->half = exact_dtype_size(s->dtype) == 2;
  p->direct = direct;
  p->kind = s->dtype == EXACT_FLOAT64;
  p->real = exact_dtype_size(exact_arith(s->dtype));
  p->gemm = exact_conv_gemm(op);
  p->tiling = (exact_tiling){p->wide, p->gemm->lanes, p->wide ? p->gemm->vectors : p->gemm->rows};
  p->copy_lanes = p->wide ? p->gemm->lanes : (size_t)op->isa->conv->copy_lanes[p->kind];
  p->padded_m = padded_rows(s->m, p->wide, p->gemm);
  plan_k(p);
  bool fits = plan_patch(p, (char *)p + exact_align(sizeof *p));
  if (fits && p->instances) {
    p->shared = !p->wide && p->instances < LEAST_TASKS;
    plan_m(p);
    fits = plan_workspace(p, bias);
  }
  if (!fits) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *plan = &p->base;
  return EXACT_OK;
}
