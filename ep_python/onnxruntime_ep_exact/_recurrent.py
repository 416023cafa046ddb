"""LSTM, GRU and RNN on NumPy arrays; re-exported by kernels.py."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ._calls import _arrays, _choice, _create, _float_bits, _number, _run, _set_float
from ._kernels import ffi, lib

Names = Iterable[str] | None
Floats = Iterable[float] | None

_DIRECTIONS = {"forward": lib.EXACT_FORWARD, "reverse": lib.EXACT_REVERSE, "bidirectional": lib.EXACT_BIDIRECTIONAL}
_ACTIVATIONS = {
    "relu": lib.EXACT_ACT_RELU,
    "tanh": lib.EXACT_ACT_TANH,
    "sigmoid": lib.EXACT_ACT_SIGMOID,
    "affine": lib.EXACT_ACT_AFFINE,
    "leakyrelu": lib.EXACT_ACT_LEAKY_RELU,
    "thresholdedrelu": lib.EXACT_ACT_THRESHOLDED_RELU,
    "scaledtanh": lib.EXACT_ACT_SCALED_TANH,
    "hardsigmoid": lib.EXACT_ACT_HARD_SIGMOID,
    "elu": lib.EXACT_ACT_ELU,
    "softsign": lib.EXACT_ACT_SOFTSIGN,
    "softplus": lib.EXACT_ACT_SOFTPLUS,
}
_MOST = 6  # values of a list that have a meaning


def lstm(
    x: ArrayLike,
    w: ArrayLike,
    r: ArrayLike,
    b: ArrayLike | None = None,
    sequence_lens: ArrayLike | None = None,
    initial_h: ArrayLike | None = None,
    initial_c: ArrayLike | None = None,
    p: ArrayLike | None = None,
    *,
    hidden_size: int | None = None,
    direction: str = "forward",
    layout: int = 0,
    clip: float | None = None,
    input_forget: int = 0,
    activations: Names = None,
    activation_alpha: Floats = None,
    activation_beta: Floats = None,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """ONNX LSTM (docs/recurrent.md): Y, Y_h, Y_c. sequence_lens is int32."""
    name = "lstm"
    arrays = _arrays(
        name, x=x, w=w, r=r, b=b, sequence_lens=sequence_lens, initial_h=initial_h, initial_c=initial_c, p=p
    )  # fmt: skip
    attrs = _attrs(name, hidden_size, direction, layout, clip, activations, activation_alpha, activation_beta)
    attrs.input_forget = operator.index(input_forget)
    op = _create(name, lib.exact_recurrent_new, lib.EXACT_LSTM, attrs, _number(arrays[0]))
    y, y_h, y_c = _run(name, op, arrays, threads, wanted=3)
    return y, y_h, y_c


def gru(
    x: ArrayLike,
    w: ArrayLike,
    r: ArrayLike,
    b: ArrayLike | None = None,
    sequence_lens: ArrayLike | None = None,
    initial_h: ArrayLike | None = None,
    *,
    hidden_size: int | None = None,
    direction: str = "forward",
    layout: int = 0,
    clip: float | None = None,
    linear_before_reset: int = 0,
    activations: Names = None,
    activation_alpha: Floats = None,
    activation_beta: Floats = None,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """ONNX GRU (docs/recurrent.md): Y, Y_h. sequence_lens is int32."""
    name = "gru"
    arrays = _arrays(name, x=x, w=w, r=r, b=b, sequence_lens=sequence_lens, initial_h=initial_h)
    attrs = _attrs(name, hidden_size, direction, layout, clip, activations, activation_alpha, activation_beta)
    attrs.linear_before_reset = operator.index(linear_before_reset)
    op = _create(name, lib.exact_recurrent_new, lib.EXACT_GRU, attrs, _number(arrays[0]))
    y, y_h = _run(name, op, arrays, threads, wanted=2)
    return y, y_h


def rnn(
    x: ArrayLike,
    w: ArrayLike,
    r: ArrayLike,
    b: ArrayLike | None = None,
    sequence_lens: ArrayLike | None = None,
    initial_h: ArrayLike | None = None,
    *,
    hidden_size: int | None = None,
    direction: str = "forward",
    layout: int = 0,
    clip: float | None = None,
    activations: Names = None,
    activation_alpha: Floats = None,
    activation_beta: Floats = None,
    threads: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """ONNX RNN (docs/recurrent.md): Y, Y_h. sequence_lens is int32."""
    name = "rnn"
    arrays = _arrays(name, x=x, w=w, r=r, b=b, sequence_lens=sequence_lens, initial_h=initial_h)
    attrs = _attrs(name, hidden_size, direction, layout, clip, activations, activation_alpha, activation_beta)
    op = _create(name, lib.exact_recurrent_new, lib.EXACT_RNN, attrs, _number(arrays[0]))
    y, y_h = _run(name, op, arrays, threads, wanted=2)
    return y, y_h


def _attrs(
    function: str,
    hidden_size: int | None,
    direction: str,
    layout: int,
    clip: float | None,
    activations: Names,
    alpha: Floats,
    beta: Floats,
) -> Any:
    attrs = ffi.new("exact_recurrent_attrs *")
    attrs.direction = _choice(function, "direction", direction, _DIRECTIONS)
    attrs.layout = operator.index(layout)
    if hidden_size is not None:
        attrs.has_hidden_size, attrs.hidden_size = 1, operator.index(hidden_size)
    if clip is not None:
        attrs.has_clip = 1
        _set_float(attrs, "clip", clip)
    names = [_choice(function, "activations", name.lower(), _ACTIVATIONS) for name in activations or ()]
    attrs.n_activations = len(names)
    attrs.activations[0 : len(names[:_MOST])] = names[:_MOST]
    attrs.n_alpha = _set_floats(attrs.alpha, alpha)
    attrs.n_beta = _set_floats(attrs.beta, beta)
    return attrs


def _set_floats(field: Any, values: Floats) -> int:
    bits = [_float_bits(value) for value in (() if values is None else values)]
    numbers = np.array(bits[:_MOST], np.uint32)
    ffi.memmove(field, numbers.tobytes(), 4 * len(numbers))
    return len(bits)
