"""Conv, ConvTranspose, the pools and MaxUnpool on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _MODES, Ints, _arrays, _choice, _create, _number, _run, _set_ints
from ._kernels import ffi, lib

_AUTO_PAD = {
    "NOTSET": lib.EXACT_NOTSET,
    "SAME_UPPER": lib.EXACT_SAME_UPPER,
    "SAME_LOWER": lib.EXACT_SAME_LOWER,
    "VALID": lib.EXACT_VALID,
}


def conv(
    x: ArrayLike,
    w: ArrayLike,
    b: ArrayLike | None = None,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    kernel_shape: Ints = None,
    mode: str = "exact",
    threads: int = 1,
) -> np.ndarray:
    """ONNX Conv (docs/conv.md) with one to three spatial axes.

    x is [N, C, D1 .. Dr], w is [M, C / group, k1 .. kr], b is [M], all of one float type; the result is [N, M, o1 .. or].
    mode "fast" may sum in another order.
    """
    name = "conv"
    arrays = _arrays(name, x=x, w=w, b=b)
    attrs = ffi.new("exact_conv_attrs *")
    _set_window(name, attrs.window, kernel_shape, strides, dilations, pads, auto_pad)
    attrs.group = operator.index(group)
    op = _create(name, lib.exact_conv_new, attrs, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    return _run(name, op, arrays, threads)[0]


def conv_transpose(
    x: ArrayLike,
    w: ArrayLike,
    b: ArrayLike | None = None,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    group: int = 1,
    auto_pad: str = "NOTSET",
    kernel_shape: Ints = None,
    output_padding: Ints = None,
    output_shape: Ints = None,
    mode: str = "exact",
    threads: int = 1,
) -> np.ndarray:
    """ONNX ConvTranspose (docs/conv_transpose.md) with one to three spatial axes.

    x is [N, C, D1 .. Dr], w is [C, M / group, k1 .. kr], b is [M], all of one float type; the result is [N, M, o1 .. or].
    mode "fast" may sum in another order.
    """
    name = "conv_transpose"
    arrays = _arrays(name, x=x, w=w, b=b)
    attrs = ffi.new("exact_conv_transpose_attrs *")
    _set_window(name, attrs.window, kernel_shape, strides, dilations, pads, auto_pad)
    attrs.group = operator.index(group)
    _set_ints(attrs.output_padding, output_padding)
    _set_ints(attrs.output_shape, output_shape)
    op = _create(name, lib.exact_conv_transpose_new, attrs, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    return _run(name, op, arrays, threads)[0]


def max_pool(
    x: ArrayLike,
    kernel_shape: Ints,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    ceil_mode: int = 0,
    storage_order: int = 0,
    auto_pad: str = "NOTSET",
    return_indices: bool = False,
    threads: int = 1,
) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
    """ONNX MaxPool (docs/pool.md) with one to three spatial axes.

    x is [N, C, D1 .. Dr] of a float type, int8 or uint8; the result is [N, C, o1 .. or], with return_indices also the int64
    array of each maximum's flat position in x.
    """
    name = "max_pool"
    arrays = _arrays(name, x=x)
    attrs = ffi.new("exact_pool_attrs *")
    _set_window(name, attrs.window, kernel_shape, strides, dilations, pads, auto_pad)
    attrs.ceil_mode = operator.index(ceil_mode)
    attrs.storage_order = operator.index(storage_order)
    op = _create(name, lib.exact_pool_new, lib.EXACT_MAX_POOL, attrs, _number(arrays[0]))
    outputs = _run(name, op, arrays, threads, wanted=2 if return_indices else 1)
    return (outputs[0], outputs[1]) if return_indices else outputs[0]


def average_pool(
    x: ArrayLike,
    kernel_shape: Ints,
    *,
    strides: Ints = None,
    pads: Ints = None,
    dilations: Ints = None,
    ceil_mode: int = 0,
    count_include_pad: int = 0,
    auto_pad: str = "NOTSET",
    threads: int = 1,
) -> np.ndarray:
    """ONNX AveragePool (docs/pool.md) with one to three spatial axes: x is [N, C, D1 .. Dr], the result [N, C, o1 .. or]."""
    name = "average_pool"
    arrays = _arrays(name, x=x)
    attrs = ffi.new("exact_pool_attrs *")
    _set_window(name, attrs.window, kernel_shape, strides, dilations, pads, auto_pad)
    attrs.ceil_mode = operator.index(ceil_mode)
    attrs.count_include_pad = operator.index(count_include_pad)
    op = _create(name, lib.exact_pool_new, lib.EXACT_AVERAGE_POOL, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def lp_pool(
    x: ArrayLike,
    kernel_shape: Ints,
    *,
    p: int = 2,
    auto_pad: str = "NOTSET",
    strides: Ints = None,
    dilations: Ints = None,
    pads: Ints = None,
    ceil_mode: int = 0,
    threads: int = 1,
) -> np.ndarray:
    """ONNX LpPool (docs/pool.md) with one to three spatial axes: x is [N, C, D1 .. Dr], the result [N, C, o1 .. or]."""
    name = "lp_pool"
    arrays = _arrays(name, x=x)
    attrs = ffi.new("exact_pool_attrs *")
    _set_window(name, attrs.window, kernel_shape, strides, dilations, pads, auto_pad)
    attrs.ceil_mode = operator.index(ceil_mode)
    attrs.p = operator.index(p)
    op = _create(name, lib.exact_pool_new, lib.EXACT_LP_POOL, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def global_max_pool(x: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """ONNX GlobalMaxPool (docs/pool.md): x is [N, C, D1 .. Dr], r >= 1; the result is [N, C, 1 .. 1]."""
    return _global_pool("global_max_pool", lib.EXACT_GLOBAL_MAX_POOL, x, threads)


def global_average_pool(x: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """ONNX GlobalAveragePool (docs/pool.md): x is [N, C, D1 .. Dr], r >= 1; the result is [N, C, 1 .. 1]."""
    return _global_pool("global_average_pool", lib.EXACT_GLOBAL_AVERAGE_POOL, x, threads)


def global_lp_pool(x: ArrayLike, *, p: int = 2, threads: int = 1) -> np.ndarray:
    """ONNX GlobalLpPool (docs/pool.md): x is [N, C, D1 .. Dr], r >= 1; the result is [N, C, 1 .. 1]."""
    return _global_pool("global_lp_pool", lib.EXACT_GLOBAL_LP_POOL, x, threads, p)


def max_unpool(
    x: ArrayLike,
    indices: ArrayLike,
    output_shape: Ints = None,
    *,
    kernel_shape: Ints,
    strides: Ints = None,
    pads: Ints = None,
    threads: int = 1,
) -> np.ndarray:
    """ONNX MaxUnpool (docs/unpool.md): the int64 array indices has the shape of x, [N, C, D1 .. Dr] with one to three spatial
    axes, and tells where in the result each element goes; the rest is 0. output_shape is the shape of the result.
    """
    name = "max_unpool"
    shape = None if output_shape is None else _output_shape(output_shape)
    arrays = _arrays(name, x=x, indices=indices, output_shape=shape)
    attrs = ffi.new("exact_max_unpool_attrs *")
    _set_ints(attrs.kernel_shape, kernel_shape)
    _set_ints(attrs.strides, strides)
    _set_ints(attrs.pads, pads)
    op = _create(name, lib.exact_max_unpool_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def _set_window(
    function: str, window: Any, kernel_shape: Ints, strides: Ints, dilations: Ints, pads: Ints, auto_pad: str
) -> None:
    window.auto_pad = _choice(function, "auto_pad", auto_pad, _AUTO_PAD)
    _set_ints(window.kernel_shape, kernel_shape)
    _set_ints(window.strides, strides)
    _set_ints(window.dilations, dilations)
    _set_ints(window.pads, pads)


def _output_shape(values: Iterable[int] | np.ndarray) -> np.ndarray:
    if isinstance(values, np.ndarray):
        return values
    return np.array([operator.index(value) for value in values], np.int64)


def _global_pool(function: str, kind: int, x: ArrayLike, threads: int, p: int = 2) -> np.ndarray:
    arrays = _arrays(function, x=x)
    attrs = ffi.new("exact_pool_attrs *")
    attrs.p = operator.index(p)
    op = _create(function, lib.exact_pool_new, kind, attrs, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]
