"""Random nodes of the quantised operators."""

import numpy as np
from helpers import TYPE_NAMES
from onnx import helper

from .domain import choose, types
from .draw import KINDS
from .generators_conv import batch, case, channels, window

SCALES = ("float32", "float16", "bfloat16")
EIGHT = ("uint8", "int8")
SIXTEEN = ("uint16", "int16")


def number(name):
    """ONNX's number of a type."""
    return helper.np_dtype_to_tensor_dtype(np.dtype(TYPE_NAMES.get(name, name)))


def scale(d, shape, dtype="float32", size=1.0):
    """Positive numbers around `size`; now and then anything."""
    if d.chance(8):
        return d.array(shape, dtype, "special")
    values = d.array(shape, "float32", "positive") * np.float32(size)
    return np.asarray(values).astype(TYPE_NAMES[dtype])


def one(d):
    """The shape of a value per tensor."""
    return d.pick(([], [1]))


def granularity(d, opset, shape):
    """(shape of the scale, attributes): per tensor, per axis or blocked."""
    form = d.pick(("tensor", "axis", "axis", "blocked")) if shape else "tensor"
    if form == "tensor" or (form == "blocked" and opset < 21) or (opset < 13 and len(shape) < 2):
        return one(d), {"axis": d.integer(0, len(shape) - 1)} if shape and opset >= 13 and d.flag() else {}
    axis = d.integer(0, len(shape) - 1) if opset >= 13 else 1
    attributes = {} if axis == 1 and d.flag() else {"axis": axis - len(shape) * d.flag()}
    if form == "axis":
        return [shape[axis]], attributes
    block = d.integer(1, 5)
    blocks = [*shape[:axis], -(-shape[axis] // block), *shape[axis + 1 :]]
    return blocks, {**attributes, "block_size": block}


def tensor_shape(d, rank):
    """Extents from 1 to 9, now and then 0; the last may be longer."""
    shape = [0 if d.chance(30) else d.integer(1, 9) for _ in range(rank)]
    if shape and d.chance(3):
        shape[-1] = d.integer(10, 70)
    return shape


def quantize(d, operator):
    opset, dtype = choose(d, operator)
    shape = tensor_shape(d, d.integer(0, 4))
    of_scale, attributes = granularity(d, opset, shape)
    zero_points = EIGHT if opset < 21 else (*EIGHT, *SIXTEEN)
    wanted = d.pick(zero_points)
    inputs = [d.array(shape, dtype, d.pick(KINDS))]
    inputs.append(scale(d, of_scale, d.pick(SCALES) if opset >= 23 and d.flag() else dtype, 1 / 64))
    if d.integer(0, 2):
        of_zero = one(d) if len(of_scale) < 2 and of_scale in ([], [1]) and "block_size" not in attributes else of_scale
        inputs.append(d.array(of_zero, wanted))
    if d.flag():
        attributes["saturate"] = d.flag()
    if d.flag():
        attributes["output_dtype"] = d.pick((0, number(wanted)))
    if d.flag():
        attributes["precision"] = d.pick((0, *map(number, SCALES)))
    return case(d, operator, opset, inputs, attributes)


def dequantize(d, operator):
    opset, dtype = choose(d, operator)
    dtype = d.pick(types(operator, opset))  # no type stands out
    shape = tensor_shape(d, d.integer(0, 4))
    of_scale, attributes = granularity(d, opset, shape)
    inputs = [d.array(shape, dtype), scale(d, of_scale, d.pick(SCALES) if opset >= 19 else "float32")]
    if d.integer(0, 2):
        of_zero = one(d) if of_scale in ([], [1]) and "block_size" not in attributes else of_scale
        inputs.append(d.array(of_zero, dtype))
    if d.chance(3):
        attributes["output_dtype"] = d.pick((0, *map(number, SCALES)))
    return case(d, operator, opset, inputs, attributes)


def dynamic(d, operator):
    opset, dtype = choose(d, operator)
    x = d.array(tensor_shape(d, d.integer(0, 4)), dtype, d.pick(KINDS))
    return case(d, operator, opset, [x], {}, 3)


def pairs(d, operator):
    """(opset, A's type, B's type): ONNX Runtime's combinations more often."""
    opset, first = choose(d, operator)
    return opset, first, "int8" if first == "int8" and d.integer(0, 3) else d.pick(EIGHT)


def matrices(d):
    m, k, n = d.integer(1, 9), 0 if d.chance(30) else d.integer(1, 70), d.integer(1, 20)
    stack = [d.integer(1, 3) for _ in range(d.integer(0, 2))]
    sides = [[1 if d.chance(4) else size for size in stack][d.integer(0, len(stack)) if d.chance(3) else 0 :] for _ in range(2)]
    a, b = [*sides[0], m, k], [*sides[1], k, n]
    return [k] if d.chance(8) else a, [k] if d.chance(8) else b


def along(d, shape, kept, one_in=3):
    """The shape of a zero point or scale of a matrix: per tensor, or along the axis `kept`."""
    if len(shape) < 2 or not d.chance(one_in):
        return one(d)
    if len(shape) == 2 and d.flag():
        return [shape[kept]]
    return [*shape[:-1], 1] if kept == -2 else [*shape[:-2], 1, shape[-1]]


def matmul_integer(d, operator):
    opset, first, second = pairs(d, operator)
    a, b = matrices(d)
    inputs = [d.array(a, first), d.array(b, second)]
    of_a = d.array(along(d, a, -2, 6), first) if d.flag() else None
    of_b = d.array(along(d, b, -1), second) if d.flag() else None
    given = [of_a, of_b] if of_b is not None else [of_a] if of_a is not None else []
    return case(d, operator, opset, [*inputs, *given], {})


def qlinear_matmul(d, operator):
    opset, first, second = pairs(d, operator)
    a, b = matrices(d)
    kind = d.pick(SCALES) if opset >= 21 else "float32"
    inputs = []
    for shape, dtype, kept, one_in in ((a, first, -2, 8), (b, second, -1, 3)):
        inputs += [d.array(shape, dtype), scale(d, along(d, shape, kept, one_in), kind, 1 / 16)]
        inputs.append(d.array(along(d, shape, kept, one_in), dtype))
    inputs += [scale(d, one(d), kind, 4.0), d.array(one(d), d.pick(EIGHT) if d.chance(4) else first)]
    return case(d, operator, opset, inputs, {})


def convolution(d):
    """(shapes of X and W, attributes)."""
    r = d.integer(1, 3)
    sizes, kernel, attributes = window(d, r)
    group, c, m = channels(d)
    if group > 1 or d.flag():
        attributes["group"] = group
    if d.flag():
        attributes["kernel_shape"] = kernel
    return [batch(d), group * c, *sizes], [group * m, c, *kernel], attributes


def per_channel(d, m, one_in=2):
    return [m] if d.chance(one_in) else one(d)


def conv_integer(d, operator):
    opset, first, second = pairs(d, operator)
    x, w, attributes = convolution(d)
    of_x = d.array(one(d), first) if d.flag() else None
    of_w = d.array(per_channel(d, w[0], 6), second) if d.flag() else None
    given = [of_x, of_w] if of_w is not None else [of_x] if of_x is not None else []
    return case(d, operator, opset, [d.array(x, first), d.array(w, second), *given], attributes)


def qlinear_conv(d, operator):
    opset, first, second = pairs(d, operator)
    x, w, attributes = convolution(d)
    inputs = [d.array(x, first), scale(d, one(d), size=1 / 16), d.array(one(d), first)]
    inputs += [d.array(w, second), scale(d, per_channel(d, w[0]), size=1 / 16), d.array(per_channel(d, w[0]), second)]
    inputs += [scale(d, one(d), size=4.0), d.array(one(d), d.pick(EIGHT) if d.chance(4) else first)]
    if d.flag():
        inputs.append((d.array([w[0]], "int32") // (1 if d.chance(4) else 1 << 14)).astype(np.int32))
    return case(d, operator, opset, inputs, attributes)
