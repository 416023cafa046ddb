/* Einsum: the equation, shapes, plan. docs/einsum.md */
#include "einsum.h"

#include <stdlib.h>

enum { TASK_PRODUCTS = 16384 };

/* ---- the equation ---- */
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static bool holds(const einsum_term *t, char label) {
  for (int i = 0; i < t->n; i++)
    if (t->label[i] == label) return true;
  return false;
}

/* Reads labels up to a character that is none; its place goes to *end. */
static int read_term(const char *text, einsum_term *t, const char **end, exact_error *err) {
  for (t->n = 0; *text == '.' || is_letter(*text); text++) {
    if (t->n > EXACT_MAX_RANK) return exact_fail(err, EXACT_UNSUPPORTED, "a term has more than %d labels", EXACT_MAX_RANK);
    if (*text == '.') {
      if (text[1] != '.' || text[2] != '.') return exact_fail(err, EXACT_INVALID, "equation: an ellipsis has three dots");
      if (holds(t, '.')) return exact_fail(err, EXACT_INVALID, "equation: a term has two ellipses");
      text += 2;
    }
    t->label[t->n++] = *text;
  }
  *end = text;
  return EXACT_OK;
}

static int occurrences(const einsum_op *o, char label) {
  int n = 0;
  for (int i = 0; i < o->operands; i++)
    for (int k = 0; k < o->term[i].n; k++) n += o->term[i].label[k] == label;
  return n;
}

static int implicit_output(einsum_op *o, exact_error *err) {
  o->output.n = 0;
  if (occurrences(o, '.')) o->output.label[o->output.n++] = '.';
  for (char c = 'A'; c <= 'z'; c++) {
    if (!is_letter(c) || occurrences(o, c) != 1) continue;
    if (o->output.n > EXACT_MAX_RANK)
      return exact_fail(err, EXACT_UNSUPPORTED, "the output has more than %d labels", EXACT_MAX_RANK);
    o->output.label[o->output.n++] = c;
  }
  return EXACT_OK;
}

static int check_output(const einsum_op *o, exact_error *err) {
  for (int i = 0; i < o->output.n; i++) {
    char label = o->output.label[i];
    if (label == '.') continue;
    if (!occurrences(o, label)) return exact_fail(err, EXACT_INVALID, "equation: no operand has the output's label %c", label);
    for (int k = 0; k < i; k++)
      if (o->output.label[k] == label)
        return exact_fail(err, EXACT_INVALID, "equation: the output has the label %c twice", label);
  }
  if (holds(&o->output, '.') != (occurrences(o, '.') > 0))
    return exact_fail(err, EXACT_INVALID, "equation: operands and output must have the ellipsis together");
  return EXACT_OK;
}

static int parse(einsum_op *o, const char *equation, exact_error *err) {
  char text[EINSUM_TEXT];
  size_t n = 0;
  for (; *equation; equation++) {
    if (*equation == ' ') continue;
    if (n + 1 == EINSUM_TEXT) return exact_fail(err, EXACT_UNSUPPORTED, "equation of more than %d characters", EINSUM_TEXT - 1);
    text[n++] = *equation;
  }
  text[n] = '\0';
  const char *at = text;
  for (o->operands = 0;; at++) {
    if (o->operands == EINSUM_OPERANDS) return exact_fail(err, EXACT_UNSUPPORTED, "more than %d operands", EINSUM_OPERANDS);
    int rc = read_term(at, &o->term[o->operands++], &at, err);
    if (rc) return rc;
    if (*at != ',') break;
  }
  int rc = EXACT_OK;
  if (at[0] == '-' && at[1] == '>')
    rc = read_term(at + 2, &o->output, &at, err);
  else if (!*at)
    rc = implicit_output(o, err);
  if (!rc && *at) rc = exact_fail(err, EXACT_INVALID, "equation: unexpected character '%c'", *at);
  return rc ? rc : check_output(o, err);
}

