"""Sessions of ONNX Runtime on the exact kernels."""

import weakref
from collections.abc import Iterable, Sequence
from contextlib import nullcontext
from typing import Any

import onnxruntime as ort

from . import get_ep_name, get_library_path, guarantee, models
from .folding import foldable
from .recording import Recording, entry
from .rewrites import CONFIG_KEY, REWRITES

MODES = ("exact", "fast")
FACES = ("plugin", "custom_ops")
_MODE_KEY = "ep.exactexecutionprovider.mode"
_FOLDING_KEY = "ep.exactexecutionprovider.constant_folding"
_OPSET_KEY = "ep.exactexecutionprovider.opset"
_with_device: "weakref.WeakSet[ort.SessionOptions]" = weakref.WeakSet()
_with_custom_ops: "weakref.WeakKeyDictionary[ort.SessionOptions, int]" = weakref.WeakKeyDictionary()  # the stated opset


def _version() -> tuple[int, int, int]:
    parts = [*ort.__version__.split("+")[0].split("."), "0", "0"][:3]
    return tuple(int("".join(c for c in part if c.isdigit()) or 0) for part in parts)  # type: ignore[return-value]


def _require(face: str) -> None:
    oldest = (1, 24, 1) if face == "plugin" else (1, 17, 3)
    if _version() < oldest:
        raise RuntimeError(
            f"the {face} face of {get_ep_name()} needs onnxruntime {'.'.join(map(str, oldest))} or newer, "
            f"this is {ort.__version__}"
        )


def default_face() -> str:
    """``"plugin"`` where the installed onnxruntime has the plugin interface (1.24.1), else ``"custom_ops"``."""
    return "plugin" if _version() >= (1, 24, 1) else "custom_ops"


def devices() -> list:
    """onnxruntime's device of the provider, in a list; empty before ``register``."""
    return [device for device in ort.get_ep_devices() if device.ep_name == get_ep_name()][:1]


def register() -> str:
    """Register the provider library with onnxruntime, once per process, and return the provider's name.

    Raises:
        RuntimeError: onnxruntime is older than 1.24.1.
    """
    _require("plugin")
    if not devices():
        ort.register_execution_provider_library(get_ep_name(), get_library_path())
    return get_ep_name()


def _set(options: ort.SessionOptions, key: str, value: str) -> None:
    if entry(options, key) != value:  # onnxruntime warns of an entry that is set twice
        options.add_session_config_entry(key, value)


def _disable(options: ort.SessionOptions, wanted: Iterable[str]) -> None:
    names = [name for name in entry(options, CONFIG_KEY).split(";") if name]
    _set(options, CONFIG_KEY, ";".join([*names, *(name for name in wanted if name not in names)]))


def _register_custom_ops(options: ort.SessionOptions, proto: Any) -> None:
    """With the opset where it decides what a node means (docs/softmax.md)."""
    opset = models.opset(proto) if proto else 0
    opset = opset if 7 <= opset < 14 else 0
    if options not in _with_custom_ops:
        if opset:
            _set(options, _OPSET_KEY, str(opset))
        options.register_custom_ops_library(get_library_path())
        _with_custom_ops[options] = opset
    elif proto and _with_custom_ops[options] not in (0, opset):
        raise ValueError(
            f"these session options were made for a model of opset {_with_custom_ops[options]}; "
            f"this one has opset {models.opset(proto)}: give it options of its own"
        )


def _folding_is_harmless(options: ort.SessionOptions, proto: Any, face: str) -> bool:
    """Tells the library so, too. ``proto`` None: not known."""
    harmless = proto is not None and foldable(proto, face) == []
    if harmless:
        _set(options, _FOLDING_KEY, "checked")
    return harmless


def session_options(
    options: ort.SessionOptions | None = None, *, mode: str = "exact", face: str | None = None
) -> ort.SessionOptions:
    """Options for an ``onnxruntime.InferenceSession`` that runs on the exact kernels, without further arguments.

    Args:
        options: extended and returned; a new object if None.
        mode: ``"exact"`` or ``"fast"``.
        face: ``"plugin"`` or ``"custom_ops"``; the plugin where onnxruntime has it if None.

    Raises:
        ValueError: unknown mode or face.
        RuntimeError: onnxruntime is too old for the face.
    """
    options = _prepare(options, mode, face := face or default_face())
    if face == "plugin" and options not in _with_device:
        options.add_provider_for_devices(devices(), {"mode": mode})
        _with_device.add(options)
    return options


