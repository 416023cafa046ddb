/* Runs LpNormalization (y = x / norm) and MeanVarianceNormalization (t = x - first, mean = sum(t) / n, d = t - mean,
 * y = d / (sqrt(sum(d * d) / n) + epsilon)) over the sequences of a reduction: in row layout one or a group of rows at a time
 * with canonical sums, in column layout a tile of sequences side by side with sequential sums. docs/norm.md */
#include "half.h"
#include "norm.h"

/* Rows summed side by side, and the elements up to which that is done; rows up to SHORT are divided together. */
enum { GROUP = 8, GROUP_ELEMENTS = 32768, SHORT = 32, VECTOR = 64 };

typedef struct task {
  const exact_reduce_plan *g;
  const exact_norm_axes_op *o;
  const struct exact_reduce_kernels *sums;
  const struct exact_norm_kernels *k;
  const char *x;
  char *y;
  int type, dtype; /* RED_F32 or RED_F64, which is the index of the norm kernels too */
  size_t size, wide;
  bool native;
} task;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static int power(const task *t) { return t->o->p == 1 ? RED_ABS : RED_SQUARE; }

/* The numbers of sequences, in the arithmetic type. */
typedef struct numbers {
  double first[RED_TILE], mean[RED_TILE], divisor[RED_TILE];
} numbers;

/* What the kernels take of sequence i on. */
static exact_norm_numbers at(const task *t, const numbers *v, size_t i) {
  exact_norm_numbers s = {.divisor = (const char *)v->divisor + i * t->wide};
  if (!t->o->centred) return s;
  s.first = (const char *)v->first + i * t->wide;
  s.mean = (const char *)v->mean + i * t->wide;
  return s;
}

static void finish(const task *t, int kind, size_t n, void *values) { t->sums->finish[t->type](kind, t->g->terms, n, values); }

/* The divisors from their sums. */
static void finish_divisors(const task *t, size_t n, void *values) {
  const float epsilon = exact_f32_from_bits(0x3089705F);
  if (!t->o->centred) {
    finish(t, t->o->p == 1 ? EXACT_REDUCE_L1 : EXACT_REDUCE_L2, n, values);
    return;
  }
  finish(t, EXACT_REDUCE_MEAN, n, values);
  finish(t, EXACT_REDUCE_L2, n, values); /* the root */
  for (size_t i = 0; i < n; i++) {
    if (t->type == RED_F64)
      ((double *)values)[i] += (double)epsilon;
    else
      ((float *)values)[i] += epsilon;
  }
}

/* ---- row layout ---- */
/* y = x over `count` short rows: their numbers are repeated for every element. */
static void divide_short(const task *t, size_t row, size_t count, const numbers *v) {
  const size_t n = t->g->length, at = row * n * t->wide;
  const void *values[3] = {v->divisor, v->first, v->mean};
  double flat[3][RED_BLOCK + VECTOR / sizeof(double)];
  for (int i = 0; i < (t->o->centred ? 3 : 1); i++) t->k->repeat[t->type](values[i], n, count, flat[i]);
  exact_norm_numbers s = {.divisor = (const char *)flat[0]};
  if (t->o->centred) s.first = (const char *)flat[1], s.mean = (const char *)flat[2];
  t->k->divide_columns[t->type](t->x + at, 0, 1, n * count, &s, t->y + at);
}

/* `count` rows one after the other, of the arithmetic type. */
static void group(const task *t, size_t row, size_t count, numbers *v) {
  const size_t n = t->g->length, bytes = n * t->wide, room = t->g->elements - row * n;
  const char *x = t->x + row * bytes;
  if (t->o->centred) {
    for (size_t i = 0; i < count; i++) memcpy((char *)v->first + i * t->wide, x + i * bytes, t->wide);
    exact_norm_numbers s = {.first = (const char *)v->first};
    t->k->sum_rows[t->type](x, n, count, room, &s, v->mean);
    finish(t, EXACT_REDUCE_MEAN, count, v->mean);
    s.mean = (const char *)v->mean;
    t->k->sum_rows[t->type](x, n, count, room, &s, v->divisor);
  } else {
    t->sums->rows[t->type][power(t)](x, n, count, room, v->divisor);
  }
  finish_divisors(t, count, v->divisor);
  if (n <= SHORT) {
    divide_short(t, row, count, v);
    return;
  }
  for (size_t i = 0; i < count; i++) {
    exact_norm_numbers s = at(t, v, i);
    t->k->divide_row[t->type](x + i * bytes, n, &s, t->y + (row + i) * bytes);
  }
}

