/* Included by pool_isa.c once per lane type T: vector V of LANES lanes, vector I of integers of the same size, LOWEST
 * (where maxima start), MAX(x, m) = x > m ? x : m, and NAME(x) = x with the type's suffix. NAN_BITS is the canonical NaN, 0
 * for integers; float types also have MAGNITUDE, all bits but the sign, and ROOT(x). Windows are inlined with constant numbers
 * of lines and taps where these are usual; 0 stands for any. */

#define EVENS(a, b) __builtin_shufflevector(a, b, EXACT_CAT(EVERY_OTHER, LANES)(0))
#define ODDS(a, b) __builtin_shufflevector(a, b, EXACT_CAT(EVERY_OTHER, LANES)(1))

EXACT_INLINE V NAME(load)(const T *p) { return *(const V *)p; }
EXACT_INLINE void NAME(store)(T *p, V v) { *(V *)p = v; }
EXACT_INLINE V NAME(fill)(T value) {
  V v;
  for (size_t i = 0; i < LANES; i++) v[i] = value;
  return v;
}

#if NAN_BITS
EXACT_INLINE V NAME(canonical)(V v) {
  I number = v == v;
  return (V)(((I)v & number) | (NAN_BITS & ~number));
}
#endif

/* What x adds to a sum; only float types have sums. */
EXACT_INLINE T NAME(part)(int fold, T x) {
#if NAN_BITS
  if (fold == POOL_L1) return (T)__builtin_fabs(x);
#endif
  return (T)(fold == POOL_L2 ? x * x : x);
}

EXACT_INLINE V NAME(fold)(int fold, V acc, V x) {
  if (fold == POOL_MAX) return MAX(x, acc);
#if NAN_BITS
  if (fold == POOL_L1) return acc + (V)((I)x & MAGNITUDE);
#endif
  if (fold == POOL_L2) x = x * x;
  return acc + x;
}

/* One line of taps for LANES outputs whose first tap is *p. mask, unless NULL, says for each tap which lanes lie in the
 * input. */
EXACT_INLINE V NAME(line)(V acc, const T *p, size_t taps, const exact_pool_rows *r, enum reading reading, const I *mask,
                          int fold) {
  const T outside = fold == POOL_MAX ? LOWEST : 0;
#define INSIDE(x, t) (mask ? (V)(((I)(x)&mask[t]) | ((I)NAME(fill)(outside) & ~mask[t])) : (x))
  if (reading == READ_ROWS) {
    for (size_t t = 0; t < taps; t++) {
      V x = NAME(load)(p + (ptrdiff_t)t * r->dilation);
      acc = NAME(fold)(fold, acc, INSIDE(x, t));
    }
  } else {
    for (size_t t = 0; t < taps; t += 2) {
      V a = NAME(load)(p + t), b = reading == READ_PAIRS ? NAME(load)(p + t + LANES) : a;
      V even = EVENS(a, b), odd = ODDS(a, b);
      acc = NAME(fold)(fold, acc, INSIDE(even, t));
      if (t + 1 < taps) acc = NAME(fold)(fold, acc, INSIDE(odd, t + 1));
    }
  }
#undef INSIDE
  return acc;
}

/* The lanes of the block of outputs from column j on whose tap t lies in the input, for every t. */
static __attribute__((noinline)) void NAME(set_masks)(const exact_pool_rows *r, size_t j, size_t taps, I *mask) {
  for (size_t t = 0; t < taps; t++) {
    ptrdiff_t column = r->column + (ptrdiff_t)j * r->stride + (ptrdiff_t)t * r->dilation, left = r->length - column;
    ptrdiff_t first = column < 0 ? (r->stride - 1 - column) / r->stride : 0;
    ptrdiff_t end = left > 0 ? (r->stride - 1 + left) / r->stride : 0;
    if (first > LANES) first = LANES;
    if (end > LANES) end = LANES;
    const int8_t *ones = lane_mask + EXACT_VB;
    mask[t] = *(const I *)(ones - first * (ptrdiff_t)sizeof(T)) & *(const I *)(ones + EXACT_VB - end * (ptrdiff_t)sizeof(T));
  }
}

static __attribute__((noinline)) bool NAME(any)(I lanes, size_t n) {
  for (size_t k = 0; k < n; k++)
    if (lanes[k]) return true;
  return false;
}

