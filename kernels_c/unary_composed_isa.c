/* One input, element by element: operators made of exp and log of an array, which are correctly rounded. docs/unary.md */
#include "exp_log_kernels.h"
#include "lanes.h"
#include "unary.h"

#define TYPE f64
#define EXP a->isa->exp_log->exp64
#define EXP_NONPOSITIVE EXP
#define LOG a->isa->exp_log->log64
#include "unary_composed.h"
#define TYPE f32
#define EXP a->isa->exp_log->exp32
#define EXP_NONPOSITIVE a->isa->exp_log->exp32_nonpositive
#define LOG a->isa->exp_log->log32
#include "unary_composed.h"

#define EXPONENTIALS(T)                                                                                                 \
  [EXACT_UNARY_CELU] = celu_##T, [EXACT_UNARY_ELU] = elu_##T, [EXACT_UNARY_EXP] = exp_##T, [EXACT_UNARY_LOG] = log_##T, \
  [EXACT_UNARY_SELU] = selu_##T

const struct exact_composed_kernels EXACT_SYM(exact_composed) = {.f32 = {EXPONENTIALS(f32)}, .f64 = {EXPONENTIALS(f64)}};
