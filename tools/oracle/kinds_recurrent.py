"""Kinds of LSTM, GRU and RNN."""

import numpy as np
from reference.numerics import quiet

from .kinds import ANY, Kind

OPERATORS = ("LSTM", "GRU", "RNN")
PAGE = "recurrent.md#where-onnx-runtime-differs"
#: Far beyond what the generators make of numbers that are neither infinite nor the largest of their type.
LARGE = 1e4


def names(case):
    return {name.lower() for name in case.get("activations", ())}


def batchwise(case):
    return bool(case.get("layout"))


def everywhere(case, want):
    return [ANY] * case.outputs


@quiet
def beyond(case, want):
    """Rows that hold a NaN, an infinity or a large number; all rows where the weights do."""

    def lost(array, axis=None):
        odd = ~(np.abs(array.astype(np.float64)) < LARGE)
        return odd.any() if axis is None else odd.any(axis=tuple(i for i in range(array.ndim) if i != axis))

    inputs = dict(enumerate(case.inputs))
    whole = any(lost(inputs[i]) for i in (1, 2, 3, 7) if inputs.get(i) is not None)
    axis = 0 if batchwise(case) else 1
    rows = lost(case.x, axis) | whole
    for state in (5, 6):
        if inputs.get(state) is not None:
            rows |= lost(inputs[state], axis)
    axes = [0 if batchwise(case) else 2, axis, axis]
    for output, at in zip(want, axes, strict=False):
        rows |= lost(output, at)
    shapes = [[-1 if i == at else 1 for i in range(output.ndim)] for output, at in zip(want, axes, strict=False)]
    return [np.where(rows.reshape(shape), ANY, 0.0) for shape in shapes]


KINDS = [
    Kind(
        "beyond the range of a gate",
        PAGE,
        "A bound of the largest finite float acts before activations, and takes NaNs away, by activation and operator; Softplus"
        " overflows: rows with a NaN, an infinity or a number over 10^4.",
        OPERATORS,
        lambda case: True,
        where=beyond,
    ),
    Kind(
        "the jump of ThresholdedRelu",
        PAGE,
        "x = alpha gives 0, and the default of alpha is 0; beside the jump the rounding of a sum decides.",
        OPERATORS,
        lambda case: "thresholdedrelu" in names(case),
        where=everywhere,
    ),
    Kind(
        "layout 1",
        PAGE,
        "layout = 1 is refused.",
        OPERATORS,
        batchwise,
        refuses="layout_ == 0 was false",
    ),
    Kind(
        "no hidden_size",
        PAGE,
        "A node without hidden_size, or with 0, is refused.",
        OPERATORS,
        lambda case: not case.get("hidden_size"),
        refuses="hidden_size",
    ),
    Kind(
        "names of activations in other letters",
        PAGE,
        "RNN refuses activations that are not written as in the operator text.",
        ("RNN",),
        lambda case: any(name.isupper() for name in case.get("activations", ())),
        refuses="allowed_activations",
    ),
    Kind(
        "no steps",
        PAGE,
        "T = 0 leaves Y_c uninitialised.",
        ("LSTM",),
        lambda case: case.x.shape[0] == 0,
        where=lambda case, want: [0.0, 0.0, ANY][: case.outputs],
    ),
    Kind(
        "no input",
        PAGE,
        "I = 0 leaves the x part uninitialised.",
        ("LSTM",),
        lambda case: case.x.shape[2] == 0,
        where=everywhere,
    ),
]
