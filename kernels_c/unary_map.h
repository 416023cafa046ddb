/* Included once per TYPE (f32, f64) in a file: MAP(name, expression) defines name_TYPE_map(a, x, t, y, n), y[i] = expression,
 * with v for the vector of x[i] and w for that of t[i], and alpha, beta, gamma for vectors of a's. y may be x or t. */
#define T TYPE
#define V LANES_CAT(TYPE, v)
#define M LANES_CAT(TYPE, m)
#define B LANES_CAT(TYPE, b)
#define NAME(x) EXACT_CAT(x, TYPE)
#define WIDTH (EXACT_VB / sizeof(T))
#define PICK NAME(pick)
#define CANONICAL NAME(canonical)

/* v - 0 and not v + 0, which would lose the sign of a zero. */
EXACT_INLINE V NAME(splat)(T v) { return v - (V){0}; }

#define MAP(name, expression)                                                                                       \
  EXACT_INLINE void EXACT_CAT(NAME(name), map)(const exact_unary_args *a, const T *x, const T *t, T *y, size_t n) { \
    const V alpha = NAME(splat)((T)a->alpha), beta = NAME(splat)((T)a->beta), gamma = NAME(splat)((T)a->gamma);     \
    size_t i = 0;                                                                                                   \
    (void)alpha, (void)beta, (void)gamma;                                                                           \
    for (; i + WIDTH <= n; i += WIDTH) {                                                                            \
      V v = *(const V *)(x + i), w = *(const V *)(t + i);                                                           \
      (void)v, (void)w;                                                                                             \
      *(V *)(y + i) = (expression);                                                                                 \
    }                                                                                                               \
    if (i < n) {                                                                                                    \
      V v = {0}, w = {0};                                                                                           \
      memcpy(&v, x + i, (n - i) * sizeof(T));                                                                       \
      memcpy(&w, t + i, (n - i) * sizeof(T));                                                                       \
      v = (expression);                                                                                             \
      memcpy(y + i, &v, (n - i) * sizeof(T));                                                                       \
    }                                                                                                               \
  }

enum { NAME(BLOCK) = 512 };
/* COMPOSED(name, before, function, after) defines name_TYPE: `before` maps x to an argument, `function` takes that of a block,
 * `after` maps x and the result to y. */
#define COMPOSED(name, before, function, after)                                            \
  static void NAME(name)(const exact_unary_args *a, const void *in, void *out, size_t n) { \
    const T *x = in;                                                                       \
    T *y = out, t[NAME(BLOCK)];                                                            \
    for (size_t part; n; n -= part, x += part, y += part) {                                \
      part = n < NAME(BLOCK) ? n : NAME(BLOCK);                                            \
      EXACT_CAT(NAME(before), map)(a, x, x, t, part);                                      \
      function(t, t, part);                                                                \
      EXACT_CAT(NAME(after), map)(a, x, t, y, part);                                       \
    }                                                                                      \
  }
