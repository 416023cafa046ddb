/* Coordinates and taps of an axis: float32, each operation rounded on its own. docs/resize.md, "Coordinates" and "Taps" */
#include <math.h>
#include <stdlib.h>

#include "resize.h"

/* f of an integer value; far beyond every index where it does not fit. */
static int64_t whole(float f) { return f > -0x1p62f ? f < 0x1p62f ? (int64_t)f : (int64_t)1 << 62 : -((int64_t)1 << 62); }

static int32_t clamp(int64_t i, int64_t in) { return (int32_t)(i < 0 ? 0 : i >= in ? in - 1 : i); }

/* ---- coordinates ---- */
static float coordinate(int transform, const exact_resize_extent *e, int64_t j) {
  const float s = e->scale, in = (float)e->in, out = (float)e->out, x = (float)j;
  const float last_in = (float)(e->in - 1), last_out = (float)(e->out - 1);
  const bool one = e->out == 1;
  switch (transform) {
    case EXACT_PYTORCH_HALF_PIXEL: return one ? 0.0f : (x + 0.5f) / s - 0.5f;
    case EXACT_HALF_PIXEL_SYMMETRIC: return in / 2.0f * (1.0f - out / (s * in)) + (x + 0.5f) / s - 0.5f;
    case EXACT_ALIGN_CORNERS: return one ? 0.0f : x * last_in / last_out;
    case EXACT_ASYMMETRIC: return x / s;
    case EXACT_TF_HALF_PIXEL_FOR_NN: return (x + 0.5f) / s;
    case EXACT_TF_CROP_AND_RESIZE:
      if (one) return 0.5f * (e->start + e->end) * last_in;
      return e->start * last_in + x * (e->end - e->start) * last_in / last_out;
    default: return (x + 0.5f) / s - 0.5f;
  }
}

/* ---- weights ---- */
static float cubic_near(float a, float u) { return ((a + 2.0f) * u - (a + 3.0f)) * u * u + 1.0f; }
static float cubic_far(float a, float u) { return ((a * u - 5.0f * a) * u + 8.0f * a) * u - 4.0f * a; }

typedef struct filter {
  int mode;
  float a, scale, radius; /* radius 0: not antialiased */
  bool exclude;
  int64_t in;
} filter;

static float antialiased(const filter *f, float d) {
  float u = fabsf(d);
  if (f->mode == EXACT_RESIZE_LINEAR) return u < 1.0f ? 1.0f - u : 0.0f;
  return u <= 1.0f ? cubic_near(f->a, u) : u < 2.0f ? cubic_far(f->a, u) : 0.0f;
}

/* The first index, before clamping, and the number of taps. */
static size_t range(const filter *f, float x, int64_t *first) {
  if (f->radius == 0.0f) {
    *first = whole(floorf(x)) - (f->mode == EXACT_RESIZE_CUBIC);
    return f->mode == EXACT_RESIZE_CUBIC ? 4 : 2;
  }
  int64_t end = whole(ceilf(x + f->radius));
  *first = whole(floorf(x - f->radius)) + 1;
  return end > *first ? (size_t)(end - *first) : 0;
}

/* Divides the n weights by the sum of those that are left; those of taps outside become zero. */
static void normalize(const filter *f, int64_t first, size_t n, float *w) {
  float sum = 0.0f;
  for (size_t t = 0; t < n; t++) {
    int64_t i = first + (int64_t)t;
    if (!f->exclude || (i >= 0 && i < f->in)) sum += w[t];
  }
  for (size_t t = 0; t < n; t++) {
    int64_t i = first + (int64_t)t;
    w[t] = !f->exclude || (i >= 0 && i < f->in) ? w[t] / sum : 0.0f;
  }
}

static void weights(const filter *f, float x, int64_t first, size_t n, float *w) {
  const float t = x - floorf(x), v = 1.0f - t;
  if (f->radius != 0.0f) {
    for (size_t i = 0; i < n; i++) w[i] = antialiased(f, ((float)(first + (int64_t)i) - x) * f->scale);
    normalize(f, first, n, w);
  } else if (f->mode == EXACT_RESIZE_CUBIC) {
    w[0] = cubic_far(f->a, t + 1.0f);
    w[1] = cubic_near(f->a, t);
    w[2] = cubic_near(f->a, v);
    w[3] = cubic_far(f->a, v + 1.0f);
    if (f->exclude) normalize(f, first, n, w);
  } else {
    w[0] = v;
    w[1] = t;
  }
}

