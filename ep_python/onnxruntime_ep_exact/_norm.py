"""The normalizations of docs/norm.md and docs/lrn.md on NumPy arrays; re-exported by kernels.py."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _arrays, _create, _number, _run, _set_float
from ._kernels import ffi, lib


def layer_normalization(
    x: ArrayLike,
    scale: ArrayLike,
    b: ArrayLike | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    return_statistics: bool = False,
    threads: int = 1,
) -> np.ndarray | tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ONNX LayerNormalization (docs/norm.md) over the axes from ``axis`` on; scale and b broadcast to them.

    With return_statistics also the float32 arrays Mean and InvStdDev.
    """
    name = "layer_normalization"
    arrays = _arrays(name, x=x, scale=scale, b=b)
    op = _create(name, lib.exact_layer_norm_new, _layer_attrs(axis, epsilon, stash_type), _number(arrays[0]))
    outputs = _run(name, op, arrays, threads, wanted=3 if return_statistics else 1)
    return (outputs[0], outputs[1], outputs[2]) if return_statistics else outputs[0]


def rms_normalization(
    x: ArrayLike, scale: ArrayLike, *, axis: int = -1, epsilon: float = 1e-5, stash_type: int = 1, threads: int = 1
) -> np.ndarray:
    """ONNX RMSNormalization (docs/norm.md) over the axes from ``axis`` on; scale broadcasts to them."""
    name = "rms_normalization"
    arrays = _arrays(name, x=x, scale=scale)
    op = _create(name, lib.exact_rms_norm_new, _layer_attrs(axis, epsilon, stash_type), _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def instance_normalization(
    x: ArrayLike, scale: ArrayLike, b: ArrayLike, *, epsilon: float = 1e-5, threads: int = 1
) -> np.ndarray:
    """ONNX InstanceNormalization (docs/norm.md): x is [N, C, D1 .. Dr], scale and b are [C]."""
    name = "instance_normalization"
    arrays = _arrays(name, x=x, scale=scale, b=b)
    attrs = ffi.new("exact_instance_norm_attrs *")
    _set_float(attrs, "epsilon", epsilon)
    op = _create(name, lib.exact_instance_norm_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def group_normalization(
    x: ArrayLike,
    scale: ArrayLike,
    b: ArrayLike,
    *,
    num_groups: int,
    epsilon: float = 1e-5,
    stash_type: int = 1,
    threads: int = 1,
) -> np.ndarray:
    """ONNX GroupNormalization (docs/norm.md): x is [N, C, D1 .. Dr].

    scale and b are [C] as from opset 21 on, or [num_groups] as in opset 18.
    """
    name = "group_normalization"
    arrays = _arrays(name, x=x, scale=scale, b=b)
    attrs = ffi.new("exact_group_norm_attrs *")
    attrs.num_groups = operator.index(num_groups)
    attrs.stash_type = operator.index(stash_type)
    _set_float(attrs, "epsilon", epsilon)
    attrs.parameters = lib.EXACT_GROUP_BY_LENGTH
    op = _create(name, lib.exact_group_norm_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def lrn(x: ArrayLike, *, size: int, alpha: float = 1e-4, beta: float = 0.75, bias: float = 1.0, threads: int = 1) -> np.ndarray:
    """ONNX LRN (docs/lrn.md): x is [N, C, D1 .. Dr], windows are ``size`` channels."""
    name = "lrn"
    arrays = _arrays(name, x=x)
    attrs = ffi.new("exact_lrn_attrs *")
    attrs.size = operator.index(size)
    _set_float(attrs, "alpha", alpha)
    _set_float(attrs, "beta", beta)
    _set_float(attrs, "bias", bias)
    op = _create(name, lib.exact_lrn_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def lp_normalization(x: ArrayLike, *, axis: int = -1, p: int = 2, threads: int = 1) -> np.ndarray:
    """ONNX LpNormalization (docs/norm.md): x divided by the norm of order ``p``, 1 or 2, of its elements along ``axis``."""
    name = "lp_normalization"
    arrays = _arrays(name, x=x)
    op = _create(name, lib.exact_lp_norm_new, operator.index(axis), operator.index(p), _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def mean_variance_normalization(x: ArrayLike, *, axes: Iterable[int] = (0, 2, 3), threads: int = 1) -> np.ndarray:
    """ONNX MeanVarianceNormalization (docs/norm.md) over ``axes``; empty means 0, 2, 3."""
    name = "mean_variance_normalization"
    arrays = _arrays(name, x=x)
    attrs = ffi.new("exact_mvn_attrs *")
    _set_axes(attrs, axes)
    op = _create(name, lib.exact_mvn_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def _set_axes(attrs: Any, axes: Iterable[int]) -> None:
    values = [operator.index(axis) for axis in axes]
    attrs.n_axes = min(len(values), 2**31 - 1)
    for i, value in enumerate(values[: len(attrs.axes)]):
        attrs.axes[i] = value


def _layer_attrs(axis: int, epsilon: float, stash_type: int) -> Any:
    attrs = ffi.new("exact_layer_norm_attrs *")
    attrs.axis = operator.index(axis)
    attrs.stash_type = operator.index(stash_type)
    _set_float(attrs, "epsilon", epsilon)
    return attrs
