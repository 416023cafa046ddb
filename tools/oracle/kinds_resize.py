"""Kinds of Resize and Upsample."""

import numpy as np
from reference.numerics import FLOATS, quiet
from reference.resize import CROP, outside

from . import resampling
from .kinds import ANY, Kind

BOTH = ("Resize", "Upsample")
PAGE = "resize.md#where-onnx-runtime-differs"


def mode(case):
    return resampling.keywords(case)[0]


def mapping(case):
    return resampling.keywords(case)[1]


def all_outputs(case, want):
    return [ANY]


def is_integer(case):
    return case.x.dtype not in FLOATS and case.x.dtype != np.bool_


def copied_axis(case):
    """An axis that is resampled here and copied there."""
    if mapping(case) == CROP:
        return any(a.scale == 1 and a.n == a.out for a in resampling.resampled(case))
    return any(a.scale != 1 and a.n == a.out for a in resampling.resampled(case))


@quiet
def near_a_boundary(case, want):
    """Positions whose coordinate is so near to where the nearest index changes that another rounding changes it."""
    boundary = 0.5 if resampling.keywords(case)[2].startswith("round") else 0.0
    vectors = []
    for axis in resampling.resampled(case):
        x = resampling.positions(case, axis).astype(np.float64) - boundary
        vectors.append((axis, np.abs(x - np.rint(x)) <= 2e-6 * (2 + np.abs(x) + axis.n)))
    return [np.where(resampling.over_axes(case, vectors), ANY, 0.0)]


@quiet
def near_infinity(case, want):
    return [np.where(resampling.near(case, ~np.isfinite(case.x.astype(np.float64)), all_axes=True), ANY, 0.0)]


@quiet
def integer_rounding(case, want):
    """Truncated after another rounding; with antialias rounded after each axis."""
    info = np.iinfo(case.x.dtype)
    axes = max(1, len(resampling.resampled(case)))
    size = resampling.near(case, np.abs(case.x.astype(np.float64)))
    steps = 2.0 * axes + 1 if case.get("antialias") else 1.0
    # In float32 an integer beyond 2^24 is rounded before the arithmetic, too.
    bound = steps + np.where(size > 2.0**16, size * 2.0**-20, 0.0)
    if case.get("antialias") and mode(case) == "cubic" and axes > 1:
        bound = bound + 0.35 * size  # what overshoots the type's range is cut off between the axes
    y = want[0].astype(np.float64)
    beyond = (y - bound <= float(info.min)) | (y + bound >= float(info.max))
    if case.get("antialias") and case.x.dtype == np.int8:
        beyond |= resampling.near(case, case.x < 0)  # a negative value between two axes becomes 0
    return [np.where(beyond, ANY, bound)]


def outside_positions(case, want):
    vectors = [(axis, outside(axis, resampling.positions(case, axis))) for axis in resampling.resampled(case)]
    return [np.where(resampling.over_axes(case, vectors), ANY, 0.0)]


def unusual_roi(case):
    roi = resampling.parameter(case, 1)
    return mapping(case) == CROP and roi is not None and roi.dtype != np.float32


KINDS = [
    Kind(
        "a resampled axis is copied",
        PAGE,
        "An axis that keeps its extent is copied: with a scale other than 1, and in tf_crop_and_resize with a scale of 1.",
        BOTH,
        copied_axis,
        where=all_outputs,
    ),
    Kind(
        "nearest of opset 10",
        PAGE,
        "With a scale below 1 the ceiling is taken.",
        ("Resize",),
        lambda case: case.opset < 11 and mode(case) == "nearest" and any(a.scale < 1 for a in resampling.resampled(case)),
        where=all_outputs,
    ),
    Kind(
        "a nearest index near a tie",
        PAGE,
        "Coordinates within 1e-6 of a half count as ties; half_pixel_symmetric is rounded in another order.",
        BOTH,
        lambda case: mode(case) == "nearest",
        where=near_a_boundary,
    ),
    Kind(
        "interpolation near an infinity or a NaN",
        PAGE,
        "Samples of weight zero, and neighbours, may take part.",
        BOTH,
        lambda case: mode(case) != "nearest" and case.x.dtype in FLOATS and not np.isfinite(case.x.astype(np.float64)).all(),
        where=near_infinity,
    ),
    Kind(
        "rounding of interpolated integers",
        PAGE,
        "Truncated after other float32 roundings, wrapped instead of saturated; with antialias rounded, and cut to the range, "
        "after each axis.",
        BOTH,
        lambda case: mode(case) != "nearest" and is_integer(case) and case.x.size > 0,
        where=integer_rounding,
    ),
    Kind(
        "extrapolation_value of integers",
        PAGE,
        "Wrapped instead of saturated.",
        ("Resize",),
        lambda case: mapping(case) == CROP and is_integer(case) and case.x.size > 0,
        where=outside_positions,
    ),
    Kind(
        "axes of an interpolation",
        PAGE,
        "Linear and cubic are served for a few ranks and sets of axes.",
        BOTH,
        lambda case: mode(case) != "nearest",
        refuses="ScalesValidation|only supports|is not supported|Resize: unexpected mode|Tensor type mismatch",
    ),
    Kind(
        "antialias or exclude_outside without effect",
        PAGE,
        "antialias with nearest, exclude_outside with linear or nearest are refused.",
        ("Resize",),
        lambda case: (
            bool(case.get("antialias") and mode(case) == "nearest")
            or bool(case.get("exclude_outside") and mode(case) != "cubic")
        ),
        refuses="antialias|exclude_outside|UpsampleMode::LINEAR == mode_",
    ),
    Kind(
        "a roi of another type",
        PAGE,
        "float64 and float16 are refused.",
        ("Resize",),
        unusual_roi,
        refuses="Tensor type mismatch|IsPrimitiveDataType",
    ),
    Kind(
        "a policy beside an axis without elements",
        PAGE,
        "Its quotient counts, as 0.",
        ("Resize",),
        lambda case: case.get("keep_aspect_ratio_policy", "stretch") == "not_larger" and 0 in case.x.shape,
        shape=True,
    ),
    Kind(
        "negative axes with a policy",
        PAGE,
        "With not_larger or not_smaller a negative axis is passed over.",
        ("Resize",),
        lambda case: case.get("keep_aspect_ratio_policy", "stretch") != "stretch" and any(a < 0 for a in case.get("axes", [])),
        where=all_outputs,
        shape=True,
    ),
]
