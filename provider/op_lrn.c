/* LRN: attributes of ONNX, opset 1 and 13. */
#include "ops.h"

int op_lrn(const node *n, exact_op **op, exact_error *err) {
  exact_lrn_attrs a = {0};
  int rc = node_int(n, "size", 0, &a.size, err);
  if (!rc) rc = node_float(n, "alpha", 1e-4f, &a.alpha, err);
  if (!rc) rc = node_float(n, "beta", 0.75f, &a.beta, err);
  if (!rc) rc = node_float(n, "bias", 1, &a.bias, err);
  return rc ? rc : exact_lrn_new(&a, n->dtype, op, err);
}
