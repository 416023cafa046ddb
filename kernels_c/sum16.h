/* Sums, included once per arithmetic type TYPE. The canonical sum of rows: element j goes to partial j mod 16, the partials are
 * added as a tree. Terms: x, |x|, x * x, and with two numbers of the row (x - centre) squared, x - first, ((x - first) -
 * centre) squared. Unsigned integers wrap around. */
#ifndef EXACT_SUM16
#define EXACT_SUM16
enum { SUM16_PLAIN, SUM16_ABS, SUM16_SQUARE, SUM16_SPREAD, SUM16_SHIFT, SUM16_SHIFT_SPREAD };
#endif
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define M LANES_CAT(TYPE, m)
#define NAME(x) EXACT_CAT(x, TYPE)
#define BYTES LANES_CAT(TYPE, _BYTES)
enum {
  NAME(LANES) = EXACT_VB / sizeof(T),
  NAME(VECTORS) = 16 / NAME(LANES), /* of 16 partials */
  NAME(GROUP) = NAME(VECTORS) < 8 ? 8 / (NAME(VECTORS) > 1 ? NAME(VECTORS) : 2) : 1
};

EXACT_INLINE V NAME(term)(V x, V first, V centre, int op) {
  if (op == SUM16_SHIFT || op == SUM16_SHIFT_SPREAD) x = x - first;
  if (op == SUM16_SPREAD || op == SUM16_SHIFT_SPREAD) return (x - centre) * (x - centre);
  if (op == SUM16_SQUARE) return x * x;
  return op == SUM16_ABS ? NAME(abs)(x) : x;
}

EXACT_INLINE T NAME(one)(T x, T first, T centre, int op) {
  if (op == SUM16_ABS) return NAME(abs)(x - (V){0})[0];
  if (op == SUM16_SHIFT || op == SUM16_SHIFT_SPREAD) x = x - first;
  if (op == SUM16_SPREAD || op == SUM16_SHIFT_SPREAD) return (x - centre) * (x - centre);
  return op == SUM16_SQUARE ? x * x : x;
}

EXACT_INLINE void NAME(block)(V *p, const T *x, T first, T centre, int op) {
  for (int v = 0; v < NAME(VECTORS); v++)
    p[v] += NAME(term)(*(const V *)(x + v * NAME(LANES)), first - (V){0}, centre - (V){0}, op);
}

/* The last n < 16 elements. Partials are never -0, so +0 may be added to those without an element. */
EXACT_INLINE void NAME(tail)(V *p, const T *x, size_t n, bool readable, T first, T centre, int op) {
  static const LANES_CAT(TYPE, b) mask[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  T last[16] = {0};
  if (!readable) {
    for (size_t i = 0; i < n; i++) last[i] = x[i];
    x = last;
  }
  for (int v = 0; v < NAME(VECTORS); v++) {
    V term = NAME(term)(*(const V *)(x + v * NAME(LANES)), first - (V){0}, centre - (V){0}, op);
    p[v] += (V)((M)term & *(const M *)(mask + 16 - n + v * NAME(LANES)));
  }
}

typedef T NAME(quad) __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));

/* The tree from 16 partials down to four. */
EXACT_INLINE void NAME(four)(const V *p, NAME(quad) * b) {
#if EXACT_VB / BYTES == 16
  typedef T half __attribute__((vector_size(8 * sizeof(T))));
  half a = __builtin_shufflevector(p[0], p[0], 0, 1, 2, 3, 4, 5, 6, 7) +
           __builtin_shufflevector(p[0], p[0], 8, 9, 10, 11, 12, 13, 14, 15);
  *b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
#elif EXACT_VB / BYTES == 8
  V a = p[0] + p[1];
  *b = __builtin_shufflevector(a, a, 0, 1, 2, 3) + __builtin_shufflevector(a, a, 4, 5, 6, 7);
#elif EXACT_VB / BYTES == 4
  *b = (p[0] + p[2]) + (p[1] + p[3]);
#else
  V b01 = (p[0] + p[4]) + (p[2] + p[6]), b23 = (p[1] + p[5]) + (p[3] + p[7]);
  *b = __builtin_shufflevector(b01, b23, 0, 1, 2, 3);
#endif
}

/* The sums of up to four rows from their four last partials. */
EXACT_INLINE void NAME(last_four)(const NAME(quad) * b, size_t rows, T *y) {
  NAME(quad) c01 = __builtin_shufflevector(b[0], b[1], 0, 1, 4, 5) + __builtin_shufflevector(b[0], b[1], 2, 3, 6, 7);
  NAME(quad) c23 = __builtin_shufflevector(b[2], b[3], 0, 1, 4, 5) + __builtin_shufflevector(b[2], b[3], 2, 3, 6, 7);
  NAME(quad) sum = __builtin_shufflevector(c01, c23, 0, 2, 4, 6) + __builtin_shufflevector(c01, c23, 1, 3, 5, 7);
  memcpy(y, &sum, rows * sizeof(T));
}

