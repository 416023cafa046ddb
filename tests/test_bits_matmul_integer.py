"""MatMulInteger and QLinearMatMul against the reference, bit for bit. docs/matmul_integer.md"""

import numpy as np
import pytest
import strategies_quantized as strategies
from faces import FACES, NEWEST_OPSET, graph, node, session
from helpers import TYPE_NAMES, assert_bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu

EIGHT = ("uint8", "int8")
PAIRS = [(first, second) for first in EIGHT for second in EIGHT]
SCALES = ["float32", "float16", "bfloat16"]


def array(values, dtype):
    return np.array(values, dtype)


@given(strategies.integer_matmuls())
@examples(300)
def test_random_integer(inputs):
    check("matmul_integer", *inputs, threads=(1, 2))


@given(strategies.qlinear_matmuls())
@examples(300)
def test_random_qlinear(inputs):
    check("qlinear_matmul", *inputs, threads=(1, 2))


@pytest.mark.parametrize("first, second", PAIRS)
def test_every_size(first, second):
    """Every remainder of the rows, columns and terms of a tile."""
    rng = np.random.default_rng(1)
    for size in [*range(1, 36), 63, 64, 65]:
        for m, k, n in ((size, 9, 5), (3, size, 18), (4, 11, size), (1, 64, size), (size, 3, 1)):
            a, b = data(rng, (m, k), first), data(rng, (k, n), second)
            zeros = np.asarray(data(rng, (), first)), data(rng, (n,), second)
            check("matmul_integer", a, b, *zeros, threads=(1,))
            scales = np.asarray(np.float32(0.02)), strategies.scales(rng, [n], size=0.05), array(3, np.float32)
            check("qlinear_matmul", a, scales[0], zeros[0], b, scales[1], zeros[1], scales[2], array(7, first), threads=(1,))


@pytest.mark.parametrize("first, second", PAIRS)
@pytest.mark.parametrize("shape", [(70, 300, 90), (1, 3000, 257), (513, 40, 33), (1, 1, 1000)], ids=str)
def test_large(shape, first, second):
    rng = np.random.default_rng(2)
    m, k, n = shape
    a, b = data(rng, (m, k), first), data(rng, (k, n), second)
    check("matmul_integer", a, b)
    check("matmul_integer", a, b, data(rng, (m, 1), first), data(rng, (1, n), second))


@pytest.mark.parametrize("first, second", PAIRS)
def test_extremes(first, second):
    """The least and greatest numbers beside the least and greatest zero points: no product and no pair saturates."""
    ends = [[np.iinfo(dtype).min, np.iinfo(dtype).max] for dtype in (first, second)]
    for a in ends[0]:
        for b in ends[1]:
            for za in (None, *ends[0]):
                for zb in (None, *ends[1]):
                    inputs = np.full((5, 259), a, first), np.full((259, 19), b, second)
                    zeros = None if za is None else array(za, first), None if zb is None else array(zb, second)
                    (y,) = check("matmul_integer", *inputs, *zeros, threads=(1,))
                    assert (y == 259 * (a - (za or 0)) * (b - (zb or 0))).all()


def test_pairs_do_not_saturate():
    """256 products of 255 and 127: two of them are beyond 16 bits."""
    a, b = np.full((1, 256), 255, np.uint8), np.full((256, 16), 127, np.int8)
    (y,) = check("matmul_integer", a, b)
    assert y.tolist() == [[8290560] * 16]
    for form in ("constants", "inputs"):
        check_session("MatMulInteger", [a, b], 10, (y,), form)


def test_sums_wrap():
    count = 140000
    a, b = np.full((1, count), 255, np.uint8), np.full((count, 2), 255, np.uint8)
    want = (count * 255 * 255 + 2**31) % 2**32 - 2**31
    assert check("matmul_integer", a, b)[0].tolist() == [[want, want]]
    one = array(1, np.float32)
    (y,) = check(
        "qlinear_matmul", a, one, array(0, np.uint8), b, one, array(0, np.uint8), array(1e8, np.float32), array(9, np.uint8)
    )
    assert y.tolist() == [[9 + round(want / 1e8)] * 2]


