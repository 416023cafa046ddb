/* LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization: attributes, shapes and row geometry.
 * docs/norm.md */
#include "norm.h"

#include <stdlib.h>

#include "axis.h"

enum { TASK_ELEMENTS = 16384 };

static const char *const names[2] = {"scale", "B"};

static bool layer(const exact_norm_op *o) { return o->kind == NORM_LAYER || o->kind == NORM_RMS; }

/* ---- types and shapes ---- */
static int check_types(const exact_norm_op *o, int n, const exact_tensor *in, exact_error *err) {
  for (int i = 0; i < n; i++) {
    bool optional = o->kind == NORM_LAYER && i == 2, may_differ = o->kind == NORM_RMS && i == 1;
    if (in[i].dtype != o->op.dtype && !(optional && !in[i].dtype))
      return exact_fail(err, may_differ ? EXACT_UNSUPPORTED : EXACT_INVALID, "%s has the element type %s, expected %s",
                        i ? names[i - 1] : "X", exact_dtype_name(in[i].dtype), exact_dtype_name(o->op.dtype));
  }
  return EXACT_OK;
}

/* scale or B of LayerNormalization and RMSNormalization must broadcast to the normalized dimensions, from `axis` on. */
static int check_broadcast(const exact_tensor *x, int axis, const exact_tensor *t, const char *what, exact_error *err) {
  char a[96], b[96];
  bool fits = t->rank <= x->rank, varies = false;
  for (int i = 0; fits && i < t->rank; i++) {
    int at = x->rank - t->rank + i;
    int64_t d = t->dims[i], to = x->dims[at];
    if (at < axis)
      varies |= d > 1 || d == 0;
    else
      fits = d == 1 || d < 0 || to < 0 || d == to;
  }
  if (!fits)
    return exact_fail(err, EXACT_INVALID, "%s of shape %s does not broadcast to X of shape %s from axis %d on", what,
                      exact_shape_text(t, a), exact_shape_text(x, b), axis);
  if (varies)
    return exact_fail(err, EXACT_UNSUPPORTED, "%s of shape %s varies over dimensions before axis %d", what,
                      exact_shape_text(t, a), axis);
  return EXACT_OK;
}

static int layer_shapes(const exact_norm_op *o, int n, const exact_tensor *in, int *axis, exact_error *err) {
  int rc = exact_axis(o->axis, in[0].rank, axis, err);
  for (int i = 1; i < n && !rc; i++)
    if (in[i].dtype) rc = check_broadcast(&in[0], *axis, &in[i], names[i - 1], err);
  return rc;
}

/* Elements that scale and B must have; -1: unknown. */
static int parameter_count(const exact_norm_op *o, const exact_tensor *in, int64_t *count, exact_error *err) {
  int64_t channels = in[0].dims[1], groups = o->num_groups, length = in[1].dims[0] < 0 ? in[2].dims[0] : in[1].dims[0];
  *count = channels;
  if (o->kind == NORM_INSTANCE) return EXACT_OK;
  if (channels >= 0 && channels % groups)
    return exact_fail(err, EXACT_INVALID, "num_groups = %lld does not divide %lld channels", (long long)groups,
                      (long long)channels);
  if (o->parameters == EXACT_GROUP_PER_GROUP || (o->parameters == EXACT_GROUP_BY_LENGTH && length == groups)) *count = groups;
  if (o->parameters == EXACT_GROUP_BY_LENGTH && length < 0) *count = -1;
  return EXACT_OK;
}

