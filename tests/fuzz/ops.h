#ifndef FUZZ_OPS_H
#define FUZZ_OPS_H
/* Every constructor of exact.h, its attributes drawn from the stream. */
#include "exact.h"
#include "stream.h"

typedef struct drawn {
  exact_op *op;
  int n_inputs; /* at most */
  int mode;
} drawn;

/* Draws an op; op NULL when its attributes are refused. The same bytes give the same op. */
drawn draw_op(stream *s);
#endif
