"""docs/softmax.md"""

import math

import numpy as np

from .explog import exp, log
from .numerics import arithmetic_type, finish, quiet
from .reduce import axis_index, canonical_sum, require


@quiet
def over_rows(x, axis, flatten, function):
    require(x)
    axis = axis_index((1 if flatten else -1) if axis is None else axis, x.ndim)
    lines = x if flatten else np.moveaxis(x, axis, -1)
    split = axis if flatten else x.ndim - 1
    rows = lines.reshape(math.prod(lines.shape[:split]), math.prod(lines.shape[split:])).astype(arithmetic_type(x.dtype))
    y = function(rows) if rows.size else rows
    y = finish(y, x.dtype).reshape(lines.shape)
    return np.ascontiguousarray(y if flatten else np.moveaxis(y, -1, axis))


def maximum(rows):
    """NaN if any element is NaN."""
    return rows.max(axis=1, keepdims=True)


def softmax(x, *, axis=None, flatten=False):
    def function(rows):
        e = exp(rows - maximum(rows))
        return e / canonical_sum(e)[:, None]

    return over_rows(x, axis, flatten, function)


def log_softmax(x, *, axis=None, flatten=False):
    def function(rows):
        d = rows - maximum(rows)
        return d - log(canonical_sum(exp(d)))[:, None]

    return over_rows(x, axis, flatten, function)


def hardmax(x, *, axis=None, flatten=False):
    def function(rows):
        top = rows == maximum(rows)  # false throughout beside a NaN
        return (top & (np.cumsum(top, axis=1) == 1)).astype(rows.dtype)

    return over_rows(x, axis, flatten, function)
