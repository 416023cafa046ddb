/* QuantizeLinear: ONNX opset 10 to 25, whose attribute saturate concerns types that are not served. DequantizeLinear: the same
 * opsets. DynamicQuantizeLinear: opset 11, no attributes. */
#include <string.h>

#include "ops.h"

int op_quantize(const node *n, exact_op **op, exact_error *err) {
  exact_quantize_attrs a = {0};
  if (!strcmp(n->row->type, "DynamicQuantizeLinear")) return exact_dynamic_quantize_linear_new(n->dtype, op, err);
  int rc = node_int(n, "axis", 1, &a.axis, err);
  if (!rc) rc = node_int(n, "block_size", 0, &a.block_size, err);
  if (!rc) rc = node_int(n, "output_dtype", 0, &a.output_dtype, err);
  if (!rc) rc = node_int(n, "precision", 0, &a.precision, err);
  if (rc) return rc;
  return (!strcmp(n->row->type, "QuantizeLinear") ? exact_quantize_linear_new : exact_dequantize_linear_new)(&a, n->dtype, op,
                                                                                                             err);
}
