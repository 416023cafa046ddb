/* Plan and run of ConvInteger and QLinearConv: a task makes the patch of a block of pixels, then panel after panel, each of
 * which all weights of the task pass. */
#include "conv_integer.h"
#include "matmul.h" /* exact_matmul_cut */

enum {
  LEAST_CHANNELS = 32,
  LINE_WORK = 1 << 16,
  PACK_CHANNELS = 48,
  /* whole tiles of any variant */ MOST_SLOT_BYTES = 256 << 20
};

typedef struct conv_run {
  const exact_integer_conv *p;
  const uint8_t *x, *w;
  const char *w_zero, *w_scale, *x_scale, *y_scale;
  const int32_t *bias;
  char *y;
  uint8_t fill;
  int32_t y_zero;
  uint32_t *ones, *w_work;
  size_t *places;
  const uint32_t *w_packed;
  int32_t *sums;
  exact_integer_row *rows;
  exact_slots slots;
} conv_run;

/* ---- plan ---- */
bool exact_integer_conv_plan(exact_integer_conv *p) {
  const exact_conv_shape *s = &p->s;
  size_t *work = &p->base.workspace, channels, size, units, panel, width = p->k->vectors * p->k->lanes;
  p->words = exact_integer_words(p->k, s->k);
  p->row_blocks = ((size_t)s->out[1] - 1) / p->patch.rows + 1;
  p->column_blocks = ((size_t)s->out[2] - 1) / p->patch.columns + 1;
  if (!exact_mul(s->m, p->words, &p->w_words) || !exact_mul(s->m, s->groups, &channels) ||
      !exact_mul(s->n * s->groups, (size_t)s->out[0], &units) || !exact_mul(units, p->row_blocks, &units) ||
      !exact_mul(units, p->column_blocks, &units))
    return false;
  size_t parts = units < EXACT_LEAST_TASKS ? exact_quotient(EXACT_LEAST_TASKS, units) : 1,
         most = exact_quotient(s->m, LEAST_CHANNELS);
  exact_matmul_cut(s->m, p->k->rows, s->m, parts < most ? parts : most, &p->m_block, &p->m_blocks);
  if (!exact_mul(units, p->m_blocks, &p->blocks) || !exact_mul(p->words, width, &panel)) return false;
  p->lines = s->m == 1 && p->patch.form == EXACT_PIXELS_PATCH;
  size_t places = (p->patch.rows - 1) * p->patch.pitch + p->patch.columns + width;
  size_t work_of_block = p->words * p->k->group * places;
  p->per_task = p->lines && work_of_block < LINE_WORK ? LINE_WORK / work_of_block : 1;
  p->tasks = exact_quotient(p->blocks, p->per_task);
  size_t slot = 0, patch;
  if (!exact_part(&slot, p->patch.bytes, 1, &patch) ||
      !exact_part(&slot, p->lines ? places : panel, sizeof(uint32_t), &p->panel_at) ||
      !exact_part(&slot, p->lines ? places : 0, sizeof(int32_t), &p->columns_at) ||
      !exact_part(&slot, p->lines ? places : 0, sizeof(int32_t), &p->out_at))
    return false;
  p->slot = slot + 64; /* slots do not share the low bits of their addresses */
  p->slots = (size_t)exact_slot_count(p->tasks);
  while (p->slots > 1 && p->slots * p->slot > MOST_SLOT_BYTES) p->slots /= 2;
  return exact_part(work, p->words, sizeof(uint32_t), &p->ones_at) && exact_mul(p->words, p->k->group, &size) &&
         exact_part(work, p->patch.form == EXACT_PIXELS_GATHER ? 0 : size, sizeof(size_t), &p->places_at) &&
         exact_part(work, channels, sizeof(exact_integer_row), &p->rows_at) && exact_mul(p->w_words, s->groups, &size) &&
         exact_part(work, p->packed ? 0 : size, sizeof(uint32_t), &p->w_at) &&
         exact_part(work, p->packed ? 0 : channels, sizeof(int32_t), &p->sums_at) &&
         exact_part(work, p->slots, p->slot, &p->slots_at);
}

