/* MatMul and Gemm: acc = +0 + a[m][0] * b[0][n] + a[m][1] * b[1][n] + ..., each operation rounded; Gemm then alpha * acc and
 * + beta * c, each operation rounded. NaN results are canonical; float16 and bfloat16 are computed in float32 and rounded
 * once; integers wrap around. This file: attributes, shapes, packed constant B. docs/matmul.md */
#include "matmul.h"

#include <stdlib.h>

typedef struct matmul_op {
  exact_op base;
  bool gemm;
  exact_gemm_attrs attrs;
  const void *packed; /* B */
} matmul_op;

/* A matrix of a stack: its last two axes, of which rank 1 lacks one. */
typedef struct matrix {
  int stack; /* axes of the stack */
  int64_t rows, columns;
} matrix;

static bool differ(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; }

static matrix matrix_of(const exact_tensor *t, bool left, bool transposed) {
  int64_t last = t->dims[t->rank - 1];
  if (t->rank == 1) return left ? (matrix){0, 1, last} : (matrix){0, last, 1};
  int64_t before = t->dims[t->rank - 2];
  return transposed ? (matrix){t->rank - 2, last, before} : (matrix){t->rank - 2, before, last};
}

/* Size of axis i of a stack that is aligned at the right to one of `axes` axes. */
static int64_t stack_size(const exact_tensor *t, int stack, int axes, int i) {
  int own = i - (axes - stack);
  return own < 0 ? 1 : t->dims[own];
}

static int check_types(const exact_op *op, int n, const exact_tensor *in, exact_error *err) {
  for (int i = 0; i < n; i++)
    if (in[i].dtype != op->dtype && (i < 2 || in[i].dtype != EXACT_ABSENT))
      return exact_fail(err, EXACT_INVALID, "input %d is of type %s, expected %s", i, exact_dtype_name(in[i].dtype),
                        exact_dtype_name(op->dtype));
  return EXACT_OK;
}

static int check_ranks(const matmul_op *o, const exact_tensor *in, exact_error *err) {
  for (int i = 0; i < 2; i++)
    if (o->gemm && in[i].rank != 2) return exact_fail(err, EXACT_INVALID, "%c has rank %d, expected 2", "AB"[i], in[i].rank);
  return EXACT_OK;
}

static int check_c(const exact_tensor *c, const exact_tensor *y, exact_error *err) {
  char text[96], wanted[96];
  bool fits = c->rank <= 2;
  for (int i = 0; fits && i < c->rank; i++)
    if (c->dims[i] != 1 && differ(c->dims[i], y->dims[2 - c->rank + i])) fits = false;
  if (fits) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "C of shape %s does not broadcast to the output's %s", exact_shape_text(c, text),
                    exact_shape_text(y, wanted));
}

int exact_matmul_output(const exact_tensor *left, const exact_tensor *right, bool trans_a, bool trans_b, exact_tensor *y,
                        exact_error *err) {
  char text[96], other[96];
  for (int i = 0; i < 2; i++)
    if ((i ? right : left)->rank < 1) return exact_fail(err, EXACT_INVALID, "%c has rank 0, at least 1 is needed", "AB"[i]);
  matrix a = matrix_of(left, true, trans_a), b = matrix_of(right, false, trans_b);
  if (differ(a.columns, b.rows))
    return exact_fail(err, EXACT_INVALID, "A has %lld columns, B has %lld rows", (long long)a.columns, (long long)b.rows);
  int axes = a.stack > b.stack ? a.stack : b.stack;
  y->rank = 0;
  for (int i = 0; i < axes; i++) {
    int64_t p = stack_size(left, a.stack, axes, i), q = stack_size(right, b.stack, axes, i);
    if (p != 1 && q != 1 && differ(p, q))
      return exact_fail(err, EXACT_INVALID, "the stacks of A, %s, and B, %s, do not broadcast", exact_shape_text(left, text),
                        exact_shape_text(right, other));
    y->dims[y->rank++] = p == 1             ? q
                         : q == 1 || p >= 0 ? p
                                            : q; /* a size that is not known becomes the other, if that is not 1 */
  }
  if (left->rank > 1) y->dims[y->rank++] = a.rows;
  if (right->rank > 1) y->dims[y->rank++] = b.columns;
  return EXACT_OK;
}

