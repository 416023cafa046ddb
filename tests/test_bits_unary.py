"""The operators of one input against the reference, bit for bit. docs/unary.md"""

import ml_dtypes
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

SIGNED = ["int8", "int16", "int32", "int64"]
INTEGERS = [*SIGNED, "uint8", "uint16", "uint32", "uint64"]
#: function -> (operator, opset, forms of its attributes)
PLAIN = {
    "relu": ("Relu", 14, [{}]),
    "leaky_relu": ("LeakyRelu", 16, [{}, {"alpha": -0.3}, {"alpha": np.inf}, {"alpha": np.nan}]),
    "thresholded_relu": ("ThresholdedRelu", 22, [{}, {"alpha": -0.5}, {"alpha": -0.0}, {"alpha": np.nan}]),
    "absolute": ("Abs", 13, [{}]),
    "negative": ("Neg", 13, [{}]),
    "floor": ("Floor", 13, [{}]),
    "ceil": ("Ceil", 13, [{}]),
    "round_": ("Round", 22, [{}]),
    "sign": ("Sign", 13, [{}]),
    "sqrt": ("Sqrt", 13, [{}]),
    "reciprocal": ("Reciprocal", 13, [{}]),
    "hard_sigmoid": ("HardSigmoid", 22, [{}, {"alpha": -1.7, "beta": -0.0}, {"alpha": 0.0, "beta": np.nan}, {"alpha": np.inf}]),
    "hard_swish": ("HardSwish", 22, [{}]),
    "softsign": ("Softsign", 22, [{}]),
    "exp": ("Exp", 13, [{}]),
    "log": ("Log", 13, [{}]),
    "elu": ("Elu", 22, [{}, {"alpha": -2.5}, {"alpha": 1e38}, {"alpha": np.nan}]),
    "selu": ("Selu", 22, [{}, {"alpha": 0.7, "gamma": -1.3}, {"alpha": np.inf}, {"gamma": np.nan}]),
    "celu": ("Celu", 12, [{}, {"alpha": 2.3}, {"alpha": -0.6}, {"alpha": 0.0}, {"alpha": np.inf}]),
}
SINGLE = {
    "tanh": ("Tanh", 13, [{}]),
    "sigmoid": ("Sigmoid", 13, [{}]),
    "erf": ("Erf", 13, [{}]),
    "softplus": ("Softplus", 22, [{}]),
    "sin": ("Sin", 22, [{}]),
    "cos": ("Cos", 22, [{}]),
    "gelu": ("Gelu", 20, [{}, {"approximate": "tanh"}]),
    "mish": ("Mish", 22, [{}]),
    "swish": ("Swish", 24, [{}, {"alpha": 1.7}, {"alpha": -0.4}, {"alpha": np.inf}]),
}
OPERATORS = {**PLAIN, **SINGLE}
INTEGER_OPERATORS = {"relu": SIGNED, "absolute": INTEGERS, "negative": SIGNED, "sign": INTEGERS}


def types_of(operator):
    floats = [name for name in FLOAT_PARAMS if operator in PLAIN or name != "float64"]
    return [*floats, *INTEGER_OPERATORS.get(operator, [])]


def element_type(name):
    return TYPE_NAMES.get(name, name)


FORMS = [(operator, dtype) for operator in OPERATORS for dtype in types_of(operator)]


def every_value(dtype):
    """All 65536 numbers of a type of 16 bits."""
    return np.arange(65536, dtype=np.uint16).view(TYPE_NAMES[dtype])


@given(st.data())
@examples(300)
def test_random(source):
    operator = source.draw(st.sampled_from(list(OPERATORS)))
    node = source.draw(strategies.broadcasts(1, types_of(operator)))
    attributes = source.draw(st.sampled_from(OPERATORS[operator][2]))
    check(operator, *node.inputs(), threads=(1, 2), **attributes)


@pytest.mark.parametrize("operator, dtype", FORMS)
def test_every_length(operator, dtype):
    """Every remainder of a vector."""
    rng = np.random.default_rng(1)
    for n in [*range(1, 36), 63, 64, 65, 127, 129]:
        x = data(rng, (n,), element_type(dtype), KINDS[n % len(KINDS)])
        check(operator, x, threads=(1,), **OPERATORS[operator][2][n % len(OPERATORS[operator][2])])


