"""The operators that the library serves, read from the table that it is compiled from (ops.def)."""

import re
from dataclasses import dataclass
from importlib.resources import files


@dataclass(frozen=True)
class Operator:
    """One row of the table: node versions ``since`` to ``until`` of an ONNX operator, and the types by constraint."""

    type: str
    since: int
    until: int
    phantom: int
    inputs: str
    outputs: str
    glue: str
    constraints: tuple[tuple[str, str], ...]

    @property
    def gaps(self) -> bool:
        """A node may leave out an input before its last one: the custom-op library then needs onnxruntime 1.18."""
        return any(letter.islower() for letter in self.inputs[:-1])


def _rows() -> list[Operator]:
    rows = []
    for line in (files(__package__) / "ops.def").read_text("utf-8").splitlines():
        if not line.startswith("OP("):
            continue
        head, *constraints = re.split(r",\s*\{", line.removeprefix("OP(").removesuffix(")"))
        name, since, until, phantom, inputs, outputs, glue = (part.strip().strip('"') for part in head.split(","))
        pairs = tuple(tuple(p.strip().strip('"') for p in c.rstrip("} ").split(",")) for c in constraints)
        rows.append(Operator(name, int(since), int(until), int(phantom), inputs, outputs, glue, pairs))
    return rows


#: The rows in the order of the table.
OPERATORS: list[Operator] = _rows()
#: Names of the operators.
TYPES: frozenset[str] = frozenset(row.type for row in OPERATORS)
