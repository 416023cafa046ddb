"""Resize and Upsample against the reference, bit for bit. docs/resize.md"""

import numpy as np
import pytest
import strategies
from helpers import FLOAT_PARAMS, TYPE_NAMES, assert_bits, bits, check, data, examples, isa, kernels, random_nans, variants
from hypothesis import given

# More NaN and infinities than elsewhere: a tap of weight zero must not touch them.
RESIZE_KINDS = ("special", "special", "wide", "tiny", "integers")
TYPES = {**TYPE_NAMES, **{name: np.dtype(name) for name in ("int8", "uint8", "int32", "int64", "bool")}}
NUMBERS = [name for name in TYPES if name != "bool"]
MODES = ("nearest", "linear", "cubic")


@given(strategies.resizes(modes=("nearest",), dtypes=tuple(TYPES), kinds=RESIZE_KINDS))
@examples(250)
def test_nearest_random(node):
    check("resize", *node.inputs(), **node.attributes)


@given(strategies.resizes(modes=("linear",), kinds=RESIZE_KINDS))
@examples(300)
def test_linear_random(node):
    check("resize", *node.inputs(), **node.attributes)


@given(strategies.resizes(modes=("cubic",), kinds=RESIZE_KINDS))
@examples(300)
def test_cubic_random(node):
    check("resize", *node.inputs(), **node.attributes)


@given(strategies.upsamples(kinds=RESIZE_KINDS))
@examples(100)
def test_upsample_random(node):
    check("upsample", *node.inputs(), **node.attributes)


def f32(*values):
    return np.array(values, np.float32)


def i64(*values):
    return np.array(values, np.int64)


