"""MatMul and Gemm against the reference, bit for bit. docs/matmul.md"""

import numpy as np
import pytest
import reference
from faces import FACES, NEWEST_OPSET, graph, node, session
from helpers import (
    FLOAT_PARAMS,
    KINDS,
    TYPE_NAMES,
    assert_bits,
    attempt,
    check,
    data,
    examples,
    isa,
    kernels,
    scaled_error,
    variants,
)
from hypothesis import given
from hypothesis import strategies as st
from ort_nodes import run_cpu

INTEGERS = ["int32", "int64", "uint32", "uint64"]
SIZES = st.one_of(st.integers(1, 9), st.sampled_from([0, 15, 16, 17, 31, 33, 47, 48, 49, 63, 64, 65, 97, 130]))
SEEDS = st.integers(0, 2**32 - 1)


def element_type(dtype):
    return TYPE_NAMES.get(dtype, dtype)


@st.composite
def stacks(draw):
    """Two stacks that broadcast: sizes of which one may be 1 or missing."""
    whole = draw(st.lists(st.integers(1, 3), max_size=3))
    pair = []
    for _ in range(2):
        thinned = [1 if draw(st.booleans()) and draw(st.booleans()) else size for size in whole]
        pair.append(thinned[draw(st.integers(0, len(whole))) :] if draw(st.booleans()) else thinned)
    return pair


@st.composite
def matmuls(draw, dtypes=(*FLOAT_PARAMS, *INTEGERS)):
    """Inputs of a MatMul; once in a while of shapes that do not fit."""
    left, right = draw(stacks())
    m, k, n = draw(SIZES), draw(SIZES), draw(SIZES)
    a, b = [*left, m, k], [*right, k, n]
    form = draw(st.integers(0, 11))
    if form == 0:
        a = [k]
    elif form == 1:
        b = [k]
    elif form == 2:
        a[draw(st.integers(0, len(a) - 1))] += 1
    dtype, kind, rng = draw(st.sampled_from(dtypes)), draw(st.sampled_from(KINDS)), np.random.default_rng(draw(SEEDS))
    return data(rng, a, element_type(dtype), kind), data(rng, b, element_type(dtype), kind)


@st.composite
def gemms(draw, dtypes=FLOAT_PARAMS):
    """(inputs, attributes) of a Gemm."""
    m, k, n = draw(SIZES), draw(SIZES), draw(SIZES)
    dtype, kind, rng = (
        element_type(draw(st.sampled_from(dtypes))),
        draw(st.sampled_from(KINDS)),
        np.random.default_rng(draw(SEEDS)),
    )
    attributes = {name: draw(st.integers(0, 1)) for name in ("transA", "transB") if draw(st.booleans())}
    for name in ("alpha", "beta"):
        if draw(st.booleans()):
            attributes[name] = draw(st.sampled_from([1.0, 0.0, -0.0, 0.1, -1.5, 3.0e38, 1e-40]))
    a = data(rng, (k, m) if attributes.get("transA") else (m, k), dtype, kind)
    b = data(rng, (n, k) if attributes.get("transB") else (k, n), dtype, kind)
    shapes = [None, (m, n), (1, n), (m, 1), (n,), (1,), (), (1, 1), (m + 1, n), (1, m, n)]
    c = draw(st.sampled_from(shapes))
    return [a, b, None if c is None else data(rng, c, dtype, kind)], attributes


@given(matmuls())
@examples(300)
def test_random_matmul(inputs):
    check("matmul", *inputs, threads=(1, 2))


@given(gemms())
@examples(300)
def test_random_gemm(case):
    inputs, attributes = case
    check("gemm", *inputs, threads=(1, 2), **attributes)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_remainder(dtype):
    """Every number of rows and columns around the tiles, and sums longer than a block."""
    rng = np.random.default_rng(1)
    for m in range(1, 20):
        n = 3 * m + 1
        check("matmul", data(rng, (m, 40), element_type(dtype), "wide"), data(rng, (40, n), element_type(dtype)), threads=(1,))
    for n in range(1, 100):
        m = n % 11 + 1
        check("matmul", data(rng, (m, 5), element_type(dtype)), data(rng, (5, n), element_type(dtype)), threads=(1,))
    for k in (319, 320, 321, 641, 1000, 2049):
        inputs = data(rng, (9, k), element_type(dtype), "wide"), data(rng, (k, 50), element_type(dtype))
        check("matmul", *inputs, threads=(1, 2))
        check("gemm", inputs[0], inputs[1], inputs[1][:1], alpha=0.5, threads=(1,))


