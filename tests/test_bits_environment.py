"""The caller's floating-point settings change no bit and are left as they were. docs/exact-mode.md"""

import fpenv
import numpy as np
import pytest
import reference
from fpenv import DOWNWARD, NEAREST, TOWARD_ZERO, UPWARD
from helpers import FLOAT_PARAMS, TYPE_NAMES, as_tuple, assert_bits, data, isa, kernels, variants

SETTINGS = {
    "flush": (NEAREST, True),
    "upward": (UPWARD, False),
    "downward, flush": (DOWNWARD, True),
    "toward zero": (TOWARD_ZERO, False),
}
PADDED = {"pads": [1, 1, 1, 1]}
POOL = {"kernel_shape": [3, 3], "strides": [2, 2], **PADDED}
# operator, shapes, attributes
CALLS = {
    "conv": ("conv", [[2, 40, 7, 9], [17, 40, 3, 3], [17]], PADDED),
    "conv 1x1": ("conv", [[2, 70, 5, 9], [21, 70, 1, 1], [21]], {}),
    "conv fast": ("conv", [[2, 40, 7, 9], [17, 40, 3, 3], [17]], {**PADDED, "mode": "fast"}),
    "conv grouped": ("conv", [[2, 40, 7, 9], [20, 10, 3, 3], [20]], {**PADDED, "group": 4}),
    "conv depthwise": ("conv", [[2, 40, 7, 9], [40, 1, 3, 3], [40]], {**PADDED, "group": 40}),
    "conv_transpose": ("conv_transpose", [[2, 9, 7, 9], [9, 17, 3, 3], [17]], {"strides": [2, 2]}),
    "conv_transpose 2x2": ("conv_transpose", [[2, 40, 7, 9], [40, 17, 2, 2], [17]], {"strides": [2, 2]}),
    "max_pool": ("max_pool", [[2, 9, 9, 21]], POOL),
    "max_pool indices": ("max_pool", [[2, 9, 9, 21]], {**POOL, "return_indices": True}),
    "average_pool": ("average_pool", [[2, 9, 9, 21]], POOL),
    "global_max_pool": ("global_max_pool", [[2, 33, 9, 7]], {}),
    "global_average_pool": ("global_average_pool", [[2, 33, 9, 7]], {}),
    **{f"lp_pool {p}": ("lp_pool", [[2, 9, 9, 21]], {**POOL, "p": p}) for p in (1, 2, 3)},
    **{f"global_lp_pool {p}": ("global_lp_pool", [[2, 33, 9, 7]], {"p": p}) for p in (1, 2, 3)},
    "max_unpool": ("max_unpool", [[2, 9, 9, 7]], {"kernel_shape": [2, 2], "strides": [2, 2]}),
    **{f"lrn {beta}": ("lrn", [[2, 9, 9, 7]], {"size": 5, "alpha": 0.1, "beta": beta}) for beta in (0.75, 0.5, 1.0, 0.3)},
    "lrn of tiny sums": ("lrn", [[2, 9, 9, 7]], {"size": 5, "alpha": 1e-30, "bias": 0.0}),
    **{f"lp_normalization {axis}": ("lp_normalization", [[9, 39, 5]], {"axis": axis, "p": 1 + axis % 2}) for axis in (1, 2)},
    "mean_variance_normalization": ("mean_variance_normalization", [[3, 9, 5, 7]], {}),
    "mean_variance_normalization of columns": ("mean_variance_normalization", [[3, 9, 5, 7]], {"axes": [1]}),
    "batch_normalization": ("batch_normalization", [[2, 33, 9, 7]] + [[33]] * 4, {"epsilon": 1e-5}),
    **{f"{kind} of rows": (f"reduce_{kind}", [[5, 3, 90]], {"axes": [2]}) for kind in reference.reduce.KINDS},
    **{f"{kind} of columns": (f"reduce_{kind}", [[5, 9, 39]], {"axes": [1]}) for kind in reference.reduce.KINDS},
    "softmax": ("softmax", [[9, 39]], {}),
    "softmax fast": ("softmax", [[9, 39]], {"mode": "fast"}),
    "log_softmax": ("log_softmax", [[9, 39]], {"axis": 0}),
    "hardmax": ("hardmax", [[9, 39]], {}),
    "arg_max": ("arg_max", [[9, 39]], {"axis": 1}),
    "arg_min": ("arg_min", [[9, 39]], {"axis": 0, "select_last_index": 1}),
    "resize linear": ("resize", [[2, 3, 9, 21]], {"scales": [1, 1, 1.7, 2.3], "mode": "linear"}),
    "resize linear, shrinking": ("resize", [[2, 3, 9, 21]], {"scales": [1, 1, 0.7, 0.3], "mode": "linear", "antialias": 1}),
    "resize cubic": ("resize", [[2, 3, 9, 21]], {"scales": [1, 1, 1.7, 0.6], "mode": "cubic", "exclude_outside": 1}),
    "resize nearest": ("resize", [[2, 3, 9, 21]], {"scales": [1, 1, 1.7, 0.6]}),
    "upsample": ("upsample", [[2, 3, 9, 21]], {"scales": [1, 1, 1.7, 2], "mode": "linear"}),
    "cumsum": ("cumsum", [[9, 39]], {"axis": 1}),
    "cumprod": ("cumprod", [[9, 39]], {"axis": 0}),
    **{name: (name, [[9, 39], [39]], {}) for name in ("add", "sub", "mul", "div", "prelu", "sum_of", "mean_of", "maximum")},
    **{
        name: (name, [[9, 139]], {})
        for name in ("relu", "round_", "sqrt", "reciprocal", "hard_swish", "softsign", "exp", "log")
    },
    **{name: (name, [[9, 139]], {}) for name in ("tanh", "sigmoid", "erf", "softplus", "sin", "cos", "mish", "swish", "selu")},
    "gelu": ("gelu", [[9, 139]], {}),
    "gelu tanh": ("gelu", [[9, 139]], {"approximate": "tanh"}),
    "cast": ("cast", [[9, 139]], {"to": "int16"}),
    "layer_normalization": ("layer_normalization", [[9, 39], [39], [39]], {"return_statistics": True, "epsilon": 1e-44}),
    "rms_normalization": ("rms_normalization", [[9, 39], [39]], {"epsilon": 1e-44}),
    "instance_normalization": ("instance_normalization", [[2, 9, 39], [9], [9]], {}),
    "group_normalization": ("group_normalization", [[2, 9, 39], [9], [9]], {"num_groups": 3}),
}


