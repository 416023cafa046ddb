/* Included by reduce_isa.c once per arithmetic type TYPE of maxima and minima; IS_FLOAT is 1 for float types.
 * A scan in index order equals the best of any partition whose parts all start from the first element (so that a NaN there
 * stays and others are passed over), but for the sign of a zero. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define NAME(x) EXACT_CAT(x, TYPE)
enum { NAME(WIDTH) = EXACT_VB / sizeof(T), NAME(STEP) = 2 * NAME(WIDTH), NAME(ROWS) = 4 };

EXACT_INLINE T NAME(better)(T x, T m, int op) {
#if IS_FLOAT
  if (op == RED_PEAK) return x > m || x != x ? x : m;
#endif
  if (op == RED_MIN) return x < m ? x : m;
  return x > m ? x : m;
}

EXACT_INLINE V NAME(better_vector)(V x, V m, int op) {
#if IS_FLOAT
  if (op == RED_PEAK) return NAME(pick)((x > m) | (x != x), x, m);
#endif
  return op == RED_MIN ? NAME(min)(x, m) : NAME(max)(x, m);
}

/* m, or the first of the zeros that it stands for. */
EXACT_INLINE T NAME(first_zero)(const T *x, T start, T m, int op) {
  if (!IS_FLOAT || op == RED_PEAK || m != 0) return m;
  if (start == 0) return start;
  while (*x != 0) x++;
  return *x;
}

/* Rows of n >= STEP elements; row r starts from the value start[r * start_step]. */
EXACT_INLINE void NAME(best_rows)(const T *x, size_t n, size_t rows, const T *start, size_t start_step, T *y, int op) {
  V m[NAME(ROWS)][2];
  for (size_t r = 0; r < rows; r++) m[r][0] = m[r][1] = start[r * start_step] - (V){0};
  for (size_t j = 0; j < n; j += NAME(STEP)) {
    if (j > n - NAME(STEP)) j = n - NAME(STEP); /* elements seen before do no harm */
    for (size_t r = 0; r < rows; r++)
      for (size_t v = 0; v < 2; v++) m[r][v] = NAME(better_vector)(*(const V *)(x + r * n + j + v * NAME(WIDTH)), m[r][v], op);
  }
  for (size_t r = 0; r < rows; r++) {
    T lane[NAME(WIDTH)];
    m[r][0] = NAME(better_vector)(m[r][1], m[r][0], op);
    memcpy(lane, &m[r][0], sizeof lane);
    for (size_t w = NAME(WIDTH) / 2; w > 0; w /= 2)
      for (size_t i = 0; i < w; i++) lane[i] = NAME(better)(lane[i + w], lane[i], op);
    y[r] = NAME(first_zero)(x + r * n, start[r * start_step], lane[0], op);
  }
}

EXACT_INLINE T NAME(best_short)(const T *x, size_t n, T m, int op) {
  for (size_t i = 0; i < n; i++) m = NAME(better)(x[i], m, op);
  return m;
}

EXACT_INLINE void NAME(bests)(const T *x, size_t n, size_t count, T *y, int op) {
  size_t r = 0;
  if (n < NAME(STEP)) {
    for (; r < count; r++) y[r] = NAME(best_short)(x + r * n, n, x[r * n], op);
    return;
  }
  for (; r + NAME(ROWS) <= count; r += NAME(ROWS)) NAME(best_rows)(x + r * n, n, NAME(ROWS), x + r * n, n, y + r, op);
  for (; r < count; r++) NAME(best_rows)(x + r * n, n, 1, x + r * n, n, y + r, op);
}

/* The state is the running value, at first the first element. */
EXACT_INLINE void NAME(more_best)(const T *x, size_t n, T *state, int op) {
  T m = *state;
  if (n < NAME(STEP))
    *state = NAME(best_short)(x, n, m, op);
  else
    NAME(best_rows)(x, n, 1, &m, 0, state, op);
}

#define BEST_KERNELS(name, op)                                                                 \
  static void NAME(rows_##name)(const void *x, size_t n, size_t count, size_t room, void *y) { \
    (void)room;                                                                                \
    NAME(bests)(x, n, count, y, op);                                                           \
  }                                                                                            \
  static void NAME(more_##name)(const void *x, size_t n, void *state) { NAME(more_best)(x, n, state, op); }
BEST_KERNELS(max, RED_MAX)
BEST_KERNELS(min, RED_MIN)
#if IS_FLOAT
BEST_KERNELS(peak, RED_PEAK)
#endif
#undef BEST_KERNELS
#undef T
#undef V
#undef NAME
#undef TYPE
#undef IS_FLOAT