def _prepare(options: ort.SessionOptions | None, mode: str, face: str, model: Any = None) -> ort.SessionOptions:
    """What both ways of making a session need: everything but the choice of the provider."""
    if mode not in MODES:
        raise ValueError(f"mode must be one of {MODES}, not {mode!r}")
    if face not in FACES:
        raise ValueError(f"face must be one of {FACES}, not {face!r}")
    _require(face)
    options = ort.SessionOptions() if options is None else options
    proto = None if model is None else models.load(model)
    if face == "plugin":
        register()
        harmless = _folding_is_harmless(options, proto, face)
        _disable(options, (name for name in REWRITES if not harmless or name != "ConstantFolding"))
        if not harmless and (1, 25) <= _version() < (1, 31):  # whose ReshapeFusion fails on some models without folding
            _disable(options, ["ReshapeFusion"])
    else:
        _set(options, _MODE_KEY, mode)
        if not _folding_is_harmless(options, proto, face) and _version() < (1, 32, 0):
            _disable(options, ["ConstantFolding"])
        _register_custom_ops(options, proto)
    return options


class InferenceSession(ort.InferenceSession):
    """``onnxruntime.InferenceSession`` on the exact kernels: the same arguments, and ``mode`` and ``face``.

    Registers the library once, switches off the graph rewrites that change bits (``REWRITES``), puts the provider before
    the given ones, and raises where onnxruntime would fall back to other providers. ``sess_options`` is extended in place.

    Args:
        mode: ``"exact"`` (default) or ``"fast"``.
        face: ``"plugin"`` or ``"custom_ops"``; the plugin where onnxruntime has it if None.
        strict: raises ``NotGuaranteedError`` where ``audit`` finds a node that is not guaranteed (docs/audit.md). Needs the
            onnx package, without which it raises ImportError.
    """

    def __init__(
        self,
        path_or_bytes: Any,
        sess_options: ort.SessionOptions | None = None,
        providers: Sequence[str | tuple[str, dict]] | None = None,
        provider_options: Sequence[dict] | None = None,
        *,
        mode: str = "exact",
        face: str | None = None,
        strict: bool = False,
        **kwargs: Any,
    ) -> None:
        face = face or default_face()
        if strict:
            guarantee.need_onnx("strict=True")
        if provider_options is not None:
            if providers is None or len(providers) != len(provider_options):
                raise ValueError("provider_options needs providers of the same number")
            providers = list(zip(providers, provider_options, strict=True))
        others = [p if isinstance(p, tuple) else (p, {}) for p in providers or ()]
        mine: dict = {}
        for name, given in others:
            if name == get_ep_name():
                mine = dict(given)
        others = [p for p in others if p[0] != get_ep_name()]
        mode = mine.setdefault("mode", mode)
        sess_options = _prepare(sess_options, mode, face, path_or_bytes)
        if entry(sess_options, _MODE_KEY) == mode:  # onnxruntime warns of an entry that is set twice
            del mine["mode"]
        if face == "plugin" and _version() < (1, 25, 0):  # takes a plugin only as a device
            if [p for p in others if p[0] != "CPUExecutionProvider"]:
                raise ValueError("onnxruntime 1.24 takes no other providers beside a plugin")
            if sess_options not in _with_device:
                sess_options.add_provider_for_devices(devices(), mine)
                _with_device.add(sess_options)
            providers = None
        elif face == "plugin":
            no_cpu = entry(sess_options, "session.disable_cpu_ep_fallback") == "1"
            providers = [(get_ep_name(), mine), *(others or ([] if no_cpu else [("CPUExecutionProvider", {})]))]
        else:
            providers = others or [("CPUExecutionProvider", {})]
        if face == "custom_ops" and _version() < (1, 18, 0):  # which do not read the config entry
            disabled = entry(sess_options, CONFIG_KEY).split(";")
            kwargs["disabled_optimizers"] = [*(kwargs.get("disabled_optimizers") or ()), *filter(None, disabled)]
        kwargs.setdefault("enable_fallback", 0)
        with Recording(sess_options) if strict else nullcontext() as record:
            super().__init__(path_or_bytes, sess_options, providers, **kwargs)
        self.disable_fallback()
        if strict:
            report = guarantee.report(record, self, sess_options, path_or_bytes, mode, face)
            if not report.guaranteed:
                raise guarantee.NotGuaranteedError(report)
