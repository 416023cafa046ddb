"""sigmoid, tanh, erf, softplus, sin and cos are correctly rounded: hard arguments, special values, samples against mpmath.
docs/transcendental.md

The exhaustive proof is tools/prove_functions.py; the lists of hard arguments are its output.
"""

from pathlib import Path

import mpmath
import numpy as np
import pytest
from onnxruntime_ep_exact import kernels
from onnxruntime_ep_exact._kernels import ffi, lib

DATA = Path(__file__).parent / "data"
HARD = {"sigmoid": 2846, "tanh": 814, "erf": 6788, "softplus": 1375, "sin": 7170, "cos": 7302}
INF, NAN = np.inf, np.nan
SPECIAL = [0.0, -0.0, INF, -INF, NAN, -NAN]
RESULTS = {
    "sigmoid": [0.5, 0.5, 1.0, 0.0, NAN, NAN],
    "tanh": [0.0, -0.0, 1.0, -1.0, NAN, NAN],
    "erf": [0.0, -0.0, 1.0, -1.0, NAN, NAN],
    "softplus": [np.log(2), np.log(2), INF, 0.0, NAN, NAN],
    "sin": [0.0, -0.0, NAN, NAN, NAN, NAN],
    "cos": [1.0, 1.0, NAN, NAN, NAN, NAN],
}
#: At the largest finite number, of either sign.
ENDS = {"sigmoid": [1.0, 0.0], "tanh": [1.0, -1.0], "erf": [1.0, -1.0], "softplus": [np.finfo(np.float32).max, 0.0]}
#: Exponents of 2 between which arguments are drawn: from where the result is a known one to beyond the end of its range.
SCALES = {"sigmoid": (-30, 8), "tanh": (-20, 5), "erf": (-149, 4), "softplus": (-30, 8), "sin": (-16, 128), "cos": (-16, 128)}
EXACT = {
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)),
    "tanh": mpmath.tanh,
    "erf": mpmath.erf,
    "softplus": lambda x: mpmath.log1p(mpmath.exp(x)),
    "sin": mpmath.sin,
    "cos": mpmath.cos,
}


@pytest.fixture(params=kernels.isa_names())
def isa(request):
    before = kernels.isa()
    kernels.set_isa(request.param)
    yield request.param
    kernels.set_isa(before)


def call(function: str, x: np.ndarray) -> np.ndarray:
    """exact_tanh_f32 and its like on an array."""
    x = np.ascontiguousarray(x)
    y = np.empty_like(x)
    entry = getattr(lib, f"exact_{function}_f32")
    assert entry(ffi.cast("float *", x.ctypes.data), ffi.cast("float *", y.ctypes.data), x.size, ffi.NULL) == lib.EXACT_OK
    return y


def rounded(value: mpmath.mpf) -> np.float32:
    """A real number rounded once to nearest even, by integers."""
    if value == 0:
        return np.float32(0)
    unit = max(int(mpmath.floor(mpmath.log(abs(value), 2))) - 23, -149)
    integer = int(mpmath.nint(value * mpmath.mpf(2) ** -unit))
    if abs(integer) * mpmath.mpf(2) ** unit >= mpmath.mpf(2) ** 128:
        return np.float32(np.copysign(np.inf, integer))
    return np.float32(np.copysign(np.ldexp(np.float64(abs(integer)), unit), -1.0 if value < 0 else 1.0))


def truth(function: str, x: np.ndarray) -> np.ndarray:
    with mpmath.workprec(400):
        return np.array([rounded(EXACT[function](mpmath.mpf(float(v)))) for v in x], np.float32)


def same(got: np.ndarray, want: np.ndarray) -> None:
    wrong = np.flatnonzero(got.view(np.uint32) != want.view(np.uint32))
    assert wrong.size == 0, [(int(i), float(got[i]).hex(), float(want[i]).hex()) for i in wrong[:5]]


def hard(function: str) -> tuple[np.ndarray, np.ndarray]:
    """The list of the arguments whose true value is nearest to the middle of two floats, and its results."""
    lines = [line.split() for line in (DATA / f"hard_{function}.txt").read_text().splitlines()]
    assert len(lines) == HARD[function]
    x, want = (np.array([int(line[i], 16) for line in lines], np.uint32).view(np.float32) for i in (0, 1))
    return x, want


