/* LSTM, GRU and RNN: attributes, shapes, packed constant W and R. docs/recurrent.md */
#include "recurrent.h"

#include <stdlib.h>

#include "axis.h"

enum { X, W, R, B, LENGTHS, INITIAL_H, INITIAL_C, P };
static const char *const input_names[] = {"X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"};

/* ---- shapes ---- */
static bool given(int n, const exact_tensor *in, int input) { return input < n && in[input].dtype != EXACT_ABSENT; }

static int check_types(const exact_op *op, int n, const exact_tensor *in, exact_error *err) {
  for (int i = 0; i < n; i++) {
    int expected = i == LENGTHS ? EXACT_INT32 : op->dtype;
    if (in[i].dtype == EXACT_ABSENT && i >= B) continue;
    if (in[i].dtype != expected)
      return exact_fail(err, EXACT_INVALID, "%s has the element type %s, expected %s", input_names[i],
                        exact_dtype_name(in[i].dtype), exact_dtype_name(expected));
  }
  return EXACT_OK;
}

/* Dimension `axis` of the input is *size; takes it over where *size is not known. */
static bool meets(const exact_tensor *t, int axis, int64_t *size) {
  if (t->dims[axis] < 0) return true;
  if (*size < 0) *size = t->dims[axis];
  return *size == t->dims[axis];
}

/* The same for a dimension that is `times` the size. */
static bool meets_times(const exact_tensor *t, int axis, int64_t times, int64_t *size) {
  if (t->dims[axis] < 0) return true;
  if (t->dims[axis] % times) return false;
  exact_tensor one = {.dims = {t->dims[axis] / times}};
  return meets(&one, 0, size);
}

typedef struct sizes {
  int64_t steps, batch, input, hidden, directions;
} sizes;

static bool fits(const exact_recurrent_op *o, int input, const exact_tensor *t, sizes *s) {
  static const int ranks[] = {3, 3, 3, 2, 1, 3, 3, 2};
  const int late = o->batch_first;
  if (t->rank != ranks[input]) return false;
  switch (input) {
    case X: return meets(t, late, &s->steps) && meets(t, !late, &s->batch) && meets(t, 2, &s->input);
    case W: return meets(t, 0, &s->directions) && meets_times(t, 1, o->gates, &s->hidden) && meets(t, 2, &s->input);
    case R: return meets(t, 0, &s->directions) && meets_times(t, 1, o->gates, &s->hidden) && meets(t, 2, &s->hidden);
    case B: return meets(t, 0, &s->directions) && meets_times(t, 1, 2 * o->gates, &s->hidden);
    case LENGTHS: return meets(t, 0, &s->batch);
    case P: return meets(t, 0, &s->directions) && meets_times(t, 1, 3, &s->hidden);
    default: return meets(t, late, &s->directions) && meets(t, !late, &s->batch) && meets(t, 2, &s->hidden);
  }
}

static int check_lengths(const exact_tensor *t, int64_t steps, exact_error *err) {
  const int32_t *lengths = t->data;
  for (int64_t b = 0; lengths && b < t->dims[0]; b++)
    if (lengths[b] < 0 || (steps >= 0 && lengths[b] > steps))
      return exact_fail(err, EXACT_INVALID, "sequence_lens[%lld] is %d, must be from 0 to %lld", (long long)b, (int)lengths[b],
                        (long long)steps);
  return EXACT_OK;
}

static exact_tensor shaped(int dtype, int rank, int64_t a, int64_t b, int64_t c, int64_t d) {
  return (exact_tensor){.dtype = dtype, .rank = rank, .dims = {a, b, c, d}};
}

/* Checks everything; dimensions may be -1. */
static int infer(const exact_op *op, int n, const exact_tensor *in, exact_tensor *out, exact_error *err) {
  const exact_recurrent_op *o = (const exact_recurrent_op *)op;
  sizes s = {-1, -1, -1, o->hidden, o->directions};
  char text[96];
  int rc = check_types(op, n, in, err);
  if (rc) return rc;
  /* Twice: a size that one input leaves open may be known from a later one. */
  for (int pass = 0; pass < 2; pass++)
    for (int i = 0; i < n; i++)
      if (given(n, in, i) && !fits(o, i, &in[i], &s))
        return exact_fail(err, EXACT_INVALID,
                          "%s of shape %s does not fit: T %lld, N %lld, I %lld, H %lld, D %lld, %d gates (-1: not known)",
                          input_names[i], exact_shape_text(&in[i], text), (long long)s.steps, (long long)s.batch,
                          (long long)s.input, (long long)s.hidden, (long long)s.directions, o->gates);
  if (given(n, in, LENGTHS) && in[LENGTHS].dims[0] >= 0 && (rc = check_lengths(&in[LENGTHS], s.steps, err))) return rc;
  if (o->batch_first) {
    out[0] = shaped(op->dtype, 4, s.batch, s.steps, s.directions, s.hidden);
    out[1] = shaped(op->dtype, 3, s.batch, s.directions, s.hidden, 0);
  } else {
    out[0] = shaped(op->dtype, 4, s.steps, s.directions, s.batch, s.hidden);
    out[1] = shaped(op->dtype, 3, s.directions, s.batch, s.hidden, 0);
  }
  if (o->kind == EXACT_LSTM) out[2] = out[1];
  return EXACT_OK;
}