static int32_t nearest(int rounding, float x, int64_t in) {
  const float f = floorf(x), d = x - f;
  int64_t i = whole(f);
  if (rounding == EXACT_CEIL)
    i = whole(ceilf(x));
  else if (rounding == EXACT_ROUND_PREFER_FLOOR)
    i += d > 0.5f;
  else if (rounding == EXACT_ROUND_PREFER_CEIL)
    i += d >= 0.5f;
  return clamp(i, in);
}

/* ---- an axis ---- */
static filter filter_of(const exact_resize_op *op, const exact_resize_extent *e) {
  const exact_resize_attrs *a = &op->attrs;
  filter f = {.mode = a->mode, .a = a->cubic_coeff_a, .scale = e->scale, .exclude = a->exclude_outside, .in = e->in};
  if (a->antialias && e->scale < 1.0f) f.radius = (a->mode == EXACT_RESIZE_CUBIC ? 2.0f : 1.0f) / e->scale;
  return f;
}

/* The coordinate that taps are taken at. */
static float position(const exact_resize_op *op, const exact_resize_extent *e, const filter *f, int64_t j) {
  const float last = (float)(e->in - 1);
  float x = coordinate(op->attrs.transform, e, j);
  if (f->mode == EXACT_RESIZE_LINEAR && f->radius == 0.0f) x = x < 0.0f ? 0.0f : x > last ? last : x;
  return x;
}

static bool is_outside(const exact_resize_op *op, const exact_resize_extent *e, int64_t j) {
  if (op->attrs.transform != EXACT_TF_CROP_AND_RESIZE) return false;
  float x = coordinate(op->attrs.transform, e, j);
  return !(x >= 0.0f && x <= (float)(e->in - 1));
}

static bool allocate(exact_resize_taps *t, bool weighted, bool crop) {
  size_t count, bytes;
  if (!exact_mul(t->out, t->taps, &count) || !exact_mul(count, sizeof(float), &bytes) || bytes > EXACT_MOST_BYTES) return false;
  t->index = calloc(count, sizeof *t->index);
  t->weight = weighted ? calloc(count, sizeof *t->weight) : NULL;
  t->outside = crop ? calloc(t->out, 1) : NULL;
  return t->index && (t->weight || !weighted) && (t->outside || !crop);
}

static void fill(const exact_resize_op *op, const exact_resize_extent *e, const filter *f, exact_resize_taps *taps, int64_t j) {
  int32_t *index = taps->index + (size_t)j * taps->taps;
  float x = position(op, e, f, j);
  int64_t first;
  if (!taps->weight) {
    *index = nearest(op->attrs.nearest, x, e->in);
    return;
  }
  size_t n = range(f, x, &first);
  weights(f, x, first, n, taps->weight + (size_t)j * taps->taps);
  for (size_t t = 0; t < n; t++) index[t] = clamp(first + (int64_t)t, e->in);
}

int exact_resize_taps_new(const exact_resize_op *op, const exact_resize_extent *e, exact_resize_taps *taps, exact_error *err) {
  const filter f = filter_of(op, e);
  const bool weighted = f.mode != EXACT_RESIZE_NEAREST;
  int64_t first;
  *taps = (exact_resize_taps){.resampled = e->resampled, .in = (size_t)e->in, .out = (size_t)e->out, .taps = 1};
  if (!e->resampled) return EXACT_OK;
  for (int64_t j = 0; weighted && j < e->out; j++) {
    size_t n = is_outside(op, e, j) ? 0 : range(&f, position(op, e, &f, j), &first);
    if (n > taps->taps) taps->taps = n;
  }
  if (!allocate(taps, weighted, op->attrs.transform == EXACT_TF_CROP_AND_RESIZE)) {
    exact_resize_taps_free(taps);
    return exact_fail(err, EXACT_NO_MEMORY, "out of memory for %zu taps of %zu outputs", taps->taps, taps->out);
  }
  for (int64_t j = 0; j < e->out; j++) {
    if (is_outside(op, e, j))
      taps->outside[j] = 1;
    else
      fill(op, e, &f, taps, j);
  }
  return EXACT_OK;
}

void exact_resize_taps_free(exact_resize_taps *taps) {
  free(taps->index);
  free(taps->weight);
  free(taps->outside);
  taps->index = NULL;
  taps->weight = NULL;
  taps->outside = NULL;
}
