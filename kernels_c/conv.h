#ifndef EXACT_CONV_H
#define EXACT_CONV_H
/* Private to Conv and ConvTranspose: the shape of a convolution, how pixels of x are laid out for the micro-kernel, and the
 * table of kernels that exist once per instruction set.
 *
 * Pixels are the positions of one output plane (a depth), in row-major order. A group of pixels is cut into tiles; the
 * panel of a tile is [k][width], k counting (channel, kernel depth, kernel row, kernel column) in this order. */
#include "exact_impl.h"
#include "gemm.h"

typedef struct exact_conv_shape {
  int dtype;
  size_t n, groups, c, m; /* channels per group: c in, m out */
  size_t taps, k;         /* k = c * taps */
  int64_t in[3], out[3], kernel[3], stride[3], dilation[3], pad[3];
} exact_conv_shape;

/* Without outputs, or without channels to sum over, no tap is ever read. Kernels and pads become those of a point then, since
 * the sizes of an empty weight have no limit that would keep a plan's tables small. */
static inline void exact_conv_shrink(exact_conv_shape *s, size_t outputs) {
  if (outputs && s->c) return;
  for (int i = 0; i < 3; i++) {
    s->kernel[i] = s->dilation[i] = 1;
    if (!outputs) s->in[i] = s->out[i] = s->stride[i] = 1, s->pad[i] = 0;
  }
  if (!outputs) s->n = 0;
  s->taps = 1;
  s->k = s->c;
}

/* The patch: what one channel contributes to a group of pixels, copied from x into a small zeroed area in which every tap
 * of an output row is a run of consecutive elements. Its rows are either the whole span of input rows, or one copy per
 * (output row, kernel row). A row holds lines; a line is every stride-th element from `first` on, and serves kernel columns
 * of one phase of the stride. Tap t of the pixel at (row, column) of the group lies at at[t] + row * step + column. */
typedef struct exact_line {
  int64_t first;    /* input column of its first element, for output column 0 */
  size_t at, extra; /* offset in the row; elements beyond the number of output columns */
} exact_line;
typedef struct exact_patch {
  size_t size; /* elements, with slack after the last row; 0: no patch, elements are fetched one by one */
  size_t row, slab, step;
  bool pairs; /* a copy of the row per (output row, kernel row) */
  size_t lines;
  const exact_line *line;
  const uint32_t *at;
} exact_patch;

/* Consecutive pixels of an output plane. */
typedef struct exact_pixels {
  int64_t depth, row, column; /* of the first */
  int64_t origin;             /* first column in the patch */
  size_t first, count, columns, rows;
} exact_pixels;

/* How a group is cut. Wide: tiles of at most `most` vectors of `lanes` pixels. Narrow: panels of at most `most` pixels. */
typedef struct exact_tiling {
  bool wide;
  size_t lanes, most;
} exact_tiling;

typedef struct exact_copy {
  uint32_t from, to;
} exact_copy;
typedef struct exact_span {
  size_t begin, end;
} exact_span;

/* A call of pack: the panels of a group's tiles for the products [k0, k1), tile_stride elements apart. */
typedef struct exact_pack {
  const exact_conv_shape *shape;
  const exact_patch *patch; /* NULL: kernel 1, stride 1, no padding, and the pixels of all depths form one plane */
  exact_pixels pixels;
  const void *x; /* first channel of the group in the image */
  size_t k0, k1;
  const exact_tiling *tiling;
  void *area;         /* the patch, zero outside what pack itself writes */
  exact_span *span;   /* per line */
  exact_copy *copies; /* of all tiles in turn */
  uint32_t *copy_count;
  void *panels;
  size_t tile_stride;
} exact_pack;

/* ConvTranspose, one output channel: y over the box [out0, out1) from col[tap][input position of the box [in0, in1)]. */
typedef struct exact_fold {
  const exact_conv_shape *shape; /* pad: what is cut before the output */
  int64_t in0[3], in1[3], out0[3], out1[3];
  const void *col;
  size_t col_stride; /* between taps */
  double bias;       /* 0 when there is none: acc is never -0 */
  void *y;           /* the channel's output */
  void *area;        /* accumulators of a row */
} exact_fold;
size_t exact_fold_area(const exact_conv_shape *s); /* elements */

