"""Runs kernels with every input, output and workspace against an unreadable page. A program: test_bits_bounds.py calls it.

    python guarded.py end|start          at which end of the arrays the page is
    python guarded.py end|start touch    reads one byte too far, to show that this ends the process

A kernel that reads or writes out of bounds ends this process; the last line printed names the call.
"""

import ctypes
import faulthandler
import mmap
import sys
from functools import partial

import numpy as np
from helpers import FLOAT_PARAMS, TYPE_NAMES, data, isa, kernels
from onnxruntime_ep_exact import _calls
from test_bits_conv import HARD as CONV
from test_bits_conv import HARD_TRANSPOSE as CONV_TRANSPOSE
from test_bits_pool import HARD as POOL
from test_bits_pool import MAX_POOL_PARAMS
from test_bits_resize import FORMS as RESIZE_FORMS
from test_bits_resize import HARD as RESIZE
from test_bits_resize import NUMBERS

PAGE = mmap.PAGESIZE
AT_END = True
libc = ctypes.CDLL(None, use_errno=True)
maps = []


def guarded_empty(shape, dtype):
    """An array whose memory ends (or starts) at an unreadable page."""
    dtype = np.dtype(dtype)
    size = int(np.prod(shape)) * dtype.itemsize
    pages = -(-size // PAGE)
    memory = mmap.mmap(-1, (pages + 1) * PAGE)
    maps.append(memory)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    guard = address + pages * PAGE if AT_END else address
    if libc.mprotect(ctypes.c_void_p(guard), ctypes.c_size_t(PAGE), 0):
        raise OSError(ctypes.get_errno(), "mprotect")
    offset = pages * PAGE - size if AT_END else PAGE
    return np.frombuffer(memory, np.uint8, size, offset).view(dtype).reshape(shape)


def guarded(array):
    copy = guarded_empty(array.shape, array.dtype)
    copy[...] = array
    return copy


def values(rng, shape, dtype):
    return rng.random(shape) < 0.5 if dtype == "bool" else data(rng, shape, dtype)


def calls():
    """(function, input shapes, attributes, types)"""
    for name, (x, w, attributes) in CONV.items():
        for mode in ("exact", "fast"):
            yield "conv", name, [x, w, [w[0]]], {**attributes, "mode": mode}, FLOAT_PARAMS
    for m in (*range(1, 18), 33):
        yield "conv", f"M={m}", [[1, 19, 5, 7], [m, 19, 3, 3], [m]], {}, ["float32", "float64"]
    for width in range(1, 70):
        yield "conv", f"width={width}", [[1, 9, width], [5, 9, 1], [5]], {}, ["float32"]
        yield (
            "conv",
            f"depthwise width={width}",
            [[1, 3, 4, width], [3, 1, 3, 3], [3]],
            {"group": 3, "pads": [1] * 4},
            ["float32"],
        )
        pool = {"kernel_shape": [3, 3], "pads": [1] * 4}
        yield "max_pool", f"width={width}", [[1, 2, 4, width]], pool, ["float32", "int8"]
        yield "average_pool", f"width={width}", [[1, 2, 4, width]], pool, ["float32", "float16"]
        yield "max_pool", f"width={width} stride 2", [[1, 2, 4, width]], {**pool, "strides": [2, 2]}, ["float32", "uint8"]
        yield "global_max_pool", f"width={width}", [[1, 3, width]], {}, FLOAT_PARAMS
        yield "global_average_pool", f"width={width}", [[1, 3, width]], {}, FLOAT_PARAMS
        yield "batch_normalization", f"width={width}", [[2, 3, width], [3], [3], [3], [3]], {}, FLOAT_PARAMS
    for name, (x, w, attributes) in CONV_TRANSPOSE.items():
        shapes = [x, w, [w[1] * attributes.get("group", 1)]]
        yield "conv_transpose", name, shapes, attributes, FLOAT_PARAMS
    for name, (x, attributes) in POOL.items():
        for indices in (False, True):
            yield "max_pool", name, [x], {**attributes, "return_indices": indices}, MAX_POOL_PARAMS
        yield "average_pool", name, [x], attributes, FLOAT_PARAMS

    yield from second_group()
    yield from third_group()
    yield from recurrents()
    yield from resizes()
    yield from quantized()
    yield from one_input()
    yield from several_inputs()
    yield from products()


def products():
    """Attention and Einsum: every size."""
    for n in (*range(0, 20), 31, 32, 33, 64, 65):
        types = FLOAT_PARAMS if n < 5 else ["float32", "float16"]
        for form in ({}, {"is_causal": 1, "qk_matmul_output_mode": 3}, {"mode": "fast"}):
            yield "attention", f"size {n} {form}", [[1, 2, 3, n], [1, 1, 5, n], [1, 1, 5, 4]], form, types
            yield "attention", f"keys {n} {form}", [[1, 2, 3, 5], [1, 1, n, 5], [1, 1, n, 4], [3, n]], form, types
            yield "attention", f"queries {n} {form}", [[1, 2, n, 5], [1, 1, 7, 5], [1, 1, 7, 4], ("bool", [n, 7])], form, types
            yield "attention", f"value {n} {form}", [[1, 2, 3, 5], [1, 2, 5, 5], [1, 2, 5, n]], form, types
        if n != 1:
            yield "attention", f"short mask {n}", [[1, 1, 3, 5], [1, 1, n + 4, 5], [1, 1, n + 4, 4], [3, n]], {}, types
        heads = {"q_num_heads": 2, "kv_num_heads": 1}
        yield "attention", f"rank 3, {n}", [[2, 3, 2 * n], [2, 5, n], [2, 5, n]], heads, types
        for equation, shapes in (
            ("ij,jk->ik", ([5, 9], [9, n])),
            ("ij,kj->ki", ([n, 9], [6, 9])),
            ("bij,bjk->bik", ([2, 3, n], [2, n, 17])),
            ("ij,j->ij", ([5, n], [n])),
            ("i,j->ij", ([n], [7])),
            ("ij->j", ([5, n],)),
            ("ij->i", ([5, n],)),
            ("ii->i", ([n, n],)),
            ("i,i,i->", ([n], [n], [n])),
        ):
            yield "einsum", f"{equation}, {n}", shapes, {"equation": equation}, [*types, "int64"]


def quantized():
    """Every width and depth of the integer kernels."""
    eight = ["uint8", "int8"]
    for n in (*range(0, 36), 63, 64, 65, 129):
        for shape, form in (([], {}), ([n], {"axis": 1}), ([3], {"axis": 0}), ([3, -(-n // 5)], {"axis": 1, "block_size": 5})):
            yield "quantize_linear", f"{n} {form}", [[3, n], shape], form, ["float32", "float16", "bfloat16"]
        yield "dynamic_quantize_linear", f"{n}", [[n]], {}, ["float32"]
        for a, b in (([n, 9], [9, 5]), ([3, n], [n, 18]), ([4, 11], [11, n])):
            yield "matmul_integer", f"{a} {b}", [a, b, [], []], {}, eight
            yield "matmul_integer", f"{a} {b} zero points", [a, b, [a[0], 1], [1, b[1]]], {}, eight
        yield "conv_integer", f"width={n}", [[1, 5, 4, n + 3], [7, 5, 3, 3], [], [7]], {"pads": [1] * 4}, eight
        yield "conv_integer", f"depth={n}", [[1, n, 3, 4], [7, n, 2, 2]], {}, eight
        depthwise = {"group": 3, "pads": [1] * 4}
        yield "conv_integer", f"depthwise width={n}", [[1, 3, 4, n + 3], [3, 1, 3, 3], []], depthwise, eight
        for dtype in ("uint8", "int8", "uint16", "int16", "int32"):
            yield "dequantize_linear", f"{dtype} {n}", [[3, n], ("float32", [n]), [n]], {}, [dtype]
        for dtype in eight:
            one = ("float32", [])
            product = [[3, n], one, [], [n, 18], ("float32", [18]), [18], one, []]
            yield "qlinear_matmul", f"depth={n}", product, {}, [dtype]
            yield "qlinear_matmul", f"columns={n}", [[5, 9], one, [], [9, n], one, [], one, []], {}, [dtype]
            window = [[1, 5, 4, n + 3], one, [], [7, 5, 3, 3], ("float32", [7]), [7], one, [], ("int32", [7])]
            yield "qlinear_conv", f"width={n}", window, {"pads": [1] * 4}, [dtype]


def resizes():
    for name, (shape, attributes) in RESIZE.items():
        for mode, variations in RESIZE_FORMS.values():
            for extra in variations:
                yield "resize", f"{name} {extra}", [shape], {"mode": mode, **attributes, **extra}, NUMBERS
    for width in range(1, 36):
        for scale in (2.0, 0.5, 1.7) if width > 1 else (2.0,):
            for mode, types in (("nearest", [*NUMBERS, "bool"]), ("linear", NUMBERS), ("cubic", ["float32", "uint8"])):
                for scales in ([1, 1, scale], [1, 2, 1]):
                    yield "resize", f"{mode} {width} by {scale}", [[1, 2, width]], {"scales": scales, "mode": mode}, types


def second_group():
    """Row and column layouts of every width, few and many of them."""
    for n in (*range(0, 36), 63, 64, 65, 255, 257):
        for kind in ("sum", "l2", "sum_square", "prod", "max", "log_sum_exp"):
            types = FLOAT_PARAMS if kind != "l2" else ["float32"]
            types = types if n < 20 or n > 62 else ["float32"]
            yield f"reduce_{kind}", f"rows of {n}", [[5, n]], {"axes": [1]}, types
            yield f"reduce_{kind}", f"columns of {n}", [[2, 5, n]], {"axes": [1]}, types
            yield f"reduce_{kind}", f"runs of {n}", [[3, n, 2, 3]], {"axes": [0, 2]}, ["float32"]
        yield "reduce_sum", f"rows of {n}", [[5, n]], {"axes": [1]}, ["int32", "int64"]
        yield "reduce_min", f"columns of {n}", [[5, n]], {"axes": [0]}, ["int8", "uint8", "bool", "uint64"]
        for axis in (0, 1):
            yield "arg_max", f"axis {axis} of {n}", [[n, 7], [7, n]][axis : axis + 1], {"axis": axis}, [*FLOAT_PARAMS, "int8"]
            yield "arg_min", f"lines {n}", [[n, 7], [7, n]][1 - axis : 2 - axis], {"axis": axis}, ["float32", "int64"]
            for function in ("cumsum", "cumprod"):
                form = {"axis": axis, "exclusive": axis, "reverse": n % 2}
                yield function, f"axis {axis} of {n}", [[n, 19], [19, n]][axis : axis + 1], form, [*FLOAT_PARAMS, "int32"]
            for function in ("softmax", "log_softmax", "hardmax"):
                yield function, f"axis {axis} of {n}", [[n, 19], [19, n]][axis : axis + 1], {"axis": axis}, FLOAT_PARAMS
        yield "softmax", f"fast, {n}", [[5, n]], {"mode": "fast"}, FLOAT_PARAMS
        yield "log_softmax", f"fast, {n}", [[5, n]], {"mode": "fast"}, ["float32"]
        yield "layer_normalization", f"rows of {n}", [[5, n], [n], [n]], {"return_statistics": True}, FLOAT_PARAMS
        yield "layer_normalization", f"broadcast to {n}", [[5, 2, n], [2, 1], [n]], {"axis": 1}, FLOAT_PARAMS
        yield "rms_normalization", f"rows of {n}", [[5, n], [n]], {}, FLOAT_PARAMS
        yield "instance_normalization", f"rows of {n}", [[2, 3, n], [3], [3]], {}, FLOAT_PARAMS
        yield "group_normalization", f"rows of {n}", [[2, 4, n], [4], [4]], {"num_groups": 2}, FLOAT_PARAMS
        yield "group_normalization", f"groups of {n}", [[2, 4, n], [2], [2]], {"num_groups": 2}, FLOAT_PARAMS


def third_group():
    """LpPool, MaxUnpool, LRN, LpNormalization, MeanVarianceNormalization."""
    for name, (x, attributes) in POOL.items():
        for p in (1, 2, 3):
            yield "lp_pool", name, [x], {**attributes, "p": p}, FLOAT_PARAMS
    for n in (*range(0, 36), 63, 64, 65, 255, 257):
        for p in (1, 2, 3):
            window = {"kernel_shape": [3, 3], "pads": [1] * 4, "p": p}
            yield "lp_pool", f"width={n + 1}", [[1, 2, 4, n + 1]], window, ["float32", "float16"]
            yield (
                "lp_pool",
                f"width={n + 1} stride 2",
                [[1, 2, 4, n + 1]],
                {**window, "strides": [2, 2]},
                ["float32", "float64"],
            )
            yield "global_lp_pool", f"width={n}", [[1, 3, n]], {"p": p}, FLOAT_PARAMS
        for beta in (0.75, 0.3):
            yield "lrn", f"width={n}", [[2, 7, n]], {"size": 4, "beta": beta}, FLOAT_PARAMS
            yield "lrn", f"channels={n}", [[2, n, 3]], {"size": 5, "beta": beta}, ["float32", "float16"]
        for axis in (0, 1):
            shape = [[n, 19], [19, n]][axis]
            yield "lp_normalization", f"axis {axis} of {n}", [shape], {"axis": axis, "p": 1 + n % 2}, FLOAT_PARAMS
            yield "mean_variance_normalization", f"axis {axis} of {n}", [shape], {"axes": [axis]}, FLOAT_PARAMS
        yield "mean_variance_normalization", f"runs of {n}", [[2, 3, 2, n]], {}, ["float32", "float16"]
        yield "max_unpool", f"width={n}", [[2, 3, n + 1], [2, 3, n + 1]], {"kernel_shape": [2], "strides": [2]}, FLOAT_PARAMS


def recurrents():
    """LSTM, GRU and RNN: one row, and rows of several lengths."""
    for hidden in (*range(1, 36), 63, 64, 65, 130):
        for function, g in (("lstm", 4), ("gru", 3), ("rnn", 1)):
            for n, size in ((1, hidden), (3, 5)):
                shapes = [
                    [2, n, size],
                    [2, g * hidden, size],
                    [2, g * hidden, hidden],
                    [2, 2 * g * hidden],
                    None,
                    [2, n, hidden],
                ]
                shapes += [[2, n, hidden], [2, 3 * hidden]] if function == "lstm" else []
                types = ["float32"] if hidden > 20 else ["float32", "float16", "bfloat16"]
                yield function, f"H={hidden}", shapes, {"direction": "bidirectional"}, types


def one_input():
    """Operators of one input, Clip and Cast."""
    single = ("tanh", "sigmoid", "erf", "softplus", "sin", "cos", "gelu", "mish")
    names = ["relu", "leaky_relu", "sign", "round_", "sqrt", "hard_swish", "softsign", "exp", "log", "elu", "selu", "celu"]
    for n in (*range(0, 36), 63, 64, 65, 257):
        for function in (*names, *single):
            types = [t for t in FLOAT_PARAMS if t != "float64" or function not in single] if n < 20 else ["float32", "float16"]
            whole = {"sign": ["int8", "uint16", "int64"], "relu": ["int16", "int32"]}.get(function, [])
            yield function, f"{n}", [[n]], {}, [*types, *whole]
        yield "clip", f"{n}", [[n], [1], []], {}, [*FLOAT_PARAMS, "int8", "uint16", "int32", "uint64"]
        for to in ("int8", "uint16", "int32", "uint64", "bool"):
            yield "cast", f"{n}", [[n]], {"to": to}, FLOAT_PARAMS


def several_inputs():
    """Elementwise operators of several inputs, in every form of broadcasting."""
    integers = {"maximum": ["int8", "uint16", "int32", "uint64"], "minimum": ["uint8", "int16"], "prelu": ["int32", "uint64"]}
    for n in (*range(0, 36), 63, 64, 65, 257):
        forms = {
            "same": [[3, n], [3, n]],
            "last": [[3, n], [n]],
            "scalar": [[3, n], [1]],
            "rows": [[3, n], [3, 1]],
            "channels": [[2, 3, n], [3, 1]],
            "outer and last": [[2, 3, n], [2, 1, n]],
        }
        for name, shapes in forms.items():
            for function in ("add", "div", "prelu", "maximum", "mean_of"):
                types = FLOAT_PARAMS if n < 20 else ["float32", "float16"]
                yield function, f"{name}, {n}", shapes, {}, [*types, *integers.get(function, ())]
            yield "minimum", f"{name}, {n}", [*shapes[::-1], shapes[1], shapes[0]], {}, ["float32", *integers["minimum"]]
            yield "sum_of", f"{name}, {n}", [*shapes[::-1], shapes[1], shapes[0]], {}, ["float32", "float64", "bfloat16"]


def places(shape):
    """Indices of a MaxUnpool whose output has twice the size: the last element among them."""
    count = int(np.prod(shape))
    return (np.arange(count) * 2 + 1).reshape(shape)[..., ::-1].copy()


def main():
    global AT_END
    AT_END = sys.argv[1] == "end"
    faulthandler.enable()
    if "touch" in sys.argv:
        array = guarded_empty([5], np.float32)
        ctypes.string_at(array.ctypes.data + (array.nbytes if AT_END else -1), 1)
    _calls._empty = lambda function, shape, dtype: guarded_empty(shape, dtype)
    count = 0
    for function, name, shapes, attributes, types in calls():
        for dtype in types:
            rng = np.random.default_rng(0)
            # A shape may come with a type of its own; None is an absent input.
            typed = [shape if isinstance(shape, tuple) else (dtype, shape) for shape in shapes]
            inputs = [s if s is None else guarded(values(rng, s, TYPE_NAMES.get(name, name))) for name, s in typed]
            if None in shapes and shapes[0][1] > 1:
                inputs[4] = guarded(np.array([2, 0, 1], np.int32))
            if function == "max_unpool":
                inputs[1] = guarded(places(shapes[1]))
            for variant in kernels.isa_names():
                print(function, name, dtype, variant, flush=True)
                form = dict(attributes)
                with isa(variant):
                    call = partial(kernels.einsum, form.pop("equation")) if function == "einsum" else getattr(kernels, function)
                    call(*inputs, threads=1 + count % 2, **form)
                count += 1
            inputs.clear()
            maps.clear()
    print(count, "calls")


if __name__ == "__main__":
    main()
