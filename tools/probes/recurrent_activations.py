"""What an activation of LSTM, GRU and RNN makes of NaN, infinities and x = alpha. docs/recurrent.md"""

import numpy as np
from probe import Probe, main, text

NAMES = (
    *("Relu", "Tanh", "Sigmoid", "Affine", "LeakyRelu", "ThresholdedRelu", "ScaledTanh", "HardSigmoid", "Elu"),
    *("Softsign", "Softplus"),
)
X = (np.nan, np.inf, -np.inf, 0.5, 1.0, 100.0)


def value(probe: Probe, operator: str, name: str, x: float) -> tuple:
    """One unit whose bias is x, and whose other gates let the activation through: GRU ht with z = 0; LSTM ct with i = o = 1
    and LeakyRelu as h, so that negative values are a hundredth. alpha and beta at their defaults."""
    gates = {"LSTM": 4, "GRU": 3, "RNN": 1}[operator]
    zero, b = np.zeros((1, gates, 1), np.float32), np.zeros((1, 2 * gates), np.float32)
    b[0, : gates - 1] = {"LSTM": 1, "GRU": 0, "RNN": 0}[operator]
    b[0, {"LSTM": 3, "GRU": 2, "RNN": 0}[operator]] = x
    names = {"LSTM": ["Relu", name, "LeakyRelu"], "GRU": ["Relu", name], "RNN": [name]}[operator]
    return probe.ask(operator, [zero[:, :1], zero, zero, b], 14, hidden_size=1, activations=names)


def rows(probe: Probe) -> list:
    """One per activation and argument."""
    table = []
    for name in NAMES:
        for x in X:
            answers = [value(probe, operator, name, x) for operator in ("RNN", "GRU", "LSTM")]
            table.append((name, f"{x:g}", *(text(theirs) for theirs, _ in answers), text(answers[0][1])))
    return table


if __name__ == "__main__":
    main(__doc__, ("activation", "x", "ORT: RNN", "GRU", "LSTM", "ours"), rows)