/* The same one output at a time, for windows whose col would not fit: y over the output rows of one channel. */
typedef struct exact_scatter {
  const exact_conv_shape *shape;
  const void *x;                /* first channel of the group in the image */
  const void *w;                /* the channel's first packed weight block */
  size_t panel_rows, rows, row; /* most rows of a panel, rows of the block, the channel's first row in it */
  double bias;
  void *y;
} exact_scatter;

/* Largest kernel depth; vectors of outputs that wait for the store. */
enum { EXACT_DEPTHWISE_SLABS = 16, EXACT_DEPTHWISE_HELD = 14 };

/* Depthwise: one unit is a block of channels, as many as a vector has lanes, over a tile of one output plane. x is first
 * transposed to [position][lane], with the padding as zeros. */
typedef struct exact_depthwise {
  const exact_conv_shape *shape;
  const void *x, *weights, *bias;   /* first channel; packed [output of a channel][tap][lane]; [channel][output], NULL: none */
  void *y;                          /* first output channel */
  size_t channels;                  /* of the block: at most the lanes of a vector */
  int64_t depth, row, column;       /* of the tile */
  size_t rows, columns, high, wide; /* outputs of the tile; positions of a slab of it */
  const uint32_t *at;               /* position of each tap for the first output */
  void *area;                       /* positions */
  void *out;                        /* [output of a channel][columns + HELD * lanes][lane] */
} exact_depthwise;

/* Depthwise plane by plane: one unit is a channel's rows [row, row + rows) of the output. */
enum { EXACT_PLANES_TAPS = 81 };
typedef struct exact_planes {
  const exact_conv_shape *shape;
  const void *x, *weights, *bias; /* the channel's plane; its first packed weight; its first bias, NULL: none */
  void *y;                        /* plane of its first output */
  size_t row, rows, high, pitch;  /* rows of the area, elements of one */
  size_t lanes;                   /* between packed weights */
  const uint32_t *at;             /* place of each tap in the area, for the first output */
  void *area;                     /* input rows with padding */
} exact_planes;

struct exact_conv_kernels {
  /* [0] for float32, float16 and bfloat16, [1] for float64, here and below. */
  int copy_lanes[2]; /* elements that one copy of a narrow tile moves */
  void (*pack[2])(const exact_pack *p);
  /* The same in two steps: patches of all channels of [k0, k1), then one panel at a time, to panels. */
  void (*fill[2])(const exact_pack *p);
  void (*pack_tile[2])(const exact_pack *p, const exact_copy *copy, size_t count, size_t pixels);
  /* dst[k][width] = src[row * row_stride + k * k_stride], widened; columns from `rows` on are +0. */
  void (*weights[2])(void *dst, size_t width, const void *src, size_t row_stride, size_t k_stride, size_t rows, size_t k,
                     int dtype);
  /* y[row] = c[row], narrowed; rows y_stride and c_stride elements apart. */
  void (*store)(void *y, size_t y_stride, const float *c, size_t c_stride, size_t rows, size_t n, int dtype);
  /* y[j][i] = c[i][j], i < rows, j < columns, narrowed. */
  void (*store_transposed[2])(void *y, size_t y_stride, const void *c, size_t c_stride, size_t rows, size_t columns, int dtype);
  void (*fold[2])(const exact_fold *f);
  void (*scatter[2])(const exact_scatter *s);
  void (*const *depthwise)(const exact_depthwise *d); /* of both kinds */
  void (*const *planes)(const exact_planes *u);       /* of both kinds */
};

