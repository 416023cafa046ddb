/* ConvTranspose: attributes of ONNX ConvTranspose, opset 1 to 22. */
#include "ops.h"

int op_conv_transpose(const node *n, exact_op **op, exact_error *err) {
  exact_conv_transpose_attrs a = {0};
  int rc = node_window(n, &a.window, err);
  if (!rc) rc = node_int(n, "group", 1, &a.group, err);
  if (!rc) rc = node_ints(n, "output_padding", &a.output_padding, err);
  if (!rc) rc = node_ints(n, "output_shape", &a.output_shape, err);
  return rc ? rc : exact_conv_transpose_new(&a, n->dtype, n->mode, op, err);
}
