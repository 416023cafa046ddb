/* Pools over whole planes. Mean: the sum in index order from +0, divided by the plane's size; Lp: the sum of |x| or x * x in
 * the same order, and the root; other powers are taken of copies. Maximum: starts from the lowest finite value of the type and
 * is replaced by greater elements, so that NaN and -infinity do not count. docs/pool.md */
#include "pool.h"

#include "half.h"

#include <math.h>

/* Planes of a task are a multiple of GROUP, the largest group of exact_pool_kernels; COLUMNS are widened at a time. */
enum { TASK_ELEMENTS = 32768, GROUP = 32, COLUMNS = 256 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* acc[i] = sum or maximum of the plane first + i, i < count. */
static void fold(const exact_pool_plan *p, const char *x, size_t first, size_t count, float *acc) {
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  const uint64_t lowest = exact_pool_special(p->op->op.dtype).lowest;
  int dtype = p->op->op.dtype, sum = p->op->fold;
  size_t n = p->shape.plane_in, size = exact_dtype_size(dtype);
  float start = 0, wide[GROUP * COLUMNS];
  if (sum == POOL_MAX) exact_load_row(&start, &lowest, 1, dtype);
  for (size_t i = 0; i < GROUP; i++) acc[i] = start;
  for (size_t i = 0, part; i < n; i += part) {
    size_t step = n;
    const float *columns = (const float *)x + first * n;
    part = n;
    if (dtype != EXACT_FLOAT32 || p->op->power) {
      part = least(n - i, COLUMNS);
      step = COLUMNS;
      columns = wide;
      for (size_t r = 0; r < count; r++) {
        k->widen(wide + r * step, x + ((first + r) * n + i) * size, part, dtype);
        if (p->op->power) exact_pool_raise(p->op, wide + r * step, part);
      }
    }
    if (count == k->group)
      (sum == POOL_MAX ? k->max_group : k->sum_group[sum])(columns, step, part, acc);
    else if (sum != POOL_MAX)
      k->sum_few[sum][POOL_F32](columns, step, part, count, acc);
    else
      for (size_t r = 0; r < count; r++) k->max_plane[POOL_F32](columns + r * step, part, acc + r);
  }
}

static void planes32(const exact_pool_plan *p, const char *x, char *y, size_t first, size_t end) {
  int dtype = p->op->op.dtype, sum = p->op->fold;
  size_t group = p->op->op.isa->pool->group, size = exact_dtype_size(dtype);
  float acc[GROUP], divisor = (float)p->shape.plane_in;
  for (size_t count; first < end; first += count) {
    count = least(group, end - first);
    /* A last group that is not full starts earlier, where there are earlier planes. */
    size_t back = first + count >= group ? group - count : 0;
    fold(p, x, first - back, count + back, acc);
    for (size_t i = 0; sum != POOL_MAX && i < count + back; i++) {
      if (sum == POOL_MEAN) acc[i] /= divisor;
      if (sum == POOL_L2) acc[i] = sqrtf(acc[i]);
      if (acc[i] != acc[i]) acc[i] = exact_f32_from_bits(0x7FC00000);
    }
    if (p->op->power) exact_pool_root(p->op, acc, count + back);
    exact_store_row(y + first * size, acc + back, count, dtype);
  }
}

/* y[i] += the sum of the powers of plane i. */
static void powers64(const exact_pool_plan *p, const double *x, double *y, size_t first, size_t end) {
  const size_t n = p->shape.plane_in;
  double part[COLUMNS];
  for (; first < end; first++)
    for (size_t i = 0, count; i < n; i += count) {
      count = least(n - i, COLUMNS);
      memcpy(part, x + first * n + i, count * sizeof *part);
      exact_pool_raise(p->op, part, count);
      p->op->op.isa->pool->sum_few[POOL_L1][POOL_F64](part, count, count, 1, y + first);
    }
}

static void planes64(const exact_pool_plan *p, const double *x, double *y, size_t first, size_t end) {
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  const exact_pool_bits special = exact_pool_special(EXACT_FLOAT64);
  const size_t n = p->shape.plane_in;
  const int sum = p->op->fold;
  for (size_t i = first; i < end; i++) {
    y[i] = 0;
    if (sum != POOL_MAX) continue;
    memcpy(&y[i], &special.lowest, sizeof(double));
    k->max_plane[POOL_F64](x + i * n, n, &y[i]);
  }
  if (sum == POOL_MAX) return;
  if (p->op->power)
    powers64(p, x, y, first, end);
  else
    k->sum_few[sum][POOL_F64](x + first * n, n, n, end - first, y + first);
  for (size_t i = first; i < end; i++) {
    if (sum == POOL_MEAN) y[i] /= (double)n;
    if (sum == POOL_L2) y[i] = sqrt(y[i]);
    if (y[i] != y[i]) memcpy(&y[i], &special.nan, sizeof(double));
  }
  if (p->op->power) exact_pool_root(p->op, y + first, end - first);
}

static void run_task(void *arg, size_t task) {
  const exact_call *call = arg;
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  size_t first = task * p->planes_per_task, end = least(first + p->planes_per_task, p->shape.planes);
  if (p->op->op.dtype == EXACT_FLOAT64)
    planes64(p, call->in[0], call->out[0], first, end);
  else
    planes32(p, call->in[0], call->out[0], first, end);
}

void exact_pool_global_setup(exact_pool_plan *p) {
  size_t planes = TASK_ELEMENTS / (p->shape.plane_in + 1) + 1;
  p->planes_per_task = (planes + GROUP - 1) / GROUP * GROUP;
  p->global_tasks = (p->shape.planes - 1) / p->planes_per_task + 1;
}

void exact_pool_run_global(const exact_call *call) {
  exact_parallel(call->threads, ((const exact_pool_plan *)call->plan)->global_tasks, run_task, (void *)call);
}
