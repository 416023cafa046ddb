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

/* LANES bytes to words and back (the low byte of each), which compilers do badly on their own. */
#if defined(__AVX512F__)
EXACT_INLINE u32v widen(const uint8_t *x) { return (u32v)_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)x)); }
EXACT_INLINE void narrow(uint8_t *y, u32v x) { _mm_storeu_si128((__m128i *)y, _mm512_cvtepi32_epi8((__m512i)x)); }
#elif defined(__AVX2__)
EXACT_INLINE u32v widen(const uint8_t *x) { return (u32v)_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)x)); }
EXACT_INLINE void narrow(uint8_t *y, u32v x) {
  const __m256i bytes = _mm256_and_si256((__m256i)x, _mm256_set1_epi32(255));
  const __m128i shorts = _mm_packs_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  _mm_storel_epi64((__m128i *)y, _mm_packus_epi16(shorts, shorts));
}
#elif defined(__SSE2__)
EXACT_INLINE u32v widen(const uint8_t *x) {
  int32_t four;
  memcpy(&four, x, 4);
  const __m128i zero = _mm_setzero_si128();
  return (u32v)_mm_unpacklo_epi16(_mm_unpacklo_epi8(_mm_cvtsi32_si128(four), zero), zero);
}
EXACT_INLINE void narrow(uint8_t *y, u32v x) {
  const __m128i bytes = _mm_and_si128((__m128i)x, _mm_set1_epi32(255)), shorts = _mm_packs_epi32(bytes, bytes);
  const int32_t four = _mm_cvtsi128_si32(_mm_packus_epi16(shorts, shorts));
  memcpy(y, &four, 4);
}
#else
EXACT_INLINE u32v widen(const uint8_t *x) {
  u32v w = {0};
  for (size_t i = 0; i < LANES; i++) w[i] = x[i];
  return w;
}
EXACT_INLINE void narrow(uint8_t *y, u32v x) {
  for (size_t i = 0; i < LANES; i++) y[i] = (uint8_t)x[i];
}
#endif

/* The words of LANES columns from their bytes in `GROUP` rows. */
EXACT_INLINE u32v column_words(const uint8_t *src, const size_t *at, const uint8_t flip, const bool is_signed) {
  u32v w;
  if (GROUP == 4) {
    w = widen(src + at[0]) | widen(src + at[1]) << 8;
    w |= (widen(src + at[GROUP / 2]) | widen(src + at[GROUP - 1]) << 8) << 16;
    return w ^ flip * 0x01010101u;
  }
  w = (widen(src + at[0]) | widen(src + at[1]) << 16) ^ flip * 0x00010001u;
  if (is_signed) { /* a sign bit 0x80 becomes 0xFF00 above the byte */
    const u32v signs = w & 0x00800080u;
    w |= (signs << 9) - (signs << 1);
  }
  return w;
}

EXACT_INLINE void pack_whole(uint32_t *dst, const uint8_t *src, const size_t *at, size_t words, size_t n, const uint8_t flip,
                             const bool is_signed) {
  for (size_t w = 0; w < words; w++, at += GROUP, dst += n)
    for (size_t j = 0; j < n; j += LANES) *(u32v *)(dst + j) = column_words(src + j, at, flip, is_signed);
}

static void pack_columns(uint32_t *dst, const uint8_t *src, const size_t *at, size_t words, size_t n, size_t width,
                         exact_form form) {
  if (n == width && form.is_signed) {
    pack_whole(dst, src, at, words, n, form.flip, true);
  } else if (n == width) {
    pack_whole(dst, src, at, words, n, form.flip, false);
  } else {
    for (size_t w = 0; w < words; w++, at += GROUP, dst += width)
      for (size_t j = 0; j < width; j++) {
        dst[j] = 0;
        for (unsigned t = 0; t < GROUP && j < n; t++) dst[j] |= placed(src[at[t] + j], form, t);
      }
  }
}

