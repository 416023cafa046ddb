"""Layers of real networks at their real sizes: every block of the kernels is full, and some are not."""

import concurrent.futures

import numpy as np
import pytest
from helpers import as_tuple, assert_bits, check, data, isa, kernels, variants

P1 = {"pads": [1, 1, 1, 1]}
S2 = {"strides": [2, 2]}
CONV = {
    "1x1 64-256 @56": ([1, 64, 56, 56], [256, 64, 1, 1], {}),
    "1x1 256-64 @28": ([1, 256, 28, 28], [64, 256, 1, 1], {}),
    "1x1 512-256 @7": ([1, 512, 7, 7], [256, 512, 1, 1], {}),
    "1x1/2 256-128 @28": ([1, 256, 28, 28], [128, 256, 1, 1], S2),
    "1x1 1280-100 @1, batch 8": ([8, 1280, 1, 1], [100, 1280, 1, 1], {}),
    "3x3 64 @56": ([1, 64, 56, 56], [64, 64, 3, 3], P1),
    "3x3 128 @14, batch 2": ([2, 128, 14, 14], [64, 128, 3, 3], P1),
    "3x3 512 @7": ([1, 512, 7, 7], [128, 512, 3, 3], P1),
    "3x3/2 128 @28": ([1, 128, 28, 28], [128, 128, 3, 3], {**P1, **S2}),
    "7x7/2 3-64 @112": ([1, 3, 112, 112], [64, 3, 7, 7], {"pads": [3, 3, 3, 3], **S2}),
    "3x3/2 3-32 @112": ([1, 3, 112, 112], [32, 3, 3, 3], {**P1, **S2}),
    "5x5 24 @31": ([1, 24, 31, 31], [48, 24, 5, 5], {"pads": [2, 2, 2, 2]}),
    "1x3 96 @48x160": ([1, 96, 6, 160], [32, 96, 1, 3], {"pads": [0, 1, 0, 1]}),
    "grouped 3x3 128/32 @14": ([1, 128, 14, 14], [128, 4, 3, 3], {"group": 32, **P1}),
    "dilated 3x3 64 @28": ([1, 64, 28, 28], [64, 64, 3, 3], {"dilations": [2, 2], "pads": [2, 2, 2, 2]}),
    "depthwise 3x3 144 @56": ([1, 144, 56, 56], [144, 1, 3, 3], {"group": 144, **P1}),
    "depthwise 3x3/2 96 @112": ([1, 96, 112, 112], [96, 1, 3, 3], {"group": 96, **P1, **S2}),
    "depthwise 5x5/2 64 @28": ([1, 64, 28, 28], [64, 1, 5, 5], {"group": 64, "pads": [2, 2, 2, 2], **S2}),
    "depthwise 7x7 96 @14": ([1, 96, 14, 14], [96, 1, 7, 7], {"group": 96, "pads": [3, 3, 3, 3]}),
    "1-D k3 256 x200": ([1, 256, 200], [64, 256, 3], {"pads": [1, 1]}),
    "3-D 3^3 16 @8x14x14": ([1, 16, 8, 14, 14], [32, 16, 3, 3, 3], {"pads": [1] * 6}),
}
CONV_TRANSPOSE = {
    "2x2/2 128-64 @16": ([1, 128, 16, 16], [128, 64, 2, 2], S2),
    "2x2/2 24-1 @80": ([1, 24, 80, 80], [24, 1, 2, 2], S2),
    "4x4/2 64-32 @16": ([1, 64, 16, 16], [64, 32, 4, 4], {**P1, **S2}),
    "3x3/2 32-16 @28": ([1, 32, 28, 28], [32, 16, 3, 3], {**P1, **S2, "output_padding": [1, 1]}),
}


def inputs(x, w, m):
    rng = np.random.default_rng(11)
    return [data(rng, shape, np.float32, "normal") for shape in (x, w, [m])]


@pytest.mark.parametrize("name", CONV)
def test_conv(name):
    x, w, attributes = CONV[name]
    check("conv", *inputs(x, w, w[0]), threads=(1, 2), **attributes)


@pytest.mark.parametrize("name", CONV_TRANSPOSE)
def test_conv_transpose(name):
    x, w, attributes = CONV_TRANSPOSE[name]
    check("conv_transpose", *inputs(x, w, w[1]), threads=(1, 2), **attributes)


@pytest.mark.parametrize("shape", [[1, 64, 112, 112], [1, 16, 35, 35]])
def test_pools(shape):
    x = data(np.random.default_rng(0), shape, np.float32, "special")
    for window in ({"kernel_shape": [3, 3], **S2, **P1}, {"kernel_shape": [2, 2], **S2}, {"kernel_shape": [3, 3], **P1}):
        check("max_pool", x, threads=(1, 2), **window)
        check("average_pool", x, threads=(1, 2), **window)
        check("lp_pool", x, threads=(1, 2), **window)


