"""Networks quantised by onnxruntime.quantization: whole sessions against the references, node by node of the model file.

No rewrite of the graph, thread count, batch size, face or instruction set may change a bit."""

import hashlib
import os

import numpy as np
import onnx
import pytest
import reference
from faces import EP, FACES, NEWEST_OPSET, kernels_created, python, session
from helpers import assert_bits, kernels
from onnx import helper, numpy_helper
from onnxruntime_ep_exact import measure
from onnxruntime_ep_exact.operators import OPERATORS

quantization = pytest.importorskip("onnxruntime.quantization")

QDQ, QOPERATOR = quantization.QuantFormat.QDQ, quantization.QuantFormat.QOperator
UINT8, INT8 = quantization.QuantType.QUInt8, quantization.QuantType.QInt8
OPSET = 13
#: Static forms: quantize_static's arguments. All of the float network's Convs and MatMuls are quantised.
STATIC = {
    "QDQ uint8 int8 per channel": {"quant_format": QDQ, "activation_type": UINT8, "weight_type": INT8, "per_channel": True},
    "QDQ int8": {"quant_format": QDQ, "activation_type": INT8, "weight_type": INT8},
    "operators uint8 int8 per channel": {
        "quant_format": QOPERATOR,
        "activation_type": UINT8,
        "weight_type": INT8,
        "per_channel": True,
    },
    "operators uint8": {"quant_format": QOPERATOR, "activation_type": UINT8, "weight_type": UINT8},
    "operators int8": {"quant_format": QOPERATOR, "activation_type": INT8, "weight_type": INT8},
}
DYNAMIC = {
    "dynamic uint8": {"weight_type": UINT8},
    "dynamic int8": {"weight_type": INT8},
}
FAMILY = (
    "ConvInteger",
    "DynamicQuantizeLinear",
    "MatMulInteger",
    "QLinearConv",
    "QLinearMatMul",
    "QuantizeLinear",
    "DequantizeLinear",
)
#: The quantised operators of a form's model.
WANTED = {
    "QDQ": {"QuantizeLinear", "DequantizeLinear"},
    "operators": {"QuantizeLinear", "DequantizeLinear", "QLinearConv", "QLinearMatMul"},
    "dynamic": {"DynamicQuantizeLinear", "ConvInteger", "MatMulInteger"},
}


def images(count, seed):
    return np.random.default_rng(seed).standard_normal((count, 3, 13, 14)).astype(np.float32)


def network():
    """Dense, depthwise and 1x1 convolutions, a pool and a matrix product; the batch is open."""
    rng = np.random.default_rng(1)
    weights = {
        "w0": rng.standard_normal((9, 3, 3, 3)) / 5,
        "b0": rng.standard_normal(9) / 5,
        "w1": rng.standard_normal((9, 1, 3, 3)) / 3,
        "b1": rng.standard_normal(9) / 5,
        "w2": rng.standard_normal((21, 9, 1, 1)) / 3,
        "b2": rng.standard_normal(21) / 5,
        "w3": rng.standard_normal((21, 10)) / 4,
        "b3": rng.standard_normal(10),
    }
    nodes = [
        helper.make_node("Conv", ["x", "w0", "b0"], ["c0"], "conv0", pads=[1] * 4),
        helper.make_node("Relu", ["c0"], ["r0"], "relu0"),
        helper.make_node("Conv", ["r0", "w1", "b1"], ["c1"], "conv1", group=9, strides=[2, 2], pads=[1] * 4),
        helper.make_node("Relu", ["c1"], ["r1"], "relu1"),
        helper.make_node("Conv", ["r1", "w2", "b2"], ["c2"], "conv2"),
        helper.make_node("GlobalAveragePool", ["c2"], ["p"], "pool"),
        helper.make_node("Flatten", ["p"], ["f"], "flatten"),
        helper.make_node("MatMul", ["f", "w3"], ["m"], "matmul"),
        helper.make_node("Add", ["m", "b3"], ["y"], "add"),
    ]
    graph = helper.make_graph(
        nodes,
        "network",
        [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["N", 3, 13, 14])],
        [helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, ["N", 10])],
        [numpy_helper.from_array(value.astype(np.float32), name) for name, value in weights.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)


