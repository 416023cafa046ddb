"""ConvInteger and QLinearConv against the reference, bit for bit. docs/conv_integer.md"""

import numpy as np
import pytest
import strategies_quantized as strategies
from faces import FACES, graph, node, session
from helpers import assert_bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu
from test_bits_conv import HARD
from test_bits_matmul_integer import EIGHT, FORMS, PAIRS, array


@given(strategies.convolutions(False))
@examples(300)
def test_random_integer(case):
    inputs, attributes = case
    check("conv_integer", *inputs, threads=(1, 2), **attributes)


@given(strategies.convolutions(True))
@examples(300)
def test_random_qlinear(case):
    inputs, attributes = case
    check("qlinear_conv", *inputs, threads=(1, 2), **attributes)


def linear(rng, x, w, third="uint8", bias=True, channels=True):
    """Inputs of QLinearConv for tensors x and w."""
    shape = [w.shape[0]] if channels else []
    inputs = [x, array(0.02, np.float32), np.asarray(data(rng, (), x.dtype))]
    inputs += [w, strategies.scales(rng, shape, size=0.05), np.asarray(data(rng, shape, w.dtype))]
    inputs += [array(3, np.float32), np.asarray(data(rng, (), third))]
    return [*inputs, data(rng, (w.shape[0],), np.int32) // 40000] if bias else inputs


@pytest.mark.parametrize("name", HARD)
def test_hard(name):
    rng = np.random.default_rng(1)
    of_x, of_w, attributes = HARD[name]
    for number, (first, second) in enumerate(PAIRS):
        x, w = data(rng, of_x, first), data(rng, of_w, second)
        zeros = np.asarray(data(rng, (), first)), data(rng, (of_w[0],) if number % 2 else (), second)
        check("conv_integer", x, w, zeros[0], np.asarray(zeros[1]), **attributes)
        check("qlinear_conv", *linear(rng, x, w, EIGHT[number // 2], bool(number % 2)), **attributes)


@pytest.mark.parametrize("first, second", PAIRS)
def test_every_width(first, second):
    """Every remainder of the positions and channels of a tile."""
    rng = np.random.default_rng(2)
    for n in range(1, 36):
        for of_x, of_w, attributes in (
            ((1, 3, 4, n), (5, 3, 3, 3), {"pads": [1] * 4}),
            ((1, n, 3, 3), (5, n, 1, 1), {}),
            ((1, 4, 3, 4), (n, 4, 2, 2), {}),
            ((1, 3, 4, n), (3, 1, 3, 3), {"group": 3, "pads": [1] * 4}),
            ((1, n, 5, 5), (n, 1, 3, 3), {"group": n, "strides": [2, 2], "pads": [1] * 4}),
        ):
            x, w = data(rng, of_x, first), data(rng, of_w, second)
            check("conv_integer", x, w, np.asarray(data(rng, (), first)), None, threads=(1,), **attributes)
            check("qlinear_conv", *linear(rng, x, w, second, channels=bool(n % 2)), threads=(1,), **attributes)


@pytest.mark.parametrize("first, second", PAIRS)
def test_extremes(first, second):
    """The least and greatest numbers beside the least and greatest zero points: no product and no pair saturates."""
    ends = [[np.iinfo(dtype).min, np.iinfo(dtype).max] for dtype in (first, second)]
    for (x, w), (zx, zw) in ((pair, zeros) for pair in np.ndindex(2, 2) for zeros in np.ndindex(2, 2)):
        a, b, za, zb = ends[0][x], ends[1][w], ends[0][zx], ends[1][zw]
        for group, channels in ((1, 67), (9, 1)):
            tensors = np.full((1, group * channels, 5, 19), a, first), np.full((group, channels, 3, 3), b, second)
            (y,) = check("conv_integer", *tensors, array(za, first), array(zb, second), group=group, threads=(1,))
            assert (y == 9 * channels * (a - za) * (b - zb)).all()


def test_the_padding_is_the_zero_point():
    """Whatever zero points there are, a tap in the padding adds nothing."""
    x, w = np.full((1, 1, 1, 1), 200, np.uint8), np.full((1, 1, 3, 3), 100, np.uint8)
    (y,) = check("conv_integer", x, w, array(50, np.uint8), array(30, np.uint8), pads=[1] * 4)
    assert y.ravel().tolist() == [(200 - 50) * (100 - 30)]
    (y,) = check("conv_integer", x, w, array(50, np.uint8), array(30, np.uint8), pads=[2] * 4, strides=[4, 4])
    assert y.ravel().tolist() == [10500]
    (y,) = check("conv_integer", x, w, array(50, np.uint8), array(30, np.uint8), pads=[5] * 4, strides=[4, 4])
    assert y.ravel().tolist() == [0, 0, 0, 0, 10500, 0, 0, 0, 0]


def test_bias_wraps():
    one, zero = array(1, np.float32), array(0, np.uint8)
    x = w = np.full((1, 1, 1), 255, np.uint8)
    inputs = [x, one, zero, w, one, zero, array(1e8, np.float32), array(100, np.uint8), array([2**31 - 1], np.int32)]
    assert check("qlinear_conv", *inputs)[0].item() == 100 + round((65025 + 2**31 - 1 - 2**32) / 1e8)


def test_special_scales():
    x, w = array([[[0, 1, 2, 5, 200]]], np.uint8), np.ones((1, 1, 1), np.uint8)
    zero = array(1, np.uint8)
    for dtype in EIGHT:
        for a, b, y in ((np.nan, 1, 1), (1, 1, 0), (np.inf, 1, 1), (-1, 1, 1), (1, 1, np.inf), (0, 1, 0), (1e30, 1e30, 1)):
            scales = [array(s, np.float32) for s in (a, b, y)]
            check("qlinear_conv", x, scales[0], zero, w, scales[1], array(0, np.uint8), scales[2], array(3, dtype))


def test_no_channels():
    x, w = np.zeros((2, 0, 5, 6), np.uint8), np.zeros((4, 0, 3, 3), np.int8)
    assert not check("conv_integer", x, w)[0].any()
    half = array(0.5, np.float32)
    bias = np.array([0, 1, 2, -3], np.int32)
    inputs = [x, half, array(1, np.uint8), w, half, array(2, np.int8), half, array(7, np.int8), bias]
    (y,) = check("qlinear_conv", *inputs)
    assert y[1, :, 2, 3].tolist() == [7, 7, 8, 5]  # 0.5, -1.5: half to even


def test_empty():
    rng = np.random.default_rng(3)
    for of_x, of_w in (((0, 3, 5, 6), (4, 3, 3, 3)), ((2, 3, 5, 6), (0, 3, 3, 3)), ((1, 3, 0, 6), (4, 3, 1, 3))):
        x, w = data(rng, of_x, np.uint8), data(rng, of_w, np.int8)
        check("conv_integer", x, w)
        check("qlinear_conv", *linear(rng, x, w))


@pytest.mark.parametrize("first, second", PAIRS)
def test_rows_do_not_depend_on_the_batch(first, second):
    rng = np.random.default_rng(4)
    for of_w, group in (((18, 13, 3, 3), 1), ((13, 1, 3, 3), 13), ((21, 13, 1, 1), 1)):
        x, w = data(rng, (8, 13, 9, 11), first), data(rng, of_w, second)
        attributes = {"group": group, "pads": [1] * 4}
        inputs = linear(rng, x, w, second)
        for name, threads in variants():
            with isa(name):
                whole = kernels.conv_integer(x, w, inputs[2], inputs[5], threads=threads, **attributes)
                quantized = kernels.qlinear_conv(*inputs, threads=threads, **attributes)
                for row in range(8):
                    one = x[row : row + 1]
                    got = kernels.conv_integer(one, w, inputs[2], inputs[5], **attributes)
                    assert_bits(got, whole[row : row + 1], f"row {row}")
                    assert_bits(kernels.qlinear_conv(one, *inputs[1:], **attributes), quantized[row : row + 1], f"row {row}")


@pytest.mark.parametrize("first, second", PAIRS)
def test_agrees_with_onnxruntime(first, second):
    rng = np.random.default_rng(5)
    for of_x, of_w, attributes in (
        ((2, 5, 9, 11), (7, 5, 3, 3), {"pads": [1, 0, 1, 2], "strides": [2, 1]}),
        ((1, 6, 30), (6, 1, 5), {"group": 6, "dilations": [2]}),
        ((1, 4, 5, 6, 7), (6, 2, 2, 3, 2), {"group": 2}),
    ):
        x, w = data(rng, of_x, first), data(rng, of_w, second)
        inputs = linear(rng, x, w, first)
        zero = np.asarray(data(rng, (), second))
        want = run_cpu("ConvInteger", [x, w, inputs[2], zero], attributes, 10)
        assert_bits(kernels.conv_integer(x, w, inputs[2], zero, **attributes), want[0])
        want = run_cpu("QLinearConv", inputs, attributes, 10)
        assert (want is None) == ((first, second) == ("int8", "uint8"))
        if want is not None:
            assert_bits(kernels.qlinear_conv(*inputs, **attributes), want[0])


# ---- sessions ----


def check_session(operator, inputs, attributes, want, form):
    arrays = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    constants = {k: v for k, v in arrays.items() if form == "constants" and k != "x0"}
    feeds = {k: v for k, v in arrays.items() if k not in constants}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)] if form == "dynamic" else v.shape) for k, v in feeds.items()}
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    proto = graph([node(operator, names, **attributes)], shapes, constants, opset=13)
    for face in FACES:
        assert_bits(np.asarray(session(proto, face).run(None, feeds)[0]), want[0], f"{operator} {face} {form}")


