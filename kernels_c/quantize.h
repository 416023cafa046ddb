#ifndef EXACT_QUANTIZE_H
#define EXACT_QUANTIZE_H
/* Private to the quantization family: which scale an element has, and the kernels that exist once per instruction set. */
#include "exact_impl.h"

/* x cut at an axis as [outer][n][inner]. Scales: one; one per index of the axis; or [outer][blocks][inner], one for `block`
 * consecutive indices. */
typedef struct exact_scales {
  enum { EXACT_SCALE_TENSOR, EXACT_SCALE_AXIS, EXACT_SCALE_BLOCK } form;
  size_t count; /* elements of x */
  size_t n, inner, block, blocks;
} exact_scales;

/* The `length` elements from one on whose scales begin at `index`: one scale for all (step 0), or one for each. */
typedef struct exact_scale_run {
  size_t index, step, length;
} exact_scale_run;

/* Elements of one run; x, y, scale and zero (NULL: 0) point to the first. */
typedef struct exact_quantize_row {
  const void *x, *scale, *zero;
  void *y;
  int x_dtype, scale_dtype, zero_dtype, y_dtype;
  size_t n, step;
} exact_quantize_row;

struct exact_quantize_kernels {
  void (*quantize)(const exact_quantize_row *r);
  void (*dequantize)(const exact_quantize_row *r);
  /* *low = min(*low, x ..), *high = max(*high, x ..); both NaN if there is a NaN in x. */
  void (*range)(const float *x, size_t n, float *low, float *high);
};

/* ---- quantize_scales.c ---- */
bool exact_is_scale(int dtype);
/* Checks scale and zero point (dtype EXACT_ABSENT: none) against x; dimensions may be -1. Fills *s where all are known. */
int exact_scales_init(exact_scales *s, const exact_tensor *x, const exact_tensor *scale, const exact_tensor *zero, int64_t axis,
                      int64_t block, exact_error *err);
exact_scale_run exact_scales_at(const exact_scales *s, size_t element);
#endif
