/* Cast of floats to integers and bool. docs/cast.md */
#include "cast.h"
#include "half.h"
#include "isa.h"

/* LIMIT is 2 to the bits of the magnitude of INTEGER, BELOW the largest FLOAT below it (or any that cuts to the same), LEAST
 * the least INTEGER. What is converted is in the range of VIA, which holds every INTEGER. */
#define TO(FLOAT, NAME, INTEGER, VIA, LEAST, LIMIT, BELOW, MOST)         \
  static void NAME(const void *in, void *out, size_t n) {                \
    const FLOAT *restrict x = in;                                        \
    INTEGER *restrict y = out;                                           \
    for (size_t i = 0; i < n; i++) {                                     \
      FLOAT v = x[i] == x[i] ? x[i] : 0, up = v < (LEAST) ? (LEAST) : v; \
      VIA cut = (VIA)(up < (LIMIT) ? up : (BELOW));                      \
      y[i] = v < (LIMIT) ? (INTEGER)cut : (MOST);                        \
    }                                                                    \
  }
#define TO_BOOL(FLOAT, NAME)                              \
  static void NAME(const void *in, void *out, size_t n) { \
    const FLOAT *restrict x = in;                         \
    uint8_t *restrict y = out;                            \
    for (size_t i = 0; i < n; i++) y[i] = x[i] != 0;      \
  }

TO(float, f32_i8, int8_t, int32_t, -0x1p7f, 0x1p7f, 127.0f, INT8_MAX)
TO(float, f32_u8, uint8_t, int32_t, 0.0f, 0x1p8f, 255.0f, UINT8_MAX)
TO(float, f32_i16, int16_t, int32_t, -0x1p15f, 0x1p15f, 32767.0f, INT16_MAX)
TO(float, f32_u16, uint16_t, int32_t, 0.0f, 0x1p16f, 65535.0f, UINT16_MAX)
TO(float, f32_i32, int32_t, int32_t, -0x1p31f, 0x1p31f, 0x1.fffffep30f, INT32_MAX)
TO(float, f32_u32, uint32_t, int64_t, 0.0f, 0x1p32f, 0x1.fffffep31f, UINT32_MAX)
TO(float, f32_i64, int64_t, int64_t, -0x1p63f, 0x1p63f, 0x1.fffffep62f, INT64_MAX)
TO(float, f32_u64, uint64_t, uint64_t, 0.0f, 0x1p64f, 0x1.fffffep63f, UINT64_MAX)
TO_BOOL(float, f32_bool)
TO(double, f64_i8, int8_t, int32_t, -0x1p7, 0x1p7, 127.0, INT8_MAX)
TO(double, f64_u8, uint8_t, int32_t, 0.0, 0x1p8, 255.0, UINT8_MAX)
TO(double, f64_i16, int16_t, int32_t, -0x1p15, 0x1p15, 32767.0, INT16_MAX)
TO(double, f64_u16, uint16_t, int32_t, 0.0, 0x1p16, 65535.0, UINT16_MAX)
TO(double, f64_i32, int32_t, int32_t, -0x1p31, 0x1p31, 2147483647.0, INT32_MAX)
TO(double, f64_u32, uint32_t, int64_t, 0.0, 0x1p32, 4294967295.0, UINT32_MAX)
TO(double, f64_i64, int64_t, int64_t, -0x1p63, 0x1p63, 0x1.fffffffffffffp62, INT64_MAX)
TO(double, f64_u64, uint64_t, uint64_t, 0.0, 0x1p64, 0x1.fffffffffffffp63, UINT64_MAX)
TO_BOOL(double, f64_bool)

#define ROW(f)                                                                                                                 \
  {                                                                                                                            \
    [EXACT_INT8] = f##_i8, [EXACT_UINT8] = f##_u8, [EXACT_INT16] = f##_i16, [EXACT_UINT16] = f##_u16, [EXACT_INT32] = f##_i32, \
    [EXACT_UINT32] = f##_u32, [EXACT_INT64] = f##_i64, [EXACT_UINT64] = f##_u64, [EXACT_BOOL] = f##_bool                       \
  }

static void half(int from, int to, const void *in, void *out, size_t n);
const struct exact_cast_kernels EXACT_SYM(exact_cast) = {.to = {[CAST_F32] = ROW(f32), [CAST_F64] = ROW(f64)}, .half = half};

static void half(int from, int to, const void *in, void *out, size_t n) {
  enum { BLOCK = 1024 };
  float wide[BLOCK];
  const uint16_t *x = in;
  char *y = out;
  size_t size = exact_dtype_size(to);
  for (size_t done = 0, part; done < n; done += part) {
    part = n - done < BLOCK ? n - done : BLOCK;
    exact_load_row(wide, x + done, part, from);
    EXACT_SYM(exact_cast).to[CAST_F32][to](wide, y + done * size, part);
  }
}
