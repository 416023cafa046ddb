/* Included by pool_isa.c once per lane type T: vector V of LANES lanes, vector I of integers of the same size, LOWEST
 * (where maxima start), MAX(x, m) = x > m ? x : m, and NAME(x) = x with the type's suffix. Float types define FLOAT_LANES and
 * canonical. */
#define EVENS(a, b) __builtin_shufflevector(a, b, EXACT_CAT(EVERY_OTHER, LANES)(0))
#define ODDS(a, b) __builtin_shufflevector(a, b, EXACT_CAT(EVERY_OTHER, LANES)(1))

EXACT_INLINE V NAME(load)(const T *p) { return *(const V *)p; }

EXACT_INLINE V NAME(fold)(bool mean, V acc, V x) {
  if (mean) return acc + x;
  return MAX(x, acc);
}

/* One line of taps for LANES outputs whose first tap is *p; `live` of them are wanted. */
EXACT_INLINE V NAME(line)(V acc, const T *p, size_t taps, ptrdiff_t dilation, ptrdiff_t stride, size_t live, bool mean) {
  if (stride == 1) {
    for (size_t t = 0; t < taps; t++, p += dilation) acc = NAME(fold)(mean, acc, NAME(load)(p));
  } else if (stride == 2 && dilation == 1) {
    for (size_t t = 0; t < taps; t += 2, p += 2) {
      V a = NAME(load)(p), b = NAME(load)(p + LANES);
      acc = NAME(fold)(mean, acc, EVENS(a, b));
      if (t + 1 < taps) acc = NAME(fold)(mean, acc, ODDS(a, b));
    }
  } else {
    for (size_t t = 0; t < taps; t++, p += dilation) {
      V x = {0};
      for (size_t i = 0; i < live; i++) x[i] = p[(ptrdiff_t)i * stride];
      acc = NAME(fold)(mean, acc, x);
    }
  }
  return acc;
}

EXACT_INLINE bool NAME(reduce)(const exact_pool_rows *r, size_t taps, ptrdiff_t dilation, ptrdiff_t stride, bool mean) {
  const size_t n_lines = r->n_lines, n = r->n;
  I low = {0};
  for (size_t i = 0; i < r->rows; i++) {
    const T *src = (const T *)r->src + (ptrdiff_t)i * r->src_step;
    T *dst = (T *)r->dst + (ptrdiff_t)i * r->dst_step;
    size_t written = i * (size_t)r->dst_step;
    for (size_t j = 0; j < n; j += LANES) {
      size_t live = n - j < LANES ? n - j : LANES;
      V acc = (V){0} + (T)(mean ? 0 : LOWEST);
      for (size_t l = 0; l < n_lines; l++)
        acc = NAME(line)(acc, src + r->lines[l] + (ptrdiff_t)j * stride, taps, dilation, stride, live, mean);
#ifdef FLOAT_LANES
      if (mean)
        acc = NAME(canonical)(acc / (NAME(load)((const T *)r->column_count + j) * ((const T *)r->row_count)[i]));
      else
        low |= acc == (T)LOWEST;
#endif
      if (live == LANES || written + j + LANES <= r->room)
        *(V *)(dst + j) = acc;
      else
        for (size_t k = 0; k < live; k++) dst[j + k] = acc[k];
    }
  }
  for (size_t k = 0; k < LANES; k++)
    if (low[k]) return true;
  return false;
}

/* Specialised for the usual windows. */
EXACT_INLINE bool NAME(windows)(const exact_pool_rows *r, bool mean) {
  const size_t taps = r->n_taps;
  const ptrdiff_t dilation = r->dilation;
  if (r->stride == 1) switch (taps) {
      case 1: return NAME(reduce)(r, 1, dilation, 1, mean);
      case 2: return NAME(reduce)(r, 2, dilation, 1, mean);
      case 3: return NAME(reduce)(r, 3, dilation, 1, mean);
      default: return NAME(reduce)(r, taps, dilation, 1, mean);
    }
  if (r->stride == 2 && dilation == 1) switch (taps) {
      case 2: return NAME(reduce)(r, 2, 1, 2, mean);
      case 3: return NAME(reduce)(r, 3, 1, 2, mean);
      default: return NAME(reduce)(r, taps, 1, 2, mean);
    }
  return NAME(reduce)(r, taps, dilation, r->stride, mean);
}

static bool NAME(max_rows)(const exact_pool_rows *r) { return NAME(windows)(r, false); }

#ifdef FLOAT_LANES
static void NAME(mean_rows)(const exact_pool_rows *r) { NAME(windows)(r, true); }

static void NAME(sum_few)(const void *src, size_t step, size_t n, size_t planes, void *acc) {
  enum { CHAINS = 8 }; /* independent, to hide the latency of an addition */
  const T *x = src;
  T *sum = acc;
  for (; planes >= CHAINS; planes -= CHAINS, x += CHAINS * step, sum += CHAINS) {
    T s[CHAINS];
    memcpy(s, sum, sizeof s);
    for (size_t i = 0; i < n; i++) {
      EXACT_UNROLL
      for (size_t p = 0; p < CHAINS; p++) s[p] += x[p * step + i];
    }
    memcpy(sum, s, sizeof s);
  }
  for (size_t p = 0; p < planes; p++)
    for (size_t i = 0; i < n; i++) sum[p] += x[p * step + i];
}

static void NAME(max_plane)(const void *src, size_t n, void *max) {
  const T *x = src;
  T most = *(T *)max;
  const bool zero_before = most == 0;
  V m[4] = {(V){0} + most, (V){0} + most, (V){0} + most, (V){0} + most};
  size_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    EXACT_UNROLL
    for (size_t k = 0; k < 4; k++) m[k] = MAX(NAME(load)(x + i + k * LANES), m[k]);
  }
  for (; i + LANES <= n; i += LANES) m[0] = MAX(NAME(load)(x + i), m[0]);
  for (; i < n; i++) most = x[i] > most ? x[i] : most;
  for (size_t k = 0; k < 4 * LANES; k++) most = m[k / LANES][k % LANES] > most ? m[k / LANES][k % LANES] : most;
  if (most == 0 && zero_before) return; /* keeps the sign of the zero */
  for (i = 0; most == 0 && i < n; i++)  /* lanes went out of order: the first zero decides */
    if (x[i] == 0) {
      most = x[i];
      break;
    }
  *(T *)max = most;
}
#endif

#undef EVENS
#undef ODDS
#undef T
#undef V
#undef I
#undef LANES
#undef LOWEST
#undef MAX
#undef NAME
#undef FLOAT_LANES
