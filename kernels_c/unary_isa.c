/* One input, element by element: operators of a few operations. docs/unary.md */
#include <math.h>

#include "half.h"
#include "lanes.h"
#include "unary.h"

#define TYPE f32
#define MAGIC 0x1p23f
#define SQRT sqrtf
#include "unary_rows.h"
#define TYPE f64
#define MAGIC 0x1p52
#define SQRT sqrt
#include "unary_rows.h"

#define SIGNED 1
#define INTEGER int8_t
#define SUFFIX i8
#include "unary_whole.h"
#define INTEGER int16_t
#define SUFFIX i16
#include "unary_whole.h"
#define INTEGER int32_t
#define SUFFIX i32
#include "unary_whole.h"
#define INTEGER int64_t
#define SUFFIX i64
#include "unary_whole.h"
#undef SIGNED
#define SIGNED 0
#define INTEGER uint8_t
#define SUFFIX u8
#include "unary_whole.h"
#define INTEGER uint16_t
#define SUFFIX u16
#include "unary_whole.h"
#define INTEGER uint32_t
#define SUFFIX u32
#include "unary_whole.h"
#define INTEGER uint64_t
#define SUFFIX u64
#include "unary_whole.h"

/* y may be x: a block is read before it is written. */
static void half(exact_unary_fn f, const exact_unary_args *a, int dtype, const void *in, void *out, size_t n) {
  enum { BLOCK = 1024 };
  float wide[BLOCK];
  const uint16_t *x = in;
  uint16_t *y = out;
  for (size_t done = 0, part; done < n; done += part) {
    part = n - done < BLOCK ? n - done : BLOCK;
    exact_load_row(wide, x + done, part, dtype);
    f(a, wide, wide, part);
    exact_store_row(y + done, wide, part, dtype);
  }
}

#define FLOATS(T)                                                                                                              \
  {                                                                                                                            \
    [EXACT_UNARY_ABS] = absolute_##T, [EXACT_UNARY_CEIL] = ceil_##T, [EXACT_UNARY_CLIP] = clip_##T,                            \
    [EXACT_UNARY_FLOOR] = floor_##T, [EXACT_UNARY_HARD_SIGMOID] = hard_sigmoid_##T, [EXACT_UNARY_HARD_SWISH] = hard_swish_##T, \
    [EXACT_UNARY_LEAKY_RELU] = leaky_relu_##T, [EXACT_UNARY_NEG] = neg_##T, [EXACT_UNARY_RECIPROCAL] = reciprocal_##T,         \
    [EXACT_UNARY_RELU] = relu_##T, [EXACT_UNARY_ROUND] = round_##T, [EXACT_UNARY_SIGN] = sign_##T,                             \
    [EXACT_UNARY_SOFTSIGN] = softsign_##T, [EXACT_UNARY_SQRT] = sqrt_##T,                                                      \
    [EXACT_UNARY_THRESHOLDED_RELU] = thresholded_relu_##T,                                                                     \
  }
#define UNSIGNED_ROW(T) [EXACT_UNARY_ABS] = absolute_##T, [EXACT_UNARY_CLIP] = clip_##T, [EXACT_UNARY_SIGN] = sign_##T
#define SIGNED_ROW(T) UNSIGNED_ROW(T), [EXACT_UNARY_NEG] = neg_##T, [EXACT_UNARY_RELU] = relu_##T

const struct exact_unary_kernels EXACT_SYM(exact_unary) = {
    .f32 = FLOATS(f32),
    .f64 = FLOATS(f64),
    .whole =
        {
            [EXACT_INT8] = {SIGNED_ROW(i8)},
            [EXACT_INT16] = {SIGNED_ROW(i16)},
            [EXACT_INT32] = {SIGNED_ROW(i32)},
            [EXACT_INT64] = {SIGNED_ROW(i64)},
            [EXACT_UINT8] = {UNSIGNED_ROW(u8)},
            [EXACT_UINT16] = {UNSIGNED_ROW(u16)},
            [EXACT_UINT32] = {UNSIGNED_ROW(u32)},
            [EXACT_UINT64] = {UNSIGNED_ROW(u64)},
        },
    .half = half,
};
