/* Layout of a channel's patch and the copies that make panels of it (conv.h). */
#include "conv.h"

/* Larger patches and more taps than this are fetched element by element instead. */
enum { MOST_TAPS = 4096, MOST_ELEMENTS = 1 << 18 };

size_t exact_patch_bytes(const exact_conv_shape *s) {
  if (s->taps > MOST_TAPS) return 0;
  return exact_align((size_t)s->kernel[2] * sizeof(exact_line)) + exact_align(s->taps * sizeof(uint32_t));
}

typedef struct columns_plan {
  size_t lines, length;
} columns_plan;

/* Puts every kernel column on a line: offset[kw] in the row. */
static columns_plan plan_columns(const exact_conv_shape *s, size_t columns, exact_line *line, uint32_t *offset) {
  columns_plan plan = {0, 0};
  int64_t stride = s->stride[2], dilation = s->dilation[2];
  for (int64_t kw = 0; kw < s->kernel[2]; kw++) {
    int64_t first = kw * dilation - s->pad[2];
    size_t l = 0;
    for (; l < plan.lines; l++) {
      int64_t ahead = first - line[l].first;
      if (ahead % stride == 0 && (uint64_t)(ahead / stride) <= line[l].extra + columns) break;
    }
    if (l == plan.lines) line[plan.lines++] = (exact_line){first, 0, 0};
    int64_t shift = (first - line[l].first) / stride;
    if (line[l].extra < (size_t)shift) line[l].extra = (size_t)shift;
  }
  for (size_t l = 0; l < plan.lines; l++) {
    line[l].at = plan.length;
    plan.length += line[l].extra + columns;
  }
  for (int64_t kw = 0; kw < s->kernel[2]; kw++) {
    int64_t first = kw * dilation - s->pad[2];
    size_t l = 0;
    while ((first - line[l].first) % stride || first < line[l].first ||
           (uint64_t)((first - line[l].first) / stride) > line[l].extra)
      l++;
    offset[kw] = (uint32_t)(line[l].at + (size_t)((first - line[l].first) / stride));
  }
  return plan;
}

void exact_patch_init(exact_patch *patch, const exact_conv_shape *s, size_t rows, size_t columns, size_t slack, void *tables) {
  *patch = (exact_patch){0};
  if (s->taps > MOST_TAPS || columns > MOST_ELEMENTS || rows > MOST_ELEMENTS) return;
  size_t kd = (size_t)s->kernel[0], kh = (size_t)s->kernel[1], kw = (size_t)s->kernel[2];
  exact_line *line = tables;
  uint32_t *at = (uint32_t *)((char *)tables + exact_align(kw * sizeof(exact_line)));
  columns_plan plan = plan_columns(s, columns, line, at);
  /* The span may be huge: it is compared in floating point. */
  double span = (double)(rows - 1) * (double)s->stride[1] + (double)(kh - 1) * (double)s->dilation[1] + 1;
  size_t pairs = rows * kh, high;
  patch->pairs = span > (double)pairs;
  high = patch->pairs ? pairs : (size_t)span;
  if ((double)plan.length * (double)high * (double)kd > MOST_ELEMENTS) return;
  patch->row = plan.length;
  patch->slab = plan.length * high;
  patch->step = plan.length * (patch->pairs ? kh : (size_t)s->stride[1]);
  if (rows == 1) patch->step = 0;
  patch->lines = plan.lines;
  patch->line = line;
  patch->at = at;
  patch->size = patch->slab * kd + slack;
  size_t kernel_row = plan.length * (patch->pairs ? 1 : kh > 1 ? (size_t)s->dilation[1] : 0);
  for (size_t t = s->taps; t-- > 0;) /* backwards: the first kw entries hold the columns' offsets */
    at[t] = (uint32_t)(t / (kh * kw) * patch->slab + t / kw % kh * kernel_row + at[t % kw]);
}

void exact_patch_copies(const exact_pack *p, size_t lanes) {
  exact_copy *copy = p->copies;
  size_t column = (size_t)(p->pixels.column - p->pixels.origin), row = 0, tile = 0;
  for (size_t left = p->pixels.count; left > 0; tile++) {
    size_t pixels = exact_tile_pixels(p->tiling, left), width = exact_tile_width(p->tiling, pixels);
    uint32_t count = 0;
    for (size_t at = 0; at < pixels;) {
      size_t run = p->pixels.columns - column, end;
      if (run > pixels - at) run = pixels - at;
      end = at + run == pixels ? width : at + run; /* the last run fills the panel's row */
      for (size_t i = at; i < end; i += lanes, count++)
        *copy++ = (exact_copy){(uint32_t)(row * p->patch->step + column + (i - at)), (uint32_t)i};
      at += run;
      column += run;
      if (column == p->pixels.columns) {
        column = 0;
        row++;
      }
    }
    p->copy_count[tile] = count;
    left -= pixels;
  }
}
