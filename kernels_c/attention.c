/* Attention: attributes, shapes, plan. docs/attention.md */
#include "attention.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TASK_ELEMENTS = 16384 };

/* ---- shapes ---- */
/* Sizes, -1 while not known. */
typedef struct sizes {
  int64_t batch, heads, kv_heads, length, fresh, past, total, key, value;
} sizes;

/* *known = value, if that is known; they must agree. */
static int settle(int64_t *known, int64_t value, const char *what, exact_error *err) {
  if (value < 0) return EXACT_OK;
  if (*known >= 0 && *known != value)
    return exact_fail(err, EXACT_INVALID, "%s is %lld in one input and %lld in another", what, (long long)*known,
                      (long long)value);
  *known = value;
  return EXACT_OK;
}

static int settle_heads(int64_t *heads, int64_t attribute, int64_t size, const char *name, exact_error *err) {
  if (attribute && size >= 0 && attribute != size)
    return exact_fail(err, EXACT_INVALID, "%s is %lld, but the input has %lld heads", name, (long long)attribute,
                      (long long)size);
  return settle(heads, attribute ? attribute : size, name, err);
}

/* Q, K or V: batch, heads, length, size of a head. */
static int settle_input(const exact_tensor *t, int64_t attribute, const char *name, int64_t *batch, int64_t *heads,
                        int64_t *length, int64_t *size, exact_error *err) {
  const char *count = name[0] == 'Q' ? "q_num_heads" : "kv_num_heads";
  char what[40];
  int64_t last = t->dims[t->rank - 1], own = last;
  int rc = settle(batch, t->dims[0], "the batch", err);
  if (rc) return rc;
  if (t->rank == 4) {
    rc = settle_heads(heads, attribute, t->dims[1], count, err);
  } else {
    if (!attribute) return exact_fail(err, EXACT_INVALID, "inputs of rank 3 need %s", count);
    if (last >= 0 && last % attribute)
      return exact_fail(err, EXACT_INVALID, "%s has %lld elements in its last axis, which %s = %lld does not divide", name,
                        (long long)last, count, (long long)attribute);
    own = last >= 0 ? last / attribute : -1;
    rc = settle(heads, attribute, count, err);
  }
  snprintf(what, sizeof what, "the length of %s", name[0] == 'Q' ? "Q" : "K and V");
  if (!rc) rc = settle(length, t->dims[t->rank - 2], what, err);
  snprintf(what, sizeof what, "the size of a head of %s", name[0] == 'V' ? "V" : "Q and K");
  return rc ? rc : settle(size, own, what, err);
}

static int settle_past(const exact_tensor *t, const char *name, sizes *s, int64_t *size, exact_error *err) {
  if (t->rank != 4) return exact_fail(err, EXACT_INVALID, "%s has rank %d, expected 4", name, t->rank);
  int rc = settle(&s->batch, t->dims[0], "the batch", err);
  if (!rc) rc = settle(&s->kv_heads, t->dims[1], "the number of heads of keys and values", err);
  if (!rc) rc = settle(&s->past, t->dims[2], "the length of the past", err);
  return rc ? rc : settle(size, t->dims[3], "the size of a head", err);
}

static bool there(int n, const exact_tensor *in, int i) { return i < n && in[i].dtype != EXACT_ABSENT; }

