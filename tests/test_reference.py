"""The references against plain scalar loops that spell out the formulas of docs/, one IEEE operation at a time."""

import itertools
import struct

import ml_dtypes
import mpmath
import numpy as np
import ort_nodes
import pytest
import reference
import strategies
from helpers import as_tuple, assert_bits, bits, examples, scaled_error
from hypothesis import assume, given
from hypothesis import strategies as st
from onnx.reference import ReferenceEvaluator
from reference.numerics import finish, quiet
from reference.window import make_axes

ZERO = np.float32(0)


def attempt(operator, node):
    try:
        return as_tuple(getattr(reference, operator)(*node.inputs(), **node.attributes))
    except (ValueError, NotImplementedError):
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


def squaring(a, p):
    """pow of docs/pool.md through the bits of p, the most significant first: the same products."""
    value = a
    for bit in bin(p)[3:]:
        value = np.float32(value * value)
        if bit == "1":
            value = np.float32(value * a)
    return value


def lp_norm(terms, p):
    acc = ZERO
    for term in terms:
        acc = np.float32(acc + squaring(np.float32(abs(term)), p))
    if p == 1:
        return acc
    return np.sqrt(acc) if p == 2 else rounded(mpmath.exp, np.float32(rounded(mpmath.log, acc) / np.float32(p)))


@given(strategies.lp_pools(dtypes=["float32"]))
@examples(60)
@quiet
def test_lp_pool(node):
    (y,) = attempt("lp_pool", node)
    (x,) = node.inputs()
    assume(y.size * np.prod(node.attributes["kernel_shape"]) < 20000)
    kernel, axes = pool_geometry(node, x)
    for image, channel, *o in grid(y.shape):
        value = lp_norm([v for _, v in window(x, axes, kernel, image, channel, o)], node.attributes["p"])
        assert bits(finish(np.array([value]), x.dtype)) == bits(y[(image, channel, *o)][None])


@given(strategies.lp_planes(dtypes=["float32"]))
@examples(30)
@quiet
def test_global_lp_pool(node):
    (y,) = attempt("global_lp_pool", node)
    (x,) = node.inputs()
    assume(x.size < 5000)
    for image, channel in grid(x.shape[:2]):
        value = lp_norm(x[image, channel].ravel(), node.attributes["p"])
        assert bits(finish(np.array([value]), x.dtype)) == bits(y[image, channel].ravel())


