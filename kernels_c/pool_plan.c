/* Sizes of tiles: which planes can be joined, how many rows a tile has, where the parts of its scratch are. */
#include "pool.h"

enum { TASK_ELEMENTS = 32768, BUFFER_ELEMENTS = 8192, SEGMENT = 1024 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }

size_t exact_pool_lane_size(int lane) { return lane == POOL_F64 ? 8 : lane == POOL_F32 ? 4 : 1; }

static size_t whole_vectors(size_t n, int lane) {
  size_t lanes = POOL_VECTOR / exact_pool_lane_size(lane);
  return (n + lanes - 1) / lanes * lanes;
}

bool exact_pool_reads_vectors(const exact_window *w) { return w->stride[2] == 1 || (w->stride[2] == 2 && w->dilation[2] == 1); }

size_t exact_pool_reach(const exact_window *w, int lane, size_t n) {
  size_t extent = (size_t)exact_window_extent(w, 2), stride = (size_t)w->stride[2];
  return exact_pool_reads_vectors(w) ? whole_vectors(n, lane) * stride + extent - 1 : (n - 1) * stride + extent;
}

/* True when the axis' windows tile it without padding, so that the windows of two inputs one after the other are those of
 * both in turn. */
static bool is_periodic(const exact_window *w, const exact_pool_shape *s, int a) {
  return s->begin[a] == 0 && s->out[a] * w->stride[a] == s->in[a] &&
         (s->out[a] - 1) * w->stride[a] + exact_window_extent(w, a) <= s->in[a];
}

/* Takes depths for planes, and then the planes for one, where that is the same. */
static bool join(const exact_window *w, exact_pool_shape *s) {
  if (w->kernel[0] == 1 && w->stride[0] == 1 && is_periodic(w, s, 0)) {
    s->planes *= (size_t)s->in[0];
    s->in[0] = s->out[0] = 1;
  }
  bool flat = s->in[0] == 1 && s->out[0] == 1 && w->kernel[0] == 1 && s->begin[0] == 0 && is_periodic(w, s, 1);
  if (flat) {
    s->in[1] *= (int64_t)s->planes;
    s->out[1] *= (int64_t)s->planes;
    s->planes = 1;
  }
  s->plane_in = (size_t)(s->in[0] * s->in[1] * s->in[2]);
  s->plane_out = (size_t)(s->out[0] * s->out[1] * s->out[2]);
  return flat;
}

bool exact_pool_two_passes(const exact_pool_op *op) {
  const exact_window *w = &op->window;
  bool overlap = w->kernel[1] > w->stride[1] || w->kernel[0] > w->stride[0];
  return op->fold == POOL_MAX && w->kernel[2] > 1 && overlap;
}

