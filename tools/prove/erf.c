/* True values of erf: Taylor's series around i/256; below 1/8 the one around 0. */
#include "truth.h"

enum { GRID = 8, TERMS = 14, POINT = 106, END = 4, SMALL = 16 };
static __int128 taylor[END << GRID][TERMS + 1]; /* erf^(k)(i / 256) / k! in units of 2^-POINT, rounded down */
static u128 series[SMALL];                      /* 1 / (k! (2k + 1)) in units of 2^-127 */
static real two_over_root_pi;

/* The derivatives by f'' = -2 x f': f^(k + 1) = -2 x f^(k) - 2 (k - 1) f^(k - 1), k >= 1. */
static void erf_tables(void) {
  mpfr_t d[TERMS + 2], x, v;
  mpfr_inits2(400, x, v, (mpfr_ptr)0);
  for (int k = 0; k < TERMS + 2; k++) mpfr_init2(d[k], 400);
  mpfr_const_pi(v, MPFR_RNDN);
  mpfr_rec_sqrt(v, v, MPFR_RNDN);
  mpfr_mul_ui(v, v, 2, MPFR_RNDN);
  two_over_root_pi = real_of_mpfr(v);
  for (int i = 0; i < END << GRID; i++) {
    mpfr_set_ui_2exp(x, (unsigned)i, -GRID, MPFR_RNDN);
    mpfr_erf(d[0], x, MPFR_RNDN);
    mpfr_sqr(d[1], x, MPFR_RNDN);
    mpfr_neg(d[1], d[1], MPFR_RNDN);
    mpfr_exp(d[1], d[1], MPFR_RNDN);
    mpfr_mul(d[1], d[1], v, MPFR_RNDN);
    for (int k = 1; k <= TERMS; k++) {
      mpfr_t t;
      mpfr_init2(t, 400);
      mpfr_mul(d[k + 1], d[k], x, MPFR_RNDN);
      mpfr_mul_si(d[k + 1], d[k + 1], -2, MPFR_RNDN);
      mpfr_mul_si(t, d[k - 1], 2 * (k - 1), MPFR_RNDN);
      mpfr_sub(d[k + 1], d[k + 1], t, MPFR_RNDN);
      mpfr_clear(t);
    }
    mpfr_set_ui(x, 1, MPFR_RNDN); /* k! */
    for (int k = 0; k <= TERMS; k++) {
      if (k) mpfr_mul_ui(x, x, (unsigned)k, MPFR_RNDN);
      mpfr_div(d[k], d[k], x, MPFR_RNDN);
      bool negative = mpfr_sgn(d[k]) < 0;
      mpfr_abs(d[k], d[k], MPFR_RNDN);
      taylor[i][k] = negative ? -1 - (__int128)fixed_of(d[k], POINT) : (__int128)fixed_of(d[k], POINT);
    }
  }
  u128 factorial = 1;
  for (unsigned k = 0; k < SMALL; factorial *= ++k) series[k] = ((u128)1 << 127) / (factorial * (2 * k + 1));
  for (int k = 0; k < TERMS + 2; k++) mpfr_clear(d[k]);
  mpfr_clears(x, v, (mpfr_ptr)0);
}

static bool erf_known(uint32_t u, uint32_t *y) {
  *y = u == 0 ? 0 : 0x3F800000; /* 1 - erf 4 is below 2^-25 */
  return u == 0 || u >= 0x40800000;
}

static real erf_true(uint32_t u) {
  int e = (int)float_exponent_field(u) - 127;
  uint32_t m = u & 0x7FFFFF;
  if (e == -127) {
    int shift = __builtin_clz(m) - 8;
    e = -126 - shift;
    m <<= shift;
  }
  m |= 0x800000;
  if (e >= -3) { /* x in units of 2^-26 */
    uint32_t x = m << (e + 3), i = x >> (26 - GRID), h = x & ((1u << (26 - GRID)) - 1);
    __int128 sum = taylor[i][TERMS];
    for (int k = TERMS - 1; k >= 0; k--) sum = taylor[i][k] + ((sum * h) >> 26);
    return real_of((u128)sum, POINT, 3); /* cuts: below 2 (1 + h + h^2 ...); the terms left out: below 2^-115 */
  }
  real x = {false, (u128)m << 104, e, 0};
  if (e < -70) return real_times(x, two_over_root_pi);                     /* x^2/3 is below 2^-139 */
  u128 z = (u128)((uint64_t)m * m) << (82 + 2 * (e < -41 ? -41 : e)), sum; /* x^2 in units of 2^-128 */
  if (e < -41) z >>= 2 * (-41 - e);
  int terms = e >= -12 ? SMALL : e >= -28 ? 6 : 3; /* the next: below (2^-4)^16/16!, (2^-22)^6/6!, (2^-54)^3/3!: 2^-108 */
  sum = series[terms - 1];
  for (int k = terms - 2; k >= 0; k--) sum = series[k] - high_product(z, sum);
  return real_times(real_times(x, two_over_root_pi), real_of(sum, 127, 20));
}

static void erf_mpfr(mpfr_t y, mpfr_t x) { mpfr_erf(y, x, MPFR_RNDN); }

const function function_erf = {"erf", -1, erf_tables, erf_known, erf_true, erf_mpfr};
