"""The two faces: which nodes run our kernels, on every opset and type, with the bits of the NumPy face."""

import itertools

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import pytest
import reference
from faces import EP, FACES, NEWEST_OPSET, VERSION, cpu, graph, kernels_created, node, profile_ops, run, session
from helpers import assert_bits, data, kernels
from onnxruntime_ep_exact import REWRITES, get_library_path, measure, session_options
from onnxruntime_ep_exact.operators import OPERATORS
from onnxruntime_ep_exact.rewrites import CONFIG_KEY

RNG = np.random.default_rng(7)
C = 6


def case(op, dtype=np.float32, opset=17):
    """(feeds, constant inputs, attributes, the NumPy face's outputs)"""
    if op in QUANTIZED:
        return quantized(op, opset)
    if op in SECOND_GROUP:
        return second_group(op, data(RNG, (2, C, 9, 11), dtype), opset)
    if op in ONE_INPUT:
        return one_input(op, data(RNG, (2, C, 9, 11), dtype, "special"), opset)
    if op in SEVERAL_INPUTS:
        return several_inputs(op, data(RNG, (2, C, 9, 11), dtype))
    x = data(RNG, (2, C, 9, 11), dtype)
    w, b = data(RNG, (4, C, 3, 3), dtype), data(RNG, (4,), dtype)
    up = data(RNG, (C, 4, 3, 2), dtype)
    matrix, row = data(RNG, (11, 5), dtype), data(RNG, (5,), dtype)
    window = {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 0, 1]}
    statistics = [data(RNG, (C,), dtype) for _ in range(3)] + [np.abs(data(RNG, (C,), dtype))]
    match op:
        case "Conv":
            return x, [w, b], {"pads": [1, 1, 0, 2]}, kernels.conv(x, w, b, pads=[1, 1, 0, 2])
        case "ConvTranspose":
            return x, [up, b], {"strides": [2, 2]}, kernels.conv_transpose(x, up, b, strides=[2, 2])
        case "MatMul":
            return x, [matrix], {}, kernels.matmul(x, matrix)
        case "Gemm":
            scales = {"alpha": 0.3, "beta": 1.7}
            return x[0, 0], [matrix, row], scales, kernels.gemm(x[0, 0], matrix, row, **scales)
        case "MaxPool":
            return x, [], window, kernels.max_pool(x, **window)
        case "AveragePool":
            return x, [], window, kernels.average_pool(x, **window)
        case "GlobalMaxPool":
            return x, [], {}, kernels.global_max_pool(x)
        case "GlobalAveragePool":
            return x, [], {}, kernels.global_average_pool(x)
        case "BatchNormalization":
            return x, statistics, {"epsilon": 0.01}, kernels.batch_normalization(x, *statistics, epsilon=0.01)
        case "LpPool":
            return x, [], {**window, "p": 3}, kernels.lp_pool(x, p=3, **window)
        case "GlobalLpPool":
            return x, [], {}, kernels.global_lp_pool(x)
        case "MaxUnpool":
            places = [RNG.permutation(2 * C * 200)[: x.size].reshape(x.shape), np.array([2, C, 10, 20])]
            return x, places, window, kernels.max_unpool(x, *places, **window)
        case "LRN":
            return x, [], {"size": 4, "alpha": 0.5}, kernels.lrn(x, size=4, alpha=0.5)
        case "LpNormalization":
            return x, [], {"axis": 1, "p": 1}, kernels.lp_normalization(x, axis=1, p=1)
        case "MeanVarianceNormalization":
            return x, [], {"axes": [1, 3]}, kernels.mean_variance_normalization(x, axes=[1, 3])
        case "LSTM" | "GRU" | "RNN":
            x = x.reshape(9, 11, 2 * C)
            g = {"LSTM": 4, "GRU": 3, "RNN": 1}[op]
            weights = [data(RNG, shape, dtype) for shape in ((2, g * 5, 2 * C), (2, g * 5, 5), (2, 2 * g * 5))]
            form = {"hidden_size": 5, "direction": "bidirectional", "clip": 2.5}
            return x, weights, form, getattr(kernels, op.lower())(x, *weights, **form)[0]
        case "Attention":
            others = [data(RNG, shape, dtype) for shape in ((2, 3, 7, 11), (2, 3, 7, 5), (9, 7))]
            form = {"is_causal": 1, "scale": 0.3, **({} if dtype == np.float64 else {"softcap": 2.5})}
            return x, others, form, kernels.attention(x, *others, **form)[0]
        case "Einsum":
            form = {"equation": "nchw,wk,k->nkhc"}
            return x, [matrix, row], form, kernels.einsum(form["equation"], x, matrix, row)
    raise AssertionError(op)


SECOND_GROUP = {
    **{f"Reduce{name.title().replace('_', '')}": f"reduce_{name}" for name in reference.reduce.KINDS},
    "ArgMax": "arg_max",
    "ArgMin": "arg_min",
    "CumProd": "cumprod",
    "CumSum": "cumsum",
    "GroupNormalization": "group_normalization",
    "Hardmax": "hardmax",
    "InstanceNormalization": "instance_normalization",
    "LayerNormalization": "layer_normalization",
    "LogSoftmax": "log_softmax",
    "RMSNormalization": "rms_normalization",
    "Resize": "resize",
    "Softmax": "softmax",
    "Upsample": "upsample",
}


#: operator -> (function, attributes)
ONE_INPUT = {
    "Abs": ("absolute", {}),
    "Neg": ("negative", {}),
    "Round": ("round_", {}),
    "LeakyRelu": ("leaky_relu", {"alpha": 0.3}),
    "ThresholdedRelu": ("thresholded_relu", {"alpha": -0.5}),
    "HardSigmoid": ("hard_sigmoid", {"alpha": 0.7, "beta": -0.25}),
    "HardSwish": ("hard_swish", {}),
    "Selu": ("selu", {"alpha": 1.3, "gamma": 0.7}),
    "Gelu": ("gelu", {"approximate": "tanh"}),
    "Clip": ("clip", {}),
    "Cast": ("cast", {"to": onnx.TensorProto.INT16}),
    **{op: (op.lower(), {"alpha": 1.7}) for op in ("Elu", "Celu", "Swish")},
    **{op: (op.lower(), {}) for op in ("Relu", "Floor", "Ceil", "Sign", "Sqrt", "Reciprocal", "Softsign", "Exp", "Log")},
    **{op: (op.lower(), {}) for op in ("Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Mish")},
}
#: docs/unary.md: float64 is left to ONNX Runtime.
NO_DOUBLE = ("Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Gelu", "Mish", "Swish")


