"""Softmax, LogSoftmax, Hardmax against the reference, bit for bit. docs/softmax.md"""

import mpmath
import numpy as np
import pytest
import reference
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, attempt, check, data, examples, isa, kernels, scaled_error, variants
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu
from reference.explog import exp, log

OPERATORS = {"softmax": "Softmax", "log_softmax": "LogSoftmax", "hardmax": "Hardmax"}


@given(strategies.softmaxes(), st.sampled_from(list(OPERATORS)), st.sampled_from((1, 10, 60)))
@examples(300)
def test_random(node, operator, factor):
    (x,) = node.inputs()
    if node.kind == "normal":
        x = x * np.array(factor, x.dtype)
    check(operator, x, threads=(1, 2), **node.attributes)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_width(dtype, operator):
    """Every remainder of 16 partial sums and of a vector."""
    rng = np.random.default_rng(1)
    for n in range(1, 70 if dtype == "float32" else 36):
        x = data(rng, (4, n), TYPE_NAMES[dtype], ("normal", "special", "integers")[n % 3])
        with np.errstate(over="ignore"):
            x = x * np.array(5, x.dtype)
        check(operator, x, threads=(1,))
        check(operator, np.ascontiguousarray(x.T), axis=0, threads=(1,))


LARGE = {"one row": ((1, 30001), -1), "many rows": ((2001, 20), -1), "classes": ((40, 1000), -1), "columns": ((2, 30, 701), 1)}


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("name", LARGE)
def test_large(name, operator):
    shape, axis = LARGE[name]
    x = data(np.random.default_rng(2), shape, np.float32) * np.float32(8)
    check(operator, x, axis=axis)
    check(operator, x.astype(np.float16), axis=axis, threads=(2,))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("shape", [(2, 3, 4, 5), (1, 3, 1, 2), (6,), (2, 0, 3), (0,), (3, 0)], ids=str)
def test_every_axis(shape, operator):
    for dtype in FLOAT_PARAMS:
        x = data(np.random.default_rng(3), shape, TYPE_NAMES[dtype], "special")
        for axis in [None, *range(-len(shape) - 1, len(shape) + 1)]:
            for flatten in (False, True):
                check(operator, x, axis=axis, flatten=flatten, threads=(1,))


def test_flattening_and_defaults():
    x = data(np.random.default_rng(4), (2, 3, 4), np.float32)
    assert_bits(kernels.softmax(x), kernels.softmax(x, axis=2))
    assert_bits(kernels.softmax(x, flatten=True), kernels.softmax(x.reshape(2, 12)).reshape(2, 3, 4))
    assert_bits(kernels.softmax(x, axis=0, flatten=True), kernels.softmax(x.reshape(24)).reshape(2, 3, 4))
    assert attempt(kernels.softmax, x[0, 0], flatten=True) is ValueError  # axis 1 of a vector


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_special_rows(dtype):
    nan, inf = np.nan, np.inf
    rows = [
        # row, softmax, log_softmax, hardmax
        ([1, nan, 2], [nan] * 3, [nan] * 3, [0, 0, 0]),
        ([nan, 1, 2], [nan] * 3, [nan] * 3, [0, 0, 0]),
        ([nan, nan, nan], [nan] * 3, [nan] * 3, [0, 0, 0]),
        ([1, inf, 2], [nan] * 3, [nan] * 3, [0, 1, 0]),
        ([-inf, -inf, -inf], [nan] * 3, [nan] * 3, [1, 0, 0]),
        ([-inf, 3, -inf], [0, 1, 0], [-inf, 0, -inf], [0, 1, 0]),
        ([-0.0, 0.0, -6e4], None, None, [1, 0, 0]),
        ([7, 7, 7], None, None, [1, 0, 0]),
        ([nan, inf, -inf], [nan] * 3, [nan] * 3, [0, 0, 0]),
    ]
    for row, *wants in rows:
        for axis in (0, 1):
            x = np.array(row, TYPE_NAMES[dtype])[:, None] if axis == 0 else np.array(row, TYPE_NAMES[dtype])[None]
            x = np.repeat(x, 19, axis=1 - axis)
            for operator, want in zip(OPERATORS, wants, strict=True):
                (y,) = check(operator, x, axis=axis)
                if want is not None:
                    np.testing.assert_array_equal(y[:, 0].astype(float) if axis == 0 else y[0].astype(float), want)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_rows_do_not_depend_on_the_batch(dtype, operator):
    x = data(np.random.default_rng(5), (33, 37), TYPE_NAMES[dtype], "special")
    for name, threads in variants((1, 2)):
        with isa(name):
            whole = getattr(kernels, operator)(x, threads=threads)
            for row in (0, 16, 32):
                assert_bits(getattr(kernels, operator)(x[row : row + 1]), whole[row : row + 1], f"row {row}")
            assert_bits(getattr(kernels, operator)(np.ascontiguousarray(x.T), axis=0).T.copy(), whole)


