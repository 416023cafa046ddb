/* Pools by tiles: a band of output rows of one depth of one plane. Windows are read from x where they lie inside it, else
 * from a padded (and for float16 and bfloat16 widened) copy of the band's lines. The padding holds what cannot change a
 * result: -infinity or the lowest integer under a maximum; +0 under a sum, which starts from +0 and so is never -0.
 * Maxima of overlapping windows are taken along the lines first, which keeps the first of equal elements. docs/pool.md */
#include "pool.h"

enum { TASK_ELEMENTS = 32768, BUFFER_ELEMENTS = 8192, SEGMENT = 1024 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }
static size_t most(size_t a, size_t b) { return a > b ? a : b; }
static size_t lane_size(int lane) { return lane == POOL_F64 ? 8 : lane == POOL_F32 ? 4 : 1; }
static size_t whole_vectors(size_t n, int lane) {
  size_t lanes = POOL_VECTOR / lane_size(lane);
  return (n + lanes - 1) / lanes * lanes;
}

/* True when the kernels read whole vectors, which go beyond the last output's taps. */
static bool reads_vectors(const exact_window *w) { return w->stride[2] == 1 || (w->stride[2] == 2 && w->dilation[2] == 1); }

/* Elements from the first tap of n outputs of a row to the end of what the kernels read. */
static size_t reach(const exact_pool_plan *p, size_t n) {
  const exact_window *w = &p->op->window;
  size_t extent = (size_t)exact_window_extent(w, 2), stride = (size_t)w->stride[2];
  return reads_vectors(w) ? whole_vectors(n, p->lane) * stride + extent - 1 : (n - 1) * stride + extent;
}

static bool two_passes(const exact_pool_plan *p) {
  const exact_window *w = &p->op->window;
  bool overlap = w->kernel[1] > w->stride[1] || w->kernel[0] > w->stride[0];
  return p->op->kind == EXACT_MAX_POOL && w->kernel[2] > 1 && overlap;
}

/* ---- plan ---- */
bool exact_pool_tiles(exact_pool_plan *p) {
  const exact_window *w = &p->op->window;
  int dtype = p->op->op.dtype;
  p->lane = dtype == EXACT_FLOAT64 ? POOL_F64 : dtype == EXACT_INT8 ? POOL_I8 : dtype == EXACT_UINT8 ? POOL_U8 : POOL_F32;
  /* Small enough that the sizes below cannot overflow, and that counts of taps are exact in float32. */
  double volume = 1;
  for (int a = 0; a < 3; a++) {
    volume *= (double)w->kernel[a];
    if (exact_window_extent(w, a) > 1 << 20 || w->stride[a] > 1 << 20 || p->out[a] > (int64_t)1 << 40) return false;
  }
  if (volume > 1 << 20 || p->plane_in == 0) return false;

  size_t rows = (size_t)p->out[1], columns = (size_t)p->out[2], extent = (size_t)exact_window_extent(w, 1);
  size_t stride = (size_t)w->stride[1], taps = (size_t)w->kernel[0] * (size_t)w->kernel[1];
  p->segment = least(columns, SEGMENT);
  p->width = whole_vectors(reach(p, p->segment), p->lane);
  p->out_width = whole_vectors(p->segment, p->lane);
  p->slices = (size_t)w->kernel[0];
  size_t lines = BUFFER_ELEMENTS / p->width;
  p->band = lines > extent ? (lines - extent) / stride + 1 : 1;
  p->band = least(most(p->band, 2 * extent / stride), rows);
  p->lines = (p->band - 1) * stride + extent;
  p->segments = (columns - 1) / p->segment + 1;
  p->bands = (rows - 1) / p->band + 1;

  double buffer = (double)p->slices * (double)p->lines * (double)p->width;
  double used = (double)p->band * (double)p->segment * volume;
  if (buffer > 16 * used + 4096 || buffer > 1 << 22) return false;
  size_t size = lane_size(p->lane);
  bool fits = exact_part(&p->slot, p->slices * p->lines * p->width, size, &p->padded) &&
              exact_part(&p->slot, two_passes(p) ? p->slices * p->lines * p->out_width : 0, size, &p->row_maxima) &&
              exact_part(&p->slot, size == exact_dtype_size(dtype) ? 0 : p->band * p->out_width, size, &p->narrow) &&
              exact_part(&p->slot, taps, sizeof(ptrdiff_t), &p->offsets);

  size_t tiles = p->planes * (size_t)p->out[0] * p->bands * p->segments;
  size_t cost = most(p->band * p->segment, p->plane_in / ((size_t)p->out[0] * p->bands * p->segments));
  p->per_task = cost < TASK_ELEMENTS ? TASK_ELEMENTS / cost : 1;
  p->tasks = (tiles - 1) / p->per_task + 1;
  size_t part;
  return fits && exact_part(&p->plan.workspace, (size_t)exact_slot_count(p->tasks), p->slot, &part);
}