def one_input(op, x, opset):
    """The same for the operators of one input, Clip and Cast."""
    name, attributes = ONE_INPUT[op]
    function = getattr(kernels, name)
    if op == "Cast":
        return x, [], attributes, function(x, np.int16)
    if op == "Clip" and opset < 11:
        return x, [], {"min": -0.5, "max": 1.25}, function(x, -0.5, 1.25)
    if op == "Clip":
        limits = [np.array(-0.5, x.dtype), np.array([1.25], x.dtype)]
        return x, limits, {}, function(x, *limits)
    return x, [], attributes, function(x, **attributes)


SEVERAL_INPUTS = {
    "Add": "add",
    "Div": "div",
    "Max": "maximum",
    "Mean": "mean_of",
    "Min": "minimum",
    "Mul": "mul",
    "PRelu": "prelu",
    "Pow": "power",
    "Sub": "sub",
    "Sum": "sum_of",
}


def several_inputs(op, x):
    """The same for the elementwise operators of several inputs."""
    others = [data(RNG, (C, 1, 1), x.dtype)]
    if op in ("Max", "Min", "Sum", "Mean"):
        others += [data(RNG, shape, x.dtype) for shape in ((11,), x.shape, (1, 1), (9, 1))] * 2  # nine inputs in all
    if op == "Pow":
        others = [np.full((1, 1), 3, x.dtype)]
    return x, others, {}, getattr(kernels, SEVERAL_INPUTS[op])(x, *others)


ENLARGE = np.array([1, 1, 2, 1.7], np.float32)


