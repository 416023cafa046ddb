"""The operator text of Conv, version 11, sentence by sentence: each test names the sentences that it holds us to.

Every model is of opset 11 and runs on both faces, beside the NumPy face and the reference. Data are small integers, so
that every type must give the one exact result, which a loop over the definition computes.
"""

import itertools

import numpy as np
import onnx
import pytest
import reference
from faces import FACES, NEWEST_OPSET, cpu, session
from helpers import assert_bits, data, kernels
from onnx import helper

#: What each sentence of the text says, in short.
SENTENCES = {
    "version": "this is version 11; version 22 is the latest",
    "operator": "an input tensor and a filter give the output",
    "X image": "X is N x C x H x W for an image",
    "X general": "X is N x C x D1 .. Dn otherwise",
    "X denotation": "the dimensions of X may be denoted as batch, channel, features",
    "W image": "W is M x C/group x kH x kW",
    "W general": "W is M x C/group x k1 .. kn for more dimensions",
    "W denotation": "the dimensions of W may be denoted as output channels, input channels, spatial",
    "channels": "X.shape[1] is W.shape[1] times group, and W.shape[0] is divisible by group",
    "channels in words": "input channels of the filter times groups are the data's; M is a multiple of the groups",
    "B": "B is optional, of one dimension, M long, and added",
    "Y": "Y is the result of the convolution",
    "Y size": "its dimensions are functions of the kernel, the strides and the pads",
    "types": "double, float and float16, one type for all",
    "difference": "version 1 differs in its text",
}
TYPES = (np.float64, np.float32, np.float16)


def sentences(*names):
    def mark(function):
        function.sentences = names
        return function

    return mark


def test_every_sentence_has_a_test():
    tests = [value for name, value in globals().items() if name.startswith("test_") and hasattr(value, "sentences")]
    assert {name for test in tests for name in test.sentences} == set(SENTENCES)


def definition(x, w, b=None, group=1, strides=None, pads=None, dilations=None):
    """The convolution in integers, from the sizes that the text names."""
    (n, c), (m, per_group), kernel = x.shape[:2], w.shape[:2], w.shape[2:]
    r = len(kernel)
    strides, dilations, pads = strides or [1] * r, dilations or [1] * r, pads or [0] * 2 * r
    assert c == per_group * group and m % group == 0
    padded = np.pad(x, [(0, 0), (0, 0), *zip(pads[:r], pads[r:], strict=True)])
    sizes = [(padded.shape[2 + i] - dilations[i] * (kernel[i] - 1) - 1) // strides[i] + 1 for i in range(r)]
    y = np.zeros((n, m, *sizes), np.int64)
    for channel in range(m):
        first = channel // (m // group) * per_group
        for o in itertools.product(*map(range, sizes)):
            starts = [o[i] * strides[i] for i in range(r)]
            window = [slice(start, start + d * (k - 1) + 1, d) for start, k, d in zip(starts, kernel, dilations, strict=True)]
            taps = padded[(slice(None), slice(first, first + per_group), *window)]
            y[(slice(None), channel, *o)] = (taps * w[channel]).reshape(n, -1).sum(axis=1)
    return y if b is None else y + b.reshape(-1, *[1] * r)


def small(seed, shape, dtype=np.float32):
    return data(np.random.default_rng(seed), shape, dtype, "integers")


def denoted(name, array, denotation, dynamic):
    """The description of a graph input; `denotation` names its dimensions, or is empty."""
    shape = [f"{name}{i}" for i in range(array.ndim)] if dynamic else array.shape
    value = helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), shape)
    for dimension, text in zip(value.type.tensor_type.shape.dim, denotation, strict=False):
        dimension.denotation = text
    return value


