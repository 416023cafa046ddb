/* MaxPool, AveragePool, GlobalMaxPool, GlobalAveragePool: attributes of ONNX, opset 1 to 22. */
#include "ops.h"

#include <string.h>

int op_pool(const node *n, exact_op **op, exact_error *err) {
  static const char *const kinds[] = {[EXACT_MAX_POOL] = "MaxPool",
                                      [EXACT_AVERAGE_POOL] = "AveragePool",
                                      [EXACT_GLOBAL_MAX_POOL] = "GlobalMaxPool",
                                      [EXACT_GLOBAL_AVERAGE_POOL] = "GlobalAveragePool"};
  exact_pool_attrs a = {0};
  int kind = 0, rc = EXACT_OK;
  while (strcmp(kinds[kind], n->row->type)) kind++;
  if (kind == EXACT_MAX_POOL || kind == EXACT_AVERAGE_POOL) {
    rc = node_window(n, &a.window, err);
    if (!rc) rc = node_int(n, "ceil_mode", 0, &a.ceil_mode, err);
    if (!rc) rc = node_int(n, "count_include_pad", 0, &a.count_include_pad, err);
    if (!rc) rc = node_int(n, "storage_order", 0, &a.storage_order, err);
  }
  return rc ? rc : exact_pool_new(kind, &a, n->dtype, op, err);
}
