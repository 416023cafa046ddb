/* Runs sequences. A task takes a group of rows of the batch through all steps of a direction: the products of the inputs of a
 * chunk of steps at once, then step by step those of the state, and the cell. With one task alone it is the products whose
 * columns are shared out. docs/recurrent.md */
#include "recurrent.h"

#include "half.h"

typedef struct recurrent_run {
  const exact_call *call;
  const exact_recurrent_plan *p;
  const exact_recurrent_op *o;
  const struct exact_gemm_kernels *gemm;
  const float *weights[3]; /* W and R, packed */
  const float *bias;       /* [direction][2][row]; NULL */
  const float *peepholes;  /* [direction][3 * hidden]; NULL */
  const int32_t *lengths;
  size_t element;
  exact_slots slots;
} recurrent_run;

static const void *input(const recurrent_run *r, int i) { return i < r->p->inputs ? r->call->in[i] : NULL; }

/* ---- what all tasks read ---- */
/* One row of biases of the type of the op, gates one after another, to the columns of products. */
static void load_bias(const recurrent_run *r, const char *src, float *dst) {
  const exact_gates *g = &r->p->gates;
  for (int i = 0; i < g->parts; i++) {
    exact_load_row(dst, src, g->n[i], r->o->base.dtype);
    for (size_t j = g->n[i]; j < g->padded[i]; j++) dst[j] = 0;
    src += g->n[i] * r->element;
    dst += g->padded[i];
  }
}

static void prepare_task(void *arg, size_t index) {
  const recurrent_run *r = arg;
  const exact_recurrent_plan *p = r->p;
  const size_t d = index / 3, rows = (size_t)r->o->gates * p->hidden, what = index % 3;
  char *work = r->call->work;
  if (what) { /* W, R */
    size_t k = what == 1 ? p->input : p->hidden;
    if (!p->packed[what])
      exact_recurrent_pack(r->o, p->hidden, k, (const char *)input(r, (int)what) + d * rows * k * r->element,
                           (float *)(work + p->at[what]) + d * p->gates.row * k);
    return;
  }
  const char *b = input(r, 3), *peepholes = input(r, 7);
  for (size_t i = 0; b && i < 2; i++)
    load_bias(r, b + (d * 2 + i) * rows * r->element, (float *)(work + p->bias_at) + (d * 2 + i) * p->gates.row);
  if (peepholes)
    exact_load_row((float *)(work + p->p_at) + d * 3 * p->hidden, peepholes + d * 3 * p->hidden * r->element, 3 * p->hidden,
                   r->o->base.dtype);
}

/* ---- a group of rows ---- */
typedef struct sequences {
  const recurrent_run *r;
  size_t d, first, rows; /* direction, rows of the batch */
  bool reverse;
  float *x, *xw, *hr, *h, *c, *t;
  exact_cell cell;
} sequences;

static size_t length(const sequences *q, size_t row) {
  return q->r->lengths ? (size_t)q->r->lengths[q->first + row] : q->r->p->steps;
}

/* Element of the sequence that a step takes. */
static size_t element_of(const sequences *q, size_t row, size_t step) { return q->reverse ? length(q, row) - 1 - step : step; }

/* Position of an element of a row in X and in Y (without direction and units). */
static size_t outer(const sequences *q, size_t row, size_t t) {
  const exact_recurrent_plan *p = q->r->p;
  return q->r->o->batch_first ? (q->first + row) * p->steps + t : t * p->batch + q->first + row;
}

static char *y_at(const sequences *q, size_t row, size_t t) {
  const exact_recurrent_plan *p = q->r->p;
  const size_t directions = (size_t)q->r->o->directions, b = q->first + row;
  size_t at = q->r->o->batch_first ? outer(q, row, t) * directions + q->d : (t * directions + q->d) * p->batch + b;
  return (char *)q->r->call->out[0] + at * p->hidden * q->r->element;
}

/* Offset of a row of initial_h, initial_c, Y_h and Y_c. */
static size_t state_at(const sequences *q, size_t row) {
  const exact_recurrent_plan *p = q->r->p;
  const size_t b = q->first + row;
  size_t at = q->r->o->batch_first ? b * (size_t)q->r->o->directions + q->d : q->d * p->batch + b;
  return at * p->hidden * q->r->element;
}