def second_group(op, x, opset):
    """The same for the operators whose inputs, attributes or meaning depend on the opset."""
    function = getattr(kernels, SECOND_GROUP[op])
    channel, last = data(RNG, (C,), x.dtype), data(RNG, x.shape[-1:], x.dtype)
    if op.startswith("Reduce"):
        if opset < (13 if op == "ReduceSum" else 18):
            return x, [], {"axes": [1, 3], "keepdims": 0}, function(x, [1, 3], keepdims=0)
        return x, [np.array([1, -1])], {"keepdims": 0}, function(x, [1, 3], keepdims=0)
    match op:
        case "Softmax" | "LogSoftmax" | "Hardmax":
            return x, [], {"axis": 2}, function(x, axis=2, flatten=opset < 13)
        case "ArgMax" | "ArgMin":
            return x, [], {"axis": 2, "keepdims": 0}, function(x, axis=2, keepdims=0)
        case "CumSum" | "CumProd":
            return x, [np.array(1)], {"reverse": 1}, function(x, 1, reverse=1)
        case "Resize" if opset == 10:
            old = {"mode": "linear", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
            return x, [ENLARGE], {"mode": "linear"}, function(x, scales=ENLARGE, **old)
        case "Resize":
            roi = np.array([], np.float32)  # required in opset 11
            return x, [roi, ENLARGE], {"mode": "cubic"}, function(x, roi, ENLARGE, mode="cubic")
        case "Upsample" if opset < 9:
            return x, [], {"mode": "linear", "scales": ENLARGE.tolist()}, function(x, ENLARGE, mode="linear")
        case "Upsample":
            return x, [ENLARGE], {"mode": "linear"}, function(x, ENLARGE, mode="linear")
        case "LayerNormalization":
            return x, [last, last], {"epsilon": 0.01}, function(x, last, last, epsilon=0.01)
        case "RMSNormalization":
            return x, [last], {"axis": 3}, function(x, last)
        case "InstanceNormalization":
            return x, [channel, channel], {}, function(x, channel, channel)
        case "GroupNormalization":
            channel = channel if opset >= 21 else channel[:3]
            return x, [channel, channel], {"num_groups": 3}, function(x, channel, channel, num_groups=3)
    raise AssertionError(op)


#: Operators whose first input has a type of its own, whatever type a test asks for.
QUANTIZED = {
    "ConvInteger": "conv_integer",
    "DequantizeLinear": "dequantize_linear",
    "DynamicQuantizeLinear": "dynamic_quantize_linear",
    "MatMulInteger": "matmul_integer",
    "QLinearConv": "qlinear_conv",
    "QLinearMatMul": "qlinear_matmul",
    "QuantizeLinear": "quantize_linear",
}


def quantized(op, opset):
    """The same for the quantised operators."""
    function = getattr(kernels, QUANTIZED[op])
    x, q = data(RNG, (2, C, 9, 11), np.float32), data(RNG, (2, C, 9, 11), np.uint8)
    scale, zero = np.array(0.03, np.float32), np.array(117, np.uint8)
    axis = np.abs(data(RNG, (C,), np.float32)) + np.float32(0.1), data(RNG, (C,), np.uint8)
    y_scale, y_zero = np.array(2.5, np.float32), np.array(9, np.uint8)
    match op:
        case "QuantizeLinear" | "DequantizeLinear":
            first = x if op == "QuantizeLinear" else q
            constants = axis if opset >= 13 else (scale, zero)
            return first, constants, {}, function(first, *constants)
        case "DynamicQuantizeLinear":
            return x, [], {}, function(x)[0]
        case "MatMulInteger" | "QLinearMatMul":
            matrix, columns = data(RNG, (11, 5), np.int8), data(RNG, (5,), np.int8)
            constants = [matrix, zero, columns]
            if op == "QLinearMatMul":
                constants = [scale, zero, matrix, np.full(5, 0.07, np.float32), columns, y_scale, y_zero]
            return q, constants, {}, function(q, *constants)
    w, channels = data(RNG, (4, C, 3, 3), np.int8), data(RNG, (4,), np.int8)
    constants = [w, zero, channels]
    if op == "QLinearConv":
        scales = np.full(4, 0.07, np.float32), data(RNG, (4,), np.int32) // 40000
        constants = [scale, zero, w, scales[0], channels, y_scale, y_zero, scales[1]]
    return q, constants, {"pads": [1, 1, 0, 2]}, function(q, *constants, pads=[1, 1, 0, 2])


def oldest(op):
    """The first opset of an operator; 1000 when this onnx package is too old to know it."""
    schemas = onnx.defs.get_all_schemas_with_history()
    return min((s.since_version for s in schemas if s.name == op and s.domain == ""), default=1000)


def newest(op):
    """The last opset of an operator."""
    schemas = onnx.defs.get_all_schemas_with_history()
    gone = (s.since_version for s in schemas if s.name == op and s.domain == "" and s.deprecated)
    return min(gone, default=NEWEST_OPSET + 1) - 1


def opset_near(op, opset):
    """The opset, or the nearest one that has the operator."""
    return max(min(opset, newest(op)), oldest(op))


#: Operators with a list of texts among their attributes.
WITH_TEXTS = ("LSTM", "GRU", "RNN")


def declared(face, op):
    """docs/architecture.md: the custom-op library leaves out operators of phantom 0 and, in older onnxruntime, some others."""
    row = max((row for row in OPERATORS if row.type == op), key=lambda row: row.phantom)
    oldest = (1, 25) if op in WITH_TEXTS else (1, 18) if row.gaps else (1, 17)
    return face == "plugin" or (row.phantom > 0 and oldest <= VERSION)


def served(face, op, opset):
    """Does ONNX have the operator in this opset, and does the face serve it there?"""
    phantom = min(row.phantom for row in OPERATORS if row.type == op)
    return oldest(op) <= opset <= newest(op) and declared(face, op) and (face == "plugin" or opset >= phantom)


def model(op, x, constants, attributes, opset):
    weights = {f"w{i}": array for i, array in enumerate(constants)}
    outputs = ("y", "scale", "zero") if op == "DynamicQuantizeLinear" else ("y",)
    return graph([node(op, ["x", *weights], outputs, **attributes)], {"x": (x.dtype, x.shape)}, weights, opset=opset)


OPS = sorted({row.type for row in OPERATORS})
#: The custom-op library leaves operators of phantom 0 to ONNX Runtime.
FACED = [(face, op) for face in FACES for op in OPS if face == "plugin" or any(r.phantom for r in OPERATORS if r.type == op)]
OPSETS = sorted({n for n in (7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 18, 19, 21, 22) if n < NEWEST_OPSET} | {NEWEST_OPSET})


@pytest.mark.parametrize("face, op, opset", [key for key in itertools.product(FACES, OPS, OPSETS) if served(*key)])
def test_every_opset(face, op, opset):
    x, constants, attributes, want = case(op, opset=opset)
    (got,) = run(model(op, x, constants, attributes, opset), face, {"x": x})
    assert_bits(got, want)


@pytest.mark.parametrize("face, op", FACED)
def test_our_kernel_ran(face, op, tmp_path):
    """Plugin: from ONNX Runtime's profile. Custom ops run as nodes of the CPU provider: from ONNX Runtime's log."""
    opset = opset_near(op, 17)
    if opset > NEWEST_OPSET or not declared(face, op):
        pytest.skip("an older onnxruntime")
    x, constants, attributes, _ = case(op, opset=opset)
    path = tmp_path / "model.onnx"
    path.write_bytes(model(op, x, constants, attributes, opset))
    assert kernels_created(path, face) == ["n"]
    if face == "plugin":
        assert measure.placement(str(path), {"x": x}, face) == [("n", op, EP)]


WITHOUT_FLOAT64 = WITH_TEXTS
TYPED = [
    (face, op, dtype)
    for face, op in FACED
    for dtype in (np.float64, np.float16)
    if op not in QUANTIZED and op != "Celu" and (dtype != np.float64 or op not in WITHOUT_FLOAT64)  # Celu has float32 alone
]


@pytest.mark.parametrize("face, op, dtype", TYPED)
def test_types(face, op, dtype):
    opset = opset_near(op, 18)
    if dtype == np.float64 and op in NO_DOUBLE:
        return check_double_is_left(face, op, opset)
    if opset > NEWEST_OPSET or not declared(face, op):
        pytest.skip("an older onnxruntime")
    x, constants, attributes, want = case(op, dtype, opset)
    (got,) = run(model(op, x, constants, attributes, opset), face, {"x": x})
    assert_bits(got, want)


def check_double_is_left(face, op, opset):
    """Where ONNX Runtime has a kernel it computes the node on both faces; where it has none the custom-op library cannot make
    the session, and the plugin leaves it to ONNX Runtime to put the operator's function there, which some opsets allow."""
    x = data(RNG, (3, 37), np.float64)
    m = model(op, x, [], {}, min(opset, NEWEST_OPSET))
    if op in ("Tanh", "Sigmoid", "Sin", "Cos"):
        assert_bits(run(m, face, {"x": x})[0], cpu(m, {"x": x})[0])
    elif face == "custom_ops":
        with pytest.raises(Exception, match=r"NOT_IMPLEMENTED|not supported|not served|Could not find"):
            run(m, face, {"x": x})


NO_BFLOAT16 = {"Upsample", "Celu", "Einsum", *QUANTIZED}


@pytest.mark.parametrize("face, op", [(face, op) for face, op in FACED if op not in NO_BFLOAT16])
def test_bfloat16(face, op):
    """bfloat16 does not cross ONNX Runtime's NumPy border: Casts beside the node do (they are exact)."""
    opset = max(min(22, NEWEST_OPSET), oldest(op))
    if opset > NEWEST_OPSET or not declared(face, op):
        pytest.skip("an older onnxruntime")
    x, constants, attributes, want = case(op, ml_dtypes.bfloat16, opset)
    weights, nodes = {}, [node("Cast", ["x32"], ["x"], "x", to=onnx.TensorProto.BFLOAT16)]
    for i, array in enumerate(constants):
        if array.dtype == ml_dtypes.bfloat16:
            nodes.append(node("Cast", [f"w{i}_32"], [f"w{i}"], f"w{i}", to=onnx.TensorProto.BFLOAT16))
            weights[f"w{i}_32"] = array.astype(np.float32)
        else:
            weights[f"w{i}"] = array
    names = [f"w{i}" for i in range(len(constants))]
    nodes += [node(op, ["x", *names], ["y16"], **attributes), node("Cast", ["y16"], ["y"], "out", to=onnx.TensorProto.FLOAT)]
    m = graph(nodes, {"x32": (np.float32, x.shape)}, weights, opset=opset)
    (got,) = run(m, face, {"x32": x.astype(np.float32)})
    assert_bits(got.astype(want.dtype), want)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("face", FACES)
def test_max_pool_of_bytes_with_indices(face, dtype):
    x = RNG.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (2, 3, 7, 5), dtype, endpoint=True)
    attributes = {"kernel_shape": [3, 3], "dilations": [2, 1], "ceil_mode": 1, "storage_order": 1}
    m = graph([node("MaxPool", ["x"], ["y", "i"], **attributes)], {"x": (dtype, x.shape)}, outputs=("y", "i"), opset=12)
    got = run(m, face, {"x": x})
    for one, other in zip(got, kernels.max_pool(x, return_indices=True, **attributes), strict=True):
        assert_bits(one, other)


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
@pytest.mark.parametrize("face", FACES)
def test_integers_of_one_input(face, dtype):
    x = data(RNG, (3, 70), dtype)
    limits = [np.array(2, dtype), np.array(100, dtype)]
    m = graph([node("Clip", ["x", "l", "h"])], {"x": (dtype, x.shape)}, {"l": limits[0], "h": limits[1]}, opset=13)
    assert_bits(run(m, face, {"x": x})[0], kernels.clip(x, *limits))
    m = graph([node("Clip", ["x", "", "h"])], {"x": (dtype, x.shape), "h": (dtype, [])}, opset=13)
    assert_bits(run(m, face, {"x": x, "h": limits[1]})[0], kernels.clip(x, None, limits[1]))
    assert_bits(run(graph([node("Sign", ["x"])], {"x": (dtype, x.shape)}, opset=13), face, {"x": x})[0], kernels.sign(x))
    if np.dtype(dtype).kind == "i":
        m = graph([node("Relu", ["x"])], {"x": (dtype, x.shape)}, opset=14)
        assert_bits(run(m, face, {"x": x})[0], kernels.relu(x))


