/* One input, element by element: attributes, the limits of Clip, tasks. docs/unary.md */
#include "unary.h"

#include <float.h>
#include <stdlib.h>

#include "half.h"

typedef struct unary_op {
  exact_op op;
  int kind;
  exact_unary_fn f;
  bool narrow, attributes; /* float16 or bfloat16; Clip with the limits of opset 6 */
  exact_unary_args args;
} unary_op;

typedef struct unary_plan {
  exact_plan plan;
  size_t n, per_task, tasks;
  bool limit[2]; /* Clip: which limits are there */
} unary_plan;

/* ---- shapes ---- */
static int check_limit(const exact_op *op, const exact_tensor *t, const char *name, exact_error *err) {
  if (t->dtype == EXACT_ABSENT) return EXACT_OK;
  if (t->dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "%s has the element type %s, expected %s", name, exact_dtype_name(t->dtype),
                      exact_dtype_name(op->dtype));
  if (t->rank > 1 || (t->rank == 1 && t->dims[0] >= 0 && t->dims[0] != 1))
    return exact_fail(err, EXACT_INVALID, "%s must hold one number", name);
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  int rc = EXACT_OK;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  for (int i = 1; i < n && !rc; i++) rc = check_limit(op, &in[i], i == 1 ? "min" : "max", err);
  *out = in[0];
  out->data = NULL;
  return rc;
}

/* ---- the limits of Clip ---- */
static double limit_real(const void *data, int dtype) {
  switch (dtype) {
    case EXACT_FLOAT32: return *(const float *)data;
    case EXACT_FLOAT64: return *(const double *)data;
    case EXACT_FLOAT16: return exact_f16_to_f32(*(const uint16_t *)data);
    default: return exact_bf16_to_f32(*(const uint16_t *)data);
  }
}

static int64_t limit_whole(const void *data, int dtype) {
  switch (dtype) {
    case EXACT_INT8: return *(const int8_t *)data;
    case EXACT_INT16: return *(const int16_t *)data;
    case EXACT_INT32: return *(const int32_t *)data;
    case EXACT_UINT8: return *(const uint8_t *)data;
    case EXACT_UINT16: return *(const uint16_t *)data;
    case EXACT_UINT32: return *(const uint32_t *)data;
    default: return *(const int64_t *)data; /* uint64: its bits */
  }
}

/* The least and the largest finite number of the type. */
static void set_widest(exact_unary_args *a, int dtype) {
  int bits = 8 * (int)exact_dtype_size(dtype);
  bool is_signed = dtype == EXACT_INT8 || dtype == EXACT_INT16 || dtype == EXACT_INT32 || dtype == EXACT_INT64;
  if (exact_is_float(dtype)) {
    a->beta = dtype == EXACT_FLOAT64    ? DBL_MAX
              : dtype == EXACT_FLOAT16  ? 65504
              : dtype == EXACT_BFLOAT16 ? 0x1.fep127
                                        : FLT_MAX;
    a->alpha = -a->beta;
  } else {
    a->hi = (int64_t)(~(uint64_t)0 >> (64 - bits + is_signed));
    a->lo = is_signed ? -a->hi - 1 : 0;
  }
}

/* ---- run ---- */
typedef struct unary_run {
  const unary_plan *p;
  const unary_op *o;
  exact_unary_args args;
  const char *x;
  char *y;
  size_t size;
} unary_run;

static void run_task(void *arg, size_t task) {
  const unary_run *r = arg;
  size_t first = task * r->p->per_task, left = r->p->n - first, n = left < r->p->per_task ? left : r->p->per_task;
  const char *x = r->x + first * r->size;
  char *y = r->y + first * r->size;
  if (r->o->narrow)
    r->args.isa->unary->half(r->o->f, &r->args, r->o->op.dtype, x, y, n);
  else
    r->o->f(&r->args, x, y, n);
}

static void run(const exact_call *call) {
  const unary_plan *p = (const unary_plan *)call->plan;
  const unary_op *o = (const unary_op *)p->plan.op;
  int dtype = o->op.dtype;
  unary_run r = {.p = p, .o = o, .args = o->args, .x = call->in[0], .y = call->out[0], .size = exact_dtype_size(dtype)};
  if (o->kind == EXACT_UNARY_CLIP && !o->attributes) {
    const void *lo = p->limit[0] ? call->in[1] : NULL, *hi = p->limit[1] ? call->in[2] : NULL;
    if (exact_is_float(dtype)) {
      if (lo) r.args.alpha = limit_real(lo, dtype);
      if (hi) r.args.beta = limit_real(hi, dtype);
    } else {
      if (lo) r.args.lo = limit_whole(lo, dtype);
      if (hi) r.args.hi = limit_whole(hi, dtype);
    }
  }
  exact_parallel(call->threads, p->tasks, run_task, &r);
}

