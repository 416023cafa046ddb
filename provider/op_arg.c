/* ArgMax, ArgMin: attributes of ONNX, opset 1 to 13. */
#include "ops.h"

#include <string.h>

int op_arg(const node *n, exact_op **op, exact_error *err) {
  exact_arg_attrs a = {0};
  int rc = node_int(n, "axis", 0, &a.axis, err);
  if (!rc) rc = node_int(n, "keepdims", 1, &a.keepdims, err);
  if (!rc) rc = node_int(n, "select_last_index", 0, &a.select_last_index, err);
  if (rc) return rc;
  return exact_arg_new(strcmp(n->row->type, "ArgMin") ? EXACT_ARG_MAX : EXACT_ARG_MIN, &a, n->dtype, op, err);
}
