/* The elementwise loops of LSTM, GRU and RNN, and their activations. docs/recurrent.md */
#include "exp_log_kernels.h"
#include "isa.h"
#include "recurrent.h"
#include "transcendental_kernels.h"

extern const struct exact_exp_log_kernels EXACT_SYM(exact_exp_log);
extern const struct exact_transcendental_kernels EXACT_SYM(exact_transcendental);

EXACT_INLINE float canonical(float x) { return x == x ? x : __builtin_nanf(""); }

static void add(float *restrict y, const float *restrict x, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = x[i] + y[i];
}

static void add_product(float *restrict y, const float *restrict p, const float *restrict c, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = y[i] + p[i] * c[i];
}

static void clip(float *y, float limit, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float a = y[i] < -limit ? -limit : y[i];
    y[i] = a > limit ? limit : a;
  }
}

static void complement(float *restrict y, const float *restrict x, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = 1 - x[i];
}

static void multiply(float *restrict y, const float *restrict x, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = x[i] * y[i];
}

static void elu(float *y, float alpha, size_t n) {
  enum { PART = 256 };
  float e[PART];
  for (size_t at = 0, part; at < n; at += part, y += part) {
    part = n - at < PART ? n - at : PART;
    EXACT_SYM(exact_exp_log).exp32(y, e, part);
    for (size_t i = 0; i < part; i++) y[i] = canonical(y[i] >= 0 ? y[i] : alpha * (e[i] - 1));
  }
}

static void scaled_tanh(float *y, float alpha, float beta, size_t n) {
  for (size_t i = 0; i < n; i++) y[i] = beta * y[i];
  EXACT_SYM(exact_transcendental).tanh32(y, y, n);
  for (size_t i = 0; i < n; i++) y[i] = canonical(alpha * y[i]);
}

static void hard_sigmoid(float *y, float alpha, float beta, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float t = alpha * y[i] + beta;
    y[i] = canonical(t <= 0 ? 0 : t > 1 ? 1 : t);
  }
}

#define EACH(value)                \
  for (size_t i = 0; i < n; i++) { \
    const float x = y[i];          \
    y[i] = canonical(value);       \
  }                                \
  break
static void activate(const exact_activation *f, float *y, size_t n) {
  const float alpha = f->alpha, beta = f->beta;
  switch (f->kind) {
    case EXACT_ACT_RELU: EACH(x > 0 || x != x ? x : 0);
    case EXACT_ACT_AFFINE: EACH(alpha * x + beta);
    case EXACT_ACT_LEAKY_RELU: EACH(x >= 0 ? x : alpha * x);
    case EXACT_ACT_THRESHOLDED_RELU: EACH(x >= alpha ? x : 0); /* also for NaN */
    case EXACT_ACT_SOFTSIGN: EACH(x / (1 + __builtin_fabsf(x)));
    case EXACT_ACT_SCALED_TANH: scaled_tanh(y, alpha, beta, n); break;
    case EXACT_ACT_HARD_SIGMOID: hard_sigmoid(y, alpha, beta, n); break;
    case EXACT_ACT_ELU: elu(y, alpha, n); break;
    case EXACT_ACT_SIGMOID: EXACT_SYM(exact_transcendental).sigmoid32(y, y, n); break;
    case EXACT_ACT_SOFTPLUS: EXACT_SYM(exact_transcendental).softplus32(y, y, n); break;
    default: EXACT_SYM(exact_transcendental).tanh32(y, y, n);
  }
}

static void lstm(float *restrict c, const float *restrict f, const float *restrict i, const float *restrict g, size_t n) {
  for (size_t j = 0; j < n; j++) c[j] = canonical(f[j] * c[j] + i[j] * g[j]);
}

static void output(float *restrict h, const float *restrict o, const float *restrict t, size_t n) {
  for (size_t i = 0; i < n; i++) h[i] = canonical(o[i] * t[i]);
}

static void gru(float *restrict h, const float *restrict z, const float *restrict g, size_t n) {
  for (size_t i = 0; i < n; i++) h[i] = canonical((1 - z[i]) * g[i] + z[i] * h[i]);
}

extern const struct exact_recurrent_kernels EXACT_SYM(exact_recurrent);
const struct exact_recurrent_kernels EXACT_SYM(exact_recurrent) = {
    .add = add,
    .add_product = add_product,
    .clip = clip,
    .complement = complement,
    .multiply = multiply,
    .activate = activate,
    .lstm = lstm,
    .output = output,
    .gru = gru,
};
