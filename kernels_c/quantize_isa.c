/* Rows of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. docs/quantize.md */
#include "quantize.h"

#include "half.h"
#include "lanes.h"
#include "saturate.h"

enum { PART = 512 };
static void *at(const void *array, size_t i, int dtype) { return (char *)array + i * exact_dtype_size(dtype); }

/* Calls NAME(type)(...) for the C type of a 8- or 16-bit dtype. */
#define EACH(dtype, NAME, ...)                             \
  switch (dtype) {                                         \
    case EXACT_UINT8: NAME(uint8_t)(__VA_ARGS__); break;   \
    case EXACT_INT8: NAME(int8_t)(__VA_ARGS__); break;     \
    case EXACT_UINT16: NAME(uint16_t)(__VA_ARGS__); break; \
    case EXACT_INT16: NAME(int16_t)(__VA_ARGS__); break;   \
  }

/* Scales and zero points of a part of a row, one for each element; or those of all elements in the first place. */
typedef struct part {
  size_t n;
  float scale[PART];
  int32_t zero[PART];
} part;

#define WIDEN(type) widen_##type
#define QUANTIZE(type) quantize_##type
#define DIFFER(type) differ_##type
#define ROWS(type)                                                                                               \
  static void WIDEN(type)(int32_t * dst, const void *src, size_t n) {                                            \
    const type *x = src;                                                                                         \
    for (size_t i = 0; i < n; i++) dst[i] = x[i];                                                                \
  }                                                                                                              \
  static void QUANTIZE(type)(void *dst, const float *x, const part *p, bool each, exact_limits most) {           \
    type *y = dst;                                                                                               \
    if (each) {                                                                                                  \
      for (size_t i = 0; i < p->n; i++) {                                                                        \
        const float zero = (float)p->zero[i];                                                                    \
        y[i] = (type)(exact_saturated(x[i] / p->scale[i], most.low - zero, most.high - zero) + p->zero[i]);      \
      }                                                                                                          \
    } else {                                                                                                     \
      const float scale = p->scale[0], low = most.low - (float)p->zero[0], high = most.high - (float)p->zero[0]; \
      const int32_t zero = p->zero[0];                                                                           \
      for (size_t i = 0; i < p->n; i++) y[i] = (type)(exact_saturated(x[i] / scale, low, high) + zero);          \
    }                                                                                                            \
  }                                                                                                              \
  static void DIFFER(type)(float *dst, const void *src, const part *p, bool each) {                              \
    const type *x = src;                                                                                         \
    if (each) {                                                                                                  \
      for (size_t i = 0; i < p->n; i++) dst[i] = (float)(x[i] - p->zero[i]) * p->scale[i];                       \
    } else {                                                                                                     \
      const int32_t zero = p->zero[0];                                                                           \
      const float scale = p->scale[0];                                                                           \
      for (size_t i = 0; i < p->n; i++) dst[i] = (float)(x[i] - zero) * scale;                                   \
    }                                                                                                            \
  }
ROWS(uint8_t)
ROWS(int8_t)
ROWS(uint16_t)
ROWS(int16_t)
#undef ROWS

static void load_part(const exact_quantize_row *r, size_t first, part *p) {
  size_t given;
  p->n = r->n - first < PART ? r->n - first : PART;
  given = r->step ? p->n : 1;
  if (first && !r->step) return;
  exact_load_row(p->scale, at(r->scale, r->step * first, r->scale_dtype), given, r->scale_dtype);
  const void *zero = r->zero ? at(r->zero, r->step * first, r->zero_dtype) : NULL;
  if (!zero)
    memset(p->zero, 0, given * sizeof p->zero[0]);
  else if (r->zero_dtype == EXACT_INT32)
    memcpy(p->zero, zero, given * sizeof p->zero[0]);
  else
    EACH(r->zero_dtype, WIDEN, p->zero, zero, given)
}

static void quantize(const exact_quantize_row *r) {
  const exact_limits most = exact_limits_of(r->y_dtype);
  part p;
  for (size_t first = 0; first < r->n; first += PART) {
    float widened[PART];
    const float *x = at(r->x, first, r->x_dtype);
    load_part(r, first, &p);
    if (r->x_dtype != EXACT_FLOAT32) {
      exact_load_row(widened, x, p.n, r->x_dtype);
      x = widened;
    }
    EACH(r->y_dtype, QUANTIZE, at(r->y, first, r->y_dtype), x, &p, r->step != 0, most)
  }
}

/* int32, for which the difference may need 33 bits. */
static void differ_int32(float *dst, const int32_t *x, const part *p, size_t step) {
  if (!step && p->zero[0] == 0)
    for (size_t i = 0; i < p->n; i++) dst[i] = (float)x[i] * p->scale[0];
  else
    for (size_t i = 0; i < p->n; i++) dst[i] = (float)((int64_t)x[i] - p->zero[step * i]) * p->scale[step * i];
}

static void dequantize(const exact_quantize_row *r) {
  part p;
  for (size_t first = 0; first < r->n; first += PART) {
    float narrow[PART], *y = r->y_dtype == EXACT_FLOAT32 ? at(r->y, first, r->y_dtype) : narrow;
    const void *x = at(r->x, first, r->x_dtype);
    load_part(r, first, &p);
    if (r->x_dtype == EXACT_INT32)
      differ_int32(y, x, &p, r->step);
    else
      EACH(r->x_dtype, DIFFER, y, x, &p, r->step != 0)
    /* Only a scale that is infinite or NaN makes a NaN. */
    if (r->step || p.scale[0] - p.scale[0] != 0)
      for (size_t i = 0; i < p.n; i++) y[i] = y[i] == y[i] ? y[i] : exact_f32_from_bits(0x7FC00000u);
    if (y == narrow) exact_store_row(at(r->y, first, r->y_dtype), narrow, p.n, r->y_dtype);
  }
}

static void range(const float *x, size_t n, float *low, float *high) {
  enum { L = EXACT_VB / sizeof(float) };
  f32v lows = (f32v){0} + *low, highs = (f32v){0} + *high;
  f32m nans = {0};
  bool nan = false;
  size_t i = 0;
  for (; i + L <= n; i += L) {
    f32v v = *(const f32v *)(x + i);
    lows = min_f32(v, lows);
    highs = max_f32(v, highs);
    nans |= (f32m)(v != v);
  }
  for (size_t l = 0; l < L; l++) {
    *low = lows[l] < *low ? lows[l] : *low;
    *high = highs[l] > *high ? highs[l] : *high;
    nan |= nans[l] != 0;
  }
  for (; i < n; i++) {
    *low = x[i] < *low ? x[i] : *low;
    *high = x[i] > *high ? x[i] : *high;
    nan |= x[i] != x[i];
  }
  if (nan) *low = *high = exact_f32_from_bits(0x7FC00000u);
}

extern const struct exact_quantize_kernels EXACT_SYM(exact_quantize);
const struct exact_quantize_kernels EXACT_SYM(exact_quantize) = {quantize, dequantize, range};
