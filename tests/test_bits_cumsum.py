"""CumSum and CumProd against the reference, bit for bit. docs/cumsum.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu

OPERATORS = ("cumsum", "cumprod")
WHOLE = ["int32", "int64", "uint32", "uint64"]
FORMS = [(0, 0), (0, 1), (1, 0), (1, 1)]


@given(strategies.cumulations(dtypes=[*FLOAT_PARAMS, *WHOLE]), st.sampled_from(OPERATORS))
@examples(300)
def test_random(node, operator):
    check(operator, *node.inputs(), threads=(1, 2), **node.attributes)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("dtype", [*FLOAT_PARAMS, *WHOLE])
def test_every_length(dtype, operator):
    """Every remainder of a vector and of a group of rows, along the last axis and along the first."""
    rng = np.random.default_rng(1)
    for n in [*range(1, 36), 63, 64, 65, 129]:
        exclusive, reverse = FORMS[n % 4]
        kind = KINDS[n % len(KINDS)]
        form = {"exclusive": exclusive, "reverse": reverse, "threads": (1,)}
        check(operator, data(rng, (1 + n % 19, n), TYPE_NAMES.get(dtype, dtype), kind), 1, **form)
        check(operator, data(rng, (5, n), TYPE_NAMES.get(dtype, dtype), kind), 0, **form)
        check(operator, data(rng, (2, 3, n), TYPE_NAMES.get(dtype, dtype), kind), 1, **form)


@pytest.mark.parametrize(
    "shape, axis", [((70001,), 0), ((37, 3000), 1), ((5001, 11), 1), ((30, 4001), 0), ((9, 60, 50), 1)], ids=str
)
@pytest.mark.parametrize("operator", OPERATORS)
def test_large(operator, shape, axis):
    rng = np.random.default_rng(2)
    for (exclusive, reverse), dtype in zip(FORMS, (np.float32, np.float64, np.float16, np.int32), strict=True):
        x = data(rng, shape, dtype)
        check(operator, x, axis, exclusive=exclusive, reverse=reverse, threads=(1, 7))


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("exclusive, reverse", FORMS)
def test_every_axis(exclusive, reverse, operator):
    for dtype in FLOAT_PARAMS:
        x = data(np.random.default_rng(3), (2, 5, 1, 7), TYPE_NAMES[dtype], "special")
        for axis in range(-5, 5):
            check(operator, x, axis, exclusive=exclusive, reverse=reverse, threads=(1,))


@pytest.mark.parametrize("axis", [np.int32(0), np.array([0]), np.array(-1), np.array([0], np.int32)], ids=repr)
def test_axis_tensors(axis):
    x = np.array([1, 2, 3], np.float32)
    assert check("cumsum", x, np.asarray(axis))[0].tolist() == [1, 3, 6]
    assert kernels.cumsum(x, 0).tolist() == [1, 3, 6]


def test_examples_of_the_operator_text():
    x = np.array([1, 2, 3], np.float32)
    sums = {(0, 0): [1, 3, 6], (1, 0): [0, 1, 3], (0, 1): [6, 5, 3], (1, 1): [5, 3, 0]}
    products = {(0, 0): [1, 2, 6], (1, 0): [1, 1, 2], (0, 1): [6, 6, 3], (1, 1): [6, 3, 1]}
    for operator, wants in (("cumsum", sums), ("cumprod", products)):
        for (exclusive, reverse), want in wants.items():
            assert check(operator, x, 0, exclusive=exclusive, reverse=reverse)[0].tolist() == want


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_special_values(dtype):
    """A first -0 stays, but not once something is added to it; NaN is canonical, the first element's too."""
    dtype = TYPE_NAMES[dtype]
    x = np.array([-0.0, -0.0, 1, -1, np.inf, 1, -np.inf, 2], dtype)
    for operator in OPERATORS:
        for exclusive, reverse in FORMS:
            check(operator, x, 0, exclusive=exclusive, reverse=reverse)
            check(operator, np.repeat(x[None], 17, axis=0), 1, exclusive=exclusive, reverse=reverse)
    assert np.signbit(check("cumsum", x[:2], 0)[0]).tolist() == [True, True]
    assert np.signbit(check("cumsum", x[:2], 0, exclusive=1)[0]).tolist() == [False, False]
    nan = -np.array([np.nan, 1], dtype)
    (y,) = check("cumsum", nan, 0)
    assert (bits(y) == bits(check("reduce_sum", nan)[0])[0]).all()


@pytest.mark.parametrize("dtype", [np.float16, TYPE_NAMES["bfloat16"]])
def test_running_value_is_not_rounded(dtype):
    x = np.array([2048, 1, 1, 1], np.float32).astype(dtype)
    assert_bits(check("cumsum", x, 0)[0], np.array([2048, 2049, 2050, 2051], np.float32).astype(dtype))


@pytest.mark.parametrize("operator", OPERATORS)
def test_empty(operator):
    for dtype in (*TYPE_NAMES.values(), np.int32):
        for shape in ((0,), (2, 0), (0, 3), (2, 0, 3)):
            for axis in range(len(shape)):
                check(operator, np.zeros(shape, dtype), axis, exclusive=axis % 2, threads=(1,))


def test_integers_wrap():
    x = np.array([2**31 - 1, 1, 5], np.int32)
    assert check("cumsum", x, 0)[0].tolist() == [2**31 - 1, -(2**31), -(2**31) + 5]
    assert check("cumprod", np.array([65536, 65536, 3], np.int32), 0)[0].tolist() == [65536, 0, 0]


@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_do_not_depend_on_the_batch(operator):
    x = data(np.random.default_rng(4), (19, 5, 33), np.float32, "special")
    for axis in (1, 2):
        for name, threads in variants((1, 2)):
            with isa(name):
                whole = getattr(kernels, operator)(x, axis, threads=threads)
                for row in (0, 7, 8, 18):
                    one = getattr(kernels, operator)(x[row : row + 1], axis)
                    assert_bits(one, whole[row : row + 1], f"row {row}")


@pytest.mark.parametrize("exclusive, reverse", FORMS)
def test_agrees_with_onnxruntime(exclusive, reverse):
    """The same order, so the same bits."""
    x = data(np.random.default_rng(5), (3, 20, 7), np.float32)
    for axis in (0, 1, 2):
        want = run_cpu("CumSum", [x, np.array(axis)], {"exclusive": exclusive, "reverse": reverse}, 14)
        assert_bits(kernels.cumsum(x, axis, exclusive=exclusive, reverse=reverse), want[0])
