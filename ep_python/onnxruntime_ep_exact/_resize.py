"""Resize and Upsample on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import Ints, _array, _choice, _create, _float_bits, _number, _run, _set_float
from ._kernels import ffi, lib

_MODES = {"nearest": lib.EXACT_RESIZE_NEAREST, "linear": lib.EXACT_RESIZE_LINEAR, "cubic": lib.EXACT_RESIZE_CUBIC}
_TRANSFORMS = {
    "half_pixel": lib.EXACT_HALF_PIXEL,
    "pytorch_half_pixel": lib.EXACT_PYTORCH_HALF_PIXEL,
    "half_pixel_symmetric": lib.EXACT_HALF_PIXEL_SYMMETRIC,
    "align_corners": lib.EXACT_ALIGN_CORNERS,
    "asymmetric": lib.EXACT_ASYMMETRIC,
    "tf_half_pixel_for_nn": lib.EXACT_TF_HALF_PIXEL_FOR_NN,
    "tf_crop_and_resize": lib.EXACT_TF_CROP_AND_RESIZE,
}
_NEAREST = {
    "round_prefer_floor": lib.EXACT_ROUND_PREFER_FLOOR,
    "round_prefer_ceil": lib.EXACT_ROUND_PREFER_CEIL,
    "floor": lib.EXACT_FLOOR,
    "ceil": lib.EXACT_CEIL,
}
_POLICIES = {
    "stretch": lib.EXACT_STRETCH,
    "not_larger": lib.EXACT_NOT_LARGER,
    "not_smaller": lib.EXACT_NOT_SMALLER,
}
_MOST_AXES = lib.EXACT_MAX_RANK


def resize(
    x: ArrayLike,
    roi: ArrayLike | None = None,
    scales: ArrayLike | None = None,
    sizes: ArrayLike | None = None,
    *,
    mode: str = "nearest",
    coordinate_transformation_mode: str = "half_pixel",
    nearest_mode: str = "round_prefer_floor",
    cubic_coeff_a: float = -0.75,
    exclude_outside: int = 0,
    extrapolation_value: float = 0.0,
    axes: Ints = None,
    keep_aspect_ratio_policy: str = "stretch",
    antialias: int = 0,
    threads: int = 1,
) -> np.ndarray:
    """ONNX Resize (docs/resize.md) by ``scales`` or to ``sizes``, for all axes or those of ``axes``.

    roi is read with coordinate_transformation_mode "tf_crop_and_resize" alone. The opset-10 form is the one with
    coordinate_transformation_mode "asymmetric" and nearest_mode "floor".
    """
    name = "resize"
    arrays = [
        _array(name, "x", x),
        None if roi is None else _roi(name, roi),
        None if scales is None else _floats(name, "scales", scales),
        None if sizes is None else _integers(name, sizes),
    ]
    attrs = ffi.new("exact_resize_attrs *")
    attrs.form = lib.EXACT_RESIZE_11
    attrs.mode = _choice(name, "mode", mode, _MODES)
    attrs.transform = _choice(name, "coordinate_transformation_mode", coordinate_transformation_mode, _TRANSFORMS)
    attrs.nearest = _choice(name, "nearest_mode", nearest_mode, _NEAREST)
    attrs.policy = _choice(name, "keep_aspect_ratio_policy", keep_aspect_ratio_policy, _POLICIES)
    _set_float(attrs, "cubic_coeff_a", cubic_coeff_a)
    _set_float(attrs, "extrapolation_value", extrapolation_value)
    attrs.exclude_outside = operator.index(exclude_outside)
    attrs.antialias = operator.index(antialias)
    listed = [operator.index(axis) for axis in (() if axes is None else axes)]
    attrs.n_axes = len(listed)
    attrs.axes[0 : min(len(listed), _MOST_AXES)] = listed[:_MOST_AXES]
    op = _create(name, lib.exact_resize_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def upsample(x: ArrayLike, scales: ArrayLike, *, mode: str = "nearest", threads: int = 1) -> np.ndarray:
    """ONNX Upsample (docs/resize.md): no scale is below 1; mode is "nearest" or "linear"."""
    name = "upsample"
    arrays = [_array(name, "x", x), _floats(name, "scales", scales)]
    attrs = ffi.new("exact_resize_attrs *")
    attrs.form = lib.EXACT_UPSAMPLE
    attrs.mode = _choice(name, "mode", mode, _MODES)
    op = _create(name, lib.exact_resize_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def _roi(function: str, value: Any) -> np.ndarray:
    return _array(function, "roi", value) if isinstance(value, np.ndarray) else _floats(function, "roi", value)


def _floats(function: str, argument: str, value: Any) -> np.ndarray:
    """An array rounded to float32, whatever the thread's floating-point settings."""
    array = np.asarray(value)
    if array.dtype == np.float32 or array.size == 0:
        return _array(function, argument, array.astype(np.float32))
    if array.dtype.kind not in "biuf" and array.dtype.name != "bfloat16":
        raise TypeError(f"{function}: {argument} has the element type {array.dtype.name}, expected real numbers")
    numbers = [_float_bits(float(number)) for number in array.reshape(-1)]
    return np.array(numbers, np.uint32).view(np.float32).reshape(array.shape)


def _integers(function: str, value: Any) -> np.ndarray:
    array = np.asarray(value)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{function}: sizes has the element type {array.dtype.name}, expected integers")
    if array.size and int(array.max()) > np.iinfo(np.int64).max:
        raise OverflowError(f"{function}: sizes has the value {array.max()}, which is beyond 64 bits")
    return _array(function, "sizes", array.astype(np.int64))
