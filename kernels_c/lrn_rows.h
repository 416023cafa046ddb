/* Included by lrn_isa.c once per arithmetic type TYPE; ROOT is its square root, QUIET its NaN. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define NAME(x) EXACT_CAT(x, TYPE)

static void NAME(square)(const void *x, size_t n, void *y) {
  const T *restrict from = x;
  T *restrict to = y;
  for (size_t i = 0; i < n; i++) to[i] = from[i] * from[i];
}

/* Four vectors of outputs at a time, so that their chains of additions run side by side. */
static void NAME(sums)(const void *squares, size_t n, size_t taps, size_t step, const exact_lrn_numbers *v, void *s) {
  enum { LANES = EXACT_VB / sizeof(T), CHAINS = 4 };
  const T ratio = (T)v->ratio, bias = (T)v->bias, *from = squares;
  T *to = s;
  size_t j = 0;
  for (; j + CHAINS * LANES <= n; j += CHAINS * LANES) {
    V acc[CHAINS] = {{0}};
    for (size_t k = 0; k < taps; k++) {
      EXACT_UNROLL
      for (size_t c = 0; c < CHAINS; c++) acc[c] += *(const V *)(from + j + k * step + c * LANES);
    }
    EXACT_UNROLL
    for (size_t c = 0; c < CHAINS; c++) *(V *)(to + j + c * LANES) = ratio * acc[c] + bias;
  }
  for (; j < n; j++) {
    T acc = 0;
    for (size_t k = 0; k < taps; k++) acc = acc + from[j + k * step];
    to[j] = bias + ratio * acc;
  }
}

static void NAME(times)(void *s, size_t n, double factor) {
  T *x = s, f = (T)factor;
  for (size_t i = 0; i < n; i++) x[i] = f * x[i];
}

EXACT_INLINE void NAME(quotients)(const T *x, const T *s, size_t n, int power, T *y) {
  for (size_t i = 0; i < n; i++) {
    T p = s[i];
    if (power == LRN_THREE_QUARTERS || power == LRN_HALF) p = ROOT(p);
    if (power == LRN_THREE_QUARTERS) p = p * ROOT(p);
    T q = x[i] / p;
    y[i] = q == q ? q : QUIET;
  }
}

static void NAME(divide)(const void *x, const void *s, size_t n, int power, void *y) {
  switch (power) {
    case LRN_THREE_QUARTERS: NAME(quotients)(x, s, n, LRN_THREE_QUARTERS, y); return;
    case LRN_HALF: NAME(quotients)(x, s, n, LRN_HALF, y); return;
    default: NAME(quotients)(x, s, n, LRN_ONE, y);
  }
}
#undef T
#undef V
#undef NAME
#undef TYPE
#undef ROOT
#undef QUIET
