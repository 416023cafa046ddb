/* Depthwise Conv plane by plane, for float32 and float64 windows of two axes without stride along rows of two vectors and
 * more (planes_isa.c); shorter rows and the rest go to conv_depthwise.c. */
#include "conv.h"

enum { AREA_BYTES = 16 << 10, MOST_AREA_BYTES = 64 << 10, TASK_PRODUCTS = 1 << 16 };

typedef struct planes_plan {
  exact_plan base;
  exact_conv_shape s;
  const void *packed;
  bool bias;
  size_t real, kind, lanes;
  size_t pitch, rows, row_tiles, units, per_task, tasks;
  size_t weights_at, slots_at, slot;
  uint32_t at[EXACT_PLANES_TAPS];
} planes_plan;

typedef struct planes_run {
  const planes_plan *p;
  const char *x, *weights, *bias;
  char *y;
  exact_slots slots;
} planes_run;

static size_t quotient(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

static size_t extent(const exact_conv_shape *s, int axis) { return (size_t)((s->kernel[axis] - 1) * s->dilation[axis] + 1); }

bool exact_planes_serve(const exact_op *op, const exact_conv_shape *s) {
  size_t real = exact_dtype_size(s->dtype), lanes = exact_conv_gemm(op)->lanes;
  return real >= 4 && s->in[0] == 1 && s->out[0] == 1 && s->kernel[0] == 1 && s->stride[2] == 1 &&
         s->taps <= EXACT_PLANES_TAPS && (size_t)s->out[2] >= 2 * lanes && s->out[2] < MOST_AREA_BYTES &&
         extent(s, 2) < MOST_AREA_BYTES && extent(s, 1) < MOST_AREA_BYTES &&
         ((size_t)s->out[2] + extent(s, 2)) * extent(s, 1) * real <= MOST_AREA_BYTES;
}

static void planes_task(void *arg, size_t index) {
  planes_run *r = arg;
  const planes_plan *p = r->p;
  const exact_conv_shape *s = &p->s;
  size_t end = smaller((index + 1) * p->per_task, p->units);
  size_t x_plane = (size_t)s->in[1] * (size_t)s->in[2], y_plane = (size_t)s->out[1] * (size_t)s->out[2];
  char *slot = exact_slot_take(&r->slots);
  for (size_t unit = index * p->per_task; unit < end; unit++) {
    size_t row = unit % p->row_tiles * p->rows, plane = unit / p->row_tiles, c = plane % s->groups;
    exact_planes u = {.shape = s, .row = row, .pitch = p->pitch, .lanes = p->lanes, .at = p->at};
    u.rows = smaller(p->rows, (size_t)s->out[1] - row);
    u.high = (u.rows - 1) * (size_t)s->stride[1] + extent(s, 1);
    u.x = r->x + plane * x_plane * p->real;
    u.y = r->y + plane * s->m * y_plane * p->real;
    u.weights = r->weights + (c / p->lanes * p->lanes * s->m * s->taps + c % p->lanes) * p->real;
    u.bias = r->bias ? r->bias + c * s->m * p->real : NULL;
    u.area = slot;
    p->base.op->isa->conv->planes[p->kind](&u);
  }
  exact_slot_give(&r->slots, slot);
}

static void planes_run_plan(const exact_call *call) {
  const planes_plan *p = (const planes_plan *)call->plan;
  planes_run r = {.p = p, .x = call->in[0], .weights = p->packed, .bias = p->bias ? call->in[2] : NULL, .y = call->out[0]};
  if (!p->units) return;
  if (!p->packed) {
    exact_conv_weights w = {p->s.dtype, EXACT_CONV_DEPTHWISE, p->s.groups, p->s.m, p->s.taps};
    exact_depthwise_weights(p->base.op, &w, call->in[1], call->work + p->weights_at, call->threads);
    r.weights = call->work + p->weights_at;
  }
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, exact_slot_count(p->tasks));
  exact_parallel(call->threads, p->tasks, planes_task, &r);
}

static bool plan_workspace(planes_plan *p) {
  const exact_conv_shape *s = &p->s;
  size_t weights, area, slot = 0, slack = 2 * p->lanes; /* zeros beyond the last row */
  exact_conv_weights w = {s->dtype, EXACT_CONV_DEPTHWISE, s->groups, s->m, s->taps};
  /* by_rows reads four rows at a time */
  size_t high = (quotient(p->rows, 4) * 4 - 1) * (size_t)s->stride[1] + extent(s, 1);
  if (!exact_mul(s->n, s->groups, &p->units) || !exact_mul(p->units, p->row_tiles, &p->units)) return false;
  size_t products = p->rows * (size_t)s->out[2] * s->m * s->taps;
  p->per_task = products < TASK_PRODUCTS ? TASK_PRODUCTS / products : 1;
  p->tasks = quotient(p->units, p->per_task);
  if (!p->packed &&
      (!exact_depthwise_weights_size(p->base.op, &w, &weights) || !exact_part(&p->base.workspace, weights, 1, &p->weights_at)))
    return false;
  if (!exact_part(&slot, high * p->pitch + slack, p->real, &area)) return false;
  p->slot = slot + 64;
  return exact_part(&p->base.workspace, (size_t)exact_slot_count(p->tasks), p->slot, &p->slots_at);
}

int exact_planes_plan(const exact_op *op, const exact_conv_shape *s, const void *packed, bool bias, const exact_tensor *y,
                      exact_plan **plan, exact_error *err) {
  planes_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = planes_run_plan, .out = {*y}};
  p->s = *s;
  p->packed = packed;
  p->bias = bias;
  p->kind = s->dtype == EXACT_FLOAT64;
  p->real = exact_dtype_size(s->dtype);
  p->lanes = exact_conv_gemm(op)->lanes;
  bool fits = true;
  if (s->n && s->out[1] && s->out[2]) {
    p->pitch = (size_t)s->out[2] + extent(s, 2) - 1;
    size_t room = AREA_BYTES / (p->pitch * p->real), high = extent(s, 1), step = (size_t)s->stride[1];
    size_t rows = room > high ? (room - high) / step + 1 : 1;
    rows = smaller(rows > 4 ? rows / 4 * 4 : rows, (size_t)s->out[1]);
    p->row_tiles = quotient((size_t)s->out[1], rows);
    p->rows = smaller(quotient(quotient((size_t)s->out[1], p->row_tiles), 4) * 4, (size_t)s->out[1]);
    p->row_tiles = quotient((size_t)s->out[1], p->rows);
    for (size_t t = 0; t < s->taps; t++)
      p->at[t] = (uint32_t)(t / (size_t)s->kernel[2] * (size_t)s->dilation[1] * p->pitch +
                            t % (size_t)s->kernel[2] * (size_t)s->dilation[2]);
    fits = plan_workspace(p);
  }
  if (!fits) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *plan = &p->base;
  return EXACT_OK;
}
