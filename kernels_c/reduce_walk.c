/* Walks over what a reduction folds, in order and in the arithmetic type: pieces of a sequence in row layout, rows under a tile
 * of outputs in column layout. docs/reduce.md */
#include "reduce.h"

enum { ROWS = RED_BLOCK / RED_TILE }; /* widened together */

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static size_t wide_size(int dtype) { return exact_dtype_size(dtype) > 4 ? 8 : 4; }

void exact_reduce_stream(const exact_reduce_plan *p, int dtype, bool any, const char *x, exact_reduce_take take, void *state) {
  size_t segments = exact_runs_count(&p->reduced), filled = 0, size = exact_dtype_size(dtype), wide = wide_size(dtype);
  _Alignas(64) char block[RED_BLOCK * sizeof(double)];
  if (exact_reduce_native(dtype) && (segments == 1 || p->length % 16 == 0 || any)) {
    for (size_t s = 0; s < segments; s++) take(x + exact_runs_offset(&p->reduced, s) * size, p->length, state);
    return;
  }
  for (size_t s = 0; s < segments; s++) {
    const char *from = x + exact_runs_offset(&p->reduced, s) * size;
    for (size_t left = p->length, n; left > 0; left -= n, from += n * size) {
      n = least(left, RED_BLOCK - filled);
      exact_reduce_widen(block + filled * wide, from, n, dtype);
      filled += n;
      if (filled < RED_BLOCK) continue;
      take(block, RED_BLOCK, state);
      filled = 0;
    }
  }
  if (filled) take(block, filled, state);
}

void exact_reduce_sweep(const exact_reduce_plan *p, int dtype, const char *x, size_t width, exact_reduce_take_rows take,
                        void *state) {
  size_t size = exact_dtype_size(dtype), wide = wide_size(dtype);
  double block[RED_BLOCK];
  for (size_t s = 0, segments = exact_runs_count(&p->reduced); s < segments; s++) {
    const char *row = x + exact_runs_offset(&p->reduced, s) * size;
    if (exact_reduce_native(dtype)) {
      take(row, p->step, p->length, width, state);
      continue;
    }
    const bool joined = p->step == width; /* the rows follow each other */
    for (size_t left = p->length, part; left > 0; left -= part, row += part * p->step * size) {
      part = least(left, joined ? RED_BLOCK / width : ROWS);
      if (joined) exact_reduce_widen(block, row, part * width, dtype);
      for (size_t r = 0; r < part && !joined; r++)
        exact_reduce_widen((char *)block + r * width * wide, row + r * p->step * size, width, dtype);
      take(block, width, part, width, state);
    }
  }
}
