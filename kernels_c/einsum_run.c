/* Einsum: by a stack of matrix products, or output by output. docs/einsum.md */
#include <math.h>

#include "einsum.h"
#include "half.h"

enum { COPY_CHUNK = 8192 };

typedef struct einsum_run {
  const einsum_plan *p;
  const einsum_op *o;
  const exact_call *call;
  int copy; /* the one at work */
} einsum_run;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* ---- walking ---- */
/* The indices of combination `number` of labels [first, end), last one fastest. */
static void locate(const size_t *size, int first, int end, size_t number, size_t *index) {
  for (int i = end - 1; i >= first; i--) {
    index[i] = number % size[i];
    number /= size[i];
  }
}

/* One combination on; the offset changes by the steps. */
static void advance(const size_t *size, const size_t *step, int first, int end, size_t *index, size_t *offset) {
  for (int i = end - 1; i >= first; i--) {
    *offset += step[i];
    if (++index[i] < size[i]) return;
    *offset -= step[i] * size[i];
    index[i] = 0;
  }
}

static float load32(const void *x, size_t i, int dtype) {
  if (dtype == EXACT_FLOAT32) return ((const float *)x)[i];
  uint16_t h = ((const uint16_t *)x)[i];
  return dtype == EXACT_FLOAT16 ? exact_f16_to_f32(h) : exact_bf16_to_f32(h);
}

static void store32(void *y, size_t i, float value, int dtype) {
  if (value != value) value = NAN;
  if (dtype == EXACT_FLOAT32)
    ((float *)y)[i] = value;
  else
    ((uint16_t *)y)[i] = dtype == EXACT_FLOAT16 ? exact_f32_to_f16(value) : exact_f32_to_bf16(value);
}

/* ---- output by output ---- */
#define WALK(name, T, LOAD, STORE)                                                          \
  static void name(const einsum_run *r, size_t first, size_t end) {                         \
    const einsum_plan *p = r->p;                                                            \
    const einsum_walk *w = &p->walk;                                                        \
    const int n = r->o->operands, dtype = r->o->op.dtype;                                   \
    size_t index[EINSUM_LABELS], at[EINSUM_OPERANDS];                                       \
    void *y = r->call->out[0];                                                              \
    (void)dtype;                                                                            \
    for (; first < end; first++) {                                                          \
      T acc = 0;                                                                            \
      locate(w->size, 0, w->outer, first, index);                                           \
      for (int i = w->outer; i < w->all; i++) index[i] = 0;                                 \
      for (int i = 0; i < n; i++) {                                                         \
        at[i] = 0;                                                                          \
        for (int k = 0; k < w->outer; k++) at[i] += index[k] * w->step[i][k];               \
      }                                                                                     \
      for (size_t s = 0; s < p->sums; s++) {                                                \
        T product = LOAD(r->call->in[0], at[0], dtype);                                     \
        for (int i = 1; i < n; i++) product = product * LOAD(r->call->in[i], at[i], dtype); \
        acc = w->all > w->outer ? acc + product : product;                                  \
        for (int i = 0; i < n; i++) {                                                       \
          size_t same[EINSUM_LABELS];                                                       \
          memcpy(same, index, (size_t)w->all * sizeof *same);                               \
          advance(w->size, w->step[i], w->outer, w->all, i + 1 < n ? same : index, &at[i]); \
        }                                                                                   \
      }                                                                                     \
      STORE(y, first, acc, dtype);                                                          \
    }                                                                                       \
  }
#define LOAD_F64(x, i, dtype) ((const double *)x)[i]
#define STORE_F64(y, i, v, dtype) ((double *)y)[i] = v != v ? NAN : v
#define LOAD_U32(x, i, dtype) ((const uint32_t *)x)[i]
#define STORE_U32(y, i, v, dtype) ((uint32_t *)y)[i] = v
#define LOAD_U64(x, i, dtype) ((const uint64_t *)x)[i]
#define STORE_U64(y, i, v, dtype) ((uint64_t *)y)[i] = v
WALK(walk_f32, float, load32, store32)
WALK(walk_f64, double, LOAD_F64, STORE_F64)
WALK(walk_u32, uint32_t, LOAD_U32, STORE_U32)
WALK(walk_u64, uint64_t, LOAD_U64, STORE_U64)

