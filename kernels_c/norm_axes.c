/* LpNormalization and MeanVarianceNormalization: attributes and shapes. The sequences that are normalized, and the order of
 * their sums, are those of a reduction over the same axes. docs/norm.md */
#include <stdlib.h>

#include "axis.h"
#include "norm.h"

/* The axes as a set. */
static int read_axes(const exact_norm_axes_op *o, int rank, bool set[EXACT_MAX_RANK], exact_error *err) {
  memset(set, 0, EXACT_MAX_RANK * sizeof *set);
  for (int i = 0; i < o->n_axes; i++) {
    int index, rc = exact_axis(o->axes[i], rank, &index, err);
    if (rc) return rc;
    set[index] = true;
  }
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  bool set[EXACT_MAX_RANK];
  (void)n;
  if (in->dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in->dtype),
                      exact_dtype_name(op->dtype));
  if (in->rank < 1) return exact_fail(err, EXACT_INVALID, "X has rank 0, must be at least 1");
  *out = *in;
  out->data = NULL;
  return read_axes((const exact_norm_axes_op *)op, in->rank, set, err);
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  bool set[EXACT_MAX_RANK];
  exact_tensor y;
  size_t elements = 0;
  int rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&y, "Y", &elements, err);
  if (rc) return rc;
  exact_norm_axes_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = exact_norm_axes_run, .out = {y}};
  read_axes((const exact_norm_axes_op *)op, in->rank, set, NULL);
  if (elements) exact_reduce_merge(&p->sequences, in, set);
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- ops ---- */
static void free_op(exact_op *op) { free(op); }

#define CLASS(title) \
  { .name = title, .outputs = 1, .min_inputs = 1, .max_inputs = 1, .infer = infer, .plan = plan, .free = free_op }
static const exact_op_class lp_class = CLASS("LpNormalization"), mvn_class = CLASS("MeanVarianceNormalization");

static int new_op(const exact_norm_axes_op *values, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, only float types are supported", exact_dtype_name(dtype));
  for (int i = 0; i < values->n_axes; i++)
    if (values->axes[i] < -EXACT_MAX_RANK || values->axes[i] >= EXACT_MAX_RANK)
      return exact_fail(err, EXACT_INVALID, "axis %lld is out of range", (long long)values->axes[i]);
  exact_norm_axes_op *o = exact_op_new(sizeof *o, values->centred ? &mvn_class : &lp_class, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  exact_op header = o->op;
  *o = *values;
  o->op = header;
  *op = &o->op;
  return EXACT_OK;
}

int exact_lp_norm_new(int64_t axis, int64_t p, int dtype, exact_op **op, exact_error *err) {
  exact_norm_axes_op o = {.p = (int)p, .n_axes = 1, .axes = {axis}};
  if (p != 1 && p != 2) return exact_fail(err, EXACT_INVALID, "p is %lld, must be 1 or 2", (long long)p);
  return new_op(&o, dtype, op, err);
}

int exact_mvn_new(const exact_mvn_attrs *a, int dtype, exact_op **op, exact_error *err) {
  exact_norm_axes_op o = {.centred = true, .n_axes = 3, .axes = {0, 2, 3}};
  if (a->n_axes < 0 || a->n_axes > EXACT_MAX_RANK)
    return exact_fail(err, EXACT_UNSUPPORTED, "axes has %d values, at most %d are supported", a->n_axes, EXACT_MAX_RANK);
  if (a->n_axes) {
    o.n_axes = a->n_axes;
    memcpy(o.axes, a->axes, (size_t)a->n_axes * sizeof *o.axes);
  }
  return new_op(&o, dtype, op, err);
}
