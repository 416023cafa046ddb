"""docs/conv.md"""

import numpy as np

from .numerics import arithmetic_type, finish, quiet, require_float
from .window import gather_tap, int_list, make_axes, spatial_rank, taps


def check_weight(x, w, kernel_shape, r):
    if w.ndim != x.ndim:
        raise ValueError("rank of W")
    kernel = list(w.shape[2:])
    if min(kernel) < 1:
        raise ValueError("kernel dimension of 0")
    if kernel_shape is not None and len(kernel_shape) and int_list("kernel_shape", kernel_shape, r, 1, 1) != kernel:
        raise ValueError("kernel_shape is not the shape of W")
    return kernel


def check_bias(b, m):
    if b is not None and b.shape != (m,):
        raise ValueError("shape of B")


@quiet
def conv(x, w, b=None, *, strides=None, pads=None, dilations=None, group=1, auto_pad="NOTSET", kernel_shape=None):
    require_float(*(t for t in (x, w, b) if t is not None))
    r = spatial_rank(x)
    kernel = check_weight(x, w, kernel_shape, r)
    n, channels = x.shape[:2]
    m, per_group = w.shape[:2]
    if group < 1 or channels != per_group * group or m % group:
        raise ValueError("group")
    check_bias(b, m)
    axes = make_axes(x.shape[2:], kernel, strides, dilations, pads, auto_pad)

    real = arithmetic_type(x.dtype)
    size = [axis.out for axis in axes]
    xs = x.astype(real).reshape(n, group, per_group, *x.shape[2:])
    ws = w.astype(real).reshape(group, m // group, per_group, *kernel)
    under = {tap: gather_tap(xs, axes, tap) for tap in taps(kernel)}
    acc = np.zeros((n, group, m // group, *size), real)
    for c in range(per_group):
        for tap in taps(kernel):
            weight = ws[(slice(None), slice(None), c, *tap)].reshape(group, m // group, *[1] * r)
            product = under[tap][:, :, c][:, :, None] * weight
            acc = acc + product
    acc = acc.reshape(n, m, *size)
    if b is not None:
        acc = acc + b.astype(real).reshape(m, *[1] * r)
    return finish(acc, x.dtype)
