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
typedef struct NAME(taps) {
  const T *src;
  const int32_t *index;
  size_t from, step; /* of the input rows */
  const T *weight;
  size_t n;
} NAME(taps);

/* `count` vectors from column i on, the last one at column `last`; count 0: the n < L columns of a row. taps 0: any number. */
EXACT_INLINE void NAME(add_rows)(const NAME(taps) * s, const size_t taps, T *dst, size_t i, const size_t count, size_t last,
                                 size_t n, bool finish) {
  const size_t vectors = count ? count : 1;
  V acc[4];
  EXACT_UNROLL
  for (size_t v = 0; v < vectors; v++) acc[v] = (V){0};
  for (size_t t = 0; t < (taps ? taps : s->n); t++) {
    const T *p = s->src + ((size_t)s->index[t] - s->from) * s->step;
    EXACT_UNROLL
    for (size_t v = 0; v < vectors; v++)
      acc[v] += (count ? NAME(load)(p + (v + 1 < vectors ? i + v * L : last)) : NAME(load_part)(p, n)) * s->weight[t];
  }
  EXACT_UNROLL
  for (size_t v = 0; v < vectors; v++) {
    V y = finish ? NAME(canonical)(acc[v]) : acc[v];
    if (count)
      NAME(store)(dst + (v + 1 < vectors ? i + v * L : last), y);
    else
      NAME(store_part)(dst, y, n);
  }
}

EXACT_INLINE void NAME(row)(const NAME(taps) * s, const size_t taps, T *dst, size_t width, bool finish) {
  size_t i = 0;
  if (width < L) {
    NAME(add_rows)(s, taps, dst, 0, 0, 0, width, finish);
    return;
  }
  for (; i + 4 * L < width; i += 4 * L) NAME(add_rows)(s, taps, dst, i, 4, i + 3 * L, 0, finish);
  switch ((width - i - 1) / L) {
    case 0: NAME(add_rows)(s, taps, dst, i, 1, width - L, 0, finish); break;
    case 1: NAME(add_rows)(s, taps, dst, i, 2, width - L, 0, finish); break;
    case 2: NAME(add_rows)(s, taps, dst, i, 3, width - L, 0, finish); break;
    default: NAME(add_rows)(s, taps, dst, i, 4, width - L, 0, finish);
  }
}

static void NAME(rows)(const exact_resize_rows *t, size_t from, size_t end, const void *src, size_t src_from, size_t src_step,
                       void *dst, size_t dst_step, size_t width, bool finish) {
  T *y = dst;
  for (size_t j = from; j < end; j++, y += dst_step) {
    size_t first = t->first[j];
    NAME(taps) s = {src, t->index + first, src_from, src_step, (const T *)t->weight + first, t->first[j + 1] - first};
    if (s.n == 2 && finish)
      NAME(row)(&s, 2, y, width, true);
    else if (s.n == 2)
      NAME(row)(&s, 2, y, width, false);
    else if (finish)
      NAME(row)(&s, 0, y, width, true);
    else
      NAME(row)(&s, 0, y, width, false);
  }
}

/* ---- lines ---- */
/* The window of a tap: vectors a and b, where there are so many. */
#define WINDOW(p)    \
  const T *at = (p); \
  V a = windows > 0 ? NAME(load)(at) : (V){0}, b = windows > 1 ? NAME(load)(at + L) : a
#define PICK(c) NAME(choose)(windows, a, b, at, c)

/* Block `block` of `lines` lines whose element 0 would be at src; dst is where it goes in the first one. */
EXACT_INLINE void NAME(block)(const exact_resize_line *l, size_t block, const size_t taps, const int windows, const T *src,
                              size_t src_step, T *dst, size_t dst_step, const size_t lines) {
  const int32_t *base = l->base + block * taps, *pick = l->pick + block * taps * L;
  const T *weight = (const T *)l->weight + block * taps * L;
  const bool holes = l->holes[block];
  V acc[4];
  EXACT_UNROLL
  for (size_t i = 0; i < lines; i++) acc[i] = (V){0};
  for (size_t t = 0; t < taps; t++) {
    control c = NAME(control)(windows, pick + t * L);
    V w = NAME(load)(weight + t * L);
    M tap = (M)(w != (T)0);
    EXACT_UNROLL
    for (size_t i = 0; i < lines; i++) {
      WINDOW(src + base[t] + i * src_step);
      V product = PICK(c) * w;
      acc[i] += holes ? (V)((M)product & tap) : product;
    }
  }
  EXACT_UNROLL
  for (size_t i = 0; i < lines; i++) {
    V y = NAME(canonical)(acc[i]);
    if (l->out < L)
      NAME(store_part)(dst + i * dst_step, y, l->out);
    else
      NAME(store)(dst + i * dst_step, y);
  }
}

/* The blocks from `from` up to `end`, which are alike; at most four taps, which share their base. */
EXACT_INLINE void NAME(alike)(const exact_resize_line *l, size_t from, size_t end, const size_t taps, const int windows,
                              const T *src, size_t src_step, T *dst, size_t dst_step, const size_t lines) {
  const T *weight = (const T *)l->weight + from * taps * L;
  control c[4];
  V w[4];
  EXACT_UNROLL
  for (size_t t = 0; t < taps; t++) {
    c[t] = NAME(control)(windows, l->pick + (from * taps + t) * L);
    w[t] = NAME(load)(weight + t * L);
  }
  src += l->base[from * taps];
  for (size_t block = from; block < end; block++, src += l->step, dst += L) {
    EXACT_UNROLL
    for (size_t i = 0; i < lines; i++) {
      WINDOW(src + i * src_step);
      V acc = {0};
      EXACT_UNROLL
      for (size_t t = 0; t < taps; t++) acc += PICK(c[t]) * w[t];
      NAME(store)(dst + i * dst_step, NAME(canonical)(acc));
    }
  }
}

