/* exp and log of arrays: docs/exp_log.md. */
#include "exp_log_kernels.h"
#include "exp_log.h"
#include "exp_vector.h"
#include "isa.h"

#ifdef EXACT_EXP_VECTOR
EXACT_INLINE EXACT_EXP_TARGET void exp_array(const float *x, float *y, size_t n, bool nonpositive) {
  size_t i = 0;
  for (; i + EXACT_EXP_W <= n; i += EXACT_EXP_W) EV(storeu_ps)(y + i, exact_exp_vector(EV(loadu_ps)(x + i), nonpositive));
  if (i < n) {
    float last[EXACT_EXP_W] = {0};
    memcpy(last, x + i, (n - i) * sizeof *x);
    EV(storeu_ps)(last, exact_exp_vector(EV(loadu_ps)(last), nonpositive));
    memcpy(y + i, last, (n - i) * sizeof *y);
  }
}
static EXACT_EXP_TARGET void exp32(const float *x, float *y, size_t n) { exp_array(x, y, n, false); }
static EXACT_EXP_TARGET void exp32_nonpositive(const float *x, float *y, size_t n) { exp_array(x, y, n, true); }
#else
static void exp32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_expf_cr(x[i]);
}
#define exp32_nonpositive exp32
#endif

static void log32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_logf_cr(x[i]);
}

const struct exact_exp_log_kernels EXACT_SYM(exact_exp_log) = {exp32, exp32_nonpositive, log32, exact_exp_array64,
                                                               exact_log_array64};
