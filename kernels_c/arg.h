#ifndef EXACT_ARG_H
#define EXACT_ARG_H
/* ArgMax and ArgMin. docs/arg.md */
#include "exact_impl.h"
#include "reduce.h"

enum { ARG_MAX, ARG_MIN };

struct exact_arg_kernels {
  /* y[r] = index of the best of the n > 0 elements from x + r * n on, r < count. */
  void (*rows[RED_TYPES][2])(const void *x, size_t n, size_t count, bool last, int64_t *y);
  /* Goes on with a scan: the n elements from x on have the indices base, base + 1, ... *best is the running value. */
  void (*more[RED_TYPES][2])(const void *x, size_t n, size_t base, bool last, void *best, int64_t *y);
  /* The same for `width` <= 256 scans side by side: best[i] and y[i] go on over x[r * step + i], r < rows. */
  void (*columns[RED_TYPES][2])(const void *x, size_t step, size_t rows, size_t base, size_t width, bool last, void *best,
                                int64_t *y);
};
#endif
