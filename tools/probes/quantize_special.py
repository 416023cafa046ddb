"""QuantizeLinear: NaN, infinities, large numbers and odd scales, by form and type. docs/quantize.md"""

import numpy as np
from probe import Probe, equal, main, text

NUMBERS = (np.nan, np.inf, -np.inf, 6e4, -0.0, 0.5, 1.5, -2.5)
SCALES = (1.0, -1.0, 0.0, -0.0, np.inf, np.nan, 1e-5)


def column(answer: tuple) -> str:
    """The first of the equal columns."""
    return text((answer[0][:, 0],))


def rows(probe: Probe) -> list:
    """One per form, type and scale."""
    table = []
    for name, zero in (("int8", -5), ("uint8", 5), ("uint16", 5)):
        for dtype, blocked in ((np.float32, False), (np.float16, False), (np.float32, True)):
            for number in SCALES:
                x = np.repeat(np.array(NUMBERS, dtype)[:, None], 3, axis=1)
                shape, form = ((4, 3), {"axis": 0, "block_size": 2}) if blocked else ((), {})
                scale, point = np.full(shape, number, dtype), np.full(shape, zero, name)
                theirs, ours = probe.ask("QuantizeLinear", [x, scale, point], 21, **form)
                kind = f"{np.dtype(dtype).name}{', blocked' * blocked} to {name}"
                table.append((kind, zero, number, column(theirs), "the same" if equal(theirs, ours) else column(ours)))
    return table


if __name__ == "__main__":
    main(__doc__, ("form", "zero point", "scale", f"ORT, of {NUMBERS}", "ours"), rows)
