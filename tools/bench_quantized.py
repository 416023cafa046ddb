"""Rows of tools/bench.py for quantised operators, with constant weights, scales and zero points."""

from collections.abc import Callable

import numpy as np
from onnx import TensorProto, helper, numpy_helper

_NUMBERS = {"uint8": TensorProto.UINT8, "int8": TensorProto.INT8, "float32": TensorProto.FLOAT}


def _draw(shape: tuple, dtype: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    if dtype == "float32":
        return rng.random(shape, np.float32) + np.float32(0.5)
    return rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape, endpoint=True).astype(dtype)


def _model(op: str, x: tuple, dtype: str, constants: dict, order: str, outputs: str = "y", **attributes) -> Callable[[], bytes]:
    """Of one node with the inputs that `order` names: x, and constants."""

    def made() -> bytes:
        graph = helper.make_graph(
            [helper.make_node(op, order.split(), outputs.split(), name="node", **attributes)],
            "bench",
            [helper.make_tensor_value_info("x", _NUMBERS[dtype], x)],
            [helper.ValueInfoProto(name=name) for name in outputs.split()],
            [numpy_helper.from_array(np.asarray(value() if callable(value) else value), n) for n, value in constants.items()],
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()

    return made


def _product(op: str, a: tuple, b: tuple, a_type: str = "uint8", b_type: str = "int8") -> Callable[[], bytes]:
    constants = {"w": lambda: _draw(b, b_type), "xz": np.array(3, a_type), "wz": np.array(0, b_type)}
    if op == "MatMulInteger":
        return _model(op, a, a_type, constants, "x w xz wz")
    scales = {"xs": np.float32(0.02), "ws": np.float32(0.01), "ys": np.float32(0.9), "yz": np.array(7, a_type)}
    return _model(op, a, a_type, constants | scales, "x xs xz w ws wz ys yz")


def _conv(op: str, c: int, m: int, k: int, size: int, stride: int = 1, group: int = 1) -> Callable[[], bytes]:
    attributes = {"kernel_shape": [k, k], "strides": [stride] * 2, "pads": [k // 2] * 4, "group": group}
    constants = {"w": lambda: _draw((m, c // group, k, k), "int8"), "xz": np.uint8(3), "wz": np.int8(0)}
    if op == "ConvInteger":
        return _model(op, (1, c, size, size), "uint8", constants, "x w xz wz", **attributes)
    constants |= {
        "xs": np.float32(0.02),
        "ws": lambda: _draw((m,), "float32"),
        "wz": np.zeros(m, np.int8),
        "ys": np.float32(0.9),
        "yz": np.uint8(7),
        "b": np.arange(m, dtype=np.int32),
    }
    return _model(op, (1, c, size, size), "uint8", constants, "x xs xz w ws wz ys yz b", **attributes)


def quantized() -> list[tuple[str, str, float | None, Callable[[], bytes]]]:
    """(group, name, least ratio, model) of each row."""
    found = []
    image = (1, 64, 112, 112)
    one = {"s": np.float32(0.02), "z": np.uint8(120)}
    each = {"s": lambda: _draw((64,), "float32"), "z": lambda: _draw((64,), "int8")}
    found += [
        ("Quantization", "QuantizeLinear 64 @112", 0.8, _model("QuantizeLinear", image, "float32", one, "x s z")),
        ("Quantization", "DequantizeLinear 64 @112", 0.8, _model("DequantizeLinear", image, "uint8", one, "x s z")),
        ("Quantization", "DequantizeLinear 64 @112 per axis", 0.8, _model("DequantizeLinear", image, "int8", each, "x s z")),
        (
            "Quantization",
            "DynamicQuantizeLinear 64 @112",
            0.8,
            _model("DynamicQuantizeLinear", image, "float32", {}, "x", "y s z"),
        ),
    ]
    for a, b in (((128, 768), (768, 768)), ((128, 768), (768, 3072)), ((1, 768), (768, 3072)), ((16, 512), (512, 512))):
        name = f"MatMulInteger {a[0]}x{a[1]} by {b[0]}x{b[1]}"
        found.append(("Integer products", name, 0.8, _product("MatMulInteger", a, b)))
    found += [
        (
            "Integer products",
            "MatMulInteger 128x768 by 768x768 uint8",
            0.8,
            _product("MatMulInteger", (128, 768), (768, 768), b_type="uint8"),
        ),
        ("Integer products", "QLinearMatMul 128x768 by 768x768", 0.8, _product("QLinearMatMul", (128, 768), (768, 768))),
        ("Integer products", "QLinearMatMul 256x256 by 256x256", 0.8, _product("QLinearMatMul", (256, 256), (256, 256))),
    ]
    dense = (
        ("3x3 64 @56", 64, 64, 3, 56, 1),
        ("3x3 128 @28", 128, 128, 3, 28, 1),
        ("3x3 256 @14", 256, 256, 3, 14, 1),
        ("3x3 512 @7", 512, 512, 3, 7, 1),
        ("1x1 64->256 @56", 64, 256, 1, 56, 1),
        ("1x1 256->1024 @14", 256, 1024, 1, 14, 1),
        ("7x7/2 3->64 @224", 3, 64, 7, 224, 2),
    )
    for name, c, m, k, size, stride in dense:
        found.append(("Integer convolutions", f"QLinearConv {name}", 0.8, _conv("QLinearConv", c, m, k, size, stride)))
    for name, c, size, stride in (("144 @56", 144, 56, 1), ("96 @112 /2", 96, 112, 2), ("512 @14", 512, 14, 1)):
        model = _conv("QLinearConv", c, c, 3, size, stride, c)
        found.append(("Integer convolutions", f"QLinearConv depthwise 3x3 {name}", None, model))
    found.append(("Integer convolutions", "ConvInteger 3x3 64 @56", 0.8, _conv("ConvInteger", 64, 64, 3, 56)))
    return found