class Calibration(quantization.CalibrationDataReader):
    """Eight images."""

    def __init__(self):
        self.left = [{"x": images(1, seed)} for seed in range(8)]

    def get_next(self):
        return self.left.pop() if self.left else None


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """name -> path of the quantised model."""
    folder = tmp_path_factory.mktemp("quantised")
    source = folder / "float.onnx"
    onnx.save(network(), source)
    paths = {}
    for name, arguments in {**STATIC, **DYNAMIC}.items():
        paths[name] = folder / f"{name.replace(' ', '-')}.onnx"
        chosen = {"op_types_to_quantize": ["Conv", "MatMul"], **arguments}
        if name in STATIC:
            quantization.quantize_static(source, paths[name], Calibration(), **chosen)
        else:
            quantization.quantize_dynamic(source, paths[name], **chosen)
    return paths


# ---- the model by the references ----


def batch_of(shape, wanted):
    """Reshape's target with its 0 and -1 filled in."""
    known = [size if size else shape[i] for i, size in enumerate(wanted)]
    return [int(np.prod(shape)) // -int(np.prod(known)) if size == -1 else size for size in known]


PLAIN = {
    "Relu": lambda x: np.maximum(x, np.float32(0)),
    "Add": np.add,
    "Mul": np.multiply,
    "Flatten": lambda x, axis=1: x.reshape(int(np.prod(x.shape[:axis])), -1),
    "Reshape": lambda x, shape: x.reshape(batch_of(x.shape, shape)),
    "Cast": lambda x, to: x.astype(helper.tensor_dtype_to_np_dtype(to)),
    "Identity": lambda x: x,
    "Conv": reference.conv,
    "MatMul": reference.matmul,
    "GlobalAveragePool": reference.global_average_pool,
    "QuantizeLinear": reference.quantize_linear,
    "DequantizeLinear": reference.dequantize_linear,
    "DynamicQuantizeLinear": reference.dynamic_quantize_linear,
    "MatMulInteger": reference.matmul_integer,
    "QLinearMatMul": reference.qlinear_matmul,
    "ConvInteger": reference.conv_integer,
    "QLinearConv": reference.qlinear_conv,
}


def by_references(model, x):
    """The output of the model, every node by itself, in the order of the file."""
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    values |= {"x": x, "": None}
    for one in model.graph.node:
        assert one.domain in ("", "ai.onnx"), f"{one.op_type} of {one.domain}"
        attributes = {a.name: helper.get_attribute_value(a) for a in one.attribute}
        attributes = {k: v.decode() if isinstance(v, bytes) else v for k, v in attributes.items()}
        results = PLAIN[one.op_type](*(values[name] for name in one.input), **attributes)
        results = results if isinstance(results, tuple) else (results,)
        values |= dict(zip(one.output, results, strict=True))
    return values[model.graph.output[0].name]


# ---- sessions ----

NAMES = [*STATIC, *DYNAMIC]


@pytest.mark.parametrize("name", NAMES)
def test_model(name, models):
    """Both faces, with and without the optimizer, at 1, 2 and 7 threads, batches of 1 and 8."""
    model = onnx.load(models[name])
    assert WANTED[name.split(" ")[0]] <= {one.op_type for one in model.graph.node}
    import onnxruntime

    levels = onnxruntime.GraphOptimizationLevel
    feeds = [images(8, 99), images(1, 98)]
    wanted = [by_references(model, x) for x in feeds]
    for face in FACES:
        for threads in (1, 2, 7):
            for level in (levels.ORT_ENABLE_ALL, levels.ORT_DISABLE_ALL):
                options = measure.options(threads)
                options.graph_optimization_level = level
                run = session(str(models[name]), face, options)
                for x, want in zip(feeds, wanted, strict=True):
                    assert_bits(run.run(None, {"x": x})[0], want, f"{name} {face} {threads} threads {level}")


@pytest.mark.parametrize("name", STATIC)
def test_rows_do_not_depend_on_the_batch(name, models):
    """Of the static forms: the dynamic ones look at the whole batch for their scales."""
    x = images(8, 97)
    for face in FACES:
        run = session(str(models[name]), face, measure.options(2))
        (whole,) = run.run(None, {"x": x})
        for row in range(8):
            assert_bits(run.run(None, {"x": x[row : row + 1]})[0], whole[row : row + 1], f"{name} {face} row {row}")


@pytest.mark.parametrize("name", NAMES)
def test_every_quantised_node_is_ours(name, models):
    model = onnx.load(models[name])
    ours = WANTED[name.split(" ")[0]] | {"Conv", "MatMul", "GlobalAveragePool"}
    placed = measure.placement(str(models[name]), {"x": images(1, 96)}, "plugin")
    ran = [(operator, provider) for _, operator, provider in placed if operator in ours]
    count = sum(one.op_type in ours for one in model.graph.node if not is_constant(model, one))
    assert {provider for _, provider in ran} == {EP}
    assert len(ran) >= count, f"{len(ran)} nodes ran, of {count}"


@pytest.mark.parametrize("name", NAMES)
def test_quantised_nodes_of_the_custom_ops(name, models):
    """Those that are declared there have kernels of ours, under their names."""
    declared = {row.type for row in OPERATORS if row.phantom}
    model = onnx.load(models[name])
    names = {one.name for one in model.graph.node if one.op_type in declared & set(FAMILY) and not is_constant(model, one)}
    assert names <= set(kernels_created(models[name], "custom_ops"))


def is_constant(model, one):
    """A node that folding may compute in advance: all its inputs are initializers."""
    constants = {tensor.name for tensor in model.graph.initializer}
    return all(name in constants for name in one.input if name)


@pytest.mark.parametrize("name", ["QDQ uint8 int8 per channel", "operators uint8 int8 per channel", "dynamic int8"])
def test_instruction_sets(name, models):
    """Sessions in processes of their own, one per variant."""
    code = f"""
        import hashlib
        import sys
        import numpy as np
        from onnxruntime_ep_exact import InferenceSession, measure
        x = np.random.default_rng(95).standard_normal((3, 3, 13, 14)).astype(np.float32)
        for face in measure.faces():
            y = InferenceSession({str(models[name])!r}, measure.options(2), face=face).run(None, {{"x": x}})[0]
            print(hashlib.sha256(y.tobytes()).hexdigest())
    """
    want = hashlib.sha256(by_references(onnx.load(models[name]), images(3, 95)).tobytes()).hexdigest()
    for variant in kernels.isa_names():
        lines = python(code, env={**os.environ, "EXACT_ISA": variant}).stdout.split()
        assert lines == [want] * len(FACES), f"{name} on {variant}"


@pytest.mark.skipif(NEWEST_OPSET < 21, reason="opset 21 is the first with 16-bit QuantizeLinear")
def test_sixteen_bits(tmp_path):
    """Activations of 16 bits; the nodes of the standard domain."""
    source, target = tmp_path / "float.onnx", tmp_path / "wide.onnx"
    model = network()
    model.opset_import[0].version = 21
    model.ir_version = 10
    onnx.save(model, source)
    arguments = {"quant_format": QDQ, "activation_type": quantization.QuantType.QUInt16, "weight_type": INT8}
    quantization.quantize_static(source, target, Calibration(), op_types_to_quantize=["Conv", "MatMul"], **arguments)
    model = onnx.load(target)
    assert any(one.op_type == "QuantizeLinear" for one in model.graph.node)
    x = images(2, 94)
    for face in FACES:
        assert_bits(session(str(target), face, measure.options(2)).run(None, {"x": x})[0], by_references(model, x), face)
