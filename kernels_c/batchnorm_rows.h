/* Included by batchnorm_isa.c once per arithmetic type T: vector V of T, vector I and bits NAN_BITS of the canonical NaN,
 * SQRT, and NAME(x) = x with the type's suffix. */
enum { NAME(LANES) = EXACT_VB / sizeof(T) };

EXACT_INLINE V NAME(canonical)(V v) {
  I number = v == v;
  return (V)(((I)v & number) | (NAN_BITS & ~number));
}

static void NAME(factors)(const void *const params[4], float epsilon, void *a, void *b, size_t n) {
  const T *scale = params[0], *bias = params[1], *mean = params[2], *var = params[3];
  T *restrict slope = a, *restrict offset = b;
  for (size_t i = 0; i < n; i++) {
    slope[i] = scale[i] / SQRT(var[i] + (T)epsilon);
    offset[i] = bias[i] - mean[i] * slope[i];
  }
}

/* y = x * a + b for n elements, with one a and b for all or (`each`) one per element. Every vector is read before
 * anything that overlaps it is written: y may be x. */
EXACT_INLINE void NAME(row)(const T *x, T *y, const T *a, const T *b, size_t n, bool each) {
  const size_t lanes = NAME(LANES);
  V av = *a - (V){0}, bv = *b - (V){0}; /* x - 0 keeps every x, -0 too */
  if (n < lanes) {
    for (size_t i = 0; i < n; i++) {
      V one = {x[i] * a[each ? i : 0] + b[each ? i : 0]};
      y[i] = NAME(canonical)(one)[0];
    }
    return;
  }
  V last = *(const V *)(x + n - lanes);
  for (size_t i = 0; i + lanes < n; i += lanes) {
    if (each) av = *(const V *)(a + i), bv = *(const V *)(b + i);
    *(V *)(y + i) = NAME(canonical)(*(const V *)(x + i) * av + bv);
  }
  if (each) av = *(const V *)(a + n - lanes), bv = *(const V *)(b + n - lanes);
  *(V *)(y + n - lanes) = NAME(canonical)(last * av + bv);
}

static void NAME(planes)(const void *x, void *y, const void *a, const void *b, size_t planes, size_t size) {
  for (size_t p = 0; p < planes; p++)
    NAME(row)((const T *)x + p * size, (T *)y + p * size, (const T *)a + p, (const T *)b + p, size, false);
}

static void NAME(points)(const void *x, void *y, const void *a, const void *b, size_t n) { NAME(row)(x, y, a, b, n, true); }