@given(strategies.convolutions(False), st.sampled_from(FORMS))
@examples(60)
def test_random_integer_in_a_session(case, form):
    inputs, attributes = case
    want = check("conv_integer", *inputs, threads=(1,), **attributes)
    if isinstance(want, tuple):
        check_session("ConvInteger", inputs, attributes, want, form)


@given(strategies.convolutions(True), st.sampled_from(FORMS))
@examples(60)
def test_random_qlinear_in_a_session(case, form):
    inputs, attributes = case
    want = check("qlinear_conv", *inputs, threads=(1,), **attributes)
    if isinstance(want, tuple):
        check_session("QLinearConv", inputs, attributes, want, form)


# ---- errors ----

X, W = np.ones((1, 2, 5, 5), np.uint8), np.ones((4, 2, 3, 3), np.int8)
ZERO, SIGNED, ONE = np.ones((), np.uint8), np.ones((), np.int8), np.ones((), np.float32)
LINEAR = [X, ONE, ZERO, W, ONE, SIGNED, ONE, ZERO, np.ones(4, np.int32)]


def changed(**values):
    """LINEAR with other inputs: a name is i and the number of the input."""
    return [values.get(f"i{i}", value) for i, value in enumerate(LINEAR)]


INVALID = {
    "channels": ("ConvInteger", [X, W[:, :1]], {}, "[Cc]hannel|group|shape|dimension"),
    "rank of W": ("ConvInteger", [X, W[..., 0]], {}, "rank|kernel|W"),
    "group": ("ConvInteger", [X, W], {"group": 3}, "group|[Cc]hannel"),
    "window": ("ConvInteger", [X, W], {"dilations": [4, 4]}, "window|fit|[Ii]nvalid|size"),
    "zero point of X": ("ConvInteger", [X, W, np.ones(2, np.uint8)], {}, "x_zero_point|zero point of x"),
    "zero point of W": ("ConvInteger", [X, W, ZERO, np.ones(2, np.int8)], {}, "w_zero_point|zero point of w"),
    "zero point of W, rank 2": ("ConvInteger", [X, W, ZERO, np.ones((1, 4), np.int8)], {}, "w_zero_point|zero point of w"),
    "x_scale": ("QLinearConv", changed(i1=np.ones(2, np.float32)), {}, "x_scale|scale of x"),
    "x_zero_point": ("QLinearConv", changed(i2=np.ones((1, 1), np.uint8)), {}, "x_zero_point|zero point of x"),
    "w_scale": ("QLinearConv", changed(i4=np.ones(3, np.float32)), {}, "w_scale|scale of w"),
    "w_zero_point": ("QLinearConv", changed(i5=np.ones(2, np.int8)), {}, "w_zero_point|zero point of w"),
    "y_scale": ("QLinearConv", changed(i6=np.ones(4, np.float32)), {}, "y_scale|of y"),
    "y_zero_point": ("QLinearConv", changed(i7=np.ones(4, np.uint8)), {}, "y_zero_point|of y"),
    "B": ("QLinearConv", changed(i8=np.ones(3, np.int32)), {}, "B|bias"),
    "B of rank 0": ("QLinearConv", changed(i8=np.ones((), np.int32)), {}, "B|bias"),
}
FUNCTIONS = {"ConvInteger": "conv_integer", "QLinearConv": "qlinear_conv"}


