"""ArgMax of 1 .. n, n first, with a NaN at each position in turn. docs/arg.md"""

import numpy as np
from probe import Probe, equal, main, positions, text


def rows(probe: Probe) -> list:
    """One per extent."""
    table = []
    for n in (1, 2, 3, 4, 5, 8, 9, 17):
        ort, ours, differ = [], [], []
        for position in range(n):
            line = np.roll(np.arange(1, n + 1, dtype=np.float32), 1)
            line[position] = np.nan
            theirs, mine = probe.ask("ArgMax", [line], axis=0)
            ort.append(text(theirs))
            ours.append(text(mine))
            if not equal(theirs, mine):
                differ.append(position)
        table.append((n, " ".join(ort), " ".join(ours), positions(differ)))
    return table


if __name__ == "__main__":
    main(__doc__, ("elements", "ORT, by position of the NaN", "ours", "differ at"), rows)
