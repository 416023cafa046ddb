"""THE table: one row per operator. Adding an operator is a row, a generator and, where sums cancel, a bound."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from onnx import helper

from . import bounds
from . import generators_attention as heads
from . import generators_binary as several
from . import generators_conv as conv
from . import generators_matmul as matrices
from . import generators_norms as norms
from . import generators_quantized as quantized
from . import generators_recurrent as gates
from . import generators_resize as resizing
from . import generators_unary as single
from .cases import Case
from .draw import Draw

LARGEST = float(np.finfo(np.float32).max)


def plain(case):
    return case.inputs, dict(case.attributes)


def max_pool(case):
    return case.inputs, {**case.attributes, **({"return_indices": True} if case.outputs == 2 else {})}


def batch_normalization(case):
    return case.inputs, {k: v for k, v in case.attributes.items() if k == "epsilon"}


def reduction(case):
    attributes = dict(case.attributes)
    axes = attributes.pop("axes", None)
    return [case.x, case.inputs[1].tolist() if len(case.inputs) > 1 else axes], attributes


def softmax(case):
    return case.inputs, {**case.attributes, "flatten": case.opset < 13}


def layer_normalization(case):
    return case.inputs, {**case.attributes, "return_statistics": case.outputs > 1}


def resize(case):
    if case.opset >= 11:
        return case.inputs, dict(case.attributes)
    form = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return [case.x, None, case.inputs[1]], {**case.attributes, **form}


def upsample(case):
    attributes = dict(case.attributes)
    scales = attributes.pop("scales", None)
    return [case.x, np.array(scales, np.float32) if scales else case.inputs[1]], attributes


def quantization(case):
    attributes = {k: v for k, v in case.attributes.items() if k != "saturate"}
    for name in ("output_dtype", "precision"):
        if name in attributes:
            number = attributes.pop(name)
            attributes |= {name: helper.tensor_dtype_to_np_dtype(number)} if number else {}
    return case.inputs, attributes


def clip(case):
    attributes = dict(case.attributes)
    if case.opset >= 11:
        return case.inputs, {}
    return [case.x, attributes.get("min", -LARGEST), attributes.get("max", LARGEST)], {}


def einsum(case):
    return [case.get("equation"), *case.inputs], {}


def cast(case):
    return case.inputs, {"to": single.TARGETS[case.get("to")]}


@dataclass(frozen=True)
class Operator:
    """group: the tool that draws it; function: its name in the NumPy face and the reference; arguments: the case's positional
    and keyword arguments for it; bound: bounds.py."""

    name: str
    group: str
    generate: Callable[[Draw, str], Case]
    function: str
    arguments: Callable[[Case], tuple[list, dict]] = plain
    bound: Callable[[Case, Callable], list | None] = bounds.none


_ONE_INPUT = {
    "Abs": "absolute",
    "Neg": "negative",
    "Round": "round_",
    **{name: name.lower() for name in ("Relu", "Floor", "Ceil", "Sign", "Sqrt", "Reciprocal", "Softsign", "Exp", "Log")},
    **{name: name.lower() for name in ("Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Elu", "Selu", "Celu", "Gelu")},
    **{name: name.lower() for name in ("Mish", "Swish")},
    "LeakyRelu": "leaky_relu",
    "ThresholdedRelu": "thresholded_relu",
    "HardSigmoid": "hard_sigmoid",
    "HardSwish": "hard_swish",
}
_REDUCTIONS = {
    "ReduceSum": ("reduce_sum", bounds.reduce_sum),
    "ReduceMean": ("reduce_mean", bounds.reduce_sum),
    "ReduceL1": ("reduce_l1", bounds.reduce_sum),
    "ReduceL2": ("reduce_l2", bounds.reduce_squares),
    "ReduceSumSquare": ("reduce_sum_square", bounds.reduce_squares),
    "ReduceLogSum": ("reduce_log_sum", bounds.reduce_log_sum),
    "ReduceLogSumExp": ("reduce_log_sum_exp", bounds.none),
    "ReduceProd": ("reduce_prod", bounds.reduce_prod),
    "ReduceMax": ("reduce_max", bounds.none),
    "ReduceMin": ("reduce_min", bounds.none),
}

OPERATORS = [
    Operator("Conv", "conv", conv.conv, "conv", bound=bounds.conv),
    Operator("ConvTranspose", "conv", conv.conv_transpose, "conv_transpose", bound=bounds.conv),
    Operator("MatMul", "conv", matrices.matmul, "matmul", bound=bounds.matrices),
    Operator("Gemm", "conv", matrices.gemm, "gemm", bound=bounds.matrices),
    Operator("Attention", "attention", heads.attention, "attention"),
    Operator("Einsum", "attention", heads.einsum, "einsum", einsum, bounds.einsum),
    Operator("MaxPool", "conv", conv.pool, "max_pool", max_pool),
    Operator("AveragePool", "conv", conv.pool, "average_pool", bound=bounds.average),
    Operator("LpPool", "conv", conv.lp_pool, "lp_pool", bound=bounds.powers),
    Operator("GlobalLpPool", "conv", conv.global_pool, "global_lp_pool", bound=bounds.powers),
    Operator("MaxUnpool", "conv", conv.max_unpool, "max_unpool"),
    Operator("GlobalMaxPool", "conv", conv.global_pool, "global_max_pool"),
    Operator("GlobalAveragePool", "conv", conv.global_pool, "global_average_pool", bound=bounds.average),
    Operator("Resize", "conv", resizing.resize, "resize", resize, bounds.resize),
    Operator("Upsample", "conv", resizing.upsample, "upsample", upsample, bounds.resize),
    Operator("BatchNormalization", "conv", conv.batch_normalization, "batch_normalization", batch_normalization, bounds.affine),
    *(Operator(name, "norms", norms.reduction, function, reduction, bound) for name, (function, bound) in _REDUCTIONS.items()),
    Operator("Softmax", "norms", norms.softmax, "softmax", softmax),
    Operator("LogSoftmax", "norms", norms.softmax, "log_softmax", softmax),
    Operator("Hardmax", "norms", norms.softmax, "hardmax", softmax),
    Operator("LayerNormalization", "norms", norms.row_norm, "layer_normalization", layer_normalization, bounds.row_norm),
    Operator("RMSNormalization", "norms", norms.row_norm, "rms_normalization", bound=bounds.row_norm),
    Operator("InstanceNormalization", "norms", norms.channel_norm, "instance_normalization", bound=bounds.channel_norm),
    Operator("GroupNormalization", "norms", norms.channel_norm, "group_normalization", bound=bounds.channel_norm),
    Operator("LpNormalization", "norms", norms.lp_normalization, "lp_normalization"),
    Operator("MeanVarianceNormalization", "norms", norms.mean_variance_normalization, "mean_variance_normalization"),
    Operator("LRN", "norms", norms.lrn, "lrn"),
    Operator("ArgMax", "norms", norms.arg, "arg_max"),
    Operator("ArgMin", "norms", norms.arg, "arg_min"),
    Operator("CumSum", "norms", norms.cumulation, "cumsum", bound=bounds.cumulation),
    Operator("CumProd", "norms", norms.cumulation, "cumprod", bound=bounds.cumulation),
    *(Operator(name, "recurrent", gates.recurrent, name.lower()) for name in gates.GATES),
    Operator("QuantizeLinear", "quantized", quantized.quantize, "quantize_linear", quantization),
    Operator("DequantizeLinear", "quantized", quantized.dequantize, "dequantize_linear", quantization),
    Operator("DynamicQuantizeLinear", "quantized", quantized.dynamic, "dynamic_quantize_linear"),
    Operator("MatMulInteger", "quantized", quantized.matmul_integer, "matmul_integer"),
    Operator("QLinearMatMul", "quantized", quantized.qlinear_matmul, "qlinear_matmul"),
    Operator("ConvInteger", "quantized", quantized.conv_integer, "conv_integer"),
    Operator("QLinearConv", "quantized", quantized.qlinear_conv, "qlinear_conv"),
    *(Operator(name, "pointwise", single.plain, function) for name, function in _ONE_INPUT.items()),
    Operator("Clip", "pointwise", single.clip, "clip", clip),
    Operator("Cast", "pointwise", single.cast, "cast", cast),
    Operator("Add", "pointwise", several.pair, "add"),
    Operator("Sub", "pointwise", several.pair, "sub"),
    Operator("Mul", "pointwise", several.pair, "mul"),
    Operator("Div", "pointwise", several.pair, "div"),
    Operator("PRelu", "pointwise", several.pair, "prelu"),
    Operator("Pow", "pointwise", several.power, "power"),
    Operator("Max", "pointwise", several.variadic, "maximum"),
    Operator("Min", "pointwise", several.variadic, "minimum"),
    Operator("Sum", "pointwise", several.variadic, "sum_of", bound=bounds.several),
    Operator("Mean", "pointwise", several.variadic, "mean_of", bound=bounds.several),
]
BY_NAME = {row.name: row for row in OPERATORS}


def generate(operator, seed, index):
    """Case `index` of an operator under a seed."""
    text = f"{operator}/{seed}/{index}"
    return BY_NAME[operator].generate(Draw(text), operator).with_(id=text)
