#ifndef EXACT_RECURRENT_H
#define EXACT_RECURRENT_H
/* Private to LSTM, GRU and RNN: op, plan, the cell of one step, and the kernels that exist once per instruction set.
 * docs/recurrent.md */
#include "exact_impl.h"
#include "matmul.h"

enum { RECURRENT_FUNCTIONS = 3, RECURRENT_DIRECTIONS = 2 };

typedef struct exact_activation {
  int kind;
  float alpha, beta;
} exact_activation;

typedef struct exact_recurrent_op {
  exact_op base;
  int kind, direction;
  int gates, functions, directions;
  int64_t hidden; /* -1: not stated */
  bool batch_first, input_forget, linear_before_reset, clipped;
  float clip;
  exact_activation act[RECURRENT_DIRECTIONS][RECURRENT_FUNCTIONS];
  const void *packed[3]; /* W and R */
} exact_recurrent_op;

/* The columns of a row of products, and of the biases: the gates one after another. W and R of a direction are packed for the
 * micro-kernel in as many matrices as there are parts: GRU has two, for the products of its hidden gate may begin later. */
typedef struct exact_gates {
  int parts;
  size_t n[2], padded[2]; /* columns of a part, and with those that fill up the last vector */
  size_t row;             /* of all parts; part 1 begins at padded[0] */
} exact_gates;

typedef struct exact_recurrent_plan {
  exact_plan base;
  int inputs;
  size_t steps, batch, input, hidden;
  exact_gates gates;
  const float *packed[3];                /* W and R; NULL: arrive with the run */
  size_t group, groups, chunk;           /* rows of a task, tasks of a direction, steps whose inputs are multiplied at once */
  size_t pieces;                         /* into which the columns of every product are cut; above 1 with one task alone */
  size_t at[3], bias_at, p_at, slots_at; /* workspace: W and R packed, ... */
  size_t x_part, xw_part, hr_part, h_part, c_part, t_part, slot; /* of a slot */
} exact_recurrent_plan;

/* What a step needs of a direction. */
typedef struct exact_cell {
  const exact_recurrent_op *op;
  const exact_activation *act;
  const struct exact_recurrent_kernels *kernels;
  size_t n;       /* hidden */
  size_t last;    /* GRU: column of the hidden gate */
  const float *p; /* peepholes; NULL */
} exact_cell;

struct exact_recurrent_kernels {
  /* y = y + x; y = y + p * c; y limited to [-limit, limit]; y = 1 - x; y = x * y */
  void (*add)(float *y, const float *x, size_t n);
  void (*add_product)(float *y, const float *p, const float *c, size_t n);
  void (*clip)(float *y, float limit, size_t n);
  void (*complement)(float *y, const float *x, size_t n);
  void (*multiply)(float *y, const float *x, size_t n);
  /* y = f(y) */
  void (*activate)(const exact_activation *f, float *y, size_t n);
  /* c = f * c + i * g; NaN canonical */
  void (*lstm)(float *c, const float *f, const float *i, const float *g, size_t n);
  /* h = o * t; NaN canonical */
  void (*output)(float *h, const float *o, const float *t, size_t n);
  /* h = (1 - z) * g + z * h; NaN canonical */
  void (*gru)(float *h, const float *z, const float *g, size_t n);
};

/* ---- recurrent.c ---- */
exact_gates exact_recurrent_gates(const exact_recurrent_op *o, size_t hidden);
/* Packs W or R of one direction, [row][k] of the type of the op, as [k][..] panels. */
void exact_recurrent_pack(const exact_recurrent_op *o, size_t hidden, size_t k, const void *src, float *dst);

/* ---- recurrent_plan.c ---- */
int exact_recurrent_plan_new(const exact_recurrent_op *o, int n, const exact_tensor *in, const exact_tensor *out,
                             exact_plan **plan, exact_error *err);

/* ---- recurrent_cell.c: one row of one step. xw, hr: the products of x and of h with their biases; hr is written over ---- */
void exact_lstm_cell(const exact_cell *c, const float *xw, float *hr, float *h, float *state, float *scratch);
void exact_rnn_cell(const exact_cell *c, const float *xw, float *hr, float *h);
/* Update and reset gate, in hr; scratch: reset * h, wanted when the products of the hidden gate begin with it. */
void exact_gru_gates(const exact_cell *c, const float *xw, float *hr, const float *h, float *scratch);
/* The rest, when hr holds the products of the hidden gate too. */
void exact_gru_cell(const exact_cell *c, const float *xw, float *hr, float *h);

/* ---- recurrent_run.c ---- */
void exact_recurrent_run(const exact_call *call);
#endif
