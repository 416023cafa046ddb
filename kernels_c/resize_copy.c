/* Runs a nearest Resize: each line of the output is a line of the input, its elements picked; and the outputs outside the
 * region of tf_crop_and_resize. docs/resize.md */
#include "resize.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- outside ---- */
static void fill_line(const exact_resize_plan *p, char *y, size_t n) {
  for (size_t i = 0; i < n; i++) memcpy(y + i * p->element, p->fill, p->element);
}

/* Outputs low ... high of the axes from `a` on, at y. */
static void fill_axes(const exact_resize_plan *p, int a, const size_t *low, const size_t *high, char *y, bool outside) {
  const exact_resize_axis *x = &p->axis[a];
  if (a + 1 == p->axes && outside) {
    fill_line(p, y, high[a] - low[a]);
    return;
  }
  for (size_t o = low[a]; o < high[a]; o++, y += x->out_step * p->element) {
    bool here = outside || (x->outside && x->outside[o]);
    if (a + 1 < p->axes)
      fill_axes(p, a + 1, low, high, y, here);
    else if (here)
      fill_line(p, y, 1);
  }
}

void exact_resize_fill(const exact_resize_plan *p, const size_t *low, const size_t *high, char *y) {
  bool any = false;
  for (int a = 0; a < p->axes; a++) {
    any |= p->axis[a].outside != NULL;
    y += low[a] * p->axis[a].out_step * p->element;
  }
  if (any) fill_axes(p, 0, low, high, y, false);
}

/* ---- copies ---- */
typedef struct job {
  const exact_resize_plan *p;
  const struct exact_resize_kernels *k;
  const char *x;
  char *y;
} job;

static void copy_lines(const job *j, exact_resize_copy *c, size_t n) {
  const exact_resize_plan *p = j->p;
  const size_t bytes = p->axis[p->axes - 1].out * p->element;
  int size = p->element == 1 ? RESIZE_1 : p->element == 2 ? RESIZE_2 : p->element == 4 ? RESIZE_4 : RESIZE_8;
  if (p->axis[p->axes - 1].resampled) {
    j->k->copy[size](c);
    return;
  }
  for (size_t i = 0; i < n; i++) {
    size_t row = c->row ? (size_t)c->row[c->from + i] : c->from + i;
    memcpy((char *)c->dst + i * bytes, (const char *)c->src + row * c->src_step * p->element, bytes);
  }
}

/* Lines of the axis before the last one, for one position of the axes before that. */
static void run_task(void *arg, size_t task) {
  const job *j = arg;
  const exact_resize_plan *p = j->p;
  const exact_resize_axis *last = &p->axis[p->axes - 1], *rows = p->axes > 1 ? last - 1 : NULL;
  size_t unit = task * p->per_task, end = least(unit + p->per_task, p->units), n;
  for (; unit < end; unit += n) {
    size_t low[EXACT_MAX_RANK], high[EXACT_MAX_RANK], outer = unit, at = 0;
    exact_resize_copy c = {.line = &p->line, .dst = j->y + unit * last->out * p->element, .dst_step = last->out};
    for (int a = p->axes - 2; a >= 0; a--) {
      const exact_resize_axis *x = &p->axis[a];
      size_t o = outer % x->out;
      outer /= x->out;
      low[a] = o;
      high[a] = o + 1;
      if (x != rows) at += (x->resampled ? (size_t)x->rows.index[o] : o) * x->in_step;
    }
    low[p->axes - 1] = 0;
    high[p->axes - 1] = last->out;
    n = 1;
    c.src = j->x + at * p->element;
    c.end = 1;
    if (rows) {
      n = least(end - unit, rows->out - low[p->axes - 2]);
      c.from = low[p->axes - 2];
      c.end = high[p->axes - 2] = c.from + n;
      c.row = rows->resampled ? rows->rows.index : NULL;
      c.src_step = rows->in_step;
    }
    copy_lines(j, &c, n);
    exact_resize_fill(p, low, high, j->y);
  }
}

void exact_resize_run_copy(const exact_call *call) {
  const exact_resize_plan *p = (const exact_resize_plan *)call->plan;
  job j = {p, p->plan.op->isa->resize, call->in[0], call->out[0]};
  exact_parallel(call->threads, p->tasks, run_task, &j);
}
