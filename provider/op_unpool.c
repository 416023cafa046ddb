/* MaxUnpool: attributes of ONNX, opset 9 to 22. */
#include "ops.h"

int op_unpool(const node *n, exact_op **op, exact_error *err) {
  exact_max_unpool_attrs a = {0};
  int rc = node_ints(n, "kernel_shape", &a.kernel_shape, err);
  if (!rc) rc = node_ints(n, "strides", &a.strides, err);
  if (!rc) rc = node_ints(n, "pads", &a.pads, err);
  return rc ? rc : exact_max_unpool_new(&a, n->dtype, op, err);
}
