"""Elementwise operators on random nodes: ours beside ONNX Runtime. docs/oracles.md

python tools/ops_pointwise.py --cases 4000 --jobs 2
python tools/ops_pointwise.py --shrink Cast/0/1 --kind 'Cast out of range'
"""

import sys

from oracle.main import run

if __name__ == "__main__":
    sys.exit(run("ops_pointwise", "pointwise", __doc__.splitlines()[0]))
