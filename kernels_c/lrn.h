#ifndef EXACT_LRN_H
#define EXACT_LRN_H
/* LRN: the kernels of an instruction set. docs/lrn.md */
#include "exact_impl.h"

/* power(s), the power of s that divides. */
enum { LRN_THREE_QUARTERS, LRN_HALF, LRN_ONE, LRN_ANY };

typedef struct exact_lrn_numbers {
  double ratio, bias; /* of the arithmetic type */
} exact_lrn_numbers;

/* Index 0: float32, 1: float64. */
struct exact_lrn_kernels {
  void (*square[2])(const void *x, size_t n, void *y);
  /* s[j] = bias + ratio * (squares[j] + squares[j + step] + ... of `taps` terms in order, from +0), j < n. */
  void (*sums[2])(const void *squares, size_t n, size_t taps, size_t step, const exact_lrn_numbers *v, void *s);
  void (*times[2])(void *s, size_t n, double factor);
  /* y = x / power(s), canonical; LRN_ANY: s is the power already. y may be x. */
  void (*divide[2])(const void *x, const void *s, size_t n, int power, void *y);
};
#endif
