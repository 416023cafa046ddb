"""docs/recurrent.md"""

import numpy as np

from .explog import exp
from .matmul import sums
from .numerics import finish, quiet, require_float
from .transcendental import sigmoid, softplus, tanh

ONE = np.float32(1)
DIRECTIONS = {"forward": ("forward",), "reverse": ("reverse",), "bidirectional": ("forward", "reverse")}


def _relu(x, alpha, beta):
    return np.where(np.isnan(x) | (x > 0), x, 0)


def _affine(x, alpha, beta):
    product = alpha * x
    return product + beta


def _leaky_relu(x, alpha, beta):
    return np.where(x >= 0, x, alpha * x)


def _thresholded_relu(x, alpha, beta):
    return np.where(x >= alpha, x, 0)


def _scaled_tanh(x, alpha, beta):
    return alpha * tanh(beta * x)


def _hard_sigmoid(x, alpha, beta):
    t = _affine(x, alpha, beta)
    return np.where(t <= 0, 0, np.where(t > 1, 1, t))


def _elu(x, alpha, beta):
    return np.where(x >= 0, x, alpha * (exp(x) - ONE))


#: function, default of alpha, default of beta; None: it has none
ACTIVATIONS = {
    "relu": (_relu, None, None),
    "tanh": (lambda x, alpha, beta: tanh(x), None, None),
    "sigmoid": (lambda x, alpha, beta: sigmoid(x), None, None),
    "affine": (_affine, 0.0, 0.0),
    "leakyrelu": (_leaky_relu, 0.01, None),
    "thresholdedrelu": (_thresholded_relu, 1.0, None),
    "scaledtanh": (_scaled_tanh, 0.0, 0.0),
    "hardsigmoid": (_hard_sigmoid, 0.2, 0.5),
    "elu": (_elu, 1.0, None),
    "softsign": (lambda x, alpha, beta: x / (ONE + np.abs(x)), None, None),
    "softplus": (lambda x, alpha, beta: softplus(x), None, None),
}


def _activations(names, alphas, betas, defaults, directions):
    """A list of functions per direction."""
    names = list(names or defaults * directions)
    if len(names) != len(defaults) * directions and not (len(defaults) == directions == 1 and len(names) == 2):
        raise ValueError("number of activations")
    alphas, betas = iter(alphas or ()), iter(betas or ())
    functions = []
    for name in names:
        if name.lower() not in ACTIVATIONS:
            raise ValueError(f"activation {name}")
        function, alpha, beta = ACTIVATIONS[name.lower()]
        alpha = None if alpha is None else np.float32(next(alphas, alpha))
        beta = None if beta is None else np.float32(next(betas, beta))
        functions.append(lambda x, f=function, a=alpha, b=beta: f(x, a, b).astype(np.float32))
    return [functions[d * len(defaults) : (d + 1) * len(defaults)] for d in range(directions)]


class _Cell:
    """One direction: weights in float32, and the steps of any number of rows, of which each is computed on its own."""

    def __init__(self, r, rb, p, activations, clip, switch):
        self.hidden = r.shape[1]
        self.r, self.rb, self.p, self.activations, self.clip, self.switch = r, rb, p, activations, clip, switch

    def gate(self, part, number):
        return part[:, number * self.hidden : (number + 1) * self.hidden]

    def v(self, h, first=0, last=None):
        """v of the gates first .. last - 1; `first` and `last` count gates."""
        place = slice(first * self.hidden, None if last is None else last * self.hidden)
        return part(h, self.r[place], None if self.rb is None else self.rb[place])

    def bounded(self, a):
        if self.clip is None:
            return a
        return np.where(a < -self.clip, -self.clip, np.where(a > self.clip, self.clip, a))

    def peephole(self, a, number, c):
        """number: 0 i, 1 o, 2 f, as P has them"""
        if self.p is None:
            return a
        product = self.p[number * self.hidden : (number + 1) * self.hidden] * c
        return a + product


class _Lstm(_Cell):
    def step(self, u, h, c):
        f, g, last = self.activations
        a_i, a_o, a_f, a_c = (self.gate(u + self.v(h), number) for number in range(4))
        i = f(self.bounded(self.peephole(a_i, 0, c)))
        forget = ONE - i if self.switch else f(self.bounded(self.peephole(a_f, 2, c)))
        kept, new = forget * c, i * g(self.bounded(a_c))
        c = kept + new
        o = f(self.bounded(self.peephole(a_o, 1, c)))
        return o * last(c), c


class _Gru(_Cell):
    def step(self, u, h, c):
        f, g = self.activations
        u_z, u_r, u_h = (self.gate(u, number) for number in range(3))
        v = self.v(h)
        z = f(self.bounded(u_z + self.gate(v, 0)))
        r = f(self.bounded(u_r + self.gate(v, 1)))
        v_h = r * self.gate(v, 2) if self.switch else self.v(r * h, 2)
        new, kept = (ONE - z) * g(self.bounded(u_h + v_h)), z * h
        return new + kept, c


