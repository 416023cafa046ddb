"""Sizes of axes, known or named, and the window geometry of docs/conv.md and docs/conv_transpose.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

#: Sizes beyond this are refused: one array of positions per axis is kept.
LARGEST = 1 << 20
#: So are windows of so many taps that an axis takes more than this many steps.
MOST_STEPS = 1 << 28


class NotFollowed(Exception):
    """Why the fields behind a node are not known."""


@dataclass(frozen=True)
class Dim:
    """A size that is only known at run time: ``factor * floor((name + add) / divisor) + plus``.

    Floors nest without loss while the factor is 1: floor((floor((n + a) / q) + b) / s) = floor((n + a + q b) / (q s)).
    A size that has another form keeps nothing but the name.
    """

    name: str
    add: int = 0
    divisor: int = 1
    factor: int = 1
    plus: int = 0
    opaque: bool = False

    def scaled(self, multiply: int, add: int, divide: int, plus: int) -> Dim:
        """floor((self * multiply + add) / divide) + plus."""
        factor, inner = self.factor * multiply, self.plus * multiply + add
        if self.opaque:
            return self
        if factor % divide == 0:
            return Dim(self.name, self.add, self.divisor, factor // divide, inner // divide + plus)._tidy()
        if factor == 1:
            return Dim(self.name, self.add + self.divisor * inner, self.divisor * divide, 1, plus)._tidy()
        return Dim(self.name, opaque=True)

    def _tidy(self) -> Dim:
        if self.divisor == 1:
            return Dim(self.name, 0, 1, self.factor, self.factor * self.add + self.plus)
        if self.factor == 1:
            return Dim(self.name, self.add + self.divisor * self.plus, self.divisor)
        return self

    def __str__(self) -> str:
        if self.opaque:
            return f"f({self.name})"
        text = self.name + (f" {'+' if self.add > 0 else '-'} {abs(self.add)}" if self.add else "")
        if self.divisor != 1:
            text = f"floor(({text}) / {self.divisor})" if self.add else f"floor({text} / {self.divisor})"
        if self.factor != 1:
            text = f"{self.factor} * {text}"
        return text + (f" {'+' if self.plus > 0 else '-'} {abs(self.plus)}" if self.plus else "")


Size = int | Dim


def scaled(size: Size, multiply: int, add: int, divide: int, plus: int) -> Size:
    """floor((size * multiply + add) / divide) + plus."""
    if isinstance(size, Dim):
        return size.scaled(multiply, add, divide, plus)
    return bounded((size * multiply + add) // divide + plus)


def bounded(size: int) -> int:
    """The size, unless it is one that no table is made for."""
    if size > LARGEST:
        raise NotFollowed(f"an axis of {size} positions is too long to be followed")
    return size


def ceiling(size: Size, divide: int) -> Size:
    """size / divide, rounded up."""
    return scaled(size, 1, divide - 1, divide, 0)


@dataclass(frozen=True)
class Window:
    """Where the windows of one axis lie: output o covers ``o * stride - before + k * dilation``, k = 0 .. kernel - 1.

    ``before`` is None where it depends on a size that is not known.
    """

    out: Size
    kernel: int
    stride: int
    dilation: int
    before: int | None

    @property
    def reach(self) -> int:
        """The extent of a window, less 1."""
        return self.dilation * (self.kernel - 1)


def window(
    size: Size, kernel: int, stride: int, dilation: int, pads: tuple[int, int], auto_pad: str, ceil_mode: bool = False
) -> Window:
    """Output size and padding of a convolution or pool along one axis."""
    extent = dilation * (kernel - 1) + 1
    if auto_pad in ("SAME_UPPER", "SAME_LOWER"):
        out = ceiling(size, stride)
        if isinstance(size, int) and isinstance(out, int):
            total = max(0, (out - 1) * stride + extent - size)
        elif stride == 1:
            total = extent - 1
        else:
            return Window(out, kernel, stride, dilation, None if extent > 1 else 0)
        return Window(out, kernel, stride, dilation, total // 2 if auto_pad == "SAME_UPPER" else total - total // 2)
    before, after = (0, 0) if auto_pad == "VALID" else pads
    if isinstance(size, int) and size + before + after < extent:
        raise NotFollowed(f"a window of {extent} does not fit into {size} positions and padding of {before} and {after}")
    out = scaled(size, 1, before + after - extent + (stride - 1 if ceil_mode else 0), stride, 1)
    if ceil_mode and isinstance(size, int) and isinstance(out, int) and (out - 1) * stride >= size + before:
        out -= 1
    elif ceil_mode and isinstance(size, Dim) and after + stride > extent:
        out = Dim(size.name, opaque=True)  # whether the last window is dropped depends on the size
    return Window(out, kernel, stride, dilation, before)


def transposed(
    size: Size,
    kernel: int,
    stride: int,
    dilation: int,
    pads: tuple[int, int],
    auto_pad: str,
    output_padding: int,
    output_shape: int | None,
) -> Window:
    """Output size and ``before`` of a transposed convolution along one axis."""
    natural = scaled(size, stride, dilation * (kernel - 1) + 1 - stride + output_padding, 1, 0)
    before, after = pads
    if output_shape is None and auto_pad == "NOTSET":
        out = scaled(natural, 1, -before - after, 1, 0)
    elif output_shape is None and auto_pad == "VALID":
        out, before = natural, 0
    elif isinstance(natural, int) and isinstance(size, int):
        out = min(size * stride, natural) if output_shape is None else output_shape
        total = max(0, natural - out)
        before = total // 2 if auto_pad == "SAME_UPPER" else total - total // 2
    else:
        raise NotFollowed("its padding depends on the size: give the input a shape")
    if isinstance(out, int) and bounded(out) < 1:
        raise NotFollowed(f"it has {out} outputs")
    return Window(out, kernel, stride, dilation, before)


def as_number(value: Fraction | int | None) -> float | int | None:
    """For JSON."""
    if value is None:
        return None
    return int(value) if value == int(value) else float(value)