@pytest.mark.parametrize("operator", ["softmax", "log_softmax"])
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_fast_mode(dtype, operator):
    """Scaled error, special values, thread counts, rows."""
    rng = np.random.default_rng(6)
    for kind in ("normal", "special", "wide", "tiny"):
        x = data(rng, (9, 131), TYPE_NAMES[dtype], kind)
        want = getattr(kernels, operator)(x)
        for name in kernels.isa_names():
            with isa(name):
                results = [getattr(kernels, operator)(x, mode="fast", threads=t) for t in (1, 2, 7)]
                # one rounding to 16 bits may fall to the other side
                slack = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(dtype, 0)
                assert scaled_error(results[0], want) <= 1e-4 + slack
                for other in results[1:]:
                    assert_bits(other, results[0])
                assert_bits(getattr(kernels, operator)(x[3:4], mode="fast"), results[0][3:4])


@pytest.mark.parametrize("operator", OPERATORS)
def test_close_to_onnxruntime(operator):
    x = data(np.random.default_rng(7), (3, 7, 40), np.float32) * np.float32(4)
    for axis in (0, 1, -1):
        want = run_cpu(OPERATORS[operator], [x], {"axis": axis}, 13)[0]
        np.testing.assert_allclose(getattr(kernels, operator)(x, axis=axis), want, rtol=1e-5, atol=1e-6)
        flat = run_cpu(OPERATORS[operator], [x], {"axis": axis}, 11)[0]
        np.testing.assert_allclose(getattr(kernels, operator)(x, axis=axis, flatten=True), flat, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exp_and_log_of_the_reference(dtype):
    """Against mpmath at 300 bits, by exact comparison with both neighbours."""
    rng = np.random.default_rng(8)
    reach, floor = (103, 1e-45) if dtype == np.float32 else (744, 5e-324)
    x = np.concatenate([rng.uniform(-reach, 88, 600), rng.standard_normal(300), rng.standard_normal(100) * 1e-6]).astype(dtype)
    positive = np.concatenate([np.exp(rng.uniform(-80, 80, 600)), 1 + rng.standard_normal(300) * 1e-3, [floor]]).astype(dtype)
    with mpmath.workprec(300):
        for function, true, arguments in ((exp, mpmath.exp, x), (log, mpmath.log, positive)):
            for a, y in zip(arguments, function(arguments), strict=True):
                exact = true(mpmath.mpf(float(a)))
                miss = abs(mpmath.mpf(float(y)) - exact)
                for other in (np.nextafter(y, dtype(np.inf)), np.nextafter(y, dtype(-np.inf))):
                    assert miss < abs(mpmath.mpf(float(other)) - exact) or a == 1


def test_reference_special_values():
    x = np.array([-np.inf, np.inf, 0, -0.0, np.nan, 89, -104], np.float32)
    np.testing.assert_array_equal(exp(x), np.array([0, np.inf, 1, 1, np.nan, np.inf, 0], np.float32))
    np.testing.assert_array_equal(
        log(np.array([0, -0.0, 1, -1, np.inf], np.float32)), np.array([-np.inf, -np.inf, 0, np.nan, np.inf], np.float32)
    )
    assert reference.softmax(np.zeros((1, 3), np.float32)).tolist() == [[np.float32(1) / np.float32(3)] * 3]
