"""Einsum on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _MODES, _array, _choice, _create, _number, _run
from ._kernels import lib


def einsum(equation: str, *operands: ArrayLike, mode: str = "exact", threads: int = 1) -> np.ndarray:
    """ONNX Einsum (docs/einsum.md): operands of one float type, or of one of int32, int64, uint32 and uint64.

    mode "fast" may sum in another order.
    """
    name = "einsum"
    if not operands:
        raise ValueError(f"{name}: no operands")
    arrays = [_array(name, f"operand {i}", operand) for i, operand in enumerate(operands)]
    try:
        text = equation.encode("ascii")
    except UnicodeEncodeError as cause:
        raise ValueError(f"{name}: equation: unexpected character {cause.object[cause.start]!r}") from cause
    if b"\0" in text:
        raise ValueError(f"{name}: equation: unexpected character '\\0'")
    op = _create(name, lib.exact_einsum_new, text, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    return _run(name, op, arrays, threads)[0]
