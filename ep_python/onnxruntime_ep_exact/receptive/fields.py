"""How the elements of a tensor see the input: the algebra of docs/receptive-field.md."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from .sizes import MOST_STEPS, NotFollowed, Size, Window

_NOTHING = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Field:
    """How a tensor sees one axis of the input.

    length: size of the input's axis.
    axis: the tensor's axis that walks along it; None: all elements see the same.
    size: size of that axis (1 for None).
    jump, low, span: the affine rule. Position o sees ``low + o * jump`` and the ``span`` positions behind it; None where it
        depends on a size that is not known.
    whole: some operator mixes all positions of the axis; the affine rule tells what the tensor saw apart from that.
    first, last: the exact rule: the first and last position of the input that can reach position o, inside the input; first
        is above last where none can. None where the size is not known.
    """

    length: Size
    axis: int | None
    size: Size
    jump: Fraction | None
    low: Fraction | None
    span: Fraction | None
    whole: bool = False
    first: np.ndarray | None = None
    last: np.ndarray | None = None

    @classmethod
    def of_input(cls, axis: int, size: Size) -> Field:
        """The input seen from itself."""
        positions = np.arange(size) if isinstance(size, int) else None
        return cls(size, axis, size, Fraction(1), Fraction(0), Fraction(0), False, positions, positions)

    @property
    def field(self) -> Size | Fraction | None:
        """Size of the receptive field."""
        if self.whole:
            return self.length
        return None if self.span is None else self.span + 1

    @property
    def centre(self) -> Fraction | None:
        """Centre of the field of the first position."""
        if self.whole:
            return Fraction(self.length - 1, 2) if isinstance(self.length, int) else None
        return None if self.low is None or self.span is None else self.low + self.span / 2

    def step(
        self,
        out: Size,
        stride: Fraction | int,
        low: Fraction | int | None,
        span: Fraction | int,
        taps: Iterable[np.ndarray] | None,
    ) -> Field:
        """An operator whose output o reads position ``o * stride + low`` and the ``span`` positions behind it: exactly those of
        taps, one array of positions per tap; a position outside reads nothing."""
        first = last = None
        if self.first is not None and self.last is not None and isinstance(out, int) and taps is not None:
            first, last = np.full(out, _NOTHING), np.full(out, -1)
            for positions in taps:
                inside = np.flatnonzero((positions >= 0) & (positions < len(self.first)))
                chosen = positions[inside]
                first[inside] = np.minimum(first[inside], self.first[chosen])
                last[inside] = np.maximum(last[inside], self.last[chosen])
        return replace(
            self,
            size=out,
            jump=None if self.jump is None else self.jump * stride,
            low=None if self.jump is None or self.low is None or low is None else self.low + low * self.jump,
            span=None if self.jump is None or self.span is None else self.span + span * abs(self.jump),
            first=first,
            last=last,
        )

    def windows(self, w: Window) -> Field:
        """A convolution or pool along this axis."""
        taps = None
        if isinstance(w.out, int) and isinstance(self.size, int) and w.before is not None:
            taps = _window_taps(w, self.size)
        return self.step(w.out, w.stride, None if w.before is None else -w.before, w.reach, taps)

    def transposed(self, w: Window) -> Field:
        """A transposed convolution along this axis."""
        before, s = w.before or 0, w.stride
        taps = _transposed_taps(w, before) if isinstance(w.out, int) and isinstance(self.size, int) else None
        span = _transposed_span(w)
        return self.step(w.out, Fraction(1, s), Fraction(2 * before - w.reach, 2 * s) - Fraction(span, 2), span, taps)

    def mixed(self) -> Field:
        """After an operator that lets every position see all positions of this axis."""
        first = last = None
        if self.first is not None and self.last is not None:
            first = np.array([self.first.min(initial=_NOTHING)])
            last = np.array([self.last.max(initial=-1)])
        return replace(self, axis=None, size=1, whole=self.whole or self.size != 1, first=first, last=last)

    def moved(self, axis: int | None) -> Field:
        """The same, seen from another axis of the tensor."""
        return self if axis == self.axis else replace(self, axis=axis)


def _check_steps(taps: int, out: int) -> None:
    if taps * out > MOST_STEPS:
        raise NotFollowed(f"{taps} taps for each of {out} positions are too many to be followed")


def _window_taps(w: Window, size: int) -> Iterable[np.ndarray]:
    assert isinstance(w.out, int) and w.before is not None
    starts = np.arange(w.out) * w.stride - w.before
    # the taps that reach the input from some output
    lowest = max(0, -(-int(-starts[-1]) // w.dilation)) if w.out else 0
    highest = min(w.kernel - 1, (size - 1 - int(starts[0])) // w.dilation) if w.out else -1
    _check_steps(highest - lowest + 1, w.out)
    return (starts + k * w.dilation for k in range(lowest, highest + 1))


def _transposed_taps(w: Window, before: int) -> Iterable[np.ndarray]:
    assert isinstance(w.out, int)
    _check_steps(w.kernel, w.out)
    places = np.arange(w.out) + before
    for k in range(w.kernel):
        place = places - k * w.dilation
        yield np.where(place % w.stride == 0, place // w.stride, -1)


def _transposed_span(w: Window) -> int:
    """Most positions, less 1, from the first to the last that reach one output."""
    ends: dict[int, tuple[int, int]] = {}
    for k in range(w.kernel):
        place = k * w.dilation
        first = ends.get(place % w.stride, (place, place))[0]
        ends[place % w.stride] = first, place
    return max((last - first) // w.stride for first, last in ends.values())


def join(one: Field, other: Field, local: bool) -> Field:
    """Two operands of one operator, broadcast against each other: the hull of both fields.

    The affine rule is that of the operand with the larger field, enlarged to hold the other's first position. local: an
    operand that sees the whole axis is left out where the other does not.
    """
    if local and one.whole != other.whole:
        kept, left = (other, one) if one.whole else (one, other)
        if kept.axis == left.axis or left.axis is None:
            return kept
    if one.axis is not None and other.axis is not None and one.axis != other.axis:
        one, other = one.mixed(), other.mixed()
    elif one.axis is None and other.axis is not None:
        one, other = other, one
    if one.axis is not None and other.axis is not None:
        if one.size == 1 and other.size != 1:
            one, other = other, one
        if isinstance(one.size, int) and isinstance(other.size, int) and other.size not in (1, one.size):
            raise NotFollowed(f"operands of {one.size} and {other.size} positions cannot be broadcast")
    first = last = None
    if one.first is not None and one.last is not None and other.first is not None and other.last is not None:
        first, last = np.minimum(one.first, other.first), np.maximum(one.last, other.last)
    wide, narrow = sorted((one, other), key=_width, reverse=True)
    low, span = wide.low, wide.span
    if not narrow.whole:
        low, span = _hull(wide, narrow)
    size = one.size if isinstance(one.size, int) or not isinstance(other.size, int) or other.size == 1 else other.size
    whole = one.whole or other.whole
    return replace(one, size=size, jump=wide.jump, low=low, span=span, whole=whole, first=first, last=last)


def _width(field: Field) -> tuple:
    """Larger: an affine rule of more positions; what is not known, or only whole, comes last."""
    return (field.span is not None, field.axis is not None, field.span or 0)


def _hull(one: Field, other: Field) -> tuple[Fraction | None, Fraction | None]:
    """low and span of the positions that one of two fields sees from its first position."""
    if one.span is None or other.span is None or one.low is None or other.low is None:
        return None, None
    low = min(one.low, other.low)
    return low, max(one.low + one.span, other.low + other.span) - low


@dataclass(frozen=True)
class Tensor:
    """What is known of a tensor that depends on the input: its rank, and a field for every axis of the input."""

    rank: int
    fields: dict[int, Field]

    def along(self, axis: int) -> list[int]:
        """The input's axes along which an axis of the tensor walks."""
        return [a for a, field in self.fields.items() if field.axis == axis]

    def mixed(self, axes: Iterable[int]) -> Tensor:
        """All positions of some of the tensor's axes mixed."""
        axes = set(axes)
        return Tensor(self.rank, {a: f.mixed() if f.axis in axes else f for a, f in self.fields.items()})

    def renumbered(self, rank: int, places: dict[int, int | None]) -> Tensor:
        """With the axes of the tensor in other places; an axis without a place must be of size 1."""
        fields = {}
        for a, f in self.fields.items():
            place = None if f.axis is None else places.get(f.axis)
            fields[a] = f.mixed() if place is None and f.axis is not None else f.moved(place)
        return Tensor(rank, fields)


def join_tensors(tensors: list[Tensor], local: bool) -> Tensor:
    """The operands of an elementwise operator, aligned at their last axes."""
    rank = max(t.rank for t in tensors)
    shifted = [t.renumbered(rank, {i: i + rank - t.rank for i in range(t.rank)}) for t in tensors]
    whole = shifted[0]
    for tensor in shifted[1:]:
        whole = Tensor(rank, {a: join(f, tensor.fields[a], local) for a, f in whole.fields.items()})
    return whole
