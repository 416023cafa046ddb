"""ONNX Runtime's CPU provider in a process of its own, run by any interpreter that has onnxruntime and NumPy.

Tensors cross as (type name, shape, bytes)."""

import platform

import numpy as np
import onnxruntime
import wire


def handle(request):
    """{"about"} -> versions; {"model", "feeds", "optimize", "threads"} -> ("value", tensors) or ("refused", reason)."""
    if "about" in request:
        return {"onnxruntime": onnxruntime.__version__, "machine": platform.machine(), "processor": processor()}
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = request["threads"]
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if request["optimize"] else level.ORT_DISABLE_ALL
    feeds = {name: np.frombuffer(data, dtype).reshape(shape) for name, dtype, shape, data in request["feeds"]}
    try:
        session = onnxruntime.InferenceSession(request["model"], options, providers=["CPUExecutionProvider"])
        outputs = session.run(None, feeds)
    except Exception as error:  # onnxruntime has one exception type per status code
        return "refused", str(error)
    return "value", [(a.dtype.name, a.shape, np.ascontiguousarray(a).tobytes()) for a in outputs]


def processor():
    """The CPU's name, where Linux tells it."""
    try:
        with open("/proc/cpuinfo") as lines:
            return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        return ""


if __name__ == "__main__":
    wire.serve(handle)
