"""Products and convolutions of 8-bit integers on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import Ints, _array, _arrays, _create, _number, _run
from ._kernels import ffi, lib
from ._window import _set_window


def matmul_integer(
    a: ArrayLike,
    b: ArrayLike,
    a_zero_point: ArrayLike | None = None,
    b_zero_point: ArrayLike | None = None,
    *,
    threads: int = 1,
) -> np.ndarray:
    """ONNX MatMulInteger (docs/matmul_integer.md): (a - a_zero_point) @ (b - b_zero_point) in int32, wrapping around.

    a and b are int8 or uint8, a zero point is of the type of its matrix: one, or one for each row of a or column of b.
    """
    name = "matmul_integer"
    arrays = _arrays(name, a=a, b=b, a_zero_point=a_zero_point, b_zero_point=b_zero_point)
    return _run(name, _create(name, lib.exact_matmul_integer_new, _number(arrays[0])), arrays, threads)[0]


def qlinear_matmul(
    a: ArrayLike,
    a_scale: ArrayLike,
    a_zero_point: ArrayLike,
    b: ArrayLike,
    b_scale: ArrayLike,
    b_zero_point: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike,
    *,
    threads: int = 1,
) -> np.ndarray:
    """ONNX QLinearMatMul (docs/matmul_integer.md): the product of ``matmul_integer``, requantised to the type of y_zero_point.

    Scales are float32, float16 or bfloat16; those of a and b have the shapes that their zero points may have.
    """
    name = "qlinear_matmul"
    inputs = [("a", a), ("a_scale", a_scale), ("a_zero_point", a_zero_point), ("b", b), ("b_scale", b_scale)]
    inputs += [("b_zero_point", b_zero_point), ("y_scale", y_scale), ("y_zero_point", y_zero_point)]
    arrays = [_array(name, key, value) for key, value in inputs]
    return _run(name, _create(name, lib.exact_qlinear_matmul_new, _number(arrays[0])), arrays, threads)[0]


def conv_integer(
    x: ArrayLike,
    w: ArrayLike,
    x_zero_point: ArrayLike | None = None,
    w_zero_point: ArrayLike | None = None,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    kernel_shape: Ints = None,
    threads: int = 1,
) -> np.ndarray:
    """ONNX ConvInteger (docs/conv_integer.md) with one to three spatial axes, in int32, wrapping around.

    x [N, C, D1 .. Dr] and w [M, C / group, k1 .. kr] are int8 or uint8, a zero point is of the type of its tensor; that of w is
    one, or one for each output channel.
    """
    name = "conv_integer"
    arrays = _arrays(name, x=x, w=w, x_zero_point=x_zero_point, w_zero_point=w_zero_point)
    attrs = _attributes(name, kernel_shape, strides, dilations, pads, auto_pad, group)
    return _run(name, _create(name, lib.exact_conv_integer_new, attrs, _number(arrays[0])), arrays, threads)[0]


def qlinear_conv(
    x: ArrayLike,
    x_scale: ArrayLike,
    x_zero_point: ArrayLike,
    w: ArrayLike,
    w_scale: ArrayLike,
    w_zero_point: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike,
    b: ArrayLike | None = None,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    kernel_shape: Ints = None,
    threads: int = 1,
) -> np.ndarray:
    """ONNX QLinearConv (docs/conv_integer.md): the sums of ``conv_integer`` plus b (int32), requantised to the type of
    y_zero_point. Scales are float32; w_scale is one, or one for each output channel.
    """
    name = "qlinear_conv"
    inputs = [("x", x), ("x_scale", x_scale), ("x_zero_point", x_zero_point), ("w", w), ("w_scale", w_scale)]
    inputs += [("w_zero_point", w_zero_point), ("y_scale", y_scale), ("y_zero_point", y_zero_point)]
    arrays = [*(_array(name, key, value) for key, value in inputs), *_arrays(name, b=b)]
    attrs = _attributes(name, kernel_shape, strides, dilations, pads, auto_pad, group)
    return _run(name, _create(name, lib.exact_qlinear_conv_new, attrs, _number(arrays[0])), arrays, threads)[0]


def _attributes(
    function: str, kernel_shape: Ints, strides: Ints, dilations: Ints, pads: Ints, auto_pad: str, group: int
) -> Any:
    attrs = ffi.new("exact_conv_attrs *")
    _set_window(function, attrs.window, kernel_shape, strides, dilations, pads, auto_pad)
    attrs.group = operator.index(group)
    return attrs
