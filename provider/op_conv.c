/* Conv: attributes of ONNX Conv, opset 1 to 22. */
#include "ops.h"

int op_conv(const node *n, exact_op **op, exact_error *err) {
  exact_conv_attrs a = {0};
  int rc = node_window(n, &a.window, err);
  if (!rc) rc = node_int(n, "group", 1, &a.group, err);
  return rc ? rc : exact_conv_new(&a, n->dtype, n->mode, op, err);
}
