/* Softmax, LogSoftmax, Hardmax: up to opset 12 the axes from `axis` on (default 1) are one row, from 13 on the axis alone
 * (default the last) is. */
#include "ops.h"

#include <string.h>

int op_softmax(const node *n, exact_op **op, exact_error *err) {
  int kind = !strcmp(n->row->type, "Softmax") ? EXACT_SOFTMAX : *n->row->type == 'L' ? EXACT_LOG_SOFTMAX : EXACT_HARDMAX;
  bool flatten = (n->since ? n->since : n->row->until) < 13;
  int64_t axis = 0;
  int rc = node_int(n, "axis", flatten ? 1 : -1, &axis, err);
  return rc ? rc : exact_softmax_new(kind, axis, flatten, n->dtype, n->mode, op, err);
}
