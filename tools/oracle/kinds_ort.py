"""Kinds that concern more than one family."""

from .kinds import Kind

_SIX = {"float64", "bfloat16"}
_WHOLE = {"uint32", "uint64", "bfloat16"}
#: Types of X for which onnxruntime 1.31.1's CPU provider has no kernel, some of them only at some revisions.
NO_KERNEL = {
    "Conv": _SIX,
    "ConvTranspose": _SIX,
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
        "newer opset",
        "oracles.md#kinds",
        "An opset that the version of ONNX Runtime does not have yet.",
        "*",
        lambda case: case.opset > 20,
        refuses=r"under development|only \*guarantees\* support|No Op registered|is not a registered function/op",
    ),
]
