/* Runs a normalization: scale and B broadcast and widened once, then rows in tasks; a row is never split. docs/norm.md */
#include "norm.h"

#include "half.h"

/* Rows whose statistics are computed side by side, and the elements up to which that is done. */
enum { GROUP = 8, GROUP_ELEMENTS = 16384 };

typedef struct norm_run {
  const exact_call *call;
  const exact_norm_plan *p;
  const exact_norm_op *o;
  const struct exact_norm_kernels *k;
  size_t size, wide; /* bytes of an element, and of one in the arithmetic type */
  bool native;       /* the element type is the arithmetic type */
  const char *table[2];
  exact_slots slots;
} norm_run;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- scale and B ---- */
static void fill_tables(void *arg, size_t index) {
  norm_run *r = arg;
  (void)index;
  for (int i = 0; i < 2; i++) {
    const exact_norm_table *t = &r->p->table[i];
    const char *src = t->given ? r->call->in[i + 1] : NULL;
    r->table[i] = src;
    if (!t->given || t->direct) continue;
    char *dst = r->call->work + t->part;
    size_t last = t->source.n - 1, run = t->source.extent[last];
    for (size_t e = 0; e < t->elements; e += run) { /* the last run is a row with stride 0 or 1 */
      const char *from = src + exact_runs_offset(&t->source, e) * r->size;
      if (t->source.stride[last])
        exact_reduce_widen(dst + e * r->wide, from, run, r->o->op.dtype);
      else
        for (size_t j = 0; j < run; j++) exact_reduce_widen(dst + (e + j) * r->wide, from, 1, r->o->op.dtype);
    }
    r->table[i] = dst;
  }
}

/* ---- rows ---- */
/* The parameters of segment s of a row; NULL without B. */
static const char *parameter(const norm_run *r, int which, size_t row, size_t s) {
  const exact_norm_table *t = &r->p->table[which];
  if (!t->given) return NULL;
  return r->table[which] + (r->p->segments ? (row * r->p->segments + s) % r->p->period * r->wide : 0);
}

static void apply(const norm_run *r, size_t row, const char *x, const char *mean, const char *inverse, char *y) {
  const exact_norm_plan *p = r->p;
  size_t segments = p->segments ? p->segments : 1, n = p->segments ? p->segment : p->n;
  for (size_t s = 0; s < segments; s++, x += n * r->wide, y += n * r->wide)
    r->k->apply[r->wide == 8](x, n, mean, inverse, parameter(r, NORM_SCALE, row, s), parameter(r, NORM_BIAS, row, s),
                              p->segments == 0, y);
}

/* Mean and InvStdDev: float32. */
static void store_stats(const norm_run *r, size_t row, size_t count, const double *mean, const double *inverse) {
  const double *values[2] = {mean, inverse};
  for (int i = 0; i < r->call->plan->op->cls->outputs - 1; i++) {
    float *out = r->call->out[i + 1];
    for (size_t j = 0; out && j < count; j++) {
      float v = r->wide == 8 ? (float)values[i][j] : ((const float *)values[i])[j];
      out[row + j] = v == v ? v : __builtin_nanf("");
    }
  }
}

static void one_group(const norm_run *r, size_t row, size_t count, char *area) {
  const exact_norm_plan *p = r->p;
  double mean[GROUP], inverse[GROUP];
  const char *x = (const char *)r->call->in[0] + row * p->n * r->size;
  char *y = (char *)r->call->out[0] + row * p->n * r->size;
  size_t room = (p->rows - row) * p->n;
  if (!r->native) {
    exact_reduce_widen(area, x, p->n, r->o->op.dtype);
    x = area;
    room = p->n;
  }
  r->k->stats[r->wide == 8](x, p->n, count, room, r->o->kind == NORM_RMS, r->o->epsilon, mean, inverse);
  store_stats(r, row, count, mean, inverse);
  if (!r->call->out[0]) return;
  for (size_t i = 0; i < count; i++) {
    size_t at = i * p->n * r->wide;
    apply(r, row + i, x + at, (char *)mean + i * r->wide, (char *)inverse + i * r->wide, r->native ? y + at : area);
  }
  if (!r->native) exact_reduce_narrow(y, area, p->n, r->o->op.dtype);
}

static void run_task(void *arg, size_t task) {
  norm_run *r = arg;
  const exact_norm_plan *p = r->p;
  size_t row = task * p->per_task, end = least(row + p->per_task, p->rows);
  size_t group = r->native && p->n * GROUP <= GROUP_ELEMENTS ? GROUP : 1;
  char *area = r->native ? NULL : exact_slot_take(&r->slots);
  for (size_t count; row < end; row += count) {
    count = least(group, end - row);
    one_group(r, row, count, area);
  }
  if (area) exact_slot_give(&r->slots, area);
}

/* Rows without elements: the formulas give 0 / 0. */
static void run_empty(void *arg, size_t index) {
  const norm_run *r = arg;
  const double nan = __builtin_nan("");
  const float nan32 = __builtin_nanf("");
  double value = nan;
  (void)index;
  if (r->wide == 4) memcpy(&value, &nan32, sizeof nan32);
  for (size_t row = 0; row < r->p->rows; row++) store_stats(r, row, 1, &value, &value);
}

void exact_norm_run(const exact_call *call) {
  const exact_norm_plan *p = (const exact_norm_plan *)call->plan;
  const exact_norm_op *o = (const exact_norm_op *)p->plan.op;
  int arith = exact_arith(o->op.dtype);
  norm_run r = {.call = call,
                .p = p,
                .o = o,
                .k = o->op.isa->norm,
                .size = exact_dtype_size(o->op.dtype),
                .wide = exact_dtype_size(arith),
                .native = o->op.dtype == arith};
  if (!p->rows) return;
  if (!p->n) {
    if (o->kind == NORM_LAYER && (call->out[1] || call->out[2])) exact_parallel(NULL, 1, run_empty, &r);
    return;
  }
  if (!r.native) exact_slots_init(&r.slots, call->work + p->slots, p->area, (int)p->areas);
  exact_parallel(NULL, 1, fill_tables, &r);
  exact_parallel(call->threads, p->tasks, run_task, &r);
}