bool exact_pool_tiles_setup(exact_pool_plan *p) {
  const exact_window *w = &p->op->window;
  exact_pool_tiles *t = &p->tiles;
  exact_pool_shape *s = &t->shape;
  int dtype = p->op->op.dtype;
  *t = (exact_pool_tiles){.shape = p->shape};
  t->lane = dtype == EXACT_FLOAT64 ? POOL_F64 : dtype == EXACT_INT8 ? POOL_I8 : dtype == EXACT_UINT8 ? POOL_U8 : POOL_F32;
  /* Small enough that the sizes below cannot overflow, and that counts of taps are exact in float32. */
  double volume = 1;
  for (int a = 0; a < 3; a++) {
    volume *= (double)w->kernel[a];
    if (exact_window_extent(w, a) > 1 << 20 || w->stride[a] > 1 << 20) return false;
  }
  if (volume > 1 << 20 || s->plane_in == 0) return false;
  t->joined = join(w, s);

  size_t rows = (size_t)s->out[1], columns = (size_t)s->out[2], extent = (size_t)exact_window_extent(w, 1);
  size_t stride = (size_t)w->stride[1], slices = (size_t)w->kernel[0];
  t->segment = least(columns, SEGMENT);
  t->width = whole_vectors(exact_pool_reach(w, t->lane, t->segment), t->lane);
  t->out_width = whole_vectors(t->segment, t->lane);
  size_t lines = BUFFER_ELEMENTS / t->width;
  t->band = lines > extent ? (lines - extent) / stride + 1 : 1;
  t->band = least(most(t->band, 2 * extent / stride), rows);
  t->lines = (t->band - 1) * stride + extent;
  t->segments = (columns - 1) / t->segment + 1;
  t->bands = (rows - 1) / t->band + 1;
  double buffer = (double)slices * (double)t->lines * (double)t->width;
  if (buffer > 16 * (double)t->band * (double)t->segment * volume + 4096 || buffer > 1 << 22) return false;

  size_t per_plane = (size_t)s->out[0] * t->bands * t->segments;
  size_t cost = most(t->band * t->segment, s->plane_in / per_plane);
  t->count = s->planes * per_plane;
  t->per_task = cost < TASK_ELEMENTS ? TASK_ELEMENTS / cost : 1;
  t->tasks = (t->count - 1) / t->per_task + 1;

  size_t lane = exact_pool_lane_size(t->lane), slack = POOL_VECTOR / lane, part;
  bool two = exact_pool_two_passes(p->op), narrow = lane != exact_dtype_size(dtype);
  return exact_part(&t->slot, slices * t->lines * t->width + slack, lane, &t->padded) &&
         exact_part(&t->slot, two ? slices * t->lines * t->out_width : 0, lane, &t->row_maxima) &&
         exact_part(&t->slot, narrow ? t->band * t->out_width : 0, lane, &t->narrow) &&
         exact_part(&t->slot, slices * (size_t)w->kernel[1], sizeof(ptrdiff_t), &t->offsets) &&
         exact_part(&p->plan.workspace, (size_t)exact_slot_count(t->tasks), t->slot, &part);
}

/* ---- factors of means: count of (depth, row) times count of column ---- */
static size_t factor_rows(const exact_pool_tiles *t) {
  return t->joined ? t->band : (size_t)(t->shape.out[0] * t->shape.out[1]);
}

bool exact_pool_factors_size(const exact_pool_plan *p, size_t *bytes, size_t *factors_at, size_t *columns_at) {
  return exact_part(bytes, factor_rows(&p->tiles), sizeof(double), factors_at) &&
         exact_part(bytes, (size_t)p->tiles.shape.out[2] + POOL_VECTOR, sizeof(double), columns_at);
}

/* Counts that are powers of two, 0 included, become reciprocals: both ways give the same bits, +0 / 0 and +0 * infinity too. */
static bool all_powers_of_two(const exact_pool_plan *p) {
  const exact_pool_shape *s = &p->tiles.shape;
  for (int a = 0; a < 3; a++)
    for (int64_t o = 0; o < (a == 1 && p->tiles.joined ? 1 : s->out[a]); o++) {
      int64_t count = exact_pool_count(p->op, s, a, o);
      if (count & (count - 1)) return false;
    }
  return true;
}

static void store_factor(const exact_pool_tiles *t, void *table, size_t i, int64_t count) {
  double value = t->multiply ? 1.0 / (double)count : (double)count;
  if (t->lane == POOL_F64)
    ((double *)table)[i] = value;
  else
    ((float *)table)[i] = (float)value;
}

void exact_pool_fill_factors(exact_pool_plan *p, void *factors, void *columns) {
  exact_pool_tiles *t = &p->tiles;
  const exact_pool_shape *s = &t->shape;
  t->factors = factors;
  t->columns = columns;
  t->multiply = all_powers_of_two(p);
  for (size_t i = 0; i < factor_rows(t); i++)
    store_factor(t, factors, i,
                 exact_pool_count(p->op, s, 0, (int64_t)i / s->out[1]) * exact_pool_count(p->op, s, 1, (int64_t)i % s->out[1]));
  for (int64_t i = 0; i < s->out[2]; i++) store_factor(t, columns, (size_t)i, exact_pool_count(p->op, s, 2, i));
}
