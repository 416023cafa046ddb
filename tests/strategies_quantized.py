"""Random nodes of the quantised operators. A few draws break a rule on purpose: the kernel must fail as the reference does."""

import numpy as np
import strategies
from helpers import KINDS, TYPE_NAMES, data
from hypothesis import strategies as st

SCALES = ("float32", "float32", "float16", "bfloat16")
EIGHT = ("uint8", "int8")
QUANTIZED = (*EIGHT, "uint16", "int16")
small = strategies.small


def scales(rng, shape, dtype="float32", special=False, size=1.0):
    """Positive numbers around `size`, or anything."""
    dtype = TYPE_NAMES[dtype]
    if special:
        return np.asarray(data(rng, shape, dtype, "special"))
    return np.asarray((rng.random(tuple(shape)) + 0.05) * size).astype(dtype)


def numbers(rng, shape, dtype):
    return np.asarray(data(rng, shape, dtype))


def per_tensor(draw):
    return draw(st.sampled_from(([], [1])))


@st.composite
def granularities(draw):
    """(shape of x, shape of the scale, shape of the zero point, attributes)."""
    shape = [draw(st.sampled_from((0, 1, 2, 3, 5, 7))) for _ in range(draw(small(0, 4)))]
    if shape and draw(st.booleans()):
        shape[draw(small(0, len(shape) - 1))] = draw(small(1, 70))
    form = draw(st.sampled_from(("tensor", "axis", "axis", "blocked", "blocked"))) if shape else "tensor"
    if form == "tensor":
        return shape, per_tensor(draw), per_tensor(draw), draw(st.sampled_from(({}, {"axis": 9})))
    axis = draw(small(0, len(shape) - 1))
    attributes = {"axis": axis - len(shape) * draw(small(0, 1))}
    if form == "axis":
        scale = [shape[axis]]
    else:
        attributes["block_size"] = draw(small(1, 6))
        scale = [*shape[:axis], -(-shape[axis] // attributes["block_size"]), *shape[axis + 1 :]]
    zero = list(scale)
    match draw(small(0, 30)):
        case 0:
            scale[0] += 1
        case 1:
            zero[-1] += 1
        case 2:
            attributes["axis"] = len(shape)
        case 3:
            attributes["block_size"] = -1
    return shape, scale, zero, attributes


@st.composite
def quantizations(draw):
    """(inputs, attributes) of QuantizeLinear."""
    shape, of_scale, of_zero, attributes = draw(granularities())
    rng = np.random.default_rng(draw(strategies.seeds()))
    x = np.asarray(data(rng, shape, TYPE_NAMES[draw(st.sampled_from(SCALES))], draw(st.sampled_from(KINDS))))
    scale = scales(rng, of_scale, draw(st.sampled_from(SCALES)), draw(small(0, 5)) == 0, draw(st.sampled_from((1, 1 / 64))))
    wanted = draw(st.sampled_from(QUANTIZED))
    zero = numbers(rng, of_zero, wanted) if draw(st.booleans()) else None
    output = draw(st.sampled_from((None, wanted, "uint8")))
    return [x, scale, zero], {**attributes, **({"output_dtype": output} if output else {})}


@st.composite
def dequantizations(draw):
    """(inputs, attributes) of DequantizeLinear."""
    shape, of_scale, of_zero, attributes = draw(granularities())
    rng = np.random.default_rng(draw(strategies.seeds()))
    dtype = draw(st.sampled_from((*QUANTIZED, "int32")))
    scale = scales(rng, of_scale, draw(st.sampled_from(SCALES)), draw(small(0, 5)) == 0)
    zero = numbers(rng, of_zero, dtype) if draw(st.booleans()) else None
    output = draw(st.sampled_from((None, None, "float32", "float16", "bfloat16")))
    return [numbers(rng, shape, dtype), scale, zero], {**attributes, **({"output_dtype": TYPE_NAMES[output]} if output else {})}


def along(draw, shape, kept):
    """The shape of a zero point or scale of a matrix."""
    form = draw(small(0, 3))
    if form == 0 and len(shape) >= 2:
        return [*shape[:-1], 1] if kept == -2 else [*shape[:-2], 1, shape[-1]]
    if form == 1 and len(shape) == 2:
        return [shape[kept]]
    if draw(small(0, 40)) == 0:
        return [2, 1]
    return per_tensor(draw)


@st.composite
def matrices(draw):
    """Shapes of A and B."""
    m, n = draw(small(0, 9)), draw(st.sampled_from((1, 3, 8, 15, 16, 17, 33, 40)))
    k = draw(st.sampled_from((0, 1, 2, 3, 7, 8, 31, 64, 65, 130)))
    stack = [draw(small(1, 3)) for _ in range(draw(small(0, 2)))]
    sides = [[1 if draw(small(0, 3)) == 0 else s for s in stack][draw(small(0, len(stack))) :] for _ in range(2)]
    spoil = draw(small(0, 30)) == 0
    a, b = [*sides[0], m, k + spoil], [*sides[1], k, n]
    return [k] if draw(small(0, 9)) == 0 else a, [k] if draw(small(0, 9)) == 0 else b


@st.composite
def integer_matmuls(draw):
    """Inputs of MatMulInteger."""
    a, b = draw(matrices())
    rng = np.random.default_rng(draw(strategies.seeds()))
    inputs = []
    for shape, kept in ((a, -2), (b, -1)):
        dtype = draw(st.sampled_from(EIGHT))
        zero = numbers(rng, along(draw, shape, kept), dtype) if draw(st.booleans()) else None
        inputs.append((numbers(rng, shape, dtype), zero))
    return [inputs[0][0], inputs[1][0], inputs[0][1], inputs[1][1]]


@st.composite
def qlinear_matmuls(draw):
    """Inputs of QLinearMatMul."""
    a, b = draw(matrices())
    rng = np.random.default_rng(draw(strategies.seeds()))
    inputs = []
    for shape, kept in ((a, -2), (b, -1)):
        dtype = draw(st.sampled_from(EIGHT))
        special = draw(small(0, 8)) == 0
        scale = scales(rng, along(draw, shape, kept), draw(st.sampled_from(SCALES)), special, 1 / 16)
        inputs += [numbers(rng, shape, dtype), scale, numbers(rng, along(draw, shape, kept), dtype)]
    inputs.append(scales(rng, per_tensor(draw), "float32", draw(small(0, 8)) == 0, 4.0))
    return [*inputs, numbers(rng, per_tensor(draw), draw(st.sampled_from(EIGHT)))]


@st.composite
def convolutions(draw, requantized):
    """(inputs, attributes) of ConvInteger or, with `requantized`, QLinearConv."""
    sizes, kernel, attributes = draw(strategies.windows())
    group, c, m = draw(strategies.channels())
    rng = np.random.default_rng(draw(strategies.seeds()))
    first, second = draw(st.sampled_from(EIGHT)), draw(st.sampled_from(EIGHT))
    x = numbers(rng, [draw(strategies.batches()), group * c, *sizes], first)
    w = numbers(rng, [group * m, c, *kernel], second)
    of_channels = [group * m + (draw(small(0, 40)) == 0)] if draw(st.booleans()) else per_tensor(draw)
    of_x, of_w = numbers(rng, per_tensor(draw), first), numbers(rng, of_channels, second)
    attributes["group"] = group
    if not requantized:
        return [x, w, *(zero if draw(st.booleans()) else None for zero in (of_x, of_w))], attributes
    of_scale = [group * m] if draw(st.booleans()) else per_tensor(draw)
    w_scale = scales(rng, of_scale, special=draw(small(0, 8)) == 0, size=1 / 16)
    inputs = [x, scales(rng, per_tensor(draw), size=1 / 16), of_x, w, w_scale, of_w, scales(rng, per_tensor(draw), size=4.0)]
    inputs.append(numbers(rng, per_tensor(draw), draw(st.sampled_from(EIGHT))))
    if draw(st.booleans()):
        inputs.append(numbers(rng, [group * m], "int32") // (1 << draw(st.sampled_from((0, 15)))))
    return inputs, attributes
