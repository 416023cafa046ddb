"""Receptive fields against brute force: one element of the input is changed, and the outputs that move are looked at.
docs/receptive-field.md"""

import math

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from faces import graph, node
from helpers import examples
from hypothesis import given
from hypothesis import strategies as st
from networks import find
from onnx import helper
from onnxruntime_ep_exact import receptive

# ---- measuring ----


def outputs(model, x):
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def influences(model, shape, axes, amount=1000.0):
    """For every position of every one of some axes of the input: which outputs move when a slab of the input there changes."""
    session = ort.InferenceSession(model, providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    x = rng.uniform(1, 2, shape).astype(np.float32)
    before = session.run(None, {"x": x})[0]
    moved = {}
    for axis in axes:
        rows = []
        for position in range(shape[axis]):
            changed = x.copy()
            changed[(slice(None),) * axis + (position,)] += np.float32(amount)
            rows.append(session.run(None, {"x": changed})[0] != before)
        moved[axis] = np.stack(rows)
    return moved


def measured_region(moved, position):
    """First and last position of every axis that moves an output element, or None."""
    found = {}
    for axis, rows in moved.items():
        hits = np.flatnonzero(rows[(slice(None), *position)])
        if not len(hits):
            return None
        found[axis] = int(hits[0]), int(hits[-1])
    return found


def last_layer(report):
    layer = report.layers[-1]
    assert layer.reason is None, layer.reason
    return layer


def check_regions(model, shape, exact=True):
    """The computed region of every output is the measured one (or holds it)."""
    report = receptive.analyse(model)
    moved = influences(model, shape, report.axes)
    layer = last_layer(report)
    out = next(iter(moved.values())).shape[1:]
    assert all(out[layer.tensor.fields[a].axis] == axis.size for a, axis in layer.axes.items() if axis.size is not None)
    for position in np.ndindex(*out):
        got, want = layer.region(position), measured_region(moved, position)
        if exact:
            assert got == want, (position, got, want)
        elif want is not None:
            assert all(got[a][0] <= want[a][0] and want[a][1] <= got[a][1] for a in want), (position, got, want)
    return layer


def positive(rng, *shape):
    return rng.uniform(0.5, 1, shape).astype(np.float32)


def model(nodes, weights=None, shape=(1, 1, 13, 17), opset=17):
    return graph(nodes, {"x": (np.float32, list(shape))}, weights, opset=opset)


# ---- random networks ----


class Chain:
    """A network that grows node by node; weights are positive, so that nothing cancels."""

    def __init__(self, draw, sizes):
        self.draw, self.r = draw, len(sizes)
        self.shape = [1, 2, *sizes]
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        self.nodes, self.weights, self.sizes = [], {}, list(sizes)
        self.end = self.conv("x", [1] * self.r)

    def add(self, op, inputs, **attributes):
        name = f"{op}{len(self.nodes)}"
        self.nodes.append(node(op, inputs, [name], name, **attributes))
        return name

    def weight(self, *shape):
        name = f"w{len(self.weights)}"
        self.weights[name] = positive(self.rng, *shape)
        return name

    def conv(self, name, kernel, channels=2, **attributes):
        return self.add("Conv", [name, self.weight(2, channels, *kernel)], **attributes)

    def serialized(self):
        nodes = [*self.nodes, node("Identity", [self.end], ["y"], "last")]
        return model(nodes, self.weights, self.shape, 19)

    def numbers(self, choices):
        return [self.draw(st.sampled_from(choices)) for _ in range(self.r)]

    def grow(self):
        """One operator more, unless what was drawn does not fit; then the sizes by ONNX Runtime."""
        kind = self.draw(st.sampled_from(("window", "window", "window", "ConvTranspose", "Resize", "branch")))
        end = getattr(self, f"_{kind.lower()}")()
        if end is not None:
            self.end = end
            self.sizes = outputs(self.serialized(), np.ones(self.shape, np.float32)).shape[2:]

    def _window(self):
        kind = self.draw(st.sampled_from(("Conv", "Conv", "MaxPool", "AveragePool")))
        auto_pad = self.draw(st.sampled_from(("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")))
        kernel, strides = self.numbers((1, 2, 3, 4)), self.numbers((1, 1, 2, 3))
        dilations = self.numbers((1, 1, 2)) if auto_pad == "NOTSET" else [1] * self.r
        extents = [d * (k - 1) + 1 for k, d in zip(kernel, dilations, strict=True)]
        attributes = {"strides": strides, "dilations": dilations, "auto_pad": auto_pad}
        if auto_pad == "NOTSET":
            attributes["pads"] = [
                min(p, k - 1) for p, k in zip([*self.numbers((0, 1, 2)), *self.numbers((0, 1, 2))], kernel * 2, strict=True)
            ]
        # ONNX Runtime's padding is negative for a stride over the kernel with SAME_*: docs/conv.md
        if any(n < e for n, e in zip(self.sizes, extents, strict=True)) or any(
            s > k and auto_pad.startswith("SAME") for s, k in zip(strides, kernel, strict=True)
        ):
            return None
        if kind == "Conv":
            return self.conv(self.end, kernel, **attributes)
        ceil_mode = self.draw(st.integers(0, 1)) if auto_pad == "NOTSET" else 0
        return self.add(kind, [self.end], kernel_shape=kernel, ceil_mode=ceil_mode, **attributes)

    def _convtranspose(self):
        if max(self.sizes) > 30:
            return None
        kernel = self.numbers((1, 2, 3, 4))
        attributes = {"strides": self.numbers((1, 2, 3)), "dilations": self.numbers((1, 1, 2))}
        return self.add("ConvTranspose", [self.end, self.weight(2, 2, *kernel)], **attributes)

    def _resize(self):
        scales = self.numbers((0.5, 1.0, 2.0, 2.0, 4.0, 0.75))
        if any(not 2 <= n * s <= 60 for n, s in zip(self.sizes, scales, strict=True)):
            return None
        name = self.weight(2 + self.r)
        self.weights[name] = np.array([1, 1, *scales], np.float32)
        attributes = {
            "mode": self.draw(st.sampled_from(("nearest", "linear"))),
            "coordinate_transformation_mode": self.draw(st.sampled_from(("half_pixel", "asymmetric", "align_corners"))),
            "nearest_mode": self.draw(st.sampled_from(("floor", "ceil", "round_prefer_floor", "round_prefer_ceil"))),
        }
        return self.add("Resize", [self.end, "", name], **attributes)

    def _branch(self):
        wide = self.conv(self.end, [3] * self.r, pads=[2] * (2 * self.r), dilations=[2] * self.r)
        narrow = self.conv(self.end, [1] * self.r)
        kind = self.draw(st.sampled_from(("Add", "Max", "Concat")))
        if kind == "Concat":
            return self.conv(self.add("Concat", [wide, narrow], axis=1), [1] * self.r, channels=4)
        return self.add(kind, [wide, narrow])


@st.composite
def chains(draw):
    chain = Chain(draw, [draw(st.integers(9, 22)) for _ in range(draw(st.integers(1, 2)))])
    for _ in range(draw(st.integers(1, 5))):
        chain.grow()
    return chain.serialized(), chain.shape


@given(chains())
@examples(80)
def test_random_networks(case):
    check_regions(*case)


# ---- one rule each ----

H, W = 9, 11
IMAGE = (1, 2, H, W)
RNG = np.random.default_rng(0)
CONV = {"k": positive(RNG, 2, 2, 3, 3)}


def image(*nodes, weights=None, shape=IMAGE, opset=17):
    """A model whose first node is a convolution, so that the axes of the image are those of the report."""
    first = node("Conv", ["x", "k"], ["c"], "conv", pads=[1, 1, 1, 1])
    return model([first, *nodes], CONV | (weights or {}), shape, opset)


def ints(*values):
    return np.array(values, np.int64)


def resized(mode, way, size=None, scale=None, roi=None, opset=19, **attributes):
    weights = {}
    inputs = ["c", "", "", ""]
    if roi is not None:
        weights["roi"], inputs[1] = np.array([0, 0, *roi[:2], 1, 1, *roi[2:]], np.float32), "roi"
    if scale is not None:
        weights["scale"], inputs[2] = np.array([1, 1, *scale], np.float32), "scale"
        inputs.pop()
    else:
        weights["size"], inputs[3] = ints(1, 2, *size), "size"
    item = node("Resize", inputs, mode=mode, coordinate_transformation_mode=way, **attributes)
    return image(item, weights=weights, opset=opset)


def policy(name):
    item = node("Resize", ["c", "", "", "size"], mode="linear", axes=[3, 2], keep_aspect_ratio_policy=name)
    return image(item, weights={"size": ints(15, 20)}, opset=19)


def upsampled(opset, inputs=("c",), **attributes):
    op = "Resize" if opset == 10 else "Upsample"
    return image(node(op, inputs, **attributes), weights={"s": np.array([1, 1, 2, 3], np.float32)}, opset=opset)


WAYS = ("half_pixel", "half_pixel_symmetric", "pytorch_half_pixel", "align_corners", "asymmetric")
RESIZES = {
    f"{mode} {way} {size}": resized(mode, way, size)
    for mode in ("nearest", "linear", "cubic")
    for way in WAYS
    for size in (
        (18, 22),
        (6, 6) if way == "half_pixel_symmetric" else (5, 6),
        (1, 33),
        (9, 4),
    )  # no taps that rounding decides on
} | {
    "crop nearest": resized("nearest", "tf_crop_and_resize", (6, 7), roi=(0.2, 0.1, 0.8, 0.6)),
    "crop linear": resized("linear", "tf_crop_and_resize", (6, 7), roi=(0.2, 0.1, 0.8, 0.6)),
    "crop beyond": resized("linear", "tf_crop_and_resize", (8, 7), roi=(-0.4, 0.1, 0.8, 1.6)),
    "crop one": resized("linear", "tf_crop_and_resize", (1, 7), roi=(0.2, 0.1, 0.8, 0.6)),
    "exclude_outside": resized("cubic", "half_pixel", (14, 19), exclude_outside=1),
    "floor": resized("nearest", "asymmetric", (18, 6), nearest_mode="floor"),  # ties: 0.5, 1.5, ..
    "ceil": resized("nearest", "asymmetric", (18, 6), nearest_mode="ceil"),
    "round_prefer_floor": resized("nearest", "asymmetric", (18, 6), nearest_mode="round_prefer_floor"),
    "round_prefer_ceil": resized("nearest", "asymmetric", (18, 6), nearest_mode="round_prefer_ceil"),
    "scales": resized("linear", "half_pixel", scale=(1.7, 0.6)),
    "not_larger": policy("not_larger"),
    "not_smaller": policy("not_smaller"),
    "antialias linear": resized("linear", "half_pixel", (4, 4), antialias=1),
    "antialias cubic": resized("cubic", "half_pixel", (4, 4), antialias=1),
    "opset 10": upsampled(10, ["c", "s"], mode="linear"),
    "upsample 9": upsampled(9, ["c", "s"], mode="nearest"),
    "upsample 7": upsampled(7, mode="nearest", scales=[1.0, 1.0, 2.0, 2.0]),
}


@pytest.mark.parametrize("name", RESIZES)
def test_resize(name):
    check_regions(RESIZES[name], IMAGE)


@pytest.mark.parametrize("size", [80, 61, 33, 20, 1])
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_affine_rule_of_resize(mode, way, size):
    """The field is the largest region, and regions lie around their centres as far as positions can be rounded."""
    item = node("Resize", ["x", "", "", "s"], mode=mode, coordinate_transformation_mode=way)
    pool = node("MaxPool", ["y"], ["z"], kernel_shape=[1])
    data = graph([item, pool], {"x": (np.float32, [1, 1, 40])}, {"s": ints(1, 1, size)}, outputs=("z",), opset=19)
    layer = receptive.analyse(data).layers[0]
    axis = layer.axes[2]
    assert axis.size == size
    on_the_spot = way == "align_corners" or (way, size) == (
        "asymmetric",
        20,
    )  # outputs on positions of the input read those alone
    regions = [layer.region((0, 0, o))[2] for o in range(size)]
    inner = {o: region for o, region in enumerate(regions) if region[0] > 0 and region[1] < 39}
    assert all(last - first + 1 <= axis.field for first, last in regions)
    for o, (first, last) in inner.items():
        assert abs((first + last) / 2 - float(axis.centre + o * axis.jump)) <= 0.5001, o
    assert max((last - first + 1 for first, last in inner.values()), default=axis.field) == axis.field or on_the_spot


def test_resize_to_the_same_size_by_another_scale():
    """ONNX Runtime copies; by docs/resize.md the axis is resampled."""
    layer = receptive.analyse(resized("linear", "half_pixel", scale=(1.05, 1.0))).layers[-1]
    assert layer.region((0, 0, 2, 5)) == {2: (0, 3), 3: (4, 6)}  # 2.5 / 1.05 - 0.5 lies between 1 and 2


def pair(op, **attributes):
    return node(op, ["c"], **attributes)


MOVES = {
    "transpose": (image(pair("Transpose", perm=[3, 1, 0, 2])), IMAGE),
    "transpose back": (image(pair("Transpose")), IMAGE),
    "slice": (
        image(
            node("Slice", ["c", "b", "e", "a", "s"]),
            weights={"b": ints(1, -3), "e": ints(8, -99), "a": ints(2, -1), "s": ints(2, -2)},
        ),
        IMAGE,
    ),
    "slice 9": (image(pair("Slice", starts=[2, 1], ends=[2**31, -1], axes=[3, 2]), opset=9), IMAGE),
    "pad": (image(node("Pad", ["c", "p"]), weights={"p": ints(0, 0, 2, -1, 0, 0, 1, 3)}), IMAGE),
    "pad reflect": (image(node("Pad", ["c", "p"], mode="reflect"), weights={"p": ints(0, 0, 2, 3, 0, 0, 1, 0)}), IMAGE),
    "pad edge": (image(node("Pad", ["c", "p"], mode="edge"), weights={"p": ints(0, 0, 2, 3, 0, 0, 1, 0)}), IMAGE),
    "pad wrap": (image(node("Pad", ["c", "p"], mode="wrap"), weights={"p": ints(0, 0, 2, 3, 0, 0, 1, 0)}, opset=19), IMAGE),
    "pad some axes": (
        image(node("Pad", ["c", "p", "", "a"]), weights={"p": ints(2, 1, 0, 3), "a": ints(3, 2)}, opset=18),
        IMAGE,
    ),
    "gather": (image(node("Gather", ["c", "i"], axis=2), weights={"i": ints(-2).reshape(())}), IMAGE),
    "gather channels": (image(node("Gather", ["c", "i"], axis=1), weights={"i": ints(1, 0, 1)}), IMAGE),
    "unsqueeze": (image(node("Unsqueeze", ["c", "a"]), weights={"a": ints(2, -1)}), IMAGE),
    "squeeze": (image(node("Squeeze", ["c", "a"]), weights={"a": ints(0)}), IMAGE),
    "expand": (image(node("Expand", ["c", "s"]), weights={"s": ints(3, 1, 1, 1, 1)}), IMAGE),
    "depth to space": (
        image(
            node("Conv", ["c", "d"], ["e"], "d"),
            node("DepthToSpace", ["e"], blocksize=2),
            weights={"d": positive(RNG, 8, 2, 1, 1)},
        ),
        IMAGE,
    ),
    "space to depth": (
        image(
            node("SpaceToDepth", ["c"], ["e"], "d", blocksize=3),
            node("Conv", ["e", "d"]),
            weights={"d": positive(RNG, 1, 18, 1, 1)},
            shape=(1, 2, 9, 12),
        ),
        (1, 2, 9, 12),
    ),
    "reshape apart": (image(node("Reshape", ["c", "s"]), weights={"s": ints(0, 0, 0, 1, -1)}), IMAGE),
    "reshape merged": (image(node("Reshape", ["c", "s"]), weights={"s": ints(0, -1, W)}), IMAGE),
    "three axes": (
        model(
            [node("Conv", ["x", "w"], pads=[1, 0, 2, 0, 1, 1], strides=[1, 2, 2])],
            {"w": positive(RNG, 2, 1, 2, 3, 3)},
            (1, 1, 5, 6, 7),
        ),
        (1, 1, 5, 6, 7),
    ),
    "channels last": (
        model(
            [
                node("Transpose", ["x"], ["t"], "t", perm=[0, 3, 1, 2]),
                node("MaxPool", ["t"], kernel_shape=[3, 2], strides=[2, 2]),
            ],
            shape=(1, 8, 9, 2),
        ),
        (1, 8, 9, 2),
    ),
    "pixels beside each other": (
        image(node("GlobalAveragePool", ["c"], ["g"], "g"), node("Mul", ["c", "g"])),
        IMAGE,
    ),
    "row vector": (image(node("ReduceMean", ["c"], ["g"], "g", axes=[2]), node("Add", ["c", "g"])), IMAGE),
    "dropped axis": (image(node("ReduceSum", ["c", "a"], keepdims=0), weights={"a": ints(2)}), IMAGE),
    "sum of the weights": (image(node("MatMul", ["c", "m"]), weights={"m": positive(RNG, W, 5)}), IMAGE),
    "weights first": (image(node("MatMul", ["m", "c"]), weights={"m": positive(RNG, 5, H)}), IMAGE),
    "a vector": (image(node("MatMul", ["c", "m"]), weights={"m": positive(RNG, W)}), IMAGE),
    "flat": (
        image(node("Flatten", ["c"], ["f"], "f"), node("Gemm", ["f", "m"]), weights={"m": positive(RNG, 2 * H * W, 3)}),
        IMAGE,
    ),
    "global max": (image(pair("GlobalMaxPool")), IMAGE),
    "flat rows": (image(pair("Flatten", axis=3)), IMAGE),
    "wide padding": (image(node("Conv", ["c", "k"], pads=[4, 4, 4, 4], strides=[2, 2])), IMAGE),
    "same lower": (image(node("Conv", ["c", "k"], auto_pad="SAME_LOWER", strides=[2, 2])), IMAGE),
}
#: what only mixes: exact results would need sums that do not cancel
INSIDE = {
    "softmax": image(pair("Softmax", axis=3)),
    "softmax 11": image(pair("Softmax", axis=2), opset=11),
    "softmax 11, all axes": image(pair("Softmax"), opset=11),
    "layer normalization": image(node("LayerNormalization", ["c", "s"]), weights={"s": positive(RNG, W)}),
    "instance normalization": image(
        node("InstanceNormalization", ["c", "s", "b"]), weights={"s": positive(RNG, 2), "b": positive(RNG, 2)}
    ),
    "LRN": image(pair("LRN", size=3)),
    "arg max": image(pair("ArgMax", axis=2)),
    "lp": image(pair("LpNormalization", axis=2)),
    "mean and variance": image(pair("MeanVarianceNormalization", axes=[3])),
}


@pytest.mark.parametrize("name", MOVES)
def test_rule(name):
    # of merged axes all elements see the same: the hull of what each sees
    check_regions(*MOVES[name], exact="merged" not in name and name != "flat rows")


@pytest.mark.parametrize("name", INSIDE)
def test_mixing_rule(name):
    check_regions(INSIDE[name], IMAGE, exact=False)


# ---- the formulas of Convolution-1 ----


@pytest.mark.parametrize("seed", range(20))
def test_formulas(seed):
    """output size, jump, size and centre, layer by layer, as the operator text has them; sizes unknown and known."""
    rng = np.random.default_rng(seed)
    n, j, r, start = 400, 1, 1, 0.0
    nodes, weights, want = [], {}, []
    for i in range(rng.integers(1, 7)):
        k, s, d, before, after = (
            int(v) for v in (rng.integers(1, 6), rng.integers(1, 4), rng.integers(1, 3), *rng.integers(0, 4, 2))
        )
        e = d * (k - 1) + 1
        weights[f"w{i}"] = positive(rng, 1, 1, k)
        source = f"t{i - 1}" if i else "x"
        nodes.append(node("Conv", [source, f"w{i}"], [f"t{i}"], f"n{i}", strides=[s], dilations=[d], pads=[before, after]))
        n = math.floor((n + before + after - e) / s) + 1
        start = start + ((e - 1) / 2 - before) * j
        r = r + (e - 1) * j
        j = j * s
        if n < 1:
            nodes.pop()
            break
        want.append((n, j, r, start))
    data = graph(nodes, {"x": (np.float32, [1, 1, "n"])}, weights, outputs=(nodes[-1].output[0],))
    fixed, named = receptive.analyse(data, [1, 1, 400]), receptive.analyse(data)
    for known, unknown, expected in zip(fixed.layers, named.layers, want, strict=True):
        axis, other = known.axes[2], unknown.axes[2]
        assert (axis.size, axis.jump, axis.field, axis.centre) == expected
        assert (other.jump, other.field, other.centre) == expected[1:]
        assert value_of(other.size, n=400) == expected[0]


def value_of(size, **names):
    """A size that is a formula, for sizes of the input."""
    return eval(str(size), {"floor": math.floor} | names)


@given(chains(), st.integers(0, 30))
@examples(60)
def test_sizes_that_are_not_known(case, more):
    """Formulas give the sizes of the model with a shape; what else is told is the same."""
    data, shape = case
    larger = [n + more if i > 1 else n for i, n in enumerate(shape)]
    proto = onnx.load_from_string(data)
    for axis, name in zip(range(2, len(shape)), "hw", strict=False):
        proto.graph.input[0].type.tensor_type.shape.dim[axis].dim_param = name
    data = proto.SerializeToString()
    named = receptive.analyse(data)
    fixed = receptive.analyse(data, larger)
    assert named.shape[2:] == [receptive.Dim(name) for name in "hw"[: len(shape) - 2]]
    told = 0
    for unknown, known in zip(named.layers, fixed.layers, strict=True):
        if known.reason is not None:
            break  # a window that does not fit any more
        if unknown.reason is not None:
            assert "size" in unknown.reason or "it comes after" in unknown.reason
            continue
        for a, axis in unknown.axes.items():
            other = known.axes[a]
            assert axis.jump == other.jump and axis.field in (None, other.field) and axis.centre in (None, other.centre)
            if not str(axis.size).startswith("f("):
                told += 1
                assert value_of(axis.size, h=larger[2], w=larger[-1]) == other.size
    assert told


@pytest.mark.parametrize("d", [1, 2, 3])
@pytest.mark.parametrize("s", [1, 2, 3])
@pytest.mark.parametrize("k", [1, 2, 3, 4, 5])
def test_field_of_a_transposed_convolution(k, s, d):
    """Without rounding: the largest region of one output; regions lie around their centre on the average."""
    item = node("ConvTranspose", ["x", "w"], strides=[s], dilations=[d], pads=[1, 0])
    (layer,) = receptive.analyse(model([item], {"w": positive(RNG, 1, 1, k)}, (1, 1, 40))).layers
    axis = layer.axes[2]
    inner = range(6 * s, 6 * s + 12 * s)
    regions = {o: region[2] for o in inner if (region := layer.region((0, 0, o))) is not None}
    assert axis.jump * s == 1 and max(last - first + 1 for first, last in regions.values()) == axis.field
    if d == 1 and k % s == 0:
        away = [(first + last) / 2 - float(axis.centre + o * axis.jump) for o, (first, last) in regions.items()]
        assert abs(sum(away)) < 1e-9


# ---- what cannot be followed ----


def reasons(data, *arguments, **keywords):
    return {layer.name: layer.reason for layer in receptive.analyse(data, *arguments, **keywords).layers if layer.reason}


def test_a_node_that_is_not_followed_is_named():
    data = image(
        node("NonMaxThing", ["c"], ["q"], "odd", domain="some.where"),
        node("Relu", ["q"], ["r"], "after"),
        node("Relu", ["c"], ["y"], "beside"),
    )
    assert reasons(data) == {
        "odd": "the operator of the domain some.where is not one of those that are followed",
        "after": "it comes after NonMaxThing 'odd'",
    }


CUMSUM = {"i": ints(2).reshape(())}
BAD_NODES = {
    "unknown operator": (node("CumSum", ["c", "i"]), "not one of those", CUMSUM),
    "stride 0": (pair("MaxPool", kernel_shape=[2, 2], strides=[0, 1]), "strides", {}),
    "too many strides": (pair("MaxPool", kernel_shape=[2, 2], strides=[1] * 5), "strides", {}),
    "negative pads": (pair("MaxPool", kernel_shape=[2, 2], pads=[-1, 0, 0, 0]), "pads", {}),
    "a window that does not fit": (pair("MaxPool", kernel_shape=[20, 2]), "does not fit", {}),
    "no kernel": (pair("MaxPool"), "kernel", {}),
    "kernel of 0": (pair("MaxPool", kernel_shape=[0, 2]), "kernel", {}),
    "a huge kernel": (pair("MaxPool", kernel_shape=[2**40, 2], pads=[2**40] * 4), "too long", {}),
    "a huge size": (node("Resize", ["c", "", "", "s"]), "too long", {"s": ints(1, 2, 2**40, 2**40)}),
    "a huge scale": (node("Resize", ["c", "", "s"]), "too long", {"s": np.array([1, 1, 1e30, 1], np.float32)}),
    "no number": (node("Resize", ["c", "", "s"]), "scale", {"s": np.array([1, 1, np.nan, 1], np.float32)}),
    "no scales": (node("Resize", ["c"]), "computed at run time", {}),
    "three scales": (node("Resize", ["c", "", "s"]), "3 values", {"s": np.array([1, 1, 2], np.float32)}),
    "auto_pad": (pair("MaxPool", kernel_shape=[2, 2], auto_pad="SAME"), "auto_pad SAME", {}),
    "another type": (pair("MaxPool", kernel_shape=[2, 2], auto_pad=3), "another type", {}),
    "axis": (pair("Softmax", axis=7), "axis 7", {}),
    "perm": (pair("Transpose", perm=[0, 1, 2]), "perm", {}),
    "blocks of 0": (pair("DepthToSpace", blocksize=0), "blocksize 0", {}),
    "concat of the image": (node("Concat", ["c", "c"], axis=2), "along an axis of the image", {}),
    "no weights": (node("Conv", ["c"]), "kernel", {}),
    "nothing": (node("Relu", ["c"], ["y"]), None, {}),
    "indices from the image": (node("Gather", ["z", "c"]), "indices depend on the input", {"z": ints(1, 2, 3)}),
    "broadcast": (node("Add", ["c", "d"]), "broadcast", {}),
    "no mode": (pair("Pad", mode="odd", pads=[0] * 8), "mode odd", {}),
    "half a pad": (pair("Pad", pads=[0] * 7), "7 pads", {}),
    "many taps": (
        node("Conv", ["c", "long"], pads=[0, 500000, 0, 500000]),
        "too many to be followed",
        {"long": positive(RNG, 1, 2, 1, 40000)},
    ),
}


@pytest.mark.parametrize("name", BAD_NODES)
def test_bad_node(name):
    item, text, weights = BAD_NODES[name]
    half = node("Slice", ["c", "b0", "b1"], ["d"], "half")
    data = image(half, item, weights=weights | {"b0": ints(0, 0, 0), "b1": ints(1, 2, 5)})
    found = reasons(data)
    assert (found == {}) if text is None else text in found["n"], found


def test_a_graph_inside_a_node():
    inner = helper.make_graph([helper.make_node("Relu", ["c"], ["z"])], "g", [], [onnx.ValueInfoProto(name="z")])
    data = image(node("If", ["t"], then_branch=inner, else_branch=inner), weights={"t": np.array(True)})
    assert "not one of those" in reasons(data)["n"]


@pytest.mark.parametrize(
    "arguments, text",
    [
        (([1, 2, 3],), "4 axes, the shape 3"),
        (([1, 2, 8, W],), "axis 2 of the input 'x' has 9 positions"),
        ((None, "z"), "no input 'z', but 'x'"),
        (([-1, 2, H, W],), "axis 0"),
    ],
)
def test_bad_arguments(arguments, text):
    with pytest.raises(ValueError, match=text):
        receptive.analyse(image(pair("Relu")), *arguments)


def test_models_without_an_image():
    with pytest.raises(ValueError, match="no input of rank 3"):
        receptive.analyse(graph([node("Relu", ["x"])], {"x": (np.float32, [3, 4])}))
    with pytest.raises(ValueError, match="no convolution, pool or resampling"):
        receptive.analyse(model([node("Relu", ["x"])]))
    with pytest.raises(ValueError, match=r"no convolution.*Einsum 'n'"):
        receptive.analyse(model([node("Einsum", ["x"], equation="abcd->abcd")]))
    with pytest.raises(ValueError, match="no ONNX model"):
        receptive.analyse(b"\xff\xff\xff")
    with pytest.raises(ValueError, match="No such file"):
        receptive.analyse("/nothing/at/all.onnx")


def test_a_window_that_does_not_fit_before_a_slice():
    """ONNX's own inference over such a model ends the process."""
    part = node("Slice", ["y", "b", "e", "a", "s"], ["z"], "part")
    weights = {"b": ints(1), "e": ints(-1), "a": ints(2), "s": ints(2), "big": positive(RNG, 2, 2, 3, 30)}
    data = image(node("Conv", ["c", "big"]), part, weights=weights)
    assert "does not fit" in reasons(data)["n"] and reasons(data)["part"] == "it comes after Conv 'n'"


def test_reshape_of_an_axis_without_a_size():
    for target in (ints(-1, 1, 2 * H * W), ints(0, -1)):
        head = node("Reshape", ["g", "t"], ["f"], "flat"), node("Flatten", ["f"])
        data = image(node("Transpose", ["c"], ["g"], "g"), *head, weights={"t": target}, shape=("n", 2, H, W))
        assert reasons(data) == {}


def test_region_errors():
    layer = receptive.analyse(image(pair("Relu"))).layers[-1]
    assert layer.region((0, 0, 0, 0)) == {2: (0, 1), 3: (0, 1)}
    with pytest.raises(IndexError):
        layer.region((0, 0, 0))
    with pytest.raises(IndexError):
        layer.region((0, 0, H, 0))
    named = receptive.analyse(model([node("MaxPool", ["x"], kernel_shape=[2, 2])], shape=(1, 1, "h", 4))).layers[0]
    with pytest.raises(ValueError, match="known shape"):
        named.region((0, 0, 0, 0))
    lost = receptive.analyse(image(node("CumSum", ["c", "i"]), weights=CUMSUM)).layers[-1]
    with pytest.raises(ValueError, match="was not followed"):
        lost.region((0, 0, 0, 0))


# ---- joins ----


def test_the_larger_field_wins():
    data = image(
        node("Conv", ["c", "k"], ["a"], "a", pads=[3, 3, 3, 3], dilations=[3, 3]),
        node("Add", ["c", "a"], ["y"], "sum"),
    )
    axis = receptive.analyse(data).find("sum")[0].axes[2]
    assert (axis.field, axis.centre, axis.jump) == (9, 0, 1)


def test_local():
    data = image(
        node("GlobalAveragePool", ["c"], ["g"], "g"), node("Mul", ["c", "g"], ["m"], "m"), node("Conv", ["m", "k"], name="last")
    )
    assert receptive.analyse(data).layers[-1].axes[2].whole
    axis = receptive.analyse(data, local=True).layers[-1].axes[3]
    assert not axis.whole and axis.field == 5 and axis.centre == 1


# ---- real networks ----

#: network -> its input's shape, and how many nodes do not yet see the whole input
REAL = {
    "PP-OCRv4 detector": ([1, 3, 160, 224], 12),
    "PP-OCR classifier": ([1, 3, 48, 192], 2),
    "mtcnn pnet": ([1, 40, 52, 3], 4),
    "opennsfw": ([1, 224, 224, 3], 4),
}


@pytest.mark.parametrize("name", REAL)
def test_real_network(name):
    """What one changed pixel moves lies inside: its position is in the region of every output that moves."""
    shape, least = REAL[name]
    path = find(name, None)[0]
    report = receptive.analyse(path, shape)
    assert not [layer for layer in report.layers if layer.reason]
    layers = [x for x in report.layers if x.changes and x.operator in ("Conv", "MaxPool", "Resize", "ConvTranspose", "Add")]
    layers = layers[:12] + layers[12 :: max(1, len(layers) // 6)]
    proto = onnx.load(path)
    del proto.graph.output[:]
    proto.graph.output.extend(onnx.ValueInfoProto(name=x.outputs[0]) for x in layers)
    session = ort.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape).astype(np.float32)
    before = session.run(None, {report.input: x})
    small = set()
    for pixel in [tuple(rng.integers(0, shape[a]) for a in report.axes) for _ in range(4)] + [
        (0, 0),
        (shape[report.axes[0]] - 1, 0),
    ]:
        changed = x.copy()
        where = [slice(None)] * 4
        for a, position in zip(report.axes, pixel, strict=True):
            where[a] = position
        changed[tuple(where)] += np.float32(30)
        for layer, old, new in zip(layers, before, session.run(None, {report.input: changed}), strict=True):
            moved = (old != new).any(axis=tuple(i for i in range(old.ndim) if not layer.tensor.along(i)), keepdims=True)
            for position in np.argwhere(moved):
                region = layer.region(position)
                assert region is not None, (layer.name, position)
                for a, p in zip(report.axes, pixel, strict=True):
                    assert region[a][0] <= p <= region[a][1], (layer.name, position, region, pixel)
            if moved.any() and not moved.all():
                small.add(layer.name)
    assert len(small) >= least  # the check is not empty
