"""QuantizeLinear, DequantizeLinear, DynamicQuantizeLinear against the reference, bit for bit. docs/quantize.md"""

import numpy as np
import pytest
import strategies_quantized as strategies
from faces import FACES, NEWEST_OPSET, graph, node, session
from helpers import FLOAT_PARAMS, KINDS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from onnx import helper
from onnxruntime_ep_exact.operators import OPERATORS
from ort_nodes import run_cpu

SCALES = [name for name in FLOAT_PARAMS if name != "float64"]
QUANTIZED = ["uint8", "int8", "uint16", "int16"]
NUMBERS = [np.nan, -np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-45, -1e-45, 0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2**31, 1e10]


@given(strategies.quantizations())
@examples(300)
def test_random_quantize(case):
    inputs, attributes = case
    check("quantize_linear", *inputs, threads=(1, 2), **attributes)


@given(strategies.dequantizations())
@examples(300)
def test_random_dequantize(case):
    inputs, attributes = case
    check("dequantize_linear", *inputs, threads=(1, 2), **attributes)


@pytest.mark.parametrize("kind", KINDS)
def test_dynamic(kind):
    rng = np.random.default_rng(1)
    for shape in ((), (1,), (0,), (2, 0, 3), *((n,) for n in (*range(2, 36), 63, 64, 65, 129, 1000)), (3, 5, 7)):
        check("dynamic_quantize_linear", data(rng, shape, np.float32, kind))


