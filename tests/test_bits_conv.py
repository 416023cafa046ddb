"""Conv and ConvTranspose against the reference, bit for bit. docs/conv.md, docs/conv_transpose.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, assert_bits, check, data, examples, isa, kernels, variants
from hypothesis import given


@given(strategies.convs())
@examples(300)
def test_conv_random(node):
    check("conv", *node.inputs(), **node.attributes)


@given(strategies.image_convs())
@examples(60)
def test_conv_random_images(node):
    check("conv", *node.inputs(), threads=(1, 2), **node.attributes)


@given(strategies.conv_transposes())
@examples(300)
def test_conv_transpose_random(node):
    check("conv_transpose", *node.inputs(), **node.attributes)


# name: shape of X, shape of W, attributes. Each is there for one border: the lengths of sums (K = C / group * taps), the
# numbers of output channels and positions around vector and block widths, and geometry that is easy to get wrong.
HARD = {
    "1x1": ([1, 70, 9, 9], [18, 70, 1, 1], {}),
    "1x1 long sum": ([1, 1025, 3, 5], [7, 1025, 1, 1], {}),
    "1x1 stride 2": ([2, 33, 9, 11], [20, 33, 1, 1], {"strides": [2, 2]}),
    "1x1 padded": ([1, 5, 4, 4], [7, 5, 1, 1], {"pads": [1, 2, 3, 0]}),
    "3x3 C=64": ([1, 64, 7, 7], [13, 64, 3, 3], {"pads": [1, 1, 1, 1]}),
    "3x3 C=300": ([1, 300, 4, 5], [9, 300, 3, 3], {"pads": [1, 1, 1, 1]}),
    "3x3 stride 2 SAME_UPPER": ([1, 3, 14, 15], [32, 3, 3, 3], {"strides": [2, 2], "auto_pad": "SAME_UPPER"}),
    "7x7/2 stem": ([1, 3, 37, 41], [24, 3, 7, 7], {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    "5x5 row": ([1, 2, 1, 67], [6, 2, 1, 5], {"pads": [0, 2, 0, 2]}),
    "column kernel": ([1, 3, 40, 3], [6, 3, 7, 1], {"pads": [3, 0, 3, 0]}),
    "kernel is the image": ([2, 6, 5, 9], [17, 6, 5, 9], {}),
    "1-D": ([1, 24, 203], [19, 24, 3], {"pads": [1, 1]}),
    "1-D long kernel": ([1, 2, 300], [5, 2, 129], {"strides": [3]}),
    "3-D": ([1, 4, 5, 6, 7], [6, 4, 3, 3, 3], {"pads": [1] * 6}),
    "3-D stride 2": ([1, 3, 6, 7, 8], [17, 3, 2, 3, 2], {"strides": [2, 1, 3]}),
    "grouped 3x3": ([2, 12, 8, 9], [18, 4, 3, 3], {"group": 3, "pads": [1, 1, 1, 1]}),
    "grouped 1x1": ([2, 32, 5, 5], [48, 8, 1, 1], {"group": 4}),
    "depthwise 3x3": ([1, 37, 12, 13], [37, 1, 3, 3], {"group": 37, "pads": [1, 1, 1, 1]}),
    "depthwise 3x3 stride 2": ([2, 19, 13, 37], [19, 1, 3, 3], {"group": 19, "pads": [1, 1, 1, 1], "strides": [2, 2]}),
    "depthwise 3x3 SAME_LOWER": (
        [1, 8, 10, 34],
        [8, 1, 3, 3],
        {"group": 8, "strides": [2, 2], "auto_pad": "SAME_LOWER"},
    ),
    "depthwise 5x5": ([1, 9, 11, 23], [9, 1, 5, 5], {"group": 9, "pads": [2, 2, 2, 2]}),
    "depthwise 5x5 stride 2": ([1, 9, 11, 40], [9, 1, 5, 5], {"group": 9, "pads": [2, 2, 2, 2], "strides": [2, 2]}),
    "depthwise dilated": ([1, 6, 15, 17], [6, 1, 3, 3], {"group": 6, "pads": [2, 2, 2, 2], "dilations": [2, 2]}),
    "depthwise multiplier 3": ([1, 7, 9, 10], [21, 1, 3, 3], {"group": 7, "pads": [1, 1, 1, 1]}),
    "depthwise 1-D": ([2, 10, 50], [10, 1, 9], {"group": 10, "pads": [8, 0]}),
    "depthwise 3-D": ([1, 5, 4, 5, 6], [5, 1, 3, 3, 3], {"group": 5, "pads": [1] * 6}),
    "depthwise narrow": ([1, 5, 3, 1], [5, 1, 3, 3], {"group": 5, "pads": [1, 1, 1, 1]}),
    "huge stride": ([1, 3, 50, 50], [5, 3, 3, 3], {"strides": [47, 31], "pads": [1, 1, 1, 1]}),
    "stride past the input": ([1, 3, 5, 5], [5, 3, 3, 3], {"strides": [1000000, 2000000000], "pads": [1, 1, 1, 1]}),
    "huge dilation": ([1, 3, 45, 44], [5, 3, 3, 3], {"dilations": [22, 21], "pads": [1, 1, 1, 1]}),
    "dilation past the input": ([1, 3, 5, 6], [5, 3, 3, 3], {"dilations": [7, 9], "pads": [7, 9, 7, 9]}),
    "SAME with huge dilation": ([1, 2, 5, 6], [5, 2, 3, 3], {"dilations": [100, 1000], "auto_pad": "SAME_UPPER"}),
    "SAME, kernel below stride": ([1, 2, 7, 10], [5, 2, 1, 2], {"strides": [3, 4], "auto_pad": "SAME_LOWER"}),
    "pads larger than the kernel": ([1, 2, 3, 4], [5, 2, 3, 3], {"pads": [5, 6, 7, 8]}),
    "one-sided pads": ([1, 2, 6, 6], [5, 2, 3, 3], {"pads": [0, 2, 2, 0]}),
    "all padding": ([1, 2, 0, 4], [3, 2, 2, 3], {"pads": [1, 1, 1, 1]}),
    "no batch": ([0, 3, 7, 5], [2, 3, 3, 3], {}),
    "no channels": ([1, 0, 4, 5], [2, 0, 3, 3], {"pads": [1, 1, 1, 1]}),
    "no outputs": ([1, 3, 4, 5], [0, 3, 3, 3], {}),
    "empty SAME": ([1, 3, 0, 5], [2, 3, 3, 3], {"auto_pad": "SAME_UPPER"}),
}
HARD_TRANSPOSE = {
    "2x2/2": ([1, 33, 9, 9], [33, 18, 2, 2], {"strides": [2, 2]}),
    "2x2/2 long sum": ([1, 600, 3, 5], [600, 7, 2, 2], {"strides": [2, 2]}),
    "3x3/2": ([1, 5, 9, 11], [5, 7, 3, 3], {"strides": [2, 2], "pads": [1, 1, 1, 1], "output_padding": [1, 1]}),
    "4x4/2": ([2, 6, 7, 8], [6, 5, 4, 4], {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "5x5/3": ([1, 3, 5, 6], [3, 5, 5, 5], {"strides": [3, 3], "pads": [2, 1, 0, 2]}),
    "1x1": ([1, 20, 7, 9], [20, 17, 1, 1], {}),
    "stride 1": ([1, 4, 7, 9], [4, 6, 3, 3], {"pads": [1, 1, 1, 1]}),
    "gaps": ([1, 4, 5, 6], [4, 6, 2, 2], {"strides": [3, 5], "output_padding": [2, 4]}),
    "1-D": ([2, 9, 100], [9, 5, 16], {"strides": [8], "pads": [4, 4]}),
    "3-D": ([1, 3, 3, 4, 5], [3, 4, 3, 2, 3], {"strides": [2, 1, 2], "pads": [1, 0, 1, 1, 1, 0]}),
    "grouped": ([2, 12, 5, 6], [12, 3, 3, 3], {"group": 4, "strides": [2, 2]}),
    "depthwise": ([1, 21, 6, 7], [21, 1, 4, 4], {"group": 21, "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "depthwise multiplier": ([1, 5, 6, 7], [5, 3, 3, 3], {"group": 5, "strides": [2, 2]}),
    "dilated": ([1, 3, 6, 7], [3, 4, 3, 3], {"dilations": [2, 3], "strides": [3, 2], "output_padding": [2, 2]}),
    "SAME_UPPER": ([1, 3, 5, 6], [3, 4, 3, 4], {"strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "SAME_LOWER": ([1, 3, 5, 6], [3, 4, 3, 4], {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    "SAME, kernel below stride": ([1, 3, 5, 6], [3, 4, 1, 2], {"strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    "VALID": ([1, 3, 5, 6], [3, 4, 3, 4], {"strides": [2, 3], "auto_pad": "VALID"}),
    "smaller output_shape": ([1, 3, 5, 6], [3, 4, 3, 4], {"output_shape": [4, 3]}),
    "larger output_shape": ([1, 3, 3, 3], [3, 2, 3, 3], {"strides": [3, 2], "output_shape": [10, 19]}),
    "output_shape SAME_UPPER": ([1, 3, 5, 6], [3, 4, 3, 4], {"output_shape": [4, 6], "auto_pad": "SAME_UPPER"}),
    "pads larger than the kernel": ([1, 2, 9, 9], [2, 3, 3, 3], {"pads": [4, 5, 3, 2]}),
    "huge stride": ([1, 2, 2, 3], [2, 3, 3, 3], {"strides": [40, 30]}),
    "huge dilation": ([1, 2, 2, 3], [2, 3, 3, 3], {"dilations": [40, 30]}),
    "no input positions": ([1, 2, 0, 3], [2, 3, 3, 3], {}),
    "no batch": ([0, 2, 3, 3], [2, 3, 3, 3], {}),
    "no channels": ([1, 0, 3, 3], [0, 3, 3, 3], {}),
    "no outputs": ([1, 2, 3, 3], [2, 0, 3, 3], {}),
}


def hard_inputs(name, shapes, group, transposed, dtype, kind):
    rng = np.random.default_rng(len(name))
    x, w = shapes
    m = w[1] * group if transposed else w[0]
    return [data(rng, shape, TYPE_NAMES[dtype], kind) for shape in (x, w, [m])]


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("name", HARD)
def test_conv_hard(name, bias):
    x, w, attributes = HARD[name]
    for dtype, kind in zip(FLOAT_PARAMS, ("wide", "normal", "special", "special"), strict=True):
        arrays = hard_inputs(name, (x, w), attributes.get("group", 1), False, dtype, kind)
        check("conv", *arrays[: 2 + bias], threads=(1, 2) if bias else (7,), **attributes)


@pytest.mark.parametrize("bias", [True, False], ids=["bias", "no bias"])
@pytest.mark.parametrize("name", HARD_TRANSPOSE)
def test_conv_transpose_hard(name, bias):
    x, w, attributes = HARD_TRANSPOSE[name]
    for dtype, kind in zip(FLOAT_PARAMS, ("wide", "normal", "special", "special"), strict=True):
        arrays = hard_inputs(name, (x, w), attributes.get("group", 1), True, dtype, kind)
        check("conv_transpose", *arrays[: 2 + bias], threads=(1, 2) if bias else (7,), **attributes)


@pytest.mark.parametrize("m", [*range(1, 21), 31, 32, 33, 65])
def test_conv_output_channels(m):
    rng = np.random.default_rng(m)
    x, w = data(rng, [1, 29, 3, 11], np.float32, "wide"), data(rng, [m, 29, 3, 3], np.float32, "wide")
    check("conv", x, w, data(rng, [m], np.float32), pads=[1, 1, 1, 1], threads=(1, 2))


@pytest.mark.parametrize("kernel", [1, 3])
@pytest.mark.parametrize("positions", [*range(1, 19), 31, 32, 33, 47, 48, 49, 63, 64, 65, 97, *range(198, 203), 513])
def test_conv_output_positions(positions, kernel):
    rng = np.random.default_rng(positions)
    x = data(rng, [1, 23, positions + kernel - 1], np.float32, "wide")
    check("conv", x, data(rng, [7, 23, kernel], np.float32, "wide"), threads=(1, 7))


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 23, 24, 25, 31, 32, 33, 49])
@pytest.mark.parametrize("stride", [1, 2])
def test_conv_depthwise_widths(width, stride):
    rng = np.random.default_rng(width)
    x, w = data(rng, [1, 3, 5, width], np.float32, "special"), data(rng, [3, 1, 3, 3], np.float32, "wide")
    check("conv", x, w, data(rng, [3], np.float32), group=3, strides=[stride] * 2, pads=[1] * 4, threads=(1, 2))


@pytest.mark.parametrize("group", [1, 4], ids=["dense", "depthwise"])
@pytest.mark.parametrize("weight", [np.inf, -np.inf, np.nan])
def test_conv_infinite_weight_over_padding(weight, group):
    """A tap in the padding takes part: +0 times an infinity is NaN."""
    x = np.ones((1, 4, 5, 6), np.float32)
    w = np.ones((4, 4 // group, 3, 3), np.float32)
    w[:, 0, 0, 0] = weight
    (y,) = check("conv", x, w, group=group, pads=[1, 1, 1, 1])
    assert np.isnan(y[:, :, 0, :]).all() and np.isnan(y[:, :, :, 0]).all()
    if not np.isnan(weight):
        assert (y[:, :, 1:, 1:] == weight).all()


def test_conv_transpose_infinite_weight_meets_no_padding():
    """A tap that does not land takes no part."""
    x = np.ones((1, 1, 3), np.float32)
    w = np.array([[[1, np.inf, 1]]], np.float32)
    (y,) = check("conv_transpose", x, w, strides=[4], output_padding=[1])
    np.testing.assert_array_equal(y[0, 0], [1, np.inf, 1, 0] * 3)


def test_conv_rounds_each_product_and_sum():
    """(1 + 2^-12)^2 - 1: a fused multiply-add would keep the 2^-24."""
    v = np.float32(1 + 2.0**-12)
    x = np.array([1, v], np.float32).reshape(1, 2, 1)
    w = np.array([-1, v], np.float32).reshape(1, 2, 1)
    (y,) = check("conv", x, w)
    assert y.item() == 2.0**-11
    (y,) = check("conv_transpose", x, w.reshape(2, 1, 1))
    assert y.item() == 2.0**-11


def test_sums_are_not_reassociated():
    """Adding 1 to 2^25 changes nothing in float32, so the result tells how many ones were added before 2^25."""
    for position in range(40):
        x = np.ones((1, 40, 1, 1), np.float32)
        x[0, position] = 2.0**25
        (y,) = check("conv", x, np.ones((1, 40, 1, 1), np.float32), threads=(1,))
        assert y.item() == 2.0**25 + 4 * round(position / 4), position


def test_channels_are_summed_before_taps_in_conv_transpose():
    """Two taps land on output 1. Inside a tap the channels cancel; in Conv's order they would not."""
    x = np.array([[[1, 1], [1, 1]]], np.float32)
    w = np.array([[[1, 2.0**24]], [[1, -(2.0**24)]]], np.float32)
    (y,) = check("conv_transpose", x, w)
    np.testing.assert_array_equal(y[0, 0], [2, 2, 0])


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_negative_zero(dtype):
    """acc starts from +0, so a sum of -0 terms and a -0 bias is +0."""
    x = np.full((1, 1, 3), -0.0, TYPE_NAMES[dtype])
    w = np.ones((1, 1, 1), TYPE_NAMES[dtype])
    b = np.full(1, -0.0, TYPE_NAMES[dtype])
    for operator in ("conv", "conv_transpose"):
        (y,) = check(operator, x, w, b)
        assert not np.signbit(y).any()


