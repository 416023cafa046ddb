"""openvino_convolution and openvino_group_convolution against the reference, bit for bit. docs/openvino.md"""

import re

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, assert_bits, check, data, examples, kernels
from hypothesis import given
from hypothesis import strategies as st

CONV, GROUP = "openvino_convolution", "openvino_group_convolution"
CASES = {"NOTSET": "explicit", "SAME_UPPER": "same_upper", "SAME_LOWER": "same_lower", "VALID": "valid"}


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


@st.composite
def layers(draw):
    """(function, x, w, positional attributes, auto_pad)."""
    sizes, kernel, window = draw(strategies.windows())
    r = len(kernel)
    group, c, m = draw(strategies.channels())
    function = GROUP if group > 1 or draw(st.booleans()) else CONV
    weight = [group, m, c, *kernel] if function == GROUP else [m, c, *kernel]
    rng = np.random.default_rng(draw(strategies.seeds()))
    dtype, kind = draw(st.sampled_from(FLOAT_PARAMS)), draw(st.sampled_from(KINDS))
    x = data(rng, [draw(strategies.batches()), group * c, *sizes], TYPE_NAMES[dtype], kind)
    w = data(rng, weight, TYPE_NAMES[dtype], kind)
    auto_pad = draw(st.sampled_from((str, str.upper, str.title)))(CASES[window["auto_pad"]])
    if window["auto_pad"] == "NOTSET":
        pads = window.get("pads", [0] * (2 * r))
        begin, end = pads[:r], pads[r:]
        auto_pad = draw(st.sampled_from((None, auto_pad)))
    else:
        begin, end = draw(st.sampled_from((([7] * r, [9] * r), ([0] * r, [0] * r), (None, None), ([-1], [1] * 9), ([], "?"))))
    return function, x, w, (window["strides"], begin, end, window["dilations"]), auto_pad


@given(layers())
@examples(250)
def test_random(layer):
    function, x, w, attributes, auto_pad = layer
    check(function, x, w, *attributes, auto_pad=auto_pad)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("r", [1, 2, 3])
@pytest.mark.parametrize("auto_pad", [None, "explicit", "same_upper", "same_lower", "valid"])
def test_every_rank_type_and_padding(r, dtype, auto_pad):
    rng = np.random.default_rng(r)
    x = data(rng, [2, 6, *(9, 8, 7)[:r]], TYPE_NAMES[dtype], "wide")
    attributes = [2, 1, 3][:r], [1, 2, 0][:r], [0, 3, 1][:r], [1, 2, 1][:r]
    kernel = (2, 3, 2)[:r]
    check(CONV, x, data(rng, [5, 6, *kernel], TYPE_NAMES[dtype], "wide"), *attributes, auto_pad=auto_pad)
    check(GROUP, x, data(rng, [3, 4, 2, *kernel], TYPE_NAMES[dtype], "wide"), *attributes, auto_pad=auto_pad)


def test_example_of_the_operator_text():
    x, w = ones(1, 3, 224, 224), ones(64, 3, 5, 5)
    y = kernels.openvino_convolution(x, w, [1, 1], [2, 2], [2, 2], [1, 1])
    assert y.shape == (1, 64, 224, 224) and y[0, 0, 100, 100] == 75 and y[0, 63, 0, 0] == 27


def test_weight_layouts():
    """OIYX and OIZYX: X runs fastest."""
    x = np.arange(3 * 4 * 5, dtype=np.float32).reshape(1, 1, 3, 4, 5)
    for z, y, row in np.ndindex(2, 3, 2):
        w = np.zeros((1, 1, 2, 3, 2), np.float32)
        w.flat[(z * 3 + y) * 2 + row] = 1
        got = kernels.openvino_convolution(x, w, [1, 1, 1], [0, 0, 0], [0, 0, 0], [1, 1, 1])
        assert got[0, 0, 0, 0, 0] == x[0, 0, z, y, row]
        flat = kernels.openvino_convolution(x[:, :, z], w[:, :, z], [1, 1], [0, 0], [0, 0], [1, 1])
        assert flat[0, 0, 0, 0] == x[0, 0, z, y, row]


