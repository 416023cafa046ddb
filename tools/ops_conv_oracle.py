"""Conv, ConvTranspose, the pools, BatchNormalization and Resize on random nodes: ours beside ONNX Runtime. docs/oracles.md

python tools/ops_conv_oracle.py --cases 2000 --jobs 2
python tools/ops_conv_oracle.py --shrink MaxPool/0/17 --kind 'NaN in a maximum'
"""

import sys

from oracle.main import run

if __name__ == "__main__":
    sys.exit(run("ops_conv_oracle", "conv", __doc__.splitlines()[0]))
