"""Kinds of Conv, ConvTranspose, the pools and BatchNormalization."""

import numpy as np
import reference
from helpers import TYPE_NAMES
from reference.numerics import quiet
from reference.window import make_axes

from .kinds import ANY, Kind

POOLS = ("MaxPool", "AveragePool", "LpPool")
GLOBAL = ("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
WINDOWS = ("Conv", *POOLS)


def geometry(case):
    """The axes of Conv or a pool, by the reference."""
    kernel = case.inputs[1].shape[2:] if case.operator == "Conv" else case.get("kernel_shape")
    names = ("strides", "dilations", "pads")
    attributes = [case.get(name) for name in names]
    return make_axes(case.x.shape[2:], kernel, *attributes, case.get("auto_pad", "NOTSET"), bool(case.get("ceil_mode", 0)))


def same(case):
    return case.get("auto_pad", "NOTSET").startswith("SAME")


def same_and_dilated(case):
    return same(case) and any(axis.dilation > 1 and axis.kernel > 1 for axis in geometry(case))


def same_and_any_dilation(case):
    return same(case) and any(value > 1 for value in case.get("dilations", []))


def same_with_long_strides(case):
    """The windows of SAME_* do not cover the input: the formula of the padding gives less than nothing."""
    return same(case) and any(a.n and (a.out - 1) * a.stride + a.dilation * (a.kernel - 1) + 1 < a.n for a in geometry(case))


def pads_not_below_kernel(case):
    kernel = case.get("kernel_shape")
    return any(pad >= k for pad, k in zip(case.get("pads", []), [*kernel, *kernel], strict=False))


def empty_image(case):
    """A dimension of 0 other than the batch."""
    return 0 in case.x.shape[1:]


def all_outputs(case, want):
    return [ANY] * case.outputs


@quiet
def windows_of(case, indicator):
    """Which windows of a MaxPool hold an element marked in `indicator`."""
    attributes = {k: v for k, v in case.attributes.items() if k != "storage_order"}
    return reference.max_pool(indicator.astype(np.float32), **attributes) > 0


def with_nan(case, want):
    if case.operator == "GlobalMaxPool":
        hit = np.isnan(case.x).any(axis=tuple(range(2, case.x.ndim)), keepdims=True)
    else:
        hit = windows_of(case, np.isnan(case.x))
    return [np.where(hit, ANY, 0.0)] * case.outputs


def only_negative_infinity(case, want):
    return [np.where(np.isneginf(want[0]), ANY, 0.0)] * case.outputs


def without_taps(case, want):
    names = ("strides", "dilations", "pads", "auto_pad", "ceil_mode")
    window = {k: v for k, v in case.attributes.items() if k in names}
    ones = np.ones(case.x.shape, np.float32)
    return [np.where(np.isnan(reference.average_pool(ones, case.get("kernel_shape"), **window)), ANY, 0.0)] * case.outputs


def odd_weights(case):
    return not np.isfinite(case.inputs[1].astype(np.float64)).all() and any(a.before or a.after for a in geometry(case))


@quiet
def odd_weight_over_padding(case, want):
    odd = (~np.isfinite(case.inputs[1].astype(np.float64))).astype(np.float64)
    inside = reference.conv(np.ones(case.x.shape), odd, **case.attributes)
    every = odd.sum(axis=tuple(range(1, odd.ndim))).reshape(1, -1, *[1] * (odd.ndim - 2))
    return [np.where(inside < every, ANY, 0.0)]


def longer_input_gives_the_same(case):
    """ConvTranspose: an input longer by one, or more, has this output size too."""
    w, n = case.inputs[1].shape[2:], case.x.shape[2:]
    for i in range(len(n)):
        stride = case.get("strides", [1] * 9)[i]
        extent = case.get("dilations", [1] * 9)[i] * (w[i] - 1) + 1
        q = case.get("output_padding", [0] * 9)[i]
        total = max(stride * (n[i] - 1) + q + extent, case.get("output_shape", [0] * 9)[i])
        if total - extent >= stride * n[i]:
            return True
    return False


def below_natural(case):
    """MaxUnpool with an output_shape that is smaller than the natural size on some axis."""
    if len(case.inputs) < 3:
        return False
    k, n, out = case.get("kernel_shape"), case.x.shape[2:], case.inputs[2][2:]
    r = len(n)
    strides, pads = case.get("strides", [1] * r), case.get("pads", [0] * 2 * r)
    return any(out[i] < (n[i] - 1) * strides[i] + k[i] - pads[i] - pads[r + i] for i in range(r))


KINDS = [
    Kind(
        "SAME_* with a dilation",
        "conv.md#where-onnx-runtime-differs",
        "Conv refuses a dilation beside SAME_*.",
        ("Conv",),
        same_and_any_dilation,
        refuses="Dilation not supported for AutoPadType",
    ),
    Kind(
        "SAME_* with a dilation",
        "pool.md#where-onnx-runtime-differs",
        "Pools pad for the undilated kernel: another size, other elements.",
        POOLS,
        same_and_dilated,
        where=all_outputs,
        shape=True,
        refuses="Pad should be smaller|padding values must be non-negative|ComputeOutputSize",
    ),
    Kind(
        "SAME_* with a long stride",
        "conv.md#where-onnx-runtime-differs",
        "Negative padding cuts into the input.",
        ("Conv",),
        same_with_long_strides,
        where=all_outputs,
    ),
    Kind(
        "SAME_* with a long stride",
        "pool.md#where-onnx-runtime-differs",
        "Negative padding is refused, or cuts into the input.",
        POOLS,
        same_with_long_strides,
        where=all_outputs,
        refuses="padding values must be non-negative",
    ),
    Kind(
        "pads beside auto_pad",
        "conv.md#where-onnx-runtime-differs",
        "All-zero pads beside an auto_pad are refused.",
        ("Conv", "ConvTranspose"),
        lambda case: case.get("auto_pad", "NOTSET") != "NOTSET" and "pads" in case.attributes,
        refuses="auto_pad == AutoPadType::NOTSET was false",
    ),
    Kind(
        "pads not below the kernel",
        "pool.md#where-onnx-runtime-differs",
        "A pad as large as the kernel is refused.",
        POOLS,
        pads_not_below_kernel,
        refuses="Pad should be smaller than kernel",
    ),
    Kind(
        "no input channel",
        "conv.md#where-onnx-runtime-differs",
        "X with C = 0: the sum is not initialised, or the model is refused.",
        ("Conv", "ConvTranspose"),
        lambda case: case.x.shape[1] == 0,
        where=all_outputs,
        refuses="invalid channel count|Invalid input shape|must be positive|channel",
    ),
    Kind(
        "a dimension of 0",
        "pool.md#where-onnx-runtime-differs",
        "A dimension of 0 other than the batch is refused.",
        (*POOLS, *GLOBAL),
        empty_image,
        refuses="Invalid input shape|invalid channel count|input_shape",
    ),
    Kind(
        "a dimension of 0",
        "conv.md#where-onnx-runtime-differs",
        "A spatial dimension of 0 is refused.",
        ("Conv", "ConvTranspose"),
        lambda case: 0 in case.x.shape[2:],
        refuses="Invalid input shape|must be positive|Computed output dimension|inconsistent with input",
    ),
    Kind(
        "padding under a weight that is not finite",
        "conv.md#where-onnx-runtime-differs",
        "Some code paths leave out the taps in the padding, so an infinite or NaN weight does not meet its zero.",
        ("Conv",),
        odd_weights,
        where=odd_weight_over_padding,
    ),
    Kind(
        "output larger than the input needs",
        "conv_transpose.md#where-onnx-runtime-differs",
        "output_shape or output_padding that a longer input would give too is refused.",
        ("ConvTranspose",),
        longer_input_gives_the_same,
        refuses="inconsistent with input spatial dimensions",
    ),
    Kind(
        "no tap inside",
        "pool.md#where-onnx-runtime-differs",
        "A window without a tap inside the input has another value or index.",
        POOLS,
        lambda case: 0 not in case.x.shape,
        where=without_taps,
    ),
    Kind(
        "a maximum of -infinity",
        "pool.md#where-onnx-runtime-differs",
        "A window of only -infinity gives the lowest finite value on some code paths.",
        ("MaxPool",),
        lambda case: case.x.dtype.name in TYPE_NAMES and np.isneginf(case.x).any(),
        where=only_negative_infinity,
    ),
    Kind(
        "NaN in a maximum",
        "pool.md#where-onnx-runtime-differs",
        "Whether a NaN wins depends on the code path.",
        ("MaxPool", "GlobalMaxPool"),
        lambda case: case.x.dtype.name in TYPE_NAMES and 0 not in case.x.shape and case.has_nan(),
        where=with_nan,
    ),
    Kind(
        "output smaller than natural",
        "unpool.md#where-onnx-runtime-and-the-operator-text-differ",
        "An output_shape below the natural size is refused.",
        ("MaxUnpool",),
        below_natural,
        refuses="smaller than minimum required",
    ),
    Kind(
        "more than 3 spatial axes",
        "pool.md#where-onnx-runtime-differs",
        "Global pools of more than 3 spatial axes are refused.",
        GLOBAL,
        lambda case: case.x.ndim > 5,
        refuses="Unsupported pooling size",
    ),
]