def model(arrays, attributes, opset=11, denotations=((), ()), dynamic=False):
    names = ["X", "W", "B"][: len(arrays)]
    values = [denoted(n, a, d, dynamic) for n, a, d in zip(names, arrays, (*denotations, ()), strict=False)]
    graph = helper.make_graph(
        [helper.make_node("Conv", names, ["Y"], "conv", **attributes)], "conv11", values, [onnx.ValueInfoProto(name="Y")]
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return proto.SerializeToString(), dict(zip(names, arrays, strict=True))


def run(x, w, b=None, *, opset=11, denotations=((), ()), dynamic=False, **attributes):
    """Y, the same from the two faces, the NumPy face and the reference."""
    arrays = [x, w] if b is None else [x, w, b]
    proto, feeds = model(arrays, attributes, opset, denotations, dynamic)
    y = kernels.conv(*arrays, **attributes)
    assert_bits(y, reference.conv(*arrays, **attributes), "NumPy face")
    for face in FACES:
        assert_bits(session(proto, face).run(None, feeds)[0], y, face)
    return y


def refused(x, w, b=None, *, pattern, **attributes):
    """Invalid on the NumPy face and on both others, which name the operator."""
    arrays = [x, w] if b is None else [x, w, b]
    with pytest.raises(ValueError, match=rf"^conv: .*({pattern})"):
        kernels.conv(*arrays, **attributes)
    proto, feeds = model(arrays, attributes, dynamic=True)
    for face in FACES:
        with pytest.raises(Exception, match=rf"(?s)Conv.*({pattern})"):
            session(proto, face).run(None, feeds)


@sentences("version", "difference")
@pytest.mark.parametrize("opset", [7, 10, 11, 12, 21, 22])
def test_every_version_is_the_same_function(opset):
    """A model of opset 7 or 10 has version 1, one of 11 to 21 version 11, from 22 on version 22."""
    if opset > NEWEST_OPSET:
        pytest.skip("a newer opset than this onnxruntime has")
    versions = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == "Conv" and s.domain == ""}
    assert max(v for v in versions if v <= 10) == 1 and max(v for v in versions if v <= 21) == 11
    x, w, b = small(1, (2, 4, 7, 6)), small(2, (6, 2, 3, 2)), small(3, (6,))
    attributes = {"group": 2, "strides": [2, 1], "pads": [1, 0, 2, 1], "dilations": [1, 2]}
    y = run(x, w, b, opset=opset, **attributes)
    assert_bits(y, definition(*(a.astype(int) for a in (x, w, b)), **attributes).astype(np.float32))


@sentences("operator", "Y")
def test_input_and_filter_give_the_output():
    """Known by hand, then random ones against the definition."""
    x = np.arange(9, dtype=np.float32).reshape(1, 1, 3, 3)
    w = np.array([[1, 10], [100, 1000]], np.float32).reshape(1, 1, 2, 2)
    assert run(x, w).tolist() == [[[[4310, 5421], [7643, 8754]]]]  # no flipping of the filter
    assert_bits(run(x, np.ones((1, 1, 1, 1), np.float32)), x)
    for seed in range(5):
        x, w = small(seed, (2, 3, 6, 5)), small(seed + 9, (4, 3, 3, 2))
        assert_bits(run(x, w), definition(x.astype(int), w.astype(int)).astype(np.float32))


