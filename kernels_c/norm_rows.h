/* Included by norm_isa.c once per arithmetic type TYPE, after sum16.h; ROOT is its square root. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define NAME(x) EXACT_CAT(x, TYPE)

static void NAME(stats)(const void *x, size_t n, size_t count, size_t room, bool rms, float epsilon, void *mean,
                        void *inverse) {
  T *m = mean, *inv = inverse;
  if (rms) {
    memset(m, 0, count * sizeof(T));
    NAME(sums)(x, n, count, room, NULL, NULL, inv, SUM16_SQUARE);
  } else {
    NAME(sums)(x, n, count, room, NULL, NULL, m, SUM16_PLAIN);
    for (size_t r = 0; r < count; r++) m[r] /= (T)n;
    NAME(sums)(x, n, count, room, NULL, m, inv, SUM16_SPREAD);
  }
  for (size_t r = 0; r < count; r++) inv[r] = 1 / ROOT(inv[r] / (T)n + (T)epsilon);
}

EXACT_INLINE void NAME(row)(const T *x, size_t n, T mean, T inverse, const T *scale, const T *bias, bool each, bool biased,
                            T *y) {
  const size_t lanes = EXACT_VB / sizeof(T);
  size_t i = 0;
  V s = scale[0] - (V){0}, b = (biased ? bias[0] : 0) - (V){0};
  for (; i + lanes <= n; i += lanes) {
    if (each) s = *(const V *)(scale + i);
    if (each && biased) b = *(const V *)(bias + i);
    V v = ((*(const V *)(x + i) - mean) * inverse) * s;
    if (biased) v += b;
    *(V *)(y + i) = NAME(canonical)(v);
  }
  for (; i < n; i++) {
    T v = ((x[i] - mean) * inverse) * scale[each ? i : 0];
    if (biased) v = v + bias[each ? i : 0];
    y[i] = NAME(canonical)(v - (V){0})[0];
  }
}

static void NAME(apply)(const void *x, size_t n, const void *mean, const void *inverse, const void *scale, const void *bias,
                        bool each, void *y) {
  T m = *(const T *)mean, inv = *(const T *)inverse;
  if (each && bias)
    NAME(row)(x, n, m, inv, scale, bias, true, true, y);
  else if (each)
    NAME(row)(x, n, m, inv, scale, bias, true, false, y);
  else
    NAME(row)(x, n, m, inv, scale, bias, false, true, y);
}
#undef T
#undef V
#undef NAME
#undef ROOT
#undef TYPE
