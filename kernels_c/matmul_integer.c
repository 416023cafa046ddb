/* MatMulInteger: y = sum over k of (a - za) * (b - zb) in int32, wrapping. QLinearMatMul: y = saturate(float32(that sum) * m +
 * zy), m = (a_scale * b_scale) / y_scale, each operation rounded. This file: attributes, shapes, packed constant B.
 * docs/matmul_integer.md */
#include "matmul_integer.h"

#include <stdlib.h>

typedef struct product_op {
  exact_op base;
  exact_product_inputs at;
  const void *packed; /* B */
} product_op;

static const exact_product_inputs integer_inputs = {0, 1, 2, 3, -1, -1, -1, -1}, linear_inputs = {0, 3, 2, 5, 1, 4, 6, 7};
static const exact_tensor none = {.dtype = EXACT_ABSENT};

static const exact_tensor *input(const exact_tensor *in, int n, int i) { return i >= 0 && i < n ? &in[i] : &none; }

static bool differ(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; }

/* A zero point or scale: of one element, or one for each row of A (axis: the last one of A) or column of B. */
static int check_shape(const exact_tensor *t, const exact_tensor *x, const char *what, int axis, exact_error *err) {
  char text[96], of[96];
  bool fits = !t->dtype || exact_is_one(t) || (x->rank == 2 && t->rank == 1 && !differ(t->dims[0], x->dims[1 - axis]));
  if (!fits && x->rank >= 2 && t->rank == x->rank) {
    fits = true;
    for (int i = 0; i < t->rank; i++) fits = fits && !differ(t->dims[i], i == axis ? 1 : x->dims[i]);
  }
  if (fits) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s has the shape %s, which does not fit %s of %c", what, exact_shape_text(t, text),
                    exact_shape_text(x, of), what[0] & ~0x20);
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const exact_product_inputs *at = &((const product_op *)op)->at;
  const exact_tensor *a = input(in, n, at->a), *b = input(in, n, at->b), *a_zero = input(in, n, at->a_zero);
  const exact_tensor *b_zero = input(in, n, at->b_zero), *y_zero = input(in, n, at->y_zero);
  const exact_tensor *scale[3] = {input(in, n, at->a_scale), input(in, n, at->b_scale), input(in, n, at->y_scale)};
  exact_tensor y = {.dtype = EXACT_INT32};
  int rc = exact_integer_types(a, "a", a_zero, err);
  if (!rc) rc = exact_integer_types(b, "b", b_zero, err);
  if (!rc && a->dtype != op->dtype)
    rc = exact_fail(err, EXACT_INVALID, "A has the element type %s, expected %s", exact_dtype_name(a->dtype),
                    exact_dtype_name(op->dtype));
  if (!rc) rc = exact_matmul_output(a, b, false, false, &y, err);
  if (!rc) rc = check_shape(a_zero, a, "a_zero_point", a->rank - 1, err);
  if (!rc) rc = check_shape(b_zero, b, "b_zero_point", b->rank - 2, err);
  if (!rc && at->y_zero >= 0) {
    rc = exact_integer_scales(scale, y_zero, err);
    if (!rc) rc = check_shape(scale[0], a, "a_scale", a->rank - 1, err);
    if (!rc) rc = check_shape(scale[1], b, "b_scale", b->rank - 2, err);
    y.dtype = y_zero->dtype;
  }
  if (!rc) *out = y;
  return rc;
}

/* ---- plan ---- */
static bool is_list(const exact_tensor *t) { return t->dtype && !exact_is_one(t); }

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const product_op *o = (const product_op *)op;
  exact_tensor y;
  size_t count;
  int rc = infer(op, n, in, &y, err);
  if (rc || (rc = exact_count(&y, "the output", &count, err))) return rc;
  exact_integer_product *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  const exact_tensor *a = &in[o->at.a], *b = &in[o->at.b];
  p->base = (exact_plan){.op = op, .run = exact_integer_product_run, .out = {y}};
  p->at = o->at;
  /* Optional inputs that the node leaves out. */
  if (!input(in, n, o->at.a_zero)->dtype) p->at.a_zero = -1;
  if (!input(in, n, o->at.b_zero)->dtype) p->at.b_zero = -1;
  p->k = op->isa->integer;
  p->packed = o->packed;
  p->a_form = exact_form_of(a->dtype, false);
  p->b_form = exact_form_of(b->dtype, true);
  p->a_zeros = is_list(input(in, n, o->at.a_zero));
  p->b_zeros = is_list(input(in, n, o->at.b_zero));
  p->a_scales = is_list(input(in, n, o->at.a_scale));
  p->b_scales = is_list(input(in, n, o->at.b_scale));
  p->scale_dtype[0] = input(in, n, o->at.a_scale)->dtype;
  p->scale_dtype[1] = input(in, n, o->at.b_scale)->dtype;
  p->scale_dtype[2] = input(in, n, o->at.y_scale)->dtype;
  if (count) p->s = exact_matmul_product(a, b, false, false);
  if (count && !exact_integer_product_plan(p)) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *out = &p->base;
  return EXACT_OK;
}