static int check_types(const exact_op *op, int n, const exact_tensor *in, exact_error *err) {
  static const char *const names[] = {"Q", "K", "V", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen"};
  for (int i = 0; i < n; i++) {
    if (!there(n, in, i)) {
      if (i < 3) return exact_fail(err, EXACT_INVALID, "%s is absent", names[i]);
      continue;
    }
    int expected = i == ATTENTION_SEEN ? EXACT_INT64 : op->dtype;
    if (in[i].dtype == expected || (i == ATTENTION_MASK && in[i].dtype == EXACT_BOOL)) continue;
    return exact_fail(err, i == ATTENTION_SEEN ? EXACT_INVALID : EXACT_UNSUPPORTED, "%s has the element type %s, expected %s",
                      names[i], exact_dtype_name(in[i].dtype), exact_dtype_name(expected));
  }
  return EXACT_OK;
}

static int check_mask(const exact_attention_op *o, const exact_tensor *mask, const sizes *s, exact_error *err) {
  const int64_t full[4] = {s->batch, s->heads, s->length, s->total};
  char text[96];
  if (mask->rank < 2 || mask->rank > 4)
    return exact_fail(err, EXACT_INVALID, "attn_mask has rank %d, expected 2 to 4", mask->rank);
  int64_t last = mask->dims[mask->rank - 1];
  if (last == 1 && s->total > 1)
    return exact_fail(err, EXACT_UNSUPPORTED, "attn_mask of shape %s: its last size is 1", exact_shape_text(mask, text));
  for (int i = 0; i < mask->rank; i++) {
    int64_t size = mask->dims[i], want = full[4 - mask->rank + i];
    if (size == 1 || size < 0 || want < 0 || size == want) continue;
    if (i + 1 == mask->rank && size < want && o->attrs.short_mask) continue;
    return exact_fail(err, EXACT_INVALID, "attn_mask of shape %s does not broadcast to the scores",
                      exact_shape_text(mask, text));
  }
  return EXACT_OK;
}

static int check_seen(const exact_tensor *seen, const sizes *s, exact_error *err) {
  if (seen->rank != 1 || (seen->dims[0] >= 0 && s->batch >= 0 && seen->dims[0] != s->batch))
    return exact_fail(err, EXACT_INVALID, "nonpad_kv_seqlen must have one number for every batch");
  for (int64_t i = 0; seen->data && i < seen->dims[0]; i++) {
    int64_t value = ((const int64_t *)seen->data)[i];
    if (value < 0 || (s->total >= 0 && value > s->total))
      return exact_fail(err, EXACT_INVALID, "nonpad_kv_seqlen is %lld for batch %lld, must be from 0 to the length of K",
                        (long long)value, (long long)i);
  }
  return EXACT_OK;
}

/* Checks everything but the data. */
static int measure(const exact_attention_op *o, int n, const exact_tensor *in, sizes *s, exact_error *err) {
  const exact_attention_attrs *a = &o->attrs;
  *s = (sizes){-1, -1, -1, -1, -1, 0, -1, -1, -1};
  int rc = check_types(&o->op, n, in, err), rank = in[0].rank;
  if (rc) return rc;
  if ((rank != 3 && rank != 4) || in[1].rank != rank || in[2].rank != rank)
    return exact_fail(err, EXACT_INVALID, "Q, K and V have the ranks %d, %d and %d, expected 3 or 4 for all", rank, in[1].rank,
                      in[2].rank);
  rc = settle_input(&in[0], a->q_num_heads, "Q", &s->batch, &s->heads, &s->length, &s->key, err);
  if (!rc) rc = settle_input(&in[1], a->kv_num_heads, "K", &s->batch, &s->kv_heads, &s->fresh, &s->key, err);
  if (!rc) rc = settle_input(&in[2], a->kv_num_heads, "V", &s->batch, &s->kv_heads, &s->fresh, &s->value, err);
  if (rc) return rc;
  bool past = there(n, in, ATTENTION_PAST_K), seen = there(n, in, ATTENTION_SEEN);
  if (past != there(n, in, ATTENTION_PAST_V))
    return exact_fail(err, EXACT_INVALID, "past_key and past_value must be given together");
  if (past && seen) return exact_fail(err, EXACT_INVALID, "nonpad_kv_seqlen and a past exclude each other");
  if (past) {
    s->past = -1;
    rc = settle_past(&in[ATTENTION_PAST_K], "past_key", s, &s->key, err);
    if (!rc) rc = settle_past(&in[ATTENTION_PAST_V], "past_value", s, &s->value, err);
    if (rc) return rc;
  }
  if (s->heads == 0 || s->kv_heads == 0) return exact_fail(err, EXACT_INVALID, "the number of heads is 0");
  if (s->heads > 0 && s->kv_heads > 0 && s->heads % s->kv_heads)
    return exact_fail(err, EXACT_INVALID, "%lld heads of Q are no multiple of %lld heads of K and V", (long long)s->heads,
                      (long long)s->kv_heads);
  if (s->past >= 0 && s->fresh >= 0) s->total = s->past + s->fresh;
  if (there(n, in, ATTENTION_MASK)) rc = check_mask(o, &in[ATTENTION_MASK], s, err);
  if (!rc && seen) rc = check_seen(&in[ATTENTION_SEEN], s, err);
  return rc;
}

static void shape_outputs(const exact_attention_op *o, int rank, const sizes *s, exact_tensor *out) {
  const int dtype = o->op.dtype;
  out[ATTENTION_Y] = (exact_tensor){dtype, 4, {s->batch, s->heads, s->length, s->value}, NULL};
  if (rank == 3) {
    int64_t width = -1;
    if (s->heads >= 0 && s->value >= 0 && __builtin_mul_overflow(s->heads, s->value, &width)) width = INT64_MAX;
    out[ATTENTION_Y] = (exact_tensor){dtype, 3, {s->batch, s->length, width}, NULL};
  }
  out[ATTENTION_PRESENT_K] = (exact_tensor){dtype, 4, {s->batch, s->kv_heads, s->total, s->key}, NULL};
  out[ATTENTION_PRESENT_V] = (exact_tensor){dtype, 4, {s->batch, s->kv_heads, s->total, s->value}, NULL};
  out[ATTENTION_SCORES] = (exact_tensor){dtype, 4, {s->batch, s->heads, s->length, s->total}, NULL};
}

static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  sizes s;
  int rc = measure((const exact_attention_op *)op, n, in, &s, err);
  if (!rc) shape_outputs((const exact_attention_op *)op, in[0].rank, &s, out);
  return rc;
}

