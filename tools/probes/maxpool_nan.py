"""MaxPool: one window of the values 1 .. k with a NaN at each position in turn. docs/pool.md"""

import math

import numpy as np
from probe import Probe, equal, main, positions, text

WINDOWS = ((2,), (3,), (5,), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (3, 3), (4, 4))


def rows(probe: Probe) -> list:
    """One per window."""
    table = []
    for window in WINDOWS:
        nan, differ, ours = [], [], []
        for position in range(math.prod(window)):
            x = np.arange(1, math.prod(window) + 1, dtype=np.float32)
            x[position] = np.nan
            theirs, mine = probe.ask("MaxPool", [x.reshape(1, 1, *window)], 12, kernel_shape=list(window))
            ours.append(text(mine))
            if np.isnan(theirs[0]).all():
                nan.append(position)
            elif not equal(theirs, mine):
                differ.append(position)
        table.append(("x".join(map(str, window)), positions(nan), positions(differ), " ".join(ours)))
    return table


if __name__ == "__main__":
    main(__doc__, ("window", "ORT: NaN for a NaN at", "ORT: another value for a NaN at", "ours, by position of the NaN"), rows)
