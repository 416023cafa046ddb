/* The C entry points of the functions: docs/transcendental.md. */
#include "transcendental_kernels.h"
#include "exact_impl.h"
#include "fpenv.h"

#define ENTRY(name, kernel)                                        \
  int name(const float *x, float *y, size_t n, exact_error *err) { \
    const exact_isa *isa = exact_isa_table(err);                   \
    if (!isa) return EXACT_INVALID;                                \
    exact_fpenv saved = exact_fpenv_enter();                       \
    isa->transcendental->kernel(x, y, n);                          \
    exact_fpenv_leave(saved);                                      \
    return EXACT_OK;                                               \
  }

ENTRY(exact_sigmoid_f32, sigmoid32)
ENTRY(exact_tanh_f32, tanh32)
ENTRY(exact_erf_f32, erf32)
ENTRY(exact_softplus_f32, softplus32)
ENTRY(exact_sin_f32, sin32)
ENTRY(exact_cos_f32, cos32)