def test_float16_is_rounded_once():
    """Intermediate sums exceed float16; the bias joins before the rounding."""
    h = np.float16
    (y,) = check("conv", np.array([[[60000], [60000]]], h), np.array([[[1], [1]]], h), np.array([-60000], h))
    assert y.item() == 60000
    # 2048 + 1 is a tie in float16 (to 2048), the bias 0.5 moves it up to 2050
    (y,) = check("conv", np.array([[[2048], [1]]], h), np.array([[[1], [1]]], h), np.array([0.5], h))
    assert y.item() == 2050


@pytest.mark.parametrize("operator", ["conv", "conv_transpose"])
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize(
    "x, w, attributes",
    [
        ([8, 16, 7, 9], [16, 16, 3, 3], {"pads": [1, 1, 1, 1]}),
        ([8, 16, 7, 9], [16, 1, 3, 3], {"group": 16, "pads": [1, 1, 1, 1]}),
        ([8, 70, 3, 3], [70, 70, 1, 1], {}),
    ],
    ids=["3x3", "depthwise", "1x1"],
)
def test_rows_do_not_depend_on_the_batch(operator, dtype, x, w, attributes):
    rng = np.random.default_rng(1)
    x, w = (data(rng, shape, TYPE_NAMES[dtype], "wide") for shape in (x, w))
    function = getattr(kernels, operator)
    for name, threads in variants():
        with isa(name):
            whole = function(x, w, threads=threads, **attributes)
            for row in range(8):
                assert_bits(function(x[row : row + 1], w, threads=1, **attributes), whole[row : row + 1], f"row {row}")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("operator", ["conv", "conv_transpose"])
def test_memory_layout_is_irrelevant(operator, kind):
    """Transposed, reversed, strided, broadcast, read-only and misaligned arrays."""
    rng = np.random.default_rng(3)
    x, w = data(rng, [2, 6, 9, 10], np.float32, kind), data(rng, [6, 6, 3, 3], np.float32, kind)
    function = getattr(kernels, operator)
    want = function(x, w)
    misaligned = np.frombuffer(b"\0" + x.tobytes(), np.uint8)[1:].view(np.float32).reshape(x.shape)
    layouts = {
        "fortran": np.asfortranarray(x),
        "channels last": np.ascontiguousarray(x.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
        "strided": np.repeat(x, 2, axis=3)[..., ::2],
        "reversed": np.ascontiguousarray(x[..., ::-1])[..., ::-1],
        "misaligned": misaligned,
    }
    for label, array in layouts.items():
        assert_bits(array, x, label)
        array.flags.writeable = False
        assert_bits(function(array, np.asfortranarray(w)), want, label)
    row = np.broadcast_to(x[:1], x.shape)
    assert_bits(function(row, w), function(row.copy(), w), "broadcast")
