"""The documented reasons for a disagreement with ONNX Runtime.

A kind is a predicate over the case. `where` says which elements it covers, so that the rest of the tensor is still
compared; a refusal must also have the text that the kind expects."""

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

ANY = np.inf


@dataclass(frozen=True)
class Kind:
    """page: where docs/ states it. operators: names, or "*".

    applies: case -> bool. One of
    refuses: ONNX Runtime refuses the case with a text that this pattern finds;
    where: (case, our results) -> per output the allowed absolute difference, a number or an array, `ANY` for any value;
    shape: its output has another shape;
    serves: it has a value where the page makes the case invalid or unsupported."""

    name: str
    page: str
    text: str
    operators: tuple[str, ...] | str
    applies: Callable = lambda case: True
    refuses: str = ""
    where: Callable | None = None
    shape: bool = False
    serves: bool = False

    def covers(self, case):
        return (self.operators == "*" or case.operator in self.operators) and bool(self.applies(case))


ROUNDING = Kind(
    "order of a sum",
    "exact-mode.md",
    "Another order of the terms, or a fused product, within the error bound of the sum; anything where "
    "the order decides whether a partial sum overflows.",
    "*",
)


def every():
    from . import (
        kinds_attention,
        kinds_binary,
        kinds_conv,
        kinds_norms,
        kinds_ort,
        kinds_quantized,
        kinds_recurrent,
        kinds_reduce,
        kinds_resize,
        kinds_unary,
    )

    families = (
        kinds_ort,
        kinds_conv,
        kinds_reduce,
        kinds_norms,
        kinds_resize,
        kinds_recurrent,
        kinds_quantized,
        kinds_binary,
        kinds_unary,
        kinds_attention,
    )
    return [ROUNDING, *(kind for family in families for kind in family.KINDS)]


def refusal(case, reason):
    """The kind of a refusal by ONNX Runtime."""
    for kind in every():
        if kind.refuses and kind.covers(case) and re.search(kind.refuses, reason, re.DOTALL):
            return kind
    return None


def other_shape(case):
    return next((kind for kind in every() if kind.shape and kind.covers(case)), None)


def ours_refuses(case):
    return next((kind for kind in every() if kind.serves and kind.covers(case)), None)


def allowances(case, want, rounding):
    """(kind, allowed difference of each output) of every kind that covers the case."""
    found = [] if rounding is None else [(ROUNDING, rounding)]
    return found + [(kind, kind.where(case, want)) for kind in every() if kind.where and kind.covers(case)]
