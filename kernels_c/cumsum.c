/* CumSum and CumProd: attributes, the axis input, tasks. docs/cumsum.md */
#include "cumsum.h"

#include <stdlib.h>

#include "axis.h"
#include "reduce.h"

/* Lines side by side; elements widened at a time; elements of a task. */
enum { TILE = 1024, BLOCK = 1024, GROUP = 8, TASK_ELEMENTS = 32768 };

typedef struct cumsum_op {
  exact_op op;
  int kind, type;
  bool exclusive, reverse;
} cumsum_op;

typedef struct cumsum_plan {
  exact_plan plan;
  size_t outer, n, inner; /* the shape cut at the axis */
  size_t tiles, units, per_task, tasks;
} cumsum_plan;

/* ---- shapes ---- */
static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const exact_tensor *axis = &in[1];
  (void)n;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "x has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  if (axis->dtype != EXACT_INT32 && axis->dtype != EXACT_INT64)
    return exact_fail(err, EXACT_INVALID, "axis has the element type %s, must be int32 or int64",
                      exact_dtype_name(axis->dtype));
  if (axis->rank > 1 || (axis->rank == 1 && axis->dims[0] >= 0 && axis->dims[0] != 1))
    return exact_fail(err, EXACT_INVALID, "axis must hold one number");
  if (axis->data) {
    int index, rc;
    int64_t value = axis->dtype == EXACT_INT64 ? *(const int64_t *)axis->data : *(const int32_t *)axis->data;
    rc = exact_axis(value, in[0].rank, &index, err);
    if (rc) return rc;
  }
  *out = in[0];
  out->data = NULL;
  return EXACT_OK;
}

/* ---- run ---- */
static size_t least(size_t a, size_t b) { return a < b ? a : b; }

typedef struct cumsum_run {
  const cumsum_plan *p;
  const cumsum_op *o;
  const struct exact_cumsum_kernels *k;
  const char *x;
  char *y;
  size_t size;
  bool native;
} cumsum_run;

/* What the running value starts from. An inclusive sum starts from -0, which adds to x without a change: y[0] = x[0]. */
static void start(const cumsum_op *o, void *state, size_t n) {
  float f = o->kind == EXACT_CUMPROD ? 1.0f : o->exclusive ? 0.0f : -0.0f;
  for (size_t i = 0; i < n; i++) switch (o->type) {
      case CUM_F32: ((float *)state)[i] = f; break;
      case CUM_F64: ((double *)state)[i] = f; break;
      case CUM_U32: ((uint32_t *)state)[i] = o->kind == EXACT_CUMPROD; break;
      default: ((uint64_t *)state)[i] = o->kind == EXACT_CUMPROD;
    }
}

static void rows(const cumsum_run *r, size_t first, size_t end) {
  const cumsum_op *o = r->o;
  size_t n = r->p->n, part;
  double state[GROUP], block[BLOCK];
  for (; first < end; first += part) {
    const char *x = r->x + first * n * r->size;
    char *y = r->y + first * n * r->size;
    part = r->native ? least(end - first, GROUP) : 1;
    start(o, state, part);
    if (r->native) {
      r->k->rows[o->type][o->kind](x, n, part, o->exclusive, o->reverse, state, y);
      continue;
    }
    for (size_t done = 0, take; done < n; done += take) {
      take = least(n - done, BLOCK);
      size_t at = (o->reverse ? n - done - take : done) * r->size;
      exact_reduce_widen(block, x + at, take, o->op.dtype);
      r->k->rows[o->type][o->kind](block, take, 1, o->exclusive, o->reverse, state, block);
      exact_reduce_narrow(y + at, block, take, o->op.dtype);
    }
  }
}

