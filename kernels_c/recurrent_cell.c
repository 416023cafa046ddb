/* The elementwise part of a step, for one row. docs/recurrent.md */
#include "recurrent.h"

static void clip(const exact_cell *c, float *y, size_t n) {
  if (c->op->clipped) c->kernels->clip(y, c->op->clip, n);
}

void exact_lstm_cell(const exact_cell *c, const float *xw, float *hr, float *h, float *state, float *scratch) {
  const struct exact_recurrent_kernels *k = c->kernels;
  const size_t n = c->n;
  float *i = hr, *o = hr + n, *f = hr + 2 * n, *g = hr + 3 * n;
  k->add(hr, xw, 4 * n);
  if (c->p) {
    k->add_product(i, c->p, state, n);
    k->add_product(f, c->p + 2 * n, state, n);
    clip(c, i, n);
    clip(c, f, 2 * n);
    k->activate(&c->act[0], i, n);
    k->activate(&c->act[0], f, n);
  } else {
    clip(c, hr, 4 * n);
    k->activate(&c->act[0], i, 3 * n);
  }
  k->activate(&c->act[1], g, n);
  if (c->op->input_forget) k->complement(f, i, n);
  k->lstm(state, f, i, g, n);
  if (c->p) {
    k->add_product(o, c->p + n, state, n);
    clip(c, o, n);
    k->activate(&c->act[0], o, n);
  }
  memcpy(scratch, state, n * sizeof *state);
  k->activate(&c->act[2], scratch, n);
  k->output(h, o, scratch, n);
}

void exact_rnn_cell(const exact_cell *c, const float *xw, float *hr, float *h) {
  c->kernels->add(hr, xw, c->n);
  clip(c, hr, c->n);
  c->kernels->activate(&c->act[0], hr, c->n);
  memcpy(h, hr, c->n * sizeof *h);
}

void exact_gru_gates(const exact_cell *c, const float *xw, float *hr, const float *h, float *scratch) {
  c->kernels->add(hr, xw, 2 * c->n);
  clip(c, hr, 2 * c->n);
  c->kernels->activate(&c->act[0], hr, 2 * c->n);
  if (!scratch) return;
  memcpy(scratch, h, c->n * sizeof *h);
  c->kernels->multiply(scratch, hr + c->n, c->n);
}

void exact_gru_cell(const exact_cell *c, const float *xw, float *hr, float *h) {
  float *g = hr + c->last;
  if (c->op->linear_before_reset) c->kernels->multiply(g, hr + c->n, c->n);
  c->kernels->add(g, xw + c->last, c->n);
  clip(c, g, c->n);
  c->kernels->activate(&c->act[1], g, c->n);
  c->kernels->gru(h, hr, g, c->n);
}
