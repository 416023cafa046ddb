"""What every function of kernels.py does: arrays to tensors, op, plan, run, errors."""

from __future__ import annotations

import math
import operator
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ._kernels import ffi, lib

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
_MODES = {"exact": lib.EXACT_MODE_EXACT, "fast": lib.EXACT_MODE_FAST}
_OPTIONAL = (
    "a_zero_point",
    "axes",
    "b",
    "b_zero_point",
    "c",
    "output_shape",
    "w_zero_point",
    "x_zero_point",
    "y_zero_point",
)  # arguments that may be None
_MAX_RANK = lib.EXACT_MAX_RANK


# ---- arguments ----


def _arrays(function: str, **arguments: Any) -> list[np.ndarray | None]:
    return [None if value is None and key in _OPTIONAL else _array(function, key, value) for key, value in arguments.items()]


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


def _float_bits(value: float) -> int:
    """The bits of the value rounded to float32, to nearest even. Not by a conversion of the processor's: that would depend on
    the thread's floating-point settings."""
    (bits,) = struct.unpack("<Q", struct.pack("<d", math.copysign(value, value)))
    sign, exponent, fraction = bits >> 63, bits >> 52 & 0x7FF, bits & ((1 << 52) - 1)
    if exponent == 0x7FF:
        number = 0x7FC00000 if fraction else 0x7F800000
    else:
        shift = 29 + max(0, 897 - exponent)  # 897: exponent of the least normal float32
        whole = fraction | (1 << 52 if exponent else 0)
        number = (whole + (1 << (shift - 1)) - 1 + (whole >> shift & 1)) >> shift
        number = min(number + max(0, exponent - 897 << 23), 0x7F800000)
    return sign << 31 | number


def _set_float(attrs: Any, field: str, value: float) -> None:
    """Sets a float32 field."""
    ffi.memmove(ffi.addressof(attrs, field), _float_bits(value).to_bytes(4, sys.byteorder), 4)


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


def _run(
    function: str,
    op: Any,
    arrays: Sequence[np.ndarray | None],
    threads: int,
    wanted: int = 1,
    types: Mapping[int, np.dtype] | None = None,
) -> list[np.ndarray]:
    """The first ``wanted`` outputs of an op. types: NumPy types of outputs that NumPy itself and no array has."""
    if operator.index(threads) < 1:
        raise ValueError(f"{function}: threads is {threads}, expected 1 or more")
    tensors = ffi.new("exact_tensor[]", len(arrays))
    for tensor, array in zip(tensors, arrays, strict=True):
        if array is not None:
            tensor.dtype = _number(array)
            tensor.rank = array.ndim
            tensor.dims[0 : min(array.ndim, _MAX_RANK)] = array.shape[:_MAX_RANK]
            tensor.data = _address(array)
    plan_out, error = ffi.new("exact_plan **"), ffi.new("exact_error *")
    _check(function, lib.exact_op_plan(op, len(arrays), tensors, plan_out, error), error)
    plan = ffi.gc(plan_out[0], lib.exact_plan_free)

    dtypes = {number: np.dtype(name) for name, number in _DTYPES.items() if name != "bfloat16"} | dict(types or {})
    dtypes.update({_number(array): array.dtype for array in arrays if array is not None})
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
