"""OpenVINO's Convolution-1 and GroupConvolution-1 on NumPy arrays (see kernels.py)."""

from __future__ import annotations

import operator

import numpy as np
from numpy.typing import ArrayLike

from ._calls import Ints, _arrays, _create, _number, _run, _set_ints
from ._kernels import ffi, lib

_AUTO_PAD = {
    "explicit": lib.EXACT_NOTSET,
    "same_upper": lib.EXACT_SAME_UPPER,
    "same_lower": lib.EXACT_SAME_LOWER,
    "valid": lib.EXACT_VALID,
}


def openvino_convolution(
    x: ArrayLike,
    w: ArrayLike,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: str | None = None,
    threads: int = 1,
) -> np.ndarray:
    """OpenVINO Convolution-1 (docs/openvino.md) with one to three spatial axes.

    x is [N, C, D1 .. Dr], w is [O, C, k1 .. kr], of one float type; the result is [N, O, o1 .. or]. The lists have r values
    each. pads_begin and pads_end are ignored, and may be None, when auto_pad is same_upper, same_lower or valid.
    """
    name = "openvino_convolution"
    x, w = _arrays(name, x=x, w=w)
    return _convolve(name, x, w, 1, strides, pads_begin, pads_end, dilations, auto_pad, threads)


def openvino_group_convolution(
    x: ArrayLike,
    w: ArrayLike,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: str | None = None,
    threads: int = 1,
) -> np.ndarray:
    """OpenVINO GroupConvolution-1 (docs/openvino.md): as ``openvino_convolution``, with w [G, O / G, C / G, k1 .. kr]."""
    name = "openvino_group_convolution"
    x, w = _arrays(name, x=x, w=w)
    if w.ndim != x.ndim + 1:
        raise ValueError(f"{name}: w has rank {w.ndim}, expected that of x and one, {x.ndim + 1}")
    groups = w.shape[0]
    if groups == 0:
        raise ValueError(f"{name}: w has no groups")
    w = w.reshape(groups * w.shape[1], *w.shape[2:])
    return _convolve(name, x, w, groups, strides, pads_begin, pads_end, dilations, auto_pad, threads)


def _convolve(
    name: str,
    x: np.ndarray,
    w: np.ndarray,
    groups: int,
    strides: Ints,
    pads_begin: Ints,
    pads_end: Ints,
    dilations: Ints,
    auto_pad: str | None,
    threads: int,
) -> np.ndarray:
    r = x.ndim - 2
    number = _padding(name, auto_pad)
    attrs = ffi.new("exact_conv_attrs *")
    attrs.window.auto_pad = number
    attrs.group = groups
    if 1 <= r <= 3:  # else the rank of x is the error
        _set_ints(attrs.window.strides, _list(name, "strides", strides, r, 1))
        _set_ints(attrs.window.dilations, _list(name, "dilations", dilations, r, 1))
        if number == lib.EXACT_NOTSET:
            pads = _list(name, "pads_begin", pads_begin, r, 0) + _list(name, "pads_end", pads_end, r, 0)
            _set_ints(attrs.window.pads, pads)
    op = _create(name, lib.exact_conv_new, attrs, _number(x), lib.EXACT_MODE_EXACT)
    return _run(name, op, [x, w], threads)[0]


def _padding(name: str, auto_pad: str | None) -> int:
    key = "explicit" if auto_pad is None else auto_pad.lower() if isinstance(auto_pad, str) else ""
    if key not in _AUTO_PAD:
        raise ValueError(f"{name}: auto_pad is {auto_pad!r}, expected None or one of {', '.join(_AUTO_PAD)}")
    return _AUTO_PAD[key]


def _list(name: str, attribute: str, values: Ints, length: int, least: int) -> list[int]:
    if values is None:
        raise ValueError(f"{name}: {attribute} is required")
    integers = [operator.index(value) for value in values]
    if len(integers) != length:
        raise ValueError(f"{name}: {attribute} has {len(integers)} values, expected {length}, one per spatial axis of x")
    for value in integers:
        if value < least:
            raise ValueError(f"{name}: {attribute} has the value {value}, expected {least} or more")
    return integers
