/* Included by norm_isa.c once per arithmetic type TYPE, after sum16.h: sums and quotients along axes. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define M LANES_CAT(TYPE, m)
#define NAME(x) EXACT_CAT(x, TYPE)

static void NAME(sum_rows_of)(const void *x, size_t n, size_t count, size_t room, const exact_norm_numbers *s, void *y) {
  const T *first = (const T *)s->first, *mean = (const T *)s->mean;
  if (mean)
    NAME(sums)(x, n, count, room, first, mean, y, SUM16_SHIFT_SPREAD);
  else
    NAME(sums)(x, n, count, room, first, NULL, y, SUM16_SHIFT);
}

static void NAME(sum_more_of)(const void *x, size_t n, const exact_norm_numbers *s, void *state) {
  T first = *(const T *)s->first;
  if (s->mean)
    NAME(more_sums)(x, n, first, *(const T *)s->mean, state, SUM16_SHIFT_SPREAD);
  else
    NAME(more_sums)(x, n, first, 0, state, SUM16_SHIFT);
}

/* Four rows for one pass over the sums. */
EXACT_INLINE void NAME(add_columns)(const T *row, size_t step, size_t rows, size_t width, const T *first, const T *mean,
                                    T *restrict acc) {
  size_t taken = NAME(narrow)(row, step, rows, width, first, mean, acc, mean ? SUM16_SHIFT_SPREAD : SUM16_SHIFT);
  row += taken * step;
  rows -= taken;
#define ADD(x)                                   \
  {                                              \
    T d = (x)-first[i];                          \
    if (mean) d = (d - mean[i]) * (d - mean[i]); \
    sum = sum + d;                               \
  }
  for (; rows >= 4; rows -= 4, row += 4 * step) {
    const T *restrict r0 = row, *restrict r1 = row + step, *restrict r2 = r1 + step, *restrict r3 = r2 + step;
    for (size_t i = 0; i < width; i++) {
      T sum = acc[i];
      ADD(r0[i])
      ADD(r1[i])
      ADD(r2[i])
      ADD(r3[i])
      acc[i] = sum;
    }
  }
  for (; rows > 0; rows--, row += step)
    for (size_t i = 0; i < width; i++) {
      T sum = acc[i];
      ADD(row[i])
      acc[i] = sum;
    }
#undef ADD
}

static void NAME(sum_columns_of)(const void *x, size_t step, size_t rows, size_t width, const exact_norm_numbers *s,
                                 void *acc) {
  if (s->mean)
    NAME(add_columns)(x, step, rows, width, (const T *)s->first, (const T *)s->mean, acc);
  else
    NAME(add_columns)(x, step, rows, width, (const T *)s->first, NULL, acc);
}

EXACT_INLINE V NAME(quotient)(V x, V first, V mean, V divisor, bool centred) {
  if (centred) return NAME(canonical)(((x - first) - mean) / divisor);
  return (V)((M)NAME(canonical)(x / divisor) & (M)(divisor != 0));
}

/* Vectors, then the elements left over. `each`: the numbers are arrays. */
EXACT_INLINE void NAME(divide)(const T *x, size_t n, const exact_norm_numbers *s, bool centred, bool each, T *y) {
  const T *first = (const T *)s->first, *mean = (const T *)s->mean, *divisor = (const T *)s->divisor;
  V f = (centred ? first[0] : 0) - (V){0}, m = (centred ? mean[0] : 0) - (V){0}, d = divisor[0] - (V){0};
  size_t i = 0;
  for (; i + NAME(LANES) <= n; i += NAME(LANES)) {
    if (each && centred) f = *(const V *)(first + i), m = *(const V *)(mean + i);
    if (each) d = *(const V *)(divisor + i);
    *(V *)(y + i) = NAME(quotient)(*(const V *)(x + i), f, m, d, centred);
  }
  for (; i < n; i++) {
    if (each && centred) f = first[i] - (V){0}, m = mean[i] - (V){0};
    if (each) d = divisor[i] - (V){0};
    y[i] = NAME(quotient)(x[i] - (V){0}, f, m, d, centred)[0];
  }
}

static void NAME(divide_row_by)(const void *x, size_t n, const exact_norm_numbers *s, void *y) {
  if (s->first)
    NAME(divide)(x, n, s, true, false, y);
  else
    NAME(divide)(x, n, s, false, false, y);
}

static void NAME(divide_columns_by)(const void *x, size_t step, size_t rows, size_t width, const exact_norm_numbers *s,
                                    void *y) {
  const T *from = x;
  T *to = y;
  for (; rows > 0; rows--, from += step, to += step) {
    if (s->first)
      NAME(divide)(from, width, s, true, true, to);
    else
      NAME(divide)(from, width, s, false, true, to);
  }
}

/* Whole vectors, of which the next row overwrites what is too much. */
static void NAME(repeat_each)(const void *values, size_t n, size_t count, void *flat) {
  const T *from = values;
  T *to = flat;
  for (; count > 0; count--, from++, to += n)
    for (size_t i = 0; i < n; i += NAME(LANES)) *(V *)(to + i) = *from - (V){0};
}
#undef T
#undef V
#undef M
#undef NAME
#undef TYPE