@pytest.mark.parametrize("dtype", SCALES)
@pytest.mark.parametrize("quantized", QUANTIZED)
def test_every_length(dtype, quantized):
    """Every remainder of a vector: one scale, a scale per column, per row and per plane, and blocks."""
    rng = np.random.default_rng(2)
    for n in [*range(1, 36), 63, 64, 65, 129]:
        kind = KINDS[n % len(KINDS)]
        x = data(rng, (3, n), TYPE_NAMES[dtype], kind)
        q = data(rng, (3, n), quantized)
        for shape, form in (([], {}), ([n], {"axis": 1}), ([3], {"axis": 0}), ([3, -(-n // 5)], {"axis": 1, "block_size": 5})):
            scale, zero = strategies.scales(rng, shape, dtype, size=1 / 50), data(rng, shape, quantized)
            check("quantize_linear", x, scale, np.asarray(zero), threads=(1,), **form)
            check("dequantize_linear", q, scale, np.asarray(zero), threads=(1,), **form)
        scale, zero = strategies.scales(rng, [2], dtype), data(rng, [2], quantized)
        check("quantize_linear", data(rng, (2, 2, n), TYPE_NAMES[dtype], kind), scale, zero, threads=(1,))
        check("dequantize_linear", data(rng, (2, 2, n), quantized), scale, zero, threads=(1,))


@pytest.mark.parametrize("shape", [(70001,), (300, 333), (1, 7, 90, 90), (3000, 40)], ids=str)
def test_large(shape):
    """Cut into tasks."""
    rng = np.random.default_rng(3)
    x = data(rng, shape, np.float32, "wide")
    check("dynamic_quantize_linear", x)
    for quantized in QUANTIZED:
        scale, zero = np.asarray(np.float32(0.37)), np.asarray(data(rng, (), quantized))
        (y,) = check("quantize_linear", x, scale, zero)
        check("dequantize_linear", y, scale, zero)
        if len(shape) > 1:
            scale, zero = strategies.scales(rng, [shape[1]]), data(rng, [shape[1]], quantized)
            check("quantize_linear", x, scale, zero)
            check("dequantize_linear", y, scale, zero)


@pytest.mark.parametrize("dtype", SCALES)
def test_special_values(dtype):
    """Every number by every scale, each at every place of a vector."""
    dtype = TYPE_NAMES[dtype]
    with np.errstate(over="ignore"):
        numbers = np.array(NUMBERS, np.float32).astype(dtype)
    for scale in numbers:
        for quantized in QUANTIZED:
            info = np.iinfo(quantized)
            for zero in (info.min, 5, info.max):
                x = np.concatenate([np.roll(numbers, i) for i in range(4)])
                check("quantize_linear", x, np.asarray(scale), np.array(zero, quantized), threads=(1,))
                ends = np.array([info.min, 5, info.max] * 7, quantized)
                check("dequantize_linear", ends, np.asarray(scale), np.array(zero, quantized), threads=(1,))


def test_values_of_the_page():
    x = np.array([np.nan, np.inf, -np.inf, 3e38, -0.0, 0.5, 1.5, 2.5, -2.5], np.float32)
    one = np.array(1, np.float32)
    assert check("quantize_linear", x, one, np.array(5, np.uint8))[0].tolist() == [0, 255, 0, 255, 5, 5, 7, 7, 3]
    assert check("quantize_linear", x, one, np.array(-5, np.int8))[0].tolist() == [-128, 127, -128, 127, -5, -5, -3, -3, -7]
    # A true division: 0.3's reciprocal, rounded, would give other ties.
    third = np.float32(0.3)
    ties = (np.arange(-100, 100) + np.float32(0.5)).astype(np.float32) * third
    want = np.clip(np.rint(ties / third), -128, 127).astype(np.int8)
    assert (np.rint(ties * (np.float32(1) / third)) != np.rint(ties / third)).any()
    assert_bits(check("quantize_linear", ties, np.asarray(third), np.array(0, np.int8))[0], want)
    # The addition of the zero point neither rounds nor overflows.
    wide = np.array([-65535, -65534.5, 65535, 0], np.float32)
    assert check("quantize_linear", wide, one, np.array(65535, np.uint16))[0].tolist() == [0, 1, 65535, 65535]


def test_int32_differences_are_exact():
    x = np.array([2**31 - 1, -(2**31), 16777217], np.int32)
    (y,) = check("dequantize_linear", x, np.array(1, np.float32), np.array(-(2**31), np.int32))
    assert y.tolist() == [2.0**32, 0.0, float(np.float32(2**31 + 16777217))]


@pytest.mark.parametrize("dtype", SCALES)
def test_nan_is_canonical(dtype):
    dtype = TYPE_NAMES[dtype]
    nan = -np.array([np.nan], dtype)
    (y,) = check("dequantize_linear", np.array([3], np.uint8), nan)
    assert bits(y)[0] == {"float32": 0x7FC00000, "float16": 0x7E00, "bfloat16": 0x7FC0}[np.dtype(dtype).name]


def test_dynamic_values_of_the_page():
    def run(*values):
        y, scale, zero = check("dynamic_quantize_linear", np.array(values, np.float32))
        return y.tolist(), scale, zero.item()

    assert run() == ([], 1.0, 0)
    assert run(0.0, -0.0) == ([0, 0], 1.0, 0)
    assert run(5, 5) == ([255, 255], np.float32(5) / np.float32(255), 0)
    assert run(-5, -5) == ([0, 0], np.float32(5) / np.float32(255), 255)
    assert run(-100.5, 154.5) == ([0, 254], 1.0, 100)
    assert run(1e-45) == ([255], 0.0, 0)
    assert run(3e38, -3e38) == ([0, 0], np.inf, 0)
    assert run(-np.inf, 1) == ([0, 0], np.inf, 0)
    for place in range(40):  # a NaN at any place
        x = np.arange(1, 41, dtype=np.float32)
        x[place] = -np.nan
        y, scale, zero = check("dynamic_quantize_linear", x)
        assert not y.any() and bits(scale) == 0x7FC00000 and zero == 0


def test_rows_do_not_depend_on_the_batch():
    rng = np.random.default_rng(4)
    x = data(rng, (8, 5, 33), np.float32, "special")
    q = data(rng, (8, 5, 33), np.int8)
    scale, zero = strategies.scales(rng, [5]), data(rng, [5], np.int8)
    for name, threads in variants():
        with isa(name):
            for function, whole in (("quantize_linear", x), ("dequantize_linear", q)):
                want = getattr(kernels, function)(whole, scale, zero, threads=threads)
                for row in range(8):
                    one = getattr(kernels, function)(whole[row : row + 1], scale, zero)
                    assert_bits(one, want[row : row + 1], f"{function} row {row}")


@pytest.mark.parametrize("quantized", QUANTIZED)
def test_agrees_with_onnxruntime(quantized):
    """Not for a float16 quotient outside int32, which it overflows."""
    rng = np.random.default_rng(5)
    for dtype in (np.float32, np.float16):
        for shape, form in (([], {}), ([7], {}), ([4], {"axis": 0}), ([4, 7, 4], {"axis": 2, "block_size": 3})):
            x, q = (
                data(rng, (4, 7, 11), dtype, "special" if dtype == np.float32 else "normal"),
                data(rng, (4, 7, 11), quantized),
            )
            scale, zero = (
                strategies.scales(rng, shape, np.dtype(dtype).name, size=1 / 60),
                np.asarray(data(rng, shape, quantized)),
            )
            x = np.where(np.isfinite(x) | (not form.get("block_size")), np.clip(x, -1e4, 1e4), dtype(0)).astype(dtype)
            for operator, first in (("QuantizeLinear", x), ("DequantizeLinear", q)):
                want = run_cpu(operator, [first, scale, zero], form, 21)
                function = {"QuantizeLinear": kernels.quantize_linear, "DequantizeLinear": kernels.dequantize_linear}[operator]
                assert_bits(function(first, scale, zero, **form), want[0], f"{operator} {form}")


def test_dynamic_agrees_with_onnxruntime():
    rng = np.random.default_rng(6)
    for n in range(1, 60):
        for kind in ("normal", "wide", "integers"):
            x = data(rng, (n,), np.float32, kind)
            for got, want in zip(
                kernels.dynamic_quantize_linear(x), run_cpu("DynamicQuantizeLinear", [x], {}, 11, 3), strict=True
            ):
                assert_bits(got, np.asarray(want))


# ---- sessions ----

FORMS = ("constants", "inputs", "dynamic")


def declared(operator):
    """The faces that serve it: the custom-op library leaves out operators of phantom 0."""
    phantom = max(row.phantom for row in OPERATORS if row.type == operator)
    return [face for face in FACES if face == "plugin" or phantom]


def check_session(operator, inputs, attributes, opset, want, form):
    arrays = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    constants = {k: v for k, v in arrays.items() if form == "constants" and k != "x0"}
    feeds = {k: v for k, v in arrays.items() if k not in constants}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)] if form == "dynamic" else v.shape) for k, v in feeds.items()}
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    results = [f"y{i}" for i in range(len(want))]
    proto = graph([node(operator, names, results, **attributes)], shapes, constants, results, opset)
    for face in declared(operator):
        for got, one in zip(session(proto, face).run(None, feeds), want, strict=True):
            assert_bits(np.asarray(got), one, f"{operator} {face} {form} opset {opset}")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("opset", [n for n in (10, 13, 19, 21, 23, 24, 25) if n <= NEWEST_OPSET])
