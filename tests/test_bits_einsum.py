"""Einsum against the reference, bit for bit. docs/einsum.md"""

import numpy as np
import pytest
import strategies
from helpers import (
    FLOAT_PARAMS,
    KINDS,
    TYPE_NAMES,
    assert_bits,
    bits,
    check,
    data,
    examples,
    isa,
    kernels,
    random_nans,
    variants,
)
from hypothesis import given

WHOLE = ["int32", "int64", "uint32", "uint64"]
TYPES = [*FLOAT_PARAMS, *WHOLE]


def arrays(dtype, *shapes, kind="normal", seed=0):
    rng = np.random.default_rng(seed)
    return [np.asarray(data(rng, shape, TYPE_NAMES.get(dtype, dtype), kind)) for shape in shapes]


@given(strategies.einsums(dtypes=TYPES))
@examples(400)
def test_random(node):
    check("einsum", node.attributes["equation"], *node.inputs(), threads=(1, 2))


FORMS = [
    ("ij,jk", (19, 37), (37, 23)),
    ("bhid,bhjd->bhij", (2, 3, 17, 19), (2, 3, 9, 19)),
    ("bij,bjk->bik", (1, 5, 33), (4, 33, 18)),
    ("...ij,...jk", (3, 1, 5, 9), (3, 2, 9, 17)),
    ("ij,kj->ki", (35, 21), (16, 21)),
    ("ji,jk->ik", (21, 33), (21, 16)),
    ("i,j->ij", (33,), (65,)),
    ("i,i", (257,), (257,)),
    ("ij->ji", (33, 17)),
    ("ij->", (33, 17)),
    ("ij->i", (33, 17)),
    ("ij->j", (33, 17)),
    ("ii->i", (19, 19)),
    ("ii", (19, 19)),
    ("iij->j", (7, 7, 33)),
    ("ijj,jk->ik", (5, 9, 9), (9, 17)),
    ("i...->...", (5, 3, 33)),
    ("...ii->...i", (3, 2, 17, 17)),
    ("ij,ij->ij", (9, 33), (9, 33)),
    ("ij,j->ij", (9, 33), (33,)),
    ("i,ij,j->", (9,), (9, 33), (33,)),
    ("ij,jk,kl->il", (3, 5), (5, 7), (7, 17)),
    ("ij,jk,kl,lm", (3, 5), (5, 4), (4, 7), (7, 17)),
    ("Ba,aB,...->...", (3, 5), (5, 3), (2, 3)),
    ("bA,Ac", (3, 5), (5, 7)),
    ("ij,jk", (5, 1), (9, 17)),
    ("ij,jk->jk", (1, 1), (9, 17)),
    (",ij->ij", (), (3, 17)),
    (",", (), ()),
]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("equation, shapes", [(form[0], form[1:]) for form in FORMS], ids=[form[0] for form in FORMS])
def test_forms(equation, shapes, dtype):
    for kind in ("wide", "special") if dtype in FLOAT_PARAMS else ("normal",):
        check("einsum", equation, *arrays(dtype, *shapes, kind=kind))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "int32"])
def test_every_width(dtype):
    """Every remainder of a vector and of a block of rows, in the result, the depth and the stack."""
    for n in [*range(1, 36), 63, 64, 65, 129]:
        kind = KINDS[n % len(KINDS)]
        check("einsum", "ij,jk->ik", *arrays(dtype, (5, 9), (9, n), kind=kind), threads=(1,))
        check("einsum", "ij,kj->ik", *arrays(dtype, (n, 9), (6, 9), kind=kind), threads=(1,))
        check("einsum", "bij,bjk->bki", *arrays(dtype, (2, 3, n), (2, n, 17), kind=kind), threads=(1,))
        check("einsum", "ij,ij->j", *arrays(dtype, (7, n), (7, n), kind=kind), threads=(1,))
        check("einsum", "ij->i", *arrays(dtype, (7, n), kind=kind), threads=(1,))


@pytest.mark.parametrize(
    "equation, shapes",
    [("ij,jk->ik", ((70, 300), (300, 90))), ("bhid,bhjd->bhij", ((2, 4, 60, 40), (2, 4, 70, 40))), ("i,i->", ((70001,),) * 2)],
    ids=str,
)
def test_large(equation, shapes):
    for dtype in ("float32", "float16", "int64"):
        check("einsum", equation, *arrays(dtype, *shapes, kind="wide"), threads=(1, 7))


