"""Numbers for the golden cases by integer arithmetic alone: every machine draws the same, no libm, no rounding.

Element i of a tensor comes from the 64-bit word h(s + (i + 1) * 0x9E3779B97F4A7C15), s the first 8 bytes (big-endian) of the
SHA-256 of the tensor's name, h the finalizer of SplitMix64, all modulo 2^64. A float is put together from its fields: the
lowest bits of the word are the mantissa, bit 63 is the sign, bits 52 to 62 choose the exponent from the range of the kind."""

import hashlib

import numpy as np

#: type -> (unsigned integer of the same size, bits of the mantissa, exponent bias)
FIELDS = {
    "float16": (np.uint16, 10, 15),
    "bfloat16": (np.uint16, 7, 127),
    "float32": (np.uint32, 23, 127),
    "float64": (np.uint64, 52, 1023),
}
#: The centre of "tiny": products of two such numbers are subnormal (float16: the numbers are near its least normal).
_TINY = {"float16": -13, "bfloat16": -66, "float32": -66, "float64": -515}


def words(name: str, count: int) -> np.ndarray:
    """The first 64-bit words of a name."""
    seed = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "big")
    return _mix(np.uint64(seed) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15))


def _mix(z: np.ndarray) -> np.ndarray:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _exponents(dtype: str, kind: str) -> range:
    """Exponent fields."""
    bias = FIELDS[dtype][2]
    match kind:
        case "plain" | "special" | "positive":
            return range(bias - 3, bias + 2)
        case "wide":
            reach = 4 if dtype == "float16" else 12
            return range(bias - reach, bias + reach)
        case "tiny":
            centre = bias + _TINY[dtype]
            return range(max(0, centre - 8), centre + 5)
        case "subnormal":
            return range(3)
    raise ValueError(kind)


def _special(dtype: str) -> list[int]:
    """Zeros, infinities, NaNs (quiet and signalling, with payload), the least and the greatest numbers, as bits."""
    unsigned, mantissa, bias = FIELDS[dtype]
    sign = 1 << (8 * np.dtype(unsigned).itemsize - 1)
    infinity = (2 * bias + 1) << mantissa
    values = [
        0,
        infinity,
        infinity | 1 << (mantissa - 1) | 1,
        infinity | 3,
        1,
        (1 << mantissa) - 1,
        1 << mantissa,
        infinity - 1,
    ]
    return [v | s for v in values for s in (0, sign)]


def _float(name: str, count: int, dtype: str, kind: str) -> np.ndarray:
    unsigned, mantissa, bias = FIELDS[dtype]
    bits = 8 * np.dtype(unsigned).itemsize
    z = words(name, count)
    if kind == "whole":  # integers from -3 to 3: equal elements, exact sums
        three = bias + 1 << mantissa
        values = [0, bias << mantissa, three, three | 1 << (mantissa - 1)]
        signed = values + [v | 1 << (bits - 1) for v in values[1:]]
        return np.array(signed, unsigned)[(z >> np.uint64(33)) % np.uint64(7)]
    exponents = _exponents(dtype, kind)
    exponent = np.uint64(exponents.start) + (
        (z >> np.uint64(52) & np.uint64(0x7FF)) * np.uint64(len(exponents)) >> np.uint64(11)
    )
    sign = np.uint64(0) if kind == "positive" else z >> np.uint64(63)
    z_bits = z & np.uint64((1 << mantissa) - 1) | exponent << np.uint64(mantissa) | sign << np.uint64(bits - 1)
    result = z_bits.astype(unsigned)
    if kind == "special":
        again = _mix(z)
        values = np.array(_special(dtype), unsigned)
        chosen = values[(again >> np.uint64(8)) % np.uint64(len(values))]
        result = np.where(again >> np.uint64(59) == 0, chosen, result)  # 1 in 32
    return result


def draw(name: str, shape: tuple[int, ...], dtype: str, kind: str = "plain") -> np.ndarray:
    """A tensor of the name. bfloat16 comes as its bits, in uint16; integers have every value of their type."""
    count = int(np.prod(shape, dtype=np.int64))
    if dtype == "bool":
        return (words(name, count) >> np.uint64(63)).astype(np.bool_).reshape(shape)
    if dtype not in FIELDS:
        size = 8 * np.dtype(dtype).itemsize
        return (words(name, count) >> np.uint64(64 - size)).astype(f"u{size // 8}").view(dtype).reshape(shape)
    values = _float(name, count, dtype, kind).reshape(shape)
    return values if dtype == "bfloat16" else values.view(dtype)
