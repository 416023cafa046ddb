"""Differential oracles: random nodes on ONNX Runtime, on our faces and on the reference. docs/oracles.md

draw.py          randomness that is the same with every version of Python and NumPy
cases.py         a case: one node and its inputs
generators_*.py  random cases, one function per operator or family
registry.py      THE table: operator -> generator, function of the NumPy face, bound of the rounding error
bounds.py        how far two right results of a case may lie apart
kinds*.py        the documented reasons for a disagreement
runners.py       the five ways to run a case
compare.py       one case: run, compare, explain -> a row
wire.py worker.py ort_child.py    processes that may crash
store.py         rows, recordings
shrink.py        the smallest case with the same disagreement
report.py main.py  summary, command line
"""

import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
for _folder in (ROOT / "tests", ROOT / "tools"):  # the reference, and what the tests share
    if str(_folder) not in sys.path:
        sys.path.insert(0, str(_folder))
