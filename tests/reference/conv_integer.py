"""docs/conv_integer.md"""

import numpy as np

from .conv import check_weight
from .matmul_integer import wrapped
from .numerics import quiet
from .quantize import EIGHT, SCALES, per_tensor, require_type, saturate
from .window import gather_tap, make_axes, spatial_rank, taps


def channels(array, m, r):
    """A value per output channel, shaped to broadcast to [N, M, spatial axes]."""
    if not per_tensor(array) and array.shape != (m,):
        raise ValueError("shape of a scale or zero point of W")
    return np.broadcast_to(array.reshape(-1), (m,)).reshape(m, *[1] * r)


def zero_point(array, tensor):
    if array is None:
        return np.zeros((), np.int64)
    if array.dtype != tensor.dtype:
        raise ValueError("type of a zero point")
    return array.astype(np.int64)


def sums(x, w, x_zero_point, w_zero_point, strides, pads, dilations, group, auto_pad, kernel_shape):
    """acc as int64, not wrapped; the sums of one call stay far below 2^63."""
    require_type(x, EIGHT)
    require_type(w, EIGHT)
    r = spatial_rank(x)
    kernel = check_weight(x, w, kernel_shape, r)
    n, count = x.shape[:2]
    m, per_group = w.shape[:2]
    if group < 1 or count != per_group * group or m % group:
        raise ValueError("group")
    of_x, of_w = zero_point(x_zero_point, x), zero_point(w_zero_point, w)
    if not per_tensor(of_x):
        raise ValueError("shape of x_zero_point")
    of_w = channels(of_w, m, r)
    axes = make_axes(x.shape[2:], kernel, strides, dilations, pads, auto_pad)
    size = [axis.out for axis in axes]
    # gather_tap gives 0 in the padding.
    xs = (x.astype(np.int64) - of_x.reshape(())).reshape(n, group, per_group, *x.shape[2:])
    ws = (w.astype(np.int64) - of_w[:, None]).reshape(group, m // group, per_group, *kernel)
    acc = np.zeros((n, group, m // group, *size), np.int64)
    for tap in taps(kernel):
        under = gather_tap(xs, axes, tap)
        for c in range(per_group):
            weight = ws[(slice(None), slice(None), c, *tap)].reshape(group, m // group, *[1] * r)
            acc += under[:, :, c][:, :, None] * weight
    return acc.reshape(n, m, *size)


def conv_integer(
    x,
    w,
    x_zero_point=None,
    w_zero_point=None,
    *,
    strides=None,
    pads=None,
    dilations=None,
    group=1,
    auto_pad="NOTSET",
    kernel_shape=None,
):
    return wrapped(sums(x, w, x_zero_point, w_zero_point, strides, pads, dilations, group, auto_pad, kernel_shape))


@quiet
def qlinear_conv(
    x,
    x_scale,
    x_zero_point,
    w,
    w_scale,
    w_zero_point,
    y_scale,
    y_zero_point,
    b=None,
    *,
    strides=None,
    pads=None,
    dilations=None,
    group=1,
    auto_pad="NOTSET",
    kernel_shape=None,
):
    for scale in (x_scale, w_scale, y_scale):
        require_type(scale, SCALES[:1])
    require_type(y_zero_point, EIGHT)
    acc = sums(x, w, x_zero_point, w_zero_point, strides, pads, dilations, group, auto_pad, kernel_shape)
    m, r = w.shape[0], x.ndim - 2
    if b is not None:
        if b.dtype != np.int32 or b.shape != (m,):
            raise ValueError("B")
        acc = acc + b.astype(np.int64).reshape(m, *[1] * r)
    if not all(per_tensor(array) for array in (x_scale, y_scale, y_zero_point)):
        raise ValueError("shape of a scale or zero point")
    f = x_scale.reshape(()) * channels(w_scale, m, r)
    f = f / y_scale.reshape(())
    return saturate(wrapped(acc).astype(np.float32) * f, y_zero_point.reshape(()), y_zero_point.dtype)
