"""tanh, sigmoid and softplus, correctly rounded to float32. docs/transcendental.md

Each long double formula loses a few units of its last place at most, relative to the value: far less than the slack.
"""

import mpmath
import numpy as np

from .explog import correctly_rounded


def _near_sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _exact_sigmoid(x):
    return 1 / (1 + mpmath.exp(-x))


def _near_softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def _exact_softplus(x):
    return mpmath.log1p(mpmath.exp(x))


def tanh(x):
    return correctly_rounded(np.tanh, mpmath.tanh, x)


def sigmoid(x):
    return correctly_rounded(_near_sigmoid, _exact_sigmoid, x)


def softplus(x):
    return correctly_rounded(_near_softplus, _exact_softplus, x)


def _near_erf(x):
    """2/sqrt(pi) x e^(-x^2) (1 + 2x^2/3 + (2x^2)^2/(3 5) + ..): all terms are positive. From 4 on erf rounds to 1."""
    z = np.clip(x, -4, 4)
    term = total = np.ones_like(z)
    for n in range(1, 120):
        term = term * (2 * z * z) / (2 * n + 1)
        total = total + term
    half_root_of_pi = np.sqrt(np.arctan2(np.longdouble(0), np.longdouble(-1))) / 2
    return z * np.exp(-z * z) * total / half_root_of_pi


def erf(x):
    return correctly_rounded(_near_erf, mpmath.erf, x)


def sin(x):
    return correctly_rounded(np.sin, mpmath.sin, x)


def cos(x):
    return correctly_rounded(np.cos, mpmath.cos, x)
