"""The quantised operators on random nodes: ours beside ONNX Runtime. docs/oracles.md

python tools/ops_quantized.py --cases 2000 --jobs 2
python tools/ops_quantized.py --shrink QLinearConv/0/17 --kind 'w_zero_point per channel'
"""

import sys

from oracle.main import run

if __name__ == "__main__":
    sys.exit(run("ops_quantized", "quantized", __doc__.splitlines()[0]))
