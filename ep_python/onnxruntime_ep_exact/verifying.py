"""Whether a run here has the bits of a receipt, and if not where they begin to differ (docs/receipts.md)."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from . import differences, guarantee, measure, traces, values
from .receipts import Receipt, about_model, about_outputs, feeds, load, made_with, traced_run
from .sealed import ReceiptError
from .semantics import SEMANTICS
from .session import InferenceSession, default_face


@dataclass(frozen=True)
class FirstDifference:
    """The first node of the two traces, in topological order, that has an output with other bits."""

    node: str
    operator: str
    output: str
    ulp: float | None = None
    scaled_error: float | None = None


@dataclass(frozen=True)
class Verification:
    """What ``verify`` found.

    Attributes:
        same: every output has the bits of the receipt.
        different: names of the outputs that have others.
        receipt: of this run, without audit.
        guaranteed: what the audit of the receipt said; None where it has none.
        first: with a trace, the first node that differs.
        compared: with a trace, how many values are in both traces, and how many differ.
        note: what has to be known about the traces.
    """

    same: bool
    different: tuple[str, ...]
    receipt: Receipt
    guaranteed: bool | None
    first: FirstDifference | None = None
    compared: tuple[int, int] | None = None
    note: str = ""

    def as_dict(self) -> dict:
        """For JSON."""
        return asdict(self) | {"receipt": self.receipt.as_dict()}


def verify(
    receipt: Any,
    model: Any = None,
    inputs: Mapping[str, Any] | str | Path | None = None,
    *,
    trace: Any = None,
    trace_values: Any = None,
    face: str | None = None,
    threads: int | None = None,
) -> Verification:
    """Runs the model of a receipt again and compares the bits. Needs the onnx package only with a trace.

    Args:
        receipt: a Receipt, or the path of one.
        model: path or bytes; else the receipt's, in this folder or the receipt's.
        inputs: as for ``digest``; else the receipt's .npz file, or drawn again.
        trace: the other side's trace: a path.
        trace_values: the other side's values of the trace: a path.
        face, threads: else those of the receipt.

    Raises:
        ReceiptError: the receipt or trace cannot be used, or model or inputs are missing or not the receipt's.
        Exception: whatever ``InferenceSession`` raises for the model.
    """
    folder = None if isinstance(receipt, Receipt) else Path(receipt).parent
    if folder is not None:
        receipt = load(receipt)
    if receipt.semantics != SEMANTICS:
        raise ReceiptError(f"the receipt has semantics version {receipt.semantics}, this library {SEMANTICS}")
    if trace is None and trace_values is not None:
        raise ReceiptError("values of a trace without the trace")
    if trace is not None:
        guarantee.need_onnx("a trace")
    other = None if trace is None else _other_trace(trace, receipt)
    model = _find(receipt.model["file"], folder, "model") if model is None else model
    about = _same_model(model, receipt)
    if face is None:
        face = receipt.made_with["face"] if receipt.made_with["face"] in measure.faces() else default_face()
    threads = receipt.made_with["threads"] if threads is None else threads
    session = InferenceSession(model, measure.options(threads), mode=receipt.mode, face=face)
    if inputs is None and receipt.drawn is None and receipt.inputs:
        inputs = _find(receipt.input_file, folder, "inputs")
    try:
        fed = feeds(session, inputs, receipt.drawn if inputs is None else None)
    except ValueError as error:
        raise ReceiptError(str(error)) from error
    entries = [values.describe(name, tensor) for name, tensor in fed.items()]
    if entries != receipt.inputs:
        wrong = [e["name"] for e in entries if e not in receipt.inputs] or [e["name"] for e in receipt.inputs]
        raise ReceiptError(f"inputs that are not the receipt's: {', '.join(wrong)}")
    outputs = about_outputs(session, fed)
    if [entry["name"] for entry in outputs] != [entry["name"] for entry in receipt.outputs]:
        raise ReceiptError("the receipt lists other outputs than the model has")
    different = tuple(have["name"] for have, want in zip(outputs, receipt.outputs, strict=True) if have != want)
    drawn, file = (receipt.drawn, None) if inputs is None else (None, str(inputs) if isinstance(inputs, str | Path) else None)
    made = Receipt(SEMANTICS, receipt.mode, about, entries, drawn, file, outputs, None, None, made_with(face, threads))
    promised = None if receipt.audit is None else receipt.audit["guaranteed"]
    if other is None:
        return Verification(not different, different, made, promised)
    wanted = [entry["sha256"] for entry in outputs]
    traced, here = traced_run(model, fed, wanted, receipt.mode, face, threads, about["sha256"])
    found = traces.compare(here, other)
    first = None if found.first is None else _first(found.first, traced, here, other, trace_values)
    compared = found.common, found.different
    return Verification(not different, different, made, promised, first, compared, _note(here, other))


def _find(name: str | None, folder: Path | None, what: str) -> str:
    if name is None:
        raise ReceiptError(f"the receipt names no file for the {what}: give it")
    places = [Path(name)] + ([folder / name, folder / Path(name).name] if folder is not None else [])
    for place in places:
        if place.is_file():
            return str(place)
    raise ReceiptError(f"the {what} {name} is neither here nor beside the receipt: give it")


def _same_model(model: Any, receipt: Receipt) -> dict:
    try:
        about = about_model(model, [entry["location"] for entry in receipt.model["external"]])
    except OSError as error:
        raise ReceiptError(f"{error.filename}: {error.strerror}") from error
    for have, want in ((about, receipt.model), *zip(about["external"], receipt.model["external"], strict=True)):
        if have["sha256"] != want["sha256"]:
            name = have.get("location", have.get("file")) or "the model"
            raise ReceiptError(f"{name} is not the receipt's: SHA-256 {have['sha256']}, not {want['sha256']}")
    return about


def _other_trace(path: Any, receipt: Receipt) -> traces.Trace:
    other = traces.load(path)
    if other.semantics != SEMANTICS:
        raise ReceiptError(f"{path}: the trace has semantics version {other.semantics}, this library {SEMANTICS}")
    if (other.model, other.mode, other.inputs) != (receipt.model["sha256"], receipt.mode, receipt.inputs):
        raise ReceiptError(f"{path}: the trace is of another model, mode or input than the receipt")
    return other


def _note(here: traces.Trace, there: traces.Trace) -> str:
    notes = []
    if here.graph != there.graph:
        notes.append(f"the graphs traced are {here.graph} here and {there.graph} there: only equal names are compared")
    if not (here.faithful and there.faithful):
        notes.append("a trace changed the outputs: the model has nodes that are not exact")
    return "; ".join(notes)


def _first(entry: traces.Value, traced: Any, here: Any, there: Any, trace_values: Any) -> FirstDifference:
    ulp = scaled = None
    if trace_values is not None:
        number, other = next((n, e) for n, e in enumerate(there.values) if e.output == entry.output)
        value = traces.load_value(trace_values, number, other)
        if value is not None:
            ulp, scaled = differences.between(traced.values[here.values.index(entry)], value)
    return FirstDifference(entry.node, entry.operator, entry.output, ulp, scaled)
