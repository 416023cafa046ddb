"""Kinds of Attention and Einsum."""

import numpy as np
from reference.numerics import FLOATS, quiet

from .kinds import ANY, Kind

PAGE, EINSUM = "attention.md#where-onnx-runtime-differs", "einsum.md#where-onnx-runtime-differs"


def floats(case):
    return [a.astype(np.float64) for a in case.inputs if a is not None and a.dtype in FLOATS]


def everywhere(case, want):
    return [ANY] * case.outputs


def past(case):
    return case.inputs[4] if len(case.inputs) > 4 else None


def total(case):
    length = case.inputs[1].shape[-2]
    return length + (0 if past(case) is None else past(case).shape[2])


def spread_mask(case):
    """The mask has not the sizes of the scores."""
    mask = case.inputs[3] if len(case.inputs) > 3 else None
    if mask is None:
        return False
    heads = case.get("q_num_heads") or case.x.shape[1]
    full = (case.x.shape[0], heads, case.x.shape[-2], total(case))
    return mask.shape != full[4 - mask.ndim :]


@quiet
def excluded(case, want):
    """-infinity in the scores with the bias."""
    scores = [0.0] * 3
    return [*scores, np.where(want[3] == -np.inf, ANY, 0.0)]


def rounded_steps(case, want):
    """One part in 20 of the largest element."""
    return [np.abs(array.astype(np.float64)).max(initial=1.0, where=np.isfinite(array)) / 20 for array in want]


def labels(case):
    return [label for label in case.get("equation") if label.isalpha()]


KINDS = [
    Kind(
        "the function body",
        PAGE,
        "float64 and bfloat16 have no kernel: the operator's function body is computed, or refused for its types.",
        ("Attention",),
        lambda case: case.x.dtype.name in ("float64", "bfloat16"),
        where=everywhere,
    ),
    Kind(
        "the function body",
        PAGE,
        "float64 and bfloat16 have no kernel: the operator's function body is computed, or refused for its types.",
        ("Attention",),
        lambda case: case.x.dtype.name in ("float64", "bfloat16"),
        refuses="Type Error|bound to different types|Name:''|NOT_IMPLEMENTED|ShapeInferenceError|TypeInferenceError",
    ),
    Kind(
        "steps in float16",
        PAGE,
        "float16 is rounded after every step: a part in 20 of the largest element at most.",
        ("Attention",),
        lambda case: case.x.dtype == np.float16,
        where=rounded_steps,
    ),
    Kind(
        "excluded positions",
        PAGE,
        "The lowest finite number is added instead of -infinity.",
        ("Attention",),
        lambda case: case.outputs == 4 and case.get("qk_matmul_output_mode") == 2,
        where=excluded,
    ),
    Kind(
        "NaN and infinity among the inputs",
        PAGE,
        "They meet another bias, and weights of 0 are left out.",
        ("Attention",),
        lambda case: not all(np.isfinite(a).all() for a in floats(case)),
        where=everywhere,
    ),
    Kind(
        "masks of other sizes",
        PAGE,
        "A mask that is shorter than the keys, or 1 along an axis that is more, is refused.",
        ("Attention",),
        spread_mask,
        refuses="ComputeOutputShapeForAttention",
    ),
    Kind(
        "causal beside a length or a past",
        PAGE,
        "Beside nonpad_kv_seqlen the diagonal of is_causal lies elsewhere; one query beside a past sees every position.",
        ("Attention",),
        lambda case: case.get("is_causal") and (len(case.inputs) > 6 or (past(case) is not None and case.x.shape[-2] == 1)),
        where=everywhere,
    ),
    Kind(
        "no keys",
        PAGE,
        "K and V of length 0 are refused.",
        ("Attention",),
        lambda case: case.inputs[1].shape[-2] == 0,
        refuses="kv_sequence_length > 0|total_sequence_length",
    ),
    Kind(
        "a past without present outputs",
        PAGE,
        "past_key without present_key is refused.",
        ("Attention",),
        lambda case: past(case) is not None and case.outputs < 3,
        refuses="present_key",
    ),
    Kind(
        "capitals in an implicit output",
        EINSUM,
        "Labels in capitals together with small ones are refused where the equation has no output.",
        ("Einsum",),
        lambda case: "->" not in case.get("equation") and any(label.isupper() for label in labels(case)),
        refuses="only subscript labels allowed",
    ),
    Kind(
        "operands of rank 0",
        EINSUM,
        "An operand of rank 0 is refused.",
        ("Einsum",),
        lambda case: any(a.ndim == 0 for a in case.inputs),
        refuses="Einsum",
    ),
    Kind(
        "NaN and infinity among the operands",
        EINSUM,
        "Labels of one operand alone are summed before the products.",
        ("Einsum",),
        lambda case: len(case.inputs) > 1 and not all(np.isfinite(a).all() for a in floats(case)),
        where=everywhere,
    ),
    Kind(
        "integer overflow",
        EINSUM,
        "Sums go as in ReduceSum: beyond the type they saturate, and int64 loses digits beyond 2^53.",
        ("Einsum",),
        lambda case: case.x.dtype.kind == "i" and any((abs(a.astype(np.float64)) > 4).any() for a in case.inputs),
        where=everywhere,
    ),
]
