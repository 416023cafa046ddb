"""LpPool and GlobalLpPool against the reference, bit for bit. docs/pool.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from test_bits_pool import HARD

ORDERS = (1, 2, 3)


@given(strategies.lp_pools())
@examples(250)
def test_lp_pool_random(node):
    check("lp_pool", *node.inputs(), **node.attributes)


@given(strategies.lp_planes())
@examples(80)
def test_global_lp_pool_random(node):
    check("global_lp_pool", *node.inputs(), **node.attributes)


@pytest.mark.parametrize("p", ORDERS)
@pytest.mark.parametrize("name", HARD)
def test_lp_pool_hard(name, p):
    shape, attributes = HARD[name]
    for dtype, kind in zip(FLOAT_PARAMS, ("wide", "tiny", "special", "special"), strict=True):
        x = data(np.random.default_rng(len(name)), shape, TYPE_NAMES[dtype], kind)
        check("lp_pool", x, p=p, threads=(1, 7), **attributes)


@pytest.mark.parametrize("width", range(1, 41))
def test_lp_pool_widths(width):
    """Every remainder of a vector, for the usual windows."""
    rng = np.random.default_rng(width)
    for dtype in FLOAT_PARAMS:
        x = data(rng, [1, 2, 4, width], TYPE_NAMES[dtype], ("special", "wide")[width % 2])
        for p in ORDERS:
            for stride in (1, 2):
                check("lp_pool", x, [3, 3], strides=[stride] * 2, pads=[1] * 4, p=p, threads=(1,))
            check("global_lp_pool", x, p=p, threads=(1,))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize(
    "shape", [[1, 33, 7, 7], [3, 5, 1, 1], [1, 2, 4099], [2, 70, 3, 17], [1, 8, 4, 5, 6], [2, 3, 2, 1, 3, 2, 2]]
)
def test_global_lp_pool_hard(shape, dtype):
    for kind in ("wide", "special", "tiny"):
        x = data(np.random.default_rng(5), shape, TYPE_NAMES[dtype], kind)
        for p in ORDERS:
            check("global_lp_pool", x, p=p)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("p", [1, 2, 3, 4])
def test_special_values(p, dtype):
    """NaN wins over infinity, -infinity and -0 lose their signs, no tap and no element give +0."""
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    x = np.array([[nan, inf], [-inf, -1], [inf, -inf], [-0.0, -0.0], [-2, 0]], dtype)[None]
    (y,) = check("global_lp_pool", x, p=p)
    assert np.isnan(y[0, 0]) and (y[0, 1:3] == inf).all() and bits(y[0, 3]) == 0
    np.testing.assert_allclose(y[0, 4].astype(np.float64), 2, rtol=1e-2)
    assert_bits(check("lp_pool", x, [2], p=p)[0], y)
    (y,) = check("lp_pool", np.ones((1, 1, 2), dtype), [2], pads=[1, 1], dilations=[3], p=p)
    assert (bits(y) == 0).all()
    (y,) = check("global_lp_pool", np.zeros((2, 3, 0), dtype), p=p)
    assert y.shape == (2, 3, 1) and (bits(y) == 0).all()


def test_powers_overflow_and_underflow():
    x = np.array([3e30, 4e30, 1e-30, 1e-31], np.float32).reshape(1, 1, 4)
    assert check("lp_pool", x, [2], strides=[2])[0].ravel().tolist() == [np.inf, 0.0]
    assert check("lp_pool", x.astype(np.float64), [2], strides=[2])[0].ravel().tolist()[0] < np.inf
    x = np.array([[[300, 400, 1]]], np.float16)  # the squares are float32
    assert check("lp_pool", x, [2])[0].ravel().tolist()[0] == 500
    for p in (200, 2**31 + 1, 2**63 - 1):
        x = np.array([[[0.5, 1, -1, 1.0000001, 2]]], np.float32)
        check("lp_pool", x, [1], p=p)
        check("lp_pool", x, [2], p=p)


def test_absolute_values():
    """The operator text says norm, so x = [-1, 2] with p = 1 is 3."""
    x = np.array([[[-1, 2, 1]]], np.float32)
    assert check("lp_pool", x, [2], p=1)[0].ravel().tolist() == [3, 3]


def test_window_order():
    """From +0, row by row: the small terms count before the large one and are lost after it."""
    x = np.array([[[[1, 1], [2**24, 1]]]], np.float32)
    for terms, want in ((x, 2**24 + 4), (np.flip(x, (2, 3)).copy(), 2**24)):
        assert check("lp_pool", terms, [2, 2], p=1)[0].item() == want
        assert check("global_lp_pool", terms, p=1)[0].item() == want


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("p", ORDERS)
def test_rows_do_not_depend_on_the_batch(p, dtype):
    x = data(np.random.default_rng(1), [8, 17, 9, 21], TYPE_NAMES[dtype], "special")
    calls = [
        lambda x, threads: kernels.lp_pool(x, [3, 3], strides=[2, 2], pads=[1] * 4, p=p, threads=threads),
        lambda x, threads: kernels.global_lp_pool(x, p=p, threads=threads),
    ]
    for name, threads in variants():
        with isa(name):
            for call in calls:
                whole = call(x, threads)
                for row in (0, 3, 7):
                    assert_bits(call(x[row : row + 1], 1), whole[row : row + 1], f"row {row}")
