"""Quantization on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ._calls import _DTYPES, _array, _arrays, _create, _number, _run
from ._kernels import ffi, lib


def quantize_linear(
    x: ArrayLike,
    y_scale: ArrayLike,
    y_zero_point: ArrayLike | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: DTypeLike | None = None,
    precision: DTypeLike | None = None,
    threads: int = 1,
) -> np.ndarray:
    """ONNX QuantizeLinear (docs/quantize.md): saturate(round(x / y_scale) + y_zero_point).

    x and y_scale are float32, float16 or bfloat16. The result has the type of y_zero_point, else output_dtype, else uint8: one
    of int8, uint8, int16, uint16. precision: None or float32.
    """
    name = "quantize_linear"
    arrays = _arrays(name, x=x, y_scale=y_scale, y_zero_point=y_zero_point)
    attrs = _attributes(name, axis, block_size, output_dtype)
    attrs.precision = _type(name, "precision", precision)[0]
    op = _create(name, lib.exact_quantize_linear_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def dequantize_linear(
    x: ArrayLike,
    x_scale: ArrayLike,
    x_zero_point: ArrayLike | None = None,
    *,
    axis: int = 1,
    block_size: int = 0,
    output_dtype: DTypeLike | None = None,
    threads: int = 1,
) -> np.ndarray:
    """ONNX DequantizeLinear (docs/quantize.md): (x - x_zero_point) * x_scale.

    x and x_zero_point are of one type: int8, uint8, int16, uint16 or int32. x_scale is float32, float16 or bfloat16; the result
    has its type, or output_dtype.
    """
    name = "dequantize_linear"
    arrays = _arrays(name, x=x, x_scale=x_scale, x_zero_point=x_zero_point)
    attrs = _attributes(name, axis, block_size, output_dtype)
    op = _create(name, lib.exact_dequantize_linear_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads, types=dict([_type(name, "output_dtype", output_dtype)]))[0]


def dynamic_quantize_linear(x: ArrayLike, *, threads: int = 1) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ONNX DynamicQuantizeLinear (docs/quantize.md) of float32: the uint8 result, its scale and its zero point."""
    name = "dynamic_quantize_linear"
    array = _array(name, "x", x)
    op = _create(name, lib.exact_dynamic_quantize_linear_new, _number(array))
    y, scale, zero = _run(name, op, [array], threads, wanted=3)
    return y, scale, zero


def _type(function: str, argument: str, value: DTypeLike | None) -> tuple[int, np.dtype | None]:
    """(number of an element type, 0 for None; the type)."""
    if value is None:
        return 0, None
    dtype = np.dtype(value)
    if dtype.name not in _DTYPES:
        raise NotImplementedError(f"{function}: {argument} is {dtype.name}, which is not supported")
    return _DTYPES[dtype.name], dtype


def _attributes(function: str, axis: int, block_size: int, output_dtype: DTypeLike | None) -> Any:
    attrs = ffi.new("exact_quantize_attrs *")
    attrs.axis = operator.index(axis)
    attrs.block_size = operator.index(block_size)
    attrs.output_dtype = _type(function, "output_dtype", output_dtype)[0]
    return attrs
