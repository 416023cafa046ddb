#ifndef EXACT_SOFTMAX_BLOCK_H
#define EXACT_SOFTMAX_BLOCK_H
/* 16 floats in vector registers: 16 partials of one row, or one element of 16 rows. */
#include "exp_vector.h"
#include "exp_log.h"
#include "isa.h"

#ifdef EXACT_EXP_VECTOR
enum { BLOCK_V = 16 / EXACT_EXP_W };
typedef exact_ev block_v;
#define BLOCK_SET1(x) EV(set1_ps)(x)
#define BLOCK_LOAD(p) EV(loadu_ps)(p)
#define BLOCK_STORE(p, v) EV(storeu_ps)(p, v)
#define BLOCK_MAX(x, m) EV(max_ps)(x, m) /* x > m ? x : m */
#else
enum { BLOCK_V = 16 / 4 };
#define EXACT_EXP_TARGET
typedef float block_v __attribute__((vector_size(16), aligned(4), may_alias));
typedef int32_t block_i __attribute__((vector_size(16)));
#define BLOCK_SET1(x) ((block_v){} + (x))
#define BLOCK_LOAD(p) (*(const block_v *)(p))
#define BLOCK_STORE(p, v) (*(block_v *)(p) = (v))
EXACT_INLINE block_v block_max(block_v x, block_v m) {
  block_i greater = (block_i)(x > m);
  return (block_v)(((block_i)x & greater) | ((block_i)m & ~greater));
}
#define BLOCK_MAX(x, m) block_max(x, m)
#endif

typedef struct block {
  block_v v[BLOCK_V];
} block;

#define BLOCK_EACH EXACT_UNROLL for (int i_ = 0; i_ < BLOCK_V; i_++)
#define BLOCK_FN EXACT_INLINE EXACT_EXP_TARGET

BLOCK_FN block block_set1(float x) {
  block b;
  BLOCK_EACH b.v[i_] = BLOCK_SET1(x);
  return b;
}
BLOCK_FN block block_load(const float *p) {
  block b;
  BLOCK_EACH b.v[i_] = BLOCK_LOAD(p + i_ * (16 / BLOCK_V));
  return b;
}
BLOCK_FN void block_store(float *p, block b) { BLOCK_EACH BLOCK_STORE(p + i_ * (16 / BLOCK_V), b.v[i_]); }
BLOCK_FN block block_greater(block x, block m) { /* x > m ? x : m */
  BLOCK_EACH m.v[i_] = BLOCK_MAX(x.v[i_], m.v[i_]);
  return m;
}
BLOCK_FN block block_add(block a, block b) {
  BLOCK_EACH a.v[i_] = a.v[i_] + b.v[i_];
  return a;
}
BLOCK_FN block block_sub(block a, block b) {
  BLOCK_EACH a.v[i_] = a.v[i_] - b.v[i_];
  return a;
}
BLOCK_FN block block_div(block a, block b) {
  BLOCK_EACH a.v[i_] = a.v[i_] / b.v[i_];
  return a;
}

