"""Elementwise operators of several inputs against the reference, bit for bit. docs/binary.md"""

import itertools

import numpy as np
import pytest
import strategies
from helpers import (
    FLOAT_PARAMS,
    KINDS,
    TYPE_NAMES,
    assert_bits,
    check,
    data,
    examples,
    isa,
    kernels,
    random_nans,
    scaled_error,
    special_values,
    variants,
)
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu

PAIRS = {"add": "Add", "sub": "Sub", "mul": "Mul", "div": "Div"}
VARIADIC = {"maximum": "Max", "minimum": "Min", "sum_of": "Sum", "mean_of": "Mean"}
SMALL = ["int8", "int16", "uint8", "uint16"]
WHOLE = ["int32", "int64", "uint32", "uint64"]
EXPONENTS = (2, 3, 0.5, 1, 0, -1, -2, -0.5)
SHAPES = {  # of the other input, for a first one of [a, b, c, n]
    "same": lambda a, b, c, n: (a, b, c, n),
    "scalar": lambda a, b, c, n: (),
    "one element": lambda a, b, c, n: (1, 1, 1, 1),
    "last axis": lambda a, b, c, n: (n,),
    "channels": lambda a, b, c, n: (1, b, 1, 1),
    "channels of one image": lambda a, b, c, n: (b, 1, 1),
    "batch": lambda a, b, c, n: (a, 1, 1, 1),
    "rows": lambda a, b, c, n: (a, b, c, 1),
    "outer and last": lambda a, b, c, n: (a, 1, 1, n),
    "planes": lambda a, b, c, n: (1, 1, c, n),
    "middle": lambda a, b, c, n: (1, b, c, 1),
}


def element_type(name):
    return TYPE_NAMES.get(name, name)


def types_of(operator):
    if operator == "prelu":
        return [*FLOAT_PARAMS, *WHOLE]
    return [*FLOAT_PARAMS, *WHOLE, *SMALL] if operator in ("maximum", "minimum") else FLOAT_PARAMS


OPERATORS = (*PAIRS, "prelu", *VARIADIC)
EVERY = [(operator, dtype) for operator in OPERATORS for dtype in types_of(operator)]


@given(st.data())
@examples(400)
def test_random(source):
    operator = source.draw(st.sampled_from(OPERATORS))
    count = source.draw(st.sampled_from((1, 2, 2, 3, 4, 9))) if operator in VARIADIC else 2
    node = source.draw(strategies.broadcasts(count, types_of(operator), first_is_largest=operator == "prelu"))
    check(operator, *node.inputs(), threads=(1, 2))


@given(strategies.broadcasts(1, FLOAT_PARAMS), st.sampled_from(EXPONENTS), st.integers(0, 6))
@examples(100)
def test_random_powers(node, exponent, rank):
    (x,) = node.inputs()
    check("power", x, np.full((1,) * rank, exponent, np.float32), threads=(1, 2))


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_every_length(operator, form):
    """Every remainder of a vector, the smaller input on either side."""
    rng = np.random.default_rng(1)
    kinds = itertools.cycle(KINDS)
    for n in [*range(1, 20), 31, 32, 33, 63, 64, 65, 130]:
        dtype = element_type(types_of(operator)[n % len(types_of(operator))])
        kind = next(kinds)
        x, other = data(rng, (2, 3, 4, n), dtype, kind), np.asarray(data(rng, SHAPES[form](2, 3, 4, n), dtype, kind))
        check(operator, x, other, threads=(1,))
        if operator != "prelu":
            check(operator, other, x, threads=(1,))
        if operator in VARIADIC:
            check(operator, other, x, other, threads=(1,))


@pytest.mark.parametrize("operator, dtype", EVERY)
def test_special_values(operator, dtype):
    """Every pair of infinities, zeros, NaN, subnormals and the ends of the type, in every lane of a vector."""
    rng = np.random.default_rng(2)
    if dtype in FLOAT_PARAMS:
        values = special_values(TYPE_NAMES[dtype])
        values = np.concatenate([values, random_nans(rng, 3, values.dtype), np.array([1, -1, 0.5, -3], values.dtype)])
    else:
        info = np.iinfo(dtype)
        values = np.unique(np.array([info.min, info.min + 1, info.max, info.max - 1, 0, 1, 2, 5], dtype))
    x, other = (np.ascontiguousarray(part).ravel() for part in np.meshgrid(values, values))
    check(operator, x, other)
    check(operator, np.tile(x, 7), np.roll(np.tile(other, 7), 3), threads=(1,))
    for value in values:
        check(operator, x, np.asarray(value), threads=(1,))
        check(operator, np.tile(values, 5)[None].repeat(3, 0), np.asarray([[value], [values[0]], [values[-1]]]), threads=(1,))


