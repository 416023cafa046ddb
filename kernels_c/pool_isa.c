/* Window and plane reductions of the pools; lanes hold different outputs. docs/pool.md */
#include "isa.h"
#include "pool.h"
#include "half.h"
#include "pool_max.h"

#include <math.h>
#define EVERY_OTHER_2(i) i, i + 2
#define EVERY_OTHER_4(i) EVERY_OTHER_2(i), EVERY_OTHER_2(i + 4)
#define EVERY_OTHER_8(i) EVERY_OTHER_4(i), EVERY_OTHER_4(i + 8)
#define EVERY_OTHER_16(i) EVERY_OTHER_8(i), EVERY_OTHER_8(i + 16)
#define EVERY_OTHER_32(i) EVERY_OTHER_16(i), EVERY_OTHER_16(i + 32)
#define EVERY_OTHER_64(i) EVERY_OTHER_32(i), EVERY_OTHER_32(i + 64)
#if EXACT_VB == 64
#define LANES_8 64
#define LANES_32 16
#define LANES_64 8
#elif EXACT_VB == 32
#define LANES_8 32
#define LANES_32 8
#define LANES_64 4
#else
#define LANES_8 16
#define LANES_32 4
#define LANES_64 2
#endif

/* Bytes of 0, of -1 and of 0: a load from the border gives a mask of the first or the last lanes. */
static const int8_t lane_mask[3 * EXACT_VB] = {[EXACT_VB... 2 * EXACT_VB - 1] = -1};

/* The most lines of a window that are inlined. */
enum { POOL_LINES = 5 };

/* Stride 1; stride 2 without dilation; the same where one vector holds the pairs of all outputs of a row. */
enum reading { READ_ROWS, READ_PAIRS, READ_FEW_PAIRS };

#define T float
#define V f32v
#define I i32v
#define LANES LANES_32
#define LOWEST -INFINITY
#define MAX MAX_F32
#define NAME(x) x##_f32
#define NAN_BITS 0x7FC00000
#define MAGNITUDE 0x7FFFFFFF
#define ROOT ROOT_F32
#include "pool_rows.h"
#include "pool_planes.h"
#undef T
#undef V
#undef I
#undef LANES
#undef LOWEST
#undef MAX
#undef NAME
#undef NAN_BITS
#undef MAGNITUDE
#undef ROOT

#define T double
#define V f64v
#define I i64v
#define LANES LANES_64
#define LOWEST -INFINITY
#define MAX MAX_F64
#define NAME(x) x##_f64
#define NAN_BITS 0x7FF8000000000000
#define MAGNITUDE 0x7FFFFFFFFFFFFFFF
#define ROOT ROOT_F64
#include "pool_rows.h"
#include "pool_planes.h"
#undef T
#undef V
#undef I
#undef LANES
#undef LOWEST
#undef MAX
#undef NAME
#undef NAN_BITS
#undef MAGNITUDE
#undef ROOT

#define T int8_t
#define V i8v
#define I i8v
#define LANES LANES_8
#define LOWEST INT8_MIN
#define MAX MAX_I8
#define NAME(x) x##_i8
#define NAN_BITS 0
#include "pool_rows.h"
#undef T
#undef V
#undef I
#undef LANES
#undef LOWEST
#undef MAX
#undef NAME
#undef NAN_BITS

#define T uint8_t
#define V u8v
#define I u8v
#define LANES LANES_8
#define LOWEST 0
#define MAX MAX_U8
#define NAME(x) x##_u8
#define NAN_BITS 0
#include "pool_rows.h"
#undef T
#undef V
#undef I
#undef LANES
#undef LOWEST
#undef MAX
#undef NAME
#undef NAN_BITS

/* ---- groups of planes, lanes = planes ---- */
#define QUADS (EXACT_VB / 16)
typedef float quad __attribute__((vector_size(16), aligned(4), may_alias));

/* Pieces of four columns from the planes 0, 4, 8, .. of a vector's worth of planes. */
EXACT_INLINE f32v gather_quads(const float *x, size_t step) {
#if EXACT_VB == 16
  (void)step;
  return *(const quad *)x;
#else
  typedef float half_vector __attribute__((vector_size(32)));
  half_vector low = __builtin_shufflevector(*(const quad *)x, *(const quad *)(x + 4 * step), 0, 1, 2, 3, 4, 5, 6, 7);
#if EXACT_VB == 32
  return low;
#else
  half_vector high =
      __builtin_shufflevector(*(const quad *)(x + 8 * step), *(const quad *)(x + 12 * step), 0, 1, 2, 3, 4, 5, 6, 7);
  return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
#endif
#endif
}