@given(strategies.lrns(dtypes=["float32"]))
@examples(60)
@quiet
def test_lrn(node):
    (y,) = attempt("lrn", node)
    (x,) = node.inputs()
    assume(x.size < 3000)
    given_attributes = {"alpha": 1e-4, "beta": 0.75, "bias": 1.0, **node.attributes}
    alpha, beta, bias = (np.float32(given_attributes[name]) for name in ("alpha", "beta", "bias"))
    size = node.attributes["size"]
    ratio = np.float32(alpha / np.float32(size))
    for n, c, *d in grid(x.shape):
        acc = ZERO
        for i in range(x.shape[1]):
            if -((size - 1) // 2) <= i - c <= -(-(size - 1) // 2):
                v = x[(n, i, *d)]
                acc = np.float32(acc + np.float32(v * v))
        s = np.float32(bias + np.float32(ratio * acc))
        match float(beta):
            case 0.75:
                power = np.float32(np.sqrt(s) * np.sqrt(np.sqrt(s)))
            case 0.5:
                power = np.sqrt(s)
            case 1.0:
                power = s
            case _:
                power = rounded(mpmath.exp, np.float32(beta * rounded(mpmath.log, s)))
        want = np.float32(x[(n, c, *d)] / power)
        assert bits(finish(np.array([want]), x.dtype)) == bits(y[(n, c, *d)][None])


@given(strategies.unpools(dtypes=["float32"]))
@examples(60)
def test_max_unpool(node):
    """From the output's side: the last element of X whose index says so."""
    (y,) = attempt("max_unpool", node)
    x, indices, _ = node.inputs()
    patterns, wants = bits(x).ravel(), indices.ravel()
    for place, got in enumerate(bits(y).ravel()[:500]):
        sources = np.flatnonzero(wants == place)
        assert got == (patterns[sources[-1]] if len(sources) else 0)


# ---- reductions, normalizations, softmax family, ArgMax and ArgMin, CumSum ----


def documented_sum(terms):
    p = [np.float32(0)] * 16
    for j, t in enumerate(terms):
        p[j % 16] = np.float32(p[j % 16] + t)
    for half in (8, 4, 2, 1):
        p = [np.float32(p[i] + p[i + half]) for i in range(half)]
    return p[0]


def plain_sum(terms):
    acc = ZERO
    for t in terms:
        acc = np.float32(acc + t)
    return acc


def runs(shape, reduced):
    """The geometry as the page has it: [(reduced?, extent)] after dropping extents of 1 and merging neighbours."""
    merged = []
    for axis, extent in enumerate(shape):
        if extent == 1:
            continue
        if merged and merged[-1][0] == (axis in reduced):
            merged[-1] = (merged[-1][0], merged[-1][1] * extent)
        else:
            merged.append((axis in reduced, extent))
    return merged


def close_scan(terms, better):
    best = terms[0]
    for t in terms[1:]:
        if better(t, best):
            best = t
    return best


@quiet
def scalar_reduction(kind, terms, row):
    total, n = documented_sum if row else plain_sum, np.float32(len(terms))
    squares = [np.float32(t * t) for t in terms]
    match kind:
        case "sum":
            return total(terms)
        case "mean":
            return np.float32(total(terms) / n)
        case "l1":
            return total([abs(t) for t in terms])
        case "l2":
            return np.sqrt(total(squares))
        case "sum_square":
            return total(squares)
        case "prod":
            acc = np.float32(1)
            for t in terms:
                acc = np.float32(acc * t)
            return acc
        case "max":
            return close_scan(terms, lambda a, b: a > b)
        case "min":
            return close_scan(terms, lambda a, b: a < b)
        case "log_sum":
            return rounded(mpmath.log, total(terms))
        case "log_sum_exp":
            m = close_scan(terms, lambda a, b: a > b)
            if any(np.isnan(terms)) or np.isinf(m):
                return np.float32(np.nan) if any(np.isnan(terms)) else m
            return np.float32(m + rounded(mpmath.log, plain_sum([rounded(mpmath.exp, np.float32(t - m)) for t in terms])))


def rounded(function, x):
    """By mpmath, through a double with a check that the double rounding is harmless."""
    x = float(x)
    if np.isnan(x) or (function is mpmath.log and x < 0):
        return np.float32(np.nan)
    if function is mpmath.log and (x == 0 or np.isinf(x)):
        return np.float32(-np.inf if x == 0 else np.inf)
    if np.isinf(x):
        return np.float32(0 if x < 0 else np.inf)
    with mpmath.workprec(120):
        y = function(mpmath.mpf(x))
        low, high = (np.float32(float(y * (1 + s * mpmath.mpf(2) ** -50))) for s in (-1, 1))
    assume(low == high)
    return low


@given(strategies.reductions(dtypes=["float32"]), st.sampled_from(reference.reduce.KINDS))
@examples(80)
def test_reductions(node, kind):
    (y,) = attempt(f"reduce_{kind}", node)
    (x,) = node.inputs()
    a = node.attributes
    assume(0 < x.size < 1500 and y.size)
    axes = a.get("axes") or ([] if a["noop_with_empty_axes"] else range(x.ndim))
    reduced = {axis % x.ndim for axis in axes} if x.ndim else set()
    shape = runs(x.shape, reduced)
    row = bool(shape) and shape[-1][0]
    keep = [range(n) if axis not in reduced else (None,) for axis, n in enumerate(x.shape)]
    for at, got in zip(itertools.product(*keep), y.ravel(), strict=True):
        terms = [x[i] for i in grid(x.shape) if all(k is None or k == j for j, k in zip(i, at, strict=True))]
        want = finish(np.array([scalar_reduction(kind, terms, row)], np.float32), x.dtype)
        assert bits(got[None]) == bits(want), (kind, terms)


@quiet
def scalar_row(x, epsilon, scale, bias, centred):
    n = np.float32(len(x))
    mean = np.float32(documented_sum(x) / n) if centred else ZERO
    d = [np.float32(v - mean) for v in x]
    v = np.float32(documented_sum([np.float32(e * e) for e in d]) / n)
    inv = np.float32(np.float32(1) / np.sqrt(np.float32(v + np.float32(epsilon))))
    y = [np.float32(np.float32(e * inv) * s) for e, s in zip(d, scale, strict=True)]
    return y if bias is None else [np.float32(a + b) for a, b in zip(y, bias, strict=True)]


def lines(x, y, reduced):
    """(sequence of X, of Y, layout is of rows) of every kept position."""
    shape = runs(x.shape, reduced)
    row = bool(shape) and shape[-1][0]
    keep = [range(n) if axis not in reduced else (None,) for axis, n in enumerate(x.shape)]
    for at in itertools.product(*keep):
        places = [i for i in grid(x.shape) if all(k is None or k == j for j, k in zip(i, at, strict=True))]
        yield [x[i] for i in places], [y[i] for i in places], documented_sum if row else plain_sum


@given(strategies.lp_norms(dtypes=["float32"]))
@examples(60)
@quiet
def test_lp_normalization(node):
    (y,) = attempt("lp_normalization", node)
    (x,) = node.inputs()
    assume(0 < x.size < 1500)
    for terms, got, total in lines(x, y, {node.attributes.get("axis", -1) % x.ndim}):
        if node.attributes["p"] == 1:
            norm = total([abs(v) for v in terms])
        else:
            norm = np.sqrt(total([np.float32(v * v) for v in terms]))
        want = [np.float32(v / norm) if norm != 0 else ZERO for v in terms]
        assert (bits(np.array(got)) == bits(finish(np.array(want), x.dtype))).all()


@given(strategies.mean_variance_norms(dtypes=["float32"]))
@examples(60)
@quiet
def test_mean_variance_normalization(node):
    (y,) = attempt("mean_variance_normalization", node)
    (x,) = node.inputs()
    assume(0 < x.size < 1500)
    for terms, got, total in lines(x, y, {axis % x.ndim for axis in node.attributes.get("axes", (0, 2, 3))}):
        n = np.float32(len(terms))
        t = [np.float32(v - terms[0]) for v in terms]
        mean = np.float32(total(t) / n)
        d = [np.float32(v - mean) for v in t]
        v = np.float32(total([np.float32(e * e) for e in d]) / n)
        s = np.float32(np.sqrt(v) + np.float32(1e-9))
        want = [np.float32(e / s) for e in d]
        assert (bits(np.array(got)) == bits(finish(np.array(want), x.dtype))).all()


@given(strategies.channel_norms(grouped=True, dtypes=["float32"]))
@examples(40)
def test_group_normalization(node):
    (y,) = attempt("group_normalization", node)
    x, scale, b = node.inputs()
    groups, channels = node.attributes["num_groups"], x.shape[1]
    area = int(np.prod(x.shape[2:]))
    assume(0 < x.size < 4000)
    each = channels // groups
    for image in range(x.shape[0]):
        for group in range(groups):
            block = slice(group * each, group * each + each)
            owner = [c if len(scale) == channels else group for c in range(group * each, group * each + each)]
            s, t = ([p[c] for c in owner for _ in range(area)] for p in (scale, b))
            want = scalar_row(x[image, block].ravel(), node.attributes["epsilon"], s, t, True)
            assert_bits(y[image, block].ravel(), finish(np.array(want, np.float32), x.dtype))


@given(strategies.row_norms(bias=False, dtypes=["float32"]))
@examples(40)
def test_rms_normalization(node):
    try:
        (y,) = attempt("rms_normalization", node)
    except NotImplementedError:
        assume(False)
    x, scale = node.inputs()
    axis = node.attributes["axis"] % x.ndim
    assume(0 < x.size < 3000)
    parameters = np.broadcast_to(scale, x.shape)
    for at in grid(x.shape[:axis]):
        want = scalar_row(x[at].ravel(), node.attributes["epsilon"], parameters[at].ravel(), None, False)
        assert_bits(y[at].ravel(), finish(np.array(want, np.float32), x.dtype))


@given(strategies.softmaxes(dtypes=["float32"]), st.booleans())
@examples(40)
@quiet
def test_softmaxes(node, logarithm):
    (y,) = attempt("log_softmax" if logarithm else "softmax", node)
    (x,) = node.inputs()
    assume(0 < x.size < 800)
    flatten = node.attributes["flatten"]
    axis = node.attributes.get("axis", 1 if flatten else -1) % x.ndim
    if flatten:
        x, y = (a.reshape(int(np.prod(x.shape[:axis])), -1) for a in (x, y))
    for row, got in zip(
        *(np.moveaxis(a, 1 if flatten else axis, -1).reshape(-1, a.shape[1 if flatten else axis]) for a in (x, y)), strict=True
    ):
        m = np.float32(np.nan) if np.isnan(row).any() else close_scan(row, lambda a, b: a > b)
        d = [np.float32(v - m) for v in row]
        e = [rounded(mpmath.exp, v) for v in d]
        total = documented_sum(e)
        want = [np.float32(a - rounded(mpmath.log, total)) for a in d] if logarithm else [np.float32(a / total) for a in e]
        assert_bits(got.copy(), finish(np.array(want, np.float32), np.float32))


@given(strategies.cumulations(dtypes=["float32"]), st.booleans())
@examples(40)
@quiet
def test_cumulations(node, product):
    (y,) = attempt("cumprod" if product else "cumsum", node)
    (x,) = node.inputs()
    axis = node.attributes["axis"].item() % max(1, x.ndim)
    assume(0 < x.size < 4000)
    for line, got in zip(*(np.moveaxis(a, axis, -1).reshape(-1, a.shape[axis]) for a in (x, y)), strict=True):
        line = line[::-1] if node.attributes["reverse"] else line
        got = got[::-1] if node.attributes["reverse"] else got
        running = np.float32(product)
        for i, v in enumerate(line):
            following = np.float32(running * v if product else running + v)
            following = v if i == 0 and not node.attributes["exclusive"] else following
            assert bits(finish(np.array([running if node.attributes["exclusive"] else following]), np.float32)) == bits(
                got[i][None]
            )
            running = following


@given(strategies.args(dtypes=["float32"], kinds=["special", "integers"]))
@examples(40)
@quiet
def test_args(node):
    (x,) = node.inputs()
    axis = node.attributes.get("axis", 0) % max(1, x.ndim)
    assume(0 < x.size < 4000)
    for operator, sign in (("arg_max", 1), ("arg_min", -1)):
        (y,) = attempt(operator, node)
        lines = np.moveaxis(x, axis, -1).reshape(-1, x.shape[axis]) * np.float32(sign)
        for line, got in zip(
            lines, np.moveaxis(y, axis, -1).ravel() if node.attributes["keepdims"] else y.ravel(), strict=True
        ):
            best = 0
            for i, v in enumerate(line):
                if v > line[best] or (node.attributes["select_last_index"] and v == line[best]):
                    best = i
            assert got == best


# ---- Resize ----


def single(value):
    return np.float32(value)


def scalar_coordinate(mode, j, n, out, s, start, end):
    j, half = single(j), single(0.5)
    if mode == "pytorch_half_pixel" and out == 1:
        return ZERO
    if mode in ("half_pixel", "pytorch_half_pixel"):
        return single(single(single(j + half) / s) - half)
    if mode == "tf_half_pixel_for_nn":
        return single(single(j + half) / s)
    if mode == "asymmetric":
        return single(j / s)
    if mode == "half_pixel_symmetric":
        share = single(single(out) / single(s * single(n)))
        offset = single(single(single(n) / single(2)) * single(single(1) - share))
        return single(single(offset + single(single(j + half) / s)) - half)
    last = single(n - 1)
    if mode == "align_corners":
        return single(single(j * last) / single(out - 1)) if out > 1 else ZERO
    if out == 1:
        return single(single(half * single(start + end)) * last)
    step = single(single(j * single(end - start)) * last)
    return single(single(start * last) + single(step / single(out - 1)))


def keys(distance, a, near):
    """One half of the cubic kernel, in the Horner form of the page. At distance 1 the halves may differ by a rounding."""
    u, one, two, three, four, five, eight = single(abs(distance)), *(single(k) for k in (1, 2, 3, 4, 5, 8))
    if near:
        inner = single(single(single(a + two) * u) - single(a + three))
        return single(single(single(inner * u) * u) + one)
    inner = single(single(single(a * u) - single(five * a)) * u)
    return single(single(single(inner + single(eight * a)) * u) - single(four * a))


def scalar_taps(x, n, s, mode, a, exclude, antialias):
    """{place in the list: (index, weight)}"""
    one = single(1)
    widened = antialias and s < 1
    if widened:
        reach = single((1 if mode == "linear" else 2) / s)
        places = range(int(np.floor(single(x - reach))) + 1, int(np.ceil(single(x + reach))))
        distances = [single(abs(single(single(single(i) - x) * s))) for i in places]
        if mode == "linear":
            weights = [single(one - u) if u < 1 else ZERO for u in distances]
        else:
            weights = [keys(u, a, u <= 1) if u < 2 else ZERO for u in distances]
    elif mode == "linear":
        x = min(max(x, ZERO), single(n - 1))
        below = int(np.floor(x))
        t = single(x - np.floor(x))
        places, weights = (below, below + 1), [single(one - t), t]
    else:
        below = int(np.floor(x))
        t = single(x - np.floor(x))
        v = single(one - t)
        places = range(below - 1, below + 3)
        weights = [keys(d, a, i in (1, 2)) for i, d in enumerate((single(t + one), t, v, single(v + one)))]
    taps = list(zip(places, weights, strict=True))
    cut = exclude and (widened or mode == "cubic")
    if cut:
        taps = [(i, w) for i, w in taps if 0 <= i <= n - 1]
    if cut or widened:
        total = ZERO
        for _, w in taps:
            total = single(total + w)
        taps = [(i, single(w / total)) for i, w in taps]
    return [(max(0, min(i, n - 1)), w) for i, w in taps if w != 0]


def scalar_extents(shape, attributes):
    """{axis: (scale, out, start, end)} of the listed axes."""
    axes = [axis % len(shape) for axis in attributes.get("axes", range(len(shape)))]
    roi = attributes.get("roi", [0] * len(axes) + [1] * len(axes))
    policy = attributes.get("keep_aspect_ratio_policy", "stretch")
    extents = [shape[axis] for axis in axes]
    if "scales" in attributes:
        scales = [single(s) for s in attributes["scales"]]
        outs = [int(single(single(n) * s)) for n, s in zip(extents, scales, strict=True)]
    else:
        outs = [int(n) for n in attributes["sizes"]]
        scales = [single(single(out) / single(n)) for out, n in zip(outs, extents, strict=True)]
    if policy != "stretch":
        scales = [(min if policy == "not_larger" else max)(scales)] * len(axes)
        products = [single(single(n) * scales[0]) for n in extents]
        outs = [int(p) + (single(p - single(int(p))) >= 0.5) for p in products]
    return {
        axis: (s, out, single(roi[i]), single(roi[len(axes) + i]))
        for i, (axis, s, out) in enumerate(zip(axes, scales, outs, strict=True))
    }


@quiet
def scalar_interpolation(x, attributes):
    """Each element of Y from the outermost axis inwards, one tap after the other."""
    mapping, mode = attributes["coordinate_transformation_mode"], attributes["mode"]
    crop = mapping == "tf_crop_and_resize"
    of = scalar_extents(x.shape, attributes)
    moved = {k: v for k, v in of.items() if crop or v[0] != 1 or v[1] != x.shape[k]}
    order = sorted(moved, key=lambda k: (moved[k][1] >= x.shape[k], k))
    places = {
        k: [scalar_coordinate(mapping, j, x.shape[k], out, s, a, b) for j in range(out)] for k, (s, out, a, b) in moved.items()
    }
    away = {k: [crop and not 0 <= c <= single(x.shape[k] - 1) for c in places[k]] for k in moved}
    a, exclude = single(attributes.get("cubic_coeff_a", -0.75)), attributes.get("exclude_outside", 0)
    taps = {
        k: [
            [] if far else scalar_taps(c, x.shape[k], moved[k][0], mode, a, exclude, attributes.get("antialias", 0))
            for c, far in zip(places[k], away[k], strict=True)
        ]
        for k in moved
    }
    known = {}

    def value(at, axes):
        if not axes:
            return x[at]
        if (at, len(axes)) not in known:
            acc, k = ZERO, axes[-1]
            for i, w in taps[k][at[k]]:
                acc = single(acc + single(value((*at[:k], i, *at[k + 1 :]), axes[:-1]) * w))
            known[at, len(axes)] = acc
        return known[at, len(axes)]

    y = np.zeros([of[k][1] if k in of else n for k, n in enumerate(x.shape)], np.float32)
    for at in grid(y.shape):
        outside = any(away[k][at[k]] for k in moved)
        y[at] = attributes.get("extrapolation_value", 0.0) if outside else value(at, order)
    return finish(y, np.float32)


@given(strategies.resizes(dtypes=["float32"], modes=("linear", "cubic")))
@examples(120)
def test_interpolation(node):
    (want,) = attempt("resize", node)
    assume(0 < want.size < 3000)
    assert_bits(want, scalar_interpolation(node.inputs()[0], node.attributes))


@given(strategies.resizes(dtypes=["float32"], modes=("nearest",)))
@examples(80)
@quiet
def test_nearest(node):
    (want,) = attempt("resize", node)
    (x,) = node.inputs()
    assume(0 < want.size < 5000)
    attributes = node.attributes
    mapping, rounding = attributes["coordinate_transformation_mode"], attributes["nearest_mode"]
    crop = mapping == "tf_crop_and_resize"
    of = scalar_extents(x.shape, attributes)
    for at in grid(want.shape):
        source, outside = list(at), False
        for k, (s, out, start, end) in of.items():
            if not crop and s == 1 and out == x.shape[k]:
                continue
            c = scalar_coordinate(mapping, at[k], x.shape[k], out, s, start, end)
            if crop and not 0 <= c <= x.shape[k] - 1:
                outside = True
                continue
            below, above = int(np.floor(c)), int(np.ceil(c))
            up = {"floor": False, "ceil": True, "round_prefer_floor": c - below > 0.5, "round_prefer_ceil": c - below >= 0.5}
            source[k] = max(0, min(above if up[rounding] else below, x.shape[k] - 1))
        value = finish(single(attributes["extrapolation_value"])[None], np.float32)[0] if outside else x[tuple(source)]
        assert bits(want[at][None]) == bits(np.array([value]))


@quiet
def resize_by_onnx(inputs, attributes):
    """onnx's own reference implementation, or None where it fails."""
    try:
        proto = ort_nodes.model("Resize", inputs, attributes, 19)
        return ReferenceEvaluator(proto).run(None, ort_nodes.feeds(inputs))[0]
    except Exception:  # it has many ways to
        return None


@given(strategies.resizes(dtypes=["float32"], kinds=["normal", "integers"]))
@examples(150)
def test_resize_where_onnx_runtime_and_onnx_agree(node):
    """Two more derivations. Where they agree, the page must not be far away; nearest: with exact coordinates."""
    a = dict(node.attributes)
    (x,) = node.inputs()
    assume(x.ndim <= 4 and 0 < x.size < 500)
    assume(a["mode"] != "nearest" or not set(np.ravel(a.get("scales", [7]))) - {1, 2, 4, 0.5, 0.25})
    assume(a["mode"] != "nearest" or a["coordinate_transformation_mode"] in ("half_pixel", "asymmetric"))
    assume(np.isfinite(a.get("cubic_coeff_a", 0)) and abs(a.get("cubic_coeff_a", 0)) < 2)
    want = as_tuple(attempt("resize", node))[0]
    assume(0 < want.size < 3000)
    inputs = [x, *(a.pop(name, None) for name in ("roi", "scales", "sizes"))]
    theirs = ort_nodes.run_cpu("Resize", inputs, a, 19)
    assume(theirs is not None)
    others = resize_by_onnx(inputs, a)
    assume(others is not None and others.shape == theirs[0].shape)
    assume(np.allclose(others, theirs[0], rtol=1e-4, atol=1e-4))
    assert scaled_error(want, theirs[0]) <= 1e-4


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
