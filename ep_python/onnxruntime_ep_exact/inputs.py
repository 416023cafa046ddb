"""Seeded inputs for any model. No libm call is made, so every machine draws the same values."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

_DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
    "tensor(int8)": np.int8,
    "tensor(uint8)": np.uint8,
    "tensor(int16)": np.int16,
    "tensor(uint16)": np.uint16,
    "tensor(int32)": np.int32,
    "tensor(uint32)": np.uint32,
    "tensor(int64)": np.int64,
    "tensor(uint64)": np.uint64,
    "tensor(bool)": np.bool_,
}


def draw(shape: tuple[int, ...], dtype: Any, rng: np.random.Generator) -> np.ndarray:
    """An array of the shape: multiples of 2^-15 in [-1, 1) for floats, 0 to 7 for integers, both values for bool."""
    if np.issubdtype(dtype, np.floating):
        return np.asarray(_integers(shape, 16, rng) / 2.0**15 - 1, dtype)
    return _integers(shape, 1 if dtype is np.bool_ else 3, rng).astype(dtype)


def _integers(shape: tuple[int, ...], bits: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of so many bits: the top ones of the generator's 32-bit words, the low half of a 64-bit word before the high one.
    NumPy promises the stream of 64-bit words for good, and none of what is made from it."""
    count = math.prod(shape)
    words = np.atleast_1d(rng.bit_generator.random_raw((count + 1) // 2))
    halves = np.stack([words & np.uint64(0xFFFFFFFF), words >> np.uint64(32)], axis=-1)
    return (halves >> np.uint64(32 - bits)).ravel()[:count].reshape(shape)


def make(session_inputs: list, dims: Mapping[str, int], batch: int, seed: int) -> dict[str, np.ndarray]:
    """Inputs for a session: row i of a batch depends on the seed and i alone.

    Args:
        session_inputs: ``InferenceSession.get_inputs()``.
        dims: sizes of symbolic dimensions by name, or by ``"<input>:<axis>"`` where the axis has no name. An unknown first
            axis of rank 2 and more is the batch; any other unknown axis is 64.
        batch: size of the batch axis.
        seed: of the random generator.

    Raises:
        ValueError: an input has a type that cannot be drawn.
    """
    feeds = {}
    for number, info in enumerate(session_inputs):
        if info.type not in _DTYPES:
            raise ValueError(f"input {info.name} has the type {info.type}: give it with --input")
        shape = [
            size if isinstance(size, int) and size >= 0 else dims.get(size, dims.get(f"{info.name}:{axis}", -1))
            for axis, size in enumerate(info.shape)
        ]
        batched = len(shape) > 1 and shape[0] == -1
        shape = [64 if size == -1 else size for size in shape]
        rows = batch if batched else 1
        draws = [
            draw(tuple(shape[1:] if batched else shape), _DTYPES[info.type], np.random.default_rng([seed, number, row]))
            for row in range(rows)
        ]
        feeds[info.name] = np.stack(draws) if batched else draws[0]
    return feeds
