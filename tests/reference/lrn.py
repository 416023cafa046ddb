"""docs/lrn.md"""

import operator

import numpy as np

from .explog import exp, log
from .numerics import arithmetic_type, finish, quiet, require_float
from .reduce import MAX_RANK


def power(s, beta):
    """s to the power beta, a float32 number."""
    if beta == np.float32(0.75):
        return np.sqrt(s) * np.sqrt(np.sqrt(s))
    if beta == np.float32(0.5):
        return np.sqrt(s)
    if beta == np.float32(1):
        return s
    return exp(s.dtype.type(beta) * log(s))


@quiet
def lrn(x, *, size, alpha=1e-4, beta=0.75, bias=1.0):
    require_float(x)
    size = operator.index(size)
    if x.ndim < 2 or size < 1:
        raise ValueError("rank of X or size")
    if x.ndim > MAX_RANK:
        raise NotImplementedError("rank")
    xs = x.astype(arithmetic_type(x.dtype))
    real = xs.dtype.type
    alpha, beta, bias = (np.float32(value) for value in (alpha, beta, bias))
    ratio = real(alpha) / real(size)
    squares = xs * xs
    y = np.empty_like(xs)
    for c in range(x.shape[1]):
        acc = np.zeros_like(xs[:, c])
        for i in range(max(0, c - (size - 1) // 2), min(x.shape[1] - 1, c + size // 2) + 1):
            acc = acc + squares[:, i]
        scaled = ratio * acc
        y[:, c] = xs[:, c] / power(real(bias) + scaled, beta)
    return finish(y, x.dtype)