#if EXACT_VB == 64
#define EACH_QUAD(f) f(0), f(4), f(8), f(12)
#elif EXACT_VB == 32
#define EACH_QUAD(f) f(0), f(4)
#else
#define EACH_QUAD(f) f(0)
#endif
#define LOW_PAIRS(i) i, i + LANES_32, i + 1, i + 1 + LANES_32
#define HIGH_PAIRS(i) i + 2, i + 2 + LANES_32, i + 3, i + 3 + LANES_32
#define LOW_HALVES(i) i, i + 1, i + LANES_32, i + 1 + LANES_32
#define HIGH_HALVES(i) i + 2, i + 3, i + 2 + LANES_32, i + 3 + LANES_32
#define SHUFFLE(a, b, f) __builtin_shufflevector(a, b, EACH_QUAD(f))

/* Takes in four columns: 4x4 transposes in each 16 bytes turn row pieces into vectors of planes. */
EXACT_INLINE f32v four_columns(int fold, f32v acc, const float *x, size_t step) {
  f32v a = gather_quads(x, step), b = gather_quads(x + step, step);
  f32v c = gather_quads(x + 2 * step, step), d = gather_quads(x + 3 * step, step);
  f32v ab = SHUFFLE(a, b, LOW_PAIRS), cd = SHUFFLE(c, d, LOW_PAIRS);
  acc = fold_f32(fold, acc, SHUFFLE(ab, cd, LOW_HALVES));
  acc = fold_f32(fold, acc, SHUFFLE(ab, cd, HIGH_HALVES));
  ab = SHUFFLE(a, b, HIGH_PAIRS), cd = SHUFFLE(c, d, HIGH_PAIRS);
  acc = fold_f32(fold, acc, SHUFFLE(ab, cd, LOW_HALVES));
  return fold_f32(fold, acc, SHUFFLE(ab, cd, HIGH_HALVES));
}

enum { GROUP = 2 * LANES_32 };

EXACT_INLINE void fold_group(int fold, const float *x, size_t step, size_t n, float *result) {
  const float *next = x + LANES_32 * step;
  f32v acc = load_f32(result), acc_next = load_f32(result + LANES_32);
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    acc = four_columns(fold, acc, x + i, step);
    acc_next = four_columns(fold, acc_next, next + i, step);
  }
  for (; i < n; i++) {
    f32v column, column_next;
    for (size_t p = 0; p < LANES_32; p++) column[p] = x[p * step + i], column_next[p] = next[p * step + i];
    acc = fold_f32(fold, acc, column);
    acc_next = fold_f32(fold, acc_next, column_next);
  }
  store_f32(result, acc);
  store_f32(result + LANES_32, acc_next);
}

#define FOLD_GROUP(name, fold) \
  static void name(const float *x, size_t step, size_t n, float *acc) { fold_group(fold, x, step, n, acc); }
FOLD_GROUP(sum_group, POOL_MEAN)
FOLD_GROUP(sum_group_l1, POOL_L1)
FOLD_GROUP(sum_group_l2, POOL_L2)
FOLD_GROUP(max_group, POOL_MAX)

/* ---- float16, bfloat16 ---- */
static void pad_halves(const exact_pool_pad *pad) {
  const float value = pad->lowest ? -INFINITY : 0;
  for (size_t i = 0; i < pad->lines; i++) {
    float *dst = (float *)pad->dst + i * pad->dst_step;
    for (size_t k = 0; k < pad->left; k++) dst[k] = value;
    exact_load_row(dst + pad->left, (const uint16_t *)pad->src + i * pad->src_step, pad->n, pad->dtype);
    for (size_t k = 0; k < pad->right; k++) dst[pad->left + pad->n + k] = value;
  }
}

extern const struct exact_pool_lane_kernels EXACT_SYM(exact_pool_lanes32), EXACT_SYM(exact_pool_lanes64);

const struct exact_pool_kernels EXACT_SYM(exact_pool) = {
    .max_rows = {max_rows_f32, max_rows_f64, max_rows_i8, max_rows_u8},
    .sum_rows = {{mean_rows_f32, mean_rows_f64}, {l1_rows_f32, l1_rows_f64}, {l2_rows_f32, l2_rows_f64}},
    .pad_lines = {pad_lines_f32, pad_lines_f64, pad_lines_i8, pad_lines_u8},
    .pad_halves = pad_halves,
    .group = GROUP,
    .sum_group = {sum_group, sum_group_l1, sum_group_l2},
    .max_group = max_group,
    .sum_few = {{few_f32, few_f64}, {few_l1_f32, few_l1_f64}, {few_l2_f32, few_l2_f64}},
    .max_plane = {max_plane_f32, max_plane_f64},
    .lanes = {&EXACT_SYM(exact_pool_lanes32), &EXACT_SYM(exact_pool_lanes64)},
    .power = {power_f32, power_f64},
    .widen = exact_load_row,
    .narrow = exact_store_row,
};