/* ---- run ---- */
typedef struct tile {
  size_t plane, depth, row, column, rows, columns;
} tile;

static tile tile_at(const exact_pool_plan *p, size_t i) {
  tile t;
  t.column = i % p->segments * p->segment, i /= p->segments;
  t.row = i % p->bands * p->band, i /= p->bands;
  t.depth = i % (size_t)p->out[0], t.plane = i / (size_t)p->out[0];
  t.rows = least(p->band, (size_t)p->out[1] - t.row);
  t.columns = least(p->segment, (size_t)p->out[2] - t.column);
  return t;
}

/* Lines of input elements under a tile: tap line (slice, line) starts at base + slice * slice_step + line * line_step. */
typedef struct source {
  const void *base;
  ptrdiff_t slice_step, line_step;
  size_t slices, lines;
} source;

static void fill(void *dst, size_t n, const exact_pool_plan *p) {
  if (p->op->kind != EXACT_MAX_POOL || p->lane == POOL_U8) {
    memset(dst, 0, n * lane_size(p->lane));
  } else if (p->lane == POOL_I8) {
    memset(dst, INT8_MIN, n);
  } else if (p->lane == POOL_F32) {
    for (size_t i = 0; i < n; i++) ((float *)dst)[i] = -__builtin_inff();
  } else {
    for (size_t i = 0; i < n; i++) ((double *)dst)[i] = -__builtin_inf();
  }
}

/* dst = `extent` elements from column `at` of a line of the input, NULL for a line in the padding; then zeros. They reach
 * unwanted lanes only, whose maxima they keep above -infinity. */
static void pad_line(const exact_pool_plan *p, char *dst, const char *line, int64_t at, int64_t extent) {
  int dtype = p->op->op.dtype;
  size_t lane = lane_size(p->lane), size = exact_dtype_size(dtype);
  int64_t first = at < 0 ? least((size_t)-at, (size_t)extent) : 0, end = p->in[2] - at < extent ? p->in[2] - at : extent;
  if (!line || end < first) end = first = 0;
  size_t n = (size_t)(end - first);
  fill(dst, (size_t)first, p);
  if (n && lane == size)
    memcpy(dst + (size_t)first * lane, line + (at + first) * (int64_t)size, n * size);
  else if (n)
    p->op->op.isa->pool->widen((float *)dst + first, line + (at + first) * (int64_t)size, n, dtype);
  fill(dst + (size_t)end * lane, (size_t)(extent - end), p);
  memset(dst + (size_t)extent * lane, 0, (p->width - (size_t)extent) * lane);
}

static source find_source(const exact_pool_plan *p, const tile *t, const char *x, char *slot) {
  const exact_window *w = &p->op->window;
  size_t size = exact_dtype_size(p->op->op.dtype);
  int64_t depth = (int64_t)t->depth * w->stride[0] - p->begin[0], row = (int64_t)t->row * w->stride[1] - p->begin[1];
  int64_t column = (int64_t)t->column * w->stride[2] - p->begin[2];
  int64_t lines = (int64_t)(t->rows - 1) * w->stride[1] + exact_window_extent(w, 1);
  int64_t extent = (int64_t)(t->columns - 1) * w->stride[2] + exact_window_extent(w, 2);
  int64_t first, end;
  exact_pool_clip(p, 0, (int64_t)t->depth, 0, 0, &first, &end);
  int64_t slice = p->in[1] * p->in[2], start = (depth + first * w->dilation[0]) * slice;
  x += t->plane * p->plane_in * size;

  bool inside = row >= 0 && row + lines <= p->in[1] && column >= 0 && column + extent <= p->in[2] && first < end;
  if (inside && size == lane_size(p->lane)) {
    int64_t last = start + (end - 1 - first) * w->dilation[0] * slice + (row + lines - 1) * p->in[2] + column;
    size_t left = (p->planes - t->plane) * p->plane_in - (size_t)last;
    if (reach(p, t->columns) <= left)
      return (source){x + (start + row * p->in[2] + column) * (int64_t)size, w->dilation[0] * slice, p->in[2],
                      (size_t)(end - first), (size_t)lines};
  }
  char *padded = slot + p->padded;
  size_t line_size = p->width * lane_size(p->lane);
  for (int64_t d = 0; d < end - first; d++)
    for (int64_t h = 0; h < lines; h++) {
      bool outside = row + h < 0 || row + h >= p->in[1];
      int64_t line = start + d * w->dilation[0] * slice + (row + h) * p->in[2];
      pad_line(p, padded + ((size_t)d * p->lines + (size_t)h) * line_size, outside ? NULL : x + line * (int64_t)size, column,
               extent);
    }
  return (source){padded, (ptrdiff_t)(p->lines * p->width), (ptrdiff_t)p->width, (size_t)(end - first), (size_t)lines};
}

