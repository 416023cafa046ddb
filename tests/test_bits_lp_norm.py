"""LpNormalization and MeanVarianceNormalization against the reference, bit for bit. docs/norm.md"""

import itertools

import ml_dtypes
import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given


@given(strategies.lp_norms())
@examples(200)
def test_lp_normalization_random(node):
    check("lp_normalization", *node.inputs(), **node.attributes)


@given(strategies.mean_variance_norms())
@examples(200)
def test_mean_variance_normalization_random(node):
    check("mean_variance_normalization", *node.inputs(), **node.attributes)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_width(dtype):
    """Every remainder of 16 partial sums and of a vector, in rows and columns."""
    rng = np.random.default_rng(1)
    dtype = TYPE_NAMES[dtype]
    for n in range(1, 70 if dtype == np.float32 else 36):
        kind = ("normal", "special", "tiny", "wide")[n % 4]
        for shape, axis in (((5, n), 1), ((n, 5), 0), ((5, n), 0), ((2, n, 3), 1), ((3, n, 1), 1)):
            x = data(rng, shape, dtype, kind)
            check("lp_normalization", x, axis=axis, p=1 + n % 2, threads=(1,))
            check("mean_variance_normalization", x, axes=[axis], threads=(1,))
        check("mean_variance_normalization", data(rng, (2, 3, 2, n), dtype, kind), threads=(1,))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_set_of_axes(dtype):
    rng = np.random.default_rng(2)
    for shape in ((2, 3, 4, 5), (2, 1, 4, 5), (3, 4, 1, 1), (1, 6, 7, 1), (3, 2, 17)):
        x = data(rng, shape, TYPE_NAMES[dtype], "wide")
        for count in range(1, len(shape) + 1):
            for axes in itertools.combinations(range(len(shape)), count):
                check("mean_variance_normalization", x, axes=axes, threads=(1, 2))
        for axis in range(-len(shape), len(shape)):
            check("lp_normalization", x, axis=axis, p=1, threads=(1,))
            check("lp_normalization", x, axis=axis, threads=(1,))


LARGE = {"one row": (1, 70001), "long rows": (7, 20000), "many rows": (3001, 48), "a layer": (2, 5, 60, 81)}


@pytest.mark.parametrize("name", LARGE)
def test_large(name):
    shape = LARGE[name]
    for dtype in (np.float32, np.float16):
        x = data(np.random.default_rng(3), shape, dtype)
        for axis in range(len(shape)):
            check("lp_normalization", x, axis=axis, p=1 + axis % 2)
            check("mean_variance_normalization", x, axes=[axis], threads=(1, 2))
        check("mean_variance_normalization", x, axes=range(len(shape)), threads=(1, 7))
    if len(shape) == 4:
        check("mean_variance_normalization", x)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("p", [1, 2])
def test_special_rows_of_lp_normalization(p, dtype):
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    x = np.array([[3, 4, 0], [0, -0.0, -0.0], [nan, 1, -0.0], [inf, 1, -1], [-inf, nan, 2], [-inf, inf, 0]], dtype)
    (y,) = check("lp_normalization", x, p=p)
    assert (bits(y[1]) == 0).all(), "zeros of either sign give +0"
    assert np.isnan(y[2]).all() and np.isnan(y[4]).all()
    assert np.isnan(y[3, 0]) and bits(y[3, 1]) == 0 and y[3, 2] == 0 and np.signbit(y[3, 2])
    assert_bits(check("lp_normalization", x.T.copy(), axis=0, p=p)[0], y.T.copy())
    tiny = np.array([[1e-30, -1e-30, -0.0]], np.float32)
    assert (bits(check("lp_normalization", tiny)[0]) == 0).all(), "the squares underflow"
    assert check("lp_normalization", tiny, p=1)[0].ravel().tolist() == [0.5, -0.5, 0.0]
    huge = np.array([[3e30, -4e30, 0]], np.float32)
    assert (check("lp_normalization", huge)[0] == 0).all()
    assert check("lp_normalization", huge * np.float32(7e7), p=1)[0].tolist() == [[0, 0, 0]]


