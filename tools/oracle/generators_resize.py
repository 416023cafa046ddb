"""Random Resize and Upsample."""

import math

import numpy as np

from .domain import choose
from .draw import FINITE, KINDS
from .generators_conv import case

SCALES = (1.0, 2.0, 0.5, 3.0, 1.5, 0.75, 0.6, 0.4, 1.3, 2.5, 0.3, 0.25)
MODES = ("nearest", "linear", "cubic")
MAPPINGS = (
    "half_pixel",
    "half_pixel",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
NEAREST = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
MOST = 1500


def shape_of(d, mode):
    """What ONNX Runtime interpolates, most of the time: the last one, two or three axes of two to five."""
    rank = d.pick((4, 4, 4, 2, 3, 5, 1)) if mode != "nearest" or d.flag() else d.integer(1, 5)
    shape = [d.integer(1, 2) for _ in range(max(0, rank - 2))] + [d.integer(1, 9) for _ in range(min(2, rank))]
    if d.chance(15):
        shape[d.integer(0, rank - 1)] = 0
    return shape


def chosen_axes(d, rank):
    """Axes that change: mostly the last two."""
    last = list(range(max(0, rank - 2), rank))
    return last if d.integer(0, 3) else [axis for axis in range(rank) if d.flag()] or [rank - 1]


def scale_list(d, shape, changing, least=0.0):
    allowed = [s for s in SCALES if s >= least]
    scales = [d.pick(allowed) if axis in changing else 1.0 for axis in range(len(shape))]
    while math.prod(n * s for n, s in zip(shape, scales, strict=True)) > MOST:
        scales[max(range(len(scales)), key=scales.__getitem__)] = max(1.0, least)
    return scales


def data(d, shape, dtype, mode):
    """Interpolation of what is not finite is a kind of its own: rarer there."""
    kinds = KINDS if mode == "nearest" or d.chance(5) else FINITE
    return d.array(shape, dtype, d.pick(kinds))


def upsample(d, operator):
    """Upsample, and the form of Resize of opset 10."""
    opset, dtype = choose(d, operator)
    return plain(d, operator, opset, dtype, 1.0)


def plain(d, operator, opset, dtype, least):
    mode = "nearest" if dtype == "bool" else d.pick(MODES[:2])
    shape = shape_of(d, mode)
    scales = scale_list(d, shape, chosen_axes(d, len(shape)), least)
    attributes = {"mode": mode} if mode != "nearest" or d.flag() else {}
    x = data(d, shape, dtype, mode)
    if opset < 9:
        return case(d, operator, opset, [x], {**attributes, "scales": scales})
    return case(d, operator, opset, [x, np.array(scales, np.float32)], attributes)


def resize(d, operator):
    opset, dtype = choose(d, operator)
    if opset < 11:
        return plain(d, operator, opset, dtype, 0.0)
    mode = "nearest" if dtype == "bool" else d.pick(MODES)
    shape = shape_of(d, mode)
    rank = len(shape)
    attributes = {"mode": mode, "coordinate_transformation_mode": d.pick(MAPPINGS)}
    if mode == "nearest" and d.flag():
        attributes["nearest_mode"] = d.pick(NEAREST)
    if mode == "cubic" and d.flag():
        attributes["cubic_coeff_a"] = d.pick((-0.5, -0.75, -1.0, 0.0))
    if d.chance(4):
        attributes["exclude_outside"] = d.flag()
    if d.chance(4):
        attributes["antialias"] = d.flag()
    listed = list(range(rank))
    if opset >= 18 and d.flag():
        listed = chosen_axes(d, rank)
        if d.chance(3):
            listed.reverse()
        attributes["axes"] = [axis - rank * d.flag() for axis in listed]
    crop = attributes["coordinate_transformation_mode"] == "tf_crop_and_resize"
    if crop or d.chance(8):
        attributes["extrapolation_value"] = d.pick((0.0, 1.5, -3.0, 100.0))
    changing = chosen_axes(d, rank)
    extents = [shape[axis] for axis in listed]
    changed = [i for i, axis in enumerate(listed) if axis in changing]
    scales = scale_list(d, extents, changed)
    sizes = None
    if d.flag():
        sizes = np.array([n and max(1, int(n * s)) for n, s in zip(extents, scales, strict=True)], np.int64)
        scales = np.zeros(0, np.float32) if opset < 13 else None
        if d.chance(3):
            attributes["keep_aspect_ratio_policy"] = d.pick(("stretch", "not_larger", "not_smaller"))
    else:
        scales = np.array(scales, np.float32)
    roi = roi_of(d, listed, changed, opset) if crop else (np.zeros(0, np.float32) if opset < 13 or d.chance(4) else None)
    inputs = [data(d, shape, dtype, mode), roi, scales, sizes]
    while inputs[-1] is None:
        inputs.pop()
    return case(d, operator, opset, inputs, attributes)


def roi_of(d, listed, changed, opset):
    """Starts and ends; the whole of an axis that does not change."""
    ends = [(d.pick((0.0, 0.2, -0.1)), d.pick((1.0, 0.8, 1.3))) if i in changed else (0.0, 1.0) for i in range(len(listed))]
    dtype = np.float32 if opset < 11 or not d.chance(6) else d.pick((np.float64, np.float16))
    return np.array([start for start, _ in ends] + [end for _, end in ends], dtype)
