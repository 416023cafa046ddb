#ifndef EXACT_RESIZE_PLAN_H
#define EXACT_RESIZE_PLAN_H
/* A Resize plan in the making: resize_plan.c lays it out, resize_tables.c packs its tables. */
#include "resize.h"

typedef struct exact_resize_draft {
  exact_resize_plan *p;
  const struct exact_resize_kernels *k;
  const exact_resize_taps *taps[EXACT_MAX_RANK]; /* of the merged axes; NULL: not resampled */
  size_t fold[EXACT_MAX_RANK];                   /* elements of the axis that are one index of its taps */
  size_t lanes, wide;                            /* of the arithmetic type */
  bool copy;
} exact_resize_draft;

/* Offsets of an axis's tables in the plan's block. */
typedef struct exact_resize_parts {
  size_t first, end, outside; /* of boxes; flags */
  size_t start, index, weight, base, pick, holes;
} exact_resize_parts;

/* The last axis is resampled. */
static inline bool exact_resize_has_line(const exact_resize_draft *d) { return d->p->axis[d->p->axes - 1].resampled; }
/* Sets how the kernels read the line. */
void exact_resize_set_windows(exact_resize_draft *d);
/* Appends the tables of axis a to a block of *total bytes; false when they are too large. */
bool exact_resize_size_tables(const exact_resize_draft *d, int a, size_t *total, exact_resize_parts *at);
/* Fills the tables of all axes into the block that starts with the plan. */
void exact_resize_fill_tables(exact_resize_draft *d, const exact_resize_parts *at);
#endif
