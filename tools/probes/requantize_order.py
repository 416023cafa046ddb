"""QLinearMatMul and QLinearConv: in which order the scales are multiplied. docs/matmul_integer.md, docs/conv_integer.md

Of sums and scales for which two orders give different results; the table counts the results of ORT that an order gives."""

import numpy as np
from probe import Probe, main

ORDERS = {
    "(a * b) / y": lambda s, a, b, y: s * (a * b / y),
    "a * (b / y)": lambda s, a, b, y: s * (a * (b / y)),
    "(a / y) * b": lambda s, a, b, y: s * (a / y * b),
    "(a * b) * (1 / y)": lambda s, a, b, y: s * (a * b * (np.float32(1) / y)),
    "(s * (a * b)) / y": lambda s, a, b, y: s * (a * b) / y,
}


def inputs(operator: str, total: int, scales: tuple) -> list:
    """A node whose one sum is `total`."""
    depth = total // 255 + 1
    x = np.full(depth, 255, np.uint8)
    x[-1] = total % 255
    zero, one = np.array(0, np.uint8), np.ones(depth, np.uint8)
    a, b, y = (np.array(scale, np.float32) for scale in scales)
    shapes = ((1, depth), (depth, 1)) if operator == "QLinearMatMul" else ((1, depth, 1), (1, depth, 1))
    return [x.reshape(shapes[0]), a, zero, one.reshape(shapes[1]), b, zero, y, zero]


def rows(probe: Probe) -> list:
    """One per operator and order."""
    table = []
    for operator in ("QLinearMatMul", "QLinearConv"):
        rng = np.random.default_rng(0)
        fits, asked = dict.fromkeys(ORDERS, 0), 0
        while asked < 200:
            scales = tuple((rng.random(3) + 0.01).astype(np.float32))
            sums = np.arange(1, 20000).astype(np.float32)
            results = {name: np.rint(order(sums, *scales)) for name, order in ORDERS.items()}
            first = results["(a * b) / y"]
            apart = (first < 255) & np.any([other != first for other in results.values()], axis=0)
            for index in np.flatnonzero(apart)[:4]:
                theirs, _ = probe.ask(operator, inputs(operator, int(sums[index]), scales), 10)
                asked += 1
                for name, values in results.items():
                    fits[name] += int(values[index] == theirs[0].item())
        table += [(operator, name, f"{count} of {asked}") for name, count in fits.items()]
    return table


if __name__ == "__main__":
    main(__doc__.splitlines()[0], ("operator", "order", "ORT agrees"), rows)