@pytest.mark.skipif("plugin" not in FACES, reason="the custom-op library does not declare Cast")
@pytest.mark.parametrize("to", [2, 3, 4, 5, 6, 7, 9, 12, 13])
def test_casts(to):
    """Those to integers and bool are ours; from integers and between floats they stay with ONNX Runtime."""
    with np.errstate(all="ignore"):
        x = data(RNG, (3, 70), np.float32, "special") * np.float32(1000)
    want = kernels.cast(x, onnx.helper.tensor_dtype_to_np_dtype(to))
    m = graph([node("Cast", ["x"], to=to)], {"x": (np.float32, x.shape)})
    assert_bits(run(m, "plugin", {"x": x})[0], want)
    assert [p for _, _, p in measure.placement(m, {"x": x}, "plugin")] == [EP]
    back = graph([node("Cast", ["x"], to=onnx.TensorProto.FLOAT)], {"x": (want.dtype, want.shape)})
    assert [p for _, _, p in measure.placement(back, {"x": want}, "plugin")] == ["CPUExecutionProvider"]


@pytest.mark.skipif("plugin" not in FACES, reason="outputs over inputs: the plugin")
def test_chains_over_their_inputs():
    """Many nodes that may write over an input, some of which is read once more; the inputs of the run stay."""
    x, z = data(RNG, (5, 3001), np.float32, "special"), data(RNG, (5, 3001), np.float32)
    nodes = [
        node("Neg", ["x"], ["a"], "a"),
        node("Add", ["a", "z"], ["b"], "b"),
        node("Mul", ["b", "a"], ["c"], "c"),
        node("Relu", ["c"], ["d"], "d"),
        node("Sub", ["z", "d"], ["e"], "e"),
        node("Sum", ["e", "b", "e"], ["f"], "f"),
        node("Max", ["row", "f"], ["g"], "g"),
        node("HardSwish", ["g"], name="h"),
    ]
    row = data(RNG, (3001,), np.float32)
    m = graph(nodes, {"x": (np.float32, x.shape), "z": (np.float32, z.shape)}, {"row": row}, opset=17)
    a = kernels.negative(x)
    b = kernels.add(a, z)
    e = kernels.sub(z, kernels.relu(kernels.mul(b, a)))
    want = kernels.hard_swish(kernels.maximum(row, kernels.sum_of(e, b, e)))
    before = x.copy(), z.copy()
    s = session(m, "plugin", measure.options(2))
    for _ in range(3):
        assert_bits(s.run(None, {"x": x, "z": z})[0], want)
    assert_bits(x, before[0])
    assert_bits(z, before[1])


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("face", FACES)
def test_run_time_weights_dynamic_shapes_and_batches(face, threads):
    """Weights as graph inputs, one session for many shapes (more than plans are kept), twice."""
    so = measure.options(threads)
    inputs = {"x": (np.float32, ["n", "c", "h", "w"]), "w": (np.float32, ["m", "c", 3, 3]), "b": (np.float32, ["m"])}
    s = session(graph([node("Conv", ["x", "w", "b"])], inputs), face, so)
    shapes = [(n, c, h, 8) for n in (0, 1, 3) for c in (1, 5) for h in (3, 4, 20)]
    for n, c, h, width in shapes * 2:
        x, w, b = data(RNG, (n, c, h, width), np.float32), data(RNG, (7, c, 3, 3), np.float32), data(RNG, (7,), np.float32)
        assert_bits(s.run(None, {"x": x, "w": w, "b": b})[0], kernels.conv(x, w, b))


@pytest.mark.parametrize("face", FACES)
def test_row_of_a_batch_is_the_row_alone(face):
    x, constants, attributes, _ = case("Conv")
    many = np.concatenate([x] * 4)
    weights = {f"w{i}": array for i, array in enumerate(constants)}
    s = session(graph([node("Conv", ["x", *weights], **attributes)], {"x": (np.float32, ["n", *x.shape[1:]])}, weights), face)
    assert_bits(s.run(None, {"x": many})[0][:2], s.run(None, {"x": x})[0])


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("key", ["session.disable_prepacking", "session.set_denormal_as_zero"])
def test_session_settings_do_not_change_bits(face, key):
    """Prepacking off; the threads' flush-to-zero on (tiny data would vanish)."""
    so = measure.options(2)
    so.add_session_config_entry(key, "1")
    x, w = data(RNG, (1, 8, 6, 6), np.float32, "tiny"), data(RNG, (4, 8, 3, 3), np.float32, "tiny")
    m = graph([node("Conv", ["x", "w"])], {"x": (np.float32, x.shape)}, {"w": w})
    got = run(m, face, {"x": x}, so)[0]
    assert_bits(got, kernels.conv(x, w))
    assert (np.abs(got[got != 0]) < np.finfo(np.float32).smallest_normal).any()


# ---- optimizers ----

LEVELS = [
    ort.GraphOptimizationLevel.ORT_DISABLE_ALL,
    ort.GraphOptimizationLevel.ORT_ENABLE_BASIC,
    ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
    ort.GraphOptimizationLevel.ORT_ENABLE_ALL,
]


