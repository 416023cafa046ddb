"""What each operator does to the fields: those that work element by element, move elements or mix whole axes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .fields import Field, Tensor, join_tensors
from .sizes import Dim, NotFollowed, Size, bounded, scaled

if TYPE_CHECKING:
    from .walk import View

Rule = Callable[["View"], list[Tensor]]
RULES: dict[str, Rule] = {}


def rule(*operators: str) -> Callable[[Rule], Rule]:
    """Registers the rule of some operators. It returns the tensors of the outputs, the last one for all further outputs."""

    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(operators, function))
        return function

    return register


def with_others(view: View, main: Tensor | None, rank: int, places: list[int]) -> Tensor:
    """The result joined with inputs (a weight, a slope) of which every element reaches every output."""
    parts = [] if main is None else [main]
    for place in places:
        other = view.tensor(place)
        if other is not None:
            fields = {a: f.mixed().moved(None) for a, f in other.fields.items()}
            parts.append(Tensor(rank, fields))
    return join_tensors(parts, view.local)


def normal_axis(axis: int, rank: int) -> int:
    """A non-negative axis."""
    if not -rank <= axis < rank:
        raise NotFollowed(f"axis {axis} of a tensor of rank {rank}")
    return axis % rank


# ---- element by element ----

_ELEMENTWISE = """Abs Acos Acosh Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil
Celu Clip Cos Cosh DequantizeLinear Dropout Elu Erf Exp Floor Gelu HardSigmoid HardSwish Identity IsInf IsNaN LeakyRelu Log Mish
Neg Not QuantizeLinear Reciprocal Relu Round Selu Shrink Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Swish Tan Tanh
ThresholdedRelu Add And Div Equal Greater GreaterOrEqual Less LessOrEqual Max Mean Min Mod Mul Or Pow PRelu Sub Sum Where Xor"""


@rule(*_ELEMENTWISE.split())
def elementwise(view: View) -> list[Tensor]:
    tensors = view.tensors()
    rank = max(len(dims) if (dims := view.dims(i)) is not None else 0 for i in range(len(view.node.input)))
    rank = max(rank, *(t.rank for t in tensors))
    first = tensors[0]
    if first.rank < rank:
        tensors[0] = first.renumbered(rank, {i: i + rank - first.rank for i in range(first.rank)})
    return [join_tensors(tensors, view.local)]


@rule("BatchNormalization")
def batch_normalization(view: View) -> list[Tensor]:
    x = view.tensor(0)
    return [with_others(view, x, view.rank(0), [1, 2, 3, 4])]


@rule("LRN")
def lrn(view: View) -> list[Tensor]:
    return [view.main().mixed([1])]


# ---- whole axes ----


@rule("Softmax", "LogSoftmax", "Hardmax")
def softmax(view: View) -> list[Tensor]:
    x = view.main()
    axis = normal_axis(view.integer("axis", -1 if view.opset >= 13 else 1), x.rank)
    return [x.mixed([axis] if view.opset >= 13 else range(axis, x.rank))]


@rule("LayerNormalization", "RMSNormalization")
def layer_normalization(view: View) -> list[Tensor]:
    rank = view.rank(0)
    axis = normal_axis(view.integer("axis", -1), rank)
    x = view.tensor(0)
    return [with_others(view, None if x is None else x.mixed(range(axis, rank)), rank, [1, 2])]


@rule("InstanceNormalization", "GroupNormalization")
def instance_normalization(view: View) -> list[Tensor]:
    rank = view.rank(0)
    x = view.tensor(0)
    return [with_others(view, None if x is None else x.mixed(range(1, rank)), rank, [1, 2])]


@rule("MeanVarianceNormalization", "LpNormalization")
def axes_normalization(view: View) -> list[Tensor]:
    x = view.main()
    axes = view.integers("axes", [0, 2, 3]) if view.node.op_type[0] == "M" else [view.integer("axis", -1)]
    return [x.mixed(normal_axis(a, x.rank) for a in axes)]


@rule("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(view: View) -> list[Tensor]:
    x = view.main()
    for axis in range(2, x.rank):
        view.spatial(x, axis)
    return [x.mixed(range(2, x.rank))]


_REDUCTIONS = "Sum Mean Max Min Prod L1 L2 LogSum LogSumExp SumSquare"


@rule(*(f"Reduce{kind}" for kind in _REDUCTIONS.split()))
def reduction(view: View) -> list[Tensor]:
    x = view.main()
    axes = view.integers("axes", []) or view.optional_values(1)
    if not axes and view.integer("noop_with_empty_axes", 0):
        return [x]
    return [_removed(x.mixed(chosen := _axes(axes or range(x.rank), x.rank)), chosen, view.integer("keepdims", 1))]


@rule("ArgMax", "ArgMin")
def arg(view: View) -> list[Tensor]:
    x = view.main()
    axes = _axes([view.integer("axis", 0)], x.rank)
    return [_removed(x.mixed(axes), axes, view.integer("keepdims", 1))]


@rule("MatMul", "MatMulInteger", "QLinearMatMul")
def matmul(view: View) -> list[Tensor]:
    second = 3 if view.node.op_type[0] == "Q" else 1
    ranks = view.rank(0), view.rank(second)
    rank = max(2, *ranks)
    parts = []
    for place, inner in ((0, -1), (second, -2)):
        tensor, own = view.tensor(place), ranks[0 if place == 0 else 1]
        if tensor is None:
            continue
        if own == 1:  # a row before the first, a column after the second operand
            parts.append(tensor.mixed([0]).renumbered(rank, {}))
        else:
            parts.append(tensor.mixed([own + inner]).renumbered(rank, {i: i + rank - own for i in range(own)}))
    result = join_tensors(parts, view.local)
    gone = [rank - 2] * (ranks[0] == 1) + [rank - 1] * (ranks[1] == 1)
    return [_removed(result, gone, 0)]


@rule("Gemm")
def gemm(view: View) -> list[Tensor]:
    parts = []
    for place, inner, name in ((0, 1, "transA"), (1, 0, "transB")):
        tensor = view.tensor(place)
        if tensor is not None:
            flip = bool(view.integer(name, 0))
            tensor = tensor.mixed([1 - inner if flip else inner])
            parts.append(tensor.renumbered(2, {0: 1, 1: 0} if flip else {0: 0, 1: 1}))
    if (addend := view.tensor(2)) is not None:
        parts.append(addend.renumbered(2, {i: i + 2 - addend.rank for i in range(addend.rank)}))
    return [join_tensors(parts, view.local)]


def _axes(axes: list[int] | range, rank: int) -> list[int]:
    return sorted({normal_axis(a, rank) for a in axes})


def _removed(x: Tensor, axes: list[int], keep: int) -> Tensor:
    """Without some axes, along which nothing walks any more."""
    if keep:
        return x
    left = [i for i in range(x.rank) if i not in axes]
    return x.renumbered(len(left), {old: new for new, old in enumerate(left)})


# ---- moving elements ----


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
    return [_removed(x, _axes(axes, x.rank), 0)]


@rule("Unsqueeze")
def unsqueeze(view: View) -> list[Tensor]:
    x = view.main()
    axes = view.integers("axes", []) or view.values(1)
    rank = x.rank + len(axes)
    new = _axes(axes, rank)
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
        fits = names == others and rest > 0 and number % rest == 0
        new[new.index(-1)] = number // rest if fits else Dim("?", opaque=True)
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


def changed(x: Tensor, axis: int, change: Callable[[Field], Field]) -> Tensor:
    """With a change to the fields that walk along an axis of the tensor."""
    return Tensor(x.rank, {a: change(f) if f.axis == axis else f for a, f in x.fields.items()})


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
    axes = _axes(view.optional_values(3) or range(x.rank), x.rank)
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
