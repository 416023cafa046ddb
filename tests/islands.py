"""Every node of ours in a network as an island: one model without edges between the nodes, fed with what reached each node
inside the network. So the bits of a node can be compared wherever in the network it stands, whatever computed its inputs."""

import numpy as np
import onnx
import onnxruntime as ort
from onnxruntime_ep_exact import measure

#: Nodes that make weights. (ConstantOfShape of a computed shape would not load as an island.)
CONSTANTS = ("Constant", "ConstantOfShape")


def islands(path, data, batch, types, folder):
    """[(model path, {batch: feeds})]: the nodes that keep the batch axis, with `batch` rows and with the first row alone;
    and the other nodes. `data` are inputs of the network with `batch` rows."""
    model = onnx.load(path)
    nodes = [n for n in model.graph.node if n.op_type in types and n.domain in ("", "ai.onnx")]
    fixed = {i.name for i in model.graph.initializer} | {n.output[0] for n in model.graph.node if n.op_type in CONSTANTS}
    fed = capture(path, data, sorted({i for n in nodes for i in n.input if i} - fixed))
    made = capture(path, data, sorted({o for n in nodes for o in n.output if o}))
    keeps = [n for n in nodes if all(t.shape[:1] == (batch,) for t in [fed.get(n.input[0]), *(made[o] for o in n.output if o)])]
    rows = {n.input[0] for n in keeps}
    keeps = [n for n in keeps if not rows & set(n.input[1:])]
    parts = []
    for number, part in enumerate((keeps, [n for n in nodes if n not in keeps])):
        if part:
            used = {i for n in part for i in n.input}
            whole = {name: value for name, value in fed.items() if name in used}
            feeds = {1: whole}
            if part is keeps:
                feeds = {batch: whole, 1: {k: v[:1] if k in rows else v for k, v in whole.items()}}
            target = f"{folder}/islands{number}.onnx"
            save(model, part, whole, target)
            parts.append((target, {b: {f"fed/{k}": v for k, v in f.items()} for b, f in feeds.items()}))
    return parts


def capture(path, data, names):
    """The values of these names in a run on the CPU provider with nothing optimized away."""
    model = onnx.load(path)
    given = {i.name for i in model.graph.input}
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in names if name not in given)
    options = measure.options(2)
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options, providers=[measure.CPU])
    values = dict(zip((o.name for o in session.get_outputs()), session.run(None, data), strict=True))
    return values | {name: np.asarray(data[name]) for name in names if name in given}


def save(model, nodes, fed, target):
    """The nodes alone, with their weights; `fed` become inputs."""
    used = {i for n in nodes for i in n.input}
    parts = []
    for node in nodes:
        part = onnx.NodeProto()
        part.CopyFrom(node)
        del part.input[:]
        part.input.extend(f"fed/{i}" if i in fed else i for i in node.input)
        parts.append(part)
    inputs = [
        onnx.helper.make_tensor_value_info(f"fed/{k}", onnx.helper.np_dtype_to_tensor_dtype(v.dtype), [None] * v.ndim)
        for k, v in fed.items()
    ]
    constants = [n for n in model.graph.node if n.op_type in CONSTANTS and n.output[0] in used]
    used |= {i for n in constants for i in n.input}
    outputs = [onnx.ValueInfoProto(name=o) for n in nodes for o in n.output if o]
    weights = [i for i in model.graph.initializer if i.name in used]
    graph = onnx.helper.make_graph(constants + parts, "islands", inputs, outputs, weights)
    onnx.save(onnx.helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version), target)
