/* Packing for one arithmetic type. Included by conv_isa.c with REAL, SUFFIX and COPY_BYTES, the bytes that one copy of a
 * narrow tile moves. Copies of constant size may spill past a run: what follows in the panel is written later. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define WIDE NAME(wide)
#define NARROW NAME(narrow)

typedef REAL WIDE __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));
typedef REAL NARROW __attribute__((vector_size(COPY_BYTES), aligned(sizeof(REAL)), may_alias));
enum { NAME(lanes) = EXACT_VB / sizeof(REAL), NAME(few) = COPY_BYTES / sizeof(REAL) };

#define TV WIDE
#include "transpose.h"
#undef TV

/* Every second of twice as many elements: the even ones, the odd ones. */
#define FROM(i) 2 * (i), 2 * (i) + 2, 2 * (i) + 4, 2 * (i) + 6
#define FROM_ODD(i) 2 * (i) + 1, 2 * (i) + 3, 2 * (i) + 5, 2 * (i) + 7
#if EXACT_VB / SUFFIX == 2 /* 16 lanes */
#define EVEN FROM(0), FROM(4), FROM(8), FROM(12)
#define ODD FROM_ODD(0), FROM_ODD(4), FROM_ODD(8), FROM_ODD(12)
#elif EXACT_VB / SUFFIX == 1 /* 8 lanes */
#define EVEN FROM(0), FROM(4)
#define ODD FROM_ODD(0), FROM_ODD(4)
#elif 8 * EXACT_VB / SUFFIX == 4
#define EVEN FROM(0)
#define ODD FROM_ODD(0)
#else
#define EVEN 0, 2
#define ODD 1, 3
#endif

EXACT_INLINE void NAME(copy)(REAL *dst, const REAL *src, size_t n) {
  size_t i = 0;
  if (n >= NAME(lanes)) {
    for (; i + NAME(lanes) <= n; i += NAME(lanes)) *(WIDE *)(dst + i) = *(const WIDE *)(src + i);
    if (i < n) *(WIDE *)(dst + n - NAME(lanes)) = *(const WIDE *)(src + n - NAME(lanes)); /* some twice */
    return;
  }
  for (; i + NAME(few) <= n; i += NAME(few)) *(NARROW *)(dst + i) = *(const NARROW *)(src + i);
  for (; i < n; i++) dst[i] = src[i];
}

/* dst[i] = src[2 * i]; reads no element past the last one needed. */
EXACT_INLINE void NAME(copy_second)(REAL *dst, const REAL *src, size_t n) {
  enum { L = NAME(lanes) };
  size_t i = 0;
  for (; i + L < n; i += L)
    *(WIDE *)(dst + i) = __builtin_shufflevector(*(const WIDE *)(src + 2 * i), *(const WIDE *)(src + 2 * i + L), EVEN);
  if (n > L) { /* the last L, some twice */
    const REAL *end = src + 2 * (n - L) - 1;
    *(WIDE *)(dst + n - L) = __builtin_shufflevector(*(const WIDE *)end, *(const WIDE *)(end + L), ODD);
  } else {
    for (; i < n; i++) dst[i] = src[2 * i];
  }
}

/* dst[i] = src[i * stride], widened */
EXACT_INLINE void NAME(load)(REAL *dst, const void *src, size_t n, size_t stride, int dtype) {
  if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64) {
    const REAL *x = src;
    if (stride == 1)
      NAME(copy)(dst, x, n);
    else if (stride == 2)
      NAME(copy_second)(dst, x, n);
    else
      for (size_t i = 0; i < n; i++) dst[i] = x[stride * i];
  } else {
    const uint16_t *x = src;
    if (dtype == EXACT_FLOAT16)
      for (size_t i = 0; i < n; i++) dst[i] = (REAL)exact_f16_to_f32(x[stride * i]);
    else
      for (size_t i = 0; i < n; i++) dst[i] = (REAL)exact_bf16_to_f32(x[stride * i]);
  }
}