static void tile(const cumsum_run *r, size_t unit) {
  const cumsum_plan *p = r->p;
  const cumsum_op *o = r->o;
  size_t outer = unit / p->tiles, from = unit % p->tiles * TILE, width = least(TILE, p->inner - from);
  size_t at = (outer * p->n * p->inner + from) * r->size;
  double state[TILE], row[TILE];
  start(o, state, width);
  if (r->native) {
    r->k->columns[o->type][o->kind](r->x + at, p->n, p->inner, width, o->exclusive, o->reverse, state, r->y + at);
    return;
  }
  for (size_t i = 0; i < p->n; i++) {
    size_t here = at + (o->reverse ? p->n - 1 - i : i) * p->inner * r->size;
    exact_reduce_widen(row, r->x + here, width, o->op.dtype);
    r->k->columns[o->type][o->kind](row, 1, 0, width, o->exclusive, false, state, row);
    exact_reduce_narrow(r->y + here, row, width, o->op.dtype);
  }
}

static void run_task(void *arg, size_t task) {
  const cumsum_run *r = arg;
  size_t first = task * r->p->per_task, end = least(first + r->p->per_task, r->p->units);
  if (r->p->inner == 1) {
    rows(r, first, end);
    return;
  }
  for (; first < end; first++) tile(r, first);
}

static void run(const exact_call *call) {
  const cumsum_plan *p = (const cumsum_plan *)call->plan;
  const cumsum_op *o = (const cumsum_op *)p->plan.op;
  cumsum_run r = {.p = p,
                  .o = o,
                  .k = o->op.isa->cumsum,
                  .x = call->in[0],
                  .y = call->out[0],
                  .size = exact_dtype_size(o->op.dtype),
                  .native = exact_reduce_native(o->op.dtype)};
  exact_parallel(call->threads, p->tasks, run_task, &r);
}

/* ---- plan ---- */
static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  int axis, rc = infer(op, n, in, &y, err);
  if (!rc && !in[1].data) rc = exact_fail(err, EXACT_INVALID, "axis has no data");
  if (rc) return rc;
  cumsum_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  exact_axis(in[1].dtype == EXACT_INT64 ? *(const int64_t *)in[1].data : *(const int32_t *)in[1].data, y.rank, &axis, NULL);
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  p->outer = exact_extent(&y, 0, axis);
  p->n = (size_t)y.dims[axis];
  p->inner = exact_extent(&y, axis + 1, y.rank);
  if (p->outer && p->n && p->inner) {
    size_t work = p->n * least(p->inner, TILE);
    p->tiles = (p->inner - 1) / TILE + 1;
    p->units = p->outer * p->tiles;
    p->per_task = work < TASK_ELEMENTS ? TASK_ELEMENTS / work : 1;
    if (p->inner == 1) p->per_task = (p->per_task + GROUP - 1) / GROUP * GROUP;
    p->tasks = (p->units - 1) / p->per_task + 1;
  }
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class cumsum_class = {.name = "CumSum",
                                            .outputs = 1,
                                            .min_inputs = 2,
                                            .max_inputs = 2,
                                            .value_inputs = 1u << 1,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op};

int exact_cumsum_new(int kind, const exact_cumsum_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (kind != EXACT_CUMSUM && kind != EXACT_CUMPROD) return exact_fail(err, EXACT_INVALID, "unknown kind %d", kind);
  int rc = exact_flag(attrs->exclusive, "exclusive", err);
  if (!rc) rc = exact_flag(attrs->reverse, "reverse", err);
  if (!rc && (!exact_dtype_size(dtype) || (!exact_is_float(dtype) && exact_dtype_size(dtype) < 4)))
    rc = exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  if (rc) return rc;
  cumsum_op *o = exact_op_new(sizeof *o, &cumsum_class, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->kind = kind;
  o->exclusive = attrs->exclusive;
  o->reverse = attrs->reverse;
  o->type = dtype == EXACT_FLOAT64         ? CUM_F64
            : exact_is_float(dtype)        ? CUM_F32
            : exact_dtype_size(dtype) == 8 ? CUM_U64
                                           : CUM_U32;
  *op = &o->op;
  return EXACT_OK;
}
