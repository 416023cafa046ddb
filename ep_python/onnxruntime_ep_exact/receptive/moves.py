"""What operators that move elements do to the fields."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .fields import Field, Tensor, join_tensors
from .rules import axes_of, changed, normal_axis, removed, rule
from .sizes import Dim, NotFollowed, Size, bounded, scaled

if TYPE_CHECKING:
    from .walk import View


@rule("Transpose")
def transpose(view: View) -> list[Tensor]:
    x = view.main()
    order = view.integers("perm", list(reversed(range(x.rank))))
    if sorted(order) != list(range(x.rank)):
        raise NotFollowed(f"perm {order} of a tensor of rank {x.rank}")
    return [x.renumbered(x.rank, {old: new for new, old in enumerate(order)})]


@rule("Squeeze")
def squeeze(view: View) -> list[Tensor]:
    x = view.main()
    axes = view.integers("axes", []) or view.optional_values(1)
    if not axes:
        axes = [i for i, size in enumerate(view.known_dims(0)) if size == 1]
    return [removed(x, axes_of(axes, x.rank), 0)]


@rule("Unsqueeze")
def unsqueeze(view: View) -> list[Tensor]:
    x = view.main()
    axes = view.integers("axes", []) or view.values(1)
    rank = x.rank + len(axes)
    new = axes_of(axes, rank)
    left = [i for i in range(rank) if i not in new]
    return [x.renumbered(rank, dict(enumerate(left)))]


@rule("Flatten")
def flatten(view: View) -> list[Tensor]:
    x = view.main()
    axis = view.integer("axis", 1)
    axis = x.rank if axis == x.rank else normal_axis(axis, x.rank)
    places: dict[int, int | None] = {}
    for first, group in ((0, range(axis)), (1, range(axis, x.rank))):
        if len(group) == 1:
            places[group[0]] = first
    return [x.renumbered(2, places)]


@rule("Reshape")
def reshape(view: View) -> list[Tensor]:
    """An axis that keeps its size and what is before it is the same axis; what is merged or cut is mixed."""
    x = view.main()
    old = view.known_dims(0)
    new = _target(old, view.integers("shape", []) or view.values(1), bool(view.integer("allowzero", 0)))
    view.walk.reshaped[view.node.output[0]] = new
    starts = {_product(new[:i]): i for i in reversed(range(len(new)))}
    places: dict[int, int | None] = {}
    for i, size in enumerate(old):
        if size == 1:
            continue
        start = starts.get(_product(old[:i]))
        while start is not None and start < len(new) and new[start] == 1:
            start += 1
        if start is not None and start < len(new) and new[start] == size:
            places[i] = start
    return [x.renumbered(len(new), places)]


def _target(old: list[Size], wanted: list[int], allowzero: bool) -> list[Size]:
    """The output shape of Reshape: 0 copies a size, -1 takes what is left."""
    new: list[Size] = [old[i] if n == 0 and not allowzero else n for i, n in enumerate(wanted)]
    if -1 in new:
        (number, names), (rest, others) = _product(old), _product([n for n in new if n != -1])
        left = [n for n in old if isinstance(n, Dim) and str(n) not in others]
        if names == others and rest > 0 and number % rest == 0:
            new[new.index(-1)] = number // rest
        else:
            one = number == rest and len(left) == len(names) - len(others) == 1
            new[new.index(-1)] = left[0] if one else Dim("?", opaque=True)
    return new


def _product(dims: list[Size]) -> tuple[int, tuple[str, ...]]:
    number, names = 1, []
    for size in dims:
        if isinstance(size, Dim):
            names.append(str(size))
        else:
            number *= size
    return number, tuple(sorted(names))


@rule("Expand")
def expand(view: View) -> list[Tensor]:
    x = view.main()
    rank = max(x.rank, len(view.values(1)))
    return [x.renumbered(rank, {i: i + rank - x.rank for i in range(x.rank)})]


@rule("Concat")
def concat(view: View) -> list[Tensor]:
    tensors = view.tensors()
    axis = normal_axis(view.integer("axis", 1), tensors[0].rank)
    if any(t.along(axis) for t in tensors):
        if len(view.node.input) == 1:
            return [tensors[0]]
        if any(a in view.shown for t in tensors for a in t.along(axis)):
            raise NotFollowed("it joins tensors along an axis of the image")
        tensors = [t.mixed([axis]) for t in tensors]
    return [join_tensors(tensors, view.local)]


@rule("Split")
def split(view: View) -> list[Tensor]:
    x = view.main()
    axis = normal_axis(view.integer("axis", 0), x.rank)
    count = len(view.node.output)
    if not x.along(axis):
        return [x]
    parts = view.integers("split", []) or view.optional_values(1)
    if not parts:
        size = view.known_dims(0)[axis]
        if isinstance(size, Dim):
            raise NotFollowed("the parts depend on the size: give the input a shape")
        each = -(-size // count)
        parts = [each] * (count - 1) + [size - each * (count - 1)]
    if min(parts) < 0 or len(parts) != count:
        raise NotFollowed(f"{len(parts)} sizes of parts for {count} outputs")
    starts = np.cumsum([0, *parts])
    return [_shifted(x, axis, int(starts[i]), parts[i]) for i in range(count)]


def _shifted(x: Tensor, axis: int, start: int, out: Size, step: int = 1) -> Tensor:
    """Positions start, start + step, .. of an axis."""
    taps = [start + np.arange(out) * step] if isinstance(out, int) else None
    return changed(x, axis, lambda field: field.step(out, step, start, 0, taps))


@rule("Slice")
def slice_(view: View) -> list[Tensor]:
    x = view.main()
    if view.opset < 10:
        starts, ends = view.integers("starts", []), view.integers("ends", [])
        axes, steps = view.integers("axes", list(range(len(starts)))), [1] * len(starts)
    else:
        starts, ends = view.values(1), view.values(2)
        axes = view.optional_values(3) or list(range(len(starts)))
        steps = view.optional_values(4) or [1] * len(starts)
    if not len(starts) == len(ends) == len(axes) == len(steps) or 0 in steps:
        raise NotFollowed("starts, ends, axes and steps do not fit together")
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        axis = normal_axis(axis, x.rank)
        for a in x.along(axis):
            size = x.fields[a].size
            if isinstance(size, Dim):
                if start < 0 or step != 1 or end < 2**31 - 1:
                    raise NotFollowed("which part it takes depends on the size: give the input a shape")
                x = _shifted(x, axis, start, scaled(size, 1, -start, 1, 0))
            else:
                taken = range(size)[slice(start, end, step)]
                x = _shifted(x, axis, taken.start, len(taken), step)
            break
    return [x]


@rule("Gather")
def gather(view: View) -> list[Tensor]:
    if view.tensor(1) is not None:
        raise NotFollowed("its indices depend on the input")
    x = view.main()
    axis = normal_axis(view.integer("axis", 0), x.rank)
    rank = view.rank(1)
    if along := x.along(axis):
        if rank != 0:
            raise NotFollowed("it takes several positions of an axis that walks along the input")
        (index,) = view.values(1)
        size = x.fields[along[0]].size
        if isinstance(size, Dim) and index < 0:
            raise NotFollowed("which position it takes depends on the size: give the input a shape")
        x = _shifted(x, axis, index % size if isinstance(size, int) and size else index, 1)
    places: dict[int, int | None] = {i: i if i < axis else i + rank - 1 for i in range(x.rank) if i != axis}
    return [x.renumbered(x.rank + rank - 1, places)]


@rule("Pad")
def pad(view: View) -> list[Tensor]:
    x = view.main()
    pads = view.integers("pads", []) or view.values(1)
    axes = axes_of(view.optional_values(3) or range(x.rank), x.rank)
    if len(pads) != 2 * len(axes):
        raise NotFollowed(f"{len(pads)} pads for {len(axes)} axes")
    mode = view.text("mode", "constant")
    if mode not in ("constant", "reflect", "edge", "wrap"):
        raise NotFollowed(f"mode {mode}")
    for i, axis in enumerate(view.optional_values(3) or range(x.rank)):
        before, after = pads[i], pads[len(axes) + i]
        x = changed(x, normal_axis(axis, x.rank), lambda f, b=before, a=after: _padded(f, b, a, mode))
    return [x]


def _padded(field: Field, before: int, after: int, mode: str) -> Field:
    out = scaled(field.size, 1, before + after, 1, 0)
    if isinstance(out, int) and out < 0:
        raise NotFollowed(f"{out} positions are left")
    taps = None
    if isinstance(out, int) and isinstance(field.size, int):
        if mode == "constant" or not (before or after):
            taps = [np.arange(out) - before]
        elif before < 0 or after < 0 or field.size == 0:
            raise NotFollowed(f"negative pads in mode {mode}")
        else:
            taps = [np.pad(np.arange(field.size), (before, after), mode)]  # type: ignore[call-overload]
    return field.step(out, 1, -before, 0, taps)


@rule("DepthToSpace", "SpaceToDepth")
def blocks(view: View) -> list[Tensor]:
    x = view.main().mixed([1])
    if x.rank != 4:
        raise NotFollowed(f"a tensor of rank {x.rank}")
    b = view.integer("blocksize", 0)
    if b < 1:
        raise NotFollowed(f"blocksize {b}")
    for axis in (2, 3):
        view.spatial(x, axis)
        x = changed(x, axis, lambda f: _spread(f, b) if view.node.op_type[0] == "D" else _gathered(f, b))
    return [x]


def _spread(field: Field, b: int) -> Field:
    out = scaled(field.size, b, 0, 1, 0)
    middle = Fraction(1 - b, 2 * b)
    return field.step(out, Fraction(1, b), middle, 0, [np.arange(out) // b] if isinstance(out, int) else None)


def _gathered(field: Field, b: int) -> Field:
    out = scaled(field.size, 1, 0, b, 0)
    taps = (np.arange(bounded(out)) * b + k for k in range(min(b, bounded(b)))) if isinstance(out, int) else None
    return field.step(out, b, 0, b - 1, taps)
