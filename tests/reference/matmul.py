"""docs/matmul.md"""

import numpy as np

from .numerics import FLOATS, arithmetic_type, finish, quiet, require_float

_INTEGERS = (np.dtype(np.int32), np.dtype(np.int64), np.dtype(np.uint32), np.dtype(np.uint64))


def sums(a, b):
    """acc of every (stack position, row, column); a is [..., m, k] and b [..., k, n] of one type."""
    if a.shape[-1] != b.shape[-2]:
        raise ValueError("K differs")
    stack = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    acc = np.zeros((*stack, a.shape[-2], b.shape[-1]), a.dtype)
    for k in range(a.shape[-1]):
        product = a[..., :, k, None] * b[..., None, k, :]
        acc = acc + product
    return acc


@quiet
def matmul(a, b):
    if a.dtype != b.dtype:
        raise ValueError("types differ")
    if a.dtype not in (*FLOATS, *_INTEGERS):
        raise NotImplementedError(f"type {a.dtype}")
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("rank 0")
    real = arithmetic_type(a.dtype) if a.dtype in FLOATS else a.dtype
    left = a.astype(real)[None, :] if a.ndim == 1 else a.astype(real)
    right = b.astype(real)[:, None] if b.ndim == 1 else b.astype(real)
    acc = sums(left, right)
    if a.ndim == 1:
        acc = acc[..., 0, :]
    if b.ndim == 1:
        acc = acc[..., 0]
    return finish(acc, a.dtype) if a.dtype in FLOATS else np.asarray(acc)


@quiet
def gemm(a, b, c=None, *, alpha=1.0, beta=1.0, transA=0, transB=0):
    require_float(*(t for t in (a, b, c) if t is not None))
    if a.ndim != 2 or b.ndim != 2:
        raise ValueError("rank of A or B")
    real = arithmetic_type(a.dtype)
    alpha, beta = real(np.float32(alpha)), real(np.float32(beta))
    acc = sums((a.T if transA else a).astype(real), (b.T if transB else b).astype(real))
    y = acc * alpha
    if c is not None:
        if c.ndim > 2:
            raise ValueError("rank of C")
        wide = np.broadcast_to(c.astype(real), np.broadcast_shapes(c.shape, y.shape))
        if wide.shape != y.shape:
            raise ValueError("shape of C")
        if beta != 0:
            product = wide * beta
            y = y + product
    return finish(y, a.dtype)