def requantize(acc, a_scale, b_scale, y_scale, zero, dtype="uint8"):
    """QLinearMatMul of the sums `acc`, as [255, ..., 255, rest] times ones."""
    depth = max(int(v) for v in acc) // 255 + 1
    a = np.zeros((len(acc), depth), np.uint8)
    for row, value in enumerate(acc):
        a[row, : value // 255] = 255
        a[row, value // 255] = value % 255
    scales = [array(s, np.float32) for s in (a_scale, b_scale, y_scale)]
    byte = array(0, np.uint8)
    return check(
        "qlinear_matmul", a, scales[0], byte, np.ones((depth, 1), np.uint8), scales[1], byte, scales[2], array(zero, dtype)
    )[0]


def test_order_of_the_multiplier():
    """Numbers for which (a * b) / y, a * (b / y), (a / y) * b and dividing at the end round to different results."""
    rng = np.random.default_rng(3)
    told_apart = set()
    for _ in range(3000):
        a, b, y = (rng.random(3) + 0.01).astype(np.float32)
        m = a * b / y
        others = {"a * (b / y)": a * (b / y), "(a / y) * b": a / y * b, "a * b * (1 / y)": a * b * (np.float32(1) / y)}
        sums = np.arange(1, 3000)
        products = sums.astype(np.float32) * m
        want = np.rint(products)
        for name, other in others.items():
            hits = np.flatnonzero((np.rint(sums.astype(np.float32) * other) != want) & (want < 200))
            if hits.size and name not in told_apart:
                told_apart.add(name)
                some = sums[hits[:4]]
                assert requantize(some, a, b, y, 3).ravel().tolist() == (want[hits[:4]] + 3).tolist()
        if len(told_apart) == len(others):
            return
    raise AssertionError(f"only {told_apart}")


@pytest.mark.parametrize("dtype", EIGHT)
def test_special_scales(dtype):
    info = np.iinfo(dtype)
    for a, b, y in (
        (np.nan, 1, 1),
        (1, 1, 0),
        (np.inf, 1, 1),
        (-1, 1, 1),
        (1, 1, np.inf),
        (0, 1, 0),
        (1e30, 1e30, 1),
        (1, 1, 1e-45),
    ):
        for zero in (info.min, 3, info.max):
            requantize([0, 1, 2, 700], a, b, y, zero, dtype)
    assert requantize([0, 1], 1, 1, 0, 3, dtype).ravel().tolist() == [info.min, info.max]  # 0 times infinity is NaN
    assert requantize([0, 1], np.nan, 1, 1, 3, dtype).ravel().tolist() == [info.min, info.min]


def test_empty():
    for a, b in (
        ((3, 0), (0, 5)),
        ((0, 4), (4, 5)),
        ((3, 4), (4, 0)),
        ((2, 0, 4), (4, 5)),
        ((0,), (0,)),
        ((0, 3, 4), (0, 4, 2)),
    ):
        inputs = np.zeros(a, np.uint8), np.zeros(b, np.int8)
        check("matmul_integer", *inputs)
        half = array(0.5, np.float32)
        (y,) = check(
            "qlinear_matmul", inputs[0], half, array(1, np.uint8), inputs[1], half, array(2, np.int8), half, array(7, np.int8)
        )
        assert (y == 7).all()


@pytest.mark.parametrize("first, second", PAIRS)
def test_rows_do_not_depend_on_the_batch(first, second):
    rng = np.random.default_rng(4)
    a, b = data(rng, (8, 5, 131), first), data(rng, (131, 37), second)
    zeros = array(9, first), data(rng, (37,), second)
    scales = array(0.02, np.float32), strategies.scales(rng, [37], size=0.05), array(7, np.float32)
    for name, threads in variants():
        with isa(name):
            whole = kernels.matmul_integer(a, b, *zeros, threads=threads)
            linear = [scales[0], zeros[0], b, scales[1], zeros[1], scales[2], array(5, second)]
            quantized = kernels.qlinear_matmul(a, *linear, threads=threads)
            for row in range(8):
                one = a[row : row + 1]
                assert_bits(kernels.matmul_integer(one, b, *zeros), whole[row : row + 1], f"row {row}")
                assert_bits(kernels.qlinear_matmul(one, *linear), quantized[row : row + 1], f"row {row}")
                assert_bits(kernels.matmul_integer(a[row, 2:3], b, *zeros), whole[row, 2:3], f"row {row}, 2")


@pytest.mark.parametrize("first, second", PAIRS)
def test_agrees_with_onnxruntime(first, second):
    rng = np.random.default_rng(5)
    for shape in ((7, 33), (2, 3, 40), (33,)):
        a, b = data(rng, shape, first), data(rng, (shape[-1], 19), second)
        zeros = np.asarray(data(rng, (), first)), data(rng, (19,), second)
        assert_bits(kernels.matmul_integer(a, b, *zeros), run_cpu("MatMulInteger", [a, b, *zeros], {}, 10)[0])
        linear = [a, array(0.02, np.float32), zeros[0], b, strategies.scales(rng, [19], size=0.05), zeros[1]]
        linear += [array(7, np.float32), np.asarray(data(rng, (), first))]
        want = run_cpu("QLinearMatMul", linear, {}, 10)
        assert (want is None) == ((first, second) == ("int8", "uint8"))
        if want is not None:
            assert_bits(kernels.qlinear_matmul(*linear), want[0])


# ---- sessions ----


def check_session(operator, inputs, opset, want, form):
    arrays = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    constants = {k: v for k, v in arrays.items() if form == "constants" and k != "x0"}
    feeds = {k: v for k, v in arrays.items() if k not in constants}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)] if form == "dynamic" else v.shape) for k, v in feeds.items()}
    names = [f"x{i}" if value is not None else "" for i, value in enumerate(inputs)]
    proto = graph([node(operator, names)], shapes, constants, opset=opset)
    for face in FACES:
        assert_bits(np.asarray(session(proto, face).run(None, feeds)[0]), want[0], f"{operator} {face} {form}")


