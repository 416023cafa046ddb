/* BatchNormalization: y = x * a + b, product and sum rounded on their own, NaN canonical. docs/batchnorm.md */
#include "isa.h"
#include "batchnorm.h"
#include "half.h"

#include <math.h>

typedef float f32v __attribute__((vector_size(EXACT_VB), aligned(4), may_alias));
typedef int32_t i32v __attribute__((vector_size(EXACT_VB), aligned(4), may_alias));
typedef double f64v __attribute__((vector_size(EXACT_VB), aligned(8), may_alias));
typedef int64_t i64v __attribute__((vector_size(EXACT_VB), aligned(8), may_alias));

#define T float
#define V f32v
#define I i32v
#define NAN_BITS 0x7FC00000
#define SQRT sqrtf
#define NAME(x) x##32
#include "batchnorm_rows.h"
#undef T
#undef V
#undef I
#undef NAN_BITS
#undef SQRT
#undef NAME

#define T double
#define V f64v
#define I i64v
#define NAN_BITS 0x7FF8000000000000
#define SQRT sqrt
#define NAME(x) x##64
#include "batchnorm_rows.h"

static void planes16(int dtype, const void *x, void *y, const float *a, const float *b, size_t planes, size_t size) {
  float row[1024];
  for (size_t p = 0; p < planes; p++)
    for (size_t i = 0, n; i < size; i += n) {
      size_t at = p * size + i;
      n = size - i < 1024 ? size - i : 1024;
      exact_load_row(row, (const uint16_t *)x + at, n, dtype);
      row32(row, row, a + p, b + p, n, false);
      exact_store_row((uint16_t *)y + at, row, n, dtype);
    }
}

static void points16(int dtype, const void *x, void *y, const float *a, const float *b, size_t count) {
  float row[1024];
  for (size_t i = 0, n; i < count; i += n) {
    n = count - i < 1024 ? count - i : 1024;
    exact_load_row(row, (const uint16_t *)x + i, n, dtype);
    row32(row, row, a + i, b + i, n, true);
    exact_store_row((uint16_t *)y + i, row, n, dtype);
  }
}

static void planes(int dtype, const void *x, void *y, const void *a, const void *b, size_t count, size_t size) {
  if (dtype == EXACT_FLOAT32)
    planes32(x, y, a, b, count, size);
  else if (dtype == EXACT_FLOAT64)
    planes64(x, y, a, b, count, size);
  else
    planes16(dtype, x, y, a, b, count, size);
}

static void points(int dtype, const void *x, void *y, const void *a, const void *b, size_t n) {
  if (dtype == EXACT_FLOAT32)
    points32(x, y, a, b, n);
  else if (dtype == EXACT_FLOAT64)
    points64(x, y, a, b, n);
  else
    points16(dtype, x, y, a, b, n);
}

const struct exact_batchnorm_kernels EXACT_SYM(exact_batchnorm) = {factors32, factors64, planes, points};
