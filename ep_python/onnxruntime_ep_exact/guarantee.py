"""What a session guarantees: every node after ONNX Runtime's optimizer, who runs it, and whether its bits are the same on
every processor (docs/audit.md)."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import onnxruntime as ort

from . import get_ep_name, models, nature
from .folding import DECLARED, constant_nodes, foldable
from .operators import TYPES
from .recording import Recording, entry, log_name
from .rewrites import CONFIG_KEY, reasons

BY_US, BY_NATURE, NOT = "exact by us", "exact by nature", "not guaranteed"
GUARANTEES = (BY_US, BY_NATURE, NOT)
CPU = "CPUExecutionProvider"
AT_LOAD = "constant folding"
#: The operators that have a fast variant (docs/exact-mode.md).
FAST = frozenset({"Conv", "ConvTranspose", "MatMul", "Gemm", "Softmax", "LogSoftmax", "Attention", "Einsum"})
_STANDARD = ("", "ai.onnx")


@dataclass(frozen=True)
class Node:
    """A node of the optimised graph, or one that constant folding computed.

    Attributes:
        name: its name, or its first output's in quotation marks where it has none.
        operator: with the domain before a colon unless it is the standard one.
        graph: the path of the body that it is in, as in ``if1/then_branch``; empty for the main graph.
        provider: who runs it: an execution provider, or ``constant folding``.
        guarantee: one of ``GUARANTEES``.
        reason: why.
        nan: the bits of a NaN (its sign and payload) are excepted.
    """

    name: str
    operator: str
    graph: str
    provider: str
    guarantee: str
    reason: str
    nan: bool = False

    @property
    def place(self) -> str:
        """The name, and where it is in a body that body."""
        return f"{self.name} in {self.graph}" if self.graph else self.name

    @property
    def why(self) -> str:
        """The reason with its exception."""
        return f"{self.reason} (but for the bits of a NaN)" if self.nan else self.reason


@dataclass(frozen=True)
class Rewrite:
    """A graph rewrite that changes bits: whether it is off, and whether it would rewrite this graph (None: not tried)."""

    name: str
    reason: str
    disabled: bool
    applies: bool | None = None


@dataclass(frozen=True)
class Report:
    """What ``audit`` found."""

    mode: str
    face: str
    onnxruntime: str
    nodes: tuple[Node, ...]
    rewrites: tuple[Rewrite, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many nodes have each guarantee."""
        found = Counter(node.guarantee for node in self.nodes)
        return {guarantee: found[guarantee] for guarantee in GUARANTEES}

    @property
    def guaranteed(self) -> bool:
        """Whether every node is exact."""
        return not self.counts[NOT]

    @property
    def failing(self) -> tuple[Node, ...]:
        """The nodes that are not guaranteed."""
        return tuple(node for node in self.nodes if node.guarantee == NOT)

    @property
    def verdict(self) -> str:
        """One line."""
        counts, total = self.counts, len(self.nodes)
        if not self.guaranteed:
            return f"NOT GUARANTEED: {counts[NOT]} of {total} nodes"
        nan = sum(node.nan for node in self.nodes)
        but = f", {nan} of these but for the bits of a NaN" if nan else ""
        return f"GUARANTEED: {total} nodes, {counts[BY_US]} exact by us and {counts[BY_NATURE]} exact by nature{but}"

    def as_dict(self) -> dict:
        """For JSON."""
        summary = {"guaranteed": self.guaranteed, "verdict": self.verdict, "counts": self.counts}
        return summary | asdict(self)


class NotGuaranteedError(RuntimeError):
    """A session with ``strict=True`` has nodes that are not guaranteed. ``report`` tells everything."""

    def __init__(self, report: Report) -> None:
        self.report = report
        failing = report.failing
        lines = [f"{len(failing)} of {len(report.nodes)} nodes are not guaranteed:"]
        lines += [f"  {node.operator} {node.place}: {node.reason}" for node in failing[:20]]
        lines += [f"  and {len(failing) - 20} more"] if len(failing) > 20 else []
        super().__init__("\n".join(lines))