/* ---- labels ---- */
/* What a label is: a letter, or an axis of the ellipsis. */
typedef struct labels {
  int n, outer, ellipsis; /* ellipsis: axes that it stands for */
  int name[EINSUM_LABELS];
  int64_t size[EINSUM_LABELS]; /* -1: not known */
} labels;

enum { FIRST_ELLIPSIS = 256 };

static int label_of(labels *l, int name) {
  for (int i = 0; i < l->n; i++)
    if (l->name[i] == name) return i;
  l->name[l->n] = name;
  l->size[l->n] = 1;
  return l->n++;
}

static int merge(labels *l, int i, int64_t size, int name, exact_error *err) {
  int64_t known = l->size[i];
  if (known >= 0 && known != 1 && size >= 0 && size != 1 && known != size) {
    const char letter[] = {(char)name, '\0'};
    return exact_fail(err, EXACT_INVALID, "the sizes %lld and %lld of %s do not agree", (long long)known, (long long)size,
                      name < FIRST_ELLIPSIS ? letter : "an axis of ...");
  }
  if (known == 1 || (known < 0 && size > 1) || (known < 0 && size == 0)) l->size[i] = size;
  return EXACT_OK;
}

static int count_ellipsis(const einsum_op *o, const exact_tensor *in, labels *l, exact_error *err) {
  bool found = false;
  for (int i = 0; i < o->operands; i++) {
    const einsum_term *t = &o->term[i];
    bool dots = holds(t, '.');
    int rest = in[i].rank - (t->n - dots);
    if (rest < 0 || (rest > 0 && !dots))
      return exact_fail(err, EXACT_INVALID, "operand %d has rank %d, its term %d labels", i, in[i].rank, t->n - dots);
    if (dots && found && rest != l->ellipsis)
      return exact_fail(err, EXACT_INVALID, "the ellipsis stands for %d axes and for %d", l->ellipsis, rest);
    if (dots) l->ellipsis = rest;
    found |= dots;
  }
  return EXACT_OK;
}

/* Calls back for every axis of a term: its label's name. */
static int names_of(const einsum_term *t, int ellipsis, int name[EXACT_MAX_RANK]) {
  int n = 0;
  for (int i = 0; i < t->n; i++) {
    if (t->label[i] != '.') {
      if (n < EXACT_MAX_RANK) name[n] = t->label[i];
      n++;
      continue;
    }
    for (int k = 0; k < ellipsis; k++, n++)
      if (n < EXACT_MAX_RANK) name[n] = FIRST_ELLIPSIS + k;
  }
  return n;
}

static int read_operand(const einsum_op *o, const exact_tensor *in, int i, labels *l, exact_error *err) {
  int name[EXACT_MAX_RANK], n = names_of(&o->term[i], l->ellipsis, name);
  for (int axis = 0; axis < n; axis++) {
    for (int k = 0; k < axis; k++)
      if (name[k] == name[axis] && in[i].dims[k] >= 0 && in[i].dims[axis] >= 0 && in[i].dims[k] != in[i].dims[axis])
        return exact_fail(err, EXACT_INVALID, "operand %d: the axes of label %c have the sizes %lld and %lld", i, name[axis],
                          (long long)in[i].dims[k], (long long)in[i].dims[axis]);
    int rc = merge(l, label_of(l, name[axis]), in[i].dims[axis], name[axis], err);
    if (rc) return rc;
  }
  return EXACT_OK;
}

