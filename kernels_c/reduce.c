/* The reductions: attributes, output shape, and the geometry: dimensions of extent one dropped, neighbours that are both
 * reduced or both kept merged. docs/reduce.md */
#include "reduce.h"

#include <stdlib.h>

#include "axis.h"
#include "exp_log_kernels.h"

enum { TASK_ELEMENTS = 32768 };

int exact_reduce_elementary(int kind) {
  static const int of[] = {
      [EXACT_REDUCE_SUM] = RED_SUM,          [EXACT_REDUCE_MEAN] = RED_SUM,          [EXACT_REDUCE_L1] = RED_ABS,
      [EXACT_REDUCE_L2] = RED_SQUARE,        [EXACT_REDUCE_SUM_SQUARE] = RED_SQUARE, [EXACT_REDUCE_LOG_SUM] = RED_SUM,
      [EXACT_REDUCE_LOG_SUM_EXP] = RED_PEAK, [EXACT_REDUCE_PROD] = RED_PROD,         [EXACT_REDUCE_MAX] = RED_MAX,
      [EXACT_REDUCE_MIN] = RED_MIN};
  return of[kind];
}

/* ---- axes and output shape ---- */
typedef struct axis_set {
  bool known;
  bool reduced[EXACT_MAX_RANK];
} axis_set;

static int read_axes(const exact_reduce_op *r, int n, const exact_tensor *in, axis_set *set, exact_error *err) {
  const int64_t *axes = r->attrs.axes;
  int64_t count = r->attrs.n_axes;
  *set = (axis_set){.known = true};
  if (n > 1 && in[1].dtype) {
    if (count) return exact_fail(err, EXACT_INVALID, "axes is given both as attribute and as input");
    if (in[1].dtype != EXACT_INT64)
      return exact_fail(err, EXACT_INVALID, "axes has the element type %s, must be int64", exact_dtype_name(in[1].dtype));
    if (in[1].rank != 1) return exact_fail(err, EXACT_INVALID, "axes has rank %d, must be 1", in[1].rank);
    axes = in[1].data;
    count = in[1].dims[0];
    set->known = count == 0 || (count > 0 && axes);
  }
  if (!set->known) return EXACT_OK;
  for (int64_t i = 0; i < count; i++) {
    int index, rc = exact_axis(axes[i], in[0].rank, &index, err);
    if (rc) return rc;
    set->reduced[index] = true;
  }
  if (count == 0 && !r->attrs.noop_with_empty_axes)
    for (int i = 0; i < in[0].rank; i++) set->reduced[i] = true;
  return EXACT_OK;
}

static int shape(const exact_reduce_op *r, int n, const exact_tensor *in, axis_set *set, exact_tensor *out, exact_error *err) {
  if (in[0].dtype != r->op.dtype)
    return exact_fail(err, EXACT_INVALID, "data has the element type %s, expected %s", exact_dtype_name(in[0].dtype),
                      exact_dtype_name(r->op.dtype));
  int rc = read_axes(r, n, in, set, err);
  if (rc) return rc;
  *out = (exact_tensor){.dtype = in[0].dtype};
  if (!set->known && !r->attrs.keepdims) {
    out->rank = -1;
    return EXACT_OK;
  }
  for (int i = 0; i < in[0].rank; i++) {
    int64_t dim = in[0].dims[i];
    if (!set->known) /* reduced to one or kept */
      out->dims[out->rank++] = dim == 1 ? 1 : -1;
    else if (!set->reduced[i])
      out->dims[out->rank++] = dim;
    else if (r->attrs.keepdims)
      out->dims[out->rank++] = 1;
  }
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  axis_set set;
  return shape((const exact_reduce_op *)op, n, in, &set, out, err);
}

/* ---- geometry ---- */
size_t exact_runs_count(const exact_runs *runs) {
  size_t count = 1;
  for (int i = 0; i < runs->n; i++) count *= runs->extent[i];
  return count;
}

size_t exact_runs_offset(const exact_runs *runs, size_t index) {
  size_t offset = 0;
  for (int i = runs->n - 1; i >= 0; i--) {
    offset += index % runs->extent[i] * runs->stride[i];
    index /= runs->extent[i];
  }
  return offset;
}

static void append(exact_runs *runs, size_t extent, size_t stride) {
  runs->extent[runs->n] = extent;
  runs->stride[runs->n++] = stride;
}

