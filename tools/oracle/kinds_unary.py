"""Kinds of the operators of one input."""

import numpy as np
from reference.numerics import quiet

from .generators_unary import TARGETS
from .kinds import ANY, Kind

PAGE = "unary.md#where-onnx-runtime-differs"


@quiet
def out_of_range(case, want):
    """Numbers that the integer type does not have, and NaN."""
    x = np.trunc(case.x.astype(np.float64))
    info = np.iinfo(TARGETS[case.get("to")])
    return [np.where((x >= float(info.min)) & (x < float(info.max) + 1), 0.0, ANY)]


KINDS = [
    Kind(
        "Cast out of range",
        PAGE,
        "What the processor's instruction gives for a NaN and for a number that the integer type does not have.",
        ("Cast",),
        lambda case: case.get("to") != 9,
        where=out_of_range,
    ),
    Kind(
        "Clip with min over max",
        PAGE,
        "The attributes of opset 6 are refused.",
        ("Clip",),
        lambda case: case.opset < 11 and case.get("min", -3e38) > case.get("max", 3e38),
        refuses="clip",
    ),
    Kind(
        "Clip of infinities in narrow types",
        PAGE,
        "Computed in float32, whose largest number rounds to infinity again.",
        ("Clip",),
        lambda case: case.x.dtype.name in ("float16", "bfloat16") and case.opset >= 11,
        where=lambda case, want: [np.where(np.isinf(case.x.astype(np.float32)), ANY, 0.0)],
    ),
    Kind(
        "Sign of a narrow NaN",
        PAGE,
        "0.",
        ("Sign",),
        lambda case: case.x.dtype.name in ("float16", "bfloat16"),
        where=lambda case, want: [np.where(np.isnan(case.x.astype(np.float32)), ANY, 0.0)],
    ),
    Kind(
        "float64 left to ONNX Runtime",
        "unary.md",
        "Functions that are served in float32 and narrower alone.",
        ("Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Gelu", "Mish", "Swish"),
        lambda case: case.x.dtype == np.float64,
        serves=True,
    ),
    Kind(
        "attributes of other casts",
        PAGE,
        "saturate and round_mode are refused where the target is no 8-bit float.",
        ("Cast",),
        lambda case: "saturate" in case.attributes or "round_mode" in case.attributes,
        refuses="is only used for cast to float",
    ),
]
