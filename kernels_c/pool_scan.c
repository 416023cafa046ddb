/* Pools one window at a time: MaxPool with Indices, the maxima that vectors cannot settle (no number in the window), and
 * windows with gaps so wide that padded copies of the input would not pay. docs/pool.md */
#include "pool.h"

#include "half.h"

#include <math.h>

exact_pool_bits exact_pool_special(int dtype) {
  switch (dtype) {
    case EXACT_FLOAT16: return (exact_pool_bits){0xFBFF, 0x7E00, 0xFC00};
    case EXACT_BFLOAT16: return (exact_pool_bits){0xFF7F, 0x7FC0, 0xFF80};
    case EXACT_FLOAT32: return (exact_pool_bits){0xFF7FFFFF, 0x7FC00000, 0xFF800000};
    case EXACT_FLOAT64: return (exact_pool_bits){0xFFEFFFFFFFFFFFFF, 0x7FF8000000000000, 0xFFF0000000000000};
    case EXACT_INT8: return (exact_pool_bits){.lowest = 0x80};
    default: return (exact_pool_bits){0};
  }
}

void exact_pool_clip(const exact_window *w, const exact_pool_shape *s, int a, int64_t o, int64_t before, int64_t after,
                     int64_t *first, int64_t *end) {
  int64_t step = w->dilation[a], at = o * w->stride[a] - s->begin[a] + before, room = before + s->in[a] + after;
  *first = at < 0 ? (-at - 1) / step + 1 : 0;
  *end = at < room ? (room - 1 - at) / step + 1 : 0;
  if (*end > w->kernel[a]) *end = w->kernel[a];
  if (*first > *end) *first = *end;
}

int64_t exact_pool_count(const exact_pool_op *op, const exact_pool_shape *s, int a, int64_t o) {
  int64_t first, end;
  bool pad = op->count_include_pad;
  exact_pool_clip(&op->window, s, a, o, pad ? s->begin[a] : 0, pad ? s->end[a] : 0, &first, &end);
  return end - first;
}

/* The taps inside the input: start + i * step, i < n, in elements of the plane, for each axis. */
typedef struct box {
  int64_t start, n[3], step[3];
} box;

static box inside(const exact_window *w, const exact_pool_shape *s, const int64_t o[3]) {
  box b = {0};
  if (s->plane_in == 0) return b;
  int64_t size[3] = {s->in[1] * s->in[2], s->in[2], 1};
  for (int a = 0; a < 3; a++) {
    int64_t first, end;
    exact_pool_clip(w, s, a, o[a], 0, 0, &first, &end);
    b.n[a] = end - first;
    if (b.n[a] > 0) b.start += (o[a] * w->stride[a] - s->begin[a] + first * w->dilation[a]) * size[a];
    if (b.n[a] > 1) b.step[a] = w->dilation[a] * size[a];
  }
  return b;
}

#define EACH_TAP(b, at)                       \
  for (int64_t d_ = 0; d_ < (b).n[0]; d_++)   \
    for (int64_t h_ = 0; h_ < (b).n[1]; h_++) \
      for (int64_t w_ = 0, at = (b).start + d_ * (b).step[0] + h_ * (b).step[1]; w_ < (b).n[2]; w_++, at += (b).step[2])

/* Index of the maximum in a box with taps: the first tap gives way to a greater one and a NaN to any number. */
#define DEFINE_ARGMAX(name, T, V, LOAD, IS_NAN)               \
  static int64_t name(const void *plane, const box *b) {      \
    const T *x = plane;                                       \
    int64_t best = b->start;                                  \
    V most = LOAD(x[best]);                                   \
    EACH_TAP(*b, at) {                                        \
      V value = LOAD(x[at]);                                  \
      if (value > most || (IS_NAN(most) && !IS_NAN(value))) { \
        most = value;                                         \
        best = at;                                            \
      }                                                       \
    }                                                         \
    return best;                                              \
  }
