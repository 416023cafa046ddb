/* MatMul and Gemm as tiles of the micro-kernel: panels of A, [k][rows], by panels of B, [k][vectors]. Sums run over k in
 * blocks, standing in Y between them (in scratch where Y has another type or ends within a vector), so that their order stays
 * that of docs/matmul.md. */
#include "matmul.h"

#include "conv.h" /* the store of float16 and bfloat16 */

typedef struct matmul_run {
  const exact_matmul_plan *p;
  const char *a, *b, *c;
  char *y, *work;
  const char *b_packed;
  const void *bias;
  size_t a_tasks, b_tasks;
  exact_slots slots;
} matmul_run;

typedef struct block {
  size_t a, b, y;        /* matrices */
  size_t m0, m1, n0, n1; /* of Y */
} block;

/* Element `index` of an array of elements of `size` bytes. */
static char *element_at(const void *base, size_t index, size_t size) { return (char *)base + index * size; }

static block locate(const exact_matmul_plan *p, size_t index) {
  const exact_matmul_shape *s = &p->s;
  block at = {.y = index / p->n_blocks / p->m_blocks};
  size_t n = index % p->n_blocks, m = index / p->n_blocks % p->m_blocks, position = at.y;
  for (int i = s->axes; i-- > 0; position /= s->size[i]) {
    at.a += position % s->size[i] * s->a_step[i];
    at.b += position % s->size[i] * s->b_step[i];
  }
  at.m0 = m * p->m_block;
  at.m1 = m + 1 < p->m_blocks ? at.m0 + p->m_block : s->m;
  at.n0 = n * p->n_block;
  at.n1 = n + 1 < p->n_blocks ? at.n0 + p->n_block : s->n;
  return at;
}

/* ---- packing ---- */
void exact_matmul_pack_b(const exact_matmul_b *b, const void *src, void *dst, size_t k0, size_t k1) {
  enum { STRIP = 32 }; /* products; the columns of neighbouring panels lie on the same pages */
  size_t element = exact_dtype_size(b->dtype), real = exact_dtype_size(exact_arith(b->dtype)), step = STRIP;
  if (b->b_k == 1) step = k1 - k0;
  for (size_t k = k0, run; k < k1; k += run) {
    run = exact_smaller(k1 - k, step);
    for (size_t n = 0, width; n < b->n; n += width) {
      width = exact_matmul_width(b->gemm, b->n - n);
      b->kernels->pack[real == 8](element_at(dst, n * b->k + k * width, real), width,
                                  element_at(src, k * b->b_k + n * b->b_column, element), b->b_column, b->b_k,
                                  exact_smaller(b->n - n, width), run, b->dtype);
    }
  }
}

/* Rows [m0, m1) of products [k, k + run): tile after tile, [run][rows] each. */
static void pack_a(const exact_matmul_plan *p, const char *a, size_t m0, size_t m1, size_t k, size_t run, char *dst) {
  const exact_matmul_shape *s = &p->s;
  for (size_t m = m0, rows; m < m1; m += rows, dst += run * rows * p->real) {
    rows = exact_gemm_part(m1 - m, p->gemm->rows);
    p->kernels->pack[p->kind](dst, rows, element_at(a, m * s->a_row + k * s->a_k, p->element), s->a_row, s->a_k, rows, run,
                              s->dtype);
  }
}

static void pack_bias(const matmul_run *r) {
  const exact_matmul_plan *p = r->p;
  const exact_matmul_finish f = {p->s.dtype, 0, p->s.beta, r->c, 0, p->s.c_column};
  memset(r->work + p->bias_at, 0, p->padded_n * p->real);
  p->kernels->finish[p->kind](&f, r->work + p->bias_at, 0, 1, p->s.n);
}

/* All of A, then all of B, block of k by block of k; then beta * C. */
static void pack_task(void *arg, size_t index) {
  const matmul_run *r = arg;
  const exact_matmul_plan *p = r->p;
  const exact_matmul_shape *s = &p->s;
  if (index >= r->a_tasks + r->b_tasks) {
    pack_bias(r);
    return;
  }
  bool left = index < r->a_tasks;
  if (!left) index -= r->a_tasks;
  size_t part = index % p->k_blocks, k = part * p->k_block, k1 = exact_smaller(k + p->k_block, s->k), i = index / p->k_blocks;
  if (left) {
    size_t m = i % p->m_blocks, matrix = i / p->m_blocks, m0 = m * p->m_block,
           m1 = m + 1 < p->m_blocks ? m0 + p->m_block : s->m;
    char *dst = r->work + p->a_at + (matrix * s->m * s->k + k * s->m + m0 * (k1 - k)) * p->real;
    pack_a(p, r->a + matrix * s->m * s->k * p->element, m0, m1, k, k1 - k, dst);
  } else {
    const exact_matmul_b b = {p->gemm, p->kernels, s->dtype, s->n, s->k, s->b_k, s->b_column};
    exact_matmul_pack_b(&b, r->b + i * s->k * s->n * p->element, r->work + p->b_at + i * s->k * p->padded_n * p->real, k, k1);
  }
}

