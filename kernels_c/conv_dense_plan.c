/* How a dense Conv is cut: blocks of k, groups of pixels, blocks of output channels, workspace. Depends on shapes alone. */
#include "conv_dense.h"

enum {
  LANE_PANEL_BYTES = 24 << 10,
  NARROW_CHANNELS = 48,
  HALF_CHANNELS = 240,
  WIDE_K = 288,
  BY_TILE = 12,
  BY_TILE_K = 64,
  PATCH_BYTES = 256 << 10,
  LEAST_TASKS = 8
};

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
  if (!p->wide) return EXACT_NARROW_PIXELS / full_tile(p);
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
  p->by_tile = p->wide && !p->direct && p->k_block >= BY_TILE_K && p->s.c;
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
  p->base = (exact_plan){.op = op, .run = exact_dense_run, .out = {*y}};
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
