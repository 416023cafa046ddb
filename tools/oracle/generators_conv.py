"""Random Conv, ConvTranspose, pools and BatchNormalization. A generator fills in a case from draws."""

import math

import numpy as np

from .cases import Case
from .domain import allowed, choose, types
from .draw import KINDS

AUTO_PADS = ("NOTSET", "NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")
#: p of LpPool.
ORDERS = (1, 1, 2, 2, 3, 4, 7)
FORMS = ("inputs", "constants", "dynamic")


def case(d, operator, opset, inputs, attributes, outputs=1):
    """The case, with attributes left out that the revision has not, and some that are at their defaults."""
    return Case(
        id="",
        operator=operator,
        opset=opset,
        inputs=inputs,
        attributes=allowed(operator, opset, attributes),
        outputs=outputs,
        form=d.pick(FORMS),
        optimize=bool(d.flag()),
        threads=d.integer(1, 2),
    )


def window(d, r, most=4, small_pads=False, dilated=True):
    """(input sizes, kernel, attributes) of a window that fits; small_pads: below the kernel size."""
    kernel = [d.integer(1, min(most, (6, 4, 3)[r - 1])) for _ in range(r)]
    strides = [d.integer(1, 4) for _ in range(r)]
    dilations = [d.pick((1, 1, 2, 3)) if dilated else 1 for _ in range(r)]
    auto_pad = d.pick(AUTO_PADS)
    reach = [min(2, k - 1) if small_pads else 3 for k in kernel] * 2
    pads = [d.integer(0, most_pad) if auto_pad == "NOTSET" else 0 for most_pad in reach]
    sizes = []
    for i in range(r):
        extent = dilations[i] * (kernel[i] - 1) + 1
        fits = max(0, extent - pads[i] - pads[r + i]) if auto_pad in ("NOTSET", "VALID") else d.pick((0, 1, 1, 1, 1, 1, 1))
        sizes.append(max(fits, d.integer(0, 1)) + d.integer(0, (20 if i == r - 1 else 8, 5, 3)[r - 1]))
    attributes = {}
    if d.flag() or any(s > 1 for s in strides):
        attributes["strides"] = strides
    if d.flag() or any(v > 1 for v in dilations):
        attributes["dilations"] = dilations
    if d.flag() or auto_pad != "NOTSET":
        attributes["auto_pad"] = auto_pad
    if any(pads) or d.chance(4):
        attributes["pads"] = pads
    return sizes, kernel, attributes


def channels(d):
    """(group, input channels per group, output channels per group): dense, grouped or depthwise."""
    form = d.pick(("dense", "dense", "grouped", "depthwise"))
    if form == "dense":
        return 1, 0 if d.chance(60) else d.pick((1, 2, 3, 4, 8)), d.integer(1, 9)
    if form == "grouped":
        return d.integer(2, 3), d.integer(1, 3), d.integer(1, 4)
    return d.integer(1, 9), 1, d.pick((1, 1, 2))


def batch(d):
    return 0 if d.chance(20) else d.pick((1, 1, 2, 3))


def conv(d, operator):
    opset, dtype = choose(d, operator)
    r, kind = d.integer(1, 3), d.pick(KINDS)
    sizes, kernel, attributes = window(d, r)
    group, c, m = channels(d)
    if group > 1 or d.flag():
        attributes["group"] = group
    if d.flag():
        attributes["kernel_shape"] = kernel
    shapes = [[batch(d), group * c, *sizes], [group * m, c, *kernel]] + [[group * m]] * d.flag()
    return case(d, operator, opset, [d.array(s, dtype, kind) for s in shapes], attributes)


def conv_transpose(d, operator):
    opset, dtype = choose(d, operator)
    r, kind = d.integer(1, 3), d.pick(KINDS)
    kernel = [d.integer(1, (5, 3, 2)[r - 1]) for _ in range(r)]
    strides = [d.integer(1, 3) for _ in range(r)]
    dilations = [d.pick((1, 1, 2, 3)) for _ in range(r)]
    sizes = [d.integer(0 if d.chance(20) else 1, (12, 5, 3)[r - 1]) for _ in range(r)]
    attributes = {"strides": strides, "dilations": dilations, "auto_pad": d.pick(AUTO_PADS)}
    if d.flag():
        attributes["output_padding"] = [d.integer(0, max(strides[i], dilations[i]) - 1) for i in range(r)]
    q = attributes.get("output_padding", [0] * r)
    natural = [strides[i] * (sizes[i] - 1) + q[i] + dilations[i] * (kernel[i] - 1) + 1 for i in range(r)]
    if attributes["auto_pad"] == "NOTSET" and d.flag():
        first = [d.integer(0, max(0, min(2, n - 1))) for n in natural]
        attributes["pads"] = first + [d.integer(0, max(0, min(2, n - 1 - b))) for n, b in zip(natural, first, strict=True)]
    if d.chance(4):
        attributes["output_shape"] = [max(1, n + d.integer(-4, 3)) for n in natural]
    if d.chance(3):
        attributes["kernel_shape"] = kernel
    group, c, m = channels(d)
    attributes["group"] = group
    shapes = [[batch(d), group * c, *sizes], [group * c, m, *kernel]] + [[group * m]] * d.flag()
    return case(d, operator, opset, [d.array(s, dtype, kind) for s in shapes], attributes)


