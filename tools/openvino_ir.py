"""Reads the Convolution and GroupConvolution layers of an OpenVINO IR (.xml and .bin, versions 10 and 11).

Nothing in the file is trusted: no document types and no entities, every attribute and number is checked, and what is wrong
is an IRError that names the layer and the reason.
"""

import itertools
import math
import re
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

import defusedxml.ElementTree
import numpy as np
from defusedxml.common import DefusedXmlException

TYPES = ("Convolution", "GroupConvolution")
_VERSIONS = ("10", "11")
_INTEGER = re.compile(r"-?[0-9]{1,18}", re.ASCII)
#: element type -> (stored as, stands for); bfloat16 is the upper half of a float32
_ELEMENTS = {
    "f64": (np.float64, np.float64),
    "f32": (np.float32, np.float32),
    "f16": (np.float16, np.float16),
    "bf16": (np.uint16, np.float32),
    "i16": (np.int16, np.int16),
    "u16": (np.uint16, np.uint16),
    "i8": (np.int8, np.int8),
    "u8": (np.uint8, np.uint8),
}
_PRECISIONS = {"FP64": "f64", "FP32": "f32", "FP16": "f16", "BF16": "bf16"}
#: conversions that keep every value
_WIDER = {
    "f64": ("f64",),
    "f32": ("f32", "f64"),
    "f16": ("f16", "f32", "f64"),
    "bf16": ("bf16", "f32", "f64"),
    "i16": ("f32", "f64"),
    "u16": ("f32", "f64"),
    "i8": ("f16", "bf16", "f32", "f64"),
    "u8": ("f16", "bf16", "f32", "f64"),
}


class IRError(Exception):
    """What is wrong with a file or a layer."""


@dataclass(frozen=True)
class Layer:
    """One convolution. ``weights`` is float64 for FP64 and float32 for every other precision, or None: not constant."""

    name: str
    type: str
    precision: str
    strides: list[int]
    pads_begin: list[int]
    pads_end: list[int]
    dilations: list[int]
    auto_pad: str | None
    input_shape: tuple[int, ...]
    weight_shape: tuple[int, ...]
    output_shape: tuple[int, ...]
    weights: np.ndarray | None
    source: str


@dataclass(frozen=True)
class Fault:
    """A layer that cannot be read, and why."""

    name: str
    type: str
    reason: str


def read(xml: Path, weights: Path) -> list[Layer | Fault]:
    """The convolutions of an IR in the order of the file, those in bodies of other layers included.

    Raises:
        IRError: the file as a whole cannot be used.
    """
    root = _parse(xml)
    if root.tag != "net":
        raise IRError(f"{xml.name}: the outermost element is {_printable(root.tag)}, expected net")
    if root.get("version") not in _VERSIONS:
        raise IRError(f"{xml.name}: IR version {_printable(str(root.get('version')))}, expected {' or '.join(_VERSIONS)}")
    found: list[Layer | Fault] = []
    for graph in root.iter():
        if graph.find("layers") is not None:
            found += _Graph(graph, weights).convolutions()
    return found


def _parse(path: Path) -> Element:
    try:
        return defusedxml.ElementTree.parse(path, forbid_dtd=True).getroot()
    except DefusedXmlException as error:
        raise IRError(f"{path.name}: {type(error).__name__}: document types and entities are refused") from error
    except (ParseError, ValueError, LookupError) as error:  # the latter two: encodings
        raise IRError(f"{path.name}: no XML: {error}") from error
    except OSError as error:
        raise IRError(f"{path.name}: {error.strerror or error}") from error


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)[:200]


def _integer(text: str | None, what: str) -> int:
    text = (text or "").strip()
    if not _INTEGER.fullmatch(text):
        raise IRError(f"{what} is {_printable(text)!r}, which is no integer of up to 18 digits")
    return int(text)


def _integers(text: str, what: str) -> list[int]:
    return [_integer(part, what) for part in text.split(",")] if text.strip() else []


