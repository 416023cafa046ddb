"""Which nodes of a model our kernels serve on a face, as far as its text tells the types."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from onnx import TensorProto, numpy_helper
from onnxruntime_ep_exact import models
from onnxruntime_ep_exact.folding import DECLARED
from onnxruntime_ep_exact.operators import OPERATORS, TYPES
from operators_table import TYPE_NAMES

_NAMES = {"FLOAT": "float32", "DOUBLE": "float64"}
_FLOATS = frozenset({"float32", "float64", "float16", "bfloat16"})
_WHOLE = frozenset({"bool", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))})
_SINGLE = frozenset({"Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Gelu", "Mish", "Swish"})  # docs/unary.md
_EXPONENTS = frozenset({2, 3, 0.5, 1, 0, -1, -2, -0.5})  # docs/binary.md
#: operator -> its element types by docs/operators.md.
_TYPES: dict[str, set[str]] = {}
for _row in OPERATORS:
    _TYPES.setdefault(_row.type, set()).update(
        name for part in _row.constraints[0][1].split("|") for name in TYPE_NAMES[part.strip()].split(", ")
    )


def nodes(proto: Any, face: str) -> Iterator[str]:
    """The operators of the nodes that are served, bodies and local functions included."""
    typed = models.with_types(proto)
    types = {name: _NAMES.get(kind, kind.lower()) for name, kind in models.element_types(typed).items()}
    yield from _scan(typed.graph, face, types, {})
    for function in typed.functions:  # no types: what could be ours counts
        yield from _walk(function.node, face, {}, {})


def _scan(graph: Any, face: str, types: dict[str, str], outer: dict[str, Any]) -> Iterator[str]:
    yield from _walk(graph.node, face, types, outer | {tensor.name: tensor for tensor in graph.initializer})


def _walk(body: Any, face: str, types: dict[str, str], constants: dict[str, Any]) -> Iterator[str]:
    known = dict(constants)
    for node in body:
        if node.op_type == "Constant":
            known[node.output[0]] = next((attribute.t for attribute in node.attribute if attribute.name == "value"), None)
        if _is_served(node, face, types, known):
            yield node.op_type
        for attribute in node.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from _scan(inner, face, types, known)


def _is_served(node: Any, face: str, types: dict[str, str], constants: dict[str, Any]) -> bool:
    if node.op_type not in (TYPES if face == "plugin" else DECLARED) or node.domain not in ("", "ai.onnx"):
        return False
    kind = types.get(node.input[0], "") if node.input else ""
    if node.op_type == "Cast":
        target = next((TensorProto.DataType.Name(a.i).lower() for a in node.attribute if a.name == "to"), "")
        return kind in _FLOATS and target in _WHOLE
    if node.op_type == "Pow":
        return kind in ("", *_FLOATS) and node.input[1] in constants and _exponent(constants[node.input[1]]) in _EXPONENTS
    return not kind or (kind in _TYPES[node.op_type] and not (kind == "float64" and node.op_type in _SINGLE))


def _exponent(tensor: Any) -> float | None:
    if tensor is None:
        return None
    value = np.asarray(numpy_helper.to_array(tensor))
    return float(value.reshape(())) if value.size == 1 else None
