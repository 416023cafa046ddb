"""A second derivation of every operator, written from docs/ alone.

Plain NumPy. Loops run over the terms of a sum in the documented order; only independent outputs are vectorised, and a
product is always stored before it is added, so that each operation is rounded on its own. The signatures are those of
onnxruntime_ep_exact.kernels without `mode` and `threads`. Invalid arguments raise ValueError, unsupported ones
NotImplementedError.
"""

from .arg import arg_max, arg_min
from .batchnorm import batch_normalization
from .binary import add, div, maximum, mean_of, minimum, mul, power, prelu, sub, sum_of
from .conv import conv
from .conv_transpose import conv_transpose
from .cumsum import cumprod, cumsum
from .lrn import lrn
from .matmul import gemm, matmul
from .norm import (
    group_normalization,
    instance_normalization,
    layer_normalization,
    lp_normalization,
    mean_variance_normalization,
    rms_normalization,
)
from .openvino import openvino_convolution, openvino_group_convolution
from .pool import average_pool, global_average_pool, global_lp_pool, global_max_pool, lp_pool, max_pool
from .reduce import (
    reduce_l1,
    reduce_l2,
    reduce_log_sum,
    reduce_log_sum_exp,
    reduce_max,
    reduce_mean,
    reduce_min,
    reduce_prod,
    reduce_sum,
    reduce_sum_square,
)
from .resize import resize, upsample
from .softmax import hardmax, log_softmax, softmax
from .unpool import max_unpool

__all__ = [
    "add",
    "arg_max",
    "arg_min",
    "average_pool",
    "batch_normalization",
    "conv",
    "conv_transpose",
    "cumprod",
    "cumsum",
    "div",
    "gemm",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "group_normalization",
    "hardmax",
    "instance_normalization",
    "layer_normalization",
    "log_softmax",
    "lp_normalization",
    "lp_pool",
    "lrn",
    "matmul",
    "max_pool",
    "max_unpool",
    "maximum",
    "mean_of",
    "mean_variance_normalization",
    "minimum",
    "mul",
    "openvino_convolution",
    "openvino_group_convolution",
    "power",
    "prelu",
    "reduce_l1",
    "reduce_l2",
    "reduce_log_sum",
    "reduce_log_sum_exp",
    "reduce_max",
    "reduce_mean",
    "reduce_min",
    "reduce_prod",
    "reduce_sum",
    "reduce_sum_square",
    "resize",
    "rms_normalization",
    "softmax",
    "sub",
    "sum_of",
    "upsample",
]