/* Replaces lines by their maxima over the columns of each output. */
static source take_row_maxima(const exact_pool_plan *p, source s, exact_pool_rows r, char *slot) {
  static const ptrdiff_t zero = 0;
  size_t size = lane_size(p->lane);
  char *maxima = slot + p->row_maxima;
  r.lines = &zero;
  r.n_lines = 1;
  r.src_step = s.line_step;
  r.dst_step = (ptrdiff_t)p->out_width;
  r.rows = s.lines;
  r.room = SIZE_MAX;
  for (size_t d = 0; d < s.slices; d++) {
    r.src = (const char *)s.base + (ptrdiff_t)d * s.slice_step * (ptrdiff_t)size;
    r.dst = maxima + d * p->lines * p->out_width * size;
    p->op->op.isa->pool->max_rows[p->lane](&r);
  }
  s.base = maxima;
  s.slice_step = (ptrdiff_t)(p->lines * p->out_width);
  s.line_step = (ptrdiff_t)p->out_width;
  return s;
}

/* Windows without a number in them, found by their maximum of -infinity, again by the rules. */
static void settle(const exact_pool_plan *p, const tile *t, const char *x, char *y) {
  size_t size = exact_dtype_size(p->op->op.dtype);
  uint64_t minus_infinity = exact_pool_special(p->op->op.dtype).minus_infinity;
  for (size_t i = 0; i < t->rows; i++)
    for (size_t j = 0; j < t->columns; j++) {
      char *at = y + (i * (size_t)p->out[2] + j) * size;
      int64_t o[3] = {(int64_t)t->depth, (int64_t)(t->row + i), (int64_t)(t->column + j)};
      if (!memcmp(at, &minus_infinity, size)) exact_pool_scan_max(p, x + t->plane * p->plane_in * size, o, at);
    }
}

static void run_tile(const exact_call *call, const exact_pool_plan *p, const tile *t, char *slot) {
  const exact_window *w = &p->op->window;
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  int dtype = p->op->op.dtype;
  bool max = p->op->kind == EXACT_MAX_POOL;
  size_t size = exact_dtype_size(dtype), row_index = t->depth * (size_t)p->out[1] + t->row, line = (size_t)p->out[2];
  char *y = (char *)call->out[0] + (t->plane * p->plane_out + row_index * line + t->column) * size;
  exact_pool_rows r = {.n = t->columns, .n_taps = (size_t)w->kernel[2], .dilation = w->dilation[2], .stride = w->stride[2]};
  source s = find_source(p, t, call->in[0], slot);
  if (two_passes(p)) {
    s = take_row_maxima(p, s, r, slot);
    r.n_taps = 1;
    r.stride = 1;
  }
  ptrdiff_t *lines = (ptrdiff_t *)(slot + p->offsets);
  for (size_t d = 0; d < s.slices; d++)
    for (int64_t h = 0; h < w->kernel[1]; h++)
      lines[r.n_lines++] = (ptrdiff_t)d * s.slice_step + h * w->dilation[1] * s.line_step;
  bool narrow = size != lane_size(p->lane);
  r.src = s.base;
  r.src_step = w->stride[1] * s.line_step;
  r.lines = lines;
  r.rows = t->rows;
  r.dst = narrow ? slot + p->narrow : y;
  r.dst_step = (ptrdiff_t)(narrow ? p->out_width : line);
  r.room = narrow ? SIZE_MAX : p->segments == 1 ? t->rows * line : 0;
  bool low = false;
  if (max) {
    low = k->max_rows[p->lane](&r);
  } else {
    size_t arith = lane_size(p->lane);
    r.row_count = (const char *)p->row_count + row_index * arith;
    r.column_count = (const char *)p->column_count + t->column * arith;
    k->mean_rows[p->lane](&r);
  }
  if (narrow)
    for (size_t i = 0; i < t->rows; i++) k->narrow(y + i * line * size, (float *)r.dst + i * p->out_width, t->columns, dtype);
  if (low && exact_is_float(dtype)) settle(p, t, call->in[0], y);
}

typedef struct tiles_run {
  const exact_call *call;
  exact_slots slots;
} tiles_run;

static void run_task(void *arg, size_t task) {
  tiles_run *run = arg;
  const exact_pool_plan *p = (const exact_pool_plan *)run->call->plan;
  size_t i = task * p->per_task, end = least(i + p->per_task, p->planes * (size_t)p->out[0] * p->bands * p->segments);
  char *slot = exact_slot_take(&run->slots);
  for (; i < end; i++) {
    tile t = tile_at(p, i);
    run_tile(run->call, p, &t, slot);
  }
  exact_slot_give(&run->slots, slot);
}

void exact_pool_run_tiles(const exact_call *call) {
  const exact_pool_plan *p = (const exact_pool_plan *)call->plan;
  tiles_run run = {.call = call};
  exact_slots_init(&run.slots, call->work, p->slot, exact_slot_count(p->tasks));
  exact_parallel(call->threads, p->tasks, run_task, &run);
}