FORMS = ("constants", "inputs", "dynamic")


@given(strategies.integer_matmuls(), st.sampled_from(FORMS))
@examples(80)
def test_random_integer_in_a_session(inputs, form):
    want = check("matmul_integer", *inputs, threads=(1,))
    if isinstance(want, tuple):
        check_session("MatMulInteger", inputs, 10, want, form)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("opset", [10, 13, *([21] if NEWEST_OPSET >= 21 else [])])
@pytest.mark.parametrize("first, second", PAIRS)
@pytest.mark.parametrize("third", EIGHT)
def test_qlinear_in_a_session(first, second, third, opset, form):
    rng = np.random.default_rng(6)
    for dtype in ("float32", "float16") if opset >= 21 else ("float32",):
        for stack, columns in (([], [23]), ([2], [1, 23]), ([], [])):
            a, b = data(rng, (*stack, 5, 70), first), data(rng, (70, 23), second)
            inputs = [a, strategies.scales(rng, [], dtype, size=0.05), np.asarray(data(rng, (), first))]
            inputs += [b, strategies.scales(rng, columns, dtype, size=0.05), np.asarray(data(rng, columns, second))]
            inputs += [strategies.scales(rng, [1], dtype, size=9.0), data(rng, (1,), third)]
            check_session("QLinearMatMul", inputs, opset, check("qlinear_matmul", *inputs, threads=(1,)), form)


# ---- errors ----

A, B = np.ones((2, 3), np.uint8), np.ones((3, 4), np.int8)
ZERO, SIGNED, ONE = np.ones((), np.uint8), np.ones((), np.int8), np.ones((), np.float32)
LINEAR = [A, ONE, ZERO, B, ONE, SIGNED, ONE, ZERO]


def changed(**values):
    """LINEAR with other inputs: a name is i and the number of the input."""
    return [values.get(f"i{i}", value) for i, value in enumerate(LINEAR)]


