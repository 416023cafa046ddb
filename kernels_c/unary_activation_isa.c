/* One input, element by element: operators made of tanh, sigmoid, erf, softplus, sin and cos of an array, which are correctly
 * rounded. docs/unary.md */
#include "lanes.h"
#include "transcendental_kernels.h"
#include "unary.h"

#define PLAIN(name)                                                                     \
  static void name##_f32(const exact_unary_args *a, const void *x, void *y, size_t n) { \
    a->isa->transcendental->name##32(x, y, n);                                          \
  }
PLAIN(tanh)
PLAIN(sigmoid)
PLAIN(erf)
PLAIN(softplus)
PLAIN(sin)
PLAIN(cos)

#define TYPE f32
#include "unary_map.h"
#define C(value) NAME(splat)(value)
MAP(same, v)
MAP(erf_argument, v / C(0x1.6a09e6p0f))
MAP(tanh_argument, C(0x1.988452p-1f) * (v + C(0x1.6e4e26p-5f) * ((v * v) * v)))
MAP(scaled, alpha *v)
MAP(gelu_end, CANONICAL((C(0.5f) * v) * (C(1) + w)))
MAP(times, CANONICAL(v *w))
#define MISH(x, y, n)                            \
  do {                                           \
    a->isa->transcendental->softplus32(x, y, n); \
    a->isa->transcendental->tanh32(y, y, n);     \
  } while (0)

COMPOSED(gelu, erf_argument, a->isa->transcendental->erf32, gelu_end)
COMPOSED(gelu_tanh, tanh_argument, a->isa->transcendental->tanh32, gelu_end)
COMPOSED(mish, same, MISH, times)
COMPOSED(swish, scaled, a->isa->transcendental->sigmoid32, times)
#include "unary_map_end.h"

const struct exact_activation_kernels EXACT_SYM(exact_activation) = {
    .f32 = {[EXACT_UNARY_COS] = cos_f32,
            [EXACT_UNARY_ERF] = erf_f32,
            [EXACT_UNARY_GELU] = gelu_f32,
            [EXACT_UNARY_GELU_TANH] = gelu_tanh_f32,
            [EXACT_UNARY_MISH] = mish_f32,
            [EXACT_UNARY_SIGMOID] = sigmoid_f32,
            [EXACT_UNARY_SIN] = sin_f32,
            [EXACT_UNARY_SOFTPLUS] = softplus_f32,
            [EXACT_UNARY_SWISH] = swish_f32,
            [EXACT_UNARY_TANH] = tanh_f32},
};
