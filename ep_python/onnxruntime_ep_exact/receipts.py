"""Receipts: what went into a run and what came out, as SHA-256 (docs/receipts.md)."""

import hashlib
import json
import math
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from . import external, guarantee, inputs, measure, models, sealed, traces, values
from .recording import Recording
from .sealed import ReceiptError
from .semantics import SEMANTICS
from .session import InferenceSession, default_face

FORMAT = "ort-exact receipt 1"
#: Elements of the largest input that is drawn.
MOST_DRAWN = 1 << 27


@dataclass(frozen=True)
class Receipt:
    """A run.

    Attributes:
        semantics: the version of the bits.
        mode: ``"exact"`` or ``"fast"``.
        model: file (None: bytes), sha256, and external, a list of location and sha256.
        inputs: an entry each: name, type, shape, sha256.
        drawn: seed, batch and dims of inputs that were drawn; None for inputs that were given.
        input_file: the .npz file of inputs that were given, where there was one.
        outputs: as inputs.
        audit: verdict, guaranteed and counts.
        trace: sha256, graph and faithful of the trace that was made with it, or None.
        made_with: versions, face, threads, instruction set and processor. Nothing of it may matter.
    """

    semantics: int
    mode: str
    model: dict
    inputs: list[dict]
    drawn: dict | None
    input_file: str | None
    outputs: list[dict]
    audit: dict | None
    trace: dict | None
    made_with: dict

    @property
    def result(self) -> str:
        """One SHA-256 for what must be the same everywhere: semantics, mode, model, inputs and outputs."""
        model = {"sha256": self.model["sha256"], "external": self.model["external"]}
        same = {"semantics": self.semantics, "mode": self.mode, "model": model, "inputs": self.inputs, "outputs": self.outputs}
        return hashlib.sha256(sealed.canonical(same)).hexdigest()

    def as_dict(self) -> dict:
        """For JSON, with its checksum."""
        return sealed.seal({"format": FORMAT, "result": self.result} | asdict(self))

    def save(self, path: Any) -> None:
        """Writes it as JSON."""
        Path(path).write_text(json.dumps(self.as_dict(), indent=1) + "\n", "utf-8")


def load(path: Any) -> Receipt:
    """What ``save`` wrote.

    Raises:
        ReceiptError: it is no receipt, or was changed.
    """
    return _receipt(sealed.read(path, FORMAT, "receipt"), str(path))


def _receipt(data: dict, place: str) -> Receipt:
    try:
        result = data.pop("result")
        made = Receipt(**data)
        _check(made)
        if made.result != result:
            raise ReceiptError(f"{place}: its result is not that of what it lists")
        return made
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        if isinstance(error, ReceiptError):
            raise
        raise ReceiptError(f"{place}: not a receipt of this version: {error}") from error


def _check(made: Receipt) -> None:
    """Raises some error where a part that is used has not the form that it should have."""
    for entry in (*made.inputs, *made.outputs):
        if not isinstance(entry["name"], str) or not isinstance(entry["type"], str):
            raise TypeError("a name or type is no text")
        bytes.fromhex(entry["sha256"])
        [int(size) for size in entry["shape"] or ()]
    for entry in made.model["external"]:
        external.check_location(entry["location"])
    for name in (made.model["file"], made.input_file):
        if not isinstance(name, str | None):
            raise TypeError("the name of a file is no text")
    if made.drawn is not None:
        numbers = made.drawn["seed"], made.drawn["batch"], *made.drawn["dims"].values()
        if not all(isinstance(number, int) for number in numbers):
            raise TypeError("a size or the seed is no number")
    measure.options(made.made_with["threads"])
    if not isinstance(made.made_with["face"], str):
        raise TypeError("the face is no text")
    if made.audit is not None and not isinstance(made.audit["guaranteed"], bool):
        raise TypeError("guaranteed is no truth value")


# ---- making ----


def digest(
    model: Any,
    inputs: Mapping[str, Any] | str | Path | None = None,
    *,
    random: int | None = None,
    batch: int = 1,
    dims: Mapping[str, int] | None = None,
    mode: str = "exact",
    face: str | None = None,
    threads: int = 1,
    trace: Any = None,
    trace_values: Any = None,
) -> Receipt:
    """Runs a model once and tells what went in and what came out.

    Args:
        model: path or bytes.
        inputs: an array for every input of the model, or the path of an .npz file with them.
        random: the seed of inputs that are drawn, instead of ``inputs``.
        batch, dims: sizes of the drawn inputs' open axes (``inputs.make``).
        mode, face: as for ``InferenceSession``.
        threads: intra-op threads; 0: onnxruntime's choice.
        trace: a file for the SHA-256 of every intermediate value.
        trace_values: an .npz file for the values themselves.

    Raises:
        ImportError: the onnx package is missing.
        ValueError: the inputs are not those of the model, or nothing can be drawn for them.
        Exception: whatever ``InferenceSession`` raises for the model.
    """
    guarantee.need_onnx("digest")
    face = face or default_face()
    if not isinstance(model, bytes | bytearray) and not Path(model).is_file():
        raise ValueError(f"{model}: no file")
    proto = models.load(model)
    if proto is None:
        raise ValueError("the onnx package cannot read the model")
    about = about_model(model, external.locations(proto))
    options = measure.options(threads)
    with Recording(options) as record:
        session = InferenceSession(model, options, mode=mode, face=face)
    report = guarantee.report(record, session, options, model, mode, face)
    drawn = drawing(random, batch, dims)
    fed = feeds(session, inputs, drawn)
    outputs = about_outputs(session, fed)
    traced = None
    if trace or trace_values:
        wanted = [entry["sha256"] for entry in outputs]
        found = traced_run(model, fed, wanted, mode, face, threads, about["sha256"])
        traced = found[1].as_dict()
        if trace:
            found[1].save(trace)
        if trace_values:
            traces.save_values(trace_values, found[0])
        traced = {name: traced[name] for name in ("sha256", "graph", "faithful")}
    return Receipt(
        SEMANTICS,
        mode,
        about,
        [values.describe(name, tensor) for name, tensor in fed.items()],
        drawn,
        str(inputs) if isinstance(inputs, str | Path) else None,
        outputs,
        {"verdict": report.verdict, "guaranteed": report.guaranteed, "counts": report.counts},
        traced,
        made_with(face, threads),
    )


