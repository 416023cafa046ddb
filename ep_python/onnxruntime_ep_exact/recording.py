"""What onnxruntime does while it makes a session: the optimised graph, and the nodes for which it made kernels of ours."""

import os
import re
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path
from typing import Any

import onnxruntime as ort

from . import get_ep_name

ASSIGNMENT = "session.record_ep_graph_assignment_info"
_LINE = re.compile(rf"{get_ep_name()}: (\w+) node '(.*)' runs the \w+ kernel \(\w+\)\s*$")
_LEVEL = re.compile(r"\[([VIWEF]):onnxruntime")
_SAVING = "Serializing optimized model"  # a warning about the file that we ask for
_one_at_a_time = threading.Lock()
_stderr: int | None = None  # a copy of standard error while a recording keeps it back


def _forked() -> None:
    """In a child of a process in which another thread was recording."""
    global _one_at_a_time, _stderr
    _one_at_a_time = threading.Lock()
    if _stderr is not None:
        os.dup2(_stderr, 2)
        _stderr = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forked)
#: Bytes of a node's name in a log line; the library cuts longer ones.
NAME_BYTES = 511


class Recording:
    """Around the making of a session. The log of the library is read from the process's standard error, which is kept back
    meanwhile and then passed on, without the lines that would not be there otherwise.

    Attributes:
        graph: the ModelProto after the optimizer.
        kernels: how many kernels of ours each (name, operator) got.
    """

    graph: Any
    kernels: Counter

    def __init__(self, options: ort.SessionOptions) -> None:
        self.options = options

    def __enter__(self) -> "Recording":
        global _stderr
        options = self.options
        self._lock = _one_at_a_time
        self._lock.acquire()
        try:
            self._before = options.log_severity_level, options.optimized_model_filepath
            self._folder = tempfile.TemporaryDirectory()
            self._log = tempfile.TemporaryFile()
            self._path = options.optimized_model_filepath or str(Path(self._folder.name) / "optimized.onnx")
            if entry(options, ASSIGNMENT) != "1":
                options.add_session_config_entry(ASSIGNMENT, "1")
            if sys.stderr is not None:
                sys.stderr.flush()
            _stderr = self._stderr = os.dup(2)
        except BaseException:
            self._lock.release()
            raise
        options.optimized_model_filepath = self._path
        options.log_severity_level = 1 if self._before[0] not in (0, 1) else self._before[0]
        os.dup2(self._log.fileno(), 2)
        return self

    def __exit__(self, kind: Any, *_: object) -> None:
        global _stderr
        try:
            os.dup2(self._stderr, 2)
            _stderr = None
            os.close(self._stderr)
            self._log.seek(0)
            lines = self._log.read().splitlines(keepends=True)
            self._log.close()
            self.options.log_severity_level, self.options.optimized_model_filepath = self._before
            self._read(lines)
            if kind is None:
                self.graph = self._load()
        finally:
            self._folder.cleanup()
            self._lock.release()

    def _read(self, lines: list[bytes]) -> None:
        wanted = self._before[0] if self._before[0] >= 0 else 2  # the default: warnings
        self.kernels = Counter()
        for line in lines:
            text = line.decode("utf-8", "replace")
            if found := _LINE.search(text):
                self.kernels[found[2], found[1]] += 1
            level = _LEVEL.search(text)
            if not (level and "VIWEF".index(level[1]) < wanted) and _SAVING not in text:
                os.write(2, line)

    def _load(self) -> Any:
        import onnx

        try:
            return onnx.load_model(self._path, load_external_data=False)
        except Exception as error:
            raise RuntimeError(f"the optimised model {self._path} cannot be read: {error}") from error


def entry(options: ort.SessionOptions, key: str) -> str:
    """The value of a session config entry; "" where it is not set."""
    try:
        return options.get_session_config_entry(key)
    except RuntimeError:
        return ""


def log_name(name: str) -> str:
    """A node's name as the log shows it."""
    return name.encode()[:NAME_BYTES].decode("utf-8", "replace")
