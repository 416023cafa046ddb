/* Which scale and zero point an element of QuantizeLinear and DequantizeLinear has. docs/quantize.md */
#include "axis.h"
#include "quantize.h"

bool exact_is_scale(int dtype) { return dtype == EXACT_FLOAT32 || dtype == EXACT_FLOAT16 || dtype == EXACT_BFLOAT16; }

static bool differ(int64_t a, int64_t b) { return a >= 0 && b >= 0 && a != b; }

static int wrong_shape(const exact_tensor *x, const exact_tensor *scale, exact_error *err) {
  char text[96], wanted[96];
  return exact_fail(err, EXACT_INVALID, "the scale of shape %s does not fit the input's %s", exact_shape_text(scale, text),
                    exact_shape_text(x, wanted));
}

/* Of one element, or of a number of elements that is not known. */
static bool may_be_one(const exact_tensor *t) { return t->rank == 0 || (t->rank == 1 && !differ(t->dims[0], 1)); }

static int check_zero(const exact_tensor *scale, const exact_tensor *zero, bool blocked, exact_error *err) {
  char text[96], wanted[96];
  bool fits = zero->rank == scale->rank;
  for (int i = 0; fits && i < zero->rank; i++) fits = !differ(zero->dims[i], scale->dims[i]);
  if (fits || (!blocked && may_be_one(scale) && may_be_one(zero))) return EXACT_OK;
  return exact_fail(err, EXACT_INVALID, "the zero point of shape %s does not fit the scale's %s", exact_shape_text(zero, text),
                    exact_shape_text(scale, wanted));
}

static int check_blocks(const exact_tensor *x, const exact_tensor *scale, int axis, int64_t block, exact_error *err) {
  if (scale->rank != x->rank) return wrong_shape(x, scale, err);
  for (int i = 0; i < x->rank; i++) {
    int64_t wanted = x->dims[i];
    if (i == axis && wanted >= 0) wanted = wanted / block + (wanted % block != 0);
    if (differ(scale->dims[i], wanted)) return wrong_shape(x, scale, err);
  }
  return EXACT_OK;
}

int exact_scales_init(exact_scales *s, const exact_tensor *x, const exact_tensor *scale, const exact_tensor *zero, int64_t axis,
                      int64_t block, exact_error *err) {
  int index = 0, rc;
  *s = (exact_scales){.form = EXACT_SCALE_TENSOR};
  if (!exact_is_scale(scale->dtype))
    return exact_fail(err, EXACT_UNSUPPORTED, "the scale has the element type %s", exact_dtype_name(scale->dtype));
  if (block < 0) return exact_fail(err, EXACT_INVALID, "block_size is %lld", (long long)block);
  if (zero->dtype && (rc = check_zero(scale, zero, block > 0, err))) return rc;
  if (block) {
    s->form = EXACT_SCALE_BLOCK;
    if ((rc = exact_axis(axis, x->rank, &index, err)) || (rc = check_blocks(x, scale, index, block, err))) return rc;
  } else if (scale->rank > 1) {
    return wrong_shape(x, scale, err);
  } else if (!may_be_one(scale)) {
    s->form = EXACT_SCALE_AXIS;
    if ((rc = exact_axis(axis, x->rank, &index, err))) return rc;
    if (differ(scale->dims[0], x->dims[index])) return wrong_shape(x, scale, err);
  }
  for (int i = 0; i < x->rank; i++)
    if (x->dims[i] < 0) return EXACT_OK;
  s->count = exact_extent(x, 0, x->rank);
  if (!s->count || s->form == EXACT_SCALE_TENSOR) return EXACT_OK;
  s->n = (size_t)x->dims[index];
  s->inner = exact_extent(x, index + 1, x->rank);
  s->block = block && (uint64_t)block < s->n ? (size_t)block : s->n;
  s->blocks = (s->n - 1) / s->block + 1;
  return EXACT_OK;
}

exact_scale_run exact_scales_at(const exact_scales *s, size_t element) {
  if (s->form == EXACT_SCALE_TENSOR) return (exact_scale_run){0, 0, s->count - element};
  size_t i = element / s->inner % s->n, j = element % s->inner;
  if (s->form == EXACT_SCALE_AXIS)
    return s->inner > 1 ? (exact_scale_run){i, 0, s->inner - j} : (exact_scale_run){i, 1, s->n - i};
  size_t index = (element / s->inner / s->n * s->blocks + i / s->block) * s->inner + j;
  if (s->inner > 1) return (exact_scale_run){index, 1, s->inner - j};
  size_t left = s->block - i % s->block;
  return (exact_scale_run){index, 0, left < s->n - i ? left : s->n - i};
}