@pytest.mark.parametrize("name", INVALID)
def test_invalid(name):
    operator, inputs, attributes, reason = INVALID[name]
    function = FUNCTIONS[operator]
    assert check(function, *inputs, threads=(1,), **attributes) is ValueError
    with pytest.raises(ValueError, match=rf"(?si){function}: .*({reason})"):
        getattr(kernels, function)(*inputs, **attributes)
    feeds = {f"x{i}": value for i, value in enumerate(inputs)}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)]) for k, v in feeds.items()}
    for face in FACES:
        with pytest.raises(Exception, match=rf"(?si)({operator}|n).*({reason})"):
            session(graph([node(operator, list(feeds), **attributes)], shapes, opset=10), face).run(None, feeds)


def test_types():
    assert check("conv_integer", X.astype(np.int16), W, threads=(1,)) is NotImplementedError
    assert check("conv_integer", X, W.astype(np.int32), threads=(1,)) is NotImplementedError
    assert check("conv_integer", X, W, SIGNED, threads=(1,)) is ValueError
    assert check("conv_integer", X, W, ZERO, ZERO, threads=(1,)) is ValueError
    assert check("qlinear_conv", *changed(i2=SIGNED), threads=(1,)) is ValueError
    assert check("qlinear_conv", *changed(i5=ZERO), threads=(1,)) is ValueError
    assert check("qlinear_conv", *changed(i8=np.ones(4, np.int64)), threads=(1,)) is ValueError
    for place in (1, 4, 6):
        for dtype in (np.float64, np.float16):
            assert check("qlinear_conv", *changed(**{f"i{place}": np.ones((), dtype)}), threads=(1,)) is NotImplementedError
    assert check("qlinear_conv", *changed(i7=np.ones((), np.int16)), threads=(1,)) is NotImplementedError
    deep = np.ones((1, 2, 3, 3, 3, 3), np.uint8)
    assert check("conv_integer", deep, np.ones((4, 2, 1, 1, 1, 1), np.int8), threads=(1,)) is NotImplementedError
    assert check("conv_integer", X[0, 0], W, threads=(1,)) is ValueError
