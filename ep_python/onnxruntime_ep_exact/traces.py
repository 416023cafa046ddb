"""Every intermediate value of a run, and the first node that differs between two runs (docs/receipts.md)."""

import json
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from . import external, guarantee, measure, models, sealed, values
from .recording import Recording
from .session import InferenceSession

FORMAT = "ort-exact trace 1"
MODEL, OPTIMIZED = "model", "optimized"


@dataclass(frozen=True)
class Value:
    """An output of a node."""

    node: str
    operator: str
    output: str
    type: str
    shape: list[int] | None
    sha256: str


@dataclass(frozen=True)
class Trace:
    """The outputs of every node of a graph, in topological order.

    Attributes:
        model: SHA-256 of the model, as in the receipt.
        inputs: the entries of the receipt.
        graph: ``"model"``, or ``"optimized"`` where ONNX Runtime's optimizer gives other bits to the model when all its values
            are outputs, and the optimised graph was traced instead.
        faithful: the outputs have the bits of the run without a trace.
    """

    semantics: int
    mode: str
    model: str
    inputs: list[dict]
    graph: str
    faithful: bool
    values: list[Value]

    def as_dict(self) -> dict:
        """For JSON, with its checksum."""
        return sealed.seal({"format": FORMAT} | asdict(self))

    def save(self, path: Any) -> None:
        """Writes it as JSON."""
        Path(path).write_text(json.dumps(self.as_dict(), indent=0) + "\n", "utf-8")


def load(path: Any) -> Trace:
    """What ``save`` wrote.

    Raises:
        sealed.ReceiptError: it is no trace, or was changed.
    """
    data = sealed.read(path, FORMAT, "trace")
    try:
        rows = [Value(**row) for row in data.pop("values")]
        return Trace(**data, values=rows)
    except (TypeError, KeyError, AttributeError) as error:
        raise sealed.ReceiptError(f"{path}: not a trace of this version: {error}") from error


@dataclass(frozen=True)
class Traced:
    """A run: the outputs of the model, and one entry with its value for every output of a node."""

    graph: str
    outputs: list[Any]
    entries: list[Value]
    values: list[Any]
    nodes: list[Any]
    ours: set[str]


def exposed(proto: Any) -> tuple[list[Any], list[str]]:
    """Makes every output of a node an output of the ModelProto, and gives every node a name. Returns the nodes and the names
    of the outputs that the graph had. Constants are left out: they are the model's. Bodies of nodes are not entered."""
    graph = proto.graph
    before = [output.name for output in graph.output]
    taken = {node.name for node in graph.node} | {""}
    for number, node in enumerate(graph.node):
        if not node.name:
            name = node.output[0] if node.output else f"node {number}"
            node.name = name if name not in taken else f"{name} ({number})"
            taken.add(node.name)
    nodes = [node for node in graph.node if node.op_type != "Constant"]
    have = set(before)
    for node in nodes:
        for name in node.output:
            if name and name not in have:
                graph.output.add().name = name
                have.add(name)
    return nodes, before


def run(proto: Any, source: Any, feeds: Mapping[str, Any], make: Any, graph: str = MODEL) -> Traced:
    """Runs a ModelProto, which is changed, with all of its values as outputs. ``make(model, options)`` makes the session."""
    nodes, outputs = exposed(proto)
    options = measure.options(1)
    options.log_severity_level = 3  # its warnings are about a graph that nobody wrote
    with tempfile.TemporaryDirectory() as folder:
        model = external.changed(proto, source, folder)
        with Recording(options) as record:
            session = make(model, options)
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, values.run(session, names, feeds), strict=True))
    ours = {node.name for node in nodes if record.kernels[guarantee.key(node)]}
    entries = []
    for node in nodes:
        for name in filter(None, node.output):
            about = values.describe(name, found[name])
            entries.append(Value(node.name, guarantee.operator(node), name, about["type"], about["shape"], about["sha256"]))
    return Traced(graph, [found[name] for name in outputs], entries, [found[entry.output] for entry in entries], nodes, ours)


def trace(
    model: Any, feeds: Mapping[str, Any], wanted: Sequence[str], mode: str, face: str, threads: int
) -> tuple[Traced, bool]:
    """A traced run whose outputs have the SHA-256 that are wanted, and whether they do. The optimised graph is traced where
    the model itself gives others: with every value an output, ONNX Runtime may leave nodes apart that it fuses otherwise."""

    def make(changed: Any, options: ort.SessionOptions) -> Any:
        options.intra_op_num_threads = threads
        return InferenceSession(changed, options, mode=mode, face=face)

    def unoptimized(changed: Any, options: ort.SessionOptions) -> Any:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        return make(changed, options)

    first = run(models.inlined(models.load(model)), model, feeds, make)
    if [values.sha256(value) for value in first.outputs] == list(wanted):
        return first, True
    with Recording(measure.options(threads)) as record:
        InferenceSession(model, record.options, mode=mode, face=face)
    second = run(record.graph, model, feeds, unoptimized, OPTIMIZED)
    if [values.sha256(value) for value in second.outputs] == list(wanted):
        return second, True
    return first, False


# ---- values in a file ----


def save_values(path: Any, traced: Traced) -> None:
    """Every tensor into an .npz file, under its number in the trace. Strings, sequences and maps are left out."""
    arrays = {
        str(number): value.data
        for number, value in enumerate(traced.values)
        if isinstance(value, values.Tensor) and value.data.dtype.kind != "O"
    }
    with open(path, "wb") as file:  # savez appends .npz to a name without it
        np.savez(file, **arrays)


def load_value(path: Any, number: int, entry: Value) -> Any:
    """The value of an entry, None where the file does not have it.

    Raises:
        sealed.ReceiptError: the file is of another trace.
    """
    try:
        with np.load(path, allow_pickle=False) as data:
            if str(number) not in data.files:
                return None
            value = values.Tensor(entry.type, tuple(entry.shape or ()), data[str(number)])
    except Exception as error:  # zipfile, zlib and NumPy raise many types
        raise sealed.ReceiptError(f"{path}: not an .npz file of values: {error}") from error
    if value.sha256 != entry.sha256:
        raise sealed.ReceiptError(f"{path}: its values are not those of the trace")
    return value


# ---- comparison ----


@dataclass(frozen=True)
class Comparison:
    """Two traces: the first entry that differs (None: none), how many differ, and how many are in both."""

    first: Value | None
    different: int
    common: int


def compare(here: Trace, there: Trace) -> Comparison:
    """By the names of the outputs; the order is that of ``here``."""
    others = {entry.output: entry for entry in there.values}
    pairs = [(entry, others[entry.output]) for entry in here.values if entry.output in others]
    different = [entry for entry, other in pairs if _key(entry) != _key(other)]
    return Comparison(different[0] if different else None, len(different), len(pairs))


def _key(entry: Value) -> tuple:
    return entry.type, entry.shape, entry.sha256
