/* Resize and Upsample: attributes, scales and sizes, the output's shape. docs/resize.md, "Sizes" and "Attributes and errors" */
#include "resize.h"

#include <math.h>
#include <stdlib.h>

#include "axis.h"
#include "half.h"

enum { X, ROI, SCALES, SIZES };

typedef struct geometry {
  bool known; /* the output's shape, as far as the dimensions of X are */
  int listed, axis[EXACT_MAX_RANK];
  exact_resize_extent extent[EXACT_MAX_RANK];
} geometry;

/* ---- inputs ---- */
static bool is_empty(const exact_tensor *t) {
  for (int i = 0; i < t->rank; i++)
    if (t->dims[i] == 0) return true;
  return false;
}

/* The input of that role, in the order of the form; NULL when absent, as scales and sizes without elements are. */
static const exact_tensor *input(const exact_resize_op *op, int n, const exact_tensor *in, int role) {
  int at = op->attrs.form == EXACT_RESIZE_11 ? role : role == SCALES ? 1 : n;
  if (at >= n || in[at].dtype == EXACT_ABSENT || (role != ROI && is_empty(&in[at]))) return NULL;
  return &in[at];
}

static int check_list(const exact_tensor *t, const char *name, int64_t count, exact_error *err) {
  char text[96];
  if (t->rank == 1 && (t->dims[0] == count || t->dims[0] < 0)) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s has the shape %s, must be one dimension of %lld", name, exact_shape_text(t, text),
                    (long long)count);
}

static int check_type(const exact_tensor *t, const char *name, int dtype, exact_error *err) {
  if (t->dtype == dtype) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s has the element type %s, must be %s", name, exact_dtype_name(t->dtype),
                    exact_dtype_name(dtype));
}

static int list_axes(const exact_resize_op *op, const exact_tensor *x, geometry *g, exact_error *err) {
  const exact_resize_attrs *a = &op->attrs;
  if (x->rank == 0) return exact_fail(err, EXACT_INVALID, "X has rank 0, must have at least 1");
  for (int i = 0; i < x->rank; i++) g->extent[i].in = g->extent[i].out = x->dims[i];
  g->listed = a->n_axes ? a->n_axes : x->rank;
  for (int i = 0; i < g->listed; i++) {
    int rc = exact_axis(a->n_axes ? a->axes[i] : i, x->rank, &g->axis[i], err);
    if (rc) return rc;
    exact_resize_extent *e = &g->extent[g->axis[i]];
    if (e->listed) return exact_fail(err, EXACT_INVALID, "axes names the axis %d twice", g->axis[i]);
    *e = (exact_resize_extent){.listed = true, .in = e->in, .out = -1, .scale = 1.0f, .end = 1.0f};
  }
  return EXACT_OK;
}

/* ---- sizes ---- */
static int check_scale(const exact_resize_op *op, float s, exact_error *err) {
  if (!(s > 0.0f) || isinf(s)) return exact_fail(err, EXACT_INVALID, "scales has the value %g, must be positive and finite", s);
  if (op->attrs.form == EXACT_UPSAMPLE && s < 1.0f)
    return exact_fail(err, EXACT_INVALID, "scales has the value %g, must be at least 1", s);
  return EXACT_OK;
}

static int from_scales(const exact_resize_op *op, const float *scales, geometry *g, exact_error *err) {
  for (int i = 0; i < g->listed; i++) {
    exact_resize_extent *e = &g->extent[g->axis[i]];
    int rc = check_scale(op, scales[i], err);
    if (rc) return rc;
    e->scale = scales[i];
    if (e->in < 0) continue;
    float p = floorf((float)e->in * e->scale);
    if (e->in > 0 && p >= 0x1p63f)
      return exact_fail(err, EXACT_INVALID, "an axis of %lld by the scale %g is too large", (long long)e->in, e->scale);
    e->out = e->in > 0 ? (int64_t)p : 0;
  }
  return EXACT_OK;
}

static int64_t round_half_up(float p) {
  float f = floorf(p);
  return p - f >= 0.5f ? (int64_t)f + 1 : (int64_t)f;
}