/* A canonical sum over a sequence in pieces. */
typedef struct pieces {
  const task *t;
  exact_norm_numbers s;
  double state[16];
} pieces;

static void take_piece(const void *x, size_t n, void *state) {
  pieces *p = state;
  p->t->k->sum_more[p->t->type](x, n, &p->s, p->state);
}

static void sum_sequence(const task *t, const char *x, const exact_norm_numbers *s, void *sum) {
  pieces p = {.t = t, .s = *s};
  exact_reduce_stream(t->g, t->dtype, false, x, take_piece, &p);
  t->sums->tree[t->type](p.state, sum);
}

static void divide_piece(const task *t, size_t at, size_t n, const exact_norm_numbers *s) {
  double block[RED_BLOCK];
  if (t->native) {
    t->k->divide_row[t->type](t->x + at * t->size, n, s, t->y + at * t->size);
    return;
  }
  for (size_t part; n > 0; n -= part, at += part) {
    part = least(n, RED_BLOCK);
    exact_reduce_widen(block, t->x + at * t->size, part, t->dtype);
    t->k->divide_row[t->type](block, part, s, block);
    exact_reduce_narrow(t->y + at * t->size, block, part, t->dtype);
  }
}

static void sequence(const task *t, size_t output, numbers *v) {
  size_t base = exact_runs_offset(&t->g->kept, output);
  const char *x = t->x + base * t->size;
  if (t->o->centred) {
    exact_reduce_widen(v->first, x, 1, t->dtype);
    exact_norm_numbers s = {.first = (const char *)v->first};
    sum_sequence(t, x, &s, v->mean);
    finish(t, EXACT_REDUCE_MEAN, 1, v->mean);
    s.mean = (const char *)v->mean;
    sum_sequence(t, x, &s, v->divisor);
  } else {
    double state[16] = {0};
    exact_reduce_stream(t->g, t->dtype, false, x, t->sums->more[t->type][power(t)], state);
    t->sums->tree[t->type](state, v->divisor);
  }
  finish_divisors(t, 1, v->divisor);
  exact_norm_numbers s = at(t, v, 0);
  for (size_t i = 0, segments = exact_runs_count(&t->g->reduced); i < segments; i++)
    divide_piece(t, base + exact_runs_offset(&t->g->reduced, i), t->g->length, &s);
}

static void rows(const task *t, size_t first, size_t end, numbers *v) {
  bool whole = t->native && t->g->reduced.n == 0;
  size_t n = t->g->length, most = n <= SHORT ? least(RED_BLOCK / n, RED_TILE) : n * GROUP <= GROUP_ELEMENTS ? GROUP : 1;
  for (size_t count; first < end; first += count) {
    count = whole ? least(most, end - first) : 1;
    if (whole)
      group(t, first, count, v);
    else
      sequence(t, first, v);
  }
}

/* ---- column layout ---- */
typedef struct columns {
  const task *t;
  exact_norm_numbers s;
  void *acc;
} columns;

static void take_rows(const void *x, size_t step, size_t n, size_t width, void *state) {
  const columns *c = state;
  if (c->t->o->centred)
    c->t->k->sum_columns[c->t->type](x, step, n, width, &c->s, c->acc);
  else
    c->t->sums->columns[c->t->type][power(c->t)](x, step, n, width, c->acc);
}

