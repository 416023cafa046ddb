/* Included by pool_isa.c for float and double, with the definitions of pool_rows.h: planes reduced along their elements. */
/* 3x3 windows of stride 1 down a column of vectors: each line is read once, for the three rows that it takes part in. */
EXACT_INLINE void NAME(sum_column)(const exact_pool_rows *r, size_t j, const I *mask, int fold) {
  const V zero = NAME(fill)(0);
  const size_t whole = r->n >= LANES ? r->rows : NAME(whole_rows)(r, LANES);
  const T *src = (const T *)r->src + r->lines[0] + j;
  T *dst = (T *)r->dst + j;
#define ADD_LINE(acc) NAME(line)(acc, src, 3, r, READ_ROWS, mask, fold)
  V upper = ADD_LINE(zero);
  src += r->src_step;
  upper = ADD_LINE(upper);
  V lower = ADD_LINE(zero);
  for (size_t i = 0; i < r->rows; i++, dst += r->dst_step) {
    src += r->src_step;
    V v = NAME(finish)(r, ADD_LINE(upper), i, j, fold, NULL);
    upper = ADD_LINE(lower);
    lower = ADD_LINE(zero);
    if (i < whole)
      NAME(store)(dst, v);
    else
      memcpy(dst, &v, r->n * sizeof(T));
  }
#undef ADD_LINE
}

EXACT_INLINE void NAME(sum_3x3)(const exact_pool_rows *rows, int fold) {
  enum { AT_ONCE = 16 }; /* rows of wide outputs: few lines, so that memory is read nearly in order */
  exact_pool_rows r = *rows;
  const size_t last = r.n > LANES ? r.n - LANES : 0;
  I left[3], right[3];
  NAME(set_masks)(&r, 0, 3, left);
  NAME(set_masks)(&r, last, 3, right);
  for (size_t i = 0; i < rows->rows; i += r.rows) {
    r.rows = r.n > LANES && rows->rows - i > AT_ONCE ? AT_ONCE : rows->rows - i;
    for (size_t j = 0;; j = j + LANES < last ? j + LANES : last) {
      if (r.edges && (j == 0 || j == last))
        NAME(sum_column)(&r, j, j ? right : left, fold);
      else
        NAME(sum_column)(&r, j, NULL, fold);
      if (j == last) break;
    }
    r.src = (const T *)r.src + (ptrdiff_t)r.rows * r.src_step;
    r.dst = (T *)r.dst + (ptrdiff_t)r.rows * r.dst_step;
    if (fold == POOL_MEAN) r.factors = (const T *)r.factors + r.rows;
  }
}

EXACT_INLINE void NAME(sum_rows)(const exact_pool_rows *r, int fold) {
  const size_t lines = r->n_lines, taps = r->n_taps;
  const bool edges = r->edges, pairs = r->stride == 2 && r->dilation == 1;
  const bool square = lines == 3 && r->lines[1] - r->lines[0] == r->src_step && r->lines[2] - r->lines[1] == r->src_step;
  if (r->stride == 1 && taps == 3 && square)
    NAME(sum_3x3)(r, fold);
  else if (r->stride == 1)
    edges ? NAME(reduce)(r, 0, 0, READ_ROWS, true, fold) : NAME(reduce)(r, 0, 0, READ_ROWS, false, fold);
  else if (pairs && lines == 2 && taps == 2 && !edges)
    NAME(quarters)(r, fold);
  else if (pairs && lines == 3 && taps == 3)
    edges ? NAME(reduce)(r, 3, 3, READ_PAIRS, true, fold) : NAME(reduce)(r, 3, 3, READ_PAIRS, false, fold);
  else if (pairs)
    edges ? NAME(reduce)(r, 0, 0, READ_PAIRS, true, fold) : NAME(reduce)(r, 0, 0, READ_PAIRS, false, fold);
  else
    NAME(apart)(r, fold);
}

static void NAME(mean_rows)(const exact_pool_rows *r) { NAME(sum_rows)(r, POOL_MEAN); }
static void NAME(l1_rows)(const exact_pool_rows *r) { NAME(sum_rows)(r, POOL_L1); }
static void NAME(l2_rows)(const exact_pool_rows *r) { NAME(sum_rows)(r, POOL_L2); }

EXACT_INLINE void NAME(sum_few)(const void *src, size_t step, size_t n, size_t planes, void *acc, int fold) {
  enum { CHAINS = 8 }; /* independent, to hide the latency of an addition */
  const T *x = src;
  T *sum = acc;
  for (; planes >= CHAINS; planes -= CHAINS, x += CHAINS * step, sum += CHAINS) {
    T s[CHAINS];
    memcpy(s, sum, sizeof s);
    for (size_t i = 0; i < n; i++) {
      EXACT_UNROLL
      for (size_t p = 0; p < CHAINS; p++) s[p] += NAME(part)(fold, x[p * step + i]);
    }
    memcpy(sum, s, sizeof s);
  }
  for (size_t p = 0; p < planes; p++)
    for (size_t i = 0; i < n; i++) sum[p] += NAME(part)(fold, x[p * step + i]);
}

#define SUM_FEW(name, fold)                                                                  \
  static void NAME(name)(const void *src, size_t step, size_t n, size_t planes, void *acc) { \
    NAME(sum_few)(src, step, n, planes, acc, fold);                                          \
  }
SUM_FEW(few, POOL_MEAN)
SUM_FEW(few_l1, POOL_L1)
SUM_FEW(few_l2, POOL_L2)
#undef SUM_FEW

static void NAME(power)(void *values, size_t n, int64_t p) {
  const int64_t top = (int64_t)1 << (63 - __builtin_clzll((unsigned long long)p));
  T *x = values;
  for (size_t i = 0; i < n; i += LANES) {
    V a = {0};
    if (i + LANES <= n)
      a = NAME(load)(x + i);
    else
      memcpy(&a, x + i, (n - i) * sizeof(T));
    a = (V)((I)a & MAGNITUDE);
    V h = a;
    for (int64_t bit = top >> 1; bit; bit >>= 1) {
      h = h * h;
      if (p & bit) h = h * a;
    }
    if (i + LANES <= n)
      NAME(store)(x + i, h);
    else
      memcpy(x + i, &h, (n - i) * sizeof(T));
  }
}

static void NAME(max_plane)(const void *src, size_t n, void *max) {
  const T *x = src;
  T most = *(T *)max;
  const bool was_zero = most == 0;
  V m[4] = {NAME(fill)(most), NAME(fill)(most), NAME(fill)(most), NAME(fill)(most)};
  size_t i = 0;
  for (; i + 4 * LANES <= n; i += 4 * LANES) {
    EXACT_UNROLL
    for (size_t k = 0; k < 4; k++) m[k] = MAX(NAME(load)(x + i + k * LANES), m[k]);
  }
  for (; i + LANES <= n; i += LANES) m[0] = MAX(NAME(load)(x + i), m[0]);
  m[0] = MAX(m[1], m[0]);
  m[2] = MAX(m[3], m[2]);
  m[0] = MAX(m[2], m[0]);
  for (size_t k = 0; k < LANES; k++) most = m[0][k] > most ? m[0][k] : most;
  for (; i < n; i++) most = x[i] > most ? x[i] : most;
  /* The lanes went out of order: a zero takes the sign of the first. */
  if (most == 0 && was_zero) return;
  for (i = 0; most == 0 && i < n; i++)
    if (x[i] == 0) {
      most = x[i];
      break;
    }
  *(T *)max = most;
}
