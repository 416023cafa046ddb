"""exp and log are correctly rounded: the hard arguments, special values and samples against mpmath. docs/exp_log.md

The exhaustive proof for float32 is tools/prove_functions.py; the lists of hard arguments are its output.
"""

from pathlib import Path

import mpmath
import numpy as np
import pytest
from onnxruntime_ep_exact import kernels
from onnxruntime_ep_exact._kernels import ffi, lib

DATA = Path(__file__).parent / "data"
FUNCTIONS = ("exp", "log")
INF, NAN = np.inf, np.nan

# Among the hardest to round (Lefevre and Muller), then ours: results at both ends of the range, neighbours of 1.
HARD64 = {
    "exp": [
        "0x1.9e9cbbfd6080bp-31",
        "0x1.83d4bcdebb3f4p+2",
        "0x1.62e42fefa39efp+9",
        "-0x1.62e42fefa39efp+9",
        "-0x1.6232bdd7abcd2p+9",
        "-0x1.74385446d71c3p+9",
        "-0x1.74910d52d3051p+9",
        "0x1p-53",
        "0x1.0000000000001p-53",
        "-0x1p-54",
        "-0x1.8p-54",
        "-0x1p-53",
    ],
    "log": [
        "0x1.613955dc802f8p-35",
        "0x1.0000000000001p+0",
        "0x1.fffffffffffffp-1",
        "0x1p-1074",
        "0x1.fffffffffffffp-1023",
        "0x1.fffffffffffffp+1023",
        "0x1.6a09e667f3bcdp+0",
        "0x1.6a09e667f3bccp+0",
        "0x1.6a09e667f3bcdp-1",
        "0x1.6a09e667f3bccp-1",
    ],
}


@pytest.fixture(params=kernels.isa_names())
def isa(request):
    before = kernels.isa()
    kernels.set_isa(request.param)
    yield request.param
    kernels.set_isa(before)


def call(function: str, x: np.ndarray) -> np.ndarray:
    """exact_exp_f32 and its like on an array."""
    x = np.ascontiguousarray(x)
    y = np.empty_like(x)
    suffix, pointer = ("f32", "float *") if x.dtype == np.float32 else ("f64", "double *")
    entry = getattr(lib, f"exact_{function}_{suffix}")
    assert entry(ffi.cast(pointer, x.ctypes.data), ffi.cast(pointer, y.ctypes.data), x.size, ffi.NULL) == lib.EXACT_OK
    return y


def rounded(value: mpmath.mpf, dtype: np.dtype) -> np.floating:
    """A real number rounded once to nearest even, by integers."""
    digits, least, most = (24, -149, 128) if dtype == np.float32 else (53, -1074, 1024)
    if value == 0:
        return dtype.type(0)
    top = int(mpmath.floor(mpmath.log(abs(value), 2)))
    unit = max(top - digits + 1, least)
    integer = int(mpmath.nint(value * mpmath.mpf(2) ** -unit))
    if abs(integer) * mpmath.mpf(2) ** unit >= mpmath.mpf(2) ** most:
        return dtype.type(np.copysign(np.inf, integer))
    return dtype.type(np.ldexp(np.float64(integer), unit))


def truth(function: str, x: np.ndarray) -> np.ndarray:
    with mpmath.workprec(400):
        values = [rounded(getattr(mpmath, function)(mpmath.mpf(float(v))), x.dtype) for v in x]
    return np.array(values, x.dtype)


def same(got: np.ndarray, want: np.ndarray) -> None:
    unsigned = np.uint32 if got.dtype == np.float32 else np.uint64
    wrong = np.flatnonzero(got.view(unsigned) != want.view(unsigned))
    assert wrong.size == 0, [(int(i), float(got[i]).hex(), float(want[i]).hex()) for i in wrong[:5]]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_all_hard_arguments(function, isa):
    lines = [line.split() for line in (DATA / f"hard_{function}.txt").read_text().splitlines()]
    assert len(lines) == {"exp": 1531, "log": 5830}[function]
    x, want = (np.array([int(line[i], 16) for line in lines], np.uint32).view(np.float32) for i in (0, 1))
    same(call(function, x), want)
    for shift in range(1, 16):  # other lanes, other vector rests
        same(call(function, x[shift:]), want[shift:])


@pytest.mark.parametrize("function", FUNCTIONS)
def test_hard_arguments_are_right(function):
    lines = [line.split() for line in (DATA / f"hard_{function}.txt").read_text().splitlines()][::40]
    x, want = (np.array([int(line[i], 16) for line in lines], np.uint32).view(np.float32) for i in (0, 1))
    same(truth(function, x), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_special_values(dtype, isa):
    tiny = np.finfo(dtype).smallest_subnormal
    x = np.array([0.0, -0.0, INF, -INF, NAN, -NAN, 1, tiny, -tiny, np.finfo(dtype).max, np.finfo(dtype).min], dtype)
    same(call("exp", x), np.array([1, 1, INF, 0, NAN, NAN, dtype(np.e), 1, 1, INF, 0], dtype))
    log_tiny, log_max = truth("log", x[[7, 9]])
    same(call("log", x), np.array([-INF, -INF, INF, NAN, NAN, NAN, 0, log_tiny, NAN, log_max, NAN], dtype))


def test_noncanonical_nan(isa):
    for bits in (0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0xFF800001):
        x = np.full(17, bits, np.uint32).view(np.float32)
        for function in FUNCTIONS:
            assert (call(function, x).view(np.uint32) == 0x7FC00000).all()


def arguments(function: str, dtype: type, n: int) -> np.ndarray:
    rng = np.random.default_rng(3)
    most = 104 if dtype == np.float32 else 746
    if function == "exp":
        parts = [rng.uniform(-most, most, n), rng.uniform(-1, 1, n), rng.uniform(-most, -0.83 * most, n)]
        parts.append(rng.uniform(-1, 1, n) * np.exp2(rng.integers(-60, 0, n)))
    else:
        unsigned = np.uint32 if dtype == np.float32 else np.uint64
        any_bits = rng.integers(1, np.array(INF, dtype).view(unsigned), n, unsigned).view(dtype)
        parts = [any_bits, rng.uniform(0.5, 2, n), 1 + rng.uniform(-1, 1, n) * np.exp2(rng.integers(-40, 0, n))]
    return np.concatenate([part.astype(dtype) for part in parts])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_sample(function, dtype, isa):
    x = arguments(function, dtype, 700)
    same(call(function, x), truth(function, x))


@pytest.mark.parametrize("function", FUNCTIONS)
def test_hard_float64(function):
    x = np.array([float.fromhex(v) for v in HARD64[function]])
    same(call(function, x), truth(function, x))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_length_in_place(function, dtype, isa):
    x = np.linspace(0.25, 3, 40).astype(dtype)
    want = truth(function, x)
    for n in range(41):
        y = x.copy()
        pointer = ffi.cast("float *" if dtype == np.float32 else "double *", y.ctypes.data)
        entry = getattr(lib, f"exact_{function}_{'f32' if dtype == np.float32 else 'f64'}")
        assert entry(pointer, pointer, n, ffi.NULL) == lib.EXACT_OK
        same(y[:n], want[:n])
        same(y[n:], x[n:])
