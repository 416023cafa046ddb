"""What the onnx package, where it is installed, can tell about a model before onnxruntime gets it."""

from collections.abc import Iterator
from typing import Any


def load(model: Any) -> Any:
    """The ModelProto of a path or a serialized model; None when onnx is not installed or cannot read it."""
    try:
        import onnx
    except ImportError:
        return None
    try:
        if isinstance(model, bytes | bytearray):
            return onnx.load_model_from_string(bytes(model))
        return onnx.load_model(str(model), load_external_data=False)
    except Exception:  # onnxruntime is to say what is wrong with the file
        return None


def opset(proto: Any) -> int:
    """The opset of the standard domain; 0 when the model names none."""
    return max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)


def inlined(proto: Any) -> Any:
    """A ModelProto without model-local functions: their nodes stand where they are called."""
    from onnx import inliner

    return inliner.inline_local_functions(proto) if proto.functions else proto


def with_types(proto: Any) -> Any:
    """The ModelProto with the types of values as far as onnx can infer them. It loses the numbers of large weights."""
    from onnx import shape_inference

    for graph in _graphs(proto.graph):
        for tensor in graph.initializer:
            if len(tensor.raw_data) > 1024:
                tensor.ClearField("raw_data")
    try:
        return shape_inference.infer_shapes(proto)
    except Exception:  # a graph that contradicts itself: the types that it states are left
        return proto


def element_types(proto: Any) -> dict[str, str]:
    """Name of each value of the graph and its bodies -> name of its element type. Names that mean values of several types are
    left out."""
    from onnx import TensorProto

    found: dict[str, str] = {}
    twice = set()

    def add(name: str, number: int) -> None:
        kind = TensorProto.DataType.Name(number) if number else ""
        if kind and found.setdefault(name, kind) != kind:
            twice.add(name)

    for graph in _graphs(proto.graph):
        for value in (*graph.input, *graph.output, *graph.value_info):
            add(value.name, value.type.tensor_type.elem_type)
        for tensor in graph.initializer:
            add(tensor.name, tensor.data_type)
    return {name: kind for name, kind in found.items() if name not in twice}


def _graphs(graph: Any) -> Iterator[Any]:
    yield graph
    for node in graph.node:
        for attribute in node.attribute:
            for body in (attribute.g, *attribute.graphs):
                if body.node or body.output:
                    yield from _graphs(body)
