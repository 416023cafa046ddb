"""What operators do to the fields: those that work element by element, and those that mix whole axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .fields import Field, Tensor, join_tensors
from .sizes import NotFollowed

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


def changed(x: Tensor, axis: int, change: Callable[[Field], Field]) -> Tensor:
    """With a change to the fields that walk along an axis of the tensor."""
    return Tensor(x.rank, {a: change(f) if f.axis == axis else f for a, f in x.fields.items()})


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
    return [removed(x.mixed(chosen := axes_of(axes or range(x.rank), x.rank)), chosen, view.integer("keepdims", 1))]


@rule("ArgMax", "ArgMin")
def arg(view: View) -> list[Tensor]:
    x = view.main()
    axes = axes_of([view.integer("axis", 0)], x.rank)
    return [removed(x.mixed(axes), axes, view.integer("keepdims", 1))]


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
    return [removed(result, gone, 0)]


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


def axes_of(axes: list[int] | range, rank: int) -> list[int]:
    """Non-negative axes, sorted, each once."""
    return sorted({normal_axis(a, rank) for a in axes})


def removed(x: Tensor, axes: list[int], keep: int) -> Tensor:
    """Without some axes, along which nothing walks any more."""
    if keep:
        return x
    left = [i for i in range(x.rank) if i not in axes]
    return x.renumbered(len(left), {old: new for new, old in enumerate(left)})