@pytest.mark.parametrize("form", SHAPES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_large(operator, form):
    """More than one task, on 1, 2 and 7 threads."""
    rng = np.random.default_rng(3)
    shape = (2, 20, 30, 97)
    for dtype in (np.float32, TYPE_NAMES["bfloat16"]):
        x, other = data(rng, shape, dtype, "special"), np.asarray(data(rng, SHAPES[form](*shape), dtype, "special"))
        check(operator, x, other)
        if operator != "prelu":
            check(operator, other, x, threads=(7,))


@pytest.mark.parametrize("shape", [(300001,), (3, 100001), (100001, 3), (70000, 1, 2)], ids=str)
def test_large_and_narrow(shape):
    rng = np.random.default_rng(4)
    x = data(rng, shape, np.float32, "special")
    for other in (shape, shape[-1:], (*shape[:-1], 1), ()):
        check("add", x, np.asarray(data(rng, other, np.float32)), threads=(1, 7))
        check("maximum", np.asarray(data(rng, other, np.float32)), x, threads=(7,))


@pytest.mark.parametrize("operator", VARIADIC)
@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 9, 16, 17, 40])
def test_any_number_of_inputs(operator, count):
    rng = np.random.default_rng(5)
    for dtype in types_of(operator):
        forms = [(3, 5, 19), (19,), (5, 1), (), (3, 1, 1), (1, 5, 19)]
        arrays = [np.asarray(data(rng, forms[i % 6], element_type(dtype), "special")) for i in range(count)]
        check(operator, *arrays, threads=(1, 2))
        check(operator, *arrays[::-1], threads=(1,))
    x = [data(rng, (2, 70001), np.float32, "wide") for _ in range(min(count, 9))]
    check(operator, *x, threads=(1, 7))


def test_the_order_of_a_sum():
    """((x0 + x1) + x2) + x3, and no other order."""
    x = [np.full(37, value, np.float32) for value in (1e8, -1e8, 1.0, 0.25)]
    assert (check("sum_of", *x)[0] == 1.25).all()
    assert (check("sum_of", x[2], x[0], x[1], x[3])[0] == 0.25).all()
    assert (check("mean_of", *x)[0] == 0.3125).all()
    tens = [np.full(3, value, np.float32) for value in (1, 1, 1)]
    assert_bits(check("mean_of", *tens)[0], np.full(3, 1, np.float32))
    third = check("mean_of", tens[0], tens[0] * 0, tens[0] * 0)[0]
    assert_bits(third, np.full(3, np.float32(1) / np.float32(3), np.float32))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_one_rounding_of_the_narrow_types(dtype):
    """60000 + 60000 is no float16, and the sum of three is."""
    dtype = TYPE_NAMES[dtype]
    big = np.full(21, 3e38 if dtype != np.float16 else 60000, dtype)
    if dtype == np.float16:
        assert_bits(check("sum_of", big, big, -big)[0], big)
        assert np.isinf(check("add", big, big)[0]).all()
    fine = np.full(21, 1 + 2.0**-7 if dtype != np.float16 else 1 + 2.0**-10, np.float32).astype(dtype)
    tiny = np.full(21, 2.0**-9 if dtype != np.float16 else 2.0**-12, np.float32).astype(dtype)
    check("sum_of", fine, tiny, tiny, tiny)
    check("power", fine, np.array(3))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_zeros_and_nan_of_extremes(dtype):
    dtype = TYPE_NAMES[dtype]
    plus, minus, nan = (np.full(35, value, dtype) for value in (0.0, -0.0, -np.nan))
    for operator in ("maximum", "minimum"):
        assert not np.signbit(check(operator, plus, minus)[0]).any()
        assert np.signbit(check(operator, minus, plus)[0]).all()
        assert np.signbit(check(operator, minus, plus, plus)[0]).all()
        for arrays in ((nan, plus), (plus, nan), (nan, nan), (plus, nan, minus), (nan,)):
            (y,) = check(operator, *arrays)
            assert np.isnan(y).all() and not np.signbit(y.astype(np.float32)).any()
    assert np.signbit(check("sum_of", minus)[0]).all() and np.signbit(check("mean_of", minus)[0]).all()


