#ifndef EXACT_TRANSCENDENTAL_H
#define EXACT_TRANSCENDENTAL_H
/* float32 sigmoid, tanh, erf and softplus, correctly rounded for every argument (docs/transcendental.md): the real value
 * rounded once to nearest even. Evaluated in double without fused operations, so that the bits are those of every compiler and
 * instruction set; loops over them vectorise. tools/prove_functions.py ran through all arguments: any change to a constant or
 * to the order of the operations needs that run again. They rely on the environment that exact_parallel sets. */
#include "exp_log.h"
#include "transcendental_tables.h"

/* Polynomials of degrees 3, 5, 9 and 10 in z by coefficients of 1, z ..., in Estrin's order. */
static inline double exact_degree3(const double *c, double z, double z2) {
  return exact_madd(z2, exact_madd(z, c[3], c[2]), exact_madd(z, c[1], c[0]));
}
static inline double exact_degree5(const double *c, double z) {
  double z2 = z * z;
  return exact_madd(z2 * z2, exact_madd(z, c[5], c[4]), exact_degree3(c, z, z2));
}
static inline double exact_degree9(const double *c, double z) {
  double z2 = z * z, z4 = z2 * z2, low = exact_madd(z4, exact_degree3(c + 4, z, z2), exact_degree3(c, z, z2));
  return exact_madd(z4 * z4, exact_madd(z, c[9], c[8]), low);
}
static inline double exact_degree10(const double *c, double z) {
  double z2 = z * z, z4 = z2 * z2, low = exact_madd(z4, exact_degree3(c + 4, z, z2), exact_degree3(c, z, z2));
  return exact_madd(z4 * z4, exact_madd(z2, c[10], exact_madd(z, c[9], c[8])), low);
}

/* The magnitude of y with the sign of x; the canonical NaN where x is one. */
static inline float exact_odd_result(float x, uint32_t y) {
  uint32_t u = exact_bits32(x), signed_y = (y & 0x7FFFFFFFu) | (u & 0x80000000u);
  return exact_from_bits32(exact_choose32(x != x, 0x7FC00000u, signed_y));
}

/* 1 / (1 + e^-x), for |x| < 2^-12 of x (1 - 2^-25): the value is 1/2 + x/4 - x^3/48 ..., x/4 may be the middle of two floats
 * and the third term below double's resolution. The next middle is at least x 2^-26 away, so that the change decides rightly.
 */
static inline float exact_sigmoidf_cr(float x) {
  float low = x < -104.0f ? -104.0f : x, in = low > 89.0f ? 89.0f : low; /* there it rounds to 0 and 1 */
  uint32_t tiny = (exact_bits32(in) & 0x7FFFFFFFu) < 0x39800000u;
  double near = exact_madd((double)exact_from_bits32(exact_choose32((int)tiny, exact_bits32(in), 0)), -0x1p-25, (double)in);
  uint32_t y = exact_bits32((float)(1.0 / (1.0 + exact_exp_near(-near))));
  y = exact_choose32(exact_bits32(x) == 0xBA928601u, 0x3EFFDB5Fu, y); /* 2^-55.0 from a middle */
  return exact_from_bits32(exact_choose32(x != x, 0x7FC00000u, y));
}

/* tanh x = (e^2x - 1) / ((e^2x - 1) + 2), where e^2x - 1 = 2^n p + (2^n - 1). */
static inline float exact_tanhf_cr(float x) {
  float low = x < -10.0f ? -10.0f : x, in = low > 10.0f ? 10.0f : low; /* +-1 beyond 9.02 */
  uint64_t power;
  double p = exact_exp_split(2.0 * (double)in, &power);
  double scale = exact_from_bits64(0x3FF0000000000000u + (power << 52));
  double less_one = exact_madd(scale, p, scale - 1.0);
  uint32_t y = exact_bits32((float)(less_one / (less_one + 2.0)));
  y = exact_choose32((exact_bits32(x) & 0x7FFFFFFFu) == 0x3D7C3055u, 0x3D7BDEE1u, y); /* 2^-48.8 from a middle */
  return exact_odd_result(x, y);
}

/* erf x = x N(x^2) / D(x^2); +-1 from 3.95 on. */
static inline float exact_erff_cr(float x) {
  float low = x < -0x1.f9999ap+1f ? -0x1.f9999ap+1f : x, in = low > 0x1.f9999ap+1f ? 0x1.f9999ap+1f : low;
  double a = (double)in, z = a * a;
  uint32_t y = exact_bits32((float)(a * exact_degree9(exact_erf_n, z) / exact_degree10(exact_erf_d, z)));
  y = exact_choose32((exact_bits32(x) & 0x7FFFFFFFu) == 0x3940EAD6u, 0x3959AF14u, y); /* 2^-56.35 from a middle */
  return exact_odd_result(x, y);
}

/* log(1 + e^x) = max(x, 0) + log(1 + t), t = e^-|x|; log(1 + t) = s P(s^2), s = t / (2 + t). */
static inline float exact_softplusf_cr(float x) {
  uint32_t u = exact_bits32(x), magnitude = u & 0x7FFFFFFFu;
  float positive = exact_from_bits32(exact_choose32((int)(u >> 31), 0, u));
  float far = exact_from_bits32(magnitude), in = far > 104.0f ? 104.0f : far; /* e^-104 rounds to 0 */
  double t = exact_exp_near(-(double)in), s = t / (2.0 + t);
  uint32_t y = exact_bits32((float)exact_madd(s, exact_degree10(exact_log1p_p, s * s), (double)positive));
  y = exact_choose32(u == 0x39EA41D0u, 0x3F3180BDu, y); /* 2^-56.96 from a middle */
  return exact_from_bits32(exact_choose32(magnitude > 0x7F800000u, 0x7FC00000u, y));
}
#endif
