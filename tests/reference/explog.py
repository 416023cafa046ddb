"""exp and log, correctly rounded to float32 or float64. docs/exp_log.md

The long double result decides wherever all numbers within its error round to one number; mpmath decides the rest.
"""

import functools

import mpmath
import numpy as np

from .numerics import quiet

_SLACK = 32 * np.finfo(np.longdouble).eps  # far above the error of the C library's expl and logl
_FORMATS = {np.dtype(np.float32): (24, -149), np.dtype(np.float64): (53, -1074)}


@functools.cache
def _rounded(exact, x, dtype):
    """One value by mpmath, rounded by integer arithmetic."""
    precision, least = _FORMATS[dtype]
    with mpmath.workprec(240):
        sign, mantissa, exponent, length = exact(mpmath.mpf(x))._mpf_
    drop = max(exponent + length - precision, least) - exponent
    if drop > 0:
        kept, rest, half = mantissa >> drop, mantissa & ((1 << drop) - 1), 1 << (drop - 1)
        mantissa, exponent = kept + (rest > half or (rest == half and kept & 1)), exponent + drop
    return dtype.type(np.ldexp(np.float64(-mantissa if sign else mantissa), exponent))


@quiet
def correctly_rounded(near, exact, x):
    """near: of an array of long doubles, within the slack; exact: of a number of mpmath's."""
    near = near(x.astype(np.longdouble))
    low, high = (near * (1 - _SLACK)).astype(x.dtype), (near * (1 + _SLACK)).astype(x.dtype)
    unclear = low != high
    unclear &= ~np.isnan(near)
    for i in np.argwhere(unclear):
        low[tuple(i)] = _rounded(exact, float(x[tuple(i)]), x.dtype)
    return low


def exp(x):
    return correctly_rounded(np.exp, mpmath.exp, x)


def log(x):
    return correctly_rounded(np.log, mpmath.log, x)
