"""The references against plain scalar loops that spell out the formulas of docs/, one IEEE operation at a time."""

import itertools
import struct

import ml_dtypes
import numpy as np
import pytest
import reference
import strategies
from helpers import as_tuple, assert_bits, bits, examples
from hypothesis import assume, given
from reference.numerics import finish, quiet
from reference.window import make_axes

ZERO = np.float32(0)


def attempt(operator, node):
    try:
        return as_tuple(getattr(reference, operator)(*node.inputs(), **node.attributes))
    except ValueError:
        assume(False)


def grid(sizes):
    return itertools.product(*(range(n) for n in sizes))


@quiet
def scalar_conv(x, w, b, axes, group):
    (n, _), (m, per_group), kernel = x.shape[:2], w.shape[:2], w.shape[2:]
    y = np.empty((n, m, *(axis.out for axis in axes)), np.float32)
    for image, channel, *o in grid(y.shape):
        acc = ZERO
        first = channel // (m // group) * per_group
        for c in range(per_group):
            for k in grid(kernel):
                p = [o[i] * a.stride - a.before + k[i] * a.dilation for i, a in enumerate(axes)]
                value = x[(image, first + c, *p)] if all(0 <= p[i] < a.n for i, a in enumerate(axes)) else ZERO
                product = np.float32(value * w[(channel, c, *k)])
                acc = np.float32(acc + product)
        y[(image, channel, *o)] = acc if b is None else np.float32(acc + b[channel])
    return finish(y, y.dtype)


@given(strategies.convs(dtypes=["float32"]))
@examples(40)
def test_conv(node):
    (want,) = attempt("conv", node)
    assume(want.size * np.prod(node.shapes[1][1:]) < 20000)
    x, w, b = node.inputs()
    a = node.attributes
    axes = make_axes(x.shape[2:], w.shape[2:], a["strides"], a["dilations"], a.get("pads"), a["auto_pad"])
    assert_bits(want, scalar_conv(x, w, b, axes, a["group"]))


