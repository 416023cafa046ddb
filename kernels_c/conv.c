/* Conv: y[n][m][o] = +0 + x[..] * w[m][0] + x[..] * w[m][1] + ... over (input channel of the group, kernel depth, row,
 * column), each operation rounded, padding taken as x = +0; then + b[m], once. NaN results are canonical.
 * float16 and bfloat16 are computed in float32 and rounded once. docs/conv.md */
#include "conv.h"

#include <stdlib.h>

#include "window.h"

typedef struct conv_op {
  exact_op base;
  exact_conv_attrs attrs;
  size_t pixels; /* hint: of an output plane, 0 when unknown */
  const void *packed;
  int layout; /* of packed */
} conv_op;

/* Both are known, and differ. */
static bool differ(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; }

int exact_conv_types(const exact_op *op, int n, const exact_tensor *in, exact_error *err) {
  for (int i = 0; i < n; i++)
    if (in[i].dtype != op->dtype && (i < 2 || in[i].dtype != EXACT_ABSENT))
      return exact_fail(err, EXACT_INVALID, "input %d is of type %s, expected %s", i, exact_dtype_name(in[i].dtype),
                        exact_dtype_name(op->dtype));
  return EXACT_OK;
}

int exact_conv_geometry(const exact_conv_attrs *attrs, const exact_tensor *x, const exact_tensor *w, const exact_tensor *bias,
                        exact_conv_shape *s, exact_tensor *y, exact_error *err) {
  int64_t group = attrs->group, sizes[3], end;
  exact_window window;
  int rc;
  if (x->rank < 3) return exact_fail(err, EXACT_INVALID, "the input has rank %d, at least 3 is needed", x->rank);
  if (w->rank != x->rank) return exact_fail(err, EXACT_INVALID, "the weight has rank %d, the input %d", w->rank, x->rank);
  if (x->rank > 5) return exact_fail(err, EXACT_UNSUPPORTED, "%d spatial axes, 1 to 3 are supported", x->rank - 2);
  if ((rc = exact_window_init(&window, &attrs->window, x->rank - 2, w->dims + 2, err))) return rc;
  int64_t m = w->dims[0], c = x->dims[1], per_group = w->dims[1], channels;
  if (c >= 0 && c % group)
    return exact_fail(err, EXACT_INVALID, "%lld input channels are not divisible by group %lld", (long long)c,
                      (long long)group);
  if (m >= 0 && m % group)
    return exact_fail(err, EXACT_INVALID, "%lld output channels are not divisible by group %lld", (long long)m,
                      (long long)group);
  if (per_group >= 0 && (__builtin_mul_overflow(per_group, group, &channels) || differ(c, channels)))
    return exact_fail(err, EXACT_INVALID, "the weight takes %lld x %lld channels, the input has %lld", (long long)group,
                      (long long)per_group, (long long)c);
  if (bias && (bias->rank != 1 || differ(bias->dims[0], m)))
    return exact_fail(err, EXACT_INVALID, "the bias B must have one axis of %lld", (long long)m);
  *y = (exact_tensor){.dtype = x->dtype, .rank = x->rank, .dims = {x->dims[0], m}};
  exact_window_lift(x, s->in);
  for (int i = 0; i < 3; i++) {
    if ((rc = exact_window_size(&window, i, s->in[i], false, &sizes[i], &s->pad[i], &end, err))) return rc;
    s->out[i] = sizes[i];
    s->kernel[i] = window.kernel[i];
    s->stride[i] = window.stride[i];
    s->dilation[i] = window.dilation[i];
    if (i >= 5 - x->rank) y->dims[i + x->rank - 3] = sizes[i];
  }
  s->dtype = x->dtype;
  s->n = (size_t)x->dims[0];
  s->groups = (size_t)group;
  s->c = (size_t)(per_group < 0 ? 0 : per_group);
  s->m = (size_t)(m < 0 ? 0 : m / group);
  s->taps = (size_t)s->kernel[0] * (size_t)s->kernel[1] * (size_t)s->kernel[2];
  s->k = s->c * s->taps;
  return EXACT_OK;
}

static int geometry(const exact_op *op, int n, const exact_tensor *in, exact_conv_shape *s, exact_tensor *y, exact_error *err) {
  int rc = exact_conv_types(op, n, in, err);
  if (rc) return rc;
  return exact_conv_geometry(&((const conv_op *)op)->attrs, &in[0], &in[1], n > 2 && in[2].dtype ? &in[2] : NULL, s, y, err);
}

/* Axes of size 1 at the end (a 2-D convolution of width 1) go to the front, where they cost nothing. */
static void drop_last_axes(exact_conv_shape *s) {
  for (int turn = 0; turn < 2; turn++) {
    if (s->in[2] != 1 || s->out[2] != 1 || s->kernel[2] != 1 || s->pad[2]) return;
    int64_t *lists[] = {s->in, s->out, s->kernel, s->stride, s->dilation, s->pad};
    for (int i = 0; i < 6; i++) {
      int64_t last = lists[i][2];
      memmove(lists[i] + 1, lists[i], 2 * sizeof(int64_t));
      lists[i][0] = last;
    }
  }
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  exact_conv_shape s;
  return geometry(op, n, in, &s, out, err);
}

