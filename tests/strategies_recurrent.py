"""Random LSTM, GRU and RNN nodes. A few draws break a rule on purpose: the kernel must then fail as the reference does."""

from dataclasses import dataclass

import numpy as np
from helpers import KINDS, TYPE_NAMES, data
from hypothesis import strategies as st
from reference.recurrent import ACTIVATIONS, DIRECTIONS

GATES = {"lstm": 4, "gru": 3, "rnn": 1}
#: Names of activations per direction.
NAMES = {"lstm": 3, "gru": 2, "rnn": 1}
SERVED = ("float32", "float32", "float16", "bfloat16")
SPOILS = (
    "none",
    *("hidden_size", "direction", "layout", "clip", "activations", "too many activations"),
    *("input size", "gates", "bias", "state", "length", "lens type", "lens count", "type"),
)


@dataclass
class Recurrent:
    """Sizes, which optional inputs there are, and attributes. `scale` keeps the gates from saturating."""

    operator: str
    t: int
    n: int
    size: int
    hidden: int
    optional: tuple
    dtype: str
    kind: str
    scale: float
    seed: int
    attributes: dict
    spoil: str = "none"

    def shapes(self):
        d = len(DIRECTIONS.get(self.attributes.get("direction", "forward"), "?"))
        g, h = GATES[self.operator], self.hidden
        first = [self.n, self.t] if self.attributes.get("layout") else [self.t, self.n]
        state = [self.n, d, h] if self.attributes.get("layout") else [d, self.n, h]
        shapes = {"x": [*first, self.size], "w": [d, g * h, self.size], "r": [d, g * h, h], "b": [d, 2 * g * h]}
        shapes |= {"initial_h": state, "initial_c": state, "p": [d, 3 * h]}
        for spoil, name, axis in (("input size", "x", 2), ("gates", "w", 1), ("bias", "b", 1), ("state", "initial_h", 2)):
            if self.spoil == spoil:
                shapes[name] = [*shapes[name]]
                shapes[name][axis] += 1
        return shapes

    def inputs(self):
        rng = np.random.default_rng(self.seed)
        dtype = np.dtype(TYPE_NAMES.get(self.dtype, self.dtype))
        arrays = {}
        for name, shape in self.shapes().items():
            array = data(rng, shape, dtype, self.kind)
            with np.errstate(invalid="ignore"):  # signalling NaNs
                arrays[name] = (array * dtype.type(self.scale)).astype(dtype) if name in ("w", "r", "p") else array
        lens = rng.integers(0, self.t, self.n, np.int32, endpoint=True)
        if self.spoil == "length":
            lens[self.seed % max(1, self.n) :][:1] = rng.choice([-1, self.t + 1, 2**31 - 1, -(2**31)])
        if self.spoil == "lens type":
            lens = lens.astype(np.int64)
        if self.spoil == "lens count":
            lens = np.append(lens, lens.dtype.type(0))
        if self.spoil == "type":
            arrays["r"] = arrays["r"].astype(np.float64)
        arrays["lens"] = lens
        order = ["x", "w", "r", "b", "lens", "initial_h"] + ["initial_c", "p"] * (self.operator == "lstm")
        return [arrays[name] if name in ("x", "w", "r") or name in self.optional else None for name in order]


def numbers():
    return st.sampled_from((0.01, 0.2, 0.5, 1.0, 1.7, -0.3, 0.0, 3.0))


@st.composite
def recurrents(draw, operator, most=12, dtypes=SERVED, kinds=("normal", "normal", *KINDS)):
    direction = draw(st.sampled_from(("forward", "reverse", "bidirectional")))
    attributes = {"direction": direction}
    if draw(st.booleans()):
        attributes["layout"] = draw(st.sampled_from((0, 1)))
    if draw(st.integers(0, 2)) == 0:
        attributes["clip"] = draw(st.sampled_from((0.25, 1.0, 3.0, 1e-3, float("inf"))))
    if draw(st.booleans()):
        count = NAMES[operator] * len(DIRECTIONS[direction])
        names = st.sampled_from([*ACTIVATIONS, "Tanh", "Sigmoid", "HardSigmoid", "LeakyRelu", "Softsign", "SOFTPLUS"])
        attributes["activations"] = [draw(names) for _ in range(count)]
        if operator == "rnn" and count == 1 and draw(st.booleans()):
            attributes["activations"].append("Relu")
    for name in ("activation_alpha", "activation_beta"):
        if draw(st.booleans()):
            attributes[name] = draw(st.lists(numbers(), min_size=0, max_size=7))
    switch = {"lstm": "input_forget", "gru": "linear_before_reset"}.get(operator)
    if switch and draw(st.booleans()):
        attributes[switch] = draw(st.sampled_from((0, 1, 1, 2, -1)))
    sizes = [0, 1, 1, 2, 3, 4, 5, 7, 8, most]
    t, n = draw(st.sampled_from((0, 1, 2, 3, 4, 6))), draw(st.sampled_from((0, 1, 1, 2, 3, 4, 5, 8)))
    size, hidden = draw(st.sampled_from(sizes)), draw(st.sampled_from([*sizes, 3 * most]))
    if draw(st.booleans()):
        attributes["hidden_size"] = hidden
    optional = tuple(name for name in ("b", "lens", "initial_h", "initial_c", "p") if draw(st.booleans()))
    spoil = draw(st.sampled_from(SPOILS)) if draw(st.integers(0, 9)) == 0 else "none"
    match spoil:
        case "hidden_size":
            attributes["hidden_size"] = draw(st.sampled_from((hidden + 1, -1, 2**40)))
        case "direction":
            attributes["direction"] = draw(st.sampled_from(("", "Forward", "backward")))
        case "layout":
            attributes["layout"] = draw(st.sampled_from((2, -1)))
        case "clip":
            attributes["clip"] = draw(st.sampled_from((0.0, -1.0, float("nan"), -0.0)))
        case "activations":
            attributes["activations"] = ["Tanh", "Gelu", "", "Tanh", "Tanh", "Tanh"][: NAMES[operator]]
        case "too many activations":
            attributes["activations"] = ["Tanh"] * 7
    return Recurrent(
        *(operator, t, n, size, hidden, optional),
        *(draw(st.sampled_from(dtypes)), draw(st.sampled_from(kinds)), draw(st.sampled_from((1.0, 0.5, 0.25)))),
        *(draw(st.integers(0, 2**32 - 1)), attributes, spoil),
    )
