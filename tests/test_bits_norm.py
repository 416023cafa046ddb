"""LayerNormalization, RMSNormalization, InstanceNormalization, GroupNormalization against the reference. docs/norm.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, check, data, examples, isa, kernels, variants
from hypothesis import given
from ort_nodes import run_cpu

EPSILON = {"epsilon": 0.01}


@given(strategies.row_norms(bias=True))
@examples(200)
def test_layer_normalization_random(node):
    check("layer_normalization", *node.inputs(), return_statistics=True, threads=(1, 2), **node.attributes)
    check("layer_normalization", *node.inputs(), threads=(2,), **node.attributes)


@given(strategies.row_norms(bias=False))
@examples(120)
def test_rms_normalization_random(node):
    check("rms_normalization", *node.inputs(), threads=(1, 2), **node.attributes)


@given(strategies.channel_norms(grouped=False))
@examples(100)
def test_instance_normalization_random(node):
    check("instance_normalization", *node.inputs(), threads=(1, 2), **node.attributes)


@given(strategies.channel_norms(grouped=True))
@examples(150)
def test_group_normalization_random(node):
    check("group_normalization", *node.inputs(), threads=(1, 2), **node.attributes)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_width(dtype):
    """Every remainder of 16 partial sums and of a vector; parameters whole and broadcast."""
    rng = np.random.default_rng(1)
    dtype = TYPE_NAMES[dtype]
    for n in range(1, 70 if dtype == np.float32 else 36):
        x = data(rng, (5, n), dtype, ("normal", "special", "tiny")[n % 3])
        scale, b = data(rng, (n,), dtype), data(rng, (n,) if n % 2 else (1,), dtype)
        check("layer_normalization", x, scale, b, return_statistics=True, threads=(1,))
        check("rms_normalization", x, scale, threads=(1,))
        check("instance_normalization", x[:, None], scale[:1], b[:1], threads=(1,))
        check("group_normalization", x[:, :, None], scale, b if n % 2 else scale, num_groups=1, threads=(1,))
        check("group_normalization", x[:, None], scale[:1], b[:1], num_groups=1, threads=(1,))


LARGE = {
    "one row": (1, 70001),
    "long rows": (7, 20000),
    "many rows": (3001, 48),
    "transformer": (2, 197, 192),
    "rows of one": (5001, 1),
}


@pytest.mark.parametrize("name", LARGE)
def test_large_rows(name):
    rng = np.random.default_rng(2)
    shape = LARGE[name]
    for dtype in (np.float32, np.float16):
        x, scale, b = data(rng, shape, dtype), data(rng, shape[-1:], dtype), data(rng, shape[-1:], dtype)
        check("layer_normalization", x, scale, b, return_statistics=True)
        check("layer_normalization", x, scale, threads=(2,), **EPSILON)
        check("rms_normalization", x, scale)


@pytest.mark.parametrize(
    "shape, groups", [((2, 32, 14, 15), 8), ((1, 6, 80, 90), 2), ((3, 5, 7, 7), 5), ((2, 300, 3), 3)], ids=str
)
def test_large_planes(shape, groups):
    rng = np.random.default_rng(3)
    for dtype in (np.float32, np.float16):
        x = data(rng, shape, dtype)
        for length in (shape[1], groups):
            scale, b = data(rng, (length,), dtype), data(rng, (length,), dtype)
            check("group_normalization", x, scale, b, num_groups=groups)
        scale = data(rng, (shape[1],), dtype)
        check("instance_normalization", x, scale, scale)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_every_axis_and_broadcast(dtype):
    rng = np.random.default_rng(4)
    dtype = TYPE_NAMES[dtype]
    x = data(rng, (3, 4, 1, 5), dtype)
    for axis in range(-4, 4):
        normalized = x.shape[axis:] if axis else x.shape
        for keep in range(2 ** len(normalized)):
            shape = tuple(n if keep >> i & 1 else 1 for i, n in enumerate(normalized))
            scale, b = data(rng, shape, dtype), data(rng, normalized, dtype)
            check("layer_normalization", x, scale, b, axis=axis, return_statistics=True, threads=(1,))
            check("layer_normalization", x, b, scale, axis=axis, threads=(1,))
            check("rms_normalization", x, scale, axis=axis, threads=(1,))
        for start in range(len(normalized) + 1):  # fewer dimensions, down to a scalar
            check("layer_normalization", x, data(rng, normalized[start:], dtype), axis=axis, threads=(1,))
        more = (1,) * (4 - len(normalized)) + normalized
        check("layer_normalization", x, data(rng, more, dtype), data(rng, normalized, dtype), axis=axis, threads=(1,))
        check("rms_normalization", x, data(rng, more, dtype), axis=axis, threads=(1,))


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_empty(dtype):
    dtype = TYPE_NAMES[dtype]
    ones = np.ones(3, dtype)
    y, mean, inv = check("layer_normalization", np.zeros((2, 0), dtype), np.zeros(0, dtype), return_statistics=True)
    assert y.shape == (2, 0) and mean.shape == inv.shape == (2, 1) and np.isnan(mean).all() and np.isnan(inv).all()
    check("layer_normalization", np.zeros((0, 3), dtype), ones, ones, return_statistics=True)
    check("layer_normalization", np.zeros((3, 0, 3), dtype), ones, ones, axis=1, return_statistics=True)
    check("rms_normalization", np.zeros((2, 0), dtype), np.zeros(0, dtype))
    for shape in ((0, 3, 4), (2, 3, 0), (0, 3, 0)):
        check("instance_normalization", np.zeros(shape, dtype), ones, ones)
        check("group_normalization", np.zeros(shape, dtype), ones, ones, num_groups=3)
        check("group_normalization", np.zeros(shape, dtype), ones[:1], ones[:1], num_groups=1)
    check("instance_normalization", np.zeros((2, 0, 4), dtype), ones[:0], ones[:0])
    check("group_normalization", np.zeros((2, 0, 4), dtype), ones[:0], ones[:0], num_groups=2)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_special_rows(dtype):
    """Constant rows, NaN, infinities, overflow of the squares, a negative v + epsilon."""
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    x = np.array([[5, 5, 5], [0, -0.0, 0], [nan, 1, 2], [inf, 1, 2], [-inf, inf, 0], [1, 2, 4]], dtype)
    scale, b = np.array([1, -2, 0.5], dtype), np.array([0, 1, -0.0], dtype)
    for epsilon in (1e-5, 0.0, -3.0, inf, nan, 1e-45):
        check("layer_normalization", x, scale, b, epsilon=epsilon, return_statistics=True)
        check("rms_normalization", x, scale, epsilon=epsilon)
        check("instance_normalization", x[None], np.resize(scale, 6), np.resize(b, 6), epsilon=epsilon)
        check("group_normalization", x[:, :, None], scale, b, num_groups=3, epsilon=epsilon)
    huge = np.array([[1, 2, 3, 4]]).astype(dtype) * np.array(1e30 if dtype != np.float16 else 1e4, np.float64).astype(dtype)
    check("layer_normalization", huge, np.ones(4, dtype), return_statistics=True)
    check("rms_normalization", huge, np.ones(4, dtype))


def test_float64_epsilon_is_the_float32_attribute():
    x, ones = np.zeros((1, 4)), np.ones(4)
    (_, _, inv) = check("layer_normalization", x, ones, return_statistics=True, epsilon=1e-5)
    assert inv.item() == np.float32(1 / np.sqrt(np.float64(np.float32(1e-5))))
    y = kernels.rms_normalization(np.full((1, 4), 1e-3), ones, epsilon=1e-5)
    assert y[0, 0] == 1e-3 * (1 / np.sqrt(np.float64(1e-3) ** 2 + np.float64(np.float32(1e-5))))


def test_float16_is_rounded_once():
    """Scale and bias meet the normalized value before it is rounded."""
    rng = np.random.default_rng(5)
    x, scale, b = (data(rng, shape, np.float16) for shape in ((40, 64), (64,), (64,)))
    wide = [a.astype(np.float32) for a in (x, scale, b)]
    y = kernels.layer_normalization(x, scale, b)
    assert_bits(y, kernels.layer_normalization(*wide).astype(np.float16))
    early = kernels.layer_normalization(wide[0], np.ones(64, np.float32)).astype(np.float16) * scale + b
    assert (early != y).any()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_rows_do_not_depend_on_the_batch(dtype):
    rng = np.random.default_rng(6)
    dtype = TYPE_NAMES[dtype]
    x, c = data(rng, (8, 6, 5, 7), dtype, "special"), data(rng, (6,), dtype)
    w = data(rng, (7,), dtype)
    calls = {
        "layer_normalization": ((w, w), {}),
        "rms_normalization": ((w,), {}),
        "instance_normalization": ((c, c), {}),
        "group_normalization": ((c, c), {"num_groups": 3}),
    }
    for name, threads in variants((1, 2)):
        with isa(name):
            for operator, (parameters, attributes) in calls.items():
                whole = getattr(kernels, operator)(x, *parameters, threads=threads, **attributes)
                for row in (0, 4, 7):
                    one = getattr(kernels, operator)(x[row : row + 1], *parameters, **attributes)
                    assert_bits(one, whole[row : row + 1], f"{operator} row {row}")


def test_close_to_onnxruntime():
    rng = np.random.default_rng(7)
    x, w, c = data(rng, (2, 6, 9, 20), np.float32), data(rng, (20,), np.float32), data(rng, (6,), np.float32)
    for function, operator, parameters, attributes, opset in (
        ("layer_normalization", "LayerNormalization", [w, w], {"axis": -1}, 17),
        ("instance_normalization", "InstanceNormalization", [c, c], {}, 17),
        ("group_normalization", "GroupNormalization", [c, c], {"num_groups": 3}, 21),
        ("group_normalization", "GroupNormalization", [c[:3], c[:3]], {"num_groups": 3}, 18),
        ("rms_normalization", "RMSNormalization", [w], {}, 23),
    ):
        want = run_cpu(operator, [x, *parameters], attributes, opset)
        if want is not None:  # an older onnxruntime
            got = getattr(kernels, function)(x, *parameters, **attributes)
            np.testing.assert_allclose(got, want[0], rtol=1e-4, atol=1e-4)
