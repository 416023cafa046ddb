"""The real networks of tests/test_models.py as a bundle: each whole, and cut after our last node that only our nodes, data
movement and single IEEE operations come before. The cut is what must have the same bits everywhere."""

import contextlib
import json
import shutil
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent.parent / "tests"))
import test_models as networks

#: Steady on one machine, not between machines: ONNX Runtime's kernels fuse or vectorise them differently.
NOT_EVERYWHERE = {"HardSigmoid", "LRN", "Resize"}


def write(folder: Path) -> None:
    """The bundle."""
    folder.mkdir(parents=True, exist_ok=True)
    arrays, entries = {}, []
    for name in (*networks.PACKAGES, *networks.MIXED):
        path, axes = networks.package_model(name)
        number = len(entries)
        feeds = networks.feeds(path, axes, 1)
        arrays |= {f"{number}/{key}": value for key, value in feeds.items()}
        part = folder / str(number)
        part.mkdir()
        files = {f"{name} (whole)": shutil.copy(path, part)}
        with contextlib.suppress(ValueError):  # no node of ours comes first
            cut, count = networks.claimed_part(path, part, networks.STEADY - NOT_EVERYWHERE)
            files[f"{name} ({count} nodes of ours)"] = cut
        for label, file in files.items():
            wanted = networks.input_names(file)
            entries.append(
                {
                    "name": label,
                    "model": str(Path(file).relative_to(folder)),
                    "feeds": {key: f"{number}/{key}" for key in feeds if key in wanted},
                    "bfloat16": [],
                    "bfloat16_outputs": False,
                    "faces": ["plugin", "custom_ops"],
                    "numpy": None,
                }
            )
    np.savez(folder / "inputs.npz", **arrays)
    (folder / "cases.json").write_text(json.dumps(entries), "utf-8")
