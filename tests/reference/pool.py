"""docs/pool.md"""

import operator

import numpy as np

from .explog import exp, log
from .numerics import FLOATS, arithmetic_type, canonical_nan, finish, is_nan, lowest, quiet, require_float
from .window import flag, gather_tap, inside, int_list, make_axes, outer, spatial_rank, taps


def pool_axes(x, kernel_shape, strides, pads, dilations, ceil_mode, auto_pad):
    r = spatial_rank(x)
    if kernel_shape is None or len(kernel_shape) == 0:
        raise ValueError("kernel_shape is required")
    kernel = int_list("kernel_shape", kernel_shape, r, 1, 1)
    return kernel, make_axes(x.shape[2:], kernel, strides, dilations, pads, auto_pad, flag("ceil_mode", ceil_mode))


def plane_index(axes, tap, storage_order):
    """Position of `tap` in its plane, for every output position."""
    sizes = [axis.n for axis in axes]
    if storage_order == 0:
        steps = [int(np.prod(sizes[i + 1 :])) for i in range(len(sizes))]
    else:
        steps = [int(np.prod(sizes[:i])) for i in range(len(sizes))]
    parts = [axis.positions(k) * step for axis, k, step in zip(axes, tap, steps, strict=True)]
    return outer(parts, np.add)


@quiet
def max_pool(
    x,
    kernel_shape,
    *,
    strides=None,
    pads=None,
    dilations=None,
    ceil_mode=0,
    storage_order=0,
    auto_pad="NOTSET",
    return_indices=False,
):
    if x.dtype not in (*FLOATS, np.int8, np.uint8):
        raise NotImplementedError(f"type {x.dtype}")
    storage_order = flag("storage_order", storage_order)
    kernel, axes = pool_axes(x, kernel_shape, strides, pads, dilations, ceil_mode, auto_pad)
    shape = (*x.shape[:2], *(axis.out for axis in axes))

    best = np.full(shape, lowest(x.dtype))
    started = np.zeros(shape, bool)
    touched = np.zeros(shape, bool)
    chosen = np.zeros(shape, np.int64)
    for tap in taps(kernel):
        here = np.broadcast_to(inside(axes, tap), shape)
        value = gather_tap(x, axes, tap)
        index = np.broadcast_to(plane_index(axes, tap, storage_order), shape)
        usable = here & ~is_nan(value)
        takes = usable & (~started | (value > best))
        best = np.where(takes, value, best)
        chosen = np.where(takes | (here & ~touched), index, chosen)
        touched |= here
        started |= usable
    if x.dtype in FLOATS:
        best[touched & ~started] = canonical_nan(x.dtype)
    if not return_indices:
        return best
    n, channels = x.shape[:2]
    planes = np.arange(n * channels, dtype=np.int64) * int(np.prod(x.shape[2:]))
    return best, chosen + planes.reshape(n, channels, *[1] * len(axes))


@quiet
def average_pool(
    x,
    kernel_shape,
    *,
    strides=None,
    pads=None,
    dilations=None,
    ceil_mode=0,
    count_include_pad=0,
    auto_pad="NOTSET",
):
    require_float(x)
    count_include_pad = flag("count_include_pad", count_include_pad)
    kernel, axes = pool_axes(x, kernel_shape, strides, pads, dilations, ceil_mode, auto_pad)
    real = arithmetic_type(x.dtype)
    xs = x.astype(real)
    acc = np.zeros((*x.shape[:2], *(axis.out for axis in axes)), real)
    count = np.zeros(acc.shape[2:], np.int64)
    for tap in taps(kernel):
        here = inside(axes, tap)
        acc = np.where(here, acc + gather_tap(xs, axes, tap), acc)
        if count_include_pad:
            parts = []
            for axis, k in zip(axes, tap, strict=True):
                p = axis.positions(k)
                parts.append((p >= -axis.before) & (p < axis.n + axis.after))
            count += outer(parts, np.logical_and)
        else:
            count += here
    return finish(acc / count.astype(real), x.dtype)


def lp_order(p):
    if operator.index(p) < 1:
        raise NotImplementedError("p")
    return operator.index(p)


def lp_term(a, p):
    """The p-th power by repeated squaring."""
    if p == 1:
        return a
    if p % 2:
        return lp_term(a, p - 1) * a
    half = lp_term(a, p // 2)
    return half * half


def lp_root(acc, p):
    if p == 1:
        return acc
    return np.sqrt(acc) if p == 2 else exp(log(acc) / acc.dtype.type(p))


@quiet
def lp_pool(
    x,
    kernel_shape,
    *,
    p=2,
    auto_pad="NOTSET",
    strides=None,
    dilations=None,
    pads=None,
    ceil_mode=0,
):
    require_float(x)
    p = lp_order(p)
    kernel, axes = pool_axes(x, kernel_shape, strides, pads, dilations, ceil_mode, auto_pad)
    xs = x.astype(arithmetic_type(x.dtype))
    terms = lp_term(np.abs(xs), p)
    acc = np.zeros((*x.shape[:2], *(axis.out for axis in axes)), xs.dtype)
    for tap in taps(kernel):
        acc = np.where(inside(axes, tap), acc + gather_tap(terms, axes, tap), acc)
    return finish(lp_root(acc, p), x.dtype)


@quiet
def global_max_pool(x):
    require_float(x)
    r = spatial_rank(x, most=14)
    flat = x.reshape(*x.shape[:2], int(np.prod(x.shape[2:])))
    best = np.full(x.shape[:2], lowest(x.dtype))
    for i in range(flat.shape[2]):
        best = np.where(flat[:, :, i] > best, flat[:, :, i], best)
    return best.reshape(*x.shape[:2], *[1] * r)


@quiet
def global_average_pool(x):
    require_float(x)
    r = spatial_rank(x, most=14)
    real = arithmetic_type(x.dtype)
    flat = x.astype(real).reshape(*x.shape[:2], int(np.prod(x.shape[2:])))
    acc = np.zeros(x.shape[:2], real)
    for i in range(flat.shape[2]):
        acc = acc + flat[:, :, i]
    return finish((acc / real(flat.shape[2])).reshape(*x.shape[:2], *[1] * r), x.dtype)


@quiet
def global_lp_pool(x, *, p=2):
    require_float(x)
    p = lp_order(p)
    r = spatial_rank(x, most=14)
    flat = x.astype(arithmetic_type(x.dtype)).reshape(*x.shape[:2], int(np.prod(x.shape[2:])))
    terms = lp_term(np.abs(flat), p)
    acc = np.zeros(x.shape[:2], flat.dtype)
    for i in range(flat.shape[2]):
        acc = acc + terms[:, :, i]
    return finish(lp_root(acc, p).reshape(*x.shape[:2], *[1] * r), x.dtype)