/* The policies not_larger and not_smaller: one scale for all listed axes. */
static int keep_ratio(const exact_resize_op *op, const int64_t *sizes, geometry *g, exact_error *err) {
  float s = 1.0f;
  bool any = false;
  for (int i = 0; i < g->listed; i++) {
    const exact_resize_extent *e = &g->extent[g->axis[i]];
    if (e->in < 0) return EXACT_OK; /* as long as an extent is not known, no size is */
    if (e->in == 0) continue;
    float quotient = (float)sizes[i] / (float)e->in;
    if (!any || (op->attrs.policy == EXACT_NOT_LARGER ? quotient < s : quotient > s)) s = quotient;
    any = true;
  }
  for (int i = 0; i < g->listed; i++) {
    exact_resize_extent *e = &g->extent[g->axis[i]];
    float p = (float)e->in * s;
    if (e->in > 0 && p >= 0x1p63f)
      return exact_fail(err, EXACT_INVALID, "an axis of %lld by the scale %g is too large", (long long)e->in, s);
    e->scale = s;
    e->out = e->in > 0 ? round_half_up(p) : 0;
  }
  return EXACT_OK;
}

static int from_sizes(const exact_resize_op *op, const int64_t *sizes, geometry *g, exact_error *err) {
  for (int i = 0; i < g->listed; i++) {
    exact_resize_extent *e = &g->extent[g->axis[i]];
    if (sizes[i] < 0 || (e->in > 0 && sizes[i] == 0) || (e->in == 0 && sizes[i] > 0))
      return exact_fail(err, EXACT_INVALID, "sizes has the value %lld for an axis of %lld", (long long)sizes[i],
                        (long long)e->in);
    if (op->attrs.policy != EXACT_STRETCH) continue;
    e->out = sizes[i];
    if (e->in > 0) e->scale = (float)sizes[i] / (float)e->in;
  }
  return op->attrs.policy == EXACT_STRETCH ? EXACT_OK : keep_ratio(op, sizes, g, err);
}

/* Reads scales and sizes. g->known: their data is there. */
static int read_extents(const exact_resize_op *op, int n, const exact_tensor *in, geometry *g, exact_error *err) {
  const exact_resize_attrs *a = &op->attrs;
  const exact_tensor *scales = input(op, n, in, SCALES), *sizes = input(op, n, in, SIZES);
  int rc = scales ? check_type(scales, "scales", EXACT_FLOAT32, err) : EXACT_OK;
  if (!rc && scales) rc = check_list(scales, "scales", g->listed, err);
  if (!rc && sizes) rc = check_type(sizes, "sizes", EXACT_INT64, err);
  if (!rc && sizes) rc = check_list(sizes, "sizes", g->listed, err);
  if (rc) return rc;
  /* A length that is not known may be zero: the input may be absent. */
  bool maybe = (scales && scales->dims[0] < 0) || (sizes && sizes->dims[0] < 0);
  if (maybe) return EXACT_OK;
  if (a->n_scales && scales) return exact_fail(err, EXACT_INVALID, "scales is given both as attribute and as input");
  if (a->n_scales && a->n_scales != g->listed)
    return exact_fail(err, EXACT_INVALID, "scales has %d values, must have %d", a->n_scales, g->listed);
  if (scales && sizes) return exact_fail(err, EXACT_INVALID, "both scales and sizes are given");
  if (!scales && !sizes && !a->n_scales)
    return exact_fail(err, EXACT_INVALID,
                      a->form == EXACT_RESIZE_11 ? "neither scales nor sizes are given" : "scales is missing");
  if (!sizes && a->policy != EXACT_STRETCH)
    return exact_fail(err, EXACT_INVALID, "keep_aspect_ratio_policy must be stretch if scales are given");
  g->known = a->n_scales || (scales ? scales : sizes)->data;
  if (!g->known) return EXACT_OK;
  if (sizes) return from_sizes(op, sizes->data, g, err);
  return from_scales(op, a->n_scales ? a->scales : scales->data, g, err);
}

