/* Cast of floats to integers and bool; the others are left to ONNX Runtime. saturate and round_mode are for types that it does
 * not serve. */
#include "ops.h"

int op_cast(const node *n, exact_op **op, exact_error *err) {
  int64_t to = 0;
  int rc = node_int(n, "to", 0, &to, err);
  return rc ? rc : exact_cast_new(n->dtype, to, op, err);
}
