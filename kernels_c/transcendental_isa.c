/* sigmoid, tanh, erf, softplus, sin and cos of arrays: docs/transcendental.md. */
#include "transcendental_kernels.h"
#include "isa.h"

/* Fused operations make the loops a third faster; the results are the same, for they are correctly rounded either way. */
#if defined(__AVX512F__)
#define EXACT_FUSED
#define FUSED
#elif defined(__AVX2__)
#define EXACT_FUSED
#define FUSED __attribute__((target("avx2,fma")))
#else
#define FUSED
#endif
#include "sin_cos.h"
#include "transcendental.h"

static FUSED void sigmoid32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_sigmoidf_cr(x[i]);
}

static FUSED void tanh32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_tanhf_cr(x[i]);
}

static FUSED void erf32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_erff_cr(x[i]);
}

static FUSED void softplus32(const float *x, float *y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_softplusf_cr(x[i]);
}

/* Blocks by the near path, whose results for far arguments are not used. */
#define SIN_COS(name)                                                 \
  static FUSED void name##32(const float *x, float *y, size_t n) {    \
    enum { BLOCK = 256 };                                             \
    float near[BLOCK];                                                \
    for (size_t first = 0; first < n; first += BLOCK) {               \
      size_t count = n - first < BLOCK ? n - first : BLOCK;           \
      const float *in = x + first;                                    \
      int far = 0;                                                    \
      for (size_t i = 0; i < count; i++) {                            \
        near[i] = exact_##name##_near(in[i]);                         \
        far |= exact_is_far(in[i]);                                   \
      }                                                               \
      for (size_t i = 0; far && i < count; i++)                       \
        if (exact_is_far(in[i])) near[i] = exact_##name##_far(in[i]); \
      memcpy(y + first, near, count * sizeof *y);                     \
    }                                                                 \
  }
SIN_COS(sin)
SIN_COS(cos)

const struct exact_transcendental_kernels EXACT_SYM(exact_transcendental) = {sigmoid32,  tanh32, erf32,
                                                                             softplus32, sin32,  cos32};
