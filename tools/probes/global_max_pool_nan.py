"""GlobalMaxPool of a plane of 1 .. n with a NaN at each position in turn. docs/pool.md"""

from nan_by_position import HEADINGS, lines
from probe import Probe, main


def rows(probe: Probe) -> list:
    """One per extent."""
    return lines(probe, "GlobalMaxPool", lambda line: [line.reshape(1, 1, -1)], 13)


if __name__ == "__main__":
    main(__doc__, HEADINGS, rows)
