"""Inside an application that ``ort-exact exec`` runs: onnxruntime's sessions on the exact kernels (docs/exec.md)."""

import hashlib
import json
import os
import sys
import time
import uuid
from pathlib import Path
from typing import Any

import onnxruntime as ort

from . import get_ep_name, guarantee, session
from .measure import MOST_THREADS
from .recording import Recording

#: The folder for what the processes tell; set by ``ort-exact exec``.
RECORDS = "EXACT_EXEC_RECORDS"
CPU = "CPUExecutionProvider"
_file: tuple[int, str] | None = None


def setting(name: str, allowed: tuple[str, ...], default: str | None) -> str | None:
    """An environment variable; empty counts as not set.

    Raises:
        ValueError: a value that is not allowed.
    """
    value = os.environ.get(name) or default
    if value is not None and value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}, not {value!r}")
    return value


def threads() -> int | None:
    """EXACT_THREADS."""
    text = os.environ.get("EXACT_THREADS") or None
    if text is not None and not (text.isascii() and text.isdigit() and len(text) < 5 and int(text) <= MOST_THREADS):
        raise ValueError(f"EXACT_THREADS must be a number from 0 to {MOST_THREADS}, not {text!r}")
    return None if text is None else int(text)


def on(name: str, default: str) -> bool:
    """A switch, 0 or 1."""
    return setting(name, ("0", "1"), default) == "1"


def tell(row: dict) -> None:
    """Appends a row to this process's file. Nothing may keep the application from its work: no folder, no row."""
    global _file
    if _file is None or _file[0] != os.getpid():  # a forked child has a file of its own
        _file = os.getpid(), str(Path(os.environ.get(RECORDS, "")) / f"{uuid.uuid4().hex}.jsonl")
    try:
        with open(_file[1], "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    except OSError:
        pass


def _label(model: Any) -> str:
    if isinstance(model, bytes | bytearray | memoryview):
        return f"{len(model)} bytes, SHA-256 {hashlib.sha256(model).hexdigest()[:12]}"
    return os.fspath(model) if isinstance(model, str | os.PathLike) else f"a {type(model).__name__}"


class InferenceSession(session.InferenceSession):
    """What ``onnxruntime.InferenceSession`` is in the application: it takes the same arguments. Providers other than the CPU
    provider are left out, and the row of the session is told."""

    def __init__(
        self,
        path_or_bytes: Any,
        sess_options: Any = None,
        providers: Any = None,
        provider_options: Any = None,
        **kwargs: Any,
    ) -> None:
        mode = setting("EXACT_MODE", session.MODES, "exact")
        face = setting("EXACT_FACE", session.FACES, None) or session.default_face()
        strict, audited = on("EXACT_STRICT", "0"), on("EXACT_AUDIT", "1")
        count = threads()
        options = ort.SessionOptions() if sess_options is None else sess_options
        if count is not None:
            options.intra_op_num_threads = count
        kept, left_out = _cpu_alone(providers, provider_options)
        row = {"model": _label(path_or_bytes), "at": time.time(), "left_out": left_out}
        arguments = (path_or_bytes, options, kept)
        try:
            if not (audited or strict):
                super().__init__(*arguments, mode=mode, face=face, **kwargs)
                tell(row | {"counts": None, "why": "EXACT_AUDIT=0"})
                return
            try:
                guarantee.need_onnx("the audit")
            except ImportError as error:
                if strict:
                    raise
                super().__init__(*arguments, mode=mode, face=face, **kwargs)
                tell(row | {"counts": None, "why": str(error)})
                return
            with Recording(options) as record:
                super().__init__(*arguments, mode=mode, face=face, **kwargs)
            report = guarantee.report(record, self, options, path_or_bytes, mode, face)
            tell(row | {"counts": report.counts, "refused": strict and not report.guaranteed})
        except Exception as error:
            tell(row | {"counts": None, "why": f"failed: {type(error).__name__}"})
            raise
        if strict and not report.guaranteed:
            raise guarantee.NotGuaranteedError(report)

    def set_providers(self, providers: Any = None, provider_options: Any = None) -> None:
        """Changes nothing: the session stays on the exact kernels."""


def _cpu_alone(providers: Any, provider_options: Any) -> tuple[list | None, list[str]]:
    """(the CPU provider with its options, names of the others)"""
    if providers is None:
        return None, []
    pairs = [p if isinstance(p, tuple) else (p, {}) for p in providers]
    if provider_options is not None:
        if len(pairs) != len(provider_options):
            raise ValueError("provider_options needs providers of the same number")
        pairs = [(name, given) for (name, _), given in zip(pairs, provider_options, strict=True)]
    left_out = [name for name, _ in pairs if name not in (CPU, get_ep_name())]
    return [(name, given) for name, given in pairs if name == CPU] or None, left_out


def install(module: Any) -> None:
    """Puts the session into the imported onnxruntime."""
    tell({"process": sys.argv[0] if getattr(sys, "argv", None) else ""})
    module.InferenceSession = InferenceSession
    module.capi.onnxruntime_inference_collection.InferenceSession = InferenceSession
