"""AveragePool: the divisor of every window of a 6x6 input of ones, kernel 3, stride 2, pads 1. docs/pool.md"""

import itertools

import numpy as np
from onnxruntime_ep_exact import kernels
from probe import Probe, main, text


def rows(probe: Probe) -> list:
    """One per combination of ceil_mode, dilation and count_include_pad."""
    table = []
    ones = np.ones((1, 1, 6, 6), np.float32)
    for ceil_mode, dilation, include in itertools.product((0, 1), (1, 2), (0, 1)):
        window = {"strides": [2, 2], "pads": [1, 1, 1, 1], "ceil_mode": ceil_mode, "dilations": [dilation] * 2}
        attributes = {"kernel_shape": [3, 3], **window, "count_include_pad": include}
        theirs, ours = probe.ask("AveragePool", [ones], 19, **attributes)
        # A sum of ones is the number of taps inside: the input with room for the overhang of ceil_mode.
        padded = np.pad(ones, [(0, 0), (0, 0), (1, 3), (1, 3)])
        taps = kernels.conv(padded, np.ones((1, 1, 3, 3), np.float32), strides=[2, 2], dilations=[dilation] * 2)
        taps = taps[:, :, : ours[0].shape[2], : ours[0].shape[3]]
        table.append((ceil_mode, dilation, include, *(divisors(result, taps) for result in (theirs, ours))))
    return table


def divisors(result: tuple, taps: np.ndarray) -> str:
    """The divisor of each window, row by row."""
    if result[0].shape != taps.shape:
        return f"size {result[0].shape}"
    with np.errstate(all="ignore"):
        return text((np.rint(taps / result[0]),))


if __name__ == "__main__":
    main(__doc__, ("ceil_mode", "dilation", "count_include_pad", "ORT", "ours"), rows)
