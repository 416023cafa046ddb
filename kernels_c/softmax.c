/* Softmax, LogSoftmax, Hardmax: attributes, rows, chunks. The kernels want contiguous rows or 16 rows side by side in their
 * arithmetic type; anything else goes through scratch. docs/softmax.md */
#include "softmax.h"

#include <stdlib.h>

#include "axis.h"
#include "half.h"

enum { TASK_ELEMENTS = 16384, LANES = EXACT_SOFTMAX_LANES };

typedef struct softmax_op {
  exact_op op;
  int kind, flatten;
  int64_t axis;
} softmax_op;

/* Row i is n elements `inner` apart from (i / inner) * n * inner + i % inner on. */
typedef struct softmax_plan {
  exact_plan plan;
  size_t rows, n, inner;
  size_t chunk, tasks; /* rows of a task */
  size_t scratch;      /* bytes of one area; 0: none */
  int slots;
} softmax_plan;

typedef struct softmax_run {
  const softmax_plan *plan;
  const char *in;
  char *out;
  exact_slots slots;
} softmax_run;

/* ---- shapes ---- */
static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const softmax_op *o = (const softmax_op *)op;
  int axis;
  (void)n;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "input has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  int rc = exact_axis(o->axis, in[0].rank, &axis, err);
  if (rc) return rc;
  out[0] = in[0];
  out[0].data = NULL;
  return EXACT_OK;
}

/* ---- elements to and from scratch ---- */
static float get32(const void *p, size_t i, int dtype) {
  if (dtype == EXACT_FLOAT32) return ((const float *)p)[i];
  uint16_t h = ((const uint16_t *)p)[i];
  return dtype == EXACT_FLOAT16 ? exact_f16_to_f32(h) : exact_bf16_to_f32(h);
}
static void put32(void *p, size_t i, int dtype, float v) {
  if (dtype == EXACT_FLOAT32)
    ((float *)p)[i] = v;
  else
    ((uint16_t *)p)[i] = dtype == EXACT_FLOAT16 ? exact_f32_to_f16(v) : exact_f32_to_bf16(v);
}

static size_t row_start(const softmax_plan *p, size_t row) { return row / p->inner * p->n * p->inner + row % p->inner; }

/* The rows of [first, first + count), count <= 16, side by side; lanes of the scratch without a row hold zeros. */
static void run_lanes(const softmax_run *r, size_t first, size_t count, float *tile) {
  const softmax_plan *p = r->plan;
  const softmax_op *o = (const softmax_op *)p->plan.op;
  const int dtype = o->op.dtype;
  const bool fast = o->op.mode == EXACT_MODE_FAST;
  size_t start[LANES];
  for (size_t i = 0; i < count; i++) start[i] = row_start(p, first + i);
  if (dtype == EXACT_FLOAT32 && count == LANES && start[LANES - 1] - start[0] == LANES - 1) {
    o->op.isa->softmax->lanes32((const float *)r->in + start[0], (float *)r->out + start[0], p->n, p->inner, o->kind, fast);
    return;
  }
  if (count < LANES) memset(tile, 0, p->n * LANES * sizeof *tile);
  for (size_t j = 0; j < p->n; j++)
    for (size_t i = 0; i < count; i++) tile[j * LANES + i] = get32(r->in, start[i] + j * p->inner, dtype);
  o->op.isa->softmax->lanes32(tile, tile, p->n, LANES, o->kind, fast);
  for (size_t j = 0; j < p->n; j++)
    for (size_t i = 0; i < count; i++) put32(r->out, start[i] + j * p->inner, dtype, tile[j * LANES + i]);
}

static void run_row64(const softmax_run *r, size_t row, double *scratch) {
  const softmax_plan *p = r->plan;
  const softmax_op *o = (const softmax_op *)p->plan.op;
  const double *x = (const double *)r->in + row_start(p, row);
  double *y = (double *)r->out + row_start(p, row);
  for (size_t j = 0; j < p->n; j++) scratch[j] = x[j * p->inner];
  exact_softmax_rows64(scratch, scratch, 1, p->n, o->kind);
  for (size_t j = 0; j < p->n; j++) y[j * p->inner] = scratch[j];
}

static void run_rows(const softmax_run *r, size_t first, size_t count, float *scratch) {
  const softmax_plan *p = r->plan;
  const softmax_op *o = (const softmax_op *)p->plan.op;
  const struct exact_softmax_kernels *k = o->op.isa->softmax;
  const bool fast = o->op.mode == EXACT_MODE_FAST;
  const size_t at = first * p->n * exact_dtype_size(o->op.dtype);
  if (o->op.dtype == EXACT_FLOAT64) {
    exact_softmax_rows64((const double *)(r->in + at), (double *)(r->out + at), count, p->n, o->kind);
  } else if (o->op.dtype == EXACT_FLOAT32) {
    k->rows32((const float *)(r->in + at), (float *)(r->out + at), count, p->n, o->kind, fast);
  } else {
    k->rows16((const uint16_t *)(r->in + at), (uint16_t *)(r->out + at), count, p->n, o->op.dtype, o->kind, fast, scratch);
  }
}

