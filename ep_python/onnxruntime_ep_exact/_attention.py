"""Attention on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _MODES, _array, _choice, _create, _number, _run, _set_float
from ._kernels import ffi, lib


def attention(
    q: ArrayLike,
    k: ArrayLike,
    v: ArrayLike,
    attn_mask: ArrayLike | None = None,
    past_key: ArrayLike | None = None,
    past_value: ArrayLike | None = None,
    nonpad_kv_seqlen: ArrayLike | None = None,
    *,
    scale: float | None = None,
    softcap: float = 0.0,
    is_causal: int = 0,
    q_num_heads: int = 0,
    kv_num_heads: int = 0,
    qk_matmul_output_mode: int = 0,
    softmax_precision: int = 0,
    mode: str = "exact",
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """ONNX Attention (docs/attention.md), as of opset 24: Y, present_key, present_value and qk_matmul_output.

    q is [B, Hq, L, D] or [B, L, Hq * D], k [B, Hk, C, D] or [B, C, Hk * D], v [B, Hk, C, E] or [B, C, Hk * E]; rank 3 needs
    q_num_heads and kv_num_heads. attn_mask is boolean or of q's type and broadcasts to [B, Hq, L, P + C]; past_key is
    [B, Hk, P, D], past_value [B, Hk, P, E]; nonpad_kv_seqlen [B] of int64. scale and softcap are rounded to float32. mode
    "fast" may sum in another order and takes a less accurate exponential.
    """
    name = "attention"
    optional = {
        "attn_mask": attn_mask,
        "past_key": past_key,
        "past_value": past_value,
        "nonpad_kv_seqlen": nonpad_kv_seqlen,
    }
    arrays = [_array(name, argument, value) for argument, value in (("q", q), ("k", k), ("v", v))]
    arrays += [None if value is None else _array(name, argument, value) for argument, value in optional.items()]
    attrs = ffi.new("exact_attention_attrs *")
    attrs.short_mask = 1
    attrs.has_scale = scale is not None
    _set_float(attrs, "scale", 1.0 if scale is None else scale)
    _set_float(attrs, "softcap", softcap)
    attrs.is_causal = operator.index(is_causal)
    attrs.q_num_heads = operator.index(q_num_heads)
    attrs.kv_num_heads = operator.index(kv_num_heads)
    attrs.qk_matmul_output_mode = operator.index(qk_matmul_output_mode)
    attrs.softmax_precision = operator.index(softmax_precision)
    op = _create(name, lib.exact_attention_new, attrs, _number(arrays[0]), _choice(name, "mode", mode, _MODES))
    y, key, value, scores = _run(name, op, arrays, threads, 4)
    return y, key, value, scores
