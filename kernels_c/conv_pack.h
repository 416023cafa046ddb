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

/* dst[i] = src[i * stride], widened */
EXACT_INLINE void NAME(load)(REAL *dst, const void *src, size_t n, size_t stride, int dtype) {
  if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64) {
    const REAL *x = src;
    if (stride == 1) {
      size_t i = 0;
      for (; i + NAME(few) <= n; i += NAME(few)) *(NARROW *)(dst + i) = *(const NARROW *)(x + i);
      for (; i < n; i++) dst[i] = x[i];
    } else if (stride == 2) {
      for (size_t i = 0; i < n; i++) dst[i] = x[2 * i];
    } else {
      for (size_t i = 0; i < n; i++) dst[i] = x[stride * i];
    }
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
static void NAME(fill_row)(const exact_pack *p, REAL *row, const char *x, size_t element) {
  for (size_t l = 0; l < p->patch->lines; l++) {
    const exact_line *line = &p->patch->line[l];
    exact_span in = p->span[l];
    if (in.begin >= in.end) continue;
    int64_t column = (p->pixels.origin + (int64_t)in.begin) * p->shape->stride[2] + line->first;
    NAME(load)
    (row + line->at + in.begin, x + (size_t)column * element, in.end - in.begin, (size_t)p->shape->stride[2], p->shape->dtype);
  }
}

static void NAME(fill)(const exact_pack *p, size_t c) {
  const exact_conv_shape *s = p->shape;
  const exact_patch *patch = p->patch;
  size_t element = exact_dtype_size(s->dtype), pitch = (size_t)s->in[2] * element;
  size_t plane = (size_t)s->in[1] * pitch;
  const char *channel = (const char *)p->x + c * (size_t)s->in[0] * plane;
  int64_t top = p->pixels.row * s->stride[1] - s->pad[1];
  for (int64_t kd = 0; kd < s->kernel[0]; kd++) {
    int64_t depth = p->pixels.depth * s->stride[0] - s->pad[0] + kd * s->dilation[0];
    if (depth < 0 || depth >= s->in[0]) continue;
    const char *x = channel + (size_t)depth * plane;
    REAL *slab = (REAL *)p->area + (size_t)kd * patch->slab;
    if (patch->pairs) {
      for (size_t o = 0; o < p->pixels.rows; o++)
        for (int64_t kh = 0; kh < s->kernel[1]; kh++, slab += patch->row) {
          int64_t row = top + (int64_t)o * s->stride[1] + kh * s->dilation[1];
          if (row >= 0 && row < s->in[1]) NAME(fill_row)(p, slab, x + (size_t)row * pitch, element);
        }
    } else {
      int64_t high = ((int64_t)p->pixels.rows - 1) * s->stride[1] + (s->kernel[1] - 1) * s->dilation[1] + 1;
      int64_t begin = top < 0 ? -top : 0, end = high < s->in[1] - top ? high : s->in[1] - top;
      for (int64_t r = begin; r < end; r++)
        NAME(fill_row)(p, slab + (size_t)r * patch->row, x + (size_t)(top + r) * pitch, element);
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
#define COPIES(name, vector, count)                                                                                   \
  EXACT_INLINE void NAME(name##_##count)(REAL * dst, size_t width, const REAL *area, const uint32_t *at, size_t taps, \
                                         const exact_copy *copy, size_t n) {                                          \
    for (size_t t = 0; t < taps; t++, dst += width) {                                                                 \
      const REAL *src = area + at[t];                                                                                 \
      for (size_t i = 0; i < n; i++) *(vector *)(dst + copy[i].to) = *(const vector *)(src + copy[i].from);           \
    }                                                                                                                 \
  }
COPIES(wide, WIDE, n)
COPIES(narrow, NARROW, n)
#undef COPIES

static void NAME(pack_patch)(const exact_pack *p) {
  size_t taps = p->shape->taps;
  NAME(spans)(p);
  for (size_t k = p->k0; k < p->k1;) {
    size_t t0 = k % taps, n = taps - t0 < p->k1 - k ? taps - t0 : p->k1 - k, left = p->pixels.count;
    const uint32_t *at = p->patch->at + t0;
    const exact_copy *copy = p->copies;
    REAL *panel = p->panels;
    NAME(fill)(p, k / taps);
    for (size_t tile = 0; left > 0; tile++, panel += p->tile_stride) {
      size_t pixels = exact_tile_pixels(p->tiling, left);
      size_t width = exact_tile_width(p->tiling, pixels), count = p->copy_count[tile];
      REAL *dst = panel + (k - p->k0) * width;
      if (p->tiling->wide) {
        if (count == 2)
          NAME(wide_n)(dst, width, p->area, at, n, copy, 2);
        else if (count == 3)
          NAME(wide_n)(dst, width, p->area, at, n, copy, 3);
        else if (count == 4)
          NAME(wide_n)(dst, width, p->area, at, n, copy, 4);
        else
          NAME(wide_n)(dst, width, p->area, at, n, copy, count);
      } else {
        if (count == 1)
          NAME(narrow_n)(dst, width, p->area, at, n, copy, 1);
        else if (count == 2)
          NAME(narrow_n)(dst, width, p->area, at, n, copy, 2);
        else
          NAME(narrow_n)(dst, width, p->area, at, n, copy, count);
      }
      copy += count;
      left -= pixels;
    }
    k += n;
  }
}

/* ---- panels straight from x: rows of k are the channels' planes ---- */
EXACT_INLINE void NAME(direct_wide)(const exact_pack *p, const int dtype) {
  size_t plane = (size_t)p->shape->in[2], k = p->k1 - p->k0, element = exact_dtype_size(dtype);
  const char *x = (const char *)p->x + (p->k0 * plane + p->pixels.first) * element;
  for (size_t i = 0; i < k; i++, x += plane * element) {
    REAL *panel = p->panels;
    const char *src = x;
    for (size_t left = p->pixels.count, pixels; left > 0; left -= pixels, panel += p->tile_stride, src += pixels * element) {
      pixels = exact_tile_pixels(p->tiling, left);
      size_t width = exact_tile_width(p->tiling, pixels), whole = pixels / NAME(lanes) * NAME(lanes);
      REAL *dst = panel + i * width;
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
  const REAL *from = c;
  REAL *real = y;
  uint16_t *half = y;
  for (size_t j = 0; j < columns; j++) {
    if (dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT64)
      for (size_t i = 0; i < rows; i++) real[j * y_stride + i] = from[i * c_stride + j];
    else if (dtype == EXACT_FLOAT16)
      for (size_t i = 0; i < rows; i++) half[j * y_stride + i] = exact_f32_to_f16((float)from[i * c_stride + j]);
    else
      for (size_t i = 0; i < rows; i++) half[j * y_stride + i] = exact_f32_to_bf16((float)from[i * c_stride + j]);
  }
}

#undef WIDE
#undef NARROW
#undef NAME
#undef NAME2
#undef NAME3
