/* Included by resize_isa.c once per arithmetic type TYPE. Sums start from +0 and take their taps in order. */
#define T TYPE
#define NAME(x) EXACT_CAT(x, TYPE)
#define V LANES_CAT(TYPE, v)
#define M LANES_CAT(TYPE, m)
#define L (EXACT_VB / LANES_CAT(TYPE, _BYTES))

EXACT_INLINE V NAME(load)(const T *p) { return *(const V *)p; }
EXACT_INLINE void NAME(store)(T *p, V v) { *(V *)p = v; }
/* n < L elements; the other lanes are zero. */
EXACT_INLINE V NAME(load_part)(const T *p, size_t n) {
  V v = {0};
  memcpy(&v, p, n * sizeof(T));
  return v;
}
EXACT_INLINE void NAME(store_part)(T *p, V v, size_t n) { memcpy(p, &v, n * sizeof(T)); }

/* ---- rows ---- */
/* `count` vectors side by side, or (0) the n < L elements of part of one. taps 0: as many as there are. */
EXACT_INLINE void NAME(add_rows)(const T *src, const int32_t *index, size_t src_from, size_t src_step, const T *weight,
                                 size_t n, size_t taps, T *dst, const size_t count, size_t part, bool finish) {
  const size_t vectors = count ? count : 1;
  V acc[4];
  EXACT_UNROLL
  for (size_t v = 0; v < vectors; v++) acc[v] = (V){0};
  for (size_t t = 0; t < (taps ? taps : n); t++) {
    const T *p = src + ((size_t)index[t] - src_from) * src_step;
    EXACT_UNROLL
    for (size_t v = 0; v < vectors; v++) acc[v] += (count ? NAME(load)(p + v * L) : NAME(load_part)(p, part)) * weight[t];
  }
  EXACT_UNROLL
  for (size_t v = 0; v < vectors; v++) {
    V y = finish ? NAME(canonical)(acc[v]) : acc[v];
    if (count)
      NAME(store)(dst + v * L, y);
    else
      NAME(store_part)(dst, y, part);
  }
}

EXACT_INLINE void NAME(row)(const T *src, const int32_t *index, size_t src_from, size_t src_step, const T *weight, size_t n,
                            size_t taps, T *dst, size_t width, bool finish) {
#define AT(i) src + (i), index, src_from, src_step, weight, n, taps, dst + (i)
  size_t i = 0;
  for (; i + 4 * L <= width; i += 4 * L) NAME(add_rows)(AT(i), 4, 0, finish);
  for (; i + L <= width; i += L) NAME(add_rows)(AT(i), 1, 0, finish);
  if (i == width) return;
  if (width > L)
    NAME(add_rows)(AT(width - L), 1, 0, finish);
  else
    NAME(add_rows)(AT(0), 0, width, finish);
#undef AT
}

static void NAME(rows)(const exact_resize_rows *t, size_t from, size_t end, const void *src, size_t src_from, size_t src_step,
                       void *dst, size_t dst_step, size_t width, bool finish) {
  T *y = dst;
  for (size_t j = from; j < end; j++, y += dst_step) {
    size_t first = t->first[j], n = t->first[j + 1] - first;
    const int32_t *index = t->index + first;
    const T *weight = (const T *)t->weight + first;
    if (n == 2 && finish)
      NAME(row)(src, index, src_from, src_step, weight, n, 2, y, width, true);
    else if (n == 2)
      NAME(row)(src, index, src_from, src_step, weight, n, 2, y, width, false);
    else
      NAME(row)(src, index, src_from, src_step, weight, n, 0, y, width, finish);
  }
}

