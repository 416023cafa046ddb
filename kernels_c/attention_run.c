/* Attention: q and k scaled, S = q k^T, a pass over the rows of S (softcap, bias, Softmax), Y = P v. docs/attention.md */
#include <math.h>

#include "attention.h"
#include "half.h"
#include "softmax.h"
#include "transcendental_kernels.h"

typedef struct attention_run {
  const exact_attention_plan *p;
  const exact_attention_op *o;
  const exact_call *call;
  char *q, *k, *s;
  const char *v;
  char *y;
  double scale; /* of the arithmetic type */
} attention_run;

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static double square_root_of_scale(const exact_attention_op *o, size_t key) {
  if (o->product.dtype == EXACT_FLOAT64) return sqrt(o->attrs.has_scale ? (double)o->attrs.scale : 1 / sqrt((double)key));
  return sqrtf(o->attrs.has_scale ? o->attrs.scale : 1 / sqrtf((float)key));
}

/* ---- inputs ---- */
/* The elements of a head at a position, in a tensor of `length` positions: rank 4, or rank 3 with the heads side by side. */
static size_t offset(bool split, size_t batch, size_t head, size_t heads, size_t at, size_t length, size_t size) {
  return (split ? ((batch * length + at) * heads + head) : ((batch * heads + head) * length + at)) * size;
}

/* dst = src * factor in the arithmetic; factor NaN: src itself. */
static void widen(const attention_run *r, char *dst, const char *src, size_t n, double factor) {
  if (r->p->real == 8) {
    const double *x = (const double *)src;
    double *y = (double *)dst;
    for (size_t i = 0; i < n; i++) y[i] = isnan(factor) ? x[i] : x[i] * factor;
    return;
  }
  float *y = (float *)dst, by = (float)factor;
  exact_load_row(y, src, n, r->o->op.dtype);
  if (isnan(by)) return;
  for (size_t i = 0; i < n; i++) y[i] = y[i] * by;
}

static void query_task(void *arg, size_t unit) { /* a batch and head */
  const attention_run *r = arg;
  const exact_attention_plan *p = r->p;
  const char *q = r->call->in[ATTENTION_Q];
  char *to = r->q + unit * p->length * p->key * p->real;
  for (size_t i = 0; i < p->length; i++) {
    size_t from = offset(p->split, unit / p->heads, unit % p->heads, p->heads, i, p->length, p->key);
    widen(r, to + i * p->key * p->real, q + from * p->element, p->key, r->scale);
  }
}

/* Past and new of keys or values: to the present and, widened, to the workspace. */
static void gather(const attention_run *r, size_t unit, int input, int past, char *present, char *work, size_t size,
                   double factor) {
  const exact_attention_plan *p = r->p;
  const size_t kv_heads = p->heads / p->groups, fresh = p->total - p->past, bytes = size * p->element;
  for (size_t i = 0; i < p->total; i++) {
    const char *from;
    if (i < p->past)
      from = (const char *)r->call->in[past] + (unit * p->past + i) * bytes;
    else
      from = (const char *)r->call->in[input] +
             offset(p->split, unit / kv_heads, unit % kv_heads, kv_heads, i - p->past, fresh, size) * p->element;
    if (present && bytes) memcpy(present + (unit * p->total + i) * bytes, from, bytes);
    if (work) widen(r, work + (unit * p->total + i) * size * p->real, from, size, factor);
  }
}

static void memory_task(void *arg, size_t unit) { /* a batch and head of keys and values */
  const attention_run *r = arg;
  const exact_attention_plan *p = r->p;
  void *const *out = r->call->out;
  gather(r, unit, ATTENTION_K, ATTENTION_PAST_K, out[ATTENTION_PRESENT_K], r->k, p->key, r->scale);
  gather(r, unit, ATTENTION_V, ATTENTION_PAST_V, out[ATTENTION_PRESENT_V], p->v_in_place ? NULL : r->call->work + p->v_at,
         p->value, NAN);
}

/* ---- scores ---- */
/* x[j] + bias[j * step], NaN canonical; bias NULL: -infinity for all. */
#define ADD(name, T)                                             \
  static void name(T *x, const T *bias, size_t step, size_t n) { \
    for (size_t j = 0; j < n; j++) {                             \
      T sum = x[j] + (bias ? bias[j * step] : -(T)INFINITY);     \
      x[j] = sum != sum ? (T)NAN : sum;                          \
    }                                                            \
  }
ADD(add32, float)
ADD(add64, double)

/* The numbers of a mask's row, in the arithmetic; a part of at most MASK_PART of them. */
enum { MASK_PART = 256 };
static void read_mask(void *to, const char *mask, int dtype, size_t at, size_t step, size_t n, size_t real) {
  for (size_t j = 0; j < n; j++, at += step) {
    double value;
    switch (dtype) {
      case EXACT_BOOL: value = ((const uint8_t *)mask)[at] ? 0 : -INFINITY; break;
      case EXACT_FLOAT64: value = ((const double *)mask)[at]; break;
      case EXACT_FLOAT32: value = ((const float *)mask)[at]; break;
      case EXACT_FLOAT16: value = exact_f16_to_f32(((const uint16_t *)mask)[at]); break;
      default: value = exact_bf16_to_f32(((const uint16_t *)mask)[at]);
    }
    if (real == 8)
      ((double *)to)[j] = value;
    else
      ((float *)to)[j] = (float)value;
  }
}

static void add(const attention_run *r, char *row, const void *bias, size_t n) {
  if (r->p->real == 8)
    add64((double *)row, bias, 1, n);
  else
    add32((float *)row, bias, 1, n);
}