def pool(d, operator):
    opset, dtype = choose(d, operator)
    dilated = (operator == "MaxPool" and opset >= 10) or opset >= 19
    sizes, kernel, attributes = window(d, d.integer(1, 3), 5, not d.chance(6), dilated)
    attributes["kernel_shape"] = kernel
    for name in ("ceil_mode", "storage_order", "count_include_pad"):
        if d.flag():
            attributes[name] = d.flag()
    x = d.array([batch(d), d.pick((1, 1, 2, 3, 0) if d.chance(5) else (1, 2, 3)), *sizes], dtype, d.pick(KINDS))
    return case(d, operator, opset, [x], attributes, 1 + (operator == "MaxPool" and opset >= 8 and d.flag()))


def lp_pool(d, operator):
    opset, dtype = choose(d, operator)
    sizes, kernel, attributes = window(d, d.integer(1, 3), 4, not d.chance(6), opset >= 18)
    attributes["kernel_shape"] = kernel
    for name, value in (("ceil_mode", d.flag()), ("p", d.pick(ORDERS))):
        if d.flag():
            attributes[name] = value
    x = d.array([batch(d), d.integer(1, 3), *sizes], dtype, d.pick(KINDS))
    return case(d, operator, opset, [x], attributes)


def max_unpool(d, operator):
    """Indices anywhere in the output, now and then the same one twice."""
    opset, dtype = choose(d, operator)
    r = d.integer(1, 3)
    kernel, strides = ([d.integer(1, 3) for _ in range(r)] for _ in range(2))
    pads = [d.integer(0, min(1, kernel[i % r] - 1)) if d.chance(3) else 0 for i in range(2 * r)]
    sizes = []
    for i in range(r):
        least = 1 if kernel[i] - pads[i] - pads[r + i] >= 1 else 2
        sizes.append(d.integer(least, least + (9, 4, 2)[r - 1]))
    attributes = {"kernel_shape": kernel, "strides": strides}
    if any(pads) or d.chance(4):
        attributes["pads"] = pads
    shape = [batch(d), d.integer(1, 3), *sizes]
    output = [(n - 1) * strides[i] + kernel[i] - pads[i] - pads[r + i] for i, n in enumerate(sizes)]
    output = [max(1, n) for n in output]
    inputs = [d.array(shape, dtype, d.pick(KINDS)), None]
    if d.chance(3):
        output = [n + d.integer(0, 2) - d.chance(10) * (n > 1) for n in output]
        inputs.append(np.array([*shape[:2], *output], np.int64))
    inputs[1] = d.indices(shape, math.prod([*shape[:2], *output]))
    return case(d, operator, opset, inputs, attributes)


def global_pool(d, operator):
    opset, dtype = choose(d, operator)
    attributes = {"p": d.pick(ORDERS)} if operator == "GlobalLpPool" and d.flag() else {}
    r = d.pick((1, 2, 2, 3, 3, 4))
    sizes = [d.integer(0 if d.chance(15) else 1, (70, 12, 5, 3)[r - 1]) for _ in range(r)]
    return case(d, operator, opset, [d.array([batch(d), d.integer(1, 6), *sizes], dtype, d.pick(KINDS))], attributes)


def batch_normalization(d, operator):
    opset, dtype = choose(d, operator)
    kind, r = d.pick(KINDS), d.pick((0, 1, 2, 2, 3))
    c = d.integer(1, 7)
    of_scale, of_mean = dtype, dtype
    if opset >= 15 and d.chance(4):
        of_scale = d.pick(types(operator, opset, 1))
    if opset >= 14 and d.chance(4):
        of_mean = d.pick(types(operator, opset, 3))
    x = d.array([batch(d), c, *(d.integer(0 if d.chance(15) else 1, 6) for _ in range(r))], dtype, kind)
    scale, bias = (d.array([c], of_scale, kind) for _ in range(2))
    mean, var = d.array([c], of_mean, kind), d.array([c], of_mean, "positive")
    if d.chance(6):
        var = np.where(d.array([c], "int8") > 64, d.array([c], of_mean, kind), var).astype(var.dtype)
    attributes = {"epsilon": d.pick((1e-5, 1e-3, 0.0, 1.0))} if d.flag() else {}
    if d.flag():
        attributes["momentum"] = 0.5
    if d.chance(3):
        attributes |= {"spatial": 1, "training_mode": 0}
    return case(d, operator, opset, [x, scale, bias, mean, var], attributes)
