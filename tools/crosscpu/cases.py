"""The golden cases: one-node models of every served operator and type, with awkward shapes. A new operator is a few rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .draw import draw

#: Types by the letters of a row.
LETTERS = {
    "f": "float32",
    "d": "float64",
    "h": "float16",
    "b": "bfloat16",
    "i": "int32",
    "l": "int64",
    "u": "uint32",
    "m": "uint64",
    "c": "int8",
    "B": "uint8",
    "s": "int16",
    "S": "uint16",
    "?": "bool",
}
FLOATS, WHOLE = "fdhb", "ilum"
REDUCTIONS = ("Sum", "Mean", "L1", "L2", "SumSquare", "LogSum", "LogSumExp", "Prod", "Max", "Min")


@dataclass(frozen=True)
class Case:
    """A node and its inputs. bfloat16 arrays are bits in uint16; None is an omitted input."""

    name: str
    operator: str
    opset: int
    inputs: tuple[np.ndarray | None, ...]
    types: tuple[str, ...]  # "" where the input is omitted
    attributes: dict[str, Any]
    outputs: int


def _shape(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("x") if part)


class _Table:
    """Collects rows."""

    def __init__(self) -> None:
        self.cases: list[Case] = []

    def add(self, operator: str, label: str, letters: str, inputs: Any, opset: int = 17, outputs: int = 1, **attributes: Any):
        """One case per letter. An input is "<shape> [kind [letter]]", "-" for an omitted one, or an array."""
        inputs = [inputs] if isinstance(inputs, str) else inputs
        for letter in letters:
            name = f"{operator} {label} {LETTERS[letter]}"
            arrays, types = [], []
            for number, spec in enumerate(inputs):
                if isinstance(spec, np.ndarray):
                    arrays.append(spec)
                    types.append(spec.dtype.name)
                elif spec == "-":
                    arrays.append(None)
                    types.append("")
                else:
                    shape, kind, dtype = [*spec.split(" "), *("plain", letter)[len(spec.split(" ")) - 1 :]]
                    arrays.append(draw(f"{name} {number}", _shape(shape), LETTERS[dtype], kind))
                    types.append(LETTERS[dtype])
            version = max(opset, 22) if letter == "b" else opset  # the first with bfloat16 in every operator
            self.cases.append(Case(name, operator, version, tuple(arrays), tuple(types), attributes, outputs))


def _products(t: _Table) -> None:
    t.add("MatMul", "matrices", FLOATS + WHOLE, ["19x37", "37x23"], 13)
    t.add("MatMul", "stacks", "fdhb", ["3x1x7x33", "5x33x9"], 13)
    t.add("MatMul", "vector", "fd", ["129 wide", "129x6 wide"], 13)
    t.add("MatMul", "deep", "f", ["5x600 wide", "600x17 wide"], 13)
    t.add("MatMul", "special", "fhb", ["11x24 special", "24x13"], 13)
    t.add("MatMul", "tiny", "f", ["11x24 tiny", "24x13 tiny"], 13)
    t.add("Gemm", "plain", FLOATS, ["19x37", "37x23", "23"], 13)
    t.add("Gemm", "transposed scaled", "fdh", ["37x19", "23x37", "19x1"], 13, transA=1, transB=1, alpha=0.75, beta=-1.5)
    t.add("Gemm", "special", "fb", ["11x24 special", "24x13", "11x13 special"], 13, beta=0.5)


def _windows(t: _Table) -> None:
    dilated = {"kernel_shape": [3, 2], "dilations": [2, 3], "strides": [3, 2], "ceil_mode": 1}
    t.add("Conv", "3x3", FLOATS, ["2x19x13x11", "23x19x3x3", "23"], pads=[1, 1, 1, 1])
    t.add("Conv", "1x1", "fd", ["3x37x5x7", "41x37x1x1", "41"])
    t.add("Conv", "depthwise", FLOATS, ["1x21x17x19", "21x1x3x3", "21"], pads=[1, 0, 2, 1], strides=[2, 1], group=21)
    t.add("Conv", "groups dilated", "fd", ["2x12x14x15", "18x4x3x2"], group=3, dilations=[2, 3], strides=[1, 2])
    t.add("Conv", "7x7 stride 2", "f", ["1x3x45x39", "16x3x7x7", "16"], strides=[2, 2], pads=[3, 3, 3, 3])
    t.add("Conv", "1D", "fh", ["2x5x67", "9x5x4", "9"], auto_pad="SAME_UPPER", strides=[3])
    t.add("Conv", "3D", "fd", ["1x4x6x7x5", "7x4x3x2x3", "7"], pads=[1, 0, 1, 1, 1, 1])
    t.add("Conv", "deep", "f", ["1x512x6x5 wide", "33x512x3x3 wide", "33"])
    t.add("Conv", "tiny", "fdb", ["1x16x9x8 tiny", "12x16x3x3 tiny", "12 subnormal"])
    t.add("Conv", "special", FLOATS, ["1x8x10x12 special", "9x8x3x3", "9"], auto_pad="SAME_LOWER")
    t.add("Conv", "1D dilated special weights", "f", ["1x6x50", "4x6x5 special"], dilations=[3])
    t.add("ConvTranspose", "2x2 stride 2", FLOATS, ["2x17x7x6", "17x11x2x2", "11"], strides=[2, 2])
    t.add("ConvTranspose", "overlap", "fd", ["1x10x6x9", "10x7x5x3", "7"], strides=[2, 1], pads=[1, 2, 0, 1])
    t.add("ConvTranspose", "groups", "f", ["1x6x5x8", "6x4x3x3"], group=2, strides=[3, 2], output_padding=[2, 1])
    t.add("ConvTranspose", "1D dilated", "fh", ["2x4x13", "4x3x4", "3"], dilations=[2], strides=[2])
    t.add("ConvTranspose", "special", "fb", ["1x5x6x6 special", "5x4x3x3", "4"], strides=[2, 2], pads=[1, 1, 1, 1])
    t.add("MaxPool", "3x3", FLOATS + "cB", "2x13x15x17", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    t.add("MaxPool", "indices", "fc", "2x3x9x10", outputs=2, kernel_shape=[2, 3], strides=[1, 2], storage_order=1)
    t.add("MaxPool", "dilated ceil", "fB", "1x5x20x23", **dilated)
    t.add("MaxPool", "special", FLOATS, "1x6x14x13 special", kernel_shape=[5, 5], pads=[2, 2, 2, 2])
    t.add("MaxPool", "3D", "f", "1x4x6x7x8", kernel_shape=[2, 3, 2], strides=[2, 2, 1])
    t.add("AveragePool", "3x3", FLOATS, "2x13x15x17", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    t.add("AveragePool", "padded", "fd", "1x5x11x14 wide", kernel_shape=[4, 3], pads=[2, 1, 1, 1], count_include_pad=1)
    t.add("AveragePool", "dilated ceil", "f", "1x5x20x23", 19, **dilated)
    t.add("AveragePool", "1D same", "fh", "2x7x50", kernel_shape=[5], strides=[3], auto_pad="SAME_UPPER")
    t.add("AveragePool", "special", "fb", "1x6x14x13 special", kernel_shape=[2, 2])
    t.add("GlobalMaxPool", "planes", FLOATS, "2x37x9x7 special")
    t.add("GlobalAveragePool", "planes", FLOATS, "2x37x13x11")
    t.add("GlobalAveragePool", "long", "fd", "1x5x40x61 wide")


def _more_pools(t: _Table) -> None:
    t.add("LpPool", "3x3", FLOATS, "2x13x15x17", kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    t.add("LpPool", "order 3 dilated ceil", "fd", "1x5x20x23", 22, p=3, kernel_shape=[3, 2], dilations=[2, 3], ceil_mode=1)
    t.add("LpPool", "order 1 same", "fh", "2x7x50", p=1, kernel_shape=[5], strides=[3], auto_pad="SAME_LOWER")
    t.add("LpPool", "special", "fb", "1x6x14x13 special", kernel_shape=[2, 2])
    t.add("GlobalLpPool", "planes", FLOATS, "2x37x13x11")
    t.add("GlobalLpPool", "order 5 wide", "fd", "1x5x40x61 wide", p=5)
    places = (np.arange(120) * 37 % 480).reshape(2, 3, 5, 4)  # distinct, as 37 and 480 have no common factor
    t.add("MaxUnpool", "2x2", FLOATS, ["2x3x5x4", places], 22, kernel_shape=[2, 2], strides=[2, 2])
    t.add("MaxUnpool", "special", "fdh", ["2x3x5x4 special", places], 22, kernel_shape=[2, 2], strides=[2, 2])
    shape = np.array([2, 3, 11, 9])
    t.add("MaxUnpool", "larger", "fd", ["2x3x5x4", places, shape], 11, kernel_shape=[2, 2], strides=[2, 2])
    t.add("LRN", "channels", FLOATS, "2x19x7x5", size=5, alpha=0.01, beta=0.6, bias=2.0)
    t.add("LRN", "even size special", "fh", "2x9x31 special", size=4)


def _resizes(t: _Table) -> None:
    scales, shrink = np.array([1, 1, 1.7, 0.6], np.float32), np.array([1, 1, 0.3, 0.45], np.float32)
    t.add("Resize", "nearest", FLOATS + "cBil?", ["2x5x7x9", "-", scales], 19)
    t.add("Resize", "nearest ceil special", "fdh", ["2x5x13x11 special", "-", scales], 13, nearest_mode="ceil")
    t.add("Resize", "linear", FLOATS + "cBil", ["2x5x7x9", "-", scales], 19, mode="linear")
    t.add("Resize", "linear special", "fdh", ["1x3x12x10 special", "-", scales], 19, mode="linear")
    corners, sizes = {"mode": "linear", "coordinate_transformation_mode": "align_corners"}, np.array([1, 3, 17, 5])
    t.add("Resize", "linear corners to sizes", "fdh", ["1x3x8x11", "-", "-", sizes], 13, **corners)
    t.add("Resize", "linear 3D", "f", ["1x2x5x6x7", "-", np.array([1, 1, 2, 1.5, 0.5], np.float32)], 19, mode="linear")
    t.add("Resize", "cubic", FLOATS + "Bi", ["1x4x9x10", "-", scales], 19, mode="cubic")
    inside = {"mode": "cubic", "cubic_coeff_a": -0.5, "exclude_outside": 1}
    t.add("Resize", "cubic inside", "fd", ["1x3x8x11 wide", "-", "-", sizes], 13, **inside)
    t.add("Resize", "linear antialias", "fdBl", ["1x3x31x29", "-", shrink], 19, mode="linear", antialias=1)
    t.add("Resize", "cubic antialias", "fhc", ["1x3x31x29", "-", shrink], 19, mode="cubic", antialias=1)
    crop = {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize", "extrapolation_value": -2.5}
    roi = np.array([0, 0, 0.125, 0.25, 1, 1, 0.875, 1.25], np.float32)
    t.add("Resize", "crop", "fd", ["1x3x9x12", roi, "-", sizes], 13, **crop)
    policy = {"mode": "linear", "axes": [2, 3], "keep_aspect_ratio_policy": "not_larger"}
    t.add("Resize", "policy", "f", ["2x3x10x14", "-", "-", np.array([7, 21])], 19, **policy)
    t.add("Resize", "opset 10", "fB", ["1x3x7x8", scales], 10, mode="linear")
    factors = np.array([1, 1, 2, 1.5], np.float32)
    t.add("Upsample", "nearest", "fdhcBil?", ["1x3x5x7", factors], 9)
    t.add("Upsample", "linear", "fdhB", ["1x3x5x7", factors], 9, mode="linear")


def _norms(t: _Table) -> None:
    statistics = ["13", "13", "13", "13 positive"]
    t.add("BatchNormalization", "planes", FLOATS, ["2x13x7x9", *statistics], epsilon=0.01)
    t.add("BatchNormalization", "mixed types", "h", ["2x13x7x9", "13 plain f", "13 plain f", "13 plain f", "13 positive f"])
    t.add("BatchNormalization", "special", "fd", ["1x13x30 special", *statistics])
    t.add("BatchNormalization", "tiny", "f", ["1x13x30 tiny", "13 tiny", "13 subnormal", "13 tiny", "13 positive"])
    t.add("LayerNormalization", "rows", FLOATS, ["3x7x70", "70", "70"], outputs=1)
    t.add("LayerNormalization", "statistics", "fd", ["5x3x33", "3x33", "-"], outputs=3, axis=1, epsilon=0.001)
    t.add("LayerNormalization", "long wide", "f", ["4x777 wide", "777", "777"])
    t.add("LayerNormalization", "special", "fh", ["24x40 special", "40", "40"])
    t.add("RMSNormalization", "rows", FLOATS, ["3x7x70", "70"], 23)
    t.add("RMSNormalization", "axis", "fd", ["3x5x4x11 wide", "5x4x11"], 23, axis=1, epsilon=0.001)
    t.add("InstanceNormalization", "planes", FLOATS, ["2x9x11x13", "9", "9"], epsilon=0.01)
    t.add("InstanceNormalization", "long wide", "f", ["1x3x999 wide", "3", "3"])
    t.add("GroupNormalization", "per channel", FLOATS, ["2x12x7x9", "12", "12"], 21, num_groups=3)
    t.add("GroupNormalization", "per group", "fd", ["2x12x31", "4", "4"], 18, num_groups=4)
    t.add("LpNormalization", "last", FLOATS, "5x7x70")
    t.add("LpNormalization", "order 1 axis", "fd", "5x33x7 wide", axis=1, p=1)
    t.add("LpNormalization", "special", "fh", "24x40 special")
    t.add("MeanVarianceNormalization", "planes", FLOATS, "3x9x11x13")
    t.add("MeanVarianceNormalization", "rows wide", "fd", "5x4x77 wide", axes=[2])
    t.add("MeanVarianceNormalization", "special", "fh", "6x5x9 special", axes=[1, 2])


def _softmaxes(t: _Table) -> None:
    t.add("Softmax", "last", FLOATS, "3x5x77 wide")
    t.add("Softmax", "axis", "fd", "3x37x5x6", axis=1)
    t.add("Softmax", "opset 11", "f", "4x3x50", 11)
    t.add("Softmax", "special", FLOATS, "40x30 special")
    t.add("LogSoftmax", "last", FLOATS, "3x5x77 wide")
    t.add("LogSoftmax", "axis", "fd", "3x37x5x6 special", axis=1)
    t.add("Hardmax", "last", FLOATS, "9x41 whole")
    t.add("Hardmax", "axis", "f", "2x17x9 special", axis=1)


def _reductions(t: _Table) -> None:
    axes = np.array([1, 3])
    for kind in REDUCTIONS:
        operator, opset = f"Reduce{kind}", 20 if kind in ("Max", "Min") else 18
        data = "positive" if kind == "LogSum" else "plain"
        whole = WHOLE if kind not in ("L2", "LogSum", "LogSumExp") else ""
        whole += "cB?" if kind in ("Max", "Min") else ""
        t.add(operator, "two axes", FLOATS + whole, [f"3x11x5x13 {data}", axes], opset, keepdims=0)
        t.add(operator, "last", "fd", [f"7x149 {data}", np.array([-1])], opset)
        t.add(operator, "first", "f", [f"67x6x5 {data}", np.array([0])], opset)
        if kind not in ("LogSum", "Prod"):
            t.add(operator, "special", "fhb", ["40x3x9 special", np.array([2])], opset)
    t.add("ReduceSum", "all opset 11", "fd", "9x70x33 wide", 11)
    t.add("ReduceSum", "subnormal", "fhb", ["6x50 subnormal", np.array([1])], 13)
    t.add("ReduceMean", "all opset 13 attribute", "f", "4x33x21 wide", 13, axes=[0, 2])
    t.add("ReduceSumSquare", "tiny", "f", ["6x50 tiny", np.array([1])], 18)


def _scans(t: _Table) -> None:
    for operator in ("ArgMax", "ArgMin"):
        t.add(operator, "axis", FLOATS + WHOLE + "cBsS", "5x37x9", axis=1)
        t.add(operator, "ties last", "fh", "7x60 whole", axis=1, keepdims=0, select_last_index=1)
        t.add(operator, "special", "fdhb", "30x25 special", axis=-1)
    for operator, opset in (("CumSum", 17), ("CumProd", 26)):
        t.add(operator, "last", FLOATS + WHOLE, ["3x5x67", np.array(2)], opset)
        t.add(operator, "first reverse exclusive", "fd", ["43x9", np.array(0, np.int32)], opset, reverse=1, exclusive=1)
        t.add(operator, "special", "fh", ["20x30 special", np.array(1)], opset)


def _recurrent(t: _Table) -> None:
    lens, states = np.array([6, 0, 4, 1, 6], np.int32), ["2x5x8", "2x5x8"]
    small = [draw(f"recurrent {i}", shape, "float32") * np.float32(0.125) for i, shape in enumerate([(1, 44, 7), (1, 44, 11)])]
    linear = {"activations": ["Elu", "Affine", "LeakyRelu", "HardSigmoid", "Softsign", "ScaledTanh"]}
    linear |= {"activation_alpha": [0.75, 0.5, 0.25, 0.125, 1.5], "activation_beta": [0.25, 0.375, 0.625]}
    t.add("LSTM", "layer", "fhb", ["7x3x19", "1x148x19", "1x148x37", "1x296"], outputs=3, hidden_size=37)
    t.add("LSTM", "small weights", "f", ["40x2x7", *small, "1x88"], outputs=3, hidden_size=11, direction="reverse")
    everything = ["6x5x9", "2x32x9", "2x32x8", "2x64", lens, *states, "2x24"]
    t.add("LSTM", "all inputs", "fhb", everything, outputs=3, hidden_size=8, direction="bidirectional", clip=2.5)
    t.add("LSTM", "coupled", "f", everything, outputs=3, hidden_size=8, direction="bidirectional", input_forget=1)
    both = {"hidden_size": 8, "direction": "bidirectional"}
    t.add("LSTM", "activations", "f", ["3x2x9", "2x32x9", "2x32x8", "2x64"], outputs=3, **both, **linear)
    t.add("LSTM", "special", "fhb", ["9x4x13 special", "1x20x13", "1x20x5"], outputs=3, hidden_size=5)
    t.add("GRU", "layer", "fhb", ["7x3x19", "1x111x19", "1x111x37", "1x222"], outputs=2, hidden_size=37)
    before = {"direction": "reverse", "linear_before_reset": 1}
    t.add("GRU", "linear before reset", "f", ["7x1x21", "1x51x21", "1x51x17", "1x102"], outputs=2, hidden_size=17, **before)
    everything = ["6x5x9", "2x24x9", "2x24x8", "2x48", lens, states[0]]
    t.add("GRU", "all inputs", "fhb", everything, outputs=2, hidden_size=8, direction="bidirectional", clip=2.5)
    linear = {"activations": ["Softplus", "Relu", "ThresholdedRelu", "Tanh"], "activation_alpha": [0.5]}
    t.add("GRU", "activations", "f", ["3x2x9", "2x24x9", "2x24x8", "2x48"], outputs=2, **both, **linear)
    t.add("GRU", "special", "fhb", ["9x4x13 special", "1x15x13", "1x15x5"], outputs=2, hidden_size=5)
    t.add("RNN", "layer", "fhb", ["7x3x19", "1x37x19", "1x37x37", "1x74"], outputs=2, hidden_size=37)
    everything = ["5x6x9", "2x8x9", "2x8x8", "2x16", lens, "5x2x8"]
    t.add("RNN", "all inputs, layout 1", "f", everything, outputs=2, **both, layout=1, activations=["Sigmoid", "Softplus"])
    t.add("RNN", "special", "fhb", ["9x4x13 special", "1x5x13", "1x5x5"], outputs=2, hidden_size=5)


def _quantizing(t: _Table) -> None:
    for letter in "BcSs":
        zero = f" plain {letter}"
        t.add("QuantizeLinear", f"to {LETTERS[letter]}", "fhb", ["2x5x7x11 wide", " positive", zero], 21)
        t.add("QuantizeLinear", f"special to {LETTERS[letter]}", "fhb", ["20x33 special", " positive", zero], 21)
    t.add("QuantizeLinear", "without zero point", "f", ["7x19 wide", "1 positive"], 10)
    t.add("QuantizeLinear", "axis", "fh", ["3x19x31 wide", "19 positive", "19 plain c"], 19)
    t.add("QuantizeLinear", "special scales", "fhb", ["33x20", "20 special", "20 plain B"], 21, axis=-1)
    t.add("QuantizeLinear", "blocked", "fhb", ["5x37x9 wide", "5x8x9 positive", "5x8x9 plain S"], 21, block_size=5)
    t.add("QuantizeLinear", "output_dtype", "f", ["5x37x9 wide", "37 positive"], 21, output_dtype=5)
    t.add("DequantizeLinear", "tensor", "cBsSi", ["2x5x7x11", " positive f", ""], 21)
    t.add("DequantizeLinear", "axis to float16", "cBsSi", ["3x19x31", "19 wide h", "19"], 21)
    t.add("DequantizeLinear", "blocked to bfloat16", "cSi", ["5x37x9", "5x8x9 wide b", "5x8x9"], 22, block_size=5)
    t.add("DequantizeLinear", "special scales", "cSi", ["33x20", "20 special f"], 21, axis=1)
    t.add("DequantizeLinear", "output_dtype", "si", ["5x37x9", "37 positive f"], 23, output_dtype=10)
    for kind in ("plain", "wide", "special", "subnormal"):
        t.add("DynamicQuantizeLinear", kind, "f", [f"7x5x43 {kind}"], 11, outputs=3)
    t.add("DynamicQuantizeLinear", "long", "f", ["300x301"], 11, outputs=3)


def _integer_products(t: _Table) -> None:
    for letter in "cB":
        other, name = f" plain {letter}", LETTERS[letter]
        t.add("MatMulInteger", f"by {name}", "cB", ["19x37", f"37x23{other}"], 13)
        t.add("MatMulInteger", f"zero points by {name}", "cB", ["3x1x7x65", f"5x65x9{other}", "3x1x7x1", f"5x1x9{other}"], 13)
        t.add("MatMulInteger", f"deep by {name}", "cB", ["5x6000", f"6000x17{other}", "", f"17{other}"], 13)
        scales = [" positive f", "23 positive f", np.array(300, np.float32)]
        second = [f"37x23{other}", scales[1], f"23{other}"]
        t.add("QLinearMatMul", f"by {name}", "cB", ["2x19x37", scales[0], "", *second, scales[2], ""], 10)
        window = {"pads": [1, 0, 2, 1], "strides": [2, 1]}
        conv = ["2x19x13x11", "23x19x3x3" + other]
        t.add("ConvInteger", f"3x3 by {name}", "cB", [*conv, "", f"23{other}"], 10, **window)
        t.add("ConvInteger", f"depthwise by {name}", "cB", ["1x21x17x19", f"21x1x3x3{other}", ""], 10, group=21, pads=[1] * 4)
        bias = np.arange(-11, 12, dtype=np.int32) * 5000
        quantized = [conv[0], scales[0], "", conv[1], scales[1], f"23{other}", np.array(900, np.float32), "", bias]
        t.add("QLinearConv", f"3x3 by {name}", "cB", quantized, 10, **window)
        grouped = ["2x12x50", scales[0], "", f"18x4x3{other}", scales[0], other, scales[2], other]
        t.add("QLinearConv", f"groups by {name}", "cB", grouped, 10, group=3, dilations=[2])
    special = ["9x33", " positive f", "", "33x20 plain c", "20 special f", "20 plain c", np.array(3000, np.float32), ""]
    t.add("QLinearMatMul", "special scales", "cB", special, 10)
    halves = ["9x33", " positive h", "", "33x20 plain c", "20 positive h", "20 plain c", np.array(700, np.float16), ""]
    t.add("QLinearMatMul", "float16 scales", "cB", halves, 21)


def _one_input(t: _Table) -> None:
    plain = {  # operator -> the letters that it has, its opset, a second form of its attributes
        "Relu": (FLOATS + "cils", 14, {}),
        "LeakyRelu": (FLOATS, 16, {"alpha": 0.3}),
        "ThresholdedRelu": (FLOATS, 22, {"alpha": -0.5}),
        "Abs": (FLOATS, 13, {}),
        "Neg": (FLOATS, 13, {}),
        "Floor": (FLOATS, 13, {}),
        "Ceil": (FLOATS, 13, {}),
        "Round": (FLOATS, 22, {}),
        "Sign": (FLOATS + WHOLE + "cBsS", 13, {}),
        "Sqrt": (FLOATS, 13, {}),
        "Reciprocal": (FLOATS, 13, {}),
        "HardSigmoid": (FLOATS, 22, {"alpha": 0.7, "beta": -0.25}),
        "HardSwish": (FLOATS, 22, {}),
        "Softsign": (FLOATS, 22, {}),
        "Exp": (FLOATS, 13, {}),
        "Log": (FLOATS, 13, {}),
        "Elu": (FLOATS, 22, {"alpha": 1.7}),
        "Selu": (FLOATS, 22, {"alpha": 0.9, "gamma": 1.3}),
        "Celu": ("f", 12, {"alpha": 0.6}),
        **{operator: ("fhb", 13, {}) for operator in ("Tanh", "Sigmoid", "Erf")},
        **{operator: ("fhb", 22, {}) for operator in ("Softplus", "Sin", "Cos", "Mish")},
        "Gelu": ("fhb", 20, {"approximate": "tanh"}),
        "Swish": ("fhb", 24, {"alpha": 1.7}),
    }
    for operator, (letters, opset, form) in plain.items():
        floats = "".join(letter for letter in letters if letter in FLOATS)
        t.add(operator, "plain", letters, "3x5x67", opset)
        t.add(operator, "special", floats, "30x41 special", opset)
        t.add(operator, "wide", floats, "7x129 wide", opset)
        t.add(operator, "tiny", floats, "7x33 subnormal", opset)
        if form:
            t.add(operator, "attributes", floats, "7x129 special", opset, **form)
    low, high = np.array(-1.5, np.float32), np.array([2.5], np.float32)
    t.add("Clip", "both", "f", ["30x41 special", low, high], 13)
    t.add("Clip", "high alone", "f", ["30x41 special", "-", high], 13)
    t.add("Clip", "attributes opset 6", "f", "7x129 special", 6, min=-0.25, max=1.5)
    t.add("Clip", "drawn", FLOATS + WHOLE + "cBsS", ["5x67", "", "1"], 13)
    t.add("Clip", "no limits", FLOATS, "30x41 special", 13)
    for number in (2, 3, 4, 5, 6, 7, 9, 12, 13):
        kind = "wide" if number in (6, 7, 12, 13) else "special"
        t.add("Cast", f"to {number}", FLOATS, f"5x67 {kind}", 13, to=number)


def _several_inputs(t: _Table) -> None:
    for operator in ("Add", "Sub", "Mul", "Div"):
        t.add(operator, "same shape", FLOATS, ["3x5x67", "3x5x67"], 14)
        t.add(operator, "channels special", "fdh", ["2x40x5x7 special", "40x1x1 special"], 14)
        t.add(operator, "rows tiny", "fhb", ["40x33 tiny", "33 tiny"], 14)
        t.add(operator, "outer", "f", ["1x23x1 wide", "9x1x19 wide"], 14)
        t.add(operator, "scalar subnormal", "fd", ["7x129 subnormal", ""], 14)
    t.add("PRelu", "channels", FLOATS + WHOLE, ["2x7x5x6", "7x1x1"], 16)
    t.add("PRelu", "last special", "fhb", ["40x30 special", "30 special"], 16)
    t.add("PRelu", "one tiny", "fd", ["5x67 tiny", "1x1 tiny"], 16)
    for exponent in (2, 3, 0.5, 1, 0, -1, -2, -0.5):
        t.add("Pow", f"{exponent}", FLOATS, ["9x41 special", np.array(exponent, np.float32)], 15)
    t.add("Pow", "3 tiny", "fd", ["9x41 tiny", np.array([[3]], np.int64)], 15)
    for operator in ("Max", "Min"):
        t.add(operator, "three", FLOATS + WHOLE + "cBsS", ["4x5x33", "5x1", "33"], 13)
        t.add(operator, "special", FLOATS, ["30x25 special", "30x25 special"], 13)
        t.add(operator, "zeros", "fh", ["30x25 whole", "30x1 whole", ""], 13)
        t.add(operator, "one", "fb", ["9x40 special"], 13)
    for operator in ("Sum", "Mean"):
        t.add(operator, "four wide", FLOATS, ["3x5x37 wide", "37 wide", "5x1 wide", "3x5x37 wide"], 13)
        t.add(operator, "eight", "fh", [f"6x{n}" for n in (41, 1, 41, 41, 1, 41, 1, 41)], 13)
        t.add(operator, "special", "fdb", ["30x25 special", "30x25 special", "25 special"], 13)
        t.add(operator, "one", "fh", ["9x40 special"], 13)


def _attentions(t: _Table) -> None:
    cache = ["-", "2x2x9x19", "2x2x9x13"]
    lens = np.array([11, 4], np.int64)
    keep = np.arange(7 * 11).reshape(7, 11) % 3 != 0
    three = {"q_num_heads": 6, "kv_num_heads": 2}
    heads = ["2x6x7x19", "2x2x11x19", "2x2x11x13"]
    t.add("Attention", "causal", FLOATS, heads, 23, is_causal=1, outputs=4, qk_matmul_output_mode=2)
    t.add("Attention", "mask", FLOATS, [*heads, "2x1x7x11"], 23, outputs=4, scale=0.3)
    t.add("Attention", "boolean mask", FLOATS, [*heads, keep], 24, outputs=4, qk_matmul_output_mode=3)
    t.add("Attention", "short mask", "fb", [*heads, "7x6 special"], 24, outputs=4, qk_matmul_output_mode=2)
    t.add("Attention", "cache", FLOATS, [*heads, *cache], 23, is_causal=1, outputs=4, qk_matmul_output_mode=3)
    t.add("Attention", "lengths", FLOATS, [*heads, "-", "-", "-", lens], 24, outputs=4)
    t.add("Attention", "softcap", "fhb", heads, 23, softcap=2.5, outputs=4, qk_matmul_output_mode=1)
    t.add("Attention", "rank 3", FLOATS, ["2x7x60", "2x33x20", "2x33x34"], 23, outputs=4, **three)
    t.add("Attention", "special", FLOATS, ["2x6x7x19 special", *heads[1:]], 23, outputs=4, qk_matmul_output_mode=3)
    t.add("Attention", "wide", FLOATS, [f"{shape} wide" for shape in heads], 23, outputs=4, is_causal=1)
    t.add("Attention", "tiny", "fd", [f"{shape} tiny" for shape in heads], 23, outputs=4)
    t.add("Attention", "long", "fhb", ["1x2x65x64", "1x1x300x64", "1x1x300x64"], 23, outputs=4, is_causal=1)
    t.add("Attention", "one query", "fd", ["3x4x1x40", "3x4x130x40", "3x4x130x33"], 23, outputs=4)


def _einsums(t: _Table) -> None:
    both = FLOATS.replace("b", "") + WHOLE
    for name, equation, shapes in (
        ("product", "bij,bjk->bik", ["3x19x37 wide", "3x37x23 wide"]),
        ("heads", "bihd,bjhd->bhij", ["2x17x3x19", "2x9x3x19"]),
        ("transposed", "ji,kj->ki", ["33x18", "35x33"]),
        ("outer", "i,j->ij", ["37", "41"]),
        ("dot", "i,i", ["1001", "1001"]),
        ("sum", "ijk->j", ["5x37x9"]),
        ("diagonal", "iij->ji", ["19x19x5"]),
        ("trace", "...ii->...", ["3x17x17"]),
        ("ellipsis", "...ij,jk", ["3x2x5x19", "19x33"]),
        ("broadcast", "ij,jk->ik", ["9x1", "17x33"]),
        ("three", "ij,jk,kl->il", ["5x7", "7x9", "9x33"]),
        ("four", "a,ab,bc,c->", ["5", "5x7", "7x9", "9"]),
    ):
        t.add("Einsum", name, both, shapes, 12, equation=equation)
    t.add("Einsum", "special", "fdh", ["19x37 special", "37x33 special"], 12, equation="ij,jk")
    t.add("Einsum", "products special", "fdh", ["19x37 special", "37 special"], 12, equation="ij,j->ji")
    t.add("Einsum", "tiny", "fd", ["19x37 tiny", "33x37 tiny"], 12, equation="ij,kj->ik")


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    table = _Table()
    for part in (
        _products,
        _windows,
        _more_pools,
        _resizes,
        _norms,
        _softmaxes,
        _reductions,
        _scans,
        _recurrent,
        _quantizing,
        _integer_products,
        _one_input,
        _several_inputs,
        _attentions,
        _einsums,
    ):
        part(table)
    return table.cases
