"""Reductions against the reference, bit for bit. docs/reduce.md"""

import itertools
import math

import numpy as np
import pytest
import reference
import strategies
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu

KINDS_OF = {
    "reduce_sum": "ReduceSum",
    "reduce_mean": "ReduceMean",
    "reduce_l1": "ReduceL1",
    "reduce_l2": "ReduceL2",
    "reduce_sum_square": "ReduceSumSquare",
    "reduce_log_sum": "ReduceLogSum",
    "reduce_log_sum_exp": "ReduceLogSumExp",
    "reduce_prod": "ReduceProd",
    "reduce_max": "ReduceMax",
    "reduce_min": "ReduceMin",
}
OPERATORS = list(KINDS_OF)
WHOLE = ["int32", "int64", "uint32", "uint64"]
INTEGER_OPERATORS = [n for n in OPERATORS if n not in ("reduce_l2", "reduce_log_sum", "reduce_log_sum_exp")]


def values(rng, shape, dtype, kind, operator):
    """Logarithms mostly of positive sums, products near 1."""
    x = data(rng, shape, dtype, kind)
    if operator == "reduce_log_sum" and kind in ("wide", "tiny"):
        x = np.abs(x)
    if operator == "reduce_prod" and kind == "normal":
        x = np.where(rng.random(shape) < 0.5, x, (1 / x.astype(np.float64)).astype(dtype))
    return x


@given(strategies.reductions(), st.sampled_from(OPERATORS))
@examples(500)
def test_random(node, operator):
    (x,) = node.inputs()
    check(operator, np.abs(x) if operator == "reduce_log_sum" and node.seed % 2 else x, threads=(1, 2), **node.attributes)


@given(strategies.reductions(dtypes=WHOLE), st.sampled_from(INTEGER_OPERATORS))
@examples(120)
def test_random_integers(node, operator):
    check(operator, *node.inputs(), threads=(1, 2), **node.attributes)


@given(strategies.reductions(dtypes=["int8", "uint8"]), st.sampled_from(["reduce_max", "reduce_min"]))
@examples(60)
def test_random_bytes(node, operator):
    check(operator, *node.inputs(), threads=(1, 2), **node.attributes)
    check(operator, node.inputs()[0] % 2 == 1, threads=(1,), **node.attributes)


