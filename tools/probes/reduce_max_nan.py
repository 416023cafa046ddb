"""ReduceMax of 1 .. n with a NaN at each position in turn. docs/reduce.md"""

import numpy as np
from nan_by_position import HEADINGS, lines
from probe import Probe, main


def rows(probe: Probe) -> list:
    """One per extent."""
    return lines(probe, "ReduceMax", lambda line: [line, np.array([0])], 18)


if __name__ == "__main__":
    main(__doc__, HEADINGS, rows)
