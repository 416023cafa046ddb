/* Pools by tiles: a band of output rows of one depth of one plane. Windows are read from x where they lie inside it, else
 * from a padded (and for float16 and bfloat16 widened) copy of the band's lines. The padding holds what cannot change a
 * result: -infinity or the lowest integer under a maximum; +0 under a sum, which starts from +0 and so is never -0.
 * Maxima of overlapping windows are taken along the lines first, which keeps the first of equal elements. docs/pool.md */
#include "pool.h"

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

typedef struct tile {
  size_t plane, depth, row, column, rows, columns;
} tile;

static tile tile_at(const exact_pool_tiles *p, size_t i) {
  tile t;
  t.column = i % p->segments * p->segment, i /= p->segments;
  t.row = i % p->bands * p->band, i /= p->bands;
  t.depth = i % (size_t)p->shape.out[0], t.plane = i / (size_t)p->shape.out[0];
  t.rows = least(p->band, (size_t)p->shape.out[1] - t.row);
  t.columns = least(p->segment, (size_t)p->shape.out[2] - t.column);
  return t;
}

/* Input elements under a tile: tap line (slice, line) starts at base + slice * slice_step + line * line_step. */
typedef struct source {
  const void *base;
  ptrdiff_t slice_step, line_step;
  size_t slices, lines;
} source;

/* Input positions of a tile's first taps, and how far its taps reach. Slices are the depths inside the input. */
typedef struct span {
  int64_t slice, row, column, lines, extent;
  int64_t slices, slice_step;
} span;

static span span_of(const exact_window *w, const exact_pool_shape *s, const tile *t) {
  int64_t first, end;
  exact_pool_clip(w, s, 0, (int64_t)t->depth, 0, 0, &first, &end);
  return (span){
      .slice = (int64_t)t->depth * w->stride[0] - s->begin[0] + first * w->dilation[0],
      .row = (int64_t)t->row * w->stride[1] - s->begin[1],
      .column = (int64_t)t->column * w->stride[2] - s->begin[2],
      .lines = (int64_t)(t->rows - 1) * w->stride[1] + exact_window_extent(w, 1),
      .extent = (int64_t)(t->columns - 1) * w->stride[2] + exact_window_extent(w, 2),
      .slices = end - first,
      .slice_step = w->dilation[0],
  };
}

/* True when the kernels may read all lines of the span in x: inside a plane, and not beyond the end of x. */
static bool is_in_place(const exact_pool_plan *p, const tile *t, const span *a) {
  const exact_pool_tiles *tiles = &p->tiles;
  const exact_pool_shape *s = &tiles->shape;
  if (exact_dtype_size(p->op->op.dtype) != exact_pool_lane_size(tiles->lane) || a->slices < 1) return false;
  if (a->row < 0 || a->row + a->lines > s->in[1] || a->column < 0 || a->column + a->extent > s->in[2]) return false;
  int64_t last = ((a->slice + (a->slices - 1) * a->slice_step) * s->in[1] + a->row + a->lines - 1) * s->in[2] + a->column;
  size_t left = (s->planes - t->plane) * s->plane_in - (size_t)last;
  return exact_pool_reach(&p->op->window, tiles->lane, t->columns) <= left;
}

static source copy_padded(const exact_pool_plan *p, const tile *t, const span *a, const char *x, char *slot) {
  const exact_pool_tiles *tiles = &p->tiles;
  const exact_pool_shape *s = &tiles->shape;
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  size_t lane = exact_pool_lane_size(tiles->lane), size = exact_dtype_size(p->op->op.dtype), line = (size_t)s->in[2];
  void (*pad_lines)(const exact_pool_pad *) = size == lane ? k->pad_lines[tiles->lane] : k->pad_halves;
  int64_t left = a->column < 0 ? -a->column : 0, from = a->column + left, to = a->column + a->extent;
  int64_t above = a->row < 0 ? least((size_t)-a->row, (size_t)a->lines) : 0, below = a->row + a->lines - s->in[1];
  if (left > a->extent) left = a->extent;
  if (to > s->in[2]) to = s->in[2];
  if (below < 0) below = 0;
  if (below > a->lines - above) below = a->lines - above;
  exact_pool_pad blank = {
      .dst_step = tiles->width, .right = (size_t)a->extent, .lowest = p->op->kind == EXACT_MAX_POOL, .dtype = p->op->op.dtype};
  exact_pool_pad body = blank;
  body.src_step = line;
  body.lines = (size_t)(a->lines - above - below);
  body.left = (size_t)left;
  body.n = from < to ? (size_t)(to - from) : 0;
  body.right = (size_t)a->extent - body.left - body.n;
  for (int64_t d = 0; d < a->slices; d++) {
    char *dst = slot + tiles->padded + (size_t)d * tiles->lines * tiles->width * lane;
    size_t first = (size_t)((a->slice + d * a->slice_step) * s->in[1] + a->row + above) * line + (size_t)(body.n ? from : 0);
    blank.dst = dst;
    blank.lines = (size_t)above;
    pad_lines(&blank);
    body.dst = dst + (size_t)above * tiles->width * lane;
    body.src = x + (t->plane * s->plane_in + first) * size;
    body.room = (s->planes - t->plane) * s->plane_in - first;
    pad_lines(&body);
    blank.dst = dst + (size_t)(a->lines - below) * tiles->width * lane;
    blank.lines = (size_t)below;
    pad_lines(&blank);
  }
  return (source){slot + tiles->padded, (ptrdiff_t)(tiles->lines * tiles->width), (ptrdiff_t)tiles->width, (size_t)a->slices,
                  (size_t)a->lines};
}

