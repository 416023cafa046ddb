"""Sizes and positions of sliding windows. docs/conv.md: "Window geometry"; docs/pool.md: "Windows"."""

import itertools
from dataclasses import dataclass

import numpy as np

AUTO_PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def int_list(name, values, length, default, minimum):
    """A list attribute of `length` values, each at least `minimum`; absent or empty gives the default."""
    if values is None or len(values) == 0:
        return [default] * length
    values = [int(v) for v in values]
    if len(values) != length:
        raise ValueError(f"{name}: {len(values)} values, not {length}")
    if any(v < minimum for v in values):
        raise ValueError(f"{name}: value below {minimum}")
    return values


def flag(name, value):
    if value not in (0, 1):
        raise ValueError(f"{name} is neither 0 nor 1")
    return bool(value)


def spatial_rank(x, most=3):
    if x.ndim < 3:
        raise ValueError("rank below 3")
    if x.ndim - 2 > most:
        raise NotImplementedError(f"more than {most} spatial axes")
    return x.ndim - 2


def check_pads(pads, auto_pad, r):
    if auto_pad not in AUTO_PADS:
        raise ValueError(f"auto_pad {auto_pad}")
    pads = int_list("pads", pads, 2 * r, 0, 0)
    if auto_pad != "NOTSET" and any(pads):
        raise ValueError("pads together with auto_pad")
    return pads


@dataclass
class Axis:
    """One spatial axis of a window operator."""

    n: int
    kernel: int
    stride: int
    dilation: int
    before: int
    after: int
    out: int

    def positions(self, tap):
        """Input position of kernel tap `tap` for every output position."""
        return np.arange(self.out, dtype=np.int64) * self.stride - self.before + tap * self.dilation


def make_axis(n, kernel, stride, dilation, before, after, auto_pad, ceil_mode):
    extent = dilation * (kernel - 1) + 1
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        out = -(-n // stride)
        total = max(0, (out - 1) * stride + extent - n)
        half = total // 2
        before, after = (half, total - half) if auto_pad == "SAME_UPPER" else (total - half, half)
        return Axis(n, kernel, stride, dilation, before, after, out)
    room = n + before + after - extent
    if room < 0:
        raise ValueError("window does not fit")
    out = room // stride + 1
    if ceil_mode:
        out = -(-room // stride) + 1
        if (out - 1) * stride >= n + before:
            out -= 1
    return Axis(n, kernel, stride, dilation, before, after, out)


def make_axes(sizes, kernel, strides, dilations, pads, auto_pad, ceil_mode=False):
    r = len(sizes)
    pads = check_pads(pads, auto_pad, r)
    strides = int_list("strides", strides, r, 1, 1)
    dilations = int_list("dilations", dilations, r, 1, 1)
    return [
        make_axis(sizes[i], kernel[i], strides[i], dilations[i], pads[i], pads[r + i], auto_pad, ceil_mode) for i in range(r)
    ]


def taps(kernel):
    """Kernel positions in row-major order."""
    return list(itertools.product(*(range(k) for k in kernel)))


def outer(parts, combine):
    """Combines one vector per axis into an array over all axes."""
    total = np.asarray(parts[0])
    for part in parts[1:]:
        total = combine(total[..., None], np.asarray(part))
    return total


def inside(axes, tap):
    """Whether `tap` lies in the input, for every output position."""
    parts = []
    for axis, k in zip(axes, tap, strict=True):
        p = axis.positions(k)
        parts.append((p >= 0) & (p < axis.n))
    return outer(parts, np.logical_and)


def gather(x, indices, mask):
    """x at the given index vectors of its trailing axes; +0 where `mask` is False."""
    r = len(indices)
    lead = x.shape[: x.ndim - r]
    if 0 in x.shape[x.ndim - r :]:
        return np.zeros((*lead, *mask.shape), x.dtype)
    clipped = [np.clip(i, 0, n - 1) for i, n in zip(indices, x.shape[x.ndim - r :], strict=True)]
    picked = x[(..., *np.ix_(*clipped))]
    return np.where(mask, picked, np.zeros((), x.dtype))


def gather_tap(x, axes, tap):
    """The input elements under `tap`, for every output position; +0 outside."""
    return gather(x, [axis.positions(k) for axis, k in zip(axes, tap, strict=True)], inside(axes, tap))
