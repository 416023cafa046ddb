/* MatMulInteger: ONNX opset 10. QLinearMatMul: opset 10 to 21. No attributes. */
#include <string.h>

#include "ops.h"

int op_matmul_integer(const node *n, exact_op **op, exact_error *err) {
  return (!strcmp(n->row->type, "MatMulInteger") ? exact_matmul_integer_new : exact_qlinear_matmul_new)(n->dtype, op, err);
}
