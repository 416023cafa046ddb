"""What the probe scripts share: one node on ONNX Runtime's CPU provider and on our kernels, and the table.

Our results are compared with the reference, bit for bit; a difference ends the script with an error."""

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent))

from oracle.cases import Case
from oracle.compare import same_bits
from oracle.runners import Failure, Ort, run_numpy, run_reference
from rich.console import Console
from rich.markup import escape
from rich.table import Table

__all__ = ["Probe", "equal", "main", "positions", "text"]


class Probe:
    """Runs nodes; `agree` and `asked` count them."""

    def __init__(self, python: str | None) -> None:
        self.ort = Ort(python)
        self.agree = self.asked = 0

    def ask(self, operator: str, inputs: list, opset: int = 13, outputs: int = 1, **attributes) -> tuple:
        """(ONNX Runtime's outputs, ours) of a node, each a tuple of arrays, or a Failure."""
        case = Case(
            "probe",
            operator,
            opset,
            [None if a is None else np.asarray(a) for a in inputs],
            attributes,
            outputs,
            optimize=False,
        )
        theirs, ours, want = self.ort.run(case), run_numpy(case), run_reference(case)
        if isinstance(want, Failure) != isinstance(ours, Failure) or not (isinstance(want, Failure) or same_bits(ours, want)):
            raise SystemExit(f"{operator} {attributes}: ours {ours}, the reference {want}")
        self.asked += 1
        self.agree += equal(theirs, ours)
        return theirs, ours


def equal(theirs: tuple | Failure, ours: tuple | Failure) -> bool:
    """The same values; NaNs are equal, a refusal agrees with an error."""
    if isinstance(theirs, Failure) or isinstance(ours, Failure):
        return isinstance(theirs, Failure) and isinstance(ours, Failure)
    return all(np.array_equal(a, b, equal_nan=a.dtype.kind == "f") for a, b in zip(theirs, ours, strict=True))


def text(result: tuple | Failure) -> str:
    """The first output for a table."""
    if isinstance(result, Failure):
        return result.kind
    values = [f"{v:g}" for v in result[0].ravel().tolist()]
    return values[0] if len(values) == 1 else "[" + ", ".join(values) + "]"


def positions(numbers: list[int]) -> str:
    """A list of positions, for a table."""
    return ", ".join(map(str, numbers)) or "none"


def main(description: str, headings: tuple[str, ...], rows: Callable[[Probe], list]) -> None:
    """Prints the table of a probe."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--ort-python", metavar="PATH", help="an interpreter whose onnxruntime is probed")
    probe = Probe(parser.parse_args().ort_python)
    about = probe.ort.about
    table = Table(title=f"{description}\nonnxruntime {about['onnxruntime']}, {about['machine']} {about['processor']}")
    for heading in headings:
        table.add_column(heading)
    for row in rows(probe):
        table.add_row(*(escape(str(cell)) for cell in row))
    console = Console(width=None if sys.stdout.isatty() else 140)
    console.print(table)
    console.print(f"agree: {probe.agree} of {probe.asked}")
