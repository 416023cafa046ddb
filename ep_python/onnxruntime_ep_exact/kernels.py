"""The exact kernels on NumPy arrays: one function per ONNX operator, without ONNX Runtime.

Arrays are float32, float64, float16 or bfloat16 (of ml_dtypes); ``matmul``, ``max_pool``, the reductions, ``arg_max``,
``arg_min``, ``cumsum``, ``cumprod``, ``resize`` and ``upsample`` also take integers. Inputs are never changed; those that
are not contiguous are copied. The bits of the results are those of the pages in docs/, whatever ``threads``, the instruction
set and the machine; the global interpreter lock is released while a kernel runs.

Every function raises

* ``ValueError`` for attributes or shapes that the operator forbids,
* ``NotImplementedError`` for what it allows and the kernels do not serve (an element type, a number of axes),
* ``TypeError`` for arguments that are no numeric arrays or no integers, ``OverflowError`` for integers beyond 64 bits,
* ``MemoryError`` when there is no memory for a result,

with a text that starts with the name of the function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import Ints, _array, _arrays, _check, _choice, _create, _number, _run, _set_float, _set_ints
from ._kernels import ffi, lib
from ._norm import (
    group_normalization,
    instance_normalization,
    layer_normalization,
    lp_normalization,
    lrn,
    mean_variance_normalization,
    rms_normalization,
)
from ._openvino import openvino_convolution, openvino_group_convolution
from ._reduce import (
    arg_max,
    arg_min,
    cumprod,
    cumsum,
    reduce_l1,
    reduce_l2,
    reduce_log_sum,
    reduce_log_sum_exp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    reduce_sum_square,
)
from ._resize import resize, upsample

__all__ = [
    "arg_max",
    "arg_min",
    "average_pool",
    "batch_normalization",
    "conv",
    "conv_transpose",
    "cumprod",
    "cumsum",
    "gemm",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "group_normalization",
    "hardmax",
    "instance_normalization",
    "isa",
    "isa_names",
    "layer_normalization",
    "log_softmax",
    "lp_normalization",
    "lp_pool",
    "lrn",
    "matmul",
    "max_pool",
    "max_unpool",
    "mean_variance_normalization",
    "openvino_convolution",
    "openvino_group_convolution",
    "reduce_l1",
    "reduce_l2",
    "reduce_log_sum",
    "reduce_log_sum_exp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduce_sum_square",
    "resize",
    "rms_normalization",
    "set_isa",
    "softmax",
    "upsample",
]

_AUTO_PAD = {
    "NOTSET": lib.EXACT_NOTSET,
    "SAME_UPPER": lib.EXACT_SAME_UPPER,
    "SAME_LOWER": lib.EXACT_SAME_LOWER,
    "VALID": lib.EXACT_VALID,
}
_MODES = {"exact": lib.EXACT_MODE_EXACT, "fast": lib.EXACT_MODE_FAST}


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


def matmul(a: ArrayLike, b: ArrayLike, *, mode: str = "exact", threads: int = 1) -> np.ndarray:
    """ONNX MatMul (docs/matmul.md): a is [.., M, K] or [K], b is [.., K, N] or [K], the axes before broadcast.

    Both are of one float type, or of one of int32, int64, uint32 and uint64. mode "fast" may sum in another order.
    """
    name = "matmul"
    arrays = [_array(name, "a", a), _array(name, "b", b)]
    op = _create(name, lib.exact_matmul_new, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    return _run(name, op, arrays, threads)[0]


def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    mode: str = "exact",
    threads: int = 1,
) -> np.ndarray:
    """ONNX Gemm (docs/matmul.md): alpha * a @ b + beta * c, a and b first transposed where transA, transB are not 0.

    a and b are matrices, c broadcasts to the result, all of one float type. alpha and beta are rounded to float32. mode "fast"
    may sum in another order.
    """
    name = "gemm"
    arrays = [_array(name, "a", a), _array(name, "b", b), *_arrays(name, c=c)]
    attrs = ffi.new("exact_gemm_attrs *")
    _set_float(attrs, "alpha", alpha)
    _set_float(attrs, "beta", beta)
    attrs.trans_a = operator.index(transA)
    attrs.trans_b = operator.index(transB)
    op = _create(name, lib.exact_gemm_new, attrs, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
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


def batch_normalization(
    x: ArrayLike,
    scale: ArrayLike,
    bias: ArrayLike,
    mean: ArrayLike,
    var: ArrayLike,
    *,
    epsilon: float = 1e-5,
    threads: int = 1,
) -> np.ndarray:
    """ONNX BatchNormalization (docs/batchnorm.md), the inference form.

    x is [N, C, D1 .. Dr] or [N] (then C = 1), the others are [C], of any float types; the result is like x. epsilon is
    rounded to float32.
    """
    name = "batch_normalization"
    arrays = _arrays(name, x=x, scale=scale, bias=bias, mean=mean, var=var)
    op = _create(name, lib.exact_batchnorm_new, epsilon, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def softmax(
    x: ArrayLike, *, axis: int | None = None, flatten: bool = False, mode: str = "exact", threads: int = 1
) -> np.ndarray:
    """ONNX Softmax (docs/softmax.md) along ``axis`` (default the last), as from opset 13 on.

    flatten: as up to opset 12, where all axes from ``axis`` (default 1) on are one row. mode "fast" takes a less accurate
    exponential.
    """
    return _softmax("softmax", lib.EXACT_SOFTMAX, x, axis, flatten, mode, threads)


def log_softmax(
    x: ArrayLike, *, axis: int | None = None, flatten: bool = False, mode: str = "exact", threads: int = 1
) -> np.ndarray:
    """ONNX LogSoftmax (docs/softmax.md); arguments as for ``softmax``."""
    return _softmax("log_softmax", lib.EXACT_LOG_SOFTMAX, x, axis, flatten, mode, threads)


def hardmax(x: ArrayLike, *, axis: int | None = None, flatten: bool = False, threads: int = 1) -> np.ndarray:
    """ONNX Hardmax (docs/softmax.md): 1 at the first maximum, else 0; arguments as for ``softmax``."""
    return _softmax("hardmax", lib.EXACT_HARDMAX, x, axis, flatten, "exact", threads)


def isa_names() -> list[str]:
    """The instruction-set variants of the kernels that this CPU can run, best last."""
    names = []
    while (text := lib.exact_isa_name(len(names))) != ffi.NULL:
        names.append(ffi.string(text).decode())
    return names


def isa() -> str:
    """The variant in use: the best, unless ``set_isa`` or the environment variable EXACT_ISA chose another.

    Raises ValueError when EXACT_ISA names a variant that cannot run here.
    """
    text = lib.exact_isa_current()
    if text == ffi.NULL:
        raise ValueError("isa: EXACT_ISA names an instruction-set variant that this CPU or build does not have")
    return ffi.string(text).decode()


def set_isa(name: str) -> None:
    """Makes all following calls, in every thread, use a variant of ``isa_names()``. Results do not depend on it."""
    error = ffi.new("exact_error *")
    _check("set_isa", lib.exact_isa_select(name.encode(), error), error)


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


def _softmax(function: str, kind: int, x: ArrayLike, axis: int | None, flatten: bool, mode: str, threads: int) -> np.ndarray:
    arrays = _arrays(function, x=x)
    index = operator.index((1 if flatten else -1) if axis is None else axis)
    number = _choice(function, "mode", mode, _MODES)
    op = _create(function, lib.exact_softmax_new, kind, index, bool(flatten), _number(arrays[0]), number)
    return _run(function, op, arrays, threads)[0]
