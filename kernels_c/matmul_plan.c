/* How a product is cut: blocks of k, rows and columns, what is packed where, workspace. Depends on shapes alone. */
#include "matmul.h"

enum {
  K_BLOCK = 768,
  M_BLOCK = 128,          /* rows of A that stay in the cache while panel after panel of B passes */
  M_BLOCK_UNPACKED = 320, /* more, so that a panel of B is packed for as many of them as possible */
  C_ELEMENTS = 64 << 10,  /* of Y at most in a block */
  TASKS = 8,
  TASK_PRODUCTS = 1 << 18, /* at least */
  IN_PLACE_ROWS = 512,
  DIRECT_ROWS = 1,
  DIRECT_M = 64,
  DIRECT_N = 1024
};

static bool is_float(const exact_matmul_plan *p) { return p->gemm != NULL; }

void exact_matmul_cut(size_t size, size_t unit, size_t most, size_t wanted, size_t *block, size_t *blocks) {
  size_t units = exact_quotient(size, unit), least = exact_quotient(units, exact_quotient(most, unit));
  size_t parts = wanted > least ? wanted : least;
  if (parts > units) parts = units;
  *block = exact_quotient(units, parts) * unit;
  *blocks = exact_quotient(size, *block);
  /* The last two tiles are evened out, so that the last block must not be shorter than one. */
  if (*blocks > 1 && size - (*blocks - 1) * *block < unit) --*blocks;
}

/* Parts that one more axis may be cut into, for TASKS tasks with TASK_PRODUCTS products each. */
static size_t parts(const exact_matmul_plan *p, size_t tasks) {
  const exact_matmul_shape *s = &p->s;
  double products = (double)s->positions * (double)s->m * (double)s->n * (double)(s->k ? s->k : 1);
  double most = products / TASK_PRODUCTS;
  size_t all = most < TASKS ? (size_t)most : TASKS;
  return all > tasks ? exact_quotient(all, tasks) : 1;
}

static bool count_tasks(exact_matmul_plan *p) {
  return exact_mul(p->s.positions, p->m_blocks, &p->tasks) && exact_mul(p->tasks, p->n_blocks, &p->tasks);
}

static bool plan_direct(exact_matmul_plan *p) {
  const exact_matmul_shape *s = &p->s;
  exact_matmul_cut(s->m, 1, DIRECT_M, 1, &p->m_block, &p->m_blocks);
  exact_matmul_cut(s->n, 64, DIRECT_N, parts(p, exact_smaller(s->positions, TASKS)), &p->n_block, &p->n_blocks);
  p->pass = is_float(p);
  return count_tasks(p);
}

static void plan_blocks(exact_matmul_plan *p) {
  const exact_matmul_shape *s = &p->s;
  size_t panel = p->gemm->vectors * p->gemm->lanes, most = p->packed ? M_BLOCK : M_BLOCK_UNPACKED;
  p->k_blocks = s->k ? exact_quotient(s->k, K_BLOCK) : 1;
  p->k_block = exact_quotient(s->k, p->k_blocks);
  exact_matmul_cut(s->m, p->gemm->rows, most, 1, &p->m_block, &p->m_blocks);
  size_t tasks = exact_smaller(s->positions, TASKS) * p->m_blocks;
  exact_matmul_cut(s->n, panel, C_ELEMENTS / p->m_block > panel ? C_ELEMENTS / p->m_block : panel, parts(p, tasks), &p->n_block,
                   &p->n_blocks);
  tasks *= p->n_blocks;
  if (parts(p, tasks) > 1) {
    size_t least = s->m / (2 * p->gemm->rows); /* two tiles for a packed panel of B */
    exact_matmul_cut(s->m, p->gemm->rows, most, exact_smaller(p->m_blocks * parts(p, tasks), least ? least : 1), &p->m_block,
                     &p->m_blocks);
  }
}

/* The longest block; the last one may be up to a tile longer than the others. */
static size_t longest(size_t size, size_t block, size_t blocks) {
  size_t last = size - (blocks - 1) * block;
  return last > block ? last : block;
}

