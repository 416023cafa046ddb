"""The exact kernels on NumPy arrays: one function per ONNX operator, without ONNX Runtime.

Arrays are float32, float64, float16 or bfloat16 (of ml_dtypes); ``matmul``, ``max_pool``, the reductions, ``arg_max``,
``arg_min``, ``cumsum``, ``cumprod``, ``resize``, ``upsample``, ``clip``, ``relu``, ``sign``, ``absolute``, ``negative``,
``prelu``, ``maximum`` and ``minimum`` also take integers. Inputs are never changed; those that are not contiguous are copied.
The bits of the results are those of the pages in docs/, whatever ``threads``, the instruction set and the machine; the
global interpreter lock is released while a kernel runs.

Every function raises

* ``ValueError`` for attributes or shapes that the operator forbids,
* ``NotImplementedError`` for what it allows and the kernels do not serve (an element type, a number of axes),
* ``TypeError`` for arguments that are no numeric arrays or no integers, ``OverflowError`` for integers beyond 64 bits,
* ``MemoryError`` when there is no memory for a result,

with a text that starts with the name of the function.
"""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from ._attention import attention
from ._binary import add, div, maximum, mean_of, minimum, mul, power, prelu, sub, sum_of
from ._calls import _MODES, _arrays, _check, _choice, _create, _number, _run
from ._einsum import einsum
from ._integer import conv_integer, matmul_integer, qlinear_conv, qlinear_matmul
from ._kernels import ffi, lib
from ._matmul import gemm, matmul
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
from ._quantize import dequantize_linear, dynamic_quantize_linear, quantize_linear
from ._recurrent import gru, lstm, rnn
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
from ._unary import (
    absolute,
    cast,
    ceil,
    celu,
    clip,
    cos,
    elu,
    erf,
    exp,
    floor,
    gelu,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    log,
    mish,
    negative,
    reciprocal,
    relu,
    round_,
    selu,
    sigmoid,
    sign,
    sin,
    softplus,
    softsign,
    sqrt,
    swish,
    tanh,
    thresholded_relu,
)
from ._window import (
    average_pool,
    conv,
    conv_transpose,
    global_average_pool,
    global_lp_pool,
    global_max_pool,
    lp_pool,
    max_pool,
    max_unpool,
)

__all__ = [
    "absolute",
    "add",
    "arg_max",
    "arg_min",
    "attention",
    "average_pool",
    "batch_normalization",
    "cast",
    "ceil",
    "celu",
    "clip",
    "conv",
    "conv_integer",
    "conv_transpose",
    "cos",
    "cumprod",
    "cumsum",
    "dequantize_linear",
    "div",
    "dynamic_quantize_linear",
    "einsum",
    "elu",
    "erf",
    "exp",
    "floor",
    "gelu",
    "gemm",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "group_normalization",
    "gru",
    "hard_sigmoid",
    "hard_swish",
    "hardmax",
    "instance_normalization",
    "isa",
    "isa_names",
    "layer_normalization",
    "leaky_relu",
    "log",
    "log_softmax",
    "lp_normalization",
    "lp_pool",
    "lrn",
    "lstm",
    "matmul",
    "matmul_integer",
    "max_pool",
    "max_unpool",
    "maximum",
    "mean_of",
    "mean_variance_normalization",
    "minimum",
    "mish",
    "mul",
    "negative",
    "openvino_convolution",
    "openvino_group_convolution",
    "power",
    "prelu",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
    "reciprocal",
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
    "relu",
    "resize",
    "rms_normalization",
    "rnn",
    "round_",
    "selu",
    "set_isa",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "sub",
    "sum_of",
    "swish",
    "tanh",
    "thresholded_relu",
    "upsample",
]


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


def _softmax(function: str, kind: int, x: ArrayLike, axis: int | None, flatten: bool, mode: str, threads: int) -> np.ndarray:
    arrays = _arrays(function, x=x)
    index = operator.index((1 if flatten else -1) if axis is None else axis)
    number = _choice(function, "mode", mode, _MODES)
    op = _create(function, lib.exact_softmax_new, kind, index, bool(flatten), _number(arrays[0]), number)
    return _run(function, op, arrays, threads)[0]
