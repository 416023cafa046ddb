#ifndef EXACT_LANES_H
#define EXACT_LANES_H
/* For files named *_isa.c: element types f32 ... u64 by short names, their vectors of one register f32v ..., the lane masks
 * f32m ... (all ones or zeros) with elements f32b ..., and max_f32(x, m) ... on vectors. */
#include "isa.h"
#ifdef __SSE2__
#include <immintrin.h>
#endif

#define LANES_CAT2(a, b) a##b
#define LANES_CAT(a, b) LANES_CAT2(a, b)
#define LANES_TYPE(name, element, mask)                                                                \
  typedef element name;                                                                                \
  typedef element name##v __attribute__((vector_size(EXACT_VB), aligned(sizeof(element)), may_alias)); \
  typedef mask name##m __attribute__((vector_size(EXACT_VB), aligned(sizeof(element)), may_alias));    \
  typedef mask name##b;                                                                                \
  EXACT_INLINE name##v pick_##name(name##m in, name##v x, name##v m) {                                 \
    return (name##v)(((name##m)x & in) | ((name##m)m & ~in));                                          \
  }
LANES_TYPE(f32, float, int32_t)
LANES_TYPE(f64, double, int64_t)
LANES_TYPE(i32, int32_t, int32_t)
LANES_TYPE(u32, uint32_t, int32_t)
LANES_TYPE(i64, int64_t, int64_t)
LANES_TYPE(u64, uint64_t, int64_t)

#define f32_BYTES 4
#define f64_BYTES 8
#define i32_BYTES 4
#define i64_BYTES 8
#define u32_BYTES 4
#define u64_BYTES 8

/* x > m ? x : m and x < m ? x : m. x86's maximum is exactly that: the second operand where either is NaN and for two zeros. */
#define LANES_BEST(name)                                                                     \
  EXACT_INLINE name##v max_##name(name##v x, name##v m) { return pick_##name(x > m, x, m); } \
  EXACT_INLINE name##v min_##name(name##v x, name##v m) { return pick_##name(x < m, x, m); }
#define LANES_BEST_X86(name, type, suffix, prefix)                                                                   \
  EXACT_INLINE name##v max_##name(name##v x, name##v m) { return (name##v)prefix##_max_##suffix((type)x, (type)m); } \
  EXACT_INLINE name##v min_##name(name##v x, name##v m) { return (name##v)prefix##_min_##suffix((type)x, (type)m); }
#if defined(__AVX512F__)
LANES_BEST_X86(f32, __m512, ps, _mm512)
LANES_BEST_X86(f64, __m512d, pd, _mm512)
#elif defined(__AVX2__)
LANES_BEST_X86(f32, __m256, ps, _mm256)
LANES_BEST_X86(f64, __m256d, pd, _mm256)
#elif defined(__SSE2__)
LANES_BEST_X86(f32, __m128, ps, _mm)
LANES_BEST_X86(f64, __m128d, pd, _mm)
#else
LANES_BEST(f32)
LANES_BEST(f64)
#endif
LANES_BEST(i32)
LANES_BEST(u32)
LANES_BEST(i64)
LANES_BEST(u64)
#undef LANES_TYPE
#undef LANES_BEST
#undef LANES_BEST_X86

/* |x|; integers wrap around. */
EXACT_INLINE f32v abs_f32(f32v x) { return (f32v)((f32m)x & 0x7FFFFFFF); }
EXACT_INLINE f64v abs_f64(f64v x) { return (f64v)((f64m)x & 0x7FFFFFFFFFFFFFFF); }
EXACT_INLINE u32v abs_u32(u32v x) { return (x ^ (u32v)((i32v)x >> 31)) - (u32v)((i32v)x >> 31); }
EXACT_INLINE u64v abs_u64(u64v x) { return (x ^ (u64v)((i64v)x >> 63)) - (u64v)((i64v)x >> 63); }

/* x, a NaN being made the canonical one. */
#if defined(__AVX512F__)
EXACT_INLINE f32v canonical_f32(f32v x) {
  __mmask16 nan = _mm512_cmp_ps_mask((__m512)x, (__m512)x, _CMP_UNORD_Q);
  return (f32v)_mm512_mask_mov_ps((__m512)x, nan, _mm512_set1_ps(__builtin_nanf("")));
}
EXACT_INLINE f64v canonical_f64(f64v x) {
  __mmask8 nan = _mm512_cmp_pd_mask((__m512d)x, (__m512d)x, _CMP_UNORD_Q);
  return (f64v)_mm512_mask_mov_pd((__m512d)x, nan, _mm512_set1_pd(__builtin_nan("")));
}
#elif defined(__AVX2__)
EXACT_INLINE f32v canonical_f32(f32v x) {
  __m256 nan = _mm256_cmp_ps((__m256)x, (__m256)x, _CMP_UNORD_Q);
  return (f32v)_mm256_blendv_ps((__m256)x, _mm256_set1_ps(__builtin_nanf("")), nan);
}
EXACT_INLINE f64v canonical_f64(f64v x) {
  __m256d nan = _mm256_cmp_pd((__m256d)x, (__m256d)x, _CMP_UNORD_Q);
  return (f64v)_mm256_blendv_pd((__m256d)x, _mm256_set1_pd(__builtin_nan("")), nan);
}
#else
EXACT_INLINE f32v canonical_f32(f32v x) { return pick_f32(x == x, x, (f32v)((f32m){0} + 0x7FC00000)); }
EXACT_INLINE f64v canonical_f64(f64v x) { return pick_f64(x == x, x, (f64v)((f64m){0} + 0x7FF8000000000000)); }
#endif
#endif
