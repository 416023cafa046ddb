/* LRN: s = bias + (alpha / size) * the sum of the squares of the channels around, y = x / s^beta. The sum goes from +0 over
 * the channels in order; the power is made of roots, or exp(beta * log(s)). docs/lrn.md
 * A tile is all channels of some neighbouring positions of an image: [channel][position]. Its squares stand between rows of
 * +0 for the channels outside, which change no sum, so that every output adds terms at equal distances. */
#include "lrn.h"

#include <stdlib.h>

#include "axis.h"
#include "exp_log_kernels.h"
#include "reduce.h"

enum { TILE_ELEMENTS = 16384, LEAST_TILE = 16, TASK_ELEMENTS = 32768 };

typedef struct lrn_op {
  exact_op op;
  exact_lrn_attrs attrs;
  int power;
} lrn_op;

typedef struct lrn_plan {
  exact_plan plan;
  size_t images, channels, positions;
  size_t below, above;    /* channels of a window before and after its own, at most all others */
  size_t tile, tiles;     /* positions of a tile, tiles of an image */
  size_t per_task, tasks; /* of tiles */
  size_t slot, sums, row; /* bytes of a task's scratch, and where its parts are; the squares are the first */
} lrn_plan;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  (void)n;
  if (in->dtype != op->dtype)
    return exact_fail(err, EXACT_INVALID, "X has the element type %s, expected %s", exact_dtype_name(in->dtype),
                      exact_dtype_name(op->dtype));
  if (in->rank < 2) return exact_fail(err, EXACT_INVALID, "X has rank %d, must be at least 2", in->rank);
  *out = *in;
  out->data = NULL;
  return EXACT_OK;
}

/* ---- run ---- */
typedef struct lrn_run {
  const exact_call *call;
  const lrn_plan *p;
  const lrn_op *o;
  const struct exact_lrn_kernels *k;
  size_t size, wide;
  int type; /* 0: float32, 1: float64 */
  bool native;
  exact_slots slots;
} lrn_run;

static void zero_borders(const lrn_run *r, size_t width, char *slot) {
  const lrn_plan *p = r->p;
  memset(slot, 0, p->below * width * r->wide);
  memset(slot + (p->below + p->channels) * width * r->wide, 0, p->above * width * r->wide);
}

/* s^beta where that is not made of roots. */
static void powers(const lrn_run *r, void *s, size_t n) {
  const struct exact_exp_log_kernels *e = r->o->op.isa->exp_log;
  if (r->type)
    e->log64(s, s, n);
  else
    e->log32(s, s, n);
  r->k->times[r->type](s, n, (double)r->o->attrs.beta);
  if (r->type)
    e->exp64(s, s, n);
  else
    e->exp32(s, s, n);
}

/* alpha / size is a division of the arithmetic type. */
static exact_lrn_numbers numbers(const lrn_run *r) {
  const exact_lrn_attrs *a = &r->o->attrs;
  double ratio = r->type ? (double)a->alpha / (double)a->size : (double)(a->alpha / (float)a->size);
  return (exact_lrn_numbers){.ratio = ratio, .bias = (double)a->bias};
}

/* `width` positions from x on. */
static void one_tile(const lrn_run *r, const char *x, char *y, size_t width, char *slot) {
  const lrn_plan *p = r->p;
  const exact_lrn_numbers v = numbers(r);
  const size_t step = p->positions * r->size, line = width * r->wide, n = p->channels * width;
  char *squares = slot, *middle = slot + p->below * line, *s = slot + p->sums, *row = slot + p->row;
  zero_borders(r, width, squares);
  for (size_t c = 0; c < p->channels; c++) {
    const char *from = x + c * step;
    if (!r->native) exact_reduce_widen(row, from, width, r->o->op.dtype);
    r->k->square[r->type](r->native ? from : row, width, middle + c * line);
  }
  r->k->sums[r->type](squares, n, p->below + 1 + p->above, width, &v, s);
  if (r->o->power == LRN_ANY) powers(r, s, n);
  for (size_t c = 0; c < p->channels; c++) {
    const char *from = x + c * step;
    char *to = y + c * step;
    if (!r->native) exact_reduce_widen(row, from, width, r->o->op.dtype);
    r->k->divide[r->type](r->native ? from : row, s + c * line, width, r->o->power, r->native ? to : row);
    if (!r->native) exact_reduce_narrow(to, row, width, r->o->op.dtype);
  }
}

