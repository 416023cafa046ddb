/* Elementwise operators of several inputs: broadcasting as strides over few axes, and tasks. docs/binary.md */
#include <stdlib.h>

#include "binary.h"

/* Rows shorter than this are copied into blocks where an operand does not lie as the output does. */
enum { SHORT_ROW = 32 };

static bool has_axis(const exact_tensor *t, int axis, int rank) {
  int own = axis - (rank - t->rank);
  return own >= 0 && t->dims[own] != 1;
}

/* Fills dims and extent; `first` the first and `last` the last axis of `out` that each of them holds. */
static void merge_axes(binary_plan *p, int n, const exact_tensor *in, const exact_tensor *out, int *last) {
  int before = -1;
  for (int axis = 0; axis < out->rank; axis++) {
    if (out->dims[axis] == 1) continue;
    bool merge = before >= 0;
    for (int i = 0; merge && i < n; i++) merge = has_axis(&in[i], axis, out->rank) == has_axis(&in[i], before, out->rank);
    if (!merge) p->extent[p->dims++] = 1;
    p->extent[p->dims - 1] *= (size_t)out->dims[axis];
    last[p->dims - 1] = before = axis;
  }
  if (p->dims) return;
  p->extent[p->dims++] = 1;
  last[0] = -1;
}

static void set_strides(binary_plan *p, int n, const exact_tensor *in, const exact_tensor *out, const int *last) {
  for (int i = 0; i < n; i++) {
    size_t next = 1;
    bool all = true, outer = false;
    for (int d = p->dims - 1; d >= 0; d--) {
      bool own = last[d] < 0 || has_axis(&in[i], last[d], out->rank);
      p->stride[(size_t)i * (size_t)p->dims + (size_t)d] = own ? next : 0;
      if (own) next *= p->extent[d];
      all = all && own;
      outer = outer || (own && d < p->dims - 1);
    }
    p->found[i] = all ? SHAPED : outer ? SPREAD : PERIODIC;
  }
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void cut(binary_plan *p, const binary_op *o) {
  if (p->direct) {
    p->piece = least(p->n, BIN_TASK);
    p->pieces = (p->n - 1) / p->piece + 1;
    p->units = p->rows * p->pieces;
    p->per_task = p->pieces > 1 ? 1 : BIN_TASK / p->n;
  } else {
    bool one_step =
        o->family == BIN_POWER ? o->step != POWER_3 && o->step != POWER_M2 && o->step != POWER_M_ROOT : p->inputs == 1;
    p->block = p->n <= BIN_BLOCK ? BIN_BLOCK / p->n * p->n : BIN_BLOCK;
    if (one_step && exact_dtype_size(o->op.dtype) == exact_dtype_size(exact_arith(o->op.dtype))) p->block = BIN_TASK;
    if (!exact_is_float(o->op.dtype) && p->inputs == 1) p->block = BIN_TASK;
    p->units = (p->count - 1) / p->block + 1;
    p->per_task = BIN_TASK / p->block;
  }
  p->tasks = (p->units - 1) / p->per_task + 1;
}

int exact_binary_plan(const binary_op *o, int n, const exact_tensor *in, const exact_tensor *out, exact_plan **plan,
                      exact_error *err) {
  int last[EXACT_MAX_RANK];
  size_t count, size;
  int rc = exact_count(out, "the output", &count, err);
  if (rc) return rc;
  if (o->family == BIN_POWER) n = 1; /* the exponent is known */
  binary_plan *p = NULL;
  if (exact_mul((size_t)n, EXACT_MAX_RANK * sizeof(size_t) + 1, &size)) p = exact_new(sizeof *p + size, err);
  if (!p) return exact_fail(err, EXACT_NO_MEMORY, "out of memory for a plan of %d inputs", n);
  p->plan = (exact_plan){.op = &o->op, .run = exact_binary_run, .out = {*out}};
  p->inputs = n;
  p->count = count;
  p->stride = (size_t *)(p + 1);
  p->found = (char *)(p->stride + (size_t)n * EXACT_MAX_RANK);
  if (count) {
    merge_axes(p, n, in, out, last);
    set_strides(p, n, in, out, last);
    p->n = p->extent[p->dims - 1];
    p->rows = count / p->n;
    bool narrow = o->op.dtype == EXACT_FLOAT16 || o->op.dtype == EXACT_BFLOAT16;
    p->direct = n == 2 && o->family == BIN_CHAIN && !narrow && (p->dims == 1 || p->n >= SHORT_ROW);
    cut(p, o);
  }
  *plan = &p->plan;
  return EXACT_OK;
}
