/* A quicker check of sin and cos (docs/transcendental.md, "The proof"): runs their evaluation in double through all positive
 * arguments from 2^-12 on. Where y (1 - 2^-46) and y (1 + 2^-46) do not round to the same float, the result is compared with
 * MPFR at 300 bits. For both versions:
 *
 *     cc -std=gnu11 -O3 -ffp-contract=off -fno-trapping-math -mavx2 -mfma [-DEXACT_FUSED] -I kernels_c tools/prove_near.c
 * -lmpfr
 */
#include <mpfr.h>
#include <stdio.h>

#include "sin_cos.h"

enum { BLOCK = 4096 };
static unsigned long compared, wrong;

static double near_value(float x, uint64_t turn) {
  uint64_t quadrant;
  double r = exact_reduce_near((double)x, &quadrant);
  return exact_sin_reduced(r, quadrant + turn);
}

static double far_value(float x, uint64_t turn) {
  uint64_t quadrant;
  double r = exact_reduce_far(x, &quadrant);
  return exact_sin_reduced(r, quadrant + turn);
}

static void compare(float x, int is_cos) {
  mpfr_t v, y;
  mpfr_init2(v, 24);
  mpfr_init2(y, 300);
  mpfr_set_flt(v, x, MPFR_RNDN);
  if (is_cos)
    mpfr_cos(y, v, MPFR_RNDN);
  else
    mpfr_sin(y, v, MPFR_RNDN);
  mpfr_set(v, y, MPFR_RNDN); /* no result of these is subnormal: no float comes within 2^-31 of a multiple of pi/2 */
  float got = is_cos ? exact_cosf_cr(x) : exact_sinf_cr(x);
  compared++;
  wrong += exact_bits32(got) != exact_bits32(mpfr_get_flt(v, MPFR_RNDN));
  mpfr_clears(v, y, (mpfr_ptr)0);
}

#define SCAN(name, first, end, is_cos)                                  \
  for (uint32_t u = first; u < end; u += BLOCK) {                       \
    int any = 0;                                                        \
    for (uint32_t i = 0; i < BLOCK; i++) {                              \
      double y = name(exact_from_bits32(u + i), is_cos);                \
      differ[i] = (float)(y - y * 0x1p-46) != (float)(y + y * 0x1p-46); \
      any |= differ[i];                                                 \
    }                                                                   \
    for (uint32_t i = 0; any && i < BLOCK; i++)                         \
      if (differ[i]) compare(exact_from_bits32(u + i), is_cos);         \
  }

int main(void) {
  static int differ[BLOCK];
  for (int is_cos = 0; is_cos < 2; is_cos++) {
    compared = wrong = 0;
    SCAN(near_value, 0x39800000u, 0x49800000u, is_cos)
    SCAN(far_value, 0x49800000u, 0x7F800000u, is_cos)
    printf("%s: %lu compared with MPFR, %lu misrounded\n", is_cos ? "cos" : "sin", compared, wrong);
    if (wrong) return 1;
  }
  return 0;
}
