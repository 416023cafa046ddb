/* MaxUnpool: Y is +0, then Y[I[q]] = X[q] for q in order; bit patterns are moved. The indices are examined when the plan is
 * made, so that a run cannot fail. docs/unpool.md */
#include "unpool.h"

#include <stdlib.h>

#include "window.h"

enum { TASK_BYTES = 131072 };

typedef struct unpool_op {
  exact_op op;
  exact_window window;
} unpool_op;

/* A part of X and I goes to a part of Y: plane by plane where every index lies in its own plane, else there is one part. */
typedef struct unpool_plan {
  exact_plan plan;
  size_t parts, in, out; /* elements of a part */
  size_t per_task, tasks;
} unpool_plan;

/* ---- shapes ---- */
static int check_inputs(const unpool_op *o, int n, const exact_tensor *in, exact_error *err) {
  char a[96], b[96];
  int spatial = o->window.spatial;
  if (in[0].dtype != o->op.dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(o->op.dtype));
  if (in[0].rank != spatial + 2)
    return exact_fail(err, EXACT_INVALID, "X has rank %d, expected %d for the %d values of kernel_shape", in[0].rank,
                      spatial + 2, spatial);
  if (in[1].dtype != EXACT_INT64)
    return exact_fail(err, EXACT_INVALID, "the indices have the element type %s, expected int64",
                      exact_dtype_name(in[1].dtype));
  bool same = in[1].rank == in[0].rank;
  for (int i = 0; same && i < in[0].rank; i++) same = in[0].dims[i] < 0 || in[1].dims[i] < 0 || in[0].dims[i] == in[1].dims[i];
  if (!same)
    return exact_fail(err, EXACT_INVALID, "the indices have the shape %s, X has %s", exact_shape_text(&in[1], a),
                      exact_shape_text(&in[0], b));
  if (n < 3 || !in[2].dtype) return EXACT_OK;
  if (in[2].dtype != EXACT_INT64)
    return exact_fail(err, EXACT_INVALID, "output_shape has the element type %s, expected int64",
                      exact_dtype_name(in[2].dtype));
  if (in[2].rank != 1 || (in[2].dims[0] >= 0 && in[2].dims[0] != spatial + 2))
    return exact_fail(err, EXACT_INVALID, "output_shape has the shape %s, expected %d elements", exact_shape_text(&in[2], a),
                      spatial + 2);
  return EXACT_OK;
}

static int natural_size(const unpool_op *o, const exact_tensor *x, exact_tensor *y, exact_error *err) {
  const exact_window *w = &o->window;
  for (int i = 2; i < x->rank; i++) {
    int axis = 3 - w->spatial + i - 2;
    int64_t n = x->dims[i], size;
    y->dims[i] = -1;
    if (n < 0) continue;
    if (__builtin_mul_overflow(n - 1, w->stride[axis], &size) ||
        __builtin_add_overflow(size, w->kernel[axis] - w->begin[axis] - w->end[axis], &size))
      return exact_fail(err, EXACT_INVALID, "Y is too large: input %lld, stride %lld", (long long)n,
                        (long long)w->stride[axis]);
    if (size < 1)
      return exact_fail(err, EXACT_INVALID, "Y has the size %lld: input %lld, stride %lld, kernel %lld, pads %lld and %lld",
                        (long long)size, (long long)n, (long long)w->stride[axis], (long long)w->kernel[axis],
                        (long long)w->begin[axis], (long long)w->end[axis]);
    y->dims[i] = size;
  }
  return EXACT_OK;
}

static int given_size(const exact_tensor *x, const int64_t *shape, exact_tensor *y, exact_error *err) {
  for (int i = 0; i < x->rank; i++) {
    if (i < 2 ? x->dims[i] >= 0 && shape[i] != x->dims[i] : shape[i] < 1)
      return exact_fail(err, EXACT_INVALID, "output_shape holds %lld at %d, expected %s%lld", (long long)shape[i], i,
                        i < 2 ? "" : "at least ", i < 2 ? (long long)x->dims[i] : 1);
    y->dims[i] = shape[i];
  }
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const unpool_op *o = (const unpool_op *)op;
  int rc = check_inputs(o, n, in, err);
  if (rc) return rc;
  *out = in[0];
  out->data = NULL;
  if (n < 3 || !in[2].dtype) return natural_size(o, in, out, err);
  if (in[2].data) return given_size(in, in[2].data, out, err);
  for (int i = 2; i < in[0].rank; i++) out->dims[i] = -1;
  return EXACT_OK;
}

