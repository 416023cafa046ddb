/* Rows of QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. docs/quantize.md */
#include "quantize.h"

#include "half.h"
#include "lanes.h"
#include "saturate.h"

enum { PART = 512 };
/* ---- integers to and from int32 ---- */
#define EACH(type, ...)                                     \
  {                                                         \
    type *typed = array;                                    \
    for (size_t i = 0; i < n; i++) __VA_ARGS__;             \
  }                                                         \
  break;
static void widen(int32_t *dst, void *array, size_t n, int dtype) {
  switch (dtype) {
    case EXACT_UINT8: EACH(uint8_t, dst[i] = typed[i])
    case EXACT_INT8: EACH(int8_t, dst[i] = typed[i])
    case EXACT_UINT16: EACH(uint16_t, dst[i] = typed[i])
    case EXACT_INT16: EACH(int16_t, dst[i] = typed[i])
    default: memcpy(dst, array, n * sizeof *dst);
  }
}
static void narrow(void *array, const int32_t *src, size_t n, int dtype) {
  switch (dtype) {
    case EXACT_UINT8: EACH(uint8_t, typed[i] = (uint8_t)src[i])
    case EXACT_INT8: EACH(int8_t, typed[i] = (int8_t)src[i])
    case EXACT_UINT16: EACH(uint16_t, typed[i] = (uint16_t)src[i])
    default: EACH(int16_t, typed[i] = (int16_t)src[i])
  }
}
#undef EACH

/* ---- a part of a row: scales and zero points of its elements, or of all of them ---- */
typedef struct part {
  size_t n;
  float scale[PART];
  int32_t zero[PART];
} part;

static void *at(const void *array, size_t i, int dtype) { return (char *)array + i * exact_dtype_size(dtype); }

static void load_part(const exact_quantize_row *r, size_t first, part *p) {
  size_t n = r->n - first < PART ? r->n - first : PART, given = r->step ? n : 1;
  p->n = n;
  if (first && !r->step) return;
  exact_load_row(p->scale, at(r->scale, r->step * first, r->scale_dtype), given, r->scale_dtype);
  if (r->zero)
    widen(p->zero, at(r->zero, r->step * first, r->zero_dtype), given, r->zero_dtype);
  else
    memset(p->zero, 0, given * sizeof p->zero[0]);
}

static void quantize(const exact_quantize_row *r) {
  const exact_limits most = exact_limits_of(r->y_dtype);
  part p;
  for (size_t first = 0; first < r->n; first += PART) {
    int32_t q[PART];
    float widened[PART];
    const float *x = at(r->x, first, r->x_dtype);
    load_part(r, first, &p);
    if (r->x_dtype != EXACT_FLOAT32) {
      exact_load_row(widened, x, p.n, r->x_dtype);
      x = widened;
    }
    if (r->step) {
      for (size_t i = 0; i < p.n; i++) {
        float zero = (float)p.zero[i];
        q[i] = exact_saturated(x[i] / p.scale[i], most.low - zero, most.high - zero) + p.zero[i];
      }
    } else {
      const float scale = p.scale[0], low = most.low - (float)p.zero[0], high = most.high - (float)p.zero[0];
      const int32_t zero = p.zero[0];
      for (size_t i = 0; i < p.n; i++) q[i] = exact_saturated(x[i] / scale, low, high) + zero;
    }
    narrow(at(r->y, first, r->y_dtype), q, p.n, r->y_dtype);
  }
}

/* x - zero of int32, for which the difference may need 33 bits. */
static void differences(float *d, const int32_t *x, const part *p, size_t step) {
  if (!step && p->zero[0] == 0)
    for (size_t i = 0; i < p->n; i++) d[i] = (float)x[i];
  else
    for (size_t i = 0; i < p->n; i++) d[i] = (float)((int64_t)x[i] - p->zero[step * i]);
}

static void dequantize(const exact_quantize_row *r) {
  part p;
  for (size_t first = 0; first < r->n; first += PART) {
    int32_t x[PART];
    float d[PART];
    load_part(r, first, &p);
    widen(x, at(r->x, first, r->x_dtype), p.n, r->x_dtype);
    if (r->x_dtype == EXACT_INT32) {
      differences(d, x, &p, r->step);
    } else if (r->step) {
      for (size_t i = 0; i < p.n; i++) d[i] = (float)(x[i] - p.zero[i]);
    } else {
      const int32_t zero = p.zero[0];
      for (size_t i = 0; i < p.n; i++) d[i] = (float)(x[i] - zero);
    }
    if (r->step) {
      for (size_t i = 0; i < p.n; i++) d[i] = d[i] * p.scale[i];
    } else {
      const float scale = p.scale[0];
      for (size_t i = 0; i < p.n; i++) d[i] = d[i] * scale;
    }
    for (size_t i = 0; i < p.n; i++) d[i] = d[i] == d[i] ? d[i] : exact_f32_from_bits(0x7FC00000u);
    exact_store_row(at(r->y, first, r->y_dtype), d, p.n, r->y_dtype);
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
