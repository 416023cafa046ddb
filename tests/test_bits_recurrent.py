"""LSTM, GRU and RNN against the reference. docs/recurrent.md"""

import itertools

import numpy as np
import pytest
from helpers import TYPE_NAMES, assert_bits, bits, check, data, examples, kernels
from hypothesis import given
from reference.recurrent import ACTIVATIONS
from strategies_recurrent import GATES, NAMES, recurrents

OPERATORS = list(GATES)
F = np.float32


def arrays(operator, t, n, size, hidden, directions=1, dtype=F, kind="normal", scale=0.5, seed=0):
    """X, W, R, B and the states; LSTM's P too. None in the place of sequence_lens."""
    rng = np.random.default_rng(seed)
    g = GATES[operator]
    shapes = [(t, n, size), (directions, g * hidden, size), (directions, g * hidden, hidden), (directions, 2 * g * hidden)]
    inputs = [data(rng, shape, dtype, kind) for shape in shapes]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        inputs[1:3] = ((a * np.dtype(dtype).type(scale)).astype(dtype) for a in inputs[1:3])
    inputs.append(None)
    states = [(directions, n, hidden)] * 2 + [(directions, 3 * hidden)]
    return inputs + [data(rng, shape, dtype, kind) for shape in (states if operator == "lstm" else states[:1])]


@given(recurrents("lstm"))
@examples(300)
def test_lstm_random(node):
    check("lstm", *node.inputs(), threads=(1, 2, 7), **node.attributes)


@given(recurrents("gru"))
@examples(300)
def test_gru_random(node):
    check("gru", *node.inputs(), threads=(1, 2, 7), **node.attributes)


@given(recurrents("rnn"))
@examples(200)
def test_rnn_random(node):
    check("rnn", *node.inputs(), threads=(1, 2, 7), **node.attributes)


@pytest.mark.parametrize("operator", OPERATORS)
def test_every_hidden_and_input_size(operator):
    """Every remainder of a vector and of a block, with one row and with several."""
    for hidden in (*range(0, 36), 63, 64, 65, 130):
        for n, size in ((1, hidden + 1), (3, 5)):
            check(operator, *arrays(operator, 2, n, size, hidden, seed=hidden), threads=(1, 2))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_every_batch(operator, dtype):
    for n in range(1, 20):
        check(operator, *arrays(operator, 3, n, 6, 9, 2, TYPE_NAMES[dtype]), threads=(1, 2), direction="bidirectional")


