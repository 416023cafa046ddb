/* exp and log of arrays: docs/exp_log.md. */
#include "exp_log_kernels.h"
#include "exp_log.h"
#include "isa.h"

static void exp32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_expf_cr(x[i]);
}
static void log32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_logf_cr(x[i]);
}

const struct exact_exp_log_kernels EXACT_SYM(exact_exp_log) = {exp32, exp32, log32, NULL, NULL};
