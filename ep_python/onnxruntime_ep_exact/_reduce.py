"""Reductions, ArgMax, ArgMin, CumSum and CumProd on NumPy arrays; re-exported by kernels.py."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _arrays, _create, _number, _run
from ._kernels import ffi, lib

Axes = int | Iterable[int] | None


def _axes(function: str, axes: Axes) -> np.ndarray | None:
    if axes is None:
        return None
    values = axes if isinstance(axes, Iterable) else [axes]
    return np.array([operator.index(value) for value in values], np.int64)


def _reduce(
    function: str, kind: int, x: ArrayLike, axes: Axes, keepdims: bool, noop_with_empty_axes: bool, threads: int
) -> np.ndarray:
    arrays = _arrays(function, x=x, axes=_axes(function, axes))
    attrs = ffi.new("exact_reduce_attrs *")
    attrs.keepdims = operator.index(keepdims)
    attrs.noop_with_empty_axes = operator.index(noop_with_empty_axes)
    op = _create(function, lib.exact_reduce_new, kind, attrs, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]


def _reduction(name: str, onnx: str, kind: int, what: str) -> Any:
    def function(
        x: ArrayLike,
        axes: Axes = None,
        *,
        keepdims: bool = True,
        noop_with_empty_axes: bool = False,
        threads: int = 1,
    ) -> np.ndarray:
        return _reduce(name, kind, x, axes, keepdims, noop_with_empty_axes, threads)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""ONNX {onnx} (docs/reduce.md): {what} over ``axes``.

    axes None or empty: all axes or, with noop_with_empty_axes, none. keepdims leaves the reduced axes as extent 1.
    """
    return function


reduce_sum = _reduction("reduce_sum", "ReduceSum", lib.EXACT_REDUCE_SUM, "the sum")
reduce_mean = _reduction("reduce_mean", "ReduceMean", lib.EXACT_REDUCE_MEAN, "the mean")
reduce_l1 = _reduction("reduce_l1", "ReduceL1", lib.EXACT_REDUCE_L1, "the sum of |x|")
reduce_l2 = _reduction("reduce_l2", "ReduceL2", lib.EXACT_REDUCE_L2, "the root of the sum of x * x")
reduce_sum_square = _reduction("reduce_sum_square", "ReduceSumSquare", lib.EXACT_REDUCE_SUM_SQUARE, "the sum of x * x")
reduce_log_sum = _reduction("reduce_log_sum", "ReduceLogSum", lib.EXACT_REDUCE_LOG_SUM, "the logarithm of the sum")
reduce_log_sum_exp = _reduction(
    "reduce_log_sum_exp", "ReduceLogSumExp", lib.EXACT_REDUCE_LOG_SUM_EXP, "the logarithm of the sum of exp(x)"
)
reduce_prod = _reduction("reduce_prod", "ReduceProd", lib.EXACT_REDUCE_PROD, "the product")
reduce_max = _reduction("reduce_max", "ReduceMax", lib.EXACT_REDUCE_MAX, "the maximum")
reduce_min = _reduction("reduce_min", "ReduceMin", lib.EXACT_REDUCE_MIN, "the minimum")


def _arg(
    function: str, kind: int, x: ArrayLike, axis: int, keepdims: bool, select_last_index: bool, threads: int
) -> np.ndarray:
    arrays = _arrays(function, x=x)
    attrs = ffi.new("exact_arg_attrs *")
    attrs.axis = operator.index(axis)
    attrs.keepdims = operator.index(keepdims)
    attrs.select_last_index = operator.index(select_last_index)
    op = _create(function, lib.exact_arg_new, kind, attrs, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]


def arg_max(
    x: ArrayLike, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False, threads: int = 1
) -> np.ndarray:
    """ONNX ArgMax (docs/arg.md): int64 positions of the first (or last) maxima along ``axis``."""
    return _arg("arg_max", lib.EXACT_ARG_MAX, x, axis, keepdims, select_last_index, threads)


def arg_min(
    x: ArrayLike, *, axis: int = 0, keepdims: bool = True, select_last_index: bool = False, threads: int = 1
) -> np.ndarray:
    """ONNX ArgMin (docs/arg.md): int64 positions of the first (or last) minima along ``axis``."""
    return _arg("arg_min", lib.EXACT_ARG_MIN, x, axis, keepdims, select_last_index, threads)


def _cumulate(
    function: str, kind: int, x: ArrayLike, axis: ArrayLike, exclusive: bool, reverse: bool, threads: int
) -> np.ndarray:
    arrays = _arrays(function, x=x, axis=np.array(axis, np.int64) if isinstance(axis, int) else axis)
    attrs = ffi.new("exact_cumsum_attrs *")
    attrs.exclusive = operator.index(exclusive)
    attrs.reverse = operator.index(reverse)
    op = _create(function, lib.exact_cumsum_new, kind, attrs, _number(arrays[0]))
    return _run(function, op, arrays, threads)[0]


def cumsum(x: ArrayLike, axis: ArrayLike, *, exclusive: bool = False, reverse: bool = False, threads: int = 1) -> np.ndarray:
    """ONNX CumSum (docs/cumsum.md): running sums along ``axis``, an integer or an int32 or int64 array of one element."""
    return _cumulate("cumsum", lib.EXACT_CUMSUM, x, axis, exclusive, reverse, threads)


def cumprod(x: ArrayLike, axis: ArrayLike, *, exclusive: bool = False, reverse: bool = False, threads: int = 1) -> np.ndarray:
    """ONNX CumProd (docs/cumsum.md): running products along ``axis``, given as for ``cumsum``."""
    return _cumulate("cumprod", lib.EXACT_CUMPROD, x, axis, exclusive, reverse, threads)
