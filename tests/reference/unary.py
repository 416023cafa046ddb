"""docs/unary.md"""

import numpy as np

from .explog import exp as exp_of
from .explog import log as log_of
from .numerics import BFLOAT16, FLOATS, arithmetic_type, finish, quiet
from .transcendental import cos as cos_of
from .transcendental import erf as erf_of
from .transcendental import sigmoid as sigmoid_of
from .transcendental import sin as sin_of
from .transcendental import softplus as softplus_of
from .transcendental import tanh as tanh_of

SIGNED = ("int8", "int16", "int32", "int64")
EVERY_INTEGER = (*SIGNED, "uint8", "uint16", "uint32", "uint64")
MAX_RANK = 16


def _float32(bits):
    return np.array(bits, np.uint32).view(np.float32)[()]


ROOT_OF_2 = _float32(0x3FB504F3)
GELU_SCALE = _float32(0x3F4C4229)
GELU_CUBE = _float32(0x3D372713)
SIXTH = _float32(0x3E2AAAAB)


def _admit(x, integers=(), double=True):
    if x.ndim > MAX_RANK:
        raise NotImplementedError("rank")
    if x.dtype not in FLOATS and x.dtype.name not in integers:
        raise NotImplementedError(f"type {x.dtype}")
    if x.dtype == np.float64 and not double:
        raise NotImplementedError("float64")


def _number(value, dtype):
    """A float attribute: rounded to float32, then widened."""
    return arithmetic_type(dtype)(np.float32(value))


@quiet
def _apply(x, formula, integers=(), double=True):
    """A formula on the widened elements; its result rounded once."""
    _admit(x, integers, double)
    if x.dtype not in FLOATS:
        return np.asarray(formula(x))
    v = x.astype(arithmetic_type(x.dtype)).reshape(-1)
    y = np.where(np.isnan(v), v, formula(v)).astype(v.dtype)
    return finish(y, x.dtype).reshape(x.shape)


def _zero(v):
    return v.dtype.type(0)


def _one(v):
    return v.dtype.type(1)


def _half(v):
    return v.dtype.type(0.5)


# ---- without transcendental functions ----


def relu(x):
    return _apply(x, lambda v: np.where(v > 0, v, _zero(v)), SIGNED)


def leaky_relu(x, *, alpha=0.01):
    return _apply(x, lambda v: np.where(v < 0, _number(alpha, x.dtype) * v, v))


@quiet
def thresholded_relu(x, *, alpha=1.0):
    _admit(x)
    v = x.astype(arithmetic_type(x.dtype))
    return finish(np.where(v > _number(alpha, x.dtype), v, _zero(v)), x.dtype)


def _limit(limit, x, fallback):
    if limit is None:
        return np.array(fallback, x.dtype)
    limit = np.array(limit, x.dtype) if isinstance(limit, float) else np.asarray(limit)
    if limit.ndim > MAX_RANK:
        raise NotImplementedError("rank")
    if limit.dtype != x.dtype or limit.ndim > 1 or limit.size != 1:
        raise ValueError("limit")
    return limit.reshape(())


def clip(x, lo=None, hi=None):
    _admit(x, EVERY_INTEGER)
    if x.dtype in FLOATS:
        largest = {np.dtype(np.float16): 65504.0, BFLOAT16: 255 * 2.0**120}.get(x.dtype) or np.finfo(x.dtype).max
        least = -largest
    else:
        least, largest = np.iinfo(x.dtype).min, np.iinfo(x.dtype).max
    low, high = _limit(lo, x, least), _limit(hi, x, largest)
    if x.dtype in FLOATS:
        low, high = (limit.astype(arithmetic_type(x.dtype)) for limit in (low, high))

    def formula(v):
        t = np.where(v < low, low, v)
        return np.where(t > high, high, t)

    return _apply(x, formula, EVERY_INTEGER)


def absolute(x):
    return _apply(
        x, lambda v: np.copysign(v, _one(v)) if v.dtype in FLOATS else np.where(v < 0, _zero(v) - v, v), EVERY_INTEGER
    )