/* ---- plan ---- */
/* Elements of a task: about 20 microseconds, several times what handing it to another thread costs. */
static size_t task_elements(int kind) {
  enum { MOVED = 32768, COMPUTED = 8192 };
  switch (kind) {
    case EXACT_UNARY_ABS:
    case EXACT_UNARY_CEIL:
    case EXACT_UNARY_CLIP:
    case EXACT_UNARY_FLOOR:
    case EXACT_UNARY_HARD_SIGMOID:
    case EXACT_UNARY_HARD_SWISH:
    case EXACT_UNARY_LEAKY_RELU:
    case EXACT_UNARY_NEG:
    case EXACT_UNARY_RECIPROCAL:
    case EXACT_UNARY_RELU:
    case EXACT_UNARY_ROUND:
    case EXACT_UNARY_SIGN:
    case EXACT_UNARY_SOFTSIGN:
    case EXACT_UNARY_SQRT:
    case EXACT_UNARY_THRESHOLDED_RELU: return MOVED;
    default: return COMPUTED;
  }
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const unary_op *o = (const unary_op *)op;
  exact_tensor y;
  int rc = infer(op, n, in, &y, err);
  if (rc) return rc;
  unary_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  p->per_task = task_elements(o->kind);
  rc = exact_count(&y, "X", &p->n, err);
  if (rc) {
    free(p);
    return rc;
  }
  p->tasks = (p->n + p->per_task - 1) / p->per_task;
  for (int i = 1; i < n; i++) p->limit[i - 1] = in[i].dtype != EXACT_ABSENT;
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

#define UNARY_CLASS(inputs) \
  { .name = "unary", .outputs = 1, .min_inputs = 1, .max_inputs = inputs, .infer = infer, .plan = plan, .free = free_op }
static const exact_op_class unary_class = UNARY_CLASS(1), clip_class = UNARY_CLASS(3);

/* The kernel of a kind and type; NULL if there is none. */
static exact_unary_fn find(const exact_isa *isa, int kind, int dtype) {
  bool wide = dtype == EXACT_FLOAT64;
  if (!exact_is_float(dtype)) return dtype > 0 && dtype <= EXACT_UINT64 ? isa->unary->whole[dtype][kind] : NULL;
  exact_unary_fn f = (wide ? isa->unary->f64 : isa->unary->f32)[kind];
  if (!f) f = (wide ? isa->composed->f64 : isa->composed->f32)[kind];
  return f || wide ? f : isa->activation->f32[kind];
}

/* NULL: *err tells why. */
static unary_op *new_op(int kind, const exact_op_class *cls, int dtype, exact_error *err) {
  const exact_isa *isa = exact_isa_table(err);
  exact_unary_fn f = isa ? find(isa, kind, dtype) : NULL;
  if (isa && !f) exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  unary_op *o = f ? exact_op_new(sizeof *o, cls, dtype, EXACT_MODE_EXACT, err) : NULL;
  if (!o) return NULL;
  o->kind = kind;
  o->f = f;
  o->narrow = dtype == EXACT_FLOAT16 || dtype == EXACT_BFLOAT16;
  o->args.isa = o->op.isa;
  return o;
}

int exact_unary_new(int kind, const exact_unary_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (kind < 0 || kind >= EXACT_UNARY_KINDS || kind == EXACT_UNARY_CLIP)
    return exact_fail(err, EXACT_INVALID, "unknown kind %d", kind);
  unary_op *o = new_op(kind, &unary_class, dtype, err);
  if (!o) return err->code;
  o->args.alpha = kind == EXACT_UNARY_HARD_SWISH ? 0x1.555556p-3 : attrs->alpha;
  o->args.beta = kind == EXACT_UNARY_HARD_SWISH ? 0.5 : attrs->beta;
  o->args.gamma = attrs->gamma;
  *op = &o->op;
  return EXACT_OK;
}

int exact_clip_new(const exact_clip_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (attrs->limits && !exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "the attributes min and max with the element type %s", exact_dtype_name(dtype));
  unary_op *o = new_op(EXACT_UNARY_CLIP, attrs->limits ? &unary_class : &clip_class, dtype, err);
  if (!o) return err->code;
  set_widest(&o->args, dtype);
  o->attributes = attrs->limits;
  if (attrs->limits) {
    o->args.alpha = attrs->min;
    o->args.beta = attrs->max;
  }
  *op = &o->op;
  return EXACT_OK;
}
