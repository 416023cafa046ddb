/* Cast of floats to integers and bool: types, tasks. docs/cast.md */
#include "cast.h"

#include <stdlib.h>

enum { TASK_ELEMENTS = 32768 };

typedef struct cast_op {
  exact_op op;
  int to;
} cast_op;

typedef struct cast_plan {
  exact_plan plan;
  size_t n, tasks;
} cast_plan;

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  (void)n;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  *out = in[0];
  out->dtype = ((const cast_op *)op)->to;
  out->data = NULL;
  return EXACT_OK;
}

/* ---- run ---- */
static void run_task(void *arg, size_t task) {
  const exact_call *call = arg;
  const cast_plan *p = (const cast_plan *)call->plan;
  const exact_op *op = p->plan.op;
  const struct exact_cast_kernels *k = op->isa->cast;
  size_t first = task * TASK_ELEMENTS, left = p->n - first, n = left < TASK_ELEMENTS ? left : TASK_ELEMENTS;
  int to = ((const cast_op *)op)->to;
  const char *x = (const char *)call->in[0] + first * exact_dtype_size(op->dtype);
  char *y = (char *)call->out[0] + first * exact_dtype_size(to);
  if (exact_dtype_size(op->dtype) == 2)
    k->half(op->dtype, to, x, y, n);
  else
    k->to[op->dtype == EXACT_FLOAT64 ? CAST_F64 : CAST_F32][to](x, y, n);
}

static void run(const exact_call *call) {
  exact_parallel(call->threads, ((const cast_plan *)call->plan)->tasks, run_task, (void *)call);
}

/* ---- plan ---- */
static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  size_t count;
  int rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&y, "Y", &count, err);
  if (rc) return rc;
  cast_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  p->n = count;
  p->tasks = (count + TASK_ELEMENTS - 1) / TASK_ELEMENTS;
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class cast_class = {
    .name = "Cast", .outputs = 1, .min_inputs = 1, .max_inputs = 1, .infer = infer, .plan = plan, .free = free_op};

int exact_cast_new(int from, int64_t to, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (to < EXACT_FLOAT32 || to > 26) return exact_fail(err, EXACT_INVALID, "to is %lld, no element type", (long long)to);
  if (!exact_is_float(from) || exact_is_float((int)to) || !exact_dtype_size((int)to))
    return exact_fail(err, EXACT_UNSUPPORTED, "from %s to %s", exact_dtype_name(from), exact_dtype_name((int)to));
  cast_op *o = exact_op_new(sizeof *o, &cast_class, from, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->to = (int)to;
  *op = &o->op;
  return EXACT_OK;
}