def test_opsets(opset, form):
    rng = np.random.default_rng(7)
    quantized = ("uint8", "int8") if opset < 21 else QUANTIZED
    for dtype in (np.float32, np.float16) if opset >= 19 else (np.float32,):
        for name in quantized:
            x, q = data(rng, (2, 5, 33), dtype, "wide"), data(rng, (2, 5, 33), name)
            for shape in ([], [5]):
                scale, zero = strategies.scales(rng, shape, np.dtype(dtype).name), np.asarray(data(rng, shape, name))
                for operator, first in (("QuantizeLinear", x), ("DequantizeLinear", q)):
                    function = "quantize_linear" if operator == "QuantizeLinear" else "dequantize_linear"
                    want = check(function, first, scale, zero, threads=(1,))
                    check_session(operator, [first, scale, zero], {}, opset, want, form)


@pytest.mark.parametrize("form", FORMS)
def test_forms_in_a_session(form):
    rng = np.random.default_rng(8)
    x, q = data(rng, (3, 5, 19), np.float32), data(rng, (3, 5, 19), np.int32)
    scale = strategies.scales(rng, [])
    check_session("QuantizeLinear", [x, scale], {}, 13, check("quantize_linear", x, scale), form)
    check_session("DequantizeLinear", [q, scale], {}, 13, check("dequantize_linear", q, scale), form)
    check_session("DynamicQuantizeLinear", [x], {}, 11, check("dynamic_quantize_linear", x), form)
    if NEWEST_OPSET < 21:
        return
    blocks, zero = strategies.scales(rng, [3, 2, 19]), data(rng, [3, 2, 19], np.int16)
    form21 = {"axis": 1, "block_size": 3}
    check_session("QuantizeLinear", [x, blocks, zero], form21, 21, check("quantize_linear", x, blocks, zero, **form21), form)
    for name in QUANTIZED:
        wanted = check("quantize_linear", x, scale, output_dtype=name)
        number = helper.np_dtype_to_tensor_dtype(np.dtype(name))
        check_session("QuantizeLinear", [x, scale], {"output_dtype": number}, 21, wanted, form)
    if NEWEST_OPSET >= 23:
        wanted = check("dequantize_linear", q, scale, output_dtype=np.float16)
        check_session("DequantizeLinear", [q, scale], {"output_dtype": 10}, 23, wanted, form)


# ---- errors ----