#define SAME(v) (v)
#define NEVER(v) ((void)(v), false)
#define IS_NAN(v) ((v) != (v))
DEFINE_ARGMAX(argmax_f32, float, float, SAME, IS_NAN)
DEFINE_ARGMAX(argmax_f64, double, double, SAME, IS_NAN)
DEFINE_ARGMAX(argmax_f16, uint16_t, float, exact_f16_to_f32, IS_NAN)
DEFINE_ARGMAX(argmax_bf16, uint16_t, float, exact_bf16_to_f32, IS_NAN)
DEFINE_ARGMAX(argmax_i8, int8_t, int, SAME, NEVER)
DEFINE_ARGMAX(argmax_u8, uint8_t, int, SAME, NEVER)

static int64_t argmax(int dtype, const void *plane, const box *b) {
  switch (dtype) {
    case EXACT_FLOAT32: return argmax_f32(plane, b);
    case EXACT_FLOAT64: return argmax_f64(plane, b);
    case EXACT_FLOAT16: return argmax_f16(plane, b);
    case EXACT_BFLOAT16: return argmax_bf16(plane, b);
    case EXACT_INT8: return argmax_i8(plane, b);
    default: return argmax_u8(plane, b);
  }
}

static uint64_t load_bits(const void *x, size_t size) {
  uint16_t half;
  uint32_t word;
  uint64_t twice;
  if (size == 1) return *(const uint8_t *)x;
  if (size == 2) return memcpy(&half, x, 2), half;
  if (size == 4) return memcpy(&word, x, 4), word;
  return memcpy(&twice, x, 8), twice;
}

static void store_bits(void *y, size_t size, uint64_t bits) {
  uint8_t byte = (uint8_t)bits;
  uint16_t half = (uint16_t)bits;
  uint32_t word = (uint32_t)bits;
  memcpy(y, size == 1 ? (void *)&byte : size == 2 ? (void *)&half : size == 4 ? (void *)&word : (void *)&bits, size);
}

size_t exact_pool_scan_max(const exact_pool_op *op, const exact_pool_shape *s, const void *x, const int64_t o[3], void *y) {
  int dtype = op->op.dtype;
  size_t size = exact_dtype_size(dtype);
  exact_pool_bits special = exact_pool_special(dtype);
  box b = inside(&op->window, s, o);
  if (!b.n[0] || !b.n[1] || !b.n[2]) {
    store_bits(y, size, special.lowest);
    return 0;
  }
  int64_t best = argmax(dtype, x, &b);
  uint64_t bits = load_bits((const char *)x + (size_t)best * size, size), sign = (uint64_t)1 << (8 * size - 1);
  bool nan = exact_is_float(dtype) && (bits & (sign - 1)) > (special.minus_infinity & (sign - 1));
  store_bits(y, size, nan ? special.nan : bits);
  return (size_t)best;
}

void exact_pool_settle(const exact_pool_op *op, const exact_pool_shape *s, const void *x, void *y, size_t depth,
                       const size_t first[2], const size_t n[2]) {
  size_t size = exact_dtype_size(op->op.dtype);
  uint64_t minus_infinity = exact_pool_special(op->op.dtype).minus_infinity;
  for (size_t i = first[0]; i < first[0] + n[0]; i++)
    for (size_t j = first[1]; j < first[1] + n[1]; j++) {
      char *at = (char *)y + ((depth * (size_t)s->out[1] + i) * (size_t)s->out[2] + j) * size;
      int64_t o[3] = {(int64_t)depth, (int64_t)i, (int64_t)j};
      if (load_bits(at, size) == minus_infinity) exact_pool_scan_max(op, s, x, o, at);
    }
}

