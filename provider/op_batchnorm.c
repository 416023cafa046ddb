/* BatchNormalization, inference form: attributes of ONNX, opset 7 to 15. The training forms (training_mode, more than one
 * output in use, spatial = 0) are left to ONNX Runtime. */
#include "ops.h"

int op_batchnorm(const node *n, exact_op **op, exact_error *err) {
  int64_t training = 0, spatial = 1;
  float epsilon = 1e-5f;
  int rc = node_float(n, "epsilon", 1e-5f, &epsilon, err);
  if (!rc) rc = node_int(n, "training_mode", 0, &training, err);
  if (!rc) rc = node_int(n, "spatial", 1, &spatial, err);
  if (rc) return rc;
  for (int i = 1; i < n->n_outputs && i < EXACT_MOST_IO; i++)
    if (n->output_used[i]) training = 1;
  if (training) return node_fail(err, EXACT_UNSUPPORTED, "the training form is not served");
  if (spatial != 1) return node_fail(err, EXACT_UNSUPPORTED, "spatial = %lld is not served", (long long)spatial);
  return exact_batchnorm_new(epsilon, n->dtype, op, err);
}
