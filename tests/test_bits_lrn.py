"""LRN against the reference, bit for bit. docs/lrn.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given

BETAS = (0.75, 0.5, 1.0, 0.3, 2.0)


@given(strategies.lrns())
@examples(250)
def test_random(node):
    check("lrn", *node.inputs(), **node.attributes)


@pytest.mark.parametrize("beta", BETAS)
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_width(dtype, beta):
    """Every remainder of a vector, every place of a channel in the window."""
    rng = np.random.default_rng(1)
    dtype = TYPE_NAMES[dtype]
    for n in range(1, 40):
        x = data(rng, (1, 7, n), dtype, ("normal", "special", "tiny", "wide")[n % 4])
        check("lrn", x, size=1 + n % 9, alpha=0.5, beta=beta, bias=(2, 0)[n % 2], threads=(1,))
        check("lrn", x.transpose(0, 2, 1).copy(), size=1 + n % 9, beta=beta, threads=(1,))


@pytest.mark.parametrize("shape", [(1, 96, 27, 27), (2, 33, 13, 13), (3, 5, 400), (2, 300), (1, 3, 4, 5, 6, 7)], ids=str)
def test_layers(shape):
    for dtype in (np.float32, np.float64, np.float16):
        x = data(np.random.default_rng(2), shape, dtype)
        check("lrn", x, size=5, alpha=1e-4, beta=0.75, bias=2.0)
        check("lrn", x, size=4, alpha=2.0, beta=0.6, threads=(1, 2))


def test_the_window():
    """Squares of powers of two show which channels take part."""
    x = np.exp2(np.arange(6), dtype=np.float32).reshape(1, 6, 1)
    for size in range(1, 14):
        (y,) = check("lrn", x, size=size, alpha=float(size), beta=1.0, bias=0.0)
        for c in range(6):
            first, last = max(0, c - (size - 1) // 2), min(5, c + -(-(size - 1) // 2))
            assert y[0, c, 0] == np.float32(2**c) / np.float32(sum(4**i for i in range(first, last + 1)))


def test_the_power():
    """The three exponents by roots, others by exp and log."""
    x = np.array([[3.0], [1.7], [0.01]], np.float32)[None]
    s = x.ravel() * x.ravel()
    root = np.sqrt(s)
    for beta, power in ((0.75, root * np.sqrt(root)), (0.5, root), (1.0, s)):
        (y,) = check("lrn", x, size=1, alpha=1.0, bias=0.0, beta=beta)
        assert_bits(y.ravel(), x.ravel() / power)
    for beta in (0.7499999, 0.25, 1.5, 2.0, 3.0):
        (y,) = check("lrn", x, size=1, alpha=1.0, bias=0.0, beta=beta)
        want = x.ravel().astype(np.float64) / s.astype(np.float64) ** beta
        np.testing.assert_allclose(y.ravel(), want, rtol=1e-5)
    (y,) = check("lrn", np.full((1, 1, 1), 5, np.float32), size=1, alpha=1.0, bias=0.0, beta=1.0)
    assert y.item() == np.float32(0.2)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_special_values(dtype):
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    x = np.array([1, 2, nan, 4, 5, -inf, 7, -0.0, 0], dtype).reshape(1, 9, 1)
    for beta in (*BETAS, 0.0, -1.0, -0.75, inf, nan):
        for bias in (1.0, 0.0, -0.0, -1.0, inf, nan):
            for alpha in (1.0, 0.0, -0.0, -1.0, inf):
                check("lrn", x, size=3, alpha=alpha, beta=beta, bias=bias, threads=(1,))
                check("lrn", np.repeat(x, 19, axis=2), size=1, alpha=alpha, beta=beta, bias=bias, threads=(2,))
    (y,) = check("lrn", x, size=3)
    assert np.isnan(y.ravel()).tolist() == [False, True, True, True, False, True, False, False, False]
    assert bits(y.ravel()[4]) == 0 and y.ravel()[6] == 0  # beside the infinity
    (y,) = check("lrn", np.zeros((1, 2, 3), dtype), size=3, bias=0.0)
    assert np.isnan(y).all()


def test_float64_attributes_are_float32_numbers():
    x = np.ones((1, 1, 1))
    (y,) = check("lrn", x, size=1, alpha=1e-4, beta=1.0, bias=0.1)
    assert y.item() == 1 / (np.float64(np.float32(0.1)) + np.float64(np.float32(1e-4)))
    (y,) = check("lrn", x, size=3, alpha=1.0, beta=1.0, bias=0.0)
    assert y.item() == 1 / (np.float64(1) / 3)


def test_float16_is_rounded_once():
    x = data(np.random.default_rng(5), (2, 6, 40), np.float16)
    y = kernels.lrn(x, size=5, alpha=0.3)
    assert_bits(y, kernels.lrn(x.astype(np.float32), size=5, alpha=0.3).astype(np.float16))


def test_empty():
    for dtype in TYPE_NAMES.values():
        for shape in ((0, 3, 4), (2, 0, 4), (2, 3, 0), (0, 3), (2, 0)):
            assert check("lrn", np.zeros(shape, dtype), size=3)[0].shape == shape


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("beta", [0.75, 0.4])
def test_rows_do_not_depend_on_the_batch(beta, dtype):
    x = data(np.random.default_rng(6), (8, 17, 5, 7), TYPE_NAMES[dtype], "special")
    for name, threads in variants():
        with isa(name):
            whole = kernels.lrn(x, size=5, beta=beta, threads=threads)
            for row in (0, 4, 7):
                assert_bits(kernels.lrn(x[row : row + 1], size=5, beta=beta), whole[row : row + 1], f"row {row}")
