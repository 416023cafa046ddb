"""docs/unpool.md"""

import math

import numpy as np

from .numerics import bits, require_float
from .window import int_list, spatial_rank


def output_sizes(x, output_shape, kernel_shape, strides, pads):
    r = spatial_rank(x)
    if len(kernel_shape) == 0:
        raise ValueError("kernel_shape is required")
    kernel = int_list("kernel_shape", kernel_shape, r, 1, 1)
    strides = int_list("strides", strides, r, 1, 1)
    pads = int_list("pads", pads, 2 * r, 0, 0)
    if output_shape is None:
        sizes = [(n - 1) * strides[i] + kernel[i] - pads[i] - pads[r + i] for i, n in enumerate(x.shape[2:])]
    else:
        output_shape = np.asarray(output_shape)
        if output_shape.dtype != np.int64 or output_shape.shape != (r + 2,) or tuple(output_shape[:2]) != x.shape[:2]:
            raise ValueError("output_shape")
        sizes = output_shape[2:].tolist()
    if any(size < 1 for size in sizes):
        raise ValueError("size of the output")
    return sizes


def max_unpool(x, indices, output_shape=None, *, kernel_shape, strides=None, pads=None):
    require_float(x)
    sizes = output_sizes(x, output_shape, kernel_shape, strides, pads)
    if indices.dtype != np.int64 or indices.shape != x.shape:
        raise ValueError("indices")
    shape = (*x.shape[:2], *sizes)
    y = np.zeros(math.prod(shape), bits(x).dtype)
    for i, pattern in zip(indices.ravel().tolist(), bits(x).ravel().tolist(), strict=True):
        if not 0 <= i < len(y):
            raise ValueError("index")
        y[i] = pattern
    return y.view(x.dtype).reshape(shape)