/* ---- plan ---- */
static int check_indices(const int64_t *index, size_t count, size_t n, exact_error *err) {
  for (size_t q = 0; q < count; q++)
    if (index[q] < 0 || (uint64_t)index[q] >= n)
      return exact_fail(err, EXACT_INVALID, "index %lld at position %zu is outside Y of %zu elements", (long long)index[q], q,
                        n);
  return EXACT_OK;
}

static int cut(unpool_plan *p, const exact_tensor *x, const int64_t *index, size_t count, size_t n, exact_error *err) {
  size_t planes = n ? (size_t)x->dims[0] * (size_t)x->dims[1] : 0;
  bool local = true;
  if (!n) return count ? check_indices(index, count, n, err) : EXACT_OK;
  for (size_t i = 0; local && count && i < planes; i++)
    local = p->plan.op->isa->unpool->inside(index + i * (count / planes), count / planes, i * (n / planes), n / planes);
  if (!local) {
    int rc = check_indices(index, count, n, err);
    if (rc) return rc;
  }
  p->parts = local ? planes : 1;
  p->in = count / p->parts;
  p->out = n / p->parts;
  size_t bytes = p->out * exact_dtype_size(x->dtype);
  p->per_task = bytes < TASK_BYTES ? TASK_BYTES / bytes : 1;
  p->tasks = (p->parts - 1) / p->per_task + 1;
  return EXACT_OK;
}

static void run(const exact_call *call);

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  size_t count = 0, elements = 0;
  int rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&in[0], "X", &count, err);
  if (!rc && n > 2 && in[2].dtype && !in[2].data) rc = exact_fail(err, EXACT_INVALID, "output_shape has no data");
  if (!rc) rc = exact_count(&y, "Y", &elements, err);
  if (!rc && count && !in[1].data) rc = exact_fail(err, EXACT_INVALID, "the indices have no data");
  if (rc) return rc;
  unpool_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  rc = cut(p, in, in[1].data, count, elements, err);
  if (rc)
    free(p);
  else
    *out = &p->plan;
  return rc;
}

/* ---- run ---- */
#define SCATTER(type)                                                            \
  {                                                                              \
    for (size_t q = 0; q < n; q++) ((type *)y)[index[q]] = ((const type *)x)[q]; \
    return;                                                                      \
  }

static void scatter(size_t size, const void *x, const int64_t *index, size_t n, void *y) {
  if (size == 2) SCATTER(uint16_t)
  if (size == 4) SCATTER(uint32_t)
  SCATTER(uint64_t)
}

static void run_task(void *arg, size_t task) {
  const exact_call *call = arg;
  const unpool_plan *p = (const unpool_plan *)call->plan;
  size_t size = exact_dtype_size(p->plan.op->dtype), first = task * p->per_task, parts = p->per_task;
  if (parts > p->parts - first) parts = p->parts - first;
  memset((char *)call->out[0] + first * p->out * size, 0, parts * p->out * size);
  scatter(size, (const char *)call->in[0] + first * p->in * size, (const int64_t *)call->in[1] + first * p->in, parts * p->in,
          call->out[0]);
}

static void run(const exact_call *call) {
  const unpool_plan *p = (const unpool_plan *)call->plan;
  if (call->out[0]) exact_parallel(call->threads, p->tasks, run_task, (void *)call);
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class unpool_class = {.name = "MaxUnpool",
                                            .outputs = 1,
                                            .min_inputs = 2,
                                            .max_inputs = 3,
                                            .value_inputs = 1u << 1 | 1u << 2,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op};

int exact_max_unpool_new(const exact_max_unpool_attrs *a, int dtype, exact_op **op, exact_error *err) {
  const exact_window_attrs attrs = {.kernel_shape = a->kernel_shape, .strides = a->strides, .pads = a->pads};
  exact_window window;
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, only float types are supported", exact_dtype_name(dtype));
  if (attrs.kernel_shape.n == 0) return exact_fail(err, EXACT_INVALID, "kernel_shape is missing");
  int rc = exact_window_init(&window, &attrs, attrs.kernel_shape.n, NULL, err);
  if (rc) return rc;
  unpool_op *o = exact_op_new(sizeof *o, &unpool_class, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->window = window;
  *op = &o->op;
  return EXACT_OK;
}