static void scan_sum(const exact_pool_op *op, const exact_pool_shape *s, const void *x, const int64_t o[3], void *y) {
  int dtype = op->op.dtype, fold = op->fold;
  box b = inside(&op->window, s, o);
  double count = 1; /* exact below 2^53 */
  for (int a = 0; a < 3; a++) count *= (double)exact_pool_count(op, s, a, o[a]);
  if (dtype == EXACT_FLOAT64) {
    double sum = 0;
    EACH_TAP(b, at) {
      double value = ((const double *)x)[at];
      if (op->power) exact_pool_raise(op, &value, 1);
      sum += fold == POOL_L1 ? fabs(value) : fold == POOL_L2 ? value * value : value;
    }
    if (fold == POOL_MEAN) sum /= count;
    if (fold == POOL_L2) sum = sqrt(sum);
    if (op->power) exact_pool_root(op, &sum, 1);
    if (sum != sum) store_bits(&sum, 8, exact_pool_special(dtype).nan);
    memcpy(y, &sum, 8);
    return;
  }
  size_t size = exact_dtype_size(dtype);
  float sum = 0, value;
  EACH_TAP(b, at) {
    exact_load_row(&value, (const char *)x + (size_t)at * size, 1, dtype);
    if (op->power) exact_pool_raise(op, &value, 1);
    sum += fold == POOL_L1 ? fabsf(value) : fold == POOL_L2 ? value * value : value;
  }
  if (fold == POOL_MEAN) sum /= (float)count;
  if (fold == POOL_L2) sum = sqrtf(sum);
  if (op->power) exact_pool_root(op, &sum, 1);
  if (sum != sum) store_bits(&sum, 4, exact_pool_special(EXACT_FLOAT32).nan);
  exact_store_row(y, &sum, 1, dtype);
}

/* Output rows from task * rows_per_task on. */
static void scan_rows(void *arg, size_t task) {
  const exact_call *call = arg;
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  const exact_pool_shape *s = &p->shape;
  size_t size = exact_dtype_size(p->op->op.dtype), rows = (size_t)(s->out[0] * s->out[1]);
  int64_t *indices = p->plan.out[1].rank ? call->out[1] : NULL;
  size_t row = task * p->rows_per_task, end = row + p->rows_per_task;
  if (end > s->planes * rows) end = s->planes * rows;
  for (; row < end; row++) {
    size_t plane = row / rows;
    const char *x = (const char *)call->in[0] + plane * s->plane_in * size;
    int64_t o[3] = {(int64_t)(row % rows) / s->out[1], (int64_t)(row % rows) % s->out[1], 0};
    for (size_t at = row * (size_t)s->out[2]; o[2] < s->out[2]; o[2]++, at++) {
      char *y = (char *)call->out[0] + at * size, unwanted[8];
      if (p->op->fold != POOL_MAX) {
        scan_sum(p->op, s, x, o, y);
        continue;
      }
      size_t best = exact_pool_scan_max(p->op, s, x, o, call->out[0] ? y : unwanted);
      if (!indices) continue;
      size_t height = (size_t)s->in[1], width = (size_t)s->in[2];
      if (p->op->column_major && s->plane_in)
        best = (best % width * height + best / width % height) * (size_t)s->in[0] + best / (width * height);
      indices[at] = (int64_t)(plane * s->plane_in + best);
    }
  }
}

void exact_pool_scan_setup(exact_pool_plan *p) {
  const exact_pool_shape *s = &p->shape;
  size_t rows = s->planes * (size_t)(s->out[0] * s->out[1]), cost = (size_t)s->out[2];
  for (int a = 0; a < 3; a++) {
    size_t taps = (size_t)(p->op->window.kernel[a] < s->in[a] ? p->op->window.kernel[a] : s->in[a]);
    if (!exact_mul(cost, taps + 1, &cost)) cost = SIZE_MAX;
  }
  p->rows_per_task = cost < 65536 ? 65536 / (cost + 1) + 1 : 1;
  p->scan_tasks = rows ? (rows - 1) / p->rows_per_task + 1 : 0;
}

void exact_pool_run_scan(const exact_call *call) {
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  exact_parallel(call->threads, p->scan_tasks, scan_rows, (void *)call);
}
