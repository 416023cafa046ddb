"""docs/attention.md"""

import math

import numpy as np

from .matmul import sums
from .numerics import FLOATS, arithmetic_type, finish, quiet
from .softmax import softmax
from .transcendental import tanh
from .window import flag


def require_types(q, others, attn_mask, nonpad_kv_seqlen):
    if q.dtype not in FLOATS:
        raise NotImplementedError(f"type {q.dtype}")
    if any(t is not None and t.dtype != q.dtype for t in others):
        raise NotImplementedError("types differ")
    if attn_mask is not None and attn_mask.dtype not in (q.dtype, np.bool_):
        raise NotImplementedError("type of attn_mask")
    if nonpad_kv_seqlen is not None and nonpad_kv_seqlen.dtype != np.int64:
        raise ValueError("type of nonpad_kv_seqlen")


def heads_first(x, heads):
    """[batch, heads, length, size] of an input of rank 3 or 4."""
    if x.ndim == 4:
        if heads not in (0, x.shape[1]) or x.shape[1] == 0:
            raise ValueError("number of heads")
        return x
    if heads < 1 or x.shape[2] % heads:
        raise ValueError("number of heads")
    return x.reshape(x.shape[0], x.shape[1], heads, x.shape[2] // heads).transpose(0, 2, 1, 3)


def with_past(past, x):
    if past is None:
        return np.ascontiguousarray(x)
    if past.ndim != 4 or past.shape[:2] != x.shape[:2] or past.shape[3] != x.shape[3]:
        raise ValueError("shape of the past")
    return np.concatenate([past, x], axis=2)


def biased(scores, mask, excluded):
    """A: the bias added wherever there is one."""
    shape = scores.shape
    there = np.zeros(shape, bool)
    bias = np.zeros(shape, scores.dtype)
    if mask is not None:
        if not 2 <= mask.ndim <= 4:
            raise ValueError("rank of attn_mask")
        last, total = mask.shape[-1], shape[3]
        if last == 1 < total:
            raise NotImplementedError("last size of attn_mask")
        if last != 1 and last > total:
            raise ValueError("last size of attn_mask")
        width = min(last, total) if last != 1 else total
        covered = (*shape[:3], width)
        if any(size not in (1, full) for size, full in zip(mask.shape[-2::-1], shape[2::-1], strict=False)):
            raise ValueError("shape of attn_mask")
        full = np.broadcast_to(mask, covered)
        excluded[..., width:] = True
        if mask.dtype == np.bool_:
            excluded[..., :width] |= ~full
        else:
            bias[..., :width] = full
        there[...] = True
    there |= excluded
    bias[excluded] = -np.inf
    return np.where(there, scores + bias, scores)


@quiet
def attention(
    q,
    k,
    v,
    attn_mask=None,
    past_key=None,
    past_value=None,
    nonpad_kv_seqlen=None,
    *,
    scale=None,
    softcap=0.0,
    is_causal=0,
    q_num_heads=0,
    kv_num_heads=0,
    qk_matmul_output_mode=0,
    softmax_precision=0,
):
    require_types(q, (k, v, past_key, past_value), attn_mask, nonpad_kv_seqlen)
    real = arithmetic_type(q.dtype)
    if not (q.ndim == k.ndim == v.ndim and q.ndim in (3, 4)):
        raise ValueError("ranks")
    if min(q_num_heads, kv_num_heads) < 0 or qk_matmul_output_mode not in range(4):
        raise ValueError("attribute")
    if softmax_precision not in (0, 1, 10, 11, 16):
        raise ValueError("attribute")
    is_causal = flag("is_causal", is_causal)
    softcap = real(np.float32(softcap))
    if not 0 <= softcap < np.inf:
        raise ValueError("softcap")
    if (softcap > 0 and real is np.float64) or softmax_precision not in ((0, 11) if real is np.float64 else (0, 1, 10, 16)):
        raise NotImplementedError("float64")

    queries, keys, values = heads_first(q, q_num_heads), heads_first(k, kv_num_heads), heads_first(v, kv_num_heads)
    batch, heads, length, size = queries.shape
    if keys.shape[0] != batch or keys.shape[3] != size or values.shape[:3] != keys.shape[:3] or heads % keys.shape[1]:
        raise ValueError("sizes of Q, K and V")
    if (past_key is None) != (past_value is None):
        raise ValueError("one past")
    current = keys.shape[2]
    present_key, present_value = with_past(past_key, keys), with_past(past_value, values)
    total = present_key.shape[2]
    past = total - current
    if present_value.shape[2] != total:
        raise ValueError("lengths of the pasts")

    excluded = np.zeros((batch, heads, length, total), bool)
    if is_causal:
        excluded |= np.arange(total) > np.arange(length)[:, None] + past
    if nonpad_kv_seqlen is not None:
        if past_key is not None or nonpad_kv_seqlen.shape != (batch,):
            raise ValueError("nonpad_kv_seqlen")
        if ((nonpad_kv_seqlen < 0) | (nonpad_kv_seqlen > current)).any():
            raise ValueError("nonpad_kv_seqlen")
        excluded |= np.arange(total) >= nonpad_kv_seqlen[:, None, None, None]

    if scale is None:
        root = np.sqrt(real(1) / np.sqrt(real(size)))
    else:
        scale = real(np.float32(scale))
        if not 0 < scale < np.inf:
            raise ValueError("scale")
        root = np.sqrt(scale)

    group = heads // keys.shape[1]
    key = np.repeat(present_key.astype(real), group, axis=1)
    value = np.repeat(present_value.astype(real), group, axis=1)
    s = sums(queries.astype(real) * root, (key * root).swapaxes(2, 3))
    c = softcap * tanh(s / softcap) if softcap > 0 else s
    a = biased(c, attn_mask, excluded)
    p = np.zeros(a.shape, real)
    if p.size:
        p = softmax(a.reshape(math.prod(a.shape[:3]), total)).reshape(a.shape)
        p[a.max(axis=3) == -np.inf] = 0
    y = finish(sums(p, value), q.dtype)
    if q.ndim == 3:
        y = y.transpose(0, 2, 1, 3).reshape(batch, length, heads * value.shape[3])
    stage = (s, c, a, p)[qk_matmul_output_mode]
    return np.ascontiguousarray(y), present_key, present_value, finish(stage, q.dtype)
