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
    dynamic = [
        n for n in feeds if form == "dynamic" and (n == "x0" or operator != "Resize")
    ]  # onnx takes an unknown length of sizes as 0
    shapes = {n: (a.dtype, [f"{n}_{i}" for i in range(a.ndim)] if n in dynamic else a.shape) for n, a in feeds.items()}
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


@given(strategies.lp_pools(dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((7, 11, 18, 22)))
@examples(60)
def test_lp_pool(random_node, form, opset):
    """Opsets below 18 have no ceil_mode and no dilations."""
    if opset < 18:
        random_node.attributes.pop("ceil_mode")
        random_node.attributes.pop("dilations")
    want = attempt(reference.lp_pool, *random_node.inputs(), **random_node.attributes)
    run_and_compare("LpPool", random_node.inputs(), random_node.attributes, want, form, opset)


@given(strategies.lp_planes(dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((7, 22)))
@examples(40)
def test_global_lp_pool(random_node, form, opset):
    want = attempt(reference.global_lp_pool, *random_node.inputs(), **random_node.attributes)
    run_and_compare("GlobalLpPool", random_node.inputs(), random_node.attributes, want, form, opset)


@given(strategies.unpools(dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((9, 11, 22)))
@examples(80)
def test_max_unpool(random_node, form, opset):
    inputs = random_node.inputs()
    want = attempt(reference.max_unpool, *inputs, **random_node.attributes)
    run_and_compare("MaxUnpool", inputs, random_node.attributes, want, form, opset)


@given(strategies.lrns(dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((7, 13)))
@examples(60)
def test_lrn(random_node, form, opset):
    want = attempt(reference.lrn, *random_node.inputs(), **random_node.attributes)
    run_and_compare("LRN", random_node.inputs(), random_node.attributes, want, form, opset)


@given(strategies.lp_norms(dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((7, 22)))
@examples(60)
def test_lp_normalization(random_node, form, opset):
    want = attempt(reference.lp_normalization, *random_node.inputs(), **random_node.attributes)
    run_and_compare("LpNormalization", random_node.inputs(), random_node.attributes, want, form, opset)


@given(strategies.mean_variance_norms(dtypes=DTYPES), st.sampled_from(FORMS), st.sampled_from((9, 12, 13, 17, 18, 20)))
@examples(60)
def test_mean_variance_normalization(random_node, form, opset):
    """A function: ONNX Runtime expands it in the opsets of its bodies (9, 13, 18), if nobody claims it."""
    want = attempt(reference.mean_variance_normalization, *random_node.inputs(), **random_node.attributes)
    run_and_compare("MeanVarianceNormalization", random_node.inputs(), random_node.attributes, want, form, opset)


@pytest.mark.parametrize("face", FACES)
def test_unpooling_with_sizes_computed_at_run_time(face):
    """One session, other indices and sizes at every run, computed by nodes; wrong ones in between."""
    window = {"kernel_shape": [2, 2], "strides": [2, 2]}
    nodes = [
        node("MaxPool", ["x"], ["p", "i"], "pool", **window),
        node("Shape", ["z"], ["s"], "shape"),
        node("MaxUnpool", ["p", "i", "s"], **window),
    ]
    inputs = {"x": (np.float32, ["n", "c", "h", "w"]), "z": (np.float32, ["n", "c", "H", "W"])}
    run = session(graph(nodes, inputs, opset=13), face)
    rng = np.random.default_rng(4)
    for shape in ((1, 2, 5, 7), (3, 1, 4, 4), (1, 2, 5, 7), (2, 16, 40, 41)):
        x = data(rng, shape, np.float32)
        pooled, indices = reference.max_pool(x, return_indices=True, **window)
        (got,) = run.run(None, {"x": x, "z": x})
        assert_bits(got, reference.max_unpool(pooled, indices, np.array(shape), **window))
        for wrong in (x[:, :, :1], x[:0], x[:, :, :, :-4]):
            with pytest.raises(Exception, match=r"(?s)MaxUnpool.*(index|indices|output_shape)"):
                run.run(None, {"x": x, "z": wrong})


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("threads", [1, 2, 7])
def test_rows_of_a_batch_on_any_number_of_threads(threads, face):
    """Row i of a batch of 8 is row i alone, for the six operators side by side."""
    window = {"kernel_shape": [3, 3], "strides": [2, 2]}
    nodes = [
        node("LpPool", ["x"], ["a"], "a", p=3, **window),
        node("GlobalLpPool", ["x"], ["b"], "b"),
        node("MaxPool", ["x"], ["p", "i"], "p", **window),
        node("Shape", ["x"], ["s"], "s"),
        node("MaxUnpool", ["p", "i", "s"], ["c"], "c", **window),
        node("LRN", ["x"], ["d"], "d", size=5, beta=0.6),
        node("LpNormalization", ["x"], ["e"], "e", axis=1),
        node("MeanVarianceNormalization", ["x"], ["f"], "f", axes=[1, 2, 3]),
    ]
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    run = session(graph(nodes, {"x": (np.float32, ["n", 19, 21, 23])}, outputs=list("abcdef"), opset=18), face, options)
    x = data(np.random.default_rng(5), (8, 19, 21, 23), np.float32, "special")
    pooled, indices = reference.max_pool(x, return_indices=True, **window)
    want = [
        reference.lp_pool(x, p=3, **window),
        reference.global_lp_pool(x),
        reference.max_unpool(pooled, indices, np.array(x.shape), **window),
        reference.lrn(x, size=5, beta=0.6),
        reference.lp_normalization(x, axis=1),
        reference.mean_variance_normalization(x, axes=[1, 2, 3]),
    ]
    for rows in (slice(0, 8), *(slice(row, row + 1) for row in range(8))):
        for name, got, whole in zip("abcdef", run.run(None, {"x": x[rows]}), want, strict=True):
            assert_bits(got, np.ascontiguousarray(whole[rows]), f"{name} {rows}")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("size", [6, 6000])
def test_an_index_out_of_range(size, face):
    """Both where a plan is kept and where there are too many indices for that."""
    window = {"kernel_shape": [2], "strides": [2]}
    inputs = {"x": (np.float32, [1, 1, size]), "i": (np.int64, [1, 1, size])}
    run = session(graph([node("MaxUnpool", ["x", "i"], **window)], inputs, opset=11), face)
    x, good = np.ones((1, 1, size), np.float32), np.arange(size).reshape(1, 1, size)
    bad = good.copy()
    for place, index in ((0, -1), (size - 1, 2 * size), (size // 2, 2**40), (0, -(2**63))):
        bad[...] = good
        bad[0, 0, place] = index
        assert_bits(run.run(None, {"x": x, "i": good})[0], reference.max_unpool(x, good, **window))
        with pytest.raises(Exception, match=r"(?s)MaxUnpool.*ind(ex|ices)"):
            run.run(None, {"x": x, "i": bad})


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


# ---- Resize, Upsample ----


def onnx_resize(random_node, opset):
    """(inputs, attributes) of the node; of those that the opset has."""
    attributes = dict(random_node.attributes)
    inputs = [*random_node.inputs(), *(attributes.pop(name, None) for name in ("roi", "scales", "sizes"))]
    if opset < 18:
        assume("axes" not in attributes and attributes.pop("keep_aspect_ratio_policy", "stretch") == "stretch")
        assume(attributes.pop("antialias", 0) == 0)
    if opset == 11:  # roi and scales are not optional
        assume(inputs[1] is not None or attributes["coordinate_transformation_mode"] != "tf_crop_and_resize")
        inputs[1:3] = [np.array([], np.float32) if array is None else array for array in inputs[1:3]]
    while inputs[-1] is None:
        inputs.pop()
    return inputs, attributes


@given(
    strategies.resizes(dtypes=[*DTYPES, "int8", "uint8", "int32", "int64"]),
    st.sampled_from(FORMS),
    st.sampled_from((11, 13, 18, 19, 22)),
)
@examples(250)
def test_resize(random_node, form, opset):
    want = attempt(reference.resize, *random_node.inputs(), **random_node.attributes)
    inputs, attributes = onnx_resize(random_node, opset)
    run_and_compare("Resize", inputs, attributes, want, form, opset)


@given(strategies.upsamples(dtypes=[*DTYPES, "int8", "uint8", "int32", "int64"]), st.sampled_from(FORMS), st.booleans())
@examples(60)
def test_upsample(random_node, form, old):
    """Opset 7 has the scales as an attribute."""
    mode, scales = random_node.attributes["mode"], random_node.attributes["scales"]
    want = attempt(reference.upsample, *random_node.inputs(), **random_node.attributes)
    inputs, attributes = random_node.inputs(), {"mode": mode}
    if old:
        run_and_compare("Upsample", inputs, {**attributes, "scales": scales.tolist()}, want, form, 7)
    else:
        run_and_compare("Upsample", [*inputs, scales], attributes, want, form, 9)


@given(strategies.upsamples(0.0, dtypes=[*DTYPES, "int8", "uint8", "int32", "int64"]), st.sampled_from(FORMS))
@examples(60)
def test_resize_of_opset_10(random_node, form):
    mode, scales = random_node.attributes["mode"], random_node.attributes["scales"]
    old = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    want = attempt(reference.resize, *random_node.inputs(), scales=scales, mode=mode, **old)
    run_and_compare("Resize", [*random_node.inputs(), scales], {"mode": mode}, want, form, 10)


@pytest.mark.parametrize("face", FACES)
def test_bool_resize(face):
    x = np.random.default_rng(3).random((1, 4, 7)) < 0.4
    proto, feeds = model("Resize", [x, None, np.array([1, 2, 1.7], np.float32)], {}, "inputs", opset=19)
    assert_bits(session(proto, face).run(None, feeds)[0], reference.resize(x, scales=[1, 2, 1.7]))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_scales_and_sizes_computed_at_run_time(mode, face):
    """One session, other scales, sizes and shapes at every run, computed by a node."""
    rng = np.random.default_rng(1)
    x_of = lambda: data(rng, (2, 5, 7), np.float32)  # noqa: E731

    def resize_by(name, dtype):
        length = None if name == "scales" else [3]  # onnx takes an unknown length of sizes as 0
        inputs = {"x": (np.float32, ["n", "c", "w"]), "a": (dtype, length)}
        places = ["x", "", "b"] if name == "scales" else ["x", "", "", "b"]
        nodes = [node("Neg", ["a"], ["b"], "neg"), node("Resize", places, mode=mode)]
        run = session(graph(nodes, inputs, opset=19), face)
        return lambda x, values: run.run(None, {"x": x, "a": -np.array(values, dtype)})[0]

    by_scales, by_sizes = resize_by("scales", np.float32), resize_by("sizes", np.int64)
    for scales in ([1, 2, 1.5], [1, 1, 1], [1, 0.5, 3], [2.5, 1, 0.4], [1, 2, 1.5]):
        x = x_of()
        assert_bits(by_scales(x, scales), reference.resize(x, scales=scales, mode=mode))
    for scales in ([1, 2], [1, 0, 1], [1, -2, 1], [1, np.nan, 1], [1, np.inf, 1], [1, 1, 1e30], [], [[1, 1, 1]]):
        with pytest.raises(Exception, match=r"(?s)Resize.*scale"):
            by_scales(x_of(), scales)
    for sizes in ([2, 9, 11], [2, 5, 7], [1, 1, 1], [3, 4, 40], [2, 9, 11]):
        x = x_of()
        assert_bits(by_sizes(x, sizes), reference.resize(x, sizes=sizes, mode=mode))
    for sizes in ([2, 0, 7], [2, -9, 7], [2, 2**30, 2**30]):
        with pytest.raises(Exception, match=r"(?s)Resize.*(size|memory)"):
            by_sizes(x_of(), sizes)
    x = x_of()
    assert_bits(by_sizes(x, [2, 9, 11]), reference.resize(x, sizes=[2, 9, 11], mode=mode))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_roi_computed_at_run_time(dtype, face):
    attributes = {
        "mode": "linear",
        "coordinate_transformation_mode": "tf_crop_and_resize",
        "extrapolation_value": 5.5,
        "axes": [2, 1],
    }
    nodes = [node("Neg", ["a"], ["roi"], "neg"), node("Resize", ["x", "roi", "", "sizes"], **attributes)]
    inputs = {"x": (np.float32, ["n", "c", "w"]), "a": (dtype, None)}
    run = session(graph(nodes, inputs, {"sizes": np.array([6, 9])}, opset=19), face)
    x = data(np.random.default_rng(2), (2, 5, 7), np.float32)
    for roi in ([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], [-0.5, 0.5, 0.5, 1.5], [np.nan, 0, 1, np.inf], [0, 0, 1, 1]):
        roi = np.array(roi, dtype)
        assert_bits(run.run(None, {"x": x, "a": -roi})[0], reference.resize(x, roi, None, np.array([6, 9]), **attributes))
    for roi in ([0, 1], [], [0, 0, 0, 1, 1, 1]):
        with pytest.raises(Exception, match=r"(?s)Resize.*roi"):
            run.run(None, {"x": x, "a": np.array(roi, dtype)})


@pytest.mark.parametrize("face", FACES)
def test_a_roi_that_does_not_act(face):
    x, scales = data(np.random.default_rng(2), (2, 5), np.float32), np.array([1, 2], np.float32)
    for roi in (np.zeros(0, np.float32), np.ones(3, np.float32), np.ones(1)):
        proto, feeds = model("Resize", [x, roi, scales], {"mode": "linear"}, "inputs", opset=19)
        assert_bits(session(proto, face).run(None, feeds)[0], reference.resize(x, scales=scales, mode="linear"))


@pytest.mark.parametrize("face", FACES)
def test_images_of_a_batch_in_a_session(face):
    nodes = [
        node("Resize", ["x", "", "up"], ["u"], "u", mode="cubic"),
        node("Resize", ["u", "", "down"], ["d"], "d", mode="linear", antialias=1),
        node("Resize", ["d", "", "up"], name="y"),
    ]
    weights = {"up": np.array([1, 1, 2, 1.7], np.float32), "down": np.array([1, 1, 0.4, 0.6], np.float32)}
    run = session(graph(nodes, {"x": (np.float32, ["n", 3, 9, 21])}, weights, opset=19), face)
    x = data(np.random.default_rng(8), (4, 3, 9, 21), np.float32)
    (whole,) = run.run(None, {"x": x})
    for row in range(4):
        assert_bits(run.run(None, {"x": x[row : row + 1]})[0], whole[row : row + 1])


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
    "LpPool": ("lp_pool", [(2, 9, 9, 21)], {"kernel_shape": [3, 3], "p": 1}),
    "GlobalLpPool": ("global_lp_pool", [(2, 33, 9, 7)], {"p": 1}),
    "MaxUnpool": ("max_unpool", [(2, 9, 9, 7)], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "LRN": ("lrn", [(2, 9, 9, 7)], {"size": 5, "alpha": 1e-30, "bias": 0.0}),
    "LpNormalization": ("lp_normalization", [(9, 70)], {"p": 2}),
    "MeanVarianceNormalization": ("mean_variance_normalization", [(2, 3, 9, 70)], {}),
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
    "PRelu": ("prelu", [(9, 70), (70,)], {}),
    "Max": ("maximum", [(9, 70), (70,), (9, 1)], {}),
    "Mean": ("mean_of", [(9, 70), (70,), (9, 1)], {}),
    "Resize": ("resize", [(2, 3, 9, 21)], {"mode": "cubic"}),
    "Upsample": ("upsample", [(2, 3, 9, 21)], {"mode": "linear"}),
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
    if operator == "MaxUnpool":
        arrays.append(rng.permutation(4 * arrays[0].size)[: arrays[0].size].reshape(arrays[0].shape))
    if operator in ("Resize", "Upsample"):
        arrays += [*[None] * (operator == "Resize"), np.array([1, 1, 1.7, 2.3], np.float32)]
    opset = 9 if operator == "Upsample" else OPSET
    want = as_tuple(getattr(reference, function)(*arrays, **attributes))
    proto, feeds = model(operator, arrays, attributes, "inputs", opset=opset)
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
    "Lp window": ("LpPool", [(1, 4, 2, 9)], {"kernel_shape": [3, 3]}, "LpPool.*window"),
    "global rank": ("GlobalLpPool", [(1, 4)], {}, "GlobalLpPool.*rank"),
    "unpooled size": ("MaxUnpool", [(1, 4, 2), (1, 4, 2)], {"kernel_shape": [1], "pads": [1, 1]}, "MaxUnpool"),
    "indices": ("MaxUnpool", [(1, 4, 2), (1, 4, 3)], {"kernel_shape": [2]}, "MaxUnpool"),
    "LRN rank": ("LRN", [(4,)], {"size": 3}, "LRN.*rank"),
    "LRN size": ("LRN", [(1, 4, 2, 2)], {"size": 0}, "LRN.*size"),
    "Lp axis": ("LpNormalization", [(3, 4)], {"axis": 2}, "LpNormalization.*axis"),
    "Lp order": ("LpNormalization", [(3, 4)], {"p": 3}, "LpNormalization.* p"),
    "MVN axes": ("MeanVarianceNormalization", [(3, 4, 5)], {}, "MeanVarianceNormalization.*ax[ei]s"),
    "scale": ("BatchNormalization", [(1, 4, 9, 9), (4,), (3,), (4,), (4,)], {}, "BatchNormalization.* B "),
    "softmax axis": ("Softmax", [(3, 4)], {"axis": 2}, "Softmax.*axis"),
    "arg axis": ("ArgMax", [(3, 4)], {"axis": -3}, "ArgMax.*axis"),
    "layer scale": ("LayerNormalization", [(3, 4), (3,)], {}, "LayerNormalization.*[Ss]cale"),
    "layer scale of the rows": ("LayerNormalization", [(3, 4), (3, 4)], {}, "LayerNormalization.*[Ss]cale"),
    "slope": ("PRelu", [(3, 4), (5, 1, 1)], {}, "PRelu.*slope"),
    "slope of the other axis": ("PRelu", [(3, 4), (3,)], {}, "PRelu.*(slope|broadcast)"),
    "shapes of three": ("Max", [(3, 4), (1, 4), (3,)], {}, "Max.*broadcast"),
    "shapes of a sum": ("Sum", [(3, 4), (2, 4)], {}, "Sum.*broadcast"),
    "instance rank": ("InstanceNormalization", [(3, 4), (4,), (4,)], {}, "InstanceNormalization.*rank"),
    "group channels": ("GroupNormalization", [(3, 4, 2), (4,), (4,)], {"num_groups": 3}, "GroupNormalization.*num_groups"),
    "group scale": ("GroupNormalization", [(3, 4, 2), (2,), (2,)], {"num_groups": 3}, "GroupNormalization"),
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", LATE)
def test_late_errors(name, face):
    operator, shapes, attributes, pattern = LATE[name]
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    if operator == "MaxUnpool":
        arrays[1] = arrays[1].astype(np.int64)
    proto, feeds = model(operator, arrays, attributes, "dynamic")
    with pytest.raises(Exception, match=f"(?s){pattern}"):  # at the latest when it runs: the rank is known before
        session(proto, face).run(None, feeds)
