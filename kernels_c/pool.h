#ifndef EXACT_POOL_H
#define EXACT_POOL_H
/* Private to the pools: kernels of one instruction set, the plan, and the ways to run it. */
#include "window.h"

/* ---- kernels ---- */
/* Lane types that windows are reduced in; float16 and bfloat16 are widened to float32. */
enum { POOL_F32, POOL_F64, POOL_I8, POOL_U8, POOL_LANES };
/* A vector has at most 64 bytes. Buffers that hold rows have room for whole vectors. */
enum { POOL_VECTOR = 64 };

/* Reduces windows: output (i, j), i < rows, j < n, is the reduction over l < n_lines, t < n_taps, in this order, of
 *   src[i * src_step + lines[l] + t * dilation + j * stride]
 * and goes to dst[i * dst_step + j]. Rows are written in increasing i, in whole vectors where these end before dst[room].
 * For stride 1 and 2 whole vectors are read: up to roundup(n) * stride elements from the first tap on, where roundup is
 * to a multiple of POOL_VECTOR bytes. */
typedef struct exact_pool_rows {
  const void *src;
  void *dst;
  ptrdiff_t src_step, dst_step;
  size_t rows, n, room;
  const ptrdiff_t *lines;
  size_t n_lines, n_taps;
  ptrdiff_t dilation, stride;
  /* means: output (i, j) is the sum from +0 divided by row_count[i] * column_count[j] (exact) */
  const void *row_count, *column_count;
} exact_pool_rows;

struct exact_pool_kernels {
  /* Maxima that start from the lowest lane value (-infinity) and ignore NaN; true if one of them is that value. */
  bool (*max_rows[POOL_LANES])(const exact_pool_rows *r);
  /* Sums from +0 divided by the counts; NaN results are canonical. */
  void (*mean_rows[2])(const exact_pool_rows *r);
  /* acc[p] += x[p * step + i] for i = 0, 1, .. n-1 in order, p < group. */
  size_t group;
  void (*sum_group)(const float *x, size_t step, size_t n, float *acc);
  /* The same for any number of planes. */
  void (*sum_few[2])(const void *x, size_t step, size_t n, size_t planes, void *acc);
  /* *max is replaced by each greater x[i]; the sign of a zero is that of the first zero. */
  void (*max_plane[2])(const void *x, size_t n, void *max);
  void (*widen)(float *dst, const void *src, size_t n, int dtype);
  void (*narrow)(void *dst, const float *src, size_t n, int dtype);
};
/* ---- plan ---- */
typedef struct exact_pool_op {
  exact_op op;
  int kind;
  bool ceil_mode, count_include_pad, column_major;
  exact_window window;
} exact_pool_op;

/* Axes are lifted to depth, row, column. */
typedef struct exact_pool_plan {
  exact_plan plan;
  const exact_pool_op *op;
  size_t planes, plane_in, plane_out;
  int64_t in[3], out[3], begin[3], end[3];
  void (*run)(const exact_call *call);
  size_t tasks, per_task;           /* of tiles or planes */
  size_t scan_tasks, scan_per_task; /* of output rows */
  /* Tiles, the units of pool_tile.c: `band` output rows by `segment` columns of one depth. */
  int lane;
  size_t band, segment, bands, segments, slices;
  size_t lines, width;                              /* a slice of padded input: lines of `width` elements */
  size_t out_width;                                 /* of the row maxima and of the float32 output */
  size_t slot, padded, row_maxima, narrow, offsets; /* bytes of a slot and its parts */
  const void *row_count, *column_count;             /* of means: [depth][row] and [column], arithmetic type */
} exact_pool_plan;

/* pool_tile.c: sets up tiles; false when the geometry is too far from dense windows, which pool_scan.c then does. */
bool exact_pool_tiles(exact_pool_plan *p);
void exact_pool_run_tiles(const exact_call *call);

/* pool_scan.c: one output at a time. */
void exact_pool_scan_setup(exact_pool_plan *p);
void exact_pool_run_scan(const exact_call *call);
/* Taps t of axis a, first <= t < end, of the window of output o that lie in [-before, in + after). */
void exact_pool_clip(const exact_pool_plan *p, int a, int64_t o, int64_t before, int64_t after, int64_t *first, int64_t *end);
/* Number of taps that divide the sum of output o, along axis a. */
int64_t exact_pool_count(const exact_pool_plan *p, int a, int64_t o);
/* Writes the maximum of window o[3] of the plane x to *y; returns its index in the plane, 0 when no tap is inside. */
size_t exact_pool_scan_max(const exact_pool_plan *p, const void *x, const int64_t o[3], void *y);

/* pool_global.c */
void exact_pool_global_setup(exact_pool_plan *p);
void exact_pool_run_global(const exact_call *call);

/* Bits of special values of a float type. */
typedef struct exact_pool_bits {
  uint64_t lowest, nan, minus_infinity;
} exact_pool_bits;
exact_pool_bits exact_pool_special(int dtype);

#endif