static int channel_shapes(const exact_norm_op *o, const exact_tensor *in, exact_error *err) {
  int64_t count;
  int least = o->kind == NORM_INSTANCE ? 3 : 2;
  if (in[0].rank < least) return exact_fail(err, EXACT_INVALID, "X has rank %d, must be at least %d", in[0].rank, least);
  for (int i = 1; i < 3; i++)
    if (in[i].rank != 1) return exact_fail(err, EXACT_INVALID, "%s has rank %d, must be 1", names[i - 1], in[i].rank);
  int rc = parameter_count(o, in, &count, err);
  for (int i = 1; i < 3 && !rc; i++)
    if (count >= 0 && in[i].dims[0] >= 0 && in[i].dims[0] != count)
      rc = exact_fail(err, EXACT_INVALID, "%s has %lld elements, expected %lld", names[i - 1], (long long)in[i].dims[0],
                      (long long)count);
  return rc;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const exact_norm_op *o = (const exact_norm_op *)op;
  int axis = 0, rc = check_types(o, n, in, err);
  if (!rc) rc = layer(o) ? layer_shapes(o, n, in, &axis, err) : channel_shapes(o, in, err);
  if (rc) return rc;
  out[0] = in[0];
  out[0].data = NULL;
  for (int i = 1; i < op->cls->outputs; i++) {
    out[i] = out[0];
    out[i].dtype = EXACT_FLOAT32;
    for (int d = axis; d < in[0].rank; d++) out[i].dims[d] = 1;
  }
  return EXACT_OK;
}

/* ---- plan ---- */
/* A table of one row: the input broadcast to the normalized dimensions. */
static void set_table(exact_norm_table *t, const exact_tensor *x, int axis, const exact_tensor *in, int arith) {
  size_t stride = 1, strides[EXACT_MAX_RANK] = {0};
  *t = (exact_norm_table){.given = true, .direct = in->dtype == arith, .elements = exact_extent(x, axis, x->rank)};
  for (int i = in->rank - 1; i >= 0; i--) {
    strides[x->rank - in->rank + i] = in->dims[i] == 1 ? 0 : stride;
    stride *= (size_t)in->dims[i];
  }
  for (int i = axis; i < x->rank; i++) {
    int n = t->source.n++;
    t->source.extent[n] = (size_t)x->dims[i];
    t->source.stride[n] = strides[i];
    if (!strides[i] && x->dims[i] != 1) t->direct = false;
  }
}

static void set_rows(exact_norm_plan *p, const exact_norm_op *o, int n, const exact_tensor *in) {
  const exact_tensor *x = &in[0];
  int axis = 0, arith = exact_arith(o->op.dtype);
  if (layer(o)) {
    exact_axis(o->axis, x->rank, &axis, NULL);
    p->rows = exact_extent(x, 0, axis);
    p->n = exact_extent(x, axis, x->rank);
    for (int i = 1; i < n; i++)
      if (in[i].dtype) set_table(&p->table[i - 1], x, axis, &in[i], arith);
    return;
  }
  size_t channels = (size_t)x->dims[1], groups = o->kind == NORM_GROUP ? (size_t)o->num_groups : channels;
  size_t spatial = exact_extent(x, 2, x->rank), per_group = groups ? channels / groups : 0;
  p->period = (size_t)in[1].dims[0];
  p->rows = (size_t)x->dims[0] * groups;
  p->n = per_group * spatial;
  p->segments = p->period == groups ? 1 : per_group;
  p->segment = p->period == groups ? p->n : spatial;
  for (int i = 0; i < 2; i++)
    p->table[i] = (exact_norm_table){
        .given = true, .direct = o->op.dtype == arith, .elements = p->period, .source = {1, {p->period}, {1}}};
}

