"""The ONNX node tests and light models that hold one of our operators, on both faces and in both modes. docs/conformance.md

    python tools/conformance.py            runs them and writes the table into docs/conformance.md
    python tools/conformance.py --check    says whether the page is what they give

A test passes when every node of ours in it ran in our kernels and the outputs are within the tolerance of the test. What
else may happen to a test is listed on the page, by hand and with the reason; anything else is an error.
"""

import argparse
import contextlib
import functools
import os
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import conformance_served
import numpy as np
import onnx
import onnxruntime
import onnxruntime_ep_exact
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnxruntime_ep_exact.operators import OPERATORS
from oracle.report import replace_part

PAGE = Path(__file__).parent.parent / "docs" / "conformance.md"
LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"
FACES = ("plugin", "custom_ops")
MODES = ("exact", "fast")
PASSES, OTHER_VALUES, NOT_OURS, REFUSED = "passes", "other values", "not ours", "error"


@dataclass(frozen=True)
class Model:
    """A test: its model, the pairs of input and output files, and the tolerance."""

    name: str
    path: Path
    rtol: float
    atol: float
    folders: tuple[Path, ...]

    @functools.cached_property
    def operators(self) -> Counter:
        """How many nodes that the plugin serves it has, by operator; nodes in bodies and local functions count."""
        return self.served["plugin"]

    @functools.cached_property
    def served(self) -> dict[str, Counter]:
        """The same by face."""
        return {face: Counter(conformance_served.nodes(onnx.load(self.path), face)) for face in FACES}

    @functools.cached_property
    def narrow(self) -> bool:
        """An input or output has a type that crosses no NumPy border of onnxruntime: below 8 bits, or a float of 8."""
        graph = onnx.load(self.path).graph
        names = {onnx.TensorProto.DataType.Name(v.type.tensor_type.elem_type) for v in (*graph.input, *graph.output)}
        return any(name.startswith(("FLOAT8", "FLOAT4")) or name in ("INT4", "UINT4", "INT2", "UINT2") for name in names)

    @functools.cached_property
    def ours_alone(self) -> bool:
        """It has no other nodes, and no bodies."""
        nodes = onnx.load(self.path).graph.node
        bodies = any(attribute.HasField("g") for node in nodes for attribute in node.attribute)
        return not bodies and len(nodes) == sum(self.operators.values())

    @functools.cached_property
    def can_run(self) -> bool:
        """onnxruntime's Python interface takes tensors that NumPy has, and ONNX Runtime has the domains of ONNX alone."""
        model = onnx.load(self.path)
        kinds = [value.type for value in (*model.graph.input, *model.graph.output)]
        tensors = all(t.HasField("tensor_type") and t.tensor_type.elem_type != onnx.TensorProto.BFLOAT16 for t in kinds)
        return tensors and all(entry.domain in ("", "ai.onnx", "ai.onnx.ml") for entry in model.opset_import)


@functools.cache
def node_tests() -> dict[str, Model]:
    """The node tests with a node of ours, by name."""
    cases = [
        Model(
            c.name, Path(c.model_dir) / "model.onnx", c.rtol, c.atol, tuple(sorted(Path(c.model_dir).glob("test_data_set_*")))
        )
        for c in load_model_tests(kind="node")
    ]
    return {case.name: case for case in cases if case.can_run and case.operators}


@functools.cache
def light_models() -> dict[str, Model]:
    """The light models, whose weights are made by ConstantOfShape, by name."""
    cases = [Model(path.stem, path, 1e-3, 1e-4, ()) for path in sorted(LIGHT.glob("*.onnx"))]
    return {case.name: case for case in cases if case.operators}


def exceptions(face: str = "plugin") -> dict[str, str]:
    """name -> outcome of the tests that do not pass, from the tables on the page: there is no other list."""
    text, found = PAGE.read_text("utf-8"), {}
    headings = [("Not served", NOT_OURS), ("Other results by design", OTHER_VALUES)]
    if face == "custom_ops":
        headings.append(("Refused with the custom-op library", REFUSED))
    for heading, outcome in headings:
        part = text.split(f"## {heading}\n")[1].split("\n## ")[0]
        found |= dict.fromkeys(re.findall(r"^\| ((?:test|light)_\w+) \|", part, re.MULTILINE), outcome)
    return found


def session(model: Model, face: str, mode: str, own: bool, optimize: bool = True) -> onnxruntime.InferenceSession:
    """A session on a face; `own`: with the plugin, no node may go to the CPU provider."""
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 1  # the kernels of ours report themselves
    if not optimize:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    if own and face == "plugin":
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return onnxruntime_ep_exact.InferenceSession(str(model.path), options, face=face, mode=mode)


@contextlib.contextmanager
def error_stream() -> Iterator[list[str]]:
    """Collects what the process writes to its error stream, C code included."""
    sys.stderr.flush()
    kept, lines = os.dup(2), []
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 2)
        try:
            yield lines
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            lines += file.read().decode("utf-8", "replace").splitlines()


def _tensors(folder: Path, kind: str) -> list:
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(p)) for p in paths]


