/* Included by reduce_isa.c once per arithmetic type TYPE, after sum16.h: the sums and products in row layout. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define NAME(x) EXACT_CAT(x, TYPE)

#define SUM_KERNELS(name, op)                                                                  \
  static void NAME(rows_##name)(const void *x, size_t n, size_t count, size_t room, void *y) { \
    NAME(sums)(x, n, count, room, NULL, NULL, y, op);                                          \
  }                                                                                            \
  static void NAME(more_##name)(const void *x, size_t n, void *state) { NAME(more_sums)(x, n, 0, 0, state, op); }
SUM_KERNELS(sum, SUM16_PLAIN)
SUM_KERNELS(abs, SUM16_ABS)
SUM_KERNELS(square, SUM16_SQUARE)
#undef SUM_KERNELS

static void NAME(tree)(const void *state, void *y) {
  V p[1][NAME(VECTORS)];
  memcpy(p, state, sizeof p);
  NAME(sum16)((const V(*)[NAME(VECTORS)])p, 1, y);
}

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
#undef NAME
#undef TYPE
