/* The micro-kernel of products of 8-bit integers, and what surrounds it (integer.h). Words of two numbers of 16 bits, which no
 * instruction here saturates; with AVX-512 VNNI words of four numbers of 8 bits. */
#include "integer.h"

#include "lanes.h"
#include "saturate.h"

#ifdef __AVX512VNNI__
#define GROUP 4
#else
#define GROUP 2
#endif
#if EXACT_VB == 64 /* 32 registers */
#define ROWS 8
#define VECTORS 3
#else
#define ROWS 6
#define VECTORS 2
#endif
enum { LANES = EXACT_VB / 4 };
typedef uint32_t word __attribute__((aligned(1), may_alias));

/* acc + the products of the words' numbers; a has the same word in every lane. */
#if defined(__AVX512VNNI__)
EXACT_INLINE i32v products(i32v acc, u32v a, u32v b, const bool a_signed) {
  return (i32v)(a_signed ? _mm512_dpbusd_epi32((__m512i)acc, (__m512i)b, (__m512i)a)
                         : _mm512_dpbusd_epi32((__m512i)acc, (__m512i)a, (__m512i)b));
}
#elif defined(__AVX512BW__)
EXACT_INLINE i32v products(i32v acc, u32v a, u32v b, const bool a_signed) {
  (void)a_signed;
  return (i32v)_mm512_add_epi32((__m512i)acc, _mm512_madd_epi16((__m512i)a, (__m512i)b));
}
#elif defined(__AVX2__)
EXACT_INLINE i32v products(i32v acc, u32v a, u32v b, const bool a_signed) {
  (void)a_signed;
  return (i32v)_mm256_add_epi32((__m256i)acc, _mm256_madd_epi16((__m256i)a, (__m256i)b));
}
#elif defined(__SSE2__)
EXACT_INLINE i32v products(i32v acc, u32v a, u32v b, const bool a_signed) {
  (void)a_signed;
  return (i32v)_mm_add_epi32((__m128i)acc, _mm_madd_epi16((__m128i)a, (__m128i)b));
}
#else
EXACT_INLINE i32v products(i32v acc, u32v a, u32v b, const bool a_signed) {
  (void)a_signed;
  return acc + ((i32v)(a << 16) >> 16) * ((i32v)(b << 16) >> 16) + ((i32v)a >> 16) * ((i32v)b >> 16);
}
#endif

EXACT_INLINE void tile(const size_t rows, const size_t vectors, const bool a_signed, size_t words, const uint32_t *a,
                       const uint32_t *b, int32_t *c) {
  i32v acc[ROWS][VECTORS];
  EXACT_UNROLL
  for (size_t i = 0; i < rows; i++) {
    EXACT_UNROLL
    for (size_t j = 0; j < vectors; j++) acc[i][j] = (i32v){0};
  }
  for (size_t p = 0; p < words; p++, a += rows, b += vectors * LANES) {
    u32v right[VECTORS];
    EXACT_UNROLL
    for (size_t j = 0; j < vectors; j++) right[j] = *(const u32v *)(b + j * LANES);
    EXACT_UNROLL
    for (size_t i = 0; i < rows; i++) {
      const u32v left = (u32v){0} + a[i];
      EXACT_UNROLL
      for (size_t j = 0; j < vectors; j++) acc[i][j] = products(acc[i][j], left, right[j], a_signed);
    }
  }
  EXACT_UNROLL
  for (size_t i = 0; i < rows; i++) {
    EXACT_UNROLL
    for (size_t j = 0; j < vectors; j++) *(i32v *)(c + (i * vectors + j) * LANES) = acc[i][j];
  }
}

/* clang-format off */
#if ROWS == 8
#define SHAPES(s)                                                                                                     \
  SHAPE(1, 1, s) SHAPE(2, 1, s) SHAPE(3, 1, s) SHAPE(4, 1, s) SHAPE(5, 1, s) SHAPE(6, 1, s) SHAPE(7, 1, s) SHAPE(8, 1, s) \
  SHAPE(1, 2, s) SHAPE(2, 2, s) SHAPE(3, 2, s) SHAPE(4, 2, s) SHAPE(5, 2, s) SHAPE(6, 2, s) SHAPE(7, 2, s) SHAPE(8, 2, s) \
  SHAPE(1, 3, s) SHAPE(2, 3, s) SHAPE(3, 3, s) SHAPE(4, 3, s) SHAPE(5, 3, s) SHAPE(6, 3, s) SHAPE(7, 3, s) SHAPE(8, 3, s)
#else
#define SHAPES(s)                                                                         \
  SHAPE(1, 1, s) SHAPE(2, 1, s) SHAPE(3, 1, s) SHAPE(4, 1, s) SHAPE(5, 1, s) SHAPE(6, 1, s) \
  SHAPE(1, 2, s) SHAPE(2, 2, s) SHAPE(3, 2, s) SHAPE(4, 2, s) SHAPE(5, 2, s) SHAPE(6, 2, s)
#endif
/* clang-format on */
#define SHAPE(rows, vectors, s) \
  case 4 * (rows) + (vectors): tile(rows, vectors, s, words, a, b, c); break;

static void tile_unsigned(size_t rows, size_t vectors, size_t words, const uint32_t *a, const uint32_t *b, int32_t *c) {
  switch (4 * rows + vectors) { SHAPES(false) }
}
#if GROUP == 4
static void tile_signed(size_t rows, size_t vectors, size_t words, const uint32_t *a, const uint32_t *b, int32_t *c) {
  switch (4 * rows + vectors) { SHAPES(true) }
}
#else /* words of 16-bit numbers know their signs */
#define tile_signed tile_unsigned
#endif

