/* Included by cumsum_isa.c once per arithmetic type TYPE; NOT_A_NUMBER is its canonical NaN, absent for integers.
 * next = running (op) x in the direction of accumulation; y = next, or the running value when exclusive. A NaN stays in the
 * running value: one look at it after the last element tells whether there are NaNs to make canonical. */
#define T TYPE
#define NAME(x) EXACT_CAT(x, TYPE)
#define BYTES LANES_CAT(TYPE, _BYTES)

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

/* One row. */
EXACT_INLINE void NAME(chain)(const T *x, size_t n, bool exclusive, bool reverse, T *state, T *y, int op) {
  T m = *state;
  for (size_t j = 0; j < n; j++) {
    size_t at = reverse ? n - 1 - j : j;
    T next = NAME(next)(m, x[at], op);
    y[at] = exclusive ? m : next;
    m = next;
  }
  *state = m;
}

#if EXACT_VB / BYTES >= 8
typedef T NAME(eight) __attribute__((vector_size(8 * sizeof(T)), aligned(sizeof(T)), may_alias));

/* v[i][j] and v[j][i] change places. */
EXACT_INLINE void NAME(transpose)(NAME(eight) * v) {
  NAME(eight) a[8], b[8];
  EXACT_UNROLL for (int i = 0; i < 8; i += 2) {
    a[i] = __builtin_shufflevector(v[i], v[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    a[i + 1] = __builtin_shufflevector(v[i], v[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  EXACT_UNROLL for (int i = 0; i < 8; i += 4) {
    b[i] = __builtin_shufflevector(a[i], a[i + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 1] = __builtin_shufflevector(a[i], a[i + 2], 2, 3, 10, 11, 6, 7, 14, 15);
    b[i + 2] = __builtin_shufflevector(a[i + 1], a[i + 3], 0, 1, 8, 9, 4, 5, 12, 13);
    b[i + 3] = __builtin_shufflevector(a[i + 1], a[i + 3], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  EXACT_UNROLL for (int i = 0; i < 4; i++) {
    v[i] = __builtin_shufflevector(b[i], b[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    v[i + 4] = __builtin_shufflevector(b[i], b[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Eight rows side by side in the lanes of a vector; the number of elements done. */
EXACT_INLINE size_t NAME(eight_chains)(const T *x, size_t n, bool exclusive, bool reverse, T *state, T *y, int op) {
  NAME(eight) m = *(NAME(eight) *)state, v[8];
  for (size_t done = 0; done + 8 <= n; done += 8) {
    size_t at = reverse ? n - done - 8 : done;
    EXACT_UNROLL for (size_t r = 0; r < 8; r++) v[r] = *(const NAME(eight) *)(x + r * n + at);
    NAME(transpose)(v);
    EXACT_UNROLL for (int j = 0; j < 8; j++) {
      NAME(eight) *column = &v[reverse ? 7 - j : j], next = op == CUM_PROD ? m * *column : m + *column;
      *column = exclusive ? m : next;
      m = next;
    }
    NAME(transpose)(v);
    EXACT_UNROLL for (size_t r = 0; r < 8; r++) * (NAME(eight) *)(y + r * n + at) = v[r];
  }
  *(NAME(eight) *)state = m;
  return n & ~(size_t)7;
}
#else
/* Eight rows side by side, each a chain of its own; the number of elements done. */
EXACT_INLINE size_t NAME(eight_chains)(const T *x, size_t n, bool exclusive, bool reverse, T *state, T *y, int op) {
  T m[8];
  memcpy(m, state, sizeof m);
  for (size_t j = 0; j < n; j++) {
    size_t at = reverse ? n - 1 - j : j;
    EXACT_UNROLL for (size_t r = 0; r < 8; r++) {
      T next = NAME(next)(m[r], x[r * n + at], op);
      y[r * n + at] = exclusive ? m[r] : next;
      m[r] = next;
    }
  }
  memcpy(state, m, sizeof m);
  return n;
}
#endif

EXACT_INLINE void NAME(rows)(const T *x, size_t n, size_t count, bool exclusive, bool reverse, T *state, T *y, int op) {
  size_t r = 0;
  for (; r + 8 <= count; r += 8) {
    size_t done = NAME(eight_chains)(x + r * n, n, exclusive, reverse, state + r, y + r * n, op);
    for (size_t i = r; i < r + 8; i++) {
      size_t at = i * n + (reverse ? 0 : done);
      NAME(chain)(x + at, n - done, exclusive, reverse, state + i, y + at, op);
    }
  }
  for (; r < count; r++) NAME(chain)(x + r * n, n, exclusive, reverse, state + r, y + r * n, op);
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
#undef BYTES
#undef TYPE
#undef NOT_A_NUMBER
