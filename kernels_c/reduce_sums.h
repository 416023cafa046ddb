/* Included by reduce_isa.c once per arithmetic type TYPE of sums and products. Integers are unsigned here and wrap around. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define M LANES_CAT(TYPE, m)
#define NAME(x) EXACT_CAT(x, TYPE)
enum {
  NAME(LANES) = EXACT_VB / sizeof(T),
  NAME(VECTORS) = 16 / NAME(LANES), /* of 16 partials */
  NAME(GROUP) = NAME(VECTORS) < 8 ? 8 / NAME(VECTORS) : 1
};

EXACT_INLINE V NAME(term)(V x, int op) {
  if (op == RED_SQUARE) return x * x;
  return op == RED_ABS ? NAME(abs)(x) : x;
}

EXACT_INLINE void NAME(block)(V *p, const T *x, int op) {
  for (int v = 0; v < NAME(VECTORS); v++) p[v] += NAME(term)(*(const V *)(x + v * NAME(LANES)), op);
}

/* The last n < 16 elements. Partials are never -0, so +0 may be added to those without an element. */
EXACT_INLINE void NAME(tail)(V *p, const T *x, size_t n, bool readable, int op) {
  static const LANES_CAT(TYPE, b) mask[32] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1};
  if (readable) {
    for (int v = 0; v < NAME(VECTORS); v++) {
      M element = *(const M *)(x + v * NAME(LANES)), in = *(const M *)(mask + 16 - n + v * NAME(LANES));
      p[v] += NAME(term)((V)(element & in), op);
    }
    return;
  }
  T last[16] = {0};
  for (size_t i = 0; i < n; i++) last[i] = x[i];
  NAME(block)(p, last, op);
}

EXACT_INLINE T NAME(sum16)(const T *p) {
  T a[8], b[4];
  for (int t = 0; t < 8; t++) a[t] = p[t] + p[t + 8];
  for (int t = 0; t < 4; t++) b[t] = a[t] + a[t + 4];
  return (b[0] + b[2]) + (b[1] + b[3]);
}

EXACT_INLINE void NAME(sum_rows)(const T *x, size_t n, size_t rows, bool readable, T *y, int op) {
  V p[NAME(GROUP)][NAME(VECTORS)] = {0};
  size_t whole = n & ~(size_t)15;
  for (size_t j = 0; j < whole; j += 16)
    for (size_t r = 0; r < rows; r++) NAME(block)(p[r], x + r * n + j, op);
  if (n > whole)
    for (size_t r = 0; r < rows; r++) NAME(tail)(p[r], x + r * n + whole, n - whole, readable, op);
  for (size_t r = 0; r < rows; r++) y[r] = NAME(sum16)((const T *)p[r]);
}

EXACT_INLINE void NAME(sums)(const T *x, size_t n, size_t count, size_t room, T *y, int op) {
  size_t r = 0;
  for (; r + NAME(GROUP) <= count; r += NAME(GROUP)) {
    bool readable = (r + NAME(GROUP)) * n + 16 <= room;
    NAME(sum_rows)(x + r * n, n, NAME(GROUP), readable, y + r, op);
  }
  for (; r < count; r++) NAME(sum_rows)(x + r * n, n, 1, (r + 1) * n + 16 <= room, y + r, op);
}

EXACT_INLINE void NAME(more_sums)(const T *x, size_t n, T *state, int op) {
  V p[NAME(VECTORS)];
  size_t whole = n & ~(size_t)15;
  memcpy(p, state, sizeof p);
  for (size_t j = 0; j < whole; j += 16) NAME(block)(p, x + j, op);
  if (n > whole) NAME(tail)(p, x + whole, n - whole, false, op);
  memcpy(state, p, sizeof p);
}

#define SUM_KERNELS(name, op)                                                                  \
  static void NAME(rows_##name)(const void *x, size_t n, size_t count, size_t room, void *y) { \
    NAME(sums)(x, n, count, room, y, op);                                                      \
  }                                                                                            \
  static void NAME(more_##name)(const void *x, size_t n, void *state) { NAME(more_sums)(x, n, state, op); }
SUM_KERNELS(sum, RED_SUM)
SUM_KERNELS(abs, RED_ABS)
SUM_KERNELS(square, RED_SQUARE)
#undef SUM_KERNELS

static void NAME(tree)(const void *state, void *y) { *(T *)y = NAME(sum16)(state); }

static void NAME(more_prod)(const void *x, size_t n, void *state) {
  T m = *(T *)state;
  for (size_t i = 0; i < n; i++) m *= ((const T *)x)[i];
  *(T *)state = m;
}

/* Products of eight rows side by side: each is a chain of its own. */
static void NAME(rows_prod)(const void *x, size_t n, size_t count, size_t room, void *y) {
  const T *row = x;
  T *out = y;
  (void)room;
  for (; count >= 8; count -= 8, row += 8 * n, out += 8) {
    T m[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    for (size_t i = 0; i < n; i++)
      for (size_t r = 0; r < 8; r++) m[r] *= row[r * n + i];
    memcpy(out, m, sizeof m);
  }
  for (; count > 0; count--, row += n, out++) {
    *out = 1;
    NAME(more_prod)(row, n, out);
  }
}
#undef T
#undef V
#undef M
#undef NAME
#undef TYPE
