"""The command ort-exact."""

import re

import numpy as np
import pytest
from click.testing import CliRunner
from faces import graph, node
from onnxruntime_ep_exact import cli, kernels, measure


def invoke(*arguments):
    return CliRunner().invoke(cli.main, list(arguments))


def test_demo():
    result = invoke("demo", "--seconds", "0.2")
    assert result.exit_code == 0, result.output
    runs = len(kernels.isa_names()) * len(measure.faces()) * 3 * 2
    assert f"Exact kernels: {runs} runs, 1 different result." in re.sub(r"\s+", " ", result.output)
    assert "BatchNormalization" in result.output and "ConvTranspose" in result.output


def test_run_with_drawn_and_given_inputs(tmp_path):
    w = np.ones((2, 3, 3, 3), np.float32)
    path = tmp_path / "m.onnx"
    path.write_bytes(graph([node("Conv", ["x", "w"])], {"x": (np.float32, ["n", 3, "h", 9])}, {"w": w}))
    result = invoke("run", str(path), "--seconds", "0", "--dim", "h=12", "--threads", "1,3", "--mode", "fast")
    assert result.exit_code == 0, result.output
    np.savez(tmp_path / "x.npz", x=np.ones((2, 3, 5, 9), np.float32))
    result = invoke("run", str(path), "--seconds", "0", "--input", str(tmp_path / "x.npz"))
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    "arguments, text",
    [
        (["--threads", "0"], "list of positive numbers"),
        (["--dim", "h"], "NAME=SIZE"),
        (["--mode", "quick"], "quick"),
        (["--input", "nothing.npz"], "nothing.npz"),
    ],
)
def test_bad_arguments(tmp_path, arguments, text):
    path = tmp_path / "m.onnx"
    path.write_bytes(graph([node("GlobalMaxPool", ["x"])], {"x": (np.float32, [1, 3, 4, 9])}))
    result = invoke("run", str(path), *arguments)
    assert result.exit_code and text in result.output


def test_a_file_that_is_no_model(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"not a model")
    result = invoke("run", str(path))
    assert result.exit_code == 1 and "Error" in result.output and "Traceback" not in result.output


def test_info():
    result = invoke("info")
    assert result.exit_code == 0 and kernels.isa() in result.output
