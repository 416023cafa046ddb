/* True values of sigmoid and tanh from t = e^-|x| and e^-2|x|: 1/(1 + t), t/(1 + t), (1 - t)/(1 + t). */
#include "truth.h"

/* 1/v: y of 63 bits by double, then one step y + y (1 - y v). The step leaves (1 - y v)^2 < 2^-100. */
u128 reciprocal(u128 v) {
  u128 y = (u128)(0x1p63 / ((double)v * 0x1p-126));
  u128 low = y * (uint64_t)v, high = y * (uint64_t)(v >> 64) + (low >> 64); /* y v in units of 2^-189, from bit 64 on */
  __int128 missing = (__int128)(((u128)1 << 125) - high);                   /* of 2^-125, |missing| < 2^76 */
  return (y << 64) + (u128)((((missing >> 12) * (__int128)y)) >> 49);       /* 2^-113 2^-63 2^49 = 2^-127 */
}

static real exp_minus(uint32_t u, int times2) { /* e^-(|x| 2^times2) */
  return exp_value(true, (int)float_exponent_field(u) - 127 + times2, (u & 0x7FFFFF) | 0x800000);
}

/* 1 / (1 + t) */
static real over_one_more(u128 t) { return real_of(reciprocal(((u128)1 << 126) + (t >> 1)), 127, RECIPROCAL_ERROR); }

static bool sigmoid_known(uint32_t u, uint32_t *y) {
  int e = (int)float_exponent_field(u) - 127;
  *y = e < EXP_LEAST ? 0x3F000000 : u >> 31 ? 0 : 0x3F800000; /* within 2^-29 of 1/2; from |x| = 128 on */
  return e < EXP_LEAST || e > EXP_MOST;
}

static real sigmoid_true(uint32_t u) {
  real t = exp_minus(u, 0), y = over_one_more(real_fixed(t, 127));
  return u >> 31 ? real_times(t, y) : y;
}

static void sigmoid_mpfr(mpfr_t y, mpfr_t x) {
  mpfr_neg(y, x, MPFR_RNDN);
  mpfr_exp(y, y, MPFR_RNDN);
  mpfr_add_ui(y, y, 1, MPFR_RNDN);
  mpfr_ui_div(y, 1, y, MPFR_RNDN);
}

static bool tanh_known(uint32_t u, uint32_t *y) {
  int e = (int)float_exponent_field(u) - 127;
  *y = e < 0 ? u : 0x3F800000; /* below 2^-12 within x^3/3 < 2^-25 |x| of x; from 16 on within 2^-45 of 1 */
  return e < -12 || e > 3;
}

static real tanh_true(uint32_t u) {
  u128 t = real_fixed(exp_minus(u, 1), 127);
  return real_times(real_of(((u128)1 << 127) - t, 127, 5), over_one_more(t));
}

static void tanh_mpfr(mpfr_t y, mpfr_t x) { mpfr_tanh(y, x, MPFR_RNDN); }

const function function_sigmoid = {"sigmoid", 0, exp_tables, sigmoid_known, sigmoid_true, sigmoid_mpfr};
const function function_tanh = {"tanh", -1, exp_tables, tanh_known, tanh_true, tanh_mpfr};
