"""ArgMax and ArgMin against the reference. docs/arg.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu

OPERATORS = {"arg_max": "ArgMax", "arg_min": "ArgMin"}
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
# Many equal elements, many NaN.
ARG_KINDS = ("special", "integers", "integers", "wide")


def element_type(dtype):
    return TYPE_NAMES.get(dtype, dtype)


@given(strategies.args(dtypes=[*FLOAT_PARAMS, *INTEGERS], kinds=ARG_KINDS), st.sampled_from(list(OPERATORS)))
@examples(300)
def test_random(node, operator):
    (x,) = node.inputs()
    if node.dtype in INTEGERS and node.kind == "integers":
        x = x % 4
    check(operator, x, threads=(1, 2), **node.attributes)


@pytest.mark.parametrize("dtype", [*FLOAT_PARAMS, *INTEGERS])
def test_every_length(dtype):
    """Every remainder of a vector, along the last axis and along the first, with ties and NaN."""
    rng = np.random.default_rng(1)
    for n in [*range(1, 36 if dtype != "float32" else 70), 129, 200]:
        x = rng.integers(0, 5, (3, n)).astype(element_type(dtype))
        if dtype in FLOAT_PARAMS:
            x[rng.random(x.shape) < 0.2] = np.nan
        operator, last = list(OPERATORS)[n % 2], n // 2 % 2
        check(operator, x, axis=1, select_last_index=last, threads=(1,))
        check(operator, np.ascontiguousarray(x.T), axis=0, select_last_index=last, threads=(1,))
        check(operator, np.ascontiguousarray(x.T)[None], axis=1, select_last_index=1 - last, threads=(1,))


@pytest.mark.parametrize(
    "shape, axis", [((70001,), 0), ((3, 30000), 1), ((3001, 40), 1), ((40, 3001), 0), ((9, 50, 60), 1)], ids=str
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_large(operator, shape, axis):
    rng = np.random.default_rng(2)
    for dtype in (np.float32, np.float16, np.int32):
        x = rng.integers(-100, 100, shape).astype(dtype)
        for last in (0, 1):
            check(operator, x, axis=axis, select_last_index=last, keepdims=last, threads=(1, 7))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_special_values(dtype):
    nan, inf = np.nan, np.inf
    for row, first, last in (
        ([2, nan, 7, 4, 1], 2, 2),
        ([nan, 7, 8], 0, 0),
        ([nan, nan], 0, 0),
        ([1, nan, nan], 0, 0),
        ([-inf, -inf], 0, 1),
        ([-inf, nan, -inf], 0, 2),
        ([0.0, -0.0], 0, 1),
        ([-0.0, 0.0], 0, 1),
        ([2, 7, 7, 1], 1, 2),
        ([inf, nan, inf], 0, 2),
    ):
        for axis in (0, 1):
            x = np.array(row, TYPE_NAMES[dtype]).reshape((-1, 1) if axis == 0 else (1, -1))
            x = np.repeat(x, 21, axis=1 - axis)
            for operator, values in (("arg_max", x), ("arg_min", -x)):
                for select, want in enumerate((first, last)):
                    (index,) = check(operator, values, axis=axis, select_last_index=select)
                    assert index.ravel().tolist() == [want] * 21


@pytest.mark.parametrize("dtype", INTEGERS)
def test_ends_of_the_integers(dtype):
    info = np.iinfo(dtype)
    x = np.array([info.min, info.max, 0, info.max, info.min], dtype)
    for operator in OPERATORS:
        for last in (0, 1):
            check(operator, x, select_last_index=last)
            check(operator, np.repeat(x[:, None], 33, axis=1), select_last_index=last, threads=(1,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_empty_and_shapes(operator):
    for shape, axis in (((2, 0, 3), 1), ((0,), 0), ((0, 3), 0), ((0, 3), 1), ((2, 0), 0), ((3, 0), -1)):
        for keepdims in (0, 1):
            (index,) = check(operator, np.zeros(shape, np.float32), axis=axis, keepdims=keepdims)
            assert (index == 0).all()
    x = data(np.random.default_rng(3), (2, 3, 4, 1), np.float32)
    for axis in range(-5, 5):
        for keepdims in (0, 1):
            check(operator, x, axis=axis, keepdims=keepdims, threads=(1,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_do_not_depend_on_the_batch(operator):
    x = data(np.random.default_rng(4), (8, 5, 33), np.float32, "special")
    for axis in (1, 2):
        for name, threads in variants((1, 2)):
            with isa(name):
                whole = getattr(kernels, operator)(x, axis=axis, threads=threads)
                for row in range(8):
                    one = getattr(kernels, operator)(x[row : row + 1], axis=axis)
                    assert_bits(one, whole[row : row + 1], f"row {row}")


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64", "int8", "uint8"])
def test_agrees_with_onnxruntime(dtype, operator):
    """On everything but NaN."""
    rng = np.random.default_rng(5)
    x = rng.integers(0, 6, (4, 7, 9)).astype(dtype)
    for axis in (0, 1, 2):
        for last in (0, 1):
            want = run_cpu(OPERATORS[operator], [x], {"axis": axis, "select_last_index": last}, 13)
            assert_bits(getattr(kernels, operator)(x, axis=axis, select_last_index=last), want[0])
