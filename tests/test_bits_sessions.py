"""Random nodes and the cases of data/cases.json through sessions of both faces, against the reference, bit for bit."""

import fpenv
import numpy as np
import onnxruntime
import pytest
import reference
import strategies
from faces import FACES, NEWEST_OPSET, cpu, graph, node, session
from helpers import as_tuple, assert_bits, attempt, data, examples, kernels
from hypothesis import assume, given
from hypothesis import strategies as st
from test_cases import CASES, tensor, tensors

OPSET = 22
DTYPES = ["float32", "float32", "float64", "float16"]  # bfloat16 does not cross ONNX Runtime's NumPy border
FORMS = ("constants", "inputs", "dynamic")
SNAKE = {
    **{f"Reduce{name.title().replace('_', '')}": f"reduce_{name}" for name in reference.reduce.KINDS},
    "ArgMax": "arg_max",
    "ArgMin": "arg_min",
    "CumSum": "cumsum",
    "CumProd": "cumprod",
}
REDUCTIONS = [operator for operator in SNAKE if operator.startswith("Reduce")]
SOFTMAXES = {"Softmax": "softmax", "LogSoftmax": "log_softmax", "Hardmax": "hardmax"}


def model(operator, inputs, attributes, form, outputs=1, opset=OPSET):
    """(model, feeds). form: all but X constant; all graph inputs; graph inputs of unknown dimensions."""
    names = [f"x{i}" if array is not None else "" for i, array in enumerate(inputs)]
    given_arrays = {n: a for n, a in zip(names, inputs, strict=True) if a is not None}
    constants = {n: a for n, a in given_arrays.items() if form == "constants" and n != "x0"}
    feeds = {n: a for n, a in given_arrays.items() if n not in constants}
    shapes = {n: (a.dtype, [f"{n}_{i}" for i in range(a.ndim)] if form == "dynamic" else a.shape) for n, a in feeds.items()}
    results = [f"y{i}" for i in range(outputs)]
    return graph([node(operator, names, results, **attributes)], shapes, constants, results, opset), feeds


def check(operator, function, random_node, form, **extra):
    inputs, attributes = random_node.inputs(), random_node.attributes
    want = attempt(getattr(reference, function), *inputs, **attributes, **extra)
    assume(isinstance(want, tuple))
    proto, feeds = model(operator, inputs, attributes, form, len(want))
    for face in FACES:
        got = session(proto, face).run(None, feeds)
        for one, other in zip(got, want, strict=True):
            assert_bits(one, other, f"{operator} {face} {form}")


@given(strategies.convs(dtypes=DTYPES), st.sampled_from(FORMS))
@examples(60)
def test_conv(random_node, form):
    check("Conv", "conv", random_node, form)


@given(strategies.conv_transposes(dtypes=DTYPES), st.sampled_from(FORMS))
@examples(60)
def test_conv_transpose(random_node, form):
    check("ConvTranspose", "conv_transpose", random_node, form)


@given(
    strategies.pools(("ceil_mode", "storage_order"), dtypes=[*DTYPES, "int8", "uint8"], kinds=["special", "integers"]),
    st.sampled_from(FORMS),
    st.booleans(),
)
@examples(60)
def test_max_pool(random_node, form, indices):
    check("MaxPool", "max_pool", random_node, form, return_indices=indices)


@given(strategies.pools(("ceil_mode", "count_include_pad"), dtypes=DTYPES), st.sampled_from(FORMS))
@examples(60)
def test_average_pool(random_node, form):
    check("AveragePool", "average_pool", random_node, form)


@given(strategies.planes(dtypes=DTYPES), st.sampled_from(FORMS))
@examples(30)
def test_global_pools(random_node, form):
    check("GlobalMaxPool", "global_max_pool", random_node, form)
    check("GlobalAveragePool", "global_average_pool", random_node, form)


@pytest.mark.parametrize(
    "case, face",
    [(c, face) for c in CASES if "outputs" in c for face in FACES],
    ids=lambda value: value["id"] if isinstance(value, dict) else value,
)
def test_case(case, face):
    inputs = tensors(case)
    form = "constants" if case["constant_inputs"] else "inputs"
    if case["opset"] > NEWEST_OPSET:
        pytest.skip("a newer opset than this onnxruntime has")
    proto, feeds = model(case["operator"], inputs, case["attributes"], form, len(case["outputs"]), case["opset"])
    for one, description in zip(session(proto, face).run(None, feeds), case["outputs"], strict=True):
        assert_bits(one, tensor(description), f"{case['id']} {face}")


