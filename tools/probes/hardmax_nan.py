"""Hardmax of 1 .. n with a NaN at each position in turn. docs/softmax.md"""

import numpy as np
from probe import Probe, main, text


def rows(probe: Probe) -> list:
    """One per row."""
    table = []
    for n in (1, 2, 3, 5):
        for position in range(n):
            line = np.arange(1, n + 1, dtype=np.float32)
            line[position] = np.nan
            theirs, ours = probe.ask("Hardmax", [line])
            table.append((text((line,)), text(theirs), text(ours)))
    return table


if __name__ == "__main__":
    main(__doc__, ("row", "ORT", "ours"), rows)
