"""docs/openvino.md. Pads the input for real and cuts the windows out of it."""

import numpy as np

from .numerics import arithmetic_type, finish, quiet, require_float


def values(name, given, r, least):
    if given is None or len(given) != r or min(given) < least:
        raise ValueError(name)
    return [int(v) for v in given]


def padding(n, k, s, d, auto_pad, begin, end):
    """(before, after, out) of one axis; begin and end are None unless auto_pad is explicit."""
    extent = d * (k - 1) + 1
    if auto_pad in ("same_upper", "same_lower"):
        out = (n + s - 1) // s
        total = max(0, (out - 1) * s + extent - n)
        less, more = total // 2, (total + 1) // 2
        return (less, more, out) if auto_pad == "same_upper" else (more, less, out)
    before, after = (begin, end) if auto_pad == "explicit" else (0, 0)
    if n + before + after < extent:
        raise ValueError("window does not fit")
    return before, after, (n + before + after - extent) // s + 1


def openvino_convolution(x, w, strides, pads_begin, pads_end, dilations, auto_pad=None):
    if w.ndim != x.ndim:
        raise ValueError("rank of w")
    return convolve(x, w[None], strides, pads_begin, pads_end, dilations, auto_pad)


def openvino_group_convolution(x, w, strides, pads_begin, pads_end, dilations, auto_pad=None):
    if w.ndim != x.ndim + 1:
        raise ValueError("rank of w")
    return convolve(x, w, strides, pads_begin, pads_end, dilations, auto_pad)


@quiet
def convolve(x, w, strides, pads_begin, pads_end, dilations, auto_pad):
    """w is [G, O / G, C / G, K1 .. Kr]."""
    require_float(x, w)
    r = x.ndim - 2
    if r < 1:
        raise ValueError("rank of x")
    if r > 3:
        raise NotImplementedError("rank of x")
    auto_pad = "explicit" if auto_pad is None else str(auto_pad).lower()
    if auto_pad not in ("explicit", "same_upper", "same_lower", "valid"):
        raise ValueError("auto_pad")
    strides, dilations = values("strides", strides, r, 1), values("dilations", dilations, r, 1)
    begin = end = [None] * r
    if auto_pad == "explicit":
        begin, end = values("pads_begin", pads_begin, r, 0), values("pads_end", pads_end, r, 0)
    groups, each, per_group, *kernel = w.shape
    if groups == 0 or 0 in kernel or x.shape[1] != groups * per_group:
        raise ValueError("shape of w")

    sides = [padding(x.shape[2 + i], kernel[i], strides[i], dilations[i], auto_pad, begin[i], end[i]) for i in range(r)]
    real = arithmetic_type(x.dtype)
    reach = [
        max(0, (out - 1) * s + (k - 1) * d + 1) for (*_, out), s, k, d in zip(sides, strides, kernel, dilations, strict=True)
    ]
    padded = np.zeros((*x.shape[:2], *(max(n, b + m) for n, m, (b, *_) in zip(reach, x.shape[2:], sides, strict=True))), real)
    padded[(..., *(slice(b, b + m) for (b, *_), m in zip(sides, x.shape[2:], strict=True)))] = x.astype(real)
    ws = w.astype(real)
    y = np.zeros((x.shape[0], groups * each, *(out for *_, out in sides)), real)
    for m in range(groups * each):
        group, channel = divmod(m, each)
        for c in range(per_group):
            for tap in np.ndindex(*kernel):
                cut = [
                    slice(k * d, k * d + out * s, s) for k, d, s, (*_, out) in zip(tap, dilations, strides, sides, strict=True)
                ]
                under = padded[(slice(None), group * per_group + c, *cut)]
                under = under[(slice(None), *(slice(out) for *_, out in sides))]
                product = under * ws[(group, channel, c, *tap)]
                y[:, m] = y[:, m] + product
    return finish(y, x.dtype)
