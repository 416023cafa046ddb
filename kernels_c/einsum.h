#ifndef EXACT_EINSUM_H
#define EXACT_EINSUM_H
/* Private to Einsum: the parsed equation, labels with sizes and strides, the plan. docs/einsum.md */
#include "exact_impl.h"
#include "matmul.h"

enum { EINSUM_OPERANDS = 32, EINSUM_TEXT = 256, EINSUM_LABELS = 52 + EXACT_MAX_RANK };

/* A term: letters, and '.' for an ellipsis. */
typedef struct einsum_term {
  int n;
  char label[EXACT_MAX_RANK + 1];
} einsum_term;

typedef struct einsum_op {
  exact_op op;
  exact_op product; /* of the arithmetic type: the op of a product */
  int operands;
  einsum_term term[EINSUM_OPERANDS], output;
} einsum_op;

/* Labels of the output, then the summed ones; strides in elements. */
typedef struct einsum_walk {
  int outer, all;
  size_t size[EINSUM_LABELS];
  size_t step[EINSUM_OPERANDS][EINSUM_LABELS];
} einsum_walk;

/* An operand or the result of a product as a block of its own: the labels in the order of the block, and where they come from
 * (or go to). */
typedef struct einsum_copy {
  bool needed;
  int labels;
  size_t size[EINSUM_LABELS], step[EINSUM_LABELS];
  size_t count;
} einsum_copy;

typedef struct einsum_plan {
  exact_plan base;
  size_t outputs, sums; /* elements of Y, combinations of the summed labels */
  size_t element, chunk;
  bool multiplies; /* by a product of matrices, else by walking */
  exact_matmul_plan product;
  einsum_copy copy[3];
  size_t copy_at[3], sub_at; /* workspace */
  einsum_walk walk;
} einsum_plan;

/* einsum_product.c: two operands with summed labels as a stack of matrix products. */
int exact_einsum_product(einsum_plan *p, const einsum_op *o, exact_error *err);
/* einsum_run.c */
void exact_einsum_run(const exact_call *call);
#endif
