"""What the bit tests share: data, comparison, and running a kernel on every variant and thread count."""

import contextlib
import os

import ml_dtypes
import numpy as np
import reference
from hypothesis import HealthCheck, settings
from onnxruntime_ep_exact import kernels
from reference.numerics import BFLOAT16, FLOATS, bits, is_nan

THREADS = (1, 2, 7)
TYPE_NAMES = {"float32": np.float32, "float64": np.float64, "float16": np.float16, "bfloat16": ml_dtypes.bfloat16}
FLOAT_PARAMS = list(TYPE_NAMES)
KINDS = ("normal", "wide", "special", "tiny", "integers")
FACTOR = float(os.environ.get("EXACT_TEST_EXAMPLES", "1"))


def examples(count):
    """Hypothesis settings for `count` examples, times the environment variable EXACT_TEST_EXAMPLES."""
    return settings(
        max_examples=max(1, int(count * FACTOR)),
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


# ---- data ----


def random_nans(rng, shape, dtype):
    """NaNs of random sign and payload, quiet and signalling."""
    dtype = np.dtype(dtype)
    unsigned = np.dtype(f"u{dtype.itemsize}")
    mantissa = {"float16": 10, "bfloat16": 7, "float32": 23, "float64": 52}[dtype.name]
    payload = rng.integers(1, 1 << mantissa, shape).astype(unsigned)
    exponent = bits(np.array([np.inf], dtype))[0]
    sign = rng.integers(0, 2, shape).astype(unsigned) << unsigned.type(8 * dtype.itemsize - 1)
    return (payload | exponent | sign).view(dtype)


def special_values(dtype, largest=True):
    info = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, np.inf, -np.inf, info.smallest_normal, info.smallest_subnormal, -info.smallest_subnormal]
    return np.array(values + [info.max, info.min] * largest, dtype)


def data(rng, shape, dtype, kind="normal"):
    """Random array: see the branches for what each kind is there for."""
    dtype = np.dtype(dtype)
    shape = tuple(shape)
    if dtype == np.bool_:
        return rng.random(shape) < 0.5
    if dtype not in FLOATS:
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
    values = rng.standard_normal(shape)
    if kind == "integers":  # exact sums, equal elements
        return rng.integers(-3, 4, shape).astype(dtype)
    if kind == "wide":  # a sum's order decides most of its bits
        reach = 4 if dtype == np.float16 else 30
        return (values * np.exp2(rng.integers(-reach, reach + 1, shape))).astype(dtype)
    if kind == "tiny":  # products and sums around the smallest normal number
        centre = {"float16": -13, "bfloat16": -66, "float32": -66, "float64": -514}[dtype.name]
        return (values * np.exp2(centre + rng.integers(-8, 5, shape))).astype(dtype)
    array = values.astype(dtype)
    if kind in ("special", "infinite"):  # the second without numbers whose products overflow
        pick = rng.random(shape)
        array = np.where(pick < 0.04, rng.choice(special_values(dtype, kind == "special"), shape), array)
        array = np.where((pick > 0.98), random_nans(rng, shape, dtype), array)
    return array


# ---- comparison ----


def assert_bits(got, want, label=""):
    """Same type, shape and bit patterns."""
    assert isinstance(got, np.ndarray), f"{label}: {type(got)} is not an array"
    assert got.dtype == want.dtype, f"{label}: type {got.dtype}, not {want.dtype}"
    assert got.shape == want.shape, f"{label}: shape {got.shape}, not {want.shape}"
    differ = bits(got) != bits(want)
    if differ.any():
        at = tuple(int(i) for i in np.argwhere(differ)[0])
        raise AssertionError(
            f"{label}: {differ.sum()} of {differ.size} elements differ, first at {at}: got {got[at]!r} "
            f"({bits(got)[at]:#x}), want {want[at]!r} ({bits(want)[at]:#x})"
        )


def scaled_error(got, want):
    """docs/exact-mode.md: "Fast mode". Asserts that elements which are not finite agree in kind and sign."""
    assert got.shape == want.shape
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want)
    np.testing.assert_array_equal(got[~finite], want[~finite])
    assert np.isfinite(got[finite]).all()
    if not finite.any():
        return 0.0
    return float(np.abs(got[finite] - want[finite]).max() / max(1.0, np.abs(want[finite]).max()))


# ---- running ----


@contextlib.contextmanager
def isa(name):
    """The kernels' instruction-set variant, put back afterwards."""
    before = kernels.isa()
    kernels.set_isa(name)
    try:
        yield
    finally:
        kernels.set_isa(before)


def variants(threads=THREADS):
    """Every (instruction-set variant, thread count)."""
    return [(name, count) for name in kernels.isa_names() for count in threads]


def as_tuple(result):
    return result if isinstance(result, tuple) else (result,)


def attempt(function, *args, **kwargs):
    """The results as a tuple, or the kind of error."""
    try:
        return as_tuple(function(*args, **kwargs))
    except (ValueError, NotImplementedError) as error:
        return NotImplementedError if isinstance(error, NotImplementedError) else ValueError


def check(operator, *args, threads=THREADS, **kwargs):
    """The kernel gives the reference's bits, or its kind of error, on every variant and thread count."""
    copies = [np.array(a) if isinstance(a, np.ndarray) else a for a in args]
    want = attempt(getattr(reference, operator), *args, **kwargs)
    for name, count in variants(threads):
        label = f"{operator} isa={name} threads={count}"
        with isa(name):
            got = attempt(getattr(kernels, operator), *args, threads=count, **kwargs)
        if not isinstance(want, tuple) or not isinstance(got, tuple):
            assert got == want, f"{label}: {got} instead of {want}"
            continue
        assert len(got) == len(want)
        for index, (one, other) in enumerate(zip(got, want, strict=True)):
            assert_bits(one, other, f"{label} output {index}")
    for before, after in zip(copies, args, strict=True):
        if isinstance(before, np.ndarray):
            assert (bits(before) == bits(after)).all(), "an input was changed"
    return want


__all__ = [
    "BFLOAT16",
    "FLOATS",
    "FLOAT_PARAMS",
    "KINDS",
    "THREADS",
    "TYPE_NAMES",
    "as_tuple",
    "assert_bits",
    "attempt",
    "bits",
    "check",
    "data",
    "examples",
    "is_nan",
    "isa",
    "kernels",
    "random_nans",
    "scaled_error",
    "special_values",
    "variants",
]