EXACT_INLINE void NAME(sum16)(const V (*p)[NAME(VECTORS)], size_t rows, T *y) {
  const size_t part = rows < 4 ? rows : 4; /* rows is 1, 2, 4 or 8 */
  EXACT_UNROLL for (size_t r = 0; r < rows; r += part) {
    NAME(quad) b[4];
    b[1] = b[2] = b[3] = (NAME(quad)){0};
    EXACT_UNROLL for (size_t i = 0; i < part; i++) NAME(four)(p[r + i], &b[i]);
    NAME(last_four)(b, part, y + r);
  }
}

EXACT_INLINE void NAME(sum_rows)(const T *x, size_t n, size_t rows, bool readable, const T *first, const T *centre, T *y,
                                 int op) {
  V p[NAME(GROUP)][NAME(VECTORS)];
  size_t whole = n & ~(size_t)15;
  EXACT_UNROLL for (size_t r = 0; r < rows; r++) for (int v = 0; v < NAME(VECTORS); v++) p[r][v] = (V){0};
  for (size_t j = 0; j < whole; j += 16) {
    EXACT_UNROLL for (size_t r = 0; r < rows; r++)
        NAME(block)(p[r], x + r * n + j, first ? first[r] : 0, centre ? centre[r] : 0, op);
  }
  if (n > whole) {
    EXACT_UNROLL for (size_t r = 0; r < rows; r++)
        NAME(tail)(p[r], x + r * n + whole, n - whole, readable, first ? first[r] : 0, centre ? centre[r] : 0, op);
  }
  NAME(sum16)((const V(*)[NAME(VECTORS)])p, rows, y);
}

/* Rows of up to four elements, one after the other. Partials without an element are left out of the tree: +0 changes none. */
EXACT_INLINE void NAME(few)(const T *x, size_t n, size_t count, const T *first, const T *centre, T *y, int op) {
  for (size_t r = 0; r < count; r++, x += n) {
    T p[4] = {0};
    EXACT_UNROLL for (size_t j = 0; j < n; j++) p[j] += NAME(one)(x[j], first ? first[r] : 0, centre ? centre[r] : 0, op);
    T even = n > 2 ? p[0] + p[2] : p[0], odd = n > 3 ? p[1] + p[3] : p[1];
    y[r] = n > 1 ? even + odd : even;
  }
}

/* y[r] = the sum over the n > 0 elements from x + r * n on, r < count; `room` elements may be read. first and centre hold a
 * number for each row, or are NULL. */
EXACT_INLINE void NAME(sums)(const T *x, size_t n, size_t count, size_t room, const T *first, const T *centre, T *y, int op) {
  const size_t group = NAME(GROUP);
  size_t r = 0;
  switch (n) {
    case 1: NAME(few)(x, 1, count, first, centre, y, op); return;
    case 2: NAME(few)(x, 2, count, first, centre, y, op); return;
    case 3: NAME(few)(x, 3, count, first, centre, y, op); return;
    case 4: NAME(few)(x, 4, count, first, centre, y, op); return;
    default: break;
  }
  for (; r + group <= count && (n % 16 == 0 || (r + group) * n + 16 <= room); r += group)
    NAME(sum_rows)(x + r * n, n, group, true, first ? first + r : NULL, centre ? centre + r : NULL, y + r, op);
  for (; r < count; r++)
    NAME(sum_rows)(x + r * n, n, 1, false, first ? first + r : NULL, centre ? centre + r : NULL, y + r, op);
}

/* The next n elements of one sum: the state is 16 partials. n is a multiple of 16 but for the last elements. */
EXACT_INLINE void NAME(more_sums)(const T *x, size_t n, T first, T centre, T *state, int op) {
  V p[NAME(VECTORS)];
  size_t whole = n & ~(size_t)15;
  memcpy(p, state, sizeof p);
  for (size_t j = 0; j < whole; j += 16) NAME(block)(p, x + j, first, centre, op);
  if (n > whole) NAME(tail)(p, x + whole, n - whole, false, first, centre, op);
  memcpy(state, p, sizeof p);
}

/* Sequential sums side by side, fewer than a vector: acc[i] = acc[i] + term of x[r * step + i], r = 0, 1 ... Rows whose vectors
 * would go beyond the last row are left; returns the number of those taken. first and centre: a number for each sum, or NULL.
 */
EXACT_INLINE size_t NAME(narrow)(const T *x, size_t step, size_t rows, size_t width, const T *first, const T *centre, T *acc,
                                 int op) {
  const size_t end = rows ? (rows - 1) * step + width : 0;
  if (width >= NAME(LANES) || end < NAME(LANES)) return 0;
  const size_t whole = (end - NAME(LANES)) / step + 1;
  V sum = {0}, f = {0}, c = {0};
  memcpy(&sum, acc, width * sizeof(T));
  if (first) memcpy(&f, first, width * sizeof(T));
  if (centre) memcpy(&c, centre, width * sizeof(T));
  for (size_t r = 0; r < whole; r++, x += step) sum += NAME(term)(*(const V *)x, f, c, op);
  memcpy(acc, &sum, width * sizeof(T));
  return whole;
}
#undef T
#undef V
#undef M
#undef NAME
#undef BYTES
#undef TYPE