def test_same_sizes_and_the_odd_element():
    x = np.arange(5, dtype=np.float32).reshape(1, 1, 5)
    w = np.array([[[1, 10]]], np.float32)
    for auto_pad, want in (("same_upper", [10, 21, 32, 43, 4]), ("same_lower", [0, 10, 21, 32, 43])):
        y = kernels.openvino_convolution(x, w, [1], [3], [3], [1], auto_pad)
        assert y.ravel().tolist() == want
    for n in range(1, 12):
        for s in range(1, 5):
            y = kernels.openvino_convolution(ones(1, 1, n), w, [s], None, None, [3], "same_upper")
            assert y.shape[2] == -(-n // s)


def test_groups_read_their_own_channels():
    x = np.array([1, 10, 100, 1000], np.float32).reshape(1, 4, 1)
    w = np.arange(1, 13, dtype=np.float32).reshape(2, 3, 2, 1)
    y = kernels.openvino_group_convolution(x, w, [1], [0], [0], [1])
    assert y.ravel().tolist() == [21, 43, 65, 8700, 10900, 13100]
    dense = kernels.openvino_convolution(x[:, :2], w[0], [1], [0], [0], [1])
    assert_bits(y[:, :3], dense)


def test_one_group_is_a_convolution():
    rng = np.random.default_rng(0)
    x, w = data(rng, [2, 5, 7, 8], np.float32, "special"), data(rng, [6, 5, 3, 2], np.float32, "special")
    attributes = [2, 1], [1, 0], [0, 1], [1, 2]
    assert_bits(
        kernels.openvino_group_convolution(x, w[None], *attributes), kernels.openvino_convolution(x, w, *attributes, threads=3)
    )


def test_infinite_weight_over_padding():
    (y,) = check(CONV, ones(1, 1, 4), np.array([[[np.inf, 1, 1]]], np.float32), [1], [1], [1], [1])
    assert np.isnan(y[0, 0, 0]) and (y[0, 0, 1:] == np.inf).all()


X, W = ones(2, 4, 6, 7), ones(6, 4, 3, 3)
GOOD = {"strides": [1, 1], "pads_begin": [0, 0], "pads_end": [0, 0], "dilations": [1, 1]}
INVALID, UNSUPPORTED = ValueError, NotImplementedError
ATTRIBUTES = [
    *((name, value) for name in GOOD for value in (None, [], [1], [1, 1, 1], [1] * 40, [-1, 1], [1, -(2**63)])),
    *((name, value) for name in ("strides", "dilations") for value in ([0, 1], [1, 0])),
    *(("auto_pad", value) for value in ("", "same", "notset", "SAME UPPER", "none", 1, b"valid", ["valid"])),
]


@pytest.mark.parametrize("function, w", [(CONV, W), (GROUP, W.reshape(1, 6, 4, 3, 3))], ids=["conv", "group"])
@pytest.mark.parametrize("name, value", ATTRIBUTES)
def test_bad_attribute(function, w, name, value):
    with pytest.raises(INVALID, match=f"^{function}: .*{name}"):
        getattr(kernels, function)(X, w, **(GOOD | {name: value}))


@pytest.mark.parametrize("auto_pad", ["same_upper", "SAME_LOWER", "Valid"])
@pytest.mark.parametrize("name", ["pads_begin", "pads_end"])
def test_ignored_pads_are_not_looked_at(auto_pad, name):
    want = kernels.openvino_convolution(X, W, **GOOD, auto_pad=auto_pad)
    for value in (None, [], [-1, -1], [5] * 9, "text", [2**70]):
        assert_bits(kernels.openvino_convolution(X, W, **(GOOD | {name: value}), auto_pad=auto_pad), want)


@pytest.mark.parametrize(
    "function, x, w, kind, text",
    [
        (CONV, ones(4), ones(4), INVALID, "X|rank"),
        (CONV, ones(), ones(), INVALID, "X|rank"),
        (CONV, ones(2, 4), ones(6, 4), INVALID, "X|rank"),
        (CONV, ones(*[1] * 6), ones(*[1] * 6), UNSUPPORTED, "spatial"),
        (CONV, ones(*[1] * 20), ones(*[1] * 20), (INVALID, UNSUPPORTED), "rank|spatial|dimension"),
        (CONV, X, ones(6, 4, 3), INVALID, "W|rank"),
        (CONV, X, ones(6, 4, 0, 3), INVALID, "W|kernel"),
        (CONV, X, ones(6, 3, 3, 3), INVALID, "channel|group|W"),
        (CONV, X, ones(6, 4, 7, 1), INVALID, "window|fit"),
        (CONV, X, W.astype(np.float64), INVALID, "type"),
        (CONV, X.astype(np.int32), W.astype(np.int32), UNSUPPORTED, "type"),
        (CONV, X.astype(complex), W, UNSUPPORTED, "type"),
        (CONV, "text", W, TypeError, "type"),
        (GROUP, X, W, INVALID, "w|rank"),
        (GROUP, X, ones(1, 1, 6, 4, 3, 3), INVALID, "w|rank"),
        (GROUP, X, ones(0, 2, 4, 3, 3), INVALID, "group"),
        (GROUP, X, ones(3, 2, 4, 3, 3), INVALID, "channel|group|W"),
        (GROUP, X, ones(2, 2, 2, 3, 0), INVALID, "W|kernel"),
        (GROUP, ones(2, 4), ones(2, 2, 2), INVALID, "X|rank"),
    ],
)
def test_bad_input(function, x, w, kind, text):
    with pytest.raises(kind) as caught:
        getattr(kernels, function)(x, w, **GOOD)
    assert re.match(f"{function}: .*({text})", str(caught.value)), caught.value


def test_bad_threads():
    with pytest.raises(ValueError, match="threads"):
        kernels.openvino_convolution(X, W, **GOOD, threads=0)


def test_a_list_that_holds_no_integers():
    with pytest.raises(TypeError):
        kernels.openvino_convolution(X, W, [1.5, 1], [0, 0], [0, 0], [1, 1])
    with pytest.raises(OverflowError):
        kernels.openvino_convolution(X, W, [2**70, 1], [0, 0], [0, 0], [1, 1])
