"""The five ways to run a case. Each gives a tuple of arrays, or a Failure."""

import functools
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnxruntime
import onnxruntime_ep_exact
import reference
from helpers import as_tuple
from onnxruntime_ep_exact import kernels, measure
from reference.numerics import BFLOAT16

from .cases import cast_outputs, has_casts, model
from .registry import BY_NAME
from .wire import Child, Died, Late


@dataclass(frozen=True)
class Failure:
    """kind: "invalid", "unsupported" (the two kinds of error), "refused" (a session's), "crashed", "late"."""

    kind: str
    reason: str = ""


def _call(module, case, **extra):
    row = BY_NAME[case.operator]
    positional, keywords = row.arguments(case)
    try:
        return as_tuple(getattr(module, row.function)(*positional, **keywords, **extra))[: case.outputs]
    except NotImplementedError as error:
        return Failure("unsupported", str(error))
    except ValueError as error:
        return Failure("invalid", str(error))


def run_reference(case):
    return _call(reference, case)


def run_numpy(case):
    return _call(kernels, case, threads=case.threads)


def in_float64(case, inputs):
    """The reference on other inputs, for the bounds."""
    row = BY_NAME[case.operator]
    positional, keywords = row.arguments(case.with_(inputs=inputs, outputs=1))
    return as_tuple(getattr(reference, row.function)(*positional, **keywords))[0]


def run_face(case, face):
    """Our session. With the plugin no node may go to the CPU provider, unless the model has casts to bfloat16."""
    proto, feeds = model(case)
    options = measure.options(case.threads)
    options.log_severity_level = 4
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if case.optimize else level.ORT_DISABLE_ALL
    if face == "plugin" and not has_casts(case):
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    try:
        outputs = onnxruntime_ep_exact.InferenceSession(proto, options, face=face).run(None, feeds)
    except Exception as error:  # onnxruntime has one exception type per status code
        return Failure("refused", str(error))
    return narrowed(case, outputs)


def narrowed(case, outputs):
    """Tensors that crossed the border as float32, in the type that they have."""
    casts = cast_outputs(case)
    with np.errstate(all="ignore"):
        return tuple(a.astype(BFLOAT16) if i in casts else a for i, a in enumerate(outputs))


class Ort:
    """ONNX Runtime's CPU provider in a child process that is started again when it crashes."""

    def __init__(self, python=None):
        self.command = [python or sys.executable, str(Path(__file__).parent / "ort_child.py")]
        self.child = None

    def ask(self, message):
        if self.child is None:
            self.child = Child(self.command)
            self.child.ask({"about": True})  # onnxruntime takes a while to load
        try:
            return self.child.ask(message, seconds=10.0 if "model" in message else 60.0)
        except (Died, Late):
            self.child = None
            raise

    @functools.cached_property
    def about(self):
        """Version and machine."""
        return self.ask({"about": True})

    def run(self, case):
        proto, feeds = model(case)
        tensors = [(name, a.dtype.name, a.shape, np.ascontiguousarray(a).tobytes()) for name, a in feeds.items()]
        request = {"model": proto, "feeds": tensors, "optimize": case.optimize, "threads": case.threads}
        try:
            try:
                status, answer = self.ask(request)
            except Late:  # the machine may have been busy
                status, answer = self.ask(request)
        except Died as error:
            return Failure("crashed", str(error))
        except Late:
            return Failure("late")
        if status == "refused":
            return Failure("refused", answer)
        return narrowed(case, [np.frombuffer(data, dtype).reshape(shape) for dtype, shape, data in answer])
