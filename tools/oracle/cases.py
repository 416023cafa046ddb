"""A case: one node and its inputs; as JSON, as a model, as arguments of the functions."""

import base64
import hashlib
import json
from dataclasses import dataclass, field, replace

import numpy as np
import onnx
from helpers import TYPE_NAMES
from onnx import helper, numpy_helper

#: The newest opset that is drawn: onnxruntime 1.31.1's.
NEWEST = 26
#: Operators whose shape inference (onnx's) takes an unknown dimension of a parameter for 0.
KNOWN_PARAMETERS = ("Resize", "Upsample")


@dataclass
class Case:
    """One node. form: every input but the first a constant ("constants"), graph inputs of known ("inputs") or of unknown
    dimensions ("dynamic")."""

    id: str
    operator: str
    opset: int
    inputs: list
    attributes: dict = field(default_factory=dict)
    outputs: int = 1
    form: str = "inputs"
    optimize: bool = True
    threads: int = 1

    @property
    def x(self):
        return self.inputs[0]

    def get(self, name, default=None):
        """An attribute."""
        return self.attributes.get(name, default)

    def has_nan(self):
        return any(a is not None and a.dtype.name in TYPE_NAMES and np.isnan(a).any() for a in self.inputs)

    def digest(self):
        """Of everything that the case is; a recording holds it."""
        return hashlib.sha256(json.dumps(to_json(self), sort_keys=True).encode()).hexdigest()[:16]

    def with_(self, **changes):
        return replace(self, **changes)


def tensor_to_json(array):
    array = np.asarray(array)
    return [array.dtype.name, list(array.shape), base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()]


def tensor_from_json(value):
    name, shape, data = value
    return np.frombuffer(base64.b64decode(data), TYPE_NAMES.get(name, name)).reshape(shape)


def to_json(case):
    """The case with every bit of its inputs."""
    values = dict(vars(case))
    values["inputs"] = [None if a is None else tensor_to_json(a) for a in case.inputs]
    return values


def from_json(values):
    inputs = [None if a is None else tensor_from_json(a) for a in values["inputs"]]
    return Case(**{**values, "inputs": inputs})


def describe(case):
    """The case for people: types and shapes instead of values, unless they are few."""
    inputs = []
    for array in case.inputs:
        if array is None:
            inputs.append(None)
            continue
        text = f"{array.dtype.name}{list(array.shape)}"
        inputs.append(f"{text} {array.tolist()}" if array.size <= 8 else text)
    return {**{k: v for k, v in vars(case).items() if k != "inputs"}, "inputs": inputs}


def model(case):
    """(serialized model, feeds). NumPy has no bfloat16, so such tensors cross the border as float32, through Cast nodes."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(case.inputs)]
    infos, constants, feeds, before, after = [], [], {}, [], []
    for index, (name, array) in enumerate(zip(names, case.inputs, strict=True)):
        if array is None:
            continue
        if case.form == "constants" and index:
            constants.append(numpy_helper.from_array(array, name))
            continue
        fed = name
        if array.dtype.name == "bfloat16":
            fed, array = f"{name}_float", array.astype(np.float32)
            before.append(helper.make_node("Cast", [fed], [name], to=onnx.TensorProto.BFLOAT16))
        unknown = case.form == "dynamic" and (index == 0 or case.operator not in KNOWN_PARAMETERS)
        shape = [f"{name}_{i}" for i in range(array.ndim)] if unknown else array.shape
        infos.append(helper.make_tensor_value_info(fed, helper.np_dtype_to_tensor_dtype(array.dtype), shape))
        feeds[fed] = array
    results = [f"y{i}" for i in range(case.outputs)]
    node = helper.make_node(case.operator, names, results, name="n", **case.attributes)
    for index in cast_outputs(case):
        after.append(helper.make_node("Cast", [results[index]], [f"{results[index]}_float"], to=onnx.TensorProto.FLOAT))
        results[index] += "_float"
    outputs = [onnx.ValueInfoProto(name=name) for name in results]
    graph = helper.make_graph([*before, node, *after], "case", infos, outputs, constants)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", case.opset)], ir_version=8)
    return proto.SerializeToString(), feeds


def cast_outputs(case):
    """Indices of the outputs of the type bfloat16: of the type of an input, or of the attribute output_dtype."""
    schema = onnx.defs.get_schema(case.operator, case.opset)
    bound = {one.type_str: a.dtype.name for one, a in zip(schema.inputs, case.inputs, strict=False) if a is not None}
    if case.operator == "DequantizeLinear":
        number = case.get("output_dtype")
        bound["T3"] = helper.tensor_dtype_to_np_dtype(number).name if number else case.inputs[1].dtype.name
    return [i for i in range(case.outputs) if bound.get(schema.outputs[i].type_str) == "bfloat16"]


def has_casts(case):
    return bool(cast_outputs(case)) or any(a is not None and a.dtype.name == "bfloat16" for a in case.inputs)
