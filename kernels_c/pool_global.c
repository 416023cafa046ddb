/* Pools over whole planes. Mean: the sum in index order from +0, divided by the plane's size. Maximum: starts from the lowest
 * finite value of the type and is replaced by greater elements, so that NaN and -infinity do not count. docs/pool.md */
#include "pool.h"

#include "half.h"

/* Planes of a task are a multiple of GROUP, the largest group of exact_pool_kernels; COLUMNS are widened at a time. */
enum { TASK_ELEMENTS = 32768, GROUP = 32, COLUMNS = 256 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* acc[i] = sums of the planes first + i, i < count. */
static void sum32(const exact_pool_plan *p, const char *x, size_t first, size_t count, float *acc) {
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  int dtype = p->op->op.dtype;
  size_t n = p->plane_in, size = exact_dtype_size(dtype);
  float wide[GROUP * COLUMNS];
  memset(acc, 0, GROUP * sizeof *acc);
  for (size_t i = 0, part; i < n; i += part) {
    size_t step = n;
    const float *columns = (const float *)x + first * n;
    part = n;
    if (dtype != EXACT_FLOAT32) {
      part = least(n - i, COLUMNS);
      step = COLUMNS;
      columns = wide;
      for (size_t r = 0; r < count; r++) k->widen(wide + r * step, x + ((first + r) * n + i) * size, part, dtype);
    }
    if (count == k->group)
      k->sum_group(columns, step, part, acc);
    else
      k->sum_few[POOL_F32](columns, step, part, count, acc);
  }
}

static void mean_planes(const exact_pool_plan *p, const char *x, char *y, size_t first, size_t end) {
  int dtype = p->op->op.dtype;
  size_t group = p->op->op.isa->pool->group, size = exact_dtype_size(dtype);
  float acc[GROUP], divisor = (float)p->plane_in;
  while (first < end) {
    /* A last group that is not full starts earlier, where there are earlier planes. */
    size_t count = least(group, end - first), back = first + count >= group ? group - count : 0;
    sum32(p, x, first - back, count + back, acc);
    for (size_t i = 0; i < count + back; i++) {
      acc[i] /= divisor;
      if (acc[i] != acc[i]) acc[i] = exact_f32_from_bits(0x7FC00000);
    }
    exact_store_row(y + first * size, acc + back, count, dtype);
    first += count;
  }
}

static void mean_planes64(const exact_pool_plan *p, const double *x, double *y, size_t first, size_t end) {
  const uint64_t nan = exact_pool_special(EXACT_FLOAT64).nan;
  for (size_t i = first; i < end; i++) y[i] = 0;
  p->op->op.isa->pool->sum_few[POOL_F64](x + first * p->plane_in, p->plane_in, p->plane_in, end - first, y + first);
  for (size_t i = first; i < end; i++) {
    y[i] /= (double)p->plane_in;
    if (y[i] != y[i]) memcpy(&y[i], &nan, sizeof nan);
  }
}

static void max_planes(const exact_pool_plan *p, const char *x, char *y, size_t first, size_t end) {
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  int dtype = p->op->op.dtype;
  size_t n = p->plane_in, size = exact_dtype_size(dtype);
  const uint64_t lowest = exact_pool_special(dtype).lowest;
  for (; first < end; first++) {
    char *max = y + first * size;
    memcpy(max, &lowest, size);
    if (size != 2) {
      k->max_plane[size == 8 ? POOL_F64 : POOL_F32](x + first * n * size, n, max);
      continue;
    }
    float most, wide[COLUMNS];
    exact_load_row(&most, max, 1, dtype);
    for (size_t i = 0, part; i < n; i += part) {
      part = least(n - i, COLUMNS);
      k->widen(wide, x + (first * n + i) * size, part, dtype);
      k->max_plane[POOL_F32](wide, part, &most);
    }
    exact_store_row(max, &most, 1, dtype);
  }
}

static void run_task(void *arg, size_t task) {
  const exact_call *call = arg;
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  size_t first = task * p->per_task, end = least(first + p->per_task, p->planes);
  if (p->op->kind == EXACT_GLOBAL_MAX_POOL)
    max_planes(p, call->in[0], call->out[0], first, end);
  else if (p->op->op.dtype == EXACT_FLOAT64)
    mean_planes64(p, call->in[0], call->out[0], first, end);
  else
    mean_planes(p, call->in[0], call->out[0], first, end);
}

void exact_pool_global_setup(exact_pool_plan *p) {
  p->per_task = TASK_ELEMENTS / (p->plane_in + 1) + 1;
  if (p->op->kind != EXACT_GLOBAL_MAX_POOL) p->per_task = (p->per_task + GROUP - 1) / GROUP * GROUP;
  p->tasks = p->planes ? (p->planes - 1) / p->per_task + 1 : 0;
}

void exact_pool_run_global(const exact_call *call) {
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  exact_parallel(call->threads, p->tasks, run_task, (void *)call);
}
