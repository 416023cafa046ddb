/* Resize: sums of rows with a weight each, and of picked elements of a line. Lanes are neighbouring outputs. docs/resize.md */
#include "lanes.h"
#include "half.h"
#include "resize.h"

/* Picks of elements from a window of one or two vectors, or (0) from memory. A control is made once for a block. */
#if defined(__AVX512F__)
enum { MOST_WINDOWS = 2 };
typedef __m512i control;
EXACT_INLINE control control_f32(int windows, const int32_t *pick) {
  (void)windows;
  return _mm512_loadu_si512(pick);
}
EXACT_INLINE control control_f64(int windows, const int32_t *pick) {
  (void)windows;
  return _mm512_cvtepi32_epi64(_mm256_loadu_si256((const void *)pick));
}
EXACT_INLINE f32v choose_f32(int windows, f32v a, f32v b, const float *p, control c) {
  if (windows == 1) return (f32v)_mm512_permutexvar_ps(c, (__m512)a);
  if (windows == 2) return (f32v)_mm512_permutex2var_ps((__m512)a, c, (__m512)b);
  return (f32v)_mm512_i32gather_ps(c, p, 4);
}
EXACT_INLINE f64v choose_f64(int windows, f64v a, f64v b, const double *p, control c) {
  if (windows == 1) return (f64v)_mm512_permutexvar_pd(c, (__m512d)a);
  if (windows == 2) return (f64v)_mm512_permutex2var_pd((__m512d)a, c, (__m512d)b);
  return (f64v)_mm512_i64gather_pd(c, p, 8);
}
#elif defined(__AVX2__)
enum { MOST_WINDOWS = 2 };
typedef __m256i control;
EXACT_INLINE __m256 pick_words(int windows, __m256 a, __m256 b, control c) {
  __m256 low = _mm256_permutevar8x32_ps(a, c);
  if (windows == 1) return low;
  return _mm256_blendv_ps(low, _mm256_permutevar8x32_ps(b, c), _mm256_castsi256_ps(_mm256_slli_epi32(c, 28)));
}
EXACT_INLINE control control_f32(int windows, const int32_t *pick) {
  (void)windows;
  return _mm256_loadu_si256((const void *)pick);
}
/* Doubles are picked as pairs of words. */
EXACT_INLINE control control_f64(int windows, const int32_t *pick) {
  control wide = _mm256_cvtepi32_epi64(_mm_loadu_si128((const void *)pick));
  if (!windows) return wide;
  control low = _mm256_slli_epi64(wide, 1);
  return _mm256_or_si256(low, _mm256_slli_epi64(_mm256_or_si256(low, _mm256_set1_epi64x(1)), 32));
}
EXACT_INLINE f32v choose_f32(int windows, f32v a, f32v b, const float *p, control c) {
  if (!windows) return (f32v)_mm256_i32gather_ps(p, c, 4);
  return (f32v)pick_words(windows, (__m256)a, (__m256)b, c);
}
EXACT_INLINE f64v choose_f64(int windows, f64v a, f64v b, const double *p, control c) {
  if (!windows) return (f64v)_mm256_i64gather_pd(p, c, 8);
  return (f64v)pick_words(windows, (__m256)a, (__m256)b, c);
}
#else
enum { MOST_WINDOWS = 0 };
typedef const int32_t *control;
EXACT_INLINE control control_f32(int windows, const int32_t *pick) {
  (void)windows;
  return pick;
}
EXACT_INLINE control control_f64(int windows, const int32_t *pick) {
  (void)windows;
  return pick;
}
EXACT_INLINE f32v choose_f32(int windows, f32v a, f32v b, const float *p, control c) {
  (void)windows, (void)a, (void)b;
  return (f32v){p[c[0]], p[c[1]], p[c[2]], p[c[3]]};
}
EXACT_INLINE f64v choose_f64(int windows, f64v a, f64v b, const double *p, control c) {
  (void)windows, (void)a, (void)b;
  return (f64v){p[c[0]], p[c[1]]};
}
#endif

/* ---- copies of lines ---- */
EXACT_INLINE size_t exact_resize_row(const exact_resize_copy *c, size_t j) { return c->row ? (size_t)c->row[j] : j; }

/* Line j of the output is the one before it. */
EXACT_INLINE bool exact_resize_again(const exact_resize_copy *c, size_t j) {
  return j > c->from && exact_resize_row(c, j) == exact_resize_row(c, j - 1);
}

/* Elements of one or two bytes, one by one: a block has one output. */
#define COPY_SMALL(type)                                                             \
  static void copy_##type(const exact_resize_copy *c) {                              \
    const exact_resize_line *l = c->line;                                            \
    type *dst = c->dst;                                                              \
    for (size_t j = c->from; j < c->end; j++, dst += c->dst_step) {                  \
      const type *src = (const type *)c->src + exact_resize_row(c, j) * c->src_step; \
      if (exact_resize_again(c, j)) {                                                \
        memcpy(dst, dst - c->dst_step, l->out * sizeof(type));                       \
        continue;                                                                    \
      }                                                                              \
      for (size_t o = 0; o < l->out; o++) dst[o] = src[l->base[o]];                  \
    }                                                                                \
  }