/* ---- plan ---- */
/* Stacked m x k times k x n, contiguous; B transposed where `turned`. */
static int plan_product(const exact_attention_op *o, size_t positions, size_t m, size_t n, size_t k, bool turned,
                        exact_matmul_plan *out, exact_error *err) {
  exact_matmul_shape s = {.dtype = o->product.dtype, .m = m, .n = n, .k = k, .a_row = m == 1 ? 1 : k, .a_k = 1, .alpha = 1};
  exact_tensor y = {.dtype = s.dtype};
  exact_plan *made;
  s.b_k = turned ? 1 : n;
  s.b_column = turned && n > 1 ? k : 1;
  s.beta = 1;
  s.positions = s.a_count = s.b_count = m && n ? positions : 0;
  if (positions > 1) {
    s.axes = 1;
    s.size[0] = positions;
    s.a_step[0] = s.b_step[0] = 1;
  }
  int rc = exact_matmul_plan_new(&o->product, &s, NULL, &y, &made, err);
  if (rc) return rc;
  *out = *(exact_matmul_plan *)made;
  exact_plan_free(made);
  return EXACT_OK;
}

static void plan_mask(exact_attention_plan *p, const exact_tensor *mask) {
  size_t step = 1;
  p->mask = mask->dtype;
  p->mask_columns = (size_t)mask->dims[mask->rank - 1];
  for (int i = mask->rank - 1, to = 3; i >= 0; i--, to--) {
    p->mask_step[to] = mask->dims[i] == 1 ? 0 : step;
    step *= (size_t)mask->dims[i];
  }
}

static bool plan_workspace(exact_attention_plan *p, size_t kv_heads) {
  size_t q_rows = p->batch * p->heads * p->length, kv_rows = p->batch * kv_heads * p->total, sub = p->scores.base.workspace;
  size_t *total = &p->base.workspace, count;
  if (p->mix.base.workspace > sub) sub = p->mix.base.workspace;
  return exact_mul(q_rows, p->key, &count) && exact_part(total, count, p->real, &p->q_at) &&
         exact_mul(kv_rows, p->key, &count) && exact_part(total, count, p->real, &p->k_at) &&
         exact_mul(p->v_in_place ? 0 : kv_rows, p->value, &count) && exact_part(total, count, p->real, &p->v_at) &&
         exact_mul(q_rows, p->total, &count) && exact_part(total, count, p->real, &p->s_at) &&
         exact_mul(p->y_in_place ? 0 : q_rows, p->value, &count) && exact_part(total, count, p->real, &p->y_at) &&
         exact_part(total, sub, 1, &p->sub_at);
}