@pytest.mark.parametrize("shape", [(200, 300, 300), (1, 3000, 70), (3, 70, 3000), (700, 64, 30), (1, 64, 4000)], ids=str)
def test_large(shape):
    m, k, n = shape
    rng = np.random.default_rng(2)
    for dtype in (np.float32, np.float16, np.float64):
        a, b = data(rng, (m, k), dtype, "wide"), data(rng, (k, n), dtype)
        check("matmul", a, b)
        check("gemm", np.ascontiguousarray(a.T), np.ascontiguousarray(b.T), transA=1, transB=1)


def test_special_values():
    zero, inf, nan = np.zeros((1, 1), np.float32), np.full((1, 1), np.inf, np.float32), np.full((1, 1), -np.nan, np.float32)
    one = np.ones((1, 1), np.float32)
    for got, want in (
        (check("matmul", zero, inf)[0], np.nan),
        (check("matmul", -zero, one)[0], 0.0),
        (check("gemm", one, one, nan, beta=0.0)[0], 1.0),
        (check("gemm", one, one, inf, beta=-0.0)[0], 1.0),
        (check("gemm", inf, one, one, alpha=0.0)[0], np.nan),
        (check("gemm", -one, zero, None)[0], 0.0),
        (check("gemm", one, zero, None, alpha=-1.0)[0], -0.0),
        (check("gemm", one, zero, -zero, alpha=-1.0)[0], -0.0),
    ):
        assert_bits(got, np.full((1, 1), want, np.float32))


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(dtype):
    info = np.iinfo(dtype)
    a = np.array([[info.max, info.max, 3], [info.min, 5, info.max]], dtype)
    check("matmul", a, np.array([[info.max, 2], [info.max, 7], [info.min, info.max]], dtype))


def test_rows_do_not_depend_on_the_batch():
    """Row by row, and matrix by matrix of a stack."""
    rng = np.random.default_rng(3)
    a, b = data(rng, (8, 70, 90), np.float32, "wide"), data(rng, (90, 130), np.float32, "wide")
    for name, threads in variants((1, 2)):
        with isa(name):
            whole = kernels.matmul(a, b, threads=threads)
            for i in range(8):
                assert_bits(kernels.matmul(a[i : i + 1], b), whole[i : i + 1])
                assert_bits(kernels.matmul(a[i, 3 : 4 + i], b), whole[i, 3 : 4 + i])
            assert_bits(kernels.gemm(a[0], b, alpha=2.0)[5:6], kernels.gemm(a[0][5:6], b, alpha=2.0))


def test_fast_mode():
    rng = np.random.default_rng(4)
    for dtype in (np.float32, np.float64):
        a, b, c = data(rng, (3, 50, 700), dtype), data(rng, (700, 90), dtype), data(rng, (50, 1), dtype)
        for name in kernels.isa_names():
            for operator, inputs in (("matmul", (a, b)), ("gemm", (a[0], b, c))):
                with isa(name):
                    function = getattr(kernels, operator)
                    one = function(*inputs, mode="fast")
                    assert scaled_error(one, function(*inputs)) <= 1e-4
                    for threads in (2, 7):
                        assert_bits(function(*inputs, mode="fast", threads=threads), one)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint32", "uint64"])
def test_agrees_with_onnxruntime(dtype):
    """Sums of small integers are exact in any order. docs/matmul.md: it refuses K = 0 for unsigned integers."""
    rng = np.random.default_rng(5)
    shapes = [((2, 3, 17), (17, 20)), ((4, 1, 5, 9), (3, 9, 7)), ((9,), (9, 4)), ((5, 9), (9,)), ((9,), (9,))]
    for pair in shapes:
        a, b = (data(rng, s, dtype, "integers") for s in pair)
        want = run_cpu("MatMul", [a, b], {}, 13)[0]
        assert_bits(kernels.matmul(a, b), np.asarray(want))
    empty = np.zeros((2, 0), dtype), np.zeros((0, 3), dtype)
    want = run_cpu("MatMul", empty, {}, 13)
    assert_bits(kernels.matmul(*empty), np.zeros((2, 3), dtype))
    assert (want is None) == dtype.startswith("u")


