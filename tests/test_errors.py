"""Malformed attributes and inputs, one at a time: the kind of error, and that its text names the culprit.

docs/exact-mode.md: "Shapes and errors", and the error tables of every page.
"""

import re
import time

import faults_recurrent
import numpy as np
import pytest
from helpers import TYPE_NAMES, kernels

INVALID, UNSUPPORTED = ValueError, NotImplementedError


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


X, W, B = ones(2, 4, 6, 7), ones(6, 4, 3, 3), ones(6)
WT = ones(4, 6, 3, 3)
C = ones(4)
K = {"kernel_shape": [2, 2]}

# Faults that every window operator refuses: attributes, kind, pattern of the text.
WINDOW = [
    ({"strides": [0, 1]}, INVALID, "strides"),
    ({"strides": [1, -1]}, INVALID, "strides"),
    ({"strides": [1]}, INVALID, "strides"),
    ({"strides": [1, 1, 1]}, INVALID, "strides"),
    ({"strides": [1] * 9}, INVALID, "strides"),
    ({"dilations": [1, 0]}, INVALID, "dilations"),
    ({"dilations": [-2, 1]}, INVALID, "dilations"),
    ({"dilations": [1]}, INVALID, "dilations"),
    ({"dilations": [1, 1, 1]}, INVALID, "dilations"),
    ({"pads": [-1, 0, 0, 0]}, INVALID, "pads"),
    ({"pads": [0, 0, 0, -1]}, INVALID, "pads"),
    ({"pads": [1, 1]}, INVALID, "pads"),
    ({"pads": [1, 1, 1, 1, 1]}, INVALID, "pads"),
    ({"pads": [1] * 40}, INVALID, "pads"),
    ({"auto_pad": "SAME"}, INVALID, "auto_pad"),
    ({"auto_pad": "same_upper"}, INVALID, "auto_pad"),
    ({"auto_pad": ""}, INVALID, "auto_pad"),
    ({"auto_pad": "SAME_UPPER", "pads": [1, 1, 1, 1]}, INVALID, "pads"),
    ({"auto_pad": "VALID", "pads": [0, 0, 0, 1]}, INVALID, "pads"),
]
DOES_NOT_FIT = [
    ({"dilations": [4, 1]}, INVALID, "window|fit"),
    ({"dilations": [1, 4], "auto_pad": "VALID"}, INVALID, "window|fit"),
]
KERNEL = [
    ({"kernel_shape": [3, 2]}, INVALID, "kernel_shape"),
    ({"kernel_shape": [3]}, INVALID, "kernel_shape"),
    ({"kernel_shape": [3, 3, 3]}, INVALID, "kernel_shape"),
    ({"kernel_shape": [0, 3]}, INVALID, "kernel_shape"),
]
POOL = [
    ({"kernel_shape": [2]}, INVALID, "kernel_shape"),
    ({"kernel_shape": [2, 2, 2]}, INVALID, "kernel_shape"),
    ({"kernel_shape": [0, 2]}, INVALID, "kernel_shape"),
    ({"kernel_shape": [2, -1]}, INVALID, "kernel_shape"),
    ({"kernel_shape": []}, INVALID, "kernel_shape"),
    ({"kernel_shape": [7, 1], "ceil_mode": 1}, INVALID, "window|fit"),
    ({"dilations": [6, 1]}, INVALID, "window|fit"),
    ({"dilations": [1, 7], "auto_pad": "VALID"}, INVALID, "window|fit"),
    ({"ceil_mode": 2}, INVALID, "ceil_mode"),
    ({"ceil_mode": -1}, INVALID, "ceil_mode"),
]
GROUP = [({"group": 0}, INVALID, "group"), ({"group": -1}, INVALID, "group"), ({"group": 3}, INVALID, "group|channel")]

ATTRIBUTES = {
    "conv": ((X, W, B), {}, WINDOW + KERNEL + GROUP + DOES_NOT_FIT),
    "conv_transpose": (
        (X, WT, B),
        {},
        WINDOW
        + KERNEL
        + GROUP
        + [
            ({"output_padding": [1, 0]}, INVALID, "output_padding"),
            ({"output_padding": [2, 0], "strides": [2, 1]}, INVALID, "output_padding"),
            ({"output_padding": [-1, 0]}, INVALID, "output_padding"),
            ({"output_padding": [0]}, INVALID, "output_padding"),
            ({"output_shape": [8]}, INVALID, "output_shape"),
            ({"output_shape": [2, 6, 8, 9]}, INVALID, "output_shape"),
            ({"output_shape": [8, 0]}, INVALID, "output_shape|size"),
            ({"output_shape": [8, -1]}, INVALID, "output_shape"),
            ({"pads": [4, 0, 4, 0]}, INVALID, "output|size"),
            ({"pads": [40, 0, 40, 0]}, INVALID, "output|size"),
            ({"pads": [-1, 0, 0, 0], "output_shape": [8, 9]}, INVALID, "pads"),
        ],
    ),
    "max_pool": (
        (X,),
        K,
        WINDOW + POOL + [({"storage_order": 2}, INVALID, "storage_order")],
    ),
    "average_pool": (
        (X,),
        K,
        WINDOW + POOL + [({"count_include_pad": 2}, INVALID, "count_include_pad")],
    ),
    "lp_pool": (
        (X,),
        K,
        WINDOW + POOL + [({"p": p}, UNSUPPORTED, r"\bp\b") for p in (0, -1, -(2**63))],
    ),
    "max_unpool": (
        (X, np.arange(X.size).reshape(X.shape)),
        K,
        [
            ({"strides": [0, 1]}, INVALID, "strides"),
            ({"strides": [1, -1]}, INVALID, "strides"),
            ({"strides": [1]}, INVALID, "strides"),
            ({"strides": [1] * 9}, INVALID, "strides"),
            ({"pads": [-1, 0, 0, 0]}, INVALID, "pads"),
            ({"pads": [1, 1]}, INVALID, "pads"),
            ({"pads": [1] * 40}, INVALID, "pads"),
            ({"pads": [4, 0, 3, 0]}, INVALID, "output|size"),
            ({"pads": [40, 0, 30, 0]}, INVALID, "output|size"),
            ({"kernel_shape": [2]}, INVALID, "kernel_shape"),
            ({"kernel_shape": [2, 2, 2]}, INVALID, "kernel_shape"),
            ({"kernel_shape": [0, 2]}, INVALID, "kernel_shape"),
            ({"kernel_shape": []}, INVALID, "kernel_shape"),
        ],
    ),
    "lrn": ((X,), {"size": 3}, [({"size": size}, INVALID, "size") for size in (0, -1, -(2**63))]),
}
REDUCTIONS = [
    f"reduce_{kind}" for kind in ("sum", "mean", "l1", "l2", "sum_square", "log_sum", "log_sum_exp", "prod", "max", "min")
]
LAST = ones(7)


