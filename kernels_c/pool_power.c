/* Lp pools with p from 3 on: |x| to the power p before the windows are summed, exp(log(sum) / p) after it. docs/pool.md */
#include "exp_log_kernels.h"
#include "pool.h"

void exact_pool_raise(const exact_pool_op *op, void *x, size_t n) {
  op->op.isa->pool->power[op->op.dtype == EXACT_FLOAT64 ? POOL_F64 : POOL_F32](x, n, op->power);
}

void exact_pool_root(const exact_pool_op *op, void *y, size_t n) {
  const struct exact_exp_log_kernels *k = op->op.isa->exp_log;
  if (op->op.dtype == EXACT_FLOAT64) {
    double *d = y, p = (double)op->power;
    k->log64(d, d, n);
    for (size_t i = 0; i < n; i++) d[i] /= p;
    k->exp64(d, d, n);
  } else {
    float *f = y, p = (float)op->power;
    k->log32(f, f, n);
    for (size_t i = 0; i < n; i++) f[i] /= p;
    k->exp32(f, f, n);
  }
}