CROP = {"coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": 7.75}
HARD = {
    "2x": ([1, 5, 9, 37], {"scales": f32(1, 1, 2, 2)}),
    "2x of axes": ([2, 3, 9, 37], {"scales": f32(2, 2), "axes": [-1, 2]}),
    "2x align_corners": (
        [1, 3, 9, 37],
        {"scales": f32(2, 2), "axes": [2, 3], "coordinate_transformation_mode": "align_corners"},
    ),
    "2x asymmetric": ([1, 3, 9, 37], {"scales": f32(1, 1, 2, 2), "coordinate_transformation_mode": "asymmetric"}),
    "2x symmetric": (
        [1, 3, 7, 9],
        {"scales": f32(1.3, 0.7), "axes": [2, 3], "coordinate_transformation_mode": "half_pixel_symmetric"},
    ),
    "3x, 5x": ([1, 2, 11, 13], {"scales": f32(1, 1, 3, 5)}),
    "8x": ([1, 1, 32, 32], {"scales": f32(1, 1, 8, 8)}),
    "rows only": ([1, 3, 9, 130], {"scales": f32(1, 1, 2, 1)}),
    "columns only": ([1, 3, 9, 130], {"scales": f32(1, 1, 1, 2)}),
    "half": ([1, 3, 20, 130], {"scales": f32(1, 1, 0.5, 0.5)}),
    "0.6": ([1, 3, 20, 77], {"scales": f32(1, 1, 0.6, 0.6)}),
    "one grows, one shrinks": ([1, 3, 12, 61], {"scales": f32(1, 1, 2, 0.4)}),
    "one shrinks, one grows": ([1, 3, 40, 13], {"scales": f32(1, 1, 0.3, 2.5)}),
    "to one element": ([1, 3, 20, 30], {"sizes": i64(1, 3, 1, 1)}),
    "from one element": ([1, 3, 1, 1], {"sizes": i64(1, 3, 7, 40)}),
    "all axes": ([3, 4, 5, 6], {"sizes": i64(4, 3, 6, 11)}),
    "channels last": ([1, 9, 11, 5], {"scales": f32(1, 2, 2, 1)}),
    "channels last, wide": ([1, 5, 6, 67], {"scales": f32(1, 2, 0.7, 1)}),
    "3 axes": ([1, 2, 5, 6, 7], {"scales": f32(1, 1, 2, 2, 2)}),
    "3 axes, mixed": ([1, 2, 5, 6, 17], {"scales": f32(1, 1, 2, 0.5, 0.4)}),
    "first axis": ([5, 3, 4], {"scales": f32(2.5, 1, 1)}),
    "rank 1": ([53], {"scales": f32(1.7)}),
    "rank 7": ([2, 1, 2, 3, 1, 2, 3], {"scales": f32(1, 2, 2, 1, 3, 0.5, 2)}),
    "rank 16": ([1] * 13 + [2, 3, 2], {"scales": f32(*[1] * 13, 2, 1, 2)}),
    "not larger": ([1, 2, 13, 31], {"sizes": i64(7, 20), "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}),
    "not smaller": ([1, 2, 13, 31], {"sizes": i64(7, 20), "axes": [2, 3], "keep_aspect_ratio_policy": "not_smaller"}),
    "a policy that keeps the size": ([4, 10], {"sizes": i64(4, 9), "keep_aspect_ratio_policy": "not_larger"}),
    "nothing to do": ([1, 2, 5, 6], {"scales": f32(1, 1, 1, 1)}),
    "nothing to do, by sizes": ([1, 2, 5, 6], {"sizes": i64(6, 5), "axes": [3, 2]}),
    "crop": ([1, 2, 9, 41], {"scales": f32(1, 1, 2, 2), "roi": f32(0, 0, 0.2, 0.3, 1, 1, 0.9, 0.8), **CROP}),
    "crop with an outside": ([1, 2, 9, 41], {"sizes": i64(13, 40), "axes": [2, 3], "roi": f32(-0.2, 0.3, 0.7, 1.4), **CROP}),
    "crop all outside": ([1, 2, 9, 41], {"sizes": i64(13, 40), "axes": [2, 3], "roi": f32(1.2, 0, 1.4, 1), **CROP}),
    "crop reversed": ([1, 2, 9, 41], {"scales": f32(1, 1), "axes": [2, 3], "roi": f32(1, 1, 0, 0), **CROP}),
    "crop to one": ([1, 2, 9, 41], {"sizes": i64(1, 1), "axes": [3, 2], "roi": f32(0.1, 0.2, 0.6, 0.9), **CROP}),
    "crop without a roi": ([1, 2, 9, 41], {"sizes": i64(9, 17), "axes": [2, 3], **CROP}),
    "crop with a NaN": ([1, 2, 9, 41], {"sizes": i64(9, 17), "axes": [2, 3], "roi": f32(np.nan, 0, 1, 1), **CROP}),
    "no batch": ([0, 2, 9, 7], {"scales": f32(1, 1, 2, 2)}),
    "no elements, huge axes": ([0, 3, 4], {"sizes": i64(0, 2**29, 2**29)}),
    "an axis of none": ([2, 2, 0, 7], {"sizes": i64(2, 2, 0, 14)}),
    "shrinks to none": ([1, 2, 9, 7], {"scales": f32(1, 1, 0.1, 2)}),
}
FORMS = {
    "nearest": ("nearest", [{}, {"nearest_mode": "ceil"}]),
    "linear": ("linear", [{}, {"antialias": 1}, {"antialias": 1, "exclude_outside": 1}]),
    "cubic": (
        "cubic",
        [{}, {"exclude_outside": 1, "cubic_coeff_a": -0.5}, {"antialias": 1}, {"antialias": 1, "exclude_outside": 1}],
    ),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", HARD)
def test_hard(name, form):
    shape, attributes = HARD[name]
    mode, variations = FORMS[form]
    for seed, dtype in enumerate(NUMBERS):
        x = data(np.random.default_rng(seed), shape, TYPES[dtype], RESIZE_KINDS[seed % 4])
        for index, extra in enumerate(variations):
            check("resize", x, mode=mode, threads=(1, 7) if index == 0 else (2,), **attributes, **extra)


@pytest.mark.parametrize("width", range(1, 41))
def test_widths(width):
    """Every remainder of a vector, for the usual scales."""
    rng = np.random.default_rng(width)
    for dtype in ("float32", "uint8", "float16"):
        x = data(rng, [2, 3, width], TYPES[dtype], "special")
        for mode in MODES:
            for scale in (2, 0.5, 1.7):
                if width * scale >= 1:
                    check("resize", x, scales=f32(1, 1, scale), mode=mode, threads=(1,))
            check("resize", x, scales=f32(1, 2, 1), mode=mode, threads=(1,))


COORDINATES = strategies.COORDINATE_MODES
NEAREST_MODES = ("floor", "ceil", "round_prefer_floor", "round_prefer_ceil")


@pytest.mark.parametrize("nearest_mode", NEAREST_MODES)
@pytest.mark.parametrize("coordinates", COORDINATES)
def test_every_coordinate(coordinates, nearest_mode):
    """All pairs of small extents, and scales whose coordinates fall on halves and whole numbers or just beside them."""
    for n in range(1, 13):
        x = np.arange(n, dtype=np.int32)
        common = {"coordinate_transformation_mode": coordinates, "nearest_mode": nearest_mode, "threads": (1,)}
        for out in range(1, 25):
            check("resize", x, sizes=i64(out), **common)
        for scale in (0.3, 0.5, 0.6, 0.7, 0.9, 1.1, 1.3, 1.5, 2, 2.5, 3.3):
            check("resize", x, scales=f32(scale), roi=f32(0.1, 0.9), extrapolation_value=-1.0, **common)


@pytest.mark.parametrize("coordinates", COORDINATES)
def test_long_axes(coordinates):
    """Coordinates that float32 rounds."""
    x = np.arange(70001, dtype=np.float32)
    for mode in ("nearest", "linear"):
        for attributes in ({"scales": f32(1.3)}, {"sizes": i64(30011)}, {"scales": f32(0.37), "antialias": 1}):
            check("resize", x, mode=mode, coordinate_transformation_mode=coordinates, threads=(2,), **attributes)


# ---- special values ----


@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_nearest_copies_bits(dtype):
    x = random_nans(np.random.default_rng(3), (2, 3, 5, 7), TYPE_NAMES[dtype])
    (y,) = check("resize", x, scales=f32(1, 1, 2, 3))
    assert (bits(y)[:, :, ::2, ::3] == bits(x)).all()
    (y,) = check("resize", x, scales=f32(1, 1, 1, 1))
    assert (bits(y) == bits(x)).all()


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("dtype", FLOAT_PARAMS)
def test_interpolation_writes_the_canonical_nan(dtype, mode):
    x = random_nans(np.random.default_rng(4), (3, 5), TYPE_NAMES[dtype])
    for scales in ((1, 1), (1, 2), (2, 1), (0.5, 1)):
        (y,) = check("resize", x, scales=f32(*scales), mode=mode)
        assert len(np.unique(bits(y))) == 1
    unchanged = np.array([-0.0, 0.0], TYPE_NAMES[dtype])
    (y,) = check("resize", unchanged, scales=f32(1), mode=mode)
    assert np.signbit(y).tolist() == [True, False]
    (y,) = check("resize", unchanged, scales=f32(2), mode=mode)
    assert not np.signbit(y).any()  # sums start from +0


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_a_tap_of_weight_zero_is_left_out(mode):
    x = f32(1, np.inf, 2, np.nan, 3)
    (y,) = check("resize", x, scales=f32(2), mode=mode, coordinate_transformation_mode="asymmetric")
    np.testing.assert_array_equal(y[::2], x)
    assert np.isfinite(y[[0, 4, 8]]).all()


def test_a_scale_that_keeps_the_size():
    x = f32(100, 200).reshape(1, 1, 1, 2)
    (y,) = check("resize", x, scales=f32(1, 1, 1, 1.3), mode="linear")
    assert_bits(y.ravel(), f32(100, 165.38461))
    (y,) = check("resize", x, scales=f32(1, 1, 1, 1.3), mode="linear", coordinate_transformation_mode="half_pixel_symmetric")
    np.testing.assert_allclose(y.ravel(), [111.53846, 188.46154], rtol=1e-6)


def test_integers():
    x = np.array([-7, -2, -2, 3], np.int8)
    (y,) = check("resize", x, scales=f32(2), mode="linear")
    assert y.tolist() == [-7, -5, -3, -2, -2, 0, 1, 3]  # -5.75, -3.25, -0.75, 1.75 truncated
    (y,) = check("resize", np.array([0, 0, 4, 0, 0, -4, 0, 0, 0, 0], np.int32), scales=f32(0.5), mode="linear", antialias=1)
    assert y.tolist() == [1, 2, -2, -1, 0]  # 0.5, 1.5, -1.5, -0.5: halves away from zero
    for dtype in (np.int8, np.uint8, np.int32, np.int64):
        info = np.iinfo(dtype)
        x = np.array([info.max, info.max, info.min, info.min] * 3, dtype)
        (y,) = check("resize", x, scales=f32(3), mode="cubic")
        assert info.max in y and info.min in y  # saturated
        (y,) = check("resize", x, scales=f32(1), mode="cubic")
        assert (y == x).all()
        (y,) = check("resize", x, scales=f32(3), mode="cubic", cubic_coeff_a=np.nan)
        assert (y == 0).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_extrapolation_value(dtype):
    x = np.ones(4, TYPES[dtype])
    for mode in ("nearest",) if dtype == "bool" else MODES:
        for value in (
            0.0,
            -0.0,
            0.7,
            -0.7,
            2.5,
            -2.5,
            127.9,
            300.7,
            -1e30,
            1e30,
            1e-42,
            65519.9,
            1 / 3,
            np.inf,
            -np.inf,
            np.nan,
        ):
            for antialias in (0, 1):
                attributes = {"mode": mode, "extrapolation_value": value, "antialias": antialias}
                check("resize", x, roi=f32(-2, 3), sizes=i64(9), threads=(1,), **{**CROP, **attributes})


def test_float16_is_not_rounded_between_axes():
    x = data(np.random.default_rng(5), (1, 1, 30, 40), np.float16)
    (y,) = check("resize", x, scales=f32(1, 1, 1.7, 1.7), mode="linear")
    (inner,) = check("resize", x, scales=f32(1, 1, 1.7, 1), mode="linear")
    (twice,) = check("resize", inner, scales=f32(1, 1, 1, 1.7), mode="linear")
    assert (bits(y) != bits(twice)).any()


def test_lists_in_the_numpy_face():
    x = data(np.random.default_rng(6), (2, 9), np.float32)
    assert_bits(kernels.resize(x, scales=[1, 1.7]), kernels.resize(x, scales=f32(1, 1.7)))
    assert_bits(kernels.resize(x, sizes=(3, 4)), kernels.resize(x, sizes=i64(3, 4)))
    assert_bits(kernels.resize(x, sizes=np.array([3, 4], np.int32)), kernels.resize(x, sizes=i64(3, 4)))
    assert_bits(
        kernels.resize(x, [0, 0.1, 1, 0.9], sizes=[3, 4], **CROP),
        kernels.resize(x, f32(0, 0.1, 1, 0.9), None, i64(3, 4), **CROP),
    )
    assert_bits(kernels.resize(x, sizes=[3, 4], scales=[], axes=[]), kernels.resize(x, sizes=i64(3, 4)))
    assert_bits(kernels.upsample(x, [1, 2.5]), kernels.upsample(x, f32(1, 2.5)))


def test_a_roi_that_does_not_act_is_not_read():
    x = data(np.random.default_rng(6), (2, 9), np.float32)
    for roi in (f32(), f32(1), np.ones((2, 2)), f32(np.nan, np.inf, 0, 0)):
        assert_bits(kernels.resize(x, roi, f32(2, 2), mode="linear"), kernels.resize(x, scales=f32(2, 2), mode="linear"))


def test_inputs_of_every_layout():
    """Views that are not contiguous."""
    x = data(np.random.default_rng(7), (6, 10, 8), np.float32)
    for view in (x[::2], x.transpose(2, 0, 1), x[:, ::-1, 1::3]):
        check("resize", view, scales=f32(1, 1.5, 2), mode="linear", threads=(1,))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", NUMBERS)
def test_rows_do_not_depend_on_the_batch(dtype, mode):
    x = data(np.random.default_rng(1), [8, 3, 9, 21], TYPES[dtype], "special")
    for attributes in ({"scales": f32(2, 2)}, {"sizes": i64(5, 33)}, {"scales": f32(0.5, 0.4), "antialias": 1}):
        for name, threads in variants():
            with isa(name):
                whole = kernels.resize(x, mode=mode, axes=[2, 3], threads=threads, **attributes)
                for row in range(8):
                    one = kernels.resize(x[row : row + 1], mode=mode, axes=[2, 3], **attributes)
                    assert_bits(one, whole[row : row + 1], f"row {row}")
