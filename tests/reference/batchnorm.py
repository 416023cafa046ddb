"""docs/batchnorm.md"""

import numpy as np

from .numerics import FLOATS, arithmetic_type, finish, quiet


@quiet
def batch_normalization(x, scale, bias, mean, var, *, epsilon=1e-5):
    if any(t.dtype not in FLOATS for t in (x, scale, bias, mean, var)):
        raise NotImplementedError("type")
    if x.ndim < 1:
        raise ValueError("rank of X")
    channels = 1 if x.ndim == 1 else x.shape[1]
    if any(t.shape != (channels,) for t in (scale, bias, mean, var)):
        raise ValueError("shape of a parameter")
    real = arithmetic_type(x.dtype)
    scale, bias, mean, var = (t.astype(real) for t in (scale, bias, mean, var))
    root = np.sqrt(var + real(np.float32(epsilon)))
    a = scale / root
    product = mean * a
    b = bias - product
    shape = (channels, *[1] * max(0, x.ndim - 2))
    product = x.astype(real) * a.reshape(shape)
    return finish(product + b.reshape(shape), x.dtype)
