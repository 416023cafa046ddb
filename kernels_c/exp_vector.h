#ifndef EXACT_EXP_VECTOR_H
#define EXACT_EXP_VECTOR_H
/* float32 exp of vectors, correctly rounded (docs/exp_log.md): x = k ln2/N + r; e^x = T[k mod N] e^(r + D[k mod N])
 * 2^floor(k/N), where T[i] is the float nearest to 2^(i/N) and D[i] makes up for its rounding. The significand is the sum of
 * the floats s and `rest`, whose error is below a margin: where s + (rest - margin) and s + (rest + margin) round to the same
 * float, that is the result; elsewhere, and where the result is not a normal number, exact_exp_rare decides in double.
 * tools/prove_functions.py ran through all arguments. Fused operations are part of the method; AVX2 and AVX-512 only. */
#include "isa.h"
#include "exp_log.h"

#if defined(__AVX2__)
#define EXACT_EXP_VECTOR
#include <immintrin.h>
#if defined(__AVX512F__)
#define EXACT_EXP_TARGET
enum { EXACT_EXP_W = 16 };
typedef __m512 exact_ev;
typedef __m512i exact_evi;
typedef __mmask16 exact_evm;
#define EV(op) _mm512_##op
#define EV_TABLE(table, index) _mm512_permutex2var_ps(_mm512_load_ps(table), index, _mm512_load_ps(table + 16))
#define EV_CMP(a, b, how) _mm512_cmp_ps_mask(a, b, how)
#define EV_CMP_TOO(m, a, b, how) _mm512_mask_cmp_ps_mask(m, a, b, how)
#define EV_ALL 0xFFFFu
#define EV_BITS(m) ((unsigned)(m))
#define EV_BLEND(a, b, m) _mm512_mask_blend_ps(m, a, b) /* b where m */
#define EV_AS_INT _mm512_castps_si512
#define EV_AS_FLOAT _mm512_castsi512_ps
#define EV_ANDI _mm512_and_si512
#else
#define EXACT_EXP_TARGET __attribute__((target("avx2,fma")))
enum { EXACT_EXP_W = 8 };
typedef __m256 exact_ev;
typedef __m256i exact_evi;
typedef __m256 exact_evm;
#define EV(op) _mm256_##op
#define EV_TABLE(table, index) _mm256_permutevar8x32_ps(_mm256_load_ps(table), index)
#define EV_CMP(a, b, how) _mm256_cmp_ps(a, b, how)
#define EV_CMP_TOO(m, a, b, how) _mm256_and_ps(m, _mm256_cmp_ps(a, b, how))
#define EV_ALL 0xFFu
#define EV_BITS(m) ((unsigned)_mm256_movemask_ps(m))
#define EV_BLEND(a, b, m) _mm256_blendv_ps(a, b, m)
#define EV_AS_INT _mm256_castps_si256
#define EV_AS_FLOAT _mm256_castsi256_ps
#define EV_ANDI _mm256_and_si256
#endif

#if defined(__AVX512F__)
enum { EXACT_EXP_LOG2_N = 5 };
static const float exact_exp_t[32] __attribute__((aligned(64))) = {
    0x1.000000p+0f, 0x1.059b0ep+0f, 0x1.0b5586p+0f, 0x1.11301ep+0f, 0x1.172b84p+0f, 0x1.1d4874p+0f, 0x1.2387a6p+0f,
    0x1.29e9e0p+0f, 0x1.306fe0p+0f, 0x1.371a74p+0f, 0x1.3dea64p+0f, 0x1.44e086p+0f, 0x1.4bfdaep+0f, 0x1.5342b6p+0f,
    0x1.5ab07ep+0f, 0x1.6247ecp+0f, 0x1.6a09e6p+0f, 0x1.71f75ep+0f, 0x1.7a1148p+0f, 0x1.82589ap+0f, 0x1.8ace54p+0f,
    0x1.93737cp+0f, 0x1.9c4918p+0f, 0x1.a5503cp+0f, 0x1.ae89fap+0f, 0x1.b7f770p+0f, 0x1.c199bep+0f, 0x1.cb720ep+0f,
    0x1.d5818ep+0f, 0x1.dfc974p+0f, 0x1.ea4afap+0f, 0x1.f50766p+0f};
static const float exact_exp_d[32] __attribute__((aligned(64))) = {0.0f,
                                                                   -0x1.947416p-25f,
                                                                   0x1.8d96d4p-25f,
                                                                   -0x1.dda2fep-25f,
                                                                   -0x1.9c0c22p-27f,
                                                                   -0x1.a2fbb4p-25f,
                                                                   0x1.964902p-25f,
                                                                   -0x1.2b0dbcp-25f,
                                                                   0x1.125002p-25f,
                                                                   -0x1.cde8cep-26f,
                                                                   0x1.370be4p-25f,
                                                                   0x1.336de2p-30f,
                                                                   -0x1.0a3552p-25f,
                                                                   -0x1.c541b6p-26f,
                                                                   -0x1.00d8acp-27f,
                                                                   -0x1.6cb284p-25f,
                                                                   0x1.26055cp-26f,
                                                                   0x1.8b2bb8p-26f,
                                                                   -0x1.05cb44p-25f,
                                                                   -0x1.1c2142p-26f,
                                                                   0x1.67a1cap-28f,
                                                                   -0x1.348e56p-25f,
                                                                   0x1.a3b5e4p-28f,
                                                                   -0x1.0b7ec8p-25f,
                                                                   -0x1.f9c306p-27f,
                                                                   -0x1.e4c886p-26f,
                                                                   -0x1.6961b4p-28f,
                                                                   -0x1.b5151ep-28f,
                                                                   -0x1.a5217cp-28f,
                                                                   -0x1.ab7132p-26f,
                                                                   0x1.61428ep-28f,
                                                                   -0x1.2ad5f8p-27f};