def test_prelu():
    x = np.array([-2, -0.0, 0.0, 3, np.nan, -np.inf], np.float32)
    (y,) = check("prelu", x, np.array(np.nan, np.float32))
    assert np.isnan(y).tolist() == [True, False, False, False, True, True] and np.signbit(y[1])
    assert check("prelu", np.array([-(2**31), -5, 7], np.int32), np.array([3], np.int32))[0].tolist() == [-(2**31), -15, 7]
    big = np.array([2**64 - 1, 1], np.uint64)
    assert check("prelu", big, np.array(3, np.uint64))[0].tolist() == big.tolist()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers(exponent, dtype):
    rng = np.random.default_rng(6)
    dtype = TYPE_NAMES[dtype]
    values = np.concatenate([special_values(dtype), random_nans(rng, 3, dtype), np.array([1, -1, 0.5, -3, 2], dtype)])
    for kind in KINDS:
        check("power", np.concatenate([values, data(rng, (500,), dtype, kind)]), np.array(exponent, np.float32), threads=(1, 2))
    check("power", data(rng, (3, 70001), dtype), np.array([[exponent]], np.float64), threads=(1, 7))


def test_exponents_of_every_type():
    x = np.array([-3, 0.5, 7], np.float32)
    for dtype in (*TYPE_NAMES.values(), *WHOLE, *SMALL):
        assert check("power", x, np.array(2, dtype), threads=(1,))[0].tolist() == [9, 0.25, 49]
    for dtype in (np.float16, TYPE_NAMES["bfloat16"], np.float64):
        check("power", x, np.array([0.5], dtype), threads=(1,))
    assert check("power", x, np.array([[-0.0]], np.float32), threads=(1,))[0].tolist() == [[1, 1, 1]]
    zeros = np.array([-0.0, -np.inf, np.nan], np.float32)
    assert not np.signbit(check("power", zeros, np.array(0.5))[0][:2]).any()
    assert check("power", zeros, np.array(-0.5))[0][:2].tolist() == [np.inf, 0]
    assert check("power", zeros, np.array(0))[0].tolist() == [1, 1, 1]


@pytest.mark.parametrize("operator", OPERATORS)
def test_empty_and_ranks(operator):
    for shapes in (
        [(0,), (1,)],
        [(0,), (0,)],
        [(2, 0, 3), (3,)],
        [(2, 0), (2, 1)],
        [(), ()],
        [(1,), ()],
        [(1,) * 16, ()],
        [(2,) * 5 + (1,) * 6 + (2,) * 5, (2,) * 3 + (1,) * 2],
        [(2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1), (2, 1) * 8],
    ):
        for dtype in types_of(operator):
            arrays = [np.asarray(data(np.random.default_rng(7), shape, element_type(dtype))) for shape in shapes]
            check(operator, *arrays, threads=(1, 2))
    if operator != "prelu":
        x = data(np.random.default_rng(8), (1, 3) * 8, np.float32)
        check(operator, x, data(np.random.default_rng(9), (2, 1) * 8, np.float32), threads=(1,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_do_not_depend_on_the_batch(operator):
    rng = np.random.default_rng(10)
    x, other = (data(rng, (8, 5, 33), np.float32, "special") for _ in range(2))
    for y in (other, other[:1], other[0, 0]):
        for name, threads in variants((1, 2)):
            with isa(name):
                whole = getattr(kernels, operator)(x, y, threads=threads)
                for row in range(8):
                    one = getattr(kernels, operator)(x[row : row + 1], y[row : row + 1] if len(y) == 8 else y)
                    assert_bits(one, whole[row : row + 1], f"row {row}")


@pytest.mark.parametrize("operator", [*PAIRS, "prelu", *VARIADIC])
def test_agrees_with_onnxruntime(operator):
    """The same operations, so the same bits where there is no NaN and no zero."""
    rng = np.random.default_rng(11)
    name = PAIRS.get(operator) or VARIADIC.get(operator, "PRelu")
    for shapes in ([(3, 4, 5), (4, 1)], [(3, 4, 5), (3, 4, 5)], [(2, 3, 8, 8), (3, 1, 1)], [(7, 19), ()]):
        arrays = [np.asarray(data(rng, shape, np.float32)) for shape in shapes]
        want = run_cpu(name, arrays, {}, 18)
        assert_bits(getattr(kernels, operator)(*arrays), want[0], name)


@pytest.mark.parametrize("exponent", EXPONENTS)
def test_powers_are_near_those_of_onnxruntime(exponent):
    x = np.abs(data(np.random.default_rng(12), (40, 50), np.float32)) + np.float32(0.01)
    want = run_cpu("Pow", [x, np.array(exponent, np.float32)], {}, 15)
    assert scaled_error(kernels.power(x, np.array(exponent, np.float32)), want[0]) < 1e-6
