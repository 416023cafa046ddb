"""DynamicQuantizeLinear of 1 .. 40 with a NaN at each position in turn, and of lines that are odd. docs/quantize.md"""

import numpy as np
from probe import Probe, main, text

LINES = ((0.0, -0.0), (), (5.0, 5.0), (np.inf, 1.0), (-np.inf, 1.0), (3e38, -3e38), (1e-45,), (-1e-45, 1e-45), (1e-44, -1e-39))


def result(answer: tuple) -> str:
    """y_scale, y_zero_point and y."""
    return f"{text(answer[1:2])}, {text(answer[2:])}, {text(answer)}"


def rows(probe: Probe) -> list:
    """One per line; lines with a NaN that give the same are one row."""
    table = []
    for line in LINES:
        theirs, ours = probe.ask("DynamicQuantizeLinear", [np.array(line, np.float32)], 11, 3)
        table.append((str(line), result(theirs), result(ours)))
    by_scale: dict = {}
    for position in range(40):
        x = np.arange(1, 41, dtype=np.float32)
        x[position] = np.nan
        theirs, ours = probe.ask("DynamicQuantizeLinear", [x], 11, 3)
        key = (f"{text(theirs[1:2])}, {text(theirs[2:])}", f"{text(ours[1:2])}, {text(ours[2:])}")
        by_scale.setdefault(key, []).append(position)
    for (theirs, ours), places in by_scale.items():
        table.append((f"1 .. 40, NaN at {', '.join(map(str, places))}", theirs, ours))
    return table


if __name__ == "__main__":
    main(__doc__, ("x", "ORT: y_scale, y_zero_point, y", "ours"), rows)
