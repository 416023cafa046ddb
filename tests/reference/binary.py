"""docs/binary.md"""

import numpy as np

from .numerics import FLOATS, arithmetic_type, finish, is_nan, quiet
from .reduce import MAX_RANK, WHOLE

EXPONENTS = (2, 3, 0.5, 1, 0, -1, -2, -0.5)
EVERY_INTEGER = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


def one_type(arrays, integers=()):
    """All inputs have one served type and ranks that are served."""
    if not arrays:
        raise ValueError("no input")
    first = arrays[0].dtype
    if first not in FLOATS and first.name not in integers:
        raise NotImplementedError(f"type {first}")
    if any(a.ndim > MAX_RANK for a in arrays):
        raise NotImplementedError("rank")
    if any(a.dtype != first for a in arrays):
        raise ValueError("types differ")


def common_shape(shapes):
    """The shape that all broadcast to, axis by axis from the last."""
    rank = max(len(shape) for shape in shapes)
    padded = [(1,) * (rank - len(shape)) + tuple(shape) for shape in shapes]
    out = []
    for extents in zip(*padded, strict=True):
        others = {n for n in extents if n != 1}
        if len(others) > 1:
            raise ValueError(f"dimensions {sorted(others)} on one axis")
        out.append(others.pop() if others else 1)
    return tuple(out)


def spread(arrays):
    """The arrays in the arithmetic type (integers as they are), broadcast."""
    shape = common_shape([a.shape for a in arrays])
    wide = [a.astype(arithmetic_type(a.dtype)) if a.dtype in FLOATS else a for a in arrays]
    return [np.broadcast_to(a, shape) for a in wide]


@quiet
def arithmetic(a, b, operation):
    one_type([a, b])
    x, y = spread([a, b])
    return finish(operation(x, y), a.dtype)


def add(a, b):
    return arithmetic(a, b, np.add)


def sub(a, b):
    return arithmetic(a, b, np.subtract)


def mul(a, b):
    return arithmetic(a, b, np.multiply)


def div(a, b):
    return arithmetic(a, b, np.divide)


@quiet
def prelu(x, slope):
    one_type([x, slope], WHOLE)
    if common_shape([x.shape, slope.shape]) != x.shape:
        raise ValueError("the slope is larger than X")
    v, s = spread([x, slope])
    y = np.where(v < 0, s * v, v)
    return finish(y, x.dtype) if x.dtype in FLOATS else y


@quiet
def power(x, y):
    if x.dtype not in FLOATS:
        raise NotImplementedError(f"type {x.dtype}")
    if y.dtype not in FLOATS and y.dtype.name not in EVERY_INTEGER:
        raise NotImplementedError(f"exponent of type {y.dtype}")
    if x.ndim > MAX_RANK or y.ndim > MAX_RANK:
        raise NotImplementedError("rank")
    if y.size != 1:
        raise NotImplementedError("an exponent of several elements")
    shape = common_shape([x.shape, y.shape])
    v = np.broadcast_to(x.astype(arithmetic_type(x.dtype)), shape)
    one = v.dtype.type(1)
    root = np.where(v == 0, np.zeros_like(v), np.where(np.isneginf(v), -v, np.sqrt(v)))
    results = {
        2: lambda: v * v,
        3: lambda: (v * v) * v,
        0.5: lambda: root,
        1: lambda: v,
        0: lambda: np.ones_like(v),
        -1: lambda: one / v,
        -2: lambda: one / (v * v),
        -0.5: lambda: one / root,
    }
    exponent = y.item() if y.dtype.kind in "iu" else float(y.item())
    if exponent not in results:
        raise NotImplementedError(f"exponent {exponent}")
    return finish(results[exponent](), x.dtype)


@quiet
def extreme(arrays, replaces):
    one_type(arrays, EVERY_INTEGER)
    values = spread(arrays)
    m = values[0].copy()
    nan = is_nan(m)
    for x in values[1:]:
        m = np.where(replaces(x, m), x, m)
        nan = nan | is_nan(x)
    if arrays[0].dtype not in FLOATS:
        return m
    return finish(np.where(nan, np.nan, m).astype(m.dtype), arrays[0].dtype)


def maximum(*arrays):
    return extreme(arrays, np.greater)


def minimum(*arrays):
    return extreme(arrays, np.less)


@quiet
def total(arrays):
    one_type(arrays)
    values = spread(arrays)
    s = values[0]
    for x in values[1:]:
        s = s + x
    return s


def sum_of(*arrays):
    return finish(total(arrays), arrays[0].dtype)


@quiet
def mean_of(*arrays):
    s = total(arrays)
    return finish(s / s.dtype.type(len(arrays)), arrays[0].dtype)
