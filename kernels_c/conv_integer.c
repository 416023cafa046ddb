/* ConvInteger: y = sum over the window of (x - zx) * (w - zw) in int32, wrapping, padding taken as zx. QLinearConv:
 * y = saturate(float32(that sum + b) * f + zy), f = (x_scale * w_scale) / y_scale, each operation rounded. This file:
 * attributes, shapes, packed constant weights. docs/conv_integer.md */
#include "conv_integer.h"

#include <stdlib.h>

typedef struct conv_op {
  exact_op base;
  exact_conv_attrs attrs;
  exact_conv_inputs at;
  const void *packed; /* w */
} conv_op;

static const exact_conv_inputs integer_inputs = {0, 1, 2, 3, -1, -1, -1, -1, -1}, linear_inputs = {0, 3, 2, 5, 1, 4, 6, 7, 8};
static const exact_tensor none = {.dtype = EXACT_ABSENT};

static const exact_tensor *input(const exact_tensor *in, int n, int i) { return i >= 0 && i < n ? &in[i] : &none; }

static int check_shape(const exact_tensor *t, int64_t channels, const char *what, exact_error *err) {
  char text[96];
  if (!t->dtype || exact_is_one(t)) return EXACT_OK;
  if (channels != 1 && t->rank == 1 && (channels < 0 || t->dims[0] == channels)) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s has the shape %s", what, exact_shape_text(t, text));
}

static int geometry(const exact_op *op, int n, const exact_tensor *in, exact_conv_shape *s, exact_tensor *out,
                    exact_error *err) {
  const conv_op *o = (const conv_op *)op;
  const exact_conv_inputs *at = &o->at;
  const exact_tensor *x = input(in, n, at->x), *w = input(in, n, at->w), *bias = input(in, n, at->bias);
  const exact_tensor *x_zero = input(in, n, at->x_zero), *w_zero = input(in, n, at->w_zero);
  const exact_tensor *scale[3] = {input(in, n, at->x_scale), input(in, n, at->w_scale), input(in, n, at->y_scale)};
  int rc = exact_integer_types(x, "x", x_zero, err);
  if (!rc) rc = exact_integer_types(w, "w", w_zero, err);
  if (!rc && x->dtype != op->dtype)
    rc = exact_fail(err, EXACT_INVALID, "x has the element type %s, expected %s", exact_dtype_name(x->dtype),
                    exact_dtype_name(op->dtype));
  if (!rc && bias->dtype && bias->dtype != EXACT_INT32)
    rc = exact_fail(err, EXACT_INVALID, "the bias has the element type %s, expected int32", exact_dtype_name(bias->dtype));
  if (!rc) rc = exact_conv_geometry(&o->attrs, x, w, bias->dtype ? bias : NULL, s, out, err);
  if (!rc) rc = check_shape(x_zero, 1, "x_zero_point", err);
  if (!rc) rc = check_shape(w_zero, w->dims[0], "w_zero_point", err);
  if (!rc) out->dtype = EXACT_INT32;
  if (!rc && at->y_zero >= 0) {
    rc = exact_integer_scales(scale, input(in, n, at->y_zero), err);
    if (!rc) rc = check_shape(scale[0], 1, "x_scale", err);
    if (!rc) rc = check_shape(scale[1], w->dims[0], "w_scale", err);
    for (int i = 0; i < 3 && !rc; i++)
      if (scale[i]->dtype != EXACT_FLOAT32)
        rc = exact_fail(err, EXACT_UNSUPPORTED, "a scale has the element type %s", exact_dtype_name(scale[i]->dtype));
    out->dtype = input(in, n, at->y_zero)->dtype;
  }
  return rc;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  exact_conv_shape s;
  return geometry(op, n, in, &s, out, err);
}

