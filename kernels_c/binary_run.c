/* Elementwise operators of several inputs: rows straight from the inputs, or blocks of them. docs/binary.md */
#include <string.h>

#include "binary.h"

typedef struct binary_run {
  const binary_plan *p;
  const binary_op *o;
  const struct exact_binary_kernels *k;
  exact_binary_rows *step;
  const void *const *in;
  char *out;
  size_t size; /* of an element */
} binary_run;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Offset of an input's row, in elements. */
static size_t row_at(const binary_plan *p, int input, size_t row) {
  const size_t *stride = p->stride + (size_t)input * (size_t)p->dims;
  size_t at = 0;
  for (int d = p->dims - 2; d >= 0; d--) {
    at += row % p->extent[d] * stride[d];
    row /= p->extent[d];
  }
  return at;
}

/* ---- direct: two inputs, rows of the element type ---- */
static void direct_task(void *arg, size_t task) {
  const binary_run *r = arg;
  const binary_plan *p = r->p;
  size_t unit = task * p->per_task, end = least(unit + p->per_task, p->units);
  size_t runs = p->dims > 1 ? p->extent[p->dims - 2] : 1;
  const size_t *a = p->stride, *b = p->stride + p->dims;
  bool own[2] = {a[p->dims - 1] != 0, b[p->dims - 1] != 0};
  size_t pitch[2] = {p->dims > 1 ? a[p->dims - 2] : 0, p->dims > 1 ? b[p->dims - 2] : 0};
  int form = own[0] && own[1] ? FORM_BOTH : own[0] ? FORM_ONE_B : FORM_ONE_A;
  for (size_t rows; unit < end; unit += rows) {
    size_t row = unit / p->pieces, from = unit % p->pieces * p->piece, length = least(p->piece, p->n - from);
    rows = p->pieces > 1 ? 1 : least(end - unit, runs - row % runs);
    r->step((const char *)r->in[0] + (row_at(p, 0, row) + (own[0] ? from : 0)) * r->size,
            (const char *)r->in[1] + (row_at(p, 1, row) + (own[1] ? from : 0)) * r->size,
            r->out + (row * p->n + from) * r->size, rows, length, pitch[0], pitch[1], form);
  }
}

/* ---- blocks ---- */
static void fill(char *y, const char *x, size_t n, size_t size) {
  switch (size) {
    case 1: memset(y, *(const unsigned char *)x, n); break;
    case 2:
      for (size_t i = 0; i < n; i++) memcpy(y + 2 * i, x, 2);
      break;
    case 4:
      for (size_t i = 0; i < n; i++) memcpy(y + 4 * i, x, 4);
      break;
    default:
      for (size_t i = 0; i < n; i++) memcpy(y + 8 * i, x, 8);
  }
}

/* Copies the elements that an input has for the outputs from `start` on. */
static void expand(const binary_run *r, int input, size_t start, size_t n, char *y) {
  const binary_plan *p = r->p;
  const size_t *stride = p->stride + (size_t)input * (size_t)p->dims;
  size_t row = start / p->n, column = start % p->n, index[EXACT_MAX_RANK], rest = row, at = row_at(p, input, row);
  int outer = p->dims - 2;
  for (int d = outer; d >= 0; d--) {
    index[d] = rest % p->extent[d];
    rest /= p->extent[d];
  }
  for (size_t done = 0, part; done < n; done += part, column = 0) {
    const char *x = (const char *)r->in[input] + at * r->size;
    part = least(n - done, p->n - column);
    if (stride[p->dims - 1])
      memcpy(y + done * r->size, x + column * r->size, part * r->size);
    else
      fill(y + done * r->size, x, part, r->size);
    for (int d = outer; d >= 0; d--) {
      at += stride[d];
      if (++index[d] < p->extent[d]) break;
      at -= stride[d] * p->extent[d];
      index[d] = 0;
    }
  }
}

typedef struct block {
  const binary_run *r;
  size_t start, n;
  double operand[2][BIN_BLOCK]; /* of the inputs; the second of all but the first */
  double chain[BIN_BLOCK];
  double raw[BIN_BLOCK];
  const void *kept[2]; /* the operand of a PERIODIC input: the same for every block that starts with its row */
} block;

static bool is_narrow(const binary_run *r) { return r->o->op.dtype == EXACT_FLOAT16 || r->o->op.dtype == EXACT_BFLOAT16; }