/* Panels of B with a distance of a power of two fall on each other in a cache: they are packed if many rows pass by. */
static bool reads_b_in_place(const exact_matmul_plan *p) {
  const exact_matmul_shape *s = &p->s;
  if (s->b_column != 1 || s->m > IN_PLACE_ROWS) return false;
  return s->m <= 4 * p->gemm->rows || s->b_k * p->real % 2048;
}

static bool plan_packing(exact_matmul_plan *p) {
  const exact_matmul_shape *s = &p->s;
  size_t lanes = p->gemm->lanes, panel = p->gemm->vectors * lanes, size, matrix, rows = longest(s->m, p->m_block, p->m_blocks);
  p->padded_n = exact_quotient(s->n, lanes) * lanes;
  p->bias = s->c && s->alpha == 1 && s->c_row == 0;
  p->pass = !p->bias && (s->c || s->alpha != 1);
  p->a_in_place = s->a_k == 1 && !p->half;
  p->a_shared = !p->a_in_place && (p->n_blocks > 1 || s->a_count < s->positions);
  p->b_in_place = !p->packed && !p->half && reads_b_in_place(p);
  p->b_shared = !p->packed && !p->b_in_place && (p->m_blocks > 1 || s->b_count < s->positions);
  p->c_stride = p->half ? exact_quotient(longest(s->n, p->n_block, p->n_blocks), lanes) * lanes : panel;
  bool scratch = p->half || p->padded_n != s->n;
  bool b_slot = !p->packed && !p->b_shared && (!p->b_in_place || p->padded_n != s->n);
  if (!exact_mul(s->m, s->k, &matrix) || !exact_mul(matrix, p->a_shared ? s->a_count : 0, &size) ||
      !exact_part(&p->base.workspace, size, p->real, &p->a_at))
    return false;
  if (!exact_mul(p->padded_n, s->k, &matrix) || !exact_mul(matrix, p->b_shared ? s->b_count : 0, &size) ||
      !exact_part(&p->base.workspace, size, p->real, &p->b_at))
    return false;
  return exact_part(&p->base.workspace, p->bias ? p->padded_n : 0, p->real, &p->bias_at) &&
         exact_part(&p->slot, p->a_shared || p->a_in_place ? 0 : rows * p->k_block, p->real, &p->a_part) &&
         exact_part(&p->slot, b_slot ? panel * p->k_block : 0, p->real, &p->b_part) &&
         exact_part(&p->slot, scratch ? rows * p->c_stride : 0, p->real, &p->c_part);
}

static bool plan_panels(exact_matmul_plan *p) {
  plan_blocks(p);
  if (!count_tasks(p) || !plan_packing(p)) return false;
  if (p->slot) p->slot += 64; /* slots do not share the low bits of their addresses */
  return exact_part(&p->base.workspace, (size_t)exact_slot_count(p->tasks), p->slot, &p->slots_at);
}

int exact_matmul_plan_new(const exact_op *op, const exact_matmul_shape *s, const void *packed, const exact_tensor *y,
                          exact_plan **plan, exact_error *err) {
  bool floating = exact_is_float(s->dtype);
  exact_matmul_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = exact_matmul_run, .out = {*y}};
  if (!s->positions) { /* nothing to compute */
    *plan = &p->base;
    return EXACT_OK;
  }
  p->s = *s;
  p->gemm = floating ? exact_matmul_gemm(op) : NULL;
  p->kernels = op->isa->matmul;
  p->packed = packed;
  p->element = exact_dtype_size(s->dtype);
  p->half = p->element == 2;
  p->real = floating ? exact_dtype_size(exact_arith(s->dtype)) : p->element;
  p->kind = floating ? s->dtype == EXACT_FLOAT64 : p->element == 8 ? 3 : 2;
  p->direct = !floating || (!p->packed && !p->half && s->b_column == 1 && s->m <= DIRECT_ROWS);
  if (!(p->direct ? plan_direct(p) : plan_panels(p))) {
    exact_plan_free(&p->base);
    return exact_fail(err, EXACT_INVALID, "the workspace is too large");
  }
  *plan = &p->base;
  return EXACT_OK;
}
