/* Geometry of Resize: axes merged, the output cut into boxes whose intermediate values stay in the cache, tables packed. */
#include <stdlib.h>

#include "resize.h"

/* Bytes that the intermediate values of a box may have; output elements of a task; elements of neighbouring pixels' channels
 * that are resampled as a part of the line; vectors of the shortest piece of a line. */
enum { BOX_BYTES = 49152, TASK_ELEMENTS = 32768, FOLD = 16, LINE_VECTORS = 64 };

typedef struct draft {
  exact_resize_plan *p;
  const struct exact_resize_kernels *k;
  const exact_resize_taps *taps[EXACT_MAX_RANK]; /* of the merged axes; NULL: not resampled */
  size_t fold[EXACT_MAX_RANK];                   /* elements of the axis that are one index of its taps */
  size_t lanes, wide;                            /* of the arithmetic type */
  bool copy;
} draft;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

/* Of an element type. */
static int arithmetic_type(int dtype) { return dtype == EXACT_FLOAT64 || dtype == EXACT_INT64 ? RESIZE_F64 : RESIZE_F32; }

/* ---- axes ---- */
static void merge(draft *d, const exact_resize_taps *taps, const exact_tensor *y) {
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
static void fold(draft *d) {
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

static void set_order(draft *d) {
  exact_resize_plan *p = d->p;
  for (int growing = 0; growing < 2; growing++)
    for (int a = 0; a < p->axes; a++)
      if (p->axis[a].resampled && (p->axis[a].out >= p->axis[a].in) == growing) p->order[p->passes++] = a;
}

/* ---- boxes ---- */
static size_t box_end(const exact_resize_axis *x, size_t box) { return box + 1 == x->boxes ? x->out : (box + 1) * x->box; }

/* About as many inputs as n outputs of an axis need. */
static double reach(const draft *d, int a, size_t n) {
  const exact_resize_axis *x = &d->p->axis[a];
  if (!x->resampled || n == x->out) return (double)(x->resampled ? x->in : n);
  double need = (double)n * (double)x->in / (double)x->out + (double)(d->taps[a]->taps * d->fold[a]);
  return need < (double)x->in ? need : (double)x->in;
}

/* About the bytes of a box's intermediate values. */
static double box_bytes(const draft *d) {
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

static void set_boxes(draft *d) {
  exact_resize_plan *p = d->p;
  const double bytes = p->passes ? BOX_BYTES : 0;
  for (int a = 0; a < p->axes; a++) p->axis[a].box = 1;
  for (int a = p->axes - 1; a >= 0; a--) {
    exact_resize_axis *x = &p->axis[a];
    const size_t piece = a < p->axes - 1 ? 1 : LINE_VECTORS * d->lanes;
    x->box = x->out;
    while (x->box > piece && box_bytes(d) >= bytes) x->box = (x->box / 2 + piece - 1) / piece * piece;
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

/* ---- tables ---- */
typedef struct parts {
  size_t first, end, outside; /* of boxes; flags */
  size_t start, index, weight, base, pick, holes;
} parts;

static bool is_line(const draft *d, int a) { return a == d->p->axes - 1 && d->p->axis[a].resampled; }

/* Sizes of an axis's tables. */
static bool size_tables(const draft *d, int a, size_t *total, parts *at) {
  const exact_resize_axis *x = &d->p->axis[a];
  const exact_resize_taps *t = d->taps[a];
  size_t n = 0, blocks = (x->out - 1) / d->lanes + 1;
  *at = (parts){0};
  if (!exact_part(total, x->boxes, sizeof(size_t), &at->first) || !exact_part(total, x->boxes, sizeof(size_t), &at->end))
    return false;
  if (!t) return true;
  if (t->outside && !exact_part(total, x->out, 1, &at->outside)) return false;
  if (!is_line(d, a))
    return exact_mul(x->out, t->taps, &n) && exact_part(total, x->out + 1, sizeof(size_t), &at->start) &&
           exact_part(total, n, sizeof(int32_t), &at->index) && exact_part(total, d->copy ? 0 : n, d->wide, &at->weight);
  return exact_mul(blocks, t->taps, &n) && exact_part(total, n, sizeof(int32_t), &at->base) &&
         exact_part(total, n, d->lanes * sizeof(int32_t), &at->pick) &&
         exact_part(total, d->copy ? 0 : n, d->lanes * d->wide, &at->weight) && exact_part(total, blocks, 1, &at->holes);
}

static void put_weight(const draft *d, void *table, size_t i, float w) {
  if (d->wide == sizeof(double))
    ((double *)table)[i] = w;
  else
    ((float *)table)[i] = w;
}

static void fill_rows(const draft *d, exact_resize_axis *x, const exact_resize_taps *t, const parts *at) {
  char *block = (char *)d->p;
  size_t *start = (size_t *)(block + at->start), n = 0;
  int32_t *index = (int32_t *)(block + at->index);
  for (size_t j = 0; j < t->out; j++) {
    start[j] = n;
    for (size_t i = j * t->taps; i < (j + 1) * t->taps; i++) {
      if (t->weight && t->weight[i] == 0.0f) continue;
      index[n] = t->index[i];
      if (t->weight) put_weight(d, block + at->weight, n, t->weight[i]);
      n++;
    }
  }
  start[t->out] = n;
  x->rows = (exact_resize_rows){start, index, block + at->weight};
}

/* Position of a block's first output. */
static size_t block_start(const draft *d, size_t out, size_t b) {
  return out < d->lanes ? 0 : least(b * d->lanes, out - d->lanes);
}

/* Tap `tap` of output o of an axis; false when there is none. */
static bool get_tap(const exact_resize_taps *t, size_t fold, size_t o, size_t tap, int32_t *index, float *weight) {
  size_t i = fold == 1 ? o : o / fold, at = i * t->taps + tap;
  if (i >= t->out || (t->outside && t->outside[i])) return false;
  *index = (int32_t)((size_t)t->index[at] * fold + (o - i * fold));
  *weight = t->weight ? t->weight[at] : 1.0f;
  return *weight != 0.0f;
}

/* The least and greatest index over outputs from `from` up to `end` and taps from `tap` up to `taps`; false: no tap. */
static bool tap_span(const draft *d, int a, size_t from, size_t end, size_t tap, size_t taps, size_t *low, size_t *high) {
  bool any = false;
  *low = *high = 0;
  for (size_t o = from; o < end; o++)
    for (size_t t = tap; t < taps; t++) {
      int32_t index;
      float weight;
      if (!get_tap(d->taps[a], d->fold[a], o, t, &index, &weight)) continue;
      if (!any || (size_t)index < *low) *low = (size_t)index;
      if (!any || (size_t)index > *high) *high = (size_t)index;
      any = true;
    }
  return any;
}

/* Vectors that the elements of each tap of a block lie in; 0: more than the kernels take, or a line of the input is shorter. */
static int count_windows(const draft *d) {
  const int a = d->p->axes - 1;
  const exact_resize_axis *x = &d->p->axis[a];
  size_t span = 1, low, high;
  for (size_t b = 0; b < (x->out - 1) / d->lanes + 1; b++)
    for (size_t tap = 0; tap < d->taps[a]->taps; tap++) {
      size_t from = block_start(d, x->out, b);
      if (tap_span(d, a, from, from + d->lanes, tap, tap + 1, &low, &high)) span = most(span, high - low + 1);
    }
  size_t windows = (span - 1) / d->lanes + 1;
  bool whole = x->in >= windows * d->lanes || (d->p->passes > 0 && d->p->order[0] != a) || !d->p->native;
  return whole && windows <= (size_t)d->k->windows ? (int)windows : 0;
}

static void fill_block(const draft *d, size_t b, int32_t *base, int32_t *pick, char *weights, uint8_t *hole) {
  const int a = d->p->axes - 1;
  const exact_resize_axis *x = &d->p->axis[a];
  const exact_resize_taps *t = d->taps[a];
  const size_t from = block_start(d, x->out, b), span = (size_t)d->p->line.windows * d->lanes;
  size_t lowest, low, high;
  tap_span(d, a, from, from + d->lanes, 0, t->taps, &lowest, &high);
  for (size_t tap = 0; tap < t->taps; tap++) {
    if (!tap_span(d, a, from, from + d->lanes, tap, tap + 1, &low, &high)) low = lowest;
    /* A window does not reach past the end of a line that is as long as one. */
    base[tap] = (int32_t)(low + span <= x->in ? low : x->in < span ? 0 : x->in - span);
    for (size_t l = 0; l < d->lanes; l++) {
      int32_t index = (int32_t)low;
      float weight = 0.0f;
      bool tapped = get_tap(t, d->fold[a], from + l, tap, &index, &weight);
      pick[tap * d->lanes + l] = (tapped ? index : (int32_t)low) - base[tap];
      if (!tapped && from + l < x->out) *hole = 1;
      if (!d->copy) put_weight(d, weights, tap * d->lanes + l, tapped ? weight : 0.0f);
    }
  }
}

static void fill_line(draft *d, const parts *at) {
  char *p = (char *)d->p;
  exact_resize_line *line = &d->p->line;
  int32_t *base = (int32_t *)(p + at->base), *pick = (int32_t *)(p + at->pick);
  uint8_t *holes = (uint8_t *)(p + at->holes);
  line->base = base;
  line->pick = pick;
  line->holes = holes;
  line->weight = d->copy ? NULL : p + at->weight;
  for (size_t b = 0; b < line->blocks; b++) {
    size_t i = b * line->taps;
    fill_block(d, b, base + i, pick + i * d->lanes, p + at->weight + i * d->lanes * d->wide, holes + b);
  }
}

/* The inputs that each box of an axis needs. A line's windows may begin before. */
static void set_reach(draft *d, int a, size_t *first, size_t *end) {
  exact_resize_axis *x = &d->p->axis[a];
  for (size_t box = 0; box < x->boxes; box++) {
    size_t low = box * x->box, high = box_end(x, box);
    first[box] = low;
    end[box] = high;
    if (x->boxes == 1) {
      first[box] = 0;
      end[box] = x->in;
    } else if (x->resampled) {
      tap_span(d, a, low, high, 0, d->taps[a]->taps, &first[box], &end[box]);
      end[box]++;
      for (size_t i = low / d->lanes; is_line(d, a) && i < (high - 1) / d->lanes + 1; i++)
        for (size_t tap = 0; tap < d->taps[a]->taps; tap++)
          first[box] = least(first[box], (size_t)d->p->line.base[i * d->taps[a]->taps + tap]);
    }
    x->reach = most(x->reach, end[box] - first[box]);
  }
  x->first = first;
  x->end = end;
}

static void fill_outside(const draft *d, exact_resize_axis *x, int a, uint8_t *flags) {
  for (size_t o = 0; o < x->out; o++) flags[o] = d->taps[a]->outside[o / d->fold[a]];
  x->outside = flags;
}

static void fill_tables(draft *d, const parts *at) {
  exact_resize_plan *p = d->p;
  char *block = (char *)p;
  for (int a = 0; a < p->axes; a++) {
    exact_resize_axis *x = &p->axis[a];
    if (is_line(d, a))
      fill_line(d, &at[a]);
    else if (x->resampled)
      fill_rows(d, x, d->taps[a], &at[a]);
    if (x->resampled && d->taps[a]->outside) fill_outside(d, x, a, (uint8_t *)(block + at[a].outside));
    set_reach(d, a, (size_t *)(block + at[a].first), (size_t *)(block + at[a].end));
  }
}

/* ---- scratch ---- */
/* Values between two passes go to one area and the other in turn; of types that are not computed in, the input and the last
 * result too. */
static bool set_scratch(const draft *d) {
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
    if (need[i] > (size_t)1 << 46 || !exact_part(&slot, need[i] + RESIZE_SLACK, 1, &p->area[i])) return false;
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
  parts at[EXACT_MAX_RANK];
  size_t total = exact_align(sizeof head);
  draft d = {.p = &head, .k = op->op.isa->resize, .copy = op->attrs.mode == EXACT_RESIZE_NEAREST};
  head.type = arithmetic_type(op->op.dtype);
  head.native = op->op.dtype == EXACT_FLOAT32 || op->op.dtype == EXACT_FLOAT64;
  merge(&d, taps, y);
  fold(&d);
  set_steps(&head);
  set_order(&d);
  if (d.copy) head.type = head.element == 8 ? RESIZE_F64 : RESIZE_F32;
  d.lanes = head.element < 4 && d.copy ? 1 : d.k->lanes[head.type];
  d.wide = head.type == RESIZE_F64 ? sizeof(double) : sizeof(float);
  if (is_line(&d, head.axes - 1)) {
    const exact_resize_axis *x = &head.axis[head.axes - 1];
    head.line = (exact_resize_line){.out = x->out, .blocks = (x->out - 1) / d.lanes + 1, .taps = d.taps[head.axes - 1]->taps};
    head.line.windows = count_windows(&d);
  }
  head.plan.run = d.copy ? exact_resize_run_copy : head.passes ? exact_resize_run : exact_resize_run_same;
  set_fill(op, &head);
  if (!d.copy) set_boxes(&d);
  for (int a = 0; a < head.axes; a++)
    if (!size_tables(&d, a, &total, &at[a])) return too_large(NULL, err);
  exact_resize_plan *p = exact_new(total, err);
  if (!p) return EXACT_NO_MEMORY;
  *p = head;
  d.p = p;
  fill_tables(&d, at);
  set_tasks(p, d.copy);
  if (head.plan.run == exact_resize_run && !set_scratch(&d)) return too_large(p, err);
  *plan = &p->plan;
  return EXACT_OK;
}