@pytest.mark.parametrize("function", HARD)
def test_all_hard_arguments(function, isa):
    x, want = hard(function)
    same(call(function, x), want)
    for shift in range(1, 16):  # other lanes, other vector rests
        same(call(function, x[shift:]), want[shift:])


@pytest.mark.parametrize("function", HARD)
def test_hard_arguments_are_right(function):
    x, want = hard(function)
    same(truth(function, x[::40]), want[::40])


@pytest.mark.parametrize("function", HARD)
def test_special_values(function, isa):
    same(call(function, np.array(SPECIAL, np.float32)), np.array(RESULTS[function], np.float32))
    for bits in (0x7F800001, 0xFFC12345, 0x7FFFFFFF, 0xFF800001):
        x = np.full(17, bits, np.uint32).view(np.float32)
        assert (call(function, x).view(np.uint32) == 0x7FC00000).all()


@pytest.mark.parametrize("function", ENDS)
def test_ends_of_the_range(function, isa):
    ends = np.array([np.finfo(np.float32).max, np.finfo(np.float32).min], np.float32)
    same(call(function, ends), np.array(ENDS[function], np.float32))


@pytest.mark.parametrize("function", ("sigmoid", "tanh", "erf", "softplus"))
def test_around_the_ends(function, isa):
    """Where the results begin to be 0, 1 or x, and where the arguments are held."""
    places = [3.83, 3.92, 3.95, 4.0, 9.01, 10.0, 16.6, 17.3, 88.7, 89.0, 103.97, 104.0]
    middle = np.array([*places, *(-p for p in places)], np.float32).view(np.uint32)
    x = (middle[:, None] + np.arange(-40, 41, dtype=np.int32)).astype(np.uint32).ravel().view(np.float32)
    same(call(function, x), truth(function, x))


@pytest.mark.parametrize("function", ("sin", "cos"))
def test_far_and_near_arguments_mixed(function, isa):
    """Blocks of 256 in which some elements take the reduction by integers; the border between the two reductions."""
    rng = np.random.default_rng(6)
    x = rng.uniform(-50, 50, 700).astype(np.float32)
    x[::97] = np.float32(2) ** rng.integers(18, 128, x[::97].size) * rng.uniform(1, 2, x[::97].size)
    border = (np.array(2.0**20, np.float32).view(np.uint32) + np.arange(-30, 30)).astype(np.uint32).view(np.float32)
    x = np.concatenate([x, border, -border, np.array([INF, -INF, NAN], np.float32)])
    got, want = call(function, x), truth(function, x[:-3])
    same(got[:-3], want)
    assert (got[-3:].view(np.uint32) == 0x7FC00000).all()


def test_sigmoid_near_a_half(isa):
    """1/2 + x/4 is the middle of two floats; the term that decides is far below double's resolution."""
    x = np.concatenate([np.arange(1, 400, 2) * sign * 2.0**scale for sign in (1, -1) for scale in (-23, -24, -25)])
    x = x.astype(np.float32)
    same(call("sigmoid", x), truth("sigmoid", x))


@pytest.mark.parametrize("function", HARD)
def test_sample(function, isa):
    rng = np.random.default_rng(5)
    least, most = SCALES[function]
    sign, scale = rng.choice([-1.0, 1.0], 2000), rng.integers(least, most, 2000)
    spread = (sign * rng.uniform(1, 2, 2000) * np.exp2(scale)).astype(np.float32)
    tiny = np.finfo(np.float32).smallest_subnormal
    x = np.concatenate([spread, np.array([tiny, -tiny, 1e-40, -1e-40, 1.0, -1.0], np.float32)])
    same(call(function, x), truth(function, x))


@pytest.mark.parametrize("function", HARD)
def test_every_length_in_place(function, isa):
    x = np.linspace(-3, 3, 40).astype(np.float32)
    want = truth(function, x)
    for n in range(41):
        y = x.copy()
        pointer = ffi.cast("float *", y.ctypes.data)
        assert getattr(lib, f"exact_{function}_f32")(pointer, pointer, n, ffi.NULL) == lib.EXACT_OK
        same(y[:n], want[:n])
        same(y[n:], x[n:])
