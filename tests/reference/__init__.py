"""A second derivation of every operator, written from docs/ alone.

Plain NumPy. Loops run over the terms of a sum in the documented order; only independent outputs are vectorised, and a
product is always stored before it is added, so that each operation is rounded on its own. The signatures are those of
onnxruntime_ep_exact.kernels without `mode` and `threads`. Invalid arguments raise ValueError, unsupported ones
NotImplementedError.
"""

from .batchnorm import batch_normalization
from .conv import conv
from .conv_transpose import conv_transpose
from .pool import average_pool, global_average_pool, global_max_pool, max_pool

__all__ = [
    "average_pool",
    "batch_normalization",
    "conv",
    "conv_transpose",
    "global_average_pool",
    "global_max_pool",
    "max_pool",
]
