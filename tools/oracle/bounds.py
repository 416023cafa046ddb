"""How far two results of a case may lie apart when both compute the documented formula, but sum in different orders.

A bound is an array of absolute errors per output, infinity where the order decides whether a partial sum overflows. It
follows from the inputs alone: a sum of n terms in any order has an error of at most about n * u * (sum of the absolute
terms), u half a unit in the last place. Infinities and NaNs among the inputs count as 0: what they lead to does not
depend on the order."""

import math

import numpy as np
import reference
from helpers import TYPE_NAMES
from reference.numerics import arithmetic_type, quiet

from . import resampling


def none(case, call):
    """No sum, or one that cannot cancel."""
    return None


def magnitude(array):
    """Absolute values in float64, 0 for what is not finite."""
    wide = np.abs(np.asarray(array).astype(np.float64))
    return np.where(np.isfinite(wide), wide, 0.0)


def unit(case):
    return 2.0 ** (-53 if case.x.dtype == np.float64 else -24)


def limit(case):
    return float(np.finfo(arithmetic_type(case.x.dtype)).max)


@quiet
def of_sum(case, sums, n, signed=True):
    """The bound of a sum of n terms whose absolute values add up to `sums`."""
    slack = (n + 4) * unit(case)
    least = limit(case) * (1 - slack)
    unclear = (sums >= least) if signed else (sums >= least) & (sums <= limit(case) * (1 + slack))
    return np.where(unclear, np.inf, 2 * slack * np.where(np.isfinite(sums), sums, 0.0))


def conv(case, call):
    arrays = [None if a is None else magnitude(a) for a in case.inputs]
    w = case.inputs[1]
    terms = math.prod(w.shape[1:]) if case.operator == "Conv" else w.shape[0] * math.prod(w.shape[2:])
    return [of_sum(case, call(arrays), terms)]


def average(case, call):
    taps = math.prod(case.get("kernel_shape", case.x.shape[2:]))
    mean = call([magnitude(case.x)])
    bound = of_sum(case, np.where(np.isnan(mean), 0.0, mean) * taps, taps)
    return [bound / max(1, taps)]


@quiet
def powers(case, call):
    """Sums of powers that cannot cancel: only whether they overflow may depend on the order."""
    order = case.get("p", 2)
    sums = call([magnitude(case.x)]) ** order
    taps = math.prod(case.get("kernel_shape", case.x.shape[2:]))
    return [np.where(np.isinf(of_sum(case, sums, taps + 2 * order, signed=False)), np.inf, 0.0)]


@quiet
def matrices(case, call):
    """MatMul, and Gemm with its factors."""
    if not is_float(case):
        return None
    a, b, *c = (magnitude(array) for array in case.inputs)
    n = case.x.shape[0 if case.get("transA") else -1] + 2
    product = np.matmul(a.T if case.get("transA") else a, b.T if case.get("transB") else b)
    scaled = product * abs(case.get("alpha", 1.0))
    if c:
        scaled = scaled + abs(case.get("beta", 1.0)) * c[0]
    return [np.where(np.isinf(of_sum(case, product, n)), np.inf, of_sum(case, scaled, n))]


@quiet
def einsum(case, call):
    """As many terms as the labels that the output may lack have combinations."""
    if not is_float(case):
        return None
    sizes = {}
    for term, x in zip(case.get("equation").replace(" ", "").partition("->")[0].split(","), case.inputs, strict=True):
        before, dots, after = term.partition("...")
        ends = [*zip(before, x.shape, strict=False), *(zip(after[::-1], x.shape[::-1], strict=False) if dots else ())]
        for label, size in ends:
            sizes[label] = max(size, sizes.get(label, 1))
    return [of_sum(case, call([magnitude(x) for x in case.inputs]), math.prod(sizes.values()) + len(case.inputs))]


@quiet
def resize(case, call):
    """Coordinates and weights in another order of operations: relative to the largest element that is near."""
    if case.get("mode", "nearest") == "nearest":
        return None
    largest = resampling.near(case, magnitude(case.x))
    return [np.where(largest >= limit(case) / 16, np.inf, 2.0**-17 * largest)]


@quiet
def affine(case, call):
    x, scale, bias, mean, var = (np.asarray(a).astype(np.float64) for a in case.inputs)
    a = magnitude(scale / np.sqrt(var + np.float32(case.get("epsilon", 1e-5))))
    shape = (len(a), *[1] * max(0, x.ndim - 2))
    terms = magnitude(x) * a.reshape(shape) + (magnitude(mean) * a + magnitude(bias)).reshape(shape)
    return [of_sum(case, terms, 8)]


def is_float(case):
    return case.x.dtype.name in TYPE_NAMES


def length(case, reduced):
    """Elements of the input for each of the output."""
    return case.x.size // max(1, reduced.size)


def reduce_sum(case, call):
    if not is_float(case):
        return None
    sums = call([magnitude(case.x), *case.inputs[1:]])
    n = length(case, sums)
    if case.operator == "ReduceMean":
        return [of_sum(case, sums * n, n) / max(1, n)]
    return [of_sum(case, sums, n, signed=case.operator != "ReduceL1")]


