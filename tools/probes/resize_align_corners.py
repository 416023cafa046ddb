"""Resize: align_corners divides by the size after or before it is rounded down; scales that keep an extent. docs/resize.md"""

import numpy as np
from probe import Probe, main, text

#: mapping, mode, scale, extent
QUESTIONS = (
    ("align_corners", "linear", 0.6, 4),
    ("align_corners", "cubic", 0.6, 4),
    ("align_corners", "linear", 0.8, 3),
    ("align_corners", "linear", 1.7, 3),
    ("align_corners", "nearest", 0.6, 4),
    ("half_pixel", "linear", 1.3, 2),
    ("half_pixel", "linear", 0.9, 2),
    ("half_pixel_symmetric", "linear", 0.6, 4),
)


def rows(probe: Probe) -> list:
    """One per question: the line 0, 1, 2, ... resampled, so that linear gives the coordinates themselves."""
    table = []
    for mapping, mode, scale, extent in QUESTIONS:
        x = np.arange(extent, dtype=np.float32).reshape(1, 1, 1, extent)
        scales = np.array([1, 1, 1, scale], np.float32)
        theirs, ours = probe.ask("Resize", [x, None, scales], 19, mode=mode, coordinate_transformation_mode=mapping)
        unrounded = "" if mapping != "align_corners" else coordinates(extent, scale)
        table.append((mapping, mode, extent, scale, text(theirs), text(ours), unrounded))
    return table


def coordinates(extent: int, scale: float) -> str:
    """j * (in - 1) / (in * scale - 1): what the ONNX node tests expect of align_corners."""
    size = extent * scale
    return text((np.arange(int(size)) * (extent - 1) / (size - 1),))


if __name__ == "__main__":
    main(__doc__, ("mapping", "mode", "extent", "scale", "ORT", "ours", "coordinates with the unrounded size"), rows)
