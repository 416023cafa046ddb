/* Geometry of Resize: axes merged, the output cut into boxes whose intermediate values stay in the cache, tables packed. */
#include <stdlib.h>

#include "resize_plan.h"

/* Bytes that the intermediate values of a box may have; output elements of a task; elements of neighbouring pixels' channels
 * that are resampled as a part of the line; vectors of the shortest piece of a line. */
enum { BOX_BYTES = 98304, TASK_ELEMENTS = 32768, FOLD = 16, LINE_VECTORS = 64 };

static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* Of an element type. */
static int arithmetic_type(int dtype) { return dtype == EXACT_FLOAT64 || dtype == EXACT_INT64 ? RESIZE_F64 : RESIZE_F32; }

/* ---- axes ---- */
static void merge(exact_resize_draft *d, const exact_resize_taps *taps, const exact_tensor *y) {
  exact_resize_plan *p = d->p;
  for (int i = 0; i < y->rank; i++) {
    const exact_resize_taps *t = taps[i].resampled ? &taps[i] : NULL;
    size_t n = (size_t)y->dims[i];
    if (!t && n == 1) continue;
    if (!t && p->axes && !p->axis[p->axes - 1].resampled) {
      p->axis[p->axes - 1].in *= n;
      p->axis[p->axes - 1].out *= n;
      continue;
    }
    d->taps[p->axes] = t;
    d->fold[p->axes] = 1;
    p->axis[p->axes++] = (exact_resize_axis){.resampled = t, .in = t ? t->in : n, .out = n, .outside = NULL};
  }
  if (p->axes == 0) p->axis[p->axes++] = (exact_resize_axis){.in = 1, .out = 1};
}

/* Takes a short last axis into the one before it: copied elements become larger, or the line's taps are made for each of its
 * elements. */
static void fold(exact_resize_draft *d) {
  exact_resize_plan *p = d->p;
  exact_resize_axis *last = &p->axis[p->axes - 1], *before = last - 1;
  if (p->axes < 2 || last->resampled || !before->resampled || last->out > FOLD) return;
  size_t n = last->out, bytes = n * p->element;
  if (most(before->in, before->out) * n > INT32_MAX) return;
  p->axes--;
  if (d->copy && (bytes == 2 || bytes == 4 || bytes == 8)) {
    p->element = bytes;
    return;
  }
  d->fold[p->axes - 1] = n;
  before->in *= n;
  before->out *= n;
}

static void set_steps(exact_resize_plan *p) {
  size_t in = 1, out = 1;
  for (int a = p->axes - 1; a >= 0; a--) {
    p->axis[a].in_step = in;
    p->axis[a].out_step = out;
    in *= p->axis[a].in;
    out *= p->axis[a].out;
  }
}

static void set_order(exact_resize_draft *d) {
  exact_resize_plan *p = d->p;
  for (int growing = 0; growing < 2; growing++)
    for (int a = 0; a < p->axes; a++)
      if (p->axis[a].resampled && (p->axis[a].out >= p->axis[a].in) == growing) p->order[p->passes++] = a;
}

/* ---- boxes ---- */
/* About as many inputs as n outputs of an axis need. */
static double reach(const exact_resize_draft *d, int a, size_t n) {
  const exact_resize_axis *x = &d->p->axis[a];
  if (!x->resampled || n == x->out) return (double)(x->resampled ? x->in : n);
  double need = (double)n * (double)x->in / (double)x->out + (double)(d->taps[a]->taps * d->fold[a]);
  return need < (double)x->in ? need : (double)x->in;
}

/* About the bytes of a box's intermediate values. */
static double box_bytes(const exact_resize_draft *d) {
  const exact_resize_plan *p = d->p;
  bool done[EXACT_MAX_RANK] = {0};
  double sum = 0;
  for (int i = 0; i <= p->passes; i++) {
    double n = (double)d->wide;
    for (int a = 0; a < p->axes; a++) n *= done[a] ? (double)p->axis[a].box : reach(d, a, p->axis[a].box);
    if (i < p->passes) done[p->order[i]] = true;
    bool stored = !p->native || (i > 0 && i < p->passes);
    if (stored) sum += n;
  }
  return sum;
}

static bool too_large_box(const exact_resize_draft *d) {
  const exact_resize_plan *p = d->p;
  size_t outputs = 1;
  for (int a = 0; a < p->axes; a++) outputs *= p->axis[a].box;
  /* Without intermediate values a box need be no larger than a task. */
  return p->native && p->passes < 2 ? outputs > TASK_ELEMENTS : box_bytes(d) > BOX_BYTES;
}

static void set_boxes(exact_resize_draft *d) {
  exact_resize_plan *p = d->p;
  for (int a = 0; a < p->axes; a++) p->axis[a].box = 1;
  for (int a = p->axes - 1; a >= 0; a--) {
    exact_resize_axis *x = &p->axis[a];
    const size_t piece = a < p->axes - 1 ? 1 : LINE_VECTORS * d->lanes;
    x->box = x->out;
    while (x->box > piece && too_large_box(d)) x->box = (x->box / 2 + piece - 1) / piece * piece;
    if (x->box < x->out && a > 0) break;
  }
  p->units = 1;
  for (int a = 0; a < p->axes; a++) {
    exact_resize_axis *x = &p->axis[a];
    /* The last piece of a line is the longer one, so that its last vector does not begin in another's. */
    x->boxes = a == p->axes - 1 ? x->out / x->box : (x->out - 1) / x->box + 1;
    p->units *= x->boxes;
  }
}

