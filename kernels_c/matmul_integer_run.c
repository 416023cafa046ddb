/* Plan and run of MatMulInteger and QLinearMatMul: A and, unless it is constant, B are packed; then tile after tile, whose sums
 * stay in registers over all of k. */
#include "matmul_integer.h"

enum {
  M_BLOCK = 128,      /* rows of A that stay in the cache while panel after panel of B passes */
  N_BLOCK = 4096,     /* columns of a task at most */
  PACK_COLUMNS = 768, /* of B that a task packs */
  STRIP = 16,         /* words; the columns of neighbouring panels lie on the same pages */
  TASKS = 8,
  TASK_PRODUCTS = 1 << 20, /* at least */
};

typedef struct product_run {
  const exact_integer_product *p;
  const uint8_t *a, *b;
  const char *a_zero, *b_zero, *a_scale, *b_scale;
  const char *y_scale;
  int32_t y_zero;
  char *y;
  uint32_t *ones, *a_packed, *b_work;
  const uint32_t *b_packed;
  exact_integer_row *rows;
  int32_t *sums, *columns, *zeros;
  float *scales;
} product_run;

bool exact_integer_b_size(const struct exact_integer_kernels *k, size_t n, size_t depth, size_t *words) {
  return exact_mul(exact_integer_padded(k, n), exact_integer_words(k, depth), words);
}

/* ---- plan ---- */
static bool plan_workspace(exact_integer_product *p) {
  const exact_matmul_shape *s = &p->s;
  size_t matrix, size, rows, columns, *work = &p->base.workspace;
  bool fits = exact_mul(s->m, s->a_count, &rows) && exact_mul(rows, p->words, &size) &&
              exact_part(work, size, sizeof(uint32_t), &p->a_at) &&
              exact_part(work, rows, sizeof(exact_integer_row), &p->rows_at) &&
              exact_part(work, p->words, sizeof(uint32_t), &p->ones_at) && exact_mul(p->padded_n, s->b_count, &columns) &&
              exact_part(work, columns, sizeof(int32_t), &p->columns_at) &&
              exact_part(work, p->b_zeros ? columns : 0, sizeof(int32_t), &p->zeros_at) &&
              exact_part(work, p->b_scales ? columns : 0, sizeof(float), &p->scales_at);
  if (!fits || p->packed) return fits;
  return exact_integer_b_size(p->k, s->n, s->k, &matrix) && exact_mul(matrix, s->b_count, &size) &&
         exact_part(work, size, sizeof(uint32_t), &p->b_at) && exact_part(work, columns, sizeof(int32_t), &p->sums_at);
}

bool exact_integer_product_plan(exact_integer_product *p) {
  const exact_matmul_shape *s = &p->s;
  size_t panel = p->k->vectors * p->k->lanes;
  double products = (double)s->positions * (double)s->m * (double)s->n * (double)s->k / TASK_PRODUCTS;
  size_t wanted = products < TASKS ? (size_t)products : TASKS;
  p->words = exact_integer_words(p->k, s->k);
  p->padded_n = exact_integer_padded(p->k, s->n);
  exact_matmul_cut(s->m, p->k->rows, M_BLOCK, 1, &p->m_block, &p->m_blocks);
  size_t tasks = exact_smaller(s->positions, TASKS) * p->m_blocks;
  exact_matmul_cut(s->n, panel, N_BLOCK, wanted > tasks ? exact_quotient(wanted, tasks) : 1, &p->n_block, &p->n_blocks);
  exact_matmul_cut(s->n, panel, PACK_COLUMNS, 1, &p->pack_block, &p->pack_blocks);
  return exact_mul(s->positions, p->m_blocks, &p->tasks) && exact_mul(p->tasks, p->n_blocks, &p->tasks) && plan_workspace(p);
}

