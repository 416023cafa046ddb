"""docs/norm.md"""

import math
import operator

import numpy as np

from .numerics import arithmetic_type, finish, quiet, require_float
from .reduce import MAX_RANK, axis_index, canonical_sum, is_row_layout, sequences, sequential_sum


def prepare(*arrays):
    arrays = [a for a in arrays if a is not None]
    require_float(*arrays)
    if arrays[0].ndim > MAX_RANK:
        raise NotImplementedError("rank")


def stash(stash_type):
    if operator.index(stash_type) != 1:
        raise NotImplementedError("stash_type")


def normalize(rows, epsilon, scale, bias, centred=True):
    """(y, mean, inv) of a 2-D array in the arithmetic type; scale and bias broadcast to it."""
    real = rows.dtype.type
    count = real(rows.shape[1])
    mean = canonical_sum(rows) / count if centred else np.zeros(len(rows), real)
    d = rows - mean[:, None]
    v = canonical_sum(d * d) / count
    inv = real(1) / np.sqrt(v + real(np.float32(epsilon)))
    y = d * inv[:, None]
    y = y * scale
    return (y if bias is None else y + bias), mean, inv


def spread(parameter, normalized, rank, real):
    """A parameter of LayerNormalization or RMSNormalization, for every element of a row."""
    if parameter is None:
        return None
    if parameter.ndim > rank:
        raise ValueError("rank of a parameter")
    shape = list(parameter.shape)
    extra, shape = shape[: max(0, len(shape) - len(normalized))], shape[max(0, len(shape) - len(normalized)) :]
    for extent, have in zip(normalized[::-1], shape[::-1], strict=False):
        if have not in (1, extent):
            raise ValueError("a parameter does not broadcast")
    if any(extent != 1 for extent in extra):
        raise NotImplementedError("a parameter varies over the rows")
    return np.broadcast_to(parameter.reshape(shape).astype(real), normalized).reshape(1, math.prod(normalized))


@quiet
def over_rows(x, scale, b, axis, epsilon, stash_type, centred):
    prepare(x, scale, b)
    stash(stash_type)
    axis = axis_index(axis, x.ndim)
    real = arithmetic_type(x.dtype)
    normalized = x.shape[axis:]
    scale, b = (spread(p, normalized, x.ndim, real) for p in (scale, b))
    rows = x.astype(real).reshape(math.prod(x.shape[:axis]), math.prod(normalized))
    y, mean, inv = normalize(rows, epsilon, scale, b, centred)
    statistics = [finish(s, np.float32).reshape(*x.shape[:axis], *[1] * len(normalized)) for s in (mean, inv)]
    return finish(y, x.dtype).reshape(x.shape), *statistics


def layer_normalization(x, scale, b=None, *, axis=-1, epsilon=1e-5, stash_type=1, return_statistics=False):
    results = over_rows(x, scale, b, axis, epsilon, stash_type, True)
    return results if return_statistics else results[0]


def rms_normalization(x, scale, *, axis=-1, epsilon=1e-5, stash_type=1):
    return over_rows(x, scale, None, axis, epsilon, stash_type, False)[0]


@quiet
def instance_normalization(x, scale, b, *, epsilon=1e-5):
    prepare(x, scale, b)
    if x.ndim < 3:
        raise ValueError("rank of X")
    return over_channels(x, scale, b, x.shape[1], epsilon, per_channel=True)


@quiet
def group_normalization(x, scale, b, *, num_groups, epsilon=1e-5, stash_type=1):
    prepare(x, scale, b)
    stash(stash_type)
    num_groups = operator.index(num_groups)
    if x.ndim < 2 or num_groups < 1 or x.shape[1] % num_groups:
        raise ValueError("rank of X or num_groups")
    return over_channels(x, scale, b, num_groups, epsilon, per_channel=scale.shape == x.shape[1:2])


def over_channels(x, scale, b, groups, epsilon, per_channel):
    n, channels = x.shape[:2]
    length = channels if per_channel else groups
    if scale.shape != (length,) or b.shape != (length,):
        raise ValueError("length of scale or B")
    real = arithmetic_type(x.dtype)
    area = math.prod(x.shape[2:])
    each = channels // groups if groups else 0
    rows = x.astype(real).reshape(n * groups, each * area)
    parameters = []
    for parameter in (scale, b):
        by_channel = np.repeat(parameter, 1 if per_channel else each)
        by_element = np.repeat(by_channel, area).astype(real)
        parameters.append(np.tile(by_element.reshape(groups, each * area), (n, 1)))
    y, _, _ = normalize(rows, epsilon, *parameters)
    return finish(y, x.dtype).reshape(x.shape)


def put_back(rows, shape, reduced):
    """The inverse of `sequences`: an array of `shape`."""
    kept = [axis for axis in range(len(shape)) if axis not in reduced]
    order = [*kept, *sorted(reduced)]
    return rows.reshape([shape[axis] for axis in order]).transpose(np.argsort(order))


@quiet
def lp_normalization(x, *, axis=-1, p=2):
    prepare(x)
    p = operator.index(p)
    if p not in (1, 2):
        raise ValueError("p")
    reduced = {axis_index(axis, x.ndim)}
    total = canonical_sum if is_row_layout(x.shape, reduced) else sequential_sum
    seq = sequences(x, reduced).astype(arithmetic_type(x.dtype))
    norm = (total(np.abs(seq)) if p == 1 else np.sqrt(total(seq * seq)))[:, None]
    y = np.where(norm == 0, np.zeros((), seq.dtype), seq / norm)
    return finish(put_back(y, x.shape, reduced), x.dtype)


@quiet
def mean_variance_normalization(x, *, axes=(0, 2, 3)):
    prepare(x)
    axes = (0, 2, 3) if axes is None or len(axes) == 0 else axes
    reduced = {axis_index(axis, x.ndim) for axis in axes}
    total = canonical_sum if is_row_layout(x.shape, reduced) else sequential_sum
    seq = sequences(x, reduced).astype(arithmetic_type(x.dtype))
    real = seq.dtype.type
    epsilon = real(np.uint32(0x3089705F).view(np.float32))
    count = real(seq.shape[1])
    t = seq - seq[:, :1]
    mean = total(t) / count
    d = t - mean[:, None]
    v = total(d * d) / count
    s = np.sqrt(v) + epsilon
    return finish(put_back(d / s[:, None], x.shape, reduced), x.dtype)
