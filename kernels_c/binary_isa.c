/* Elementwise operators of several inputs: one operation on rows, NaN results canonical. docs/binary.md */
#include "lanes.h"
#include "binary.h"
#include "half.h"
#include "pool_max.h"

typedef int8_t i8;
typedef uint8_t u8;
typedef int16_t i16;
typedef uint16_t u16;
#define NARROW(name, mask)                                                                       \
  typedef name name##v __attribute__((vector_size(EXACT_VB), aligned(sizeof(name)), may_alias)); \
  typedef mask name##m __attribute__((vector_size(EXACT_VB), aligned(sizeof(name)), may_alias)); \
  EXACT_INLINE name##v pick_##name(name##m in, name##v x, name##v m) {                           \
    return (name##v)(((name##m)x & in) | ((name##m)m & ~in));                                    \
  }
NARROW(i8, i8)
NARROW(u8, i8)
NARROW(i16, i16)
NARROW(u16, i16)

/* r, or the canonical NaN where a or b is one. */
#if defined(__AVX512F__)
EXACT_INLINE f32v unless_nan_f32(f32v a, f32v b, f32v r) {
  return (f32v)_mm512_mask_mov_ps((__m512)r, _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_UNORD_Q),
                                  _mm512_set1_ps(__builtin_nanf("")));
}
EXACT_INLINE f64v unless_nan_f64(f64v a, f64v b, f64v r) {
  return (f64v)_mm512_mask_mov_pd((__m512d)r, _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_UNORD_Q),
                                  _mm512_set1_pd(__builtin_nan("")));
}
#elif defined(__AVX2__)
EXACT_INLINE f32v unless_nan_f32(f32v a, f32v b, f32v r) {
  return (f32v)_mm256_blendv_ps((__m256)r, _mm256_set1_ps(__builtin_nanf("")),
                                _mm256_cmp_ps((__m256)a, (__m256)b, _CMP_UNORD_Q));
}
EXACT_INLINE f64v unless_nan_f64(f64v a, f64v b, f64v r) {
  return (f64v)_mm256_blendv_pd((__m256d)r, _mm256_set1_pd(__builtin_nan("")),
                                _mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_UNORD_Q));
}
#else
EXACT_INLINE f32v unless_nan_f32(f32v a, f32v b, f32v r) {
  return pick_f32((a == a) & (b == b), r, (f32v)((f32m){0} + 0x7FC00000));
}
EXACT_INLINE f64v unless_nan_f64(f64v a, f64v b, f64v r) {
  return pick_f64((a == a) & (b == b), r, (f64v)((f64m){0} + 0x7FF8000000000000));
}
#endif

#define ARITHMETIC(T)                                                                               \
  EXACT_INLINE T##v add_##T(T##v a, T##v b) { return canonical_##T(a + b); }                        \
  EXACT_INLINE T##v sub_##T(T##v a, T##v b) { return canonical_##T(a - b); }                        \
  EXACT_INLINE T##v mul_##T(T##v a, T##v b) { return canonical_##T(a * b); }                        \
  EXACT_INLINE T##v div_##T(T##v a, T##v b) { return canonical_##T(a / b); }                        \
  EXACT_INLINE T##v prelu_##T(T##v a, T##v b) { return canonical_##T(pick_##T(a >= 0, a, a * b)); } \
  EXACT_INLINE T##v most_##T(T##v a, T##v b) { return unless_nan_##T(a, b, max_##T(b, a)); }        \
  EXACT_INLINE T##v fewest_##T(T##v a, T##v b) { return unless_nan_##T(a, b, min_##T(b, a)); }
ARITHMETIC(f32)
ARITHMETIC(f64)

#define ORDER(T)                                                                       \
  EXACT_INLINE T##v most_##T(T##v a, T##v b) { return pick_##T((T##m)(b > a), b, a); } \
  EXACT_INLINE T##v fewest_##T(T##v a, T##v b) { return pick_##T((T##m)(b < a), b, a); }
