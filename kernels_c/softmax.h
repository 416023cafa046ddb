#ifndef EXACT_SOFTMAX_H
#define EXACT_SOFTMAX_H
/* Softmax, LogSoftmax and Hardmax of rows: docs/softmax.md. The order inside a row is fixed; rows are independent. */
#include "exact_impl.h"

enum { EXACT_SOFTMAX_LANES = 16 };

struct exact_softmax_kernels {
  /* Contiguous rows of n > 0 elements; y may be x. */
  void (*rows32)(const float *x, float *y, size_t rows, size_t n, int kind, bool fast);
  /* The same in float16 or bfloat16; scratch for n floats. */
  void (*rows16)(const uint16_t *x, uint16_t *y, size_t rows, size_t n, int dtype, int kind, bool fast, float *scratch);
  /* 16 rows side by side: element j of row i at x[j * stride + i]; y may be x. */
  void (*lanes32)(const float *x, float *y, size_t n, size_t stride, int kind, bool fast);
};

/* Contiguous rows of n > 0 doubles; y may be x. */
void exact_softmax_rows64(const double *x, double *y, size_t rows, size_t n, int kind);
#endif
