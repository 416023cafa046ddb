/* QuantizeLinear: y = saturate(round(x / scale) + zero_point), the division rounded, round to even. DequantizeLinear:
 * y = (x - zero_point) * scale, the difference exact and rounded to float32. DynamicQuantizeLinear: QuantizeLinear to uint8
 * with the scale and zero point of the range of x. All in float32. docs/quantize.md */
#include "quantize.h"

#include <stdlib.h>

#include "half.h"

enum { TASK = 16384 }; /* elements */
enum { QUANTIZE, DEQUANTIZE };

typedef struct quantize_op {
  exact_op base;
  int kind;
  exact_quantize_attrs attrs;
} quantize_op;

typedef struct quantize_plan {
  exact_plan base;
  exact_scales s;
  int scale_dtype, zero_dtype;
} quantize_plan;

static bool is_quantized(int dtype) {
  return dtype == EXACT_UINT8 || dtype == EXACT_INT8 || dtype == EXACT_UINT16 || dtype == EXACT_INT16;
}

static size_t tasks_of(size_t count) { return count / TASK + (count % TASK != 0); }

/* ---- shapes and types ---- */
static int output_type(const quantize_op *o, const exact_tensor *in, const exact_tensor *zero, int *type, exact_error *err) {
  int given = (int)o->attrs.output_dtype;
  if (o->kind == DEQUANTIZE) {
    if (zero->dtype && zero->dtype != o->base.dtype)
      return exact_fail(err, EXACT_INVALID, "the zero point has the element type %s, x %s", exact_dtype_name(zero->dtype),
                        exact_dtype_name(o->base.dtype));
    *type = given ? given : in[1].dtype;
    return EXACT_OK;
  }
  if (zero->dtype && given && zero->dtype != given)
    return exact_fail(err, EXACT_INVALID, "output_dtype is %s, the zero point has the element type %s", exact_dtype_name(given),
                      exact_dtype_name(zero->dtype));
  *type = zero->dtype ? zero->dtype : given ? given : EXACT_UINT8;
  if (is_quantized(*type)) return EXACT_OK;
  return exact_fail(err, EXACT_UNSUPPORTED, "the zero point has the element type %s", exact_dtype_name(*type));
}

static int geometry(const exact_op *op, int n, const exact_tensor *in, exact_scales *s, exact_tensor *out, exact_error *err) {
  const quantize_op *o = (const quantize_op *)op;
  const exact_tensor none = {.dtype = EXACT_ABSENT}, *zero = n > 2 ? &in[2] : &none;
  int type = 0, rc;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "x has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(op->dtype));
  if ((rc = exact_scales_init(s, &in[0], &in[1], zero, o->attrs.axis, o->attrs.block_size, err))) return rc;
  if ((rc = output_type(o, in, zero, &type, err))) return rc;
  *out = in[0];
  out->dtype = type;
  out->data = NULL;
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  exact_scales s;
  return geometry(op, n, in, &s, out, err);
}

/* ---- run ---- */
typedef struct rows_run {
  const exact_scales *s;
  void (*kernel)(const exact_quantize_row *r);
  exact_quantize_row row; /* of the whole tensor */
} rows_run;

static void rows_task(void *arg, size_t task) {
  const rows_run *r = arg;
  size_t first = task * TASK, end = r->s->count - first < TASK ? r->s->count : first + TASK;
  exact_quantize_row row = r->row;
  for (; first < end; first += row.n) {
    exact_scale_run run = exact_scales_at(r->s, first);
    row.step = run.step;
    row.n = run.length < end - first ? run.length : end - first;
    row.x = (const char *)r->row.x + first * exact_dtype_size(row.x_dtype);
    row.y = (char *)r->row.y + first * exact_dtype_size(row.y_dtype);
    row.scale = (const char *)r->row.scale + run.index * exact_dtype_size(row.scale_dtype);
    if (row.zero) row.zero = (const char *)r->row.zero + run.index * exact_dtype_size(row.zero_dtype);
    r->kernel(&row);
  }
}