def negative(x):
    return _apply(x, lambda v: np.copysign(v, -np.copysign(_one(v), v)) if v.dtype in FLOATS else _zero(v) - v, SIGNED)


def floor(x):
    return _apply(x, np.floor)


def ceil(x):
    return _apply(x, np.ceil)


def round_(x):
    return _apply(x, np.rint)


def sign(x):
    return _apply(x, lambda v: (v > 0).astype(v.dtype) - (v < 0).astype(v.dtype), EVERY_INTEGER)


def sqrt(x):
    return _apply(x, np.sqrt)


def reciprocal(x):
    return _apply(x, lambda v: _one(v) / v)


def _hard_sigmoid(v, alpha, beta):
    product = alpha * v
    u = product + beta
    y = np.where(u > 0, np.where(u > 1, _one(v), u), _zero(v))
    return np.where(np.isnan(u), u, y)


def hard_sigmoid(x, *, alpha=0.2, beta=0.5):
    return _apply(x, lambda v: _hard_sigmoid(v, _number(alpha, x.dtype), _number(beta, x.dtype)))


def hard_swish(x):
    return _apply(x, lambda v: v * _hard_sigmoid(v, v.dtype.type(SIXTH), _half(v)))


def softsign(x):
    return _apply(x, lambda v: v / (_one(v) + np.abs(v)))


# ---- with exp and log ----


def exp(x):
    return _apply(x, exp_of)


def log(x):
    return _apply(x, log_of)


def elu(x, *, alpha=1.0):
    return _apply(x, lambda v: np.where(v < 0, _number(alpha, x.dtype) * (exp_of(v) - _one(v)), v))


def selu(x, *, alpha=1.67326319217681884765625, gamma=1.05070102214813232421875):
    a, g = _number(alpha, x.dtype), _number(gamma, x.dtype)

    def formula(v):
        product = a * exp_of(v)
        return np.where(v < 0, g * (product - a), g * v)

    return _apply(x, formula)


def celu(x, *, alpha=1.0):
    a = _number(alpha, x.dtype)

    def formula(v):
        q = a * (exp_of(v / a) - _one(v))
        low = np.where(q < 0, q, np.where(np.isnan(q), q, _zero(v)))
        return np.where(v > 0, v, _zero(v)) + low

    return _apply(x, formula)


# ---- with the functions of float32 alone ----


def tanh(x):
    return _apply(x, tanh_of, double=False)


def sigmoid(x):
    return _apply(x, sigmoid_of, double=False)


def erf(x):
    return _apply(x, erf_of, double=False)


def softplus(x):
    return _apply(x, softplus_of, double=False)


def sin(x):
    return _apply(x, sin_of, double=False)


def cos(x):
    return _apply(x, cos_of, double=False)


def gelu(x, *, approximate="none"):
    def exactly(v):
        return (_half(v) * v) * (_one(v) + erf_of(v / ROOT_OF_2))

    def by_tanh(v):
        cube = (v * v) * v
        inner = v + GELU_CUBE * cube
        return (_half(v) * v) * (_one(v) + tanh_of(GELU_SCALE * inner))

    if approximate not in ("none", "tanh"):
        raise ValueError("approximate")
    return _apply(x, exactly if approximate == "none" else by_tanh, double=False)


def mish(x):
    return _apply(x, lambda v: v * tanh_of(softplus_of(v)), double=False)


def swish(x, *, alpha=1.0):
    return _apply(x, lambda v: v * sigmoid_of(_number(alpha, x.dtype) * v), double=False)


# ---- Cast ----


def _integer(value, low, high):
    """One number, by Python's integers."""
    if value != value:
        return 0
    if value in (float("inf"), float("-inf")):
        return high if value > 0 else low
    return min(max(int(value), low), high)


@quiet
def cast(x, to):
    to = np.dtype(to)
    _admit(x)
    if to == np.bool_:
        return x.astype(np.float64) != 0
    if to.name not in EVERY_INTEGER:
        raise NotImplementedError(f"to {to}")
    info = np.iinfo(to)
    values = [_integer(float(v), int(info.min), int(info.max)) for v in x.ravel()]
    return np.array(values, to).reshape(x.shape)
