"""Shapes of tensors, by the inference of the onnx package, one node at a time.

Not for the whole model at once: an inference over a model whose windows do not fit can end the process.
"""

from __future__ import annotations

from typing import Any

import onnx
from onnx.shape_inference import infer_node_outputs

from .sizes import Dim, Size
from .values import Values


class Shapes:
    """Types by name, for as far as they are known."""

    def __init__(self, proto: Any, opset: int) -> None:
        self._opset, self._imports, self._ir_version = opset, list(proto.opset_import), proto.ir_version
        self._types = {value.name: value.type for value in proto.graph.input if _sound(value.type)}
        for t in proto.graph.initializer:
            if all(n >= 0 for n in t.dims):
                self._types[t.name] = onnx.helper.make_tensor_type_proto(t.data_type, list(t.dims))

    def get(self, name: str) -> list[Size | None] | None:
        """Sizes of the axes; None: not known."""
        kind = self._types.get(name)
        if kind is None or not kind.tensor_type.HasField("shape"):
            return None
        return [
            dim.dim_value if dim.HasField("dim_value") else Dim(dim.dim_param) if dim.dim_param.strip("?") else None
            for dim in kind.tensor_type.shape.dim
        ]

    def put(self, name: str, sizes: dict[int, Size]) -> None:
        """Sizes of some axes that are known better."""
        if name not in self._types:
            return
        dims = self._types[name].tensor_type.shape.dim
        for axis, size in sorted(sizes.items()):
            while len(dims) <= axis:
                dims.add()
            if isinstance(size, int):
                dims[axis].dim_value = size
            elif dims[axis].WhichOneof("value") is None and not size.opaque:
                dims[axis].dim_param = str(size)

    def infer(self, node: Any, values: Values) -> None:
        """The shapes of a node's outputs. A node that cannot be inferred leaves them unknown."""
        names = [name for name in node.input if name]
        if any(a.type in (onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS) for a in node.attribute):
            return
        try:
            schema = onnx.defs.get_schema(node.op_type, self._opset, node.domain)
            outputs = infer_node_outputs(
                schema,
                node,
                {name: self._types[name] for name in names if name in self._types},
                {name: tensor for name in names if (tensor := values.small(name)) is not None},
                opset_imports=self._imports,
                ir_version=self._ir_version,
            )
        except Exception:  # an unknown operator, a malformed node: many types
            return
        self._types.update({name: kind for name, kind in outputs.items() if _sound(kind)})


def _sound(kind: Any) -> bool:
    return kind.HasField("tensor_type") and all(dim.dim_value >= 0 for dim in kind.tensor_type.shape.dim)
