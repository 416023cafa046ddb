/* Included by cumsum_isa.c once per arithmetic type TYPE; NOT_A_NUMBER is its canonical NaN, absent for integers.
 * next = running (op) x in the direction of accumulation; y = next, or the running value when exclusive. A NaN stays in the
 * running value: one look at it after the last element tells whether there are NaNs to make canonical. */
#define T TYPE
#define NAME(x) EXACT_CAT(x, TYPE)

EXACT_INLINE T NAME(next)(T m, T x, int op) { return op == CUM_PROD ? m * x : m + x; }

EXACT_INLINE void NAME(canonical_line)(T *y, size_t n) {
#ifdef NOT_A_NUMBER
  for (size_t i = 0; i < n; i++) y[i] = y[i] == y[i] ? y[i] : NOT_A_NUMBER;
#else
  (void)y, (void)n;
#endif
}

EXACT_INLINE bool NAME(any_nan)(const T *m, size_t n) {
  bool any = false;
#ifdef NOT_A_NUMBER
  for (size_t i = 0; i < n; i++) any |= m[i] != m[i];
#else
  (void)m, (void)n;
#endif
  return any;
}

/* Up to eight rows side by side, each a chain of its own; x and y at the first element in the direction of accumulation. */
EXACT_INLINE void NAME(chains)(const T *x, size_t n, ptrdiff_t step, ptrdiff_t pitch, size_t rows, bool exclusive, T *state,
                               T *y, int op) {
  T m[8];
  for (size_t r = 0; r < rows; r++) m[r] = state[r];
  for (size_t j = 0; j < n; j++, x += step, y += step) {
    EXACT_UNROLL for (size_t r = 0; r < rows; r++) {
      T next = NAME(next)(m[r], x[(ptrdiff_t)r * pitch], op);
      y[(ptrdiff_t)r * pitch] = exclusive ? m[r] : next;
      m[r] = next;
    }
  }
  for (size_t r = 0; r < rows; r++) state[r] = m[r];
}

EXACT_INLINE void NAME(rows)(const T *x, size_t n, size_t count, bool exclusive, bool reverse, T *state, T *y, int op) {
  ptrdiff_t step = reverse ? -1 : 1, pitch = (ptrdiff_t)n;
  size_t first = reverse ? n - 1 : 0, r = 0;
  for (; r + 8 <= count; r += 8)
    NAME(chains)(x + r * n + first, n, step, pitch, 8, exclusive, state + r, y + r * n + first, op);
  for (; r < count; r++) NAME(chains)(x + r * n + first, n, step, pitch, 1, exclusive, state + r, y + r * n + first, op);
  for (r = 0; r < count; r++)
    if (NAME(any_nan)(state + r, 1)) NAME(canonical_line)(y + r * n, n);
}

EXACT_INLINE void NAME(columns)(const T *x, size_t rows, size_t pitch, size_t width, bool exclusive, bool reverse, T *m, T *y,
                                int op) {
  const T *row = x + (reverse ? (rows - 1) * pitch : 0);
  T *out = y + (row - x), *restrict running = m;
  for (size_t r = 0; r < rows; r++) {
    for (size_t i = 0; i < width; i++) {
      T next = NAME(next)(running[i], row[i], op);
      out[i] = exclusive ? running[i] : next;
      running[i] = next;
    }
    row += reverse ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
    out += reverse ? -(ptrdiff_t)pitch : (ptrdiff_t)pitch;
  }
  if (NAME(any_nan)(m, width))
    for (size_t r = 0; r < rows; r++) NAME(canonical_line)(y + r * pitch, width);
}

#define CUM_KERNELS(name, op)                                                                                                \
  static void NAME(rows_##name)(const void *x, size_t n, size_t count, bool exclusive, bool reverse, void *state, void *y) { \
    if (exclusive)                                                                                                           \
      NAME(rows)(x, n, count, true, reverse, state, y, op);                                                                  \
    else                                                                                                                     \
      NAME(rows)(x, n, count, false, reverse, state, y, op);                                                                 \
  }                                                                                                                          \
  static void NAME(columns_##name)(const void *x, size_t rows, size_t pitch, size_t width, bool exclusive, bool reverse,     \
                                   void *state, void *y) {                                                                   \
    if (exclusive)                                                                                                           \
      NAME(columns)(x, rows, pitch, width, true, reverse, state, y, op);                                                     \
    else                                                                                                                     \
      NAME(columns)(x, rows, pitch, width, false, reverse, state, y, op);                                                    \
  }
CUM_KERNELS(sum, CUM_SUM)
CUM_KERNELS(prod, CUM_PROD)
#undef CUM_KERNELS
#undef T
#undef NAME
#undef TYPE
#undef NOT_A_NUMBER
