"""The command ort-exact."""

import json
import re
import sys
import zlib

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


# ---- receptive-field ----


def small_network(tmp_path, shape=(1, 3, "h", 40)):
    w = {"w": np.ones((2, 3, 3, 3), np.float32), "v": np.ones((2, 2, 5, 5), np.float32)}
    nodes = [
        node("Conv", ["x", "w"], ["a"], "stem", strides=[2, 2], pads=[1, 1, 1, 1]),
        node("Relu", ["a"], ["b"], "relu"),
        node("Conv", ["b", "v"], ["c"], "wide", pads=[2, 2, 2, 2]),
        node("GlobalAveragePool", ["c"], ["d"], "[red]pool[/x]"),
        node("Mul", ["c", "d"], ["y"], "gate"),
        node("CumSum", ["y", "axis"], ["z"], "sums"),
        node("Relu", ["z"], ["end"], "after"),
    ]
    path = tmp_path / "m.onnx"
    path.write_bytes(graph(nodes, {"x": (np.float32, list(shape))}, w | {"axis": np.array(3)}, outputs=("end",)))
    return str(path)


def rows(output):
    """The cells of a table, by the node's name and axis."""
    found, name = {}, ""
    for line in output.splitlines():
        if line.startswith("│"):
            cells = [cell.strip() for cell in line.strip("│").split("│")]
            name = cells[0] or name
            found[name, cells[2]] = cells[3:]
    return found


def test_receptive_field_table(tmp_path):
    path = small_network(tmp_path)
    result = invoke("receptive-field", path)
    assert result.exit_code == 0, result.output
    table = rows(result.output)
    assert table["stem", "2"] == ["floor((h + 1) / 2)", "2", "3", "0"] and table["stem", "3"] == ["20", "2", "3", "0"]
    assert table["wide", "3"] == ["20", "2", "11", "0"]
    assert table["[red]pool[/x]", "2"] == ["-", "-", "whole (h)", "-"]
    assert table["gate", "3"] == ["20", "2", "whole (40)", "19.5"]
    assert ("relu", "2") not in table and ("sums", "2") not in table
    text = " ".join(result.output.split())
    assert "Not followed: CumSum sums: the operator is not one of those that are followed" in text
    assert "Not known behind it: 1 node" in text
    assert ("relu", "2") in rows(invoke("receptive-field", path, "--all").output)
    local = rows(invoke("receptive-field", path, "--local", "--input-shape", "1,3,31,40", "--all").output)
    assert local["gate", "2"] == ["16", "2", "11", "0"]
    assert list(rows(invoke("receptive-field", path, "--node", "wide").output)) == [("wide", "2"), ("wide", "3")]


def test_receptive_field_json(tmp_path):
    path = small_network(tmp_path)
    found = json.loads(invoke("receptive-field", path, "--json").output)
    assert found["input"] == "x" and found["shape"] == [1, 3, "h", 40] and found["axes"] == [2, 3]
    assert [layer["node"] for layer in found["layers"]] == ["stem", "relu", "wide", "[red]pool[/x]", "gate", "sums", "after"]
    assert found["layers"][2]["axes"][1] == {"axis": 3, "whole": False, "size": 20, "jump": 2, "field": 11, "centre": 0}
    assert found["layers"][5]["axes"] == [] and found["layers"][6]["reason"] == "it comes after CumSum 'sums'"
    (one,) = json.loads(invoke("receptive-field", path, "--json", "--node", "c").output)["layers"]
    assert one["node"] == "wide"


def pixels(path):
    """Width, height and the number of different bytes of a PNG's picture."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG")
    chunks, at = b"", 8
    while at < len(data):
        length, kind = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        chunks += data[at + 8 : at + 8 + length] if kind == b"IDAT" else b""
        at += length + 12
    return *(int.from_bytes(data[i : i + 4], "big") for i in (16, 20)), len(set(zlib.decompress(chunks)))


@pytest.mark.parametrize("shape", [(1, 3, 30, 40), (1, 3, 400, 40)])
def test_receptive_field_plot(tmp_path, shape):
    path, picture = small_network(tmp_path, shape), tmp_path / "out.png"
    for arguments in ([], ["--node", "stem", "--node", "wide"]):
        result = invoke("receptive-field", path, "--plot", str(picture), *arguments)
        assert result.exit_code == 0, result.output
        width, height, colours = pixels(picture)
        assert width >= 600 and height >= 300 and colours > 20
        picture.unlink()


def test_receptive_field_errors(tmp_path, monkeypatch):
    path, picture = small_network(tmp_path), str(tmp_path / "out.png")
    for arguments, text in (
        (["--node", "nothing"], "no node behind the input 'x' has the name 'nothing'"),
        (["--input-shape", "1,3,x,40"], "no list of positive numbers"),
        (["--input-shape", "1,3,40"], "4 axes, the shape 3"),
        (["--input-shape", "1,3,31,41"], "40 positions, the shape 41"),
        (["--input-shape", "1,3,1,40", "--node", "after", "--plot", picture], "was not followed"),
        (["--input", "y"], "no input 'y'"),
        (["--plot", picture], "needs a known shape"),
        (["--input-shape", "1,3,31,40", "--plot", str(tmp_path / "none" / "out.png")], "No such file"),
        (["--input-shape", "1,3,31,40", "--plot", str(tmp_path / "out.xyz")], "xyz"),
    ):
        result = invoke("receptive-field", path, *arguments)
        assert result.exit_code and text in " ".join(result.output.split()), result.output
        assert "Traceback" not in result.output
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = invoke("receptive-field", path, "--input-shape", "1,3,31,40", "--plot", picture)
    assert result.exit_code == 1 and "pip install 'onnxruntime-ep-exact[plot]'" in result.output
    (tmp_path / "m.onnx").write_bytes(b"not a model")
    assert "no ONNX model" in invoke("receptive-field", path).output