# ---- reductions, normalizations, softmax family, ArgMax and ArgMin, CumSum ----


def onnx_reduction(operator, random_node, opset):
    """(inputs, attributes) of the node: axes as an input or, in the older opsets, as an attribute."""
    attributes, inputs = dict(random_node.attributes), random_node.inputs()
    axes = attributes.pop("axes", None)
    if opset >= (13 if operator == "ReduceSum" else 18):
        return [*inputs, *([] if axes is None else [np.array(axes, np.int64)])], attributes
    assume(attributes.pop("noop_with_empty_axes") == 0 or axes)
    assume(axes is None or len(axes) > 0)
    return inputs, attributes if axes is None else {**attributes, "axes": axes}


def run_and_compare(operator, inputs, attributes, want, form, opset):
    assume(isinstance(want, tuple))
    proto, feeds = model(operator, inputs, attributes, form, len(want), opset)
    for face in FACES:
        got = session(proto, face).run(None, feeds)
        for one, other in zip(got, want, strict=True):
            assert_bits(one, other, f"{operator} {face} {form} opset {opset}")


@given(
    strategies.reductions(dtypes=[*DTYPES, "int32", "int64", "uint32", "uint64"]),
    st.sampled_from(REDUCTIONS),
    st.sampled_from(FORMS),
    st.sampled_from((7, 11, 12, 13, 17, 18, 20, 21)),
)
@examples(200)
def test_reductions(random_node, operator, form, opset):
    inputs, attributes = onnx_reduction(operator, random_node, opset)
    function = getattr(reference, SNAKE[operator])
    run_and_compare(
        operator, inputs, attributes, attempt(function, *random_node.inputs(), **random_node.attributes), form, opset
    )


@given(strategies.softmaxes(dtypes=DTYPES), st.sampled_from(sorted(SOFTMAXES)), st.sampled_from(FORMS), st.booleans())
@examples(80)
def test_softmaxes(random_node, operator, form, new):
    """Up to opset 12 on the plugin alone: docs/softmax.md."""
    attributes = dict(random_node.attributes)
    flatten = attributes.pop("flatten")
    opset = (17 if new else 13) if not flatten else (12 if new else 8)
    assume(flatten is False or attributes.get("axis", 1) >= 0 or opset > 10)
    want = attempt(getattr(reference, SOFTMAXES[operator]), *random_node.inputs(), **random_node.attributes)
    assume(isinstance(want, tuple))
    proto, feeds = model(operator, random_node.inputs(), attributes, form, 1, opset)
    for face in FACES:
        if face == "plugin" or opset >= 14:
            assert_bits(session(proto, face).run(None, feeds)[0], want[0], f"{operator} {face} {form} opset {opset}")


@given(
    strategies.args(dtypes=[*DTYPES, "int8", "uint8", "int16", "uint16", "int32", "int64", "uint32", "uint64"]),
    st.sampled_from(("ArgMax", "ArgMin")),
    st.sampled_from(FORMS),
    st.sampled_from((8, 11, 12, 13, 20)),
)
@examples(80)
def test_args(random_node, operator, form, opset):
    attributes = dict(random_node.attributes)
    assume(opset >= 12 or not attributes["select_last_index"])
    if opset < 12:
        del attributes["select_last_index"]
        assume(opset >= 11 or attributes.get("axis", 0) >= 0)
    want = attempt(getattr(reference, SNAKE[operator]), *random_node.inputs(), **random_node.attributes)
    run_and_compare(operator, random_node.inputs(), attributes, want, form, opset)


@given(
    strategies.cumulations(dtypes=[*DTYPES, "int32", "int64", "uint32", "uint64"]),
    st.sampled_from(("CumSum", "CumProd")),
    st.sampled_from(FORMS),
    st.sampled_from((11, 14, 26)),
)
@examples(80)
def test_cumulations(random_node, operator, form, opset):
    assume(opset <= NEWEST_OPSET and (operator == "CumSum" or opset == 26))
    assume(opset >= 14 or random_node.dtype != "float16")
    attributes = dict(random_node.attributes)
    inputs = [*random_node.inputs(), attributes.pop("axis")]
    want = attempt(getattr(reference, SNAKE[operator]), *inputs, **attributes)
    run_and_compare(operator, inputs, attributes, want, form, opset)