static int plan(const exact_op *op, int n, const exact_tensor *in, exact_plan **out, exact_error *err) {
  exact_tensor shapes[3];
  size_t count;
  int rc = infer(op, n, in, shapes, err);
  if (!rc && given(n, in, LENGTHS) && in[LENGTHS].dims[0] && !in[LENGTHS].data)
    rc = exact_fail(err, EXACT_INVALID, "sequence_lens has no data");
  for (int i = 0; !rc && i < op->cls->outputs; i++) rc = exact_count(&shapes[i], "an output", &count, err);
  return rc ? rc : exact_recurrent_plan_new((const exact_recurrent_op *)op, n, in, shapes, out, err);
}

/* ---- packed W and R ---- */
exact_gates exact_recurrent_gates(const exact_recurrent_op *o, size_t hidden) {
  exact_gates g = {.parts = o->kind == EXACT_GRU ? 2 : 1};
  for (int i = 0; i < g.parts; i++) {
    g.n[i] = (o->kind == EXACT_GRU ? (i ? 1 : 2) : (size_t)o->gates) * hidden;
    g.padded[i] = exact_quotient(g.n[i], o->base.isa->gemm32->lanes) * o->base.isa->gemm32->lanes;
    g.row += g.padded[i];
  }
  return g;
}

void exact_recurrent_pack(const exact_recurrent_op *o, size_t hidden, size_t k, const void *src, float *dst) {
  const exact_gates g = exact_recurrent_gates(o, hidden);
  const char *from = src;
  for (int i = 0; i < g.parts; i++) {
    const exact_matmul_b b = {o->base.isa->gemm32, o->base.isa->matmul, o->base.dtype, g.n[i], k, 1, k};
    exact_matmul_pack_b(&b, from, dst, 0, k);
    from += g.n[i] * k * exact_dtype_size(o->base.dtype);
    dst += g.padded[i] * k;
  }
}

static size_t packed_size(const exact_op *op, int input, const exact_tensor *t) {
  const exact_recurrent_op *o = (const exact_recurrent_op *)op;
  sizes s = {-1, -1, -1, o->hidden, o->directions};
  size_t size, count;
  if ((input != W && input != R) || t->dtype != op->dtype || t->rank != 3 || !fits(o, input, t, &s) ||
      exact_count(t, "", &count, NULL) || !count)
    return 0;
  bool ok = exact_mul(exact_recurrent_gates(o, (size_t)s.hidden).row, (size_t)t->dims[2], &size) &&
            exact_mul(size, (size_t)t->dims[0] * sizeof(float), &size);
  return ok ? size : 0;
}

static int pack(const exact_op *op, int input, const exact_tensor *t, void *packed, exact_error *err) {
  const exact_recurrent_op *o = (const exact_recurrent_op *)op;
  size_t size = packed_size(op, input, t);
  if (!size) return exact_fail(err, EXACT_INVALID, "input %d cannot be packed", input);
  size_t directions = (size_t)t->dims[0], rows = (size_t)t->dims[1], k = (size_t)t->dims[2];
  for (size_t d = 0; d < directions; d++)
    exact_recurrent_pack(o, rows / (size_t)o->gates, k, (const char *)t->data + d * rows * k * exact_dtype_size(op->dtype),
                         (float *)packed + d * (size / sizeof(float) / directions));
  return EXACT_OK;
}

static void set_packed(exact_op *op, int input, const exact_tensor *t, const void *packed) {
  if (packed_size(op, input, t)) ((exact_recurrent_op *)op)->packed[input] = packed;
}

/* ---- op ---- */
static void free_op(exact_op *op) { free(op); }

#define CLASS(text, n_outputs, most)                                                                                        \
  {                                                                                                                         \
    .name = text, .outputs = n_outputs, .min_inputs = 3, .max_inputs = most, .value_inputs = 1u << LENGTHS, .infer = infer, \
    .plan = plan, .free = free_op, .packed_size = packed_size, .pack = pack, .set_packed = set_packed                       \
  }
static const exact_op_class classes[] = {
    [EXACT_LSTM] = CLASS("LSTM", 3, 8), [EXACT_GRU] = CLASS("GRU", 2, 6), [EXACT_RNN] = CLASS("RNN", 2, 6)};