#define EXACT_EXP_INVERSE 0x1.715476p+5f /* N / ln 2 */
#define EXACT_EXP_L1 0x1.62e430p-6f      /* ln 2 / N = L1 + L2; k * L1 subtracts exactly */
#define EXACT_EXP_L2 -0x1.05c610p-34f
#define EXACT_EXP_Q(r) \
  EV(fmadd_ps)(EV(fmadd_ps)(r, EV(set1_ps)(0x1.555482p-5f), EV(set1_ps)(0x1.5555c8p-3f)), r, EV(set1_ps)(0.5f))
#else
enum { EXACT_EXP_LOG2_N = 3 };
static const float exact_exp_t[8]
    __attribute__((aligned(32))) = {0x1.000000p+0f, 0x1.172b84p+0f, 0x1.306fe0p+0f, 0x1.4bfdaep+0f,
                                    0x1.6a09e6p+0f, 0x1.8ace54p+0f, 0x1.ae89fap+0f, 0x1.d5818ep+0f};
static const float exact_exp_d[8] __attribute__((aligned(32))) = {0.0f,
                                                                  -0x1.9c0c22p-27f,
                                                                  0x1.125002p-25f,
                                                                  -0x1.0a3552p-25f,
                                                                  0x1.26055cp-26f,
                                                                  0x1.67a1cap-28f,
                                                                  -0x1.f9c306p-27f,
                                                                  -0x1.a5217cp-28f};
#define EXACT_EXP_INVERSE 0x1.715476p+3f
#define EXACT_EXP_L1 0x1.62e430p-4f
#define EXACT_EXP_L2 -0x1.05c610p-32f
#define EXACT_EXP_Q(r)                                                                                                         \
  EV(fmadd_ps)                                                                                                                 \
  (EV(fmadd_ps)(EV(fmadd_ps)(r, EV(set1_ps)(0x1.110efep-7f), EV(set1_ps)(0x1.555cf2p-5f)), r, EV(set1_ps)(0x1.555556p-3f)), r, \
   EV(set1_ps)(0.5f))
#endif

/* The count is a variable: gcc unrolls a loop of constant length instead of vectorising it. */
static __attribute__((noinline)) void exact_exp_double(const float *restrict x, float *restrict y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_expf_cr(x[i]);
}

/* The lanes of y that are not `good` replaced by the result in double; below -104 without it: e^x is 0 there. */
static __attribute__((noinline)) EXACT_EXP_TARGET exact_ev exact_exp_rare(exact_ev x, exact_ev y, exact_evm good) {
  float in[EXACT_EXP_W], out[EXACT_EXP_W];
  exact_evm zero = EV_CMP(x, EV(set1_ps)(-104.0f), _CMP_LT_OQ);
  y = EV_BLEND(y, EV(setzero_ps)(), zero);
  if ((EV_BITS(good) | EV_BITS(zero)) == EV_ALL) return y;
  EV(storeu_ps)(in, x);
  exact_exp_double(in, out, EXACT_EXP_W);
  return EV_BLEND(EV(loadu_ps)(out), y, good);
}

EXACT_INLINE EXACT_EXP_TARGET exact_ev exact_exp_vector(exact_ev x, bool nonpositive) {
  const exact_ev magic = EV(set1_ps)(0x1.8p23f);
  exact_ev shifted = EV(fmadd_ps)(x, EV(set1_ps)(EXACT_EXP_INVERSE), magic), k = EV(sub_ps)(shifted, magic);
  exact_evi index = EV_AS_INT(shifted);
  exact_ev t = EV_TABLE(exact_exp_t, index), d = EV_TABLE(exact_exp_d, index);
  exact_ev r = EV(fnmadd_ps)(k, EV(set1_ps)(EXACT_EXP_L1), x);
  exact_ev low = EV(fnmadd_ps)(k, EV(set1_ps)(EXACT_EXP_L2), d), sum = EV(add_ps)(r, low);
  exact_ev square = EV(mul_ps)(sum, sum);
  exact_ev tail = EV(fmadd_ps)(square, EXACT_EXP_Q(sum), low); /* e^(r + low) = 1 + r + tail */
  exact_ev s = EV(fmadd_ps)(t, r, t), error = EV(fmadd_ps)(t, r, EV(sub_ps)(t, s));
  exact_ev rest = EV(fmadd_ps)(t, tail, error);
  const exact_ev margin = EV(set1_ps)(0x1.9p-22f); /* times square: above the error of rest, but for the least x > 0 */
  exact_ev area = nonpositive ? square : EV(add_ps)(square, EV(set1_ps)(0x1p-20f));
  exact_ev y = EV(add_ps)(s, EV(fmadd_ps)(area, margin, rest)), below = EV(add_ps)(s, EV(fnmadd_ps)(area, margin, rest));
  exact_evm good = EV_CMP(x, EV(set1_ps)(-87.25f), _CMP_GE_OQ);
  if (!nonpositive) good = EV_CMP_TOO(good, x, EV(set1_ps)(88.5f), _CMP_LE_OQ);
  good = EV_CMP_TOO(good, y, below, _CMP_EQ_OQ);
  exact_evi power = EV_ANDI(EV(slli_epi32)(index, 23 - EXACT_EXP_LOG2_N), EV(set1_epi32)((int)0xFF800000u));
  y = EV_AS_FLOAT(EV(add_epi32)(EV_AS_INT(y), power));
  if (__builtin_expect(EV_BITS(good) != EV_ALL, 0)) y = exact_exp_rare(x, y, good);
  return y;
}
#endif
#endif
