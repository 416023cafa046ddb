/* Packing for one arithmetic type. Included by matmul_pack_isa.c with REAL and SUFFIX. */
#define NAME3(name, suffix) name##suffix
#define NAME2(name, suffix) NAME3(name, suffix)
#define NAME(name) NAME2(name, SUFFIX)
#define V NAME(vector)

typedef REAL V __attribute__((vector_size(EXACT_VB), aligned(sizeof(REAL)), may_alias));
enum { NAME(lanes) = EXACT_VB / sizeof(REAL) };

#define TV V
#include "transpose.h"
#undef TV

/* Products [p, p + L) of L rows. The vectors of a panel narrower than one spill into the next product, which is written later;
 * at the end of the panel, with only `room` elements left, they must not. */
EXACT_INLINE void NAME(block)(REAL *dst, size_t width, const REAL *const *row, size_t p, size_t room) {
  enum { L = NAME(lanes) };
  V x[L];
  EXACT_UNROLL
  for (size_t i = 0; i < L; i++) x[i] = *(const V *)(row[i] + p);
  NAME(transpose)(x);
  if (room >= (L - 1) * width + L) {
    EXACT_UNROLL
    for (size_t i = 0; i < L; i++) *(V *)(dst + i * width) = x[i];
    return;
  }
  REAL copy[L][L];
  EXACT_UNROLL
  for (size_t i = 0; i < L; i++) *(V *)copy[i] = x[i];
  for (size_t i = 0; i < L; i++) memcpy(dst + i * width, copy[i], (width < L ? width : L) * sizeof(REAL));
}

/* L rows, of which row[i] is the i-th, into the columns of the panel that begin at dst; room: elements from dst to the end of
 * the panel. */
EXACT_INLINE void NAME(strip)(REAL *dst, size_t width, const REAL *const *row, size_t rows, size_t k, size_t room) {
  enum { L = NAME(lanes) };
  size_t p = 0;
  for (; p + L <= k; p += L) NAME(block)(dst + p * width, width, row, p, room - p * width);
  for (; p < k; p++)
    for (size_t i = 0; i < rows; i++) dst[p * width + i] = row[i][p];
}

/* src: elements of a row are consecutive. */
EXACT_INLINE void NAME(transposed)(REAL *dst, size_t width, const char *src, size_t row_stride, size_t rows, size_t k,
                                   const int dtype) {
  enum { L = NAME(lanes) };
  size_t element = exact_dtype_size(dtype);
  for (size_t r = 0; r < width; r += L) {
    if (width - r < L && width >= L) r = width - L; /* some twice */
    const REAL *row[L];
    size_t high = width < L ? width : L;
    if (element == sizeof(REAL)) {
      for (size_t i = 0; i < L; i++) row[i] = (const REAL *)src + (r + i < rows ? r + i : rows - 1) * row_stride;
      NAME(strip)(dst + r, width, row, high, k, width * k - r);
      continue;
    }
#if SUFFIX == 32
    float wide[L][WIDENED];
    for (size_t i = 0; i < L; i++) row[i] = wide[i];
    for (size_t p = 0, n; p < k; p += n) {
      n = k - p < WIDENED ? k - p : WIDENED;
      for (size_t i = 0; i < L; i++)
        exact_load_row(wide[i], src + ((r + i < rows ? r + i : rows - 1) * row_stride + p) * element, n, dtype);
      NAME(strip)(dst + p * width + r, width, row, high, n, width * (k - p) - r);
    }
#endif
  }
}

/* src: rows side by side. */
EXACT_INLINE void NAME(straight)(REAL *dst, size_t width, const char *src, size_t k_stride, size_t rows, size_t k,
                                 const int dtype) {
  enum { L = NAME(lanes) };
  size_t element = exact_dtype_size(dtype);
  for (size_t p = 0; p < k; p++, dst += width, src += k_stride * element) {
    if (element == sizeof(REAL)) {
      const REAL *x = (const REAL *)src;
      size_t r = 0;
      for (; r + L <= rows; r += L) *(V *)(dst + r) = *(const V *)(x + r);
      for (; r < rows; r++) dst[r] = x[r];
    } else {
#if SUFFIX == 32
      exact_load_row(dst, src, rows, dtype);
#endif
    }
    for (size_t r = rows; r < width; r++) dst[r] = 0;
  }
}

static void NAME(pack)(void *dst, size_t width, const void *src, size_t row_stride, size_t k_stride, size_t rows, size_t k,
                       int dtype) {
#define CALL(type)                                                \
  if (k_stride == 1)                                              \
    NAME(transposed)(dst, width, src, row_stride, rows, k, type); \
  else                                                            \
    NAME(straight)(dst, width, src, k_stride, rows, k, type)
#if SUFFIX == 64
  (void)dtype;
  CALL(EXACT_FLOAT64);
#else
  if (dtype == EXACT_FLOAT32) {
    CALL(EXACT_FLOAT32);
  } else if (dtype == EXACT_FLOAT16) {
    CALL(EXACT_FLOAT16);
  } else {
    CALL(EXACT_BFLOAT16);
  }
#endif
#undef CALL
}

#undef V
#undef NAME
#undef NAME2
#undef NAME3