@quiet
def reduce_squares(case, call):
    if not is_float(case):
        return None
    x = magnitude(case.x)
    result = call([x, *case.inputs[1:]])
    squares = result * result if case.operator == "ReduceL2" else result
    n = length(case, result)
    return [np.where(np.isinf(of_sum(case, squares, n, signed=False)), np.inf, 2 * (n + 4) * unit(case) * result)]


@quiet
def reduce_log_sum(case, call):
    attributes = dict(case.attributes)
    axes = attributes.pop("axes", None)
    axes = case.inputs[1].tolist() if len(case.inputs) > 1 else axes
    x = case.x.astype(np.float64)
    sums = reference.reduce_sum(np.where(np.isfinite(x), x, 0.0), axes, **attributes)
    error = of_sum(case, reference.reduce_sum(magnitude(x), axes, **attributes), length(case, sums))
    unclear = 2 * error >= np.abs(sums)  # the sign too
    return [np.where(unclear, np.inf, 2 * error / np.where(unclear, 1.0, np.abs(sums)))]


@quiet
def reduce_prod(case, call):
    """The order matters where some of the factors alone leave the range of normal numbers."""
    if not is_float(case):
        return None
    x = magnitude(case.x)
    largest = call([np.maximum(x, 1.0), *case.inputs[1:]])
    nonzero = np.where(x == 0, 1.0, np.minimum(x, 1.0))
    least = call([nonzero, *case.inputs[1:]])
    tiny = float(np.finfo(arithmetic_type(case.x.dtype)).smallest_normal)
    return [np.where((largest >= limit(case)) | (least <= tiny), np.inf, 0.0)]


@quiet
def normalized(case, rows, scale):
    """Of ((x - mean) / sqrt(v + epsilon)) * scale + bias with mean and v computed in two passes; rows is 2-D."""
    u, n = unit(case), max(1, rows.shape[1])
    centred = case.operator != "RMSNormalization"
    x = np.where(np.isfinite(rows), rows, 0.0)
    mean = x.mean(axis=1, keepdims=True) if centred and rows.shape[1] else np.zeros((len(x), 1))
    d = x - mean
    v = (d * d).sum(axis=1, keepdims=True) / n
    root = np.sqrt(v + np.float32(case.get("epsilon", 1e-5)))
    of_d = (n + 4) * u * np.abs(x).mean(axis=1, keepdims=True) + u * np.abs(d) if rows.shape[1] else np.abs(d)
    largest = of_d.max(axis=1, keepdims=True) if rows.shape[1] else root
    least = float(np.finfo(arithmetic_type(case.x.dtype)).smallest_subnormal)
    of_v = 2 * np.sqrt(v) * largest + largest**2 + (n + 4) * (u * v + least)
    relative = of_v / (root * root)
    bound = scale * (of_d / root + np.abs(d) / root * (relative + 4 * u))
    hazard = (relative > 0.25) | (v * n >= limit(case) / 4)
    product = scale / root * np.maximum(1.0, np.abs(mean) + np.abs(x)) >= limit(case)
    return 2 * np.where(hazard | product | ~np.isfinite(bound), np.inf, bound), root, relative, hazard


def row_norm(case, call):
    x = case.x.astype(np.float64)
    axis = case.get("axis", -1) % x.ndim
    rows = x.reshape(math.prod(x.shape[:axis]), math.prod(x.shape[axis:]))
    scale = np.broadcast_to(magnitude(case.inputs[1]), x.shape[axis:]) if case.inputs[1].ndim <= x.ndim - axis else None
    if scale is None:
        scale = np.broadcast_to(magnitude(case.inputs[1]).reshape(case.inputs[1].shape[axis - x.ndim :]), x.shape[axis:])
    bound, root, relative, hazard = normalized(case, rows, scale.reshape(1, -1))
    bounds = [bound.reshape(x.shape)]
    if case.outputs > 1:
        shape = (*x.shape[:axis], *[1] * (x.ndim - axis))
        n = max(1, rows.shape[1])
        of_mean = of_sum(case, magnitude(rows).sum(axis=1), n) / n
        with np.errstate(all="ignore"):
            of_inv = np.where(hazard, np.inf, 2 * relative / root)
        bounds += [of_mean.reshape(shape), of_inv.reshape(shape)]
    return bounds[: case.outputs]


def channel_norm(case, call):
    x = case.x.astype(np.float64)
    rows_per_image = case.get("num_groups", x.shape[1])
    rows = x.reshape(x.shape[0] * rows_per_image, -1) if x.size else np.zeros((0, 1))
    scale = magnitude(case.inputs[1])
    by_channel = np.repeat(scale, x.shape[1] // len(scale)) if len(scale) != x.shape[1] else scale
    spread = np.broadcast_to(by_channel.reshape(1, -1, *[1] * (x.ndim - 2)), x.shape)
    bound, *_ = normalized(case, rows, spread.reshape(rows.shape))
    return [bound.reshape(x.shape)]


def cumulation(case, call):
    if not is_float(case) or case.operator == "CumProd":
        return None
    return [of_sum(case, call([magnitude(case.x), case.inputs[1]]), case.x.shape[case.inputs[1].item()])]


def several(case, call):
    """Sum and Mean of several inputs."""
    sums = call([magnitude(array) for array in case.inputs])
    return [of_sum(case, sums * (len(case.inputs) if case.operator == "Mean" else 1), len(case.inputs))]
