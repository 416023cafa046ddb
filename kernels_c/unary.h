#ifndef EXACT_UNARY_H
#define EXACT_UNARY_H
/* One input, element by element. docs/unary.md */
#include "exact_impl.h"

/* What a kernel is called with beside the elements. float32 numbers are stored widened. */
typedef struct exact_unary_args {
  const exact_isa *isa;
  double alpha, beta, gamma; /* Clip: lo and hi are alpha and beta */
  int64_t lo, hi;            /* Clip of integers; of uint64 the same bits */
} exact_unary_args;

/* y[i] = f(x[i]), i < n; y may be x. */
typedef void (*exact_unary_fn)(const exact_unary_args *a, const void *x, void *y, size_t n);

struct exact_unary_kernels {
  /* By kind; NULL where the type is not served. float16 and bfloat16 take f32 through `half`. */
  exact_unary_fn f32[EXACT_UNARY_KINDS], f64[EXACT_UNARY_KINDS];
  exact_unary_fn whole[EXACT_UINT64 + 1][EXACT_UNARY_KINDS]; /* by element type, integers only */
  void (*half)(exact_unary_fn f, const exact_unary_args *a, int dtype, const void *x, void *y, size_t n);
};

/* The kinds made of exp and log. */
struct exact_composed_kernels {
  exact_unary_fn f32[EXACT_UNARY_KINDS], f64[EXACT_UNARY_KINDS];
};

/* The kinds made of tanh, sigmoid, erf, softplus, sin and cos, which float64 does not have. */
struct exact_activation_kernels {
  exact_unary_fn f32[EXACT_UNARY_KINDS];
};
#endif