/* ---- weights ---- */
void exact_integer_pack_w(const struct exact_integer_kernels *k, exact_form form, const uint8_t *src, size_t depth, size_t m0,
                          size_t m1, uint32_t *dst, int32_t *sums) {
  size_t words = exact_integer_words(k, depth);
  for (size_t m = m0, rows; m < m1; m += rows) {
    rows = exact_smaller(m1 - m, k->rows);
    k->pack_rows(dst + m * words, src + m * depth, depth, rows, depth, form);
    for (size_t i = m; i < m + rows; i++) sums[i] = k->sum(src + i * depth, depth, form);
  }
}

static size_t pack_blocks(const exact_conv_shape *s) { return exact_quotient(s->m, PACK_CHANNELS); }

/* Some output channels of a group: packed, unless they are constant, and what the store needs of each. The last task: tables.
 */
static void channels_task(void *arg, size_t index) {
  const conv_run *r = arg;
  const exact_integer_conv *p = r->p;
  const exact_conv_shape *s = &p->s;
  if (index == s->groups * pack_blocks(s)) {
    exact_integer_ones(p->k, s->k, r->ones);
    exact_pixel_places(p, r->places);
    return;
  }
  const float y_scale = exact_integer_scale(r->y_scale, EXACT_FLOAT32, 0);
  size_t group = index / pack_blocks(s), m0 = index % pack_blocks(s) * PACK_CHANNELS,
         m1 = exact_smaller(m0 + PACK_CHANNELS, s->m);
  if (!p->packed)
    exact_integer_pack_w(p->k, p->w_form, r->w + group * s->m * s->k, s->k, m0, m1, r->w_work + group * p->w_words,
                         r->sums + group * s->m);
  for (size_t i = group * s->m + m0; i < group * s->m + m1; i++)
    r->rows[i] = (exact_integer_row){.zero = exact_integer_zero(r->w_zero, p->w_zeros ? i : 0, p->w_form),
                                     .sum = r->sums[i],
                                     .add = r->bias ? r->bias[i] : 0,
                                     .y_zero = r->y_zero,
                                     .scale = exact_integer_scale(r->w_scale, EXACT_FLOAT32, p->w_scales ? i : 0),
                                     .y_scale = y_scale};
}

/* ---- products ---- */
/* The places [first, first + count) of a block that are pixels of it. */
static size_t find_runs(const exact_integer_conv *p, const exact_pixel_block *b, size_t first, size_t count,
                        exact_integer_run *runs) {
  const size_t pitch = p->patch.pitch, columns = (size_t)p->s.out[2];
  size_t n = 0, row = first / pitch, column = first % pitch;
  for (size_t i = 0; i < count; row++, column = 0) {
    if (column < b->columns) {
      size_t length = exact_smaller(b->columns - column, count - i);
      size_t to = ((size_t)b->row + row) * columns + (size_t)b->column + column;
      if (n && runs[n - 1].from + runs[n - 1].length == i && runs[n - 1].to + runs[n - 1].length == to)
        runs[n - 1].length += length;
      else
        runs[n++] = (exact_integer_run){i, length, to};
    }
    i += pitch - column;
  }
  return n;
}

static exact_integer_finish finish_of(const conv_run *r) {
  const exact_integer_conv *p = r->p;
  return (exact_integer_finish){.dtype = p->base.out[0].dtype,
                                .zero = exact_integer_zero(&r->fill, 0, p->x_form),
                                .scale = exact_integer_scale(r->x_scale, EXACT_FLOAT32, 0),
                                .y_stride = (size_t)p->s.out[0] * (size_t)p->s.out[1] * (size_t)p->s.out[2]};
}

