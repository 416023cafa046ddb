#ifndef EXACT_POOL_H
#define EXACT_POOL_H
/* Private to the pools: kernels of one instruction set, the plan, and the ways to run it. */
#include "window.h"

/* ---- kernels ---- */
/* Lane types that windows are reduced in; float16 and bfloat16 are widened to float32. */
enum { POOL_F32, POOL_F64, POOL_I8, POOL_U8, POOL_LANES };
/* The most bytes of a vector, and the least. Buffers of rows have room for whole vectors. */
enum { POOL_VECTOR = 64, POOL_LEAST_VECTOR = 16 };
/* What taps are folded to: the sums of x, |x| and x * x from +0, or the maximum. */
enum { POOL_MEAN, POOL_L1, POOL_L2, POOL_SUMS, POOL_MAX = POOL_SUMS };
/* The most taps of a line that may go beyond the edges of the input. */
enum { POOL_TAPS = 16 };

/* Reduces windows: output (i, j), i < rows, j < n, is the reduction over l < n_lines, t < n_taps, in this order, of
 *   src[i * src_step + lines[l] + t * dilation + j * stride]
 * and goes to dst[i * dst_step + j]. Rows are written in increasing i, in whole vectors where these end before dst[room].
 * For stride 1, and 2 without dilation, whole vectors are read: for n rounded up to POOL_VECTOR bytes, n * stride elements
 * from each tap on. */
typedef struct exact_pool_rows {
  const void *src;
  void *dst;
  ptrdiff_t src_step, dst_step;
  size_t rows, n, room;
  const ptrdiff_t *lines;
  size_t n_lines, n_taps;
  ptrdiff_t dilation, stride;
  /* edges: the first tap of column 0 is column `column` of input lines of `length` elements, and taps outside a line count as
   * the lowest lane value under a maximum, 0 under a sum. They are read nevertheless. Stride 1, or 2 without dilation, at
   * most POOL_TAPS taps, and no more than POOL_LEAST_VECTOR bytes * stride outside on each side. */
  bool edges;
  ptrdiff_t column, length;
  /* means: the sum is divided by factors[i] * columns[j], or multiplied where these are powers of two */
  const void *factors, *columns;
  bool multiply;
} exact_pool_rows;

/* Line i of dst becomes `left` fill values, n elements of line i of src, and `right` fill values; up to POOL_VECTOR bytes
 * beyond these may be written. `room` elements may be read from src on. */
typedef struct exact_pool_pad {
  void *dst;
  const void *src;
  size_t dst_step, src_step, lines, left, n, right, room;
  bool lowest; /* the fill value: the lowest lane value, else 0 */
  int dtype;
} exact_pool_pad;

/* The taps of an axis' output inside the input: the first one's position and their number; and the number that divides. */
typedef struct exact_pool_range {
  size_t first, taps;
  double count;
} exact_pool_range;
typedef struct exact_pool_taps {
  size_t in, out, dilation;
  const exact_pool_range *ranges; /* [out] */
} exact_pool_taps;

/* Windows over `lanes` planes stored [depth][row][column][lane]. */
typedef struct exact_pool_windows {
  const void *src;
  void *dst;
  exact_pool_taps axis[3];
  int fold;
} exact_pool_windows;

struct exact_pool_lane_kernels {
  size_t lanes;
  /* [position][lane] from `lanes` planes of n elements one after the other, n >= lanes. */
  void (*planes_in)(void *dst, const void *src, size_t n, int dtype);
  /* Results as of max_rows and sum_rows below. */
  bool (*windows)(const exact_pool_windows *w);
  /* Back to planes of n elements, without the first `skipped` ones. */
  void (*planes_out)(void *dst, const void *src, size_t n, size_t skipped, int dtype);
};

struct exact_pool_kernels {
  /* Maxima that start from the lowest lane value (-infinity) and ignore NaN; true if one of a float type is that value. */
  bool (*max_rows[POOL_LANES])(const exact_pool_rows *r);
  /* Sums divided by the counts (POOL_MEAN), as they are (POOL_L1), their roots (POOL_L2); NaN results are canonical. */
  void (*sum_rows[POOL_SUMS][2])(const exact_pool_rows *r);
  void (*pad_lines[POOL_LANES])(const exact_pool_pad *pad);
  void (*pad_halves)(const exact_pool_pad *pad);
  /* Takes x[p * step + i], i = 0, 1, .. n-1 in order, into the sum or maximum acc[p], p < group. */
  size_t group;
  void (*sum_group[POOL_SUMS])(const float *x, size_t step, size_t n, float *acc);
  void (*max_group)(const float *x, size_t step, size_t n, float *acc);
  /* The same sum for any number of planes, the same maximum for one. */
  void (*sum_few[POOL_SUMS][2])(const void *x, size_t step, size_t n, size_t planes, void *acc);
  void (*max_plane[2])(const void *x, size_t n, void *max);
  const struct exact_pool_lane_kernels *lanes[2];
  /* x[i] = |x[i]| to the power p >= 1, by repeated squaring. */
  void (*power[2])(void *x, size_t n, int64_t p);
  void (*widen)(float *dst, const void *src, size_t n, int dtype);
  void (*narrow)(void *dst, const float *src, size_t n, int dtype);
};

