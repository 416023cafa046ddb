/* Kernels of the reductions: canonical sums, products in order, maxima and minima; row and column layout. docs/reduce.md */
#include "lanes.h"
#include "reduce.h"

#include <math.h>

/* ---- row layout ---- */
#define TYPE f32
#include "sum16.h"
#define TYPE f32
#include "reduce_sums.h"
#define TYPE f64
#include "sum16.h"
#define TYPE f64
#include "reduce_sums.h"
#define TYPE u32
#include "sum16.h"
#define TYPE u32
#include "reduce_sums.h"
#define TYPE u64
#include "sum16.h"
#define TYPE u64
#include "reduce_sums.h"

#define TYPE f32
#define IS_FLOAT 1
#include "best.h"
#define TYPE f32
#define IS_FLOAT 1
#include "reduce_best.h"
#define TYPE f64
#define IS_FLOAT 1
#include "best.h"
#define TYPE f64
#define IS_FLOAT 1
#include "reduce_best.h"
#define TYPE i32
#define IS_FLOAT 0
#include "best.h"
#define TYPE i32
#define IS_FLOAT 0
#include "reduce_best.h"
#define TYPE u32
#define IS_FLOAT 0
#include "best.h"
#define TYPE u32
#define IS_FLOAT 0
#include "reduce_best.h"
#define TYPE i64
#define IS_FLOAT 0
#include "best.h"
#define TYPE i64
#define IS_FLOAT 0
#include "reduce_best.h"
#define TYPE u64
#define IS_FLOAT 0
#include "best.h"
#define TYPE u64
#define IS_FLOAT 0
#include "reduce_best.h"

/* ---- column layout: m is the running value, x the next row's; four rows for one pass over the running values ---- */
#define COLUMNS(type, name, next, narrow)                                                                           \
  static void columns_##name##_##type(const void *rows_of_x, size_t step, size_t rows, size_t width, void *acc) {   \
    const type *row = rows_of_x;                                                                                    \
    type *restrict a = acc;                                                                                         \
    size_t taken = narrow;                                                                                          \
    row += taken * step;                                                                                            \
    rows -= taken;                                                                                                  \
    for (; rows >= 4; rows -= 4, row += 4 * step) {                                                                 \
      const type *restrict r0 = row, *restrict r1 = row + step, *restrict r2 = r1 + step, *restrict r3 = r2 + step; \
      for (size_t i = 0; i < width; i++) {                                                                          \
        type m = a[i], x = r0[i];                                                                                   \
        m = next, x = r1[i];                                                                                        \
        m = next, x = r2[i];                                                                                        \
        m = next, x = r3[i];                                                                                        \
        a[i] = next;                                                                                                \
      }                                                                                                             \
    }                                                                                                               \
    for (; rows > 0; rows--, row += step)                                                                           \
      for (size_t i = 0; i < width; i++) {                                                                          \
        type m = a[i], x = row[i];                                                                                  \
        a[i] = next;                                                                                                \
      }                                                                                                             \
  }
#define NARROW(type, op) narrow_##type(row, step, rows, width, NULL, NULL, acc, op)
#define COLUMN_SUMS(type, magnitude)                           \
  COLUMNS(type, sum, m + x, NARROW(type, SUM16_PLAIN))         \
  COLUMNS(type, abs, m + (magnitude), NARROW(type, SUM16_ABS)) \
  COLUMNS(type, square, m + x * x, NARROW(type, SUM16_SQUARE)) \
  COLUMNS(type, prod, m *x, 0)
#define COLUMN_BESTS(type)             \
  COLUMNS(type, max, x > m ? x : m, 0) \
  COLUMNS(type, min, x < m ? x : m, 0)
COLUMN_SUMS(f32, fabsf(x))
COLUMN_SUMS(f64, fabs(x))
COLUMN_SUMS(u32, x >> 31 ? 0 - x : x)
COLUMN_SUMS(u64, x >> 63 ? 0 - x : x)
COLUMN_BESTS(f32)
COLUMN_BESTS(f64)
COLUMN_BESTS(i32)
COLUMN_BESTS(u32)
COLUMN_BESTS(i64)
COLUMN_BESTS(u64)
COLUMNS(f32, peak, x > m || x != x ? x : m, 0)
COLUMNS(f64, peak, x > m || x != x ? x : m, 0)

/* ---- after the last term ---- */
#define FINISH_FLOAT(type, root, nan)                                         \
  static void finish_##type(int kind, size_t count, size_t n, void *values) { \
    type *x = values, divisor = (type)(count ? count : 1);                    \
    if (kind == EXACT_REDUCE_MEAN)                                            \
      for (size_t i = 0; i < n; i++) x[i] = x[i] / divisor;                   \
    if (kind == EXACT_REDUCE_L2)                                              \
      for (size_t i = 0; i < n; i++) x[i] = root(x[i]);                       \
    for (size_t i = 0; i < n; i++) x[i] = x[i] == x[i] ? x[i] : nan;          \
  }
#define FINISH_INTEGER(type, wide)                                            \
  static void finish_##type(int kind, size_t count, size_t n, void *values) { \
    type *x = values;                                                         \
    wide divisor = (wide)(count ? count : 1);                                 \
    if (kind == EXACT_REDUCE_MEAN)                                            \
      for (size_t i = 0; i < n; i++) x[i] = (type)((wide)x[i] / divisor);     \
  }
FINISH_FLOAT(f32, sqrtf, __builtin_nanf(""))
FINISH_FLOAT(f64, sqrt, __builtin_nan(""))
FINISH_INTEGER(i32, int64_t)
FINISH_INTEGER(u32, uint64_t)
FINISH_INTEGER(i64, int64_t)
FINISH_INTEGER(u64, uint64_t)

#define TABLE(form)                                                                                                            \
  {                                                                                                                            \
    {form##_sum_f32, form##_abs_f32, form##_square_f32, form##_prod_f32, form##_max_f32, form##_min_f32, form##_peak_f32},     \
        {form##_sum_f64, form##_abs_f64, form##_square_f64, form##_prod_f64, form##_max_f64, form##_min_f64, form##_peak_f64}, \
        {form##_sum_u32, form##_abs_u32, form##_square_u32, form##_prod_u32, form##_max_i32, form##_min_i32, NULL},            \
        {form##_sum_u32, form##_sum_u32, form##_square_u32, form##_prod_u32, form##_max_u32, form##_min_u32, NULL},            \
        {form##_sum_u64, form##_abs_u64, form##_square_u64, form##_prod_u64, form##_max_i64, form##_min_i64, NULL},            \
        {form##_sum_u64, form##_sum_u64, form##_square_u64, form##_prod_u64, form##_max_u64, form##_min_u64, NULL},            \
  }

const struct exact_reduce_kernels EXACT_SYM(exact_reduce) = {
    .rows = TABLE(rows),
    .more = TABLE(more),
    .columns = TABLE(columns),
    .tree = {tree_f32, tree_f64, tree_u32, tree_u32, tree_u64, tree_u64},
    .finish = {finish_f32, finish_f64, finish_i32, finish_u32, finish_i64, finish_u64},
};