/* ---- lines ---- */
/* One block of `lines` lines; src and dst are the first one's. */
EXACT_INLINE void NAME(block)(const exact_resize_line *l, size_t b, const size_t taps, const int windows, const T *src,
                              size_t src_from, size_t src_step, T *dst, size_t dst_step, const size_t lines, size_t part) {
  const int32_t *base = l->base + b * taps, *pick = l->pick + b * taps * L;
  const T *weight = (const T *)l->weight + b * taps * L;
  V acc[4];
  EXACT_UNROLL
  for (size_t i = 0; i < lines; i++) acc[i] = (V){0};
  if (l->holes[b]) {
    for (size_t t = 0; t < taps; t++) {
      control c = NAME(control)(windows, pick + t * L);
      V w = NAME(load)(weight + t * L);
      M tap = (M)(w != (T)0);
      const T *p = src + ((ptrdiff_t)base[t] - (ptrdiff_t)src_from);
      EXACT_UNROLL
      for (size_t i = 0; i < lines; i++) acc[i] += (V)((M)(NAME(take)(windows, p + i * src_step, c) * w) & tap);
    }
  } else {
    for (size_t t = 0; t < taps; t++) {
      control c = NAME(control)(windows, pick + t * L);
      V w = NAME(load)(weight + t * L);
      const T *p = src + ((ptrdiff_t)base[t] - (ptrdiff_t)src_from);
      EXACT_UNROLL
      for (size_t i = 0; i < lines; i++) acc[i] += NAME(take)(windows, p + i * src_step, c) * w;
    }
  }
  EXACT_UNROLL
  for (size_t i = 0; i < lines; i++) {
    V y = NAME(canonical)(acc[i]);
    if (part)
      NAME(store_part)(dst + i * dst_step, y, part);
    else
      NAME(store)(dst + i * dst_step, y);
  }
}

EXACT_INLINE void NAME(lines_of)(const exact_resize_span *s, const size_t taps, const int windows) {
  const exact_resize_line *l = s->line;
  const size_t part = l->out < L ? l->out : 0;
  const T *src = s->src;
  T *dst = s->dst;
  size_t r = 0;
#define BLOCKS(lines)                                                                                                    \
  for (size_t b = s->block; b < s->end; b++) {                                                                           \
    size_t at = part ? 0 : b * L + L <= l->out ? b * L : l->out - L;                                                     \
    NAME(block)(l, b, taps, windows, src, s->src_from, s->src_step, dst + (at - s->dst_from), s->dst_step, lines, part); \
  }
  for (; r + 4 <= s->rows; r += 4, src += 4 * s->src_step, dst += 4 * s->dst_step) BLOCKS(4)
  for (; r < s->rows; r++, src += s->src_step, dst += s->dst_step) BLOCKS(1)
#undef BLOCKS
}

static void NAME(line)(const exact_resize_span *s) {
  const size_t taps = s->line->taps;
  const int windows = s->line->windows;
  if (windows == 1 && taps == 2)
    NAME(lines_of)(s, 2, 1);
  else if (windows == 1 && taps == 4)
    NAME(lines_of)(s, 4, 1);
  else if (windows == 1)
    NAME(lines_of)(s, taps, 1);
  else if (windows == 2 && taps == 2)
    NAME(lines_of)(s, 2, 2);
  else if (windows == 2)
    NAME(lines_of)(s, taps, 2);
  else
    NAME(lines_of)(s, taps, 0);
}

/* ---- copies ---- */
/* Lines `from` up to `end` of the output, which are the same. */
EXACT_INLINE void NAME(copies)(const exact_resize_line *l, const int windows, const T *src, T *dst, size_t dst_step, size_t n) {
  const size_t part = l->out < L ? l->out : 0;
  for (size_t b = 0; b < l->blocks; b++) {
    T *y = dst + (part ? 0 : b * L + L <= l->out ? b * L : l->out - L);
    V v = NAME(take)(windows, src + l->base[b], NAME(control)(windows, l->pick + b * L));
    for (size_t r = 0; r < n; r++, y += dst_step)
      if (part)
        NAME(store_part)(y, v, part);
      else
        NAME(store)(y, v);
  }
}

static void NAME(copy)(const exact_resize_copy *c) {
  T *dst = c->dst;
  for (size_t j = c->from, n; j < c->end; j += n, dst += n * c->dst_step) {
    n = exact_resize_repeats(c, j);
    const T *src = (const T *)c->src + exact_resize_row(c, j) * c->src_step;
    if (c->line->windows == 1)
      NAME(copies)(c->line, 1, src, dst, c->dst_step, n);
    else if (c->line->windows == 2)
      NAME(copies)(c->line, 2, src, dst, c->dst_step, n);
    else
      NAME(copies)(c->line, 0, src, dst, c->dst_step, n);
  }
}

#undef T
#undef NAME
#undef V
#undef M
#undef L
#undef TYPE
