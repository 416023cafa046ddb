/* Einsum: the equation, opset 12. */
#include "ops.h"

int op_einsum(const node *n, exact_op **op, exact_error *err) {
  char equation[1024] = "";
  size_t size = sizeof equation;
  int found = n->source->text(n, "equation", equation, &size);
  if (found == 0) return node_fail(err, EXACT_INVALID, "attribute equation is missing");
  if (found < 0)
    return node_fail(err, EXACT_INVALID, "attribute equation must be a text of less than %zu characters", sizeof equation);
  return exact_einsum_new(equation, n->dtype, n->mode, op, err);
}
