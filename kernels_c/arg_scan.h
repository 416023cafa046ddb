/* Included by arg_isa.c once per arithmetic type TYPE, after best.h. A scan's winner is the first (select_last_index: the
 * last) element equal to the best value; INDEX is the signed integer type of TYPE's width. */
#define T TYPE
#define NAME(x) EXACT_CAT(x, TYPE)

/* Position of the first or last element equal to m; n when there is none. */
static size_t NAME(find)(const T *x, size_t n, T m, bool last) {
  enum { PIECE = 64 };
  size_t pieces = n / PIECE, rest = n % PIECE;
  if (last) {
    for (size_t i = n; i > n - rest; i--)
      if (x[i - 1] == m) return i - 1;
  }
  for (size_t p = 0; p < pieces; p++) {
    size_t start = (last ? pieces - 1 - p : p) * PIECE;
    int any = 0;
    for (size_t i = 0; i < PIECE; i++) any |= x[start + i] == m;
    for (size_t i = 0; any && i < PIECE; i++) {
      size_t at = start + (last ? PIECE - 1 - i : i);
      if (x[at] == m) return at;
    }
  }
  for (size_t i = n - rest; !last && i < n; i++)
    if (x[i] == m) return i;
  return n;
}

EXACT_INLINE void NAME(arg_rows)(const T *x, size_t n, size_t count, bool last, int64_t *y, int op) {
  for (size_t r = 0; r < count; r += NAME(ROWS)) {
    T best[NAME(ROWS)];
    size_t part = count - r < NAME(ROWS) ? count - r : NAME(ROWS);
    NAME(bests)(x + r * n, n, part, best, op);
    for (size_t i = 0; i < part; i++) {
      size_t at = NAME(find)(x + (r + i) * n, n, best[i], last);
      y[r + i] = at < n ? (int64_t)at : 0; /* none: the first element is NaN */
    }
  }
}

EXACT_INLINE void NAME(arg_more)(const T *x, size_t n, size_t base, bool last, T *best, int64_t *y, int op) {
  T before = *best;
  NAME(more_best)(x, n, best, op);
  if (!last && *best == before) return;
  size_t at = NAME(find)(x, n, *best, last);
  if (at < n) *y = (int64_t)(base + at);
}

/* Indices are counted in lanes of TYPE's width, so at most 2^30 rows at a time. */
EXACT_INLINE void NAME(arg_columns)(const T *x, size_t step, size_t rows, size_t base, size_t width, bool last, T *best,
                                    int64_t *y, int op) {
  const size_t most = (size_t)1 << 30;
  INDEX at[256];
  for (size_t part; rows > 0; rows -= part, base += part) {
    part = rows < most ? rows : most;
    for (size_t i = 0; i < width; i++) at[i] = -1;
    for (size_t r = 0; r < part; r++, x += step)
      for (size_t i = 0; i < width; i++) {
        bool wins = op == BEST_MIN ? (last ? x[i] <= best[i] : x[i] < best[i]) : (last ? x[i] >= best[i] : x[i] > best[i]);
        best[i] = wins ? x[i] : best[i];
        at[i] = wins ? (INDEX)r : at[i];
      }
    for (size_t i = 0; i < width; i++) y[i] = at[i] < 0 ? y[i] : (int64_t)(base + (size_t)at[i]);
  }
}

#define ARG_KERNELS(name, op)                                                                                                 \
  static void NAME(rows_##name)(const void *x, size_t n, size_t count, bool last, int64_t *y) {                               \
    NAME(arg_rows)(x, n, count, last, y, op);                                                                                 \
  }                                                                                                                           \
  static void NAME(more_##name)(const void *x, size_t n, size_t base, bool last, void *best, int64_t *y) {                    \
    NAME(arg_more)(x, n, base, last, best, y, op);                                                                            \
  }                                                                                                                           \
  static void NAME(columns_##name)(const void *x, size_t step, size_t rows, size_t base, size_t width, bool last, void *best, \
                                   int64_t *y) {                                                                              \
    if (last)                                                                                                                 \
      NAME(arg_columns)(x, step, rows, base, width, true, best, y, op);                                                       \
    else                                                                                                                      \
      NAME(arg_columns)(x, step, rows, base, width, false, best, y, op);                                                      \
  }
ARG_KERNELS(max, BEST_MAX)
ARG_KERNELS(min, BEST_MIN)
#undef ARG_KERNELS
#undef T
#undef NAME
#undef INDEX
#undef TYPE