@pytest.mark.parametrize("shape", [[1, 512, 7, 7], [2, 960, 7, 7], [1, 64, 56, 56]])
def test_whole_planes(shape):
    rng = np.random.default_rng(0)
    x = data(rng, shape, np.float32, "wide")
    check("global_max_pool", x, threads=(1, 2))
    check("global_average_pool", x, threads=(1, 2))
    check("global_lp_pool", x, threads=(1, 2))
    scale, bias, mean, var = (data(rng, [shape[1]], np.float32) for _ in range(4))
    check("batch_normalization", x, scale, bias, mean, np.abs(var), threads=(1, 2))


RESIZE = {
    "nearest 2x, 96 @40": ([1, 96, 40, 40], {"scales": [1, 1, 2, 2], "coordinate_transformation_mode": "asymmetric"}),
    "nearest 8x, 24 @20x23": ([1, 24, 20, 23], {"scales": [1, 1, 8, 8], "nearest_mode": "floor"}),
    "linear 2x, 64 @28, batch 2": ([2, 64, 28, 28], {"scales": [1, 1, 2, 2], "mode": "linear"}),
    "linear to 224": ([1, 3, 300, 413], {"sizes": [1, 3, 224, 224], "mode": "linear"}),
    "linear to 224, antialias": ([1, 3, 300, 413], {"sizes": [1, 3, 224, 224], "mode": "linear", "antialias": 1}),
    "linear 4x, corners, 21 @33": (
        [1, 21, 33, 33],
        {"sizes": [1, 21, 129, 129], "mode": "linear", "coordinate_transformation_mode": "align_corners"},
    ),
    "cubic 3x, 3 @50": ([1, 3, 50, 50], {"scales": [1, 1, 3, 3], "mode": "cubic"}),
    "cubic down, antialias": ([1, 3, 200, 310], {"scales": [0.3, 0.41], "axes": [2, 3], "mode": "cubic", "antialias": 1}),
    "channels last, 224": ([1, 150, 200, 3], {"sizes": [1, 224, 224, 3], "mode": "linear"}),
    "linear, 3 axes": ([1, 8, 12, 24, 24], {"scales": [1, 1, 2, 2, 2], "mode": "linear"}),
    "crop, 3 @120": (
        [1, 3, 120, 120],
        {
            "roi": np.array([0.1, 0.2, 0.9, 1.1], np.float32),
            "sizes": [96, 97],
            "axes": [2, 3],
            "mode": "linear",
            "coordinate_transformation_mode": "tf_crop_and_resize",
        },
    ),
}


@pytest.mark.parametrize("name", RESIZE)
def test_resize(name):
    shape, attributes = RESIZE[name]
    for dtype in (np.float32, np.uint8, np.float16):
        x = data(np.random.default_rng(0), shape, dtype, "special")
        check("resize", x, threads=(1, 2), **attributes)


def test_calls_at_the_same_time():
    """Eight Python threads at once, each with threads of its own; the results are those of one call alone."""
    rng = np.random.default_rng(3)
    x = data(rng, [2, 32, 28, 28], np.float32)
    w, dw = data(rng, [48, 32, 3, 3], np.float32), data(rng, [32, 1, 3, 3], np.float32)
    places = rng.integers(0, 4 * x.size, x.shape)  # many of them twice
    calls = [
        lambda threads: kernels.conv(x, w, threads=threads, **P1),
        lambda threads: kernels.conv(x, dw, group=32, threads=threads, **P1),
        lambda threads: kernels.conv_transpose(x, w.transpose(1, 0, 2, 3), threads=threads, **S2),
        lambda threads: kernels.max_pool(x, [3, 3], threads=threads, return_indices=True, **P1),
        lambda threads: kernels.average_pool(x, [3, 3], threads=threads, **P1),
        lambda threads: kernels.global_average_pool(x, threads=threads),
        lambda threads: kernels.lp_pool(x, [3, 3], threads=threads, **P1),
        lambda threads: kernels.max_unpool(x, places, threads=threads, kernel_shape=[2, 2], **S2),
        lambda threads: kernels.lrn(x, size=5, beta=0.6, threads=threads),
        lambda threads: kernels.lp_normalization(x, axis=1, threads=threads),
        lambda threads: kernels.mean_variance_normalization(x, threads=threads),
        lambda threads: kernels.resize(x, scales=[1, 1, 1.7, 0.6], mode="linear", threads=threads),
        lambda threads: kernels.resize(x, scales=[1, 1, 2, 2], mode="cubic", threads=threads),
    ]
    for name, _ in variants((1,)):
        with isa(name), concurrent.futures.ThreadPoolExecutor(8) as pool:
            want = [as_tuple(call(1)) for call in calls]
            futures = [(i, pool.submit(calls[i], n)) for _ in range(10) for i in range(len(calls)) for n in (1, 2)]
            for i, future in futures:
                for one, other in zip(as_tuple(future.result()), want[i], strict=True):
                    assert_bits(one, other, f"call {i}")
