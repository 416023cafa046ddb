"""Node by node, how far ONNX Runtime's CPU provider is from our session (docs/receipts.md)."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from . import guarantee, islands, measure, models, receipts, traces, values
from .session import InferenceSession, default_face


@dataclass(frozen=True)
class Row:
    """An output of a node.

    Attributes:
        ours: the node runs on our kernel.
        ulp, scaled_error: of the node alone, with equal inputs; None where that cannot be tried, for the reason in ``why``.
        total_ulp, total_scaled_error: of the two whole runs.
        different: elements of the two whole runs with other bits, of ``elements``.
    """

    node: str
    operator: str
    output: str
    ours: bool
    ulp: float | None
    scaled_error: float | None
    total_ulp: float
    total_scaled_error: float
    different: int
    elements: int
    why: str = ""

    def as_dict(self) -> dict:
        """For JSON, which has no infinity: it is the text "inf"."""
        return {k: "inf" if isinstance(v, float) and math.isinf(v) else v for k, v in asdict(self).items()}


def between(got: Any, want: Any) -> tuple[float, float]:
    """(largest distance in ulp, scaled error of docs/exact-mode.md). Infinity: of another type or shape, or elements of which
    only one is a NaN or infinite. Two NaN are 0 apart. Integers count by their difference; what is no number, 0 or infinity."""
    if not isinstance(got, values.Tensor) or not isinstance(want, values.Tensor):
        return (0.0, 0.0) if values.sha256(got) == values.sha256(want) else (math.inf, math.inf)
    if (got.type, got.shape) != (want.type, want.shape):
        return math.inf, math.inf
    if got.sha256 == want.sha256:
        return 0.0, 0.0
    a, b = _numbers(got), _numbers(want)
    if a is None or b is None:
        return math.inf, math.inf
    if a.dtype.kind != "f":
        apart = max(abs(int(x) - int(y)) for x, y in zip(a[a != b].tolist(), b[a != b].tolist(), strict=True))
        return float(apart), apart / max(1.0, float(max(abs(int(b.max())), abs(int(b.min())))))
    ulp = _ulp(got, want, a, b)
    finite = np.isfinite(b)
    if (np.isfinite(a) != finite).any() or not np.array_equal(a[~finite], b[~finite], equal_nan=True):
        return ulp, math.inf
    x, y = a[finite].astype(np.float64), b[finite].astype(np.float64)
    if not x.size:
        return ulp, 0.0
    with np.errstate(over="ignore"):
        return ulp, float(np.abs(x - y).max() / max(1.0, np.abs(y).max()))


def _numbers(tensor: values.Tensor) -> np.ndarray | None:
    data = tensor.data
    if tensor.type == "bfloat16":
        return (data.astype(np.uint32) << 16).view(np.float32)
    if data.dtype.kind == "b":
        return data.astype(np.int64)
    return data if data.dtype.name == tensor.type and data.dtype.kind in "fiu" else None


def _ulp(got: values.Tensor, want: values.Tensor, a: np.ndarray, b: np.ndarray) -> float:
    """Steps between neighbouring numbers of the type; both zeros are one number."""
    nan = np.isnan(a) | np.isnan(b)
    if (np.isnan(a) != np.isnan(b)).any():
        return math.inf
    steps = [_steps(tensor.data)[~nan] for tensor in (got, want)]
    if not steps[0].size:
        return 0.0
    low, high = np.minimum(*steps), np.maximum(*steps)
    return float((high.view(np.uint64) - low.view(np.uint64)).max())


def _steps(data: np.ndarray) -> np.ndarray:
    size = data.dtype.itemsize
    bits = np.ascontiguousarray(data).view(f"i{size}").astype(np.int64)
    lowest = np.iinfo(f"i{size}").min
    return np.where(bits < 0, np.int64(lowest) - bits, bits)


def diff(
    model: Any,
    inputs: Mapping[str, Any] | str | Path | None = None,
    *,
    random: int | None = None,
    batch: int = 1,
    dims: Mapping[str, int] | None = None,
    mode: str = "exact",
    face: str | None = None,
    threads: int = 1,
) -> list[Row]:
    """Every output of every node in our session and on ONNX Runtime's CPU provider, largest difference first.

    A node alone is fed, in both, with what reached it in our session. The arguments are those of ``digest``.

    Raises:
        ImportError: the onnx package is missing.
        ValueError: the inputs are not those of the model, or the model cannot be read.
        Exception: whatever ``InferenceSession`` raises for the model.
    """
    guarantee.need_onnx("diff")
    face = face or default_face()

    def ours(changed: Any, options: ort.SessionOptions) -> Any:
        options.intra_op_num_threads = threads
        return InferenceSession(changed, options, mode=mode, face=face)

    def theirs(changed: Any, options: ort.SessionOptions) -> Any:
        options.intra_op_num_threads = threads
        return ort.InferenceSession(changed, options, providers=[measure.CPU])

    if not isinstance(model, bytes | bytearray) and not Path(model).is_file():
        raise ValueError(f"{model}: no file")
    feeds = receipts.feeds(ours(model, measure.options(threads)), inputs, receipts.drawing(random, batch, dims))

    def proto() -> Any:
        found = models.load(model)
        if found is None:
            raise ValueError("the onnx package cannot read the model")
        return models.inlined(found)

    mine, other = (traces.run(proto(), model, feeds, make) for make in (ours, theirs))
    known = dict(feeds) | {entry.output: value for entry, value in zip(mine.entries, mine.values, strict=True)}
    alone = proto()
    fed, why = islands.take_apart(alone, known)
    if alone.graph.node:
        given = {name: known[name] for name in fed}
        pair = [traces.run(islands.copied(alone), model, given, make) for make in (ours, theirs)]
        found = {
            entry.output.removeprefix(islands.PREFIX): between(second, first)
            for entry, first, second in zip(pair[0].entries, *(run.values for run in pair), strict=True)
        }
    else:
        found = {}
    rows = []
    for entry, first, second in zip(mine.entries, mine.values, other.values, strict=True):
        ulp, scaled = found.get(entry.output, (None, None))
        total = between(second, first)
        counts = _counts(first, second)
        reason = "" if ulp is not None else why.get(entry.output, "computed of constants or shapes alone")
        rows.append(
            Row(entry.node, entry.operator, entry.output, entry.node in mine.ours, ulp, scaled, *total, *counts, reason)
        )
    return sorted(rows, key=lambda row: (row.scaled_error or 0.0, row.total_scaled_error, row.total_ulp), reverse=True)


def _counts(first: Any, second: Any) -> tuple[int, int]:
    if not isinstance(first, values.Tensor) or not isinstance(second, values.Tensor):
        return int(values.sha256(first) != values.sha256(second)), 1
    size = int(first.data.size)
    if (first.type, first.shape) != (second.type, second.shape):
        return size, size
    if first.data.dtype.kind == "O":
        return int((first.data != second.data).sum()), size
    a, b = (np.ascontiguousarray(tensor.data).view(f"u{tensor.data.dtype.itemsize}") for tensor in (first, second))
    return int((a != b).sum()), size
