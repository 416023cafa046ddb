"""LSTM, GRU and RNN: what clip bounds, rows of length 0, empty tensors, who takes activation_alpha. docs/recurrent.md"""

import numpy as np
from probe import Probe, main, text

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def f32(*values: float) -> np.ndarray:
    """A row of numbers."""
    return np.array([values], np.float32)


def ones(operator: str, t: int, n: int, size: int) -> list:
    """All ones but the weights, which are halves."""
    g = GATES[operator]
    weights = [np.full((1, 2 * g, extent), 0.5, np.float32) for extent in (size, 2)]
    inputs = [np.ones((t, n, size), np.float32), *weights, None, None, np.ones((1, n, 2), np.float32)]
    return inputs + ([np.full((1, n, 2), 3, np.float32)] if operator == "LSTM" else [])


def cell(probe: Probe, bias: np.ndarray, x: float = 5.0, peepholes: np.ndarray | None = None, **attributes) -> tuple:
    """An LSTM of one unit, x to the gates i and c, C = 10 before."""
    w = f32(1, 0, 0, 1).reshape(1, 4, 1)
    inputs = [f32(x)[None], w, np.zeros_like(w), np.append(bias, f32(0, 0, 0, 0), 1), None, None, f32(10)[None]]
    return probe.ask("LSTM", [*inputs, peepholes], 14, hidden_size=1, activations=["Relu"] * 3, **attributes)


def rows(probe: Probe) -> list:
    """(question, ORT, ours)"""
    bias, answers = f32(0, 3, 0.5, 0), []
    answers.append(("LSTM without clip: Y = o * h(C), i = c = 5, o = 3, f = 0.5", *cell(probe, bias)))
    answers.append(("clip = 1: 6 when C = 0.5 * 10 + 1 * 1 is not clipped in h(C)", *cell(probe, bias, clip=1.0)))
    answers.append(("clip = 1, bias -4.5 on x = 5: clipped after the bias", *cell(probe, f32(-4.5, 1, 0, 1), clip=1.0)))
    late = cell(probe, f32(0, 1, 0, 1), peepholes=f32(-0.45, 0, 0), clip=1.0)
    answers.append(("clip = 1, peephole -4.5 on x = 5: clipped after the peephole", *late))
    answers.append(("input_forget: f = 1 - i", *cell(probe, bias, x=0.25, input_forget=1)))
    for alphas in ([0.3, 0.6], [0.3, 0.5, 0.6], [0.3]):
        form = {"activations": ["HardSigmoid", "Tanh", "LeakyRelu"], "activation_alpha": alphas}
        answer = probe.ask("LSTM", [-f32(1)[None], *ones("LSTM", 1, 1, 1)[1:3]], 14, hidden_size=2, **form)
        answers.append((f"HardSigmoid, Tanh, LeakyRelu with alpha = {alphas}", *answer))
    for operator in GATES:
        for label, t, n, size in (("T = 0", 0, 1, 1), ("N = 0", 1, 0, 1), ("I = 0", 2, 1, 0), ("a row of length 0", 2, 1, 1)):
            inputs = ones(operator, t, n, size)
            if label.startswith("a row"):
                inputs[4] = np.zeros(1, np.int32)
            for output in (1, 2) if operator == "LSTM" else (1,):
                theirs, ours = probe.ask(operator, inputs, 14, outputs=output + 1, hidden_size=2)
                picked = [a[output:] if isinstance(a, tuple) else a for a in (theirs, ours)]
                answers.append((f"{operator}, {label}: {('Y', 'Y_h', 'Y_c')[output]}, from h = 1 and C = 3", *picked))
    return [(question, text(theirs), text(ours)) for question, theirs, ours in answers]


if __name__ == "__main__":
    main(__doc__, ("question", "ORT", "ours"), rows)
