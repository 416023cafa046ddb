"""ONNX Runtime's CPU provider as a second opinion: near, in another order of sums (docs/exact-mode.md).

Where the pages state a difference on purpose the case is left out; data are finite, since ONNX Runtime has no rule for
NaN in MaxPool.
"""

import numpy as np
import strategies
from helpers import assert_bits, attempt, data, examples, kernels, scaled_error
from hypothesis import assume, given
from hypothesis import strategies as st
from ort_nodes import run_cpu

LIMIT = 1e-4


def compare(node, operator, function, opset, outputs=1, **extra):
    inputs = node.inputs()
    theirs = run_cpu(operator, inputs, onnx_attributes(node), opset, outputs)
    assume(theirs is not None)
    ours = attempt(function, *inputs, **node.attributes, **extra)
    assert isinstance(ours, tuple), f"refused a node that ONNX Runtime runs: {ours}"
    assert scaled_error(ours[0], theirs[0]) <= LIMIT
    for one, other in zip(ours[1:], theirs[1:], strict=True):
        np.testing.assert_array_equal(one, other)


def onnx_attributes(node):
    return {k: v for k, v in node.attributes.items() if k != "return_indices"}


def window_fits(node, kernel):
    a, n = node.attributes, node.shapes[0][2:]
    pads = a.get("pads", [0] * 2 * len(n))
    return all(size + pads[i] + pads[len(n) + i] >= a["dilations"][i] * (kernel[i] - 1) + 1 for i, size in enumerate(n))


def same_with_gaps(node, kernel):
    """SAME_* whose stride leaves elements out: ONNX Runtime takes negative padding."""
    a = node.attributes
    return a["auto_pad"].startswith("SAME") and any(s > k for s, k in zip(a["strides"], kernel, strict=True))


@given(strategies.convs(dtypes=["float32"], kinds=["normal", "integers"]))
@examples(120)
def test_conv(node):
    assume(not same_with_gaps(node, node.shapes[1][2:]))
    assume(node.shapes[0][1] > 0)  # docs/conv.md: ONNX Runtime leaves sums of no channels uninitialised
    compare(node, "Conv", kernels.conv, 11)


@given(strategies.conv_transposes(dtypes=["float32"], kinds=["normal", "integers"]))
@examples(120)
def test_conv_transpose(node):
    assume(all(0 not in shape for shape in node.shapes if shape))  # ONNX Runtime 1.31.1 crashes on some of these
    compare(node, "ConvTranspose", kernels.conv_transpose, 11)


def same_with_dilation(node):
    return node.attributes["auto_pad"].startswith("SAME") and max(node.attributes["dilations"]) > 1


def a_window_without_taps(node):
    """Some output whose taps all lie outside the input: only with a dilation, since ONNX Runtime wants pads < kernel."""
    return max(node.attributes["dilations"]) > 1 and any(node.attributes.get("pads", []))


@given(strategies.pools(("ceil_mode", "storage_order"), dtypes=["float32"], kinds=["normal", "integers"]))
@examples(120)
def test_max_pool(node):
    assume(not same_with_dilation(node) and not a_window_without_taps(node))
    assume(not same_with_gaps(node, node.attributes["kernel_shape"]))
    assume(window_fits(node, node.attributes["kernel_shape"]) or node.attributes["auto_pad"].startswith("SAME"))
    compare(node, "MaxPool", kernels.max_pool, 12, 2, return_indices=True)


@given(strategies.pools(("ceil_mode", "count_include_pad"), dtypes=["float32"], kinds=["normal", "integers"]))
@examples(120)
def test_average_pool(node):
    assume(not same_with_dilation(node) and not a_window_without_taps(node))
    assume(not same_with_gaps(node, node.attributes["kernel_shape"]))
    assume(window_fits(node, node.attributes["kernel_shape"]) or node.attributes["auto_pad"].startswith("SAME"))
    compare(node, "AveragePool", kernels.average_pool, 19)


@given(strategies.planes(dtypes=["float32"], kinds=["normal", "wide"]), st.booleans())
@examples(40)
def test_global_pools(node, largest):
    operator, function = (
        ("GlobalMaxPool", kernels.global_max_pool) if largest else ("GlobalAveragePool", kernels.global_average_pool)
    )
    compare(node, operator, function, 13)


@given(st.lists(st.integers(1, 6), min_size=2, max_size=5), strategies.seeds())
@examples(40)
def test_batch_normalization(shape, seed):
    rng = np.random.default_rng(seed)
    x = data(rng, shape, np.float32)
    scale, bias, mean, var = (data(rng, [shape[1]], np.float32) for _ in range(4))
    inputs = [x, scale, bias, mean, np.abs(var) + np.float32(0.1)]
    theirs = run_cpu("BatchNormalization", inputs, {"epsilon": 1e-3}, 15)
    assert scaled_error(kernels.batch_normalization(*inputs, epsilon=1e-3), theirs[0]) <= LIMIT


FINITE = {"dtypes": ["float32"], "kinds": ["normal", "integers"]}


@given(strategies.lp_pools(**FINITE))
@examples(120)
def test_lp_pool(node):
    assume(not same_with_dilation(node) and not a_window_without_taps(node))
    assume(not same_with_gaps(node, node.attributes["kernel_shape"]))
    assume(window_fits(node, node.attributes["kernel_shape"]) or node.attributes["auto_pad"].startswith("SAME"))
    compare(node, "LpPool", kernels.lp_pool, 18)


@given(strategies.lp_planes(**FINITE))
@examples(40)
def test_global_lp_pool(node):
    compare(node, "GlobalLpPool", kernels.global_lp_pool, 13)


@given(strategies.unpools(dtypes=["float32"]))
@examples(120)
def test_max_unpool(node):
    """Moved bits, so the same bits. (In float16 ONNX Runtime makes NaNs quiet; with a wrong index its older versions crash.)"""
    inputs = node.inputs()
    ours = attempt(kernels.max_unpool, *inputs, **node.attributes)
    assume(isinstance(ours, tuple))
    theirs = run_cpu("MaxUnpool", inputs, node.attributes, 11)
    assume(theirs is not None)
    assert_bits(ours[0], theirs[0])


@given(strategies.lrns(**FINITE))
@examples(120)
def test_lrn(node):
    """bias 1: else a sum may lie so near to zero that its rounding decides. Older versions crash for windows wider than X."""
    node.attributes["bias"] = 1.0
    assume(node.attributes.get("alpha", 1) < 1e6 and node.attributes["size"] <= node.shapes[0][1])
    compare(node, "LRN", kernels.lrn, 13)


@given(strategies.lp_norms(**FINITE))
@examples(80)
def test_lp_normalization(node):
    compare(node, "LpNormalization", kernels.lp_normalization, 13)


@given(strategies.mean_variance_norms(dtypes=["float32"], kinds=["normal"]))
@examples(120)
def test_mean_variance_normalization(node):
    """Sequences of one element are left out: ONNX Runtime divides 0 by 0. So are axes out of range: it drops them."""
    shape, axes = node.shapes[0], node.attributes.get("axes", (0, 2, 3))
    assume(all(-len(shape) <= axis < len(shape) for axis in axes))
    assume(all(shape[axis] > 1 for axis in axes))
    compare(node, "MeanVarianceNormalization", kernels.mean_variance_normalization, 13)
