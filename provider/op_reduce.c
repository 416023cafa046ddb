/* ReduceSum ... ReduceMin: axes as attribute (ReduceSum to opset 12, the others to 17) or as second input. */
#include "ops.h"

#include <string.h>

int op_reduce(const node *n, exact_op **op, exact_error *err) {
  static const char *const kinds[] = {[EXACT_REDUCE_SUM] = "Sum",
                                      [EXACT_REDUCE_MEAN] = "Mean",
                                      [EXACT_REDUCE_L1] = "L1",
                                      [EXACT_REDUCE_L2] = "L2",
                                      [EXACT_REDUCE_SUM_SQUARE] = "SumSquare",
                                      [EXACT_REDUCE_LOG_SUM] = "LogSum",
                                      [EXACT_REDUCE_LOG_SUM_EXP] = "LogSumExp",
                                      [EXACT_REDUCE_PROD] = "Prod",
                                      [EXACT_REDUCE_MAX] = "Max",
                                      [EXACT_REDUCE_MIN] = "Min"};
  exact_reduce_attrs a = {0};
  size_t count = EXACT_MAX_RANK;
  int kind = 0;
  while (strcmp(kinds[kind], n->row->type + strlen("Reduce"))) kind++;
  int rc = node_int(n, "keepdims", 1, &a.keepdims, err);
  if (!rc) rc = node_int(n, "noop_with_empty_axes", 0, &a.noop_with_empty_axes, err);
  if (rc) return rc;
  int found = n->source->integers(n, "axes", a.axes, &count);
  if (found < 0) return node_fail(err, EXACT_INVALID, "attribute axes must be a list of integers");
  if (found && count > EXACT_MAX_RANK)
    return node_fail(err, EXACT_UNSUPPORTED, "axes has %zu values, at most %d are supported", count, EXACT_MAX_RANK);
  if (found) a.n_axes = (int)count;
  return exact_reduce_new(kind, &a, n->dtype, op, err);
}
