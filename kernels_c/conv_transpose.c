/* ConvTranspose: y[n][m][o] = +0 + p + p' + ... over the kernel taps that land on o in increasing (depth, row, column)
 * order, p = +0 + x * w + x * w + ... over the input channels of the group, each operation rounded; then + b[m], once.
 * NaN results are canonical. float16 and bfloat16 are computed in float32 and rounded once. docs/conv_transpose.md */
#include <stdlib.h>

#include "conv.h"
#include "window.h"

typedef struct transpose_op {
  exact_op base;
  exact_conv_transpose_attrs attrs;
  const void *packed;
} transpose_op;

static bool differ(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; }

/* Output size of an axis and what is cut before it. wanted: of output_shape, 0 when absent. */
static int axis_size(const exact_window *w, int axis, int64_t n, int64_t surplus, int64_t wanted, int64_t *out, int64_t *before,
                     exact_error *err) {
  int64_t stride = w->stride[axis], natural, total;
  *before = 0;
  *out = wanted ? wanted : -1;
  if (n < 0 || w->kernel[axis] < 0) return EXACT_OK;
  if (__builtin_mul_overflow(stride, n - 1, &natural) || natural > (int64_t)1 << 60)
    return exact_fail(err, EXACT_INVALID, "the output size of stride %lld and input %lld is too large", (long long)stride,
                      (long long)n);
  natural += surplus + exact_window_extent(w, axis);
  bool same = w->auto_pad == EXACT_SAME_UPPER || w->auto_pad == EXACT_SAME_LOWER;
  if (wanted || same) {
    if (!wanted) *out = n * stride < natural ? n * stride : natural;
    total = natural > *out ? natural - *out : 0;
    *before = w->auto_pad == EXACT_SAME_UPPER ? total / 2 : total - total / 2;
  } else {
    *before = w->begin[axis];
    *out = natural - *before - w->end[axis];
  }
  if (*out < 1) return exact_fail(err, EXACT_INVALID, "the output size of an axis is %lld", (long long)*out);
  return EXACT_OK;
}

static int geometry(const exact_op *op, int n, const exact_tensor *in, exact_conv_shape *s, exact_tensor *y, exact_error *err) {
  const exact_conv_transpose_attrs *attrs = &((const transpose_op *)op)->attrs;
  const exact_tensor *x = &in[0], *w = &in[1];
  int64_t group = attrs->group, surplus[3], wanted[3], channels = -1;
  exact_window window;
  int rc = exact_conv_types(op, n, in, err);
  if (rc) return rc;
  if (x->rank < 3) return exact_fail(err, EXACT_INVALID, "the input has rank %d, at least 3 is needed", x->rank);
  if (w->rank != x->rank) return exact_fail(err, EXACT_INVALID, "the weight has rank %d, the input %d", w->rank, x->rank);
  int spatial = x->rank - 2;
  if (spatial > 3) return exact_fail(err, EXACT_UNSUPPORTED, "%d spatial axes, 1 to 3 are supported", spatial);
  if ((rc = exact_window_init(&window, &attrs->window, spatial, w->dims + 2, err)) ||
      (rc = exact_window_list(&attrs->output_padding, spatial, 0, 0, "output_padding", surplus, err)) ||
      (rc = exact_window_list(&attrs->output_shape, spatial, 0, attrs->output_shape.n ? 1 : 0, "output_shape", wanted, err)))
    return rc;
  int64_t c = x->dims[1], m = w->dims[1];
  if (c >= 0 && c % group)
    return exact_fail(err, EXACT_INVALID, "%lld input channels are not divisible by group %lld", (long long)c,
                      (long long)group);
  if (differ(c, w->dims[0]))
    return exact_fail(err, EXACT_INVALID, "the weight takes %lld channels, the input has %lld", (long long)w->dims[0],
                      (long long)c);
  if (m >= 0 && __builtin_mul_overflow(m, group, &channels))
    return exact_fail(err, EXACT_INVALID, "%lld groups of %lld output channels are too many", (long long)group, (long long)m);
  if (n > 2 && in[2].dtype != EXACT_ABSENT && (in[2].rank != 1 || differ(in[2].dims[0], channels)))
    return exact_fail(err, EXACT_INVALID, "the bias must have one axis of %lld", (long long)channels);
  *y = (exact_tensor){.dtype = op->dtype, .rank = x->rank, .dims = {x->dims[0], channels}};
  exact_window_lift(x, s->in);
  for (int i = 0; i < 3; i++) {
    int j = i - (3 - spatial);
    if (j >= 0) {
      int64_t most = window.stride[i] > window.dilation[i] ? window.stride[i] : window.dilation[i];
      if (surplus[j] >= most)
        return exact_fail(err, EXACT_INVALID, "output_padding %lld is not below stride and dilation", (long long)surplus[j]);
    }
    rc = axis_size(&window, i, s->in[i], j < 0 ? 0 : surplus[j], j < 0 ? 0 : wanted[j], &s->out[i], &s->pad[i], err);
    if (rc) return rc;
    s->kernel[i] = window.kernel[i];
    s->stride[i] = window.stride[i];
    s->dilation[i] = window.dilation[i];
    if (j >= 0) y->dims[2 + j] = s->out[i];
  }
  s->dtype = op->dtype;
  s->n = (size_t)x->dims[0];
  s->groups = (size_t)group;
  s->c = (size_t)(c < 0 ? 0 : c / group);
  s->m = (size_t)(m < 0 ? 0 : m);
  s->taps = (size_t)s->kernel[0] * (size_t)s->kernel[1] * (size_t)s->kernel[2];
  s->k = s->c;
  return EXACT_OK;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  exact_conv_shape s;
  return geometry(op, n, in, &s, out, err);
}

