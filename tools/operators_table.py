"""Writes docs/operators.md from the operator table; with --check says whether it is up to date."""

import argparse
import sys
from pathlib import Path

from onnxruntime_ep_exact.operators import OPERATORS

TYPE_NAMES = {
    "FLOATS": "float32, float64, float16, bfloat16",
    "BYTES": "int8, uint8",
    "WHOLE": "int32, int64, uint32, uint64",
    "SHORTS": "int16, uint16",
    "SIGNED": "int8, int16, int32, int64",
    "AXIS": "int32, int64",
    "TRUTH": "bool",
    "SINGLE": "float32",
    "SCALES": "float32, float16, bfloat16",
    "SUMS": "int32",
    "INDEX": "int64",
    "UP_TO_SINGLE": "float32, float16, bfloat16",
    "LENGTHS": "int32",
}
_PATH = Path(__file__).parent.parent / "docs" / "operators.md"


def text() -> str:
    """The page."""
    lines = [
        "# Operators",
        "",
        "Made from provider/ops.def by `python tools/operators_table.py`. `node versions`: revisions of the ONNX operator",
        "that the plugin claims; models of every opset from 7 on whose nodes have such a revision are served. `from opset`:",
        "the oldest model opset in which the custom-op library overrides the operator, `plugin` where it never does; Softmax",
        "and its kin below opset 14 need the option `opset` ([softmax.md](softmax.md)), which `InferenceSession` sets.",
        "",
        "| operator | node versions | from opset | types | page |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in OPERATORS:
        types = "; ".join(
            f"{name}: " + ", ".join(TYPE_NAMES[part.strip()] for part in names.split("|")) for name, names in row.constraints
        )
        oldest = max(7, row.phantom) if row.phantom else "plugin"
        lines.append(f"| {row.type} | {row.since} to {row.until} | {oldest} | {types} | [{row.glue}.md]({row.glue}.md) |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    if parser.parse_args().check:
        sys.exit(0 if _PATH.read_text("utf-8") == text() else "docs/operators.md is not what ops.def says")
    _PATH.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