static void hint(exact_op *op, int n, const exact_tensor *in) {
  exact_conv_shape s;
  exact_tensor y;
  if (geometry(op, n, in, &s, &y, NULL)) return;
  ((conv_op *)op)->pixels =
      s.out[1] > 0 && s.out[2] > 0 && s.out[1] < 4096 && s.out[2] < 4096 ? (size_t)(s.out[1] * s.out[2]) : 0;
}

/* Which layout a known weight shape gets; pixels: of an output plane, 0 when unknown. False: plan will refuse the shape. */
static bool weights_of(const exact_op *op, const exact_tensor *t, size_t pixels, exact_conv_weights *w) {
  const exact_conv_attrs *attrs = &((const conv_op *)op)->attrs;
  int64_t extent[3] = {1, 1, 1};
  exact_window window;
  size_t count, taps = 1;
  if (t->dtype != op->dtype || t->rank < 3 || t->rank > 5 || exact_count(t, "the weight", &count, NULL) || !count ||
      t->dims[0] % attrs->group || exact_window_init(&window, &attrs->window, t->rank - 2, t->dims + 2, NULL))
    return false;
  for (int i = 2; i < t->rank; i++) taps *= (size_t)t->dims[i];
  for (int i = 0; i < 3; i++) extent[i] = exact_window_extent(&window, i);
  *w = (exact_conv_weights){op->dtype, EXACT_CONV_WIDE, (size_t)attrs->group, (size_t)(t->dims[0] / attrs->group),
                            (size_t)t->dims[1] * taps};
  if (exact_depthwise_serves(w, (size_t)t->dims[1], extent))
    w->layout = EXACT_CONV_DEPTHWISE;
  else if (exact_dense_narrow(op, w, pixels))
    w->layout = EXACT_CONV_NARROW;
  return true;
}

static size_t packed_size(const exact_op *op, int input, const exact_tensor *t) {
  exact_conv_weights w;
  size_t size;
  if (input != 1 || !weights_of(op, t, ((const conv_op *)op)->pixels, &w)) return 0;
  bool fits =
      w.layout == EXACT_CONV_DEPTHWISE ? exact_depthwise_weights_size(op, &w, &size) : exact_dense_weights_size(op, &w, &size);
  return fits ? size : 0;
}

static int pack(const exact_op *op, int input, const exact_tensor *t, void *packed, exact_error *err) {
  exact_conv_weights w;
  if (input != 1 || !weights_of(op, t, ((const conv_op *)op)->pixels, &w))
    return exact_fail(err, EXACT_INVALID, "input %d cannot be packed", input);
  (w.layout == EXACT_CONV_DEPTHWISE ? exact_depthwise_weights : exact_dense_weights)(op, &w, t->data, packed, NULL);
  return EXACT_OK;
}

static void set_packed(exact_op *op, int input, const exact_tensor *t, const void *packed) {
  conv_op *conv = (conv_op *)op;
  exact_conv_weights w;
  if (input != 1 || !weights_of(op, t, conv->pixels, &w)) return;
  conv->packed = packed;
  conv->layout = w.layout;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **plan, exact_error *err) {
  const conv_op *conv = (const conv_op *)op;
  exact_conv_shape s;
  exact_tensor y;
  exact_conv_weights w = {.layout = EXACT_CONV_WIDE};
  size_t count;
  int rc = geometry(op, n, in, &s, &y, err);
  if (rc || (rc = exact_count(&y, "the output", &count, err))) return rc;
  bool bias = n > 2 && in[2].dtype != EXACT_ABSENT;
  weights_of(op, &in[1], count ? (size_t)(s.out[1] * s.out[2]) : 0, &w);
  int layout = conv->packed ? conv->layout : w.layout;
  exact_conv_shrink(&s, count);
  drop_last_axes(&s);
  if (layout == EXACT_CONV_DEPTHWISE && exact_planes_serve(op, &s))
    return exact_planes_plan(op, &s, conv->packed, bias, &y, plan, err);
  if (layout == EXACT_CONV_DEPTHWISE) return exact_depthwise_plan(op, &s, conv->packed, bias, &y, plan, err);
  return exact_dense_plan(op, &s, layout, conv->packed, bias, &y, plan, err);
}

static void free_op(exact_op *op) { free(op); }

static const exact_op_class conv_class = {
    .name = "Conv",
    .outputs = 1,
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = infer,
    .plan = plan,
    .free = free_op,
    .hint = hint,
    .packed_size = packed_size,
    .pack = pack,
    .set_packed = set_packed,
};

int exact_conv_new(const exact_conv_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err) {
  if (!exact_is_float(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  if (attrs->group < 1) return exact_fail(err, EXACT_INVALID, "group is %lld", (long long)attrs->group);
  conv_op *conv = exact_op_new(sizeof *conv, &conv_class, dtype, mode, err);
  if (!conv) return err ? err->code : EXACT_NO_MEMORY;
  conv->attrs = *attrs;
  *op = &conv->base;
  return EXACT_OK;
}
