"""Sessions on both faces, and what ONNX Runtime itself says about who ran a node."""

import subprocess
import sys
import textwrap

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper
from onnxruntime_ep_exact import InferenceSession, get_ep_name, measure

FACES = measure.faces()
EP = get_ep_name()
VERSION = tuple(int(part) for part in ort.__version__.split(".")[:2])
#: The newest opset of the onnx package and of this onnxruntime (1.17: 20, 1.18 to 1.20: 21, ...; from 1.25 on 26).
NEWEST_OPSET = min(
    onnx.defs.onnx_opset_version(),
    next(opset for version, opset in ((25, 26), (24, 24), (23, 23), (21, 22), (18, 21), (0, 20)) if VERSION[1] >= version),
)


def graph(nodes, inputs, weights=None, outputs=("y",), opset=17):
    """A serialized model. inputs: name -> (dtype, shape); weights: name -> array, constant."""
    values = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), shape)
        for name, (dtype, shape) in inputs.items()
    ]
    proto = helper.make_model(
        helper.make_graph(
            nodes,
            "test",
            values,
            [onnx.ValueInfoProto(name=name) for name in outputs],
            [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()],
        ),
        opset_imports=[helper.make_opsetid("", opset)],
        ir_version=8,
    )
    return proto.SerializeToString()


def node(op, inputs, outputs=("y",), name="n", **attributes):
    return helper.make_node(op, list(inputs), list(outputs), name=name, **attributes)


def session(model, face, so=None, **kwargs):
    return InferenceSession(model, so or measure.options(1), face=face, **kwargs)


def run(model, face, feeds, so=None, **kwargs):
    return session(model, face, so, **kwargs).run(None, feeds)


def cpu(model, feeds, so=None):
    return ort.InferenceSession(model, so, providers=["CPUExecutionProvider"]).run(None, feeds)


def kernels_created(path, face):
    """Names of the nodes for which ONNX Runtime created a kernel of ours, from its log (in a process of its own)."""
    done = python(
        f"""
        import onnxruntime as ort
        from onnxruntime_ep_exact import InferenceSession, measure
        so = measure.options(1)
        so.log_severity_level = 1
        InferenceSession({str(path)!r}, so, face={face!r})
        """
    )
    marker = f"{EP}: "
    lines = [line.split(marker, 1)[1] for line in done.stderr.splitlines() if marker in line and " runs the " in line]
    return [line.split("'")[1] for line in lines]


def python(code, check=True, env=None):
    """Runs Python code in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, env=env, timeout=300, check=False
    )
    if check:
        assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def profile_ops(model, face, feeds):
    """Operators that ran, from ONNX Runtime's profile."""
    return [op for _, op, _ in measure.placement(model, feeds, face)]