def _data(model: Model, run: onnxruntime.InferenceSession) -> Iterator[tuple[list, list]]:
    for folder in model.folders:
        yield _tensors(folder, "input"), _tensors(folder, "output")
    if not model.folders:  # a light model: the input that onnx.backend.test makes up, and the output that it ships
        shape = [size if isinstance(size, int) else 1 for size in run.get_inputs()[0].shape]
        count = int(np.prod(shape))
        want = numpy_helper.to_array(onnx.load_tensor(model.path.with_name(f"{model.name}_output_0.pb")))
        yield [(np.arange(count).reshape(shape) / count).astype(np.float32)], [want]


def _faults(model: Model, run: onnxruntime.InferenceSession) -> str:
    for inputs, outputs in _data(model, run):
        got = run.run(None, {i.name: array for i, array in zip(run.get_inputs(), inputs, strict=True)})
        for one, want in zip(got, outputs, strict=True):
            if one.dtype != want.dtype or one.shape != want.shape:
                return f"{one.dtype}{one.shape} instead of {want.dtype}{want.shape}"
            if not np.allclose(one, want, rtol=model.rtol, atol=model.atol, equal_nan=True):
                return "values beyond the tolerance"
    return ""


@functools.cache
def outcome(name: str, face: str, mode: str) -> tuple[str, str]:
    """(PASSES, OTHER_VALUES, NOT_OURS or an error, detail) of a test."""
    os.environ["ALLOW_RELEASED_ONNX_OPSET_ONLY"] = "0"  # some tests of onnx 1.22.0 are of the next opset
    model = node_tests().get(name) or light_models()[name]
    if model.narrow:
        return NOT_OURS, "a type that is not served and that NumPy cannot hand over"
    own = model.ours_alone and exceptions(face).get(name) != NOT_OURS
    nodes = sum(model.served[face].values())
    for optimize in (True, False):  # optimizing merges equal nodes, so the count is not always whole
        with error_stream() as lines:
            try:
                run = session(model, face, mode, own, optimize)
                fault = _faults(model, run)
            except Exception as error:  # onnxruntime has one exception type per status code
                return "error", str(error)
        if fault:
            return OTHER_VALUES, fault
        ran = sum(f"{onnxruntime_ep_exact.get_ep_name()}: " in line and f" runs the {mode} kernel" in line for line in lines)
        if ran >= nodes:
            return PASSES, ""
    return NOT_OURS, f"{ran} of {nodes} nodes are ours"


def surprises(names) -> list[str]:
    """What the page does not say."""
    found = []
    for name in names:
        for face in FACES:
            want = exceptions(face).get(name, PASSES)
            for mode in MODES:
                got, detail = outcome(name, face, mode)
                if got != want:
                    found.append(f"{name} {face} {mode}: {got}, not {want}: {detail}")
    return found


def _cells(names: list[str]) -> Iterator[str]:
    for face in FACES:
        for mode in MODES:
            yield str(sum(outcome(name, face, mode)[0] == PASSES for name in names))


def lines() -> list[str]:
    """The generated part of the page."""
    tests, light = node_tests(), light_models()
    hits = sum(len(model.operators) for model in tests.values())
    heading = "| plugin, exact | plugin, fast | custom ops, exact | custom ops, fast |"
    text = [
        f"onnx {onnx.__version__} has {len(tests)} node tests with a node of ours, counted by operator {hits}. How many pass:",
        "",
        f"| operator | tests {heading} not ours | other values |",
        "| --- |" + " ---: |" * 7,
    ]
    listed = exceptions()
    for operator in dict.fromkeys(row.type for row in OPERATORS):
        names = [name for name, model in tests.items() if model.operators[operator]]
        aside = [str(sum(listed.get(name) == kind for name in names)) for kind in (NOT_OURS, OTHER_VALUES)]
        text.append(f"| {operator} | {' | '.join([str(len(names)), *_cells(names), *aside])} |")
    names = list(tests)
    aside = [str(sum(listed.get(name) == kind for name in names)) for kind in (NOT_OURS, OTHER_VALUES)]
    text.append(f"| all, each test once | {' | '.join([str(len(names)), *_cells(names), *aside])} |")
    text += [
        "",
        f"The {len(light)} light models of onnx (real networks with made-up weights), against the outputs that come with them:",
        "",
        f"| model | nodes of ours {heading}",
        "| --- |" + " ---: |" * 5,
    ]
    for name, model in light.items():
        cells = [outcome(name, face, mode)[0] for face in FACES for mode in MODES]
        text.append(f"| {name} | {sum(model.operators.values())} | {' | '.join(cells)} |")
    return text


def page() -> str:
    """The whole page as it should be."""
    return replace_part(PAGE.read_text("utf-8"), "results", lines())


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="change nothing; fail when the page is out of date")
    args = parser.parse_args()
    found = surprises([*node_tests(), *light_models()])
    print("\n".join(found) or "every test passes, or does what docs/conformance.md says")
    if args.check and page() != PAGE.read_text("utf-8"):
        found.append("docs/conformance.md is out of date: run python tools/conformance.py")
        print(found[-1])
    if not args.check:
        PAGE.write_text(page(), "utf-8")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