/* The elements of an input in the arithmetic type. */
static const void *load(block *b, int input) {
  const binary_run *r = b->r;
  const binary_plan *p = r->p;
  const char *x = (const char *)r->in[input] + b->start * r->size;
  void *y = b->operand[input > 0];
  if (p->found[input] == SHAPED) {
    if (!is_narrow(r)) return x;
    r->k->widen(y, x, b->n, r->o->op.dtype);
    return y;
  }
  bool keeps = p->inputs == 2 && p->found[input] == PERIODIC && p->block % p->n == 0;
  if (keeps && b->kept[input]) return b->kept[input];
  expand(r, input, b->start, b->n, is_narrow(r) ? (char *)b->raw : y);
  if (is_narrow(r)) r->k->widen(y, b->raw, b->n, r->o->op.dtype);
  if (keeps) b->kept[input] = y;
  return y;
}

/* A number in the arithmetic type. */
typedef union number {
  float f;
  double d;
} number;
static number number_of(const binary_run *r, double value) {
  number x;
  if (r->o->type == BIN_F64)
    x.d = value;
  else
    x.f = (float)value;
  return x;
}

static exact_binary_rows *step_of(const binary_run *r, int step) { return r->k->step[r->o->type][step]; }

static void one_over(const binary_run *r, const void *x, void *y, size_t n) {
  number one = number_of(r, 1);
  step_of(r, STEP_DIV)(&one, x, y, 1, n, 0, 0, FORM_ONE_A);
}

/* x * 1: x, a NaN being made the canonical one. */
static void copy(const binary_run *r, const void *x, void *y, size_t n) {
  number one = number_of(r, 1);
  if (r->o->type > BIN_F64)
    memmove(y, x, n * r->size);
  else
    step_of(r, STEP_MUL)(x, &one, y, 1, n, 0, 0, FORM_ONE_B);
}

static void power(const binary_run *r, const void *x, void *t, void *y, size_t n) {
  exact_binary_rows *times = step_of(r, STEP_MUL);
  number one = number_of(r, 1);
  switch (r->o->step) {
    case POWER_0: fill(y, (const char *)&one, n, r->o->type == BIN_F64 ? 8 : 4); break;
    case POWER_1: copy(r, x, y, n); break;
    case POWER_2: times(x, x, y, 1, n, 0, 0, FORM_BOTH); break;
    case POWER_3:
      times(x, x, t, 1, n, 0, 0, FORM_BOTH);
      times(t, x, y, 1, n, 0, 0, FORM_BOTH);
      break;
    case POWER_ROOT: r->k->root[r->o->type](x, y, n); break;
    case POWER_M1: one_over(r, x, y, n); break;
    case POWER_M2:
      times(x, x, t, 1, n, 0, 0, FORM_BOTH);
      one_over(r, t, y, n);
      break;
    default: r->k->root[r->o->type](x, t, n); one_over(r, t, y, n);
  }
}

/* y = ((x0 op x1) op x2) ..; `y` is written only after every input's block was read. */
static void chain(block *b, void *y) {
  const binary_run *r = b->r;
  int inputs = r->p->inputs;
  bool mean = r->o->family == BIN_MEAN;
  const void *x = load(b, 0);
  if (inputs == 1) {
    copy(r, x, y, b->n);
    return;
  }
  for (int i = 1; i < inputs; i++) {
    void *to = i < inputs - 1 || mean ? (void *)b->chain : y;
    r->step(x, load(b, i), to, 1, b->n, 0, 0, FORM_BOTH);
    x = to;
  }
  if (!mean) return;
  number n = number_of(r, inputs);
  step_of(r, STEP_DIV)(x, &n, y, 1, b->n, 0, 0, FORM_ONE_B);
}

static void block_task(void *arg, size_t task) {
  const binary_run *r = arg;
  const binary_plan *p = r->p;
  size_t unit = task * p->per_task, end = least(unit + p->per_task, p->units);
  block b;
  b.r = r;
  b.kept[0] = b.kept[1] = NULL;
  for (; unit < end; unit++) {
    b.start = unit * p->block;
    b.n = least(p->block, p->count - b.start);
    char *out = r->out + b.start * r->size;
    void *y = is_narrow(r) ? (void *)b.chain : out;
    if (r->o->family == BIN_POWER)
      power(r, load(&b, 0), b.chain, y, b.n);
    else
      chain(&b, y);
    if (is_narrow(r)) r->k->narrow(out, y, b.n, r->o->op.dtype);
  }
}

void exact_binary_run(const exact_call *call) {
  const binary_plan *p = (const binary_plan *)call->plan;
  const binary_op *o = (const binary_op *)p->plan.op;
  binary_run r = {.p = p,
                  .o = o,
                  .k = o->op.isa->binary,
                  .step = o->family == BIN_POWER ? NULL : o->op.isa->binary->step[o->type][o->step],
                  .in = call->in,
                  .out = call->out[0],
                  .size = exact_dtype_size(o->op.dtype)};
  if (r.out) exact_parallel(call->threads, p->tasks, p->direct ? direct_task : block_task, &r);
}