@pytest.mark.parametrize("dtype", TYPES)
def test_a_matrix_product_has_the_bits_of_matmul(dtype):
    a, b = arrays(dtype, (3, 19, 70), (3, 70, 33), kind="wide")
    for name, threads in variants():
        with isa(name):
            assert_bits(kernels.einsum("bij,bjk->bik", a, b, threads=threads), kernels.matmul(a, b))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_one_operand_without_a_sum_keeps_its_bits(dtype):
    """NaNs of any payload and zeros of either sign."""
    x = random_nans(np.random.default_rng(0), (5, 5), TYPE_NAMES[dtype])
    x[0, 1] = -0.0
    for equation, want in (("ij->ji", x.T), ("ii->i", np.diagonal(x)), ("...->...", x), ("...j->j...", x.T)):
        got = check("einsum", equation, x)[0]
        assert (bits(got) == bits(np.ascontiguousarray(want))).all()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_zeros(dtype):
    """A sum starts from +0; a product without one keeps its sign."""
    zero = np.full(1, -0.0, TYPE_NAMES[dtype])
    one = np.ones(1, TYPE_NAMES[dtype])
    assert np.signbit(check("einsum", "i,i->i", zero, one)[0]).all()
    assert not np.signbit(check("einsum", "i,i->", zero, one)[0])
    assert not np.signbit(check("einsum", "i->", zero)[0])


def test_products_go_from_the_left():
    x = np.array([2.0**-100], np.float32), np.array([2.0**-100], np.float32), np.array([2.0**100], np.float32)
    assert check("einsum", "i,i,i->i", *x)[0][0] == 0
    assert check("einsum", "i,i,i->i", *x[::-1])[0][0] == 2.0**-100


def test_the_last_label_goes_fastest():
    """The labels in the order of their first appearance: 2^24 last or first of the ones."""
    x = np.array([[2.0**24, 1], [1, 1]], np.float32)
    y = np.array([[1, 1], [2.0**24, 1]], np.float32)
    assert check("einsum", "ij->", x)[0] == 2.0**24
    assert check("einsum", "ij->", y)[0] == 2.0**24 + 4
    ones = np.ones((2, 2), np.float32)
    assert check("einsum", "ij,ji->", ones, np.array([[1, 2.0**24], [1, 1]], np.float32))[0] == 2.0**24 + 4
    assert check("einsum", "ij,ji->", ones, np.array([[1, 1], [2.0**24, 1]], np.float32))[0] == 2.0**24


@pytest.mark.parametrize("dtype", [np.float16, TYPE_NAMES["bfloat16"]])
def test_running_value_is_not_rounded(dtype):
    x = np.array([2048, 1, 1, 1], np.float32).astype(dtype)
    assert_bits(check("einsum", "i->", x)[0], np.array(2051, np.float32).astype(dtype))


def test_integers_wrap():
    x = np.array([2**31 - 1, 1], np.int32)
    assert check("einsum", "i->", x)[0] == -(2**31)
    assert check("einsum", "i,i,i->i", x, x, x)[0].tolist() == [2**31 - 1, 1]
    assert check("einsum", "i,j->ij", x, x)[0].tolist() == [[1, 2**31 - 1], [2**31 - 1, 1]]
    y = np.array([2**64 - 1, 3], np.uint64)
    assert check("einsum", "i,i->", y, y)[0] == 10


@pytest.mark.parametrize("dtype", TYPES)
def test_empty(dtype):
    """No terms give +0; an empty result is one."""
    for equation, shapes in (
        ("ij,jk", ((3, 0), (0, 5))),
        ("ij,jk", ((0, 4), (4, 5))),
        ("ij,jk", ((3, 4), (4, 0))),
        ("bij,bjk->bik", ((0, 3, 4), (0, 4, 5))),
        ("ij->i", ((3, 0),)),
        ("ij->j", ((3, 0),)),
        ("ij->", ((0, 0),)),
        ("ij->ji", ((3, 0),)),
        ("ii->i", ((0, 0),)),
        ("ii", ((0, 0),)),
        ("ij,ij->ij", ((2, 1), (1, 0))),
        ("ij,jk", ((3, 1), (0, 5))),
        ("i,j,k->k", ((3,), (0,), (5,))),
        ("...i,...i->...", ((0, 3), (1, 3))),
    ):
        (y,) = check("einsum", equation, *arrays(dtype, *shapes))
        assert not bits(y).any()


@pytest.mark.parametrize("equation", ["bij,bjk->bik", "bij,jk->bik", "bij,bkj->bik", "bij->bi", "bij,bij->bj", "...ij,...jk"])
def test_rows_do_not_depend_on_the_batch(equation):
    a, b = arrays(
        "float32", (8, 9, 33), {"bkj": (8, 17, 33), "bij": (8, 9, 33)}.get(equation[4:7], (8, 33, 17)), kind="special"
    )
    shared = equation[4:6] == "jk"
    operands = [a] if "," not in equation else [a, b[0] if shared else b]
    for name, threads in variants():
        with isa(name):
            whole = kernels.einsum(equation, *operands, threads=threads)
            for row in (0, 5, 7):
                one = [x if shared and i else x[row : row + 1] for i, x in enumerate(operands)]
                assert_bits(kernels.einsum(equation, *one), whole[row : row + 1], f"row {row}")


def test_agrees_with_numpy():
    """Whole numbers, whose sums are exact in any order."""
    for form in FORMS:
        operands = arrays("float64", *form[1:], kind="integers")
        if (5, 1) not in form and (1, 1) not in form:  # NumPy's labels do not broadcast
            assert (kernels.einsum(form[0], *operands) == np.einsum(form[0], *operands)).all()
