"""Kinds of reductions, softmaxes, normalizations, ArgMax and ArgMin, CumSum and CumProd."""

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


def infinite_rows(case, want):
    """Statistics of rows that hold an infinity."""
    axis = case.get("axis", -1) % case.x.ndim
    hit = np.isinf(case.x).any(axis=tuple(range(axis, case.x.ndim)), keepdims=True)
    return [0.0, *[np.where(hit, ANY, 0.0)] * 2][: case.outputs]


def infinite_scale(case, want):
    scale = case.inputs[1]
    each = case.x.shape[1] // len(scale)
    hit = np.repeat(~np.isfinite(scale.astype(np.float64)), each).reshape(1, -1, *[1] * (case.x.ndim - 2))
    return allowed(np.broadcast_to(hit, case.x.shape))


@quiet
def running_sum(case, want):
    """LRN by a sum that moves from channel to channel: the errors of the squares that it has met stay in it."""
    x = case.x.astype(np.float64)
    finite = np.where(np.isfinite(x), x, 0.0)
    u, beta = 2.0 ** (-53 if case.x.dtype == np.float64 else -24), float(np.float32(case.get("beta", 0.75)))
    ratio = case.get("alpha", 1e-4) / case.get("size")
    largest = (finite * finite).max(axis=1, keepdims=True)
    error = ratio * 4 * (x.shape[1] + 4) * (u * largest + 2.0**-149) + 2.0**-148
    s = (finite / want[0].astype(np.float64)) ** (1 / beta)  # what the power was taken of
    s = np.where(np.isfinite(s) & (s > 0), s, 0.0)
    lost = ~np.isfinite(x).all(axis=1, keepdims=True) | (largest * ratio > 1e38) | (largest > 1e38) | (4 * error >= s)
    lost |= (s**beta < 1e-36) | (s**beta > 1e36)  # the power itself leaves the range in one of the two ways to compute it
    return [np.where(lost, ANY, 4 * np.abs(finite) * s**-beta * beta * error / np.where(s > 0, s, 1.0))]


@quiet
def far_from_zero(case, want):
    """InstanceNormalization and GroupNormalization by E[x * x] - E[x] ** 2."""
    x = case.x.astype(np.float64)
    count = x.shape[0] * case.get("num_groups", x.shape[1])
    rows = np.where(np.isfinite(x), x, 0.0).reshape(count, -1)
    n, u = rows.shape[1], 2.0 ** (-53 if case.x.dtype == np.float64 else -24)
    d = rows - rows.mean(axis=1, keepdims=True)
    square = (rows * rows).mean(axis=1, keepdims=True)
    variance = (d * d).mean(axis=1, keepdims=True) + np.float32(case.get("epsilon", 1e-5))
    relative = 4 * (n + 4) * u * square / variance
    scale = np.abs(case.inputs[1].astype(np.float64))
    by_channel = np.repeat(scale, x.shape[1] // len(scale)).reshape(1, -1, *[1] * (x.ndim - 2))
    factor = np.broadcast_to(by_channel, x.shape).reshape(rows.shape) / np.sqrt(variance)
    bound = factor * (2 * np.abs(d) * relative + 4 * (n + 4) * u * np.sqrt(square))
    return [np.where(relative < 0.25, np.where(np.isfinite(bound), bound, 0.0), ANY).reshape(x.shape)]


@quiet
def one_pass(case, want):
    """MeanVarianceNormalization by E[x * x] - E[x] ** 2, without an epsilon."""
    x = case.x.astype(np.float64)
    axes = tuple(axis % x.ndim for axis in case.get("axes", [0, 2, 3]))
    n, u = math.prod(x.shape[axis] for axis in set(axes)), 2.0**-24
    axes = tuple(set(axes))
    finite = np.where(np.isfinite(x), x, 0.0)
    mean, square = (finite.mean(axis=axes, keepdims=True), (finite * finite).mean(axis=axes, keepdims=True))
    v = ((finite - mean) ** 2).mean(axis=axes, keepdims=True)
    error = 4 * (n + 4) * u * square + 2.0**-149 * n
    relative = error / v + 1e-9 / np.sqrt(v)
    lost = ~np.isfinite(x).all(axis=axes, keepdims=True) | ~(relative < 0.25) | (square * n > 1e38)
    root = np.sqrt(np.where(v > 0, v, 1.0))
    bound = np.abs(finite - mean) / root * 2 * relative + 4 * (n + 4) * u * np.sqrt(square) / root
    return [np.where(lost, ANY, bound)]


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
        "Refused.",
        MAXIMA,
        lambda case: case.x.dtype == np.bool_ and case.x.size == 0,
        refuses=".",
    ),
    Kind(
        "an axis of extent 0",
        "arg.md#where-onnx-runtime-differs",
        "Refused.",
        ARGS,
        lambda case: case.x.shape[case.get("axis", 0)] == 0,
        refuses="running Arg(Max|Min) node",
    ),
    Kind(
        "no elements in a row",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "Rows of length 0 are refused.",
        ("LayerNormalization", "RMSNormalization"),
        lambda case: 0 in case.x.shape[case.get("axis", -1) % case.x.ndim :],
        refuses="must be at least 1, got 0|Missing Input",
    ),
    Kind(
        "no elements",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "GroupNormalization of a tensor without elements is refused.",
        ("GroupNormalization",),
        lambda case: case.x.size == 0,
        refuses="Reshape",
    ),
    Kind(
        "statistics of rows with an infinity",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "Mean is NaN where the sum is infinite.",
        ("LayerNormalization",),
        lambda case: case.outputs > 1,
        where=infinite_rows,
    ),
    Kind(
        "far from zero",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "The variance is E[x * x] - E[x] * E[x]: digits are lost where the mean is large beside the deviations.",
        ("InstanceNormalization", "GroupNormalization"),
        lambda case: case.inputs[1].size > 0 and case.x.size > 0,
        where=far_from_zero,
    ),
    Kind(
        "a sum that moves over the channels",
        "lrn.md#where-onnx-runtime-differs",
        "Each window's sum is derived from its neighbour's: an infinity stays, and so do the errors of large squares.",
        ("LRN",),
        lambda case: case.x.size > 0,
        where=running_sum,
    ),
    Kind(
        "an even size",
        "lrn.md#where-onnx-runtime-differs",
        "Refused.",
        ("LRN",),
        lambda case: case.get("size") % 2 == 0,
        refuses="size_ % 2 == 1 was false",
    ),
    Kind(
        "a rank other than 4",
        "lrn.md#where-onnx-runtime-differs",
        "Refused.",
        ("LRN",),
        lambda case: case.x.ndim != 4,
        refuses="running LRN node",
    ),
    Kind(
        "one pass, no epsilon",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "The variance is E[x * x] - E[x] * E[x], and nothing is added to its root.",
        ("MeanVarianceNormalization",),
        lambda case: case.x.size > 0,
        where=one_pass,
    ),
    Kind(
        "a function body that does not fit",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "MeanVarianceNormalization of another type than float32 is expanded to a body with float32 constants, and refused.",
        ("MeanVarianceNormalization",),
        lambda case: case.x.dtype != np.float32,
        refuses="Type Error: Type parameter",
    ),
    Kind(
        "scale folded into the deviation",
        "norm.md#where-onnx-runtime-and-the-operator-text-differ",
        "An infinite scale multiplies the mean too, and gives NaN.",
        ("InstanceNormalization", "GroupNormalization"),
        lambda case: case.inputs[1].size > 0 and case.x.size > 0,
        where=infinite_scale,
    ),
]