static int resolve(const einsum_op *o, int n, const exact_tensor *in, labels *l, exact_error *err) {
  int name[EXACT_MAX_RANK];
  *l = (labels){0};
  if (n != o->operands) return exact_fail(err, EXACT_INVALID, "%d operands, the equation has %d terms", n, o->operands);
  for (int i = 0; i < n; i++)
    if (in[i].dtype != o->op.dtype)
      return exact_fail(err, EXACT_INVALID, "operand %d has the element type %s, expected %s", i, exact_dtype_name(in[i].dtype),
                        exact_dtype_name(o->op.dtype));
  int rc = count_ellipsis(o, in, l, err);
  if (rc) return rc;
  l->outer = names_of(&o->output, l->ellipsis, name);
  if (l->outer > EXACT_MAX_RANK) return exact_fail(err, EXACT_UNSUPPORTED, "the output has rank %d", l->outer);
  for (int i = 0; i < l->outer; i++) label_of(l, name[i]);
  for (int i = 0; i < n && !rc; i++) rc = read_operand(o, in, i, l, err);
  return rc;
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  labels l;
  int rc = resolve((const einsum_op *)op, n, in, &l, err);
  if (rc) return rc;
  *out = (exact_tensor){.dtype = op->dtype, .rank = l.outer};
  memcpy(out->dims, l.size, (size_t)l.outer * sizeof *l.size);
  return EXACT_OK;
}

/* ---- plan ---- */
static void set_walk(einsum_walk *w, const einsum_op *o, const exact_tensor *in, labels *l) {
  int name[EXACT_MAX_RANK];
  w->outer = l->outer;
  w->all = l->n;
  for (int i = 0; i < l->n; i++) w->size[i] = (size_t)l->size[i];
  for (int i = 0; i < o->operands; i++) {
    size_t step = 1;
    names_of(&o->term[i], l->ellipsis, name);
    for (int axis = in[i].rank - 1; axis >= 0; axis--) {
      int label = label_of(l, name[axis]);
      if (in[i].dims[axis] != 1) w->step[i][label] += step;
      step *= (size_t)in[i].dims[axis];
    }
  }
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  const einsum_op *o = (const einsum_op *)op;
  exact_tensor y;
  labels l;
  size_t count;
  int rc = resolve(o, n, in, &l, err);
  if (!rc) rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&y, "Y", &count, err);
  if (rc) return rc;
  einsum_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = exact_einsum_run, .out = {y}};
  p->element = exact_dtype_size(op->dtype);
  p->outputs = count;
  p->sums = 1;
  bool fits = true, empty = false;
  for (int i = l.outer; i < l.n; i++) empty |= l.size[i] == 0;
  for (int i = l.outer; i < l.n && !empty; i++) fits = fits && exact_mul(p->sums, (size_t)l.size[i], &p->sums);
  if (empty) p->sums = 0;
  set_walk(&p->walk, o, in, &l);
  p->chunk = p->sums && p->sums < TASK_PRODUCTS ? TASK_PRODUCTS / p->sums : 1;
  if (!fits) rc = exact_fail(err, EXACT_INVALID, "the number of products is too large");
  if (!rc && n == 2 && l.n > l.outer && p->outputs && p->sums) rc = exact_einsum_product(p, o, err);
  if (rc) {
    exact_plan_free(&p->base);
    return rc;
  }
  *out = &p->base;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class einsum_class = {.name = "Einsum",
                                            .outputs = 1,
                                            .min_inputs = 1,
                                            .max_inputs = EINSUM_OPERANDS,
                                            .infer = infer,
                                            .plan = plan,
                                            .free = free_op};

int exact_einsum_new(const char *equation, int dtype, int mode, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  bool whole = dtype == EXACT_INT32 || dtype == EXACT_INT64 || dtype == EXACT_UINT32 || dtype == EXACT_UINT64;
  if (!exact_is_float(dtype) && !whole) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  einsum_op *o = exact_op_new(sizeof *o, &einsum_class, dtype, mode, err);
  if (!o) return err->code;
  o->product = (exact_op){&einsum_class, o->op.isa, whole ? dtype : exact_arith(dtype), mode};
  int rc = parse(o, equation, err);
  if (rc) {
    free(o);
    return rc;
  }
  *op = &o->op;
  return EXACT_OK;
}
