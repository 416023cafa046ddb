"""Operators of one input, element by element, on NumPy arrays; re-exported by kernels.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from ._calls import _DTYPES, _array, _choice, _create, _number, _run, _set_float
from ._kernels import ffi, lib

_GELU = {"none": lib.EXACT_UNARY_GELU, "tanh": lib.EXACT_UNARY_GELU_TANH}


def _unary(function: str, kind: int, x: ArrayLike, threads: int, **attributes: float) -> np.ndarray:
    arrays = [_array(function, "x", x)]
    attrs = ffi.new("exact_unary_attrs *")
    for name, value in attributes.items():
        _set_float(attrs, name, value)
    op = _create(function, lib.exact_unary_new, kind, attrs, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]


def _plain(name: str, onnx: str, kind: int, what: str) -> Any:
    def function(x: ArrayLike, *, threads: int = 1) -> np.ndarray:
        return _unary(name, kind, x, threads)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"ONNX {onnx} (docs/unary.md): {what}, element by element."
    return function


def _with_alpha(name: str, onnx: str, kind: int, default: float, what: str) -> Any:
    def function(x: ArrayLike, *, alpha: float = default, threads: int = 1) -> np.ndarray:
        return _unary(name, kind, x, threads, alpha=alpha)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"ONNX {onnx} (docs/unary.md): {what}, element by element. alpha is rounded to float32."
    return function


absolute = _plain("absolute", "Abs", lib.EXACT_UNARY_ABS, "the absolute value")
ceil = _plain("ceil", "Ceil", lib.EXACT_UNARY_CEIL, "x rounded up to an integer")
cos = _plain("cos", "Cos", lib.EXACT_UNARY_COS, "the cosine, correctly rounded")
erf = _plain("erf", "Erf", lib.EXACT_UNARY_ERF, "the error function, correctly rounded")
exp = _plain("exp", "Exp", lib.EXACT_UNARY_EXP, "e to the power of x, correctly rounded")
floor = _plain("floor", "Floor", lib.EXACT_UNARY_FLOOR, "x rounded down to an integer")
hard_swish = _plain("hard_swish", "HardSwish", lib.EXACT_UNARY_HARD_SWISH, "x * hard_sigmoid(x) with alpha 1/6 and beta 0.5")
log = _plain("log", "Log", lib.EXACT_UNARY_LOG, "the natural logarithm, correctly rounded")
mish = _plain("mish", "Mish", lib.EXACT_UNARY_MISH, "x * tanh(softplus(x))")
negative = _plain("negative", "Neg", lib.EXACT_UNARY_NEG, "-x")
reciprocal = _plain("reciprocal", "Reciprocal", lib.EXACT_UNARY_RECIPROCAL, "1 / x")
relu = _plain("relu", "Relu", lib.EXACT_UNARY_RELU, "x where it is over 0, else 0")
round_ = _plain("round_", "Round", lib.EXACT_UNARY_ROUND, "x rounded to the nearest integer, ties to even")
sigmoid = _plain("sigmoid", "Sigmoid", lib.EXACT_UNARY_SIGMOID, "1 / (1 + e^-x), correctly rounded")
sign = _plain("sign", "Sign", lib.EXACT_UNARY_SIGN, "1, -1 or 0")
sin = _plain("sin", "Sin", lib.EXACT_UNARY_SIN, "the sine, correctly rounded")
softplus = _plain("softplus", "Softplus", lib.EXACT_UNARY_SOFTPLUS, "log(1 + e^x), correctly rounded")
softsign = _plain("softsign", "Softsign", lib.EXACT_UNARY_SOFTSIGN, "x / (1 + |x|)")
sqrt = _plain("sqrt", "Sqrt", lib.EXACT_UNARY_SQRT, "the square root")
tanh = _plain("tanh", "Tanh", lib.EXACT_UNARY_TANH, "the hyperbolic tangent, correctly rounded")

celu = _with_alpha("celu", "Celu", lib.EXACT_UNARY_CELU, 1.0, "max(0, x) + min(0, alpha * (e^(x / alpha) - 1))")
elu = _with_alpha("elu", "Elu", lib.EXACT_UNARY_ELU, 1.0, "alpha * (e^x - 1) where x is below 0, else x")
leaky_relu = _with_alpha("leaky_relu", "LeakyRelu", lib.EXACT_UNARY_LEAKY_RELU, 0.01, "alpha * x where x is below 0, else x")
swish = _with_alpha("swish", "Swish", lib.EXACT_UNARY_SWISH, 1.0, "x * sigmoid(alpha * x)")
thresholded_relu = _with_alpha(
    "thresholded_relu", "ThresholdedRelu", lib.EXACT_UNARY_THRESHOLDED_RELU, 1.0, "x where it is over alpha, else 0"
)


def hard_sigmoid(x: ArrayLike, *, alpha: float = 0.2, beta: float = 0.5, threads: int = 1) -> np.ndarray:
    """ONNX HardSigmoid (docs/unary.md): alpha * x + beta between 0 and 1. alpha and beta are rounded to float32."""
    return _unary("hard_sigmoid", lib.EXACT_UNARY_HARD_SIGMOID, x, threads, alpha=alpha, beta=beta)


def selu(
    x: ArrayLike, *, alpha: float = 1.67326319217681884765625, gamma: float = 1.05070102214813232421875, threads: int = 1
) -> np.ndarray:
    """ONNX Selu (docs/unary.md): gamma * (alpha * e^x - alpha) where x is below 0, else gamma * x. alpha and gamma are rounded
    to float32."""
    return _unary("selu", lib.EXACT_UNARY_SELU, x, threads, alpha=alpha, gamma=gamma)


def gelu(x: ArrayLike, *, approximate: str = "none", threads: int = 1) -> np.ndarray:
    """ONNX Gelu (docs/unary.md): x / 2 * (1 + erf(x / sqrt 2)), with approximate "tanh" by the formula with tanh."""
    return _unary("gelu", _choice("gelu", "approximate", approximate, _GELU), x, threads)


def clip(x: ArrayLike, lo: ArrayLike | None = None, hi: ArrayLike | None = None, *, threads: int = 1) -> np.ndarray:
    """ONNX Clip (docs/unary.md): lo where x is below it, then hi where that is over it.

    lo and hi are arrays of one number of the type of x, or Python numbers, which are converted to it. None: the least, the
    largest finite number of the type.
    """
    arrays = [_array("clip", "x", x), None, None]
    for i, (name, limit) in enumerate((("lo", lo), ("hi", hi)), 1):
        if isinstance(limit, int | float) and not isinstance(limit, np.generic):
            arrays[i] = np.array(limit, arrays[0].dtype)
        elif limit is not None:
            arrays[i] = _array("clip", name, limit)
    op = _create("clip", lib.exact_clip_new, ffi.new("exact_clip_attrs *"), _number(arrays[0]))
    return _run("clip", op, arrays, threads)[0]


def cast(x: ArrayLike, to: DTypeLike, *, threads: int = 1) -> np.ndarray:
    """ONNX Cast of floats to an integer type or bool (docs/cast.md): cut towards zero and saturated; NaN gives 0."""
    arrays = [_array("cast", "x", x)]
    name = np.dtype(to).name
    if name not in _DTYPES:
        raise NotImplementedError(f"cast: to {name}")
    op = _create("cast", lib.exact_cast_new, _number(arrays[0]), _DTYPES[name])
    return _run("cast", op, arrays, threads)[0]
