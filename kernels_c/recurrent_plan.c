/* How sequences are cut: rows of the batch into groups, steps into chunks; workspace. Depends on shapes alone. */
#include "recurrent.h"

enum {
  TASKS = 8,                /* of a direction, if groups of ... */
  LEAST_ROWS = 4,           /* ... no fewer rows ... */
  LEAST_ROWS_LARGE = 8,     /* ... or, where R is large, no fewer than these ... */
  MOST_ROWS = 16,           /* ... and no more give as many */
  LARGE = 64 << 10,         /* elements of R */
  TASK_PRODUCTS = 1 << 17,  /* of all tasks, below which one is enough */
  PIECES = 8,               /* at most */
  PIECE_PRODUCTS = 1 << 17, /* of a step at least */
  CHUNK_ELEMENTS = 64 << 10 /* inputs, or their products, of a chunk */
};

static void cut(const exact_recurrent_op *o, exact_recurrent_plan *p) {
  size_t wide = p->gates.row > p->input ? p->gates.row : p->input;
  double step = (double)p->gates.row * (double)p->hidden;
  double products =
      (double)o->directions * (double)p->steps * (double)p->batch * (double)p->gates.row * (double)(p->input + p->hidden);
  size_t rows = exact_quotient(p->batch, TASKS), least = step > LARGE ? LEAST_ROWS_LARGE : LEAST_ROWS;
  if (rows < least) rows = least;
  if (rows > MOST_ROWS) rows = MOST_ROWS;
  if (rows > p->batch || products < TASK_PRODUCTS) rows = p->batch;
  p->groups = exact_quotient(p->batch, rows);
  p->group = exact_quotient(p->batch, p->groups);
  p->groups = exact_quotient(p->batch, p->group);
  p->chunk = CHUNK_ELEMENTS / wide / p->group;
  if (p->chunk > p->steps) p->chunk = p->steps;
  if (!p->chunk) p->chunk = 1;
  p->pieces = 1;
  if (p->groups == 1 && o->directions == 1 && step * (double)p->group >= 2 * PIECE_PRODUCTS) {
    double pieces = step * (double)p->group / PIECE_PRODUCTS;
    p->pieces = pieces < PIECES ? (size_t)pieces : PIECES;
  }
}

static bool place(const exact_recurrent_op *o, int n, const exact_tensor *in, exact_recurrent_plan *p) {
  const size_t k[] = {0, p->input, p->hidden}, directions = (size_t)o->directions;
  size_t *total = &p->base.workspace, rows, size, count;
  for (int i = 1; i < 3; i++) {
    p->packed[i] = o->packed[i];
    if (!exact_mul(p->gates.row, k[i], &size) || !exact_mul(size, p->packed[i] ? 0 : directions, &size) ||
        !exact_part(total, size, sizeof(float), &p->at[i]))
      return false;
  }
  if (!exact_part(total, n > 3 && in[3].dtype ? 2 * directions * p->gates.row : 0, sizeof(float), &p->bias_at) ||
      !exact_part(total, n > 7 && in[7].dtype ? 3 * directions * p->hidden : 0, sizeof(float), &p->p_at))
    return false;
  if (!exact_mul(p->chunk, p->group, &rows) || !exact_mul(rows, p->input, &size) ||
      !exact_part(&p->slot, size, sizeof(float), &p->x_part) || !exact_mul(rows, p->gates.row, &size) ||
      !exact_part(&p->slot, size, sizeof(float), &p->xw_part) || !exact_mul(p->group, p->gates.row, &size) ||
      !exact_part(&p->slot, size, sizeof(float), &p->hr_part) || !exact_mul(p->group, p->hidden, &size) ||
      !exact_part(&p->slot, size, sizeof(float), &p->h_part) || !exact_part(&p->slot, size, sizeof(float), &p->c_part) ||
      !exact_part(&p->slot, size, sizeof(float), &p->t_part))
    return false;
  p->slot += 64; /* slots do not share the low bits of their addresses */
  return exact_mul(p->groups, directions, &count) && exact_part(total, (size_t)exact_slot_count(count), p->slot, &p->slots_at);
}

int exact_recurrent_plan_new(const exact_recurrent_op *o, int n, const exact_tensor *in, const exact_tensor *out,
                             exact_plan **plan, exact_error *err) {
  exact_recurrent_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = &o->base, .run = exact_recurrent_run};
  memcpy(p->base.out, out, (size_t)o->base.cls->outputs * sizeof *out);
  p->inputs = n;
  p->steps = (size_t)in[0].dims[o->batch_first];
  p->batch = (size_t)in[0].dims[!o->batch_first];
  p->input = (size_t)in[0].dims[2];
  p->hidden = (size_t)in[2].dims[2];
  *plan = &p->base;
  if (!p->batch || !p->hidden) return EXACT_OK; /* groups 0 */
  p->gates = exact_recurrent_gates(o, p->hidden);
  cut(o, p);
  if (place(o, n, in, p)) return EXACT_OK;
  exact_plan_free(&p->base);
  *plan = NULL;
  return exact_fail(err, EXACT_INVALID, "the workspace is too large");
}