/* fixed: the number of taps is a constant of at most four. */
EXACT_INLINE void NAME(some_lines)(const exact_resize_span *s, const size_t taps, const bool fixed, const int windows,
                                   const T *src, T *dst, const size_t lines) {
  const exact_resize_line *l = s->line;
  for (size_t b = s->block; b < s->end; b++) {
    if (fixed && l->shared && b >= l->alike && b < l->alike_end) {
      size_t end = l->alike_end < s->end ? l->alike_end : s->end;
      NAME(alike)(l, b, end, taps, windows, src, s->src_step, dst + b * L, s->dst_step, lines);
      b = end - 1;
      continue;
    }
    T *y = dst + (l->out < L ? 0 : b * L + L <= l->out ? b * L : l->out - L);
    NAME(block)(l, b, taps, windows, src, s->src_step, y, s->dst_step, lines);
  }
}

EXACT_INLINE void NAME(lines_of)(const exact_resize_span *s, const size_t taps, const bool fixed, const int windows) {
  /* Where element 0 of the whole lines would be. */
  const T *src = (const T *)((uintptr_t)s->src - s->src_from * sizeof(T));
  T *dst = (T *)((uintptr_t)s->dst - s->dst_from * sizeof(T));
  size_t r = 0;
  for (; r + 4 <= s->rows; r += 4, src += 4 * s->src_step, dst += 4 * s->dst_step)
    NAME(some_lines)(s, taps, fixed, windows, src, dst, 4);
  for (; r < s->rows; r++, src += s->src_step, dst += s->dst_step) NAME(some_lines)(s, taps, fixed, windows, src, dst, 1);
}

static void NAME(line)(const exact_resize_span *s) {
  const size_t taps = s->line->taps;
  switch (s->line->windows) {
    case 1:
      if (taps == 2)
        NAME(lines_of)(s, 2, true, 1);
      else if (taps == 4)
        NAME(lines_of)(s, 4, true, 1);
      else
        NAME(lines_of)(s, taps, false, 1);
      break;
    case 2:
      if (taps == 2)
        NAME(lines_of)(s, 2, true, 2);
      else if (taps == 4)
        NAME(lines_of)(s, 4, true, 2);
      else
        NAME(lines_of)(s, taps, false, 2);
      break;
    default: NAME(lines_of)(s, taps, false, 0);
  }
}

/* ---- copies ---- */
EXACT_INLINE V NAME(picked)(const int windows, const T *p, control c) {
  WINDOW(p);
  return PICK(c);
}

EXACT_INLINE V NAME(block_of)(const exact_resize_line *l, size_t block, const int windows, const T *src) {
  return NAME(picked)(windows, src + l->base[block], NAME(control)(windows, l->pick + block * L));
}

/* One line of the input to two lines of the output, which may be one; `same` picks for the blocks that are alike. */
EXACT_INLINE void NAME(copy_line)(const exact_resize_line *l, const int windows, control same, const T *src, T *first,
                                  T *second) {
  const size_t from = l->alike, end = l->alike_end, step = l->step, blocks = l->blocks, last = l->out - L;
  const T *x = src + (from < end ? l->base[from] : 0);
#define PUT(i, v)                     \
  do {                                \
    V value = v;                      \
    NAME(store)(first + (i), value);  \
    NAME(store)(second + (i), value); \
  } while (0)
  for (size_t b = 0; b < from; b++) PUT(b * L, NAME(block_of)(l, b, windows, src));
  for (size_t b = from; b < end; b++, x += step) PUT(b * L, NAME(picked)(windows, x, same));
  for (size_t b = end; b + 1 < blocks; b++) PUT(b * L, NAME(block_of)(l, b, windows, src));
  if (end < blocks) PUT(last, NAME(block_of)(l, blocks - 1, windows, src));
#undef PUT
}

EXACT_INLINE void NAME(copy_lines)(const exact_resize_copy *c, const int windows) {
  const exact_resize_line *l = c->line;
  const control same = NAME(control)(windows, l->pick + l->alike * L);
  const size_t step = c->dst_step;
  T *dst = c->dst;
  for (size_t j = c->from; j < c->end; j++, dst += step) {
    const T *src = (const T *)c->src + exact_resize_row(c, j) * c->src_step;
    if (l->out < L) {
      NAME(store_part)(dst, NAME(block_of)(l, 0, windows, src), l->out);
    } else if (j + 1 < c->end && exact_resize_again(c, j + 1)) {
      NAME(copy_line)(l, windows, same, src, dst, dst + step);
      j++;
      dst += step;
    } else {
      NAME(copy_line)(l, windows, same, src, dst, dst);
    }
  }
}

static void NAME(copy)(const exact_resize_copy *c) {
  switch (c->line->windows) {
    case 1: NAME(copy_lines)(c, 1); break;
    case 2: NAME(copy_lines)(c, 2); break;
    default: NAME(copy_lines)(c, 0);
  }
}

#undef WINDOW
#undef PICK
#undef T
#undef NAME
#undef V
#undef M
#undef L
#undef TYPE
