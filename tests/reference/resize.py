"""docs/resize.md"""

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .numerics import FLOATS, canonical_nan, finish, quiet

F = np.float32
HALF, ONE, TWO, THREE, FOUR, FIVE, EIGHT = (F(v) for v in (0.5, 1, 2, 3, 4, 5, 8))
INTEGERS = tuple(np.dtype(t) for t in (np.int8, np.uint8, np.int32, np.int64))
COORDINATES = (
    "half_pixel",
    "pytorch_half_pixel",
    "half_pixel_symmetric",
    "align_corners",
    "asymmetric",
    "tf_half_pixel_for_nn",
    "tf_crop_and_resize",
)
CROP = "tf_crop_and_resize"
NEAREST_MODES = ("round_prefer_floor", "round_prefer_ceil", "floor", "ceil")
POLICIES = ("stretch", "not_larger", "not_smaller")


@dataclass
class Axis:
    axis: int
    n: int
    out: int
    scale: np.float32
    start: np.float32
    end: np.float32


def name_of(what, value, names):
    if value not in names:
        raise ValueError(f"{what}: {value}")
    return value


def flag(name, value):
    if value not in (0, 1):
        raise ValueError(f"{name} is neither 0 nor 1")
    return bool(value)


def listed_axes(axes, rank):
    if axes is None or len(axes) == 0:
        return list(range(rank))
    if any(not -rank <= a < rank for a in axes):
        raise ValueError("axes: out of range")
    axes = [a % rank for a in axes]
    if len(set(axes)) != len(axes):
        raise ValueError("axes: one is named twice")
    return axes


def vector(name, values, length):
    if values is None or np.asarray(values).size == 0:
        return None
    values = np.asarray(values)
    if values.ndim != 1 or len(values) != length:
        raise ValueError(f"{name}: shape {values.shape}, not [{length}]")
    return values


def by_scales(extents, scales, least):
    scales = scales.astype(F)
    if not (np.isfinite(scales) & (scales > 0)).all() or (least and (scales < least).any()):
        raise ValueError("scales: one is not allowed")
    outs = []
    for n, s in zip(extents, scales, strict=True):
        product = F(n) * s
        if n > 0 and product >= F(2.0**63):
            raise ValueError("scales: extent of 2^63 or more")
        outs.append(0 if n == 0 else int(np.floor(product)))
    return outs, list(scales)


def by_sizes(extents, sizes, policy):
    if sizes.dtype.kind not in "iu":
        raise ValueError("sizes: not integers")
    sizes = [int(v) for v in sizes]
    if any(v < 0 or (v == 0) != (n == 0) for v, n in zip(sizes, extents, strict=True)):
        raise ValueError("sizes: one is not allowed")
    quotients = [F(v) / F(n) if n else ONE for v, n in zip(sizes, extents, strict=True)]
    if policy == "stretch":
        return sizes, quotients
    taking_part = [q for q, n in zip(quotients, extents, strict=True) if n]
    s = (min if policy == "not_larger" else max)(taking_part, default=ONE)
    outs = []
    for n in extents:
        p = F(n) * s
        f = np.floor(p)
        if p >= F(2.0**63):
            raise ValueError("sizes: extent of 2^63 or more")
        outs.append(int(f) + int(p - f >= HALF))
    return outs, [s] * len(extents)


def roi_of(roi, mode, k):
    if mode != CROP or roi is None:
        return [F(0)] * k, [ONE] * k
    roi = np.asarray(roi, F) if isinstance(roi, (list, tuple)) else roi
    if roi.dtype not in (np.float32, np.float64, np.float16):
        raise ValueError("roi: type")
    if roi.shape != (2 * k,):
        raise ValueError(f"roi: shape {roi.shape}")
    roi = roi.astype(F)
    return list(roi[:k]), list(roi[k:])


# ---- coordinates ----


def coordinates(axis, mode):
    """x of every output position."""
    j, n, out, s = np.arange(axis.out).astype(F), F(axis.n), F(axis.out), axis.scale
    n1, out1 = F(axis.n - 1), F(axis.out - 1)
    if mode == "half_pixel" or (mode == "pytorch_half_pixel" and axis.out > 1):
        return (j + HALF) / s - HALF
    if mode == "half_pixel_symmetric":
        offset = n / TWO * (ONE - out / (s * n))
        return offset + (j + HALF) / s - HALF
    if mode == "asymmetric":
        return j / s
    if mode == "tf_half_pixel_for_nn":
        return (j + HALF) / s
    if mode == CROP:
        if axis.out == 1:
            return np.array([HALF * (axis.start + axis.end) * n1])
        return axis.start * n1 + j * (axis.end - axis.start) * n1 / out1
    if axis.out == 1:
        return np.zeros(1, F)
    return j * n1 / out1


