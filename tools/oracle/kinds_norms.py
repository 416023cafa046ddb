"""Kinds of the normalizations."""

import math

import numpy as np
from reference.numerics import quiet

from .kinds import ANY, Kind
from .kinds_reduce import allowed


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
    # The body of GroupNormalization computes its statistics in float32, whatever the type.
    double = case.x.dtype == np.float64 and case.operator != "GroupNormalization"
    n, u, least, most = rows.shape[1], 2.0**-53 if double else 2.0**-24, 0.0 if double else 1e-37, np.inf if double else 1e38
    d = rows - rows.mean(axis=1, keepdims=True)
    square = (rows * rows).mean(axis=1, keepdims=True)
    variance = (d * d).mean(axis=1, keepdims=True) + np.float32(case.get("epsilon", 1e-5))
    relative = 4 * (n + 4) * u * square / variance
    scale = np.abs(case.inputs[1].astype(np.float64))
    by_channel = np.repeat(scale, x.shape[1] // len(scale)).reshape(1, -1, *[1] * (x.ndim - 2))
    factor = np.broadcast_to(by_channel, x.shape).reshape(rows.shape) / np.sqrt(variance)
    bound = factor * (2 * np.abs(d) * relative + 4 * (n + 4) * u * np.sqrt(square))
    sound = (relative < 0.25) & (variance > least) & (square * n < most)
    return [np.where(sound, np.where(np.isfinite(bound), bound, 0.0), ANY).reshape(x.shape)]


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
        "The variance is E[x * x] - E[x] * E[x], in GroupNormalization in float32 for float64 too: digits are lost where the "
        "mean is large beside the deviations.",
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
        "An even size is refused.",
        ("LRN",),
        lambda case: case.get("size") % 2 == 0,
        refuses="size_ % 2 == 1 was false",
    ),
    Kind(
        "a rank other than 4",
        "lrn.md#where-onnx-runtime-differs",
        "Tensors of a rank other than 4 are refused.",
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