ONE = np.ones((), np.float32)
X = np.ones((2, 3, 4), np.float32)
INVALID = {
    "scale of another extent": ("QuantizeLinear", [X, np.ones(2, np.float32)], {}, "scale"),
    "scale of rank 2": ("QuantizeLinear", [X, np.ones((1, 3), np.float32)], {}, "scale"),
    "zero point of another shape": ("QuantizeLinear", [X, np.ones(3, np.float32), np.array(1, np.uint8)], {}, "zero"),
    "one zero point too many": ("QuantizeLinear", [X, ONE, np.ones(3, np.uint8)], {}, "zero"),
    "axis": ("QuantizeLinear", [X, np.ones(3, np.float32)], {"axis": 3}, "axis"),
    "negative axis": ("DequantizeLinear", [X.astype(np.int8), np.ones(3, np.float32)], {"axis": -4}, "axis"),
    "axis of a vector": ("QuantizeLinear", [X[0, 0], np.ones(4, np.float32)], {}, "axis"),
    "block_size": ("QuantizeLinear", [X, np.ones((2, 3, 2), np.float32)], {"axis": 2, "block_size": -1}, "block_size"),
    "blocks": ("QuantizeLinear", [X, np.ones((2, 3, 2), np.float32)], {"axis": 2, "block_size": 4}, "scale|block"),
    "blocks of one scale": ("QuantizeLinear", [X, ONE], {"axis": 2, "block_size": 2}, "scale|block"),
    "blocks of another rank": (
        "DequantizeLinear",
        [X.astype(np.int8), np.ones((3, 2), np.float32)],
        {"block_size": 2},
        "scale",
    ),
    "scale of a rank-0 x": ("DequantizeLinear", [np.array(1, np.int8), np.ones(2, np.float32)], {}, "scale|axis|rank"),
}


@pytest.mark.parametrize("name", INVALID)
def test_invalid(name):
    operator, inputs, attributes, reason = INVALID[name]
    function = {"QuantizeLinear": "quantize_linear", "DequantizeLinear": "dequantize_linear"}[operator]
    assert check(function, *inputs, **attributes, threads=(1,)) is ValueError
    with pytest.raises(ValueError, match=rf"(?s){function}: .*({reason})"):
        getattr(kernels, function)(*inputs, **attributes)
    if NEWEST_OPSET < 21:
        return
    feeds = {f"x{i}": value for i, value in enumerate(inputs)}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)]) for k, v in feeds.items()}
    for face in declared(operator):
        with pytest.raises(Exception, match=rf"(?s)({operator}|n).*({reason})"):
            session(graph([node(operator, list(feeds), **attributes)], shapes, opset=21), face).run(None, feeds)


def test_types():
    one, byte = np.ones((), np.float32), np.ones((), np.uint8)
    for x in (np.ones(3), np.ones(3, np.int32), np.ones(3, np.int8)):
        assert check("quantize_linear", x, one, byte, threads=(1,)) is NotImplementedError
        with pytest.raises(NotImplementedError, match=rf"quantize_linear: .*{x.dtype}"):
            kernels.quantize_linear(x, one, byte)
    for zero in (np.ones((), np.int32), np.ones((), np.float32)):
        assert check("quantize_linear", X, one, zero, threads=(1,)) is NotImplementedError
    for scale in (np.ones(()), np.ones((), np.int32)):
        assert check("quantize_linear", X, scale, byte, threads=(1,)) is NotImplementedError
        assert check("dequantize_linear", X.astype(np.int8), scale, threads=(1,)) is NotImplementedError
    for x in (X, X.astype(np.int64), X.astype(np.bool_)):
        assert check("dequantize_linear", x, one, threads=(1,)) is NotImplementedError
    assert check("dequantize_linear", X.astype(np.int8), one, byte, threads=(1,)) is ValueError
    assert check("quantize_linear", X, one, byte, output_dtype="int8", threads=(1,)) is ValueError
    assert check("quantize_linear", X, one, output_dtype="int32", threads=(1,)) is NotImplementedError
    assert check("quantize_linear", X, one, precision="float64", threads=(1,)) is NotImplementedError
    assert check("dequantize_linear", X.astype(np.int8), one, output_dtype="float64", threads=(1,)) is NotImplementedError
    for precision in ("float32", "float16", TYPE_NAMES["bfloat16"]):
        assert_bits(kernels.quantize_linear(X, one, byte, precision=precision), kernels.quantize_linear(X, one, byte))
    for x in (X.astype(np.float64), X.astype(np.float16)):
        assert check("dynamic_quantize_linear", x, threads=(1,)) is NotImplementedError


def test_rank():
    deep = np.ones([1] * 17, np.float32)
    assert check("quantize_linear", deep, ONE, threads=(1,)) is NotImplementedError
    assert check("dequantize_linear", deep.astype(np.int8), ONE, threads=(1,)) is NotImplementedError
    check("quantize_linear", deep[0], ONE)
    check("dequantize_linear", np.full([1] * 15 + [5], 3, np.int8), np.ones(5, np.float32), axis=-1)
