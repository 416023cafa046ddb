"""MaxPool, AveragePool and the global pools against the reference, bit for bit. docs/pool.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, variants
from hypothesis import given

MAX_POOL_PARAMS = [*FLOAT_PARAMS, "int8", "uint8"]
# More NaN and infinities than elsewhere, and many equal elements.
POOL_KINDS = ("special", "special", "integers", "wide", "tiny")


@given(strategies.pools(("ceil_mode", "storage_order"), dtypes=MAX_POOL_PARAMS, kinds=POOL_KINDS))
@examples(300)
def test_max_pool_random(node):
    check("max_pool", *node.inputs(), return_indices=True, **node.attributes)
    check("max_pool", *node.inputs(), threads=(2,), **node.attributes)


@given(strategies.pools(("ceil_mode", "count_include_pad")))
@examples(250)
def test_average_pool_random(node):
    check("average_pool", *node.inputs(), **node.attributes)


@given(strategies.planes())
@examples(60)
def test_global_pools_random(node):
    check("global_max_pool", *node.inputs())
    check("global_average_pool", *node.inputs())


HARD = {
    "3x3/2": ([2, 5, 13, 37], {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    "3x3/2 ceil": ([1, 5, 12, 34], {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    "2x2/2": ([1, 9, 8, 66], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    "2x2/2 ceil, odd": ([1, 9, 9, 35], {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
    "3x3/1": ([1, 4, 9, 41], {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    "5x5/1": ([1, 4, 9, 41], {"kernel_shape": [5, 5], "pads": [2, 2, 2, 2]}),
    "7x7": ([1, 17, 7, 7], {"kernel_shape": [7, 7]}),
    "1x1": ([1, 3, 4, 5], {"kernel_shape": [1, 1]}),
    "2x1": ([1, 6, 8, 25], {"kernel_shape": [2, 1], "strides": [2, 1]}),
    "1x3": ([1, 6, 8, 25], {"kernel_shape": [1, 3], "strides": [1, 2], "pads": [0, 1, 0, 1]}),
    "1-D": ([2, 3, 103], {"kernel_shape": [4], "strides": [3]}),
    "1-D whole": ([2, 3, 103], {"kernel_shape": [103]}),
    "3-D": ([1, 3, 5, 6, 7], {"kernel_shape": [2, 3, 2], "strides": [2, 1, 2], "pads": [1, 1, 0, 0, 2, 1]}),
    "3-D ceil": ([1, 2, 5, 6, 7], {"kernel_shape": [3, 3, 3], "strides": [3, 3, 3], "pads": [1] * 6, "ceil_mode": 1}),
    "dilated": ([1, 4, 12, 30], {"kernel_shape": [3, 3], "dilations": [2, 3], "pads": [2, 3, 2, 3]}),
    "SAME_UPPER": ([1, 3, 9, 10], {"kernel_shape": [4, 3], "strides": [2, 3], "auto_pad": "SAME_UPPER"}),
    "SAME_LOWER": ([1, 3, 9, 10], {"kernel_shape": [4, 3], "strides": [2, 3], "auto_pad": "SAME_LOWER"}),
    "SAME dilated": ([1, 3, 9, 10], {"kernel_shape": [3, 2], "dilations": [3, 2], "auto_pad": "SAME_LOWER"}),
    "SAME ceil": ([1, 3, 9, 10], {"kernel_shape": [2, 2], "strides": [4, 4], "auto_pad": "SAME_UPPER", "ceil_mode": 1}),
    "VALID ceil": ([1, 3, 8, 10], {"kernel_shape": [3, 3], "strides": [2, 2], "auto_pad": "VALID", "ceil_mode": 1}),
    "pads larger than the kernel": ([1, 2, 4, 5], {"kernel_shape": [2, 2], "pads": [3, 4, 2, 5]}),
    "ceil, pads larger than the kernel": (
        [1, 2, 4, 5],
        {"kernel_shape": [2, 2], "strides": [3, 2], "pads": [3, 4, 4, 5], "ceil_mode": 1},
    ),
    "dilation jumps over the input": (
        [1, 2, 2, 9],
        {"kernel_shape": [2, 2], "dilations": [4, 1], "pads": [2, 0, 2, 0]},
    ),
    "huge stride": ([1, 2, 30, 9], {"kernel_shape": [2, 2], "strides": [27, 2000000000]}),
    "huge dilation": ([1, 2, 30, 9], {"kernel_shape": [2, 2], "dilations": [28, 8]}),
    "no batch": ([0, 2, 4, 5], {"kernel_shape": [2, 2]}),
    "no channels": ([2, 0, 4, 5], {"kernel_shape": [2, 2]}),
    "no input positions": ([2, 3, 0, 5], {"kernel_shape": [2, 2], "pads": [1, 0, 1, 0]}),
    "empty SAME": ([2, 3, 0, 5], {"kernel_shape": [2, 2], "auto_pad": "SAME_UPPER"}),
}


@pytest.mark.parametrize("name", HARD)
def test_max_pool_hard(name):
    shape, attributes = HARD[name]
    for seed, dtype in enumerate(MAX_POOL_PARAMS):
        x = data(np.random.default_rng(seed), shape, TYPE_NAMES.get(dtype, dtype), POOL_KINDS[seed % 3])
        for order in (0, 1):
            check("max_pool", x, return_indices=True, storage_order=order, threads=(1 + order,), **attributes)
        check("max_pool", x, threads=(7,), **attributes)


@pytest.mark.parametrize("include", [0, 1])
@pytest.mark.parametrize("name", HARD)
def test_average_pool_hard(name, include):
    shape, attributes = HARD[name]
    for dtype, kind in zip(FLOAT_PARAMS, ("wide", "normal", "special", "special"), strict=True):
        x = data(np.random.default_rng(len(name)), shape, TYPE_NAMES[dtype], kind)
        check("average_pool", x, count_include_pad=include, threads=(1, 7), **attributes)


@pytest.mark.parametrize("width", range(1, 41))
def test_max_pool_widths(width):
    """Every remainder of a vector, with NaN and equal elements, for the usual windows."""
    rng = np.random.default_rng(width)
    for dtype in MAX_POOL_PARAMS:
        x = data(rng, [1, 2, 4, width], TYPE_NAMES.get(dtype, dtype), "special")
        for stride in (1, 2):
            window = {"kernel_shape": [3, 3], "strides": [stride] * 2, "pads": [1] * 4}
            check("max_pool", x, threads=(1,), **window)
            check("max_pool", x, return_indices=True, threads=(1,), **window)


def pool(array, kernel, **attributes):
    """MaxPool of one row: ([values], [indices])."""
    x = np.array(array).reshape(1, 1, -1)
    y, indices = check("max_pool", x, [kernel], return_indices=True, **attributes)
    return y.ravel(), indices.ravel().tolist()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_max_pool_special_values(dtype):
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    y, indices = pool(np.array([1, nan, 3, 2, nan], dtype), 2)
    np.testing.assert_array_equal(y, np.array([1, 3, 3, 2], dtype))
    assert indices == [0, 2, 2, 3]
    y, indices = pool(np.array([-inf, nan, nan, -inf], dtype), 2)
    np.testing.assert_array_equal(y.astype(np.float64), [-inf, nan, -inf])
    assert indices == [0, 1, 3]
    y, indices = pool(np.array([-0.0, 0.0, -0.0], dtype), 2)
    assert np.signbit(y).tolist() == [True, False] and indices == [0, 1]
    y, indices = pool(np.array([5, 5, 5], dtype), 3)
    assert indices == [0]


@pytest.mark.parametrize("dtype", MAX_POOL_PARAMS)
def test_max_pool_without_a_tap_inside(dtype):
    """Lowest finite value, first index of the plane."""
    x = np.ones((2, 2, 2), TYPE_NAMES.get(dtype, dtype))
    y, indices = check("max_pool", x, [2], pads=[1, 1], dilations=[3], return_indices=True)
    lowest = {"float16": 0xFBFF, "bfloat16": 0xFF7F, "float32": 0xFF7FFFFF, "float64": 0xFFEFFFFFFFFFFFFF}
    assert (bits(y) == {**lowest, "int8": 0x80, "uint8": 0}[dtype]).all()
    assert indices.ravel().tolist() == [0, 2, 4, 6]


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_average_pool_without_a_tap_inside(dtype):
    x = np.ones((1, 1, 2), TYPE_NAMES[dtype])
    (y,) = check("average_pool", x, [2], pads=[1, 1], dilations=[3])
    assert np.isnan(y).all()
    (y,) = check("average_pool", x, [2], pads=[1, 1], dilations=[3], count_include_pad=1)
    assert (bits(y) == 0).all()


def test_average_pool_divides():
    """x / 3 is not x * (1 / 3) for x = 5 in float32."""
    assert np.float32(5) / np.float32(3) != np.float32(5) * (np.float32(1) / np.float32(3))
    (y,) = check("average_pool", np.array([[[5, 0, 0]]], np.float32), [3])
    assert y.item() == np.float32(5) / np.float32(3)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_global_pools_special_values(dtype):
    dtype = TYPE_NAMES[dtype]
    nan, inf = np.nan, np.inf
    x = np.array([[nan, nan], [-inf, -inf], [nan, -inf], [1, nan], [inf, -inf], [-0.0, 0.0]], dtype)[None]
    (y,) = check("global_max_pool", x)
    lowest = y.ravel()[0]
    assert np.isfinite(lowest) and (bits(y).ravel()[:3] == bits(np.array(lowest))).all()
    (y,) = check("global_average_pool", x)
    assert np.isnan(y.ravel()[[0, 2, 3, 4]]).all() and not np.signbit(y.ravel()[5])
    empty = np.zeros((2, 3, 0), dtype)
    (y,) = check("global_max_pool", empty)
    assert (y == lowest).all()
    (y,) = check("global_average_pool", empty)
    assert np.isnan(y).all()


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize(
    "shape", [[1, 33, 7, 7], [3, 5, 1, 1], [1, 2, 4099], [2, 70, 3, 17], [1, 8, 4, 5, 6], [2, 3, 2, 1, 3, 2, 2]]
)
def test_global_pools_hard(shape, dtype):
    for kind in ("wide", "special"):
        x = data(np.random.default_rng(5), shape, TYPE_NAMES[dtype], kind)
        check("global_max_pool", x)
        check("global_average_pool", x)


@pytest.mark.parametrize("operator", ["max_pool", "average_pool", "global_max_pool", "global_average_pool"])
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_rows_do_not_depend_on_the_batch(operator, dtype):
    x = data(np.random.default_rng(1), [8, 17, 9, 21], TYPE_NAMES[dtype], "special")
    window = {} if "global" in operator else {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    for name, threads in variants():
        with isa(name):
            whole = getattr(kernels, operator)(x, threads=threads, **window)
            for row in range(8):
                one = getattr(kernels, operator)(x[row : row + 1], **window)
                assert_bits(one, whole[row : row + 1], f"row {row}")
