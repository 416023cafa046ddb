#ifndef EXACT_CAST_H
#define EXACT_CAST_H
/* Cast of floats to integers and bool. docs/cast.md */
#include "exact_impl.h"

enum { CAST_F32, CAST_F64, CAST_FLOATS };

struct exact_cast_kernels {
  /* y[i] = x[i] cut towards zero and saturated, i < n; by float type and element type of y (NULL: not served). */
  void (*to[CAST_FLOATS][EXACT_UINT64 + 1])(const void *x, void *y, size_t n);
  /* float16 and bfloat16, through float32. */
  void (*half)(int from, int to, const void *x, void *y, size_t n);
};
#endif
