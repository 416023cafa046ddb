#ifndef EXACT_NORM_H
#define EXACT_NORM_H
/* LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization: all normalise rows. LpNormalization and
 * MeanVarianceNormalization: sequences along axes. docs/norm.md */
#include "exact_impl.h"
#include "reduce.h"

/* Numbers of a sequence, or of the sequences side by side, in the arithmetic type. */
typedef struct exact_norm_numbers {
  const char *first, *mean; /* NULL: not there */
  const char *divisor;
} exact_norm_numbers;

/* Index 0: float32, 1: float64. */
struct exact_norm_kernels {
  /* For `count` rows of n > 0 elements: mean (0 for RMSNormalization) and 1 / sqrt(variance + epsilon). */
  void (*stats[2])(const void *x, size_t n, size_t count, size_t room, bool rms, float epsilon, void *mean, void *inverse);
  /* y = ((x - mean) * inverse) * scale + bias. `each`: scale and bias are arrays of n, else one number; bias may be NULL. */
  void (*apply[2])(const void *x, size_t n, const void *mean, const void *inverse, const void *scale, const void *bias,
                   bool each, void *y);
  /* Sums of x - first or, with a mean, of ((x - first) - mean) squared, as in exact_reduce_kernels: canonical sums of `count`
   * rows, the next terms of a canonical sum, the next rows of sequential sums side by side. */
  void (*sum_rows[2])(const void *x, size_t n, size_t count, size_t room, const exact_norm_numbers *s, void *y);
  void (*sum_more[2])(const void *x, size_t n, const exact_norm_numbers *s, void *state);
  void (*sum_columns[2])(const void *x, size_t step, size_t rows, size_t width, const exact_norm_numbers *s, void *acc);
  /* flat[r * n + i] = values[r], i < n, r < count; up to a vector beyond these may be written. */
  void (*repeat[2])(const void *values, size_t n, size_t count, void *flat);
  /* y = ((x - first) - mean) / divisor, without first and mean x / divisor, +0 where that is 0. y may be x. */
  void (*divide_row[2])(const void *x, size_t n, const exact_norm_numbers *s, void *y);
  void (*divide_columns[2])(const void *x, size_t step, size_t rows, size_t width, const exact_norm_numbers *s, void *y);
};

enum { NORM_LAYER, NORM_RMS, NORM_INSTANCE, NORM_GROUP };
enum { NORM_SCALE, NORM_BIAS };

typedef struct exact_norm_op {
  exact_op op;
  int kind, axis;
  float epsilon;
  int64_t num_groups;
  int parameters; /* EXACT_GROUP_BY_LENGTH ... */
} exact_norm_op;

/* scale or B as the rows read it: in the arithmetic type, for LayerNormalization and RMSNormalization broadcast to a row. */
typedef struct exact_norm_table {
  bool given, direct;    /* direct: the input is the table as it is */
  exact_runs source;     /* table index to element of the input */
  size_t elements, part; /* part of the workspace */
} exact_norm_table;

typedef struct exact_norm_plan {
  exact_plan plan;
  size_t rows, n;                   /* n elements a row */
  size_t segments, segment, period; /* INSTANCE, GROUP: parameter (row * segments + s) % period for segment s */
  exact_norm_table table[2];
  size_t per_task, tasks, area, areas; /* `areas` scratch areas of `area` bytes for rows in the arithmetic type */
  size_t slots;                        /* part of the workspace */
} exact_norm_plan;

void exact_norm_run(const exact_call *call);

/* ---- sequences along axes: norm_axes.c ---- */
typedef struct exact_norm_axes_op {
  exact_op op;
  bool centred; /* MeanVarianceNormalization */
  int p, n_axes;
  int64_t axes[EXACT_MAX_RANK];
} exact_norm_axes_op;

typedef struct exact_norm_axes_plan {
  exact_plan plan;
  exact_reduce_plan sequences; /* the geometry alone */
} exact_norm_axes_plan;

void exact_norm_axes_run(const exact_call *call);
#endif
