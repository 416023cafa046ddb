"""Receptive fields of the nodes of an ONNX model: docs/receptive-field.md.

    report = receptive.analyse("model.onnx", input_shape=[1, 3, 224, 224])
    report.layers[0].axes[2].field

It needs the package onnx. Nothing is run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import onnx

from .fields import Field, Tensor
from .shapes import Shapes
from .sizes import LARGEST, Dim, Size, as_number
from .values import Values
from .walk import Walk, label_of, start, visit

__all__ = ["Axis", "Dim", "Layer", "Report", "analyse"]


@dataclass(frozen=True)
class Axis:
    """How a node's output walks along one axis of the input.

    size: positions of the output along it, None where no axis of the output walks along it. jump, field, centre: distance of
    the centres of neighbouring outputs, size of the receptive field, centre of the first output's field, in positions of
    the input; None where they depend on a size that is not known. whole: the field is the whole axis.
    """

    size: Size | None
    jump: Fraction | None
    field: Size | Fraction | None
    centre: Fraction | None
    whole: bool


@dataclass(frozen=True)
class Layer:
    """One node. ``axes`` by axis of the input; empty, with a reason, when the node could not be followed."""

    name: str
    operator: str
    outputs: tuple[str, ...]
    axes: dict[int, Axis]
    reason: str | None
    #: whether its fields differ from those of every input
    changes: bool
    tensor: Tensor | None

    def region(self, position: Sequence[int]) -> dict[int, tuple[int, int]] | None:
        """The first and last position of each axis of the input that can reach an element of the first output, in a model
        whose input has a known shape; None when nothing can.

        Args:
            position: index of the element, one number per axis of the output.

        Raises:
            ValueError: the node was not followed, or the shape is not known.
            IndexError: there is no such element.
        """
        if self.tensor is None:
            raise ValueError(f"node {self.name!r} was not followed: {self.reason}")
        if len(position) != self.tensor.rank:
            raise IndexError(f"{len(position)} numbers for an output of rank {self.tensor.rank}")
        found = {}
        for a in self.axes:
            field = self.tensor.fields[a]
            if field.first is None or field.last is None:
                raise ValueError("the regions are known only for an input of known shape")
            index = 0 if field.axis is None else position[field.axis]
            first, last = int(field.first[index]), int(field.last[index])
            if first > last:
                return None
            found[a] = first, last
        return found


@dataclass(frozen=True)
class Report:
    """The nodes behind one input, in the order of the graph."""

    input: str
    shape: list[Size]
    #: the input's axes along which windows move
    axes: list[int]
    layers: list[Layer]

    def find(self, name: str) -> list[Layer]:
        """Layers by the name of the node or of an output."""
        return [layer for layer in self.layers if name == layer.name or name in layer.outputs]

    def as_dict(self) -> dict:
        """For JSON: numbers are integers where they are whole, sizes that are not known are texts."""

        def plain(value: Size | Fraction | None) -> Any:
            return str(value) if isinstance(value, Dim) else as_number(value)

        return {
            "input": self.input,
            "shape": [plain(n) for n in self.shape],
            "axes": self.axes,
            "layers": [
                {
                    "node": layer.name,
                    "operator": layer.operator,
                    "outputs": list(layer.outputs),
                    "reason": layer.reason,
                    "axes": [
                        {"axis": a, "whole": axis.whole}
                        | {key: plain(getattr(axis, key)) for key in ("size", "jump", "field", "centre")}
                        for a, axis in layer.axes.items()
                    ],
                }
                for layer in self.layers
            ],
        }


def analyse(
    model: str | Path | bytes,
    input_shape: Sequence[int] | None = None,
    input_name: str | None = None,
    local: bool = False,
) -> Report:
    """Walks a model from one of its inputs.

    Args:
        model: path of an ONNX file, or the serialized model.
        input_shape: sizes for the input's axes, where the model leaves them open.
        input_name: the input to start at; by default the first one of rank 3 or more.
        local: leave out operands that see the whole input where others do not (squeeze and excitation).

    Raises:
        ValueError: the file is no model, or has no such input, or the shape does not fit it.
    """
    proto = _load(model)
    constants = {t.name for t in proto.graph.initializer}
    value = _choose([i for i in proto.graph.input if i.name not in constants], input_name)
    shape = _shape(value, input_shape)
    opset = max((o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")), default=1)
    walk = Walk(opset, local, Values(proto.graph, opset), Shapes(proto, opset))
    start(walk, value.name, shape)
    seen = []
    for node in proto.graph.node:
        reason = visit(walk, node)
        if reason is not None or any(name in walk.tensors for name in node.output):
            seen.append((node, reason))
    axes = sorted(walk.shown)
    if not axes:
        lost = next((f"; {label_of(node)}: {reason}" for node, reason in seen if reason), "")
        raise ValueError(f"no convolution, pool or resampling moves along an axis of the input {value.name!r}{lost}")
    return Report(value.name, shape, axes, [_layer(walk, node, reason, axes) for node, reason in seen])


def _load(model: str | Path | bytes) -> Any:
    try:
        if isinstance(model, bytes):
            return onnx.load_model_from_string(model)
        return onnx.load_model(str(model), load_external_data=False)
    except OSError as error:
        raise ValueError(f"{model}: {error.strerror or error}") from error
    except Exception as error:  # protobuf's own kinds
        raise ValueError(f"this is no ONNX model: {error}") from error


def _choose(inputs: list, name: str | None) -> Any:
    for value in inputs:
        if name is None and len(value.type.tensor_type.shape.dim) >= 3:
            return value
        if value.name == name:
            return value
    names = ", ".join(repr(value.name) for value in inputs) or "none"
    raise ValueError(f"no input of rank 3 or more (inputs: {names})" if name is None else f"no input {name!r}, but {names}")


def _shape(value: Any, given: Sequence[int] | None) -> list[Size]:
    """The input's shape; what is known of it is written into the model, for shape inference."""
    dims = value.type.tensor_type.shape.dim
    if not value.type.HasField("tensor_type") or not value.type.tensor_type.HasField("shape"):
        raise ValueError(f"the input {value.name!r} has no rank")
    if given is not None and len(given) != len(dims):
        raise ValueError(f"the input {value.name!r} has {len(dims)} axes, the shape {len(given)}")
    shape: list[Size] = []
    names = [dim.dim_param for dim in dims]
    for axis, dim in enumerate(dims):
        size = dim.dim_value if dim.HasField("dim_value") and dim.dim_value >= 0 else None
        if given is not None:
            if size not in (None, given[axis]) or given[axis] < 0:
                raise ValueError(f"axis {axis} of the input {value.name!r} has {size} positions, the shape {given[axis]}")
            size = dim.dim_value = int(given[axis])
        if size is None:
            named = names[axis].isidentifier() and names.count(names[axis]) == 1
            dim.dim_param = names[axis] if named else f"{value.name}:{axis}"
            shape.append(Dim(dim.dim_param))
        elif size > LARGEST:
            raise ValueError(f"axis {axis} has {size} positions, more than {LARGEST}")
        else:
            shape.append(size)
    return shape


def _layer(walk: Walk, node: Any, reason: str | None, axes: list[int]) -> Layer:
    outputs = tuple(name for name in node.output if name)
    name = node.name or next(iter(outputs), "")
    if reason is not None:
        return Layer(name, node.op_type, outputs, {}, reason, True, None)
    tensor = next(walk.tensors[name] for name in outputs if name in walk.tensors)
    before = [walk.tensors[name] for name in node.input if name in walk.tensors]
    changes = all(any(not _same(tensor.fields[a], t.fields[a]) for a in axes) for t in before)
    return Layer(name, node.op_type, outputs, {a: _axis(tensor.fields[a]) for a in axes}, None, changes, tensor)


def _same(one: Field, other: Field) -> bool:
    return _axis(one) == _axis(other)


def _axis(field: Field) -> Axis:
    size = None if field.axis is None else field.size
    return Axis(size, None if field.axis is None else field.jump, field.field, field.centre, field.whole)