void exact_reduce_merge(exact_reduce_plan *p, const exact_tensor *x, const bool *is_reduced) {
  size_t extent[EXACT_MAX_RANK], stride = 1;
  bool reduced[EXACT_MAX_RANK];
  int runs = 0;
  for (int i = 0; i < x->rank; i++) {
    if (x->dims[i] == 1) continue;
    if (runs && reduced[runs - 1] == is_reduced[i]) {
      extent[runs - 1] *= (size_t)x->dims[i];
    } else {
      extent[runs] = (size_t)x->dims[i];
      reduced[runs++] = is_reduced[i];
    }
  }
  for (int i = 0; i < runs; i++) stride *= extent[i];
  p->elements = stride;
  p->columns = runs == 0 || !reduced[runs - 1];
  p->width = p->length = p->step = 1;
  for (int i = 0; i < runs; i++) {
    stride /= extent[i];
    if (reduced[i] && i >= runs - 2) {
      p->length = extent[i];
      p->step = stride;
    } else if (p->columns && i == runs - 1) {
      p->width = extent[i];
    } else {
      append(reduced[i] ? &p->reduced : &p->kept, extent[i], stride);
    }
  }
  p->outputs = exact_runs_count(&p->kept) * p->width;
  p->terms = exact_runs_count(&p->reduced) * p->length;
  p->tile = p->width < RED_TILE ? p->width : RED_TILE;
  p->tiles = (p->width - 1) / p->tile + 1;
  p->units = exact_runs_count(&p->kept) * p->tiles;
  size_t work = p->terms * p->tile;
  p->per_task = work < TASK_ELEMENTS ? TASK_ELEMENTS / work : 1;
  p->tasks = (p->units - 1) / p->per_task + 1;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const exact_reduce_op *r = (const exact_reduce_op *)op;
  axis_set set;
  exact_tensor y;
  size_t elements, outputs;
  int rc = shape(r, n, in, &set, &y, err);
  if (!rc && !set.known) rc = exact_fail(err, EXACT_INVALID, "axes has no data");
  if (!rc) rc = exact_count(&in[0], "data", &elements, err);
  if (!rc) rc = exact_count(&y, "the output", &outputs, err);
  if (rc) return rc;
  exact_reduce_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = exact_reduce_run, .out = {y}};
  p->outputs = outputs;
  if (elements) exact_reduce_merge(p, &in[0], set.reduced);
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class reduce_class = {.name = "Reduce",
                                            .outputs = 1,
                                            .min_inputs = 1,
                                            .max_inputs = 2,
                                            .value_inputs = 1u << 1,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op};

int exact_reduce_type(int dtype) {
  switch (dtype) {
    case EXACT_FLOAT64: return RED_F64;
    case EXACT_FLOAT32:
    case EXACT_FLOAT16:
    case EXACT_BFLOAT16: return RED_F32;
    case EXACT_UINT32: return RED_U32;
    case EXACT_INT64: return RED_I64;
    case EXACT_UINT64: return RED_U64;
    default: return RED_I32;
  }
}

bool exact_reduce_native(int dtype) { return exact_dtype_size(dtype) >= 4; }

static int check_type(int kind, int dtype, exact_error *err) {
  bool best = kind == EXACT_REDUCE_MAX || kind == EXACT_REDUCE_MIN;
  bool root = kind == EXACT_REDUCE_L2 || kind == EXACT_REDUCE_LOG_SUM || kind == EXACT_REDUCE_LOG_SUM_EXP;
  bool wide = exact_is_float(dtype) || exact_dtype_size(dtype) >= 4;
  if (!wide && !(best && exact_dtype_size(dtype) == 1))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  if (root && !exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s: L2, LogSum and LogSumExp have no rule for integers",
                      exact_dtype_name(dtype));
  return EXACT_OK;
}

int exact_reduce_new(int kind, const exact_reduce_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (kind < EXACT_REDUCE_SUM || kind > EXACT_REDUCE_MIN) return exact_fail(err, EXACT_INVALID, "unknown reduction %d", kind);
  int rc = exact_flag(attrs->keepdims, "keepdims", err);
  if (!rc) rc = exact_flag(attrs->noop_with_empty_axes, "noop_with_empty_axes", err);
  if (!rc && (attrs->n_axes < 0 || attrs->n_axes > EXACT_MAX_RANK))
    rc = exact_fail(err, EXACT_INVALID, "axes has %d values, at most %d are supported", attrs->n_axes, EXACT_MAX_RANK);
  if (!rc) rc = check_type(kind, dtype, err);
  if (rc) return rc;
  const exact_isa *isa = exact_isa_table(err);
  if (!isa) return err->code;
  bool logarithm = kind == EXACT_REDUCE_LOG_SUM || kind == EXACT_REDUCE_LOG_SUM_EXP;
  if (logarithm && dtype == EXACT_FLOAT64 && !isa->exp_log->log64)
    return exact_fail(err, EXACT_UNSUPPORTED, "element type float64: exp and log are exact in float32 only");
  exact_reduce_op *r = exact_op_new(sizeof *r, &reduce_class, dtype, EXACT_MODE_EXACT, err);
  if (!r) return err->code;
  r->kind = kind;
  r->type = exact_reduce_type(dtype);
  r->attrs = *attrs;
  *op = &r->op;
  return EXACT_OK;
}