/* ---- conv_patch.c ---- */
/* Pixels of the tile that starts with `left` to go, and the width of its panel. */
static inline size_t exact_tile_pixels(const exact_tiling *t, size_t left) {
  if (!t->wide) return exact_gemm_part(left, t->most);
  size_t pixels = exact_gemm_part((left + t->lanes - 1) / t->lanes, t->most) * t->lanes;
  return pixels < left ? pixels : left;
}
static inline size_t exact_tile_width(const exact_tiling *t, size_t pixels) {
  return t->wide ? (pixels + t->lanes - 1) / t->lanes * t->lanes : pixels;
}
/* Bytes of the tables of a patch, and the patch for groups of up to `rows` rows by `columns` columns. */
size_t exact_patch_bytes(const exact_conv_shape *s);
void exact_patch_init(exact_patch *patch, const exact_conv_shape *s, size_t rows, size_t columns, size_t slack, void *tables);
/* Copy lists of a group's tiles, of copies that move `lanes` elements (wide: a vector); at most 2 * count + 2 * tiles. */
void exact_patch_copies(const exact_pack *p, size_t lanes);

/* ---- conv.c ---- */
/* All present inputs must be of the op's type. */
int exact_conv_types(const exact_op *op, int n, const exact_tensor *in, exact_error *err);

/* Checks everything but types; dimensions may be -1; bias: NULL when there is none. Fills the shape of the output, of the type
 * of x, and, where all is known, *s. */
int exact_conv_geometry(const exact_conv_attrs *attrs, const exact_tensor *x, const exact_tensor *w, const exact_tensor *bias,
                        exact_conv_shape *s, exact_tensor *y, exact_error *err);

/* ---- the layouts: how weights are packed and which loops run ---- */
enum { EXACT_CONV_WIDE, EXACT_CONV_NARROW, EXACT_CONV_DEPTHWISE };
typedef struct exact_conv_weights {
  int dtype, layout;
  size_t groups, m, k; /* m and k per group */
} exact_conv_weights;

/* ---- conv_dense.c: wide and narrow ---- */
/* Whether narrow is the better layout for output planes of `pixels` pixels, 0 when unknown. */
bool exact_dense_narrow(const exact_op *op, const exact_conv_weights *w, size_t pixels);
bool exact_dense_weights_size(const exact_op *op, const exact_conv_weights *w, size_t *size);
void exact_dense_weights(const exact_op *op, const exact_conv_weights *w, const void *src, void *dst,
                         const exact_threads *threads);
/* packed: packed weights, or NULL when input 1 arrives with the run. */
int exact_dense_plan(const exact_op *op, const exact_conv_shape *s, int layout, const void *packed, bool bias,
                     const exact_tensor *y, exact_plan **plan, exact_error *err);

/* ---- conv_depthwise.c: one input channel per group ---- */
bool exact_depthwise_serves(const exact_conv_weights *w, size_t c, const int64_t extent[3]);
bool exact_depthwise_weights_size(const exact_op *op, const exact_conv_weights *w, size_t *size);
void exact_depthwise_weights(const exact_op *op, const exact_conv_weights *w, const void *src, void *dst,
                             const exact_threads *threads);
int exact_depthwise_plan(const exact_op *op, const exact_conv_shape *s, const void *packed, bool bias, const exact_tensor *y,
                         exact_plan **plan, exact_error *err);

/* ---- conv_planes.c: the same weights, for the shapes that it serves ---- */
bool exact_planes_serve(const exact_op *op, const exact_conv_shape *s);
int exact_planes_plan(const exact_op *op, const exact_conv_shape *s, const void *packed, bool bias, const exact_tensor *y,
                      exact_plan **plan, exact_error *err);

/* ---- conv_transpose_run.c ---- */
/* Of the shape only dtype, groups, c, m, taps matter to the weights. */
bool exact_transpose_weights_size(const exact_conv_shape *s, size_t *size);
void exact_transpose_weights(const exact_op *op, const exact_conv_shape *s, const void *src, void *dst,
                             const exact_threads *threads);
int exact_transpose_plan(const exact_op *op, const exact_conv_shape *s, const void *packed, bool bias, const exact_tensor *y,
                         exact_plan **plan, exact_error *err);

static inline const struct exact_gemm_kernels *exact_conv_gemm(const exact_op *op) {
  bool fast = op->mode == EXACT_MODE_FAST;
  if (op->dtype == EXACT_FLOAT64) return fast ? op->isa->fast_gemm64 : op->isa->gemm64;
  return fast ? op->isa->fast_gemm32 : op->isa->gemm32;
}
#endif