/* ---- products ---- */
typedef struct part {
  const matmul_run *r;
  const block *at;
  char *slot;
  size_t k, run;
  const char *a; /* of the block: packed, or in place */
  bool last;
} part;

static const char *panel_a(const part *w) {
  const exact_matmul_plan *p = w->r->p;
  const exact_matmul_shape *s = &p->s;
  if (p->a_in_place) return element_at(w->r->a, (w->at->a * s->m + w->at->m0) * s->k + w->k, p->real);
  if (p->a_shared) return w->r->work + p->a_at + (w->at->a * s->m * s->k + w->k * s->m + w->at->m0 * w->run) * p->real;
  pack_a(p, w->r->a + w->at->a * s->m * s->k * p->element, w->at->m0, w->at->m1, w->k, w->run, w->slot + p->a_part);
  return w->slot + p->a_part;
}

static const char *panel_b(const part *w, size_t n, size_t width, size_t *ldb) {
  const exact_matmul_plan *p = w->r->p;
  const exact_matmul_shape *s = &p->s;
  *ldb = width;
  if (w->r->b_packed) return w->r->b_packed + (w->at->b * s->k * p->padded_n + n * s->k + w->k * width) * p->real;
  const char *b = w->r->b + (w->at->b * s->k * s->n + w->k * s->b_k + n * s->b_column) * p->element;
  if (p->b_in_place && n + width <= s->n) {
    *ldb = s->b_k;
    return b;
  }
  p->kernels->pack[p->kind](w->slot + p->b_part, width, b, s->b_column, s->b_k, exact_smaller(s->n - n, width), w->run,
                            s->dtype);
  return w->slot + p->b_part;
}

static void finish(const matmul_run *r, size_t m, size_t n, char *c, size_t ldc, size_t rows, size_t columns) {
  const exact_matmul_plan *p = r->p;
  const exact_matmul_shape *s = &p->s;
  exact_matmul_finish f = {s->dtype, s->alpha, s->beta, NULL, s->c_row, s->c_column};
  if (s->c) f.c = r->c + (m * s->c_row + n * s->c_column) * p->element;
  p->kernels->finish[p->kind](&f, c, ldc, rows, columns);
}

/* All tiles of the block by the panel of B at column n. */
static void multiply_panel(const part *w, size_t n, size_t width) {
  const exact_matmul_plan *p = w->r->p;
  const exact_matmul_shape *s = &p->s;
  bool scratch = p->half || n + width > s->n;
  size_t ldb, ldc = scratch ? p->c_stride : s->n, columns = exact_smaller(s->n - n, width);
  char *c = scratch ? w->slot + p->c_part + (p->half ? n - w->at->n0 : 0) * p->real
                    : w->r->y + ((w->at->y * s->m + w->at->m0) * s->n + n) * p->real;
  const char *b = panel_b(w, n, width, &ldb), *a = w->a;
  exact_epilogue last = {NULL, p->bias ? element_at(w->r->bias, n, p->real) : NULL};
  /* The next packed panel is fetched meanwhile, a part with every tile. */
  const char *ahead = w->r->b_packed ? b + width * s->k * p->real : a, *end = ahead + width * w->run * p->real;
  for (size_t m = w->at->m0, rows; m < w->at->m1; m += rows, c += rows * ldc * p->real) {
    const exact_epilogue *epilogue = w->last && !p->pass ? &last : NULL;
    const size_t vectors = width / p->gemm->lanes, lda = p->a_in_place ? s->a_row : w->run;
    rows = exact_gemm_part(w->at->m1 - m, p->gemm->rows);
    if (ahead >= end) ahead = a;
    if (p->a_in_place)
      p->gemm->tile_rows(rows, vectors, w->run, a, lda, b, ldb, c, ldc, w->k == 0, epilogue, ahead);
    else
      p->gemm->tile(rows, vectors, w->run, a, b, ldb, c, ldc, w->k == 0, epilogue, ahead);
    a += rows * lda * p->real;
    ahead += 64 * w->run;
    if (w->last && p->pass) finish(w->r, m, n, c, ldc, rows, columns);
  }
}