static void run_task(void *arg, size_t task) {
  lrn_run *r = arg;
  const lrn_plan *p = r->p;
  size_t i = task * p->per_task, end = least(i + p->per_task, p->images * p->tiles);
  char *slot = exact_slot_take(&r->slots);
  for (; i < end; i++) {
    size_t first = i % p->tiles * p->tile, at = (i / p->tiles * p->channels * p->positions + first) * r->size;
    one_tile(r, (const char *)r->call->in[0] + at, (char *)r->call->out[0] + at, least(p->tile, p->positions - first), slot);
  }
  exact_slot_give(&r->slots, slot);
}

static void run(const exact_call *call) {
  const lrn_plan *p = (const lrn_plan *)call->plan;
  const lrn_op *o = (const lrn_op *)p->plan.op;
  int arith = exact_arith(o->op.dtype);
  lrn_run r = {.call = call,
               .p = p,
               .o = o,
               .k = o->op.isa->lrn,
               .size = exact_dtype_size(o->op.dtype),
               .wide = exact_dtype_size(arith),
               .type = arith == EXACT_FLOAT64,
               .native = arith == o->op.dtype};
  if (!p->tasks || !call->out[0]) return;
  exact_slots_init(&r.slots, call->work, p->slot, exact_slot_count(p->tasks));
  exact_parallel(call->threads, p->tasks, run_task, &r);
}

/* ---- plan ---- */
static bool set_tiles(lrn_plan *p, const lrn_op *o, const exact_tensor *x) {
  size_t wide = exact_dtype_size(exact_arith(o->op.dtype)), rows, squares, part;
  p->images = (size_t)x->dims[0];
  p->channels = (size_t)x->dims[1];
  p->positions = exact_extent(x, 2, x->rank);
  p->below = least((size_t)(o->attrs.size - 1) / 2, p->channels - 1);
  p->above = least((size_t)o->attrs.size / 2, p->channels - 1);
  rows = p->below + p->channels + p->above;
  p->tile = TILE_ELEMENTS / rows / LEAST_TILE * LEAST_TILE;
  if (p->tile < LEAST_TILE) p->tile = LEAST_TILE;
  p->tile = least(p->tile, p->positions);
  p->tiles = (p->positions - 1) / p->tile + 1;
  size_t cost = p->channels * p->tile, count = p->images * p->tiles;
  p->per_task = cost < TASK_ELEMENTS ? TASK_ELEMENTS / cost : 1;
  p->tasks = (count - 1) / p->per_task + 1;
  return exact_mul(rows, p->tile, &squares) && exact_part(&p->slot, squares, wide, &part) &&
         exact_part(&p->slot, p->channels * p->tile, wide, &p->sums) && exact_part(&p->slot, p->tile, wide, &p->row) &&
         exact_part(&p->plan.workspace, (size_t)exact_slot_count(p->tasks), p->slot, &part);
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor y;
  size_t count = 0;
  int rc = infer(op, n, in, &y, err);
  if (!rc) rc = exact_count(&y, "Y", &count, err);
  if (rc) return rc;
  lrn_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->plan = (exact_plan){.op = op, .run = run, .out = {y}};
  if (count && !set_tiles(p, (const lrn_op *)op, in)) {
    free(p);
    return exact_fail(err, EXACT_INVALID, "X with %lld channels is too large", (long long)in->dims[1]);
  }
  *out = &p->plan;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class lrn_class = {
    .name = "LRN", .outputs = 1, .min_inputs = 1, .max_inputs = 1, .infer = infer, .plan = plan, .free = free_op};

int exact_lrn_new(const exact_lrn_attrs *a, int dtype, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_float(dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "element type %s, only float types are supported", exact_dtype_name(dtype));
  if (a->size < 1) return exact_fail(err, EXACT_INVALID, "size is %lld, must be at least 1", (long long)a->size);
  lrn_op *o = exact_op_new(sizeof *o, &lrn_class, dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->attrs = *a;
  o->power = a->beta == 0.75f ? LRN_THREE_QUARTERS : a->beta == 0.5f ? LRN_HALF : a->beta == 1 ? LRN_ONE : LRN_ANY;
  *op = &o->op;
  return EXACT_OK;
}
