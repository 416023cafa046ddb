"""A second derivation of every operator, written from docs/ alone.

Plain NumPy. Loops run over the terms of a sum in the documented order; only independent outputs are vectorised, and a
product is always stored before it is added, so that each operation is rounded on its own. The signatures are those of
onnxruntime_ep_exact.kernels without `mode` and `threads`. Invalid arguments raise ValueError, unsupported ones
NotImplementedError.
"""

from .arg import arg_max, arg_min
from .attention import attention
from .batchnorm import batch_normalization
from .binary import add, div, maximum, mean_of, minimum, mul, power, prelu, sub, sum_of
from .conv import conv
from .conv_integer import conv_integer, qlinear_conv
from .conv_transpose import conv_transpose
from .cumsum import cumprod, cumsum
from .einsum import einsum
from .lrn import lrn
from .matmul import gemm, matmul
from .matmul_integer import matmul_integer, qlinear_matmul
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
from .quantize import dequantize_linear, dynamic_quantize_linear, quantize_linear
from .recurrent import gru, lstm, rnn
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
from .unary import (
    absolute,
    cast,
    ceil,
    celu,
    clip,
    cos,
    elu,
    erf,
    exp,
    floor,
    gelu,
    hard_sigmoid,
    hard_swish,
    leaky_relu,
    log,
    mish,
    negative,
    reciprocal,
    relu,
    round_,
    selu,
    sigmoid,
    sign,
    sin,
    softplus,
    softsign,
    sqrt,
    swish,
    tanh,
    thresholded_relu,
)
from .unpool import max_unpool

__all__ = [
    "absolute",
    "add",
    "arg_max",
    "arg_min",
    "attention",
    "average_pool",
    "batch_normalization",
    "cast",
    "ceil",
    "celu",
    "clip",
    "conv",
    "conv_integer",
    "conv_transpose",
    "cos",
    "cumprod",
    "cumsum",
    "dequantize_linear",
    "div",
    "dynamic_quantize_linear",
    "einsum",
    "elu",
    "erf",
    "exp",
    "floor",
    "gelu",
    "gemm",
    "global_average_pool",
    "global_lp_pool",
    "global_max_pool",
    "group_normalization",
    "gru",
    "hard_sigmoid",
    "hard_swish",
    "hardmax",
    "instance_normalization",
    "layer_normalization",
    "leaky_relu",
    "log",
    "log_softmax",
    "lp_normalization",
    "lp_pool",
    "lrn",
    "lstm",
    "matmul",
    "matmul_integer",
    "max_pool",
    "max_unpool",
    "maximum",
    "mean_of",
    "mean_variance_normalization",
    "minimum",
    "mish",
    "mul",
    "negative",
    "openvino_convolution",
    "openvino_group_convolution",
    "power",
    "prelu",
    "qlinear_conv",
    "qlinear_matmul",
    "quantize_linear",
    "reciprocal",
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
    "relu",
    "resize",
    "rms_normalization",
    "rnn",
    "round_",
    "selu",
    "sigmoid",
    "sign",
    "sin",
    "softmax",
    "softplus",
    "softsign",
    "sqrt",
    "sub",
    "sum_of",
    "swish",
    "tanh",
    "thresholded_relu",
    "upsample",
]
