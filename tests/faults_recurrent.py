"""Faulty LSTM, GRU and RNN nodes for test_errors.py. docs/recurrent.md: "Attributes and errors" """

import numpy as np

INVALID, UNSUPPORTED = ValueError, NotImplementedError
T, N, SIZE, H = 3, 2, 4, 5
GATES = {"lstm": 4, "gru": 3, "rnn": 1}
NAMES = {"lstm": 3, "gru": 2, "rnn": 1}


def ones(*shape, dtype=np.float32):
    return np.ones(shape, dtype)


def inputs(operator, directions=1):
    """Every input, by the name that a text would give it."""
    g = GATES[operator]
    named = {
        "X": ones(T, N, SIZE),
        "W": ones(directions, g * H, SIZE),
        "R": ones(directions, g * H, H),
        "B": ones(directions, 2 * g * H),
        "sequence_lens": np.array([T, 1], np.int32),
        "initial_h": ones(directions, N, H),
    }
    if operator == "lstm":
        named |= {"initial_c": ones(directions, N, H), "P": ones(directions, 3 * H)}
    return named


def shape_faults(operator):
    """(input, another value, pattern)"""
    g = GATES[operator]
    yield from (("X", ones(T, N), "X|rank"), ("X", ones(T, N, SIZE, 1), "X|rank"), ("X", ones(), "X|rank"))
    yield from (("W", ones(g * H, SIZE), "W|rank"), ("W", ones(1, g * H, SIZE, 1), "W|rank"))
    yield from (("R", ones(g * H, H), "R|rank"), ("R", ones(1, 1, g * H, H), "R|rank"))
    yield from (
        ("W", ones(1, g * H + 1, SIZE), "W|R"),
        ("W", ones(1, g * H, SIZE + 1), "W|X"),
        ("W", ones(2, g * H, SIZE), "W|direction"),
    )
    yield from (("W", ones(0, g * H, SIZE), "W|direction"), ("R", ones(1, g * H, H + 1), "R|W"), ("R", ones(2, g * H, H), "R"))
    yield from (("B", ones(1, g * H), "B"), ("B", ones(2 * g * H), "B"), ("B", ones(2, 2 * g * H), "B"))
    yield from (("X", ones(T, N + 1, SIZE), "X|initial_h|sequence_lens"), ("X", ones(T, N, 0), "X|W"))
    yield from (("sequence_lens", np.array(lens, np.int32), "sequence_lens") for lens in ([3], [3, 1, 1], [[3, 1]], 3))
    yield from (("sequence_lens", np.array(lens, np.int32), "sequence_lens") for lens in ([4, 1], [1, -1], [2**31 - 1, 0]))
    yield from (("sequence_lens", np.array([3, 1], t), "sequence_lens") for t in (np.int64, np.uint32, np.float32, np.int8))
    for name in ("initial_h", "initial_c")[: 1 + (operator == "lstm")]:
        yield from ((name, ones(*shape), name) for shape in ((1, N), (1, N, H + 1), (2, N, H), (1, N + 1, H), (N, 1, H), ()))
    if operator == "lstm":
        yield from (("P", ones(*shape), r"\bP\b") for shape in ((1, 4 * H), (3 * H,), (2, 3 * H), (1, 3 * H, 1)))
    for name in sorted(set(inputs(operator)) - {"X", "sequence_lens"}):
        for dtype in (np.float64, np.float16, np.int32):
            yield name, inputs(operator)[name].astype(dtype), f"\\b{name}\\b|type"


def attribute_faults(operator):
    yield from (("hidden_size", size) for size in (0, -1, H + 1, 2**40, -(2**63)))
    yield from (("direction", text) for text in ("", "Forward", "FORWARD", "backward", "forward ", "bidirectional"))
    yield from (("layout", value) for value in (2, -1, 2**40))
    yield from (("clip", value) for value in (0.0, -0.0, -1.0, float("nan"), -np.inf, 1e-60))
    names = NAMES[operator]
    wrong = [["Tanh"] * (names + 1 + (operator == "rnn")), ["Tanh"] * 2 * names if names > 1 else ["Tanh"] * 4, ["Tanh"] * 99]
    wrong += [["Tanh"] * (names - 1)] if names > 1 else []
    wrong += [[name] + ["Tanh"] * (names - 1) for name in ("", "Gelu", "Tan", "Tanhh", " Tanh", "Relu\n", "Ta\u0144h")]
    wrong += [["Tanh"] * (names - 1) + ["x" * 1000]]
    yield from (("activations", value) for value in wrong)


def faults():
    """(operator, inputs, attributes, kind, pattern)"""
    for operator in GATES:
        for name, value, pattern in shape_faults(operator):
            yield operator, tuple(({**inputs(operator), name: value}).values()), {}, INVALID, pattern
        for name, value in attribute_faults(operator):
            yield operator, tuple(inputs(operator).values()), {name: value}, INVALID, f"{name}|W"
        both = tuple(inputs(operator, 2).values())
        yield operator, both, {}, INVALID, "W|direction"
        short = ["Tanh"] * NAMES[operator]
        yield operator, both, {"direction": "bidirectional", "activations": short}, INVALID, "activations"
        turned = {**inputs(operator), "X": ones(N, T, SIZE)}
        yield operator, tuple(turned.values()), {"layout": 1}, INVALID, "initial_h"
        for dtype in (np.float64, np.int32, bool, complex):
            same = [a if a.dtype == np.int32 else a.astype(dtype) for a in inputs(operator).values()]
            yield operator, tuple(same), {}, UNSUPPORTED, "type"
        empty = {**inputs(operator), "X": ones(0, N, SIZE)}
        yield operator, tuple(empty.values()), {}, INVALID, "sequence_lens"
        empty = {**inputs(operator), "X": ones(T, 0, SIZE)}
        yield operator, tuple(empty.values()), {}, INVALID, "sequence_lens|initial_h"


def accepted():
    """(operator, inputs, attributes) at the edge of what is allowed."""
    for operator, names in NAMES.items():
        everything = tuple(inputs(operator).values())
        alone = everything[:3]
        yield operator, alone, {"hidden_size": H, "activations": [], "activation_alpha": [], "activation_beta": ()}
        yield operator, alone, {"clip": float("inf"), "activation_alpha": [np.nan] * 40, "activation_beta": [1e300]}
        yield operator, alone, {"activations": ["tANH"] * names, "clip": 1e-45}
        yield operator, tuple(inputs(operator, 2).values()), {"direction": "bidirectional", "activations": ["Elu"] * 2 * names}
    yield "rnn", tuple(inputs("rnn").values()), {"activations": ["Relu", "Tanh"]}
    yield "lstm", tuple(inputs("lstm").values()), {"input_forget": -(2**63)}
    yield "gru", tuple(inputs("gru").values()), {"linear_before_reset": 2**40}
