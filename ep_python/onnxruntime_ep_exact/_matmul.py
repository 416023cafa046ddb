"""MatMul and Gemm on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _MODES, _array, _arrays, _choice, _create, _number, _run, _set_float
from ._kernels import ffi, lib


def matmul(a: ArrayLike, b: ArrayLike, *, mode: str = "exact", threads: int = 1) -> np.ndarray:
    """ONNX MatMul (docs/matmul.md): a is [.., M, K] or [K], b is [.., K, N] or [K], the axes before broadcast.

    Both are of one float type, or of one of int32, int64, uint32 and uint64. mode "fast" may sum in another order.
    """
    name = "matmul"
    arrays = [_array(name, "a", a), _array(name, "b", b)]
    op = _create(name, lib.exact_matmul_new, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    return _run(name, op, arrays, threads)[0]


def gemm(
    a: ArrayLike,
    b: ArrayLike,
    c: ArrayLike | None = None,
    *,
    alpha: float = 1.0,
    beta: float = 1.0,
    transA: int = 0,
    transB: int = 0,
    mode: str = "exact",
    threads: int = 1,
) -> np.ndarray:
    """ONNX Gemm (docs/matmul.md): alpha * a @ b + beta * c, a and b first transposed where transA, transB are not 0.

    a and b are matrices, c broadcasts to the result, all of one float type. alpha and beta are rounded to float32. mode "fast"
    may sum in another order.
    """
    name = "gemm"
    arrays = [_array(name, "a", a), _array(name, "b", b), *_arrays(name, c=c)]
    attrs = ffi.new("exact_gemm_attrs *")
    _set_float(attrs, "alpha", alpha)
    _set_float(attrs, "beta", beta)
    attrs.trans_a = operator.index(transA)
    attrs.trans_b = operator.index(transB)
    op = _create(name, lib.exact_gemm_new, attrs, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    return _run(name, op, arrays, threads)[0]
