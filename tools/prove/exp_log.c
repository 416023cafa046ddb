/* True values of exp and log. exp x = exp a * exp b, where a holds the upper and b the lower 12 bits of x's significand;
 * log x = e * ln 2 + log m, m one of 2^23 significands. The factors and terms are MPFR's, cut to 128 bits. */
#include <stdlib.h>

#include "truth.h"

static struct {
  u128 significand;
  int exponent;
} upper[2][EXP_MOST - EXP_LEAST + 1][4096], lower[2][EXP_MOST - EXP_LEAST + 1][4096];

void exp_tables(void) {
  mpfr_t v;
  mpfr_init2(v, 256);
  for (int sign = 0; sign < 2; sign++)
    for (int e = EXP_LEAST; e <= EXP_MOST; e++)
      for (int i = 0; i < 8192; i++) {
        int part = i & 4095, high = i >> 12;
        mpfr_set_si_2exp(v, sign ? -part : part, e - 23 + (high ? 12 : 0), MPFR_RNDN);
        mpfr_exp(v, v, MPFR_RNDN);
        real r = real_of_mpfr(v);
        if (high)
          upper[sign][e - EXP_LEAST][part].significand = r.significand, upper[sign][e - EXP_LEAST][part].exponent = r.exponent;
        else
          lower[sign][e - EXP_LEAST][part].significand = r.significand, lower[sign][e - EXP_LEAST][part].exponent = r.exponent;
      }
  mpfr_clear(v);
}

real exp_value(bool negative, int e, uint32_t m) {
  const int row = e - EXP_LEAST;
  real r = {false, high_product(upper[negative][row][m >> 12].significand, lower[negative][row][m & 4095].significand),
            upper[negative][row][m >> 12].exponent + lower[negative][row][m & 4095].exponent + 1, 3};
  if (!(r.significand >> 127)) r.significand <<= 1, r.exponent--; /* cuts: below 2 units each before, 8 after */
  return r;
}

static bool exp_known(uint32_t u, uint32_t *y) {
  int e = (int)float_exponent_field(u) - 127;
  *y = e < EXP_LEAST ? 0x3F800000 : u >> 31 ? 0 : 0x7F800000; /* within 2^-27 of 1 */
  return e < EXP_LEAST || e > EXP_MOST;
}

static real exp_true(uint32_t u) { return exp_value(u >> 31, (int)float_exponent_field(u) - 127, (u & 0x7FFFFF) | 0x800000); }

static void exp_mpfr(mpfr_t y, mpfr_t x) { mpfr_exp(y, x, MPFR_RNDN); }

enum { LOG_UNIT = 116 };
static u128 *log_m, log_2;

static void log_tables(void) {
  mpfr_t v;
  log_m = malloc(sizeof *log_m << 23);
  mpfr_init2(v, 192);
  for (uint32_t i = 0; i < 1 << 23; i++) {
    mpfr_set_ui_2exp(v, 0x800000 + i, -23, MPFR_RNDN);
    mpfr_log(v, v, MPFR_RNDN);
    log_m[i] = fixed_of(v, LOG_UNIT);
  }
  mpfr_const_log2(v, MPFR_RNDN);
  log_2 = fixed_of(v, LOG_UNIT);
  mpfr_clear(v);
}

static bool log_known(uint32_t u, uint32_t *y) {
  *y = u << 1 == 0 ? 0xFF800000 : u >> 31 ? 0x7FC00000 : u == 0x7F800000 ? u : 0;
  return u << 1 == 0 || u >> 31 || u == 0x7F800000 || u == 0x3F800000;
}

static real log_true(uint32_t u) {
  int e = (int)(u >> 23) - 127;
  uint32_t m = u & 0x7FFFFF;
  if (e == -127) { /* subnormal */
    int shift = __builtin_clz(m) - 8;
    e = -126 - shift;
    m = (m << shift) & 0x7FFFFF;
  }
  __int128 v = (__int128)log_2 * e + (__int128)log_m[m]; /* cuts: below 151 units */
  real r = real_of(v < 0 ? -(u128)v : (u128)v, LOG_UNIT, 8);
  r.negative = v < 0;
  return r;
}

static void log_mpfr(mpfr_t y, mpfr_t x) { mpfr_log(y, x, MPFR_RNDN); }

const function function_exp = {"exp", 0, exp_tables, exp_known, exp_true, exp_mpfr};
const function function_log = {"log", 0, log_tables, log_known, log_true, log_mpfr};
