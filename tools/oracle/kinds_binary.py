"""Kinds of the elementwise operators of several inputs."""

import numpy as np
import reference
from reference.numerics import quiet

from .kinds import ANY, Kind

PAGE = "binary.md#where-onnx-runtime-differs"
VARIADIC = ("Max", "Min", "Sum", "Mean")


def enlarged(case):
    """The slope has a larger shape than X."""
    x, slope = (a.shape for a in case.inputs)
    try:
        return np.broadcast_shapes(x, slope) != x
    except ValueError:
        return False


def exponent(case):
    return float(case.inputs[1].reshape(-1)[0])


@quiet
def near_the_largest(case, want):
    """Results whose exact value is within a few roundings of the largest number: one side may be infinite."""
    x = case.x.astype(np.float64)
    top = float(np.finfo(np.float32).max) if want[0].dtype.name == "bfloat16" else float(np.finfo(want[0].dtype).max)
    exact = np.broadcast_to(np.abs(x) ** exponent(case), want[0].shape)
    return [np.where((exact > top * 0.98) & (exact < top * 1.02), ANY, 0.0)]


KINDS = [
    Kind(
        "a slope larger than X",
        PAGE,
        "X is broadcast to it; the operator text broadcasts slope alone.",
        ("PRelu",),
        enlarged,
        serves=True,
    ),
    Kind(
        "no broadcasting in opset 7",
        PAGE,
        "Shapes that differ are refused.",
        VARIADIC,
        lambda case: case.opset < 8 and len({a.shape for a in case.inputs}) > 1,
        refuses=".",
    ),
    Kind(
        "another power",
        "binary.md#pow",
        "Integers and exponents that are left to ONNX Runtime.",
        ("Pow",),
        lambda case: case.x.dtype.kind == "i" or exponent(case) not in reference.binary.EXPONENTS,
        serves=True,
    ),
    Kind(
        "an exponent without kernel",
        "binary.md#pow",
        "Types of the exponent for which the CPU provider has no kernel.",
        ("Pow",),
        refuses="NOT_IMPLEMENTED|Unsupported Y type|Tensor type mismatch",
    ),
    Kind(
        "powers near the largest number",
        PAGE,
        "A rounding decides whether the result is infinite.",
        ("Pow",),
        where=near_the_largest,
    ),
]