def subsets(rank):
    return [list(s) for n in range(rank + 1) for s in itertools.combinations(range(rank), n)]


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("shape", [(3, 4, 2, 5), (2, 1, 19, 1), (1, 5, 1, 3)], ids=str)
def test_every_subset_of_axes(operator, shape):
    rng = np.random.default_rng(len(operator))
    for index, axes in enumerate(subsets(4)):
        for dtype, kind in zip(FLOAT_PARAMS, ("wide", "special", "special", "wide"), strict=True):
            x = values(rng, shape, TYPE_NAMES[dtype], kind, operator)
            check(operator, x, axes, keepdims=index % 2, noop_with_empty_axes=1, threads=(1 + index % 2,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_row_lengths(operator):
    """Every remainder of 16 partial sums and of a vector, in the row layout."""
    rng = np.random.default_rng(3)
    for n in [*range(66), 127, 128, 129, 255, 257]:
        kind = ("wide", "special", "tiny")[n % 3]
        check(operator, values(rng, (5, n), np.float32, kind, operator), [1], threads=(1 + n % 2,))
        if n % 5 == 0:
            for dtype in FLOAT_PARAMS[1:]:
                check(operator, values(rng, (3, n), TYPE_NAMES[dtype], kind, operator), [1], threads=(1,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_column_widths(operator):
    """Every remainder of a vector, in the column layout."""
    rng = np.random.default_rng(4)
    for n in [*range(1, 67), 255, 256, 257, 515]:
        kind = ("wide", "special", "tiny")[n % 3]
        check(operator, values(rng, (2, 7, n), np.float32, kind, operator), [1], threads=(1 + n % 2,))
        if n % 5 == 0:
            for dtype in FLOAT_PARAMS[1:]:
                check(operator, values(rng, (2, 7, n), TYPE_NAMES[dtype], kind, operator), [1], threads=(1,))


@pytest.mark.parametrize("operator", INTEGER_OPERATORS)
def test_integers_wrap(operator):
    rng = np.random.default_rng(5)
    for dtype in WHOLE:
        for n in (0, 1, 15, 16, 17, 33, 70):
            x = data(rng, (n, 37), dtype)
            for axes in ([0], [1], [0, 1]):
                check(operator, x, axes, threads=(1, 2))


LARGE = {
    "rows": ((3, 70001), [1]),
    "many rows": ((2001, 49), [1]),
    "columns": ((301, 700), [0]),
    "few columns": ((9001, 3), [0]),
    "rows in two runs": ((40, 50, 60), [0, 2]),
    "columns in two runs": ((40, 5, 30, 17), [0, 2]),
    "all": ((50, 60, 7), [0, 1, 2]),
    "planes": ((2, 130, 7, 7), [2, 3]),
    "runs of one element": ((61, 1, 100, 1), [1, 3]),
}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", LARGE)
def test_large(name, operator):
    """More than a tile and more than a chunk."""
    shape, axes = LARGE[name]
    if "log" in operator and math.prod(shape) > 100000:
        shape = (shape[0], *(max(1, n // 3) for n in shape[1:]))
    rng = np.random.default_rng(6)
    x = values(rng, shape, np.float32, "wide", operator)
    check(operator, x, axes, threads=(1, 7))
    check(operator, values(rng, shape, np.float16, "wide", operator), axes, threads=(2,))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_empty(operator, dtype):
    want = {"reduce_prod": 1, "reduce_max": -np.inf, "reduce_min": np.inf}.get(operator, -np.inf if "log" in operator else 0)
    for shape, axes in (((2, 0), [1]), ((0, 3), [0]), ((0,), None), ((3, 0, 4), [1]), ((0, 0), [0, 1]), ((2, 0, 0), [2, 1])):
        (y,) = check(operator, np.zeros(shape, TYPE_NAMES[dtype]), axes, keepdims=0)
        assert y.size and (bits(y) == bits(np.array(want, TYPE_NAMES[dtype]))).all()
    for shape, axes in (((2, 0), [0]), ((0, 3), [1]), ((3, 0, 4), [0])):
        check(operator, np.zeros(shape, TYPE_NAMES[dtype]), axes)


@pytest.mark.parametrize("dtype", [*WHOLE, "int8", "uint8", "bool"])
def test_empty_integers(dtype):
    for operator in INTEGER_OPERATORS:
        if dtype in WHOLE or operator in ("reduce_max", "reduce_min"):
            check(operator, np.zeros((2, 0), dtype), [1])


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_scalars_and_no_axes(operator, dtype):
    """One element per output is not a copy."""
    x = np.concatenate(
        [data(np.random.default_rng(1), (40,), TYPE_NAMES[dtype], "special"), np.array([-0.0, -3], TYPE_NAMES[dtype])]
    )
    for value in x:
        check(operator, np.array(value, TYPE_NAMES[dtype]), threads=(1,))
    check(operator, x, noop_with_empty_axes=1)
    check(operator, x, [], noop_with_empty_axes=1, keepdims=0)
    check(operator, x[:, None], [1])
    check(operator, x[None, :, None], [0, 2], keepdims=0)
    check(operator, np.array(3, TYPE_NAMES[dtype]), [0])  # no axis to name


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_one_element(dtype):
    x = np.array([-0.0, -3, 4], TYPE_NAMES[dtype])
    got = {operator: check(operator, x, noop_with_empty_axes=1)[0].astype(float).tolist() for operator in OPERATORS}
    assert got["reduce_sum"] == got["reduce_mean"] == got["reduce_prod"] == got["reduce_max"] == [0, -3, 4]
    assert got["reduce_l1"] == got["reduce_l2"] == [0, 3, 4] and got["reduce_sum_square"] == [0, 9, 16]
    assert got["reduce_log_sum_exp"] == [0, -3, 4] and got["reduce_log_sum"][0] == -np.inf
    for operator, sign in (("reduce_sum", False), ("reduce_mean", False), ("reduce_log_sum_exp", False), ("reduce_max", True)):
        assert np.signbit(check(operator, x, noop_with_empty_axes=1)[0][0]) == sign


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_maximum_and_nan(dtype):
    """NaN counts only as the first element; the first of two zeros stays; in both layouts and at every length."""
    dtype = TYPE_NAMES[dtype]
    rng = np.random.default_rng(8)
    for n in (1, 2, 3, 5, 6, 7, 8, 9, 15, 16, 17, 31, 33, 50, 64, 65, 300):
        x = rng.integers(-3, 4, (n, 23)).astype(dtype)
        x[rng.random(x.shape) < 0.3] = np.nan
        x[rng.random(x.shape) < 0.2] *= np.array(0, dtype)  # zeros of both signs
        for operator in ("reduce_max", "reduce_min"):
            check(operator, x, [0], threads=(1,))
            check(operator, np.ascontiguousarray(x.T), [1], threads=(1,))
    nan, inf = np.nan, np.inf
    for row, most, least in (
        ([nan, 1, 2], nan, nan),
        ([1, nan, 2], 2, 1),
        ([2, nan, nan], 2, 2),
        ([nan, nan], nan, nan),
        ([-inf, nan], -inf, -inf),
        ([inf, -inf], inf, -inf),
    ):
        x = np.array(row, dtype)
        np.testing.assert_equal(check("reduce_max", x)[0].astype(float).tolist(), [most])
        np.testing.assert_equal(check("reduce_min", x)[0].astype(float).tolist(), [least])
    for operator in ("reduce_max", "reduce_min"):
        assert np.signbit(check(operator, np.array([-0.0, 0.0], dtype))[0]).all()
        assert not np.signbit(check(operator, np.array([0.0, -0.0], dtype))[0]).any()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_log_sum_exp_special_values(dtype):
    nan, inf = np.nan, np.inf
    for row, want in (
        ([inf, nan], nan),
        ([nan, inf], nan),
        ([-inf, nan], nan),
        ([-inf, -inf, -inf], -inf),
        ([inf, -inf], inf),
        ([inf, inf], inf),
        ([-inf, 3], 3),
        ([0.5, nan, 1], nan),
    ):
        for axes in ([0], [1]):
            x = np.array(row, TYPE_NAMES[dtype]).reshape((-1, 1) if axes == [0] else (1, -1))
            x = np.repeat(x, 5, axis=1 - axes[0])
            (y,) = check("reduce_log_sum_exp", x, axes)
            np.testing.assert_equal(y.astype(float).ravel().tolist(), [want] * 5)


@pytest.mark.parametrize("operator", ["reduce_sum", "reduce_mean", "reduce_l2"])
def test_extents_of_one_do_not_matter(operator):
    rng = np.random.default_rng(9)
    x = data(rng, (4, 1000), np.float32, "wide")
    (want,) = check(operator, x, [1], keepdims=0)
    for shape, axis in (((4, 1000, 1), 1), ((1, 4, 1, 1000, 1, 1), 3), ((4, 10, 100), (1, 2)), ((4, 1, 10, 1, 100, 1), (2, 4))):
        (got,) = check(operator, x.reshape(shape), np.atleast_1d(axis).tolist(), keepdims=0)
        assert_bits(got.reshape(4), want)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_do_not_depend_on_the_batch(operator, dtype):
    rng = np.random.default_rng(1)
    x = np.abs(data(rng, [8, 9, 5, 21], TYPE_NAMES[dtype], "special"))
    for axes in ([1], [3], [1, 3], [2, 3]):
        for name, threads in variants((1, 2)):
            with isa(name):
                whole = getattr(kernels, operator)(x, axes, threads=threads)
                for row in (0, 3, 7):
                    assert_bits(getattr(kernels, operator)(x[row : row + 1], axes), whole[row : row + 1], f"row {row}")


def test_canonical_sum_is_the_documented_one():
    """The page's formula, one addition at a time in Python."""
    rng = np.random.default_rng(2)
    for n in (0, 1, 3, 15, 16, 17, 31, 32, 100):
        x = data(rng, (n,), np.float32, "wide")
        p = [np.float32(0)] * 16
        for j in range(n):
            p[j % 16] = p[j % 16] + x[j]
        a = [p[i] + p[i + 8] for i in range(8)]
        b = [a[i] + a[i + 4] for i in range(4)]
        c = [b[i] + b[i + 2] for i in range(2)]
        assert bits(np.array(c[0] + c[1])) == bits(check("reduce_sum", x, keepdims=0)[0])


def cancelling(rng):
    half = rng.standard_normal(200_000).astype(np.float32)
    return rng.permutation(np.concatenate([half, -half, np.ones(1000, np.float32)]))


CLOSE = {
    "long": lambda rng: rng.random(2_000_001, dtype=np.float32),
    "cancelling": cancelling,
    "wide": lambda rng: data(rng, (300_000,), np.float32, "wide"),
}


@pytest.mark.parametrize("name", CLOSE)
def test_accuracy_next_to_onnxruntime(name):
    """Against the exact sum: within the bound of 16 interleaved sums, and not much worse than ONNX Runtime."""
    x = CLOSE[name](np.random.default_rng(0))
    exact = math.fsum(x.tolist())
    scale = math.fsum(np.abs(x).tolist())
    ours = abs(float(kernels.reduce_sum(x, keepdims=0, threads=2)) - exact) / scale
    theirs = abs(float(run_cpu("ReduceSum", [x], {"keepdims": 0})[0]) - exact) / scale
    assert ours <= 2.0**-24 * (x.size / 16 + 4)
    assert ours <= 8 * theirs + 2.0**-18


def test_more_ones_than_a_float_can_count():
    """RD02: a sequential float32 sum ends at 2^24. ONNX Runtime's does for one of these shapes."""
    ones = np.ones(2**25, np.float32)
    for shape in ((1, 2**25, 1), (1, 2**25)):
        assert kernels.reduce_sum(ones.reshape(shape), [1]).item() == 2**25


@pytest.mark.parametrize("operator", OPERATORS)
def test_close_to_onnxruntime(operator):
    rng = np.random.default_rng(3)
    for shape, axes in (((4, 33, 5), [1]), ((4, 33, 5), [2]), ((7, 3, 60), [0, 2]), ((30, 40), None)):
        x = np.abs(data(rng, shape, np.float32)) * np.float32(0.7) + np.float32(0.4)
        inputs = [x, None if axes is None else np.array(axes, np.int64)]
        want = run_cpu(KINDS_OF[operator], inputs, {}, opset=18)
        np.testing.assert_allclose(getattr(kernels, operator)(x, axes), want[0], rtol=2e-5, atol=1e-6)


def test_reference_covers_all_kinds():
    assert set(KINDS) and all(hasattr(reference, operator) for operator in OPERATORS)
