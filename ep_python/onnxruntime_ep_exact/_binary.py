"""Elementwise operators of several inputs on NumPy arrays; re-exported by kernels.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _array, _create, _number, _run
from ._kernels import lib


def _binary(function: str, kind: int, arrays: list[np.ndarray], threads: int) -> np.ndarray:
    op = _create(function, lib.exact_binary_new, kind, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]


def _pair(name: str, onnx: str, kind: int, what: str) -> Any:
    def function(a: ArrayLike, b: ArrayLike, *, threads: int = 1) -> np.ndarray:
        return _binary(name, kind, [_array(name, "a", a), _array(name, "b", b)], threads)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"ONNX {onnx} (docs/binary.md): {what}, with broadcasting."
    return function


def _chain(name: str, onnx: str, kind: int, what: str) -> Any:
    def function(*xs: ArrayLike, threads: int = 1) -> np.ndarray:
        if not xs:
            raise ValueError(f"{name}: no input")
        return _binary(name, kind, [_array(name, f"input {i}", x) for i, x in enumerate(xs)], threads)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"ONNX {onnx} (docs/binary.md): {what} of one or more inputs, element by element, with broadcasting."
    return function


add = _pair("add", "Add", lib.EXACT_ADD, "a + b")
sub = _pair("sub", "Sub", lib.EXACT_SUB, "a - b")
mul = _pair("mul", "Mul", lib.EXACT_MUL, "a * b")
div = _pair("div", "Div", lib.EXACT_DIV, "a / b")

maximum = _chain("maximum", "Max", lib.EXACT_MAX, "the largest")
minimum = _chain("minimum", "Min", lib.EXACT_MIN, "the least")
sum_of = _chain("sum_of", "Sum", lib.EXACT_SUM, "the sum")
mean_of = _chain("mean_of", "Mean", lib.EXACT_MEAN, "the mean")


def prelu(x: ArrayLike, slope: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """ONNX PRelu (docs/binary.md): slope * x where x is below 0, else x. slope broadcasts to x."""
    return _binary("prelu", lib.EXACT_PRELU, [_array("prelu", "x", x), _array("prelu", "slope", slope)], threads)


def power(x: ArrayLike, y: ArrayLike, *, threads: int = 1) -> np.ndarray:
    """ONNX Pow (docs/binary.md): x to the power of y, one number of 2, 3, 0.5, 1, 0, -1, -2 and -0.5."""
    arrays = [_array("power", "x", x), _array("power", "y", y)]
    if arrays[1].size != 1:
        raise NotImplementedError(f"power: y has {arrays[1].size} elements, only one is supported")
    op = _create("power", lib.exact_pow_new, float(arrays[1].reshape(())), _number(arrays[0]))
    return _run("power", op, arrays, threads)[0]