/* ---- plan ---- */
/* Without padding a window of one element with stride 1 reads x as it stands: one row. */
static void flatten(exact_conv_shape *s) {
  if (s->taps != 1) return;
  for (int i = 0; i < 3; i++)
    if (s->stride[i] != 1 || s->pad[i] || s->in[i] != s->out[i]) return;
  s->in[2] = s->out[2] = s->in[0] * s->in[1] * s->in[2];
  s->in[0] = s->in[1] = s->out[0] = s->out[1] = 1;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const conv_op *o = (const conv_op *)op;
  exact_conv_shape s;
  exact_tensor y;
  size_t count;
  int rc = geometry(op, n, in, &s, &y, err);
  if (rc || (rc = exact_count(&y, "the output", &count, err))) return rc;
  exact_conv_shrink(&s, count);
  flatten(&s);
  exact_integer_conv *p = exact_new(exact_align(sizeof *p) + exact_pixel_tables(&s), err);
  if (!p) return EXACT_NO_MEMORY;
  const exact_tensor *w_zero = input(in, n, o->at.w_zero), *w_scale = input(in, n, o->at.w_scale);
  p->base = (exact_plan){.op = op, .run = exact_integer_conv_run, .out = {y}};
  p->s = s;
  p->at = o->at;
  /* Optional inputs that the node leaves out. */
  if (!input(in, n, o->at.x_zero)->dtype) p->at.x_zero = -1;
  if (!w_zero->dtype) p->at.w_zero = -1;
  if (!input(in, n, o->at.bias)->dtype) p->at.bias = -1;
  p->k = op->isa->integer;
  p->packed = o->packed;
  p->w_form = exact_form_of(in[o->at.w].dtype, true);
  p->x_form = exact_form_of(in[o->at.x].dtype, false);
  p->w_zeros = w_zero->dtype && !exact_is_one(w_zero);
  p->w_scales = w_scale->dtype && !exact_is_one(w_scale);
  if (count) exact_pixel_init(&p->patch, &p->s, (char *)p + exact_align(sizeof *p));
  if (count && !exact_integer_conv_plan(p)) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *out = &p->base;
  return EXACT_OK;
}

/* ---- packed constant weights: all groups, then the sums of their output channels ---- */
typedef struct packed_w {
  size_t groups, m, depth, words; /* words: of a group */
} packed_w;

static bool w_of(const exact_op *op, int index, const exact_tensor *t, packed_w *w) {
  const conv_op *o = (const conv_op *)op;
  size_t count;
  if (index != o->at.w || !exact_is_byte(t->dtype) || t->rank < 3 || t->rank > 5 || exact_count(t, "w", &count, NULL) ||
      !count || t->dims[0] % o->attrs.group)
    return false;
  w->groups = (size_t)o->attrs.group;
  w->m = (size_t)t->dims[0] / w->groups;
  w->depth = count / (size_t)t->dims[0];
  return exact_mul(w->m, exact_integer_words(op->isa->integer, w->depth), &w->words);
}

static size_t packed_size(const exact_op *op, int index, const exact_tensor *t) {
  packed_w w;
  size_t size;
  bool fits = w_of(op, index, t, &w) && exact_add(w.words, w.m, &size) && exact_mul(size, w.groups, &size) &&
              exact_mul(size, sizeof(uint32_t), &size);
  return fits ? size : 0;
}

static int pack(const exact_op *op, int index, const exact_tensor *t, void *packed, exact_error *err) {
  packed_w w;
  uint32_t *words = packed;
  if (!w_of(op, index, t, &w)) return exact_fail(err, EXACT_INVALID, "input %d cannot be packed", index);
  for (size_t g = 0; g < w.groups; g++)
    exact_integer_pack_w(op->isa->integer, exact_form_of(t->dtype, true), (const uint8_t *)t->data + g * w.m * w.depth, w.depth,
                         0, w.m, words + g * w.words, (int32_t *)words + w.groups * w.words + g * w.m);
  return EXACT_OK;
}

static void set_packed(exact_op *op, int index, const exact_tensor *t, const void *packed) {
  packed_w w;
  if (w_of(op, index, t, &w)) ((conv_op *)op)->packed = packed;
}

/* ---- ops ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class integer_class = {.name = "ConvInteger",
                                             .outputs = 1,
                                             .min_inputs = 2,
                                             .max_inputs = 4,
                                             .infer = infer,
                                             .plan = plan,
                                             .free = free_op,
                                             .packed_size = packed_size,
                                             .pack = pack,
                                             .set_packed = set_packed};
static const exact_op_class linear_class = {.name = "QLinearConv",
                                            .outputs = 1,
                                            .min_inputs = 8,
                                            .max_inputs = 9,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op,
                                            .packed_size = packed_size,
                                            .pack = pack,
                                            .set_packed = set_packed};

static int create(const exact_op_class *cls, const exact_conv_inputs *at, const exact_conv_attrs *attrs, int dtype,
                  exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_byte(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  if (attrs->group < 1) return exact_fail(err, EXACT_INVALID, "group is %lld", (long long)attrs->group);
  conv_op *o = exact_op_new(sizeof *o, cls, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->attrs = *attrs;
  o->at = *at;
  *op = &o->base;
  return EXACT_OK;
}

int exact_conv_integer_new(const exact_conv_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  return create(&integer_class, &integer_inputs, attrs, dtype, op, err);
}

int exact_qlinear_conv_new(const exact_conv_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  return create(&linear_class, &linear_inputs, attrs, dtype, op, err);
}