@pytest.mark.parametrize("operator, dtype", [form for form in FORMS if form[1] in ("float16", "bfloat16")])
def test_every_narrow_value(operator, dtype):
    for attributes in OPERATORS[operator][2]:
        check(operator, every_value(dtype), threads=(1, 2), **attributes)


def around(dtype):
    """Numbers at which a formula, a rounding or a kernel may change its course, and what lies next to them."""
    dtype = np.dtype(dtype)
    centres = [0.5, 1, 1.5, 2, 2.5, 3, 6, 0.2, 1 / 6, 5 / 9, 9, 17, 88.72, 89, 103.97, 104, 709.78, 745.13, 2**22, 2**23, 2**24]
    centres += [2.0**-k for k in (1, 12, 13, 24, 25, 53, 126)] + [2**31, 2**52, 2**53, 2**63, np.pi, np.pi / 2, 1e6, 1e20, 1e30]
    values = np.array(centres, dtype)
    near = [values, np.nextafter(values, dtype.type(0)), np.nextafter(values, dtype.type(np.inf))]
    values = np.concatenate(near)
    return np.concatenate([values, -values, special_values(dtype), random_nans(np.random.default_rng(0), 5, dtype)])


@pytest.mark.parametrize("operator, dtype", [form for form in FORMS if form[1] in ("float32", "float64")])
def test_special_values(operator, dtype):
    values = around(dtype)
    for attributes in OPERATORS[operator][2]:
        check(operator, values, **attributes)
        for shift in range(1, 19):  # every value in every lane
            check(operator, values[shift : shift + 67], threads=(1,), **attributes)


@pytest.mark.parametrize("operator", OPERATORS)
def test_wide_range(operator):
    """Random bit patterns: every exponent alike."""
    rng = np.random.default_rng(2)
    x = rng.integers(0, 2**32, 20000, dtype=np.uint32).view(np.float32)
    check(operator, x, threads=(1,))
    check(operator, (rng.standard_normal(20000) * 8).astype(np.float32), threads=(1,))


@pytest.mark.parametrize("operator, dtype", [(o, t) for o, types in INTEGER_OPERATORS.items() for t in types])
def test_integers(operator, dtype):
    info = np.iinfo(dtype)
    ends = np.unique(np.array([info.min, info.min + 1, 0, 1, info.max - 1, info.max], dtype))
    check(operator, ends)
    if info.bits == 8:
        check(operator, np.arange(info.min, info.max + 1).astype(dtype))
    check(operator, data(np.random.default_rng(3), (3, 70001), dtype), threads=(1, 7))


