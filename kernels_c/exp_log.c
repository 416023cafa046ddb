/* The C entry points of exp and log: docs/exp_log.md. */
#include "exact_impl.h"
#include "exp_log_kernels.h"
#include "fpenv.h"

#define ENTRY(name, type, kernel)                                \
  int name(const type *x, type *y, size_t n, exact_error *err) { \
    const exact_isa *isa = exact_isa_table(err);                 \
    if (!isa) return EXACT_INVALID;                              \
    exact_fpenv saved = exact_fpenv_enter();                     \
    kernel(x, y, n);                                             \
    exact_fpenv_leave(saved);                                    \
    return EXACT_OK;                                             \
  }

ENTRY(exact_exp_f32, float, isa->exp_log->exp32)
ENTRY(exact_log_f32, float, isa->exp_log->log32)
ENTRY(exact_exp_f64, double, isa->exp_log->exp64)
ENTRY(exact_log_f64, double, isa->exp_log->log64)