static void NAME(narrow_row)(void *dst, const REAL *src, size_t n, int dtype) {
  if (sizeof(REAL) == 8)
    memcpy(dst, src, n * sizeof(REAL));
  else
    exact_store_row(dst, (const float *)src, n, dtype);
}

/* ---- the patch of channel c ---- */
/* next: bytes to the same row of the next channel, which is fetched meanwhile */
static void NAME(fill_row)(const exact_pack *p, REAL *row, const char *x, size_t element, size_t next) {
  for (size_t l = 0; l < p->patch->lines; l++) {
    const exact_line *line = &p->patch->line[l];
    exact_span in = p->span[l];
    if (in.begin >= in.end) continue;
    int64_t column = (p->pixels.origin + (int64_t)in.begin) * p->shape->stride[2] + line->first;
    const char *src = x + (size_t)column * element;
    for (size_t i = 0; i < (in.end - in.begin) * element; i += 64) __builtin_prefetch(src + next + i);
    NAME(load)(row + line->at + in.begin, src, in.end - in.begin, (size_t)p->shape->stride[2], p->shape->dtype);
  }
}

static void NAME(fill)(const exact_pack *p, size_t c, REAL *area) {
  const exact_conv_shape *s = p->shape;
  const exact_patch *patch = p->patch;
  size_t element = exact_dtype_size(s->dtype), pitch = (size_t)s->in[2] * element;
  size_t plane = (size_t)s->in[1] * pitch;
  size_t next = (size_t)s->in[0] * plane;
  const char *channel = (const char *)p->x + c * next;
  int64_t top = p->pixels.row * s->stride[1] - s->pad[1];
  for (int64_t kd = 0; kd < s->kernel[0]; kd++) {
    int64_t depth = p->pixels.depth * s->stride[0] - s->pad[0] + kd * s->dilation[0];
    if (depth < 0 || depth >= s->in[0]) continue;
    const char *x = channel + (size_t)depth * plane;
    REAL *slab = area + (size_t)kd * patch->slab;
    if (patch->pairs) {
      for (size_t o = 0; o < p->pixels.rows; o++)
        for (int64_t kh = 0; kh < s->kernel[1]; kh++, slab += patch->row) {
          int64_t row = top + (int64_t)o * s->stride[1] + kh * s->dilation[1];
          if (row >= 0 && row < s->in[1]) NAME(fill_row)(p, slab, x + (size_t)row * pitch, element, next);
        }
    } else {
      int64_t high = ((int64_t)p->pixels.rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1;
      int64_t begin = top < 0 ? -top : 0, end = high < s->in[1] - top ? high : s->in[1] - top;
      for (int64_t r = begin; r < end; r++)
        NAME(fill_row)(p, slab + (size_t)r * patch->row, x + (size_t)(top + r) * pitch, element, next);
    }
  }
}

/* Elements [begin, end) of every line lie inside the input row. */
static void NAME(spans)(const exact_pack *p) {
  for (size_t l = 0; l < p->patch->lines; l++) {
    int64_t stride = p->shape->stride[2], length = (int64_t)(p->pixels.columns + p->patch->line[l].extra);
    int64_t first = p->pixels.origin * stride + p->patch->line[l].first, room = p->shape->in[2] - first;
    int64_t begin = first < 0 ? (-first + stride - 1) / stride : 0, end = room > 0 ? (room - 1) / stride + 1 : 0;
    p->span[l] = (exact_span){(size_t)begin, (size_t)(end < length ? end : length)};
  }
}

/* ---- panels from the patch: taps [t0, t1) ---- */
/* The places of `hold` copies stay in registers. */
#define COPIES(name, vector)                                                                                   \
  EXACT_INLINE void NAME(name)(REAL * dst, size_t width, const REAL *area, const uint32_t *at, size_t taps,    \
                               const exact_copy *copy, const size_t hold, size_t n) {                          \
    size_t from[5], to[5];                                                                                     \
    EXACT_UNROLL                                                                                               \
    for (size_t i = 0; i < hold; i++) {                                                                        \
      from[i] = copy[i].from;                                                                                  \
      to[i] = copy[i].to;                                                                                      \
    }                                                                                                          \
    for (size_t t = 0; t < taps; t++, dst += width) {                                                          \
      const REAL *src = area + at[t];                                                                          \
      EXACT_UNROLL                                                                                             \
      for (size_t i = 0; i < hold; i++) *(vector *)(dst + to[i]) = *(const vector *)(src + from[i]);           \
      for (size_t i = hold; i < n; i++) *(vector *)(dst + copy[i].to) = *(const vector *)(src + copy[i].from); \
    }                                                                                                          \
  }
COPIES(copies_wide, WIDE)
COPIES(copies_narrow, NARROW)
#undef COPIES

EXACT_INLINE void NAME(pack_taps)(const exact_pack *p, REAL *dst, size_t width, const REAL *area, const uint32_t *at, size_t n,
                                  const exact_copy *copy, size_t count) {
  if (p->tiling->wide) {
    switch (count) {
      case 2: NAME(copies_wide)(dst, width, area, at, n, copy, 2, 2); break;
      case 3: NAME(copies_wide)(dst, width, area, at, n, copy, 3, 3); break;
      case 4: NAME(copies_wide)(dst, width, area, at, n, copy, 4, 4); break;
      case 5: NAME(copies_wide)(dst, width, area, at, n, copy, 5, 5); break;
      default: NAME(copies_wide)(dst, width, area, at, n, copy, 0, count); break;
    }
  } else {
    switch (count) {
      case 1: NAME(copies_narrow)(dst, width, area, at, n, copy, 1, 1); break;
      case 2: NAME(copies_narrow)(dst, width, area, at, n, copy, 2, 2); break;
      case 3: NAME(copies_narrow)(dst, width, area, at, n, copy, 3, 3); break;
      default: NAME(copies_narrow)(dst, width, area, at, n, copy, 0, count); break;
    }
  }
}

/* A channel after the other: its patch, then its rows of all panels. */
static void NAME(pack_patch)(const exact_pack *p) {
  size_t taps = p->shape->taps;
  NAME(spans)(p);
  for (size_t k = p->k0, n; k < p->k1; k += n) {
    size_t t0 = k % taps, left = p->pixels.count;
    const exact_copy *copy = p->copies;
    REAL *panel = p->panels;
    n = taps - t0 < p->k1 - k ? taps - t0 : p->k1 - k;
    NAME(fill)(p, k / taps, p->area);
    for (size_t tile = 0; left > 0; tile++, panel += p->tile_stride) {
      size_t pixels = exact_tile_pixels(p->tiling, left), width = exact_tile_width(p->tiling, pixels);
      NAME(pack_taps)(p, panel + (k - p->k0) * width, width, p->area, p->patch->at + t0, n, copy, p->copy_count[tile]);
      copy += p->copy_count[tile];
      left -= pixels;
    }
  }
}

/* The patches of all channels, patch->size apart. */
static void NAME(fill_all)(const exact_pack *p) {
  size_t taps = p->shape->taps, first = p->k0 / taps, end = (p->k1 - 1) / taps + 1;
  NAME(spans)(p);
  for (size_t c = first; c < end; c++) NAME(fill)(p, c, (REAL *)p->area + (c - first) * p->patch->size);
}

/* The panel of one tile, from those patches. */
static void NAME(pack_tile)(const exact_pack *p, const exact_copy *copy, size_t count, size_t pixels) {
  size_t taps = p->shape->taps, width = exact_tile_width(p->tiling, pixels);
  const REAL *area = p->area;
  REAL *dst = p->panels;
  for (size_t k = p->k0, n; k < p->k1; k += n, area += p->patch->size, dst += n * width) {
    size_t t0 = k % taps;
    n = taps - t0 < p->k1 - k ? taps - t0 : p->k1 - k;
    NAME(pack_taps)(p, dst, width, area, p->patch->at + t0, n, copy, count);
  }
}

/* ---- panels straight from x: rows of k are the channels' planes ---- */
EXACT_INLINE void NAME(direct_wide)(const exact_pack *p, const int dtype) {
  enum { AHEAD = 6 }; /* rows to fetch meanwhile */
  size_t plane = (size_t)p->shape->in[2], k = p->k1 - p->k0, element = exact_dtype_size(dtype);
  const char *x = (const char *)p->x + (p->k0 * plane + p->pixels.first) * element;
  for (size_t i = 0; i < k; i++, x += plane * element) {
    REAL *panel = p->panels;
    const char *src = x;
    for (size_t left = p->pixels.count, pixels; left > 0; left -= pixels, panel += p->tile_stride, src += pixels * element) {
      pixels = exact_tile_pixels(p->tiling, left);
      size_t width = exact_tile_width(p->tiling, pixels), whole = pixels / NAME(lanes) * NAME(lanes);
      REAL *dst = panel + i * width;
      for (size_t j = 0; j < pixels; j += 64 / element) __builtin_prefetch(src + AHEAD * plane * element + j * element);
      for (size_t j = 0; j < whole; j += NAME(lanes)) NAME(load)(dst + j, src + j * element, NAME(lanes), 1, dtype);
      if (whole == width) continue;
      NAME(load)(dst + whole, src + whole * element, pixels - whole, 1, dtype);
      for (size_t j = pixels; j < width; j++) dst[j] = 0;
    }
  }
}

EXACT_INLINE void NAME(direct_narrow)(const exact_pack *p, const int dtype) {
  size_t plane = (size_t)p->shape->in[2], count = p->pixels.count, k = p->k1 - p->k0, element = exact_dtype_size(dtype);
  const char *x = (const char *)p->x + (p->k0 * plane + p->pixels.first) * element;
  REAL *panel = p->panels;
  for (size_t done = 0, width; done < count; done += width, panel += p->tile_stride, x += width * element) {
    width = exact_tile_pixels(p->tiling, count - done);
    if (element == sizeof(REAL) && done + NAME(few) <= count && width <= NAME(few))
      for (size_t i = 0; i < k; i++) *(NARROW *)(panel + i * width) = *(const NARROW *)(x + i * plane * element);
    else
      for (size_t i = 0; i < k; i++) NAME(load)(panel + i * width, x + i * plane * element, width, 1, dtype);
  }
}

static void NAME(pack_direct)(const exact_pack *p) {
  int dtype = p->shape->dtype, real = sizeof(REAL) == 8 ? EXACT_FLOAT64 : EXACT_FLOAT32;
  if (p->tiling->wide) {
    if (dtype == real)
      NAME(direct_wide)(p, real);
    else
      NAME(direct_wide)(p, dtype);
  } else {
    if (dtype == real)
      NAME(direct_narrow)(p, real);
    else
      NAME(direct_narrow)(p, dtype);
  }
}

/* ---- panels element by element, for windows of any size ---- */
static void NAME(pack_gather)(const exact_pack *p) {
  const exact_conv_shape *s = p->shape;
  size_t element = exact_dtype_size(s->dtype), plane = (size_t)s->in[1] * (size_t)s->in[2];
  for (size_t k = p->k0; k < p->k1; k++) {
    int64_t t = (int64_t)(k % s->taps), kw = t % s->kernel[2], kh = t / s->kernel[2] % s->kernel[1];
    int64_t kd = t / s->kernel[2] / s->kernel[1], row = p->pixels.row, column = p->pixels.column;
    int64_t depth = p->pixels.depth * s->stride[0] - s->pad[0] + kd * s->dilation[0];
    REAL *panel = p->panels;
    for (size_t left = p->pixels.count; left > 0; panel += p->tile_stride) {
      size_t pixels = exact_tile_pixels(p->tiling, left), width = exact_tile_width(p->tiling, pixels);
      REAL *dst = panel + (k - p->k0) * width;
      for (size_t j = 0; j < width; j++) dst[j] = 0;
      for (size_t j = 0; j < pixels; j++) {
        int64_t y = row * s->stride[1] - s->pad[1] + kh * s->dilation[1];
        int64_t x = column * s->stride[2] - s->pad[2] + kw * s->dilation[2];
        if (depth >= 0 && depth < s->in[0] && y >= 0 && y < s->in[1] && x >= 0 && x < s->in[2]) {
          size_t at = (k / s->taps * (size_t)s->in[0] + (size_t)depth) * plane + (size_t)(y * s->in[2] + x);
          NAME(load)(dst + j, (const char *)p->x + at * element, 1, 1, s->dtype);
        }
        if (++column == s->out[2]) {
          column = 0;
          row++;
        }
      }
      left -= pixels;
    }
  }
}

static void NAME(pack)(const exact_pack *p) {
  if (!p->patch)
    NAME(pack_direct)(p);
  else if (p->patch->size)
    NAME(pack_patch)(p);
  else
    NAME(pack_gather)(p);
}

static void NAME(weights)(void *dst, size_t width, const void *src, size_t row_stride, size_t k_stride, size_t rows, size_t k,
                          int dtype) {
  REAL *d = dst;
  if (rows < width) memset(dst, 0, width * k * sizeof(REAL));
  for (size_t r = 0; r < rows; r++) {
    const void *row = (const char *)src + r * row_stride * exact_dtype_size(dtype);
    const REAL *x = row;
    const uint16_t *h = row;
    if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64)
      for (size_t i = 0; i < k; i++) d[i * width + r] = x[i * k_stride];
    else if (dtype == EXACT_FLOAT16)
      for (size_t i = 0; i < k; i++) d[i * width + r] = (REAL)exact_f16_to_f32(h[i * k_stride]);
    else
      for (size_t i = 0; i < k; i++) d[i * width + r] = (REAL)exact_bf16_to_f32(h[i * k_stride]);
  }
}

