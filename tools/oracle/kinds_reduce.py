"""Kinds of reductions, softmaxes, ArgMax and ArgMin, CumSum and CumProd."""

import math

import numpy as np
import reference
from helpers import TYPE_NAMES
from reference.numerics import quiet

from .kinds import ANY, Kind
from .registry import BY_NAME

SUMS = ("ReduceSum", "ReduceMean", "ReduceL1", "ReduceSumSquare", "ReduceProd")
LOGARITHMS = ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp")
MAXIMA = ("ReduceMax", "ReduceMin")
REDUCTIONS = (*SUMS, *LOGARITHMS, *MAXIMA)
ARGS = ("ArgMax", "ArgMin")


def is_float(case):
    return case.x.dtype.name in TYPE_NAMES


def reduced(case, array, function="reduce_max"):
    """A reduction of another array of X's shape over the same axes."""
    positional, keywords = BY_NAME[case.operator].arguments(case)
    return getattr(reference, function)(array, positional[1], **keywords)


def marked(case, indicator):
    """Outputs whose elements include a marked one."""
    if case.operator in ARGS:
        return indicator.any(axis=case.get("axis", 0), keepdims=bool(case.get("keepdims", 1)))
    return reduced(case, indicator) if indicator.size else np.False_


def allowed(mask):
    return [np.where(mask, ANY, 0.0)]


def with_nan(case, want):
    return allowed(marked(case, np.isnan(case.x)))


def rows(case):
    """X with one row of a softmax on the last axis, and back."""
    if case.opset >= 13:
        axis = case.get("axis", -1)
        return np.moveaxis(case.x, axis, -1), lambda mask: np.moveaxis(mask, -1, axis)
    axis = case.get("axis", 1) % case.x.ndim
    flat = case.x.reshape(math.prod(case.x.shape[:axis]), math.prod(case.x.shape[axis:]))
    return flat, lambda mask: mask.reshape(case.x.shape)


@quiet
def rows_without_finite_maximum(case, want):
    lines, back = rows(case)
    top = lines.max(axis=-1, keepdims=True) if lines.size else lines
    return allowed(back(np.broadcast_to(~np.isfinite(top), lines.shape)))


def rows_with_nan(case, want):
    lines, back = rows(case)
    return allowed(back(np.broadcast_to(np.isnan(lines).any(axis=-1, keepdims=True), lines.shape)))


def nan_beside_infinity(case, want):
    return allowed(marked(case, np.isnan(case.x)) & marked(case, np.isposinf(case.x)))


@quiet
def beyond_integers(case, want):
    """Sums and products of absolute values beyond the type (any value), or beyond what a float64 holds (to its rounding)."""
    function = {"ReduceProd": "reduce_prod", "ReduceSumSquare": "reduce_sum_square"}.get(case.operator, "reduce_sum")
    size = reduced(case, np.abs(case.x.astype(np.float64)), function)
    n = max(1, case.x.size // max(1, size.size))
    limit = float(np.iinfo(case.x.dtype).max)
    rounding = np.where(size >= 2.0**53, (n + 2) * 2.0**-52 * size, 0.0)
    return [np.where(size >= limit * (1 - n * 2.0**-52), ANY, rounding)]


def axes(case):
    if case.operator in ARGS:
        return [case.get("axis", 0)]
    given = case.inputs[1].tolist() if len(case.inputs) > 1 else case.get("axes")
    return [] if given is None else given


KINDS = [
    Kind(
        "NaN in a maximum",
        "reduce.md#where-onnx-runtime-differs",
        "Whether a NaN wins depends on the code path.",
        MAXIMA,
        lambda case: is_float(case) and case.has_nan(),
        where=with_nan,
    ),
    Kind(
        "NaN in a maximum",
        "arg.md#where-onnx-runtime-differs",
        "Which index a line with a NaN has depends on version and code path.",
        ARGS,
        lambda case: is_float(case) and case.has_nan(),
        where=with_nan,
    ),
    Kind(
        "NaN in Hardmax",
        "softmax.md#where-onnx-runtime-differs",
        "A NaN that is not first in its row is passed over.",
        ("Hardmax",),
        lambda case: case.has_nan(),
        where=rows_with_nan,
    ),
    Kind(
        "NaN or infinity in LogSoftmax of float64",
        "softmax.md#where-onnx-runtime-differs",
        "Rows whose maximum is not finite.",
        ("LogSoftmax",),
        lambda case: case.x.dtype == np.float64,
        where=rows_without_finite_maximum,
    ),
    Kind(
        "NaN beside +infinity",
        "reduce.md#where-onnx-runtime-differs",
        "ReduceLogSumExp gives +infinity.",
        ("ReduceLogSumExp",),
        lambda case: is_float(case) and case.has_nan(),
        where=nan_beside_infinity,
    ),
    Kind(
        "integer overflow",
        "reduce.md#where-onnx-runtime-differs",
        "Sums and products beyond the type saturate; int64 goes through float64 and loses digits beyond 2^53.",
        SUMS,
        lambda case: not is_float(case),
        where=beyond_integers,
    ),
    Kind(
        "integers that we do not serve",
        "reduce.md#where-onnx-runtime-differs",
        "Roots and logarithms of integers are left to ONNX Runtime.",
        LOGARITHMS,
        lambda case: not is_float(case),
        serves=True,
    ),
    Kind(
        "negative axes of an empty tensor",
        "reduce.md#where-onnx-runtime-differs",
        "Where X has no elements, a negative axis is passed over and stays in the shape.",
        (*REDUCTIONS, *ARGS),
        lambda case: case.x.size == 0 and any(axis < 0 for axis in axes(case)),
        shape=True,
    ),
    Kind(
        "bool over no element",
        "reduce.md#where-onnx-runtime-differs",
        "A maximum or minimum of bool over no element is refused.",
        MAXIMA,
        lambda case: case.x.dtype == np.bool_ and case.x.size == 0,
        refuses="not defined for empty set",
    ),
    Kind(
        "an axis of extent 0",
        "arg.md#where-onnx-runtime-differs",
        "An axis of extent 0 is refused.",
        ARGS,
        lambda case: case.x.shape[case.get("axis", 0)] == 0,
        refuses="running Arg(Max|Min) node",
    ),
]
