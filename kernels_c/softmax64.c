/* Softmax, LogSoftmax and Hardmax of float64 rows, the same formulas in double: docs/softmax.md. */
#include "exp_log64.h"
#include "softmax.h"

static const double canonical_nan = __builtin_nan("");

static void hardmax(const double *x, double *y, size_t n) {
  size_t best = 0;
  bool nan = false;
  for (size_t j = 0; j < n; j++) {
    nan |= x[j] != x[j];
    if (x[j] > x[best]) best = j;
  }
  for (size_t j = 0; j < n; j++) y[j] = 0;
  if (!nan) y[best] = 1;
}

static void row(const double *x, double *y, size_t n, bool log) {
  double m = -__builtin_inf(), partial[16] = {0};
  for (size_t j = 0; j < n; j++) m = x[j] > m ? x[j] : m; /* a NaN makes l NaN below */
  for (size_t j = 0; j < n; j++) {
    double d = x[j] - m, e = exact_exp_cr(d);
    partial[j % 16] = partial[j % 16] + e;
    y[j] = log ? d : e;
  }
  for (size_t half = 8; half; half /= 2)
    for (size_t i = 0; i < half; i++) partial[i] = partial[i] + partial[i + half];
  double l = partial[0], divisor = log ? exact_log_cr(l) : l;
  for (size_t j = 0; j < n; j++) y[j] = l != l ? canonical_nan : log ? y[j] - divisor : y[j] / divisor;
}

void exact_softmax_rows64(const double *x, double *y, size_t rows, size_t n, int kind) {
  for (size_t i = 0; i < rows; i++, x += n, y += n)
    if (kind == EXACT_HARDMAX)
      hardmax(x, y, n);
    else
      row(x, y, n, kind == EXACT_LOG_SOFTMAX);
}