def about_model(model: Any, names: list[str]) -> dict:
    """The receipt's entry."""
    if isinstance(model, bytes | bytearray):
        if names:
            raise ValueError("a model with external data has to be given by its path")
        return {"file": None, "sha256": hashlib.sha256(model).hexdigest(), "external": []}
    rest = [{"location": name, "sha256": external.file_sha256(Path(model).parent / name)} for name in names]
    return {"file": str(model), "sha256": external.file_sha256(model), "external": rest}


def drawing(seed: int | None, batch: int, dims: Mapping[str, int] | None) -> dict | None:
    """How inputs are drawn; None for no seed: they are given."""
    return None if seed is None else {"seed": seed, "batch": batch, "dims": dict(dims or {})}


def feeds(session: Any, given: Any, drawn: dict | None) -> dict[str, values.Tensor]:
    """The inputs in the model's order."""
    infos = session.get_inputs()
    if drawn is not None:
        if given is not None:
            raise ValueError("inputs are either given or drawn")
        dims = drawn["dims"]
        size = max((math.prod(_sizes(info, dims, drawn["batch"])) for info in infos), default=0)
        if drawn["seed"] < 0 or drawn["batch"] < 1 or any(dim < 0 for dim in dims.values()):
            raise ValueError("the seed and sizes must not be negative, and the batch at least 1")
        if size > MOST_DRAWN:
            raise ValueError(f"an input of {size} elements: at most {MOST_DRAWN} are drawn")
        given = inputs.make(infos, dims, drawn["batch"], drawn["seed"])
    elif isinstance(given, str | Path):
        given = _arrays(given)
    given = {name: np.asarray(value) for name, value in (given or {}).items()}
    need, optional = {info.name: info.type for info in infos}, {i.name: i.type for i in session.get_overridable_initializers()}
    missing, unknown = sorted(need.keys() - given.keys()), sorted(given.keys() - need.keys() - optional.keys())
    if missing or unknown:
        parts = [f"{what} {', '.join(names)}" for what, names in (("missing are", missing), ("unknown are", unknown)) if names]
        raise ValueError(f"the inputs of the model are {', '.join(need) or 'none'}; {' and '.join(parts)}")
    return {name: values.given(kind, name, given[name]) for name, kind in (need | optional).items() if name in given}


def _sizes(info: Any, dims: Mapping[str, int], batch: int) -> list[int]:
    """No smaller than what ``inputs.make`` draws."""
    return [
        size if isinstance(size, int) and size >= 0 else dims.get(size, dims.get(f"{info.name}:{axis}", max(64, batch)))
        for axis, size in enumerate(info.shape)
    ]


def _arrays(path: Any) -> dict[str, np.ndarray]:
    try:
        data = np.load(path, allow_pickle=False)
        if isinstance(data, np.ndarray):
            raise ValueError("it holds one array, not a named one for each input")
        with data:
            return {name: data[name] for name in data.files}
    except Exception as error:  # zipfile, zlib and NumPy raise many types
        raise ValueError(f"{path}: not an .npz file of inputs: {error}") from error


def about_outputs(session: Any, feeds: Mapping[str, values.Tensor]) -> list[dict]:
    """Runs the session; the receipt's entries."""
    names = [info.name for info in session.get_outputs()]
    found = values.run(session, names, feeds)
    return [values.describe(name, value) for name, value in zip(names, found, strict=True)]


def traced_run(model: Any, feeds: Mapping, wanted: list[str], mode: str, face: str, threads: int, sha256: str) -> tuple:
    """(the traced run, its Trace)"""
    traced, faithful = traces.trace(model, feeds, wanted, mode, face, threads)
    entries = [values.describe(name, tensor) for name, tensor in feeds.items()]
    return traced, traces.Trace(SEMANTICS, mode, sha256, entries, traced.graph, faithful, traced.entries)


def made_with(face: str, threads: int) -> dict:
    """The receipt's entry."""
    try:
        from . import kernels

        isa = kernels.isa()
    except ImportError:  # without cffi
        isa = "unknown"
    try:
        package = version("onnxruntime-ep-exact")
    except PackageNotFoundError:
        package = "unknown"
    return {
        "onnxruntime-ep-exact": package,
        "onnxruntime": ort.__version__,
        "numpy": np.__version__,
        "face": face,
        "threads": threads,
        "isa": isa,
        "architecture": platform.machine(),
        "system": platform.system(),
    }