def need_onnx(what: str) -> None:
    """Raises ImportError, which says what to install, where the onnx package is missing."""
    try:
        import onnx  # noqa: F401
    except ImportError as error:
        raise ImportError(f"{what} needs the onnx package: pip install onnx") from error


def audit(
    model: Any, *, mode: str = "exact", face: str | None = None, sess_options: ort.SessionOptions | None = None
) -> Report:
    """Makes a session of the model, runs nothing, and tells of every node who runs it and what is guaranteed.

    Args:
        model: path or bytes, as for ``InferenceSession``.
        mode: ``"exact"`` or ``"fast"``.
        face: ``"plugin"`` or ``"custom_ops"``; the plugin where onnxruntime has it if None.
        sess_options: extended in place, as by ``InferenceSession``.

    Raises:
        ImportError: the onnx package is missing.
        Exception: whatever ``InferenceSession`` raises for the model and options.
    """
    from . import session

    need_onnx("audit")
    options = ort.SessionOptions() if sess_options is None else sess_options
    face = face or session.default_face()
    with Recording(options) as record:
        made = session.InferenceSession(model, options, mode=mode, face=face)
    found = report(record, made, options, model, mode, face)
    return found if face == "custom_ops" else _with_trials(found, model, options)


def report(record: Recording, made: Any, options: ort.SessionOptions, model: Any, mode: str, face: str) -> Report:
    """From the recording of how the session was made."""
    proto = models.load(model)
    if proto is None:
        raise RuntimeError("the onnx package cannot read the model")
    disabled = _disabled(options)
    nodes = list(_Classifier(record, made, mode, _flushed(options)).graph(models.with_types(record.graph)))
    if "ConstantFolding" not in disabled:
        nodes += _folded(proto, record.graph, _flushed(options))
    rewrites = tuple(Rewrite(name, why, name in disabled) for name, why in reasons(face).items())
    return Report(mode, face, ort.__version__, tuple(nodes), rewrites)


# ---- nodes ----