class _Rnn(_Cell):
    def step(self, u, h, c):
        return self.activations[0](self.bounded(u + self.v(h))), c


def part(rows, weights, bias):
    acc = sums(rows, weights.T)
    return acc if bias is None else acc + bias


def _shape(array, *shape):
    if array is not None and array.shape != shape:
        raise ValueError(f"shape {array.shape}, not {shape}")


@quiet
def _run(cell, gates, defaults, x, w, r, b, lens, h0, c0, p, form):
    """form: the attributes but `switch`."""
    require_float(*(a for a in (x, w, r, b, h0, c0, p) if a is not None))
    if x.dtype == np.float64:
        raise NotImplementedError("float64")
    if form["direction"] not in DIRECTIONS or form["layout"] not in (0, 1):
        raise ValueError("direction, layout")
    directions = DIRECTIONS[form["direction"]]
    if form["clip"] is not None and not np.float32(form["clip"]) > 0:
        raise ValueError("clip")
    clip = None if form["clip"] is None else np.float32(form["clip"])
    functions = _activations(form["activations"], form["activation_alpha"], form["activation_beta"], defaults, len(directions))
    if not x.ndim == w.ndim == r.ndim == 3:
        raise ValueError("rank")
    x, h0, c0 = ((a if a is None or not form["layout"] else np.moveaxis(a, 0, 1)) for a in (x, h0, c0))
    t, n, size = x.shape
    hidden, d = r.shape[2], len(directions)
    if form["hidden_size"] is not None and form["hidden_size"] != hidden:
        raise ValueError("hidden_size")
    _shape(w, d, gates * hidden, size)
    _shape(r, d, gates * hidden, hidden)
    _shape(b, d, 2 * gates * hidden)
    _shape(p, d, 3 * hidden)
    for state in (h0, c0):
        _shape(state, d, n, hidden)
    if lens is not None and lens.dtype != np.int32:
        raise ValueError("type of sequence_lens")
    _shape(lens, n)
    lens = np.full(n, t) if lens is None else lens
    if (lens < 0).any() or (lens > t).any():
        raise ValueError("sequence_lens")

    dtype = x.dtype
    x, w, r, b, h0, c0, p = (None if a is None else a.astype(np.float32) for a in (x, w, r, b, h0, c0, p))
    y = np.zeros((t, d, n, hidden), np.float32)
    last_h, last_c = np.zeros((2, d, n, hidden), np.float32)
    for k, direction in enumerate(directions):
        wb, rb = (None, None) if b is None else np.split(b[k], 2)
        u = part(x.reshape(t * n, size), w[k], wb).reshape(t, n, gates * hidden)
        one = cell(r[k], rb, None if p is None else p[k], functions[k], clip, form["switch"])
        h, c = (np.zeros((n, hidden), np.float32) if state is None else state[k].copy() for state in (h0, c0))
        for step in range(lens.max(initial=0)):
            rows = np.flatnonzero(lens > step)
            time = np.full(len(rows), step) if direction == "forward" else lens[rows] - 1 - step
            h[rows], c[rows] = one.step(u[time, rows], h[rows], c[rows])
            y[time, k, rows] = h[rows]
        last_h[k], last_c[k] = (np.where((lens > 0)[:, None], state, 0) for state in (h, c))
    if form["layout"]:
        y, last_h, last_c = y.transpose(2, 0, 1, 3), np.moveaxis(last_h, 0, 1), np.moveaxis(last_c, 0, 1)
    return tuple(np.ascontiguousarray(finish(a, dtype)) for a in (y, last_h, last_c))


def _form(attributes, switch):
    form = {
        "hidden_size": None,
        "direction": "forward",
        "layout": 0,
        "clip": None,
        "activations": None,
        "activation_alpha": None,
        "activation_beta": None,
    }
    if not set(attributes) <= set(form):
        raise TypeError(f"attributes {set(attributes) - set(form)}")
    return {**form, **attributes, "switch": switch}


def lstm(x, w, r, b=None, sequence_lens=None, initial_h=None, initial_c=None, p=None, *, input_forget=0, **attributes):
    form = _form(attributes, input_forget)
    return _run(_Lstm, 4, ["Sigmoid", "Tanh", "Tanh"], x, w, r, b, sequence_lens, initial_h, initial_c, p, form)


def gru(x, w, r, b=None, sequence_lens=None, initial_h=None, *, linear_before_reset=0, **attributes):
    form = _form(attributes, linear_before_reset)
    return _run(_Gru, 3, ["Sigmoid", "Tanh"], x, w, r, b, sequence_lens, initial_h, None, None, form)[:2]


def rnn(x, w, r, b=None, sequence_lens=None, initial_h=None, **attributes):
    return _run(_Rnn, 1, ["Tanh"], x, w, r, b, sequence_lens, initial_h, None, None, _form(attributes, 0))[:2]