# ---- sessions ----


def build(op, inputs, attributes, form, opset=13):
    """(model, feeds); form: B and C constant, or inputs, or inputs of unknown sizes."""
    arrays = {f"x{i}": value for i, value in enumerate(inputs) if value is not None}
    constants = {k: v for k, v in arrays.items() if form == "constants" and k != "x0"}
    feeds = {k: v for k, v in arrays.items() if k not in constants}
    shapes = {k: (v.dtype, [f"{k}_{i}" for i in range(v.ndim)] if form == "dynamic" else v.shape) for k, v in feeds.items()}
    return graph([node(op, list(arrays), **attributes)], shapes, constants, opset=opset), feeds


def check_session(op, inputs, attributes, form, opset=13):
    want = attempt(getattr(reference, op.lower()), *inputs, **attributes)
    if not isinstance(want, tuple):
        return
    proto, feeds = build(op, inputs, attributes, form, opset)
    for face in FACES:
        assert_bits(np.asarray(session(proto, face).run(None, feeds)[0]), want[0], f"{op} {face} {form}")


FORMS = st.sampled_from(["constants", "inputs", "dynamic"])
CROSSING = ["float32", "float32", "float64", "float16"]


@given(matmuls(dtypes=[*CROSSING, *INTEGERS]), FORMS)
@examples(80)
def test_random_matmul_in_a_session(inputs, form):
    check_session("MatMul", inputs, {}, form)


@given(gemms(dtypes=CROSSING), FORMS)
@examples(80)
def test_random_gemm_in_a_session(case, form):
    inputs, attributes = case
    check_session("Gemm", inputs, attributes, form)


@pytest.mark.parametrize("opset", [n for n in (7, 9, 11, 13, 21) if n <= NEWEST_OPSET])
def test_opsets(opset):
    rng = np.random.default_rng(6)
    a, b, c = (data(rng, s, np.float32) for s in ((5, 40), (40, 19), (19,)))
    for form in ("constants", "inputs"):
        check_session("MatMul", [a, b], {}, form, opset)
        check_session("Gemm", [a, b, c], {"alpha": 0.5}, form, opset)


ERRORS = {
    "rank 0": ("MatMul", [(), (3, 2)], {}, "rank"),
    "K": ("MatMul", [(2, 3), (4, 2)], {}, "K|columns|3|dimension"),
    "stack": ("MatMul", [(2, 2, 3), (3, 3, 2)], {}, "broadcast|stack|[Dd]imension"),
    "A": ("Gemm", [(2, 2, 3), (3, 2)], {}, "rank"),
    "C": ("Gemm", [(2, 3), (3, 2), (3,)], {}, "C|bias|[Dd]imension|broadcast"),
    "C of rank 3": ("Gemm", [(2, 3), (3, 2), (1, 2, 2)], {}, "C|bias|[Dd]imension|broadcast"),
    "Y to C": ("Gemm", [(1, 3), (3, 2), (4, 2)], {}, "C|bias|[Dd]imension|broadcast"),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name):
    op, shapes, attributes, reason = ERRORS[name]
    inputs = [np.ones(s, np.float32) for s in shapes]
    with pytest.raises(ValueError, match=rf"(?s){op.lower()}: .*"):
        getattr(kernels, op.lower())(*inputs, **attributes)
    for face in FACES:
        proto, feeds = build(op, inputs, attributes, "dynamic")
        with pytest.raises(Exception, match=rf"(?s)({op}|n).*({reason})"):
            session(proto, face).run(None, feeds)


def test_types():
    one = np.ones((2, 2), np.float32)
    with pytest.raises(NotImplementedError, match=r"matmul: .*int8"):
        kernels.matmul(one.astype(np.int8), one.astype(np.int8))
    with pytest.raises(NotImplementedError, match=r"gemm: .*int32"):
        kernels.gemm(one.astype(np.int32), one.astype(np.int32))
    with pytest.raises(ValueError, match=r"matmul: .*float64"):
        kernels.matmul(one, one.astype(np.float64))


def test_absurd_sizes():
    """Views of one element: the sizes overflow, or no memory could be had."""
    huge = np.broadcast_to(np.float32(1), (1 << 31, 1))
    with pytest.raises((ValueError, MemoryError), match="matmul"):
        kernels.matmul(huge, huge.T)