/* ---- plan ---- */
typedef struct exact_pool_op {
  exact_op op;
  int kind, fold; /* EXACT_MAX_POOL ..., POOL_MEAN ... */
  int64_t power;  /* of LpPool from 3 on, else 0: elements are raised to it first, and then summed as by POOL_L1 */
  bool global, ceil_mode, count_include_pad, column_major;
  exact_window window;
} exact_pool_op;

/* Planes of lifted axes (depth, row, column), and the padding in force. */
typedef struct exact_pool_shape {
  size_t planes, plane_in, plane_out;
  int64_t in[3], out[3], begin[3], end[3];
} exact_pool_shape;

/* pool_tile.c: a tile is `band` output rows by `segment` columns of one depth of one plane. */
typedef struct exact_pool_tiles {
  exact_pool_shape shape; /* with planes joined where that is the same */
  bool joined;            /* then no window reaches into the padding */
  int lane;
  size_t band, segment, bands, segments, count, tasks, per_task;
  size_t lines, width;                              /* a slice of padded input: lines of `width` elements */
  size_t out_width;                                 /* of the row maxima and of the float32 output */
  size_t slot, padded, row_maxima, narrow, offsets; /* bytes of a task's scratch, and where its parts are */
  /* of means: counts of taps or their reciprocals, arithmetic type; [depth][row], or [row] when joined; [column] */
  const void *factors, *columns;
  bool multiply;
} exact_pool_tiles;

/* pool_lanes.c */
typedef struct exact_pool_lanes_plan {
  size_t tasks, planes_per_task, slot, in, out; /* bytes of a task's scratch, and where its parts are */
  exact_pool_taps axis[3];
} exact_pool_lanes_plan;

typedef struct exact_pool_plan {
  exact_plan plan;
  const exact_pool_op *op;
  exact_pool_shape shape;
  void (*run)(const exact_call *call);
  size_t global_tasks, planes_per_task;
  size_t scan_tasks, rows_per_task;
  exact_pool_tiles tiles;
  exact_pool_lanes_plan lanes;
} exact_pool_plan;

/* pool_plan.c. False when the windows are too sparse for tiles. */
bool exact_pool_tiles_setup(exact_pool_plan *p);
bool exact_pool_two_passes(const exact_pool_op *op);
size_t exact_pool_lane_size(int lane);
/* True when the kernels read whole vectors, which go beyond the taps of the last output. */
bool exact_pool_reads_vectors(const exact_window *w);
/* Elements from the first tap of n outputs of a row to the end of what the kernels read. */
size_t exact_pool_reach(const exact_window *w, int lane, size_t n);
/* Appends the tables of a mean's factors to a block of *bytes, and fills them. */
bool exact_pool_factors_size(const exact_pool_plan *p, size_t *bytes, size_t *factors_at, size_t *columns_at);
void exact_pool_fill_factors(exact_pool_plan *p, void *factors, void *columns);
void exact_pool_run_tiles(const exact_call *call);

/* False when tiles are better. Appends tables to a block of *bytes; exact_pool_fill_lanes writes them. */
bool exact_pool_lanes_setup(exact_pool_plan *p, size_t *bytes, size_t *tables_at);
void exact_pool_fill_lanes(exact_pool_plan *p, void *tables);
void exact_pool_run_lanes(const exact_call *call);

/* pool_scan.c: one output at a time. */
void exact_pool_scan_setup(exact_pool_plan *p);
void exact_pool_run_scan(const exact_call *call);
/* Taps t of axis a, first <= t < end, of the window of output o that lie in [-before, in + after). */
void exact_pool_clip(const exact_window *w, const exact_pool_shape *s, int a, int64_t o, int64_t before, int64_t after,
                     int64_t *first, int64_t *end);
/* Number of taps that divide the sum of output o, along axis a. */
int64_t exact_pool_count(const exact_pool_op *op, const exact_pool_shape *s, int a, int64_t o);
/* Writes the maximum of window o[3] of the plane x to *y; returns its index in the plane, 0 when no tap is inside. */
size_t exact_pool_scan_max(const exact_pool_op *op, const exact_pool_shape *s, const void *x, const int64_t o[3], void *y);

/* The maxima of -infinity among outputs of one depth (rows first[0].., columns first[1]..) of plane y, again by the rules. */
void exact_pool_settle(const exact_pool_op *op, const exact_pool_shape *s, const void *x, void *y, size_t depth,
                       const size_t first[2], const size_t n[2]);

/* pool_power.c, for an op with a power, on the arithmetic type: x[i] = |x[i]| to the power, y[i] = its root of y[i]. */
void exact_pool_raise(const exact_pool_op *op, void *x, size_t n);
void exact_pool_root(const exact_pool_op *op, void *y, size_t n);

/* pool_global.c */
void exact_pool_global_setup(exact_pool_plan *p);
void exact_pool_run_global(const exact_call *call);

/* Bits of special values of a type. */
typedef struct exact_pool_bits {
  uint64_t lowest, nan, minus_infinity;
} exact_pool_bits;
exact_pool_bits exact_pool_special(int dtype);

#endif
