/* Rows of Y in place, for one element type. Included by matmul_isa.c with REAL, SUFFIX and FLOATING. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define V NAME(vector)

typedef REAL V __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));

/* y[j] += a[0] * b[0][j] + a[1] * b[1][j] + ..., `count` products in this order. */
EXACT_INLINE void NAME(add_products)(REAL *y, const REAL *a, size_t a_k, const REAL *b, size_t b_k, size_t n,
                                     const size_t count) {
  enum { L = EXACT_VB / sizeof(REAL) };
  REAL left[8];
  size_t j = 0;
  EXACT_UNROLL
  for (size_t p = 0; p < count; p++) left[p] = a[p * a_k];
  for (; j + L <= n; j += L) {
    V acc = *(const V *)(y + j);
    EXACT_UNROLL
    for (size_t p = 0; p < count; p++) {
      __builtin_prefetch((const char *)b + ((p + count) * b_k + j) * sizeof(REAL));
      acc = acc + *(const V *)(b + p * b_k + j) * left[p];
    }
    *(V *)(y + j) = acc;
  }
  for (; j < n; j++) {
    REAL acc = y[j];
    for (size_t p = 0; p < count; p++) acc = acc + b[p * b_k + j] * left[p];
    y[j] = acc;
  }
}

static void NAME(direct)(void *y, size_t y_stride, const void *a, size_t a_row, size_t a_k, const void *b, size_t b_k,
                         size_t rows, size_t n, size_t k) {
  REAL *out = y;
  const REAL *left = a, *right = b;
  size_t p = 0;
  for (size_t i = 0; i < rows; i++) memset(out + i * y_stride, 0, n * sizeof(REAL));
  for (; p + 8 <= k; p += 8)
    for (size_t i = 0; i < rows; i++)
      NAME(add_products)(out + i * y_stride, left + i * a_row + p * a_k, a_k, right + p * b_k, b_k, n, 8);
  for (; p < k; p++)
    for (size_t i = 0; i < rows; i++)
      NAME(add_products)(out + i * y_stride, left + i * a_row + p * a_k, a_k, right + p * b_k, b_k, n, 1);
}

#if FLOATING
/* c[j * step], j < n, widened */
EXACT_INLINE void NAME(load_c)(REAL *dst, const void *c, size_t step, size_t n, int dtype) {
  if (sizeof(REAL) == 8) {
    const double *x = c;
    for (size_t j = 0; j < n; j++) dst[j] = (REAL)x[j * step];
  } else if (step) {
    exact_load_row((float *)dst, c, n, dtype);
  } else {
    float one;
    exact_load_row(&one, c, 1, dtype);
    for (size_t j = 0; j < n; j++) dst[j] = one;
  }
}

static void NAME(finish)(const exact_matmul_finish *f, void *y, size_t y_stride, size_t rows, size_t n) {
  enum { PART = 64 };
  const REAL alpha = (REAL)f->alpha, beta = (REAL)f->beta;
  const size_t element = exact_dtype_size(f->dtype);
  for (size_t i = 0; i < rows; i++)
    for (size_t j = 0; j < n; j += PART) {
      REAL *out = (REAL *)y + i * y_stride + j, c[PART];
      size_t part = n - j < PART ? n - j : PART;
      if (f->c) {
        NAME(load_c)(c, (const char *)f->c + (i * f->c_row + j * f->c_column) * element, f->c_column, part, f->dtype);
        for (size_t l = 0; l < part; l++) out[l] = out[l] * alpha + c[l] * beta;
      } else {
        for (size_t l = 0; l < part; l++) out[l] = out[l] * alpha;
      }
      for (size_t l = 0; l < part; l++) out[l] = out[l] == out[l] ? out[l] : (REAL)__builtin_nanf("");
    }
}
#endif

#undef V
#undef NAME
#undef NAME2
#undef NAME3
