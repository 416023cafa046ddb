#ifndef EXACT_SOFTMAX_H
#define EXACT_SOFTMAX_H
/* Softmax, LogSoftmax and Hardmax of rows: docs/softmax.md. The order inside a row is fixed; rows are independent. */
#include "exact_impl.h"

enum { EXACT_SOFTMAX_LANES = 16 };

struct exact_softmax_kernels {
  /* Contiguous rows of n > 0 elements; y may be x. */
  void (*rows32)(const float *x, float *y, size_t rows, size_t n, int kind, bool fast);
  /* 16 rows side by side in place: element j of row i at tile[16 * j + i]. */
  void (*lanes32)(float *tile, size_t n, int kind, bool fast);
};

/* Contiguous rows of n > 0 doubles; y may be x. */
void exact_softmax_rows64(const double *x, double *y, size_t rows, size_t n, int kind);
#endif
