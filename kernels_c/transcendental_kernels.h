#ifndef EXACT_TRANSCENDENTAL_KERNELS_H
#define EXACT_TRANSCENDENTAL_KERNELS_H
/* Functions of arrays: y[i] = f(x[i]), i < n; y may be x. Correctly rounded (docs/transcendental.md). */
#include <stddef.h>

struct exact_transcendental_kernels {
  void (*sigmoid32)(const float *x, float *y, size_t n);
  void (*tanh32)(const float *x, float *y, size_t n);
  void (*erf32)(const float *x, float *y, size_t n);
  void (*softplus32)(const float *x, float *y, size_t n);
  void (*sin32)(const float *x, float *y, size_t n);
  void (*cos32)(const float *x, float *y, size_t n);
};
#endif
