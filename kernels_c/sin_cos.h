#ifndef EXACT_SIN_COS_H
#define EXACT_SIN_COS_H
/* float32 sin and cos, correctly rounded for every argument: as transcendental.h. x = n pi/2 + r, |r| <= pi/4 and a little;
 * the values are +-sin r or +-cos r as n mod 4 says. */
#include "transcendental.h"

/* |x| < 2^20: n = rint(x 2/pi) has 20 bits, so that its products with the first two parts of pi/2 are exact, and so are the
 * first difference and, where much cancels, the second. *quadrant: n in the low bits. */
static inline double exact_reduce_near(double x, uint64_t *quadrant) {
  double shifted = exact_madd(x, 0x1.45f306dc9c883p-1, 0x1.8p52), n = shifted - 0x1.8p52;
  *quadrant = exact_bits64(shifted);
  return exact_madd(n, -exact_half_pi[2], exact_madd(n, -exact_half_pi[1], exact_madd(n, -exact_half_pi[0], x)));
}

/* 2^20 <= |x| < infinity: |x| = m 2^(e - 23), and m times the 128 bits of 2/pi whose weight in |x| 2/pi is 2 and less, modulo
 * 4. The bits below make less than 2^-102; r is never below 2^-31. */
static inline double exact_reduce_far(float x, uint64_t *quadrant) {
  uint32_t u = exact_bits32(x), start = 64 + (u >> 23 & 255) - 127 - 23 - 2, shift = start % 64;
  const uint64_t *w = exact_two_over_pi + start / 64;
  uint64_t m = (u & 0x7FFFFFu) | 0x800000u, high = w[0], low = w[1];
  if (shift) high = high << shift | low >> (64 - shift), low = low << shift | w[2] >> (64 - shift);
  uint64_t part0 = m * (low & 0xFFFFFFFFu), part1 = m * (low >> 32) + (part0 >> 32);
  high = m * high + (part1 >> 32);
  low = part1 << 32 | (part0 & 0xFFFFFFFFu);
  uint64_t nearest = (high + ((uint64_t)1 << 61)) >> 62;
  int64_t fraction = (int64_t)(high << 2 | low >> 62); /* of a quadrant, in units of 2^-64, and low << 2 below it */
  double r = ((double)fraction + (double)(low << 2) * 0x1p-64) * 0x1.921fb54442d18p-64;
  *quadrant = u >> 31 ? 0 - nearest : nearest;
  return u >> 31 ? -r : r;
}

/* sin(r + quadrant pi/2) */
static inline float exact_sin_reduced(double r, uint64_t quadrant) {
  double z = r * r, s = exact_madd(r * z, exact_degree5(exact_sin_s, z), r);
  double c = 1.0 + exact_madd(z * z, exact_degree5(exact_cos_c, z), -0.5 * z);
  uint64_t odd = -(quadrant & 1);
  return (float)exact_from_bits64(((exact_bits64(c) & odd) | (exact_bits64(s) & ~odd)) ^ (quadrant & 2) << 62);
}

/* |x| < 2^20; below 2^-12 sin x rounds to x. */
static inline float exact_sin_near(float x) {
  uint64_t quadrant;
  double r = exact_reduce_near((double)x, &quadrant);
  uint32_t u = exact_bits32(x), y = exact_bits32(exact_sin_reduced(r, quadrant));
  uint32_t magnitude = u & 0x7FFFFFFFu;
  y = exact_choose32(magnitude == 0x46199998u, 0xBEB1FA5Du ^ (u & 0x80000000u), y); /* 2^-53.98 from a middle */
  return exact_from_bits32(exact_choose32(magnitude < 0x39800000u, u, y));
}
static inline float exact_cos_near(float x) {
  uint64_t quadrant;
  double r = exact_reduce_near((double)x, &quadrant);
  return exact_sin_reduced(r, quadrant + 1);
}

/* 2^20 <= |x|, infinite and NaN too. */
static inline float exact_sin_far(float x) {
  uint64_t quadrant;
  if ((exact_bits32(x) & 0x7FFFFFFFu) >= 0x7F800000u) return exact_from_bits32(0x7FC00000u);
  double r = exact_reduce_far(x, &quadrant);
  return exact_sin_reduced(r, quadrant);
}
static inline float exact_cos_far(float x) {
  uint64_t quadrant;
  uint32_t magnitude = exact_bits32(x) & 0x7FFFFFFFu;
  if (magnitude >= 0x7F800000u) return exact_from_bits32(0x7FC00000u);
  if (magnitude == 0x5F18B878u) return exact_from_bits32(0x3F7F14BBu); /* 2^-55.57 from a middle */
  if (magnitude == 0x6115CB11u) return exact_from_bits32(0x3F78142Fu); /* 2^-55.89 */
  double r = exact_reduce_far(x, &quadrant);
  return exact_sin_reduced(r, quadrant + 1);
}

static inline int exact_is_far(float x) { return (exact_bits32(x) & 0x7FFFFFFFu) >= 0x49800000u; }
static inline float exact_sinf_cr(float x) { return exact_is_far(x) ? exact_sin_far(x) : exact_sin_near(x); }
static inline float exact_cosf_cr(float x) { return exact_is_far(x) ? exact_cos_far(x) : exact_cos_near(x); }
#endif
