/* sigmoid and tanh of arrays: docs/transcendental.md. */
#include "transcendental_kernels.h"
#include "transcendental.h"
#include "isa.h"

static void sigmoid32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_sigmoidf_cr(x[i]);
}

static void tanh32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_tanhf_cr(x[i]);
}

const struct exact_transcendental_kernels EXACT_SYM(exact_transcendental) = {sigmoid32, tanh32};