def bodies(graph: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """(path, graph) of a GraphProto and of every body in it."""
    yield path, graph
    for node in graph.node:
        for attribute in node.attribute:
            for number, body in enumerate([attribute.g] if attribute.HasField("g") else attribute.graphs):
                step = f"{_name(node)}/{attribute.name}" + (f"[{number}]" if attribute.graphs else "")
                yield from bodies(body, f"{path}/{step}" if path else step)


def _name(node: Any) -> str:
    return node.name or (repr(node.output[0]) if node.output else "''")


def operator(node: Any) -> str:
    return node.op_type if node.domain in _STANDARD else f"{node.domain}:{node.op_type}"


def _natural(node: Any, types: dict[str, str], flushed: bool) -> tuple[bool, str, bool]:
    if node.domain not in _STANDARD:
        return False, f"an operator of the domain {node.domain}: {nature.NO_PROMISE}", False
    inputs = [types.get(name, "") for name in node.input if name]
    major, minor = ort.__version__.split(".")[:2]
    return nature.explain(node, inputs, types.get(node.output[0], "") if node.output else "", (int(major), int(minor)), flushed)


def _flushed(options: ort.SessionOptions) -> bool:
    return entry(options, "session.set_denormal_as_zero") == "1"


class _Classifier:
    def __init__(self, record: Recording, made: Any, mode: str, flushed: bool) -> None:
        self._kernels = record.kernels
        self._mode = mode
        self._flushed = flushed
        self._face_is_plugin = get_ep_name() in made.get_providers()
        self._others = set(made.get_providers()) - {get_ep_name(), CPU}
        self._assigned: dict[tuple[str, str], set[str]] = {}
        if self._others and hasattr(made, "get_provider_graph_assignment_info"):
            for part in made.get_provider_graph_assignment_info():
                for node in part.get_nodes():
                    self._assigned.setdefault((node.name, node.op_type), set()).add(part.ep_name)

    def graph(self, proto: Any) -> Iterator[Node]:
        alike = Counter(key(node) for _, graph in bodies(proto.graph) for node in graph.node if node.domain in _STANDARD)
        types = models.element_types(proto)
        for path, graph in bodies(proto.graph):
            for node in graph.node:
                yield self._node(node, path, alike, types)

    def _node(self, node: Any, path: str, alike: Counter, types: dict[str, str]) -> Node:
        def found(provider: str, guarantee: str, reason: str, nan: bool = False) -> Node:
            return Node(_name(node), operator(node), path, provider, guarantee, reason, nan)

        ours = self._kernels[key(node)] if node.domain in _STANDARD else 0
        if ours and ours >= alike[key(node)]:
            provider = get_ep_name() if self._face_is_plugin else CPU
            if self._mode == "fast" and node.op_type in FAST:
                return found(provider, NOT, "fast mode")
            return found(provider, BY_US, "our kernel")
        if ours:
            return found("unknown", NOT, f"{ours} of {alike[key(node)]} nodes of this name and operator are ours")
        provider = self._provider(node)
        if provider != CPU:
            return found(provider, NOT, "it runs on another provider")
        natural, reason, nan = _natural(node, types, self._flushed)
        if natural:
            return found(provider, BY_NATURE, reason, nan)
        if node.op_type in (TYPES if self._face_is_plugin else DECLARED) and node.domain in _STANDARD:
            reason = "a version, type or form of the operator that our kernels do not serve"
        return found(provider, NOT, reason)

    def _provider(self, node: Any) -> str:
        if not self._others:
            return CPU
        return ", ".join(sorted(self._assigned.get((node.name, node.op_type), ()))) or "unknown"


def key(node: Any) -> tuple[str, str]:
    return log_name(node.name), node.op_type


def _folded(proto: Any, optimised: Any, flushed: bool) -> list[Node]:
    """Nodes with constant inputs only that are gone after the optimizer, and are not exact by nature."""
    proto = models.with_types(models.inlined(proto))
    types = models.element_types(proto)
    left = {name for _, graph in bodies(optimised.graph) for node in graph.node for name in node.output}
    found = []
    for node in constant_nodes(proto):
        if left.intersection(node.output) or (node.op_type in TYPES and node.domain in _STANDARD):
            continue
        natural, reason, _ = _natural(node, types, flushed)
        if not natural:
            found.append(Node(_name(node), operator(node), "", AT_LOAD, NOT, f"computed when the model is loaded: {reason}"))
    return found


# ---- rewrites ----


def _disabled(options: ort.SessionOptions) -> list[str]:
    return [name for name in entry(options, CONFIG_KEY).split(";") if name]


def _with_trials(found: Report, model: Any, options: ort.SessionOptions) -> Report:
    """Which rewrites would change the graph: each alone is let, in a session of its own."""
    applies: dict[str, bool | None] = {"ConstantFolding": bool(foldable(models.load(model)))}  # it changes bits nowhere else
    names = [rewrite.name for rewrite in found.rewrites if rewrite.name not in applies]
    given = [name for name in _disabled(options) if name not in names]
    base = _graph(model, found.mode, options, [*given, *names])
    if base is not None and _graph(model, found.mode, options, given) == base:
        applies |= dict.fromkeys(names, False)
    else:
        for name in names:
            got = _graph(model, found.mode, options, [*given, *(other for other in names if other != name)])
            applies[name] = None if base is None or got is None else got != base
    return replace(found, rewrites=tuple(replace(rewrite, applies=applies[rewrite.name]) for rewrite in found.rewrites))


def _graph(model: Any, mode: str, options: ort.SessionOptions, disabled: Sequence[str]) -> list[bytes] | None:
    """The nodes after the optimizer; None where the session cannot be made."""
    from . import session

    trial = ort.SessionOptions()
    trial.graph_optimization_level = options.graph_optimization_level
    trial.log_severity_level = 4
    trial.add_session_config_entry(CONFIG_KEY, ";".join(disabled))
    trial.add_provider_for_devices(session.devices(), {"mode": mode})
    try:
        with Recording(trial) as record:
            ort.InferenceSession(model, trial, enable_fallback=0)
    except Exception:  # a rewrite may make a graph that fails
        return None
    return [node.SerializeToString(deterministic=True) for node in record.graph.graph.node]