LARGE = {
    "speech": (7, 1, 128, 128),
    "text": (20, 4, 100, 65),
    "wide batch": (3, 70, 33, 48),
    "long": (400, 2, 3, 5),
    "one row, many units": (3, 1, 40, 300),
    "much to keep": (40, 20, 6, 96),
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", LARGE)
def test_large(operator, name):
    scale = 0.15 if LARGE[name][3] > 50 else 0.5
    check(operator, *arrays(operator, *LARGE[name], kind="normal", scale=scale))
    check(operator, *arrays(operator, *LARGE[name], dtype=np.float16, scale=scale), threads=(2,), direction="reverse")


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", ACTIVATIONS)
def test_every_activation(operator, name):
    """In every place, with numbers from subnormal to infinite among the arguments; alpha and beta of any kind."""
    for kind in ("normal", "wide", "special", "tiny"):
        inputs = arrays(operator, 3, 4, 7, 11, kind=kind)
        for alpha, beta in ((None, None), ([0.3], [0.7]), ([-1.5] * 3, [-0.25] * 3), ([np.inf, np.nan, -0.0],) * 2):
            form = {"activations": [name] * NAMES[operator], "activation_alpha": alpha, "activation_beta": beta}
            check(operator, *inputs, threads=(2,), **form)


def gate(name, x, **attributes):
    """What one activation makes of x: an RNN of one unit whose pre-activation is x."""
    x = np.asarray(x, F)
    y, _ = check("rnn", x[:, None, None], np.ones((1, 1, 1), F), np.zeros((1, 1, 1), F), activations=[name], **attributes)
    return y.ravel()


def test_activations_by_hand():
    x = [-2, -1, -0.5, 0, 0.5, 1, 3]
    np.testing.assert_array_equal(gate("Relu", x), F([0, 0, 0, 0, 0.5, 1, 3]))
    np.testing.assert_array_equal(gate("LeakyRelu", x, activation_alpha=[0.5]), F([-1, -0.5, -0.25, 0, 0.5, 1, 3]))
    np.testing.assert_array_equal(gate("LeakyRelu", [-1]), F([-0.01]))
    np.testing.assert_array_equal(gate("ThresholdedRelu", x), F([0, 0, 0, 0, 0, 1, 3]))
    np.testing.assert_array_equal(gate("ThresholdedRelu", x, activation_alpha=[-0.5]), F([0, 0, -0.5, 0, 0.5, 1, 3]))
    np.testing.assert_array_equal(gate("Affine", x, activation_alpha=[2], activation_beta=[1]), F([-3, -1, 0, 1, 2, 3, 7]))
    np.testing.assert_array_equal(gate("Affine", x), np.zeros(7, F))
    np.testing.assert_array_equal(gate("HardSigmoid", x), F([F(-0.4) + F(0.5), 0.3, 0.4, 0.5, 0.6, 0.7, 1]))
    np.testing.assert_array_equal(gate("Softsign", x), F([F(-2) / 3, -0.5, F(-0.5) / F(1.5), 0, F(0.5) / F(1.5), 0.5, 0.75]))
    np.testing.assert_array_equal(gate("ScaledTanh", x), np.zeros(7, F))
    np.testing.assert_array_equal(gate("Softplus", [100, 1e30, -200]), F([100, 1e30, 0]))
    np.testing.assert_allclose(gate("Tanh", x), np.tanh(x), rtol=1e-6)
    np.testing.assert_allclose(gate("Sigmoid", x), 1 / (1 + np.exp(-np.array(x))), rtol=1e-6)
    np.testing.assert_allclose(gate("ELU", x, activation_alpha=[2]), [2 * np.expm1(v) if v < 0 else v for v in x], rtol=1e-6)
    scaled = gate("scaledtanh", x, activation_alpha=[1.5], activation_beta=[0.25])
    np.testing.assert_allclose(scaled, 1.5 * np.tanh(0.25 * np.array(x)), rtol=1e-6)
    assert np.isnan(gate("Relu", [np.nan, 1])[0])


def test_alpha_goes_to_those_that_have_one():
    inputs = arrays("lstm", 3, 2, 4, 5)
    names = ["HardSigmoid", "Tanh", "LeakyRelu"]
    given_both = kernels.lstm(*inputs, activations=names, activation_alpha=[0.3, 0.6], activation_beta=[0.1])
    more = kernels.lstm(*inputs, activations=names, activation_alpha=[0.3, 0.6, 9], activation_beta=[0.1, 9])
    other = kernels.lstm(*inputs, activations=names, activation_alpha=[0.3, 0.5, 0.6], activation_beta=[0.1])
    default = kernels.lstm(*inputs, activations=names, activation_alpha=[0.3], activation_beta=[0.1])
    stated = kernels.lstm(*inputs, activations=names, activation_alpha=[0.3, 0.01], activation_beta=[0.1])
    for a, b in zip(given_both, more, strict=True):
        assert_bits(a, b)
    for a, b in zip(default, stated, strict=True):
        assert_bits(a, b)
    assert (given_both[0] != other[0]).any() and (given_both[0] != default[0]).any()


@pytest.mark.parametrize("operator", OPERATORS)
def test_a_row_depends_on_itself_alone(operator):
    """Row b of a batch of 8 is what it is alone, in both layouts, whatever the others hold."""
    inputs = arrays(operator, 5, 8, 19, 37, 2)
    inputs[0][:, 3] = np.nan
    inputs[4] = np.array([5, 0, 3, 5, 1, 5, 2, 4], np.int32)
    whole = check(operator, *inputs, direction="bidirectional")
    for row in range(8):
        alone = [a[:, row : row + 1] if i in (0, 5, 6) else a for i, a in enumerate(inputs)]
        alone[4] = inputs[4][row : row + 1]
        got = getattr(kernels, operator)(*alone, direction="bidirectional")
        assert_bits(got[0], np.ascontiguousarray(whole[0][:, :, row : row + 1]))
        for a, b in zip(got[1:], whole[1:], strict=True):
            assert_bits(a, np.ascontiguousarray(b[:, row : row + 1]))


@pytest.mark.parametrize("operator", OPERATORS)
def test_layouts_are_transposed(operator):
    inputs = arrays(operator, 4, 3, 5, 6, 2)
    inputs[4] = np.array([4, 2, 0], np.int32)
    want = getattr(kernels, operator)(*inputs, direction="bidirectional")
    turned = [np.ascontiguousarray(np.swapaxes(a, 0, 1)) if i in (0, 5, 6) else a for i, a in enumerate(inputs)]
    got = check(operator, *turned, direction="bidirectional", layout=1)
    assert_bits(got[0], np.ascontiguousarray(want[0].transpose(2, 0, 1, 3)))
    for a, b in zip(got[1:], want[1:], strict=True):
        assert_bits(a, np.ascontiguousarray(np.swapaxes(b, 0, 1)))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_a_long_sequence_is_its_steps(operator, direction):
    """Running the steps one at a time with the state handed on; past the end zeros, and X is not read there."""
    inputs = arrays(operator, 6, 2, 5, 7, 2 if direction == "bidirectional" else 1)
    inputs[0][4:, 1] = np.nan
    lens = inputs[4] = np.array([6, 4], np.int32)
    y, *last = check(operator, *inputs, direction=direction)
    assert not bits(y[4:, :, 1]).any()
    for d, name in enumerate(["forward", "reverse"] if direction == "bidirectional" else [direction]):
        for row in range(2):
            pick = [a if i in (0, 4) else a[d : d + 1] for i, a in enumerate(inputs)]
            state = [s[:, row : row + 1] for s in (pick[5:7] if operator == "lstm" else pick[5:6])]
            times = range(lens[row]) if name == "forward" else reversed(range(lens[row]))
            for t in times:
                step = [inputs[0][t : t + 1, row : row + 1], *pick[1:4], None, *state, *pick[7:]]
                out, *state = getattr(kernels, operator)(*step)
                assert_bits(out[0, 0, 0], y[t, d, row])
            for a, b in zip(state, last, strict=True):
                assert_bits(a[0, 0], b[d, row])


@pytest.mark.parametrize("operator", OPERATORS)
def test_no_steps(operator):
    """Length 0, T = 0: zeros, not the initial state. N = 0, H = 0, I = 0."""
    inputs = arrays(operator, 3, 2, 4, 5)
    inputs[4] = np.zeros(2, np.int32)
    for out in check(operator, *inputs):
        assert not bits(out).any()
    for t, n, size, hidden in ((0, 2, 4, 5), (3, 0, 4, 5), (3, 2, 0, 5), (3, 2, 4, 0), (0, 0, 0, 0)):
        for layout in (0, 1):
            first = arrays(operator, t, n, size, hidden)
            turned = [np.swapaxes(a, 0, 1).copy() if layout and i in (0, 5, 6) else a for i, a in enumerate(first)]
            y, *last = check(operator, *turned, layout=layout)
            assert y.shape == ((n, t, 1, hidden) if layout else (t, 1, n, hidden))
            assert all(a.shape == ((n, 1, hidden) if layout else (1, n, hidden)) for a in last)
            if t == 0:
                assert not any(bits(a).any() for a in last)


def test_lstm_by_hand():
    """Gate order, clip before the activation and not in h, peepholes of the old and the new cell, input_forget."""
    one = np.ones((1, 1, 1), F)
    w, r, c0 = F([1, 0, 0, 1]).reshape(1, 4, 1), np.zeros((1, 4, 1), F), np.full((1, 1, 1), 10, F)
    form = {"activations": ["Relu"] * 3}
    b = F([0, 3, 0.5, 0, 0, 0, 0, 0]).reshape(1, 8)
    y, _, c = check("lstm", 5 * one, w, r, b, None, None, c0, **form)  # i = c = 5, o = 3, f = 0.5: C = 5 + 25
    assert c.item() == 30 and y.item() == 90
    y, _, c = check("lstm", 5 * one, w, r, b, None, None, c0, clip=1.0, **form)  # i = c = o = 1, f = 0.5: C = 5 + 1
    assert c.item() == 6 and y.item() == 6
    p = F([-0.25, 0.5, 0.125]).reshape(1, 3)  # i 5 - 2.5, f 0.5 + 1.25, C = 17.5 + 12.5, o 3 + 15
    y, _, c = check("lstm", 5 * one, w, r, b, None, None, c0, p, **form)
    assert c.item() == 30 and y.item() == 540
    y, _, c = check("lstm", 0.25 * one, w, r, b, None, None, c0, input_forget=1, **form)  # f = 0.75, C = 7.5 + 0.0625
    assert c.item() == 7.5625
    b[0, 2], w[0, 2] = np.nan, np.inf
    y, _, c = check("lstm", 0.25 * one, w, r, b, None, None, c0, input_forget=1, **form)
    assert c.item() == 7.5625


def test_gru_by_hand():
    """Gate order, linear_before_reset: Rb inside the product with r or outside."""
    one = np.ones((1, 1, 1), F)
    w, r = F([0, 0, 1]).reshape(1, 3, 1), F([0, 0, 2]).reshape(1, 3, 1)
    b = F([0.25, 0.5, 0, 0, 0, 3]).reshape(1, 6)
    form = {"activations": ["Relu", "Relu"]}  # z = 0.25, r = 0.5, H = 0.75 ht + 0.25 * 4
    y, h = check("gru", one, w, r, b, None, 4 * one, **form)  # ht = 1 + (0.5 * 4 * 2 + 3)
    assert y.item() == h.item() == 0.75 * 8 + 1
    y, h = check("gru", one, w, r, b, None, 4 * one, linear_before_reset=1, **form)  # ht = 1 + 0.5 * (4 * 2 + 3)
    assert y.item() == h.item() == 0.75 * 6.5 + 1


def test_the_parts_are_summed_apart():
    """(x part + Wb) + (h part + Rb): each step of 2^-24 beside 1 is lost where it meets it alone."""
    tiny = F(2.0**-24)
    form = {"activations": ["Relu"]}
    x, w = F([1]).reshape(1, 1, 1), F([1]).reshape(1, 1, 1)
    b = np.array([[0, tiny]], F)
    r, h = np.array([[[tiny]]], F), np.ones((1, 1, 1), F)
    y, _ = check("rnn", x, w, r, b, None, h, **form)  # 1 + (2^-24 + 2^-24)
    assert y.item() == F(1) + 2 * tiny
    y, _ = check("rnn", x, w, r, b[:, ::-1].copy(), None, h, **form)  # (1 + 2^-24) + 2^-24
    assert y.item() == 1


@pytest.mark.parametrize("operator", OPERATORS)
def test_special_values(operator):
    """Infinite and NaN weights, states and inputs: every NaN canonical, absent states are zeros that take part."""
    for seed, kind in itertools.product(range(4), ("special", "infinite")):
        inputs = arrays(operator, 3, 3, 5, 6, kind=kind, scale=1.0, seed=seed)
        check(operator, *inputs, threads=(1, 2))
        check(operator, *inputs[:3], threads=(2,))
        check(operator, *inputs, threads=(2,), clip=1.5)
    x, w = np.zeros((1, 1, 1), F), np.zeros((1, GATES[operator], 1), F)
    (y, *_) = check(operator, x, w, np.full((1, GATES[operator], 1), np.inf, F))
    assert (bits(y) == 0x7FC00000).all()


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sixteen_bits_are_float32_inside(operator, dtype):
    """The state is not rounded between steps: the outputs are those of float32, rounded once."""
    inputs = arrays(operator, 9, 2, 5, 8, dtype=TYPE_NAMES[dtype])
    wide = [a if a is None else a.astype(F) for a in inputs]
    want = getattr(kernels, operator)(*wide)
    for got, one in zip(check(operator, *inputs), want, strict=True):
        assert_bits(got, one.astype(TYPE_NAMES[dtype]))
