/* Runs a linear or cubic Resize box by box: pass after pass along one axis each, the values between two passes in scratch
 * memory. docs/resize.md, "Values" */
#include "resize.h"

/* Where the elements of a box are: `at` the first one. Steps count elements. */
typedef struct view {
  char *at;
  size_t step[EXACT_MAX_RANK];
} view;

typedef struct job {
  const exact_resize_plan *p;
  const exact_resize_op *op;
  const struct exact_resize_kernels *k;
  const char *x;
  char *y;
  size_t wide;
  exact_slots slots;
} job;

/* A box: outputs and inputs of each axis, and how many there are after the passes so far. */
typedef struct box {
  size_t low[EXACT_MAX_RANK], high[EXACT_MAX_RANK], first[EXACT_MAX_RANK], extent[EXACT_MAX_RANK];
} box;

/* ---- walks over all axes but some ---- */
typedef struct walk {
  int n;
  size_t extent[EXACT_MAX_RANK], src[EXACT_MAX_RANK], dst[EXACT_MAX_RANK], at[EXACT_MAX_RANK];
} walk;

static void walk_add(walk *w, size_t extent, size_t src, size_t dst) {
  w->extent[w->n] = extent;
  w->src[w->n] = src;
  w->dst[w->n] = dst;
  w->at[w->n++] = 0;
}

/* The next position, the axis added first running fastest; false after the last. */
static bool walk_next(walk *w, size_t *src, size_t *dst) {
  for (int i = 0; i < w->n; i++) {
    *src += w->src[i];
    *dst += w->dst[i];
    if (++w->at[i] < w->extent[i]) return true;
    *src -= w->src[i] * w->extent[i];
    *dst -= w->dst[i] * w->extent[i];
    w->at[i] = 0;
  }
  return false;
}

/* Axes below `a` and above `last`; neighbours that are one row of steps in both views are joined. */
static void walk_axes(const box *b, const view *src, const view *dst, int a, int skip, walk *w) {
  for (; a >= 0; a--) {
    if (a == skip) continue;
    int i = w->n - 1;
    if (i >= 0 && src->step[a] == w->src[i] * w->extent[i] && dst->step[a] == w->dst[i] * w->extent[i])
      w->extent[i] *= b->extent[a];
    else
      walk_add(w, b->extent[a], src->step[a], dst->step[a]);
  }
}

/* Elements of the axes after `a` that lie one after the other in both views; *a becomes the last axis before them. */
static size_t packed_run(const exact_resize_plan *p, const box *b, const view *src, const view *dst, int *a) {
  size_t run = 1;
  int i = p->axes - 1;
  for (; i > *a && src->step[i] == run && dst->step[i] == run; i--) run *= b->extent[i];
  *a = i;
  return run;
}

static void set_packed(const exact_resize_plan *p, const box *b, view *v) {
  size_t step = 1;
  for (int a = p->axes - 1; a >= 0; a--) {
    v->step[a] = step;
    step *= b->extent[a];
  }
}

/* ---- passes ---- */
static void line_pass(const job *j, const box *b, const view *src, const view *dst) {
  const exact_resize_plan *p = j->p;
  const int a = p->axes - 1;
  const size_t lanes = j->k->lanes[p->type];
  exact_resize_span s = {.line = &p->line, .src_from = b->first[a], .dst_from = b->low[a], .rows = 1};
  s.block = b->low[a] / lanes;
  s.end = (b->high[a] - 1) / lanes + 1;
  walk w = {0};
  walk_axes(b, src, dst, a - 1, -1, &w);
  if (w.n) {
    s.rows = w.extent[0];
    s.src_step = w.src[0];
    s.dst_step = w.dst[0];
    w.extent[0] = 1;
  }
  size_t from = 0, to = 0;
  do {
    s.src = src->at + from * j->wide;
    s.dst = dst->at + to * j->wide;
    j->k->line[p->type](&s);
  } while (walk_next(&w, &from, &to));
}

static void rows_pass(const job *j, const box *b, int a, const view *src, const view *dst, bool finish) {
  const exact_resize_plan *p = j->p;
  int before = a;
  size_t width = packed_run(p, b, src, dst, &before), from = 0, to = 0;
  walk w = {0};
  walk_axes(b, src, dst, before, a, &w);
  do {
    j->k->rows[p->type](&p->axis[a].rows, b->low[a], b->high[a], src->at + from * j->wide, b->first[a], src->step[a],
                        dst->at + to * j->wide, dst->step[a], width, finish);
  } while (walk_next(&w, &from, &to));
}