/* Checks everything; dimensions may be -1. */
static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const matmul_op *o = (const matmul_op *)op;
  exact_tensor y = {.dtype = op->dtype};
  int rc = check_types(op, n, in, err);
  if (!rc) rc = check_ranks(o, in, err);
  if (!rc) rc = exact_matmul_output(&in[0], &in[1], o->attrs.trans_a != 0, o->attrs.trans_b != 0, &y, err);
  if (rc) return rc;
  *out = y;
  return n > 2 && in[2].dtype != EXACT_ABSENT ? check_c(&in[2], &y, err) : EXACT_OK;
}

/* ---- the shape, all dimensions known and Y not empty ---- */
static void add_axis(exact_matmul_shape *s, size_t size, size_t a_step, size_t b_step) {
  if (size == 1) return;
  if (s->axes && s->a_step[s->axes - 1] == a_step * size && s->b_step[s->axes - 1] == b_step * size) {
    s->size[s->axes - 1] *= size;
    s->a_step[s->axes - 1] = a_step;
    s->b_step[s->axes - 1] = b_step;
    return;
  }
  s->size[s->axes] = size;
  s->a_step[s->axes] = a_step;
  s->b_step[s->axes++] = b_step;
}

static void set_stack(exact_matmul_shape *s, const exact_tensor *left, const exact_tensor *right, const matrix *a,
                      const matrix *b) {
  int axes = a->stack > b->stack ? a->stack : b->stack;
  size_t p[EXACT_MAX_RANK], q[EXACT_MAX_RANK];
  for (int i = 0; i < axes; i++) {
    p[i] = (size_t)stack_size(left, a->stack, axes, i);
    q[i] = (size_t)stack_size(right, b->stack, axes, i);
  }
  /* Matrices that are multiplied by one and the same B are one matrix of more rows. */
  while (axes > 0 && q[axes - 1] == 1) s->m *= p[--axes];
  s->positions = s->a_count = s->b_count = 1;
  for (int i = 0; i < axes; i++) {
    s->positions *= p[i] == 1 ? q[i] : p[i];
    s->a_count *= p[i];
    s->b_count *= q[i];
  }
  size_t a_left = s->a_count, b_left = s->b_count;
  for (int i = 0; i < axes; i++) {
    a_left /= p[i];
    b_left /= q[i];
    add_axis(s, p[i] == 1 ? q[i] : p[i], p[i] == 1 ? 0 : a_left, q[i] == 1 ? 0 : b_left);
  }
}

static void set_c(exact_matmul_shape *s, const exact_tensor *c) {
  size_t rows = c->rank == 2 ? (size_t)c->dims[0] : 1, columns = c->rank ? (size_t)c->dims[c->rank - 1] : 1;
  s->c_column = columns > 1;
  s->c_row = rows > 1 ? columns : 0;
}

exact_matmul_shape exact_matmul_product(const exact_tensor *left, const exact_tensor *right, bool trans_a, bool trans_b) {
  matrix a = matrix_of(left, true, trans_a), b = matrix_of(right, false, trans_b);
  exact_matmul_shape s = {.dtype = left->dtype, .m = (size_t)a.rows, .n = (size_t)b.columns, .k = (size_t)a.columns};
  s.a_row = trans_a ? 1 : s.k;
  s.a_k = trans_a ? s.m : 1;
  s.b_k = trans_b ? 1 : s.n;
  s.b_column = trans_b ? s.k : 1;
  set_stack(&s, left, right, &a, &b);
  return s;
}

static exact_matmul_shape shape_of(const matmul_op *o, int n, const exact_tensor *in) {
  exact_matmul_shape s = exact_matmul_product(&in[0], &in[1], o->attrs.trans_a != 0, o->attrs.trans_b != 0);
  s.alpha = o->attrs.alpha;
  s.beta = o->attrs.beta;
  s.c = n > 2 && in[2].dtype != EXACT_ABSENT && s.beta != 0;
  if (s.c) set_c(&s, &in[2]);
  if (s.n == 1 && s.m > 1 && exact_is_float(s.dtype)) { /* the transposed product, whose lanes are the rows of A */
    exact_matmul_shape t = s;
    s.m = 1;
    s.n = t.m;
    s.a_k = t.b_k;
    s.b_k = t.a_k;
    s.a_row = t.b_column;
    s.b_column = t.a_row;
    s.c_row = 0;
    s.c_column = t.c_row;
    s.swapped = true;
    s.a_count = t.b_count;
    s.b_count = t.a_count;
    memcpy(s.a_step, t.b_step, sizeof s.a_step);
    memcpy(s.b_step, t.a_step, sizeof s.b_step);
  }
  if (s.n == 1) s.b_column = 1;
  if (s.m == 1) s.a_row = 1;
  return s;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const matmul_op *o = (const matmul_op *)op;
  exact_tensor y;
  size_t count;
  int rc = infer(op, n, in, &y, err);
  if (rc || (rc = exact_count(&y, "the output", &count, err))) return rc;
  exact_matmul_shape s = {.dtype = op->dtype};
  if (count) s = shape_of(o, n, in);
  return exact_matmul_plan_new(op, &s, o->packed, &y, out, err);
}