/* ---- packed constant B: all matrices of its stack, then the sums of their columns ---- */
typedef struct packed_b {
  const struct exact_integer_kernels *k;
  exact_form form;
  size_t n, depth, count, words, padded; /* words: of a matrix */
} packed_b;

static bool b_of(const exact_op *op, int index, const exact_tensor *t, packed_b *b) {
  if (index != ((const product_op *)op)->at.b || !exact_is_byte(t->dtype) || t->rank < 2 ||
      exact_count(t, "B", &b->count, NULL) || !b->count)
    return false;
  b->k = op->isa->integer;
  b->form = exact_form_of(t->dtype, true);
  b->n = (size_t)t->dims[t->rank - 1];
  b->depth = (size_t)t->dims[t->rank - 2];
  b->count = b->count / b->n / b->depth;
  b->padded = exact_integer_padded(b->k, b->n);
  return exact_integer_b_size(b->k, b->n, b->depth, &b->words);
}

static size_t packed_size(const exact_op *op, int index, const exact_tensor *t) {
  packed_b b;
  size_t size;
  bool fits = b_of(op, index, t, &b) && exact_add(b.words, b.padded, &size) && exact_mul(size, b.count, &size) &&
              exact_mul(size, sizeof(uint32_t), &size);
  return fits ? size : 0;
}

static int pack(const exact_op *op, int index, const exact_tensor *t, void *packed, exact_error *err) {
  packed_b b;
  if (!b_of(op, index, t, &b)) return exact_fail(err, EXACT_INVALID, "input %d cannot be packed", index);
  uint32_t *ones = exact_new(exact_integer_words(b.k, b.depth) * sizeof *ones, err), *words = packed;
  if (!ones) return EXACT_NO_MEMORY;
  exact_integer_ones(b.k, b.depth, ones);
  for (size_t i = 0; i < b.count; i++)
    exact_integer_pack_b(b.k, b.form, (const uint8_t *)t->data + i * b.n * b.depth, b.n, b.depth, 0, b.n, ones,
                         words + i * b.words, (int32_t *)words + b.count * b.words + i * b.padded);
  free(ones);
  return EXACT_OK;
}

static void set_packed(exact_op *op, int index, const exact_tensor *t, const void *packed) {
  packed_b b;
  if (b_of(op, index, t, &b)) ((product_op *)op)->packed = packed;
}

/* ---- ops ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class integer_class = {.name = "MatMulInteger",
                                             .outputs = 1,
                                             .min_inputs = 2,
                                             .max_inputs = 4,
                                             .infer = infer,
                                             .plan = plan,
                                             .free = free_op,
                                             .packed_size = packed_size,
                                             .pack = pack,
                                             .set_packed = set_packed};
static const exact_op_class linear_class = {.name = "QLinearMatMul",
                                            .outputs = 1,
                                            .min_inputs = 8,
                                            .max_inputs = 8,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op,
                                            .packed_size = packed_size,
                                            .pack = pack,
                                            .set_packed = set_packed};

static int create(const exact_op_class *cls, const exact_product_inputs *at, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_byte(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  product_op *o = exact_op_new(sizeof *o, cls, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->at = *at;
  *op = &o->base;
  return EXACT_OK;
}

int exact_matmul_integer_new(int dtype, exact_op **op, exact_error *err) {
  return create(&integer_class, &integer_inputs, dtype, op, err);
}

int exact_qlinear_matmul_new(int dtype, exact_op **op, exact_error *err) {
  return create(&linear_class, &linear_inputs, dtype, op, err);
}
