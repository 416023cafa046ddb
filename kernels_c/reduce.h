#ifndef EXACT_REDUCE_H
#define EXACT_REDUCE_H
/* Reductions: arithmetic types, elementary operations, the kernels of an instruction set, the plan. docs/reduce.md */
#include "exact_impl.h"

/* Arithmetic types. float16 and bfloat16 are widened to float32, 8- and 16-bit integers and bool to int32. */
enum { RED_F32, RED_F64, RED_I32, RED_U32, RED_I64, RED_U64, RED_TYPES };
/* RED_PEAK: the maximum, NaN when any element is NaN (float types only). */
enum { RED_SUM, RED_ABS, RED_SQUARE, RED_PROD, RED_MAX, RED_MIN, RED_PEAK, RED_OPS };

/* The widest tile of outputs in column layout; elements gathered or widened at a time, a multiple of 16. */
enum { RED_TILE = 256, RED_BLOCK = 1024 };

struct exact_reduce_kernels {
  /* y[r] = the reduction in row layout of the n > 0 elements from x + r * n on, r < count; `room` elements may be read. */
  void (*rows[RED_TYPES][RED_OPS])(const void *x, size_t n, size_t count, size_t room, void *y);
  /* The same in pieces. The state is 16 partials for sums, else the running value; n is a multiple of 16 but for the last. */
  void (*more[RED_TYPES][RED_OPS])(const void *x, size_t n, void *state);
  /* acc[i] = acc[i] (op) x[r * step + i] for r = 0, 1, ... rows - 1, each i < width. */
  void (*columns[RED_TYPES][RED_OPS])(const void *x, size_t step, size_t rows, size_t width, void *acc);
  /* The canonical sum's tree over 16 partials. */
  void (*tree[RED_TYPES])(const void *state, void *y);
  /* x = NaN becomes canonical; kind L2 takes the root, mean divides by count. */
  void (*finish[RED_TYPES])(int kind, size_t count, size_t n, void *x);
};

typedef struct exact_runs {
  int n;
  size_t extent[EXACT_MAX_RANK], stride[EXACT_MAX_RANK];
} exact_runs;

typedef struct exact_reduce_op {
  exact_op op;
  int kind, type; /* EXACT_REDUCE_..., RED_F32 ... */
  exact_reduce_attrs attrs;
} exact_reduce_op;

/* Shape after merging: kept and reduced runs alternate. Column layout: the last run is kept, `width` outputs side by side. */
typedef struct exact_reduce_plan {
  exact_plan plan;
  bool columns;
  size_t outputs, terms; /* terms of one output */
  exact_runs kept;       /* without the last run in column layout */
  exact_runs reduced;    /* without the last run */
  size_t length, step;   /* of the last reduced run */
  size_t width, tile, tiles;
  size_t elements; /* of the input */
  size_t units, per_task, tasks;
} exact_reduce_plan;

int exact_reduce_elementary(int kind); /* RED_SUM ... of EXACT_REDUCE_... */
int exact_reduce_type(int dtype);      /* RED_F32 ... of an element type */
bool exact_reduce_native(int dtype);   /* the element type is its arithmetic type */
/* Fills the geometry from a shape without zero dimensions. */
void exact_reduce_merge(exact_reduce_plan *p, const exact_tensor *x, const bool *is_reduced);
size_t exact_runs_count(const exact_runs *runs);
size_t exact_runs_offset(const exact_runs *runs, size_t index);
/* dst[i] = src[i] in the arithmetic type of dtype, and back (floats rounded once, integers cut). */
void exact_reduce_widen(void *dst, const void *src, size_t n, int dtype);
void exact_reduce_narrow(void *dst, const void *src, size_t n, int dtype);
/* The sequence in row layout whose first element is *x: take(piece, n, state) for its pieces in order. n is a multiple of 16
 * but for the last piece, unless `any`. */
typedef void (*exact_reduce_take)(const void *x, size_t n, void *state);
void exact_reduce_stream(const exact_reduce_plan *p, int dtype, bool any, const char *x, exact_reduce_take take, void *state);
/* The rows in column layout under a tile of `width` outputs whose first element is *x, in order, n at a time: element i of row
 * r is x[r * step + i]. */
typedef void (*exact_reduce_take_rows)(const void *x, size_t step, size_t n, size_t width, void *state);
void exact_reduce_sweep(const exact_reduce_plan *p, int dtype, const char *x, size_t width, exact_reduce_take_rows take,
                        void *state);
/* The second pass of LogSumExp: `width` sums side by side of exp(x - best), each in order from +0; see reduce_exp.c. */
typedef struct exact_exp_sum {
  const struct exact_exp_log_kernels *k;
  int type;
  size_t width;
  const void *best;
  void *sum;
} exact_exp_sum;
void exact_exp_sum_start(const exact_exp_sum *s);
void exact_exp_sum_more(const void *x, size_t n, void *sum);   /* n terms of the only sum */
void exact_exp_sum_row(const void *x, const exact_exp_sum *s); /* one term of each sum */
void exact_exp_sum_end(const exact_exp_sum *s);                /* best + log(sum), or best where that is infinite or NaN */
void exact_reduce_run(const exact_call *call);
#endif