static void run(const exact_call *call) {
  const quantize_plan *p = (const quantize_plan *)call->plan;
  const exact_op *op = p->base.op;
  const struct exact_quantize_kernels *k = op->isa->quantize;
  rows_run r = {.s = &p->s, .kernel = ((const quantize_op *)op)->kind == QUANTIZE ? k->quantize : k->dequantize};
  r.row = (exact_quantize_row){.x = call->in[0],
                               .scale = call->in[1],
                               .zero = p->zero_dtype ? call->in[2] : NULL,
                               .y = call->out[0],
                               .x_dtype = op->dtype,
                               .scale_dtype = p->scale_dtype,
                               .zero_dtype = p->zero_dtype,
                               .y_dtype = p->base.out[0].dtype};
  exact_parallel(call->threads, tasks_of(p->s.count), rows_task, &r);
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_scales s;
  exact_tensor y;
  size_t count;
  int rc = geometry(op, n, in, &s, &y, err);
  if (rc || (rc = exact_count(&y, "the output", &count, err))) return rc;
  quantize_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = run, .out = {y}};
  p->s = s;
  p->scale_dtype = in[1].dtype;
  p->zero_dtype = n > 2 ? in[2].dtype : EXACT_ABSENT;
  *out = &p->base;
  return EXACT_OK;
}

/* ---- DynamicQuantizeLinear ---- */
typedef struct range_run {
  const struct exact_quantize_kernels *k;
  const float *x;
  size_t count;
  float *ranges; /* low and high of each task */
} range_run;

static void range_task(void *arg, size_t task) {
  const range_run *r = arg;
  size_t first = task * TASK, n = r->count - first < TASK ? r->count - first : TASK;
  r->ranges[2 * task] = r->ranges[2 * task + 1] = 0;
  r->k->range(r->x + first, n, &r->ranges[2 * task], &r->ranges[2 * task + 1]);
}

typedef struct scale_job {
  const struct exact_quantize_kernels *k;
  const float *ranges;
  size_t tasks;
  float scale;
  uint8_t zero;
} scale_job;

/* The range of x with 0, and what follows from it. */
static void scale_task(void *arg, size_t index) {
  scale_job *j = arg;
  float low = 0, high = 0;
  bool nan = false;
  (void)index;
  for (size_t i = 0; i < j->tasks; i++) {
    low = j->ranges[2 * i] < low ? j->ranges[2 * i] : low;
    high = j->ranges[2 * i + 1] > high ? j->ranges[2 * i + 1] : high;
    nan = nan || j->ranges[2 * i] != j->ranges[2 * i];
  }
  const float minus_low = 0 - low; /* the quotient's sign is all that this changes */
  j->scale = nan ? exact_f32_from_bits(0x7FC00000u) : high == low ? 1.0f : (high - low) / 255.0f;
  const exact_quantize_row row = {.x = &minus_low,
                                  .scale = &j->scale,
                                  .y = &j->zero,
                                  .x_dtype = EXACT_FLOAT32,
                                  .scale_dtype = EXACT_FLOAT32,
                                  .y_dtype = EXACT_UINT8,
                                  .n = 1};
  j->k->quantize(&row);
}

static void run_dynamic(const exact_call *call) {
  const exact_plan *p = call->plan;
  const struct exact_quantize_kernels *k = p->op->isa->quantize;
  exact_scales s = {.form = EXACT_SCALE_TENSOR};
  exact_count(&p->out[0], "x", &s.count, NULL);
  range_run ranges = {k, call->in[0], s.count, (float *)call->work};
  scale_job job = {.k = k, .ranges = ranges.ranges, .tasks = tasks_of(s.count)};
  exact_parallel(call->threads, job.tasks, range_task, &ranges);
  exact_parallel(NULL, 1, scale_task, &job);
  if (call->out[1]) memcpy(call->out[1], &job.scale, sizeof job.scale);
  if (call->out[2]) memcpy(call->out[2], &job.zero, sizeof job.zero);
  if (!call->out[0]) return;
  rows_run r = {.s = &s, .kernel = k->quantize};
  r.row = (exact_quantize_row){.x = call->in[0],
                               .scale = &job.scale,
                               .zero = &job.zero,
                               .y = call->out[0],
                               .x_dtype = EXACT_FLOAT32,
                               .scale_dtype = EXACT_FLOAT32,
                               .zero_dtype = EXACT_UINT8,
                               .y_dtype = EXACT_UINT8};
  exact_parallel(call->threads, job.tasks, rows_task, &r);
}

