"""Files: rows (JSON Lines, the first line says what they are of) and recordings of ONNX Runtime's results (the same, xz)."""

import json
import lzma

from .cases import tensor_from_json
from .runners import Failure


class Stale(Exception):
    """A file that does not fit this run."""


def read_rows(path, header):
    """Rows of an earlier, interrupted run with the same header, by id. A line that was cut off is left out."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    if not lines:
        return {}
    if json.loads(lines[0]) != header:
        raise Stale(f"{path} is of another run: {lines[0]}")
    rows = {}
    for line in lines[1:]:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        rows[row["id"]] = row
    return rows


class Rows:
    """Writes rows as they come."""

    def __init__(self, path, header, known):
        path.parent.mkdir(parents=True, exist_ok=True)
        self.file = path.open("w", encoding="utf-8")
        for value in (header, *known.values()):
            self.add(value)

    def add(self, row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()


def write_recording(path, header, entries):
    """entries: (case id, digest of the case, a failure's fields or tensors as JSON)."""
    with lzma.open(path, "wt", preset=9) as file:
        file.write(json.dumps(header) + "\n")
        for name, digest, theirs in sorted(entries):
            file.write(json.dumps([name, digest, theirs]) + "\n")


def read_recording(path):
    """(header, {case id: (digest, result)})."""
    with lzma.open(path, "rt") as file:
        header, *entries = (json.loads(line) for line in file)
    return header, {name: (digest, _result(theirs)) for name, digest, theirs in entries}


def _result(theirs):
    return Failure(**theirs) if isinstance(theirs, dict) else tuple(tensor_from_json(t) for t in theirs)