def outside(axis, x):
    return ~((x >= 0) & (x <= F(axis.n - 1)))


# ---- taps of one position: [(index before clamping, weight)] ----


def nearest_index(x, mode):
    f = np.floor(x)
    d = x - f
    up = {"floor": False, "ceil": np.ceil(x) != f, "round_prefer_floor": d > HALF, "round_prefer_ceil": d >= HALF}[mode]
    return int(f) + int(up)


def linear_taps(x, n):
    x = F(0) if x < 0 else min(x, F(n - 1))
    f = np.floor(x)
    t = x - f
    return [(int(f), ONE - t), (int(f) + 1, t)]


def near_weight(t, a):
    return ((a + TWO) * t - (a + THREE)) * t * t + ONE


def far_weight(u, a):
    return ((a * u - FIVE * a) * u + EIGHT * a) * u - FOUR * a


def cubic_taps(x, a):
    f = np.floor(x)
    t = x - f
    v = ONE - t
    weights = (far_weight(t + ONE, a), near_weight(t, a), near_weight(v, a), far_weight(v + ONE, a))
    return [(int(f) - 1 + k, w) for k, w in enumerate(weights)]


def antialias_taps(x, s, mode, a):
    r = (ONE if mode == "linear" else TWO) / s
    taps = []
    for i in range(int(np.floor(x - r)) + 1, int(np.ceil(x + r))):
        u = np.abs((F(i) - x) * s)
        if mode == "linear":
            w = ONE - u if u < 1 else F(0)
        elif u <= 1:
            w = near_weight(u, a)
        else:
            w = far_weight(u, a) if u < 2 else F(0)
        taps.append((i, w))
    return taps


def normalized(taps):
    total = F(0)
    for _, w in taps:
        total = total + w
    return [(i, w / total) for i, w in taps]


def taps_of(axis, x, mode, a, exclude, antialias):
    """[(index, weight)] of the position with coordinate x, clamped and without zero weights."""
    widened = antialias and axis.scale < 1
    if widened:
        taps = antialias_taps(x, axis.scale, mode, a)
    elif mode == "linear":
        taps = linear_taps(x, axis.n)
    else:
        taps = cubic_taps(x, a)
    remove = exclude and (widened or mode == "cubic")
    if remove:
        taps = [(i, w) for i, w in taps if 0 <= i < axis.n]
    if remove or widened:
        taps = normalized(taps)
    return [(min(max(i, 0), axis.n - 1), w) for i, w in taps if w != 0]


# ---- values ----


def arithmetic(dtype):
    return np.float64 if dtype in (np.float64, np.int64) else F


def to_integer(value, dtype, nearest):
    """docs/resize.md: "Values". `value` is float32 or float64."""
    info = np.iinfo(dtype)
    m = np.abs(value)
    f = np.floor(m)
    up = np.where(m - f >= 0.5, f + value.dtype.type(1), f)
    whole = np.where(value < 0, -up, up) if nearest else np.trunc(value)
    whole = np.where(np.isnan(whole), 0, whole).astype(np.float64)  # exact
    above, below = whole >= float(int(info.max) + 1), whole <= float(info.min)
    result = np.where(above | below, 0, whole).astype(dtype)
    return np.where(above, info.max, np.where(below, info.min, result)).astype(dtype)


def convert(value, dtype, nearest):
    if dtype in FLOATS:
        return finish(value, dtype)
    if dtype == np.bool_:
        return value != 0
    return to_integer(np.asarray(value), dtype, nearest)


def resample(value, axis, tap_lists):
    moved = np.ascontiguousarray(np.moveaxis(value, axis.axis, 0))
    result = np.zeros((axis.out, *moved.shape[1:]), value.dtype)
    for j, taps in enumerate(tap_lists):
        acc = result[j]
        for i, w in taps:
            product = moved[i] * value.dtype.type(w)
            acc = acc + product
        result[j] = acc
    return np.moveaxis(result, 0, axis.axis)


def interpolate(x, axes, xs, outsides, mode, a, exclude, antialias):
    value = x.astype(arithmetic(x.dtype))
    for axis in [a for a in axes if a.out < a.n] + [a for a in axes if a.out >= a.n]:
        tap_lists = [
            [] if away else taps_of(axis, c, mode, a, exclude, antialias)
            for c, away in zip(xs[axis.axis], outsides[axis.axis], strict=True)
        ]
        value = resample(value, axis, tap_lists)
    return convert(value, x.dtype, antialias)