/* Part `part` of a row of products for each of `rows` rows of k elements. */
typedef struct product {
  const sequences *q;
  int what, part;
  size_t rows, k;
  const float *a;
  float *y;
} product;

/* Piece `index` of the columns: every panel that begins in it. */
static void multiply_task(void *arg, size_t index) {
  const product *m = arg;
  const recurrent_run *r = m->q->r;
  const exact_gates *g = &r->p->gates;
  const size_t k = m->k, column = m->part ? g->padded[0] : 0;
  const size_t begin = g->n[m->part] / r->p->pieces * index, end = g->n[m->part] / r->p->pieces * (index + 1);
  const float *b = r->weights[m->what] + (m->q->d * g->row + column) * k;
  const float *bias = r->bias ? r->bias + (m->q->d * 2 + (m->what == 2)) * g->row + column : NULL;
  for (size_t n = 0, width; n < g->n[m->part]; n += width, b += width * k) {
    const exact_epilogue last = {NULL, bias ? bias + n : NULL};
    width = exact_matmul_width(r->gemm, g->n[m->part] - n);
    if (n < begin || (n >= end && index + 1 < r->p->pieces)) continue;
    for (size_t row = 0, tile; row < m->rows; row += tile) {
      tile = exact_gemm_part(m->rows - row, r->gemm->rows);
      r->gemm->tile_rows(tile, width / r->gemm->lanes, k, m->a + row * k, k, b, width, m->y + row * g->row + column + n, g->row,
                         true, &last, b + width * k);
    }
  }
}

static void multiply(const sequences *q, int what, int part, size_t rows, const float *a, size_t k, float *y) {
  product m = {q, what, part, rows, k, a, y};
  if (q->r->p->pieces > 1)
    exact_parallel(q->r->call->threads, q->r->p->pieces, multiply_task, &m);
  else
    multiply_task(&m, 0);
}

/* The products of the inputs of `count` steps. Rows that have ended: anything. */
static void multiply_inputs(const sequences *q, size_t step, size_t count) {
  const exact_recurrent_plan *p = q->r->p;
  const char *x = q->r->call->in[0];
  for (size_t s = 0; s < count; s++)
    for (size_t row = 0; row < q->rows; row++) {
      float *dst = q->x + (s * q->rows + row) * p->input;
      if (step + s < length(q, row))
        exact_load_row(dst, x + outer(q, row, element_of(q, row, step + s)) * p->input * q->r->element, p->input,
                       q->r->o->base.dtype);
      else
        memset(dst, 0, p->input * sizeof *dst);
    }
  for (int part = 0; part < p->gates.parts; part++) multiply(q, 1, part, count * q->rows, q->x, p->input, q->xw);
}

static void gru_step(const sequences *q, size_t step, const float *xw) {
  const size_t n = q->r->p->hidden, ld = q->r->p->gates.row;
  const bool later = !q->r->o->linear_before_reset;
  for (size_t row = 0; row < q->rows; row++)
    if (step < length(q, row))
      exact_gru_gates(&q->cell, xw + row * ld, q->hr + row * ld, q->h + row * n, later ? q->t + row * n : NULL);
  if (later) multiply(q, 2, 1, q->rows, q->t, n, q->hr);
  for (size_t row = 0; row < q->rows; row++)
    if (step < length(q, row)) exact_gru_cell(&q->cell, xw + row * ld, q->hr + row * ld, q->h + row * n);
}

static void run_step(const sequences *q, size_t step, const float *xw) {
  const exact_recurrent_op *o = q->r->o;
  const size_t n = q->r->p->hidden, ld = q->r->p->gates.row;
  multiply(q, 2, 0, q->rows, q->h, n, q->hr);
  if (o->kind == EXACT_GRU) {
    if (o->linear_before_reset) multiply(q, 2, 1, q->rows, q->h, n, q->hr);
    gru_step(q, step, xw);
  }
  for (size_t row = 0; row < q->rows; row++) {
    if (step >= length(q, row)) continue;
    float *h = q->h + row * n;
    if (o->kind == EXACT_LSTM)
      exact_lstm_cell(&q->cell, xw + row * ld, q->hr + row * ld, h, q->c + row * n, q->t + row * n);
    else if (o->kind == EXACT_RNN)
      exact_rnn_cell(&q->cell, xw + row * ld, q->hr + row * ld, h);
    if (q->r->call->out[0]) exact_store_row(y_at(q, row, element_of(q, row, step)), h, n, o->base.dtype);
  }
}

