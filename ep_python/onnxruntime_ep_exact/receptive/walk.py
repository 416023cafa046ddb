"""From the graph's input to its outputs: the fields of every node."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx

from . import moves, resize, windows  # noqa: F401  (they register their rules)
from .fields import Field, Tensor
from .rules import RULES
from .shapes import Shapes
from .sizes import NotFollowed, Size
from .values import Values


@dataclass
class Walk:
    """The state of a walk over one graph."""

    opset: int
    local: bool
    values: Values
    shapes: Shapes
    tensors: dict[str, Tensor] = dataclasses.field(default_factory=dict)
    #: shapes that rules have found, by output
    reshaped: dict[str, list[Size]] = dataclasses.field(default_factory=dict)
    #: name of a tensor whose fields are not known -> the node that is to blame
    lost: dict[str, str] = dataclasses.field(default_factory=dict)
    #: the input's axes along which some window moves
    shown: set[int] = dataclasses.field(default_factory=set)


class View:
    """A node, as its rule sees it."""

    def __init__(self, walk: Walk, node: Any) -> None:
        self.walk, self.node = walk, node
        self.opset, self.local, self.shown = walk.opset, walk.local, walk.shown
        self._attributes = {a.name: a for a in node.attribute}

    def spatial(self, x: Tensor, axis: int) -> None:
        """An axis of the input along which a window moves."""
        self.shown.update(x.along(axis))

    # -- inputs --

    def _name(self, place: int) -> str:
        return self.node.input[place] if place < len(self.node.input) else ""

    def tensor(self, place: int) -> Tensor | None:
        """An input that depends on the graph's input; None: it does not, or is left out."""
        return self.walk.tensors.get(self._name(place))

    def tensors(self) -> list[Tensor]:
        """All inputs that depend on the graph's input."""
        found = (self.tensor(i) for i in range(len(self.node.input)))
        return [t for t in found if t is not None]

    def main(self) -> Tensor:
        """The first input, where only that may depend on the graph's input."""
        for place in range(1, len(self.node.input)):
            if self.tensor(place) is not None:
                raise NotFollowed(f"its input {place} depends on the graph's input")
        x = self.tensor(0)
        if x is None:
            raise NotFollowed("its first input does not depend on the graph's input")
        return x

    def dims(self, place: int) -> list[Size | None] | None:
        """Sizes of the axes of an input."""
        return dims_of(self.walk, self._name(place))

    def rank(self, place: int) -> int:
        tensor, dims = self.tensor(place), self.dims(place)
        if tensor is None and dims is None:
            raise NotFollowed(f"the rank of its input {place} is not known")
        return tensor.rank if tensor is not None else len(dims)  # type: ignore[arg-type]

    def known_dims(self, place: int) -> list[Size]:
        return _all_known(self.dims(place), "the shape of its input is not known: give the graph's input a shape")

    def values(self, place: int) -> list[int]:
        """The integers of a constant input."""
        array = self._array(place)
        if array.dtype.kind not in "iu":
            raise NotFollowed(f"its input {place} has the type {array.dtype}")
        return [int(v) for v in array.ravel()]

    def optional_values(self, place: int) -> list[int]:
        return self.values(place) if self._name(place) else []

    def float_values(self, place: int) -> list[float]:
        array = self._array(place)
        if array.dtype.kind != "f":
            raise NotFollowed(f"its input {place} has the type {array.dtype}")
        return [float(v) for v in array.ravel()]

    def _array(self, place: int) -> np.ndarray:
        array = self.walk.values.get(self._name(place)) if self._name(place) else None
        if array is None:
            raise NotFollowed(f"its input {place} is computed at run time: giving the graph's input a shape may help")
        return array

    # -- attributes --

    def _attribute(self, name: str, kind: int, default: Any) -> Any:
        attribute = self._attributes.get(name)
        if attribute is None:
            return default
        if attribute.type != kind:
            raise NotFollowed(f"its attribute {name} has another type")
        return onnx.helper.get_attribute_value(attribute)

    def integer(self, name: str, default: int) -> int:
        return self._attribute(name, onnx.AttributeProto.INT, default)

    def integers(self, name: str, default: list[int]) -> list[int]:
        return list(self._attribute(name, onnx.AttributeProto.INTS, default))

    def number(self, name: str, default: float) -> float:
        return self._attribute(name, onnx.AttributeProto.FLOAT, default)

    def floats(self, name: str, default: list[float] | None) -> list[float] | None:
        return self._attribute(name, onnx.AttributeProto.FLOATS, default)

    def text(self, name: str, default: str) -> str:
        value = self._attribute(name, onnx.AttributeProto.STRING, default)
        return value.decode(errors="replace") if isinstance(value, bytes) else value