def pick(x, axes, xs, outsides, nearest_mode):
    for axis in axes:
        index = [
            0 if away else min(max(nearest_index(c, nearest_mode), 0), axis.n - 1)
            for c, away in zip(xs[axis.axis], outsides[axis.axis], strict=True)
        ]
        x = np.take(x, np.array(index, np.int64), axis.axis)
    return np.array(x)


def copied(x):
    y = np.array(x)
    if x.dtype in FLOATS:
        y[np.isnan(x)] = canonical_nan(x.dtype)
    return y


def check_type(x, mode):
    if x.dtype != np.bool_ and x.dtype not in (*FLOATS, *INTEGERS):
        raise NotImplementedError(f"type {x.dtype}")
    if x.dtype == np.bool_ and mode != "nearest":
        raise NotImplementedError(f"bool with mode {mode}")
    if x.ndim == 0:
        raise ValueError("rank 0")
    if x.ndim > 16:
        raise NotImplementedError("rank over 16")


@quiet
def resize(
    x,
    roi=None,
    scales=None,
    sizes=None,
    *,
    mode="nearest",
    coordinate_transformation_mode="half_pixel",
    nearest_mode="round_prefer_floor",
    cubic_coeff_a=-0.75,
    exclude_outside=0,
    extrapolation_value=0.0,
    axes=None,
    keep_aspect_ratio_policy="stretch",
    antialias=0,
    least_scale=None,
):
    name_of("mode", mode, ("nearest", "linear", "cubic"))
    name_of("coordinate_transformation_mode", coordinate_transformation_mode, COORDINATES)
    name_of("nearest_mode", nearest_mode, NEAREST_MODES)
    policy = name_of("keep_aspect_ratio_policy", keep_aspect_ratio_policy, POLICIES)
    exclude, antialias = flag("exclude_outside", exclude_outside), flag("antialias", antialias)
    check_type(x, mode)

    listed = listed_axes(axes, x.ndim)
    scales, sizes = vector("scales", scales, len(listed)), vector("sizes", sizes, len(listed))
    if (scales is None) == (sizes is None):
        raise ValueError("one of scales and sizes is needed")
    if scales is not None and policy != "stretch":
        raise ValueError("keep_aspect_ratio_policy with scales")
    extents = [x.shape[a] for a in listed]
    outs, factors = by_sizes(extents, sizes, policy) if scales is None else by_scales(extents, scales, least_scale)
    starts, ends = roi_of(roi, coordinate_transformation_mode, len(listed))

    resampled = []
    shape = list(x.shape)
    for i, a in enumerate(listed):
        shape[a] = outs[i]
        crop = coordinate_transformation_mode == CROP
        if extents[i] and (crop or factors[i] != 1 or outs[i] != extents[i]):
            resampled.append(Axis(a, extents[i], outs[i], factors[i], starts[i], ends[i]))
    if Fraction(x.itemsize) * int(np.prod([Fraction(n) for n in shape])) >= 2**63:
        raise ValueError("too many elements")
    if any(max(axis.n, axis.out) >= 2**31 for axis in resampled):
        raise NotImplementedError("a resampled axis of 2^31 or more")
    y = np.zeros(shape, x.dtype)
    if y.size == 0:
        return y

    resampled.sort(key=lambda axis: axis.axis)
    xs = {axis.axis: coordinates(axis, coordinate_transformation_mode) for axis in resampled}
    crop = coordinate_transformation_mode == CROP
    outsides = {a.axis: outside(a, xs[a.axis]) if crop else np.zeros(a.out, bool) for a in resampled}
    if mode == "nearest":
        y = pick(x, resampled, xs, outsides, nearest_mode)
    elif not resampled:
        y = copied(x)
    else:
        y = interpolate(x, resampled, xs, outsides, mode, F(cubic_coeff_a), exclude, antialias)
    fill = F(extrapolation_value).astype(arithmetic(x.dtype))
    fill = convert(np.array(fill), x.dtype, nearest=False)
    for axis, away in outsides.items():
        np.moveaxis(y, axis, 0)[away] = fill
    return y


def upsample(x, scales, *, mode="nearest"):
    name_of("mode", mode, ("nearest", "linear"))
    return resize(x, None, scales, mode=mode, coordinate_transformation_mode="asymmetric", nearest_mode="floor", least_scale=1)