static void add_mask(const attention_run *r, char *row, size_t at, size_t n) {
  const exact_attention_plan *p = r->p;
  const char *mask = r->call->in[ATTENTION_MASK];
  double part[MASK_PART];
  if (p->mask == EXACT_FLOAT32) {
    add32((float *)row, (const float *)mask + at, p->mask_step[3], n);
    return;
  }
  for (size_t j = 0, take; j < n; j += take) {
    take = least(n - j, MASK_PART);
    read_mask(part, mask, p->mask, at + j * p->mask_step[3], p->mask_step[3], take, p->real);
    add(r, row + j * p->real, part, take);
  }
}

static void add_bias(const attention_run *r, char *row, size_t batch, size_t head, size_t i) {
  const exact_attention_plan *p = r->p;
  size_t end = p->total;
  if (p->seen) end = (size_t)((const int64_t *)r->call->in[ATTENTION_SEEN])[batch];
  if (p->mask) end = least(end, p->mask_columns == 1 ? p->total : p->mask_columns);
  if (r->o->attrs.is_causal) end = least(end, i + p->past + 1);
  if (p->mask) add_mask(r, row, batch * p->mask_step[0] + head * p->mask_step[1] + i * p->mask_step[2], end);
  add(r, row + end * p->real, NULL, p->total - end);
}

static void soften(const attention_run *r, float *row) {
  const size_t n = r->p->total;
  const float cap = r->o->attrs.softcap;
  for (size_t j = 0; j < n; j++) row[j] = row[j] / cap;
  r->o->op.isa->transcendental->tanh32(row, row, n);
  for (size_t j = 0; j < n; j++) row[j] = cap * row[j];
}

static bool all_excluded(const char *row, size_t n, size_t real) {
  for (size_t j = 0; j < n; j++)
    if ((real == 8 ? ((const double *)row)[j] : (double)((const float *)row)[j]) != -INFINITY) return false;
  return true;
}

static void softmax(const attention_run *r, char *row) {
  const exact_attention_plan *p = r->p;
  if (all_excluded(row, p->total, p->real))
    memset(row, 0, p->total * p->real);
  else if (p->real == 8)
    exact_softmax_rows64((const double *)row, (double *)row, 1, p->total, EXACT_SOFTMAX);
  else
    r->o->op.isa->softmax->rows32((const float *)row, (float *)row, 1, p->total, EXACT_SOFTMAX,
                                  r->o->op.mode == EXACT_MODE_FAST);
}

static void store(const attention_run *r, char *dst, const char *src, size_t n) {
  if (r->p->real == 8)
    memcpy(dst, src, n * sizeof(double));
  else
    exact_store_row(dst, (const float *)src, n, r->o->op.dtype);
}

static void row_task(void *arg, size_t task) {
  const attention_run *r = arg;
  const exact_attention_plan *p = r->p;
  const exact_attention_attrs *a = &r->o->attrs;
  char *wanted = r->call->out[ATTENTION_SCORES];
  size_t rows = p->batch * p->heads * p->length, first = task * p->row_chunk, end = least(first + p->row_chunk, rows);
  bool biased = p->mask || p->seen || a->is_causal;
  for (; first < end; first++) {
    size_t unit = first / p->length;
    char *row = r->s + first * p->total * p->real;
    for (int64_t stage = 0; stage < 4; stage++) {
      if (stage == 1 && a->softcap > 0) soften(r, (float *)row);
      if (stage == 2 && biased) add_bias(r, row, unit / p->heads, unit % p->heads, first % p->length);
      if (stage == 3) softmax(r, row);
      if (wanted && a->qk_matmul_output_mode == stage) store(r, wanted + first * p->total * p->element, row, p->total);
    }
  }
}

/* ---- the output ---- */
static void output_task(void *arg, size_t unit) { /* a batch and head */
  const attention_run *r = arg;
  const exact_attention_plan *p = r->p;
  char *y = r->call->out[ATTENTION_Y];
  for (size_t i = 0; i < p->length; i++) {
    size_t to = offset(p->split, unit / p->heads, unit % p->heads, p->heads, i, p->length, p->value);
    store(r, y + to * p->element, r->y + (unit * p->length + i) * p->value * p->real, p->value);
  }
}

static void multiply(const attention_run *r, const exact_matmul_plan *product, const char *a, const char *b, char *y) {
  const void *in[2] = {a, b};
  void *out[1] = {y};
  exact_call call = {&product->base, in, out, r->call->work + r->p->sub_at, r->call->threads};
  exact_matmul_run(&call);
}

void exact_attention_run(const exact_call *call) {
  const exact_attention_plan *p = (const exact_attention_plan *)call->plan;
  attention_run r = {.p = p, .o = (const exact_attention_op *)p->base.op, .call = call};
  size_t queries = p->batch * p->heads, rows = queries * p->length;
  r.q = call->work + p->q_at;
  r.k = call->work + p->k_at;
  r.s = call->work + p->s_at;
  r.v = p->v_in_place ? call->in[ATTENTION_V] : call->work + p->v_at;
  r.y = p->y_in_place ? call->out[ATTENTION_Y] : call->work + p->y_at;
  r.scale = square_root_of_scale(r.o, p->key);
  if (p->total) exact_parallel(call->threads, queries / p->groups, memory_task, &r);
  if (!rows) return;
  exact_parallel(call->threads, queries, query_task, &r);
  if (p->total) {
    multiply(&r, &p->scores, r.q, r.k, r.s);
    exact_parallel(call->threads, (rows - 1) / p->row_chunk + 1, row_task, &r);
  }
  if (!p->value || !call->out[ATTENTION_Y]) return;
  multiply(&r, &p->mix, r.s, r.v, r.y);
  if (!p->y_in_place) exact_parallel(call->threads, queries, output_task, &r);
}
