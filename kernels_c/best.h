/* The best of rows, included once per arithmetic type TYPE; IS_FLOAT is 1 for float types.
 * A scan in index order equals the best of any partition whose parts all start from the first element (so that a NaN there
 * stays and others are passed over), but for the sign of a zero. */
#ifndef EXACT_BEST
#define EXACT_BEST
enum { BEST_MAX, BEST_MIN, BEST_PEAK }; /* PEAK: the maximum, NaN when any element is NaN */
#endif
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define NAME(x) EXACT_CAT(x, TYPE)
#define BYTES LANES_CAT(TYPE, _BYTES)
#if IS_FLOAT
#define IS_NAN(x) ((x) != (x))
#else
#define IS_NAN(x) 0
#endif
enum { NAME(WIDTH) = EXACT_VB / sizeof(T), NAME(STEP) = 2 * NAME(WIDTH), NAME(ROWS) = 4 };

EXACT_INLINE T NAME(better)(T x, T m, int op) {
  if (op == BEST_PEAK) return x > m || IS_NAN(x) ? x : m;
  if (op == BEST_MIN) return x < m ? x : m;
  return x > m ? x : m;
}

EXACT_INLINE V NAME(better_vector)(V x, V m, int op) {
  if (op == BEST_PEAK) return NAME(pick)((x > m) | IS_NAN(x), x, m);
  return op == BEST_MIN ? NAME(min)(x, m) : NAME(max)(x, m);
}

/* m, or the first of the zeros that it stands for. */
EXACT_INLINE T NAME(first_zero)(const T *x, T start, T m, int op) {
  if (!IS_FLOAT || op == BEST_PEAK || m != 0) return m;
  if (start == 0) return start;
  while (*x != 0) x++;
  return *x;
}

typedef T NAME(best4) __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
typedef LANES_CAT(TYPE, b) NAME(mask4) __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));

EXACT_INLINE void NAME(fold)(NAME(best4) * m, const NAME(best4) * x, int op) {
  NAME(mask4) in = op == BEST_MIN ? *x < *m : op == BEST_PEAK ? (*x > *m) | IS_NAN(*x) : *x > *m;
  *m = (NAME(best4))(((NAME(mask4)) * x & in) | ((NAME(mask4)) * m & ~in));
}

/* The best of the lanes of v, four of them left. */
EXACT_INLINE void NAME(best_four)(V v, NAME(best4) * m, int op) {
  (void)op;
#if EXACT_VB / BYTES == 2
  *m = __builtin_shufflevector(v, v, 0, 1, 0, 1);
#elif EXACT_VB / BYTES == 4
  *m = v;
#else
  *m = __builtin_shufflevector(v, v, 0, 1, 2, 3);
  NAME(best4) other = __builtin_shufflevector(v, v, 4, 5, 6, 7);
  NAME(fold)(m, &other, op);
#if EXACT_VB / BYTES == 16
  other = __builtin_shufflevector(v, v, 8, 9, 10, 11);
  NAME(fold)(m, &other, op);
  other = __builtin_shufflevector(v, v, 12, 13, 14, 15);
  NAME(fold)(m, &other, op);
#endif
#endif
}

/* Rows of n >= WIDTH elements, 1 or 4 of them; row r starts from the value start[r * start_step]. */
EXACT_INLINE void NAME(best_rows)(const T *x, size_t n, size_t rows, const T *start, size_t start_step, T *y, int op) {
  V m[NAME(ROWS)][2];
  EXACT_UNROLL for (size_t r = 0; r < rows; r++) m[r][0] = m[r][1] = start[r * start_step] - (V){0};
  size_t step = n < NAME(STEP) ? n : NAME(STEP);
  for (size_t j = 0; j < n; j += step) {
    if (j > n - step) j = n - step; /* elements seen before do no harm */
    EXACT_UNROLL for (size_t r = 0; r < rows; r++) {
      m[r][0] = NAME(better_vector)(*(const V *)(x + r * n + j), m[r][0], op);
      m[r][1] = NAME(better_vector)(*(const V *)(x + r * n + j + step - NAME(WIDTH)), m[r][1], op);
    }
  }
  NAME(best4) b[4];
  b[1] = b[2] = b[3] = (NAME(best4)){0};
  EXACT_UNROLL for (size_t r = 0; r < rows; r++) NAME(best_four)(NAME(better_vector)(m[r][1], m[r][0], op), &b[r], op);
  NAME(best4) c01 = __builtin_shufflevector(b[0], b[1], 0, 1, 4, 5), d01 = __builtin_shufflevector(b[0], b[1], 2, 3, 6, 7);
  NAME(best4) c23 = __builtin_shufflevector(b[2], b[3], 0, 1, 4, 5), d23 = __builtin_shufflevector(b[2], b[3], 2, 3, 6, 7);
  NAME(fold)(&c01, &d01, op);
  NAME(fold)(&c23, &d23, op);
  NAME(best4) best = __builtin_shufflevector(c01, c23, 0, 2, 4, 6), odd = __builtin_shufflevector(c01, c23, 1, 3, 5, 7);
  NAME(fold)(&best, &odd, op);
  for (size_t r = 0; r < rows; r++) y[r] = NAME(first_zero)(x + r * n, start[r * start_step], best[r], op);
}

EXACT_INLINE T NAME(best_short)(const T *x, size_t n, T m, int op) {
  for (size_t i = 0; i < n; i++) m = NAME(better)(x[i], m, op);
  return m;
}

EXACT_INLINE void NAME(bests)(const T *x, size_t n, size_t count, T *y, int op) {
  size_t r = 0;
  if (n < NAME(WIDTH)) {
    for (; r < count; r++) y[r] = NAME(best_short)(x + r * n, n, x[r * n], op);
    return;
  }
  for (; r + NAME(ROWS) <= count; r += NAME(ROWS)) NAME(best_rows)(x + r * n, n, NAME(ROWS), x + r * n, n, y + r, op);
  for (; r < count; r++) NAME(best_rows)(x + r * n, n, 1, x + r * n, n, y + r, op);
}

/* The state is the running value, at first the first element. */
EXACT_INLINE void NAME(more_best)(const T *x, size_t n, T *state, int op) {
  T m = *state;
  if (n < NAME(WIDTH))
    *state = NAME(best_short)(x, n, m, op);
  else
    NAME(best_rows)(x, n, 1, &m, 0, state, op);
}

#undef T
#undef V
#undef NAME
#undef BYTES
#undef TYPE
#undef IS_FLOAT
#undef IS_NAN