/* ---- packing ---- */
/* Number t of a word. */
EXACT_INLINE uint32_t placed(uint8_t byte, const exact_form form, const unsigned t) {
  const uint8_t v = byte ^ form.flip;
  if (GROUP == 4) return (uint32_t)v << 8 * t;
  return (uint32_t)(uint16_t)(form.is_signed ? (int8_t)v : v) << 16 * (t & 1);
}

static void pack_rows(uint32_t *dst, const uint8_t *src, size_t row_stride, size_t rows, size_t k, exact_form form) {
  const uint32_t flips = form.flip * 0x01010101u;
  for (size_t i = 0; i < rows; i++, src += row_stride) {
    uint32_t *out = dst + i;
    size_t p = 0;
    for (; p + GROUP <= k; p += GROUP, out += rows) {
      uint32_t w = 0;
      if (GROUP == 4) {
        w = *(const word *)(src + p) ^ flips;
      } else {
        for (unsigned t = 0; t < GROUP; t++) w |= placed(src[p + t], form, t);
      }
      *out = w;
    }
    if (p == k) continue;
    *out = 0;
    for (unsigned t = 0; p + t < k; t++) *out |= placed(src[p + t], form, t);
  }
}

static void pack_columns(uint32_t *dst, const uint8_t *const *row, size_t n, exact_form form) {
  const uint8_t *r0 = row[0], *r1 = row[1];
#if GROUP == 4
  const uint8_t *r2 = row[2], *r3 = row[3];
  const uint32_t flips = form.flip * 0x01010101u;
  for (size_t j = 0; j < n; j++)
    dst[j] = (r0[j] | (uint32_t)r1[j] << 8 | (uint32_t)r2[j] << 16 | (uint32_t)r3[j] << 24) ^ flips;
#else
  const uint8_t flip = form.flip;
  if (form.is_signed)
    for (size_t j = 0; j < n; j++)
      dst[j] = (uint32_t)(uint16_t)(int8_t)(r0[j] ^ flip) | (uint32_t)(int8_t)(r1[j] ^ flip) << 16;
  else
    for (size_t j = 0; j < n; j++) dst[j] = (uint32_t)(uint8_t)(r0[j] ^ flip) | (uint32_t)(uint8_t)(r1[j] ^ flip) << 16;
#endif
}

static int32_t sum(const uint8_t *src, size_t n, exact_form form) {
  uint32_t total = 0;
  if (form.is_signed)
    for (size_t i = 0; i < n; i++) total += (uint32_t)(int8_t)(src[i] ^ form.flip);
  else
    for (size_t i = 0; i < n; i++) total += (uint8_t)(src[i] ^ form.flip);
  return (int32_t)total;
}

/* ---- after the sums ---- */
static void store_runs(const exact_integer_finish *f, size_t row, const void *line, size_t element) {
  char *y = (char *)f->y + row * f->y_stride * element;
  for (size_t i = 0; i < f->n_runs; i++)
    memcpy(y + f->runs[i].to * element, (const char *)line + f->runs[i].from * element, f->runs[i].length * element);
}

/* v = acc + what the zero points and the bias add, wrapping. */
EXACT_INLINE void complete(const exact_integer_finish *f, const exact_integer_row *row, const int32_t *acc, size_t width,
                           uint32_t *v) {
  const uint32_t zero = (uint32_t)row->zero, total = (uint32_t)row->sum;
  const uint32_t base = (uint32_t)row->add - (f->zeros ? 0 : (uint32_t)f->zero * total);
  for (size_t j = 0; j < width; j++) v[j] = (uint32_t)acc[j] + base;
  if (zero)
    for (size_t j = 0; j < width; j++) v[j] -= zero * (uint32_t)f->columns[j];
  if (f->zeros)
    for (size_t j = 0; j < width; j++) v[j] -= (uint32_t)f->zeros[j] * total;
}

static void finish(const exact_integer_finish *f, const exact_integer_row *row, size_t rows, const int32_t *acc, size_t width) {
  const exact_limits most = exact_limits_of(f->dtype);
  for (size_t i = 0; i < rows; i++, row++, acc += width) {
    uint32_t v[EXACT_INTEGER_WIDTH];
    uint8_t bytes[EXACT_INTEGER_WIDTH];
    complete(f, row, acc, width, v);
    if (f->dtype == EXACT_INT32) {
      store_runs(f, i, v, sizeof v[0]);
      continue;
    }
    const float low = most.low - (float)row->y_zero, high = most.high - (float)row->y_zero;
    const int32_t y_zero = row->y_zero;
    if (f->scales) {
      const float scale = row->scale, y_scale = row->y_scale;
      for (size_t j = 0; j < width; j++) {
        float t = (float)(int32_t)v[j] * (scale * f->scales[j] / y_scale);
        bytes[j] = (uint8_t)(exact_saturated(t, low, high) + y_zero);
      }
    } else {
      const float factor = row->scale * f->scale / row->y_scale;
      for (size_t j = 0; j < width; j++)
        bytes[j] = (uint8_t)(exact_saturated((float)(int32_t)v[j] * factor, low, high) + y_zero);
    }
    store_runs(f, i, bytes, 1);
  }
}

extern const struct exact_integer_kernels EXACT_SYM(exact_integer);
const struct exact_integer_kernels EXACT_SYM(exact_integer) = {
    GROUP, LANES, ROWS, VECTORS, {tile_unsigned, tile_signed}, pack_rows, pack_columns, sum, finish};