static int infer_dynamic(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  (void)n;
  if (in[0].dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "x has the element type %s, expected float32", exact_dtype_name(in[0].dtype));
  out[0] = in[0];
  out[0].dtype = EXACT_UINT8;
  out[0].data = NULL;
  out[1] = (exact_tensor){.dtype = EXACT_FLOAT32};
  out[2] = (exact_tensor){.dtype = EXACT_UINT8};
  return EXACT_OK;
}

static int plan_dynamic(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y[3];
  size_t count, at;
  int rc = infer_dynamic(op, n, in, y, err);
  if (rc || (rc = exact_count(&in[0], "x", &count, err))) return rc;
  exact_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  *p = (exact_plan){.op = op, .run = run_dynamic, .out = {y[0], y[1], y[2]}};
  exact_part(&p->workspace, tasks_of(count), 2 * sizeof(float), &at); /* less than x takes */
  *out = p;
  return EXACT_OK;
}

/* ---- ops ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class quantize_class = {
    .name = "QuantizeLinear", .outputs = 1, .min_inputs = 2, .max_inputs = 3, .infer = infer, .plan = plan, .free = free_op};
static const exact_op_class dequantize_class = {
    .name = "DequantizeLinear", .outputs = 1, .min_inputs = 2, .max_inputs = 3, .infer = infer, .plan = plan, .free = free_op};
static const exact_op_class dynamic_class = {.name = "DynamicQuantizeLinear",
                                             .outputs = 3,
                                             .min_inputs = 1,
                                             .max_inputs = 1,
                                             .infer = infer_dynamic,
                                             .plan = plan_dynamic,
                                             .free = free_op};

static int unsupported_type(int dtype, exact_error *err) {
  return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
}

static int create(const exact_op_class *cls, int kind, const exact_quantize_attrs *attrs, int dtype, exact_op **op,
                  exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  quantize_op *o = exact_op_new(sizeof *o, cls, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->kind = kind;
  o->attrs = *attrs;
  *op = &o->base;
  return EXACT_OK;
}

int exact_quantize_linear_new(const exact_quantize_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  int64_t type = attrs->output_dtype;
  if (!exact_is_scale(dtype)) return unsupported_type(dtype, err);
  if (type && (type < 0 || type > EXACT_BFLOAT16 || !is_quantized((int)type)))
    return exact_fail(err, EXACT_UNSUPPORTED, "output_dtype %lld", (long long)type);
  if (attrs->precision && attrs->precision != EXACT_FLOAT32 && attrs->precision != EXACT_FLOAT16 &&
      attrs->precision != EXACT_BFLOAT16)
    return exact_fail(err, EXACT_UNSUPPORTED, "precision %lld", (long long)attrs->precision);
  return create(&quantize_class, QUANTIZE, attrs, dtype, op, err);
}

int exact_dequantize_linear_new(const exact_quantize_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  int64_t type = attrs->output_dtype;
  if (!is_quantized(dtype) && dtype != EXACT_INT32) return unsupported_type(dtype, err);
  if (type && (type < 0 || type > EXACT_BFLOAT16 || !exact_is_scale((int)type)))
    return exact_fail(err, EXACT_UNSUPPORTED, "output_dtype %lld", (long long)type);
  return create(&dequantize_class, DEQUANTIZE, attrs, dtype, op, err);
}

int exact_dynamic_quantize_linear_new(int dtype, exact_op **op, exact_error *err) {
  if (dtype != EXACT_FLOAT32) return unsupported_type(dtype, err);
  return create(&dynamic_class, QUANTIZE, &(exact_quantize_attrs){0}, dtype, op, err);
}
