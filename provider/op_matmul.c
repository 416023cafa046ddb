/* MatMul: ONNX opset 1 to 13, no attributes. Gemm: attributes of ONNX, opset 7 to 13. */
#include <string.h>

#include "ops.h"

int op_matmul(const node *n, exact_op **op, exact_error *err) {
  exact_gemm_attrs a = {0};
  if (!strcmp(n->row->type, "MatMul")) return exact_matmul_new(n->dtype, n->mode, op, err);
  int rc = node_float(n, "alpha", 1, &a.alpha, err);
  if (!rc) rc = node_float(n, "beta", 1, &a.beta, err);
  if (!rc) rc = node_int(n, "transA", 0, &a.trans_a, err);
  if (!rc) rc = node_int(n, "transB", 0, &a.trans_b, err);
  return rc ? rc : exact_gemm_new(&a, n->dtype, n->mode, op, err);
}