COPY_SMALL(uint8_t)
COPY_SMALL(uint16_t)

/* ---- arithmetic ---- */
#define TYPE f32
#include "resize_lanes.h"
#define TYPE f64
#include "resize_lanes.h"

/* ---- element types ---- */
static void widen(void *dst, const void *src, size_t n, int dtype) {
  float *restrict f = dst;
  double *restrict d = dst;
  switch (dtype) {
    case EXACT_UINT8:
      for (size_t i = 0; i < n; i++) f[i] = ((const uint8_t *)src)[i];
      break;
    case EXACT_INT8:
      for (size_t i = 0; i < n; i++) f[i] = ((const int8_t *)src)[i];
      break;
    case EXACT_INT32:
      for (size_t i = 0; i < n; i++) f[i] = (float)((const int32_t *)src)[i];
      break;
    case EXACT_INT64:
      for (size_t i = 0; i < n; i++) d[i] = (double)((const int64_t *)src)[i];
      break;
    default: exact_load_row(dst, src, n, dtype);
  }
}

/* src[i] towards zero, or (`rounded`) the nearest whole number, halves away from zero; within the range low ... high of the
 * type, NaN is 0. top is the greatest number of `real` that is not above high. */
#define NARROW(type, real, whole, low, high, top)                                               \
  EXACT_INLINE whole##v whole_##type(real##v v, const bool rounded) {                           \
    v = max_##real(pick_##real(v == v, v, (real##v){0}), (real##v){0} + (low));                 \
    whole##v over = (whole##v)(v > (real)(top));                                                \
    v = min_##real(v, (real##v){0} + (top));                                                    \
    whole##v t = __builtin_convertvector(v, whole##v);                                          \
    real##v rest = v - __builtin_convertvector(t, real##v);                                     \
    if (rounded) t += (whole##v)(rest <= (real)-0.5) - (whole##v)(rest >= (real)0.5);           \
    return (t & ~over) | ((high)&over);                                                         \
  }                                                                                             \
  static void narrow_##type(void *dst, const void *src, size_t n, bool rounded) {               \
    enum { LANES = EXACT_VB / real##_BYTES, BLOCK = 256 };                                      \
    const real *x = src;                                                                        \
    type *restrict y = dst;                                                                     \
    whole block[BLOCK];                                                                         \
    for (size_t part; n > 0; n -= part, x += part, y += part) {                                 \
      part = n < BLOCK ? n : BLOCK;                                                             \
      for (size_t i = 0; i < part; i += LANES) {                                                \
        real##v v = i + LANES <= part ? load_##real(x + i) : load_part_##real(x + i, part - i); \
        *(whole##v *)(block + i) = rounded ? whole_##type(v, true) : whole_##type(v, false);    \
      }                                                                                         \
      for (size_t i = 0; i < part; i++) y[i] = (type)block[i];                                  \
    }                                                                                           \
  }
NARROW(uint8_t, f32, i32, 0.0f, UINT8_MAX, 255.0f)
NARROW(int8_t, f32, i32, -128.0f, INT8_MAX, 127.0f)
NARROW(int32_t, f32, i32, -0x1p31f, INT32_MAX, 0x1.fffffep30f)
NARROW(int64_t, f64, i64, -0x1p63, INT64_MAX, 0x1.fffffffffffffp62)

static void narrow(void *dst, const void *src, size_t n, int dtype, bool rounded) {
  switch (dtype) {
    case EXACT_UINT8: narrow_uint8_t(dst, src, n, rounded); break;
    case EXACT_INT8: narrow_int8_t(dst, src, n, rounded); break;
    case EXACT_INT32: narrow_int32_t(dst, src, n, rounded); break;
    case EXACT_INT64: narrow_int64_t(dst, src, n, rounded); break;
    case EXACT_FLOAT32:
      for (size_t i = 0; i < n; i++) {
        float v = ((const float *)src)[i];
        ((float *)dst)[i] = v == v ? v : __builtin_nanf("");
      }
      break;
    case EXACT_FLOAT64:
      for (size_t i = 0; i < n; i++) {
        double v = ((const double *)src)[i];
        ((double *)dst)[i] = v == v ? v : __builtin_nan("");
      }
      break;
    default: exact_store_row(dst, src, n, dtype);
  }
}

const struct exact_resize_kernels EXACT_SYM(exact_resize) = {
    .lanes = {EXACT_VB / sizeof(float), EXACT_VB / sizeof(double)},
    .windows = MOST_WINDOWS,
    .rows = {rows_f32, rows_f64},
    .line = {line_f32, line_f64},
    .copy = {copy_uint8_t, copy_uint16_t, copy_f32, copy_f64},
    .widen = widen,
    .narrow = narrow,
};
