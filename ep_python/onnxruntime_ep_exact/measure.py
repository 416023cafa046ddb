"""Runs a model in many settings: who ran each node, SHA-256 of the outputs, time ratios."""

import hashlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime as ort

from .session import FACES, InferenceSession, default_face

CPU = "CPUExecutionProvider"
MOST_THREADS = 1024


@dataclass(frozen=True)
class Run:
    """One run: ``face`` is ``"plugin"``, ``"custom_ops"`` or ``"cpu"`` (onnxruntime's own), ``isa`` our variant."""

    face: str
    isa: str
    threads: int
    batch: int
    sha256: str


def options(threads: int) -> ort.SessionOptions:
    """Session options with so many intra-op threads; 0: onnxruntime's choice.

    Raises:
        ValueError: a negative number, or more than ``MOST_THREADS``.
    """
    if not 0 <= threads <= MOST_THREADS:
        raise ValueError(f"{threads} threads: at least 0 and at most {MOST_THREADS}")
    so = ort.SessionOptions()
    so.intra_op_num_threads = threads
    return so


def session(model: Any, face: str, mode: str = "exact", so: ort.SessionOptions | None = None) -> ort.InferenceSession:
    """A session on a face of ours, or on onnxruntime's CPU provider for ``"cpu"``."""
    if face == "cpu":
        return ort.InferenceSession(model, so, providers=[CPU])
    return InferenceSession(model, so, mode=mode, face=face)


def faces() -> list[str]:
    """The faces that the installed onnxruntime can use."""
    return list(FACES) if default_face() == "plugin" else ["custom_ops"]


def digest(outputs: Sequence[Any], batch: int) -> str:
    """SHA-256 over type, shape and bytes of every output; of its first row alone where the first axis is the batch."""
    total = hashlib.sha256()
    for value in outputs:
        if not isinstance(value, np.ndarray):
            total.update(repr(value).encode())
            continue
        if value.ndim and value.shape[0] == batch:
            value = value[:1]
        total.update(f"{value.dtype.name}{list(value.shape)}".encode())
        total.update(np.ascontiguousarray(value).tobytes())
    return total.hexdigest()


def placement(model: Any, feeds: Mapping[str, np.ndarray], face: str, mode: str = "exact") -> list[tuple[str, str, str]]:
    """(node, operator, provider) of every node that ran, from onnxruntime's profile."""
    with tempfile.TemporaryDirectory() as folder:
        so = options(1)
        so.enable_profiling = True
        so.profile_file_prefix = str(Path(folder) / "profile")
        s = session(model, face, mode, so)
        s.run(None, dict(feeds))
        events = json.loads(Path(s.end_profiling()).read_text("utf-8"))
    nodes = {}
    for event in events:
        args = event.get("args", {})
        if event.get("cat") == "Node" and event["name"].endswith("_kernel_time"):
            nodes.setdefault(event["name"].removesuffix("_kernel_time"), (args["op_name"], args["provider"]))
    return [(name, op, provider) for name, (op, provider) in nodes.items()]


def digests(
    model: Any, feeds: Mapping[int, Mapping[str, np.ndarray]], face: str, mode: str, threads: Sequence[int], isa: str
) -> list[Run]:
    """One run for each number of threads and each batch size (the keys of ``feeds``), in this process."""
    runs = []
    for count in threads:
        s = session(model, face, mode, options(count))
        runs += [Run(face, isa, count, batch, digest(s.run(None, dict(f)), batch)) for batch, f in feeds.items()]
    return runs


def digests_of_variants(model_path: str, feeds_path: str, mode: str, threads: Sequence[int], isas: Sequence[str]) -> list[Run]:
    """The same on every face and instruction-set variant, each variant in a process of its own."""
    runs = []
    for isa in isas:
        job = json.dumps({"model": model_path, "feeds": feeds_path, "mode": mode, "threads": list(threads), "isa": isa})
        done = subprocess.run(
            [sys.executable, "-m", __spec__.name, job],
            env={**os.environ, "EXACT_ISA": isa},
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"the run on variant {isa} failed:\n{done.stderr[-2000:]}")
        runs += [Run(**row) for row in json.loads(done.stdout.splitlines()[-1])]
    return runs


def save_feeds(path: str, feeds: Mapping[int, Mapping[str, np.ndarray]]) -> None:
    """Writes the inputs of every batch size into one .npz file."""
    np.savez(path, **{f"{batch}/{name}": value for batch, f in feeds.items() for name, value in f.items()})


def load_feeds(path: str) -> dict[int, dict[str, np.ndarray]]:
    """What ``save_feeds`` wrote."""
    feeds: dict[int, dict[str, np.ndarray]] = {}
    with np.load(path) as data:
        for key in data.files:
            batch, name = key.split("/", 1)
            feeds.setdefault(int(batch), {})[name] = data[key]
    return feeds


def ratio(model: Any, feeds: Mapping[str, np.ndarray], face: str, mode: str, threads: int, seconds: float = 2.0) -> float:
    """Median time on onnxruntime's CPU provider divided by the median on ours; the two run in turn."""
    pair = [session(model, "cpu", so=options(threads)), session(model, face, mode, options(threads))]
    times: list[list[float]] = [[], []]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[0]) < 5:
        for s, samples in zip(pair, times, strict=True):
            start = time.perf_counter()
            s.run(None, dict(feeds))
            samples.append(time.perf_counter() - start)
    ours, theirs = (statistics.median(samples[1:]) for samples in (times[1], times[0]))
    return theirs / ours


def _worker(job: dict) -> list[dict]:
    feeds = load_feeds(job["feeds"])
    runs = [r for face in faces() for r in digests(job["model"], feeds, face, job["mode"], job["threads"], job["isa"])]
    return [vars(r) for r in runs]


if __name__ == "__main__":
    print(json.dumps(_worker(json.loads(sys.argv[1]))))
