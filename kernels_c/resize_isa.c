/* Resize: sums of rows with a weight each, and of picked elements of a line. Lanes are neighbouring outputs. docs/resize.md */
#include "lanes.h"
#include "half.h"
#include "resize.h"

/* The lanes' elements of one tap. A control is made once for a block and used for several lines. */
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
EXACT_INLINE f32v take_f32(int windows, const float *p, control c) {
  if (windows == 1) return (f32v)_mm512_permutexvar_ps(c, _mm512_loadu_ps(p));
  if (windows == 2) return (f32v)_mm512_permutex2var_ps(_mm512_loadu_ps(p), c, _mm512_loadu_ps(p + 16));
  return (f32v)_mm512_i32gather_ps(c, p, 4);
}
EXACT_INLINE f64v take_f64(int windows, const double *p, control c) {
  if (windows == 1) return (f64v)_mm512_permutexvar_pd(c, _mm512_loadu_pd(p));
  if (windows == 2) return (f64v)_mm512_permutex2var_pd(_mm512_loadu_pd(p), c, _mm512_loadu_pd(p + 8));
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
EXACT_INLINE f32v take_f32(int windows, const float *p, control c) {
  if (!windows) return (f32v)_mm256_i32gather_ps(p, c, 4);
  return (f32v)pick_words(windows, _mm256_loadu_ps(p), windows == 2 ? _mm256_loadu_ps(p + 8) : _mm256_setzero_ps(), c);
}
EXACT_INLINE f64v take_f64(int windows, const double *p, control c) {
  if (!windows) return (f64v)_mm256_i64gather_pd(p, c, 8);
  const float *words = (const float *)p;
  return (f64v)pick_words(windows, _mm256_loadu_ps(words), windows == 2 ? _mm256_loadu_ps(words + 8) : _mm256_setzero_ps(), c);
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
EXACT_INLINE f32v take_f32(int windows, const float *p, control c) {
  (void)windows;
  return (f32v){p[c[0]], p[c[1]], p[c[2]], p[c[3]]};
}
EXACT_INLINE f64v take_f64(int windows, const double *p, control c) {
  (void)windows;
  return (f64v){p[c[0]], p[c[1]]};
}
#endif

/* ---- copies of lines ---- */
EXACT_INLINE size_t exact_resize_row(const exact_resize_copy *c, size_t j) { return c->row ? (size_t)c->row[j] : j; }

/* How many lines from j on are the same. */
EXACT_INLINE size_t exact_resize_repeats(const exact_resize_copy *c, size_t j) {
  size_t n = 1;
  while (c->row && j + n < c->end && c->row[j + n] == c->row[j]) n++;
  return n;
}

/* Elements of one or two bytes, one by one: a block has one output. */
#define COPY_SMALL(type)                                                                        \
  static void copy_##type(const exact_resize_copy *c) {                                         \
    const exact_resize_line *l = c->line;                                                       \
    type *dst = c->dst;                                                                         \
    for (size_t j = c->from, n; j < c->end; j += n, dst += n * c->dst_step) {                   \
      const type *src = (const type *)c->src + exact_resize_row(c, j) * c->src_step;            \
      for (size_t o = 0; o < l->out; o++) dst[o] = src[l->base[o]];                             \
      n = exact_resize_repeats(c, j);                                                           \
      for (size_t r = 1; r < n; r++) memcpy(dst + r * c->dst_step, dst, l->out * sizeof(type)); \
    }                                                                                           \
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
  float *f = dst;
  double *d = dst;
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

/* The nearest whole number, halves away from zero; v itself where it has no fraction. */
#define ROUNDED(type, integer, whole)                                          \
  EXACT_INLINE type rounded_##type(type v) {                                   \
    type f = (v > -(whole)) & (v < (whole)) ? (type)(integer)v : v, d = v - f; \
    return d >= (type)0.5 ? f + 1 : d <= (type)-0.5 ? f - 1 : f;               \
  }
ROUNDED(float, int32_t, 0x1p30f)
ROUNDED(double, int64_t, 0x1p62)

/* `low` and `high` end the type's range, high + 1 is a number of `real`. */
#define NARROW(type, real, low, high)                                                               \
  for (size_t i = 0; i < n; i++) {                                                                  \
    real v = ((const real *)src)[i];                                                                \
    if (rounded) v = rounded_##real(v);                                                             \
    ((type *)dst)[i] = v != v ? 0 : v < (real)(low) ? low : v >= (real)(high) + 1 ? high : (type)v; \
  }                                                                                                 \
  break;

static void narrow(void *dst, const void *src, size_t n, int dtype, bool rounded) {
  switch (dtype) {
    case EXACT_UINT8: NARROW(uint8_t, float, 0, UINT8_MAX)
    case EXACT_INT8: NARROW(int8_t, float, INT8_MIN, INT8_MAX)
    case EXACT_INT32: NARROW(int32_t, float, INT32_MIN, INT32_MAX)
    case EXACT_INT64: NARROW(int64_t, double, INT64_MIN, INT64_MAX)
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
