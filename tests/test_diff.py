"""ort-exact diff and its twin in Python (docs/receipts.md)."""

import json
import math

import ml_dtypes
import numpy as np
import onnx
import onnxruntime_ep_exact as exact
import pytest
from click.testing import CliRunner
from faces import FACES, cpu, graph, node
from helpers import scaled_error
from onnx import TensorProto, helper
from onnxruntime_ep_exact import cli, differences, islands, values

F = np.float32
RNG = np.random.default_rng(4)
X = RNG.standard_normal((2, 40, 30)).astype(F)
W = RNG.standard_normal((30, 30)).astype(F)
NODES = [
    node("MatMul", ["x", "w"], ["a"], "first"),
    node("Transpose", ["a"], ["b"], "move", perm=[0, 2, 1]),
    node("ReduceSum", ["a"], ["c"], "", keepdims=1),
    node("MatMul", ["b", "a"], ["y"], "second"),
]
MODEL = graph(NODES, {"x": (F, ["n", 40, 30])}, {"w": W}, outputs=("y", "c"))


def tensor(array, kind=None):
    return values.Tensor(kind or array.dtype.name, array.shape, array)


def between(got, want):
    return differences.between(tensor(got), tensor(want))


# ---- distances ----


@pytest.mark.parametrize("dtype", [np.float16, F, np.float64])
def test_ulp(dtype):
    steps = np.array([1, 2, 1.5, 0, -1], dtype)
    for count in (1, 5):
        moved = steps
        for _ in range(count):
            moved = np.nextafter(moved, dtype(np.inf))
        assert between(moved, steps)[0] == count
    tiny = np.finfo(dtype).smallest_subnormal
    assert between(np.array([tiny]), np.array([-tiny]))[0] == 2
    assert between(np.array([0.0], dtype), np.array([-0.0], dtype)) == (0, 0)
    largest = np.finfo(dtype).max
    assert between(np.array([largest]), np.array([np.inf], dtype)) == (1, math.inf)
    assert between(np.array([np.inf], dtype), np.array([-np.inf], dtype))[1] == math.inf
    assert between(np.array([np.nan, 1], dtype), np.array([-np.nan, 1], dtype)) == (0, 0)
    assert between(np.array([np.nan], dtype), np.array([1], dtype)) == (math.inf, math.inf)
    assert between(np.array([-largest]), np.array([largest]))[0] == 2.0 * int(np.array(largest).view(f"u{tiny.itemsize}"))


def test_scaled_error_is_that_of_the_other_tests():
    for _ in range(20):
        want = RNG.standard_normal(50).astype(F) * F(RNG.choice([0.01, 1, 1000]))
        want[:2] = np.inf, np.nan
        got = want + RNG.standard_normal(50).astype(F) / 1000
        assert between(got, want)[1] == scaled_error(got, want) > 0


def test_other_types():
    assert between(np.array([1, -5]), np.array([1, 9])) == (14, 14 / 9)
    assert between(np.array([2**64 - 1], np.uint64), np.array([0], np.uint64))[0] == 2.0**64
    assert between(np.array([True]), np.array([False])) == (1, 1)
    assert between(np.array([1.0], F), np.array([1.0])) == between(np.zeros(2, F), np.zeros(3, F)) == (math.inf, math.inf)
    one, two = (np.array([v], ml_dtypes.bfloat16).view(np.uint16) for v in (1.0, 1.0078125))
    assert differences.between(tensor(two, "bfloat16"), tensor(one, "bfloat16")) == (1, 0.0078125)
    assert differences.between([tensor(one)], [tensor(one)]) == (0, 0)
    assert differences.between([tensor(one)], [tensor(two)]) == (math.inf, math.inf)
    words = [tensor(np.array([w], object), "string") for w in "ab"]
    assert differences.between(words[0], words[0]) == (0, 0)
    assert differences.between(*words) == (math.inf, math.inf)
    empty = np.zeros((0, 3), F)
    assert between(empty, empty) == (0, 0)


# ---- rows ----


@pytest.mark.parametrize("face", FACES)
def test_rows(face):
    """The numbers of each row, from sessions that are made here."""
    rows = exact.diff(MODEL, {"x": X}, face=face)
    assert [(row.node, row.operator, row.output) for row in sorted(rows, key=lambda r: r.output)] == [
        ("first", "MatMul", "a"),
        ("move", "Transpose", "b"),
        ("c", "ReduceSum", "c"),
        ("second", "MatMul", "y"),
    ]
    keys = [(row.scaled_error, row.total_scaled_error) for row in rows]
    assert keys == sorted(keys, reverse=True)
    named = {row.output: row for row in rows}
    inner = graph(NODES, {"x": (F, ["n", 40, 30])}, {"w": W}, outputs=("a", "b", "c", "y"))
    ours, theirs = exact.InferenceSession(inner, face=face).run(None, {"x": X}), cpu(inner, {"x": X})
    for number, name in enumerate("abcy"):
        row, pair = named[name], (theirs[number], ours[number])
        assert row.total_scaled_error == scaled_error(*pair) and row.elements == ours[number].size
        assert row.different == (pair[0].view(np.uint32) != pair[1].view(np.uint32)).sum()
        assert row.ours == (name != "b") and row.why == ""
    second = graph([NODES[3]], {"b": (F, ["n", 30, 40]), "a": (F, ["n", 40, 30])})
    feeds = {"b": ours[1], "a": ours[0]}
    alone = cpu(second, feeds)[0], exact.InferenceSession(second, face=face).run(None, feeds)[0]
    assert named["y"].scaled_error == scaled_error(*alone)
    assert named["b"].ulp == 0 and named["b"].scaled_error == 0
    assert named["y"].different > 0 and named["y"].total_ulp >= named["y"].ulp >= 0