INVALID = {
    "rank 0": ("MatMulInteger", [ZERO, B], "rank"),
    "K": ("MatMulInteger", [A, B[:2]], "K|columns|3|[Dd]imension"),
    "stack": ("MatMulInteger", [np.ones((2, 2, 3), np.uint8), np.ones((3, 3, 2), np.int8)], "broadcast|stack|[Dd]imension"),
    "zero point of A": ("MatMulInteger", [A, B, np.ones(3, np.uint8)], "a_zero_point|zero point of a"),
    "zero point of A, as a row": ("MatMulInteger", [A, B, np.ones((1, 2), np.uint8)], "a_zero_point|zero point of a"),
    "zero point of B": ("MatMulInteger", [A, B, ZERO, np.ones(3, np.int8)], "b_zero_point|zero point of b"),
    "zero point of B, as a column": ("MatMulInteger", [A, B, ZERO, np.ones((4, 1), np.int8)], "b_zero_point|zero point of b"),
    "zero point of a stack": (
        "MatMulInteger",
        [A, np.ones((2, 3, 4), np.int8), ZERO, np.ones(4, np.int8)],
        "b_zero_point|zero point of b",
    ),
    "a_scale": ("QLinearMatMul", changed(i1=np.ones(3, np.float32)), "a_scale|scale of a"),
    "a_zero_point": ("QLinearMatMul", changed(i2=np.ones((2, 2), np.uint8)), "a_zero_point|zero point of a"),
    "b_scale": ("QLinearMatMul", changed(i4=np.ones(5, np.float32)), "b_scale|scale of b"),
    "b_zero_point": ("QLinearMatMul", changed(i5=np.ones((1, 1), np.int8)), "b_zero_point|zero point of b"),
    "y_scale": ("QLinearMatMul", changed(i6=np.ones(4, np.float32)), "y_scale|of y"),
    "y_zero_point": ("QLinearMatMul", changed(i7=np.ones(2, np.uint8)), "y_zero_point|of y"),
    "different K": ("QLinearMatMul", changed(i3=B[:2]), "K|columns|3|[Dd]imension"),
}
FUNCTIONS = {"MatMulInteger": "matmul_integer", "QLinearMatMul": "qlinear_matmul"}


@pytest.mark.parametrize("name", INVALID)
def test_invalid(name):
    operator, inputs, reason = INVALID[name]
    assert check(FUNCTIONS[operator], *inputs, threads=(1,)) is ValueError
    with pytest.raises(ValueError, match=rf"(?s){FUNCTIONS[operator]}: .*"):
        getattr(kernels, FUNCTIONS[operator])(*inputs)
    feeds = {f"x{i}": value for i, value in enumerate(inputs)}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)]) for k, v in feeds.items()}
    for face in FACES:
        with pytest.raises(Exception, match=rf"(?si)({operator}|n).*({reason})"):
            session(graph([node(operator, list(feeds))], shapes, opset=10), face).run(None, feeds)


def test_types():
    assert check("matmul_integer", A.astype(np.int32), B, threads=(1,)) is NotImplementedError
    assert check("matmul_integer", A, B.astype(np.int16), threads=(1,)) is NotImplementedError
    assert check("matmul_integer", A, B, SIGNED, threads=(1,)) is ValueError
    assert check("matmul_integer", A, B, ZERO, ZERO, threads=(1,)) is ValueError
    assert check("qlinear_matmul", *changed(i2=SIGNED), threads=(1,)) is ValueError
    assert check("qlinear_matmul", *changed(i5=ZERO), threads=(1,)) is ValueError
    for place in (1, 4, 6):
        assert check("qlinear_matmul", *changed(**{f"i{place}": np.ones(())}), threads=(1,)) is NotImplementedError
        for name in SCALES:
            check("qlinear_matmul", *changed(**{f"i{place}": np.ones((), TYPE_NAMES[name])}), threads=(1,))
    assert check("qlinear_matmul", *changed(i7=np.ones((), np.int16)), threads=(1,)) is NotImplementedError
    with pytest.raises(NotImplementedError, match=r"matmul_integer: .*int32"):
        kernels.matmul_integer(A.astype(np.int32), B)


def test_absurd_sizes():
    tall = np.zeros((1 << 31, 0), np.uint8)
    with pytest.raises((ValueError, MemoryError), match="matmul_integer"):
        kernels.matmul_integer(tall, tall.T)
    with pytest.raises((ValueError, MemoryError), match="qlinear_matmul"):
        kernels.qlinear_matmul(tall, ONE, ZERO, tall.T, ONE, ZERO, ONE, ZERO)
