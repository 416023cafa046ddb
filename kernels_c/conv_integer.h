#ifndef EXACT_CONV_INTEGER_H
#define EXACT_CONV_INTEGER_H
/* Private to ConvInteger and QLinearConv: the plan, and how pixels become panels.
 *
 * A convolution is a product of weights (rows, in signed form) and pixels (columns, in unsigned form): integer.h. A block is a
 * rectangle of an output plane. Its patch holds, of every input channel, what the window reads, with the zero point of x as the
 * padding: a sub-plane per phase of the stride, in which the values that one tap contributes to consecutive pixels are
 * consecutive. Every row of a sub-plane has the length `pitch`, so that the pixels of all rows are one sequence; those of its
 * places that are past the block's columns are computed and not stored. */
#include "conv.h"
#include "integer.h"

typedef struct exact_conv_inputs {
  int x, w, x_zero, w_zero, x_scale, w_scale, y_scale, y_zero, bias; /* -1: the operator has none */
} exact_conv_inputs;

typedef struct exact_pixel_patch {
  enum { EXACT_PIXELS_PATCH, EXACT_PIXELS_DIRECT, EXACT_PIXELS_GATHER } form; /* DIRECT: x itself; GATHER: tap by tap */
  size_t rows, columns, pitch;                                                /* of a block; of a row of places */
  size_t high, phases[2];                  /* rows of a sub-plane; phases of rows, of columns */
  size_t channel, bytes;                   /* of a channel; of the patch */
  const size_t *at;                        /* of each tap in its channel */
  const int64_t *row_phase, *column_phase; /* first input row and column of a phase */
} exact_pixel_patch;

typedef struct exact_integer_conv {
  exact_plan base;
  exact_conv_shape s;
  exact_conv_inputs at;
  const struct exact_integer_kernels *k;
  exact_form w_form, x_form;
  bool w_zeros, w_scales; /* one for each output channel */
  const void *packed;     /* weights; NULL: arrive with the run */
  exact_pixel_patch patch;
  size_t words, w_words; /* of a pixel; of a group's weights */
  bool lines;            /* one output channel in a group: no panels, which would be read once */
  size_t row_blocks, column_blocks, m_block, m_blocks;
  size_t blocks, per_task, tasks; /* blocks of pixels by blocks of output channels */
  size_t ones_at, places_at, w_at, sums_at, rows_at, slots_at, slot, slots;
  size_t panel_at, columns_at, out_at; /* in a slot, after the patch; the last two of lines */
} exact_integer_conv;

enum { EXACT_LEAST_TASKS = 4 };

/* A block: of image n, group g, output depth `depth`. */
typedef struct exact_pixel_block {
  const uint8_t *x; /* first channel of the group in the image */
  uint8_t fill;     /* zero point of x */
  int64_t depth, row, column;
  size_t rows, columns;
} exact_pixel_block;

/* Short runs, for which a call of memcpy costs more than it does. */
static inline void exact_copy_bytes(uint8_t *dst, const uint8_t *src, size_t n) {
  typedef uint64_t half __attribute__((vector_size(16), aligned(1), may_alias));
  typedef uint64_t eight __attribute__((aligned(1), may_alias));
  size_t i = 0;
  if (n >= 16) {
    for (; i + 16 < n; i += 16) *(half *)(dst + i) = *(const half *)(src + i);
    *(half *)(dst + n - 16) = *(const half *)(src + n - 16); /* some twice */
  } else if (n >= 8) {
    uint64_t first = *(const eight *)src, last = *(const eight *)(src + n - 8);
    *(eight *)dst = first;
    *(eight *)(dst + n - 8) = last;
  } else {
    for (; i < n; i++) dst[i] = src[i];
  }
}

/* ---- conv_integer_pixels.c ---- */
size_t exact_pixel_tables(const exact_conv_shape *s);
/* Chooses form and block size; tables: exact_pixel_tables bytes. */
void exact_pixel_init(exact_pixel_patch *p, const exact_conv_shape *s, void *tables);
void exact_pixel_fill(const exact_integer_conv *p, const exact_pixel_block *b, uint8_t *area);
/* Where the numbers of a pixel lie from exact_pixel_base on; those that fill up the last word: anywhere. Not for GATHER. */
void exact_pixel_places(const exact_integer_conv *p, size_t *at);
const uint8_t *exact_pixel_base(const exact_integer_conv *p, const exact_pixel_block *b, const uint8_t *area);
/* The panel of places [first, first + count), `width` words for each word of a pixel. at: of exact_pixel_places. */
void exact_pixel_panel(const exact_integer_conv *p, const exact_pixel_block *b, const uint8_t *area, const size_t *at,
                       size_t first, size_t count, size_t width, uint32_t *panel);

/* ---- conv_integer_run.c ---- */
/* Packs output channels [m0, m1) of a group, tile after tile, and sums them. */
void exact_integer_pack_w(const struct exact_integer_kernels *k, exact_form form, const uint8_t *src, size_t depth, size_t m0,
                          size_t m1, uint32_t *dst, int32_t *sums);
bool exact_integer_conv_plan(exact_integer_conv *p);
void exact_integer_conv_run(const exact_call *call);
#endif
