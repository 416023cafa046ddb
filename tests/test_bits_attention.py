"""Attention against the reference, bit for bit. docs/attention.md"""

import numpy as np
import pytest
import strategies
from helpers import (
    FLOAT_PARAMS,
    KINDS,
    TYPE_NAMES,
    assert_bits,
    bits,
    check,
    data,
    examples,
    isa,
    kernels,
    random_nans,
    variants,
)
from hypothesis import given

NAMES = ("q", "k", "v", "attn_mask", "past_key", "past_value", "nonpad_kv_seqlen")


def qkv(dtype, batch=2, heads=4, kv_heads=2, length=5, total=6, size=7, value=3, kind="normal", seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((batch, heads, length, size), (batch, kv_heads, total, size), (batch, kv_heads, total, value))
    return [data(rng, shape, TYPE_NAMES[dtype], kind) for shape in shapes]


def mask(dtype, *shape, seed=9):
    return data(np.random.default_rng(seed), shape, np.bool_ if dtype == "bool" else TYPE_NAMES[dtype])


@given(strategies.attentions(dtypes=FLOAT_PARAMS))
@examples(400)
def test_random(node):
    check("attention", *node.inputs(), threads=(1, 2), **node.attributes)


@pytest.mark.parametrize("qk_mode", range(4))
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_stage(dtype, qk_mode):
    softcap = 0.0 if dtype == "float64" else 1.5
    for kind in ("normal", "special", "infinite", "tiny"):
        inputs = qkv(dtype, kind=kind)
        for form in ({}, {"is_causal": 1}, {"softcap": softcap, "scale": 0.7}):
            for bias in (None, mask(dtype, 5, 6), mask("bool", 2, 1, 5, 6)):
                check("attention", *inputs, bias, qk_matmul_output_mode=qk_mode, threads=(1, 2), **form)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_width(dtype):
    """Every remainder of a vector and of a block, in each of the sizes."""
    for n in [*range(1, 36), 63, 64, 65, 129]:
        kind, form = KINDS[n % len(KINDS)], {"is_causal": n % 2, "qk_matmul_output_mode": n % 4, "threads": (1,)}
        check("attention", *qkv(dtype, 1, 2, 1, 3, 5, n, 4, kind), **form)
        check("attention", *qkv(dtype, 1, 2, 1, 3, n, 5, 4, kind), **form)
        check("attention", *qkv(dtype, 1, 1, 1, n, 7, 5, 4, kind), **form)
        check("attention", *qkv(dtype, 1, 2, 2, 3, 5, 4, n, kind), **form)


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_large(dtype):
    softcap = 0.0 if dtype == "float64" else 20.0
    check("attention", *qkv(dtype, 2, 4, 2, 40, 150, 64, 48), threads=(1, 7), is_causal=1, qk_matmul_output_mode=3)
    check("attention", *qkv(dtype, 1, 3, 1, 1, 700, 32, 64), threads=(1, 7), softcap=softcap)
    check("attention", *qkv(dtype, 1, 1, 1, 130, 70, 8, 9), threads=(1, 7))


MASKS = [
    (5, 6),
    (1, 6),
    (2, 1, 5, 6),
    (2, 4, 5, 6),
    (1, 1, 1, 6),
    (4, 5, 6),
    (4, 1, 6),
    (1, 5, 6),
    (5, 4),
    (1, 2),
    (2, 4, 1, 5),
    (5, 0),
]


@pytest.mark.parametrize("shape", MASKS, ids=str)
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_masks(dtype, shape):
    """Broadcast, and shorter than the keys."""
    inputs = qkv(dtype, kind="special")
    for bias in (
        mask(dtype, *shape),
        mask("bool", *shape),
        data(np.random.default_rng(1), shape, TYPE_NAMES[dtype], "special"),
    ):
        for causal in (0, 1):
            check("attention", *inputs, bias, is_causal=causal, qk_matmul_output_mode=2, threads=(1, 2))


def test_one_key():
    """T = 1: the last size of a mask is 1 in either meaning."""
    for bias in (mask("float32", 5, 1), mask("bool", 1, 1), mask("bool", 2, 4, 5, 1)):
        check("attention", *qkv("float32", total=1), bias, qk_matmul_output_mode=2)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_past(dtype):
    """The caches keep their bits; causal positions count from the end of the past."""
    q, k, v = qkv(dtype, kind="special")
    for length in (0, 1, 5, 33):
        rng = np.random.default_rng(length)
        past = [data(rng, (2, 2, length, n), TYPE_NAMES[dtype], "special") for n in (7, 3)]
        for causal in (0, 1):
            for bias in (None, mask(dtype, 5, length + 6), mask("bool", 5, length + 3)):
                _, key, value, _ = check(
                    "attention", q, k, v, bias, *past, is_causal=causal, qk_matmul_output_mode=2, threads=(1, 2)
                )
        assert (bits(key) == bits(np.concatenate([past[0], k], 2))).all()
        assert (bits(value) == bits(np.concatenate([past[1], v], 2))).all()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_present_without_a_past_keeps_its_bits(dtype):
    q, k, v = qkv(dtype)
    k[0, 0] = random_nans(np.random.default_rng(0), k[0, 0].shape, TYPE_NAMES[dtype])
    v[1, 1, 2, 0] = -0.0
    _, key, value, _ = check("attention", q, k, v)
    assert (bits(key) == bits(k)).all()
    assert (bits(value) == bits(v)).all()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_lengths_of_the_batch(dtype):
    inputs = qkv(dtype, batch=3, kind="special")
    for lengths in ([6, 0, 3], [1, 6, 5]):
        for bias in (None, mask(dtype, 5, 6), mask("bool", 5, 4)):
            for causal in (0, 1):
                form = {"is_causal": causal, "qk_matmul_output_mode": 2 + causal}
                check("attention", *inputs, bias, None, None, np.array(lengths), threads=(1, 2), **form)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("heads, kv_heads", [(1, 1), (6, 1), (6, 2), (6, 3), (6, 6)])
def test_heads(heads, kv_heads, dtype):
    """Rank 3 has the bits of rank 4."""
    q, k, v = qkv(dtype, heads=heads, kv_heads=kv_heads, kind="wide")
    want = check("attention", q, k, v, is_causal=1, threads=(1, 7))
    flat = [np.ascontiguousarray(x.transpose(0, 2, 1, 3)).reshape(x.shape[0], x.shape[2], -1) for x in (q, k, v)]
    got = check("attention", *flat, is_causal=1, q_num_heads=heads, kv_num_heads=kv_heads, threads=(1, 7))
    assert_bits(got[0].reshape(2, 5, heads, 3).transpose(0, 2, 1, 3), want[0])
    for one, other in zip(got[1:], want[1:], strict=True):
        assert_bits(one, other)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_excluded_rows(dtype):
    """A row without a position gives zeros, whatever excludes it: a boolean mask, -infinity as a number, the lengths."""
    q, k, v = qkv(dtype)
    keep = np.ones((5, 6), bool)
    keep[2] = False
    number = np.where(keep, 0, -np.inf).astype(TYPE_NAMES[dtype])
    for bias in (keep, number):
        y, _, _, p = check("attention", q, k, v, bias, qk_matmul_output_mode=3)
        assert not bits(y[:, :, 2]).any()
        assert not bits(p[:, :, 2]).any()
        assert (y[:, :, 1].astype(np.float32) != 0).all()
    y = check("attention", q, k, v, None, None, None, np.array([0, 6]))[0]
    assert not bits(y[0]).any()
    y = check("attention", q, k, v, np.ones((5, 0), bool))[0]
    assert not bits(y).any()


def test_excluded_positions_multiply_all_the_same():
    """An infinity at an excluded position times +0 is NaN; a NaN or an infinity of a score stays."""
    for place in ("k", "v"):
        for odd in (np.inf, -np.inf, np.nan):
            q, k, v = qkv("float32")
            {"k": k, "v": v}[place][0, 0, 4, 1] = odd
            keep = np.ones((5, 6), bool)
            keep[:, 4] = False
            for form in ({"attn_mask": keep}, {"is_causal": 1}, {"nonpad_kv_seqlen": np.array([4, 6])}):
                args = [form.get(name) for name in NAMES[3:]]
                for qk_mode in range(4):
                    check("attention", q, k, v, *args, is_causal=form.get("is_causal", 0), qk_matmul_output_mode=qk_mode)


def test_bias_of_true_is_plus_zero():
    """-0 + 0 is +0 where there is a bias, and stays -0 where there is none."""
    q = np.full((1, 1, 2, 1), -1e-30, np.float32)
    k, v = np.full((1, 1, 2, 1), 1e-30, np.float32), np.ones((1, 1, 2, 1), np.float32)
    form = {"softcap": 1e-45, "qk_matmul_output_mode": 2}
    plain = check("attention", q, k, v, is_causal=1, **form)[3]
    check("attention", q, k, v, np.ones((2, 2), bool), **form)
    check("attention", q, k, v, np.zeros((2, 2), np.float32), **form)
    assert plain[0, 0, 0, 1] == -np.inf


@pytest.mark.parametrize("scale", [None, 1e-45, 1.0, 0.1, 3e38])
@pytest.mark.parametrize("softcap", [0.0, 1e-45, 1e-3, 50.0, 3e38])
def test_numbers_of_the_attributes(scale, softcap):
    for dtype in FLOAT_PARAMS:
        if dtype != "float64" or not softcap:
            check("attention", *qkv(dtype), scale=scale, softcap=softcap, qk_matmul_output_mode=1, threads=(1,))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_empty(dtype):
    for change in ("batch", "length", "total", "size", "value"):
        for causal in (0, 1):
            y, *_ = check("attention", *qkv(dtype, **{change: 0}), is_causal=causal, qk_matmul_output_mode=2 + causal)
            assert change in ("size",) or not bits(y).any()
    q, k, v = qkv(dtype, total=0)
    past = [x.astype(TYPE_NAMES[dtype]) for x in (np.ones((2, 2, 4, 7)), np.ones((2, 2, 4, 3)))]
    check("attention", q, k, v, None, *past, is_causal=1)
    for shape in ((5, 0), (5, 1)):
        check("attention", q, k, v, np.ones(shape, bool))
    check("attention", q, k, v, None, None, None, np.zeros(2, np.int64))
    rank3 = [np.zeros((2, n, 0), TYPE_NAMES[dtype]) for n in (5, 6, 6)]
    check("attention", *rank3, q_num_heads=4, kv_num_heads=2)


def test_softmax_precision_changes_nothing():
    for dtype in FLOAT_PARAMS:
        inputs = qkv(dtype, kind="wide")
        want = check("attention", *inputs, threads=(1,))
        for precision in (11,) if dtype == "float64" else (1, 10, 16):
            for one, other in zip(check("attention", *inputs, softmax_precision=precision, threads=(1,)), want, strict=True):
                assert_bits(one, other)


@pytest.mark.parametrize("causal", [0, 1])
def test_rows_do_not_depend_on_the_batch(causal):
    rng = np.random.default_rng(4)
    inputs = qkv("float32", batch=8, length=9, total=33, size=20, value=18, kind="special")
    past = [data(rng, (8, 2, 5, n), np.float32, "special") for n in (20, 18)]
    bias = data(rng, (8, 1, 9, 38), np.float32)
    for name, threads in variants():
        with isa(name):
            whole = kernels.attention(*inputs, bias, *past, is_causal=causal, threads=threads)
            for row in (0, 3, 7):
                alone = [x[row : row + 1] for x in (*inputs, bias, *past)]
                for one, many in zip(kernels.attention(*alone, is_causal=causal), whole, strict=True):
                    assert_bits(one, many[row : row + 1], f"row {row}")


def test_queries_do_not_depend_on_their_number():
    """One query after the other over a growing cache gives the rows of one causal call."""
    q, k, v = qkv("float32", length=9, total=9, size=20, value=18)
    whole = kernels.attention(q, k, v, is_causal=1)
    for name, threads in variants((1, 2)):
        with isa(name):
            past = [None, None]
            for i in range(9):
                now = [x[:, :, i : i + 1] for x in (q, k, v)]
                y, *past, _ = kernels.attention(*now, None, *past, is_causal=1, threads=threads)
                assert_bits(y, whole[0][:, :, i : i + 1], f"query {i}")
            assert_bits(past[0], whole[1])