static void load_state(const sequences *q, const char *src, float *state) {
  const size_t n = q->r->p->hidden;
  for (size_t row = 0; row < q->rows; row++)
    if (src)
      exact_load_row(state + row * n, src + state_at(q, row), n, q->r->o->base.dtype);
    else
      memset(state + row * n, 0, n * sizeof *state);
}

static void store_state(const sequences *q, int output, const float *state) {
  const size_t n = q->r->p->hidden;
  char *dst = q->r->call->out[output];
  for (size_t row = 0; dst && row < q->rows; row++)
    if (length(q, row))
      exact_store_row(dst + state_at(q, row), state + row * n, n, q->r->o->base.dtype);
    else
      memset(dst + state_at(q, row), 0, n * q->r->element);
}

static void run_sequences(const sequences *q) {
  const exact_recurrent_plan *p = q->r->p;
  const bool lstm = q->r->o->kind == EXACT_LSTM;
  size_t longest = 0;
  for (size_t row = 0; row < q->rows; row++)
    if (length(q, row) > longest) longest = length(q, row);
  load_state(q, input(q->r, 5), q->h);
  if (lstm) load_state(q, input(q->r, 6), q->c);
  if (!lstm) memset(q->t, 0, q->rows * p->hidden * sizeof *q->t); /* read for rows that have ended too */
  for (size_t step = 0, count; step < longest; step += count) {
    count = exact_smaller(p->chunk, longest - step);
    multiply_inputs(q, step, count);
    for (size_t s = 0; s < count; s++) run_step(q, step + s, q->xw + s * q->rows * p->gates.row);
  }
  for (size_t row = 0; q->r->call->out[0] && row < q->rows; row++)
    for (size_t t = length(q, row); t < p->steps; t++) memset(y_at(q, row, t), 0, p->hidden * q->r->element);
  store_state(q, 1, q->h);
  if (lstm) store_state(q, 2, q->c);
}

static void group_task(void *arg, size_t index) {
  recurrent_run *r = arg;
  const exact_recurrent_plan *p = r->p;
  char *slot = exact_slot_take(&r->slots);
  sequences q = {.r = r, .d = index / p->groups, .first = index % p->groups * p->group};
  q.rows = exact_smaller(p->group, p->batch - q.first);
  q.reverse = r->o->direction == EXACT_REVERSE || q.d == 1;
  q.x = (float *)(slot + p->x_part);
  q.xw = (float *)(slot + p->xw_part);
  q.hr = (float *)(slot + p->hr_part);
  q.h = (float *)(slot + p->h_part);
  q.c = (float *)(slot + p->c_part);
  q.t = (float *)(slot + p->t_part);
  q.cell = (exact_cell){.op = r->o,
                        .act = r->o->act[q.d],
                        .kernels = r->o->base.isa->recurrent,
                        .n = p->hidden,
                        .last = p->gates.padded[0],
                        .p = r->peepholes ? r->peepholes + q.d * 3 * p->hidden : NULL};
  run_sequences(&q);
  exact_slot_give(&r->slots, slot);
}

void exact_recurrent_run(const exact_call *call) {
  const exact_recurrent_plan *p = (const exact_recurrent_plan *)call->plan;
  const exact_recurrent_op *o = (const exact_recurrent_op *)p->base.op;
  recurrent_run r = {.call = call, .p = p, .o = o, .gemm = o->base.isa->gemm32, .element = exact_dtype_size(o->base.dtype)};
  const size_t directions = (size_t)o->directions, tasks = p->groups * directions;
  if (!tasks) return;
  for (int i = 1; i < 3; i++) r.weights[i] = p->packed[i] ? p->packed[i] : (const float *)(call->work + p->at[i]);
  if (input(&r, 3)) r.bias = (const float *)(call->work + p->bias_at);
  if (input(&r, 7)) r.peepholes = (const float *)(call->work + p->p_at);
  r.lengths = input(&r, 4);
  exact_parallel(p->packed[1] && p->packed[2] ? NULL : call->threads, 3 * directions, prepare_task, &r);
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, exact_slot_count(tasks));
  exact_parallel(p->pieces > 1 ? NULL : call->threads, tasks, group_task, &r);
}
