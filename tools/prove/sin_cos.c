/* True values of sin and cos. |x| 2/pi modulo 4 to 190 bits after the point; then the addition theorem around i/128. */
#include <stdio.h>
#include <stdlib.h>

#include "truth.h"

enum { LEAST = -1, MOST = 127, GRID = 7, TERMS = 7 };
/* The part modulo 1 of 2^(e - 23) (2/pi) / 4 in units of 2^-192, cut; least word first. */
static uint64_t turns[MOST - LEAST + 1][3];
static u128 sine[1 << GRID], cosine[1 << GRID]; /* of i/128, in units of 2^-127 */
static u128 sin_terms[TERMS], cos_terms[TERMS]; /* 1/(2k + 1)!, 1/(2k)!, in units of 2^-127 */
static real half_pi;

static void sin_cos_tables(void) {
  mpfr_t v, w;
  mpz_t z;
  mpz_init(z);
  mpfr_inits2(600, v, w, (mpfr_ptr)0);
  mpfr_const_pi(v, MPFR_RNDN);
  mpfr_div_ui(v, v, 2, MPFR_RNDN);
  half_pi = real_of_mpfr(v);
  mpfr_ui_div(v, 1, v, MPFR_RNDN);
  for (int e = LEAST; e <= MOST; e++) {
    mpfr_mul_2si(w, v, e - 25, MPFR_RNDN);
    mpfr_frac(w, w, MPFR_RNDN);
    mpfr_mul_2si(w, w, 192, MPFR_RNDN);
    mpfr_get_z(z, w, MPFR_RNDD);
    for (unsigned i = 0; i < 3; i++) turns[e - LEAST][i] = mpz_getlimbn(z, i);
  }
  for (unsigned i = 0; i < 1 << GRID; i++) {
    mpfr_set_ui_2exp(w, i, -GRID, MPFR_RNDN);
    mpfr_sin_cos(v, w, w, MPFR_RNDN);
    sine[i] = fixed_of(v, 127);
    cosine[i] = fixed_of(w, 127);
  }
  u128 factorial = 1;
  for (unsigned k = 0; k < 2 * TERMS; factorial *= ++k) {
    u128 *term = k & 1 ? &sin_terms[k / 2] : &cos_terms[k / 2];
    *term = ((u128)1 << 127) / factorial;
  }
  mpz_clear(z);
  mpfr_clears(v, w, (mpfr_ptr)0);
}

/* x = +-r + quadrant pi/2, 0 < r < 0.7854; x = m 2^(e - 23). */
typedef struct reduced {
  real r;
  unsigned quadrant;
} reduced;

static reduced reduce(int e, uint32_t m) {
  if (e < LEAST) return (reduced){{false, (u128)m << 104, e, 0}, 0};
  const uint64_t *t = turns[e - LEAST];
  u128 p0 = (u128)m * t[0], p1 = (u128)m * t[1] + (uint64_t)(p0 >> 64);
  uint64_t w0 = (uint64_t)p0, w1 = (uint64_t)p1, w2 = m * t[2] + (uint64_t)(p1 >> 64);
  reduced d = {.quadrant = (unsigned)(w2 >> 62)};
  u128 high = (u128)w2 << 66 | (u128)w1 << 2 | w0 >> 62; /* the fraction in units of 2^-192, off by 2^26 */
  uint64_t low = w0 << 2;
  bool negative = high >> 127;
  if (negative) {
    d.quadrant++;
    low = 0 - low;
    high = 0 - high - (low != 0);
  }
  int shift = 127 - width(high); /* of normal form; the proof that no float comes nearer to a multiple of pi/2 is this check */
  if (shift > 36) fprintf(stderr, "%u 2^%d is too near to a multiple of pi/2\n", m, e - 23), abort();
  if (shift) high = high << shift | low >> (64 - shift);
  d.r = real_times((real){false, high, -1 - shift, 1}, half_pi);
  d.r.negative = negative;
  return d;
}

/* sum of +-term[k] z^k, z in units of 2^-128 and below 2^-14: cut after z^6, below 2^-130. */
static u128 alternating(const u128 *term, u128 z) {
  u128 sum = term[TERMS - 1];
  for (int k = TERMS - 2; k >= 0; k--) sum = term[k] - high_product(z, sum);
  return sum;
}

static real sin_reduced(reduced d) {
  u128 fixed = real_fixed(d.r, 128), h = fixed & (((u128)1 << (128 - GRID)) - 1), square = high_product(h, h);
  unsigned i = (unsigned)(fixed >> (128 - GRID));
  real y;
  u128 s = alternating(sin_terms, square);
  if (d.quadrant & 1) {
    u128 c = alternating(cos_terms, square); /* in each of the products and tables cuts by a unit or two */
    y = real_of(high_product(cosine[i], c) - high_product(sine[i], high_product(h, s)), 126, 5);
  } else if (i == 0) {
    y = real_times(d.r, real_of(s, 127, 3));
  } else {
    u128 c = alternating(cos_terms, square);
    y = real_of(high_product(sine[i], c) + high_product(cosine[i], high_product(h, s)), 126, 5);
  }
  y.negative = (d.quadrant & 1 ? false : d.r.negative) != !!(d.quadrant & 2);
  return y;
}

static bool sin_known(uint32_t u, uint32_t *y) {
  *y = u >= 0x7F800000 ? 0x7FC00000 : u; /* below 2^-12 within x^3/6 < 2^-26 x of x */
  return u >= 0x7F800000 || u < 0x39800000;
}

static bool cos_known(uint32_t u, uint32_t *y) {
  *y = u >= 0x7F800000 ? 0x7FC00000 : 0x3F800000; /* below 2^-12 within x^2/2 < 2^-25 of 1 */
  return u >= 0x7F800000 || u < 0x39800000;
}

static reduced reduce_float(uint32_t u) { return reduce((int)float_exponent_field(u) - 127, (u & 0x7FFFFF) | 0x800000); }

static real sin_true(uint32_t u) { return sin_reduced(reduce_float(u)); }

static real cos_true(uint32_t u) {
  reduced d = reduce_float(u);
  d.quadrant++;
  return sin_reduced(d);
}

static void sin_mpfr(mpfr_t y, mpfr_t x) { mpfr_sin(y, x, MPFR_RNDN); }
static void cos_mpfr(mpfr_t y, mpfr_t x) { mpfr_cos(y, x, MPFR_RNDN); }

const function function_sin = {"sin", -1, sin_cos_tables, sin_known, sin_true, sin_mpfr};
const function function_cos = {"cos", 1, sin_cos_tables, cos_known, cos_true, cos_mpfr};
