/* Included by pool_isa.c once per lane type T: vector V of LANES lanes, vector I of integers of the same size, LOWEST
 * (where maxima start), MAX(x, m) = x > m ? x : m, and NAME(x) = x with the type's suffix, NAN_BITS the canonical NaN, 0
 * for integers. Windows are inlined with constant numbers of lines and taps where these are usual; 0 stands for any. */

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

EXACT_INLINE V NAME(fold)(bool mean, V acc, V x) {
  if (mean) return acc + x;
  return MAX(x, acc);
}

/* One line of taps for LANES outputs whose first tap is *p; `live` of them are wanted. */
EXACT_INLINE V NAME(line)(V acc, const T *p, size_t taps, const exact_pool_rows *r, enum reading reading, size_t live,
                          bool mean) {
  if (reading == READ_ROWS) {
    for (size_t t = 0; t < taps; t++) acc = NAME(fold)(mean, acc, NAME(load)(p + (ptrdiff_t)t * r->dilation));
  } else if (reading == READ_PAIRS) {
    for (size_t t = 0; t < taps; t += 2) {
      V a = NAME(load)(p + t), b = NAME(load)(p + t + LANES);
      acc = NAME(fold)(mean, acc, EVENS(a, b));
      if (t + 1 < taps) acc = NAME(fold)(mean, acc, ODDS(a, b));
    }
  } else {
    for (size_t t = 0; t < taps; t++, p += r->dilation) {
      V x = {0};
      for (size_t i = 0; i < live; i++) x[i] = p[(ptrdiff_t)i * r->stride];
      acc = NAME(fold)(mean, acc, x);
    }
  }
  return acc;
}

/* The results of the `live` outputs from column j on; `low` collects the lanes that are LOWEST. */
EXACT_INLINE V NAME(window)(const exact_pool_rows *r, const T *const *src, size_t i, size_t j, size_t lines, size_t taps,
                            enum reading reading, size_t live, bool mean, I *low) {
  const ptrdiff_t at = (ptrdiff_t)j * (reading == READ_ROWS ? 1 : reading == READ_PAIRS ? 2 : r->stride);
  V acc = NAME(fill)(mean ? 0 : LOWEST);
  for (size_t l = 0; l < (lines ? lines : r->n_lines); l++) {
    const T *line = lines ? src[l] : src[0] + r->lines[l];
    acc = NAME(line)(acc, line + at, taps ? taps : r->n_taps, r, reading, live, mean);
  }
#if NAN_BITS
  if (mean) {
    V factor = NAME(load)((const T *)r->columns + j) * ((const T *)r->factors)[i];
    return NAME(canonical)(r->multiply ? acc * factor : acc / factor);
  }
  *low |= acc == (T)LOWEST;
#else
  (void)i, (void)low;
#endif
  return acc;
}

EXACT_INLINE bool NAME(reduce)(const exact_pool_rows *rows, size_t lines, size_t taps, enum reading reading, bool mean) {
  const exact_pool_rows r = *rows; /* a copy that stores cannot alias */
  const T *src[4] = {r.src};
  T *dst = r.dst;
  I low = {0};
  size_t wanted = LANES, i = 0;
  for (size_t l = 0; l < lines; l++) src[l] = (const T *)r.src + r.lines[l];
#define NEXT_ROW()                                                         \
  do {                                                                     \
    for (size_t l = 0; l < (lines ? lines : 1); l++) src[l] += r.src_step; \
    dst += r.dst_step;                                                     \
    i++;                                                                   \
  } while (0)
  if (r.n >= LANES) {
    while (i < r.rows) {
      /* A last vector that is not full starts earlier. */
      for (size_t j = 0; j < r.n; j += LANES) {
        if (j > r.n - LANES) j = r.n - LANES;
        NAME(store)(dst + j, NAME(window)(&r, src, i, j, lines, taps, reading, LANES, mean, &low));
      }
      NEXT_ROW();
    }
  } else {
    wanted = r.n;
    size_t whole = r.room < LANES ? 0 : (r.room - LANES) / (size_t)r.dst_step + 1;
    if (whole > r.rows) whole = r.rows;
    while (i < whole) {
      NAME(store)(dst, NAME(window)(&r, src, i, 0, lines, taps, reading, wanted, mean, &low));
      NEXT_ROW();
    }
    while (i < r.rows) {
      V v = NAME(window)(&r, src, i, 0, lines, taps, reading, wanted, mean, &low);
      for (size_t k = 0; k < wanted; k++) dst[k] = v[k];
      NEXT_ROW();
    }
  }
#undef NEXT_ROW
  for (size_t k = 0; k < wanted; k++)
    if (low[k]) return true;
  return false;
}

EXACT_INLINE bool NAME(windows)(const exact_pool_rows *r, bool mean) {
  const size_t lines = r->n_lines, taps = r->n_taps;
  if (r->stride == 1) {
    if (lines == 1 && taps == 2) return NAME(reduce)(r, 1, 2, READ_ROWS, mean);
    if (lines == 1 && taps == 3) return NAME(reduce)(r, 1, 3, READ_ROWS, mean);
    if (lines == 2 && taps == 1) return NAME(reduce)(r, 2, 1, READ_ROWS, mean);
    if (lines == 3 && taps == 1) return NAME(reduce)(r, 3, 1, READ_ROWS, mean);
    if (lines == 2 && taps == 2) return NAME(reduce)(r, 2, 2, READ_ROWS, mean);
    if (lines == 3 && taps == 3) return NAME(reduce)(r, 3, 3, READ_ROWS, mean);
    return NAME(reduce)(r, 0, 0, READ_ROWS, mean);
  }
  if (r->stride == 2 && r->dilation == 1) {
    if (lines == 1 && taps == 2) return NAME(reduce)(r, 1, 2, READ_PAIRS, mean);
    if (lines == 1 && taps == 3) return NAME(reduce)(r, 1, 3, READ_PAIRS, mean);
    if (lines == 2 && taps == 2) return NAME(reduce)(r, 2, 2, READ_PAIRS, mean);
    if (lines == 3 && taps == 3) return NAME(reduce)(r, 3, 3, READ_PAIRS, mean);
    return NAME(reduce)(r, 0, 0, READ_PAIRS, mean);
  }
  return NAME(reduce)(r, 0, 0, READ_APART, mean);
}

static bool NAME(max_rows)(const exact_pool_rows *r) { return NAME(windows)(r, false); }

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