static source find_source(const exact_pool_plan *p, const tile *t, const char *x, char *slot) {
  const exact_pool_shape *s = &p->tiles.shape;
  span a = span_of(&p->op->window, s, t);
  if (!is_in_place(p, t, &a)) return copy_padded(p, t, &a, x, slot);
  int64_t first = (int64_t)(t->plane * s->plane_in) + (a.slice * s->in[1] + a.row) * s->in[2] + a.column;
  return (source){x + first * (int64_t)exact_dtype_size(p->op->op.dtype), a.slice_step * s->in[1] * s->in[2], s->in[2],
                  (size_t)a.slices, (size_t)a.lines};
}

/* Replaces lines by their maxima over the columns of each output. */
static source take_row_maxima(const exact_pool_plan *p, source s, exact_pool_rows r, char *slot) {
  static const ptrdiff_t zero = 0;
  const exact_pool_tiles *t = &p->tiles;
  size_t lane = exact_pool_lane_size(t->lane);
  char *maxima = slot + t->row_maxima;
  r.lines = &zero;
  r.n_lines = 1;
  r.src_step = s.line_step;
  r.dst_step = (ptrdiff_t)t->out_width;
  r.rows = s.lines;
  r.room = SIZE_MAX;
  for (size_t d = 0; d < s.slices; d++) {
    r.src = (const char *)s.base + (ptrdiff_t)d * s.slice_step * (ptrdiff_t)lane;
    r.dst = maxima + d * t->lines * t->out_width * lane;
    p->op->op.isa->pool->max_rows[t->lane](&r);
  }
  return (source){maxima, (ptrdiff_t)(t->lines * t->out_width), (ptrdiff_t)t->out_width, s.slices, s.lines};
}

/* Windows without a number in them, found by their maximum of -infinity, again by the rules. */
static void settle(const exact_pool_plan *p, const tile *t, const char *x, char *y) {
  const exact_pool_shape *s = &p->tiles.shape;
  size_t size = exact_dtype_size(p->op->op.dtype);
  uint64_t minus_infinity = exact_pool_special(p->op->op.dtype).minus_infinity;
  for (size_t i = 0; i < t->rows; i++)
    for (size_t j = 0; j < t->columns; j++) {
      char *at = y + (i * (size_t)s->out[2] + j) * size;
      int64_t o[3] = {(int64_t)t->depth, (int64_t)(t->row + i), (int64_t)(t->column + j)};
      if (!memcmp(at, &minus_infinity, size)) exact_pool_scan_max(p->op, s, x + t->plane * s->plane_in * size, o, at);
    }
}

static void run_tile(const exact_call *call, const exact_pool_plan *p, const tile *t, char *slot) {
  const exact_window *w = &p->op->window;
  const exact_pool_tiles *tiles = &p->tiles;
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  size_t size = exact_dtype_size(p->op->op.dtype), lane = exact_pool_lane_size(tiles->lane), line = (size_t)tiles->shape.out[2];
  size_t row = t->depth * (size_t)tiles->shape.out[1] + t->row;
  char *y = (char *)call->out[0] + (t->plane * tiles->shape.plane_out + row * line + t->column) * size;
  exact_pool_rows r = {.n = t->columns, .n_taps = (size_t)w->kernel[2], .dilation = w->dilation[2], .stride = w->stride[2]};
  source s = find_source(p, t, call->in[0], slot);
  if (exact_pool_two_passes(p->op)) {
    s = take_row_maxima(p, s, r, slot);
    r.n_taps = 1;
    r.stride = 1;
  }
  ptrdiff_t *lines = (ptrdiff_t *)(slot + tiles->offsets);
  for (size_t d = 0; d < s.slices; d++)
    for (int64_t h = 0; h < w->kernel[1]; h++)
      lines[r.n_lines++] = (ptrdiff_t)d * s.slice_step + h * w->dilation[1] * s.line_step;
  bool narrow = size != lane, low = false;
  r.src = s.base;
  r.src_step = w->stride[1] * s.line_step;
  r.lines = lines;
  r.rows = t->rows;
  r.dst = narrow ? slot + tiles->narrow : y;
  r.dst_step = (ptrdiff_t)(narrow ? tiles->out_width : line);
  r.room = narrow ? SIZE_MAX : tiles->segments == 1 ? t->rows * line : 0;
  if (p->op->kind == EXACT_MAX_POOL) {
    low = k->max_rows[tiles->lane](&r);
  } else {
    r.factors = (const char *)tiles->factors + (tiles->joined ? 0 : row * lane);
    r.columns = (const char *)tiles->columns + t->column * lane;
    r.multiply = tiles->multiply;
    k->mean_rows[tiles->lane](&r);
  }
  if (narrow)
    for (size_t i = 0; i < t->rows; i++)
      k->narrow(y + i * line * size, (float *)r.dst + i * tiles->out_width, t->columns, p->op->op.dtype);
  if (low) settle(p, t, call->in[0], y);
}

typedef struct tiles_run {
  const exact_call *call;
  exact_slots slots;
} tiles_run;

static void run_task(void *arg, size_t task) {
  tiles_run *run = arg;
  const exact_pool_plan *p = (const exact_pool_plan *)run->call->plan;
  size_t i = task * p->tiles.per_task, end = least(i + p->tiles.per_task, p->tiles.count);
  char *slot = exact_slot_take(&run->slots);
  for (; i < end; i++) {
    tile t = tile_at(&p->tiles, i);
    run_tile(run->call, p, &t, slot);
  }
  exact_slot_give(&run->slots, slot);
}

void exact_pool_run_tiles(const exact_call *call) {
  const exact_pool_tiles *t = &((const exact_pool_plan *)call->plan)->tiles;
  tiles_run run = {.call = call};
  exact_slots_init(&run.slots, call->work, t->slot, exact_slot_count(t->tasks));
  exact_parallel(call->threads, t->tasks, run_task, &run);
}