/* One operand, nothing summed. */
static void move(const einsum_run *r, size_t first, size_t end) {
  const einsum_walk *w = &r->p->walk;
  size_t index[EINSUM_LABELS], from = 0, size = r->p->element;
  locate(w->size, 0, w->outer, first, index);
  for (int i = 0; i < w->outer; i++) from += index[i] * w->step[0][i];
  for (; first < end; first++) {
    memcpy((char *)r->call->out[0] + first * size, (const char *)r->call->in[0] + from * size, size);
    advance(w->size, w->step[0], 0, w->outer, index, &from);
  }
}

static void walk_task(void *arg, size_t task) {
  const einsum_run *r = arg;
  const einsum_plan *p = r->p;
  size_t first = task * p->chunk, end = least(first + p->chunk, p->outputs);
  if (r->o->operands == 1 && p->walk.all == p->walk.outer)
    move(r, first, end);
  else if (r->o->op.dtype == EXACT_FLOAT64)
    walk_f64(r, first, end);
  else if (exact_is_float(r->o->op.dtype))
    walk_f32(r, first, end);
  else if (p->element == 4)
    walk_u32(r, first, end);
  else
    walk_u64(r, first, end);
}

/* ---- products ---- */
static char *block(const einsum_run *r, int i) {
  if (r->p->copy[i].needed) return r->call->work + r->p->copy_at[i];
  return i < 2 ? (char *)r->call->in[i] : r->call->out[0];
}

/* Elements [first, end) of the block from an operand, or of the result from the block. */
static void copy_task(void *arg, size_t task) {
  const einsum_run *r = arg;
  const einsum_copy *c = &r->p->copy[r->copy];
  const int dtype = r->o->op.dtype;
  size_t first = task * COPY_CHUNK, end = least(first + COPY_CHUNK, c->count), index[EINSUM_LABELS], at = 0;
  const size_t size = r->p->element;
  char *dense = r->call->work + r->p->copy_at[r->copy];
  const char *from = r->copy < 2 ? r->call->in[r->copy] : dense;
  char *to = r->copy < 2 ? dense : r->call->out[0];
  locate(c->size, 0, c->labels, first, index);
  for (int i = 0; i < c->labels; i++) at += index[i] * c->step[i];
  const int last = c->labels - 1;
  const bool runs = last >= 0 && c->step[last] == 1;
  for (size_t n; first < end; first += n) {
    n = runs ? least(end - first, c->size[last] - index[last]) : 1;
    size_t source = r->copy < 2 ? at : first, target = r->copy < 2 ? first : at;
    if (size != 2)
      memcpy(to + target * size, from + source * size, n * size);
    else if (r->copy < 2)
      exact_load_row((float *)to + target, from + source * size, n, dtype);
    else
      exact_store_row(to + target * size, (const float *)from + source, n, dtype);
    if (last < 0) continue;
    index[last] += n - 1;
    at += (n - 1) * c->step[last];
    advance(c->size, c->step, 0, c->labels, index, &at);
  }
}

static void copy(einsum_run *r, int i) {
  const einsum_copy *c = &r->p->copy[i];
  r->copy = i;
  if (c->needed) exact_parallel(r->call->threads, (c->count - 1) / COPY_CHUNK + 1, copy_task, r);
}

void exact_einsum_run(const exact_call *call) {
  const einsum_plan *p = (const einsum_plan *)call->plan;
  einsum_run r = {.p = p, .o = (const einsum_op *)p->base.op, .call = call};
  if (!p->outputs || !call->out[0]) return;
  if (!p->multiplies) {
    exact_parallel(call->threads, (p->outputs - 1) / p->chunk + 1, walk_task, &r);
    return;
  }
  copy(&r, 0);
  copy(&r, 1);
  const void *in[2] = {block(&r, 0), block(&r, 1)};
  void *out[1] = {block(&r, 2)};
  exact_call product = {&p->product.base, in, out, call->work + p->sub_at, call->threads};
  exact_matmul_run(&product);
  copy(&r, 2);
}