static void line(const uint32_t *a, const uint8_t *src, const size_t *at, size_t words, size_t n, exact_form form, int32_t *c) {
  const uint8_t flip = form.flip;
  size_t j = 0;
  for (; j + 2 * LANES <= n; j += 2 * LANES) {
    i32v acc[2] = {{0}};
    for (size_t w = 0; w < words; w++)
      for (size_t i = 0; i < 2; i++)
        acc[i] = products(acc[i], (u32v){0} + a[w], column_words(src + j + i * LANES, at + w * GROUP, flip, false), true);
    for (size_t i = 0; i < 2; i++) *(i32v *)(c + j + i * LANES) = acc[i];
  }
  if (j < n) {
    i32v acc = {0};
    for (size_t w = 0; w < words; w++)
      acc = products(acc, (u32v){0} + a[w], column_words(src + j, at + w * GROUP, flip, false), true);
    *(i32v *)(c + j) = acc;
  }
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

/* acc + what the zero points and the bias add, wrapping. */
EXACT_INLINE i32v complete(const exact_integer_finish *f, const exact_integer_row *row, const int32_t *acc, size_t j,
                           const uint32_t base) {
  u32v v = *(const u32v *)(acc + j) + base;
  if (row->zero) v -= *(const u32v *)(f->columns + j) * (uint32_t)row->zero;
  if (f->zeros) v -= *(const u32v *)(f->zeros + j) * (uint32_t)row->sum;
  return (i32v)v;
}

/* exact_saturated on vectors. */
EXACT_INLINE u32v saturate(f32v t, float low, float high) {
  t = min_f32(max_f32(t, (f32v){0} + low), (f32v){0} + high);
  return (u32v)(t + 0x1.8p23f) - 0x4B400000u;
}

EXACT_INLINE void requantize(const exact_integer_finish *f, const exact_integer_row *row, const exact_limits *most,
                             const int32_t *acc, size_t width, const uint32_t base, uint8_t *out, const bool scales) {
  const float low = most->low - (float)row->y_zero, high = most->high - (float)row->y_zero;
  const f32v y_scale = (f32v){0} + row->y_scale;
  f32v factor = (f32v){0} + row->scale * f->scale / row->y_scale;
  for (size_t j = 0; j < width; j += LANES) {
    if (scales) factor = *(const f32v *)(f->scales + j) * row->scale / y_scale;
    f32v t = __builtin_convertvector(complete(f, row, acc, j, base), f32v) * factor;
    narrow(out + j, saturate(t, low, high) + (uint32_t)row->y_zero);
  }
}

static void finish_line(const exact_integer_finish *f, const exact_integer_row *row, const int32_t *acc, size_t n, void *out) {
  const exact_limits most = exact_limits_of(f->dtype);
  const uint32_t base = (uint32_t)row->add - (f->zeros ? 0 : (uint32_t)f->zero * (uint32_t)row->sum);
  int32_t *sums = out;
  if (f->dtype == EXACT_INT32)
    for (size_t j = 0; j < n; j += LANES) *(i32v *)(sums + j) = complete(f, row, acc, j, base);
  else if (f->scales)
    requantize(f, row, &most, acc, n, base, out, true);
  else
    requantize(f, row, &most, acc, n, base, out, false);
}

static void finish(const exact_integer_finish *f, const exact_integer_row *row, size_t rows, const int32_t *acc, size_t width) {
  const size_t element = f->dtype == EXACT_INT32 ? 4 : 1;
  const bool whole = f->n_runs == 1 && f->runs[0].length == width;
  for (size_t i = 0; i < rows; i++, row++, acc += width) {
    int32_t line[EXACT_INTEGER_WIDTH];
    if (whole) {
      finish_line(f, row, acc, width, (char *)f->y + (i * f->y_stride + f->runs[0].to) * element);
    } else {
      finish_line(f, row, acc, width, line);
      store_runs(f, i, line, element);
    }
  }
}

extern const struct exact_integer_kernels EXACT_SYM(exact_integer);
const struct exact_integer_kernels EXACT_SYM(exact_integer) = {
    GROUP, LANES, ROWS, VECTORS, {tile_unsigned, tile_signed}, pack_rows, pack_columns, line, sum, finish, finish_line};
