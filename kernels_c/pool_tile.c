/* Pools by tiles: a band of output rows of one depth of one plane. Windows are read from x where vectors do not reach beyond
 * it, else from a padded (and for float16 and bfloat16 widened) copy of the band's lines. The padding counts as what cannot
 * change a result: -infinity or the lowest integer under a maximum; +0 under a sum, which starts from +0 and is never -0.
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

/* Where the lines under a tile are: (slice, line) starts at element origin + slice * slice_step + line * line_step of base.
 * The first `above` and the last `below` of the lines are in the padding and not there. edges: as in exact_pool_rows. */
typedef struct source {
  const char *base;
  ptrdiff_t origin, slice_step, line_step;
  int64_t slices, lines, above, below;
  bool edges;
} source;

/* The lines in x itself; false if the kernels cannot read them there. */
static bool find_in_place(const exact_pool_plan *p, const tile *t, const span *a, const char *x, source *found) {
  const exact_pool_tiles *tiles = &p->tiles;
  const exact_pool_shape *s = &tiles->shape;
  const exact_window *w = &p->op->window;
  size_t size = exact_dtype_size(p->op->op.dtype);
  if (size != exact_pool_lane_size(tiles->lane) || a->slices < 1 || p->op->power) return false;
  int64_t above = a->row < 0 ? -a->row : 0, below = a->row + a->lines - s->in[1];
  if (below < 0) below = 0;
  if (above + below >= a->lines) return false;
  int64_t left = -a->column, right = a->column + a->extent - s->in[2];
  bool edges = left > 0 || right > 0;
  if (edges) {
    int64_t room = (int64_t)(POOL_LEAST_VECTOR / size) * w->stride[2];
    if (!exact_pool_reads_vectors(w) || w->kernel[2] > POOL_TAPS || left > room || right > room) return false;
  }
  int64_t slice = s->in[1] * s->in[2], plane = (int64_t)(t->plane * s->plane_in);
  int64_t origin = a->slice * slice + a->row * s->in[2] + a->column;
  int64_t first = plane + origin + above * s->in[2];
  int64_t last = plane + origin + (a->slices - 1) * a->slice_step * slice + (a->lines - below - 1) * s->in[2];
  if (first < 0 || last + (int64_t)exact_pool_reach(w, tiles->lane, t->columns) > (int64_t)(s->planes * s->plane_in))
    return false;
  *found =
      (source){x + (size_t)plane * size, origin, a->slice_step * slice, s->in[2], a->slices, a->lines, above, below, edges};
  return true;
}

static source copy_padded(const exact_pool_plan *p, const tile *t, const span *a, const char *x, char *slot) {
  const exact_pool_tiles *tiles = &p->tiles;
  const exact_pool_shape *s = &tiles->shape;
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  size_t lane = exact_pool_lane_size(tiles->lane), size = exact_dtype_size(p->op->op.dtype), line = (size_t)s->in[2];
  void (*pad_lines)(const exact_pool_pad *) = size == lane ? k->pad_lines[tiles->lane] : k->pad_halves;
  int64_t left = a->column < 0 ? -a->column : 0, from = a->column + left, to = a->column + a->extent;
  int64_t above = a->row < 0 ? -a->row : 0, below = a->row + a->lines - s->in[1];
  if (left > a->extent) left = a->extent;
  if (to > s->in[2]) to = s->in[2];
  if (above > a->lines) above = a->lines;
  if (below < 0) below = 0;
  if (below > a->lines - above) below = a->lines - above;
  exact_pool_pad blank = {.src = x,
                          .dst_step = tiles->width,
                          .right = (size_t)a->extent,
                          .lowest = p->op->fold == POOL_MAX,
                          .dtype = p->op->op.dtype};
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
  if (p->op->power) exact_pool_raise(p->op, slot + tiles->padded, (size_t)a->slices * tiles->lines * tiles->width);
  return (source){.base = slot + tiles->padded,
                  .slice_step = (ptrdiff_t)(tiles->lines * tiles->width),
                  .line_step = (ptrdiff_t)tiles->width,
                  .slices = a->slices,
                  .lines = a->lines};
}

/* The maxima of all lines over the columns of each output, with lines of the lowest value for the padding. */
static source take_row_maxima(const exact_pool_plan *p, const source *s, exact_pool_rows r, char *slot) {
  const exact_pool_tiles *t = &p->tiles;
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  size_t lane = exact_pool_lane_size(t->lane), line_bytes = t->out_width * lane;
  exact_pool_pad blank = {.src = s->base, .dst_step = t->out_width, .right = r.n, .lowest = true};
  ptrdiff_t line;
  r.src = s->base;
  r.lines = &line;
  r.n_lines = 1;
  r.src_step = s->line_step;
  r.dst_step = (ptrdiff_t)t->out_width;
  r.rows = (size_t)(s->lines - s->above - s->below);
  r.room = SIZE_MAX;
  for (int64_t d = 0; d < s->slices; d++) {
    char *dst = slot + t->row_maxima + (size_t)d * t->lines * line_bytes;
    blank.dst = dst;
    blank.lines = (size_t)s->above;
    k->pad_lines[t->lane](&blank);
    line = s->origin + d * s->slice_step + s->above * s->line_step;
    r.dst = dst + (size_t)s->above * line_bytes;
    k->max_rows[t->lane](&r);
    blank.dst = dst + (size_t)(s->lines - s->below) * line_bytes;
    blank.lines = (size_t)s->below;
    k->pad_lines[t->lane](&blank);
  }
  return (source){.base = slot + t->row_maxima,
                  .slice_step = (ptrdiff_t)(t->lines * t->out_width),
                  .line_step = (ptrdiff_t)t->out_width,
                  .slices = s->slices,
                  .lines = s->lines};
}