def ort_sqrt(x):
    """ONNX Runtime's Sqrt, which computes that piece: before 1.22 it is not correctly rounded."""
    return cpu(graph([node("Sqrt", ["x"])], {"x": (x.dtype, x.shape)}), {"x": x})[0]


def patterns():
    """name -> (model, NumPy face's output): what ONNX Runtime's optimizers rewrite around our nodes."""
    x, w, b = data(RNG, (1, 3, 12, 12), np.float32), data(RNG, (8, 3, 3, 3), np.float32), data(RNG, (8,), np.float32)
    k = data(RNG, (8, 1, 1), np.float32)
    stats = [data(RNG, (8,), np.float32) for _ in range(3)] + [np.abs(data(RNG, (8,), np.float32)) + 1]
    names = ["s", "o", "m", "v"]
    conv, weights, y = node("Conv", ["x", "w", "b"], ["c"], "conv"), {"w": w, "b": b}, kernels.conv(x, w, b)

    def after(*nodes, **extra):
        return graph([conv, *nodes], {"x": (np.float32, x.shape)}, {**weights, **extra})

    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    pad = graph(
        [node("Pad", ["x", "p"], ["q"], "pad"), node("Conv", ["q", "w", "b"])],
        {"x": (np.float32, x.shape)},
        {**weights, "p": np.array([0, 0, 1, 1, 0, 0, 1, 1])},
    )
    negative = -np.abs(x)
    pool = graph(
        [node("Pad", ["x", "p"], ["q"], "pad"), node("MaxPool", ["q"], kernel_shape=[2, 2])],
        {"x": (np.float32, x.shape)},
        {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1])},
    )
    lp_pool = graph(
        [node("Pad", ["x", "p"], ["q"], "pad"), node("LpPool", ["q"], kernel_shape=[2, 2], p=1)],
        {"x": (np.float32, x.shape)},
        {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1])},
    )
    constant = graph(
        [node("Conv", ["k", "w", "b"], ["c"], "conv"), node("Add", ["c", "x"])],
        {"x": (np.float32, (1, 8, 10, 10))},
        {**weights, "k": x},
    )
    relu = np.maximum(y, 0)
    return {
        "Conv+BatchNormalization+Relu": (
            after(
                node("BatchNormalization", ["c", *names], ["t"], "bn"),
                node("Relu", ["t"], name="r"),
                **dict(zip(names, stats, strict=True)),
            ),
            x,
            np.maximum(kernels.batch_normalization(y, *stats), 0),
        ),
        "Conv+Add": (after(node("Add", ["c", "k"], name="a"), k=k), x, y + k),
        "Conv+Mul": (after(node("Mul", ["c", "k"], name="a"), k=k), x, y * k),
        "Conv+Relu": (after(node("Relu", ["c"], name="r")), x, relu),
        "Conv+Relu+MaxPool": (
            after(node("Relu", ["c"], ["t"], "r"), node("MaxPool", ["t"], name="p", kernel_shape=[2, 2])),
            x,
            kernels.max_pool(relu, [2, 2]),
        ),
        "Pad+Conv": (pad, x, kernels.conv(padded, w, b)),
        "Pad+MaxPool": (pool, negative, kernels.max_pool(np.pad(negative, ((0, 0), (0, 0), (1, 1), (1, 1))), [2, 2])),
        "Pad+LpPool": (lp_pool, x, kernels.lp_pool(padded, [2, 2], p=1)),
        "Conv of constants": (constant, np.zeros((1, 8, 10, 10), np.float32), y + np.float32(0)),
        **second_patterns(),
        **matrix_patterns(),
        **quantized_patterns(),
    }


def second_patterns():
    """What ONNX Runtime would fuse, or would compute along another axis and so in another order."""
    x = data(RNG, (2, 9, 7, 50), np.float32)
    scale, bias, epsilon, two = (data(RNG, (50,), np.float32), data(RNG, (50,), np.float32), np.float32(1e-5), np.float32(2))
    mean = {"axes": [-1], "keepdims": 1}
    layer = graph(
        [
            node("ReduceMean", ["x"], ["m"], "m", **mean),
            node("Sub", ["x", "m"], ["d"], "d"),
            node("Pow", ["d", "two"], ["dd"], "dd"),
            node("ReduceMean", ["dd"], ["v"], "v", **mean),
            node("Add", ["v", "eps"], ["ve"], "ve"),
            node("Sqrt", ["ve"], ["s"], "s"),
            node("Div", ["d", "s"], ["n"], "q"),
            node("Mul", ["n", "scale"], ["t"], "t"),
            node("Add", ["t", "bias"], name="a"),
        ],
        {"x": (np.float32, x.shape)},
        {"two": np.array(two), "eps": np.array(epsilon), "scale": scale, "bias": bias},
    )
    d = x - kernels.reduce_mean(x, [-1])
    v = kernels.reduce_mean(d * d, [-1])
    patterns = {"LayerNormalization in pieces": (layer, x, d / ort_sqrt(v + epsilon) * scale + bias)}

    root_mean_square = graph(
        [
            node("Pow", ["x", "two"], ["xx"], "xx"),
            node("ReduceMean", ["xx"], ["v"], "v", **mean),
            node("Add", ["v", "eps"], ["ve"], "ve"),
            node("Sqrt", ["ve"], ["s"], "s"),
            node("Div", ["x", "s"], ["n"], "q"),
            node("Mul", ["n", "scale"], name="t"),
        ],
        {"x": (np.float32, x.shape)},
        {"two": np.array(two), "eps": np.array(epsilon), "scale": scale},
    )
    v = kernels.reduce_mean(x * x, [-1])
    patterns["RMSNormalization in pieces"] = (root_mean_square, x, x / ort_sqrt(v + epsilon) * scale)

    there, back = [0, 2, 3, 1], [0, 3, 1, 2]
    moved = np.ascontiguousarray(x.transpose(there))
    for op, attributes, want in (
        ("ReduceMean", {"axes": [3]}, kernels.reduce_mean(moved, [3])),
        ("ReduceL2", {"axes": [1, 3]}, kernels.reduce_l2(moved, [1, 3])),
        ("Softmax", {"axis": 3}, kernels.softmax(moved, axis=3)),
        ("ArgMax", {"axis": 3}, kernels.arg_max(moved, axis=3)),
        ("LpNormalization", {"axis": 3}, kernels.lp_normalization(moved, axis=3)),
        ("MeanVarianceNormalization", {"axes": [3]}, kernels.mean_variance_normalization(moved, axes=[3])),
        ("LRN", {"size": 3}, kernels.lrn(moved, size=3)),
        ("GlobalLpPool", {"p": 1}, kernels.global_lp_pool(moved, p=1)),
    ):
        m = graph(
            [
                node("Transpose", ["x"], ["t"], "there", perm=there),
                node(op, ["t"], ["r"], **attributes),
                node("Transpose", ["r"], name="back", perm=back),
            ],
            {"x": (np.float32, x.shape)},
        )
        patterns[f"Transpose+{op}+Transpose"] = (m, x, np.ascontiguousarray(want.transpose(back)))
    return patterns