static void NAME(store_transposed)(void *y, size_t y_stride, const void *c, size_t c_stride, size_t rows, size_t columns,
                                   int dtype) {
  enum { L = NAME(lanes) };
  size_t element = exact_dtype_size(dtype);
  for (size_t j = 0; j < columns; j += L) {
    size_t high = columns - j < L ? columns - j : L;
    for (size_t i = 0; i < rows; i += L) {
      if (rows - i < L && rows >= L) i = rows - L; /* some twice */
      size_t part = rows - i < L ? rows - i : L;
      WIDE block[L];
      if (part == L) {
        EXACT_UNROLL
        for (size_t r = 0; r < L; r++) block[r] = *(const WIDE *)((const REAL *)c + (i + r) * c_stride + j);
      } else {
        for (size_t r = 0; r < L; r++) block[r] = *(const WIDE *)((const REAL *)c + (i + (r < part ? r : 0)) * c_stride + j);
      }
      NAME(transpose)(block);
      char *to = (char *)y + (j * y_stride + i) * element;
      if (part == L && high == L && element == sizeof(REAL)) {
        EXACT_UNROLL
        for (size_t r = 0; r < L; r++) *(WIDE *)(to + r * y_stride * element) = block[r];
        continue;
      }
      REAL copy[L][L];
      EXACT_UNROLL
      for (size_t r = 0; r < L; r++) *(WIDE *)copy[r] = block[r];
      for (size_t r = 0; r < high; r++) NAME(narrow_row)(to + r * y_stride * element, copy[r], part, dtype);
    }
  }
}

#undef FROM
#undef FROM_ODD
#undef EVEN
#undef ODD
#undef NAME
#undef NAME2
#undef NAME3
