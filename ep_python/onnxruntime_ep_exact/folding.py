"""Whether ONNX Runtime's constant folding could compute a node of ours on its own kernels.

Constant folding is worth keeping (weights that a model transposes or casts are constant only after it), and it changes
our bits only where every input of a node of ours is constant. That takes a look at the model."""

from collections.abc import Iterator
from typing import Any

from .operators import TYPES


def foldable(proto: Any) -> list[str]:
    """Names of the nodes of our operators in a ModelProto whose inputs are all constant, or may be: nothing is assumed to
    vary but graph inputs and what is computed from them. Empty: constant folding is harmless."""
    found = [node.name or node.output[0] for node in constant_nodes(proto) if _ours(node)]
    for function in proto.functions:  # their inputs may be constant where they are called
        found += [node.name or node.op_type for node in function.node if _ours(node)]
    return found


def constant_nodes(proto: Any) -> Iterator[Any]:
    """The nodes of the graph of a ModelProto and of its bodies whose inputs are all constant, or may be."""
    return _scan(proto.graph, set())


def _ours(node: Any) -> bool:
    return node.op_type in TYPES and node.domain in ("", "ai.onnx")


def _scan(graph: Any, outer: set[str]) -> Iterator[Any]:
    constant = outer | {tensor.name for tensor in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    for node in graph.node:
        fixed = node.op_type == "Shape" or all(name in constant for name in node.input if name)
        if fixed:
            yield node
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node:
                    yield from _scan(body, constant)
        if fixed and not any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
            constant.update(node.output)
