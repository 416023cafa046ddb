"""LSTM, GRU and RNN on random nodes: ours beside ONNX Runtime. docs/oracles.md

python tools/ops_recurrent.py --cases 2000 --jobs 2
python tools/ops_recurrent.py --shrink LSTM/0/1 --kind 'beyond the range of a gate'
"""

import sys

from oracle.main import run

if __name__ == "__main__":
    sys.exit(run("ops_recurrent", "recurrent", __doc__.splitlines()[0]))
