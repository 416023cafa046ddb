/* True values of softplus: max(x, 0) + log(1 + t), t = e^-|x|. */
#include "truth.h"

enum { PARTS = 1024, POINT = 120, TERMS = 11 };
static struct {
  uint32_t inverse; /* c, near 1/v for v in [1 + i/1024, 1 + (i + 1)/1024), in units of 2^-12 */
  u128 minus_log;   /* of c, in units of 2^-POINT */
} parts[PARTS];
static u128 over[TERMS + 1]; /* 1/i in units of 2^-127, cut */

static void softplus_tables(void) {
  mpfr_t v;
  mpfr_init2(v, 256);
  exp_tables();
  for (int i = 0; i < PARTS; i++) {
    parts[i].inverse = (8192 * PARTS) / (2 * PARTS + 2 * (uint32_t)i + 1);
    mpfr_set_ui_2exp(v, parts[i].inverse, -12, MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    mpfr_neg(v, v, MPFR_RNDN);
    parts[i].minus_log = fixed_of(v, POINT);
  }
  for (unsigned i = 2; i <= TERMS; i++) over[i] = ((u128)1 << 127) / i;
  over[1] = (u128)1 << 127;
  mpfr_clear(v);
}

/* log(1 + z) / z = 1 - z/2 + z^2/3 ... in units of 2^-127 for z = +-magnitude 2^-128, |z| < 2^-9: cut after z^10, below 2^-99,
 * and each product by a unit. */
static u128 log1p_over(bool negative, u128 magnitude) {
  u128 sum = over[TERMS];
  for (int i = TERMS - 1; i > 0; i--) {
    u128 product = high_product(magnitude, sum);
    sum = negative ? over[i] + product : over[i] - product;
  }
  return sum;
}

static bool softplus_known(uint32_t u, uint32_t *y) {
  int e = (int)float_exponent_field(u) - 127;
  *y = e < EXP_LEAST ? 0x3F317218 : u >> 31 ? 0 : u; /* ln 2 within 2^-29 and 0.03 of a float; x within e^-128 */
  return e < EXP_LEAST || e > EXP_MOST;
}

static real softplus_true(uint32_t u) {
  int e = (int)float_exponent_field(u) - 127;
  uint32_t m = (u & 0x7FFFFF) | 0x800000;
  real t = exp_value(true, e, m);
  if (t.exponent < -20 && u >> 31) return real_times(t, real_of(log1p_over(false, real_fixed(t, 128)), 127, 30));
  u128 v = ((u128)1 << 114) + real_fixed(t, 114); /* 1 + t, cut by less than 2 units */
  uint32_t i = (uint32_t)(v >> 104) & (PARTS - 1);
  __int128 z = (__int128)(v * parts[i].inverse) - ((__int128)1 << 126); /* v c - 1 in units of 2^-126, off by 2^13 */
  u128 magnitude = (u128)(z < 0 ? -z : z) << 2, log = high_product(magnitude, log1p_over(z < 0, magnitude)) >> (127 - POINT);
  u128 sum = z < 0 ? parts[i].minus_log - log : parts[i].minus_log + log;
  if (!(u >> 31)) sum += (u128)m << (e + POINT - 23);
  return real_of(sum, POINT, 15); /* the terms cut: 2^-99 2^-9 = 2^-108 */
}

static void softplus_mpfr(mpfr_t y, mpfr_t x) {
  mpfr_exp(y, x, MPFR_RNDN);
  mpfr_log1p(y, y, MPFR_RNDN);
}

const function function_softplus = {"softplus", 0, softplus_tables, softplus_known, softplus_true, softplus_mpfr};
