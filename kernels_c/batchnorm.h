#ifndef EXACT_BATCHNORM_H
#define EXACT_BATCHNORM_H
/* Kernels of BatchNormalization, one table per instruction set. a and b are arrays of the arithmetic type. */
#include "exact_impl.h"

struct exact_batchnorm_kernels {
  /* a = scale / sqrt(var + epsilon), b = bias - mean * a for n channels; params: scale, bias, mean, var. */
  void (*factors32)(const void *const params[4], float epsilon, void *a, void *b, size_t n);
  void (*factors64)(const void *const params[4], float epsilon, void *a, void *b, size_t n);
  /* y = x * a[p] + b[p] for the planes p < count, each of `size` elements of type dtype. y may be x. */
  void (*planes)(int dtype, const void *x, void *y, const void *a, const void *b, size_t count, size_t size);
  /* y[i] = x[i] * a[i] + b[i]. y may be x. */
  void (*points)(int dtype, const void *x, void *y, const void *a, const void *b, size_t n);
};

#endif