static bool weights_of(const exact_op *op, const exact_tensor *t, exact_conv_shape *s) {
  int64_t group = ((const transpose_op *)op)->attrs.group;
  size_t count;
  if (t->dtype != op->dtype || t->rank < 3 || t->rank > 5 || exact_count(t, "the weight", &count, NULL) || t->dims[0] % group)
    return false;
  *s = (exact_conv_shape){.dtype = op->dtype, .groups = (size_t)group, .m = (size_t)t->dims[1], .taps = 1};
  s->c = (size_t)(t->dims[0] / group);
  for (int i = 2; i < t->rank; i++) s->taps *= (size_t)t->dims[i];
  return count > 0;
}

static size_t packed_size(const exact_op *op, int input, const exact_tensor *t) {
  exact_conv_shape s;
  size_t size;
  return input == 1 && weights_of(op, t, &s) && exact_transpose_weights_size(&s, &size) ? size : 0;
}

static int pack(const exact_op *op, int input, const exact_tensor *t, void *packed, exact_error *err) {
  exact_conv_shape s;
  if (input != 1 || !weights_of(op, t, &s)) return exact_fail(err, EXACT_INVALID, "input %d cannot be packed", input);
  exact_transpose_weights(op, &s, t->data, packed, NULL);
  return EXACT_OK;
}

static void set_packed(exact_op *op, int input, const exact_tensor *t, const void *packed) {
  (void)t;
  if (input == 1) ((transpose_op *)op)->packed = packed;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **plan, exact_error *err) {
  exact_conv_shape s;
  exact_tensor y;
  size_t count;
  int rc = geometry(op, n, in, &s, &y, err);
  if (rc || (rc = exact_count(&y, "the output", &count, err))) return rc;
  exact_conv_shrink(&s, count);
  return exact_transpose_plan(op, &s, ((const transpose_op *)op)->packed, n > 2 && in[2].dtype != EXACT_ABSENT, &y, plan, err);
}

static void free_op(exact_op *op) { free(op); }

static const exact_op_class transpose_class = {
    .name = "ConvTranspose",
    .outputs = 1,
    .min_inputs = 2,
    .max_inputs = 3,
    .infer = infer,
    .plan = plan,
    .free = free_op,
    .packed_size = packed_size,
    .pack = pack,
    .set_packed = set_packed,
};

int exact_conv_transpose_new(const exact_conv_transpose_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err) {
  if (!exact_is_float(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  if (attrs->group < 1) return exact_fail(err, EXACT_INVALID, "group is %lld", (long long)attrs->group);
  transpose_op *transpose = exact_op_new(sizeof *transpose, &transpose_class, dtype, mode, err);
  if (!transpose) return err ? err->code : EXACT_NO_MEMORY;
  transpose->attrs = *attrs;
  *op = &transpose->base;
  return EXACT_OK;
}