@pytest.mark.parametrize("shape", [(300001,), (3, 7, 9999), (2, 1, 65536)], ids=str)
@pytest.mark.parametrize("operator", OPERATORS)
def test_large(operator, shape):
    """More than one task, on 1, 2 and 7 threads."""
    rng = np.random.default_rng(4)
    check(operator, data(rng, shape, np.float32, "special"))
    check(operator, data(rng, shape, TYPE_NAMES["bfloat16"]), threads=(7,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_empty_and_ranks(operator):
    rng = np.random.default_rng(5)
    for shape in ((), (0,), (1,), (2, 0, 3), (1,) * 16, (2,) * 4 + (1,) * 8 + (2,) * 4):
        for dtype in types_of(operator):
            check(operator, np.asarray(data(rng, shape, element_type(dtype))), threads=(1, 2))
    for dtype in (np.bool_, np.float64, "uint8", "int64"):
        check(operator, np.zeros(3, dtype), threads=(1,))
    check(operator, np.zeros((1,) * 17, np.float32), threads=(1,))


@pytest.mark.parametrize("operator", OPERATORS)
def test_rows_do_not_depend_on_the_batch(operator):
    x = data(np.random.default_rng(6), (8, 5, 33), np.float32, "special")
    function = getattr(kernels, operator)
    for name, threads in variants((1, 2)):
        with isa(name):
            whole = function(x, threads=threads)
            for row in range(8):
                assert_bits(function(x[row : row + 1]), whole[row : row + 1], f"{name} row {row}")


def test_zeros_and_nan():
    """What the notes of the page say."""
    zeros = np.array([0.0, -0.0], np.float32)
    for operator in ("leaky_relu", "elu", "selu", "negative", "floor", "ceil", "round_", "sqrt", "tanh", "erf", "sin", "gelu"):
        (y,) = check(operator, zeros)
        assert np.signbit(y).tolist() == ([True, False] if operator == "negative" else [False, True]), operator
    for operator in ("relu", "sign", "absolute", "thresholded_relu"):
        assert not np.signbit(check(operator, zeros)[0]).any(), operator
    assert np.signbit(check("ceil", np.array([-0.5], np.float32))[0]).all()
    assert check("reciprocal", zeros)[0].tolist() == [np.inf, -np.inf]
    nan = random_nans(np.random.default_rng(7), 40, np.float32)
    for operator in OPERATORS:
        (y,) = check(operator, nan)
        want = np.zeros(40, np.float32) if operator == "thresholded_relu" else np.full(40, np.nan, np.float32)
        assert_bits(y, want, operator)
    below = np.array([-np.inf], np.float32)
    for operator in ("hard_swish", "softsign", "gelu", "mish", "swish", "log", "sqrt", "sin", "cos"):
        assert np.isnan(check(operator, below)[0]).all(), operator
    assert check("relu", np.array([3, -3], np.float32))[0].tolist() == [3, 0]


# ---- Clip ----


def limits(dtype):
    return [None, *(np.array(v, dtype) for v in (0.0, -0.0, -1, 1, 1.5, np.nan, np.inf, -np.inf, 300, 3e38))]


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_clip(dtype):
    dtype = TYPE_NAMES[dtype]
    rng = np.random.default_rng(8)
    with np.errstate(over="ignore"):
        x = np.concatenate([special_values(dtype), random_nans(rng, 3, dtype), data(rng, (40,), dtype)])
        pairs = [(lo, hi) for lo in limits(dtype) for hi in limits(dtype)]
    for lo, hi in pairs:
        check("clip", x, lo, hi, threads=(1,))
    check("clip", data(rng, (2, 70001), dtype, "special"), np.array([-0.5], dtype), np.array(0.25, dtype))
    if dtype in (np.float16, ml_dtypes.bfloat16):
        check("clip", every_value(np.dtype(dtype).name), np.array(-1.5, dtype), np.array(7, dtype), threads=(1,))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_clip_integers(dtype):
    info = np.iinfo(dtype)
    x = np.concatenate([data(np.random.default_rng(9), (70,), dtype), np.array([info.min, info.max, 0, 1], dtype)])
    ends = [None, *(np.array(v, dtype) for v in (info.min, 0, 1, 100, info.max))]
    for lo in ends:
        for hi in ends:
            check("clip", x, lo, hi, threads=(1,))


def test_clip_without_limits():
    """The least and the largest finite number."""
    x = np.array([np.inf, -np.inf, 1, -0.0], np.float32)
    largest = np.finfo(np.float32).max
    assert_bits(check("clip", x)[0], np.array([largest, -largest, 1, -0.0], np.float32))
    half = np.array([np.inf, -np.inf], np.float16)
    assert check("clip", half)[0].tolist() == [65504, -65504]
    assert check("clip", half, np.array(3, np.float16))[0].tolist() == [65504, 3]


def test_clip_refuses():
    x = np.zeros(3, np.float32)
    for limit in (np.zeros(2, np.float32), np.zeros((1, 1), np.float32), np.zeros(0, np.float32), np.array(0.0), np.array(1)):
        check("clip", x, limit, threads=(1,))
        check("clip", x, None, limit, threads=(1,))
        with pytest.raises(ValueError):
            kernels.clip(x, limit)
    check("clip", np.zeros(3, np.bool_), threads=(1,))


# ---- Cast ----


def borders(dtype):
    """Around the ends of every integer type."""
    dtype = np.dtype(dtype)
    ends = [0.0] + [2.0**k for k in (0, 7, 8, 15, 16, 31, 32, 52, 53, 63, 64, 65)]
    with np.errstate(over="ignore"):
        ends = np.array([e + d for e in ends for d in (-1, -0.5, 0, 0.5, 0.9, 1)], dtype)
    near = np.concatenate([ends, np.nextafter(ends, dtype.type(0)), np.nextafter(ends, dtype.type(np.inf))])
    return np.concatenate([near, -near, special_values(dtype), random_nans(np.random.default_rng(10), 5, dtype)])


@pytest.mark.parametrize("to", [*INTEGERS, "bool"])
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_cast(dtype, to):
    rng = np.random.default_rng(11)
    if dtype in ("float16", "bfloat16"):
        check("cast", every_value(dtype), to, threads=(1, 2))
    else:
        unsigned = {"float32": np.uint32, "float64": np.uint64}[dtype]
        check("cast", borders(dtype), to)
        check("cast", rng.integers(0, np.iinfo(unsigned).max, 3000, dtype=unsigned).view(dtype), to, threads=(1,))
    for n in range(36):
        check("cast", data(rng, (n,), TYPE_NAMES[dtype], "wide"), to, threads=(1,))
    for shape in ((), (0, 2), (2, 3, 5), (1,) * 16, (70001,)):
        check("cast", np.asarray(data(rng, shape, TYPE_NAMES[dtype], "special")), to, threads=(1, 7))


def test_cast_values():
    x = np.array([np.nan, np.inf, -np.inf, 255.9, 256, -0.9, -1, 3e9, -3e9], np.float32)
    assert check("cast", x, "uint8")[0].tolist() == [0, 255, 0, 255, 255, 0, 0, 255, 0]
    assert check("cast", x, "int32")[0].tolist() == [0, 2**31 - 1, -(2**31), 255, 256, 0, -1, 2**31 - 1, -(2**31)]
    assert check("cast", x[:3], "int64")[0].tolist() == [0, 2**63 - 1, -(2**63)]
    assert check("cast", np.array([0.0, -0.0, 1e-45, np.nan], np.float32), "bool")[0].tolist() == [False, False, True, True]


def test_cast_refuses():
    x = np.zeros(3, np.float32)
    for to in ("float32", "float64", "float16"):
        check("cast", x, to, threads=(1,))
    for dtype in ("int32", "uint8", "bool"):
        check("cast", np.zeros(3, dtype), "int8", threads=(1,))
    check("cast", np.zeros((1,) * 17, np.float32), "int8", threads=(1,))


# ---- ONNX Runtime ----


@pytest.mark.parametrize("operator", OPERATORS)
def test_near_onnxruntime(operator):
    name, opset, forms = OPERATORS[operator]
    rng = np.random.default_rng(12)
    x = np.concatenate([(rng.standard_normal(3000) * 3).astype(np.float32), np.array([0, 0.5, -0.5, 30, -30], np.float32)])
    x = np.abs(x) + np.float32(1e-3) if operator in ("log", "sqrt", "reciprocal") else x
    for attributes in forms:
        if not all(np.isfinite(v) and v for v in attributes.values() if not isinstance(v, str)):
            continue
        want = run_cpu(name, [x], attributes, opset)
        assert want is not None, (name, opset)
        assert scaled_error(getattr(kernels, operator)(x, **attributes), want[0]) < 1e-4


def test_clip_agrees_with_onnxruntime():
    x = data(np.random.default_rng(13), (7, 50), np.float32)
    for lo, hi in ((-0.5, 0.75), (0.5, -0.5), (np.nan, 1), (-1, np.inf)):
        low, high = np.array(lo, np.float32), np.array(hi, np.float32)
        assert_bits(kernels.clip(x, low, high), run_cpu("Clip", [x, low, high], {}, 13)[0])
    infinite = np.array([np.inf, -np.inf, 2], np.float32)
    assert_bits(kernels.clip(infinite), run_cpu("Clip", [infinite], {}, 13)[0])
