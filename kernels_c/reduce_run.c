/* Runs a reduction. Row layout: an output reduces one sequence, in a piece where it lies in one, else gathered block by block.
 * Column layout: a tile of neighbouring outputs takes one input row after the other. docs/reduce.md */
#include "reduce.h"

#include "exp_log_kernels.h"
#include "half.h"

/* Outputs finished together. */
enum { GROUP = RED_TILE, BLOCK = RED_BLOCK };

typedef struct task {
  const exact_reduce_plan *p;
  const struct exact_reduce_kernels *k;
  const struct exact_exp_log_kernels *e;
  const char *x;
  char *y;
  int kind, elementary, type, dtype;
  size_t size, wide; /* bytes of an element, and of one in the arithmetic type */
  bool native;       /* dtype is the arithmetic type */
} task;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- element types ---- */
#define EACH(type, dst_type)                                                                \
  {                                                                                         \
    for (size_t i = 0; i < n; i++) ((dst_type *)dst)[i] = (dst_type)((const type *)src)[i]; \
    return;                                                                                 \
  }

void exact_reduce_widen(void *dst, const void *src, size_t n, int dtype) {
  switch (dtype) {
    case EXACT_FLOAT16:
    case EXACT_BFLOAT16: exact_load_row(dst, src, n, dtype); return;
    case EXACT_UINT8:
    case EXACT_BOOL: EACH(uint8_t, int32_t)
    case EXACT_INT8: EACH(int8_t, int32_t)
    case EXACT_UINT16: EACH(uint16_t, int32_t)
    case EXACT_INT16: EACH(int16_t, int32_t)
    default: memcpy(dst, src, n * exact_dtype_size(dtype));
  }
}

void exact_reduce_narrow(void *dst, const void *src, size_t n, int dtype) {
  switch (dtype) {
    case EXACT_FLOAT16:
    case EXACT_BFLOAT16: exact_store_row(dst, src, n, dtype); return;
    case EXACT_UINT8:
    case EXACT_BOOL: EACH(int32_t, uint8_t)
    case EXACT_INT8: EACH(int32_t, int8_t)
    case EXACT_UINT16: EACH(int32_t, uint16_t)
    case EXACT_INT16: EACH(int32_t, int16_t)
    default: memcpy(dst, src, n * exact_dtype_size(dtype));
  }
}

/* n times the value that a reduction without terms has before it is finished; false for maxima and minima. */
static bool identity(const task *t, void *acc, size_t n) {
  if (t->elementary >= RED_MAX) return false;
  memset(acc, 0, n * t->wide);
  if (t->elementary != RED_PROD) return true;
  for (size_t i = 0; i < n; i++) switch (t->type) {
      case RED_F32: ((float *)acc)[i] = 1; break;
      case RED_F64: ((double *)acc)[i] = 1; break;
      case RED_I32:
      case RED_U32: ((uint32_t *)acc)[i] = 1; break;
      default: ((uint64_t *)acc)[i] = 1;
    }
  return true;
}

static void store(const task *t, void *acc, size_t first, size_t n) {
  t->k->finish[t->type](t->kind, t->p->terms, n, acc);
  if (t->kind == EXACT_REDUCE_LOG_SUM && t->type == RED_F32) t->e->log32(acc, acc, n);
  if (t->kind == EXACT_REDUCE_LOG_SUM && t->type == RED_F64) t->e->log64(acc, acc, n);
  exact_reduce_narrow(t->y + first * t->size, acc, n, t->dtype);
}

/* ---- row layout ---- */
static void stream(const task *t, size_t base, exact_reduce_take take, void *state) {
  exact_reduce_stream(t->p, t->dtype, t->elementary >= RED_PROD, t->x + base * t->size, take, state);
}

static void one_row(const task *t, size_t output, void *y) {
  size_t base = exact_runs_offset(&t->p->kept, output);
  double state[16];
  if (!identity(t, state, 16)) exact_reduce_widen(state, t->x + base * t->size, 1, t->dtype);
  stream(t, base, t->k->more[t->type][t->elementary], state);
  if (t->kind == EXACT_REDUCE_LOG_SUM_EXP) {
    exact_exp_sum sum = {t->e, t->type, 1, state, y};
    exact_exp_sum_start(&sum);
    stream(t, base, exact_exp_sum_more, &sum);
    exact_exp_sum_end(&sum);
  } else if (t->elementary < RED_PROD) {
    t->k->tree[t->type](state, y);
  } else {
    memcpy(y, state, t->wide);
  }
}

/* Whole rows that lie one after the other. */
static void whole_rows(const task *t, size_t first, size_t count, char *y) {
  size_t n = t->p->length;
  const char *x = t->x + first * n * t->size;
  if (t->native) {
    t->k->rows[t->type][t->elementary](x, n, count, t->p->elements - first * n, y);
    return;
  }
  _Alignas(64) char block[BLOCK * sizeof(double)];
  for (size_t part; count > 0; count -= part, x += part * n * t->size, y += part * t->wide) {
    part = least(count, BLOCK / n);
    exact_reduce_widen(block, x, part * n, t->dtype);
    t->k->rows[t->type][t->elementary](block, n, part, part * n, y);
  }
}

