"""QuantizeLinear: NaN, infinities, large numbers and odd scales, by form and type. docs/quantize.md"""

import numpy as np
from probe import Probe, equal, main, text

NUMBERS = (np.nan, np.inf, -np.inf, 6e4, -0.0, 0.5, 1.5, -2.5)
SCALES = (1.0, -1.0, 0.0, -0.0, np.inf, np.nan, 1e-5)


def rows(probe: Probe) -> list:
    """One per form, type and scale."""
    table = []
    for name, zero in (("int8", -5), ("uint8", 5), ("uint16", 5)):
        for dtype, blocked in ((np.float32, False), (np.float16, False), (np.float32, True)):
            for number in SCALES:
                x = np.array(NUMBERS, dtype)
                scale, point = np.array([number] * (4 if blocked else 1), dtype), np.array([zero] * (4 if blocked else 1), name)
                form = {"axis": 0, "block_size": 2} if blocked else {"axis": 0}
                theirs, ours = probe.ask("QuantizeLinear", [x, scale, point], 21, **form)
                kind = f"{np.dtype(dtype).name}{', blocked' * blocked} to {name}"
                table.append((kind, zero, number, text(theirs), "the same" if equal(theirs, ours) else text(ours)))
    return table


if __name__ == "__main__":
    main(__doc__, ("form", "zero point", "scale", f"ORT, of {NUMBERS}", "ours"), rows)