static const exact_activation defaults[] = {[EXACT_ACT_AFFINE] = {EXACT_ACT_AFFINE, 0, 0},
                                            [EXACT_ACT_LEAKY_RELU] = {EXACT_ACT_LEAKY_RELU, 0.01f, 0},
                                            [EXACT_ACT_THRESHOLDED_RELU] = {EXACT_ACT_THRESHOLDED_RELU, 1, 0},
                                            [EXACT_ACT_SCALED_TANH] = {EXACT_ACT_SCALED_TANH, 0, 0},
                                            [EXACT_ACT_HARD_SIGMOID] = {EXACT_ACT_HARD_SIGMOID, 0.2f, 0.5f},
                                            [EXACT_ACT_ELU] = {EXACT_ACT_ELU, 1, 0},
                                            [EXACT_ACT_SOFTPLUS] = {EXACT_ACT_SOFTPLUS, 0, 0}};

static bool has_alpha(int kind) {
  return kind == EXACT_ACT_AFFINE || kind == EXACT_ACT_LEAKY_RELU || kind == EXACT_ACT_THRESHOLDED_RELU ||
         kind == EXACT_ACT_SCALED_TANH || kind == EXACT_ACT_HARD_SIGMOID || kind == EXACT_ACT_ELU;
}

static bool has_beta(int kind) {
  return kind == EXACT_ACT_AFFINE || kind == EXACT_ACT_SCALED_TANH || kind == EXACT_ACT_HARD_SIGMOID;
}

static int set_activations(exact_recurrent_op *o, const exact_recurrent_attrs *a, exact_error *err) {
  const int count = o->functions * o->directions;
  int alphas = 0, betas = 0;
  /* an RNN of one direction may name a second one */
  if (a->n_activations && a->n_activations != count && !(o->kind == EXACT_RNN && count == 1 && a->n_activations == 2))
    return exact_fail(err, EXACT_INVALID, "activations has %d names, expected %d", a->n_activations, count);
  for (int i = 0; i < a->n_activations; i++)
    if (a->activations[i] < 0 || a->activations[i] > EXACT_ACT_SOFTPLUS)
      return exact_fail(err, EXACT_INVALID, "unknown activation %d", a->activations[i]);
  for (int i = 0; i < count; i++) {
    int position = i % o->functions, kind = position || o->kind == EXACT_RNN ? EXACT_ACT_TANH : EXACT_ACT_SIGMOID;
    if (a->n_activations) kind = a->activations[i];
    exact_activation f = defaults[kind];
    f.kind = kind;
    if (has_alpha(kind) && alphas < a->n_alpha && alphas < 6) f.alpha = a->alpha[alphas++];
    if (has_beta(kind) && betas < a->n_beta && betas < 6) f.beta = a->beta[betas++];
    o->act[i / o->functions][position] = f;
  }
  return EXACT_OK;
}

static int check(int kind, const exact_recurrent_attrs *a, int dtype, exact_error *err) {
  if (kind < EXACT_LSTM || kind > EXACT_RNN) return exact_fail(err, EXACT_INVALID, "unknown kind %d", kind);
  if (a->direction < EXACT_FORWARD || a->direction > EXACT_BIDIRECTIONAL)
    return exact_fail(err, EXACT_INVALID, "unknown direction %d", a->direction);
  if (a->has_hidden_size && a->hidden_size < 0)
    return exact_fail(err, EXACT_INVALID, "hidden_size is %lld, must be at least 0", (long long)a->hidden_size);
  if (a->has_clip && !(a->clip > 0)) return exact_fail(err, EXACT_INVALID, "clip must be above 0");
  int rc = exact_flag(a->layout, "layout", err);
  if (!rc && (!exact_is_float(dtype) || dtype == EXACT_FLOAT64))
    rc = exact_fail(err, EXACT_UNSUPPORTED, "element type %s", exact_dtype_name(dtype));
  return rc;
}

int exact_recurrent_new(int kind, const exact_recurrent_attrs *attrs, int dtype, exact_op **op, exact_error *err) {
  static const int gates[] = {[EXACT_LSTM] = 4, [EXACT_GRU] = 3, [EXACT_RNN] = 1};
  exact_error local;
  if (!err) err = &local;
  int rc = check(kind, attrs, dtype, err);
  if (rc) return rc;
  exact_recurrent_op *o = exact_op_new(sizeof *o, &classes[kind], dtype, EXACT_MODE_EXACT, err);
  if (!o) return err->code;
  o->kind = kind;
  o->direction = attrs->direction;
  o->gates = gates[kind];
  o->functions = kind == EXACT_LSTM ? 3 : kind == EXACT_GRU ? 2 : 1;
  o->directions = attrs->direction == EXACT_BIDIRECTIONAL ? 2 : 1;
  o->hidden = attrs->has_hidden_size ? attrs->hidden_size : -1;
  o->batch_first = attrs->layout;
  o->input_forget = kind == EXACT_LSTM && attrs->input_forget;
  o->linear_before_reset = kind == EXACT_GRU && attrs->linear_before_reset;
  o->clipped = attrs->has_clip;
  o->clip = attrs->clip;
  rc = set_activations(o, attrs, err);
  if (rc) {
    free_op(&o->base);
    return rc;
  }
  *op = &o->base;
  return EXACT_OK;
}
