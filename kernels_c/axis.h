#ifndef EXACT_AXIS_H
#define EXACT_AXIS_H
/* Axis attributes, and a shape cut at an axis. */
#include "exact_impl.h"

/* *index = the axis in [0, rank); a negative axis counts from the end. */
static inline int exact_axis(int64_t axis, int rank, int *index, exact_error *err) {
  *index = 0;
  if (axis < -rank || axis >= rank)
    return exact_fail(err, EXACT_INVALID, "axis %lld is outside [%d, %d)", (long long)axis, -rank, rank);
  *index = (int)(axis < 0 ? axis + rank : axis);
  return EXACT_OK;
}

/* Product of the dimensions from `first` up to `end`; the shape has passed exact_count or holds a zero. */
static inline size_t exact_extent(const exact_tensor *t, int first, int end) {
  size_t n = 1;
  for (int i = first; i < end; i++)
    if (t->dims[i] == 0) return 0;
  for (int i = first; i < end; i++) n *= (size_t)t->dims[i];
  return n;
}

static inline int exact_flag(int64_t value, const char *name, exact_error *err) {
  if (value == 0 || value == 1) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "%s = %lld, must be 0 or 1", name, (long long)value);
}
#endif