def test_lp_normalization_is_division_by_the_reduction():
    rng = np.random.default_rng(4)
    for shape, axis in (((4, 50), 1), ((50, 4), 0), ((3, 40, 5), 1), ((3, 40, 1), 1)):
        for dtype in (np.float32, np.float64):
            x = data(rng, shape, dtype)
            assert_bits(kernels.lp_normalization(x, axis=axis, p=1), x / kernels.reduce_l1(x, [axis]))
            assert_bits(kernels.lp_normalization(x, axis=axis), x / kernels.reduce_l2(x, [axis]))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_special_rows_of_mean_variance_normalization(dtype):
    """Constant rows are 0; NaN and infinity spoil their row, wherever they stand."""
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    constants = np.array([0.1, -3, 1e-5, 60000, -0.0])[:, None].astype(dtype).repeat(9, axis=1)
    for x, axes in ((constants, [1]), (constants.T.copy(), [0]), (constants[:, :1].copy(), [-1])):
        (y,) = check("mean_variance_normalization", x, axes=axes)
        assert (bits(y) == 0).all()
    x = np.array([[nan, 1, 2], [1, nan, 2], [inf, 1, 2], [1, 2, -inf], [inf, -inf, 1], [1, 2, 4]], dtype)
    (y,) = check("mean_variance_normalization", x, axes=[1])
    assert np.isnan(y[:5]).all() and np.isfinite(y[5].astype(np.float32)).all()
    (columns,) = check("mean_variance_normalization", x.T.copy(), axes=[0])
    assert (np.isnan(columns) == np.isnan(y.T)).all()
    huge = np.array([[1, 2, 4], [-2, 3, 1]], dtype) * np.array(ml_dtypes.finfo(dtype).max / 4, dtype)
    check("mean_variance_normalization", huge, axes=[1])


def test_mean_variance_normalization_far_from_zero():
    x = np.array([[40000, 40001, 40002, 40003]], np.float32)
    (y,) = check("mean_variance_normalization", x, axes=[1])
    np.testing.assert_allclose(y, [[-1.3416408, -0.4472136, 0.4472136, 1.3416408]], rtol=1e-6)
    (y,) = check("mean_variance_normalization", np.array([[0, 1e-9, 2e-9, 3e-9]], np.float32), axes=[1])
    np.testing.assert_allclose(y, [[-0.7082039, -0.236068, 0.236068, 0.7082039]], rtol=1e-6)


def test_float64_epsilon_is_the_float32_number():
    x = np.array([[0, 2e-9]])
    (y,) = check("mean_variance_normalization", x, axes=[1])
    assert y[0, 1] == 1e-9 / (1e-9 + np.float64(np.uint32(0x3089705F).view(np.float32)))


def test_float16_is_rounded_once():
    x = data(np.random.default_rng(5), (2, 6, 4, 40), np.float16)
    wide = x.astype(np.float32)
    assert_bits(kernels.lp_normalization(x), kernels.lp_normalization(wide).astype(np.float16))
    want = kernels.mean_variance_normalization(wide).astype(np.float16)
    assert_bits(kernels.mean_variance_normalization(x), want)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_empty(dtype):
    dtype = TYPE_NAMES[dtype]
    for shape in ((0,), (2, 0), (0, 2), (2, 0, 3), (0, 3, 2, 2), (2, 3, 0, 2), (2, 0, 2, 2)):
        for axis in range(len(shape)):
            assert check("lp_normalization", np.zeros(shape, dtype), axis=axis)[0].shape == shape
            assert check("mean_variance_normalization", np.zeros(shape, dtype), axes=[axis])[0].shape == shape
        if len(shape) == 4:
            check("mean_variance_normalization", np.zeros(shape, dtype))


def test_axes():
    """Absent, empty, repeated, negative, in any order."""
    x = data(np.random.default_rng(6), (2, 3, 4, 5), np.float32)
    (want,) = check("mean_variance_normalization", x)
    for axes in ((0, 2, 3), [], [3, 2, 0], [-1, -2, -4], [0, 0, 2, 3, -1, 3]):
        assert_bits(check("mean_variance_normalization", x, axes=axes)[0], want)
    check("mean_variance_normalization", x[0])  # axis 3 of rank 3: invalid


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_rows_do_not_depend_on_the_batch(dtype):
    x = data(np.random.default_rng(7), (8, 6, 5, 7), TYPE_NAMES[dtype], "special")
    calls = [
        lambda x, threads, axis=axis, p=p: kernels.lp_normalization(x, axis=axis, p=p, threads=threads)
        for axis in (1, 2, 3)
        for p in (1, 2)
    ]
    for axes in ([1], [2, 3], [1, 2, 3], [3], [1, 2]):
        calls.append(lambda x, threads, axes=axes: kernels.mean_variance_normalization(x, axes=axes, threads=threads))
    for name, threads in variants((1, 2)):
        with isa(name):
            for call in calls:
                whole = call(x, threads)
                for row in (0, 4, 7):
                    assert_bits(call(x[row : row + 1], 1), whole[row : row + 1], f"row {row}")
