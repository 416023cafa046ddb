#ifndef EXACT_EXP_LOG_KERNELS_H
#define EXACT_EXP_LOG_KERNELS_H
/* exp and log of arrays: y[i] = f(x[i]), i < n; y may be x. Correctly rounded (docs/exp_log.md). */
#include <stddef.h>

struct exact_exp_log_kernels {
  void (*exp32)(const float *x, float *y, size_t n);
  void (*exp32_nonpositive)(const float *x, float *y, size_t n); /* the path of Softmax: no x > 0 */
  void (*log32)(const float *x, float *y, size_t n);
  void (*exp64)(const double *x, double *y, size_t n);
  void (*log64)(const double *x, double *y, size_t n);
};

/* The float64 arrays: one version for all instruction sets. */
void exact_exp_array64(const double *x, double *y, size_t n);
void exact_log_array64(const double *x, double *y, size_t n);
#endif
