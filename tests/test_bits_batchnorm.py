"""BatchNormalization against the reference, bit for bit. docs/batchnorm.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, assert_bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from hypothesis import strategies as st


def inputs(rng, shape, dtype, kind, parameters, statistics):
    """X, scale, bias, mean and var; var mostly positive."""
    channels = shape[1] if len(shape) > 1 else 1
    x, scale, bias, mean = (
        data(rng, s, TYPE_NAMES[t], kind)
        for s, t in ((shape, dtype), ([channels], parameters), ([channels], parameters), ([channels], statistics))
    )
    var = data(rng, [channels], TYPE_NAMES[statistics], kind)
    return x, scale, bias, mean, np.where(rng.random(channels) < 0.9, np.abs(var), var)


@given(
    shape=st.lists(st.integers(0, 9), min_size=1, max_size=5),
    last=st.integers(1, 70),
    types=st.tuples(*[st.sampled_from(FLOAT_PARAMS)] * 3),
    mixed=st.booleans(),
    kind=st.sampled_from(KINDS),
    epsilon=st.sampled_from((1e-5, 0.0, 1e-3, 0.1, 1e-12, 1e-45, 3e38, -0.5)),
    seed=strategies.seeds(),
)
@examples(250)
def test_random(shape, last, types, mixed, kind, epsilon, seed):
    shape = [*shape[:-1], last]
    dtype, parameters, statistics = types if mixed else (types[0],) * 3
    arrays = inputs(np.random.default_rng(seed), shape, dtype, kind, parameters, statistics)
    check("batch_normalization", *arrays, epsilon=epsilon)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("shape", [[3, 5], [1, 70], [2, 3, 201], [1, 33, 7, 9], [8, 4, 1, 1], [1, 3, 2, 3, 17], [9]])
def test_hard(shape, dtype):
    for kind in ("wide", "special"):
        check("batch_normalization", *inputs(np.random.default_rng(2), shape, dtype, kind, dtype, dtype))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_zero_and_negative_variance(dtype):
    d = TYPE_NAMES[dtype]
    x, mean = np.array([[1, 1, -1, 0, 1]], d), np.array([0, -1, 1, 0, 0], d)
    scale, var = np.array([1, 1, 1, 1, 0], d), np.array([-1, 0, 0, 0, 0], d)
    (y,) = check("batch_normalization", x, scale, np.zeros(5, d), mean, var, epsilon=0.0)
    np.testing.assert_array_equal(y[0].astype(np.float64), [np.nan, np.inf, -np.inf, np.nan, np.nan])


def test_rounds_every_operation():
    """x * a + b with a fused multiply-add would keep the 2^-24."""
    v = np.float32(1 + 2.0**-12)
    one = np.ones(1, np.float32)
    (y,) = check("batch_normalization", np.full((1, 1), v), v * one, -one, 0 * one, one, epsilon=0.0)
    assert y.item() == 2.0**-11


def test_epsilon_is_the_float32_number():
    x, one, zero = np.ones((1, 1)), np.ones(1), np.zeros(1)
    (y,) = check("batch_normalization", x, one, zero, zero, zero)
    assert y.item() == 1 / np.sqrt(float(np.float32(1e-5))) != 1 / np.sqrt(1e-5)


def test_coefficients_are_not_rounded_to_float16():
    """a = 1 + 2^-12 is 1 in float16, where 4094 * a + 0.01 rounds to 4096 and 4094 + 0.01 to 4094."""
    x, zero, one = np.array([[4094]], np.float16), np.zeros(1, np.float32), np.ones(1, np.float32)
    scale, bias = np.array([1 + 2.0**-12], np.float32), np.array([0.01], np.float32)
    (y,) = check("batch_normalization", x, scale, bias, zero, one, epsilon=0.0)
    assert y.item() == 4096


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_rows_do_not_depend_on_the_batch(dtype):
    x, *rest = inputs(np.random.default_rng(4), [8, 9, 5, 7], dtype, "wide", dtype, dtype)
    for name, threads in variants():
        with isa(name):
            whole = kernels.batch_normalization(x, *rest, threads=threads)
            for row in range(8):
                one = kernels.batch_normalization(x[row : row + 1], *rest)
                assert_bits(one, whole[row : row + 1], f"row {row}")