/* ---- scratch ---- */
/* Values between two passes go to one area and the other in turn; of types that are not computed in, the input and the last
 * result too. */
static bool set_scratch(const exact_resize_draft *d) {
  exact_resize_plan *p = d->p;
  size_t need[2] = {0, 0}, extent[EXACT_MAX_RANK], slot = 0, part;
  for (int a = 0; a < p->axes; a++) extent[a] = p->axis[a].reach;
  for (int i = 0; i <= p->passes; i++) {
    size_t n = d->wide;
    for (int a = 0; a < p->axes; a++)
      if (!exact_mul(n, extent[a], &n)) return false;
    if (!p->native || (i > 0 && i < p->passes)) need[i % 2] = most(need[i % 2], n);
    if (i < p->passes) {
      const exact_resize_axis *x = &p->axis[p->order[i]];
      extent[p->order[i]] = x->boxes == 1 ? x->out : most(x->box, x->out - (x->boxes - 1) * x->box);
    }
  }
  for (int i = 0; i < 2; i++) {
    if (need[i] > EXACT_MOST_BYTES / 2 || !exact_part(&slot, need[i] + RESIZE_SLACK, 1, &p->area[i])) return false;
  }
  p->slot = slot;
  return exact_part(&p->plan.workspace, (size_t)exact_slot_count(p->tasks), slot, &part);
}

/* ---- all ---- */
/* A unit is a box, a line of copies, or a piece of a tensor that stays as it is. */
static void set_tasks(exact_resize_plan *p, bool copy) {
  size_t work = 1;
  if (copy) {
    p->units = 1;
    for (int a = 0; a < p->axes - 1; a++) p->units *= p->axis[a].out;
    work = p->axis[p->axes - 1].out;
  } else {
    for (int a = 0; a < p->axes; a++) work *= p->axis[a].box;
  }
  p->per_task = work < TASK_ELEMENTS ? TASK_ELEMENTS / work : 1;
  p->tasks = (p->units - 1) / p->per_task + 1;
}

/* extrapolation_value in the element type, as often as it fits. */
static void set_fill(const exact_resize_op *op, exact_resize_plan *p) {
  const float value = op->attrs.extrapolation_value;
  const double wide = value;
  const size_t size = exact_dtype_size(op->op.dtype);
  if (op->op.dtype == EXACT_BOOL)
    p->fill[0] = value != 0.0f;
  else
    op->op.isa->resize->narrow(p->fill, arithmetic_type(op->op.dtype) == RESIZE_F64 ? (const void *)&wide : &value, 1,
                               op->op.dtype, false);
  for (size_t i = size; i < sizeof p->fill; i++) p->fill[i] = p->fill[i - size];
}

static int too_large(exact_resize_plan *p, exact_error *err) {
  free(p);
  return exact_fail(err, EXACT_NO_MEMORY, "out of memory for the tables of a plan");
}

int exact_resize_plan_new(const exact_resize_op *op, const exact_tensor *y, const exact_resize_taps *taps, exact_plan **plan,
                          exact_error *err) {
  exact_resize_plan head = {.plan = {.op = &op->op, .out = {*y}}, .element = exact_dtype_size(op->op.dtype)};
  exact_resize_parts at[EXACT_MAX_RANK];
  size_t total = exact_align(sizeof head);
  exact_resize_draft d = {.p = &head, .k = op->op.isa->resize, .copy = op->attrs.mode == EXACT_RESIZE_NEAREST};
  head.type = arithmetic_type(op->op.dtype);
  head.native = op->op.dtype == EXACT_FLOAT32 || op->op.dtype == EXACT_FLOAT64;
  merge(&d, taps, y);
  fold(&d);
  set_steps(&head);
  set_order(&d);
  if (d.copy) head.type = head.element == 8 ? RESIZE_F64 : RESIZE_F32;
  d.lanes = head.element < 4 && d.copy ? 1 : d.k->lanes[head.type];
  d.wide = head.type == RESIZE_F64 ? sizeof(double) : sizeof(float);
  if (exact_resize_has_line(&d)) {
    const exact_resize_axis *x = &head.axis[head.axes - 1];
    head.line = (exact_resize_line){.out = x->out, .blocks = (x->out - 1) / d.lanes + 1, .taps = d.taps[head.axes - 1]->taps};
    exact_resize_set_windows(&d);
  }
  head.plan.run = d.copy ? exact_resize_run_copy : head.passes ? exact_resize_run : exact_resize_run_same;
  set_fill(op, &head);
  if (!d.copy) set_boxes(&d);
  for (int a = 0; a < head.axes; a++)
    if (!exact_resize_size_tables(&d, a, &total, &at[a])) return too_large(NULL, err);
  exact_resize_plan *p = exact_new(total, err);
  if (!p) return EXACT_NO_MEMORY;
  *p = head;
  d.p = p;
  exact_resize_fill_tables(&d, at);
  set_tasks(p, d.copy);
  if (head.plan.run == exact_resize_run && !set_scratch(&d)) return too_large(p, err);
  *plan = &p->plan;
  return EXACT_OK;
}
