"""Random draws that depend on a text alone: the streams used here are the ones that Python (random.random) and NumPy
(raw bits of a bit generator) promise to keep, so a recording can be replayed with other versions."""

import hashlib
import math
import random

import numpy as np
from helpers import TYPE_NAMES, special_values
from reference.numerics import bits

KINDS = ("normal", "wide", "special", "infinite", "tiny", "integers")
#: With no infinities and NaNs.
FINITE = ("normal", "wide", "tiny", "integers")
_MANTISSA = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}


class Draw:
    """Draws of one case."""

    def __init__(self, text):
        digest = hashlib.sha256(text.encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:16], "little"))
        self._bits = np.random.PCG64(int.from_bytes(digest[16:], "little"))

    def integer(self, low, high):
        """low to high, both included."""
        return low + int(self._random.random() * (high - low + 1))

    def pick(self, choices):
        return choices[self.integer(0, len(choices) - 1)]

    def chance(self, one_in):
        return self.integer(1, one_in) == 1

    def flag(self):
        return self.integer(0, 1)

    def _raw(self, shape):
        return self._bits.random_raw(math.prod(shape)).reshape(shape)

    def _uniform(self, shape):
        return (self._raw(shape) >> np.uint64(11)) * 2.0**-53

    def _below(self, shape, n):
        return (self._uniform(shape) * n).astype(np.int64)

    def array(self, shape, dtype, kind="normal"):
        """Random array of a type name."""
        return np.asarray(self._array(tuple(shape), dtype, kind))

    def indices(self, shape, n):
        """Numbers from 0 to n - 1, int64."""
        return self._below(tuple(shape), n)

    def _array(self, shape, dtype, kind):
        """See the branches for what each kind is there for."""
        if dtype == "bool":
            return self._uniform(shape) < 0.5
        dtype = np.dtype(TYPE_NAMES.get(dtype, dtype))
        if dtype.name not in _MANTISSA:
            if kind == "integers":  # sums and products that do not overflow
                return self._below(shape, 5).astype(dtype)
            return self._raw(shape).astype(f"u{dtype.itemsize}").view(dtype)
        values = (sum(self._uniform(shape) for _ in range(4)) - 2.0) * 1.75
        if kind == "integers":  # exact sums, equal elements
            return np.rint(values * 1.5).astype(dtype)
        if kind == "wide":  # a sum's order decides most of its bits
            reach = 4 if dtype == np.float16 else 30
            return np.ldexp(values, self._below(shape, 2 * reach + 1) - reach).astype(dtype)
        if kind == "tiny":  # products and sums around the smallest normal number
            centre = {"float16": -13, "bfloat16": -66, "float32": -66, "float64": -514}[dtype.name]
            return np.ldexp(values, centre + self._below(shape, 13) - 8).astype(dtype)
        if kind == "positive":
            return np.abs(values + 0.01).astype(dtype)
        if kind == "far":  # a mean that is large beside the deviations
            return (values + 30.0).astype(dtype)
        array = values.astype(dtype)
        if kind in ("special", "infinite"):  # the second without the largest numbers
            odd = special_values(dtype, kind == "special")
            array = np.where(self._below(shape, 25) == 0, odd[self._below(shape, len(odd))], array)
            array = np.where(self._below(shape, 50) == 0, self._nans(shape, dtype), array)
        return array

    def _nans(self, shape, dtype):
        """NaNs of random sign and payload, quiet and signalling."""
        unsigned = np.dtype(f"u{dtype.itemsize}").type
        payload = 1 + self._below(shape, (1 << _MANTISSA[dtype.name]) - 1).astype(unsigned)
        sign = self._below(shape, 2).astype(unsigned) << unsigned(8 * dtype.itemsize - 1)
        return (payload | bits(np.array([np.inf], dtype))[0] | sign).astype(unsigned).view(dtype)