/* ---- roi ---- */
static float roi_value(const exact_tensor *roi, int i) {
  if (roi->dtype == EXACT_FLOAT64) return (float)((const double *)roi->data)[i];
  if (roi->dtype == EXACT_FLOAT16) return exact_f16_to_f32(((const uint16_t *)roi->data)[i]);
  return ((const float *)roi->data)[i];
}

static int read_roi(const exact_resize_op *op, int n, const exact_tensor *in, geometry *g, exact_error *err) {
  const exact_tensor *roi = input(op, n, in, ROI);
  if (op->attrs.transform != EXACT_TF_CROP_AND_RESIZE || !roi) return EXACT_OK;
  if (roi->dtype != EXACT_FLOAT32 && roi->dtype != EXACT_FLOAT64 && roi->dtype != EXACT_FLOAT16)
    return exact_fail(err, EXACT_INVALID, "roi has the element type %s, must be float32, float64 or float16",
                      exact_dtype_name(roi->dtype));
  int rc = check_list(roi, "roi", 2 * g->listed, err);
  if (rc || roi->dims[0] < 0 || !roi->data) return rc;
  for (int i = 0; i < g->listed; i++) {
    g->extent[g->axis[i]].start = roi_value(roi, i);
    g->extent[g->axis[i]].end = roi_value(roi, g->listed + i);
  }
  return EXACT_OK;
}

/* ---- shape ---- */
static int shape(const exact_resize_op *op, int n, const exact_tensor *in, geometry *g, exact_tensor *out, exact_error *err) {
  *g = (geometry){0};
  if (in[X].dtype != op->op.dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in[X].dtype),
                      exact_dtype_name(op->op.dtype));
  int rc = list_axes(op, &in[X], g, err);
  if (!rc) rc = read_extents(op, n, in, g, err);
  if (!rc) rc = read_roi(op, n, in, g, err);
  if (rc) return rc;
  *out = (exact_tensor){.dtype = in[X].dtype, .rank = in[X].rank};
  for (int i = 0; i < out->rank; i++) {
    exact_resize_extent *e = &g->extent[i];
    bool crop = op->attrs.transform == EXACT_TF_CROP_AND_RESIZE;
    e->resampled = e->listed && e->in != 0 && (crop || e->scale != 1.0f || e->out != e->in);
    out->dims[i] = e->out;
  }
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  geometry g;
  return shape((const exact_resize_op *)op, n, in, &g, out, err);
}

/* ---- plan ---- */
static int missing_data(const exact_resize_op *op, int n, const exact_tensor *in, const geometry *g, exact_error *err) {
  const exact_tensor *roi = input(op, n, in, ROI);
  if (!g->known) return exact_fail(err, EXACT_INVALID, "scales or sizes has no data");
  if (op->attrs.transform == EXACT_TF_CROP_AND_RESIZE && roi && !roi->data)
    return exact_fail(err, EXACT_INVALID, "roi has no data");
  return EXACT_OK;
}

static void run_nothing(const exact_call *call) { (void)call; }

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const exact_resize_op *r = (const exact_resize_op *)op;
  geometry g;
  exact_tensor y;
  size_t count;
  int rc = shape(r, n, in, &g, &y, err);
  if (!rc) rc = missing_data(r, n, in, &g, err);
  if (!rc) rc = exact_count(&y, "the output", &count, err);
  for (int i = 0; !rc && i < y.rank; i++)
    if (g.extent[i].resampled && (g.extent[i].in > INT32_MAX || g.extent[i].out > INT32_MAX))
      rc = exact_fail(err, EXACT_UNSUPPORTED, "axis %d is longer than 2147483647 elements", i);
  if (rc) return rc;
  if (count == 0) {
    *out = exact_new(sizeof **out, err);
    if (!*out) return EXACT_NO_MEMORY;
    **out = (exact_plan){.op = op, .run = run_nothing, .out = {y}};
    return EXACT_OK;
  }
  exact_resize_taps taps[EXACT_MAX_RANK] = {0};
  for (int i = 0; !rc && i < y.rank; i++) rc = exact_resize_taps_new(r, &g.extent[i], &taps[i], err);
  if (!rc) rc = exact_resize_plan_new(r, &y, taps, out, err);
  for (int i = 0; i < y.rank; i++) exact_resize_taps_free(&taps[i]);
  return rc;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

