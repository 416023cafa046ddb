"""What the probes of lines with one NaN share."""

from collections.abc import Callable

import numpy as np
from probe import Probe, equal, positions

EXTENTS = (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 32, 40)


def lines(probe: Probe, operator: str, inputs: Callable, opset: int, **attributes) -> list:
    """One row per extent n: the line 1 .. n with a NaN at each position in turn. inputs: line -> inputs of the node."""
    table = []
    for n in EXTENTS:
        nan, differ, ours = [], [], []
        for position in range(n):
            line = np.arange(1, n + 1, dtype=np.float32)
            line[position] = np.nan
            theirs, mine = probe.ask(operator, inputs(line), opset, **attributes)
            if np.isnan(mine[0].astype(np.float64)).any():
                ours.append(position)
            if np.isnan(theirs[0].astype(np.float64)).any():
                nan.append(position)
            elif not equal(theirs, mine):
                differ.append(position)
        table.append((n, positions(nan), positions(ours), positions(differ)))
    return table


HEADINGS = ("elements", "ORT: NaN for a NaN at", "ours: NaN for a NaN at", "ORT: another value for a NaN at")
