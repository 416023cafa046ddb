"""Random LSTM, GRU and RNN."""

import numpy as np

from .domain import choose
from .generators_conv import case

GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
#: Activations per direction.
COUNT = {"LSTM": 3, "GRU": 2, "RNN": 1}
BOUNDED = ("Tanh", "Sigmoid", "HardSigmoid", "Softsign", "ScaledTanh")
OTHERS = ("Relu", "Affine", "LeakyRelu", "ThresholdedRelu", "Elu", "Softplus")


def _activations(d, operator, directions):
    """Names with their numbers; those that have no bound only in short sequences, see recurrent()."""
    if d.flag():
        return {}
    names = BOUNDED if d.flag() else BOUNDED + OTHERS
    chosen = [d.pick(names) for _ in range(COUNT[operator] * directions)]
    if d.chance(12):
        chosen = [name.upper() for name in chosen]
    if operator == "RNN" and directions == 1 and d.chance(4):
        chosen.append("Tanh")
    return {"activations": chosen}


def recurrent(d, operator):
    opset, dtype = choose(d, operator)
    direction = d.pick(("forward", "reverse", "bidirectional"))
    directions = 2 if direction == "bidirectional" else 1
    attributes = _activations(d, operator, directions)
    for name in ("activation_alpha", "activation_beta"):
        if d.flag():
            attributes[name] = [d.pick((0.01, 0.2, 0.5, 1.0, -0.3)) for _ in range(d.integer(1, 7))]
    if direction != "forward" or d.flag():
        attributes["direction"] = direction
    if d.chance(3):
        attributes["clip"] = d.pick((0.25, 1.0, 3.0))
    if d.chance(6):
        attributes["layout"] = d.flag()
    switch = {"LSTM": "input_forget", "GRU": "linear_before_reset"}.get(operator)
    if switch and d.flag():
        attributes[switch] = d.flag()

    bounded = set(map(str.title, attributes.get("activations", ()))) <= {name.title() for name in BOUNDED}
    t, n = 0 if d.chance(100) else d.integer(1, 7 if bounded else 2), 0 if d.chance(100) else d.integer(1, 5)
    size, hidden = 0 if d.chance(100) else d.integer(1, 20), 0 if d.chance(100) else d.integer(1, 24)
    if not d.chance(20):
        attributes["hidden_size"] = hidden
    first, state = (
        ([n, t], [n, directions, hidden]) if attributes.get("layout") and opset >= 14 else ([t, n], [directions, n, hidden])
    )
    g = GATES[operator]
    shapes = [[*first, size], [directions, g * hidden, size], [directions, g * hidden, hidden], [directions, 2 * g * hidden]]
    shapes += [[n], state] + [state, [directions, 3 * hidden]] * (operator == "LSTM")
    odd = d.pick((None, None, None, "special", "infinite"))  # the kind of X or, seldom, of another input
    place = 0 if d.integer(0, 3) else d.integer(0, len(shapes) - 1)
    inputs = []
    for index, shape in enumerate(shapes):
        if index > 2 and d.flag():
            inputs.append(None)
        elif index == 4:
            inputs.append(d.indices(shape, t + 1).astype(np.int32))
        else:
            kind = odd if odd and index == place else d.pick(("normal", "normal", "normal", "integers", "tiny"))
            array = d.array(shape, dtype, kind)
            with np.errstate(invalid="ignore"):  # signalling NaNs
                inputs.append((array * array.dtype.type(0.25)).astype(array.dtype) if index in (1, 2, 7) else array)
    while inputs[-1] is None:
        inputs.pop()
    outputs = d.integer(1, 3 if operator == "LSTM" else 2)
    return case(d, operator, opset, inputs, attributes, outputs)
