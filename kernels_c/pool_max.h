#ifndef EXACT_POOL_MAX_H
#define EXACT_POOL_MAX_H
/* Vector types, their maximum x > m ? x : m and their square root. x86's float maximum is exactly that: the second operand
 * where either is NaN and for two zeros. */
#include "isa.h"

#include <math.h>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

typedef float f32v __attribute__((vector_size(EXACT_VB), aligned(4), may_alias));
typedef int32_t i32v __attribute__((vector_size(EXACT_VB), aligned(4), may_alias));
typedef double f64v __attribute__((vector_size(EXACT_VB), aligned(8), may_alias));
typedef int64_t i64v __attribute__((vector_size(EXACT_VB), aligned(8), may_alias));
typedef int8_t i8v __attribute__((vector_size(EXACT_VB), aligned(1), may_alias));
typedef uint8_t u8v __attribute__((vector_size(EXACT_VB), aligned(1), may_alias));

#define SELECT_GREATER(V, I, x, m)                             \
  ({                                                           \
    V greater_x = (x), greater_m = (m);                        \
    I greater = (I)(greater_x > greater_m);                    \
    (V)(((I)greater_x & greater) | ((I)greater_m & ~greater)); \
  })
#if EXACT_VB == 64
#define MAX_F32(x, m) (f32v) _mm512_max_ps((__m512)(x), (__m512)(m))
#define MAX_F64(x, m) (f64v) _mm512_max_pd((__m512d)(x), (__m512d)(m))
#define MAX_I8(x, m) (i8v) _mm512_max_epi8((__m512i)(x), (__m512i)(m))
#define MAX_U8(x, m) (u8v) _mm512_max_epu8((__m512i)(x), (__m512i)(m))
#elif EXACT_VB == 32
#define MAX_F32(x, m) (f32v) _mm256_max_ps((__m256)(x), (__m256)(m))
#define MAX_F64(x, m) (f64v) _mm256_max_pd((__m256d)(x), (__m256d)(m))
#define MAX_I8(x, m) (i8v) _mm256_max_epi8((__m256i)(x), (__m256i)(m))
#define MAX_U8(x, m) (u8v) _mm256_max_epu8((__m256i)(x), (__m256i)(m))
#elif defined(__x86_64__)
#define MAX_F32(x, m) (f32v) _mm_max_ps((__m128)(x), (__m128)(m))
#define MAX_F64(x, m) (f64v) _mm_max_pd((__m128d)(x), (__m128d)(m))
#define MAX_I8(x, m) SELECT_GREATER(i8v, i8v, x, m)
#define MAX_U8(x, m) (u8v) _mm_max_epu8((__m128i)(x), (__m128i)(m))
#else
#define MAX_F32(x, m) SELECT_GREATER(f32v, i32v, x, m)
#define MAX_F64(x, m) SELECT_GREATER(f64v, i64v, x, m)
#define MAX_I8(x, m) SELECT_GREATER(i8v, i8v, x, m)
#define MAX_U8(x, m) SELECT_GREATER(u8v, u8v, x, m)
#endif

#if EXACT_VB == 64
#define ROOT_F32(x) (f32v) _mm512_sqrt_ps((__m512)(x))
#define ROOT_F64(x) (f64v) _mm512_sqrt_pd((__m512d)(x))
#elif EXACT_VB == 32
#define ROOT_F32(x) (f32v) _mm256_sqrt_ps((__m256)(x))
#define ROOT_F64(x) (f64v) _mm256_sqrt_pd((__m256d)(x))
#elif defined(__x86_64__)
#define ROOT_F32(x) (f32v) _mm_sqrt_ps((__m128)(x))
#define ROOT_F64(x) (f64v) _mm_sqrt_pd((__m128d)(x))
#else
#define EACH_LANE(V, root, x)                                                                             \
  ({                                                                                                      \
    V lanes = (x);                                                                                        \
    for (size_t lane = 0; lane < sizeof lanes / sizeof lanes[0]; lane++) lanes[lane] = root(lanes[lane]); \
    lanes;                                                                                                \
  })
#define ROOT_F32(x) EACH_LANE(f32v, sqrtf, x)
#define ROOT_F64(x) EACH_LANE(f64v, sqrt, x)
#endif

#endif
