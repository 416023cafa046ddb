"""Constants of a model, and the small arithmetic on shapes that exporters leave in it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.reference import ReferenceEvaluator

_SHAPE_ARITHMETIC = """Add Cast Ceil Concat Div Equal Floor Gather Identity Max Min Mul Neg Reshape Round Slice Squeeze Sub
Transpose Unsqueeze Where"""
_FOLDED = set(_SHAPE_ARITHMETIC.split())
_MOST = 1024


class Values:
    """Arrays by name, for as far as they are known without running the model."""

    def __init__(self, graph: Any, opset: int) -> None:
        self._tensors = {t.name: t for t in graph.initializer}
        self._known: dict[str, np.ndarray] = {}
        self._opset = opset

    def get(self, name: str) -> np.ndarray | None:
        """The array, or None."""
        if name not in self._known and name in self._tensors:
            tensor = self._tensors[name]
            if tensor.data_location != onnx.TensorProto.EXTERNAL:
                self._known[name] = numpy_helper.to_array(tensor)
        return self._known.get(name)

    def small(self, name: str) -> Any:
        """The array as a tensor of the model, when it has few elements; None: not known, or larger."""
        if name in self._tensors and math.prod(self._tensors[name].dims) > _MOST:
            return None
        array = self.get(name)
        return None if array is None or array.size > _MOST else numpy_helper.from_array(array, name)

    def put(self, name: str, array: np.ndarray) -> None:
        self._known[name] = array

    def fold(self, node: Any) -> None:
        """Computes a node on shapes: known inputs, few elements."""
        if node.domain not in ("", "ai.onnx"):
            return
        if node.op_type == "Constant":
            self._constant(node)
            return
        if node.op_type not in _FOLDED:
            return
        feeds = {}
        for name in node.input:
            value = self.get(name) if name else None
            if name and (value is None or value.size > _MOST):
                return
            if value is not None:
                feeds[name] = value
        infos = [
            onnx.helper.make_tensor_value_info(n, onnx.helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
            for n, v in feeds.items()
        ]
        model = onnx.helper.make_model(
            onnx.helper.make_graph(
                [node],
                "shapes",
                infos,
                [onnx.ValueInfoProto(name=n) for n in node.output],
            ),
            opset_imports=[onnx.helper.make_opsetid("", self._opset)],
        )
        try:
            results = ReferenceEvaluator(model).run(None, feeds)
        except Exception:  # a node that no runtime could run: its result is not known
            return
        for name, result in zip(node.output, results, strict=False):
            if isinstance(result, np.ndarray | np.generic):
                self.put(name, np.asarray(result))

    def _constant(self, node: Any) -> None:
        for attribute in node.attribute:
            if attribute.name == "value" and attribute.t.data_location != onnx.TensorProto.EXTERNAL:
                self._tensors[node.output[0]] = attribute.t
            elif attribute.name in ("value_int", "value_ints"):
                self.put(node.output[0], np.array(onnx.helper.get_attribute_value(attribute), np.int64))
            elif attribute.name in ("value_float", "value_floats"):
                self.put(node.output[0], np.array(onnx.helper.get_attribute_value(attribute), np.float32))
