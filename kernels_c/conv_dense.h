#ifndef EXACT_CONV_DENSE_H
#define EXACT_CONV_DENSE_H
/* The plan of a dense Conv: made in conv_dense_plan.c, carried out in conv_dense.c. */
#include "conv.h"

enum { EXACT_NARROW_PIXELS = 216 }; /* most pixels of a group in the narrow layout */

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

static inline size_t smaller(size_t a, size_t b) { return a < b ? a : b; }
static inline size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }

/* Channels of a group with those that fill up its last vector. */
static inline size_t padded_rows(size_t m, bool wide, const struct exact_gemm_kernels *gemm) {
  return wide ? m : quotient(m, gemm->lanes) * gemm->lanes;
}

static inline size_t full_tile(const dense_plan *p) { return p->tiling.most * (p->wide ? p->tiling.lanes : 1); }

/* End of a block of output channels; the last one may be longer than m_block. */
static inline size_t block_end(const dense_plan *p, size_t block) {
  return block + 1 < p->m_blocks ? (block + 1) * p->m_block : p->s.m;
}

static inline size_t next_k(const dense_plan *p, size_t k) {
  if (p->channel_block) return smaller(k + p->k_block, p->s.k);
  return smaller(k + p->k_block, (k / p->s.taps + 1) * p->s.taps);
}

/* Patches that the area holds. */
static inline size_t patches(const dense_plan *p) { return p->by_tile && p->channel_block ? p->channel_block : 1; }

void exact_dense_run(const exact_call *call);
#endif