/* Sums of the columns, of which the zero points of w need `sum - k * zero`. */
static void take_zeros(const conv_run *r, int32_t zero, int32_t *columns, size_t n) {
  const uint32_t minus = (uint32_t)r->p->s.k * (uint32_t)zero;
  for (size_t j = 0; j < n; j++) columns[j] = (int32_t)((uint32_t)columns[j] - minus);
}

/* All places of the block by output channels [m0, m1) of the group. */
static void multiply(const conv_run *r, const exact_pixel_block *b, size_t image, size_t group, size_t m0, size_t m1,
                     char *slot) {
  const exact_integer_conv *p = r->p;
  const exact_conv_shape *s = &p->s;
  const uint8_t *area = (const uint8_t *)slot;
  const size_t plane = (size_t)s->out[1] * (size_t)s->out[2], element = exact_dtype_size(p->base.out[0].dtype);
  const size_t places = (b->rows - 1) * p->patch.pitch + b->columns, first_row = group * s->m;
  uint32_t *panel = (uint32_t *)(slot + p->panel_at);
  int32_t acc[EXACT_INTEGER_ROWS * EXACT_INTEGER_WIDTH] __attribute__((aligned(64))), columns[EXACT_INTEGER_WIDTH];
  exact_integer_run runs[EXACT_INTEGER_WIDTH];
  exact_integer_finish f = finish_of(r);
  bool zeros = false;
  for (size_t m = m0; m < m1; m++) zeros = zeros || r->rows[first_row + m].zero;
  f.columns = columns;
  f.runs = runs;
  exact_pixel_fill(p, b, (uint8_t *)slot);
  for (size_t first = 0, width; first < places; first += width) {
    width = exact_integer_width(p->k, places - first);
    size_t count = exact_smaller(width, places - first), vectors = width / p->k->lanes;
    exact_pixel_panel(p, b, area, r->places, first, count, width, panel);
    if (zeros) {
      p->k->tile[1](1, vectors, p->words, r->ones, panel, columns);
      take_zeros(r, f.zero, columns, width);
    }
    f.n_runs = find_runs(p, b, first, count, runs);
    for (size_t m = m0, rows; m < m1; m += rows) {
      rows = exact_smaller(p->k->rows, m1 - m);
      p->k->tile[1](rows, vectors, p->words, r->w_packed + group * p->w_words + m * p->words, panel, acc);
      f.y = r->y + ((image * s->groups * s->m + first_row + m) * f.y_stride + (size_t)b->depth * plane) * element;
      p->k->finish(&f, r->rows + first_row + m, rows, acc, width);
    }
  }
}

/* The same for the one output channel of a group. */
static void multiply_lines(const conv_run *r, const exact_pixel_block *b, size_t image, size_t group, char *slot) {
  const exact_integer_conv *p = r->p;
  const exact_conv_shape *s = &p->s;
  const size_t width = (size_t)s->out[2], element = exact_dtype_size(p->base.out[0].dtype);
  const size_t places = exact_integer_padded(p->k, (b->rows - 1) * p->patch.pitch + b->columns);
  const uint8_t *base = exact_pixel_base(p, b, (const uint8_t *)slot);
  int32_t *acc = (int32_t *)(slot + p->panel_at), *columns = (int32_t *)(slot + p->columns_at);
  uint8_t *out = (uint8_t *)(slot + p->out_at);
  exact_integer_finish f = finish_of(r);
  f.columns = columns;
  exact_pixel_fill(p, b, (uint8_t *)slot);
  p->k->line(r->w_packed + group * p->w_words, base, r->places, p->words, places, p->x_form, acc);
  if (r->rows[group].zero) {
    p->k->line(r->ones, base, r->places, p->words, places, p->x_form, columns);
    take_zeros(r, f.zero, columns, places);
  }
  p->k->finish_line(&f, r->rows + group, acc, places, out);
  uint8_t *y =
      (uint8_t *)r->y + ((image * s->groups + group) * f.y_stride + (size_t)b->depth * width * (size_t)s->out[1]) * element;
  for (size_t i = 0; i < b->rows; i++)
    exact_copy_bytes(y + (((size_t)b->row + i) * width + (size_t)b->column) * element, out + i * p->patch.pitch * element,
                     b->columns * element);
}