def call(name, dtype, kind, threads):
    operator, shapes, attributes = CALLS[name]
    rng = np.random.default_rng(7)
    arrays = [data(rng, shape, TYPE_NAMES[dtype], kind) for shape in shapes]
    if operator == "batch_normalization":
        arrays[4] = np.abs(arrays[4])
    if operator == "max_unpool":
        arrays.append(rng.integers(0, 4 * arrays[0].size, shapes[0]))
    return lambda: as_tuple(getattr(kernels, operator)(*arrays, threads=threads, **attributes))


@pytest.mark.parametrize("setting", SETTINGS)
def test_the_settings_take_effect(setting):
    """In this thread, for a plain addition: else the tests below would test nothing."""
    rounding, flush = SETTINGS[setting]
    with fpenv.control(rounding, flush):
        got = [fpenv.library().probe(a, b) for a, b in ((1.0, 2.0**-30), (-1.0, -(2.0**-30)), (1.0, -(2.0**-30)))]
    assert (got != [1.0, -1.0, 1.0]) == (rounding != NEAREST)
    tiny = float(np.float32(1e-40))
    with fpenv.control(rounding, flush):
        kept = fpenv.library().probe(tiny, 0.0) != 0.0
    assert kept != flush


NO_DOUBLE = {"tanh", "sigmoid", "erf", "softplus", "sin", "cos", "mish", "swish", "gelu", "gelu tanh"}
CALLS_AND_TYPES = [(name, t) for name in CALLS for t in FLOAT_PARAMS if t != "float64" or name not in NO_DOUBLE]


@pytest.mark.parametrize("name, dtype", CALLS_AND_TYPES)
def test_results_do_not_depend_on_the_settings(name, dtype):
    for kind in ("normal", "tiny"):
        for variant, threads in variants((1, 2)):
            with isa(variant):
                run = call(name, dtype, kind, threads)
                want = run()
                for setting in SETTINGS.values():
                    with fpenv.control(*setting):
                        got = run()
                    for one, other in zip(got, want, strict=True):
                        assert_bits(one, other, f"{name} isa={variant} threads={threads} settings={setting}")


def test_subnormals_are_results():
    """Products below the smallest normal number, and copies of subnormal numbers."""
    x = np.full((1, 1, 4), 2.0**-70, np.float32)
    w = np.full((1, 1, 1), 2.0**-70, np.float32)
    with fpenv.control(NEAREST, True):
        for operator in (kernels.conv, kernels.conv_transpose):
            assert (operator(x, w).view(np.uint32) == 512).all()
        tiny = np.full((1, 1, 4), 1, np.uint32).view(np.float32)
        for y in (
            kernels.max_pool(tiny, [2]),
            kernels.average_pool(tiny, [2]),
            kernels.global_max_pool(tiny),
            kernels.global_average_pool(tiny),
            kernels.lp_pool(tiny, [1], p=1),
            kernels.max_unpool(tiny, np.arange(4).reshape(tiny.shape), kernel_shape=[1]),
            kernels.lrn(tiny, size=1),
        ):
            assert (y.view(np.uint32) == 1).all()


def test_an_error_leaves_the_settings():
    with fpenv.control(UPWARD, True), pytest.raises(ValueError):
        kernels.conv(np.ones((1, 1, 2), np.float32), np.ones((1, 1, 3), np.float32))
