/* LayerNormalization (opset 17), RMSNormalization (23), InstanceNormalization (1 to 22), GroupNormalization (18 and 21),
 * LpNormalization (1 and 22), MeanVarianceNormalization (9 and 13). */
#include "ops.h"

#include <string.h>

static int layer(const node *n, exact_op **op, exact_error *err) {
  exact_layer_norm_attrs a = {0};
  int rc = node_int(n, "axis", -1, &a.axis, err);
  if (!rc) rc = node_int(n, "stash_type", EXACT_FLOAT32, &a.stash_type, err);
  if (!rc) rc = node_float(n, "epsilon", 1e-5f, &a.epsilon, err);
  if (rc) return rc;
  return (!strcmp(n->row->type, "LayerNormalization") ? exact_layer_norm_new : exact_rms_norm_new)(&a, n->dtype, op, err);
}

/* Opset 18 has one scale and bias per group, opset 21 one per channel. */
static int group(const node *n, exact_op **op, exact_error *err) {
  exact_group_norm_attrs a = {.parameters = EXACT_GROUP_BY_LENGTH};
  int rc = node_int(n, "num_groups", 0, &a.num_groups, err);
  if (!rc) rc = node_int(n, "stash_type", EXACT_FLOAT32, &a.stash_type, err);
  if (!rc) rc = node_float(n, "epsilon", 1e-5f, &a.epsilon, err);
  if (n->since) a.parameters = n->since < 21 ? EXACT_GROUP_PER_GROUP : EXACT_GROUP_PER_CHANNEL;
  return rc ? rc : exact_group_norm_new(&a, n->dtype, op, err);
}

static int lp(const node *n, exact_op **op, exact_error *err) {
  int64_t axis, p;
  int rc = node_int(n, "axis", -1, &axis, err);
  if (!rc) rc = node_int(n, "p", 2, &p, err);
  return rc ? rc : exact_lp_norm_new(axis, p, n->dtype, op, err);
}

static int mvn(const node *n, exact_op **op, exact_error *err) {
  exact_mvn_attrs a = {0};
  size_t count = EXACT_MAX_RANK;
  int found = n->source->integers(n, "axes", a.axes, &count);
  if (found < 0) return node_fail(err, EXACT_INVALID, "attribute axes must be a list of integers");
  if (found && count > EXACT_MAX_RANK)
    return node_fail(err, EXACT_UNSUPPORTED, "axes has %zu values, at most %d are supported", count, EXACT_MAX_RANK);
  if (found) a.n_axes = (int)count;
  return exact_mvn_new(&a, n->dtype, op, err);
}

int op_norm(const node *n, exact_op **op, exact_error *err) {
  exact_instance_norm_attrs a = {0};
  if (!strcmp(n->row->type, "GroupNormalization")) return group(n, op, err);
  if (!strcmp(n->row->type, "LpNormalization")) return lp(n, op, err);
  if (!strcmp(n->row->type, "MeanVarianceNormalization")) return mvn(n, op, err);
  if (strcmp(n->row->type, "InstanceNormalization")) return layer(n, op, err);
  int rc = node_float(n, "epsilon", 1e-5f, &a.epsilon, err);
  return rc ? rc : exact_instance_norm_new(&a, n->dtype, op, err);
}