static bool set_workspace(exact_norm_plan *p, int dtype) {
  size_t wide = exact_dtype_size(exact_arith(dtype)), *total = &p->plan.workspace, area = 0;
  bool fits = true, native = dtype == exact_arith(dtype);
  for (int i = 0; i < 2; i++)
    if (p->table[i].given && !p->table[i].direct) fits &= exact_part(total, p->table[i].elements, wide, &p->table[i].part);
  if (native) return fits;
  p->areas = (size_t)exact_slot_count(p->tasks);
  fits &= exact_mul(p->n, wide, &area) && exact_mul(exact_align(area), p->areas, &area) && area < EXACT_MOST_BYTES;
  p->area = area / p->areas;
  return fits && exact_part(total, area, 1, &p->slots);
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const exact_norm_op *o = (const exact_norm_op *)op;
  exact_tensor y[3];
  size_t count;
  int rc = infer(op, n, in, y, err);
  for (int i = 0; i < op->cls->outputs && !rc; i++) rc = exact_count(&y[i], "an output", &count, err);
  if (rc) return rc;
  exact_norm_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = exact_norm_run};
  for (int i = 0; i < op->cls->outputs; i++) p->plan.out[i] = y[i];
  set_rows(p, o, n, in);
  if (p->rows) {
    p->per_task = p->n < TASK_ELEMENTS ? TASK_ELEMENTS / (p->n ? p->n : 1) : 1;
    p->tasks = (p->rows - 1) / p->per_task + 1;
  }
  if (p->rows && p->n && !set_workspace(p, op->dtype)) {
    exact_fail(err, EXACT_INVALID, "a row of %zu elements is too large", p->n);
    free(p);
    return EXACT_INVALID;
  }
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- ops ---- */
static void free_op(exact_op *op) { free(op); }

#define CLASS(title, out, least, most) \
  { .name = title, .outputs = out, .min_inputs = least, .max_inputs = most, .infer = infer, .plan = plan, .free = free_op }
static const exact_op_class classes[] = {[NORM_LAYER] = CLASS("LayerNormalization", 3, 2, 3),
                                         [NORM_RMS] = CLASS("RMSNormalization", 1, 2, 2),
                                         [NORM_INSTANCE] = CLASS("InstanceNormalization", 1, 3, 3),
                                         [NORM_GROUP] = CLASS("GroupNormalization", 1, 3, 3)};

static int new_norm(const exact_norm_op *values, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, only float types are supported", exact_dtype_name(dtype));
  exact_norm_op *o = exact_op_new(sizeof *o, &classes[values->kind], dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  exact_op header = o->op;
  *o = *values;
  o->op = header;
  *op = &o->op;
  return EXACT_OK;
}

static int check_stash(int64_t stash_type, exact_error *err) {
  if (stash_type == EXACT_FLOAT32) return EXACT_OK;
  return exact_fail(err, EXACT_UNSUPPORTED, "stash_type = %lld, only 1 (float32) is supported", (long long)stash_type);
}

static int check_axis(int64_t axis, exact_error *err) {
  if (axis >= -EXACT_MAX_RANK && axis < EXACT_MAX_RANK) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "axis = %lld", (long long)axis);
}

int exact_layer_norm_new(const exact_layer_norm_attrs *a, int dtype, exact_op **op, exact_error *err) {
  int rc = check_stash(a->stash_type, err);
  if (!rc) rc = check_axis(a->axis, err);
  exact_norm_op o = {.kind = NORM_LAYER, .axis = (int)a->axis, .epsilon = a->epsilon};
  return rc ? rc : new_norm(&o, dtype, op, err);
}

int exact_rms_norm_new(const exact_layer_norm_attrs *a, int dtype, exact_op **op, exact_error *err) {
  int rc = check_stash(a->stash_type, err);
  if (!rc) rc = check_axis(a->axis, err);
  exact_norm_op o = {.kind = NORM_RMS, .axis = (int)a->axis, .epsilon = a->epsilon};
  return rc ? rc : new_norm(&o, dtype, op, err);
}

int exact_instance_norm_new(const exact_instance_norm_attrs *a, int dtype, exact_op **op, exact_error *err) {
  exact_norm_op o = {.kind = NORM_INSTANCE, .epsilon = a->epsilon};
  return new_norm(&o, dtype, op, err);
}

int exact_group_norm_new(const exact_group_norm_attrs *a, int dtype, exact_op **op, exact_error *err) {
  int rc = check_stash(a->stash_type, err);
  if (!rc && a->num_groups < 1)
    rc = exact_fail(err, EXACT_INVALID, "num_groups = %lld, must be at least 1", (long long)a->num_groups);
  exact_norm_op o = {.kind = NORM_GROUP, .epsilon = a->epsilon, .num_groups = a->num_groups, .parameters = a->parameters};
  return rc ? rc : new_norm(&o, dtype, op, err);
}
