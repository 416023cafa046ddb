"""Kinds that concern more than one family."""

from .kinds import ANY, Kind

_SIX = {"float64", "bfloat16"}
_WHOLE = {"uint32", "uint64", "bfloat16"}
#: Types of X for which onnxruntime 1.31.1's CPU provider has no kernel, some of them only at some revisions.
NO_KERNEL = {
    "Conv": _SIX,
    "ConvTranspose": _SIX,
    "MatMul": {"bfloat16"},
    "Gemm": {"bfloat16"},
    "Einsum": {"bfloat16", "uint32", "uint64"},
    "MaxPool": _SIX,
    "AveragePool": _SIX,
    "LpPool": _SIX,
    "GlobalLpPool": _SIX,
    "MaxUnpool": _SIX,
    "GlobalMaxPool": _SIX,
    "GlobalAveragePool": _SIX,
    "BatchNormalization": {"bfloat16"},
    **{
        f"Reduce{name}": _WHOLE
        for name in ["Sum", "Mean", "L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Prod", "Max", "Min"]
    },
    "Softmax": {"bfloat16"},
    "LogSoftmax": {"bfloat16"},
    "Hardmax": _SIX,
    "RMSNormalization": {"bfloat16"},
    "InstanceNormalization": _SIX,
    "GroupNormalization": {"bfloat16"},
    "LpNormalization": {"bfloat16"},
    "MeanVarianceNormalization": {"float64", "float16", "bfloat16"},
    "LRN": _SIX,
    "Resize": {"float64", "bfloat16", "int64", "bool"},
    "Upsample": {"float64", "float16", "bfloat16", "int64", "bool"},
    "ArgMax": {*_WHOLE, "int16", "uint16"},
    "ArgMin": {*_WHOLE, "int16", "uint16"},
    "CumSum": _WHOLE,
    "CumProd": _WHOLE,
    "LSTM": {"bfloat16"},
    "GRU": {"bfloat16"},
    "RNN": {"bfloat16"},
    **{name: {"bfloat16"} for name in ("Abs", "Neg", "Floor", "Ceil", "Round", "Sign", "Sqrt", "Reciprocal", "Exp", "Log")},
    **{name: {"bfloat16"} for name in ("Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Gelu", "Mish", "Cast")},
    **{name: _SIX for name in ("LeakyRelu", "ThresholdedRelu", "HardSigmoid", "HardSwish", "Softsign", "Elu", "Selu")},
    "Relu": {"bfloat16", "int16", "int64"},
    "Clip": {*_SIX, "int16", "uint16"},
    "Swish": {"float32", "float16", "bfloat16"},
    **{name: {"bfloat16"} for name in ("Add", "Sub", "Mul", "Div")},
    "PRelu": {"float64", "float16", "bfloat16", "int32", "int64", "uint32", "uint64"},
    "Pow": {"float16", "bfloat16"},
    **{name: {"float64", "float16", "bfloat16", "int8", "int16", "uint8", "uint16"} for name in ("Max", "Min")},
    "Sum": {"float16", "bfloat16"},
    "Mean": {"float64", "float16", "bfloat16"},
}


def without_kernel(case):
    """Whatever the type of X; or for parameters of another type."""
    if case.operator == "GlobalLpPool" and case.opset >= 22:
        return True
    return case.operator == "BatchNormalization" and any(a.dtype != case.x.dtype for a in case.inputs)


KINDS = [
    Kind(
        "no kernel",
        "operators.md",
        "Types for which the CPU provider has no kernel; the pages of the families name them.",
        tuple(NO_KERNEL),
        lambda case: case.x.dtype.name in NO_KERNEL[case.operator] or without_kernel(case),
        refuses="NOT_IMPLEMENTED",
    ),
    Kind(
        "no terms of unsigned integers",
        "matmul.md#where-onnx-runtime-differs",
        "K = 0 in uint32 and uint64 is refused.",
        ("MatMul",),
        lambda case: case.x.shape[-1] == 0 and case.x.dtype.kind == "u",
        refuses="IsPrimitiveDataType|Tensor type mismatch",
    ),
    Kind(
        "no terms beside a beta",
        "matmul.md#where-onnx-runtime-differs",
        "Gemm with K = 0 gives C, without beta.",
        ("Gemm",),
        lambda case: case.x.size == 0 and case.get("beta", 1.0) != 1.0 and len(case.inputs) > 2,
        where=lambda case, want: [ANY],
    ),
    Kind(
        "no terms for a vector",
        "matmul.md#where-onnx-runtime-differs",
        "MatMul with K = 0 and B of rank 1 leaves the result uninitialised.",
        ("MatMul",),
        lambda case: case.inputs[1].shape == (0,),
        where=lambda case, want: [ANY],
    ),
    Kind(
        "newer opset",
        "oracles.md#kinds",
        "An opset that the version of ONNX Runtime does not have yet.",
        "*",
        lambda case: case.opset > 20,
        refuses=r"under development|only \*guarantees\* support|No Op registered|is not a registered function/op",
    ),
]
