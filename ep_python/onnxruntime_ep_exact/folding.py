"""Whether ONNX Runtime's constant folding could compute a node of ours on its own kernels.

Constant folding is worth keeping (weights that a model transposes or casts are constant only after it), and it changes
our bits only where every input of a node of ours is constant. That takes a look at the model, by the onnx package."""

from typing import Any

from .operators import TYPES


def foldable(model: Any) -> list[str] | None:
    """Names of the nodes of our operators whose inputs are all constant, or may be: nothing is assumed to vary but graph
    inputs and what is computed from them.

    Args:
        model: path of an ONNX file, or the serialized model.

    Returns:
        The names (empty: constant folding is harmless), or None when that cannot be told: onnx is not installed or cannot
        read the model.
    """
    try:
        import onnx
    except ImportError:
        return None
    try:
        if isinstance(model, bytes | bytearray):
            proto = onnx.load_model_from_string(bytes(model))
        else:
            proto = onnx.load_model(str(model), load_external_data=False)
    except Exception:  # onnxruntime is to say what is wrong with the file
        return None
    found: list[str] = []
    _scan(proto.graph, set(), found)
    for function in proto.functions:  # their inputs may be constant where they are called
        found += [node.name or node.op_type for node in function.node if _ours(node)]
    return found


def _ours(node: Any) -> bool:
    return node.op_type in TYPES and node.domain in ("", "ai.onnx")


def _scan(graph: Any, outer: set[str], found: list[str]) -> None:
    constant = outer | {tensor.name for tensor in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    for node in graph.node:
        fixed = node.op_type == "Shape" or all(name in constant for name in node.input if name)
        if fixed and _ours(node):
            found.append(node.name or node.output[0])
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node:
                    _scan(body, constant, found)
        if fixed and not any(attribute.HasField("g") or attribute.graphs for attribute in node.attribute):
            constant.update(node.output)
