"""docs/cumsum.md"""

import numpy as np

from .numerics import FLOATS, arithmetic_type, finish, quiet
from .reduce import WHOLE, axis_index, require
from .window import flag


@quiet
def accumulate(x, axis, exclusive, reverse, start, step):
    require(x, WHOLE)
    exclusive, reverse = flag("exclusive", exclusive), flag("reverse", reverse)
    axis = np.asarray(axis)
    if axis.size != 1 or axis.ndim > 1 or axis.dtype not in (np.int32, np.int64):
        raise ValueError("axis")
    axis = axis_index(axis.item(), x.ndim)
    real = x.dtype in FLOATS
    lines = np.moveaxis(x.astype(arithmetic_type(x.dtype)) if real else x, axis, 0)
    lines = lines[::-1] if reverse else lines
    y = np.empty(lines.shape, lines.dtype)
    for i in range(len(lines)):
        if exclusive:
            y[i] = step(y[i - 1], lines[i - 1]) if i else start
        else:
            y[i] = step(y[i - 1], lines[i]) if i else lines[0]
    y = np.ascontiguousarray(np.moveaxis(y[::-1] if reverse else y, 0, axis))
    return finish(y, x.dtype) if real else y


def cumsum(x, axis, *, exclusive=0, reverse=0):
    return accumulate(x, axis, exclusive, reverse, 0, np.add)


def cumprod(x, axis, *, exclusive=0, reverse=0):
    return accumulate(x, axis, exclusive, reverse, 1, np.multiply)
