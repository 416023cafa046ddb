#ifndef FUZZ_OPS_H
#define FUZZ_OPS_H
/* Every constructor of exact.h, its attributes drawn from the stream, and inputs that suit them. */
#include <stdbool.h>

#include "exact.h"
#include "stream.h"

enum {
  CONV,
  CONV_TRANSPOSE,
  POOL,
  MAX_UNPOOL,
  LRN,
  BATCHNORM,
  SOFTMAX,
  REDUCE,
  LAYER_NORM,
  RMS_NORM,
  INSTANCE_NORM,
  GROUP_NORM,
  LP_NORM,
  MVN,
  ARG,
  CUMSUM,
  MATMUL,
  GEMM,
  RESIZE,
  UNARY,
  CLIP,
  CAST,
  SEVERAL,
  POWER,
  FAMILIES
};
enum { MOST_INPUTS = 5 };

typedef struct drawn {
  exact_op *op; /* NULL when the attributes are refused */
  int family, dtype, mode, n_inputs;
  /* what the inputs must fit */
  int spatial;       /* axes of a window */
  int64_t kernel[3]; /* of weights */
  int64_t group;     /* also num_groups */
  int64_t trans[2];
  int n_axes, n_scales, form;
} drawn;

/* The same bytes give the same op. */
drawn draw_op(stream *s);

/* What the values of an input stand for. */
enum { VALUES, AXES, INDICES, SIZES, SCALES };
/* dtype, rank and dims of the inputs, most of the time such that the op accepts them. */
void draw_inputs(const drawn *d, stream *s, exact_tensor in[MOST_INPUTS], int meaning[MOST_INPUTS]);
#endif
