/* Included by unary_composed_isa.c once per TYPE (f32, f64): activations made of exp, a block at a time. EXP is the array
 * function for any arguments, EXP_NONPOSITIVE that for arguments up to 0. */
#include "unary_map.h"

/* Where x > 0 the exponential has no part in the result; its argument is 0. */
MAP(negative, NAME(min)(v, (V){0}))
MAP(elu_end, CANONICAL(PICK(v < (V){0}, alpha *(w - NAME(splat)(1)), v)))
MAP(selu_end, CANONICAL(PICK(v < (V){0}, gamma *(alpha *w - alpha), gamma *v)))
COMPOSED(elu, negative, EXP_NONPOSITIVE, elu_end)
COMPOSED(selu, negative, EXP_NONPOSITIVE, selu_end)

/* p + n with p = x > 0 ? x : +0, q = alpha * (e^(x / alpha) - 1) and n = q < 0 ? q : +0, a NaN stays one: p is no -0, so the
 * sign of a zero in n does not matter. For a finite alpha > 0 and x > 0 q is not below 0: it may be taken at x = 0. */
MAP(quotient, v / alpha)
MAP(negative_quotient, NAME(min)(v, (V){0}) / alpha)
MAP(celu_end, CANONICAL(PICK(v == v, NAME(max)(v, (V){0}) + NAME(min)((V){0}, alpha *(w - NAME(splat)(1))), v)))
COMPOSED(celu_any, quotient, EXP, celu_end)
COMPOSED(celu_positive, negative_quotient, EXP_NONPOSITIVE, celu_end)
static void NAME(celu)(const exact_unary_args *a, const void *x, void *y, size_t n) {
  (a->alpha > 0 && a->alpha <= 0x1.fffffep127 ? NAME(celu_positive) : NAME(celu_any))(a, x, y, n);
}

static void NAME(exp)(const exact_unary_args *a, const void *x, void *y, size_t n) { EXP(x, y, n); }
static void NAME(log)(const exact_unary_args *a, const void *x, void *y, size_t n) { LOG(x, y, n); }
#undef EXP
#undef EXP_NONPOSITIVE
#undef LOG
#include "unary_map_end.h"
