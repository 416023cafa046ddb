"""Kinds of the quantised operators."""

import numpy as np
from reference.numerics import quiet
from reference.quantize import spread

from . import kinds_conv
from .kinds import ANY, Kind

CONVOLUTIONS = ("ConvInteger", "QLinearConv")
LINEAR = ("QuantizeLinear", "DequantizeLinear")
PRODUCTS = ("MatMulInteger", "QLinearMatMul")
QUANTIZE, MATMUL, CONV = (f"{name}.md#where-onnx-runtime-differs" for name in ("quantize", "matmul_integer", "conv_integer"))


def any_value(case, want):
    return [ANY] * case.outputs


def as_conv(case):
    """A Conv of the same window."""
    return case.with_(operator="Conv", inputs=[case.x, case.inputs[1 if case.operator == "ConvInteger" else 3]])


def per_tensor(array):
    return array is None or array.shape in ((), (1,))


def other_float(case):
    """A scale of another type than x, or bfloat16 anywhere."""
    names = {a.dtype.name for a in case.inputs if a is not None} & {"float32", "float16", "bfloat16"}
    return "bfloat16" in names or case.get("output_dtype") == 16 or (case.operator == "QuantizeLinear" and len(names) > 1)


def other_combination(case):
    """QLinearMatMul, QLinearConv: y of another type than a, or int8 a and another b."""
    a, b, y = case.x.dtype, case.inputs[3].dtype, case.inputs[7].dtype
    return y != a or (a == np.int8 and b != np.int8)


def per_row(case):
    of_a = [case.inputs[2]] if case.operator == "MatMulInteger" and len(case.inputs) > 2 else case.inputs[1:3]
    return not all(per_tensor(a) for a in (of_a if case.operator == "QLinearMatMul" or len(case.inputs) > 2 else []))


def blocked_outside(case):
    """Blocked along another axis than the last."""
    return case.get("block_size", 0) > 0 and case.get("axis", 1) % case.x.ndim != case.x.ndim - 1


@quiet
def quotients_beyond_int32(case, want):
    scale, _ = spread(case.x, case.inputs[1], None, case.get("axis", 1), case.get("block_size", 0))
    return [np.where(np.abs(case.x.astype(np.float32) / scale) < 2.0**31, 0.0, ANY)]


def wrapping_differences(case, want):
    zero = spread(case.x, case.inputs[1], case.inputs[2], case.get("axis", 1), case.get("block_size", 0))[1]
    return [np.where(np.abs(case.x.astype(np.int64) - zero + 0.5) > 2**31, ANY, 0.0)]


KINDS = [
    Kind(
        "floats of quantised operators without a kernel",
        QUANTIZE,
        "bfloat16, and x and y_scale of different types.",
        (*LINEAR, "QLinearMatMul"),
        other_float,
        refuses="NOT_IMPLEMENTED|IsPrimitiveDataType",
    ),
    Kind(
        "a combination of int8 and uint8 without a kernel",
        MATMUL,
        "y of another type than the first input; int8 beside uint8.",
        ("QLinearMatMul", "QLinearConv"),
        other_combination,
        refuses="NOT_IMPLEMENTED",
    ),
    Kind(
        "int32 minus a zero point",
        QUANTIZE,
        "The difference wraps around in 32 bits.",
        ("DequantizeLinear",),
        lambda case: case.x.dtype == np.int32 and len(case.inputs) > 2,
        where=wrapping_differences,
    ),
    Kind(
        "a quotient outside int32",
        QUANTIZE,
        "float16, or blocked along another axis than the last: the conversion to int32, or the addition after it, overflows.",
        ("QuantizeLinear",),
        lambda case: case.x.dtype == np.float16 or blocked_outside(case),
        where=quotients_beyond_int32,
    ),
    Kind(
        "one block of a vector",
        QUANTIZE,
        "A blocked scale of the shape [1] is refused.",
        LINEAR,
        lambda case: case.get("block_size", 0) > 0 and case.inputs[1].shape == (1,),
        refuses="block_size must be 0 for per-tensor quantization",
    ),
    Kind(
        "NaN in x of DynamicQuantizeLinear",
        QUANTIZE,
        "Passed over by the minimum and the maximum, or not, by its position.",
        ("DynamicQuantizeLinear",),
        lambda case: np.isnan(case.x).any(),
        where=any_value,
    ),
    Kind(
        "a zero point that is NaN before it is rounded",
        QUANTIZE,
        "DynamicQuantizeLinear of an infinity, or of numbers so small that y_scale is 0: y_zero_point is 255.",
        ("DynamicQuantizeLinear",),
        lambda case: np.isneginf(case.x).any() or (case.x.size and 0 < np.abs(case.x).max() < 2e-43),
        where=any_value,
    ),
    Kind(
        "zero points and scales per row",
        MATMUL,
        "Those of A must be per tensor.",
        PRODUCTS,
        per_row,
        refuses="must be a scalar or 1D tensor of size 1",
    ),
    Kind(
        "no terms of integers",
        MATMUL,
        "K = 0: the result is not initialised, of a wrong shape, or the process ends.",
        PRODUCTS,
        lambda case: case.x.shape[-1] == 0,
        where=any_value,
        shape=True,
    ),
    Kind(
        "w_zero_point per channel",
        CONV,
        "ConvInteger refuses it.",
        ("ConvInteger",),
        lambda case: len(case.inputs) > 3 and not per_tensor(case.inputs[3]),
        refuses="Non per-tensor quantization is not supported",
    ),
    Kind(
        "no input channel of integers",
        CONV,
        "C = 0: the sum is not initialised.",
        CONVOLUTIONS,
        lambda case: case.x.shape[1] == 0,
        where=any_value,
        refuses="channel|Invalid input shape",
    ),
    Kind(
        "auto_pad of integer convolutions",
        CONV,
        "As Conv: a dilation beside SAME_*, pads beside an auto_pad are refused.",
        CONVOLUTIONS,
        lambda case: case.get("auto_pad", "NOTSET") != "NOTSET",
        refuses="Dilation not supported for AutoPadType|auto_pad == AutoPadType::NOTSET was false|Invalid input shape",
    ),
    Kind(
        "SAME_* of integer convolutions with a long stride",
        CONV,
        "As Conv: negative padding cuts into the input.",
        CONVOLUTIONS,
        lambda case: kinds_conv.same_with_long_strides(as_conv(case)),
        where=any_value,
    ),
]
