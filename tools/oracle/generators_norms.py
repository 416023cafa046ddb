"""Random reductions, softmaxes, normalizations, ArgMax and ArgMin, CumSum and CumProd."""

import math

import numpy as np

from .domain import choose
from .draw import KINDS
from .generators_conv import batch, case

EPSILONS = (1e-5, 1e-5, 1e-3, 1e-12, 0.0, 1.0)


def shape_of(d, low=0, high=4, most=1500):
    """Mostly small extents with 1 and now and then 0 among them, and one that may be long, in any place."""
    shape = [d.pick((1, 2, 3, 4, 5, 7, 0) if d.chance(8) else (1, 2, 3, 4, 5, 7)) for _ in range(d.integer(low, high))]
    if shape and d.flag():
        shape[d.integer(0, len(shape) - 1)] = d.integer(8, 200)
    while math.prod(shape) > most:
        at = max(range(len(shape)), key=shape.__getitem__)
        shape[at] //= 2
    return shape


def signed_axis(d, axis, rank, opset):
    """Negative half of the time, where the opset knows negative axes."""
    return axis - rank * d.flag() if opset >= 11 else axis


def reduction(d, operator):
    opset, dtype = choose(d, operator)
    shape = shape_of(d)
    rank = len(shape)
    kind = d.pick(KINDS)
    if operator == "ReduceLogSum" and d.flag():
        kind = "positive"
    x = d.array(shape, dtype, kind)
    axes = [signed_axis(d, axis, rank, opset) for axis in range(rank) if d.flag()]
    if d.chance(5):
        axes.reverse()
    attributes = {"keepdims": d.flag()} if d.flag() else {}
    inputs = [x]
    if opset >= (13 if operator == "ReduceSum" else 18):
        if d.chance(3):
            attributes["noop_with_empty_axes"] = d.flag()
        if axes or d.flag():
            inputs.append(np.array(axes, np.int64))
    elif axes:
        attributes["axes"] = axes
    return case(d, operator, opset, inputs, attributes)


def softmax(d, operator):
    opset, dtype = choose(d, operator)
    shape = shape_of(d, 1 if opset >= 13 else 2, 4, 600)
    attributes = {}
    if d.chance(3) is False:
        attributes["axis"] = signed_axis(d, d.integer(0, len(shape) - 1), len(shape), opset)
    return case(d, operator, opset, [d.array(shape, dtype, d.pick(KINDS))], attributes)


def arg(d, operator):
    opset, dtype = choose(d, operator)
    shape = shape_of(d, 1)
    attributes = {name: d.flag() for name in ("keepdims", "select_last_index") if d.flag()}
    if d.chance(4) is False:
        attributes["axis"] = signed_axis(d, d.integer(0, len(shape) - 1), len(shape), opset)
    return case(d, operator, opset, [d.array(shape, dtype, d.pick(KINDS))], attributes)


def cumulation(d, operator):
    opset, dtype = choose(d, operator)
    shape = shape_of(d, 1)
    attributes = {name: d.flag() for name in ("exclusive", "reverse") if d.flag()}
    axis = np.array(signed_axis(d, d.integer(0, len(shape) - 1), len(shape), opset), d.pick(("int32", "int64")))
    axis = axis.reshape(d.pick(((), (1,))))
    return case(d, operator, opset, [d.array(shape, dtype, d.pick(KINDS)), axis], attributes)


def parameter(d, normalized, rank, dtype, kind):
    """A tensor that broadcasts to the normalized dimensions."""
    shape = [1 if d.chance(5) else extent for extent in normalized]
    form = d.integer(0, 7)
    if form == 0:
        shape = shape[d.integer(0, len(shape)) :]
    elif form == 1:
        shape = [1] * d.integer(0, rank - len(shape)) + shape
    elif form > 2:
        shape = list(normalized)
    return d.array(shape, dtype, kind)


def row_norm(d, operator):
    opset, dtype = choose(d, operator)
    shape, kind = shape_of(d, 1), d.pick((*KINDS, "far"))
    axis = d.integer(0, len(shape) - 1)
    inputs = [d.array(shape, dtype, kind), parameter(d, shape[axis:], len(shape), dtype, "normal")]
    outputs = 1
    if operator == "LayerNormalization":
        if d.flag():
            inputs.append(parameter(d, shape[axis:], len(shape), dtype, d.pick(("normal", "special"))))
        outputs = d.integer(1, 3)
    attributes = {"epsilon": d.pick(EPSILONS)} if d.flag() else {}
    if axis < len(shape) - 1 or d.flag():
        attributes["axis"] = axis - len(shape) * d.flag()
    if d.chance(4):
        attributes["stash_type"] = 1
    return case(d, operator, opset, inputs, attributes, outputs)


def channel_norm(d, operator):
    opset, dtype = choose(d, operator)
    grouped = operator == "GroupNormalization"
    groups, each = d.integer(1, 4), d.integer(1, 3) if grouped else 1
    r = d.integer(0 if grouped and d.chance(8) else 1, 3)
    sizes = [d.integer(0 if d.chance(20) else 1, (60, 8, 4)[r - 1]) for _ in range(r)]
    length = groups if grouped and opset < 21 else groups * each
    kind = d.pick((*KINDS, "far"))
    inputs = [d.array([batch(d), groups * each, *sizes], dtype, kind)]
    inputs += [d.array([length], dtype, d.pick(("normal", "integers", "special"))) for _ in range(2)]
    attributes = {"epsilon": d.pick(EPSILONS)} if d.flag() else {}
    if grouped:
        attributes["num_groups"] = groups
        if d.chance(4):
            attributes["stash_type"] = 1
    return case(d, operator, opset, inputs, attributes)


def lp_normalization(d, operator):
    opset, dtype = choose(d, operator)
    shape = shape_of(d, 1)
    attributes = {"p": d.integer(1, 2)} if d.flag() else {}
    if d.flag():
        attributes["axis"] = d.integer(0, len(shape) - 1) - len(shape) * d.flag()
    return case(d, operator, opset, [d.array(shape, dtype, d.pick(KINDS))], attributes)


def mean_variance_normalization(d, operator):
    opset, dtype = choose(d, operator)
    shape = shape_of(d, 1)
    rank = len(shape)
    axes = [axis - rank * d.flag() for axis in range(rank) if d.flag()] or [d.integer(-rank, rank - 1)]
    attributes = {} if rank == 4 and d.flag() else {"axes": axes}
    return case(d, operator, opset, [d.array(shape, dtype, d.pick((*KINDS, "far")))], attributes)


def lrn(d, operator):
    opset, dtype = choose(d, operator)
    r = d.pick((2, 2, 2, 2, 2, 2, 2, 0, 1, 3))
    shape = [batch(d), d.integer(1, 9), *(d.integer(1, (1, 40, 6, 3)[r]) for _ in range(r))]
    attributes = {"size": d.pick((1, 3, 3, 5, 5, 7, 2))}
    choices = {"alpha": (1e-4, 1.0, 0.5, 2.0), "beta": (0.75, 0.5, 1.0, 0.3, 2.0), "bias": (1.0, 2.0, 0.5, 0.0)}
    for name, values in choices.items():
        if d.flag():
            attributes[name] = d.pick(values)
    return case(d, operator, opset, [d.array(shape, dtype, d.pick(KINDS))], attributes)
