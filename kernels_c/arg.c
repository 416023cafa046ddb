/* ArgMax and ArgMin: attributes, shapes, tasks. Rows lie along the last axis; otherwise tiles of neighbouring scans go through
 * the axis together. docs/arg.md */
#include "arg.h"

#include <stdlib.h>

#include "axis.h"

/* Scans side by side; elements widened at a time; elements of a task. */
enum { TILE = 256, BLOCK = 1024, TASK_ELEMENTS = 32768 };

typedef struct arg_op {
  exact_op op;
  int kind, type;
  exact_arg_attrs attrs;
} arg_op;

typedef struct arg_plan {
  exact_plan plan;
  size_t outer, n, inner; /* the shape cut at the axis */
  size_t tiles, units, per_task, tasks;
} arg_plan;

/* ---- shapes ---- */
static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const arg_op *o = (const arg_op *)op;
  int axis, rc = exact_axis(o->attrs.axis, in[0].rank, &axis, err);
  (void)n;
  if (rc) return rc;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "data has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  *out = (exact_tensor){.dtype = EXACT_INT64};
  for (int i = 0; i < in[0].rank; i++)
    if (i != axis || o->attrs.keepdims) out->dims[out->rank++] = i == axis ? 1 : in[0].dims[i];
  return EXACT_OK;
}

/* ---- run ---- */
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

typedef struct arg_run {
  const arg_plan *p;
  const struct exact_arg_kernels *k;
  const char *x;
  int64_t *y;
  int type, kind, dtype;
  bool last, native;
  size_t size;
} arg_run;

static void rows(const arg_run *r, size_t first, size_t end) {
  size_t n = r->p->n;
  if (r->native) {
    r->k->rows[r->type][r->kind](r->x + first * n * r->size, n, end - first, r->last, r->y + first);
    return;
  }
  for (; first < end; first++) {
    const char *x = r->x + first * n * r->size;
    double block[BLOCK], best;
    exact_reduce_widen(&best, x, 1, r->dtype);
    r->y[first] = 0;
    for (size_t i = 0, part; i < n; i += part) {
      part = least(n - i, BLOCK);
      exact_reduce_widen(block, x + i * r->size, part, r->dtype);
      r->k->more[r->type][r->kind](block, part, i, r->last, &best, &r->y[first]);
    }
  }
}

static void tile(const arg_run *r, size_t unit) {
  const arg_plan *p = r->p;
  size_t outer = unit / p->tiles, start = unit % p->tiles * TILE, width = least(TILE, p->inner - start);
  const char *x = r->x + (outer * p->n * p->inner + start) * r->size;
  int64_t *y = r->y + outer * p->inner + start;
  double best[TILE], row[TILE];
  memset(y, 0, width * sizeof *y);
  exact_reduce_widen(best, x, width, r->dtype);
  if (r->native) {
    r->k->columns[r->type][r->kind](x, p->inner, p->n, 0, width, r->last, best, y);
    return;
  }
  for (size_t i = 0; i < p->n; i++) {
    exact_reduce_widen(row, x + i * p->inner * r->size, width, r->dtype);
    r->k->columns[r->type][r->kind](row, width, 1, i, width, r->last, best, y);
  }
}

static void run_task(void *arg, size_t task) {
  const arg_run *r = arg;
  size_t first = task * r->p->per_task, end = least(first + r->p->per_task, r->p->units);
  if (r->p->inner == 1) {
    rows(r, first, end);
    return;
  }
  for (; first < end; first++) tile(r, first);
}

static void run(const exact_call *call) {
  const arg_plan *p = (const arg_plan *)call->plan;
  const arg_op *o = (const arg_op *)p->plan.op;
  arg_run r = {.p = p,
               .k = o->op.isa->arg,
               .x = call->in[0],
               .y = call->out[0],
               .type = o->type,
               .kind = o->kind,
               .dtype = o->op.dtype,
               .last = o->attrs.select_last_index,
               .native = exact_reduce_native(o->op.dtype),
               .size = exact_dtype_size(o->op.dtype)};
  if (p->n)
    exact_parallel(call->threads, p->tasks, run_task, &r);
  else if (p->outer && p->inner)
    memset(r.y, 0, p->outer * p->inner * sizeof *r.y);
}

/* ---- plan ---- */
static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  size_t count;
  int axis, rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&y, "the output", &count, err);
  if (rc) return rc;
  arg_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  exact_axis(((const arg_op *)op)->attrs.axis, in[0].rank, &axis, NULL);
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  p->outer = exact_extent(&in[0], 0, axis);
  p->n = (size_t)in[0].dims[axis];
  p->inner = exact_extent(&in[0], axis + 1, in[0].rank);
  if (p->outer && p->n && p->inner) {
    p->tiles = (p->inner - 1) / TILE + 1;
    p->units = p->outer * p->tiles;
    size_t work = p->n * least(p->inner, TILE);
    p->per_task = work < TASK_ELEMENTS ? TASK_ELEMENTS / work : 1;
    p->tasks = (p->units - 1) / p->per_task + 1;
  }
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class arg_class = {
    .name = "Arg", .outputs = 1, .min_inputs = 1, .max_inputs = 1, .infer = infer, .plan = plan, .free = free_op};

int exact_arg_new(int kind, const exact_arg_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (kind != EXACT_ARG_MAX && kind != EXACT_ARG_MIN) return exact_fail(err, EXACT_INVALID, "unknown kind %d", kind);
  int rc = exact_flag(attrs->keepdims, "keepdims", err);
  if (!rc) rc = exact_flag(attrs->select_last_index, "select_last_index", err);
  if (!rc && (!exact_dtype_size(dtype) || dtype == EXACT_BOOL))
    rc = exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  if (rc) return rc;
  arg_op *o = exact_op_new(sizeof *o, &arg_class, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->kind = kind == EXACT_ARG_MAX ? ARG_MAX : ARG_MIN;
  o->type = exact_reduce_type(dtype);
  o->attrs = *attrs;
  *op = &o->op;
  return EXACT_OK;
}