static void one_block(const conv_run *r, size_t index, char *slot) {
  const exact_integer_conv *p = r->p;
  const exact_conv_shape *s = &p->s;
  size_t m = index % p->m_blocks, column = index / p->m_blocks % p->column_blocks,
         rest = index / p->m_blocks / p->column_blocks;
  size_t row = rest % p->row_blocks, depth = rest / p->row_blocks % (size_t)s->out[0];
  size_t unit = rest / p->row_blocks / (size_t)s->out[0], image = unit / s->groups, group = unit % s->groups;
  exact_pixel_block b = {.fill = r->fill,
                         .depth = (int64_t)depth,
                         .row = (int64_t)(row * p->patch.rows),
                         .column = (int64_t)(column * p->patch.columns)};
  b.x = r->x + unit * s->c * (size_t)s->in[0] * (size_t)s->in[1] * (size_t)s->in[2];
  b.rows = exact_smaller(p->patch.rows, (size_t)(s->out[1] - b.row));
  b.columns = exact_smaller(p->patch.columns, (size_t)(s->out[2] - b.column));
  if (p->lines)
    multiply_lines(r, &b, image, group, slot);
  else
    multiply(r, &b, image, group, m * p->m_block, m + 1 < p->m_blocks ? (m + 1) * p->m_block : s->m, slot);
}

static void block_task(void *arg, size_t index) {
  conv_run *r = arg;
  const exact_integer_conv *p = r->p;
  char *slot = exact_slot_take(&r->slots);
  for (size_t i = index * p->per_task; i < exact_smaller((index + 1) * p->per_task, p->blocks); i++) one_block(r, i, slot);
  exact_slot_give(&r->slots, slot);
}

static const void *given(const exact_call *call, int input) { return input < 0 ? NULL : call->in[input]; }

void exact_integer_conv_run(const exact_call *call) {
  const exact_integer_conv *p = (const exact_integer_conv *)call->plan;
  const exact_conv_shape *s = &p->s;
  const exact_conv_inputs *at = &p->at;
  const uint8_t *x_zero = given(call, at->x_zero);
  conv_run r = {.p = p,
                .x = given(call, at->x),
                .w = given(call, at->w),
                .w_zero = given(call, at->w_zero),
                .x_scale = given(call, at->x_scale),
                .w_scale = given(call, at->w_scale),
                .y_scale = given(call, at->y_scale),
                .bias = given(call, at->bias),
                .y = call->out[0],
                .fill = x_zero ? *x_zero : 0,
                .ones = (uint32_t *)(call->work + p->ones_at),
                .w_work = (uint32_t *)(call->work + p->w_at),
                .sums = (int32_t *)(call->work + p->sums_at),
                .rows = (exact_integer_row *)(call->work + p->rows_at)};
  if (!p->tasks) return;
  if (at->y_zero >= 0) r.y_zero = exact_integer_y_zero(call->in[at->y_zero], p->base.out[0].dtype);
  r.w_packed = r.w_work;
  if (p->packed) {
    r.w_packed = p->packed;
    r.sums = (int32_t *)p->packed + s->groups * p->w_words;
  }
  r.places = (size_t *)(call->work + p->places_at);
  exact_parallel(call->threads, s->groups * pack_blocks(s) + 1, channels_task, &r);
  exact_slots_init(&r.slots, call->work + p->slots_at, p->slot, (int)p->slots);
  exact_parallel(call->threads, p->tasks, block_task, &r);
}
