/* MaxPool, AveragePool, LpPool and their global forms: attributes of ONNX, opset 1 (LpPool, GlobalLpPool: 2) to 22. */
#include "ops.h"

#include <string.h>

int op_pool(const node *n, exact_op **op, exact_error *err) {
  static const char *const kinds[] = {[EXACT_MAX_POOL] = "MaxPool",
                                      [EXACT_AVERAGE_POOL] = "AveragePool",
                                      [EXACT_GLOBAL_MAX_POOL] = "GlobalMaxPool",
                                      [EXACT_GLOBAL_AVERAGE_POOL] = "GlobalAveragePool",
                                      [EXACT_LP_POOL] = "LpPool",
                                      [EXACT_GLOBAL_LP_POOL] = "GlobalLpPool"};
  exact_pool_attrs a = {0};
  int kind = 0, rc = EXACT_OK;
  while (strcmp(kinds[kind], n->row->type)) kind++;
  if (strncmp(n->row->type, "Global", 6)) {
    rc = node_window(n, &a.window, err);
    if (!rc) rc = node_int(n, "ceil_mode", 0, &a.ceil_mode, err);
    if (!rc) rc = node_int(n, "count_include_pad", 0, &a.count_include_pad, err);
    if (!rc) rc = node_int(n, "storage_order", 0, &a.storage_order, err);
  }
  if (!rc) rc = node_int(n, "p", 2, &a.p, err);
  return rc ? rc : exact_pool_new(kind, &a, n->dtype, op, err);
}
