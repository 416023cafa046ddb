"""Fast mode keeps its promise. docs/exact-mode.md: "Fast mode" """

import numpy as np
import pytest
import strategies
from helpers import (
    FLOAT_PARAMS,
    THREADS,
    TYPE_NAMES,
    assert_bits,
    attempt,
    bits,
    data,
    examples,
    isa,
    kernels,
    scaled_error,
)
from hypothesis import given
from reference.numerics import canonical_nan

# Half a unit in the last place of 16-bit outputs, each of exact and fast, beside the 1e-4 before rounding.
LIMIT = {"float32": 1e-4, "float64": 1e-4, "float16": 1e-4 + 2.0**-10, "bfloat16": 1e-4 + 2.0**-7}
KINDS = ("normal", "infinite", "integers", "tiny")


def check_fast(operator, arrays, attributes, dtype):
    function = getattr(kernels, operator)
    exact = attempt(function, *arrays, **attributes)
    for name in kernels.isa_names():
        with isa(name):
            fast = [attempt(function, *arrays, mode="fast", threads=count, **attributes) for count in THREADS]
        if not isinstance(exact, tuple):
            assert fast == [exact] * len(THREADS)
            continue
        for other in fast[1:]:
            assert_bits(other[0], fast[0][0], f"{operator} isa={name} over threads")
        assert fast[0][0].dtype == exact[0].dtype
        assert scaled_error(fast[0][0], exact[0]) <= LIMIT[dtype]
        nans = bits(fast[0][0])[np.isnan(fast[0][0])]
        assert (nans == bits(canonical_nan(TYPE_NAMES[dtype])[None])).all()


@given(strategies.convs(kinds=KINDS))
@examples(100)
def test_conv(node):
    check_fast("conv", node.inputs(), node.attributes, node.dtype)


@given(strategies.conv_transposes(kinds=KINDS))
@examples(100)
def test_conv_transpose(node):
    check_fast("conv_transpose", node.inputs(), node.attributes, node.dtype)


LARGE = {
    "3x3": ([1, 300, 9, 9], [33, 300, 3, 3], {"pads": [1, 1, 1, 1]}),
    "1x1": ([2, 1025, 5, 5], [18, 1025, 1, 1], {}),
    "stem": ([1, 3, 40, 41], [24, 3, 7, 7], {"strides": [2, 2], "pads": [3, 3, 3, 3]}),
    "depthwise": ([2, 37, 14, 30], [37, 1, 3, 3], {"group": 37, "pads": [1, 1, 1, 1]}),
}


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
@pytest.mark.parametrize("name", LARGE)
def test_conv_large(name, dtype):
    x, w, attributes = LARGE[name]
    rng = np.random.default_rng(0)
    arrays = [data(rng, shape, TYPE_NAMES[dtype], "normal") for shape in (x, w, [w[0]])]
    check_fast("conv", arrays, attributes, dtype)


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_conv_transpose_large(dtype):
    rng = np.random.default_rng(0)
    arrays = [data(rng, shape, TYPE_NAMES[dtype], "normal") for shape in ([1, 600, 5, 6], [600, 19, 2, 2], [19])]
    check_fast("conv_transpose", arrays, {"strides": [2, 2]}, dtype)


@pytest.mark.parametrize("group", [1, 4], ids=["dense", "depthwise"])
def test_infinite_weight_over_padding(group):
    x = np.ones((1, 4, 5, 6), np.float32)
    w = np.ones((4, 4 // group, 3, 3), np.float32)
    w[:, 0, 0, 0] = np.inf
    attributes = {"group": group, "pads": [1, 1, 1, 1]}
    check_fast("conv", [x, w], attributes, "float32")
    assert np.isnan(kernels.conv(x, w, mode="fast", **attributes)[:, :, 0]).all()
