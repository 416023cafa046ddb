"""Writes models and inputs into a folder that worker.py runs on any CPU, with no onnx package there.

cases.json: a list of {name, model (file), feeds (graph input -> array in inputs.npz), bfloat16 (graph inputs that hold the
bits of bfloat16), bfloat16_outputs, faces, numpy (null, or {function, arguments (arrays in inputs.npz or null), bfloat16,
attributes})}."""

import json
import re
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper
from onnxruntime_ep_exact.operators import OPERATORS

from .cases import Case

_NAMES = {
    "Abs": "absolute",
    "CumSum": "cumsum",
    "CumProd": "cumprod",
    "MatMul": "matmul",
    "MatMulInteger": "matmul_integer",
    "Max": "maximum",
    "Mean": "mean_of",
    "Min": "minimum",
    "Neg": "negative",
    "PRelu": "prelu",
    "Pow": "power",
    "QLinearConv": "qlinear_conv",
    "QLinearMatMul": "qlinear_matmul",
    "Round": "round_",
    "Sum": "sum_of",
}


def function_name(operator: str) -> str:
    """The NumPy function of an operator."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", operator).lower()
    return _NAMES.get(operator, words)


def attributes_of(case: Case) -> dict[str, Any]:
    """Keyword arguments of the NumPy function."""
    extra: dict[str, Any] = {}
    if case.operator == "Resize" and case.opset < 11:
        extra |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    if case.operator in ("Softmax", "LogSoftmax", "Hardmax") and case.opset < 13:
        extra["flatten"] = True
    if case.operator == "Cast":
        return {"to": helper.tensor_dtype_to_np_dtype(case.attributes["to"]).name}
    if case.operator == "Einsum":  # the equation comes before the operands
        return {}
    if case.operator == "Clip" and case.opset < 11:
        return {"lo": case.attributes["min"], "hi": case.attributes["max"]}
    if case.operator == "MaxPool" and case.outputs > 1:
        extra["return_indices"] = True
    if case.operator == "LayerNormalization" and case.outputs > 1:
        extra["return_statistics"] = True
    if "output_dtype" in case.attributes:  # the name of a type there
        extra["output_dtype"] = helper.tensor_dtype_to_np_dtype(case.attributes["output_dtype"]).name
    return {**case.attributes, **extra}


def arguments_of(case: Case, inputs: list) -> list:
    """Positional arguments of the NumPy function, from something per input."""
    if case.operator == "Resize" and case.opset < 11:  # X and scales
        return [inputs[0], None, inputs[1]]
    return inputs


def typed(value: np.ndarray, dtype: str) -> np.ndarray:
    """With the type bfloat16 where it holds its bits."""
    return value.view(ml_dtypes.bfloat16) if dtype == "bfloat16" else value


def model(case: Case) -> bytes:
    """A model of the node: the first input is the graph's, the others are constant. bfloat16 does not cross ONNX Runtime's
    NumPy border: Casts from and to float32, which are exact, stand beside such a node."""
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(case.inputs)]
    while not names[-1]:  # ONNX Runtime 1.31.1's LayerNormalization crashes on a trailing omitted input
        names.pop()
    outputs = [f"y{i}" for i in range(case.outputs)]
    number = helper.np_dtype_to_tensor_dtype(typed(case.inputs[0], case.types[0]).dtype)
    nodes, results = [helper.make_node(case.operator, names, outputs, name="n", **case.attributes)], list(outputs)
    wide = case.types[0] == "bfloat16"
    if wide:
        nodes.insert(0, helper.make_node("Cast", ["in"], ["x0"], to=number))
    if _casts_output(case):
        results = [f"{name}_wide" for name in outputs]
        pairs = zip(outputs, results, strict=True)
        nodes += [helper.make_node("Cast", [name], [result], to=onnx.TensorProto.FLOAT) for name, result in pairs]
    graph_input = helper.make_tensor_value_info(
        "in" if wide else "x0", onnx.TensorProto.FLOAT if wide else number, case.inputs[0].shape
    )
    constants = [
        numpy_helper.from_array(typed(value, dtype), name)
        for name, value, dtype in list(zip(names, case.inputs, case.types, strict=False))[1:]
        if name
    ]
    values = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph(nodes, "case", [graph_input], values, constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8).SerializeToString()


def _casts_output(case: Case) -> bool:
    """The output is bfloat16."""
    if case.operator == "DequantizeLinear":  # of the type of the scale
        return case.types[1] == "bfloat16" and "output_dtype" not in case.attributes
    return case.types[0] == "bfloat16" and not case.operator.startswith(("Arg", "Cast", "QuantizeLinear"))


def texts_of(case: Case) -> list[str]:
    """What the NumPy face takes before the arrays."""
    return [case.attributes["equation"]] if case.operator == "Einsum" else []


def faces(case: Case) -> list[str]:
    """The sessions' faces that serve the node: the custom-op library overrides an operator from an opset on, never one of
    phantom 0, and leaves some out in older onnxruntime, where the plugin leaves lists of texts (docs/architecture.md)."""
    row = max((row for row in OPERATORS if row.type == case.operator), key=lambda row: row.phantom)
    version = tuple(map(int, onnxruntime.__version__.split(".")[:2]))
    oldest = (1, 25) if case.operator in ("LSTM", "GRU", "RNN") else (1, 18) if row.gaps else (1, 17)
    served = ["plugin"] if version >= (1, 25) or "activations" not in case.attributes else []
    return [*served, "custom_ops"] if case.opset >= row.phantom > 0 and version >= oldest else served


def write(folder: Path, cases: list[Case]) -> None:
    """The bundle of operator cases."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays, entries = {}, []
    for number, case in enumerate(cases):
        keys = [f"{number}/{i}" if value is not None else None for i, value in enumerate(case.inputs)]
        arrays |= {key: value for key, value in zip(keys, case.inputs, strict=True) if key}
        (folder / f"{number}.onnx").write_bytes(model(case))
        wide = case.types[0] == "bfloat16"
        entries.append(
            {
                "name": case.name,
                "model": f"{number}.onnx",
                "feeds": {"in" if wide else "x0": keys[0]},
                "bfloat16": ["in"] if wide else [],
                "bfloat16_outputs": _casts_output(case),
                "faces": faces(case),
                "numpy": {
                    "function": function_name(case.operator),
                    "texts": texts_of(case),
                    "arguments": arguments_of(case, keys),
                    "bfloat16": [key for key, dtype in zip(keys, case.types, strict=True) if dtype == "bfloat16"],
                    "attributes": attributes_of(case),
                },
            }
        )
    np.savez(folder / "inputs.npz", **arrays)
    (folder / "cases.json").write_text(json.dumps(entries), "utf-8")
