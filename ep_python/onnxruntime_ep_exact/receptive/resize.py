"""The fields of Resize and Upsample: which positions each output reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .fields import Field, Tensor
from .rules import changed, normal_axis, rule
from .sizes import Dim, NotFollowed, Size, bounded, scaled

if TYPE_CHECKING:
    from .walk import View

_HELP = "depends on the size: give the input a shape"
_ONE = np.float32(1)
_HALF = np.float32(0.5)


@dataclass(frozen=True)
class _Way:
    """The attributes of a node."""

    mode: str
    transformation: str
    nearest: str
    exclude: bool
    antialias: bool
    coefficient: float

    @property
    def taps(self) -> int:
        return {"nearest": 1, "linear": 2, "cubic": 4}[self.mode]


@rule("Upsample")
def upsample(view: View) -> list[Tensor]:
    x = view.main()
    scales = view.floats("scales", None) or view.float_values(1)
    way = _Way(_mode(view), "asymmetric", "floor", False, False, -0.75)
    return [_resized(view, x, way, list(range(x.rank)), scales, None, None)]


@rule("Resize")
def resize(view: View) -> list[Tensor]:
    x = view.main()
    if view.opset < 11:
        way = _Way(_mode(view), "asymmetric", "floor", False, False, -0.75)
        return [_resized(view, x, way, list(range(x.rank)), view.float_values(1), None, None)]
    way = _Way(
        _mode(view),
        view.text("coordinate_transformation_mode", "half_pixel"),
        view.text("nearest_mode", "round_prefer_floor"),
        bool(view.integer("exclude_outside", 0)),
        bool(view.integer("antialias", 0)),
        view.number("cubic_coeff_a", -0.75),
    )
    axes = [normal_axis(a, x.rank) for a in view.integers("axes", list(range(x.rank)))]
    roi = view.float_values(1) if way.transformation == "tf_crop_and_resize" else None
    scales = sizes = None
    if len(view.node.input) > 3 and view.node.input[3]:
        sizes = view.values(3)
    else:
        scales = view.float_values(2)
    return [_resized(view, x, way, axes, scales, sizes, roi)]


def _mode(view: View) -> str:
    mode = view.text("mode", "nearest")
    if mode == "bilinear":
        mode = "linear"
    if mode not in ("nearest", "linear", "cubic"):
        raise NotFollowed(f"mode {mode}")
    return mode


def _resized(
    view: View,
    x: Tensor,
    way: _Way,
    axes: list[int],
    scales: list[float] | None,
    sizes: list[int] | None,
    roi: list[float] | None,
) -> Tensor:
    for name, values, count in (("scales", scales, len(axes)), ("sizes", sizes, len(axes)), ("roi", roi, 2 * len(axes))):
        if values is not None and len(values) != count:
            raise NotFollowed(f"{len(values)} values of {name} for {len(axes)} axes")
    factors = None if sizes is None else _policy(view, x, axes, sizes)
    for i, axis in enumerate(axes):
        scale = None if scales is None else np.float32(scales[i])
        if scale is not None and not (0 < scale < np.inf):
            raise NotFollowed(f"the scale {scale}")
        out = None if factors is None else factors[i][0]
        if factors is not None:
            scale = factors[i][1]
        crop = None if roi is None else (np.float32(roi[i]), np.float32(roi[len(axes) + i]))
        resampled = changed(x, axis, lambda f, s=scale, o=out, c=crop: _axis(f, way, s, o, c))
        if any(resampled.fields[a] is not x.fields[a] for a in x.fields):
            view.spatial(x, axis)
        x = resampled
    return x


def _policy(view: View, x: Tensor, axes: list[int], sizes: list[int]) -> list[tuple[int | None, np.float32 | None]]:
    """(output size, scale) by ``sizes`` and keep_aspect_ratio_policy; None: follows from the axis."""
    policy = view.text("keep_aspect_ratio_policy", "stretch")
    if policy == "stretch":
        return [(bounded(size), None) for size in sizes]
    if policy not in ("not_larger", "not_smaller"):
        raise NotFollowed(f"keep_aspect_ratio_policy {policy}")
    dims = view.known_dims(0)
    olds = [dims[axis] for axis in axes]
    if any(isinstance(n, Dim) or n == 0 for n in olds):
        raise NotFollowed(f"its scale {_HELP}")
    ratios = [np.float32(size) / np.float32(int(n)) for size, n in zip(sizes, olds, strict=True)]  # type: ignore[arg-type]
    scale = min(ratios) if policy == "not_larger" else max(ratios)
    return [(bounded(int(np.floor(scale * np.float32(int(n)) + _HALF))), scale) for n in olds]  # type: ignore[arg-type]


def _axis(field: Field, way: _Way, scale: np.float32 | None, out: int | None, crop: tuple | None) -> Field:
    size = field.size
    if out is None:
        assert scale is not None
        out_size: Size = _scaled_size(size, scale)
    else:
        out_size = out
    if scale is None:
        if isinstance(size, Dim):
            raise NotFollowed(f"its scale {_HELP}")
        if size == 0 or out == 0:
            return field.step(out_size, 1, None, 0, [])
        scale = np.float32(out) / np.float32(size)
    if scale == 1 and out_size == size and crop is None:
        return field
    stride, start = _rule(way.transformation, size, out_size, scale, crop)
    width = way.taps - 1
    if way.antialias and scale < 1 and way.mode != "nearest":
        width = way.taps / Fraction(float(scale)) - 1
    half = Fraction(width) / 2
    taps = None
    if isinstance(size, int) and isinstance(out_size, int) and size:
        taps = _taps(way, size, out_size, scale, crop)
    return field.step(out_size, stride, start - half, width, taps)


def _scaled_size(size: Size, scale: np.float32) -> Size:
    if isinstance(size, int):
        return bounded(int(np.floor(np.float32(size) * scale)))
    ratio = Fraction(float(scale))
    return scaled(size, ratio.numerator, 0, ratio.denominator, 0)


def _rule(kind: str, size: Size, out: Size, scale: np.float32, crop: tuple | None) -> tuple[Fraction, Fraction]:
    """(distance between outputs, place of output 0), in positions of the axis and in exact numbers."""
    step, half = 1 / Fraction(float(scale)), Fraction(1, 2)
    if kind == "asymmetric":
        return step, Fraction(0)
    if kind == "half_pixel" or (kind == "pytorch_half_pixel" and out != 1):
        return step, half * step - half
    if kind == "pytorch_half_pixel":
        return step, Fraction(0)
    if isinstance(size, Dim) or isinstance(out, Dim):
        raise NotFollowed(f"{kind} {_HELP}")
    if kind == "align_corners":
        return (Fraction(size - 1, out - 1) if out > 1 else Fraction(1)), Fraction(0)
    if kind == "half_pixel_symmetric":
        return step, Fraction(size, 2) * (1 - out * step / size) + half * step - half if size else half
    if kind == "tf_crop_and_resize" and crop is not None:
        start, end = (Fraction(float(v)) for v in crop)
        if out > 1:
            return (end - start) * (size - 1) / (out - 1), start * (size - 1)
        return Fraction(1), (start + end) / 2 * (size - 1)
    raise NotFollowed(f"coordinate_transformation_mode {kind}")


def _coordinates(kind: str, size: int, out: int, scale: np.float32, crop: tuple | None) -> np.ndarray:
    """The place of every output, computed in float32 as a kernel does."""
    j = np.arange(out, dtype=np.float32)
    n, m = np.float32(size), np.float32(out)
    if kind == "asymmetric":
        return j / scale
    if kind == "align_corners":
        return j * (n - _ONE) / (m - _ONE) if out > 1 else np.zeros(out, np.float32)
    if kind == "pytorch_half_pixel" and out == 1:
        return np.zeros(1, np.float32)
    if kind == "tf_crop_and_resize" and crop is not None:
        start, end = crop
        if out > 1:
            return start * (n - _ONE) + j * (end - start) * (n - _ONE) / (m - _ONE)
        return np.full(out, _HALF * (start + end) * (n - _ONE), np.float32)
    place = (j + _HALF) / scale - _HALF
    if kind == "half_pixel_symmetric":
        return n / np.float32(2) * (_ONE - m / (scale * n)) + place
    return place


def _taps(way: _Way, size: int, out: int, scale: np.float32, crop: tuple | None) -> Iterable[np.ndarray]:
    x = _coordinates(way.transformation, size, out, scale, crop)
    dropped = (x < 0) | (x > size - 1) if crop is not None else np.zeros(out, bool)
    for positions in _positions(way, x, size, scale):
        yield np.where(dropped, -1, positions)


def _positions(way: _Way, x: np.ndarray, size: int, scale: np.float32) -> Iterable[np.ndarray]:
    base = np.floor(x)
    part = x - base
    if way.mode == "nearest":
        up = {
            "floor": np.zeros(len(x), bool),
            "ceil": part > 0,
            "round_prefer_floor": part > _HALF,
            "round_prefer_ceil": part >= _HALF,
        }
        if way.nearest not in up:
            raise NotFollowed(f"nearest_mode {way.nearest}")
        yield np.clip(base + up[way.nearest], 0, size - 1).astype(np.int64)
        return
    base = base.astype(np.int64)
    if way.antialias and scale < 1:
        reach = way.taps / 2 / float(scale)
        for k in range(-int(reach) - 1, int(reach) + 2):
            near = np.abs(base + k - x.astype(np.float64)) < reach
            yield np.where(near, _bounded_position(way, base + k, size), -1)
        return
    offsets = {0: 1.0, 1: 0.0} if way.mode == "linear" else {-1: 0.0, 0: 1.0, 1: 0.0, 2: 0.0}
    for k, on_the_spot in offsets.items():
        weightless = part == 0 if on_the_spot == 0 else np.zeros(len(x), bool)
        if way.mode == "cubic" and way.coefficient == 0 and k in (-1, 2):
            weightless = np.ones(len(x), bool)
        yield np.where(weightless, -1, _bounded_position(way, base + k, size))


def _bounded_position(way: _Way, positions: np.ndarray, size: int) -> np.ndarray:
    """A tap outside the input reads its edge, or nothing."""
    if way.mode == "cubic" and way.exclude:
        return np.where((positions < 0) | (positions >= size), -1, positions)
    return np.clip(positions, 0, size - 1)