@given(strategies.row_norms(bias=True, dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((17, 22)), st.integers(1, 3))
@examples(80)
def test_layer_normalization(random_node, form, opset, outputs):
    inputs, attributes = random_node.inputs(), random_node.attributes
    want = attempt(reference.layer_normalization, *inputs, return_statistics=True, **attributes)
    assume(isinstance(want, tuple))
    run_and_compare("LayerNormalization", inputs, attributes, want[:outputs], form, opset)


@pytest.mark.skipif(NEWEST_OPSET < 23, reason="RMSNormalization is of opset 23")
@given(strategies.row_norms(bias=False, dtypes=DTYPES), st.sampled_from(FORMS))
@examples(50)
def test_rms_normalization(random_node, form):
    inputs, attributes = random_node.inputs(), random_node.attributes
    run_and_compare(
        "RMSNormalization", inputs, attributes, attempt(reference.rms_normalization, *inputs, **attributes), form, 23
    )


@given(strategies.channel_norms(grouped=False, dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((7, 17, 22)))
@examples(50)
def test_instance_normalization(random_node, form, opset):
    inputs, attributes = random_node.inputs(), random_node.attributes
    want = attempt(reference.instance_normalization, *inputs, **attributes)
    assume(opset <= NEWEST_OPSET)
    run_and_compare("InstanceNormalization", inputs, attributes, want, form, opset)


@given(strategies.channel_norms(grouped=True, dtypes=DTYPES), st.sampled_from(FORMS))
@examples(80)
def test_group_normalization(random_node, form):
    """The length of scale and bias goes with the opset."""
    inputs, attributes = random_node.inputs(), random_node.attributes
    want = attempt(reference.group_normalization, *inputs, **attributes)
    opset = 21 if inputs[1].shape == inputs[0].shape[1:2] else 18
    assume(opset <= NEWEST_OPSET)
    run_and_compare("GroupNormalization", inputs, attributes, want, form, opset)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("opset, length", [(18, 4), (21, 2)])
def test_group_normalization_with_the_other_length(face, opset, length):
    """The plugin knows the opset, the custom-op library goes by the length: docs/norm.md."""
    x, scale = data(np.random.default_rng(4), (2, 4, 5), np.float32), data(np.random.default_rng(5), (length,), np.float32)
    proto, feeds = model("GroupNormalization", [x, scale, scale], {"num_groups": 2}, "dynamic", opset=opset)
    if face == "plugin":
        with pytest.raises(Exception, match=r"(?s)GroupNormalization.*scale"):
            session(proto, face).run(None, feeds)
    else:
        want = reference.group_normalization(x, scale, scale, num_groups=2)
        assert_bits(session(proto, face).run(None, feeds)[0], want)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("names", [("y", "", "s"), ("", "m", ""), ("y", "m", "")], ids=str)
def test_some_outputs_of_layer_normalization(names, face):
    rng = np.random.default_rng(6)
    x, scale = data(rng, (3, 40), np.float32), data(rng, (40,), np.float32)
    if not names[0]:  # Y is required: nobody reads it
        names = ("unused", *names[1:])
    wanted = [name for name in names if name in ("y", "m", "s")]
    proto = graph([node("LayerNormalization", ["x", "w"], names)], {"x": (x.dtype, x.shape)}, {"w": scale}, wanted)
    every = dict(zip(("y", "m", "s"), reference.layer_normalization(x, scale, return_statistics=True), strict=True))
    for got, name in zip(session(proto, face).run(None, {"x": x}), wanted, strict=True):
        assert_bits(got, every[name], f"{name} {face}")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("operator", ["Softmax", "LogSoftmax"])
def test_fast_softmax_in_a_session(operator, face):
    x = data(np.random.default_rng(7), (9, 300), np.float32) * np.float32(5)
    proto, feeds = model(operator, [x], {}, "inputs")
    (got,) = session(proto, face, mode="fast").run(None, feeds)
    assert_bits(got, getattr(kernels, SOFTMAXES[operator])(x, mode="fast"))


@pytest.mark.parametrize("face", FACES)
def test_rows_of_a_batch_in_a_session(face):
    """Row i of a batch of 4 is row i alone, through a chain of the operators."""
    rng = np.random.default_rng(8)
    x, w, b = data(rng, (4, 6, 50), np.float32), data(rng, (50,), np.float32), data(rng, (6,), np.float32)
    nodes = [
        node("LayerNormalization", ["x", "w", "w"], ["l"], "l"),
        node("InstanceNormalization", ["l", "b", "b"], ["i"], "i"),
        node("Softmax", ["i"], ["s"], "s"),
        node("ReduceMean", ["s"], ["r"], "r", axes=[2], keepdims=0),
        node("LogSoftmax", ["r"], ["y"], "y"),
    ]
    run = session(graph(nodes, {"x": (np.float32, ["n", 6, 50])}, {"w": w, "b": b}, opset=17), face)
    (whole,) = run.run(None, {"x": x})
    for row in range(4):
        assert_bits(run.run(None, {"x": x[row : row + 1]})[0], whole[row : row + 1])


@pytest.mark.parametrize("face", FACES)
def test_axes_computed_at_run_time(face):
    """One session, other axes at every run, computed by nodes."""
    nodes = [node("Add", ["a", "one"], ["axes"], "add"), node("ReduceSum", ["x", "axes"], keepdims=0)]
    inputs = {"x": (np.float32, ["n", "c", "w"]), "a": (np.int64, ["k"])}
    run = session(graph(nodes, inputs, {"one": np.array(1)}, opset=17), face)
    rng = np.random.default_rng(1)
    for axes in ([0], [-2, 1], [], [0, 1], [-4, -3, -2], [1, 1], [0]):
        x = data(rng, (3, 5, 7), np.float32)
        (got,) = run.run(None, {"x": x, "a": np.array(axes, np.int64)})
        assert_bits(got, reference.reduce_sum(x, [a + 1 for a in axes], keepdims=0))
    with pytest.raises(Exception, match=r"(?s)ReduceSum.*ax[ei]s"):
        run.run(None, {"x": x, "a": np.array([2], np.int64)})
    assert_bits(run.run(None, {"x": x, "a": np.array([1])})[0], reference.reduce_sum(x, [2], keepdims=0))


@pytest.mark.parametrize("face", FACES)
def test_cumsum_axis_computed_at_run_time(face):
    nodes = [node("Neg", ["a"], ["axis"], "neg"), node("CumSum", ["x", "axis"])]
    run = session(graph(nodes, {"x": (np.float32, ["n", "c"]), "a": (np.int32, [])}, opset=17), face)
    x = data(np.random.default_rng(2), (5, 40), np.float32)
    for axis in (0, 1, 2, -1, 0):
        (got,) = run.run(None, {"x": x, "a": np.array(axis, np.int32)})
        assert_bits(got, reference.cumsum(x, np.array(-axis)))
    with pytest.raises(Exception, match=r"(?s)CumSum.*axis"):
        run.run(None, {"x": x, "a": np.array(-2, np.int32)})


@pytest.mark.parametrize("face", FACES)
def test_bool_reductions(face):
    x = np.random.default_rng(3).random((4, 7)) < 0.4
    for operator in ("ReduceMax", "ReduceMin"):
        proto, feeds = model(operator, [x, np.array([1])], {}, "inputs", opset=20)
        assert_bits(session(proto, face).run(None, feeds)[0], getattr(reference, SNAKE[operator])(x, [1]))


@pytest.mark.parametrize("operator", ["ReduceL2", "ReduceLogSum", "ReduceLogSumExp"])
@pytest.mark.parametrize("face", FACES)
def test_integer_roots_and_logarithms_are_left_to_onnx_runtime(face, operator):
    proto, feeds = model(operator, [np.array([[3, 4]], np.int32), np.array([1])], {}, "constants", opset=18)
    assert_bits(session(proto, face).run(None, feeds)[0], cpu(proto, feeds)[0])


DENORMAL = {
    "Conv": ("conv", [(2, 40, 7, 9), (17, 40, 3, 3), (17,)], {"pads": [1, 1, 1, 1]}),
    "ConvTranspose": ("conv_transpose", [(2, 40, 7, 9), (40, 17, 2, 2), (17,)], {"strides": [2, 2]}),
    "MaxPool": ("max_pool", [(2, 9, 9, 21)], {"kernel_shape": [3, 3]}),
    "AveragePool": ("average_pool", [(2, 9, 9, 21)], {"kernel_shape": [3, 3]}),
    "GlobalMaxPool": ("global_max_pool", [(2, 33, 9, 7)], {}),
    "GlobalAveragePool": ("global_average_pool", [(2, 33, 9, 7)], {}),
    "BatchNormalization": ("batch_normalization", [(2, 9, 9, 7), (9,), (9,), (9,), (9,)], {"epsilon": 1e-44}),
    "ReduceSum": ("reduce_sum", [(9, 70, 33)], {}),
    "ReduceSumSquare": ("reduce_sum_square", [(9, 70, 33)], {}),
    "ReduceProd": ("reduce_prod", [(9, 3)], {}),
    "ReduceMax": ("reduce_max", [(9, 70, 33)], {}),
    "CumSum": ("cumsum", [(9, 70, 33)], {}),
    "ArgMin": ("arg_min", [(9, 70, 33)], {"axis": 2}),
    "InstanceNormalization": ("instance_normalization", [(2, 9, 70), (9,), (9,)], {"epsilon": 1e-44}),
    "LayerNormalization": ("layer_normalization", [(2, 9, 70), (70,), (70,)], {"epsilon": 1e-44}),
    "GroupNormalization": ("group_normalization", [(2, 9, 70), (9,), (9,)], {"epsilon": 1e-44, "num_groups": 3}),
    "LogSoftmax": ("log_softmax", [(9, 70)], {}),
}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("operator", DENORMAL)
def test_denormal_as_zero(operator, face, threads):
    """ONNX Runtime's option that sets flush-to-zero and denormals-are-zero in its threads changes no bit of ours."""
    function, shapes, attributes = DENORMAL[operator]
    rng = np.random.default_rng(0)
    arrays = [data(rng, shape, np.float32, "tiny") for shape in shapes]
    if operator == "BatchNormalization":
        arrays[4] = np.abs(arrays[4]) * np.float32(2.0**-60)
    if operator == "CumSum":
        arrays.append(np.array(1))
    want = as_tuple(getattr(reference, function)(*arrays, **attributes))
    proto, feeds = model(operator, arrays, attributes, "inputs")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    with fpenv.restored():  # the session sets it in this thread too
        (got,) = session(proto, face, options).run(None, feeds)
    assert_bits(got, want[0], f"{operator} {face}")


# Faults that only the shapes at run time show: the status names operator and reason.
LATE = {
    "window": ("Conv", [(1, 4, 2, 9), (6, 4, 3, 3)], {}, "Conv.*window"),
    "channels": ("Conv", [(1, 5, 9, 9), (6, 4, 3, 3)], {}, "Conv.*channel"),
    "bias": ("Conv", [(1, 4, 9, 9), (6, 4, 3, 3), (5,)], {}, "Conv.*bias"),
    "transposed channels": ("ConvTranspose", [(1, 5, 9, 9), (4, 6, 3, 3)], {}, "ConvTranspose.*channel"),
    "pool window": ("MaxPool", [(1, 4, 2, 9)], {"kernel_shape": [3, 3]}, "MaxPool.*window"),
    "average window": ("AveragePool", [(1, 4, 2, 9)], {"kernel_shape": [3, 3]}, "AveragePool.*window"),
    "scale": ("BatchNormalization", [(1, 4, 9, 9), (4,), (3,), (4,), (4,)], {}, "BatchNormalization.* B "),
    "softmax axis": ("Softmax", [(3, 4)], {"axis": 2}, "Softmax.*axis"),
    "arg axis": ("ArgMax", [(3, 4)], {"axis": -3}, "ArgMax.*axis"),
    "layer scale": ("LayerNormalization", [(3, 4), (3,)], {}, "LayerNormalization.*[Ss]cale"),
    "layer scale of the rows": ("LayerNormalization", [(3, 4), (3, 4)], {}, "LayerNormalization.*[Ss]cale"),
    "instance rank": ("InstanceNormalization", [(3, 4), (4,), (4,)], {}, "InstanceNormalization.*rank"),
    "group channels": ("GroupNormalization", [(3, 4, 2), (4,), (4,)], {"num_groups": 3}, "GroupNormalization.*num_groups"),
    "group scale": ("GroupNormalization", [(3, 4, 2), (2,), (2,)], {"num_groups": 3}, "GroupNormalization"),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", LATE)
def test_late_errors(name, face):
    operator, shapes, attributes, pattern = LATE[name]
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    proto, feeds = model(operator, arrays, attributes, "dynamic")
    with pytest.raises(Exception, match=f"(?s){pattern}"):  # at the latest when it runs: the rank is known before
        session(proto, face).run(None, feeds)