/* The box's input in the arithmetic type, or its output from that. */
static void convert(const job *j, const box *b, const view *src, const view *dst, bool widen) {
  const exact_resize_plan *p = j->p;
  const int dtype = j->op->op.dtype;
  size_t from = 0, to = 0;
  int before = -1;
  size_t run = packed_run(p, b, src, dst, &before);
  walk w = {0};
  walk_axes(b, src, dst, before, -1, &w);
  do {
    if (widen)
      j->k->widen(dst->at + to * j->wide, src->at + from * p->element, run, dtype);
    else
      j->k->narrow(dst->at + to * p->element, src->at + from * j->wide, run, dtype, j->op->attrs.antialias);
  } while (walk_next(&w, &from, &to));
}

/* ---- boxes ---- */
static box box_of(const exact_resize_plan *p, size_t unit) {
  box b;
  for (int a = p->axes - 1; a >= 0; a--) {
    const exact_resize_axis *x = &p->axis[a];
    size_t i = unit % x->boxes;
    unit /= x->boxes;
    b.low[a] = i * x->box;
    b.high[a] = i + 1 == x->boxes ? x->out : b.low[a] + x->box;
    b.first[a] = x->first[i];
    b.extent[a] = x->end[i] - x->first[i];
  }
  return b;
}

static void run_box(const job *j, box b, char *scratch) {
  const exact_resize_plan *p = j->p;
  view src = {.at = (char *)j->x}, y = {.at = j->y}, dst;
  for (int a = 0; a < p->axes; a++) {
    src.at += b.first[a] * p->axis[a].in_step * p->element;
    y.at += b.low[a] * p->axis[a].out_step * p->element;
    src.step[a] = p->axis[a].in_step;
    y.step[a] = p->axis[a].out_step;
  }
  if (!p->native) {
    dst.at = scratch + p->area[0];
    set_packed(p, &b, &dst);
    convert(j, &b, &src, &dst, true);
    src = dst;
  }
  for (int i = 0; i < p->passes; i++) {
    const int a = p->order[i];
    const bool last = i + 1 == p->passes;
    box after = b;
    after.extent[a] = b.high[a] - b.low[a];
    if (last && p->native) {
      dst = y;
    } else {
      dst.at = scratch + p->area[(i + 1) % 2];
      set_packed(p, &after, &dst);
    }
    if (a == p->axes - 1)
      line_pass(j, &b, &src, &dst);
    else
      rows_pass(j, &b, a, &src, &dst, last);
    b = after;
    src = dst;
  }
  if (!p->native) convert(j, &b, &src, &y, false);
  exact_resize_fill(p, b.low, b.high, j->y);
}

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static void run_task(void *arg, size_t task) {
  job *j = arg;
  const exact_resize_plan *p = j->p;
  size_t unit = task * p->per_task, end = least(unit + p->per_task, p->units);
  char *scratch = exact_slot_take(&j->slots);
  for (; unit < end; unit++) run_box(j, box_of(p, unit), scratch);
  exact_slot_give(&j->slots, scratch);
}

static job job_of(const exact_call *call) {
  const exact_resize_plan *p = (const exact_resize_plan *)call->plan;
  const exact_resize_op *op = (const exact_resize_op *)p->plan.op;
  return (job){.p = p,
               .op = op,
               .k = op->op.isa->resize,
               .x = call->in[0],
               .y = call->out[0],
               .wide = p->type == RESIZE_F64 ? sizeof(double) : sizeof(float)};
}

void exact_resize_run(const exact_call *call) {
  job j = job_of(call);
  exact_slots_init(&j.slots, call->work, j.p->slot, exact_slot_count(j.p->tasks));
  exact_parallel(call->threads, j.p->tasks, run_task, &j);
}

/* ---- no axis resampled: only NaNs change ---- */
static void run_same(void *arg, size_t task) {
  const job *j = arg;
  const exact_resize_plan *p = j->p;
  const exact_resize_axis *x = &p->axis[0];
  const int dtype = j->op->op.dtype;
  size_t unit = task * p->per_task, end = least(unit + p->per_task, p->units);
  size_t from = unit * x->box, to = end == p->units ? x->out : end * x->box;
  double block[1024];
  const char *src = j->x + from * p->element;
  char *dst = j->y + from * p->element;
  if (!exact_is_float(dtype)) {
    memcpy(dst, src, (to - from) * p->element);
    return;
  }
  for (size_t n; from < to; from += n, src += n * p->element, dst += n * p->element) {
    n = least(to - from, 1024);
    if (!p->native) j->k->widen(block, src, n, dtype);
    j->k->narrow(dst, p->native ? (const void *)src : block, n, dtype, false);
  }
}

void exact_resize_run_same(const exact_call *call) {
  job j = job_of(call);
  exact_parallel(call->threads, j.p->tasks, run_same, &j);
}
