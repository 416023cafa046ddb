/* Pixels of ConvInteger and QLinearConv to panels (conv_integer.h). */
#include "conv_integer.h"

enum {
  MOST_TAPS = 4096,
  PLACES = 768, /* of a block at most, if it has more than a row */
  LEAST_COLUMNS = 48,
  SPLIT = 192,             /* places of a block that may be halved for more tasks */
  PATCH_BYTES = 256 << 10, /* wanted */
  MOST_BYTES = 4 << 20
};

size_t exact_pixel_tables(const exact_conv_shape *s) {
  if (s->taps > MOST_TAPS) return 0;
  return exact_align(s->taps * sizeof(size_t)) + exact_align((size_t)s->kernel[1] * sizeof(int64_t)) +
         exact_align((size_t)s->kernel[2] * sizeof(int64_t));
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The different remainders of the taps' distances, in the order of the taps. */
static size_t find_phases(const exact_conv_shape *s, int axis, int64_t *phase) {
  size_t n = 0;
  for (int64_t k = 0; k < s->kernel[axis]; k++) {
    int64_t first = k * s->dilation[axis] % s->stride[axis];
    size_t i = 0;
    while (i < n && phase[i] != first) i++;
    if (i == n) phase[n++] = first;
  }
  return n;
}

static size_t phase_of(const int64_t *phase, int64_t first) {
  size_t i = 0;
  while (phase[i] != first) i++;
  return i;
}

/* Sizes of the patch of a block; false when it is larger than MOST_BYTES. */
static bool measure(exact_pixel_patch *p, const exact_conv_shape *s, size_t rows, size_t columns) {
  int64_t down = (s->kernel[1] - 1) * s->dilation[1] / s->stride[1], right = (s->kernel[2] - 1) * s->dilation[2] / s->stride[2];
  double high = (double)rows + (double)down, pitch = (double)columns + (double)right;
  double planes = (double)s->c * (double)s->kernel[0] * (double)p->phases[0] * (double)p->phases[1];
  if (high * pitch * planes > MOST_BYTES || pitch > 2 * (double)columns + 16) return false;
  p->rows = rows;
  p->columns = columns;
  p->high = (size_t)high;
  p->pitch = (size_t)pitch;
  p->channel = p->high * p->pitch * (size_t)s->kernel[0] * p->phases[0] * p->phases[1];
  p->bytes = p->channel * s->c + EXACT_INTEGER_WIDTH;
  return true;
}

/* A block of at most PLACES places, smaller while its patch is larger than wanted. */
static void choose_block(exact_pixel_patch *p, const exact_conv_shape *s) {
  size_t columns = (size_t)least(s->out[2], PLACES), rows = columns < (size_t)s->out[2] ? 1 : PLACES / columns;
  if (rows > (size_t)s->out[1]) rows = (size_t)s->out[1];
  bool fits = p->form == EXACT_PIXELS_PATCH && measure(p, s, rows, columns);
  while (p->form == EXACT_PIXELS_PATCH && (!fits || p->bytes > PATCH_BYTES)) {
    if (rows > 1)
      rows = (rows + 1) / 2;
    else if (columns > LEAST_COLUMNS)
      columns = (columns + 1) / 2;
    else
      break;
    fits = measure(p, s, rows, columns);
  }
  for (size_t units = s->n * s->groups * (size_t)s->out[0]; fits && units < EXACT_LEAST_TASKS && rows * p->pitch >= SPLIT;
       units *= 2) {
    rows = (rows + 1) / 2;
    fits = measure(p, s, rows, columns);
  }
  if (fits) return;
  if (p->form == EXACT_PIXELS_PATCH) p->form = EXACT_PIXELS_GATHER;
  p->rows = rows;
  p->columns = p->pitch = columns;
  p->bytes = 0;
}

void exact_pixel_init(exact_pixel_patch *p, const exact_conv_shape *s, void *tables) {
  size_t *at = tables;
  *p = (exact_pixel_patch){.form = EXACT_PIXELS_PATCH};
  if (s->taps == 1 && s->in[0] == 1 && s->in[1] == 1 && s->out[0] == 1 && s->out[1] == 1 && s->in[2] == s->out[2] &&
      s->stride[2] == 1 && !s->pad[0] && !s->pad[1] && !s->pad[2])
    p->form = EXACT_PIXELS_DIRECT;
  else if (s->taps > MOST_TAPS || s->c == 0)
    p->form = EXACT_PIXELS_GATHER;
  if (p->form == EXACT_PIXELS_PATCH) {
    int64_t *row = (int64_t *)((char *)tables + exact_align(s->taps * sizeof *at));
    int64_t *column = (int64_t *)((char *)row + exact_align((size_t)s->kernel[1] * sizeof *row));
    p->phases[0] = find_phases(s, 1, row);
    p->phases[1] = find_phases(s, 2, column);
    p->row_phase = row;
    p->column_phase = column;
  }
  choose_block(p, s);
  if (p->form != EXACT_PIXELS_PATCH) return;
  for (size_t t = 0; t < s->taps; t++) {
    int64_t kw = (int64_t)t % s->kernel[2] * s->dilation[2], kh = (int64_t)t / s->kernel[2] % s->kernel[1] * s->dilation[1];
    size_t plane = t / (size_t)s->kernel[2] / (size_t)s->kernel[1];
    plane = plane * p->phases[0] + phase_of(p->row_phase, kh % s->stride[1]);
    plane = plane * p->phases[1] + phase_of(p->column_phase, kw % s->stride[2]);
    at[t] = (plane * p->high + (size_t)(kh / s->stride[1])) * p->pitch + (size_t)(kw / s->stride[2]);
  }
  p->at = at;
}

/* ---- the patch ---- */
typedef struct span {
  int64_t begin, end;
} span;

/* The indices i < n for which first + i * stride lies in [0, length). */
static span inside(int64_t first, int64_t stride, int64_t length, int64_t n) {
  span s = {first < 0 ? (-first + stride - 1) / stride : 0, length > first ? (length - first - 1) / stride + 1 : 0};
  if (s.end > n) s.end = n;
  return s;
}

/* Rows of a sub-plane, whose elements outside x hold the padding already. */
static void fill_plane(const exact_conv_shape *s, const uint8_t *x, uint8_t *dst, size_t pitch, int64_t row, int64_t column,
                       span rows, span columns) {
  const size_t n = (size_t)(columns.end - columns.begin), stride = (size_t)s->stride[2];
  if (columns.begin >= columns.end) return;
  for (int64_t r = rows.begin; r < rows.end; r++) {
    uint8_t *out = dst + (size_t)r * pitch + (size_t)columns.begin;
    const uint8_t *from = x + (size_t)((row + r * s->stride[1]) * s->in[2] + column + columns.begin * s->stride[2]);
    if (stride == 1)
      exact_copy_bytes(out, from, n);
    else if (stride == 2)
      for (size_t i = 0; i < n; i++) out[i] = from[2 * i];
    else
      for (size_t i = 0; i < n; i++) out[i] = from[stride * i];
  }
}

void exact_pixel_fill(const exact_integer_conv *p, const exact_pixel_block *b, uint8_t *area) {
  const exact_conv_shape *s = &p->s;
  const exact_pixel_patch *patch = &p->patch;
  const size_t plane = (size_t)s->in[1] * (size_t)s->in[2], high = b->rows + patch->high - patch->rows;
  if (patch->form != EXACT_PIXELS_PATCH) return;
  const int64_t top = b->row * s->stride[1] - s->pad[1], left = b->column * s->stride[2] - s->pad[2];
  memset(area, b->fill, patch->bytes);
  for (int64_t kd = 0; kd < s->kernel[0]; kd++) {
    int64_t depth = b->depth * s->stride[0] - s->pad[0] + kd * s->dilation[0];
    if (depth < 0 || depth >= s->in[0]) continue;
    for (size_t i = 0; i < patch->phases[0]; i++)
      for (size_t j = 0; j < patch->phases[1]; j++) {
        int64_t row = top + patch->row_phase[i], column = left + patch->column_phase[j];
        span rows = inside(row, s->stride[1], s->in[1], (int64_t)high);
        span columns = inside(column, s->stride[2], s->in[2], (int64_t)patch->pitch);
        size_t at = (((size_t)kd * patch->phases[0] + i) * patch->phases[1] + j) * patch->high * patch->pitch;
        for (size_t c = 0; c < s->c; c++)
          fill_plane(s, b->x + (c * (size_t)s->in[0] + (size_t)depth) * plane, area + c * patch->channel + at, patch->pitch,
                     row, column, rows, columns);
      }
  }
}

/* ---- panels ---- */
/* What tap k contributes to the places [first, first + count). */
static void gather(const exact_integer_conv *p, const exact_pixel_block *b, size_t k, size_t first, size_t count,
                   uint8_t *dst) {
  const exact_conv_shape *s = &p->s;
  int64_t t = (int64_t)(k % s->taps), kw = t % s->kernel[2], kh = t / s->kernel[2] % s->kernel[1];
  int64_t kd = t / s->kernel[2] / s->kernel[1], depth = b->depth * s->stride[0] - s->pad[0] + kd * s->dilation[0];
  for (size_t i = 0; i < count; i++) {
    int64_t row = b->row + (int64_t)((first + i) / p->patch.pitch),
            column = b->column + (int64_t)((first + i) % p->patch.pitch);
    int64_t y = row * s->stride[1] - s->pad[1] + kh * s->dilation[1];
    int64_t x = column * s->stride[2] - s->pad[2] + kw * s->dilation[2];
    bool inside = depth >= 0 && depth < s->in[0] && y >= 0 && y < s->in[1] && x >= 0 && x < s->in[2];
    size_t from = (k / s->taps * (size_t)s->in[0] + (size_t)depth) * (size_t)s->in[1] + (size_t)y;
    dst[i] = inside ? b->x[from * (size_t)s->in[2] + (size_t)x] : b->fill;
  }
}

void exact_pixel_places(const exact_integer_conv *p, size_t *at) {
  const exact_pixel_patch *patch = &p->patch;
  const size_t step = patch->form == EXACT_PIXELS_PATCH ? patch->channel : (size_t)p->s.in[2];
  size_t k = 0;
  if (patch->form == EXACT_PIXELS_GATHER) return;
  for (size_t c = 0; c < p->s.c; c++)
    for (size_t t = 0; t < p->s.taps; t++) at[k++] = c * step + (patch->at ? patch->at[t] : 0);
  for (; k < p->words * p->k->group; k++) at[k] = at[k - 1];
}

const uint8_t *exact_pixel_base(const exact_integer_conv *p, const exact_pixel_block *b, const uint8_t *area) {
  return p->patch.form == EXACT_PIXELS_PATCH ? area : b->x + (size_t)b->column;
}

void exact_pixel_panel(const exact_integer_conv *p, const exact_pixel_block *b, const uint8_t *area, const size_t *at,
                       size_t first, size_t count, size_t width, uint32_t *panel) {
  const struct exact_integer_kernels *kernels = p->k;
  if (p->patch.form != EXACT_PIXELS_GATHER) { /* the patch has elements to spare */
    size_t readable = p->patch.form == EXACT_PIXELS_PATCH ? width : count;
    kernels->pack_columns(panel, exact_pixel_base(p, b, area) + first, at, p->words, readable, width, p->x_form);
    return;
  }
  const size_t rows[4] = {0, EXACT_INTEGER_WIDTH, 2 * EXACT_INTEGER_WIDTH, 3 * EXACT_INTEGER_WIDTH};
  uint8_t bytes[4 * EXACT_INTEGER_WIDTH] = {0};
  for (size_t w = 0; w < p->words; w++) {
    for (size_t t = 0; t < kernels->group && w * kernels->group + t < p->s.k; t++)
      gather(p, b, w * kernels->group + t, first, count, bytes + rows[t]);
    kernels->pack_columns(panel + w * width, bytes, rows, 1, width, width, p->x_form);
  }
}