/* ---- packing ---- */
void exact_integer_pack_b(const struct exact_integer_kernels *k, exact_form form, const uint8_t *src, size_t n, size_t depth,
                          size_t n0, size_t n1, const uint32_t *ones, uint32_t *dst, int32_t *sums) {
  size_t words = exact_integer_words(k, depth);
  for (size_t w0 = 0; w0 < words; w0 += STRIP) {
    size_t at[STRIP * 4], end = exact_smaller(w0 + STRIP, words);
    /* The numbers of A that fill up the last word are 0: any row will do. */
    for (size_t i = w0 * k->group; i < end * k->group; i++) at[i - w0 * k->group] = exact_smaller(i, depth - 1) * n;
    for (size_t c = n0, width; c < n1; c += width) {
      size_t columns;
      width = exact_integer_width(k, n - c);
      columns = exact_smaller(width, n - c);
      k->pack_columns(dst + c * words + w0 * width, src + c, at, end - w0, columns, width, form);
    }
  }
  for (size_t c = n0, width; c < n1; c += width) {
    width = exact_integer_width(k, n - c);
    k->tile[0](1, width / k->lanes, words, ones, dst + c * words, sums + c);
  }
}

static size_t block_end(size_t block, size_t blocks, size_t size, size_t all) {
  return block + 1 < blocks ? (block + 1) * size : all;
}

/* Rows of block m_block of matrix `matrix` of A, tile after tile, and what the store needs of each row. */
static void pack_a(const product_run *r, size_t matrix, size_t block) {
  const exact_integer_product *p = r->p;
  const exact_matmul_shape *s = &p->s;
  const float y_scale = exact_integer_scale(r->y_scale, p->scale_dtype[2], 0);
  size_t m = block * p->m_block, m1 = block_end(block, p->m_blocks, p->m_block, s->m), at = matrix * s->m;
  for (size_t rows; m < m1; m += rows) {
    rows = exact_gemm_part(m1 - m, p->k->rows);
    p->k->pack_rows(r->a_packed + (at + m) * p->words, r->a + (at + m) * s->k, s->k, rows, s->k, p->a_form);
    for (size_t i = at + m; i < at + m + rows; i++)
      r->rows[i] = (exact_integer_row){.zero = exact_integer_zero(r->a_zero, p->a_zeros ? i : 0, p->a_form),
                                       .sum = p->k->sum(r->a + i * s->k, s->k, p->a_form),
                                       .y_zero = r->y_zero,
                                       .scale = exact_integer_scale(r->a_scale, p->scale_dtype[0], p->a_scales ? i : 0),
                                       .y_scale = y_scale};
  }
}

/* Columns of block `block` of matrix `matrix` of B, and what the store needs of each. */
static void prepare_b(const product_run *r, size_t matrix, size_t block) {
  const exact_integer_product *p = r->p;
  const exact_matmul_shape *s = &p->s;
  size_t n0 = block * p->pack_block, n1 = block_end(block, p->pack_blocks, p->pack_block, s->n), at = matrix * p->padded_n;
  if (!p->packed)
    exact_integer_pack_b(p->k, p->b_form, r->b + matrix * s->k * s->n, s->n, s->k, n0, n1, r->ones,
                         r->b_work + matrix * p->padded_n * p->words, r->sums + at);
  if (n1 == s->n) n1 = p->padded_n;
  for (size_t n = n0; n < n1; n++) {
    size_t own = matrix * s->n + exact_smaller(n, s->n - 1);
    int32_t zero = exact_integer_zero(r->b_zero, p->b_zeros ? own : 0, p->b_form);
    r->columns[at + n] = (int32_t)((uint32_t)r->sums[at + n] - (uint32_t)s->k * (uint32_t)zero);
    if (p->b_zeros) r->zeros[at + n] = zero;
    if (p->b_scales) r->scales[at + n] = exact_integer_scale(r->b_scale, p->scale_dtype[1], own);
  }
}

static void pack_task(void *arg, size_t index) {
  const product_run *r = arg;
  const exact_integer_product *p = r->p;
  size_t a_tasks = p->s.a_count * p->m_blocks;
  if (index < a_tasks)
    pack_a(r, index / p->m_blocks, index % p->m_blocks);
  else
    prepare_b(r, (index - a_tasks) / p->pack_blocks, (index - a_tasks) % p->pack_blocks);
}