/* Columns [n, n + columns) of scratch to Y. */
static void store(const matmul_run *r, const block *at, const char *slot, size_t n, size_t columns) {
  const exact_matmul_plan *p = r->p;
  const exact_matmul_shape *s = &p->s;
  char *y = r->y + ((at->y * s->m + at->m0) * s->n + n) * p->element;
  const char *c = slot + p->c_part;
  size_t rows = at->m1 - at->m0;
  if (p->half)
    p->base.op->isa->conv->store(y, s->n, (const float *)c, p->c_stride, rows, columns, s->dtype);
  else
    for (size_t i = 0; i < rows; i++) memcpy(y + i * s->n * p->real, c + i * p->c_stride * p->real, columns * p->real);
}

static void multiply(const matmul_run *r, const block *at, char *slot) {
  const exact_matmul_plan *p = r->p;
  const exact_matmul_shape *s = &p->s;
  for (size_t i = 0; i < p->k_blocks; i++) {
    part w = {.r = r, .at = at, .slot = slot, .k = i * p->k_block, .last = i + 1 == p->k_blocks};
    w.run = exact_smaller(p->k_block, s->k - w.k);
    w.a = panel_a(&w);
    for (size_t n = at->n0, width; n < at->n1; n += width) {
      width = exact_matmul_width(p->gemm, s->n - n);
      multiply_panel(&w, n, width);
    }
  }
  if (p->half) {
    store(r, at, slot, at->n0, at->n1 - at->n0);
  } else if (at->n1 == s->n && p->padded_n != s->n) {
    size_t n = at->n0;
    while (n + exact_matmul_width(p->gemm, s->n - n) < s->n) n += exact_matmul_width(p->gemm, s->n - n);
    store(r, at, slot, n, s->n - n);
  }
}

static void panel_task(void *arg, size_t index) {
  matmul_run *r = arg;
  char *slot = exact_slot_take(&r->slots);
  block at = locate(r->p, index);
  multiply(r, &at, slot);
  exact_slot_give(&r->slots, slot);
}

/* ---- in place ---- */
static void direct_task(void *arg, size_t index) {
  const matmul_run *r = arg;
  const exact_matmul_plan *p = r->p;
  const exact_matmul_shape *s = &p->s;
  block where = locate(p, index);
  char *y = r->y + ((where.y * s->m + where.m0) * s->n + where.n0) * p->element;
  const char *a = element_at(r->a, where.a * s->m * s->k + where.m0 * s->a_row, p->element);
  const char *b = element_at(r->b, where.b * s->k * s->n + where.n0, p->element);
  size_t rows = where.m1 - where.m0, columns = where.n1 - where.n0;
  p->kernels->direct[p->kind](y, s->n, a, s->a_row, s->a_k, b, s->b_k, rows, columns, s->k);
  if (p->pass) finish(r, where.m0, where.n0, y, s->n, rows, columns);
}

void exact_matmul_run(const exact_call *call) {
  const exact_matmul_plan *p = (const exact_matmul_plan *)call->plan;
  const exact_matmul_shape *s = &p->s;
  matmul_run r = {.p = p, .a = call->in[0], .b = call->in[1], .y = call->out[0], .work = call->work, .b_packed = p->packed};
  if (!p->tasks) return;
  if (s->swapped) {
    r.a = call->in[1];
    r.b = call->in[0];
  }
  if (s->c) r.c = call->in[2];
  if (p->direct) {
    exact_parallel(call->threads, p->tasks, direct_task, &r);
    return;
  }
  if (p->a_shared) r.a_tasks = s->a_count * p->m_blocks * p->k_blocks;
  if (p->b_shared) {
    r.b_tasks = s->b_count * p->k_blocks;
    r.b_packed = call->work + p->b_at;
  }
  if (p->bias) r.bias = call->work + p->bias_at;
  exact_parallel(call->threads, r.a_tasks + r.b_tasks + p->bias, pack_task, &r);
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, exact_slot_count(p->tasks));
  exact_parallel(call->threads, p->tasks, panel_task, &r);
}