static int fill(exact_attention_plan *p, const exact_attention_op *o, int n, const exact_tensor *in, const sizes *s,
                exact_error *err) {
  size_t positions = (size_t)(s->batch * s->kv_heads), rows;
  bool plain = in[0].rank == 4 && p->element == p->real;
  p->split = in[0].rank == 3;
  p->batch = (size_t)s->batch;
  p->heads = (size_t)s->heads;
  p->groups = (size_t)(s->heads / s->kv_heads);
  p->length = (size_t)s->length;
  p->past = (size_t)s->past;
  p->total = (size_t)s->total;
  p->key = (size_t)s->key;
  p->value = (size_t)s->value;
  p->v_in_place = plain && !there(n, in, ATTENTION_PAST_V);
  p->y_in_place = plain;
  p->seen = there(n, in, ATTENTION_SEEN);
  if (there(n, in, ATTENTION_MASK)) plan_mask(p, &in[ATTENTION_MASK]);
  p->row_chunk = p->total && p->total < TASK_ELEMENTS ? TASK_ELEMENTS / p->total : 1;
  if (!exact_mul(p->groups, p->length, &rows)) return exact_fail(err, EXACT_INVALID, "Q is too large");
  int rc = plan_product(o, positions, rows, p->total, p->key, true, &p->scores, err);
  if (!rc) rc = plan_product(o, positions, rows, p->value, p->total, false, &p->mix, err);
  if (!rc && !plan_workspace(p, (size_t)s->kv_heads)) rc = exact_fail(err, EXACT_INVALID, "the workspace is too large");
  return rc;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  static const char *const names[] = {"Y", "present_key", "present_value", "qk_matmul_output"};
  const exact_attention_op *o = (const exact_attention_op *)op;
  sizes s;
  size_t count;
  int rc = measure(o, n, in, &s, err);
  if (rc) return rc;
  if (there(n, in, ATTENTION_SEEN) && s.batch && !in[ATTENTION_SEEN].data)
    return exact_fail(err, EXACT_INVALID, "nonpad_kv_seqlen has no data");
  exact_attention_plan *p = exact_new(sizeof *p, err);
  if (!p) return EXACT_NO_MEMORY;
  p->base = (exact_plan){.op = op, .run = exact_attention_run};
  p->element = exact_dtype_size(op->dtype);
  p->real = exact_dtype_size(o->product.dtype);
  shape_outputs(o, in[0].rank, &s, p->base.out);
  for (int i = 0; i < 4 && !rc; i++) rc = exact_count(&p->base.out[i], names[i], &count, err);
  if (!rc) rc = fill(p, o, n, in, &s, err);
  if (rc) {
    exact_plan_free(&p->base);
    return rc;
  }
  *out = &p->base;
  return EXACT_OK;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

static const exact_op_class attention_class = {.name = "Attention",
                                               .outputs = 4,
                                               .min_inputs = 3,
                                               .max_inputs = 7,
                                               .value_inputs = 1u << ATTENTION_SEEN,
                                               .infer = infer,
                                               .plan = plan,
                                               .free = free_op};

static int check_attrs(const exact_attention_attrs *a, int dtype, exact_error *err) {
  bool precise = a->softmax_precision == EXACT_FLOAT64;
  if (a->has_scale && !(a->scale > 0 && isfinite(a->scale)))
    return exact_fail(err, EXACT_INVALID, "scale is %g, must be finite and above 0", (double)a->scale);
  if (!(a->softcap >= 0 && isfinite(a->softcap)))
    return exact_fail(err, EXACT_INVALID, "softcap is %g, must be finite and at least 0", (double)a->softcap);
  if (a->is_causal != 0 && a->is_causal != 1)
    return exact_fail(err, EXACT_INVALID, "is_causal is %lld, must be 0 or 1", (long long)a->is_causal);
  if (a->q_num_heads < 0 || a->kv_num_heads < 0) return exact_fail(err, EXACT_INVALID, "a number of heads is negative");
  if (a->qk_matmul_output_mode < 0 || a->qk_matmul_output_mode > 3)
    return exact_fail(err, EXACT_INVALID, "qk_matmul_output_mode is %lld, must be 0 to 3", (long long)a->qk_matmul_output_mode);
  if (a->softmax_precision && !exact_is_float((int)a->softmax_precision))
    return exact_fail(err, EXACT_INVALID, "softmax_precision is %lld, no float type", (long long)a->softmax_precision);
  if (precise != (dtype == EXACT_FLOAT64) && a->softmax_precision)
    return exact_fail(err, EXACT_UNSUPPORTED, "softmax_precision %lld for %s", (long long)a->softmax_precision,
                      exact_dtype_name(dtype));
  if (dtype == EXACT_FLOAT64 && a->softcap > 0) return exact_fail(err, EXACT_UNSUPPORTED, "softcap for float64");
  return EXACT_OK;
}

int exact_attention_new(const exact_attention_attrs *attrs, int dtype, int mode, exact_op **op, exact_error *err) {
  exact_error local;
  if (!err) err = &local;
  if (!exact_is_float(dtype)) return exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  int rc = check_attrs(attrs, dtype, err);
  if (rc) return rc;
  exact_attention_op *o = exact_op_new(sizeof *o, &attention_class, dtype, mode, err);
  if (!o) return err->code;
  o->attrs = *attrs;
  o->product = (exact_op){&attention_class, o->op.isa, exact_arith(dtype), mode};
  *op = &o->op;
  return EXACT_OK;
}