def _attribute(element: Element | None, name: str, what: str = "data") -> str:
    if element is None:
        raise IRError(f"there is no {what} element")
    value = element.get(name)
    if value is None:
        raise IRError(f"{what} has no attribute {name}")
    return value


def _dims(port: Element, what: str) -> tuple[int, ...]:
    dims = [_integer(dim.text, f"a dimension of {what}") for dim in port.findall("dim")]
    for axis, size in enumerate(dims):
        if size == -1:
            raise IRError(f"{what} has a dynamic dimension (axis {axis}): give the model a fixed shape before saving it")
        if size < 0:
            raise IRError(f"{what} has the dimension {size} (axis {axis})")
    return tuple(dims)


def _ports(layer: Element, side: str, expected: int) -> list[Element]:
    ports = layer.findall(f"{side}/port")
    if len(ports) != expected:
        raise IRError(f"{len(ports)} {side} ports, expected {expected}")
    return ports


def _precision(port: Element, what: str) -> str:
    precision = port.get("precision")
    if precision is None:
        raise IRError(f"{what} has no attribute precision")
    return precision


class _Graph:
    """One list of layers and the edges between them."""

    def __init__(self, graph: Element, weights: Path) -> None:
        self.weights = weights
        self.layers: dict[str, Element] = {}
        for layer in graph.findall("layers/layer"):
            key = layer.get("id")
            if key is None:
                raise IRError(f"layer {_printable(layer.get('name', ''))!r}: no attribute id")
            if key in self.layers:
                raise IRError(f"two layers have the id {_printable(key)}")
            self.layers[key] = layer
        #: (layer, port) of an input -> (layer, port) of the output that feeds it
        self.feeds: dict[tuple[str, str], tuple[str, str]] = {}
        for edge in graph.findall("edges/edge"):
            ends = [edge.get(name) for name in ("from-layer", "from-port", "to-layer", "to-port")]
            if None in ends:
                raise IRError("an edge without from-layer, from-port, to-layer or to-port")
            start, out, end, into = (str(text) for text in ends)
            for key in (start, end):
                if key not in self.layers:
                    raise IRError(f"an edge names the layer {_printable(key)}, which does not exist")
            if (end, into) in self.feeds:
                raise IRError(f"two edges feed the port {_printable(into)} of layer {_printable(end)}")
            self.feeds[end, into] = start, out

    def convolutions(self) -> list[Layer | Fault]:
        found: list[Layer | Fault] = []
        for key, layer in self.layers.items():
            kind = layer.get("type", "")
            if kind not in TYPES:
                continue
            name = _printable(layer.get("name") or f"id {key}")
            try:
                found.append(self._convolution(name, kind, key, layer))
            except IRError as error:
                found.append(Fault(name, kind, str(error)))
        return found

    def _convolution(self, name: str, kind: str, key: str, layer: Element) -> Layer:
        if layer.get("version") != "opset1":
            raise IRError(f"version {_printable(str(layer.get('version')))}, expected opset1")
        data = layer.find("data")
        lists = {n: _integers(_attribute(data, n), n) for n in ("strides", "pads_begin", "pads_end", "dilations")}
        auto_pad = data.get("auto_pad")  # type: ignore[union-attr]
        inputs, (output,) = _ports(layer, "input", 2), _ports(layer, "output", 1)
        precision = _precision(output, "the output")
        if precision not in _PRECISIONS:
            raise IRError(f"the precision {_printable(precision)} is none of {', '.join(_PRECISIONS)}")
        for number, port in enumerate(inputs):
            if port.get("precision", precision) != precision:
                raise IRError(f"input {number} has the precision {_printable(_precision(port, ''))}, the output {precision}")
        shapes = [_dims(port, f"input {number}") for number, port in enumerate(inputs)]
        sources = [self._source(key, port, number, shapes[number]) for number, port in enumerate(inputs)]
        array, source = self._constant(sources[1], shapes[1], _PRECISIONS[precision])
        return Layer(
            name,
            kind,
            precision,
            **lists,
            auto_pad=auto_pad,
            input_shape=shapes[0],
            weight_shape=shapes[1],
            output_shape=_dims(output, "the output"),
            weights=array,
            source=source,
        )

    def _source(self, key: str, port: Element, number: int, shape: tuple[int, ...]) -> str:
        """The layer that feeds an input; the shapes at both ends must be the same."""
        start = self.feeds.get((key, str(port.get("id"))))
        if start is None:
            raise IRError(f"no edge feeds input {number}")
        out = self._output(*start)
        if (other := _dims(out, f"the output that feeds input {number}")) != shape:
            raise IRError(f"input {number} has the shape {list(shape)}, the output that feeds it {list(other)}")
        return start[0]

    def _output(self, key: str, port: str) -> Element:
        for out in self.layers[key].findall("output/port"):
            if out.get("id") == port:
                return out
        raise IRError(f"an edge comes from the port {_printable(port)} of layer {_printable(key)}, which does not exist")

    def _constant(self, key: str, shape: tuple[int, ...], wanted: str) -> tuple[np.ndarray | None, str]:
        """The weights and where they come from; (None, "drawn") when a layer other than Convert and Reshape makes them."""
        converts: list[str] = []
        seen = set()
        while (kind := self.layers[key].get("type")) in ("Convert", "Reshape"):
            layer = self.layers[key]
            if key in seen:
                raise IRError("the weights depend on themselves")
            seen.add(key)
            if kind == "Convert":
                converts.insert(0, _attribute(layer.find("data"), "destination_type", "data of the Convert of the weights"))
            first = layer.find("input/port")
            start = None if first is None else self.feeds.get((key, str(first.get("id"))))
            if start is None:
                raise IRError(f"no edge feeds the {kind} of the weights")
            key = start[0]
        if kind != "Const":
            return None, "drawn"
        array, element = self._read(self.layers[key])
        chain = [element, *converts]
        for before, after in itertools.pairwise(chain):
            if after not in _WIDER[before]:
                raise IRError(f"the weights are converted from {before} to {_printable(after)}, which may change their values")
        if chain[-1] != wanted:
            raise IRError(f"the weights are {chain[-1]}, the layer computes in {wanted}")
        if array.size != math.prod(shape):
            raise IRError(f"the weights are {array.size} elements, the shape of input 1 is {list(shape)}")
        real = np.float64 if wanted == "f64" else np.float32
        return array.reshape(shape).astype(real), " > ".join(chain)

    def _read(self, layer: Element) -> tuple[np.ndarray, str]:
        """The elements of a Const, and their type."""
        data, what = layer.find("data"), "data of the weights"
        element = _attribute(data, "element_type", what)
        if element not in _ELEMENTS:
            raise IRError(f"the weights have the element type {_printable(element)}, which is none of {', '.join(_ELEMENTS)}")
        shape = _integers(_attribute(data, "shape", what), "a dimension of the weights")
        offset = _integer(_attribute(data, "offset", what), "the offset of the weights")
        size = _integer(_attribute(data, "size", what), "the size of the weights")
        if offset < 0 or size < 0 or any(n < 0 for n in shape):
            raise IRError(f"the weights have the offset {offset}, size {size} and shape {shape}: none may be negative")
        stored, meant = (np.dtype(t) for t in _ELEMENTS[element])
        needed = math.prod(shape) * stored.itemsize
        if size != needed:
            raise IRError(f"the weights have {size} bytes, their shape {shape} and type {element} need {needed}")
        (output,) = _ports(layer, "output", 1)
        if list(_dims(output, "the output of the weights")) != shape:
            raise IRError(f"the weights have the shape {shape}, their output port another")
        try:
            length = self.weights.stat().st_size
            if offset + size > length:
                raise IRError(f"the weights lie outside {self.weights.name}: bytes {offset} to {offset + size} of {length}")
            array = np.fromfile(self.weights, stored.newbyteorder("<"), math.prod(shape), offset=offset)
        except OSError as error:
            raise IRError(f"{self.weights.name}: {error.strerror or error}") from error
        if element == "bf16":
            array = (array.astype(np.uint32) << 16).view(np.float32)
        return array.astype(meant), element
