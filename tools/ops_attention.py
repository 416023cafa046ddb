"""Attention and Einsum on random nodes: ours beside ONNX Runtime. docs/oracles.md

python tools/ops_attention.py --cases 2000 --jobs 2
python tools/ops_attention.py --shrink Attention/0/1 --kind 'steps in float16'
"""

import sys

from oracle.main import run

if __name__ == "__main__":
    sys.exit(run("ops_attention", "attention", __doc__.splitlines()[0]))
