/* Included by unary_isa.c once per TYPE (f32, f64): operators that are a few operations. MAGIC is 2 to the number of fraction
 * bits: numbers from there on are integers, and adding it to smaller ones rounds them to integers. */
#include "unary_map.h"

#define SIGN ((M){0} + (B)(UINT64_C(1) << (8 * sizeof(B) - 1)))

EXACT_INLINE V NAME(with_sign)(V magnitude, V x) { return (V)(((M)magnitude & ~SIGN) | ((M)x & SIGN)); }
EXACT_INLINE V NAME(nearest)(V x) {
  const V magic = NAME(splat)(MAGIC);
  V magnitude = NAME(abs)(x);
  return PICK(magnitude < magic, NAME(with_sign)((magnitude + magic) - magic, x), x);
}
EXACT_INLINE V NAME(down)(V x) {
  V r = NAME(nearest)(x);
  return NAME(with_sign)(PICK(r > x, r - NAME(splat)(1), r), x);
}
EXACT_INLINE V NAME(up)(V x) {
  V r = NAME(nearest)(x);
  return NAME(with_sign)(PICK(r < x, r + NAME(splat)(1), r), x);
}
/* u > 0 ? (u > 1 ? 1 : u) : +0, a NaN stays one. */
EXACT_INLINE V NAME(ramp)(V u) { return NAME(min)(NAME(splat)(1), NAME(max)((V){0}, u) + (V){0}); }

#define LOOP(name, expression)                                                          \
  MAP(name, expression)                                                                 \
  static void NAME(name)(const exact_unary_args *a, const void *x, void *y, size_t n) { \
    EXACT_CAT(NAME(name), map)(a, (const T *)x, (const T *)x, (T *)y, n);               \
  }

LOOP(relu, CANONICAL(NAME(max)((V){0}, v) + (V){0}))
LOOP(leaky_relu, CANONICAL(PICK(v < (V){0}, alpha *v, v)))
LOOP(thresholded_relu, PICK(v > alpha, v, (V){0}))
LOOP(clip, CANONICAL(NAME(min)(beta, NAME(max)(alpha, v))))
LOOP(absolute, CANONICAL((V)((M)v & ~SIGN)))
LOOP(neg, CANONICAL((V)((M)v ^ SIGN)))
LOOP(floor, CANONICAL(NAME(down)(v)))
LOOP(ceil, CANONICAL(NAME(up)(v)))
LOOP(round, CANONICAL(NAME(nearest)(v)))
LOOP(sign, CANONICAL(PICK(v > (V){0}, NAME(splat)(1), PICK(v < (V){0}, NAME(splat)(-1), v + (V){0}))))
LOOP(reciprocal, CANONICAL(NAME(splat)(1) / v))
LOOP(hard_sigmoid, CANONICAL(NAME(ramp)(alpha *v + beta)))
LOOP(hard_swish, CANONICAL(v *NAME(ramp)(alpha *v + beta)))
LOOP(softsign, CANONICAL(v / (NAME(splat)(1) + NAME(abs)(v))))

static void NAME(sqrt)(const exact_unary_args *a, const void *in, void *out, size_t n) {
  const T *x = in;
  T *y = out;
  (void)a;
  EXACT_INDEPENDENT for (size_t i = 0; i < n; i++) {
    T root = SQRT(x[i]);
    y[i] = root == root ? root : (T)__builtin_nanf("");
  }
}
#undef LOOP
#undef SIGN
#undef MAGIC
#undef SQRT
#include "unary_map_end.h"
