"""The nodes of a graph without its edges: each reads inputs and constants alone, so it can be compared by itself."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from . import traces, values
from .folding import constant_nodes

#: Before the name of each node's output.
PREFIX = "alone/"
#: Elements of the largest value that a node gets as a constant where the whole graph computes it of constants.
_SMALL = 1024


def take_apart(proto: Any, known: Mapping[str, Any]) -> tuple[list[str], dict[str, str]]:
    """Takes the edges out of a ModelProto: what a node reads is an input of the graph or a constant, and what it writes is
    called something else. Returns the names of the inputs, and why nodes are left out (by output)."""
    from onnx import helper, numpy_helper

    graph = proto.graph
    traces.exposed(proto)  # for the names of the nodes
    weights = {tensor.name for tensor in graph.initializer} | {t.values.name for t in graph.sparse_initializer}
    constants = [node for node in graph.node if node.op_type == "Constant"]
    weights |= {name for node in constants for name in node.output}
    folded = {name for node in constant_nodes(proto) for name in node.output} - weights
    fed: dict[str, Any] = {}
    kept, why = [], {}
    for node in graph.node:
        if node.op_type == "Constant" or folded.intersection(node.output):
            continue
        read = {name for name in _reads(node) if name and name in known and name not in weights}
        odd = [name for name in read if not _plain(known[name])]
        if odd:
            why |= dict.fromkeys(node.output, f"its input {odd[0]} cannot be given")
            continue
        for name in read:
            value = known[name]
            if name in folded and value.data.size <= _SMALL and value.data.dtype.name == value.type:
                graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(value.data), name))
                weights.add(name)
            else:
                fed[name] = value
        part = copied(node)
        del part.output[:]
        part.output.extend(PREFIX + name if name else "" for name in node.output)
        kept.append(part)
    used = {name for node in (*constants, *kept) for name in _reads(node)}
    for tensors in (graph.initializer, graph.sparse_initializer):
        rest = [copied(t) for t in tensors if (t.name if tensors is graph.initializer else t.values.name) in used]
        del tensors[:]
        tensors.extend(rest)
    kept = [*map(copied, constants), *kept]
    del graph.node[:], graph.input[:], graph.output[:], graph.value_info[:]
    graph.node.extend(kept)
    for name, value in fed.items():
        number = {"bfloat16": 16, "string": 8}.get(value.type) or helper.np_dtype_to_tensor_dtype(value.data.dtype)
        graph.input.append(helper.make_tensor_value_info(name, number, value.shape))
    if len(kept) == len(constants):
        del graph.node[:]
    return list(fed), why


def _plain(value: Any) -> bool:
    return isinstance(value, values.Tensor) and (value.type in ("bfloat16", "string") or value.data.dtype.name == value.type)


def _reads(node: Any) -> Iterable[str]:
    """Its inputs, and the names that its bodies use (those of the body itself are not among the known ones)."""
    yield from node.input
    for attribute in node.attribute:
        for body in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
            yield from (output.name for output in body.output)
            for inner in body.node:
                yield from _reads(inner)


def copied(proto: Any) -> Any:
    """A copy of a protobuf message."""
    copy = type(proto)()
    copy.CopyFrom(proto)
    return copy
