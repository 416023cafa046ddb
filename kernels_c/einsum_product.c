/* Einsum of two operands with summed labels as a stack of products, rows x sums times sums x columns: which label is what, and
 * what has to be copied for it. docs/einsum.md */
#include "einsum.h"

enum { STACK, ROW, COLUMN, SUM, GONE };

static int role(const einsum_walk *w, int label) {
  if (w->size[label] == 1) return GONE;
  if (label >= w->outer) return SUM;
  if (w->step[0][label] && w->step[1][label]) return STACK;
  return w->step[0][label] ? ROW : COLUMN; /* a label of neither has size 1 */
}

/* Appends the labels of a role, in the order of the walk. `step` of the operand, or of Y's row-major order. */
static void append(einsum_copy *c, const einsum_walk *w, int wanted, const size_t *step) {
  for (int i = 0; i < w->all; i++) {
    if (role(w, i) != wanted) continue;
    c->size[c->labels] = w->size[i];
    c->step[c->labels++] = step[i];
  }
}

static bool dense(const einsum_copy *c) {
  size_t expected = 1;
  for (int i = c->labels - 1; i >= 0; i--) {
    if (c->step[i] != expected) return false;
    expected *= c->size[i];
  }
  return true;
}

static bool finish(einsum_copy *c, bool half) {
  c->needed = half || !dense(c);
  c->count = 1;
  for (int i = 0; i < c->labels; i++)
    if (!exact_mul(c->count, c->size[i], &c->count)) return false;
  return true;
}

/* The three roles one after the other; in place also with the last two exchanged, if that is allowed, which *turned tells. */
static bool arrange(einsum_copy *c, const einsum_walk *w, const int roles[3], const size_t *step, bool half, bool exchange,
                    bool *turned) {
  for (int swap = exchange; swap >= 0; swap--) { /* the plain order last: it is the one of a copy */
    *c = (einsum_copy){0};
    append(c, w, roles[0], step);
    append(c, w, roles[swap ? 2 : 1], step);
    append(c, w, roles[swap ? 1 : 2], step);
    *turned = swap && dense(c) && !half;
    if (*turned) break;
  }
  return finish(c, half);
}

static size_t extent(const einsum_walk *w, int wanted) {
  size_t n = 1;
  for (int i = 0; i < w->all; i++)
    if (role(w, i) == wanted) n *= w->size[i];
  return n;
}

int exact_einsum_product(einsum_plan *p, const einsum_op *o, exact_error *err) {
  static const int orders[3][3] = {{STACK, ROW, SUM}, {STACK, SUM, COLUMN}, {STACK, ROW, COLUMN}};
  const einsum_walk *w = &p->walk;
  const bool half = p->element == 2;
  size_t y_step[EINSUM_LABELS] = {0}, step = 1, *total = &p->base.workspace;
  const bool exchange[3] = {true, exact_is_float(o->op.dtype), false}; /* integers want the columns of B side by side */
  bool turned[3], fits = true;
  for (int i = w->outer - 1; i >= 0; step *= w->size[i--]) y_step[i] = step;
  for (int i = 0; i < 3; i++)
    fits = fits && arrange(&p->copy[i], w, orders[i], i < 2 ? w->step[i] : y_step, half, exchange[i], &turned[i]);
  if (!fits) return exact_fail(err, EXACT_INVALID, "an operand is too large");
  exact_matmul_shape s = {.dtype = o->product.dtype, .alpha = 1, .beta = 1};
  s.m = extent(w, ROW);
  s.n = extent(w, COLUMN);
  s.k = extent(w, SUM);
  s.positions = s.a_count = s.b_count = extent(w, STACK);
  s.a_row = turned[0] ? 1 : s.k;
  s.a_k = turned[0] ? s.m : 1;
  s.b_k = turned[1] ? 1 : s.n;
  s.b_column = turned[1] ? s.k : 1;
  if (s.m == 1) s.a_row = 1;
  if (s.k == 1) s.a_k = s.b_k = 1;
  if (s.n == 1) s.b_column = 1;
  if (s.positions > 1) {
    s.axes = 1;
    s.size[0] = s.positions;
    s.a_step[0] = s.b_step[0] = 1;
  }
  exact_tensor y = {.dtype = s.dtype};
  exact_plan *made;
  int rc = exact_matmul_plan_new(&o->product, &s, NULL, &y, &made, err);
  if (rc) return rc;
  p->product = *(exact_matmul_plan *)made;
  exact_plan_free(made);
  p->multiplies = true;
  size_t size = exact_dtype_size(s.dtype);
  for (int i = 0; i < 3; i++) fits = fits && exact_part(total, p->copy[i].needed ? p->copy[i].count : 0, size, &p->copy_at[i]);
  if (!fits || !exact_part(total, p->product.base.workspace, 1, &p->sub_at))
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  return EXACT_OK;
}