static void task(void *arg, size_t index) {
  softmax_run *r = arg;
  const softmax_plan *p = r->plan;
  size_t first = index * p->chunk, end = p->rows - first < p->chunk ? p->rows : first + p->chunk;
  void *scratch = p->scratch ? exact_slot_take(&r->slots) : NULL;
  if (p->inner == 1)
    run_rows(r, first, end - first, scratch);
  else if (p->plan.op->dtype == EXACT_FLOAT64)
    for (size_t i = first; i < end; i++) run_row64(r, i, scratch);
  else
    for (size_t i = first; i < end; i += LANES) run_lanes(r, i, end - i < LANES ? end - i : LANES, scratch);
  if (scratch) exact_slot_give(&r->slots, scratch);
}

static void run(const exact_call *call) {
  const softmax_plan *p = (const softmax_plan *)call->plan;
  softmax_run r = {.plan = p, .in = call->in[0], .out = call->out[0]};
  if (!p->tasks || !r.out) return;
  exact_slots_init(&r.slots, call->work, p->scratch, p->slots);
  exact_parallel(call->threads, p->tasks, task, &r);
}

/* ---- plan ---- */
static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const softmax_op *o = (const softmax_op *)op;
  const exact_tensor *x = &in[0];
  int axis = 0, rc = exact_axis(o->axis, x->rank, &axis, err);
  size_t at, scratch;
  softmax_plan *p = rc ? NULL : exact_new(sizeof *p, err);
  if (!p) return rc ? rc : EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = run};
  rc = infer(op, n, in, p->plan.out, err);
  p->n = exact_extent(x, axis, o->flatten ? x->rank : axis + 1);
  p->inner = o->flatten ? 1 : exact_extent(x, axis + 1, x->rank);
  p->rows = exact_extent(x, 0, axis) * p->inner;
  if (p->n == 0 || p->inner == 0) p->rows = 0;
  size_t unit = p->inner == 1 || op->dtype == EXACT_FLOAT64 ? 1 : LANES;
  if (p->rows) {
    size_t units = TASK_ELEMENTS / unit / p->n;
    p->chunk = unit * (units ? units : 1);
    p->tasks = (p->rows - 1) / p->chunk + 1;
  }
  bool direct = p->inner == 1 && (op->dtype == EXACT_FLOAT32 || op->dtype == EXACT_FLOAT64);
  p->slots = exact_slot_count(p->tasks);
  if (!rc && p->tasks && !direct) {
    bool fits = exact_mul(p->n, unit * (op->dtype == EXACT_FLOAT64 ? sizeof(double) : sizeof(float)), &scratch) &&
                scratch < (size_t)1 << 47;
    p->scratch = fits ? exact_align(scratch) : 0;
    if (!fits || !exact_part(&p->plan.workspace, (size_t)p->slots, p->scratch, &at))
      rc = exact_fail(err, EXACT_NO_MEMORY, "scratch for rows of %zu elements is too large", p->n);
  }
  if (rc) {
    free(p);
    return rc;
  }
  *out = &p->plan;
  return EXACT_OK;
}

static void free_op(exact_op *op) { free(op); }

int exact_softmax_new(int kind, int64_t axis, int flatten, int dtype, int mode, exact_op **op, exact_error *err) {
  static const exact_op_class classes[3] = {
      [EXACT_SOFTMAX] = {"softmax", 1, 1, 1, 0, infer, plan, free_op, NULL, NULL, NULL, NULL},
      [EXACT_LOG_SOFTMAX] = {"log_softmax", 1, 1, 1, 0, infer, plan, free_op, NULL, NULL, NULL, NULL},
      [EXACT_HARDMAX] = {"hardmax", 1, 1, 1, 0, infer, plan, free_op, NULL, NULL, NULL, NULL}};
  if (kind < EXACT_SOFTMAX || kind > EXACT_HARDMAX) return exact_fail(err, EXACT_INVALID, "unknown kind %d", kind);
  if (!exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, only float types are supported", exact_dtype_name(dtype));
  exact_error local;
  if (!err) err = &local;
  softmax_op *o = exact_op_new(sizeof *o, &classes[kind], dtype, mode, err);
  if (!o) return err->code;
  o->kind = kind;
  o->axis = axis;
  o->flatten = flatten != 0;
  *op = &o->op;
  return EXACT_OK;
}
