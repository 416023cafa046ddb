"""The exact kernels on NumPy arrays: one function per ONNX operator, without ONNX Runtime.

Arrays are float32, float64, float16 or bfloat16 (of ml_dtypes); ``max_pool`` also takes int8 and uint8. Inputs are never
changed; those that are not contiguous are copied. The bits of the results are those of the pages in docs/, whatever
``threads``, the instruction set and the machine; the global interpreter lock is released while a kernel runs.

Every function raises

* ``ValueError`` for attributes or shapes that the operator forbids,
* ``NotImplementedError`` for what it allows and the kernels do not serve (an element type, a number of axes),
* ``TypeError`` for arguments that are no numeric arrays or no integers, ``OverflowError`` for integers beyond 64 bits,
* ``MemoryError`` when there is no memory for a result,

with a text that starts with the name of the function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._kernels import ffi, lib

__all__ = [
    "average_pool",
    "batch_normalization",
    "conv",
    "conv_transpose",
    "global_average_pool",
    "global_max_pool",
    "hardmax",
    "isa",
    "isa_names",
    "log_softmax",
    "max_pool",
    "set_isa",
    "softmax",
]

Ints = Iterable[int] | None

_DTYPES = {
    "float32": lib.EXACT_FLOAT32,
    "float64": lib.EXACT_FLOAT64,
    "float16": lib.EXACT_FLOAT16,
    "bfloat16": lib.EXACT_BFLOAT16,
    "int8": lib.EXACT_INT8,
    "int16": lib.EXACT_INT16,
    "int32": lib.EXACT_INT32,
    "int64": lib.EXACT_INT64,
    "uint8": lib.EXACT_UINT8,
    "uint16": lib.EXACT_UINT16,
    "uint32": lib.EXACT_UINT32,
    "uint64": lib.EXACT_UINT64,
    "bool": lib.EXACT_BOOL,
}
_ERRORS = {
    lib.EXACT_INVALID: ValueError,
    lib.EXACT_UNSUPPORTED: NotImplementedError,
    lib.EXACT_NO_MEMORY: MemoryError,
}
_AUTO_PAD = {
    "NOTSET": lib.EXACT_NOTSET,
    "SAME_UPPER": lib.EXACT_SAME_UPPER,
    "SAME_LOWER": lib.EXACT_SAME_LOWER,
    "VALID": lib.EXACT_VALID,
}
_MODES = {"exact": lib.EXACT_MODE_EXACT, "fast": lib.EXACT_MODE_FAST}
_MAX_RANK = lib.EXACT_MAX_RANK


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


def global_max_pool(x: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """ONNX GlobalMaxPool (docs/pool.md): x is [N, C, D1 .. Dr], r >= 1; the result is [N, C, 1 .. 1]."""
    return _global_pool("global_max_pool", lib.EXACT_GLOBAL_MAX_POOL, x, threads)


def global_average_pool(x: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """ONNX GlobalAveragePool (docs/pool.md): x is [N, C, D1 .. Dr], r >= 1; the result is [N, C, 1 .. 1]."""
    return _global_pool("global_average_pool", lib.EXACT_GLOBAL_AVERAGE_POOL, x, threads)


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


# ---- arguments ----


def _arrays(function: str, **arguments: Any) -> list[np.ndarray | None]:
    return [None if value is None and key == "b" else _array(function, key, value) for key, value in arguments.items()]


def _array(function: str, argument: str, value: Any) -> np.ndarray:
    array = np.asarray(value, order="C")
    dtype = array.dtype
    if dtype.name not in _DTYPES:
        kind = NotImplementedError if dtype.kind in "biufc" else TypeError
        raise kind(f"{function}: {argument} has the element type {dtype.name}, which is not supported")
    if not dtype.isnative:
        raise ValueError(f"{function}: {argument} is not in the machine's byte order")
    return array if array.flags.aligned else array.copy()


def _number(array: np.ndarray) -> int:
    return _DTYPES[array.dtype.name]


def _choice(function: str, argument: str, value: str, choices: dict[str, int]) -> int:
    if value not in choices:
        raise ValueError(f"{function}: {argument} is {value!r}, expected one of {', '.join(choices)}")
    return choices[value]


def _set_ints(field: Any, values: Ints) -> None:
    integers = [operator.index(value) for value in ([] if values is None else values)]
    field.n = len(integers)
    for i, value in enumerate(integers[: len(field.v)]):
        field.v[i] = value


def _set_window(
    function: str, window: Any, kernel_shape: Ints, strides: Ints, dilations: Ints, pads: Ints, auto_pad: str
) -> None:
    window.auto_pad = _choice(function, "auto_pad", auto_pad, _AUTO_PAD)
    _set_ints(window.kernel_shape, kernel_shape)
    _set_ints(window.strides, strides)
    _set_ints(window.dilations, dilations)
    _set_ints(window.pads, pads)


# ---- calls ----


def _check(function: str, code: int, error: Any) -> None:
    if code != lib.EXACT_OK:
        raise _ERRORS[code](f"{function}: {ffi.string(error.reason).decode(errors='replace')}")


def _create(function: str, constructor: Any, *arguments: Any) -> Any:
    op, error = ffi.new("exact_op **"), ffi.new("exact_error *")
    _check(function, constructor(*arguments, op, error), error)
    return ffi.gc(op[0], lib.exact_op_free)


def _empty(function: str, shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    try:
        return np.empty(shape, dtype)
    except (MemoryError, ValueError) as cause:  # ValueError: more elements than an index can count
        raise MemoryError(f"{function}: no memory for an array of shape {tuple(shape)}") from cause


def _address(array: np.ndarray) -> Any:
    return ffi.cast("void *", array.__array_interface__["data"][0])


def _run(function: str, op: Any, arrays: Sequence[np.ndarray | None], threads: int, wanted: int = 1) -> list[np.ndarray]:
    """The first ``wanted`` outputs of an op."""
    if operator.index(threads) < 1:
        raise ValueError(f"{function}: threads is {threads}, expected 1 or more")
    tensors = ffi.new("exact_tensor[]", len(arrays))
    for tensor, array in zip(tensors, arrays, strict=True):
        if array is not None:
            tensor.dtype = _number(array)
            tensor.rank = array.ndim
            tensor.dims[0 : min(array.ndim, _MAX_RANK)] = array.shape[:_MAX_RANK]
    plan_out, error = ffi.new("exact_plan **"), ffi.new("exact_error *")
    _check(function, lib.exact_op_plan(op, len(arrays), tensors, plan_out, error), error)
    plan = ffi.gc(plan_out[0], lib.exact_plan_free)

    dtypes = {lib.EXACT_INT64: np.dtype(np.int64), _number(arrays[0]): arrays[0].dtype}
    results = []
    for i in range(wanted):
        output = lib.exact_plan_output(plan, i)
        results.append(_empty(function, list(output.dims[0 : output.rank]), dtypes[output.dtype]))
    workspace = _empty(function, [lib.exact_plan_workspace(plan) + 64], np.dtype(np.uint8))
    aligned = workspace[-workspace.__array_interface__["data"][0] % 64 :]

    inputs = ffi.new("const void *[]", [ffi.NULL if array is None else _address(array) for array in arrays])
    outputs = ffi.new("void *[]", lib.exact_op_outputs(op))
    for i, result in enumerate(results):
        outputs[i] = _address(result)
    lib.exact_plan_run_threads(plan, inputs, outputs, _address(aligned), min(threads, 2**31 - 1))
    return results


def _global_pool(function: str, kind: int, x: ArrayLike, threads: int) -> np.ndarray:
    arrays = _arrays(function, x=x)
    attrs = ffi.new("exact_pool_attrs *")
    op = _create(function, lib.exact_pool_new, kind, attrs, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]


def _softmax(
    function: str, kind: int, x: ArrayLike, axis: int | None, flatten: bool, mode: str, threads: int
) -> np.ndarray:
    arrays = _arrays(function, x=x)
    index = operator.index((1 if flatten else -1) if axis is None else axis)
    number = _choice(function, "mode", mode, _MODES)
    op = _create(function, lib.exact_softmax_new, kind, index, bool(flatten), _number(arrays[0]), number)
    return _run(function, op, arrays, threads)[0]
