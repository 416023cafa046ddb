"""Random nodes and the cases of data/cases.json through sessions of both faces, against the reference, bit for bit."""

import fpenv
import numpy as np
import onnxruntime
import pytest
import reference
import strategies
from faces import FACES, graph, node, session
from helpers import as_tuple, assert_bits, attempt, data, examples
from hypothesis import assume, given
from hypothesis import strategies as st
from test_cases import CASES, arguments, tensor

OPSET = 22
DTYPES = ["float32", "float32", "float64", "float16"]  # bfloat16 does not cross ONNX Runtime's NumPy border
FORMS = ("constants", "inputs", "dynamic")


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


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("case", [c for c in CASES if "outputs" in c], ids=lambda case: case["id"])
def test_case(case, face):
    inputs, _ = arguments(case)
    form = "constants" if case["constant_inputs"] else "inputs"
    proto, feeds = model(case["operator"], inputs, case["attributes"], form, len(case["outputs"]), case["opset"])
    for one, description in zip(session(proto, face).run(None, feeds), case["outputs"], strict=True):
        assert_bits(one, tensor(description), f"{case['id']} {face}")


DENORMAL = {
    "Conv": ("conv", [(2, 40, 7, 9), (17, 40, 3, 3), (17,)], {"pads": [1, 1, 1, 1]}),
    "ConvTranspose": ("conv_transpose", [(2, 40, 7, 9), (40, 17, 2, 2), (17,)], {"strides": [2, 2]}),
    "MaxPool": ("max_pool", [(2, 9, 9, 21)], {"kernel_shape": [3, 3]}),
    "AveragePool": ("average_pool", [(2, 9, 9, 21)], {"kernel_shape": [3, 3]}),
    "GlobalMaxPool": ("global_max_pool", [(2, 33, 9, 7)], {}),
    "GlobalAveragePool": ("global_average_pool", [(2, 33, 9, 7)], {}),
    "BatchNormalization": ("batch_normalization", [(2, 9, 9, 7), (9,), (9,), (9,), (9,)], {"epsilon": 1e-44}),
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
}


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", LATE)
def test_late_errors(name, face):
    operator, shapes, attributes, pattern = LATE[name]
    arrays = [np.ones(shape, np.float32) for shape in shapes]
    proto, feeds = model(operator, arrays, attributes, "dynamic")
    run = session(proto, face)
    with pytest.raises(Exception, match=f"(?s){pattern}"):
        run.run(None, feeds)