static void sum_columns(const task *t, const char *x, size_t width, const exact_norm_numbers *s, double *acc) {
  columns c = {t, *s, acc};
  memset(acc, 0, width * t->wide);
  exact_reduce_sweep(t->g, t->dtype, x, width, take_rows, &c);
}

/* y = x over `count` rows. */
static void divide_rows(const task *t, size_t at, size_t step, size_t count, size_t width, const exact_norm_numbers *s) {
  double block[RED_TILE];
  if (t->native) {
    t->k->divide_columns[t->type](t->x + at * t->size, step, count, width, s, t->y + at * t->size);
    return;
  }
  for (; count > 0; count--, at += step) {
    exact_reduce_widen(block, t->x + at * t->size, width, t->dtype);
    t->k->divide_columns[t->type](block, 0, 1, width, s, block);
    exact_reduce_narrow(t->y + at * t->size, block, width, t->dtype);
  }
}

/* Repeats the numbers of narrow rows that follow each other, so that several are divided as one; returns how many. */
static size_t join_rows(const task *t, size_t width, numbers *v) {
  double *values[3] = {v->divisor, v->first, v->mean};
  size_t joined = t->g->step == width ? least(RED_TILE / width, t->g->length) : 1, bytes = width * t->wide;
  for (int i = 0; i < (t->o->centred ? 3 : 1); i++)
    for (size_t r = 1; r < joined; r *= 2) memcpy((char *)values[i] + r * bytes, values[i], least(r, joined - r) * bytes);
  return joined;
}

static void tile(const task *t, size_t unit, numbers *v) {
  const exact_reduce_plan *g = t->g;
  size_t start = unit % g->tiles * g->tile, width = least(g->tile, g->width - start);
  size_t base = exact_runs_offset(&g->kept, unit / g->tiles) + start;
  const char *x = t->x + base * t->size;
  exact_norm_numbers s = {0};
  if (t->o->centred) {
    exact_reduce_widen(v->first, x, width, t->dtype);
    s.first = (const char *)v->first;
    sum_columns(t, x, width, &s, v->mean);
    finish(t, EXACT_REDUCE_MEAN, width, v->mean);
    s.mean = (const char *)v->mean;
  }
  sum_columns(t, x, width, &s, v->divisor);
  finish_divisors(t, width, v->divisor);
  s = at(t, v, 0);
  size_t joined = join_rows(t, width, v), whole = g->length / joined;
  for (size_t i = 0, segments = exact_runs_count(&g->reduced); i < segments; i++) {
    size_t at = base + exact_runs_offset(&g->reduced, i);
    divide_rows(t, at, joined * g->step, whole, joined * width, &s);
    divide_rows(t, at + whole * joined * g->step, g->step, g->length % joined, width, &s);
  }
}

/* ---- all ---- */
static void run_task(void *arg, size_t index) {
  const exact_call *call = arg;
  const exact_norm_axes_op *o = (const exact_norm_axes_op *)call->plan->op;
  int dtype = o->op.dtype, type = exact_reduce_type(dtype);
  task t = {.g = &((const exact_norm_axes_plan *)call->plan)->sequences,
            .o = o,
            .sums = o->op.isa->reduce,
            .k = o->op.isa->norm,
            .x = call->in[0],
            .y = call->out[0],
            .type = type,
            .dtype = dtype,
            .size = exact_dtype_size(dtype),
            .wide = type == RED_F64 ? 8 : 4,
            .native = exact_reduce_native(dtype)};
  numbers v;
  size_t first = index * t.g->per_task, end = least(first + t.g->per_task, t.g->units);
  if (!t.g->columns) {
    rows(&t, first, end, &v);
    return;
  }
  for (; first < end; first++) tile(&t, first, &v);
}

void exact_norm_axes_run(const exact_call *call) {
  const exact_reduce_plan *g = &((const exact_norm_axes_plan *)call->plan)->sequences;
  if (g->elements && call->out[0]) exact_parallel(call->threads, g->tasks, run_task, (void *)call);
}