/* The result of an output from its sum or maximum; `low` collects the lanes whose maximum is LOWEST. */
EXACT_INLINE V NAME(finish)(const exact_pool_rows *r, V acc, size_t i, size_t j, int fold, I *low) {
#if NAN_BITS
  if (fold == POOL_MEAN) {
    V factor = NAME(load)((const T *)r->columns + j) * ((const T *)r->factors)[i];
    return NAME(canonical)(r->multiply ? acc * factor : acc / factor);
  }
  if (fold == POOL_L2) return NAME(canonical)(ROOT(acc));
  if (fold == POOL_L1) return NAME(canonical)(acc);
  *low |= acc == (T)LOWEST;
#else
  (void)r, (void)i, (void)j, (void)fold, (void)low;
#endif
  return acc;
}

EXACT_INLINE V NAME(window)(const exact_pool_rows *r, const T *const *src, size_t i, size_t j, size_t lines, size_t taps,
                            enum reading reading, const I *mask, int fold, I *low) {
  const ptrdiff_t at = (ptrdiff_t)j * (reading == READ_ROWS ? 1 : 2);
  V acc = NAME(fill)(fold == POOL_MAX ? LOWEST : 0);
  for (size_t l = 0; l < (lines ? lines : r->n_lines); l++) {
    const T *line = lines ? src[l] : src[0] + r->lines[l];
    acc = NAME(line)(acc, line + at, taps ? taps : r->n_taps, r, reading, mask, fold);
  }
  return NAME(finish)(r, acc, i, j, fold, low);
}

/* Rows that can be stored as vectors of `lanes` elements. */
EXACT_INLINE size_t NAME(whole_rows)(const exact_pool_rows *r, size_t lanes) {
  size_t whole = r->room < lanes ? 0 : (r->room - lanes) / (size_t)r->dst_step + 1;
  return whole < r->rows ? whole : r->rows;
}

#define WINDOW(j, masks) NAME(window)(&r, src, i, j, lines, taps, reading, masks, fold, &low)
#define NEXT_ROW()                                                         \
  do {                                                                     \
    for (size_t l = 0; l < (lines ? lines : 1); l++) src[l] += r.src_step; \
    dst += r.dst_step;                                                     \
  } while (0)

/* Rows of at least LANES outputs; the last vector ends with the row. */
EXACT_INLINE I NAME(wide_rows)(exact_pool_rows r, size_t lines, size_t taps, enum reading reading, bool edges, int fold) {
  const T *src[POOL_LINES] = {r.src};
  T *dst = r.dst;
  const size_t last = r.n - LANES;
  I low = {0}, left[POOL_TAPS], right[POOL_TAPS];
  for (size_t l = 0; l < lines; l++) src[l] = (const T *)r.src + r.lines[l];
  if (edges) {
    NAME(set_masks)(&r, 0, taps ? taps : r.n_taps, left);
    NAME(set_masks)(&r, last, taps ? taps : r.n_taps, right);
  }
  for (size_t i = 0; i < r.rows; i++) {
    if (edges) NAME(store)(dst, WINDOW(0, left));
    for (size_t j = edges ? LANES : 0; j < last; j += LANES) NAME(store)(dst + j, WINDOW(j, NULL));
    NAME(store)(dst + last, edges ? WINDOW(last, right) : WINDOW(last, NULL));
    NEXT_ROW();
  }
  return low;
}

/* Rows of fewer outputs, stored as whole vectors while these end before dst[room]. */
EXACT_INLINE I NAME(narrow_rows)(exact_pool_rows r, size_t lines, size_t taps, enum reading reading, bool edges, int fold) {
  const T *src[POOL_LINES] = {r.src};
  T *dst = r.dst;
  const size_t stored = reading == READ_FEW_PAIRS ? LANES / 2 : LANES, whole = NAME(whole_rows)(&r, stored);
  I low = {0}, mask[POOL_TAPS];
  size_t i = 0;
  for (size_t l = 0; l < lines; l++) src[l] = (const T *)r.src + r.lines[l];
  if (edges) NAME(set_masks)(&r, 0, taps ? taps : r.n_taps, mask);
  for (; i < whole; i++) {
    V v = WINDOW(0, edges ? mask : NULL);
    memcpy(dst, &v, stored * sizeof(T));
    NEXT_ROW();
  }
  for (; i < r.rows; i++) {
    V v = WINDOW(0, edges ? mask : NULL);
    memcpy(dst, &v, r.n * sizeof(T));
    NEXT_ROW();
  }
  return low;
}

#undef WINDOW
#undef NEXT_ROW

EXACT_INLINE bool NAME(reduce)(const exact_pool_rows *r, size_t lines, size_t taps, enum reading reading, bool edges,
                               int fold) {
  if (r->n >= LANES) return NAME(any)(NAME(wide_rows)(*r, lines, taps, reading, edges, fold), LANES);
  return NAME(any)(NAME(narrow_rows)(*r, lines, taps, reading, edges, fold), r->n);
}

