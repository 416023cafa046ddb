"""docs/arg.md"""

import numpy as np

from .numerics import FLOATS, arithmetic_type, quiet
from .reduce import WHOLE, axis_index, require
from .window import flag


@quiet
def winner(x, axis, keepdims, better):
    require(x, (*WHOLE, "int8", "uint8", "int16", "uint16"))
    keepdims = flag("keepdims", keepdims)
    axis = axis_index(axis, x.ndim)
    lines = np.moveaxis(x.astype(arithmetic_type(x.dtype)) if x.dtype in FLOATS else x, axis, 0)
    index = np.zeros(lines.shape[1:], np.int64)
    best = lines[0] if len(lines) else None
    for i in range(1, len(lines)):
        takes = better(lines[i], best)
        index = np.where(takes, i, index)
        best = np.where(takes, lines[i], best)
    return np.expand_dims(index, axis) if keepdims else index


def arg_max(x, *, axis=0, keepdims=1, select_last_index=0):
    last = flag("select_last_index", select_last_index)
    return winner(x, axis, keepdims, np.greater_equal if last else np.greater)


def arg_min(x, *, axis=0, keepdims=1, select_last_index=0):
    last = flag("select_last_index", select_last_index)
    return winner(x, axis, keepdims, np.less_equal if last else np.less)