static void rows(const task *t, size_t first, size_t end) {
  double acc[GROUP];
  bool whole = t->p->reduced.n == 0 && (t->native || t->p->length <= BLOCK) && t->kind != EXACT_REDUCE_LOG_SUM_EXP;
  for (size_t count; first < end; first += count) {
    count = least(end - first, GROUP);
    if (whole)
      whole_rows(t, first, count, (char *)acc);
    else
      for (size_t i = 0; i < count; i++) one_row(t, first + i, (char *)acc + i * t->wide);
    store(t, acc, first, count);
  }
}

/* ---- column layout ---- */
typedef struct columns {
  const task *t;
  void *acc;
} columns;

static void add_elementary(const void *x, size_t step, size_t n, size_t width, void *state) {
  const columns *c = state;
  c->t->k->columns[c->t->type][c->t->elementary](x, step, n, width, c->acc);
}

static void add_exponentials(const void *x, size_t step, size_t n, size_t width, void *state) {
  const columns *c = state;
  (void)width;
  for (size_t r = 0; r < n; r++) exact_exp_sum_row((const char *)x + r * step * c->t->wide, c->acc);
}

static void sweep(const task *t, const char *x, size_t width, exact_reduce_take_rows take, void *acc) {
  columns c = {t, acc};
  exact_reduce_sweep(t->p, t->dtype, x, width, take, &c);
}

static void tile(const task *t, size_t unit) {
  const exact_reduce_plan *p = t->p;
  size_t outer = unit / p->tiles, start = unit % p->tiles * p->tile, width = least(p->tile, p->width - start);
  const char *x = t->x + (exact_runs_offset(&p->kept, outer) + start) * t->size;
  double acc[GROUP], best[GROUP];
  if (!identity(t, acc, width)) exact_reduce_widen(acc, x, width, t->dtype);
  sweep(t, x, width, add_elementary, acc);
  if (t->kind == EXACT_REDUCE_LOG_SUM_EXP) {
    memcpy(best, acc, sizeof best);
    exact_exp_sum sum = {t->e, t->type, width, best, acc};
    exact_exp_sum_start(&sum);
    sweep(t, x, width, add_exponentials, &sum);
    exact_exp_sum_end(&sum);
  }
  store(t, acc, outer * p->width + start, width);
}

/* ---- all ---- */
static task task_of(const exact_call *call) {
  const exact_reduce_op *op = (const exact_reduce_op *)call->plan->op;
  size_t size = exact_dtype_size(op->op.dtype), wide = op->type == RED_F64 || op->type >= RED_I64 ? 8 : 4;
  return (task){.p = (const exact_reduce_plan *)call->plan,
                .k = op->op.isa->reduce,
                .e = op->op.isa->exp_log,
                .x = call->in[0],
                .y = call->out[0],
                .kind = op->kind,
                .elementary = exact_reduce_elementary(op->kind),
                .type = op->type,
                .dtype = op->op.dtype,
                .size = size,
                .wide = wide,
                .native = exact_reduce_native(op->op.dtype)};
}

static void run_task(void *arg, size_t index) {
  task t = task_of(arg);
  size_t first = index * t.p->per_task, end = least(first + t.p->per_task, t.p->units);
  if (!t.p->columns) {
    rows(&t, first, end);
    return;
  }
  for (; first < end; first++) tile(&t, first);
}

/* Maxima and minima without terms: infinity, or the end of the integer type's range. */
static void extreme(const task *t, void *acc) {
  bool most = t->kind == EXACT_REDUCE_MIN;
  int bits = t->dtype == EXACT_BOOL ? 1 : 8 * (int)t->size;
  bool is_signed = t->dtype == EXACT_INT8 || t->dtype == EXACT_INT16 || t->dtype == EXACT_INT32 || t->dtype == EXACT_INT64;
  float infinity = most ? __builtin_inff() : -__builtin_inff();
  uint64_t range = ~(uint64_t)0 >> (64 - bits), value = most ? range : 0;
  if (is_signed) value = most ? range >> 1 : ~(range >> 1);
  if (t->type == RED_F32)
    memcpy(acc, &infinity, 4);
  else if (t->type == RED_F64)
    *(double *)acc = infinity;
  else
    for (size_t i = 0; i < t->wide; i++) ((unsigned char *)acc)[i] = (unsigned char)(value >> 8 * i);
}

/* Outputs that reduce no element. */
static void run_empty(void *arg, size_t index) {
  task t = task_of(arg);
  double acc;
  (void)index;
  for (size_t i = 0; i < t.p->outputs; i++) {
    if (!identity(&t, &acc, 1)) extreme(&t, &acc);
    store(&t, &acc, i, 1);
  }
}

void exact_reduce_run(const exact_call *call) {
  const exact_reduce_plan *p = (const exact_reduce_plan *)call->plan;
  if (p->outputs == 0 || !call->out[0]) return;
  if (p->elements == 0)
    exact_parallel(NULL, 1, run_empty, (void *)call);
  else
    exact_parallel(call->threads, p->tasks, run_task, (void *)call);
}
