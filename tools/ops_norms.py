"""Reductions, softmaxes, normalizations, ArgMax, CumSum ... on random nodes: ours beside ONNX Runtime. docs/oracles.md

python tools/ops_norms.py --cases 2000 --jobs 2
python tools/ops_norms.py --shrink ReduceSum/0/1 --kind 'integer overflow'
"""

import sys

from oracle.main import run

if __name__ == "__main__":
    sys.exit(run("ops_norms", "norms", __doc__.splitlines()[0]))
