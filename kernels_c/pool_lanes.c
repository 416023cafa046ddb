/* Pools with planes side by side, one a lane: for strides and dilations that vectors along rows do not suit. Groups of planes
 * are transposed to [position][lane], reduced and transposed back. docs/pool.md */
#include "pool.h"

enum { TASK_ELEMENTS = 32768, MOST_POSITIONS = 16384 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

bool exact_pool_lanes_setup(exact_pool_plan *p, size_t *bytes, size_t *tables_at) {
  const exact_window *w = &p->op->window;
  const exact_pool_shape *s = &p->shape;
  exact_pool_lanes_plan *l = &p->lanes;
  int dtype = p->op->op.dtype;
  size_t wide = exact_dtype_size(exact_arith(dtype)), lanes = POOL_VECTOR / wide, part;
  if (!exact_is_float(dtype) || exact_pool_reads_vectors(w)) return false;
  if (s->planes < lanes || s->plane_in < lanes || s->plane_in > MOST_POSITIONS || s->plane_out > MOST_POSITIONS) return false;
  l->planes_per_task = (TASK_ELEMENTS / (s->plane_in * lanes) + 1) * lanes;
  l->tasks = (s->planes - 1) / l->planes_per_task + 1;
  size_t ranges = (size_t)(s->out[0] + s->out[1] + s->out[2]);
  return exact_part(&l->slot, s->plane_in, POOL_VECTOR, &l->in) && exact_part(&l->slot, s->plane_out, POOL_VECTOR, &l->out) &&
         exact_part(&p->plan.workspace, (size_t)exact_slot_count(l->tasks), l->slot, &part) &&
         exact_part(bytes, ranges, sizeof(exact_pool_range), tables_at);
}

void exact_pool_fill_lanes(exact_pool_plan *p, void *tables) {
  const exact_window *w = &p->op->window;
  const exact_pool_shape *s = &p->shape;
  exact_pool_range *range = tables;
  for (int a = 0; a < 3; a++) {
    exact_pool_taps *axis = &p->lanes.axis[a];
    *axis = (exact_pool_taps){.in = (size_t)s->in[a], .out = (size_t)s->out[a], .ranges = range};
    for (int64_t o = 0; o < s->out[a]; o++) {
      int64_t first, end;
      exact_pool_clip(w, s, a, o, 0, 0, &first, &end);
      size_t at = end > first ? (size_t)(o * w->stride[a] - s->begin[a] + first * w->dilation[a]) : 0;
      *range++ = (exact_pool_range){at, (size_t)(end - first), (double)exact_pool_count(p->op, s, a, o)};
      if (end - first > 1) axis->dilation = (size_t)w->dilation[a];
    }
  }
}

/* `lanes` planes x to y, without the first `skipped`. */
static void run_group(const exact_pool_plan *p, const char *x, char *y, size_t skipped, char *slot) {
  const exact_pool_lanes_plan *l = &p->lanes;
  const exact_pool_shape *s = &p->shape;
  int dtype = p->op->op.dtype;
  const struct exact_pool_lane_kernels *k = p->op->op.isa->pool->lanes[dtype == EXACT_FLOAT64 ? POOL_F64 : POOL_F32];
  size_t size = exact_dtype_size(dtype);
  exact_pool_windows w = {.src = slot + l->in, .dst = slot + l->out, .fold = p->op->fold};
  memcpy(w.axis, l->axis, sizeof w.axis);
  k->planes_in(slot + l->in, x, s->plane_in, dtype);
  if (p->op->power) exact_pool_raise(p->op, slot + l->in, s->plane_in * k->lanes);
  bool low = k->windows(&w);
  if (p->op->power) exact_pool_root(p->op, slot + l->out, s->plane_out * k->lanes);
  k->planes_out(y, slot + l->out, s->plane_out, skipped, dtype);
  for (size_t i = skipped; low && i < k->lanes; i++)
    for (size_t d = 0; d < (size_t)s->out[0]; d++)
      exact_pool_settle(p->op, s, x + i * s->plane_in * size, y + i * s->plane_out * size, d, (const size_t[]){0, 0},
                        (const size_t[]){(size_t)s->out[1], (size_t)s->out[2]});
}

typedef struct lanes_run {
  const exact_call *call;
  exact_slots slots;
} lanes_run;

static void run_task(void *arg, size_t task) {
  lanes_run *run = arg;
  const exact_pool_plan *p = (const exact_pool_plan *)run->call->plan;
  int dtype = p->op->op.dtype;
  size_t lanes = p->op->op.isa->pool->lanes[dtype == EXACT_FLOAT64 ? POOL_F64 : POOL_F32]->lanes,
         size = exact_dtype_size(dtype);
  size_t plane = task * p->lanes.planes_per_task, end = least(plane + p->lanes.planes_per_task, p->shape.planes);
  char *slot = exact_slot_take(&run->slots);
  for (; plane < end; plane += lanes) {
    /* A last group that is not full starts earlier. */
    size_t skipped = end - plane < lanes ? lanes - (end - plane) : 0, first = plane - skipped;
    run_group(p, (const char *)run->call->in[0] + first * p->shape.plane_in * size,
              (char *)run->call->out[0] + first * p->shape.plane_out * size, skipped, slot);
  }
  exact_slot_give(&run->slots, slot);
}

void exact_pool_run_lanes(const exact_call *call) {
  const exact_pool_lanes_plan *l = &((const exact_pool_plan *)call->plan)->lanes;
  lanes_run run = {.call = call};
  exact_slots_init(&run.slots, call->work, l->slot, exact_slot_count(l->tasks));
  exact_parallel(call->threads, l->tasks, run_task, &run);
}
