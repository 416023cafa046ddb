"""Random operators of one input, Clip and Cast."""

import numpy as np

from .domain import allowed, choose
from .draw import KINDS
from .generators_conv import case
from .generators_norms import shape_of

_ALPHA = ("LeakyRelu", "ThresholdedRelu", "HardSigmoid", "Elu", "Selu", "Celu", "Swish")
#: Numbers of the element types that Cast is served to.
TARGETS = {2: "uint8", 3: "int8", 4: "uint16", 5: "int16", 6: "int32", 7: "int64", 9: "bool", 12: "uint32", 13: "uint64"}


def x_of(d, dtype):
    """Kind "wide" would leave the range in which Sin and Cos of ONNX Runtime mean anything: every third one is tame."""
    return d.array(shape_of(d), dtype, d.pick((*KINDS, "normal", "positive")))


def plain(d, operator):
    opset, dtype = choose(d, operator)
    attributes = {}
    if operator in _ALPHA and d.flag():
        attributes["alpha"] = d.pick((0.25, 0.5, 1.0, 1.5, 2.0, -0.5))
    if operator == "HardSigmoid" and d.flag():
        attributes["beta"] = d.pick((0.0, 0.25, -0.5, 1.5))
    if operator == "Selu" and d.flag():
        attributes["gamma"] = d.pick((0.5, 1.0, 2.0, -1.5))
    if operator == "Gelu" and d.flag():
        attributes["approximate"] = d.pick(("none", "tanh"))
    return case(d, operator, opset, [x_of(d, dtype)], attributes)


def clip(d, operator):
    opset, dtype = choose(d, operator)
    x = x_of(d, dtype)
    limits = [d.pick((-1.5, -0.25, 0.0, 0.5, 1.0)), d.pick((-0.5, 0.25, 1.0, 2.0))]
    if opset < 11:
        given = {name: value for name, value in zip(("min", "max"), limits, strict=True) if d.flag()}
        return case(d, operator, opset, [x], given)
    shape = d.pick(((), (), (1,)))
    arrays = [np.full(shape, int(v * 4) % 100 if x.dtype.kind in "iu" else v, x.dtype) if d.flag() else None for v in limits]
    while arrays and arrays[-1] is None:
        arrays.pop()
    return case(d, operator, opset, [x, *arrays], {})


def cast(d, operator):
    opset, dtype = choose(d, operator)
    attributes = {"to": d.pick(tuple(TARGETS)), "saturate": d.flag(), "round_mode": d.pick(("up", "down", "nearest"))}
    keep = {name: value for name, value in attributes.items() if name == "to" or d.flag()}
    return case(d, operator, opset, [x_of(d, dtype)], allowed(operator, opset, keep))