/* 2x2 windows of stride 2 without edges. */
EXACT_INLINE bool NAME(quarters)(const exact_pool_rows *r, int fold) {
  if (r->n > LANES / 2) return NAME(reduce)(r, 2, 2, READ_PAIRS, false, fold);
  return NAME(any)(NAME(narrow_rows)(*r, 2, 2, READ_FEW_PAIRS, false, fold), r->n);
}

/* Any stride and dilation, one output after the other. */
EXACT_INLINE bool NAME(apart)(const exact_pool_rows *rows, int fold) {
  const exact_pool_rows r = *rows;
  I low = {0};
  for (size_t i = 0; i < r.rows; i++)
    for (size_t j = 0; j < r.n; j++) {
      const T *src = (const T *)r.src + (ptrdiff_t)i * r.src_step + (ptrdiff_t)j * r.stride;
      T acc = fold == POOL_MAX ? LOWEST : 0;
      for (size_t l = 0; l < r.n_lines; l++)
        for (size_t t = 0; t < r.n_taps; t++) {
          T x = src[r.lines[l] + (ptrdiff_t)t * r.dilation];
          acc = fold == POOL_MAX ? (x > acc ? x : acc) : (T)(acc + NAME(part)(fold, x));
        }
      V one = {acc};
      ((T *)r.dst)[(ptrdiff_t)i * r.dst_step + (ptrdiff_t)j] = NAME(finish)(&r, one, i, j, fold, &low)[0];
    }
  return NAME(any)(low, 1);
}

/* The usual windows of maxima, taken along lines and then down rows, and any others. */
static bool NAME(max_rows)(const exact_pool_rows *r) {
  const size_t lines = r->n_lines, taps = r->n_taps;
  const bool edges = r->edges, pairs = r->stride == 2 && r->dilation == 1;
  if (r->stride == 1 && taps == 1 && !edges) {
    if (lines == 2) return NAME(reduce)(r, 2, 1, READ_ROWS, false, POOL_MAX);
    if (lines == 3) return NAME(reduce)(r, 3, 1, READ_ROWS, false, POOL_MAX);
    if (lines == 5) return NAME(reduce)(r, 5, 1, READ_ROWS, false, POOL_MAX);
  }
  if (lines == 1 && taps == 3) {
    if (r->stride == 1)
      return edges ? NAME(reduce)(r, 1, 3, READ_ROWS, true, POOL_MAX) : NAME(reduce)(r, 1, 3, READ_ROWS, false, POOL_MAX);
    if (pairs)
      return edges ? NAME(reduce)(r, 1, 3, READ_PAIRS, true, POOL_MAX) : NAME(reduce)(r, 1, 3, READ_PAIRS, false, POOL_MAX);
  }
  if (lines == 1 && taps == 5 && r->stride == 1 && edges) return NAME(reduce)(r, 1, 5, READ_ROWS, true, POOL_MAX);
  if (lines == 2 && taps == 2 && pairs && !edges) return NAME(quarters)(r, POOL_MAX);
  if (r->stride == 1)
    return edges ? NAME(reduce)(r, 0, 0, READ_ROWS, true, POOL_MAX) : NAME(reduce)(r, 0, 0, READ_ROWS, false, POOL_MAX);
  if (pairs)
    return edges ? NAME(reduce)(r, 0, 0, READ_PAIRS, true, POOL_MAX) : NAME(reduce)(r, 0, 0, READ_PAIRS, false, POOL_MAX);
  return NAME(apart)(r, POOL_MAX);
}

static void NAME(pad_lines)(const exact_pool_pad *pad) {
  const exact_pool_pad p = *pad;
  const V value = NAME(fill)(p.lowest ? LOWEST : 0);
  const T *src = p.src;
  T *dst = p.dst;
  for (size_t i = 0; i < p.lines; i++, src += p.src_step, dst += p.dst_step) {
    T *body = dst + p.left, *right = body + p.n;
    for (size_t k = 0; k < p.left; k += LANES) NAME(store)(dst + k, value);
    if (p.n >= LANES) {
      for (size_t k = 0; k + LANES < p.n; k += LANES) NAME(store)(body + k, NAME(load)(src + k));
      NAME(store)(right - LANES, NAME(load)(src + p.n - LANES));
    } else if (i * p.src_step + LANES <= p.room) {
      NAME(store)(body, NAME(load)(src));
    } else if (p.n) {
      memcpy(body, src, p.n * sizeof(T));
    }
    for (size_t k = 0; k < p.right; k += LANES) NAME(store)(right + k, value);
  }
}

#undef EVENS
#undef ODDS
