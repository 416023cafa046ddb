"""Random MatMul and Gemm."""

from .domain import choose
from .draw import KINDS
from .generators_conv import case


def matmul(d, operator):
    opset, dtype = choose(d, operator)
    m, k, n = d.integer(1, 9), 0 if d.chance(30) else d.integer(1, 40), d.integer(1, 20)
    stack = [d.integer(1, 3) for _ in range(d.integer(0, 2))]
    # Each side may lack leading axes of the stack, or have 1 in them.
    sides = [[1 if d.chance(4) else size for size in stack][d.integer(0, len(stack)) if d.chance(3) else 0 :] for _ in range(2)]
    a, b = [*sides[0], m, k], [*sides[1], k, n]
    a, b = [k] if d.chance(8) else a, [k] if d.chance(8) else b
    kind = d.pick(KINDS)
    return case(d, operator, opset, [d.array(a, dtype, kind), d.array(b, dtype, kind)], {})


def gemm(d, operator):
    opset, dtype = choose(d, operator)
    m, k, n = d.integer(1, 9), 0 if d.chance(30) else d.integer(1, 40), d.integer(1, 20)
    attributes = {}
    for name, value in (("transA", d.flag()), ("transB", d.flag()), ("alpha", d.pick((1.0, 0.5, -1.5, 0.0)))):
        if d.flag():
            attributes[name] = value
    if d.flag():
        attributes["beta"] = d.pick((1.0, 0.5, -2.0, 0.0))
    kind = d.pick(KINDS)
    a = [k, m] if attributes.get("transA") else [m, k]
    b = [n, k] if attributes.get("transB") else [k, n]
    inputs = [d.array(shape, dtype, kind) for shape in (a, b)]
    if opset < 11 or d.integer(0, 3):
        inputs.append(d.array(d.pick(([m, n], [1, n], [n], [m, 1], [1], [])), dtype, kind))
    return case(d, operator, opset, inputs, attributes)
