#ifndef TRUTH_H
#define TRUTH_H
/* Positive and negative real numbers with a bound of their error, by integers of 128 bits. */
#include <mpfr.h>
#include <stdbool.h>
#include <stdint.h>

typedef unsigned __int128 u128;

/* significand (its leading bit set) * 2^(exponent - 127); the true value is less than 2^error units of 2^(exponent - 127)
 * away, to either side. */
typedef struct real {
  bool negative;
  u128 significand;
  int exponent;
  unsigned error;
} real;

static inline u128 high_product(u128 a, u128 b) { /* floor(a * b / 2^128) */
  uint64_t a1 = (uint64_t)(a >> 64), a0 = (uint64_t)a, b1 = (uint64_t)(b >> 64), b0 = (uint64_t)b;
  u128 cross1 = (u128)a1 * b0, cross0 = (u128)a0 * b1;
  return (u128)a1 * b1 + (cross1 >> 64) + (cross0 >> 64) +
         (((u128)(uint64_t)cross1 + (uint64_t)cross0 + ((u128)a0 * b0 >> 64)) >> 64);
}

static inline int width(u128 v) { /* position of the leading bit */
  uint64_t high = (uint64_t)(v >> 64);
  return high ? 127 - __builtin_clzll(high) : 63 - __builtin_clzll((uint64_t)v);
}

/* v * 2^-point, known to 2^error of its units; v is not 0. */
static inline real real_of(u128 v, int point, unsigned error) {
  int top = width(v);
  return (real){false, v << (127 - top), top - point, error + 127 - (unsigned)top};
}

/* v >= 0 of 256 bits in units of 2^-point, cut: at most a unit below. */
u128 fixed_of(mpfr_t v, int point);
/* The value cut to 128 bits. */
real real_of_mpfr(mpfr_t v);

/* Both errors are below half the significands: |ab - AB| < 2^(error a + 1) + 2^(error b + 1), the cut adds one or two. */
static inline real real_times(real a, real b) {
  unsigned most = a.error > b.error ? a.error : b.error;
  real r = {a.negative != b.negative, high_product(a.significand, b.significand), a.exponent + b.exponent + 1, most + 2};
  if (!(r.significand >> 127)) r.significand <<= 1, r.exponent--;
  r.error++;
  return r;
}

/* A real in units of 2^-point, cut; its exponent is at most 127 - point. */
static inline u128 real_fixed(real a, int point) {
  int down = 127 - point - a.exponent;
  return down > 127 ? 0 : a.significand >> down;
}

/* A function's true values. Symmetry: -1 odd, 1 even, 0 neither; then only arguments without a sign are asked for. */
typedef struct function {
  const char *name;
  int symmetry;
  void (*tables)(void);
  bool (*known)(uint32_t u, uint32_t *y); /* a result that needs no value: special, at the ends of the range, near 0 */
  real (*value)(uint32_t u);
  void (*by_mpfr)(mpfr_t y, mpfr_t x); /* to the precision of y and some bits less */
} function;
extern const function function_exp, function_log, function_sigmoid, function_tanh, function_softplus, function_erf,
    function_sin, function_cos;

static inline uint32_t float_exponent_field(uint32_t u) { return u >> 23 & 255; }

/* ---- shared by several functions ---- */
enum { EXP_LEAST = -28, EXP_MOST = 6 };
void exp_tables(void);
/* e^(+-m 2^(e - 23)), 2^23 <= m < 2^24, EXP_LEAST <= e <= EXP_MOST. Its error is below 2^4 units. */
real exp_value(bool negative, int e, uint32_t m);
/* 1 / d for d = v 2^-126, 1 <= d <= 2, v cut by at most a few units: in units of 2^-127, off by less than 2^RECIPROCAL_ERROR.
 */
enum { RECIPROCAL_ERROR = 28 };
u128 reciprocal(u128 v);
#endif
