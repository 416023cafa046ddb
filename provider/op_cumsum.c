/* CumSum (opset 11, 14), CumProd (26): attributes exclusive and reverse; the axis is an input. */
#include "ops.h"

#include <string.h>

int op_cumsum(const node *n, exact_op **op, exact_error *err) {
  exact_cumsum_attrs a = {0};
  int rc = node_int(n, "exclusive", 0, &a.exclusive, err);
  if (!rc) rc = node_int(n, "reverse", 0, &a.reverse, err);
  if (rc) return rc;
  return exact_cumsum_new(strcmp(n->row->type, "CumProd") ? EXACT_CUMSUM : EXACT_CUMPROD, &a, n->dtype, op, err);
}
