"""The ONNX node tests of the served operators, through both faces. docs/conformance.md"""

import functools
import re
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import onnxruntime_ep_exact
import pytest
from faces import FACES, VERSION
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnxruntime_ep_exact.operators import TYPES

CONFORMANCE = Path(__file__).parent.parent / "docs" / "conformance.md"


@functools.cache
def node_tests():
    """The test cases whose model contains a served operator, by name."""
    return {case.name: case for case in load_model_tests(kind="node") if operators(case) & TYPES}


def operators(case):
    return {node.op_type for node in onnx.load(Path(case.model_dir) / "model.onnx").graph.node}


def listed(heading):
    """The node tests in the table under a heading of the page."""
    text = CONFORMANCE.read_text("utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    return sorted(re.findall(r"^\| (test_\w+) \|", text, re.MULTILINE))


NOT_SERVED, BY_DESIGN = listed("Not served"), listed("Other results by design")


def session(path, face, own):
    """A session on a face; `own`: with the plugin, every node must be ours."""
    options = onnxruntime.SessionOptions()
    if face == "custom_ops":
        options.register_custom_ops_library(onnxruntime_ep_exact.get_library_path())
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    if own:
        options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    return onnxruntime_ep_exact.InferenceSession(path, options, face=face)


def session_or_skip(path, face, own):
    """Skips what an older onnxruntime cannot load on its CPU provider either: newer opsets, and nodes beside ours."""
    try:
        return session(path, face, own)
    except Exception:
        if VERSION >= (1, 31):
            raise
        try:
            onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
        except Exception:
            pytest.skip("an older onnxruntime, whose CPU provider cannot load the model either")
        raise


def tensors(folder, kind):
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(p)) for p in paths]


def compare(name, face):
    case = node_tests()[name]
    path = Path(case.model_dir)
    run = session_or_skip(str(path / "model.onnx"), face, own=operators(case) <= TYPES and name not in NOT_SERVED)
    for data_set in sorted(path.glob("test_data_set_*")):
        inputs = tensors(data_set, "input")
        got = run.run(None, {i.name: array for i, array in zip(run.get_inputs(), inputs, strict=True)})
        for one, want in zip(got, tensors(data_set, "output"), strict=True):
            assert one.dtype == want.dtype and one.shape == want.shape
            np.testing.assert_allclose(one, want, rtol=case.rtol, atol=case.atol)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", [name for name in node_tests() if name not in BY_DESIGN])
def test_node(name, face, monkeypatch):
    monkeypatch.setenv("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")  # some tests of onnx 1.22.0 are of the next opset
    compare(name, face)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", BY_DESIGN)
def test_other_results_by_design(name, face):
    """They run, and the table names no test that would pass."""
    with pytest.raises(AssertionError):
        compare(name, face)


def test_exceptions_are_node_tests():
    assert NOT_SERVED and BY_DESIGN
    assert {*NOT_SERVED, *BY_DESIGN} <= set(node_tests())


@pytest.mark.skipif("plugin" not in FACES, reason="onnxruntime < 1.24.1 has no plugin interface")
@pytest.mark.parametrize("name", NOT_SERVED)
def test_exceptions_are_not_claimed(name):
    with pytest.raises(Exception, match=r"fallback|assigned"):
        session(str(Path(node_tests()[name].model_dir) / "model.onnx"), "plugin", own=True)
