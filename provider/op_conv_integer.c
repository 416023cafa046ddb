/* ConvInteger and QLinearConv: attributes of ONNX, opset 10. */
#include <string.h>

#include "ops.h"

int op_conv_integer(const node *n, exact_op **op, exact_error *err) {
  exact_conv_attrs a = {0};
  int rc = node_window(n, &a.window, err);
  if (!rc) rc = node_int(n, "group", 1, &a.group, err);
  if (rc) return rc;
  return (!strcmp(n->row->type, "ConvInteger") ? exact_conv_integer_new : exact_qlinear_conv_new)(&a, n->dtype, op, err);
}
