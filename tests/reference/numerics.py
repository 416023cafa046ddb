"""Number types. docs/exact-mode.md: "NaN", "float16 and bfloat16", "float64"."""

import functools

import ml_dtypes
import numpy as np

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.float16), BFLOAT16)

_CANONICAL_NAN = {
    np.dtype(np.float16): (np.uint16, 0x7E00),
    BFLOAT16: (np.uint16, 0x7FC0),
    np.dtype(np.float32): (np.uint32, 0x7FC00000),
    np.dtype(np.float64): (np.uint64, 0x7FF8000000000000),
}
_LOWEST_BITS = {
    np.dtype(np.float16): (np.uint16, 0xFBFF),
    BFLOAT16: (np.uint16, 0xFF7F),
    np.dtype(np.float32): (np.uint32, 0xFF7FFFFF),
    np.dtype(np.float64): (np.uint64, 0xFFEFFFFFFFFFFFFF),
    np.dtype(np.int8): (np.uint8, 0x80),
    np.dtype(np.uint8): (np.uint8, 0),
}


def quiet(function):
    """Runs `function` without NumPy's floating-point warnings."""

    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        with np.errstate(all="ignore"):
            return function(*args, **kwargs)

    return wrapper


def arithmetic_type(dtype):
    """float64 for float64, float32 for every other type."""
    return np.float64 if dtype == np.float64 else np.float32


def lowest(dtype):
    """Lowest finite value of `dtype`, as a 0-d array of it."""
    unsigned, bits = _LOWEST_BITS[np.dtype(dtype)]
    return np.array(bits, unsigned).view(dtype)


def canonical_nan(dtype):
    unsigned, bits = _CANONICAL_NAN[np.dtype(dtype)]
    return np.array(bits, unsigned).view(dtype)


def is_nan(array):
    """isnan for every type, False for integers."""
    return np.isnan(array) if np.dtype(array.dtype) in FLOATS else np.zeros(array.shape, bool)


@quiet
def finish(acc, dtype):
    """The one rounding from the arithmetic type to `dtype`, and the canonical NaN."""
    out = np.asarray(acc).astype(dtype)
    out[np.isnan(acc)] = canonical_nan(dtype)
    return out


def bits(array):
    """The array's bit patterns as unsigned integers."""
    array = np.ascontiguousarray(array)
    return array.view(np.dtype(f"u{array.dtype.itemsize}"))


def require_float(*arrays):
    """Arrays must be of one served float type."""
    first = arrays[0].dtype
    if any(a.dtype != first for a in arrays):
        raise ValueError("types differ")
    if first not in FLOATS:
        raise NotImplementedError(f"type {first}")
