"""LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization on NumPy arrays; re-exported by kernels.py."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _arrays, _create, _number, _run
from ._kernels import ffi, lib


def layer_normalization(
    x: ArrayLike,
    scale: ArrayLike,
    b: ArrayLike | None = None,
    *,
    axis: int = -1,
    epsilon: float = 1e-5,
    return_stats: bool = False,
    threads: int = 1,
) -> np.ndarray | tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ONNX LayerNormalization (docs/norm.md) over the axes from ``axis`` on; scale and b broadcast to x.

    With return_stats also the float32 arrays Mean and InvStdDev.
    """
    name = "layer_normalization"
    arrays = _arrays(name, x=x, scale=scale, b=b)
    op = _create(name, lib.exact_layer_norm_new, _layer_attrs(axis, epsilon), _number(arrays[0]))
    outputs = _run(name, op, arrays, threads, wanted=3 if return_stats else 1)
    return (outputs[0], outputs[1], outputs[2]) if return_stats else outputs[0]


def rms_normalization(
    x: ArrayLike, scale: ArrayLike, *, axis: int = -1, epsilon: float = 1e-5, threads: int = 1
) -> np.ndarray:
    """ONNX RMSNormalization (docs/norm.md) over the axes from ``axis`` on; the result has the type of scale."""
    name = "rms_normalization"
    arrays = _arrays(name, x=x, scale=scale)
    op = _create(name, lib.exact_rms_norm_new, _layer_attrs(axis, epsilon), _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def instance_normalization(
    x: ArrayLike, scale: ArrayLike, bias: ArrayLike, *, epsilon: float = 1e-5, threads: int = 1
) -> np.ndarray:
    """ONNX InstanceNormalization (docs/norm.md): x is [N, C, D1 .. Dr], scale and bias are [C]."""
    name = "instance_normalization"
    arrays = _arrays(name, x=x, scale=scale, bias=bias)
    op = _create(name, lib.exact_instance_norm_new, epsilon, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def group_normalization(
    x: ArrayLike,
    scale: ArrayLike,
    bias: ArrayLike,
    num_groups: int,
    *,
    per_group: bool = False,
    epsilon: float = 1e-5,
    threads: int = 1,
) -> np.ndarray:
    """ONNX GroupNormalization (docs/norm.md): x is [N, C, D1 .. Dr].

    scale and bias are [C] as from opset 21 on or, with per_group, [num_groups] as in opset 18.
    """
    name = "group_normalization"
    arrays = _arrays(name, x=x, scale=scale, bias=bias)
    attrs = ffi.new("exact_group_norm_attrs *")
    attrs.num_groups = operator.index(num_groups)
    attrs.stash_type = lib.EXACT_FLOAT32
    attrs.epsilon = epsilon
    attrs.parameters = lib.EXACT_GROUP_PER_GROUP if per_group else lib.EXACT_GROUP_PER_CHANNEL
    op = _create(name, lib.exact_group_norm_new, attrs, _number(arrays[0]))
    return _run(name, op, arrays, threads)[0]


def _layer_attrs(axis: int, epsilon: float):
    attrs = ffi.new("exact_layer_norm_attrs *")
    attrs.axis = operator.index(axis)
    attrs.stash_type = lib.EXACT_FLOAT32
    attrs.epsilon = epsilon
    return attrs
