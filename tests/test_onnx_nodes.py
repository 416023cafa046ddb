"""The ONNX node tests and light models with nodes of ours, on both faces and in both modes. docs/conformance.md"""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import onnxruntime_ep_exact
import pytest
from faces import FACES, VERSION
from onnx import numpy_helper

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import conformance  # noqa: E402


def model_of(name):
    return conformance.node_tests().get(name) or conformance.light_models()[name]


def cpu_loads(name):
    """ONNX Runtime's own provider can load the model of a test."""
    try:
        onnxruntime.InferenceSession(str(model_of(name).path), providers=["CPUExecutionProvider"])
    except Exception:
        return False
    return True


@pytest.mark.parametrize("mode", conformance.MODES)
@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", [*conformance.node_tests(), *conformance.light_models()])
def test_node(name, face, mode):
    outcome, detail = conformance.outcome(name, face, mode)
    if VERSION < (1, 31) and outcome == "error" and not cpu_loads(name):
        pytest.skip("an older onnxruntime, whose CPU provider cannot load the model either")
    if face == "custom_ops" and outcome == conformance.NOT_OURS:
        if VERSION < (1, 18) and "Resize" in model_of(name).operators:
            pytest.skip("onnxruntime 1.17: the custom-op library leaves Resize out")
        if VERSION < (1, 25) and {"LSTM", "GRU", "RNN"} & set(model_of(name).operators):
            pytest.skip("onnxruntime below 1.25: the custom-op library leaves LSTM, GRU and RNN out")
    assert outcome == conformance.exceptions(face).get(name, conformance.PASSES), detail


def tensors(folder, kind):
    paths = sorted(folder.glob(f"{kind}_*.pb"), key=lambda p: int(p.stem.split("_")[1]))
    return [numpy_helper.to_array(onnx.load_tensor(p)) for p in paths]


def expecting_right_values():
    listed, left = conformance.exceptions("custom_ops"), (conformance.OTHER_VALUES, conformance.REFUSED)
    tests = conformance.node_tests()
    return [name for name, test in tests.items() if listed.get(name) not in left and not test.narrow]


@pytest.mark.parametrize("name", expecting_right_values())
def test_node_in_a_session_without_our_package(name, monkeypatch):
    """The custom-op library as other languages use it."""
    monkeypatch.setenv("ALLOW_RELEASED_ONNX_OPSET_ONLY", "0")  # some tests of onnx 1.22.0 are of the next opset
    case = conformance.node_tests()[name]
    if VERSION < (1, 31) and not cpu_loads(name):
        pytest.skip("an older onnxruntime, whose CPU provider cannot load the model either")
    options = onnxruntime.SessionOptions()
    options.register_custom_ops_library(onnxruntime_ep_exact.get_library_path())
    run = onnxruntime.InferenceSession(str(case.path), options, providers=["CPUExecutionProvider"])
    for folder in case.folders:
        inputs = tensors(folder, "input")
        got = run.run(None, {i.name: array for i, array in zip(run.get_inputs(), inputs, strict=True)})
        for one, want in zip(got, tensors(folder, "output"), strict=True):
            assert one.dtype == want.dtype and one.shape == want.shape
            np.testing.assert_allclose(one, want, rtol=case.rtol, atol=case.atol)


@pytest.mark.skipif(VERSION[:2] != (1, 31), reason="the page is of onnxruntime 1.31")
def test_page():
    """The tables are what the tests give, and the list of exceptions names tests that there are."""
    assert set(conformance.exceptions()) <= {*conformance.node_tests(), *conformance.light_models()}
    assert conformance.page() == conformance.PAGE.read_text("utf-8")