/* ---- across a block, and its first n elements ---- */
#ifdef EXACT_EXP_VECTOR
#if defined(__AVX512F__)
BLOCK_FN __m256 block_halves(block b, bool sum) {
  __m256 low = _mm512_castps512_ps256(b.v[0]), high = _mm512_extractf32x8_ps(b.v[0], 1);
  return sum ? _mm256_add_ps(low, high) : _mm256_max_ps(low, high);
}
BLOCK_FN block block_load_first(const float *p, size_t n, block other) {
  return (block){{_mm512_mask_loadu_ps(other.v[0], (__mmask16)((1u << n) - 1), p)}};
}
BLOCK_FN void block_store_first(float *p, size_t n, block b) { _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), b.v[0]); }
BLOCK_FN block block_zero_after(block b, size_t n) {
  return (block){{_mm512_maskz_mov_ps((__mmask16)((1u << n) - 1), b.v[0])}};
}
#else
BLOCK_FN __m256 block_halves(block b, bool sum) { return sum ? _mm256_add_ps(b.v[0], b.v[1]) : _mm256_max_ps(b.v[0], b.v[1]); }
static const int32_t block_ones[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
BLOCK_FN __m256i block_mask(size_t n, int i) { return _mm256_loadu_si256((const __m256i *)(block_ones + 16 - n + 8 * i)); }
BLOCK_FN block block_load_first(const float *p, size_t n, block other) {
  for (int i = 0; i < 2; i++) {
    __m256i mask = block_mask(n, i);
    other.v[i] = _mm256_blendv_ps(other.v[i], _mm256_maskload_ps(p + 8 * i, mask), _mm256_castsi256_ps(mask));
  }
  return other;
}
BLOCK_FN void block_store_first(float *p, size_t n, block b) {
  for (int i = 0; i < 2; i++) _mm256_maskstore_ps(p + 8 * i, block_mask(n, i), b.v[i]);
}
BLOCK_FN block block_zero_after(block b, size_t n) {
  for (int i = 0; i < 2; i++) b.v[i] = _mm256_and_ps(b.v[i], _mm256_castsi256_ps(block_mask(n, i)));
  return b;
}
#endif
/* Element t meets t + 8, then t + 4, t + 2, t + 1. */
BLOCK_FN float block_across(block b, bool sum) {
#define MEET(a, b) (sum ? _mm_add_ps(a, b) : _mm_max_ps(a, b))
  __m256 half = block_halves(b, sum);
  __m128 v = MEET(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
  v = MEET(v, _mm_movehl_ps(v, v));
  v = MEET(v, _mm_shuffle_ps(v, v, 1));
#undef MEET
  return _mm_cvtss_f32(v);
}
#else
BLOCK_FN float block_across(block b, bool sum) {
  float v[16];
  block_store(v, b);
  for (int half = 8; half; half /= 2)
    for (int i = 0; i < half; i++) v[i] = sum ? v[i] + v[i + half] : v[i] > v[i + half] ? v[i] : v[i + half];
  return v[0];
}
BLOCK_FN block block_load_first(const float *p, size_t n, block other) {
  float v[16];
  block_store(v, other);
  memcpy(v, p, n * sizeof *v);
  return block_load(v);
}
BLOCK_FN void block_store_first(float *p, size_t n, block b) {
  float v[16];
  block_store(v, b);
  memcpy(p, v, n * sizeof *v);
}
BLOCK_FN block block_zero_after(block b, size_t n) {
  float v[16];
  block_store(v, b);
  memset(v + n, 0, (16 - n) * sizeof *v);
  return block_load(v);
}
#endif

/* Fast mode's e^x, x <= 0: a relative error below 2^-21, 0 for x < -87. */
#ifdef EXACT_EXP_VECTOR
#if defined(__AVX512F__)
#define FAST_P(r) EV(fmadd_ps)(r, EV(set1_ps)(0x1.000174p-1f), EV(set1_ps)(0x1.0000f8p+0f))
#else
#define FAST_P(r)                                                                                                    \
  EV(fmadd_ps)                                                                                                       \
  (EV(fmadd_ps)(EV(fmadd_ps)(r, EV(set1_ps)(0x1.556a14p-5f), EV(set1_ps)(0x1.555fbcp-3f)), r, EV(set1_ps)(0.5f)), r, \
   EV(set1_ps)(1.0f))
#endif
BLOCK_FN exact_ev fast_exp(exact_ev x) {
  const exact_ev magic = EV(set1_ps)(0x1.8p23f), least = EV(set1_ps)(-87.0f);
  exact_ev in = EV(max_ps)(least, x); /* NaN stays */
  exact_ev shifted = EV(fmadd_ps)(in, EV(set1_ps)(EXACT_EXP_INVERSE), magic), k = EV(sub_ps)(shifted, magic);
  exact_evi index = EV_AS_INT(shifted);
  exact_evi power = EV_ANDI(EV(slli_epi32)(index, 23 - EXACT_EXP_LOG2_N), EV(set1_epi32)((int)0xFF800000u));
  exact_ev t = EV_AS_FLOAT(EV(add_epi32)(EV_AS_INT(EV_TABLE(exact_exp_t, index)), power));
  exact_ev r = EV(fnmadd_ps)(k, EV(set1_ps)(EXACT_EXP_L1), in);
  exact_ev y = EV(fmadd_ps)(t, EV(mul_ps)(r, FAST_P(r)), t);
  return EV_BLEND(y, EV(setzero_ps)(), EV_CMP(x, least, _CMP_LT_OQ));
}
BLOCK_FN block block_exp(block x, bool fast) {
  BLOCK_EACH x.v[i_] = fast ? fast_exp(x.v[i_]) : exact_exp_vector(x.v[i_], true);
  return x;
}
#else
static __attribute__((noinline)) void exp_array(const float *restrict x, float *restrict y, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = exact_expf_cr(x[i]);
}
static __attribute__((noinline)) void fast_exp_array(const float *restrict x, float *restrict y, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float in = x[i] < -87.0f ? -87.0f : x[i], shifted = in * 0x1.715476p+0f + 0x1.8p23f, k = shifted - 0x1.8p23f;
    float r = (in - k * 0x1.62e4p-1f) - k * 0x1.7f7d1cp-20f;
    float p =
        1.0f + r * (1.0f + r * (0x1.000002p-1f +
                                r * (0x1.5553c2p-3f + r * (0x1.55515ep-5f + r * (0x1.12903ep-7f + r * 0x1.709b66p-10f)))));
    float scaled = p * exact_from_bits32((exact_bits32(shifted) << 23) + 0x3F800000u);
    y[i] = exact_from_bits32(exact_choose32(x[i] < -87.0f, 0, exact_bits32(scaled)));
  }
}
BLOCK_FN block block_exp(block x, bool fast) {
  float in[16], out[16];
  block_store(in, x);
  if (fast)
    fast_exp_array(in, out, 16);
  else
    exp_array(in, out, 16);
  return block_load(out);
}
#endif
#endif
