"""docs/conv_transpose.md"""

import numpy as np

from .conv import check_bias, check_weight
from .numerics import arithmetic_type, finish, quiet, require_float
from .window import check_pads, gather, int_list, outer, spatial_rank, taps


def size_and_before(n, kernel, stride, dilation, output_padding, pads, auto_pad, wanted):
    """Output size of one axis, and where it starts in the full result. "Size and position" of the page."""
    natural = stride * (n - 1) + output_padding + dilation * (kernel - 1) + 1
    if wanted is None and auto_pad == "VALID":
        return natural, 0
    if wanted is None and auto_pad == "NOTSET":
        return natural - pads[0] - pads[1], pads[0]
    out = min(n * stride, natural) if wanted is None else wanted
    total = max(0, natural - out)
    return out, total // 2 if auto_pad == "SAME_UPPER" else total - total // 2


@quiet
def conv_transpose(
    x,
    w,
    b=None,
    *,
    strides=None,
    pads=None,
    dilations=None,
    group=1,
    auto_pad="NOTSET",
    kernel_shape=None,
    output_padding=None,
    output_shape=None,
):
    require_float(*(t for t in (x, w, b) if t is not None))
    r = spatial_rank(x)
    kernel = check_weight(x, w, kernel_shape, r)
    n, channels = x.shape[:2]
    m = w.shape[1] * group
    if group < 1 or channels != w.shape[0] or channels % group:
        raise ValueError("group")
    check_bias(b, m)
    pads = check_pads(pads, auto_pad, r)
    strides = int_list("strides", strides, r, 1, 1)
    dilations = int_list("dilations", dilations, r, 1, 1)
    output_padding = int_list("output_padding", output_padding, r, 0, 0)
    if any(q >= max(s, d) for q, s, d in zip(output_padding, strides, dilations, strict=True)):
        raise ValueError("output_padding")
    wanted = int_list("output_shape", output_shape, r, None, 1)
    size, before = [], []
    for i in range(r):
        out, start = size_and_before(
            x.shape[2 + i],
            kernel[i],
            strides[i],
            dilations[i],
            output_padding[i],
            (pads[i], pads[r + i]),
            auto_pad,
            wanted[i],
        )
        if out < 1:
            raise ValueError("output size below 1")
        size.append(out)
        before.append(start)

    real = arithmetic_type(x.dtype)
    per_group = channels // group
    xs = x.astype(real).reshape(n, group, per_group, *x.shape[2:])
    ws = w.astype(real).reshape(group, per_group, m // group, *kernel)
    acc = np.zeros((n, group, m // group, *size), real)
    for tap in taps(kernel):
        sources, lands = [], []
        for i in range(r):
            t = np.arange(size[i]) + before[i] - tap[i] * dilations[i]
            sources.append(t // strides[i])
            lands.append((t % strides[i] == 0) & (t >= 0) & (t // strides[i] < x.shape[2 + i]))
        mask = outer(lands, np.logical_and)
        under = gather(xs, sources, mask)
        p = np.zeros_like(acc)
        for c in range(per_group):
            weight = ws[(slice(None), c, slice(None), *tap)].reshape(group, m // group, *[1] * r)
            product = under[:, :, c][:, :, None] * weight
            p = p + product
        acc = np.where(mask, acc + p, acc)
    acc = acc.reshape(n, m, *size)
    if b is not None:
        acc = acc + b.astype(real).reshape(m, *[1] * r)
    return finish(acc, x.dtype)
