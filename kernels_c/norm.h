#ifndef EXACT_NORM_H
#define EXACT_NORM_H
/* LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization: all normalise rows. docs/norm.md */
#include "exact_impl.h"
#include "reduce.h"

/* Index 0: float32, 1: float64. */
struct exact_norm_kernels {
  /* For `count` rows of n > 0 elements: mean (0 for RMSNormalization) and 1 / sqrt(variance + epsilon). */
  void (*stats[2])(const void *x, size_t n, size_t count, size_t room, bool rms, float epsilon, void *mean, void *inverse);
  /* y = ((x - mean) * inverse) * scale + bias. `each`: scale and bias are arrays of n, else one number; bias may be NULL. */
  void (*apply[2])(const void *x, size_t n, const void *mean, const void *inverse, const void *scale, const void *bias,
                   bool each, void *y);
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
#endif
