"""docs/quantize.md"""

import numpy as np

from .numerics import BFLOAT16, canonical_nan, finish, quiet

SCALES = (np.dtype(np.float32), np.dtype(np.float16), BFLOAT16)
EIGHT = (np.dtype(np.int8), np.dtype(np.uint8))
QUANTIZED = (*EIGHT, np.dtype(np.int16), np.dtype(np.uint16))


@quiet
def saturate(value, zero_point, dtype):
    """float32 `value` and integer `zero_point` of shapes that broadcast."""
    info = np.iinfo(dtype)
    # Every number beyond 2^20 in size saturates, whatever the zero point is.
    whole = np.clip(np.rint(np.nan_to_num(value, nan=0.0, posinf=np.inf, neginf=-np.inf)), -(2.0**20), 2.0**20).astype(np.int64)
    total = np.clip(whole + np.asarray(zero_point).astype(np.int64), info.min, info.max)
    return np.where(np.isnan(value), info.min, total).astype(dtype)


def require_type(array, allowed):
    if array.dtype not in allowed:
        raise NotImplementedError(f"type {array.dtype}")


def per_tensor(array):
    return array.shape in ((), (1,))


def spread(x, scale, zero_point, axis, block_size):
    """Scale (float32) and zero point (int64), each of a shape that broadcasts to x's."""
    if block_size < 0:
        raise ValueError("block_size")
    if x.ndim > 16:
        raise NotImplementedError("rank")
    zero = np.zeros(scale.shape, np.int64) if zero_point is None else zero_point.astype(np.int64)
    scale = scale.astype(np.float32)
    if block_size == 0 and per_tensor(scale):
        if not per_tensor(zero):
            raise ValueError("shape of the zero point")
        return scale.reshape(()), zero.reshape(())
    if zero.shape != scale.shape:
        raise ValueError("shape of the zero point")
    if not -x.ndim <= axis < x.ndim:
        raise ValueError("axis")
    axis %= x.ndim
    extent = x.shape[axis]
    if block_size == 0:
        if scale.shape != (extent,):
            raise ValueError("shape of the scale")
        shape = [extent if i == axis else 1 for i in range(x.ndim)]
        return scale.reshape(shape), zero.reshape(shape)
    blocks = -(-extent // block_size)
    if scale.shape != (*x.shape[:axis], blocks, *x.shape[axis + 1 :]):
        raise ValueError("shape of the scale")
    places = np.arange(extent) // block_size
    return np.take(scale, places, axis), np.take(zero, places, axis)


@quiet
def quantize_linear(x, y_scale, y_zero_point=None, *, axis=1, block_size=0, output_dtype=None, precision=None):
    require_type(x, SCALES)
    require_type(y_scale, SCALES)
    if precision is not None and np.dtype(precision) not in SCALES:
        raise NotImplementedError("precision")
    wanted = None if output_dtype is None else np.dtype(output_dtype)
    if wanted is not None and wanted not in QUANTIZED:
        raise NotImplementedError("output_dtype")
    if y_zero_point is not None:
        require_type(y_zero_point, QUANTIZED)
        if wanted is not None and wanted != y_zero_point.dtype:
            raise ValueError("output_dtype is not the type of the zero point")
        wanted = y_zero_point.dtype
    scale, zero = spread(x, y_scale, y_zero_point, axis, block_size)
    q = x.astype(np.float32) / scale
    return saturate(q, zero, wanted or np.dtype(np.uint8))


@quiet
def dequantize_linear(x, x_scale, x_zero_point=None, *, axis=1, block_size=0, output_dtype=None):
    require_type(x, (*QUANTIZED, np.dtype(np.int32)))
    require_type(x_scale, SCALES)
    dtype = x_scale.dtype if output_dtype is None else np.dtype(output_dtype)
    if dtype not in SCALES:
        raise NotImplementedError("output_dtype")
    if x_zero_point is not None and x_zero_point.dtype != x.dtype:
        raise ValueError("type of the zero point")
    scale, zero = spread(x, x_scale, x_zero_point, axis, block_size)
    d = x.astype(np.int64) - zero
    return finish(d.astype(np.float32) * scale, dtype)


@quiet
def dynamic_quantize_linear(x):
    require_type(x, (np.dtype(np.float32),))
    if x.ndim > 16:
        raise NotImplementedError("rank")
    lo = np.minimum(np.min(x, initial=np.float32(0)), np.float32(0))
    hi = np.maximum(np.max(x, initial=np.float32(0)), np.float32(0))
    scale = np.float32(1) if lo == hi else np.float32(np.float32(hi - lo) / np.float32(255))
    if np.isnan(scale):
        scale = canonical_nan(np.float32)
    t = np.float32(0) - np.float32(lo / scale)
    uint8 = np.dtype(np.uint8)
    zero = saturate(np.asarray(t), np.int64(0), uint8)
    y = saturate(x / scale, zero, uint8)
    return np.asarray(y), np.asarray(scale, np.float32), np.asarray(zero)