#define CLASS(most, values)                                                                                                    \
  {                                                                                                                            \
    .name = "Resize", .outputs = 1, .min_inputs = 1, .max_inputs = most, .value_inputs = values, .infer = infer, .plan = plan, \
    .free = free_op                                                                                                            \
  }
static const exact_op_class sized = CLASS(4, 1u << SCALES | 1u << SIZES);
static const exact_op_class cropped = CLASS(4, 1u << ROI | 1u << SCALES | 1u << SIZES);
static const exact_op_class scaled = CLASS(2, 1u << 1);

static int check_choice(int value, int most, const char *name, exact_error *err) {
  if (value >= 0 && value <= most) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s has the unknown value %d", name, value);
}

static int check_attrs(const exact_resize_attrs *a, int dtype, exact_error *err) {
  int rc = check_choice(a->form, EXACT_UPSAMPLE, "form", err);
  if (!rc) rc = check_choice(a->mode, EXACT_RESIZE_CUBIC, "mode", err);
  if (!rc) rc = check_choice(a->transform, EXACT_TF_CROP_AND_RESIZE, "coordinate_transformation_mode", err);
  if (!rc) rc = check_choice(a->nearest, EXACT_CEIL, "nearest_mode", err);
  if (!rc) rc = check_choice(a->policy, EXACT_NOT_SMALLER, "keep_aspect_ratio_policy", err);
  if (!rc) rc = exact_flag(a->exclude_outside, "exclude_outside", err);
  if (!rc) rc = exact_flag(a->antialias, "antialias", err);
  if (rc) return rc;
  if (a->n_axes < 0 || a->n_axes > EXACT_MAX_RANK)
    return exact_fail(err, EXACT_INVALID, "axes has %d values, at most %d are supported", a->n_axes, EXACT_MAX_RANK);
  if (a->n_scales < 0 || a->n_scales > EXACT_MAX_RANK)
    return exact_fail(err, EXACT_INVALID, "scales has %d values, at most %d are supported", a->n_scales, EXACT_MAX_RANK);
  if (a->form != EXACT_RESIZE_11 && a->mode == EXACT_RESIZE_CUBIC)
    return exact_fail(err, EXACT_INVALID, "mode must be nearest or linear");
  bool arithmetic =
      exact_is_float(dtype) || dtype == EXACT_INT8 || dtype == EXACT_UINT8 || dtype == EXACT_INT32 || dtype == EXACT_INT64;
  if (!arithmetic && (dtype != EXACT_BOOL || a->mode != EXACT_RESIZE_NEAREST))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  return EXACT_OK;
}

int exact_resize_new(const exact_resize_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  exact_resize_attrs a = *attrs;
  if (a.form == EXACT_RESIZE_10 || a.form == EXACT_UPSAMPLE) {
    a = (exact_resize_attrs){.form = a.form, .mode = a.mode, .transform = EXACT_ASYMMETRIC, .nearest = EXACT_FLOOR};
    if (a.form == EXACT_UPSAMPLE) {
      a.n_scales = attrs->n_scales;
      memcpy(a.scales, attrs->scales, sizeof a.scales);
    }
  } else {
    a.n_scales = 0;
  }
  int rc = check_attrs(&a, dtype, err);
  if (rc) return rc;
  const exact_op_class *cls = a.form != EXACT_RESIZE_11 ? &scaled : a.transform == EXACT_TF_CROP_AND_RESIZE ? &cropped : &sized;
  exact_resize_op *r = exact_op_new(sizeof *r, cls, dtype, EXACT_MODE_EXACT, err);
  if (!r) return err->code;
  r->attrs = a;
  *op = &r->op;
  return EXACT_OK;
}
