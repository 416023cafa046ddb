"""A small convolutional network for the demonstration, generated: no download."""

import numpy as np

from .inputs import draw


def model() -> bytes:
    """A serialized ONNX model (opset 17): every operator family of the library, input ``image`` of N x 3 x 64 x 64.

    The layers: strided Conv + BatchNormalization + Relu, MaxPool, a residual block of 3x3 Convs, a depthwise-separable
    block, AveragePool, a ConvTranspose branch with a global maximum, GlobalAveragePool and a classifier (a 1x1 Conv). What
    is left to ONNX Runtime is Relu, Add, Concat and Flatten, whose bits cannot differ.
    """
    from onnx import TensorProto, checker, helper, numpy_helper

    rng = np.random.default_rng(20240229)
    nodes, weights = [], []

    def weight(name: str, *shape: int, scale: float = 1.0, offset: float = 0.0) -> str:
        weights.append(numpy_helper.from_array(draw(shape, np.float32, rng) * np.float32(scale) + np.float32(offset), name))
        return name

    def add(op: str, name: str, *inputs: str, **attributes) -> str:
        nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def conv(x: str, name: str, m: int, c: int, k: int, **attributes) -> str:
        group = attributes.get("group", 1)
        w = weight(f"{name}_w", m, c // group, k, k, scale=1 / (k * (c // group) ** 0.5))
        return add("Conv", name, x, w, weight(f"{name}_b", m, scale=0.1), kernel_shape=[k, k], pads=[k // 2] * 4, **attributes)

    x = conv("image", "stem", 32, 3, 3, strides=[2, 2])
    statistics = [weight(f"bn_{n}", 32, scale=0.2, offset=o) for n, o in (("s", 1), ("b", 0), ("m", 0), ("v", 1))]
    x = add("Relu", "stem_relu", add("BatchNormalization", "stem_bn", x, *statistics))
    x = add("MaxPool", "pool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    y = add("Relu", "res_relu1", conv(x, "res_conv1", 32, 32, 3))
    x = add("Relu", "res_relu2", add("Add", "res_add", conv(y, "res_conv2", 32, 32, 3), x))
    x = add("Relu", "dw_relu", conv(x, "dw", 32, 32, 3, group=32))
    x = add("Relu", "pw_relu", conv(x, "pw", 64, 32, 1))
    x = add("AveragePool", "avg", x, kernel_shape=[2, 2], strides=[2, 2])
    up = add("ConvTranspose", "up", x, weight("up_w", 64, 16, 2, 2, scale=0.1), kernel_shape=[2, 2], strides=[2, 2])
    features = add("Concat", "features", add("GlobalMaxPool", "gmp", up), add("GlobalAveragePool", "gap", x), axis=1)
    add("Flatten", "scores", conv(features, "fc", 10, 80, 1))
    graph = helper.make_graph(
        nodes,
        "demo",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, ["N", 3, 64, 64])],
        [
            helper.make_tensor_value_info("up", TensorProto.FLOAT, ["N", 16, 16, 16]),
            helper.make_tensor_value_info("features", TensorProto.FLOAT, ["N", 80, 1, 1]),
            helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", 10]),
        ],
        weights,
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    checker.check_model(proto)
    return proto.SerializeToString()
