"""Random nodes for the bit tests: attributes, shapes and data of each operator.

Shapes are small and odd. A few draws break a rule on purpose (a window that does not fit, say): the kernel must then
fail as the reference does.
"""

from dataclasses import dataclass

import numpy as np
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, data
from hypothesis import strategies as st
from reference.resize import COORDINATES as COORDINATE_MODES

AUTO_PADS = ("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


@dataclass
class Node:
    """Arguments of one call, and what built them (for hypothesis to print)."""

    shapes: list
    dtype: str
    kind: str
    seed: int
    attributes: dict

    def inputs(self):
        rng = np.random.default_rng(self.seed)
        dtype = TYPE_NAMES.get(self.dtype, self.dtype)
        return [None if s is None else np.asarray(data(rng, s, dtype, self.kind)) for s in self.shapes]


def small(low, high):
    return st.integers(low, high)


@st.composite
def windows(draw, max_kernel=5, big_pads=False):
    """Sizes and window attributes. The last axis may be long, to cross every vector and block width."""
    r = draw(small(1, 3))
    limit = (max_kernel, max_kernel, 3)[r - 1]
    kernel = [draw(small(1, limit)) for _ in range(r)]
    strides = [draw(small(1, 4)) for _ in range(r)]
    dilations = [draw(st.sampled_from((1, 1, 2, 3))) for _ in range(r)]
    auto_pad = draw(st.sampled_from(AUTO_PADS))
    reach = 4 if big_pads else 2
    pads = [draw(small(0, reach)) if auto_pad == "NOTSET" else 0 for _ in range(2 * r)]
    sizes = []
    for i in range(r):
        extent = dilations[i] * (kernel[i] - 1) + 1
        fits = max(0, extent - pads[i] - pads[r + i]) if auto_pad in ("NOTSET", "VALID") else 0
        last = draw(st.sampled_from((6, 6, 40))) if i == r - 1 else (8, 6, 4)[r - 1]
        spoil = draw(small(0, 39)) == 0
        sizes.append(max(0, fits - 1) if spoil else fits + draw(small(0, last)))
    attributes = {"strides": strides, "dilations": dilations, "auto_pad": auto_pad}
    if auto_pad == "NOTSET" and draw(st.booleans()):
        attributes["pads"] = pads
    elif auto_pad == "NOTSET":
        sizes = [n + pads[i] + pads[r + i] for i, n in enumerate(sizes)]
    return sizes, kernel, attributes


@st.composite
def channels(draw):
    """(group, input channels per group, output channels per group), dense, grouped or depthwise."""
    form = draw(st.sampled_from(("dense", "dense", "grouped", "depthwise")))
    if form == "dense":
        return 1, draw(small(0, 9)), draw(small(0, 20))
    if form == "grouped":
        return draw(small(2, 4)), draw(small(1, 4)), draw(small(1, 5))
    return draw(small(1, 20)), 1, draw(st.sampled_from((1, 1, 1, 2, 3)))


def batches():
    return st.sampled_from((0, 1, 1, 1, 2, 3, 8))


def seeds():
    return st.integers(0, 2**32 - 1)


@st.composite
def convs(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    sizes, kernel, attributes = draw(windows())
    group, c, m = draw(channels())
    shapes = [[draw(batches()), group * c, *sizes], [group * m, c, *kernel]]
    shapes.append([group * m] if draw(st.booleans()) else None)
    attributes["group"] = group
    return Node(shapes, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def image_convs(draw):
    """2-D float32 convolutions as networks have them, large enough for every block of a kernel."""
    k = draw(st.sampled_from((1, 1, 3, 3, 5, 7)))
    stride, dilation = draw(st.sampled_from((1, 1, 2, 3))), draw(st.sampled_from((1, 1, 1, 2)))
    group = draw(st.sampled_from((0, 0, 1, 2, 3)))  # 0: depthwise
    if group == 0:
        group, c, m = draw(small(1, 40)), 1, draw(st.sampled_from((1, 1, 1, 2)))
    else:
        c, m = draw(small(1, 150)), draw(small(1, 70))
    extent = dilation * (k - 1) + 1
    pad = draw(small(0, extent // 2 + 1))
    sizes = [max(extent, draw(small(1, 20))), max(extent, draw(small(1, 130)))]
    attributes = {"strides": [stride] * 2, "dilations": [dilation] * 2, "group": group}
    attributes |= draw(st.sampled_from(({"pads": [pad] * 4}, {"auto_pad": "SAME_UPPER"}, {"pads": [pad, 0, 0, pad]})))
    shapes = [[draw(st.sampled_from((1, 1, 2))), group * c, *sizes], [group * m, c, k, k], [group * m]]
    return Node(shapes, "float32", draw(st.sampled_from(("wide", "special"))), draw(seeds()), attributes)


@st.composite
def conv_transposes(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    r = draw(small(1, 3))
    kernel = [draw(small(1, (5, 4, 3)[r - 1])) for _ in range(r)]
    strides = [draw(small(1, 4)) for _ in range(r)]
    dilations = [draw(st.sampled_from((1, 1, 2, 3))) for _ in range(r)]
    sizes = [draw(small(0, (20, 7, 4)[r - 1])) for _ in range(r)]
    attributes = {"strides": strides, "dilations": dilations, "auto_pad": draw(st.sampled_from(AUTO_PADS))}
    if attributes["auto_pad"] == "NOTSET" and draw(st.booleans()):
        attributes["pads"] = [draw(small(0, 3)) for _ in range(2 * r)]
    if draw(st.booleans()):
        spoil = draw(small(0, 29)) == 0
        attributes["output_padding"] = [
            max(strides[i], dilations[i]) if spoil else draw(small(0, max(strides[i], dilations[i]) - 1)) for i in range(r)
        ]
    if draw(small(0, 3)) == 0:
        natural = [strides[i] * (sizes[i] - 1) + dilations[i] * (kernel[i] - 1) + 1 for i in range(r)]
        attributes["output_shape"] = [max(1, n + draw(small(-5, 4))) for n in natural]
    group, c, m = draw(channels())
    shapes = [[draw(batches()), group * c, *sizes], [group * c, m, *kernel]]
    shapes.append([group * m] if draw(st.booleans()) else None)
    attributes["group"] = group
    return Node(shapes, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def pools(draw, flags, dtypes=FLOAT_PARAMS, kinds=KINDS):
    """A MaxPool or AveragePool; `flags` are attributes drawn from 0 and 1."""
    sizes, kernel, attributes = draw(windows(big_pads=True))
    attributes["kernel_shape"] = kernel
    for name in flags:
        attributes[name] = draw(small(0, 1))
    shapes = [[draw(batches()), draw(small(0, 5)), *sizes]]
    return Node(shapes, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def planes(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    """Input of a global pool."""
    r = draw(small(1, 3))
    sizes = [draw(small(0, (200, 15, 6)[r - 1])) for _ in range(r)]
    shapes = [[draw(batches()), draw(small(0, 20)), *sizes]]
    return Node(shapes, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), {})


# ---- reductions, normalizations, softmax family, ArgMax and ArgMin, CumSum ----


@st.composite
def shapes(draw, low=0, high=5, most=6000):
    """Mostly small extents with 1 and 0 among them, and one that may be long, in any place."""
    shape = [draw(st.sampled_from((1, 1, 2, 2, 3, 3, 4, 5, 7, 0)) if i else small(1, 6)) for i in range(draw(small(low, high)))]
    if shape and draw(st.booleans()):
        shape[draw(small(0, len(shape) - 1))] = draw(small(8, 300))
    while np.prod(shape, dtype=np.int64) > most:
        shape[int(np.argmax(shape))] //= 2
    return shape


def spoilt_axis(draw, rank):
    return draw(st.sampled_from((rank, -rank - 1, 2**40)))


@st.composite
def an_axis(draw, rank, spoil=39):
    """A valid axis, or now and then none."""
    if rank == 0 or draw(small(0, spoil)) == spoil:
        return spoilt_axis(draw, rank)
    return draw(small(-rank, rank - 1))


@st.composite
def reductions(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    shape = draw(shapes())
    rank = len(shape)
    axes = [axis - rank * draw(small(0, 1)) for axis in range(rank) if draw(st.booleans())]
    axes = draw(st.permutations(axes)) + axes[:1] * draw(small(0, 1))
    if draw(small(0, 39)) == 0:
        axes = [*axes, spoilt_axis(draw, rank)]
    attributes = {"keepdims": draw(small(0, 1)), "noop_with_empty_axes": draw(small(0, 1))}
    if axes or draw(st.booleans()):
        attributes["axes"] = axes
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def softmaxes(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    shape = draw(shapes(most=3000))
    attributes = {"flatten": draw(st.booleans())}
    if draw(small(0, 3)):
        attributes["axis"] = draw(an_axis(len(shape)))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def args(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    shape = draw(shapes())
    attributes = {name: draw(small(0, 1)) for name in ("keepdims", "select_last_index")}
    if draw(small(0, 3)):
        attributes["axis"] = draw(an_axis(len(shape)))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def cumulations(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    shape = draw(shapes())
    attributes = {name: draw(small(0, 1)) for name in ("exclusive", "reverse")}
    axis = np.array(draw(an_axis(len(shape))), np.int64)
    attributes["axis"] = axis.reshape(draw(st.sampled_from(((), (1,)))))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


EPSILONS = (1e-5, 0.0, 1e-3, 1e-12, -1.0)


@st.composite
def parameter(draw, normalized, rank):
    """A shape that broadcasts to the normalized dimensions."""
    shape = [1 if draw(small(0, 4)) == 0 else extent for extent in normalized]
    form = draw(small(0, 7))
    if form == 0:
        return shape[draw(small(0, len(shape))) :]
    if form == 1:
        return [1] * draw(small(0, rank - len(shape))) + shape
    if form == 2 and draw(small(0, 3)) == 0:
        return [*shape[:-1], shape[-1] + 1]
    return list(normalized)


@st.composite
def row_norms(draw, bias, dtypes=FLOAT_PARAMS, kinds=KINDS):
    """LayerNormalization (with bias) or RMSNormalization."""
    shape = draw(shapes(low=1))
    axis = draw(an_axis(len(shape)))
    normalized = shape[axis:] if -len(shape) <= axis < len(shape) else shape[-1:]
    attributes = {"axis": axis, "epsilon": draw(st.sampled_from(EPSILONS))}
    inputs = [shape, draw(parameter(normalized, len(shape)))]
    if bias:
        inputs.append(draw(st.one_of(st.none(), parameter(normalized, len(shape)))))
    return Node(inputs, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def channel_norms(draw, grouped, dtypes=FLOAT_PARAMS, kinds=KINDS):
    """InstanceNormalization or GroupNormalization."""
    groups, each = draw(small(1, 6)), draw(small(1, 4)) if grouped else 1
    r = draw(small(0 if grouped else 1, 3))
    sizes = [draw(small(0, (200, 15, 6)[r - 1])) for _ in range(r)]
    length = draw(st.sampled_from((groups, groups * each))) + (draw(small(0, 39)) == 0)
    attributes = {"epsilon": draw(st.sampled_from(EPSILONS))}
    if grouped:
        attributes["num_groups"] = groups + (draw(small(0, 39)) == 0)
    inputs = [[draw(batches()), groups * each, *sizes], [length], [length]]
    return Node(inputs, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


# ---- LpPool, MaxUnpool, LRN, LpNormalization, MeanVarianceNormalization ----

ORDERS = (1, 1, 2, 2, 2, 3, 4, 7, 30)


@st.composite
def lp_pools(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    node = draw(pools(("ceil_mode",), dtypes, kinds))
    node.attributes["p"] = draw(st.sampled_from(ORDERS))
    return node


@st.composite
def lp_planes(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    node = draw(planes(dtypes, kinds))
    node.attributes["p"] = draw(st.sampled_from(ORDERS))
    return node


@dataclass
class Unpool(Node):
    """`form` says where the indices lie, `output` is output_shape or None, `total` the elements of the output."""

    form: str
    output: list | None
    total: int

    def inputs(self):
        (x,) = super().inputs()
        rng = np.random.default_rng(self.seed)
        high = {"anywhere": self.total, "few": min(3, self.total), "one too far": self.total + 1, "none": 1}[self.form]
        indices = rng.integers(-1 if self.form == "none" else 0, max(1, high), x.shape)
        if self.form == "one too far" and x.size:
            indices.reshape(-1)[rng.integers(x.size)] = self.total
        return [x, indices, None if self.output is None else np.array(self.output, np.int64)]


@st.composite
def unpools(draw, dtypes=FLOAT_PARAMS, kinds=("special",)):
    r = draw(small(1, 3))
    sizes = [draw(small(0, (30, 7, 4)[r - 1])) for _ in range(r)]
    attributes = {"kernel_shape": [draw(small(1, 4)) for _ in range(r)]}
    if draw(st.booleans()):
        attributes["strides"] = [draw(small(1, 4)) for _ in range(r)]
    if draw(st.booleans()):
        attributes["pads"] = [draw(small(0, 2)) for _ in range(2 * r)]
    shape = [draw(batches()), draw(small(0, 5)), *sizes]
    strides, pads = attributes.get("strides", [1] * r), attributes.get("pads", [0] * 2 * r)
    natural = [(n - 1) * strides[i] + attributes["kernel_shape"][i] - pads[i] - pads[r + i] for i, n in enumerate(sizes)]
    output = None
    if draw(st.booleans()):
        output = [*shape[:2], *(max(1 if draw(small(0, 19)) else 0, n + draw(small(-2, 3))) for n in natural)]
        if draw(small(0, 19)) == 0:
            output[draw(small(0, r + 1))] += 1
    total = int(np.prod(output or [*shape[:2], *natural]))
    form = draw(st.sampled_from(("anywhere",) * 6 + ("few",) * 3 + ("one too far", "none")))
    dtype, kind = draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds))
    return Unpool([shape], dtype, kind, draw(seeds()), attributes, form, output, total)


@st.composite
def lrns(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    r = draw(small(0, 3))
    shape = [draw(batches()), draw(small(0, 20)), *(draw(small(0, (80, 40, 9, 4)[r])) for _ in range(r))]
    attributes = {"size": draw(st.sampled_from((1, 2, 3, 3, 4, 5, 5, 8, 21, 2**40)))}
    for name, values in (
        ("alpha", (1e-4, 1.0, 3.5, 0.0, -0.25, 1e30)),
        ("beta", (0.75, 0.75, 0.5, 1.0, 0.3, 2.0, 0.0, -1.0)),
        ("bias", (1.0, 2.0, 0.0, -0.5, 1e-30)),
    ):
        if draw(st.booleans()):
            attributes[name] = draw(st.sampled_from(values))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def lp_norms(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    shape = draw(shapes(low=1))
    attributes = {"p": draw(st.sampled_from((1, 2)))}
    if draw(small(0, 3)):
        attributes["axis"] = draw(an_axis(len(shape)))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def mean_variance_norms(draw, dtypes=FLOAT_PARAMS, kinds=KINDS):
    shape = draw(shapes(low=1))
    rank = len(shape)
    attributes = {}
    axes = [axis - rank * draw(small(0, 1)) for axis in range(rank) if draw(st.booleans())]
    if axes or draw(st.booleans()):  # else absent, and invalid for rank 3 and less
        attributes["axes"] = draw(st.permutations(axes or [0])) + axes[:1] * draw(small(0, 1))
        if draw(small(0, 39)) == 0:
            attributes["axes"].append(spoilt_axis(draw, rank))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


# ---- Resize, Upsample ----

RESIZE_TYPES = (*FLOAT_PARAMS, "float32", "int8", "uint8", "int32", "int64")
SCALES = (1.0, 2.0, 0.5, 3.0, 4.0, 1.5, 0.75, 0.6, 0.4, 1.3, 2.5, 0.3, 1 / 3, 0.25, 0.99, 1.01, 224 / 706)
MAPPINGS = (*COORDINATE_MODES, "half_pixel", "align_corners", "tf_crop_and_resize")
ROI_ENDS = (0.0, 1.0, 0.2, 0.8, 0.4999, -0.1, 1.3, -0.0)


@st.composite
def extents(draw, count, most):
    """Output extents or input extents: mostly small, one that may be long."""
    sizes = [draw(st.sampled_from((2, 1, 3, 3, 4, 5, 7, 8))) for _ in range(count)]
    if draw(st.booleans()):
        sizes[draw(small(0, count - 1))] = draw(small(1, most))
    return sizes


@st.composite
def scale_lists(draw, shape, least=0.0, most=9000):
    """Scales of a few axes, the others 1; now and then one that is not allowed."""
    scales = [1.0] * len(shape)
    for i in draw(st.permutations(range(len(shape))))[: draw(small(1, 3))]:
        one = st.sampled_from(SCALES) if draw(small(0, 3)) else st.floats(0.1875, 5.0, width=32)
        scales[i] = draw(one.filter(lambda s: s >= least))
    while np.prod(np.array(shape) * np.array(scales)) > most:
        scales[int(np.argmax(scales))] /= 2
    if draw(small(0, 49)) == 0:
        scales[draw(small(0, len(shape) - 1))] = draw(st.sampled_from((0.0, -1.0, np.nan, np.inf, 1e30)))
    return np.array(scales, np.float32)


@st.composite
def size_lists(draw, shape, common=False, most=9000):
    """common: the largest quotient is the scale of all axes."""
    sizes = [n if draw(st.booleans()) else m for n, m in zip(shape, draw(extents(len(shape), 60)), strict=True)]
    quotients = np.array(sizes) / np.maximum(1, shape)
    while np.prod(np.array(shape) * quotients.max() + 1 if common else sizes) > most and max(sizes) > 1:
        worst = int(np.argmax(quotients if common and sizes[int(np.argmax(quotients))] > 1 else sizes))
        sizes[worst] = max(1, sizes[worst] // 2)
        quotients = np.array(sizes) / np.maximum(1, shape)
    if draw(small(0, 49)) == 0:
        sizes[draw(small(0, len(shape) - 1))] = draw(st.sampled_from((0, -1, 2**31, 2**62)))
    return np.array(sizes, np.int64)


@st.composite
def resizes(draw, dtypes=RESIZE_TYPES, kinds=KINDS, modes=("nearest", "linear", "cubic")):
    """A Resize of the newest opset. roi, scales and sizes are among the attributes."""
    mode = draw(st.sampled_from(modes))
    shape = draw(extents(draw(small(1, 5)), 70))
    if draw(small(0, 19)) == 0:
        shape[draw(small(0, len(shape) - 1))] = 0
    attributes = {"mode": mode, "coordinate_transformation_mode": draw(st.sampled_from(MAPPINGS))}
    if mode == "nearest" or draw(small(0, 9)) == 0:
        attributes["nearest_mode"] = draw(st.sampled_from(("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")))
    if draw(st.booleans()):
        attributes["antialias"] = 1
    if draw(small(0, 2)) == 0:
        attributes["exclude_outside"] = 1
    if mode == "cubic" and draw(st.booleans()):
        attributes["cubic_coeff_a"] = draw(st.sampled_from((-0.5, -1.0, 0.0, 0.25, -0.6, np.inf, np.nan, 1e30)))
    listed = list(range(len(shape)))
    if draw(st.booleans()):
        listed = draw(st.permutations(listed))[: draw(small(1, 4))]
        attributes["axes"] = [a - len(shape) * draw(small(0, 1)) for a in listed]
        if draw(small(0, 49)) == 0:
            attributes["axes"][0] = draw(st.sampled_from((len(shape), attributes["axes"][-1] % len(shape), 2**40)))
    lengths = [shape[a] for a in listed]
    budget = max(1, 9000 // max(1, int(np.prod(shape)) // max(1, int(np.prod(lengths)))))
    if draw(st.booleans()):
        attributes["scales"] = draw(scale_lists(lengths, most=budget))
    else:
        policy = draw(st.sampled_from(("stretch", "stretch", "not_larger", "not_smaller")))
        sizes = draw(size_lists(lengths, policy == "not_smaller", most=budget))
        attributes["sizes"] = np.where(np.array(lengths) == 0, 0, sizes) if draw(small(0, 9)) else sizes
        attributes["keep_aspect_ratio_policy"] = policy
    if attributes["coordinate_transformation_mode"] == "tf_crop_and_resize":
        attributes["extrapolation_value"] = draw(st.sampled_from((0.0, -0.0, 7.75, -7.75, 300.0, -1e20, 1e-41, np.inf, np.nan)))
        if draw(small(0, 7)):
            ends = ROI_ENDS if draw(small(0, 3)) else (*ROI_ENDS, np.nan, np.inf, -1e38)
            roi = [draw(st.sampled_from(ends)) for _ in range(2 * len(listed) - (draw(small(0, 49)) == 0))]
            with np.errstate(over="ignore"):
                attributes["roi"] = np.array(roi, draw(st.sampled_from((np.float32, np.float32, np.float64, np.float16))))
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


@st.composite
def upsamples(draw, least=1.0, dtypes=RESIZE_TYPES, kinds=KINDS):
    """An Upsample (least scale 1) or a Resize of opset 10 (least scale 0)."""
    shape = draw(extents(draw(small(1, 5)), 40))
    attributes = {"scales": draw(scale_lists(shape, least)), "mode": draw(st.sampled_from(("nearest", "linear")))}
    return Node([shape], draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), attributes)


# ---- broadcasting ----


@st.composite
def broadcasts(draw, count, dtypes, kinds=KINDS, first_is_largest=False):
    """`count` inputs that broadcast. first_is_largest: the first has the shape of the result."""
    shape = [draw(st.sampled_from((1, 1, 2, 3, 5, 8))) for _ in range(draw(small(0, 4)))]
    if shape:
        shape[-1] = draw(st.sampled_from((1, 2, 3, 4, 7, 8, 15, 16, 17, 33, 40)))
        if draw(small(0, 19)) == 0:
            shape[draw(small(0, len(shape) - 1))] = 0
    shapes = []
    for i in range(count):
        form = draw(st.sampled_from(("same", "same", "scalar", "last", "some", "some")))
        mine = {"same": list(shape), "scalar": [], "last": shape[-1:]}.get(form)
        if form == "some":
            mine = [n if draw(st.booleans()) else 1 for n in shape][draw(small(0, len(shape))) :]
        if draw(small(0, 59)) == 0:
            mine = [draw(small(1, 4)), *mine]
        if mine and draw(small(0, 59)) == 0:
            mine[draw(small(0, len(mine) - 1))] += 1
        shapes.append(list(shape) if first_is_largest and i == 0 else mine)
    return Node(shapes, draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(seeds()), {})


@st.composite
def einsums(draw, dtypes):
    """One to four operands; labels that repeat within a term, of size 1 in some, an ellipsis here and there."""
    count = draw(small(1, 4))
    labels = draw(st.permutations("ijkAb"))[: draw(small(1, 5 if count < 3 else 4))]
    sizes = {c: draw(st.sampled_from((0, 1, 2, 2, 3, 3, 5) + (17, 33) * (len(labels) < 4 and count < 3))) for c in labels}
    dots = [draw(small(1, 3)) for _ in range(draw(small(0, 2)))] if draw(small(0, 3)) == 0 else None
    terms, shapes = [], []
    for _ in range(count):
        chosen = [draw(st.sampled_from(labels)) for _ in range(draw(small(0, 3)))]
        one = {c: 1 if draw(small(0, 7)) == 0 else sizes[c] for c in chosen}
        shape = [one[c] for c in chosen]
        term = "".join(chosen)
        if dots is not None and (draw(st.booleans()) or not terms):
            at = draw(small(0, len(chosen)))
            term = term[:at] + "..." + term[at:]
            shape[at:at] = [1 if draw(small(0, 5)) == 0 else n for n in dots]
        if shape and draw(small(0, 60)) == 0:
            shape[0] += 1
        terms.append(term)
        shapes.append(shape)
    equation = draw(st.sampled_from((",", " , "))).join(terms)
    if draw(small(0, 3)):
        used = sorted({c for term in terms for c in term if c != "."})
        kept = [c for c in draw(st.permutations(used)) if draw(st.booleans())] if used else []
        at = draw(small(0, len(kept)))
        kept[at:at] = ["..."] * (dots is not None)
        equation += "->" + "".join(kept)
    return Node(shapes, draw(st.sampled_from(dtypes)), draw(st.sampled_from(KINDS)), draw(seeds()), {"equation": equation})


@dataclass
class AttentionNode(Node):
    """q, k and v; attn_mask, whose type is that of Q or bool; the caches; the lengths."""

    boolean: bool = False
    lengths: list | None = None

    def inputs(self):
        rng = np.random.default_rng(self.seed)
        dtype = TYPE_NAMES[self.dtype]
        types = [dtype] * 3 + [np.bool_ if self.boolean else dtype] + [dtype] * 2
        arrays = [None if s is None else data(rng, s, t, self.kind) for s, t in zip(self.shapes, types, strict=True)]
        return [*arrays, None if self.lengths is None else np.array(self.lengths, np.int64)]


@st.composite
def attentions(draw, dtypes):
    dtype = draw(st.sampled_from(dtypes))
    batch, kv_heads, group = draw(small(1, 3)), draw(small(1, 3)), draw(small(1, 3))
    length, current, size, value = (draw(st.sampled_from((0, 1, 2, 3, 5, 9, 17, 20))) for _ in range(4))
    past = draw(st.sampled_from((None, None, 0, 1, 4, 16)))
    heads, total = kv_heads * group, current + (past or 0)
    shapes = [[batch, heads, length, size], [batch, kv_heads, current, size], [batch, kv_heads, current, value]]
    attributes = {"is_causal": draw(small(0, 1)), "qk_matmul_output_mode": draw(small(0, 3))}
    if draw(st.booleans()):
        shapes = [[s[0], s[2], s[1] * s[3]] for s in shapes]
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    if draw(st.booleans()):
        attributes["scale"] = draw(st.sampled_from((0.1, 1.0, 2.5)))
    if draw(st.booleans()) and dtype != "float64":
        attributes["softcap"] = draw(st.sampled_from((0.5, 3.0, 50.0)))
    mask = None
    if draw(st.booleans()):
        last = total if draw(small(0, 3)) else draw(small(0, total + 1))
        mask = [1 if draw(small(0, 2)) == 0 else n for n in (batch, heads, length)] + [last]
        mask = mask[draw(small(0, 2)) :]
    caches = [None, None] if past is None else [[batch, kv_heads, past, size], [batch, kv_heads, past, value]]
    lengths = [draw(small(0, current)) for _ in range(batch)] if past is None and draw(small(0, 2)) == 0 else None
    drawn = draw(st.sampled_from(KINDS)), draw(seeds()), attributes, draw(st.booleans()), lengths
    return AttentionNode([*shapes, mask, *caches], dtype, *drawn)
