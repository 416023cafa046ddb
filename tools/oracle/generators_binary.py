"""Random elementwise operators of several inputs: shapes that broadcast, and now and then do not."""

import numpy as np
from helpers import TYPE_NAMES

from .domain import choose, types
from .draw import KINDS
from .generators_conv import case

#: The served exponents, and two that are left to ONNX Runtime.
EXPONENTS = (2, 2, 2, 3, 3, 0.5, 0.5, 1, 0, -1, -2, -0.5, 4, 1.5)


def shapes(d, count, first_is_largest=False):
    """Shapes of `count` inputs."""
    common = [d.pick((1, 2, 3, 5, 0) if d.chance(20) else (1, 2, 3, 5)) for _ in range(d.integer(0, 4))]
    if common:
        common[-1] = d.pick((1, 2, 3, 7, 8, 16, 17, 33, 70))
    found = []
    for i in range(count):
        form = d.integer(0, 6)
        shape = list(common)
        if first_is_largest and i == 0:
            found.append(shape)
            continue
        if form == 0:
            shape = []
        elif form == 1:
            shape = shape[-1:]
        elif form > 3:
            shape = [1 if d.flag() else n for n in shape][d.integer(0, len(shape)) :]
        if d.chance(40):
            shape = [d.integer(2, 3), *shape]
        if shape and d.chance(40):
            shape[d.integer(0, len(shape) - 1)] += 1
        found.append(shape)
    return found


def pair(d, operator):
    """Add, Sub, Mul, Div and PRelu."""
    opset, dtype = choose(d, operator)
    kind = d.pick(KINDS)
    inputs = [d.array(shape, dtype, kind) for shape in shapes(d, 2, operator == "PRelu")]
    return case(d, operator, opset, inputs, {})


def variadic(d, operator):
    """Max, Min, Sum and Mean."""
    opset, dtype = choose(d, operator)
    kind = d.pick(KINDS)
    count = d.pick((1, 2, 2, 3, 3, 4, 7, 12))
    return case(d, operator, opset, [d.array(shape, dtype, kind) for shape in shapes(d, count)], {})


def power(d, operator):
    """The exponent is a constant."""
    opset, dtype = choose(d, operator)
    (shape,) = shapes(d, 1)
    exponent = d.pick(EXPONENTS)
    kind = dtype if opset < 12 else d.pick(types(operator, opset, 1))
    if exponent % 1 and kind not in TYPE_NAMES:
        exponent = 2
    if exponent < 0 and kind not in TYPE_NAMES:
        exponent = 3
    y = np.full((1,) * d.integer(0, 3), exponent, TYPE_NAMES.get(kind, kind))
    made = case(d, operator, opset, [d.array(shape, dtype, d.pick(KINDS)), y], {})
    return made.with_(form="constants")
