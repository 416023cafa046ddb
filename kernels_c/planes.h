/* Depthwise convolution of one plane for one arithmetic type (REAL, INTEGER of its size, NAN_BITS, SUFFIX). Lanes are
 * neighbouring pixels: every output takes its taps in order from +0, then the bias. Included by planes_isa.c. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define V NAME(vector)
#define L (EXACT_VB / sizeof(REAL))

typedef REAL V __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));
typedef INTEGER NAME(bits) __attribute__((vector_size(EXACT_VB)));

EXACT_INLINE V NAME(finish)(V v, const REAL *bias) {
  if (bias) v = v + *bias;
  NAME(bits) ordered = (NAME(bits))(v == v);
  return (V)(((NAME(bits))v & ordered) | (((NAME(bits)){0} + NAN_BITS) & ~ordered));
}

/* The unit's input rows with the padding as zeros. Rows are filled upwards: zeros that a vector writes past the end of a row
 * are written again, or lie in the slack. */
static void NAME(fill)(const exact_planes *u) {
  const exact_conv_shape *s = u->shape;
  REAL *row = u->area;
  size_t left = (size_t)s->pad[2] < u->pitch ? (size_t)s->pad[2] : u->pitch, n = u->pitch - left;
  if (n > (size_t)s->in[2]) n = (size_t)s->in[2];
  for (size_t r = 0; r < u->high; r++, row += u->pitch) {
    int64_t y = (int64_t)u->row * s->stride[1] - s->pad[1] + (int64_t)r;
    size_t used = y >= 0 && y < s->in[1] ? n : 0, begin = used ? left : 0, i = 0;
    const REAL *src = (const REAL *)u->x + (used ? y * s->in[2] : 0);
    for (size_t j = 0; j < begin; j += L) *(V *)(row + j) = (V){0};
    for (; i + L <= used; i += L) *(V *)(row + begin + i) = *(const V *)(src + i);
    if (i < used && used >= L)
      *(V *)(row + begin + used - L) = *(const V *)(src + used - L);
    else
      for (; i < used; i++) row[begin + i] = src[i];
    for (size_t j = begin + used; j < u->pitch; j += L) *(V *)(row + j) = (V){0};
  }
}

/* Four output rows, a window of size x size without stride and dilation of rows: each load serves all rows it lies in. */
EXACT_INLINE void NAME(square)(const exact_planes *u, const REAL *w, const REAL *src, const size_t size, V acc[4]) {
  EXACT_UNROLL
  for (size_t r = 0; r < 4; r++) acc[r] = (V){0};
  EXACT_UNROLL
  for (size_t in = 0; in < size + 3; in++) {
    EXACT_UNROLL
    for (size_t kw = 0; kw < size; kw++) {
      V x = *(const V *)(src + in * u->pitch + kw);
      EXACT_UNROLL
      for (size_t r = 0; r < 4; r++)
        if (in >= r && in - r < size) acc[r] += x * w[(in - r) * size + kw];
    }
  }
}

/* Four vectors of outputs, `step` elements of the area apart. */
EXACT_INLINE void NAME(any)(const exact_planes *u, const REAL *w, const REAL *src, size_t step, V acc[4]) {
  EXACT_UNROLL
  for (size_t r = 0; r < 4; r++) acc[r] = (V){0};
  for (size_t t = 0; t < u->shape->taps; t++) {
    const REAL *tap = src + u->at[t];
    EXACT_UNROLL
    for (size_t r = 0; r < 4; r++) acc[r] += *(const V *)(tap + r * step) * w[t];
  }
}

/* The last vector of a row overlaps the one before. */
EXACT_INLINE void NAME(by_rows)(const exact_planes *u, const REAL *w, const REAL *bias, REAL *y, const size_t size) {
  size_t columns = (size_t)u->shape->out[2], step = u->pitch * (size_t)u->shape->stride[1];
  for (size_t o = 0; o < u->rows; o += 4) {
    size_t rows = u->rows - o < 4 ? u->rows - o : 4;
    for (size_t c = 0;;) {
      V acc[4];
      const REAL *src = (const REAL *)u->area + o * step + c;
      if (size)
        NAME(square)(u, w, src, size, acc);
      else
        NAME(any)(u, w, src, step, acc);
      for (size_t r = 0; r < rows; r++) *(V *)(y + (o + r) * columns + c) = NAME(finish)(acc[r], bias);
      if (c + L >= columns) break;
      c = c + 2 * L <= columns ? c + L : columns - L;
    }
  }
}

static void NAME(planes)(const exact_planes *u) {
  const exact_conv_shape *s = u->shape;
  size_t plane = (size_t)s->out[1] * (size_t)s->out[2];
  bool plain = s->stride[1] == 1 && s->dilation[1] == 1 && s->dilation[2] == 1 && s->kernel[1] == s->kernel[2];
  NAME(fill)(u);
  for (size_t j = 0; j < s->m; j++) {
    REAL w[EXACT_PLANES_TAPS];
    const REAL *packed = (const REAL *)u->weights + j * s->taps * u->lanes, *bias = u->bias ? (const REAL *)u->bias + j : NULL;
    REAL *y = (REAL *)u->y + j * plane + u->row * (size_t)s->out[2];
    for (size_t t = 0; t < s->taps; t++) w[t] = packed[t * u->lanes];
    if (plain && s->taps == 9)
      NAME(by_rows)(u, w, bias, y, 3);
    else if (plain && s->taps == 25)
      NAME(by_rows)(u, w, bias, y, 5);
    else
      NAME(by_rows)(u, w, bias, y, 0);
  }
}

#undef L
#undef V
#undef NAME
#undef NAME2
#undef NAME3
