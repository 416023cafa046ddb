"""One-node models, and ONNX Runtime's CPU provider run on them."""

import numpy as np
import onnx
import onnxruntime
from onnx import helper


def type_number(array):
    return helper.np_dtype_to_tensor_dtype(np.asarray(array).dtype)


def model(operator, inputs, attributes, opset, outputs=1):
    """A model of one node with every input as a graph input; None in `inputs` is an omitted one."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    given = [(n, a) for n, a in zip(names, inputs, strict=True) if a is not None]
    graph_inputs = [helper.make_tensor_value_info(n, type_number(a), a.shape) for n, a in given]
    graph_outputs = [onnx.ValueInfoProto(name=f"y{i}") for i in range(outputs)]
    node = helper.make_node(operator, names, [o.name for o in graph_outputs], **attributes)
    graph = helper.make_graph([node], operator, graph_inputs, graph_outputs)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def feeds(inputs):
    return {f"x{i}": array for i, array in enumerate(inputs) if array is not None}


def run_cpu(operator, inputs, attributes, opset=13, outputs=1):
    """Outputs of ONNX Runtime's CPU provider, or None where it refuses the node."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    proto = model(operator, inputs, attributes, opset, outputs)
    try:
        session = onnxruntime.InferenceSession(proto.SerializeToString(), options, providers=["CPUExecutionProvider"])
        return session.run(None, feeds(inputs))
    except Exception:  # ONNX Runtime's own exception types, one per status code
        return None