def matrix_patterns():
    """What ONNX Runtime fuses with a MatMul or a Gemm. float16: one rounding less would show."""
    patterns = {}
    names = ["s", "o", "m", "v"]
    stats = [data(RNG, (34,), np.float32) for _ in range(3)] + [np.abs(data(RNG, (34,), np.float32)) + 1]
    matmul, gemm = node("MatMul", ["x", "w"], ["p"], "mm"), node("Gemm", ["x", "w"], ["p"], "g")
    for dtype in (np.float32, np.float16):
        x, w, b = data(RNG, (9, 50), dtype), data(RNG, (50, 34), dtype), data(RNG, (34,), dtype)
        stack, weights, third = data(RNG, (2, 9, 50), dtype), {"w": w, "b": b}, np.array(1 / 3, dtype)
        product, kind = kernels.matmul(x, w), np.dtype(dtype).name

        def add(name, nodes, x, want, weights, kind=kind):
            patterns[f"{name} {kind}"] = (graph(nodes, {"x": (x.dtype, x.shape)}, weights), x, np.ascontiguousarray(want))

        plus_b = node("Add", ["p", "b"], name="a")
        add("MatMul+Add", [matmul, plus_b], x, product + b, weights)
        add("MatMul+Add of a stack", [matmul, plus_b], stack, kernels.matmul(stack, w) + b, weights)
        add("MatMul+Relu", [matmul, node("Relu", ["p"], name="r")], x, np.maximum(product, 0), {"w": w})
        add("MatMul+Mul", [matmul, node("Mul", ["p", "c"], name="s")], x, product * third, {"w": w, "c": third})
        scaled = [node("Mul", ["x", "c"], ["t"], "s"), node("MatMul", ["t", "w"], name="mm")]
        add("Mul+MatMul", scaled, x, kernels.matmul(x * third, w), {"w": w, "c": third})
        turned = [node("Transpose", ["x"], ["t"], "t", perm=[0, 2, 1]), node("MatMul", ["x", "t"], name="mm")]
        add("Transpose+MatMul", turned, stack, kernels.matmul(stack, stack.transpose(0, 2, 1)), {})
        add("Gemm+Sum", [gemm, node("Sum", ["p", "b"], name="s")], x, product + b, weights)
        with_b = node("Gemm", ["x", "w", "b"], ["p"], "g")
        sum_ = kernels.gemm(x, w, b)
        add("Gemm+Relu", [with_b, node("Relu", ["p"], name="r")], x, np.maximum(sum_, 0), weights)
        add("Gemm+Transpose", [with_b, node("Transpose", ["p"], name="t")], x, sum_.T, weights)
        turned = [node("Transpose", ["x"], ["t"], "t"), node("Gemm", ["t", "w", "b"], name="g")]
        add("Transpose+Gemm", turned, np.ascontiguousarray(x.T), sum_, weights)
        if dtype == np.float32:
            normalized = {"w": w, **dict(zip(names, stats, strict=True))}
            norm = node("BatchNormalization", ["p", *names], name="bn")
            add("MatMul+BatchNormalization", [matmul, norm], x, kernels.batch_normalization(product, *stats), normalized)
            add("Gemm+BatchNormalization", [gemm, norm], x, kernels.batch_normalization(product, *stats), normalized)
    return patterns


def elementwise_patterns():
    """What ONNX Runtime drops or merges where an operand is 0 or 1, or operators make up another one."""
    x = data(RNG, (9, 50), np.float32)
    x[:, ::7] = -0.0
    w, one, zero, half = data(RNG, (50,), np.float32), np.float32(1), np.float32(0), np.float32(0.5)
    root = np.sqrt(np.float32(2))

    def model(nodes, **weights):
        return graph(
            nodes, {"x": (x.dtype, x.shape)}, {k: np.asarray(v) for k, v in weights.items()}, opset=min(NEWEST_OPSET, 21)
        )

    quotient = [node("Div", ["one", "x"], ["r"], "d"), node("Mul", ["r", "w"], name="m")]
    patterns = {"Div+Mul": (model(quotient, one=one, w=w), x, kernels.mul(kernels.div(one, x), w))}
    nothing = [node("Flatten", ["x"], ["f"], "f"), node("Add", ["f", "zero"], ["s"], "a"), node("Flatten", ["s"], name="g")]
    patterns["Add of 0"] = (model(nothing, zero=zero), x, kernels.add(x, zero))
    clipped = [node("Relu", ["x"], ["r"], "r"), node("Clip", ["r", "low", "half"], name="c")]
    want = kernels.clip(kernels.relu(x), -one, half)
    patterns["Relu+Clip"] = (model(clipped, low=-one, half=half), x, want)
    gelu = [
        node("Div", ["x", "root"], ["a"], "d"),
        node("Erf", ["a"], ["b"], "e"),
        node("Add", ["b", "one"], ["c"], "s"),
        node("Mul", ["x", "c"], ["p"], "p"),
        node("Mul", ["p", "half"], name="q"),
    ]
    want = kernels.mul(kernels.mul(x, kernels.add(kernels.erf(kernels.div(x, root)), one)), half)
    patterns["Gelu in pieces"] = (model(gelu, root=root, one=one, half=half), x, want)
    return patterns


