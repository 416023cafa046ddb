"""Bit-exact kernels for ONNX Runtime: an execution-provider plugin, a custom-op library, and the same kernels on NumPy.

``InferenceSession`` is the way in for most users. Those who build sessions themselves use ``register``,
``session_options`` and ``get_library_path``. ``onnxruntime_ep_exact.kernels`` holds the kernels for NumPy arrays.
The package does not depend on onnxruntime: it works with the one that is installed.
"""

from importlib import import_module
from importlib.resources import files

from .rewrites import REWRITES

__all__ = [
    "REWRITES",
    "InferenceSession",
    "NotGuaranteedError",
    "ReceiptError",
    "audit",
    "diff",
    "digest",
    "get_ep_name",
    "get_ep_names",
    "get_library_path",
    "register",
    "session_options",
    "verify",
]

_LAZY = {
    "InferenceSession": "session",
    "NotGuaranteedError": "guarantee",
    "ReceiptError": "sealed",
    "audit": "guarantee",
    "diff": "differences",
    "digest": "receipts",
    "register": "session",
    "session_options": "session",
    "verify": "verifying",
}


def get_library_path() -> str:
    """Path of the library that ONNX Runtime loads: a provider plugin and a custom-op library in one."""
    return str(files(__package__) / "libonnxruntime_ep_exact.so")


def get_ep_name() -> str:
    """Name of the execution provider."""
    return "ExactExecutionProvider"


def get_ep_names() -> list[str]:
    """Names of all execution providers in the library."""
    return [get_ep_name()]


def __getattr__(name: str):
    if name in _LAZY:  # onnxruntime is imported only when a session is wanted
        return getattr(import_module(f".{_LAZY[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
