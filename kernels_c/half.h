#ifndef EXACT_HALF_H
#define EXACT_HALF_H
/* float16 and bfloat16 to and from float32: widening is exact, narrowing rounds once to nearest even (subnormals included),
 * NaN narrows to the canonical NaN. Integer operations without branches, so that loops over rows vectorise.
 * They rely on the floating-point environment that exact_parallel sets. */
#include "exact_impl.h"

static inline uint32_t exact_f32_bits(float f) {
  uint32_t u;
  memcpy(&u, &f, 4);
  return u;
}
static inline float exact_f32_from_bits(uint32_t u) {
  float f;
  memcpy(&f, &u, 4);
  return f;
}

static inline float exact_f16_to_f32(uint16_t h) {
  uint32_t magnitude = h & 0x7FFFu, sign = (uint32_t)(h & 0x8000u) << 16;
  uint32_t normal = (magnitude << 13) + (112u << 23);
  uint32_t special = normal + (112u << 23);                                  /* infinity, NaN */
  uint32_t subnormal = exact_f32_bits((float)(int32_t)magnitude * 0x1p-24f); /* exact, zero too */
  uint32_t u = magnitude < 0x400u ? subnormal : magnitude < 0x7C00u ? normal : special;
  return exact_f32_from_bits(u | sign);
}

static inline uint16_t exact_f32_to_f16(float f) {
  uint32_t u = exact_f32_bits(f), magnitude = u & 0x7FFFFFFFu, sign = (u >> 16) & 0x8000u;
  uint32_t rebased = magnitude - (112u << 23);
  uint32_t normal = (rebased + 0xFFFu + ((rebased >> 13) & 1u)) >> 13;
  /* One unit of 0.5's last place is float16's least subnormal: the addition rounds there. */
  uint32_t subnormal = exact_f32_bits(exact_f32_from_bits(magnitude) + 0.5f) - 0x3F000000u;
  uint32_t h = magnitude < 0x38800000u ? subnormal : magnitude < 0x47800000u ? normal : 0x7C00u;
  return (uint16_t)(magnitude > 0x7F800000u ? 0x7E00u : h | sign);
}

static inline float exact_bf16_to_f32(uint16_t h) { return exact_f32_from_bits((uint32_t)h << 16); }

static inline uint16_t exact_f32_to_bf16(float f) {
  uint32_t u = exact_f32_bits(f);
  return (uint16_t)((u & 0x7FFFFFFFu) > 0x7F800000u ? 0x7FC0u : (u + 0x7FFFu + ((u >> 16) & 1u)) >> 16);
}

/* dst[i] = src[i], i < n; src of type float32, float16 or bfloat16. */
static inline void exact_load_row(float *dst, const void *src, size_t n, int dtype) {
  const uint16_t *h = src;
  if (dtype == EXACT_FLOAT32)
    memcpy(dst, src, n * sizeof(float));
  else if (dtype == EXACT_FLOAT16)
    for (size_t i = 0; i < n; i++) dst[i] = exact_f16_to_f32(h[i]);
  else
    for (size_t i = 0; i < n; i++) dst[i] = exact_bf16_to_f32(h[i]);
}

/* dst[i] = src[i], i < n; dst of type float32 (copied as it is), float16 or bfloat16. */
static inline void exact_store_row(void *dst, const float *src, size_t n, int dtype) {
  uint16_t *h = dst;
  if (dtype == EXACT_FLOAT32)
    memcpy(dst, src, n * sizeof(float));
  else if (dtype == EXACT_FLOAT16)
    for (size_t i = 0; i < n; i++) h[i] = exact_f32_to_f16(src[i]);
  else
    for (size_t i = 0; i < n; i++) h[i] = exact_f32_to_bf16(src[i]);
}
#endif
