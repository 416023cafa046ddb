/* Attention: attributes of ONNX, opsets 23 and 24. */
#include "ops.h"

int op_attention(const node *n, exact_op **op, exact_error *err) {
  exact_attention_attrs a = {.short_mask = n->since != 23};
  int rc = node_float(n, "scale", 1, &a.scale, err);
  if (!rc) a.has_scale = n->source->real(n, "scale", &a.scale) == 1;
  if (!rc) rc = node_float(n, "softcap", 0, &a.softcap, err);
  if (!rc) rc = node_int(n, "is_causal", 0, &a.is_causal, err);
  if (!rc) rc = node_int(n, "q_num_heads", 0, &a.q_num_heads, err);
  if (!rc) rc = node_int(n, "kv_num_heads", 0, &a.kv_num_heads, err);
  if (!rc) rc = node_int(n, "qk_matmul_output_mode", 0, &a.qk_matmul_output_mode, err);
  if (!rc) rc = node_int(n, "softmax_precision", 0, &a.softmax_precision, err);
  return rc ? rc : exact_attention_new(&a, n->dtype, n->mode, op, err);
}