/* ---- packed constant B: all matrices of its stack ---- */
static bool b_of(const exact_op *op, int input, const exact_tensor *t, exact_matmul_b *b, size_t *count) {
  const matmul_op *o = (const matmul_op *)op;
  if (input != 1 || t->dtype != op->dtype || !exact_is_float(op->dtype) || t->rank < 2 || (o->gemm && t->rank != 2) ||
      exact_count(t, "B", count, NULL) || !*count)
    return false;
  matrix size = matrix_of(t, false, o->attrs.trans_b != 0);
  *b = (exact_matmul_b){exact_matmul_gemm(op), op->isa->matmul, op->dtype, (size_t)size.columns, (size_t)size.rows, 0, 0};
  b->b_k = o->attrs.trans_b ? 1 : b->n;
  b->b_column = o->attrs.trans_b ? b->k : 1;
  *count = *count / b->n / b->k;
  return b->n > 1;
}

static size_t packed_size(const exact_op *op, int input, const exact_tensor *t) {
  exact_matmul_b b;
  size_t count, size;
  if (!b_of(op, input, t, &b, &count)) return 0;
  size_t lanes = b.gemm->lanes, padded = exact_quotient(b.n, lanes) * lanes;
  bool fits = exact_mul(padded, b.k, &size) && exact_mul(size, count, &size) &&
              exact_mul(size, exact_dtype_size(exact_arith(op->dtype)), &size);
  return fits ? size : 0;
}

static int pack(const exact_op *op, int input, const exact_tensor *t, void *packed, exact_error *err) {
  exact_matmul_b b;
  size_t count;
  if (!b_of(op, input, t, &b, &count)) return exact_fail(err, EXACT_INVALID, "input %d cannot be packed", input);
  size_t bytes = packed_size(op, input, t) / count, matrix = b.n * b.k * exact_dtype_size(op->dtype);
  for (size_t i = 0; i < count; i++)
    exact_matmul_pack_b(&b, (const char *)t->data + i * matrix, (char *)packed + i * bytes, 0, b.k);
  return EXACT_OK;
}

static void set_packed(exact_op *op, int input, const exact_tensor *t, const void *packed) {
  exact_matmul_b b;
  size_t count;
  if (b_of(op, input, t, &b, &count)) ((matmul_op *)op)->packed = packed;
}

static void free_op(exact_op *op) { free(op); }

static const exact_op_class matmul_class = {.name = "MatMul",
                                            .outputs = 1,
                                            .min_inputs = 2,
                                            .max_inputs = 2,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op,
                                            .packed_size = packed_size,
                                            .pack = pack,
                                            .set_packed = set_packed};
static const exact_op_class gemm_class = {.name = "Gemm",
                                          .outputs = 1,
                                          .min_inputs = 2,
                                          .max_inputs = 3,
                                          .infer = infer,
                                          .plan = plan,
                                          .free = free_op,
                                          .packed_size = packed_size,
                                          .pack = pack,
                                          .set_packed = set_packed};

static int create(const exact_op_class *cls, const exact_gemm_attrs *attrs, int dtype, int mode, exact_op **op,
                  exact_error *err) {
  matmul_op *o = exact_op_new(sizeof *o, cls, dtype, mode, err);
  if (!o) return err ? err->code : EXACT_NO_MEMORY;
  o->gemm = cls == &gemm_class;
  o->attrs = *attrs;
  *op = &o->base;
  return EXACT_OK;
}

int exact_matmul_new(int dtype, int mode, exact_op **op, exact_error *err) {
  const exact_gemm_attrs attrs = {1, 1, 0, 0};
  bool whole = dtype == EXACT_INT32 || dtype == EXACT_INT64 || dtype == EXACT_UINT32 || dtype == EXACT_UINT64;
  if (!exact_is_float(dtype) && !whole) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  return create(&matmul_class, &attrs, dtype, mode, op, err);
}

int exact_gemm_new(const exact_gemm_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err) {
  if (!exact_is_float(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  return create(&gemm_class, attrs, dtype, mode, op, err);
}