@sentences("X image", "W image")
@pytest.mark.parametrize("group", [1, 2, 4])
def test_layout_of_an_image(group):
    """The first dimension is the batch, the second the channels, then rows, then columns; M feature maps come out."""
    n, c, h, width, m, kh, kw = 3, 4, 6, 9, 8, 2, 3
    x, w = small(4, (n, c, h, width)), small(5, (m, c // group, kh, kw))
    y = run(x, w, group=group)
    assert y.shape == (n, m, h - kh + 1, width - kw + 1)
    for image in range(n):
        assert_bits(run(x[image : image + 1], w, group=group), y[image : image + 1])
    # one element of X at a time: which outputs it reaches, and through which element of W
    for image, channel, row, column in ((0, 0, 0, 0), (2, 3, 5, 8), (1, 2, 3, 4)):
        one = np.zeros_like(x)
        one[image, channel, row, column] = 1
        y, want = run(one, w, group=group), np.zeros((n, m, h - kh + 1, width - kw + 1), np.float32)
        for o, i, j in itertools.product(range(m), range(kh), range(kw)):
            first = o // (m // group) * (c // group)
            if 0 <= channel - first < c // group and 0 <= row - i <= h - kh and 0 <= column - j <= width - kw:
                want[image, o, row - i, column - j] = w[o, channel - first, i, j]
        np.testing.assert_array_equal(y, want)


@sentences("X general", "W general")
@pytest.mark.parametrize("sizes, kernel", [((11,), (4,)), ((6, 7), (3, 2)), ((5, 4, 6), (2, 3, 2))], ids=str)
def test_other_numbers_of_dimensions(sizes, kernel):
    r = len(sizes)
    x, w, b = small(6, (2, 4, *sizes)), small(7, (6, 2, *kernel)), small(8, (6,))
    attributes = {"group": 2, "strides": [2] * r, "pads": [1] * r + [0] * r, "dilations": [1] * (r - 1) + [2]}
    y = run(x, w, b, **attributes)
    assert_bits(y, definition(*(a.astype(int) for a in (x, w, b)), **attributes).astype(np.float32))
    refused(x, w[..., 0], pattern="rank|dimensions")
    refused(x, w[..., None], pattern="rank|dimensions")


@sentences("X general", "W general")
def test_four_dimensions_are_left_to_onnx_runtime():
    """docs/conv.md: they have a meaning that we do not serve. The custom-op library cannot hand them on."""
    x, w = small(1, (1, 2, 3, 3, 3, 3)), small(2, (2, 2, 2, 2, 2, 2))
    with pytest.raises(NotImplementedError, match=r"^conv: .*spatial"):
        kernels.conv(x, w)
    proto, feeds = model([x, w], {})
    for face in FACES:
        if face == "plugin":
            np.testing.assert_array_equal(session(proto, face).run(None, feeds)[0], cpu(proto, feeds)[0])
        else:
            with pytest.raises(Exception, match=r"Conv.*not served"):
                session(proto, face)


@sentences("X general")
def test_too_few_dimensions():
    for rank in (1, 2):
        refused(small(1, (4,) * rank), small(2, (4,) * rank), pattern="rank|spatial|dimension")


@sentences("X denotation", "W denotation")
@pytest.mark.parametrize("r", [1, 2, 3])
def test_dimension_denotation(r):
    """Denoted dimensions are in the order of the text, and the result is that without them."""
    x, w = small(3, (2, 4, *[6] * r)), small(4, (6, 2, *[3] * r))
    denotations = (
        ["DATA_BATCH", "DATA_CHANNEL", *["DATA_FEATURE"] * r],
        ["FILTER_OUT_CHANNEL", "FILTER_IN_CHANNEL", *["FILTER_SPATIAL"] * r],
    )
    for dynamic in (False, True):
        proto, _ = model([x, w], {"group": 2}, denotations=denotations, dynamic=dynamic)
        inputs = onnx.load_from_string(proto).graph.input
        assert [[d.denotation for d in i.type.tensor_type.shape.dim] for i in inputs] == list(denotations)
        y = run(x, w, group=2, denotations=denotations, dynamic=dynamic)
        assert_bits(y, run(x, w, group=2))
    batch, channels, outputs = 2, 4, 6
    assert y.shape[:2] == (batch, outputs) and channels == w.shape[1] * 2


@sentences("channels", "channels in words")
@pytest.mark.parametrize("group", [1, 2, 3, 6])
def test_channels_and_groups(group):
    """Every C and M: served if and only if C = W.shape[1] * group and M is a multiple of group."""
    for c, per_group, m in itertools.product((2, 6, 12), (1, 2, 4, 6), (3, 6, 12)):
        x, w = small(1, (1, c, 4)), small(2, (m, per_group, 2))
        if c == per_group * group and m % group == 0:
            y = run(x, w, group=group)
            assert_bits(y, definition(x.astype(int), w.astype(int), group=group).astype(np.float32))
        elif (c + per_group + m) % 5 == 0:  # a part of the others in sessions too
            refused(x, w, group=group, pattern="channel|group")
        else:
            with pytest.raises(ValueError, match=r"^conv: .*(channel|group)"):
                kernels.conv(x, w, group=group)


@sentences("channels", "channels in words")
@pytest.mark.parametrize("group", [0, -1])
def test_no_group(group):
    refused(small(1, (1, 4, 5)), small(2, (4, 4, 2)), group=group, pattern="group")


@sentences("channels", "channels in words")
def test_feature_maps_not_divisible_by_the_groups():
    refused(small(1, (1, 4, 5, 5)), small(2, (5, 2, 2, 2)), group=2, pattern="group")
    refused(small(1, (1, 4, 5, 5)), small(2, (6, 2, 2, 2)), group=3, pattern="channel|group")


@sentences("B")
def test_bias():
    """One number per feature map, added to every position; left out it is nothing, not even +0."""
    x, w, b = small(1, (2, 3, 6, 5)), small(2, (4, 3, 3, 3)), np.array([1, -20, 0, 300], np.float32)
    without = run(x, w)
    assert_bits(run(x, w, b), without + b[None, :, None, None])
    assert_bits(run(x, w, b * 0), without)
    for wrong in (b[:3], np.append(b, b[:1]), b[:1], b[:, None], b[None], np.float32(1).reshape(())):
        refused(x, w, np.asarray(wrong), pattern="bias|B ")


SIZES = list(itertools.product((1, 2, 3), (1, 2, 3), (0, 1, 2), (0, 1)))


@sentences("Y size")
def test_output_dimensions():
    """floor((n + pads - kernel) / stride) + 1 on every axis, the axes independent of each other."""
    x = small(1, (2, 2, 6, 7))
    for (kh, sh, top, bottom), (kw, sw, left, right) in zip(SIZES, reversed(SIZES), strict=True):
        w = small(2, (3, 2, kh, kw))
        attributes = {"strides": [sh, sw], "pads": [top, left, bottom, right], "kernel_shape": [kh, kw]}
        y = kernels.conv(x, w, **attributes)
        assert y.shape == (2, 3, (6 + top + bottom - kh) // sh + 1, (7 + left + right - kw) // sw + 1)
        del attributes["kernel_shape"]
        assert_bits(y, definition(x.astype(int), w.astype(int), **attributes).astype(np.float32))


@sentences("Y size")
@pytest.mark.parametrize("size", SIZES[::7], ids=str)
def test_output_dimensions_in_sessions(size):
    kernel, stride, before, after = size
    x, w = small(3, (1, 2, 8)), small(4, (3, 2, kernel))
    for dynamic in (False, True):
        y = run(x, w, strides=[stride], pads=[before, after], dynamic=dynamic)
        assert y.shape == (1, 3, (8 + before + after - kernel) // stride + 1)
    proto, _ = model([x, w], {"strides": [stride], "pads": [before, after]})
    for face in FACES:
        assert session(proto, face).get_outputs()[0].shape == list(y.shape)


@sentences("Y size")
@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"])
def test_pad_lengths_from_auto_pad(auto_pad):
    x = small(5, (1, 2, 9, 10))
    for kernel, stride in itertools.product((1, 2, 3, 4), (1, 2, 3)):
        if kernel < stride:
            continue  # docs/conv.md: ONNX Runtime's shape inference takes negative padding there
        w = small(6, (3, 2, kernel, kernel))
        y = run(x, w, auto_pad=auto_pad, strides=[stride] * 2)
        same = auto_pad.startswith("SAME")
        assert y.shape[2:] == tuple(-(-n // stride) if same else (n - kernel) // stride + 1 for n in (9, 10))
        total = [max(0, (y.shape[2 + i] - 1) * stride + kernel - n) if same else 0 for i, n in enumerate((9, 10))]
        small_half, large_half = [t // 2 for t in total], [t - t // 2 for t in total]
        pads = large_half + small_half if auto_pad == "SAME_LOWER" else small_half + large_half
        assert_bits(y, run(x, w, pads=pads, strides=[stride] * 2))


@sentences("Y size")
def test_a_window_that_does_not_fit():
    refused(small(1, (1, 2, 3, 9)), small(2, (2, 2, 4, 2)), pattern="window|fit")
    refused(small(1, (1, 2, 9, 3)), small(2, (2, 2, 2, 2)), dilations=[1, 3], pattern="window|fit")


@sentences("types")
@pytest.mark.parametrize("dtype", TYPES, ids=lambda t: np.dtype(t).name)
def test_allowed_types(dtype):
    """The list names float16 twice. X, W, B and Y are of one type."""
    x, w, b = small(1, (2, 4, 6, 5), dtype), small(2, (6, 2, 3, 3), dtype), small(3, (6,), dtype)
    y = run(x, w, b, group=2, pads=[1, 1, 1, 1])
    want = definition(*(a.astype(int) for a in (x, w, b)), group=2, pads=[1, 1, 1, 1])
    assert_bits(y, want.astype(dtype))


@sentences("types")
def test_other_types():
    x, w = small(1, (1, 2, 6)), small(2, (3, 2, 3))
    for dtype in (np.int8, np.int32, np.int64, np.uint8, bool):
        with pytest.raises(NotImplementedError, match=r"^conv: .*(type|not supported)"):
            kernels.conv(x.astype(dtype), w.astype(dtype))
        proto, feeds = model([x.astype(dtype), w.astype(dtype)], {})
        for face in FACES:
            with pytest.raises(Exception, match="Conv"):
                session(proto, face).run(None, feeds)
    for other in itertools.permutations(TYPES, 2):
        with pytest.raises(ValueError, match=r"^conv: .*type"):
            kernels.conv(x.astype(other[0]), w.astype(other[1]))
        proto, feeds = model([x.astype(other[0]), w.astype(other[1])], {})
        for face in FACES:
            with pytest.raises(Exception, match="Conv"):
                session(proto, face).run(None, feeds)
