"""Whether ONNX Runtime's constant folding could compute a node of ours on its own kernels.

Constant folding is worth keeping (weights that a model transposes or casts are constant only after it), and it changes
our bits only where every input of a node of ours is constant. That takes a look at the model."""

from collections.abc import Iterator
from typing import Any

from . import nature
from .operators import OPERATORS, TYPES

#: ONNX's numbers of the integer types and bool.
_WHOLE = frozenset({2, 3, 4, 5, 6, 7, 9, 12, 13})
_INT64, _BOOL = 7, 9
#: Operators whose first output has a type of their own; in most others it is that of the first input.
_OWN_TYPE = {
    **dict.fromkeys(("Shape", "Size", "NonZero", "ArgMax", "ArgMin"), _INT64),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Not", "And", "Or", "Xor", "IsNaN"), _BOOL),
}
_OTHER_TYPE = frozenset(
    {"OneHot", "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "CastLike", "If", "Loop", "Scan"}
)
#: Operators that the custom-op library overrides.
DECLARED = frozenset(row.type for row in OPERATORS if row.phantom)


def foldable(proto: Any, face: str = "plugin") -> list[str]:
    """Names of the nodes of our operators in a ModelProto whose inputs are all constant, or may be: nothing is assumed to
    vary but graph inputs and what is computed from them. Empty: constant folding is harmless. Left out are nodes that any
    kernel computes alike, integer arithmetic (of shapes, say) above all."""
    ours = TYPES if face == "plugin" else DECLARED
    found = [node.name or node.output[0] for node, types in _scan(proto.graph, {}) if _is_ours(node, types, ours)]
    for function in proto.functions:  # their inputs may be constant where they are called
        found += [node.name or node.op_type for node in function.node if _is_ours(node, {}, ours)]
    return found


def constant_nodes(proto: Any) -> Iterator[Any]:
    """The nodes of the graph of a ModelProto and of its bodies whose inputs are all constant, or may be."""
    return (node for node, _ in _scan(proto.graph, {}))


def _is_ours(node: Any, types: dict[str, int], ours: frozenset[str]) -> bool:
    if node.op_type not in ours or node.domain not in ("", "ai.onnx"):
        return False
    whole = all(types.get(name) in _WHOLE for name in node.input if name)
    if node.op_type == "Cast":
        return not whole and _attribute(node, "to", 0) in _WHOLE
    return not (whole and node.op_type in nature.INTEGER_ARITHMETIC)


def _attribute(node: Any, name: str, fallback: int) -> int:
    """An integer attribute, or the element type of a tensor."""
    for attribute in node.attribute:
        if attribute.name == name:
            return attribute.t.data_type if attribute.HasField("t") else attribute.i
    return fallback


def _type(node: Any, types: dict[str, int]) -> int:
    """Of the first output; 0: not known, or a float type."""
    if node.op_type == "Cast":
        return _attribute(node, "to", 0)
    if node.op_type in ("Constant", "ConstantOfShape"):
        integers = any(attribute.name in ("value_int", "value_ints") for attribute in node.attribute)
        return _INT64 if integers else _attribute(node, "value", 0)
    if node.op_type in _OWN_TYPE:
        return _OWN_TYPE[node.op_type]
    if node.op_type in _OTHER_TYPE or node.domain not in ("", "ai.onnx"):
        return 0
    first = 1 if node.op_type == "Where" else 0
    return types.get(node.input[first], 0) if len(node.input) > first else 0


def _scan(graph: Any, outer: dict[str, int]) -> Iterator[tuple[Any, dict[str, int]]]:
    """The constant nodes, with the element types of the constants so far by name."""
    constant = outer | {tensor.name: tensor.data_type for tensor in graph.initializer}
    constant |= {t.values.name: t.values.data_type for t in graph.sparse_initializer}
    for node in graph.node:
        fixed = node.op_type == "Shape" or all(name in constant for name in node.input if name)
        if fixed:
            yield node, constant
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node:
                    yield from _scan(body, constant)
        if fixed and not any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
            constant |= dict.fromkeys(node.output, 0)
            constant[node.output[0]] = _type(node, constant)