ORDER(i8)
ORDER(u8)
ORDER(i16)
ORDER(u16)
ORDER(i32)
ORDER(u32)
ORDER(i64)
ORDER(u64)

/* The product as unsigned numbers: it wraps around. */
EXACT_INLINE i32v prelu_i32(i32v a, i32v b) { return pick_i32(a >= 0, a, (i32v)((u32v)a * (u32v)b)); }
EXACT_INLINE i64v prelu_i64(i64v a, i64v b) { return pick_i64(a >= 0, a, (i64v)((u64v)a * (u64v)b)); }
EXACT_INLINE u32v prelu_u32(u32v a, u32v b) { return (void)b, a; }
EXACT_INLINE u64v prelu_u64(u64v a, u64v b) { return (void)b, a; }

/* Each vector is read before what overlaps it is written: y may be a or b. */
#define ROWS(op, T)                                                                                                           \
  EXACT_INLINE void op##_row_##T(const T *a, const T *b, T *y, size_t n, int form) {                                          \
    enum { LANES = EXACT_VB / sizeof(T), UNROLL = 4 };                                                                        \
    const T##v one_a = *a - (T##v){0}, one_b = *b - (T##v){0}; /* x - 0 keeps every x, -0 too */                              \
    size_t i = 0, rest = n % LANES, last = n < LANES ? 0 : n - LANES;                                                         \
    (void)one_a, (void)one_b;                                                                                                 \
    T##v av = one_a, bv = one_b, r = one_a;                                                                                   \
    if (rest) { /* the last elements, as a vector that overlaps the one before */                                             \
      if (form != FORM_ONE_A && n < LANES) memcpy(&av, a, n * sizeof(T));                                                     \
      if (form != FORM_ONE_B && n < LANES) memcpy(&bv, b, n * sizeof(T));                                                     \
      if (form != FORM_ONE_A && n > LANES) av = *(const T##v *)(a + last);                                                    \
      if (form != FORM_ONE_B && n > LANES) bv = *(const T##v *)(b + last);                                                    \
      r = op##_##T(av, bv);                                                                                                   \
    }                                                                                                                         \
    for (; i + UNROLL * LANES <= n; i += UNROLL * LANES) {                                                                    \
      T##v v[UNROLL];                                                                                                         \
      EXACT_UNROLL for (int u = 0; u < UNROLL; u++) v[u] =                                                                    \
          op##_##T(form == FORM_ONE_A ? one_a : *(const T##v *)(a + i + (size_t)u * LANES),                                   \
                   form == FORM_ONE_B ? one_b : *(const T##v *)(b + i + (size_t)u * LANES));                                  \
      EXACT_UNROLL for (int u = 0; u < UNROLL; u++) * (T##v *)(y + i + (size_t)u * LANES) = v[u];                             \
    }                                                                                                                         \
    for (; i + LANES <= n; i += LANES)                                                                                        \
      *(T##v *)(y + i) =                                                                                                      \
          op##_##T(form == FORM_ONE_A ? one_a : *(const T##v *)(a + i), form == FORM_ONE_B ? one_b : *(const T##v *)(b + i)); \
    if (rest && n < LANES) memcpy(y, &r, n * sizeof(T));                                                                      \
    if (rest && n > LANES) *(T##v *)(y + last) = r;                                                                           \
  }                                                                                                                           \
  static void op##_rows_##T(const void *a, const void *b, void *y, size_t rows, size_t n, size_t a_pitch, size_t b_pitch,     \
                            int form) {                                                                                       \
    const T *ap = a, *bp = b;                                                                                                 \
    T *yp = y;                                                                                                                \
    for (size_t row = 0; row < rows; row++, ap += a_pitch, bp += b_pitch, yp += n)                                            \
      if (form == FORM_BOTH)                                                                                                  \
        op##_row_##T(ap, bp, yp, n, FORM_BOTH);                                                                               \
      else if (form == FORM_ONE_B)                                                                                            \
        op##_row_##T(ap, bp, yp, n, FORM_ONE_B);                                                                              \
      else                                                                                                                    \
        op##_row_##T(ap, bp, yp, n, FORM_ONE_A);                                                                              \
  }
#define ALL_ROWS(T) ROWS(add, T) ROWS(sub, T) ROWS(mul, T) ROWS(div, T) ROWS(prelu, T) ROWS(most, T) ROWS(fewest, T)
ALL_ROWS(f32)
ALL_ROWS(f64)
#define ORDER_ROWS(T) ROWS(most, T) ROWS(fewest, T)
ORDER_ROWS(i8)
ORDER_ROWS(u8)
ORDER_ROWS(i16)
ORDER_ROWS(u16)
#define WHOLE_ROWS(T) ROWS(prelu, T) ORDER_ROWS(T)
WHOLE_ROWS(i32)
WHOLE_ROWS(u32)
WHOLE_ROWS(i64)
WHOLE_ROWS(u64)

/* The root of x + 0, for -0 gives +0 and the sum leaves the rest; -infinity gives +infinity. */
#define POWER(T, ROOT)                                                                             \
  EXACT_INLINE T##v root_of_##T(T##v x) {                                                          \
    T##v infinite = (T##v){0} + (T)__builtin_inf();                                                \
    return canonical_##T(pick_##T(x == -infinite, infinite, ROOT(x + (T)0)));                      \
  }                                                                                                \
  static void root_##T(const void *x, void *y, size_t n) {                                         \
    enum { LANES = EXACT_VB / sizeof(T) };                                                         \
    const T *from = x;                                                                             \
    T *to = y;                                                                                     \
    size_t i = 0;                                                                                  \
    for (; i + LANES <= n; i += LANES) *(T##v *)(to + i) = root_of_##T(*(const T##v *)(from + i)); \
    if (i == n) return;                                                                            \
    T##v v = {0};                                                                                  \
    memcpy(&v, from + i, (n - i) * sizeof(T));                                                     \
    v = root_of_##T(v);                                                                            \
    memcpy(to + i, &v, (n - i) * sizeof(T));                                                       \
  }
POWER(f32, ROOT_F32)
POWER(f64, ROOT_F64)

static void widen(float *y, const void *x, size_t n, int dtype) { exact_load_row(y, x, n, dtype); }
static void narrow(void *y, const float *x, size_t n, int dtype) { exact_store_row(y, x, n, dtype); }

#define REALS(T) \
  { add_rows_##T, sub_rows_##T, mul_rows_##T, div_rows_##T, prelu_rows_##T, most_rows_##T, fewest_rows_##T }
#define WHOLE(T) \
  { [STEP_PRELU] = prelu_rows_##T, [STEP_MAX] = most_rows_##T, [STEP_MIN] = fewest_rows_##T }
#define SMALL(T) \
  { [STEP_MAX] = most_rows_##T, [STEP_MIN] = fewest_rows_##T }
const struct exact_binary_kernels EXACT_SYM(exact_binary) = {.step = {[BIN_F32] = REALS(f32),
                                                                      [BIN_F64] = REALS(f64),
                                                                      [BIN_I8] = SMALL(i8),
                                                                      [BIN_U8] = SMALL(u8),
                                                                      [BIN_I16] = SMALL(i16),
                                                                      [BIN_U16] = SMALL(u16),
                                                                      [BIN_I32] = WHOLE(i32),
                                                                      [BIN_U32] = WHOLE(u32),
                                                                      [BIN_I64] = WHOLE(i64),
                                                                      [BIN_U64] = WHOLE(u64)},
                                                             .root = {root_f32, root_f64},
                                                             .widen = widen,
                                                             .narrow = narrow};
