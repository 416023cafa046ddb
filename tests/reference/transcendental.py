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
