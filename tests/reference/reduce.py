"""docs/reduce.md"""

import math
import operator

import numpy as np

from .explog import exp, log
from .numerics import FLOATS, arithmetic_type, finish, quiet
from .window import flag

WHOLE = ("int32", "int64", "uint32", "uint64")
MAX_RANK = 16


def axis_index(axis, rank):
    axis = operator.index(axis)
    if not -rank <= axis < rank:
        raise ValueError(f"axis {axis} of {rank}")
    return axis % rank


def require(x, integers=()):
    """The element type is a float or one of `integers`, the rank is served."""
    if x.dtype not in FLOATS and x.dtype.name not in integers:
        raise NotImplementedError(f"type {x.dtype}")
    if x.ndim > MAX_RANK:
        raise NotImplementedError(f"rank {x.ndim}")


def canonical_sum(terms):
    """The canonical sum over the last axis of a 2-D array."""
    rows, n = terms.shape
    p = np.zeros((rows, 16), terms.dtype)
    for j in range(0, n, 16):
        block = terms[:, j : j + 16]
        p[:, : block.shape[1]] = p[:, : block.shape[1]] + block
    a = p[:, :8] + p[:, 8:]
    b = a[:, :4] + a[:, 4:]
    c = b[:, :2] + b[:, 2:]
    return c[:, 0] + c[:, 1]


def sequential_sum(terms):
    acc = np.zeros(len(terms), terms.dtype)
    for j in range(terms.shape[1]):
        acc = acc + terms[:, j]
    return acc


def is_row_layout(shape, reduced):
    """Is the last run reduced? Merging does not change which run is last."""
    last = [axis for axis, extent in enumerate(shape) if extent != 1][-1:]
    return bool(last) and last[0] in reduced


def sequences(x, reduced):
    """[outputs, n]: the elements of every output in row-major order."""
    kept = [axis for axis in range(x.ndim) if axis not in reduced]
    n = math.prod(x.shape[axis] for axis in sorted(reduced))
    outputs = math.prod(x.shape[axis] for axis in kept)
    return x.transpose([*kept, *sorted(reduced)]).reshape(outputs, n)


def scan(seq, better):
    best = seq[:, 0]
    for j in range(1, seq.shape[1]):
        best = np.where(better(seq[:, j], best), seq[:, j], best)
    return best


def log_sum_exp(seq):
    rows, n = seq.shape
    if n == 0:
        return np.full(rows, -np.inf, seq.dtype)
    m = scan(seq, np.greater)
    total = sequential_sum(exp(seq - m[:, None]))
    y = np.where(np.isinf(m), m, m + log(total))
    return np.where(np.isnan(seq).any(axis=1), seq.dtype.type(np.nan), y)


def extremum(seq, better, empty):
    return scan(seq, better) if seq.shape[1] else np.full(len(seq), empty, seq.dtype)


def product(seq):
    acc = np.ones(len(seq), seq.dtype)
    for j in range(seq.shape[1]):
        acc = acc * seq[:, j]
    return acc


def real(kind, seq, row):
    total = canonical_sum if row else sequential_sum
    n = seq.shape[1]
    match kind:
        case "sum":
            return total(seq)
        case "mean":
            return total(seq) / seq.dtype.type(n) if n else np.zeros(len(seq), seq.dtype)
        case "l1":
            return total(np.abs(seq))
        case "l2":
            return np.sqrt(total(seq * seq))
        case "sum_square":
            return total(seq * seq)
        case "log_sum":
            return log(total(seq))
        case "log_sum_exp":
            return log_sum_exp(seq)
        case "prod":
            return product(seq)
        case "max":
            return extremum(seq, np.greater, -np.inf)
        case "min":
            return extremum(seq, np.less, np.inf)
    raise AssertionError(kind)


def wrapped(values, dtype):
    """Python integers to `dtype`, modulo its width."""
    bits = 8 * dtype.itemsize
    return np.array([v % (1 << bits) for v in values], f"u{dtype.itemsize}").view(dtype)


def whole(kind, seq):
    """Integers and bool, in Python's integers without bounds."""
    dtype, n = seq.dtype, seq.shape[1]
    values = seq.tolist()
    match kind:
        case "sum":
            return wrapped([sum(row) for row in values], dtype)
        case "mean":
            totals = wrapped([sum(row) for row in values], dtype).tolist()
            return wrapped([0 if n == 0 else (abs(t) // n) * (-1 if t < 0 else 1) for t in totals], dtype)
        case "l1":
            return wrapped([sum(abs(v) for v in row) for row in values], dtype)
        case "sum_square":
            return wrapped([sum(v * v for v in row) for row in values], dtype)
        case "prod":
            return wrapped([math.prod(row) for row in values], dtype)
        case "max" | "min":
            ends = (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
            best = max if kind == "max" else min
            return np.array([best(row) if n else ends[kind == "min"] for row in values], dtype)
    raise AssertionError(kind)


INTEGERS = {"max": (*WHOLE, "int8", "uint8", "bool"), "l2": (), "log_sum": (), "log_sum_exp": ()}
INTEGERS["min"] = INTEGERS["max"]


def make(kind):
    @quiet
    def reduce(x, axes=None, *, keepdims=1, noop_with_empty_axes=0):
        require(x, INTEGERS.get(kind, WHOLE))
        keepdims, noop = flag("keepdims", keepdims), flag("noop_with_empty_axes", noop_with_empty_axes)
        chosen = [] if axes is None else list(axes)
        reduced = {axis_index(axis, x.ndim) for axis in chosen}
        if not chosen and not noop:
            reduced = set(range(x.ndim))
        seq = sequences(x, reduced)
        if x.dtype in FLOATS:
            y = finish(real(kind, seq.astype(arithmetic_type(x.dtype)), is_row_layout(x.shape, reduced)), x.dtype)
        else:
            y = whole(kind, seq)
        shape = [1 if axis in reduced else extent for axis, extent in enumerate(x.shape) if keepdims or axis not in reduced]
        return y.reshape(shape)

    reduce.__name__ = reduce.__qualname__ = f"reduce_{kind}"
    return reduce


KINDS = ("sum", "mean", "l1", "l2", "sum_square", "log_sum", "log_sum_exp", "prod", "max", "min")
(
    reduce_sum,
    reduce_mean,
    reduce_l1,
    reduce_l2,
    reduce_sum_square,
    reduce_log_sum,
    reduce_log_sum_exp,
    reduce_prod,
    reduce_max,
    reduce_min,
) = map(make, KINDS)
