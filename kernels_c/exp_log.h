#ifndef EXACT_EXP_LOG_H
#define EXACT_EXP_LOG_H
/* float32 exp and log, correctly rounded for every argument (docs/exp_log.md): the real value rounded once to nearest even.
 * Evaluated in double without fused operations, so that the bits are those of every compiler and instruction set; loops over
 * them vectorise. tools/prove_functions.py ran through all arguments: any change to a constant or to the order of the
 * operations needs that run again. They rely on the environment that exact_parallel sets. */
#include <stdint.h>
#include <string.h>

static inline uint32_t exact_bits32(float x) {
  uint32_t u;
  memcpy(&u, &x, 4);
  return u;
}
static inline float exact_from_bits32(uint32_t u) {
  float x;
  memcpy(&x, &u, 4);
  return x;
}
/* yes ? a : b. As masks, since gcc makes branches of ?: here and does not vectorise them. */
static inline uint32_t exact_choose32(int yes, uint32_t a, uint32_t b) {
  uint32_t mask = -(uint32_t)yes;
  return (a & mask) | (b & ~mask);
}
static inline uint64_t exact_bits64(double x) {
  uint64_t u;
  memcpy(&u, &x, 8);
  return u;
}
static inline double exact_from_bits64(uint64_t u) {
  double x;
  memcpy(&x, &u, 8);
  return x;
}

/* a * b + c: two roundings, but one where a file defines EXACT_FUSED, whose functions have their own proof. */
static inline double exact_madd(double a, double b, double c) {
#ifdef EXACT_FUSED
  return __builtin_fma(a, b, c);
#else
  return a * b + c;
#endif
}

/* e^x = 2^n (1 + p) for |x| <= 178: n = rint(x / ln 2), r = x - n ln 2, p = r + r^2 q(r), q of degree 8 in Estrin's order;
 * relative to itself p has an error below 2^-48, relative to 1 + p one below 2^-50. *power: n in its low 12 bits. */
static inline double exact_exp_split(double x, uint64_t *power) {
  const double magic = 0x1.8p52;
  double shifted = exact_madd(x, 0x1.71547652b82fep0, magic), n = shifted - magic;
  double r = exact_madd(n, -0x1.cf79abc9e3b3ap-40, exact_madd(n, -0x1.62e42fefap-1, x));
  double r2 = r * r, r4 = r2 * r2;
  double q01 = exact_madd(r, 0x1.55555555507b8p-3, 0x1.ffffffffffed2p-2);
  double q23 = exact_madd(r, 0x1.11111125b6a76p-7, 0x1.555555558917dp-5);
  double q45 = exact_madd(r, 0x1.a0198d4dd0447p-13, 0x1.6c16c0c80f393p-10);
  double q67 = exact_madd(r, 0x1.72e9273a8747fp-19, 0x1.a01b7c965cea8p-16);
  double high = exact_madd(r4, 0x1.270778dd2fe23p-22, exact_madd(r2, q67, q45));
  double q = exact_madd(r4, high, exact_madd(r2, q23, q01));
  *power = exact_bits64(shifted);
  return exact_madd(r2, q, r);
}

/* e^x for |x| <= 178 as a double with a relative error below 2^-50; 2^n by an addition to the exponent. */
static inline double exact_exp_near(double x) {
  uint64_t power;
  double y = 1.0 + exact_exp_split(x, &power);
  return exact_from_bits64(exact_bits64(y) + (power << 52));
}

static inline float exact_expf_cr(float x) {
  float low = x < -104.0f ? -104.0f : x, in = low > 89.0f ? 89.0f : low; /* e^-104 rounds to 0, e^89 to infinity */
  float y = (float)exact_exp_near(in);
  return exact_from_bits32(exact_choose32(x != x, 0x7FC00000u, exact_bits32(y)));
}

/* log x = e ln 2 + log(1 + f), x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt 2; s = f / (2 + f), z = s^2:
 * log(1 + f) = f - s (f - z P(z)). Five arguments lie too near to the middle of two floats for double: they are listed. */
static inline float exact_logf_cr(float x) {
  uint32_t u = exact_bits32(x), tiny = u < 0x00800000u;
  uint32_t scaled = exact_choose32(tiny, exact_bits32(x * 0x1p23f), u);
  uint32_t offset = scaled - 0x3F3504F3u;
  double e = (double)(((int32_t)offset >> 23) - (int32_t)(23 * tiny));
  double f = (double)exact_from_bits32((offset & 0x007FFFFFu) + 0x3F3504F3u) - 1.0;
  double s = f / (2.0 + f), z = s * s, z2 = z * z;
  double p01 = 0x1.5555555555592p-1 + z * 0x1.999999997fd78p-2;
  double p23 = 0x1.24924941f4e98p-2 + z * 0x1.c71c52061c01dp-3;
  double p45 = 0x1.74663f9cdd5aep-3 + z * 0x1.39a1a79b4091cp-3;
  double p = (p01 + z2 * p23) + (z2 * z2) * (p45 + z2 * 0x1.2f062d1f3f832p-3);
  uint32_t y = exact_bits32((float)(e * 0x1.62e42fefap-1 + (f - (s * (f - z * p) - e * 0x1.cf79abc9e3b3ap-40))));
  y = exact_choose32(u == 0x3C413D3Au, 0xC08E158Fu, y);
  y = exact_choose32(u == 0x41178FEBu, 0x400FE5E7u, y);
  y = exact_choose32(u == 0x4C5D65A5u, 0x418F034Bu, y);
  y = exact_choose32(u == 0x65D890D3u, 0x4254D1F9u, y);
  y = exact_choose32(u == 0x6F31A8ECu, 0x42845A89u, y);
  y = exact_choose32(u > 0x7F800000u, 0x7FC00000u, y); /* NaN, negative */
  y = exact_choose32(u == 0x7F800000u, u, y);
  return exact_from_bits32(exact_choose32((u << 1) == 0, 0xFF800000u, y));
}
#endif