/* ---- products ---- */
static void product_task(void *arg, size_t index) {
  const product_run *r = arg;
  const exact_integer_product *p = r->p;
  const exact_matmul_shape *s = &p->s;
  size_t n_at = index % p->n_blocks, m_at = index / p->n_blocks % p->m_blocks, position = index / p->n_blocks / p->m_blocks;
  size_t m1 = block_end(m_at, p->m_blocks, p->m_block, s->m), n1 = block_end(n_at, p->n_blocks, p->n_block, s->n);
  size_t a = 0, b = 0, left = position, element = exact_dtype_size(p->base.out[0].dtype);
  for (int i = s->axes; i-- > 0; left /= s->size[i]) {
    a += left % s->size[i] * s->a_step[i];
    b += left % s->size[i] * s->b_step[i];
  }
  int32_t acc[EXACT_INTEGER_ROWS * EXACT_INTEGER_WIDTH] __attribute__((aligned(64)));
  for (size_t n = n_at * p->n_block, width; n < n1; n += width) {
    width = exact_integer_width(p->k, s->n - n);
    const size_t column = b * p->padded_n + n;
    const exact_integer_run all = {0, exact_smaller(width, s->n - n), 0};
    exact_integer_finish f = {.dtype = p->base.out[0].dtype,
                              .columns = r->columns + column,
                              .zeros = p->b_zeros ? r->zeros + column : NULL,
                              .scales = p->b_scales ? r->scales + column : NULL,
                              .zero = exact_integer_zero(r->b_zero, 0, p->b_form),
                              .scale = exact_integer_scale(r->b_scale, p->scale_dtype[1], 0),
                              .y_stride = s->n,
                              .runs = &all,
                              .n_runs = 1};
    for (size_t m = m_at * p->m_block, rows; m < m1; m += rows) {
      rows = exact_gemm_part(m1 - m, p->k->rows);
      p->k->tile[0](rows, width / p->k->lanes, p->words, r->a_packed + (a * s->m + m) * p->words,
                    r->b_packed + column * p->words, acc);
      f.y = r->y + ((position * s->m + m) * s->n + n) * element;
      p->k->finish(&f, r->rows + a * s->m + m, rows, acc, width);
    }
  }
}

static const void *given(const exact_call *call, int input) { return input < 0 ? NULL : call->in[input]; }

void exact_integer_product_run(const exact_call *call) {
  const exact_integer_product *p = (const exact_integer_product *)call->plan;
  const exact_product_inputs *at = &p->at;
  product_run r = {.p = p,
                   .a = given(call, at->a),
                   .b = given(call, at->b),
                   .a_zero = given(call, at->a_zero),
                   .b_zero = given(call, at->b_zero),
                   .a_scale = given(call, at->a_scale),
                   .b_scale = given(call, at->b_scale),
                   .y = call->out[0],
                   .y_scale = given(call, at->y_scale),
                   .ones = (uint32_t *)(call->work + p->ones_at),
                   .a_packed = (uint32_t *)(call->work + p->a_at),
                   .rows = (exact_integer_row *)(call->work + p->rows_at),
                   .columns = (int32_t *)(call->work + p->columns_at),
                   .zeros = (int32_t *)(call->work + p->zeros_at),
                   .scales = (float *)(call->work + p->scales_at)};
  if (!p->tasks) return;
  if (at->y_zero >= 0) r.y_zero = exact_integer_y_zero(call->in[at->y_zero], p->base.out[0].dtype);
  if (p->packed) {
    r.b_packed = p->packed;
    r.sums = (int32_t *)p->packed + p->s.b_count * p->padded_n * p->words;
  } else {
    r.b_work = (uint32_t *)(call->work + p->b_at);
    r.b_packed = r.b_work;
    r.sums = (int32_t *)(call->work + p->sums_at);
    exact_integer_ones(p->k, p->s.k, r.ones);
  }
  exact_parallel(call->threads, p->s.a_count * p->m_blocks + p->s.b_count * p->pack_blocks, pack_task, &r);
  exact_parallel(call->threads, p->tasks, product_task, &r);
}