/* Reduces the windows of r's rows: rows without a line in the padding together, the others one by one. */
static bool reduce_rows(const exact_pool_plan *p, const source *s, exact_pool_rows r, ptrdiff_t *list) {
  const exact_window *w = &p->op->window;
  const struct exact_pool_kernels *k = p->op->op.isa->pool;
  const exact_pool_rows all = r;
  int lane = p->tiles.lane;
  size_t size = exact_pool_lane_size(lane);
  int64_t rows = (int64_t)all.rows, stride = w->stride[1], inside_end = s->lines - s->below - exact_window_extent(w, 1);
  int64_t first = (s->above + stride - 1) / stride, end = inside_end < 0 ? 0 : inside_end / stride + 1;
  bool low = false;
  if (end > rows) end = rows;
  r.src = s->base;
  r.src_step = stride * s->line_step;
  r.lines = list;
  for (int64_t i = 0, count; i < rows; i += count) {
    count = i >= first && i < end ? end - i : 1;
    r.n_lines = 0;
    for (int64_t d = 0; d < s->slices; d++)
      for (int64_t h = 0; h < w->kernel[1]; h++) {
        int64_t line = i * stride + h * w->dilation[1];
        if (line >= s->above && line < s->lines - s->below)
          list[r.n_lines++] = s->origin + d * s->slice_step + line * s->line_step;
      }
    size_t written = (size_t)(i * all.dst_step);
    r.rows = (size_t)count;
    r.dst = (char *)all.dst + written * size;
    r.room = all.room > written ? all.room - written : 0;
    if (p->op->fold == POOL_MAX) {
      low |= k->max_rows[lane](&r);
    } else {
      if (all.factors) r.factors = (const char *)all.factors + (size_t)i * size;
      k->sum_rows[p->op->fold][lane](&r);
    }
  }
  return low;
}

static void run_tile(const exact_call *call, const exact_pool_plan *p, const tile *t, char *slot) {
  const exact_window *w = &p->op->window;
  const exact_pool_tiles *tiles = &p->tiles;
  size_t size = exact_dtype_size(p->op->op.dtype), lane = exact_pool_lane_size(tiles->lane), line = (size_t)tiles->shape.out[2];
  size_t row = t->depth * (size_t)tiles->shape.out[1] + t->row;
  bool narrow = size != lane;
  char *plane = (char *)call->out[0] + t->plane * tiles->shape.plane_out * size, *y = plane + (row * line + t->column) * size;
  span a = span_of(w, &tiles->shape, t);
  source s;
  if (!find_in_place(p, t, &a, call->in[0], &s)) s = copy_padded(p, t, &a, call->in[0], slot);
  exact_pool_rows r = {
      .n = t->columns,
      .n_taps = (size_t)w->kernel[2],
      .dilation = w->dilation[2],
      .stride = w->stride[2],
      .edges = s.edges,
      .column = a.column,
      .length = tiles->shape.in[2],
      .multiply = tiles->multiply,
  };
  if (exact_pool_two_passes(p->op)) {
    s = take_row_maxima(p, &s, r, slot);
    r.n_taps = 1;
    r.stride = 1;
    r.edges = false;
  }
  r.rows = t->rows;
  r.dst = narrow ? slot + tiles->narrow : y;
  r.dst_step = (ptrdiff_t)(narrow ? tiles->out_width : line);
  r.room = narrow ? SIZE_MAX : tiles->segments == 1 ? t->rows * line : 0;
  if (p->op->fold == POOL_MEAN) {
    r.factors = (const char *)tiles->factors + (tiles->joined ? 0 : row * lane);
    r.columns = (const char *)tiles->columns + t->column * lane;
  }
  bool low = reduce_rows(p, &s, r, (ptrdiff_t *)(slot + tiles->offsets));
  for (size_t i = 0; p->op->power && i < t->rows; i++)
    exact_pool_root(p->op, (char *)r.dst + (ptrdiff_t)i * r.dst_step * (ptrdiff_t)lane, t->columns);
  for (size_t i = 0; narrow && i < t->rows; i++)
    p->op->op.isa->pool->narrow(y + i * line * size, (float *)r.dst + i * tiles->out_width, t->columns, p->op->op.dtype);
  if (low)
    exact_pool_settle(p->op, &tiles->shape, (const char *)call->in[0] + t->plane * tiles->shape.plane_in * size, plane,
                      t->depth, (const size_t[]){t->row, t->column}, (const size_t[]){t->rows, t->columns});
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
