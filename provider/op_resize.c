/* Resize (opset 10: inputs X and scales; from 11 on X, roi, scales, sizes) and Upsample (7: scales an attribute; 9: an input).
 * Where the revision is not known, a Resize of two inputs has the form of opset 10. */
#include "ops.h"

#include <string.h>

static int read_scales(const node *n, exact_resize_attrs *a, exact_error *err) {
  size_t count = EXACT_MAX_RANK;
  int found = n->source->reals(n, "scales", a->scales, &count);
  if (found < 0) return node_fail(err, EXACT_INVALID, "attribute scales must be a list of floats");
  if (found && count > EXACT_MAX_RANK)
    return node_fail(err, EXACT_UNSUPPORTED, "scales has %zu values, at most %d are supported", count, EXACT_MAX_RANK);
  if (found) a->n_scales = (int)count;
  return EXACT_OK;
}

static int read_axes(const node *n, exact_resize_attrs *a, exact_error *err) {
  size_t count = EXACT_MAX_RANK;
  int found = n->source->integers(n, "axes", a->axes, &count);
  if (found < 0) return node_fail(err, EXACT_INVALID, "attribute axes must be a list of integers");
  if (found && count > EXACT_MAX_RANK)
    return node_fail(err, EXACT_UNSUPPORTED, "axes has %zu values, at most %d are supported", count, EXACT_MAX_RANK);
  if (found) a->n_axes = (int)count;
  return EXACT_OK;
}

static int read_attrs(const node *n, exact_resize_attrs *a, exact_error *err) {
  static const char *const transforms[] = {[EXACT_HALF_PIXEL] = "half_pixel",
                                           [EXACT_PYTORCH_HALF_PIXEL] = "pytorch_half_pixel",
                                           [EXACT_HALF_PIXEL_SYMMETRIC] = "half_pixel_symmetric",
                                           [EXACT_ALIGN_CORNERS] = "align_corners",
                                           [EXACT_ASYMMETRIC] = "asymmetric",
                                           [EXACT_TF_HALF_PIXEL_FOR_NN] = "tf_half_pixel_for_nn",
                                           [EXACT_TF_CROP_AND_RESIZE] = "tf_crop_and_resize",
                                           NULL};
  static const char *const roundings[] = {[EXACT_ROUND_PREFER_FLOOR] = "round_prefer_floor",
                                          [EXACT_ROUND_PREFER_CEIL] = "round_prefer_ceil",
                                          [EXACT_FLOOR] = "floor",
                                          [EXACT_CEIL] = "ceil",
                                          NULL};
  static const char *const policies[] = {
      [EXACT_STRETCH] = "stretch", [EXACT_NOT_LARGER] = "not_larger", [EXACT_NOT_SMALLER] = "not_smaller", NULL};
  int rc = node_choice(n, "coordinate_transformation_mode", transforms, EXACT_HALF_PIXEL, &a->transform, err);
  if (!rc) rc = node_choice(n, "nearest_mode", roundings, EXACT_ROUND_PREFER_FLOOR, &a->nearest, err);
  if (!rc) rc = node_choice(n, "keep_aspect_ratio_policy", policies, EXACT_STRETCH, &a->policy, err);
  if (!rc) rc = node_float(n, "cubic_coeff_a", -0.75f, &a->cubic_coeff_a, err);
  if (!rc) rc = node_float(n, "extrapolation_value", 0, &a->extrapolation_value, err);
  if (!rc) rc = node_int(n, "exclude_outside", 0, &a->exclude_outside, err);
  if (!rc) rc = node_int(n, "antialias", 0, &a->antialias, err);
  return rc ? rc : read_axes(n, a, err);
}

int op_resize(const node *n, exact_op **op, exact_error *err) {
  static const char *const modes[] = {
      [EXACT_RESIZE_NEAREST] = "nearest", [EXACT_RESIZE_LINEAR] = "linear", [EXACT_RESIZE_CUBIC] = "cubic", NULL};
  exact_resize_attrs a = {0};
  int rc = node_choice(n, "mode", modes, EXACT_RESIZE_NEAREST, &a.mode, err);
  if (rc) return rc;
  if (!strcmp(n->row->type, "Upsample")) {
    a.form = EXACT_UPSAMPLE;
    rc = read_scales(n, &a, err);
  } else if (n->since ? n->since == 10 : n->n_inputs == 2) {
    a.form = EXACT_RESIZE_10;
  } else {
    a.form = EXACT_RESIZE_11;
    rc = read_attrs(n, &a, err);
  }
  return rc ? rc : exact_resize_new(&a, n->dtype, op, err);
}