def quantized_patterns():
    """What ONNX Runtime takes away between quantised tensors, or quantises besides."""
    x, w, b = data(RNG, (2, 8, 9, 9), np.float32), data(RNG, (6, 8, 3, 3), np.float32), data(RNG, (6,), np.float32)
    fine, coarse, none, low, middle = np.float32(0.01), np.float32(0.07), np.float32(0), np.uint8(0), np.uint8(120)
    numbers = {"fine": fine, "coarse": coarse, "none": none, "low": low, "middle": middle}
    dequantize, quantize = kernels.dequantize_linear, kernels.quantize_linear
    q = quantize(x, fine, middle)
    d = dequantize(q, fine, middle)

    def again(y):
        return dequantize(quantize(y, coarse, low), coarse, low)

    def between(*nodes, scale="fine", **constants):
        first = [
            node("QuantizeLinear", ["x", "fine", "middle"], ["q"], "q"),
            node("DequantizeLinear", ["q", scale, "middle"], ["d"], "d"),
        ]
        given = {**numbers, **constants}
        used = {name for n in [*first, *nodes] for name in n.input}
        return graph([*first, *nodes], {"x": (np.float32, x.shape)}, {k: np.array(v) for k, v in given.items() if k in used})

    def last(name, scale="coarse", zero="low"):
        return [
            node("QuantizeLinear", [name, scale, zero], ["q2"], "q2"),
            node("DequantizeLinear", ["q2", "coarse", "low"], name="d2"),
        ]

    nothing = dequantize(q, none, middle)
    w8 = quantize(w, coarse, np.int8(0))
    convolution = kernels.conv(d, dequantize(w8, coarse, np.int8(0)), b)
    flat, weights = x.reshape(2, -1), quantize(data(RNG, (8 * 81, 5), np.float32), coarse, np.int8(0))
    dynamic, scale, zero = kernels.dynamic_quantize_linear(flat)
    product = kernels.matmul_integer(dynamic, weights, zero, np.int8(0)).astype(np.float32) * (scale * coarse)
    integer = graph(
        [
            node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"], "dq"),
            node("MatMulInteger", ["q", "w", "z", "wz"], ["p"], "mm"),
            node("Cast", ["p"], ["f"], "c", to=1),
            node("Mul", ["s", "coarse"], ["t"], "t"),
            node("Mul", ["f", "t"], name="m"),
        ],
        {"x": (np.float32, flat.shape)},
        {"w": weights, "wz": np.array(np.int8(0)), "coarse": np.array(coarse)},
    )
    return {
        "Concat of quantised": (
            between(node("Concat", ["d", "d"], ["c"], "c", axis=1), *last("c")),
            x,
            again(np.concatenate([d, d], 1)),
        ),
        "quantised twice": (between(*last("d")), x, again(d)),
        "quantised twice by 0": (
            between(*last("d", "none", "middle"), scale="none"),
            x,
            dequantize(quantize(nothing, none, middle), coarse, low),
        ),
        "Reshape of quantised": (
            between(node("Reshape", ["d", "shape"]), scale="none", shape=np.array([2, -1])),
            x,
            nothing.reshape(2, -1),
        ),
        "Conv of quantised": (
            between(
                node("DequantizeLinear", ["w8", "coarse"], ["w"], "dw"),
                node("Conv", ["d", "w", "b"], ["c"]),
                *last("c"),
                w8=w8,
                b=b,
            ),
            x,
            again(convolution),
        ),
        "MatMulInteger+Cast+Mul": (integer, flat, product),
    }


PATTERNS = {**patterns(), **elementwise_patterns()}


@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.name)
@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("face", FACES)
def test_optimizers_do_not_change_bits(face, name, level):
    m, x, want = PATTERNS[name]
    so = measure.options(1)
    so.graph_optimization_level = level
    assert_bits(run(m, face, {"x": x}, so)[0], want)


@pytest.mark.parametrize("face", FACES)
def test_no_layout_rewrite(face):
    m, x, _ = PATTERNS["Conv+Relu+MaxPool"]
    assert profile_ops(m, face, {"x": x}) == ["Conv", "Relu", "MaxPool"]


def test_custom_ops_switch_off_the_layout_rewrite_of_arm_processors():
    """Here it does nothing; tools/cross_cpu.py shows on arm64 that our kernels run."""
    so = session_options(face="custom_ops")
    assert "NhwcTransformer" in so.get_session_config_entry(CONFIG_KEY).split(";")


@pytest.mark.skipif("plugin" not in FACES, reason="the list is for the plugin; 1.17 has no config entry to disable rewrites")
def test_each_rewrite_in_the_list_changes_something():
    """rewrites.def holds no name that ONNX Runtime does not know or that leaves these models alone."""
    patterns_of = {  # and the rewrites to switch off besides, to see this one
        "ConvBNFusion": ("Conv+BatchNormalization+Relu", ""),
        "ConvAddFusion": ("Conv+Add", ""),
        "ConvMulFusion": ("Conv+Mul", ""),
        "Pad_Fusion": ("Pad+Conv", ""),
        "ConstantFolding": ("Conv of constants", ""),
        "LayerNormFusionL1": ("LayerNormalization in pieces", "LayerNormFusionL2"),
        "MatMulAddFusion": ("MatMul+Add float32", ""),
        "GemmSumFusion": ("Gemm+Sum float32", ""),
        "MatMul_BatchNormalization_Fusion": ("MatMul+BatchNormalization float32", ""),
        "FuseReluClip": ("Relu+Clip", ""),
        "GeluFusionL1": ("Gelu in pieces", "GeluFusionL2"),
        "DivMulFusion": ("Div+Mul", ""),
        "NoopElimination": ("Add of 0", ""),
        "TransposeOptimizer": ("Transpose+ReduceMean+Transpose", "TransposeOptimizer_CPUExecutionProvider"),
        "TransposeOptimizer_CPUExecutionProvider": ("Transpose+ReduceMean+Transpose", "TransposeOptimizer"),
        "QDQSelectorActionTransformer": ("Concat of quantised", ""),
        "QDQPropagationTransformer": ("Reshape of quantised", "QDQSelectorActionTransformer;QDQFinalCleanupTransformer"),
        "WeightBiasQuantization": ("Conv of quantised", "QDQSelectorActionTransformer;ConstantFolding"),
        "DoubleQDQPairsRemover": ("quantised twice", ""),
        "QDQFinalCleanupTransformer": (
            "quantised twice by 0",
            "DoubleQDQPairsRemover;TransposeOptimizer;TransposeOptimizer_CPUExecutionProvider",
        ),
        "MatMulIntegerToFloatFusion": ("MatMulInteger+Cast+Mul", ""),
    }
    assert set(REWRITES) == set(patterns_of)
    for rewrite, (name, others) in patterns_of.items():
        m, x, _ = PATTERNS[name]
        counts = []
        for disabled in (others, f"{others};{rewrite}"):
            so = measure.options(1)
            so.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
            so.add_session_config_entry("optimization.disable_specified_optimizers", disabled)
            so.enable_profiling = True
            so.profile_file_prefix = "/tmp/exact-test-profile"
            counts.append(_nodes_run(m, {"x": x}, so))
        assert counts[0] != counts[1], rewrite


