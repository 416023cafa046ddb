"""docs/matmul_integer.md"""

import numpy as np

from .numerics import quiet
from .quantize import EIGHT, SCALES, per_tensor, require_type, saturate


def along(array, shape, kept):
    """A scale or zero point of a matrix of `shape` (as given, before an axis is added) in a shape that broadcasts to the
    matrix; `kept` is the axis that it runs along, -2 for rows and -1 for columns."""
    if per_tensor(array):
        return array.reshape(())
    if len(shape) < 2:
        raise ValueError("shape")
    full = list(shape)
    full[-3 - kept] = 1
    if len(shape) == 2 and array.shape == (shape[kept],):
        return array.reshape(full)
    if list(array.shape) != full:
        raise ValueError("shape")
    return array


def wrapped(total):
    """int64 to int32, modulo 2^32."""
    return np.asarray(total).astype(np.uint64).astype(np.uint32).view(np.int32)


def parameter(array, matrix, kept):
    """A zero point as int64."""
    if array is None:
        return np.int64(0)
    if array.dtype != matrix.dtype:
        raise ValueError("type of the zero point")
    return along(array, matrix.shape, kept).astype(np.int64)


def sums(a, b, a_zero_point, b_zero_point):
    """acc with the axes that stand for those of a rank of 1."""
    require_type(a, EIGHT)
    require_type(b, EIGHT)
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("rank 0")
    if max(a.ndim, b.ndim) > 16:
        raise NotImplementedError("rank")
    left = a.astype(np.int64) - parameter(a_zero_point, a, -2)
    right = b.astype(np.int64) - parameter(b_zero_point, b, -1)
    left = left[None, :] if a.ndim == 1 else left
    right = right[:, None] if b.ndim == 1 else right
    if left.shape[-1] != right.shape[-2]:
        raise ValueError("K differs")
    acc = np.zeros((*np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-2], right.shape[-1]), np.int64)
    for k in range(left.shape[-1]):
        acc = acc + left[..., :, k, None] * right[..., None, k, :]
    return wrapped(acc)


def without_added(y, a, b):
    """Takes away the axes that were added to inputs of rank 1."""
    if a.ndim == 1:
        y = y[..., 0, :]
    if b.ndim == 1:
        y = y[..., 0]
    return np.ascontiguousarray(y).reshape(y.shape)


def matmul_integer(a, b, a_zero_point=None, b_zero_point=None):
    return without_added(sums(a, b, a_zero_point, b_zero_point), a, b)


@quiet
def qlinear_matmul(a, a_scale, a_zero_point, b, b_scale, b_zero_point, y_scale, y_zero_point):
    for scale in (a_scale, b_scale, y_scale):
        require_type(scale, SCALES)
    require_type(y_zero_point, EIGHT)
    acc = sums(a, b, a_zero_point, b_zero_point)
    if not (per_tensor(y_scale) and per_tensor(y_zero_point)):
        raise ValueError("shape of y_scale or y_zero_point")
    of_a = along(a_scale.astype(np.float32), a.shape, -2)
    of_b = along(b_scale.astype(np.float32), b.shape, -1)
    m = of_a * of_b
    m = m / y_scale.astype(np.float32).reshape(())
    y = saturate(acc.astype(np.float32) * m, y_zero_point.reshape(()), y_zero_point.dtype)
    return without_added(y, a, b)