def test_a_difference_that_is_handed_on_is_not_the_nodes_own():
    """Only the first node differs: what the second one makes of it is in its total alone."""
    nodes = [node("MatMul", ["x", "w"], ["a"], "first"), node("Transpose", ["a"], ["y"], "move", perm=[1, 0])]
    x, w = (RNG.standard_normal(shape).astype(F) for shape in ((20, 3000), (3000, 8)))
    model = graph(nodes, {"x": (F, x.shape)}, {"w": w})
    rows = {row.node: row for row in exact.diff(model, {"x": x})}
    assert rows["first"].different and rows["first"].scaled_error == rows["first"].total_scaled_error > 0
    assert (rows["move"].ulp, rows["move"].scaled_error) == (0, 0)
    assert rows["move"].total_scaled_error == rows["first"].total_scaled_error


def test_nodes_of_constants_sequences_and_bodies():
    body = [
        helper.make_graph(
            [helper.make_node("MatMul", ["a", name], ["out"], f"in_{name}")],
            name,
            [],
            [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
        )
        for name in ("w", "t")
    ]
    nodes = [
        node("Transpose", ["w"], ["t"], "folded"),
        node("MatMul", ["x", "t"], ["a"], "product"),
        node("If", ["c"], ["i"], "choice", then_branch=body[0], else_branch=body[1]),
        node("SequenceConstruct", ["a", "i"], ["s"], "pack"),
        node("SequenceAt", ["s", "zero"], ["y"], "unpack"),
    ]
    inputs = {"x": (F, ["n", 40, 30]), "c": (np.bool_, [])}
    model = graph(nodes, inputs, {"w": W, "zero": np.array(0)}, outputs=("y", "i"))
    rows = {row.node: row for row in exact.diff(model, {"x": X, "c": np.array(False)})}
    assert rows["folded"].ulp is None and rows["folded"].why == "computed of constants or shapes alone"
    assert rows["unpack"].ulp is None and rows["unpack"].why == "its input s cannot be given"
    assert rows["product"].ours and rows["product"].ulp is not None
    assert rows["choice"].ulp is not None and rows["choice"].elements == X.size
    assert rows["pack"].scaled_error == 0 and rows["pack"].elements == 1


def test_a_graph_of_constants_alone():
    model = graph([node("Transpose", ["w"], ["y"], "folded")], {"x": (F, [2])}, {"w": W})
    (row,) = exact.diff(model, {"x": X[0, 0, :2]})
    assert row.ulp is None and row.different == 0
    assert exact.diff(graph([], {"x": (F, [2])}, outputs=("x",)), {"x": X[0, 0, :2]}) == []


def test_islands_have_no_edges():
    proto = onnx.load_model_from_string(MODEL)
    known = {name: tensor(X) for name in ("x", "a", "b", "c", "y")}
    fed, why = islands.take_apart(proto, known)
    assert fed == ["x", "a", "b"] and why == {}
    written = {name for n in proto.graph.node for name in n.output}
    assert not written & {name for n in proto.graph.node for name in n.input}
    assert [t.name for t in proto.graph.initializer] == ["w"]


# ---- the command ----


def invoke(*arguments):
    return CliRunner().invoke(cli.main, ["diff", *map(str, arguments)])


def test_command(tmp_path):
    path = tmp_path / "a [model].onnx"
    path.write_bytes(MODEL)
    np.savez(tmp_path / "x.npz", x=X)
    result = invoke(path, "--input", tmp_path / "x.npz")
    rows = exact.diff(MODEL, {"x": X})
    assert result.exit_code == 0 and "a [model].onnx" in result.output
    shown = [line for line in result.output.splitlines() if line.startswith("│")]
    assert len(shown) == sum(1 for row in rows if row.ulp or row.different) > 0
    assert result.output.splitlines()[-1].startswith("4 outputs of nodes: ")
    everything = invoke(path, "--input", tmp_path / "x.npz", "--all").output
    assert sum(line.startswith("│") for line in everything.splitlines()) == 4
    found = json.loads(invoke(path, "--input", tmp_path / "x.npz", "--json").stdout)
    assert found == [row.as_dict() for row in rows]
    drawn = invoke(path, "--random", 3, "--batch", 2, "--threads", 2, "--mode", "fast", "--json")
    assert drawn.exit_code == 0 and json.loads(drawn.stdout)[0]["elements"] > 0


def test_infinity_in_json():
    row = differences.Row("n", "Op", "y", True, math.inf, 0.0, 1.0, math.inf, 1, 2)
    assert json.loads(json.dumps(row.as_dict(), allow_nan=False))["total_scaled_error"] == "inf"


def test_errors(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(MODEL)
    np.savez(tmp_path / "z.npz", z=X)
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    for arguments, text in (
        ([path], "missing are x"),
        ([path, "--input", tmp_path / "z.npz"], "unknown are z"),
        ([path, "--input", tmp_path / "none.npz"], "does not exist"),
        ([path, "--random", 1, "--batch", 10**12], "are drawn"),
        ([tmp_path / "bad.onnx", "--random", 1], "Error"),
        ([tmp_path, "--random", 1], "is a directory"),
    ):
        result = invoke(*arguments)
        assert result.exit_code == 2 and text in result.output and "Traceback" not in result.output, result.output
    with pytest.raises(ValueError, match="no file"):
        exact.diff(tmp_path, random=1)