@quiet
def scalar_conv_transpose(x, w, b, out, before, attributes):
    """Scatters input elements instead of gathering taps; the landing taps of an output still come in order."""
    group, (n, channels), per_output, kernel = attributes["group"], x.shape[:2], w.shape[1], w.shape[2:]
    per_group = channels // group
    y = np.zeros((n, group * per_output, *out), np.float32)
    for k in grid(kernel):
        for image, m, *t in grid((n, group * per_output, *x.shape[2:])):
            o = [t[i] * attributes["strides"][i] + k[i] * attributes["dilations"][i] - before[i] for i in range(len(t))]
            if not all(0 <= o[i] < out[i] for i in range(len(t))):
                continue
            p = ZERO
            for c in range(m // per_output * per_group, (m // per_output + 1) * per_group):
                product = np.float32(x[(image, c, *t)] * w[(c, m % per_output, *k)])
                p = np.float32(p + product)
            y[(image, m, *o)] = np.float32(y[(image, m, *o)] + p)
    if b is not None:
        y = y + b.reshape(-1, *[1] * len(out))
    return finish(y, y.dtype)


@given(strategies.conv_transposes(dtypes=["float32"]))
@examples(40)
def test_conv_transpose(node):
    (want,) = attempt("conv_transpose", node)
    assume(want.size * np.prod(node.shapes[1][2:]) * node.shapes[1][0] < 30000)
    a, (x, w, b) = node.attributes, node.inputs()
    before = []
    for i, n in enumerate(x.shape[2:]):
        natural = a["strides"][i] * (n - 1) + a["dilations"][i] * (w.shape[2 + i] - 1) + 1
        natural += a.get("output_padding", [0] * 9)[i]
        cut = max(0, natural - want.shape[2 + i])
        if "output_shape" in a or a["auto_pad"].startswith("SAME"):
            before.append(cut // 2 if a["auto_pad"] == "SAME_UPPER" else (cut + 1) // 2)
        else:
            before.append(a.get("pads", [0] * 9)[i])
    assert_bits(want, scalar_conv_transpose(x, w, b, want.shape[2:], before, a))


def window(x, axes, kernel, image, channel, o):
    """(position, element) of the taps inside, in order."""
    for k in grid(kernel):
        p = tuple(o[i] * a.stride - a.before + k[i] * a.dilation for i, a in enumerate(axes))
        if all(0 <= p[i] < a.n for i, a in enumerate(axes)):
            yield p, x[(image, channel, *p)]


def pool_geometry(node, x):
    a = node.attributes
    kernel = a["kernel_shape"]
    return kernel, make_axes(x.shape[2:], kernel, a["strides"], a["dilations"], a.get("pads"), a["auto_pad"], a["ceil_mode"])


@given(strategies.pools(("ceil_mode", "storage_order"), dtypes=["float32", "int8"], kinds=["special", "integers"]))
@examples(60)
def test_max_pool(node):
    node.attributes["return_indices"] = True
    y, indices = attempt("max_pool", node)
    (x,) = node.inputs()
    assume(y.size * np.prod(node.attributes["kernel_shape"]) < 50000)
    kernel, axes = pool_geometry(node, x)
    order = "F" if node.attributes["storage_order"] else "C"
    for image, channel, *o in grid(y.shape):
        inside = list(window(x, axes, kernel, image, channel, o))
        numbers = [(p, v) for p, v in inside if not np.isnan(v)]
        if numbers:
            place, value = numbers[0]
            for p, v in numbers:
                if v > value:
                    place, value = p, v
        elif inside:
            place, value = inside[0][0], np.float32(np.nan)
        else:
            place, value = (0,) * len(axes), (np.finfo if x.dtype == np.float32 else np.iinfo)(x.dtype).min
        at = (image, channel, *o)
        assert bits(y[at][None]) == bits(np.array([value], x.dtype))
        plane = x.shape[2:]
        flat = np.ravel_multi_index(place, plane, order=order) if np.prod(plane) else 0
        assert indices[at] == (image * x.shape[1] + channel) * np.prod(plane) + flat


@given(strategies.pools(("ceil_mode", "count_include_pad"), dtypes=["float32"]))
@examples(60)
@quiet
def test_average_pool(node):
    (y,) = attempt("average_pool", node)
    (x,) = node.inputs()
    assume(y.size * np.prod(node.attributes["kernel_shape"]) < 50000)
    kernel, axes = pool_geometry(node, x)
    for image, channel, *o in grid(y.shape):
        inside = [v for _, v in window(x, axes, kernel, image, channel, o)]
        acc, count = ZERO, len(inside)
        for v in inside:
            acc = np.float32(acc + v)
        if node.attributes["count_include_pad"]:
            # The padded input is a longer input whose window has taps everywhere but in the overhang.
            count = 1
            for i, a in enumerate(axes):
                taps = range(o[i] * a.stride, o[i] * a.stride + kernel[i] * a.dilation, a.dilation)
                count *= sum(t < a.before + a.n + a.after for t in taps)
        value = np.float32(np.divide(acc, np.float32(count)))
        assert bits(finish(np.array([value]), x.dtype)) == bits(y[(image, channel, *o)][None])


def nearest_even(pattern, dropped):
    """Drops the lowest bits of an integer, rounding to nearest, ties to even."""
    kept, rest, half = pattern >> dropped, pattern & ((1 << dropped) - 1), 1 << (dropped - 1)
    return kept + (rest > half or (rest == half and kept & 1))


def test_narrowing():
    """float32 to float16 and bfloat16 around rounding boundaries, against struct and integer arithmetic."""
    rng = np.random.default_rng(0)
    patterns = rng.integers(0, 2**32, 20000, dtype=np.uint32)
    halves = np.arange(0, 0x7C00, 37, dtype=np.uint16).view(np.float16).astype(np.float32).view(np.uint32)
    ties = (halves[:-1].astype(np.int64) + halves[1:]) // 2
    near = np.concatenate([ties + d for d in (-1, 0, 1)] + [ties & ~0xFFFF | t for t in (0x7FFF, 0x8000, 0x8001)])
    values = np.concatenate([patterns, near.astype(np.uint32)]).view(np.float32)
    values = values[~np.isnan(values)]
    for value, half, brain in zip(
        values.tolist(),
        bits(finish(values, np.float16)).tolist(),
        bits(finish(values, ml_dtypes.bfloat16)).tolist(),
        strict=True,
    ):
        try:
            assert half == struct.unpack("<H", struct.pack("<e", value))[0]
        except OverflowError:
            assert half == (0xFC00 if value < 0 else 0x7C00)
        assert brain == nearest_even(struct.unpack("<I", struct.pack("<f", value))[0], 16)


@pytest.mark.parametrize("dtype, want", [("f2", 0x7E00), (ml_dtypes.bfloat16, 0x7FC0), ("f4", 0x7FC00000)])
def test_canonical_nan(dtype, want):
    nans = np.array([0x7F800001, 0xFFC00000, 0xFFFFFFFF], np.uint32).view(np.float32)
    assert bits(finish(nans, np.dtype(dtype))).tolist() == [want] * 3
