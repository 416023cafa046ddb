#ifndef EXACT_SATURATE_H
#define EXACT_SATURATE_H
/* Rounding to an integer type, half to even, with saturation: docs/quantize.md. For files named *_isa.c. It relies on the
 * floating-point environment that exact_parallel sets. */
#include "half.h"
#include "isa.h"

typedef struct exact_limits {
  float low, high;
} exact_limits;

static inline exact_limits exact_limits_of(int dtype) {
  switch (dtype) {
    case EXACT_UINT8: return (exact_limits){0, 255};
    case EXACT_INT8: return (exact_limits){-128, 127};
    case EXACT_UINT16: return (exact_limits){0, 65535};
    default: return (exact_limits){-32768, 32767};
  }
}

/* The integer nearest to t in [low, high], which are integers within 2^17 of 0, so that clamping comes first and the addition
 * rounds. NaN gives low. */
EXACT_INLINE int32_t exact_saturated(float t, float low, float high) {
  t = t > low ? t : low;
  t = t < high ? t : high;
  return (int32_t)(exact_f32_bits(t + 0x1.8p23f) - 0x4B400000u);
}
#endif
