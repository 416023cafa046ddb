/* BatchNormalization (inference). Per channel a = scale / sqrt(var + epsilon), b = bias - mean * a; y = x * a + b.
 * Every operation is rounded on its own, in float32 (float64 for a float64 x); NaN results are canonical.
 * y may be x. docs/batchnorm.md */
#include "batchnorm.h"

#include <stdlib.h>

#include "half.h"

typedef struct batchnorm_op {
  exact_op op;
  float epsilon;
} batchnorm_op;

typedef struct batchnorm_plan {
  exact_plan plan;
  int param_dtype[4];
  size_t channels, planes, size; /* planes of `size` elements; plane p belongs to channel p % channels */
  size_t pieces, piece;          /* a plane is cut into `pieces` of at most `piece` elements */
  size_t per_task, tasks;        /* pieces, or planes when a plane is one piece */
  size_t part[6];                /* workspace: a, b and the converted parameters, in the arithmetic type */
} batchnorm_plan;

enum { TASK_ELEMENTS = 32768 };

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  static const char *const names[] = {"X", "scale", "B", "mean", "var"};
  (void)n;
  for (int i = 0; i < 5; i++) {
    if (in[i].dtype == EXACT_ABSENT) return exact_fail(err, EXACT_INVALID, "%s is missing", names[i]);
    if (i ? !exact_is_float(in[i].dtype) : in[i].dtype != op->dtype)
      return exact_fail(err, EXACT_INVALID, "%s has the element type %s, expected %s", names[i], exact_dtype_name(in[i].dtype),
                        i ? "a float type" : exact_dtype_name(op->dtype));
  }
  if (in[0].rank < 1) return exact_fail(err, EXACT_INVALID, "X is a scalar, expected rank 1 or more");
  int64_t channels = in[0].rank > 1 ? in[0].dims[1] : 1;
  for (int i = 1; i < 5; i++) {
    char text[96];
    if (in[i].rank != 1 || (channels >= 0 && in[i].dims[0] >= 0 && in[i].dims[0] != channels))
      return exact_fail(err, EXACT_INVALID, "%s has the shape %s, expected one value for each of %lld channels", names[i],
                        exact_shape_text(&in[i], text), (long long)channels);
  }
  out[0] = in[0];
  out[0].data = NULL;
  return EXACT_OK;
}

/* ---- run ---- */
static const void *widened(const exact_call *call, int i) {
  const batchnorm_plan *p = (const batchnorm_plan *)call->plan;
  int from = p->param_dtype[i], to = exact_arith(call->plan->op->dtype);
  const void *src = call->in[i + 1];
  if (from == to) return src;
  void *dst = call->work + p->part[2 + i];
  float *f = dst;
  double *d = dst;
  if (to == EXACT_FLOAT32 && from == EXACT_FLOAT64)
    for (size_t c = 0; c < p->channels; c++) f[c] = (float)((const double *)src)[c];
  else if (to == EXACT_FLOAT32)
    exact_load_row(f, src, p->channels, from);
  else
    for (size_t c = 0; c < p->channels; c++) {
      float value;
      exact_load_row(&value, (const char *)src + c * exact_dtype_size(from), 1, from);
      d[c] = value;
    }
  return dst;
}

static void factors(void *arg, size_t task) {
  const exact_call *call = arg;
  const batchnorm_plan *p = (const batchnorm_plan *)call->plan;
  const struct exact_batchnorm_kernels *k = call->plan->op->isa->batchnorm;
  const void *params[4] = {widened(call, 0), widened(call, 1), widened(call, 2), widened(call, 3)};
  (void)task;
  (call->plan->op->dtype == EXACT_FLOAT64 ? k->factors64 : k->factors32)(
      params, ((const batchnorm_op *)call->plan->op)->epsilon, call->work + p->part[0], call->work + p->part[1], p->channels);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void apply(void *arg, size_t task) {
  const exact_call *call = arg;
  const batchnorm_plan *p = (const batchnorm_plan *)call->plan;
  const struct exact_batchnorm_kernels *k = call->plan->op->isa->batchnorm;
  int dtype = call->plan->op->dtype;
  size_t bytes = exact_dtype_size(dtype), wide = exact_dtype_size(exact_arith(dtype));
  const char *x = call->in[0], *a = call->work + p->part[0], *b = call->work + p->part[1];
  char *y = call->out[0];
  size_t at = task * p->per_task, end = least(at + p->per_task, p->planes * p->pieces);
  if (p->pieces > 1) {
    for (; at < end; at++) {
      size_t plane = at / p->pieces, start = at % p->pieces * p->piece, c = plane % p->channels * wide;
      size_t first = (plane * p->size + start) * bytes;
      k->planes(dtype, x + first, y + first, a + c, b + c, 1, least(p->piece, p->size - start));
    }
    return;
  }
  for (size_t count; at < end; at += count) { /* runs of planes up to the last channel */
    size_t c = at % p->channels, first = at * p->size * bytes;
    count = least(end - at, p->channels - c);
    if (p->size == 1)
      k->points(dtype, x + first, y + first, a + c * wide, b + c * wide, count);
    else
      k->planes(dtype, x + first, y + first, a + c * wide, b + c * wide, count, p->size);
  }
}

static void run(const exact_call *call) {
  const batchnorm_plan *p = (const batchnorm_plan *)call->plan;
  if (!p->tasks) return;
  exact_parallel(NULL, 1, factors, (void *)call);
  exact_parallel(call->threads, p->tasks, apply, (void *)call);
}

/* ---- plan ---- */
static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  size_t count;
  int rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&y, "Y", &count, err);
  if (rc) return rc;
  batchnorm_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  p->channels = y.rank > 1 ? (size_t)y.dims[1] : 1;
  if (count) {
    p->planes = (size_t)y.dims[0] * p->channels;
    p->size = count / p->planes;
    p->piece = least(p->size, TASK_ELEMENTS);
    p->pieces = (p->size - 1) / p->piece + 1;
    p->per_task = p->pieces > 1 || p->size >= TASK_ELEMENTS ? 1 : TASK_ELEMENTS / p->size;
    p->tasks = (p->planes * p->pieces - 1) / p->per_task + 1;
  }
  size_t wide = exact_dtype_size(exact_arith(op->dtype));
  bool fits = true;
  for (int i = 0; i < 6; i++) fits &= exact_part(&p->plan.workspace, p->channels, wide, &p->part[i]);
  if (!fits) {
    free(p);
    return exact_fail(err, EXACT_INVALID, "%lld channels are too many", (long long)y.dims[1]);
  }
  for (int i = 0; i < 4; i++) p->param_dtype[i] = in[i + 1].dtype;
  *out = &p->plan;
  return EXACT_OK;
}

static void free_op(exact_op *op) { free(op); }

static const exact_op_class batchnorm_class = {.name = "BatchNormalization",
                                               .outputs = 1,
                                               .min_inputs = 5,
                                               .max_inputs = 5,
                                               .infer = infer,
                                               .plan = plan,
                                               .free = free_op};

int exact_batchnorm_new(double epsilon, int dtype, exact_op **op, exact_error *err) {
  if (!exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, only float types are supported", exact_dtype_name(dtype));
  exact_error local;
  if (!err) err = &local;
  batchnorm_op *b = exact_op_new(sizeof *b, &batchnorm_class, dtype, EXACT_MODE_EXACT, err);
  if (!b) return err->code;
  b->epsilon = exact_to_float(epsilon);
  *op = &b->op;
  return EXACT_OK;
}