def _nodes_run(m, feeds, so):
    import json
    from pathlib import Path

    s = ort.InferenceSession(m, so, providers=["CPUExecutionProvider"])
    s.run(None, feeds)
    path = Path(s.end_profiling())
    events = json.loads(path.read_text("utf-8"))
    path.unlink()
    return sum(e.get("cat") == "Node" and e["name"].endswith("_kernel_time") for e in events)


# ---- nodes that we leave to ONNX Runtime ----


@pytest.mark.parametrize("face", FACES)
def test_training_batch_normalization_is_left_to_onnx_runtime(face):
    x, constants, _, _ = case("BatchNormalization")
    weights = {f"w{i}": np.abs(array) for i, array in enumerate(constants)}
    m = graph(
        [node("BatchNormalization", ["x", *weights], ["y", "mean", "var"], training_mode=1)],
        {"x": (np.float32, x.shape)},
        weights,
        ("y", "mean", "var"),
        15,
    )
    for got, want in zip(run(m, face, {"x": x}), cpu(m, {"x": x}), strict=True):
        assert_bits(got, want)
    if face == "plugin":
        assert measure.placement(m, {"x": x}, face) == [("n", "BatchNormalization", "CPUExecutionProvider")]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("op", ["LpPool", "GlobalLpPool"])
def test_orders_below_one_are_left_to_onnx_runtime(op, face):
    """docs/pool.md. The custom-op library cannot hand them on."""
    x = np.abs(data(RNG, (2, 3, 5, 7), np.float32))
    window = {"kernel_shape": [2, 2]} if op == "LpPool" else {}
    m = graph([node(op, ["x"], p=-1, **window)], {"x": (np.float32, x.shape)}, opset=18)
    if face == "plugin":
        assert_bits(run(m, face, {"x": x})[0], cpu(m, {"x": x})[0])
        assert measure.placement(m, {"x": x}, face) == [("n", op, "CPUExecutionProvider")]
    else:
        with pytest.raises(Exception, match=f"{op}.*not served"):
            session(m, face)


@pytest.mark.parametrize("opset", [9, 12, 13, 14])
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
@pytest.mark.parametrize("face", FACES)
def test_softmax_rows_are_those_of_the_opset(face, op, opset):
    """Up to opset 12 the axes from 1 on are one row, from 13 on the last axis is."""
    x = data(RNG, (2, 3, 40), np.float32)
    m = graph([node(op, ["x"])], {"x": (np.float32, x.shape)}, opset=opset)
    function = getattr(kernels, {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Hardmax": "hardmax"}[op])
    rows = x.reshape(2, 120) if opset < 13 else x
    assert_bits(run(m, face, {"x": x})[0], function(rows, axis=-1).reshape(x.shape))


@pytest.mark.skipif("custom_ops" not in FACES, reason="no custom ops")
@pytest.mark.parametrize("opset", [9, 12, 13])
@pytest.mark.parametrize("op", ["Softmax", "LogSoftmax", "Hardmax"])
def test_custom_ops_leave_older_softmax_unless_the_opset_is_stated(op, opset):
    """The library cannot see a model's opset, so it must not take one whose rows may be flattened."""
    x = data(RNG, (2, 3, 40), np.float32)
    m = graph([node(op, ["x"])], {"x": (np.float32, x.shape)}, opset=opset)
    so = ort.SessionOptions()
    so.register_custom_ops_library(get_library_path())
    got = ort.InferenceSession(m, so, providers=["CPUExecutionProvider"]).run(None, {"x": x})
    assert_bits(got[0], cpu(m, {"x": x})[0])


@pytest.mark.parametrize("face", FACES)
def test_control_flow_bodies(face):
    """Our kernels run inside If branches, with weights of the outer graph."""
    x, (w, b), attributes, want = case("Conv")
    import onnx.helper as h

    def branch(name, *nodes):
        return h.make_graph(list(nodes), name, [], [onnx.ValueInfoProto(name="t")])

    then = branch("then", node("Conv", ["x", "w", "b"], ["t"], "conv", **attributes))
    other = branch("else", node("Conv", ["x", "w", "b"], ["u"], "conv2", **attributes), node("Neg", ["u"], ["t"], "neg"))
    m = graph(
        [node("If", ["p"], ["y"], "if", then_branch=then, else_branch=other)],
        {"x": (np.float32, x.shape), "p": (np.bool_, [])},
        {"w": w, "b": b},
    )
    s = session(m, face)
    assert_bits(s.run(None, {"x": x, "p": np.array(True)})[0], want)
    assert_bits(s.run(None, {"x": x, "p": np.array(False)})[0], -want)


@pytest.mark.parametrize("face", FACES)
def test_static_shapes_flow_on_past_a_scalar(face):
    """CumSum's axis has rank 0, which the custom-op interface cannot tell from an unknown rank."""
    m = graph([node("CumSum", ["x", "axis"])], {"x": (np.float32, ["N", 4, 5])}, {"axis": np.array(1)})
    assert session(m, face).get_outputs()[0].shape == ["N", 4, 5]


@pytest.mark.parametrize("face", FACES)
def test_static_shapes_flow_on(face):
    x, constants, attributes, want = case("Conv")
    weights = {f"w{i}": array for i, array in enumerate(constants)}
    m = graph([node("Conv", ["x", *weights], **attributes)], {"x": (np.float32, ["N", *x.shape[1:]])}, weights)
    assert session(m, face).get_outputs()[0].shape == ["N", *want.shape[1:]]


@pytest.mark.parametrize("face", FACES)
def test_group_parameters_of_unknown_length(face):
    """Inference knows the length of the bias alone: one per group, in opset 18."""
    x, b = data(RNG, (2, C, 4, 3), np.float32), data(RNG, (3,), np.float32)
    nodes = [node("GroupNormalization", ["x", "scale", "b"], num_groups=3)]
    inputs = {"x": (np.float32, x.shape), "scale": (np.float32, ["length"]), "b": (np.float32, [3])}
    (got,) = run(graph(nodes, inputs, opset=18), face, {"x": x, "scale": b, "b": b})
    assert_bits(got, kernels.group_normalization(x, b, b, num_groups=3))
