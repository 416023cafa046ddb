#ifndef EXACT_RESIZE_H
#define EXACT_RESIZE_H
/* Resize and Upsample: the taps of an axis, their packed forms, the kernels of an instruction set, the plan. docs/resize.md */
#include "exact_impl.h"

enum { RESIZE_F32, RESIZE_F64, RESIZE_TYPES };
enum { RESIZE_1, RESIZE_2, RESIZE_4, RESIZE_8, RESIZE_SIZES }; /* bytes of a copied element */
/* Bytes that may be read past the end of a scratch buffer. */
enum { RESIZE_SLACK = 128 };

/* An axis of rows: output j is the sum of weight[t] * row index[t], t from first[j] up to first[j + 1], from +0. */
typedef struct exact_resize_rows {
  const size_t *first;
  const int32_t *index;
  const void *weight; /* of the arithmetic type */
} exact_resize_rows;

/* The last axis, in blocks of a vector's lanes: block b starts at output b * lanes, the last one ends with the axis. A tap's
 * elements lie within `windows` vectors from base on, or (0) anywhere after it. shared: all taps of a block have one base. The
 * blocks from `alike` up to `alike_end` have the same picks and weights, no holes, and bases `step` apart. */
typedef struct exact_resize_line {
  size_t out, blocks, taps;
  int windows;
  bool shared;
  size_t alike, alike_end, step;
  const int32_t *base;  /* [block][tap] */
  const int32_t *pick;  /* [block][tap][lane]: element after base */
  const void *weight;   /* [block][tap][lane], of the arithmetic type; NULL: nearest */
  const uint8_t *holes; /* [block]: some lane has fewer taps: weight zero, which is left out */
} exact_resize_line;

/* `rows` lines of which a kernel makes the blocks from `block` up to `end`. Element i of the input is src[i - src_from], output
 * j is dst[j - dst_from]. Steps and positions count elements. */
typedef struct exact_resize_span {
  const exact_resize_line *line;
  size_t block, end, rows;
  const void *src;
  size_t src_from, src_step;
  void *dst;
  size_t dst_from, dst_step;
} exact_resize_span;

/* Lines `from` up to `end` of the output are copies of picked elements of the input's lines row[from] ... (NULL: line j of
 * line j). */
typedef struct exact_resize_copy {
  const exact_resize_line *line;
  const int32_t *row;
  size_t from, end;
  const void *src;
  size_t src_step;
  void *dst; /* of line `from` */
  size_t dst_step;
} exact_resize_copy;

struct exact_resize_kernels {
  size_t lanes[RESIZE_TYPES];
  int windows; /* the most that a line may have */
  /* Outputs `from` up to `end`, `width` elements each; input row i is src + (i - src_from) * src_step. finish: a NaN becomes
   * canonical. */
  void (*rows[RESIZE_TYPES])(const exact_resize_rows *t, size_t from, size_t end, const void *src, size_t src_from,
                             size_t src_step, void *dst, size_t dst_step, size_t width, bool finish);
  void (*line[RESIZE_TYPES])(const exact_resize_span *s); /* a NaN becomes canonical */
  void (*copy[RESIZE_SIZES])(const exact_resize_copy *c);
  /* dst[i] = src[i] in the arithmetic type of dtype; a result in dtype: docs/resize.md, "Values". */
  void (*widen)(void *dst, const void *src, size_t n, int dtype);
  void (*narrow)(void *dst, const void *src, size_t n, int dtype, bool rounded);
};

/* The taps of an axis as docs/resize.md numbers them: output j has taps pairs from j * taps on; weight zero: no tap. */
typedef struct exact_resize_taps {
  bool resampled;
  size_t in, out, taps;
  int32_t *index;
  float *weight;    /* NULL: nearest */
  uint8_t *outside; /* [out]: 1 where the output is extrapolation_value; NULL: nowhere */
} exact_resize_taps;

typedef struct exact_resize_op {
  exact_op op;
  exact_resize_attrs attrs;
} exact_resize_op;

/* What the inputs say about an axis of X. */
typedef struct exact_resize_extent {
  bool listed, resampled;
  int64_t in, out; /* -1: not known */
  float scale, start, end;
} exact_resize_extent;
/* Memory of the taps is the caller's: exact_resize_taps_free. */
int exact_resize_taps_new(const exact_resize_op *op, const exact_resize_extent *e, exact_resize_taps *taps, exact_error *err);
void exact_resize_taps_free(exact_resize_taps *taps);

/* The axes after merging: neighbours that are not resampled are one. The output is cut into boxes; a box needs the inputs
 * first[box] up to end[box] of the axis. */
typedef struct exact_resize_axis {
  bool resampled;
  size_t in, out, in_step, out_step;
  size_t box, boxes, reach; /* outputs of a box, boxes, the most inputs that one needs */
  const size_t *first, *end;
  exact_resize_rows rows;
  const uint8_t *outside;
} exact_resize_axis;

typedef struct exact_resize_plan {
  exact_plan plan;
  int axes, passes, type;
  exact_resize_axis axis[EXACT_MAX_RANK];
  int order[EXACT_MAX_RANK];     /* axes of the passes */
  exact_resize_line line;        /* of the last axis, where it is resampled */
  bool native;                   /* the arithmetic type is the element type */
  size_t element;                /* bytes */
  size_t units, per_task, tasks; /* boxes, or lines of copies */
  size_t area[2], slot;
  char fill[8]; /* extrapolation_value */
} exact_resize_plan;

/* A plan for an output with elements. */
int exact_resize_plan_new(const exact_resize_op *op, const exact_tensor *y, const exact_resize_taps *taps, exact_plan **plan,
                          exact_error *err);
void exact_resize_run(const exact_call *call);      /* linear, cubic */
void exact_resize_run_same(const exact_call *call); /* the same without a resampled axis */
void exact_resize_run_copy(const exact_call *call); /* nearest */
/* Writes extrapolation_value to the outputs from `low` up to `high` that lie outside on some axis. */
void exact_resize_fill(const exact_resize_plan *p, const size_t *low, const size_t *high, char *y);
#endif
