/* Softmax and its kin of float32 rows: m = max x; d = x - m; l = Sum16(e^d); y = e^d / l, or d - log l. A row with NaN or
 * +infinity, or of -infinity alone, makes l NaN, since its d holds NaN; then all of it is NaN. docs/softmax.md */
#include "softmax.h"

#include "half.h"
#include "softmax_block.h"

#define ROW_FN static inline __attribute__((always_inline)) EXACT_EXP_TARGET

static const float canonical_nan = __builtin_nanf("");

ROW_FN float row_max(const float *x, size_t n) {
  block least = block_set1(-__builtin_inff()), a = least, b = least;
  size_t j = 0;
  for (; j + 32 <= n; j += 32) {
    a = block_greater(block_load(x + j), a);
    b = block_greater(block_load(x + j + 16), b);
  }
  if (j + 16 <= n) a = block_greater(block_load(x + j), a), j += 16;
  if (j < n) b = block_greater(block_load_first(x + j, n - j, least), b);
  return block_across(block_greater(a, b), false);
}

/* The sum of e^(x - m); y gets the terms unless `log`. */
ROW_FN float row_sum(const float *x, float *y, size_t n, float m, bool log, bool fast) {
  block max = block_set1(m), sum = block_set1(0);
  size_t j = 0;
  for (; j + 16 <= n; j += 16) {
    block e = block_exp(block_sub(block_load(x + j), max), fast);
    if (!log) block_store(y + j, e);
    sum = block_add(sum, e);
  }
  if (j < n) {
    block e = block_exp(block_sub(block_load_first(x + j, n - j, max), max), fast);
    if (!log) block_store_first(y + j, n - j, e);
    sum = block_add(sum, block_zero_after(e, n - j));
  }
  return block_across(sum, true);
}

ROW_FN block finish(block b, block max, block divisor, bool log) {
  return log ? block_sub(block_sub(b, max), divisor) : block_div(b, divisor);
}

ROW_FN void row_finish(const float *x, float *y, size_t n, float m, float l, bool log) {
  block max = block_set1(m), divisor = block_set1(log ? exact_logf_cr(l) : l);
  const float *from = log ? x : y;
  size_t j = 0;
  for (; j + 16 <= n && l == l; j += 16) block_store(y + j, finish(block_load(from + j), max, divisor, log));
  if (j < n && l == l) block_store_first(y + j, n - j, finish(block_load_first(from + j, n - j, max), max, divisor, log));
  for (; j < n && l != l; j++) y[j] = canonical_nan;
}

/* Step by step for a few rows at a time, so that the latency of one row's chain is another row's work. */
ROW_FN void softmax(const float *x, float *y, size_t rows, size_t n, bool log, bool fast) {
  enum { GROUP = 4 };
  float m[GROUP], l[GROUP];
  for (size_t first = 0; first < rows; first += GROUP) {
    size_t count = n <= 2048 && rows - first >= GROUP ? GROUP : 1;
    const float *from = x + first * n;
    float *to = y + first * n;
    for (size_t i = 0; i < count; i++) m[i] = row_max(from + i * n, n);
    for (size_t i = 0; i < count; i++) l[i] = row_sum(from + i * n, to + i * n, n, m[i], log, fast);
    for (size_t i = 0; i < count; i++) row_finish(from + i * n, to + i * n, n, m[i], l[i], log);
    first -= GROUP - count;
  }
}

/* 1 at the first maximum; a row with NaN is all zeros. */
ROW_FN void hardmax(const float *x, float *y, size_t n) {
  float m = row_max(x, n);
  unsigned nans = 0;
  size_t best = 0;
  for (size_t j = 0; j < n; j++) nans += x[j] != x[j];
  while (!nans && x[best] != m) best++;
  memset(y, 0, n * sizeof *y);
  if (!nans) y[best] = 1;
}

static void hardmax_lane(const float *x, float *y, size_t n, size_t stride) {
  size_t best = 0;
  bool nan = false;
  for (size_t j = 0; j < n; j++) {
    nan |= x[j * stride] != x[j * stride];
    if (x[j * stride] > x[best * stride]) best = j;
  }
  for (size_t j = 0; j < n; j++) y[j * stride] = 0;
  if (!nan) y[best * stride] = 1;
}

static EXACT_EXP_TARGET void rows32(const float *x, float *y, size_t rows, size_t n, int kind, bool fast) {
  if (kind == EXACT_HARDMAX)
    for (size_t i = 0; i < rows; i++) hardmax(x + i * n, y + i * n, n);
  else if (kind == EXACT_LOG_SOFTMAX && fast)
    softmax(x, y, rows, n, true, true);
  else if (kind == EXACT_LOG_SOFTMAX)
    softmax(x, y, rows, n, true, false);
  else if (fast)
    softmax(x, y, rows, n, false, true);
  else
    softmax(x, y, rows, n, false, false);
}

static void rows16(const uint16_t *x, uint16_t *y, size_t rows, size_t n, int dtype, int kind, bool fast, float *scratch) {
  for (size_t i = 0; i < rows; i++) {
    exact_load_row(scratch, x + i * n, n, dtype);
    rows32(scratch, scratch, 1, n, kind, fast);
    exact_store_row(y + i * n, scratch, n, dtype);
  }
}

/* ---- 16 rows side by side: the partials are 16 blocks ---- */
ROW_FN void lanes(const float *x, float *y, size_t n, size_t stride, bool log, bool fast) {
  block max = block_set1(-__builtin_inff()), partial[16];
  for (size_t j = 0; j < n; j++) max = block_greater(block_load(x + j * stride), max);
  for (int p = 0; p < 16; p++) partial[p] = block_set1(0);
  for (size_t j = 0; j < n; j++) {
    block d = block_sub(block_load(x + j * stride), max), e = block_exp(d, fast);
    block_store(y + j * stride, log ? d : e);
    partial[j & 15] = block_add(partial[j & 15], e);
  }
  for (int half = 8; half; half /= 2)
    for (int p = 0; p < half; p++) partial[p] = block_add(partial[p], partial[p + half]);
  float l[16];
  bool nan[16], any = false;
  block_store(l, partial[0]);
  for (int i = 0; i < 16; i++) {
    nan[i] = l[i] != l[i];
    any |= nan[i];
    if (log) l[i] = exact_logf_cr(l[i]);
  }
  block divisor = block_load(l);
  for (size_t j = 0; j < n; j++) {
    block b = block_load(y + j * stride);
    block_store(y + j * stride, log ? block_sub(b, divisor) : block_div(b, divisor));
  }
  for (size_t j = 0; any && j < n; j++)
    for (size_t i = 0; i < 16; i++)
      if (nan[i]) y[j * stride + i] = canonical_nan;
}

static EXACT_EXP_TARGET void lanes32(const float *x, float *y, size_t n, size_t stride, int kind, bool fast) {
  if (kind == EXACT_HARDMAX)
    for (int i = 0; i < 16; i++) hardmax_lane(x + i, y + i, n, stride);
  else if (kind == EXACT_LOG_SOFTMAX && fast)
    lanes(x, y, n, stride, true, true);
  else if (kind == EXACT_LOG_SOFTMAX)
    lanes(x, y, n, stride, true, false);
  else if (fast)
    lanes(x, y, n, stride, false, true);
  else
    lanes(x, y, n, stride, false, false);
}

const struct exact_softmax_kernels EXACT_SYM(exact_softmax) = {rows32, rows16, lanes32};