def _all_known(dims: list[Size | None] | None, reason: str) -> list[Size]:
    if dims is None or any(n is None for n in dims):
        raise NotFollowed(reason)
    return dims  # type: ignore[return-value]


def dims_of(walk: Walk, name: str) -> list[Size | None] | None:
    """Sizes by ONNX's shape inference, and by the walk where it knows more."""
    dims, tensor = walk.shapes.get(name), walk.tensors.get(name)
    if tensor is None:
        return dims
    if dims is None or len(dims) != tensor.rank:
        dims = [None] * tensor.rank
    dims = list(dims)
    for f in tensor.fields.values():
        if f.axis is not None and (isinstance(f.size, int) or not isinstance(dims[f.axis], int)):
            dims[f.axis] = f.size
    return dims


def start(walk: Walk, name: str, shape: list[Size]) -> None:
    """Places the walk at a graph input."""
    walk.tensors[name] = Tensor(len(shape), {a: Field.of_input(a, size) for a, size in enumerate(shape)})


def visit(walk: Walk, node: Any) -> str | None:
    """Follows one node. The reason when that cannot be done, else None."""
    reason = _visit(walk, node)
    walk.shapes.infer(node, walk.values)
    for name in node.output:
        sizes = dict(enumerate(walk.reshaped.pop(name, [])))
        if name in walk.tensors:
            sizes |= {f.axis: f.size for f in walk.tensors[name].fields.values() if f.axis is not None}
        walk.shapes.put(name, sizes)
    return reason


def _visit(walk: Walk, node: Any) -> str | None:
    if node.op_type in ("Shape", "Size") and node.domain in ("", "ai.onnx"):
        _shape(walk, node)
        return None
    inputs = set(_inputs(node))
    blamed = next((walk.lost[name] for name in inputs if name in walk.lost), None)
    if blamed is not None:
        walk.lost.update(dict.fromkeys(node.output, blamed))
        return f"it comes after {blamed}"
    if inputs.isdisjoint(walk.tensors):
        walk.values.fold(node)
        return None
    try:
        _follow(walk, node)
    except NotFollowed as error:
        walk.lost.update(dict.fromkeys(node.output, label_of(node)))
        return str(error)
    return None


def label_of(node: Any) -> str:
    """How messages call a node."""
    return f"{node.op_type} {node.name or next((n for n in node.output if n), '')!r}"


def _follow(walk: Walk, node: Any) -> None:
    view = View(walk, node)
    if node.domain not in ("", "ai.onnx") or node.op_type not in RULES:
        domain = f" of the domain {node.domain}" if node.domain else ""
        raise NotFollowed(f"the operator{domain} is not one of those that are followed")
    if any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in node.attribute):
        raise NotFollowed("it has a graph of its own")
    try:
        results = RULES[node.op_type](view)
    except (ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise NotFollowed(f"the node is malformed: {error}") from error
    for place, name in enumerate(node.output):
        if name:
            walk.tensors[name] = results[min(place, len(results) - 1)]


def _inputs(node: Any) -> Iterable[str]:
    """Names that a node reads, graphs inside it included."""
    for name in node.input:
        if name:
            yield name
    for attribute in node.attribute:
        for body in (attribute.g, *attribute.graphs):
            for inner in body.node:
                yield from _inputs(inner)


def _shape(walk: Walk, node: Any) -> None:
    dims = dims_of(walk, node.input[0]) if node.input else None
    if dims is None or not all(isinstance(n, int) for n in dims):
        return
    array = np.array(dims, np.int64)
    if node.op_type == "Size":
        array = np.array(int(np.prod([int(n) for n in dims], dtype=object)), np.int64)
    else:
        ends = {a.name: a.i for a in node.attribute}
        array = array[slice(ends.get("start", 0), ends.get("end"))]
    walk.values.put(node.output[0], array)