def second_group():
    """Reductions, normalizations, softmax family, ArgMax and ArgMin, CumSum and CumProd."""
    for name in REDUCTIONS:
        for axes in ([4], [-5], [0, 4], [2**40], [-(2**63)]):
            yield name, (X, axes), {}, INVALID, "ax[ei]s"
        yield name, (ones(), [0]), {}, INVALID, "ax[ei]s"
        yield name, (ones(0, 4), [2]), {}, INVALID, "ax[ei]s"
        for flag in ("keepdims", "noop_with_empty_axes"):
            for value in (2, -1, 2**40):
                yield name, (X, [1]), {flag: value}, INVALID, flag
        for dtype in (np.int16, np.uint16, complex, *((bool, np.int8) if name not in ("reduce_max", "reduce_min") else ())):
            yield name, (X.astype(dtype),), {}, UNSUPPORTED, "type"
        yield name, (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in ("reduce_l2", "reduce_log_sum", "reduce_log_sum_exp"):
        for dtype in (np.int32, np.int64, np.uint32, np.uint64):
            yield name, (X.astype(dtype),), {}, UNSUPPORTED, "type|int"
    for name in ("softmax", "log_softmax", "hardmax"):
        for axis in (4, -5, 2**40):
            yield name, (X,), {"axis": axis}, INVALID, "axis"
            yield name, (X,), {"axis": axis, "flatten": True}, INVALID, "axis"
        yield name, (ones(),), {}, INVALID, "axis|rank"
        yield name, (LAST,), {"flatten": True}, INVALID, "axis"
        yield name, (I8,), {}, UNSUPPORTED, "type|int8"
        yield name, (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in ("arg_max", "arg_min"):
        for axis in (4, -5, 2**40):
            yield name, (X,), {"axis": axis}, INVALID, "axis"
        yield name, (ones(),), {}, INVALID, "axis|rank"
        yield name, (X,), {"keepdims": 2}, INVALID, "keepdims"
        yield name, (X,), {"select_last_index": -1}, INVALID, "select_last_index"
        yield name, (X.astype(bool),), {}, UNSUPPORTED, "type|bool"
        yield name, (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in ("cumsum", "cumprod"):
        for axis in (4, -5, 2**40):
            yield name, (X, np.array(axis)), {}, INVALID, "axis"
        for axis in (np.array([], int), np.array([0, 0]), np.array([[0]]), np.float32(0), np.int16(0)):
            yield name, (X, np.asarray(axis)), {}, INVALID, "axis"
        yield name, (ones(), np.array(0)), {}, INVALID, "axis|rank"
        yield name, (X, np.array(0)), {"exclusive": 2}, INVALID, "exclusive"
        yield name, (X, np.array(0)), {"reverse": -1}, INVALID, "reverse"
        for dtype in (np.int8, np.int16, bool):
            yield name, (X.astype(dtype), np.array(0)), {}, UNSUPPORTED, "type"
        yield name, (ones(*[1] * 17), np.array(0)), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in ("layer_normalization", "rms_normalization"):
        for axis in (4, -5, 2**40):
            yield name, (X, LAST), {"axis": axis}, INVALID, "axis"
        yield name, (ones(), ones()), {}, INVALID, "axis|rank"
        for scale in (ones(6), ones(8), ones(6, 7), ones(2, 7, 1)):
            yield name, (X, scale), {}, (INVALID, UNSUPPORTED), "scale"
        yield name, (X, ones(8)), {}, INVALID, "scale"
        yield name, (X, ones(1, 1, 1, 1, 7)), {}, INVALID, "scale"
        yield name, (X, ones(6, 7)), {}, UNSUPPORTED, "scale"
        yield name, (X, ones(2, 1, 1, 7)), {}, UNSUPPORTED, "scale"
        yield name, (X, LAST), {"stash_type": 11}, UNSUPPORTED, "stash_type"
        yield name, (X, LAST), {"stash_type": 0}, UNSUPPORTED, "stash_type"
        yield name, (I8, LAST.astype(np.int8)), {}, UNSUPPORTED, "type|int8"
        yield name, (ones(*[1] * 17), ones(1)), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    yield "layer_normalization", (X, LAST.astype(np.float64)), {}, INVALID, "scale|type"
    yield "rms_normalization", (X, LAST.astype(np.float64)), {}, UNSUPPORTED, "scale|type"
    yield "layer_normalization", (X, LAST, ones(6)), {}, INVALID, "bias|B|b "
    yield "layer_normalization", (X, LAST, ones(6, 7)), {}, UNSUPPORTED, "bias|B|b "
    yield "layer_normalization", (X, LAST, LAST.astype(np.float16)), {}, INVALID, "bias|B|b |type"
    for scale, b in ((ones(3), C), (C, ones(5)), (ones(4, 1), C), (C, ones(1)), (ones(), C)):
        yield "instance_normalization", (X, scale, b), {}, INVALID, "scale|bias|B|b "
        yield "group_normalization", (X, scale, b), {"num_groups": 2}, INVALID, "scale|bias|B|b "
    yield "group_normalization", (X, ones(2), C), {"num_groups": 2}, INVALID, "scale|bias|B|b "
    for groups in (0, -1, 3, 5, 8, 2**40):
        yield "group_normalization", (X, C, C), {"num_groups": groups}, INVALID, "num_groups"
    yield "group_normalization", (X, C, C), {"num_groups": 2, "stash_type": 10}, UNSUPPORTED, "stash_type"
    yield "group_normalization", (ones(4), C, C), {"num_groups": 2}, INVALID, "X|rank"
    yield "group_normalization", (X, C.astype(np.float64), C), {"num_groups": 2}, INVALID, "scale|type"
    yield "group_normalization", (I8, C.astype(np.int8), C.astype(np.int8)), {"num_groups": 2}, UNSUPPORTED, "type|int8"
    yield "instance_normalization", (ones(2, 4), C, C), {}, INVALID, "X|rank"
    yield "instance_normalization", (ones(4), C, C), {}, INVALID, "X|rank"
    yield "instance_normalization", (X, C, C.astype(np.float16)), {}, INVALID, "bias|B|b |type"
    yield "instance_normalization", (I8, C.astype(np.int8), C.astype(np.int8)), {}, UNSUPPORTED, "type|int8"


def third_group():
    """LpPool, MaxUnpool, LRN, LpNormalization, MeanVarianceNormalization."""
    for name, attributes in (("lp_pool", {"kernel_shape": [2]}), ("global_lp_pool", {})):
        yield name, (ones(2, 4),), attributes, INVALID, "X|rank"
        yield name, (ones(4),), attributes, INVALID, "X|rank"
        yield name, (ones(2, 4, 7, dtype=np.int8),), attributes, UNSUPPORTED, "type|int8"
        for p in (0, -1, -(2**63)):
            yield name, (ones(2, 4, 7),), {**attributes, "p": p}, UNSUPPORTED, r"\bp\b"
    yield "lp_pool", (ones(2, 4, 3, 3, 3, 3),), {"kernel_shape": [1] * 4}, UNSUPPORTED, "spatial"
    yield "global_lp_pool", (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"

    indices = np.zeros(X.shape, np.int64)
    for fault in (indices[0], indices[:1], indices.reshape(2, 4, 7, 6), indices.astype(np.int32), indices.astype(np.float32)):
        yield "max_unpool", (X, fault), K, INVALID, "ind(ex|ices)|I "
    for index in (-1, 2 * 4 * 7 * 8, 2**62, -(2**63)):
        yield "max_unpool", (X, np.full(X.shape, index)), K, INVALID, "ind(ex|ices)"
    for size in ([2, 4, 7], [7, 8], [2, 4, 7, 8, 1], [], [1, 4, 7, 8], [2, 3, 7, 8]):
        yield "max_unpool", (X, indices, np.array(size, np.int64)), K, INVALID, "output_shape"
    for size in ([2, 4, 0, 8], [2, 4, 7, -8], [2, 4, -(2**63), 1]):
        yield "max_unpool", (X, indices, np.array(size, np.int64)), K, INVALID, "output_shape"
    for size in (np.array([[2, 4, 7, 8]]), np.array(7), np.array([2, 4, 7, 8], np.int32), np.float32([2, 4, 7, 8])):
        yield "max_unpool", (X, indices, size), K, INVALID, "output_shape"
    yield "max_unpool", (ones(2, 4), np.zeros((2, 4), np.int64)), {"kernel_shape": [2]}, INVALID, "X|rank"
    yield "max_unpool", (ones(1, 1, 1, 1, 1, 1), np.zeros([1] * 6, np.int64)), {"kernel_shape": [1] * 4}, UNSUPPORTED, "spatial"
    yield "max_unpool", (I8, indices), K, UNSUPPORTED, "type|int8"
    yield "max_unpool", (ones(2, 4, 0, 3), np.zeros((2, 4, 0, 3), np.int64)), K | {"strides": [2, 2]}, INVALID, "output|size"

    for rank in (0, 1):
        yield "lrn", (ones(*[3] * rank),), {"size": 3}, INVALID, "X|rank"
    yield "lrn", (I8,), {"size": 3}, UNSUPPORTED, "type|int8"
    yield "lrn", (ones(*[1] * 17),), {"size": 3}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in ("lp_normalization", "mean_variance_normalization"):
        for axis in (4, -5, 2**40, -(2**63)):
            fault = {"axis": axis} if name.startswith("lp") else {"axes": [0, axis]}
            yield name, (X,), fault, INVALID, "ax[ei]s"
        yield name, (ones(),), {"axis": 0} if name.startswith("lp") else {"axes": [0]}, INVALID, "ax[ei]s|rank"
        yield name, (I8,), {}, UNSUPPORTED, "type|int8"
        yield name, (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for p in (0, 3, -1, 2**40):
        yield "lp_normalization", (X,), {"p": p}, INVALID, r"\bp\b"
    yield "mean_variance_normalization", (X,), {"axes": [1] * 17}, UNSUPPORTED, "ax[ei]s"
    yield "mean_variance_normalization", (ones(2, 3, 4),), {}, INVALID, "ax[ei]s"
    yield "mean_variance_normalization", (ones(),), {}, INVALID, "ax[ei]s|rank"


def one_input():
    """Operators of one input, Clip and Cast."""
    single = ("tanh", "sigmoid", "erf", "softplus", "sin", "cos", "gelu", "mish", "swish")
    whole = ("relu", "absolute", "negative", "sign", "clip")
    names = ("leaky_relu", "thresholded_relu", "floor", "ceil", "round_", "sqrt", "reciprocal", "hard_sigmoid", "hard_swish")
    names += ("softsign", "exp", "log", "elu", "selu", "celu", *single, *whole)
    for name in names:
        for dtype in (bool, complex):
            yield name, (X.astype(dtype),), {}, UNSUPPORTED, "type"
        if name not in whole:
            for dtype in (np.int8, np.uint8, np.int32, np.uint64):
                yield name, (X.astype(dtype),), {}, UNSUPPORTED, "type"
        yield name, (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in single:
        yield name, (X.astype(np.float64),), {}, UNSUPPORTED, "float64|type"
    for name in ("relu", "negative"):
        for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
            yield name, (X.astype(dtype),), {}, UNSUPPORTED, "type"
    for text in ("", "Tanh", "erf", "NONE"):
        yield "gelu", (X,), {"approximate": text}, INVALID, "approximate"
    for limit in (ones(2), ones(1, 1), ones(0), np.array(0.0), np.array(1)):
        yield "clip", (X, limit), {}, INVALID, "min|lo|limit"
        yield "clip", (X, None, limit), {}, INVALID, "max|hi|limit"
    for to in ("float32", "float16", "float64"):
        yield "cast", (X, to), {}, UNSUPPORTED, "float|to"
    for dtype in (np.int32, np.uint8, bool):
        yield "cast", (X.astype(dtype), "int8"), {}, UNSUPPORTED, "from"


def several_inputs():
    """Elementwise operators of several inputs."""
    for name in ("add", "sub", "mul", "div", "prelu", "maximum", "minimum", "sum_of", "mean_of"):
        for shape in ((2,), (6, 6), (3, 4, 6, 7), (2, 4, 6, 7, 2), (0,), (1, 0, 1)):
            yield name, (X, ones(*shape)), {}, INVALID, "broadcast|slope"
        yield name, (ones(0, 3), ones(2, 3)), {}, INVALID, "broadcast|slope"
        for dtype in (np.float64, np.float16, TYPE_NAMES["bfloat16"], np.int32):
            yield name, (X, ones(7, dtype=dtype)), {}, INVALID, "type"
        for dtype in (bool, complex):
            yield name, (X.astype(dtype), ones(7, dtype=dtype)), {}, UNSUPPORTED, "type"
        yield name, (ones(*[1] * 17), ones()), {}, (INVALID, UNSUPPORTED), "rank|dimension"
        yield name, (ones(), ones(*[1] * 17)), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for name in ("add", "sub", "mul", "div", "sum_of", "mean_of"):
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64):
            yield name, (X.astype(dtype), ones(7, dtype=dtype)), {}, UNSUPPORTED, "type"
    for dtype in (np.int8, np.uint8, np.int16, np.uint16):
        yield "prelu", (X.astype(dtype), ones(7, dtype=dtype)), {}, UNSUPPORTED, "type"
    yield "prelu", (ones(1, 3), ones(2, 3)), {}, INVALID, "slope"
    yield "prelu", (ones(3), ones(1, 3)), {}, INVALID, "slope"
    for name in ("maximum", "minimum", "sum_of", "mean_of"):
        yield name, (), {}, INVALID, "input"
        yield name, (X, X, ones(5)), {}, INVALID, "broadcast"
        yield name, (X, X, ones(7, dtype=np.float64)), {}, INVALID, "type"
        yield name, (ones(7), ones(2), ones(1)), {}, INVALID, "broadcast"
    for exponent in (4, 1.5, -3, 0.25, np.nan, np.inf, 2.0000002):
        yield "power", (X, np.array(exponent, np.float32)), {}, UNSUPPORTED, "exponent"
    yield "power", (X, np.array(2**53 + 2)), {}, UNSUPPORTED, "exponent"
    yield "power", (X, ones(7)), {}, UNSUPPORTED, "y has"
    yield "power", (X, ones(0)), {}, UNSUPPORTED, "y has"
    for dtype in (np.int32, np.int64, np.int8, bool):
        yield "power", (X.astype(dtype), np.array(2)), {}, UNSUPPORTED, "type"
    yield "power", (X, np.array(True)), {}, UNSUPPORTED, "type|exponent"
    yield "power", (ones(*[1] * 17), np.float32(2)), {}, (INVALID, UNSUPPORTED), "rank|dimension"


def attentions():
    """Inputs of Attention, then its attributes."""
    q, k, v, past = ones(2, 4, 5, 7), ones(2, 2, 6, 7), ones(2, 2, 6, 3), [ones(2, 2, 4, 7), ones(2, 2, 4, 3)]
    name, flat = "attention", (ones(2, 5, 28), ones(2, 6, 14), ones(2, 6, 6))
    heads = {"q_num_heads": 4, "kv_num_heads": 2}
    for wrong in ((q[0], k, v), (q, k[0], v), (q, k, v[0]), (q[0, 0],) * 3, (q[None], k[None], v[None]), (ones(),) * 3):
        yield name, wrong, {}, INVALID, "rank"
    for shape in ((2, 3, 5, 7), (2, 1, 5, 7), (2, 0, 5, 7), (3, 4, 5, 7), (2, 4, 5, 8), (2, 4, 5, 0)):
        yield name, (ones(*shape), k, v), {}, INVALID, "heads|batch|head"
    for shape in ((2, 1, 6, 3), (2, 2, 5, 3), (1, 2, 6, 3), (2, 4, 6, 3), (2, 0, 6, 3)):
        yield name, (q, k, ones(*shape)), {}, INVALID, "heads|batch|length"
    yield name, (q, ones(2, 0, 6, 7), ones(2, 0, 6, 3)), {}, INVALID, "heads"
    for dtype in (np.float64, np.float16, TYPE_NAMES["bfloat16"], np.int32):
        other = [x.astype(dtype) for x in (k, v, *past)]
        yield name, (q, other[0], v), {}, UNSUPPORTED, "K .*type"
        yield name, (q, k, other[1]), {}, UNSUPPORTED, "V .*type"
        yield name, (q, k, v, None, other[2], past[1]), {}, UNSUPPORTED, "past_key.*type"
        yield name, (q, k, v, None, past[0], other[3]), {}, UNSUPPORTED, "past_value.*type"
        yield name, (q, k, v, ones(5, 6, dtype=dtype)), {}, UNSUPPORTED, "attn_mask.*type"
    for dtype in (np.int8, np.int64, bool):
        yield name, tuple(x.astype(dtype) for x in (q, k, v)), {}, UNSUPPORTED, "type"
    for shape in ((6,), (), (1, 1, 1, 5, 6), (5, 7), (4, 6), (0, 6), (2, 2, 5, 6), (3, 1, 5, 6), (3, 5, 6)):
        yield name, (q, k, v, ones(*shape)), {}, INVALID, "attn_mask"
        yield name, (q, k, v, ones(*shape, dtype=bool)), {}, INVALID, "attn_mask"
    yield name, (q, k, v, ones(5, 1)), {}, UNSUPPORTED, "attn_mask"
    yield name, (q, k, v, ones(2, 1, 1, 1, dtype=bool)), {}, UNSUPPORTED, "attn_mask"
    yield name, (q, k, v, None, past[0]), {}, INVALID, "past"
    yield name, (q, k, v, None, None, past[1]), {}, INVALID, "past"
    for shape in ((2, 2, 7), (2, 1, 4, 7), (1, 2, 4, 7), (2, 2, 4, 8), (2, 2, 3, 7), (2, 2, 4, 7, 1), (2, 4, 14)):
        yield name, (q, k, v, None, ones(*shape), past[1]), {}, INVALID, "past|head|batch"
    yield name, (q, k, v, None, past[0], ones(2, 2, 4, 2)), {}, INVALID, "head"
    for lengths in ([6], [6, 6, 6], [[6, 6]], 6, [], [7, 0], [0, -1], [2**63 - 1, 0], [-(2**63), 0]):
        yield name, (q, k, v, None, None, None, np.array(lengths, np.int64)), {}, INVALID, "nonpad_kv_seqlen"
    for dtype in (np.int32, np.float32, np.uint64):
        yield name, (q, k, v, None, None, None, np.array([1, 2], dtype)), {}, INVALID, "nonpad_kv_seqlen"
    yield name, (q, k, v, None, *past, np.array([1, 2])), {}, INVALID, "nonpad_kv_seqlen"
    for number in (0.0, -0.0, -1.0, np.nan, np.inf, 1e-60, 1e60):
        yield name, (q, k, v), {"scale": number}, INVALID, "scale"
    for number in (-1.0, np.nan, np.inf, -np.inf, 1e60):
        yield name, (q, k, v), {"softcap": number}, INVALID, "softcap"
    yield name, tuple(x.astype(np.float64) for x in (q, k, v)), {"softcap": 1.0}, UNSUPPORTED, "softcap"
    for value in (2, -1, 2**40):
        yield name, (q, k, v), {"is_causal": value}, INVALID, "is_causal"
    for value in (4, -1, 2**40, -(2**63)):
        yield name, (q, k, v), {"qk_matmul_output_mode": value}, INVALID, "qk_matmul_output_mode"
    for value in (-1, 2, 7, 2**40):
        yield name, (q, k, v), {"softmax_precision": value}, INVALID, "softmax_precision"
    yield name, (q, k, v), {"softmax_precision": 11}, UNSUPPORTED, "softmax_precision"
    for value in (1, 10, 16):
        fault = {"softmax_precision": value}
        yield name, tuple(x.astype(np.float64) for x in (q, k, v)), fault, UNSUPPORTED, "softmax_precision"
    for attribute in heads:
        for value in (-1, 3, 2**40, 2**63 - 1, -(2**63)):
            yield name, (q, k, v), {attribute: value}, INVALID, "heads"
            yield name, flat, {**heads, attribute: value}, INVALID, "heads"
        yield name, flat, {**heads, attribute: 0}, INVALID, attribute
    yield name, (ones(2, 5, 29), *flat[1:]), heads, INVALID, "q_num_heads"
    yield name, (*flat[:2], ones(2, 6, 7)), heads, INVALID, "kv_num_heads"


def einsums():
    """Equations, then operands."""
    a, b, one = ones(2, 3), ones(3, 4), ones()
    name = "einsum"
    for equation in (
        "i1",
        "i-j",
        "ij->i->j",
        "ij->->",
        "ij-",
        "ij>",
        "i>j",
        "i_j",
        "i\tj",
        "\nij",
        "\xe9",
        "i;j",
        "{j",
        "@j",
        "[j",
        "`j",
    ):
        yield name, (equation, a), {}, INVALID, "character"
    for equation in ("i..", "i....", "......", "...i...", "i.j", "ij->.", "..ij->..."):
        yield name, (equation, a), {}, INVALID, "ellips|dots"
    for equation in ("...i->i", "ij->...ij", "...->"):
        yield name, (equation, a), {}, INVALID, "ellips"
    for equation in ("ij", "ij,jk,k", "ij->ij", "", "->", ",,"):
        yield name, (equation, a, b), {}, INVALID, "term"
    for equation, pattern in (
        ("ij,jk->il", "label"),
        ("ij,jk->ii", "twice"),
        ("ij,jk->i,k", "character"),
        ("ij,jk->ik...", "ellips"),
    ):
        yield name, (equation, a, b), {}, INVALID, pattern
    for equation in ("ij,ik", "ij,ki->", "ij,ij->ij", "...,...->...", "i...,i...->..."):
        yield name, (equation, a, b), {}, INVALID, "agree"
    for equation in ("i,jk", "ijk,jk", ",jk", "...ijk,jk"):
        yield name, (equation, a, b), {}, INVALID, "rank"
    yield name, ("...i,...j", a, ones(3)), {}, INVALID, "ellips"
    for shape in ((2, 3), (1, 3), (3, 1), (0, 1)):
        yield name, ("ii->i", ones(*shape)), {}, INVALID, "sizes"
        yield name, ("ii", ones(*shape)), {}, INVALID, "sizes"
    yield name, ("", a), {}, INVALID, "rank"
    yield name, ("i", one), {}, INVALID, "rank"
    yield name, ("i,i->i", ones(0), ones(3)), {}, INVALID, "agree"
    yield name, ("ij",), {}, INVALID, "operand"
    for dtype in (np.float64, np.float16, np.int32):
        yield name, ("ij,jk", a, b.astype(dtype)), {}, INVALID, "type"
    for dtype in (np.int8, np.uint8, np.int16, np.uint16, bool, complex):
        yield name, ("ij,jk", a.astype(dtype), b.astype(dtype)), {}, UNSUPPORTED, "type"
    yield name, (",".join("i" * 33), *[ones(3)] * 33), {}, UNSUPPORTED, "operands"
    yield name, (",".join(["abcdefgh"] * 29), *[ones(*[1] * 8)] * 29), {}, UNSUPPORTED, "255"
    yield name, ("i" * 100000, a), {}, UNSUPPORTED, "255|labels"
    yield name, ("i" * 17, ones(*[1] * 17)), {}, UNSUPPORTED, "rank|label"
    yield name, ("...", ones(*[1] * 17)), {}, UNSUPPORTED, "rank"
    yield name, ("abcdefghi,jklmnopqr", ones(*[1] * 9), ones(*[1] * 9)), {}, UNSUPPORTED, "rank|label"
    yield name, ("abcdefgh...,ijklmnop...->abcdefghijklmnop...", ones(*[1] * 9), ones(*[1] * 9)), {}, UNSUPPORTED, "rank"


def f32(*values):
    return np.array(values, np.float32)


def resize_faults():
    """Resize and Upsample."""
    up, crop = f32(1, 1, 2, 2), {"coordinate_transformation_mode": "tf_crop_and_resize"}
    for name, value in (
        ("mode", "bilinear"),
        ("mode", "Linear"),
        ("mode", ""),
        ("coordinate_transformation_mode", "half_pixels"),
        ("coordinate_transformation_mode", ""),
        ("nearest_mode", "round"),
        ("nearest_mode", "FLOOR"),
        ("keep_aspect_ratio_policy", "larger"),
        ("keep_aspect_ratio_policy", "not_larger"),  # with scales
        ("exclude_outside", 2),
        ("exclude_outside", -1),
        ("antialias", 2),
        ("antialias", 2**40),
        ("axes", [0, 1, 2, 4]),
        ("axes", [0, 1, 2, -5]),
        ("axes", [0, 1, 2, 2]),
        ("axes", [0, 1, 2, -2]),
        ("axes", [0, 1, 2, 2**40]),
        ("axes", [0, 1, 2, -(2**63)]),
    ):
        yield "resize", (X, None, up), {name: value}, INVALID, "ax[ei]s" if name == "axes" else name
    for bad in (0, -0.0, -1, -1e-30, np.nan, np.inf, -np.inf):
        yield "resize", (X, None, f32(1, 1, bad, 2)), {}, INVALID, "scale"
        yield "resize", (X, None, f32(bad)), {"axes": [-1], "mode": "linear"}, INVALID, "scale"
        yield "upsample", (X, f32(1, 1, bad, 2)), {}, INVALID, "scale"
    yield "upsample", (X, f32(1, 1, 0.99, 2)), {}, INVALID, "scale"
    yield "upsample", (X, f32(0.5, 1, 1, 2)), {"mode": "linear"}, INVALID, "scale"
    for scales in (f32(1, 2), f32(1, 1, 1, 2, 2), np.ones((2, 2), np.float32), np.ones((4, 1), np.float32), np.float32(2)):
        yield "resize", (X, None, scales), {}, INVALID, "scales"
        yield "upsample", (X, scales), {}, INVALID, "scales"
    yield "resize", (X, None, f32(1, 1, 2, 2)), {"axes": [2, 3]}, INVALID, "scales"
    for sizes in ([4, 4], [2, 4, 4, 4, 4], [[2, 4], [4, 4]], 4):
        yield "resize", (X, None, None, np.array(sizes)), {}, INVALID, "sizes"
    for bad in (0, -1, -(2**63)):
        for policy in ("stretch", "not_larger", "not_smaller"):
            attributes = {"axes": [2, 3], "keep_aspect_ratio_policy": policy}
            yield "resize", (X, None, None, np.array([bad, 5])), attributes, INVALID, "size"
            yield "resize", (X, None, None, np.array([5, bad])), {**attributes, "mode": "cubic"}, INVALID, "size"
    for policy in ("stretch", "not_larger", "not_smaller"):
        attributes = {"axes": [1, 2], "keep_aspect_ratio_policy": policy}
        yield "resize", (ones(2, 0, 3), None, None, np.array([1, 3])), attributes, INVALID, "size"
    yield "resize", (X, None, None, f32(2, 4, 5, 6)), {}, (INVALID, TypeError), "sizes"
    yield "resize", (X, None, up, np.array([2, 4, 5, 6])), {}, INVALID, "scales|sizes"
    yield "resize", (X,), {}, INVALID, "scales|sizes"
    yield "resize", (X, None, f32(), np.array([], np.int64)), {}, INVALID, "scales|sizes"
    yield "resize", (X, f32(0, 0, 1, 1)), crop, INVALID, "scales|sizes"
    for roi in (
        f32(0, 0, 1, 1),
        f32(),
        f32(*[0] * 9),
        np.zeros((4, 2), np.float32),
        np.zeros(8, np.int64),
    ):
        yield "resize", (X, roi, up), crop, INVALID, "roi"
    yield "resize", (X, np.zeros(8, complex), up), crop, UNSUPPORTED, "roi"
    yield "resize", (X, f32(*[0] * 8), f32(2, 2)), {"axes": [2, 3], **crop}, INVALID, "roi"
    yield "resize", (X, f32(0, 0), up), {**crop, "mode": "linear"}, INVALID, "roi"
    for mode in ("linear", "cubic"):
        yield "resize", (X.astype(bool), None, up), {"mode": mode}, UNSUPPORTED, "type|bool"
    yield "upsample", (X.astype(bool), up), {"mode": "linear"}, UNSUPPORTED, "type|bool"
    yield "upsample", (X, up), {"mode": "cubic"}, INVALID, "mode"
    for dtype in (np.int16, np.uint16, np.uint32, np.uint64, complex):
        yield "resize", (X.astype(dtype), None, up), {}, UNSUPPORTED, "type"
        yield "upsample", (X.astype(dtype), up), {}, UNSUPPORTED, "type"
    yield "resize", (ones(), None, f32()), {}, INVALID, "rank|scales"
    yield "resize", (ones(), None, None, np.array([], np.int64)), {}, INVALID, "rank|sizes"
    yield "upsample", (ones(), f32()), {}, INVALID, "rank|scales"
    yield "resize", (ones(*[1] * 17), None, f32(*[1] * 17)), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    yield "upsample", (ones(*[1] * 17), f32(*[1] * 17)), {}, (INVALID, UNSUPPORTED), "rank|dimension"
    for batch in (1, 0):  # found also where there is nothing to compute
        yield "resize", (ones(batch, 4), None, None, np.array([2**31])), {"axes": [1]}, UNSUPPORTED, "2\\^31|axis|extent"
    yield "resize", (ones(0, 3), None, f32(1, 1e30)), {}, INVALID, "scale|extent|size"


I8 = ones(2, 4, 6, 7, dtype=np.int8)
F64 = {name: array.astype(np.float64) for name, array in (("X", X), ("W", W), ("B", B), ("C", C))}
# operator, inputs, attributes, kind, pattern of the text
INPUTS = [
    ("conv", (ones(4), W), {}, INVALID, "X|rank"),
    ("conv", (ones(2, 4), ones(6, 4)), {}, INVALID, "X|rank"),
    ("conv", (ones(2, 4, 3, 3, 3, 3), ones(6, 4, 1, 1, 1, 1)), {}, UNSUPPORTED, "spatial"),
    ("conv", (ones(*[1] * 16), ones(*[1] * 16)), {}, UNSUPPORTED, "spatial"),
    ("conv", (ones(*[1] * 20), ones(*[1] * 20)), {}, (INVALID, UNSUPPORTED), "rank|spatial|dimension"),
    ("conv", (X, ones(6, 4, 3)), {}, INVALID, "W|weight|rank"),
    ("conv", (X, ones(6, 4, 3, 3, 1)), {}, INVALID, "W|weight|rank"),
    ("conv", (X, ones(6, 4, 0, 3)), {}, INVALID, "W|weight|kernel"),
    ("conv", (X, ones(6, 3, 3, 3)), {}, INVALID, "channel|group|W"),
    ("conv", (X, ones(5, 2, 3, 3)), {"group": 2}, INVALID, "group"),
    ("conv", (X, W, ones(5)), {}, INVALID, "B|bias"),
    ("conv", (X, W, ones(1)), {}, INVALID, "B|bias"),
    ("conv", (X, W, ones(6, 1)), {}, INVALID, "B|bias"),
    ("conv", (X, W, np.float32(1)), {}, INVALID, "B|bias"),
    ("conv", (ones(2, 4, 2, 7), W), {}, INVALID, "window|fit"),
    ("conv", (ones(0, 4, 2, 7), W), {}, INVALID, "window|fit"),
    ("conv", (ones(2, 4, 0, 7), W), {}, INVALID, "window|fit"),
    ("conv", (X, F64["W"]), {}, INVALID, "W|weight|type"),
    ("conv", (X, W, F64["B"]), {}, INVALID, "B|bias|type"),
    ("conv", (I8, ones(6, 4, 3, 3, dtype=np.int8)), {}, UNSUPPORTED, "type|int8"),
    ("conv", (X.astype(complex), W.astype(complex)), {}, UNSUPPORTED, "type|complex"),
    ("conv_transpose", (ones(2, 4), ones(4, 6)), {}, INVALID, "X|rank"),
    ("conv_transpose", (ones(2, 4, 3, 3, 3, 3), ones(4, 6, 1, 1, 1, 1)), {}, UNSUPPORTED, "spatial"),
    ("conv_transpose", (X, ones(4, 6, 3)), {}, INVALID, "W|weight|rank"),
    ("conv_transpose", (X, ones(4, 6, 3, 0)), {}, INVALID, "W|weight|kernel"),
    ("conv_transpose", (X, ones(5, 6, 3, 3)), {}, INVALID, "channel|W"),
    ("conv_transpose", (X, WT, ones(5)), {}, INVALID, "B|bias"),
    ("conv_transpose", (X, ones(4, 3, 3, 3), ones(3)), {"group": 2}, INVALID, "B|bias"),
    ("conv_transpose", (X, F64["W"]), {}, INVALID, "W|type|channel"),
    ("conv_transpose", (ones(2, 4, 0, 7), ones(4, 6, 3, 3)), {"strides": [5, 1]}, INVALID, "output|size"),
    ("max_pool", (ones(2, 4),), {"kernel_shape": [2]}, INVALID, "X|rank"),
    ("max_pool", (ones(2, 4, 3, 3, 3, 3),), {"kernel_shape": [1] * 4}, UNSUPPORTED, "spatial"),
    ("max_pool", (X.astype(np.int32),), K, UNSUPPORTED, "type|int32"),
    ("max_pool", (X.astype(bool),), K, UNSUPPORTED, "type|bool"),
    ("average_pool", (I8,), K, UNSUPPORTED, "type|int8"),
    ("average_pool", (ones(2, 4),), {"kernel_shape": [2]}, INVALID, "X|rank"),
    ("global_max_pool", (ones(2, 4),), {}, INVALID, "X|rank"),
    ("global_max_pool", (I8,), {}, UNSUPPORTED, "type|int8"),
    ("global_max_pool", (ones(*[1] * 17),), {}, (INVALID, UNSUPPORTED), "rank|dimension"),
    ("global_average_pool", (ones(4),), {}, INVALID, "X|rank"),
    ("global_average_pool", (ones(*[1] * 20),), {}, (INVALID, UNSUPPORTED), "rank|dimension"),
    ("global_average_pool", (I8,), {}, UNSUPPORTED, "type|int8"),
    ("batch_normalization", (ones(), C, C, C, C), {}, INVALID, "X|rank"),
    ("batch_normalization", (X, ones(3), C, C, C), {}, INVALID, "scale"),
    ("batch_normalization", (X, C, ones(5), C, C), {}, INVALID, "bias|B"),
    ("batch_normalization", (X, C, C, ones(1), C), {}, INVALID, "mean"),
    ("batch_normalization", (X, C, C, C, ones(4, 1)), {}, INVALID, "var"),
    ("batch_normalization", (X, C, C, C, np.float32(1)), {}, INVALID, "var"),
    ("batch_normalization", (I8, C, C, C, C), {}, UNSUPPORTED, "type|int8"),
    ("batch_normalization", (X, C.astype(int), C, C, C), {}, (INVALID, UNSUPPORTED), "type|int64|scale"),
    *second_group(),
    *third_group(),
    *resize_faults(),
    *faults_recurrent.faults(),
    *one_input(),
    *several_inputs(),
    *attentions(),
    *einsums(),
]


def all_faults():
    """(operator, inputs, attributes, kind, pattern) of every fault."""
    for operator, (inputs, base, faults) in ATTRIBUTES.items():
        for attributes, kind, pattern in faults:
            yield operator, inputs, {**base, **attributes}, kind, pattern
    yield from INPUTS


def cases(operators=None):
    for operator, inputs, attributes, kind, pattern in all_faults():
        if operators is None or operator in operators:
            shapes = " ".join(f"{a.dtype}{list(a.shape)}" if hasattr(a, "shape") else str(a) for a in inputs)
            yield pytest.param(operator, inputs, attributes, kind, pattern, id=f"{operator} {shapes} {attributes}")


@pytest.mark.parametrize("operator, inputs, attributes, kind, pattern", list(cases()))
def test_refused(operator, inputs, attributes, kind, pattern):
    with pytest.raises(kind) as caught:
        getattr(kernels, operator)(*inputs, **attributes)
    assert caught.type in (kind if isinstance(kind, tuple) else (kind,)), "a subclass"
    text = str(caught.value)
    assert text.startswith(f"{operator}: "), text
    assert re.search(pattern, text.removeprefix(f"{operator}: ")), text


@pytest.mark.parametrize("operator, inputs, attributes, kind, pattern", list(cases(("conv", "conv_transpose"))))
def test_refused_in_fast_mode(operator, inputs, attributes, kind, pattern):
    with pytest.raises(kind):
        getattr(kernels, operator)(*inputs, mode="fast", threads=2, **attributes)


@pytest.mark.parametrize(
    "operator, inputs, attributes",
    [
        ("conv", (X, W), {"strides": [], "pads": [], "dilations": [], "kernel_shape": []}),
        ("conv", (X, W, B), {"auto_pad": "SAME_LOWER", "pads": [0, 0, 0, 0]}),
        ("conv_transpose", (X, WT), {"output_padding": [], "output_shape": []}),
        ("conv_transpose", (X, WT), {"output_padding": [1, 2], "dilations": [2, 3]}),
        ("conv_transpose", (X, WT), {"output_shape": [1, 90], "pads": [50, 50, 50, 50]}),
        ("max_pool", (X,), {"pads": [7, 8, 9, 10], **K}),
        ("average_pool", (X,), {"strides": (), "dilations": (), **K}),
        ("max_pool", (X,), {"strides": np.array([2, 2]), "kernel_shape": (2, 2)}),
        ("lp_pool", (X,), {"pads": [7, 8, 9, 10], "p": 2**63 - 1, **K}),
        ("max_unpool", (X, np.zeros(X.shape, np.int64)), {"pads": [3, 3, 3, 3], "strides": [], **K}),
        ("lrn", (X,), {"size": 2**63 - 1, "alpha": -1.0, "beta": float("nan")}),
        ("mean_variance_normalization", (X,), {"axes": [1] * 16}),
        ("resize", (X, None, f32(2, 2), np.array([], np.int64)), {"axes": (3, -2)}),
        ("resize", (X, f32(1), f32(1, 1, 1, 2)), {"exclude_outside": 1, "antialias": 1, "cubic_coeff_a": np.nan}),
        ("resize", (ones(2, 0, 3), None, f32(1, 7, 2)), {"mode": "cubic"}),
        ("resize", (ones(2, 0, 3), None, None, np.array([2, 0, 6])), {"keep_aspect_ratio_policy": "not_larger"}),
        ("resize", (X, None, f32(1, 1, 1, 0.01)), {"mode": "linear", "antialias": 1}),
        *faults_recurrent.accepted(),
        ("prelu", (X, ones(1, 1, 1, 1)), {}),
        ("maximum", (ones(0, 3), ones(1, 3)), {}),
        ("attention", (ones(2, 4, 5, 0), ones(2, 2, 6, 0), ones(2, 2, 6, 0)), {"q_num_heads": 4, "kv_num_heads": 2}),
        ("attention", (ones(1, 1, 2, 3),) * 3 + (ones(2, 0),), {"scale": 1e-45, "softcap": 1e-45}),
        ("einsum", (" a B , B c - > a c ", ones(2, 3), ones(3, 4)), {}),
        ("einsum", (" " * 999 + ",".join("i" * 32), *[ones(3)] * 32), {}),
        ("einsum", ("abcdefghi,jklmnopqr->a", ones(*[1] * 9), ones(*[1] * 9)), {}),
        ("power", (X, np.full((1,) * 16, 2, np.uint8)), {}),
    ],
)
def test_not_refused(operator, inputs, attributes):
    getattr(kernels, operator)(*inputs, **attributes)


HUGE = 2**62
RECURRENT = faults_recurrent.GATES
PLACES = np.zeros(X.shape, np.int64)
NARROW = [(0, 40), (20, 30), (0, 60)]
ABSURD = [
    ("conv", (X, W), {"pads": [HUGE, 0, 0, 0]}),
    ("conv", (X, W), {"pads": [HUGE, 0, HUGE, 0]}),
    ("conv", (X, W), {"pads": [2**63 - 1] * 4}),
    ("conv", (X, W), {"pads": [2**40, 2**40, 0, 0]}),
    ("conv", (X, W), {"dilations": [HUGE, 1]}),
    ("conv", (X, W), {"dilations": [2**63 - 1, 2**63 - 1], "pads": [2**63 - 1] * 4}),
    ("conv", (X, W), {"group": 2**63 - 1}),
    ("conv_transpose", (X, WT), {"strides": [HUGE, 1]}),
    ("conv_transpose", (X, WT), {"strides": [2**63 - 1] * 2}),
    ("conv_transpose", (X, WT), {"strides": [2**40, 2**40]}),
    ("conv_transpose", (X, WT), {"dilations": [HUGE, HUGE]}),
    ("conv_transpose", (X, WT), {"output_shape": [2**40, 2**40]}),
    ("conv_transpose", (X, WT), {"output_shape": [2**63 - 1, 1]}),
    ("conv_transpose", (X, WT), {"pads": [2**63 - 1] * 4}),
    ("conv_transpose", (X, WT), {"group": 2**63 - 1}),
    ("max_pool", (X,), {"kernel_shape": [HUGE, 1]}),
    ("max_pool", (X,), {"kernel_shape": [HUGE, HUGE], "pads": [HUGE, HUGE, HUGE, HUGE]}),
    ("max_pool", (X,), {"kernel_shape": [2**63 - 1, 2**63 - 1], "dilations": [2**63 - 1] * 2}),
    ("max_pool", (X,), {"pads": [2**40] * 4, **K}),
    ("max_pool", (X,), {"pads": [2**63 - 1] * 4, **K}),
    ("average_pool", (X,), {"pads": [2**40] * 4, **K}),
    ("average_pool", (X,), {"pads": [2**63 - 1] * 4, "ceil_mode": 1, **K}),
    ("average_pool", (X,), {"dilations": [2**63 - 1, 1], "auto_pad": "SAME_UPPER", **K}),
    ("lp_pool", (X,), {"pads": [2**40] * 4, **K}),
    ("lp_pool", (X,), {"kernel_shape": [HUGE, HUGE], "pads": [HUGE] * 4}),
    ("max_unpool", (X, PLACES), {"strides": [HUGE, 1], **K}),
    ("max_unpool", (X, PLACES), {"strides": [2**63 - 1] * 2, **K}),
    ("max_unpool", (X, PLACES), {"strides": [2**40] * 2, **K}),
    ("max_unpool", (X, PLACES), {"kernel_shape": [2**63 - 1] * 2}),
    ("max_unpool", (X, PLACES), {"kernel_shape": [2**40] * 2}),
    ("max_unpool", (X, PLACES), {"pads": [2**63 - 1] * 4, **K}),
    ("max_unpool", (X, PLACES, np.array([2, 4, 2**40, 2**40])), K),
    ("max_unpool", (X, PLACES, np.array([2, 4, 2**63 - 1, 1])), K),
    ("max_unpool", (X, PLACES, np.array([2, 4, 2**63 - 1, 2**63 - 1])), K),
    ("max_unpool", (ones(2**34, 8, 0), np.zeros((2**34, 8, 0), np.int64), np.array([2**34, 8, 4])), {"kernel_shape": [2]}),
    ("resize", (X,), {"scales": f32(1, 1, 1e18, 1e18)}),
    ("resize", (X,), {"scales": f32(1, 1, 1, 3e38), "mode": "linear"}),
    ("resize", (X,), {"scales": f32(*[2e8] * 4)}),
    ("resize", (X,), {"scales": f32(*[2e8] * 4), "mode": "cubic", "antialias": 1}),
    ("resize", (X,), {"sizes": [2, 4, 2**62, 2**62]}),
    ("resize", (X,), {"sizes": [2**63 - 1] * 4, "mode": "linear"}),
    ("resize", (X,), {"sizes": [2**30] * 4, "mode": "linear"}),
    ("resize", (X,), {"sizes": [1, 2**63 - 1, 1, 1], "keep_aspect_ratio_policy": "not_smaller"}),
    ("resize", (X.astype(np.int8),), {"sizes": [2**31 - 1, 2**31 - 1, 1, 1]}),
    ("upsample", (X,), {"scales": f32(1, 1, 1e9, 1e9)}),
    ("upsample", (X,), {"scales": f32(1, 1, 3e38, 1), "mode": "linear"}),
    *(("attention", (ones(2**n, 1, 2**m, 0), ones(2**n, 1, 2**m, 0), ones(2**n, 1, 2**m, 0)), {}) for n, m in NARROW),
    ("attention", (ones(1, 1, 2**40, 0), ones(1, 1, 2**40, 0), ones(1, 1, 2**40, 0)), {"qk_matmul_output_mode": 3}),
    ("attention", (ones(0, 2**30, 2**30, 1), ones(0, 2**30, 2**30, 1), ones(0, 2**30, 2**30, 1)), {}),
    ("attention", (ones(1, 2**50, 0), ones(1, 2**50, 0), ones(1, 2**50, 0)), {"q_num_heads": 2**20, "kv_num_heads": 2**20}),
    ("einsum", ("i...,j...->ij", ones(2**40, 0), ones(2**40, 0)), {}),
    ("einsum", ("ix,jx->ij", ones(2**40, 0), ones(2**40, 0)), {}),
    ("einsum", ("ix,jx,kx->ijk", ones(2**31, 0), ones(2**31, 0), ones(2**31, 0)), {}),
    *((name, (ones(t, 1, 0), ones(1, g, 0), ones(1, g, 1)), {}) for name, g in RECURRENT.items() for t in (2**44, 2**60)),
    *(
        (name, (ones(1, t, 0), ones(1, g, 0), ones(1, g, 1)), {"layout": 1})
        for name, g in RECURRENT.items()
        for t in (2**44, 2**60)
    ),
]


@pytest.mark.parametrize("operator, inputs, attributes", ABSURD, ids=[f"{o} {a}" for o, _, a in ABSURD])
def test_absurd_sizes_fail_quickly(operator, inputs, attributes):
    """Sizes that overflow or that no memory can hold."""
    start = time.monotonic()
    with pytest.raises((ValueError, NotImplementedError, MemoryError), match=f"^{operator}: "):
        getattr(kernels, operator)(*inputs, **attributes)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("side", [2**20, 2**29])
def test_kernels_of_any_size_without_channels(side):
    """No tap is ever read, so neither time nor memory depends on their number."""
    start = time.monotonic()
    x, b = ones(1, 0, 8, 8), f32(1, 2)
    want = np.broadcast_to(b[:, None, None], (1, 2, 8, 8))
    np.testing.assert_array_equal(kernels.conv(x, ones(2, 0, side, side), b, auto_pad="SAME_UPPER"), want)
    np.testing.assert_array_equal(kernels.conv_transpose(x, ones(0, 2, side, side), b, output_shape=[8, 8]), want)
    assert kernels.conv(x, ones(0, 0, side, side), auto_pad="SAME_LOWER").shape == (1, 0, 8, 8)
    assert time.monotonic() - start < 1


@pytest.mark.parametrize("auto_pad", ["SAME_UPPER", "SAME_LOWER"])
def test_windows_far_beyond_the_input(auto_pad):
    """Taps in the padding are not visited one by one."""
    start = time.monotonic()
    for function in (kernels.max_pool, kernels.average_pool, kernels.lp_pool):
        assert function(X, [2**40, 2**40], auto_pad=auto_pad).shape == X.shape
        assert function(X, [2, 2], dilations=[2**40, 2**40], auto_pad=auto_pad).shape == X.shape
    assert time.monotonic() - start < 1


def test_a_dimension_beyond_every_limit():
    """Also where the tensor has no elements."""
    for shape in ((0, 1, 2**48), (1, 0, 2**60)):
        with pytest.raises(ValueError, match=r"^max_pool: .*too large"):
            kernels.max_pool(ones(*shape, dtype=np.int8), [2])
        with pytest.raises(ValueError, match=r"^arg_max: .*too large"):
            kernels.arg_max(ones(*shape, dtype=np.int8))


@pytest.mark.parametrize("value", [2**63, -(2**63) - 1, 2**100])
def test_integers_beyond_64_bits(value):
    for attributes in ({"pads": [value, 0, 0, 0]}, {"strides": [value, 1]}, {"group": value}):
        with pytest.raises((ValueError, OverflowError)):
            kernels.conv(X, W, **attributes)


def test_mode_and_variant():
    with pytest.raises(ValueError, match=r"mode.*precise"):
        kernels.conv(X, W, mode="precise")
    before = kernels.isa()
    with pytest.raises(ValueError, match="mmx"):
        kernels.set_isa("mmx")
    assert kernels.isa() == before in kernels.isa_names()


@pytest.mark.parametrize("threads", [0, -1])
def test_threads(threads):
    with pytest.raises(ValueError, match="threads"):
        kernels.conv(X, W, threads=threads)


@pytest.mark.parametrize("dtype", TYPE_NAMES)
def test_every_type_has_the_same_errors(dtype):
    x, w = (array.astype(TYPE_NAMES[dtype]) for array in (X, W))
    with pytest.raises(ValueError, match=r"window|fit"):
        kernels.conv(x, w, dilations=[3, 1])
    with pytest.raises(ValueError, match="pads"):
        kernels.max_pool(x, [2, 2], pads=[-1, 0, 0, 0])
    with pytest.raises(ValueError, match="ceil_mode"):
        kernels.lp_pool(x, [2, 2], ceil_mode=2)
    with pytest.raises(ValueError, match="ind"):
        kernels.max_unpool(x, PLACES - 1, kernel_shape=[2, 2])
    with pytest.raises(ValueError, match="size"):
        kernels.lrn(x, size=0)
    with pytest.raises(ValueError, match="axis"):
        kernels.lp_normalization(x, axis=4)
    with pytest.raises(ValueError, match=r"ax[ei]s"):
        kernels.mean_variance_normalization(x, axes=[4])
    for function in (kernels.softmax, kernels.log_softmax, kernels.hardmax, kernels.arg_max):
        with pytest.raises(ValueError, match="axis"):
            function(x, axis=4)
    with pytest.raises(ValueError, match=r"ax[ei]s"):
        kernels.reduce_sum(x, [4])
