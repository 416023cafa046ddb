"""ort-exact digest and verify, and their twins in Python (docs/receipts.md)."""

import hashlib
import json
import platform
import struct
import subprocess
import sys
from pathlib import Path

import ml_dtypes
import numpy as np
import onnx
import onnxruntime as ort
import onnxruntime_ep_exact as exact
import pytest
from click.testing import CliRunner
from faces import FACES, VERSION, graph, node
from onnx import TensorProto, helper, numpy_helper
from onnxruntime_ep_exact import (
    ReceiptError,
    cli,
    inputs,
    kernels,
    measure,
    receipts,
    sealed,
    session,
    traces,
    values,
    verifying,
)
from onnxruntime_ep_exact.semantics import SEMANTICS

F = np.float32
W = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(F)
NODES = [
    node("Conv", ["x", "w"], ["a"], "conv", pads=[1, 1, 1, 1]),
    node("MaxPool", ["a"], ["b"], "pool", kernel_shape=[2, 2]),
    node("ReduceSum", ["b"], ["c"], "", keepdims=1),
    node("Sub", ["b", "c"], ["y"], "sub"),
]
MODEL = graph(NODES, {"x": (F, ["n", 3, "h", 8])}, {"w": W}, outputs=("y", "c"))
X = np.random.default_rng(2).standard_normal((2, 3, 6, 8)).astype(F)
#: A graph of which one node gives what onnxruntime.set_seed decides.
CHANCE = graph(
    [
        node("Conv", ["x", "w"], ["a"], "conv"),
        node("RandomUniformLike", ["a"], ["r"], "chance"),
        node("Sub", ["a", "r"], ["s"], "sub"),
        node("Abs", ["s"], ["y"], "abs"),
    ],
    {"x": (F, [1, 3, 6, 8])},
    {"w": W},
    outputs=("y", "a"),
)


@pytest.fixture
def files(tmp_path):
    """A model and its inputs below a folder with a space in its name."""
    folder = tmp_path / "a folder"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(MODEL)
    np.savez(folder / "x.npz", x=X)
    return folder


def invoke(*arguments):
    return CliRunner().invoke(cli.main, list(map(str, arguments)))


def reseal(data):
    """A receipt or trace as somebody would write it who changes its text and makes the checksums right."""
    data = {key: value for key, value in data.items() if key != "sha256"}
    if "result" in data:
        fields = {key: value for key, value in data.items() if key not in ("format", "result")}
        data["result"] = receipts.Receipt(**fields).result
    return sealed.seal(data)


# ---- the canonical form ----


def by_hand(text, data):
    return hashlib.sha256(text.encode() + data).hexdigest()


def test_canonical_form_of_tensors():
    cases = [
        ("float32", np.array([[1.5, -0.0, np.nan]], F), "float32[1,3]\n", struct.pack("<3f", 1.5, -0.0, np.nan)),
        ("int64", np.array(-2), "int64[]\n", struct.pack("<q", -2)),
        ("bool", np.array([True, False]), "bool[2]\n", b"\x01\x00"),
        ("uint16", np.array([1, 256], ">u2"), "uint16[2]\n", b"\x01\x00\x00\x01"),
        ("float16", np.zeros((0, 4), np.float16), "float16[0,4]\n", b""),
        (
            "string",
            np.array(["a", "bü"], object),
            "string[2]\n",
            b"\x01" + bytes(7) + b"a" + b"\x03" + bytes(7) + "bü".encode(),
        ),
    ]
    for kind, array, head, data in cases:
        assert values.sha256(values.Tensor(kind, array.shape, array)) == by_hand(head, data), kind
    fortran = np.asfortranarray(np.arange(6, dtype=F).reshape(2, 3))
    assert values.Tensor("float32", (2, 3), fortran).sha256 == by_hand("float32[2,3]\n", struct.pack("<6f", *range(6)))


def test_canonical_form_of_the_rest():
    one = values.Tensor("int64", (), np.array(1))
    assert values.sha256(None) == by_hand("none\n", b"")
    assert values.sha256([one, one]) == by_hand("sequence[2]\n", 2 * bytes.fromhex(one.sha256))
    keys = sorted((values.Tensor("int64", (), np.array(n)) for n in (5, 6)), key=lambda k: k.sha256)
    want = by_hand("map[2]\n", b"".join(bytes.fromhex(part.sha256) for key in keys for part in (key, one)))
    assert values.sha256({keys[0]: one, keys[1]: one}) == values.sha256({keys[1]: one, keys[0]: one}) == want


@pytest.mark.skipif(VERSION < (1, 18), reason="onnxruntime 1.17 has no 4-bit types")
def test_types_that_numpy_does_not_have():
    x = helper.make_tensor_value_info("x", TensorProto.BFLOAT16, [None])
    names = {"f": TensorProto.FLOAT, "b": TensorProto.BFLOAT16, "q": TensorProto.FLOAT8E4M3FN, "i": TensorProto.INT4}
    nodes = [helper.make_node("Cast", ["x"], ["f"], to=TensorProto.FLOAT)]
    nodes += [helper.make_node("Cast", ["f"], [name], to=kind) for name, kind in names.items() if name != "f"]
    outputs = [onnx.ValueInfoProto(name=name) for name in names]
    proto = helper.make_model(
        helper.make_graph(nodes, "g", [x], outputs), opset_imports=[helper.make_opsetid("", 21)], ir_version=10
    )
    x = np.array([1, -2, 3], ml_dtypes.bfloat16)
    made = exact.digest(proto.SerializeToString(), {"x": x.view(np.uint16)})
    bits = struct.pack("<3H", *x.view(np.uint16).tolist())
    want = {
        "f": by_hand("float32[3]\n", struct.pack("<3f", 1, -2, 3)),
        "b": by_hand("bfloat16[3]\n", bits),
        "q": by_hand("float8e4m3fn[3]\n", x.astype(ml_dtypes.float8_e4m3fn).tobytes()),
        "i": by_hand("int4[3]\n", b"\xe1\x03"),
    }
    assert {entry["name"]: entry["sha256"] for entry in made.outputs} == want
    assert made.inputs == [{"name": "x", "type": "bfloat16", "shape": [3], "sha256": want["b"]}]
    assert made.as_dict() == exact.digest(proto.SerializeToString(), {"x": x}).as_dict()
    with pytest.raises(ValueError, match=r"input x: float32 instead of bfloat16, whose bits are to be given as uint16"):
        exact.digest(proto.SerializeToString(), {"x": x.astype(F)})


def test_strings_and_sequences():
    text = graph([node("Identity", ["x"])], {"x": (object, ["n"])})
    made = exact.digest(text, {"x": np.array(["a", "bü"])})
    assert made.outputs[0]["sha256"] == made.inputs[0]["sha256"] and made.outputs[0]["type"] == "string"
    sequence = exact.digest(graph([node("SequenceConstruct", ["x", "x"])], {"x": (F, ["n"])}), {"x": X.ravel()})
    one = bytes.fromhex(sequence.inputs[0]["sha256"])
    want = {"name": "y", "type": "sequence", "shape": [2], "sha256": by_hand("sequence[2]\n", 2 * one)}
    assert sequence.outputs == [want]


# ---- drawn inputs ----


def test_drawn_inputs_are_the_words_of_the_generator():
    """By the rule of the page, from the 64-bit words alone; and what NumPy's own integers() gave so far."""
    for dtype, low, high in ((F, -(2**15), 2**15), (np.float64, -(2**15), 2**15), (np.int64, 0, 8), (np.bool_, 0, 2)):
        for shape in ((), (7,), (2, 3, 5), (0, 4)):
            got = inputs.draw(shape, dtype, np.random.default_rng([5, 1, 2]))
            count = int(np.prod(shape, dtype=int))
            raw = np.random.PCG64(np.random.SeedSequence([5, 1, 2])).random_raw(count + 1).tolist()
            words = [word >> shift & 0xFFFFFFFF for word in raw for shift in (0, 32)][:count]
            bits = {0: 16, 2: 1, -1: 3}[0 if low else 2 if high == 2 else -1]
            numbers = [(word >> 32 - bits) + low for word in words]
            want = np.array(numbers, np.float64) / 2**15 if low else np.array(numbers)
            assert got.dtype == dtype and np.array_equal(got, want.reshape(shape).astype(dtype))
            theirs = np.random.default_rng([5, 1, 2]).integers(low, high, shape)
            assert np.array_equal(got, (theirs / 2**15 if low else theirs).astype(dtype))


def test_drawn_inputs_are_made_again(files):
    out = files / "r.json"
    assert invoke("digest", files / "m.onnx", "--random", 7, "--dim", "h=10", "--batch", 3, "-o", out).exit_code == 0
    data = json.loads(out.read_text())
    assert data["drawn"] == {"seed": 7, "batch": 3, "dims": {"h": 10}} and data["input_file"] is None
    assert data["inputs"][0]["shape"] == [3, 3, 10, 8]
    assert invoke("verify", out).exit_code == 0
    assert receipts.load(out).outputs != exact.digest(MODEL, random=8, dims={"h": 10}, batch=3).outputs


# ---- making and verifying ----


def test_a_receipt(files):
    made = exact.digest(str(files / "m.onnx"), str(files / "x.npz"))
    data = made.as_dict()
    assert data["format"] == receipts.FORMAT and data["semantics"] == SEMANTICS and data["mode"] == "exact"
    assert data["model"] == {"file": str(files / "m.onnx"), "sha256": hashlib.sha256(MODEL).hexdigest(), "external": []}
    x = by_hand("float32[2,3,6,8]\n", X.tobytes())
    assert data["inputs"] == [{"name": "x", "type": "float32", "shape": [2, 3, 6, 8], "sha256": x}]
    want = exact.InferenceSession(MODEL).run(None, {"x": X})
    y = by_hand("float32[2,4,5,7]\n", want[0].tobytes())
    assert data["outputs"][0] == {"name": "y", "type": "float32", "shape": [2, 4, 5, 7], "sha256": y}
    assert data["audit"]["guaranteed"] and sum(data["audit"]["counts"].values()) == 4
    assert data["audit"]["verdict"] == exact.audit(MODEL).verdict
    about = data["made_with"]
    assert about["onnxruntime"] == ort.__version__ and about["face"] == FACES[0] and about["threads"] == 1
    assert {"onnxruntime-ep-exact", "numpy", "isa", "architecture", "system"} < about.keys()
    rest = {key: value for key, value in data.items() if key != "sha256"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"))
    assert data["sha256"] == hashlib.sha256(text.encode()).hexdigest()
    same = {key: data[key] for key in ("semantics", "mode", "inputs", "outputs")}
    same["model"] = {"sha256": data["model"]["sha256"], "external": []}
    text = json.dumps(same, sort_keys=True, separators=(",", ":"))
    assert data["result"] == made.result == hashlib.sha256(text.encode()).hexdigest()


def test_equal_on_every_face_and_thread_count(files):
    made = [exact.digest(MODEL, {"x": X}, face=face, threads=threads) for face in FACES for threads in (1, 2, 7)]
    assert len({receipt.result for receipt in made}) == 1
    assert {(r.made_with["face"], r.made_with["threads"]) for r in made} == {(f, n) for f in FACES for n in (1, 2, 7)}
    for face in FACES:
        for threads in (1, 2, 7):
            assert exact.verify(made[0], MODEL, {"x": X}, face=face, threads=threads).same


def test_commands(files, monkeypatch):
    out = files / "r.json"
    result = invoke("digest", files / "m.onnx", "--input", files / "x.npz", "-o", out)
    made = receipts.load(out)
    assert result.exit_code == 0 and f"result {made.result}" in result.output and "GUARANTEED: 4 nodes" in result.output
    result = invoke("verify", out)
    assert result.exit_code == 0 and result.output == f"SAME: 2 outputs, result {made.result}\n"
    found = json.loads(invoke("verify", out, "--json", "--threads", 2).stdout)
    assert found["same"] is True and found["receipt"]["outputs"] == made.outputs
    printed = invoke("digest", files / "m.onnx", "--input", files / "x.npz")
    assert json.loads(printed.stdout) == made.as_dict() and "GUARANTEED" in printed.stderr


def test_receipt_beside_its_files(files, tmp_path, monkeypatch):
    """The model is found by the name in the receipt: here, or from the receipt's folder, or beside the receipt."""
    monkeypatch.chdir(files)
    assert invoke("digest", "m.onnx", "--input", "x.npz", "-o", "r.json").exit_code == 0
    monkeypatch.chdir(tmp_path)
    assert invoke("verify", files / "r.json").exit_code == 0
    moved = files.rename(tmp_path / "moved")
    assert invoke("verify", moved / "r.json").exit_code == 0
    (moved / "m.onnx").rename(tmp_path / "other name")
    result = invoke("verify", moved / "r.json")
    assert result.exit_code == 2 and "the model m.onnx is neither here nor beside the receipt" in result.output
    assert invoke("verify", moved / "r.json", "--model", tmp_path / "other name").exit_code == 0


def test_without_the_onnx_package(files, monkeypatch):
    """verify does with onnxruntime and NumPy alone, but not with a trace."""
    out, trace = files / "r.json", files / "t.json"
    made = exact.digest(files / "m.onnx", files / "x.npz", trace=trace)
    made.save(out)
    monkeypatch.setitem(sys.modules, "onnx", None)
    assert exact.verify(out).same
    for call in (lambda: exact.digest(MODEL, {"x": X}), lambda: exact.verify(out, trace=trace)):
        with pytest.raises(ImportError, match="needs the onnx package: pip install onnx"):
            call()
    assert invoke("verify", out, "--trace", trace).exit_code == 2


def test_external_data(tmp_path):
    proto = onnx.load_model_from_string(MODEL)
    folder = tmp_path / "model"
    folder.mkdir()
    options = {"save_as_external_data": True, "location": "weights.bin", "size_threshold": 0}
    onnx.save_model(proto, folder / "m.onnx", **options)
    trace, out = tmp_path / "t.json", tmp_path / "r.json"
    made = exact.digest(folder / "m.onnx", {"x": X}, trace=trace)
    made.save(out)
    digest = hashlib.sha256((folder / "weights.bin").read_bytes()).hexdigest()
    assert made.model["external"] == [{"location": "weights.bin", "sha256": digest}]
    assert made.outputs == exact.digest(MODEL, {"x": X}).outputs and made.trace["faithful"]
    assert exact.verify(out, inputs={"x": X}, trace=trace).same
    with pytest.raises(ValueError, match="has to be given by its path"):
        exact.digest((folder / "m.onnx").read_bytes(), {"x": X})
    data = bytearray((folder / "weights.bin").read_bytes())
    data[0] ^= 1
    (folder / "weights.bin").write_bytes(data)
    with pytest.raises(ReceiptError, match=r"weights.bin is not the receipt's"):
        exact.verify(out, inputs={"x": X})
    (folder / "weights.bin").unlink()
    with pytest.raises(ReceiptError, match="No such file"):
        exact.verify(out, inputs={"x": X})
    for tensor in proto.graph.initializer:
        tensor.external_data[0].value = "../weights.bin"
    (folder / "m.onnx").write_bytes(proto.SerializeToString())
    with pytest.raises(ValueError, match="not below the model's folder"):
        exact.digest(folder / "m.onnx", {"x": X})


def test_different(tmp_path):
    out, trace, data = tmp_path / "r.json", tmp_path / "t.json", tmp_path / "t.npz"
    (tmp_path / "m.onnx").write_bytes(CHANCE)
    command = ["digest", tmp_path / "m.onnx", "--random", 0, "-o", out, "--trace", trace, "--trace-values", data]
    ort.set_seed(1)
    assert invoke(*command).exit_code == 0
    assert invoke("verify", out).exit_code == 0
    ort.set_seed(2)
    result = invoke("verify", out)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "DIFFERENT: 1 of 2 outputs: y",
        "The receipt says that not every node of the model is guaranteed",
    ]
    lines = invoke("verify", out, "--trace", trace, "--trace-values", data).output.splitlines()
    assert lines[2] == "Traces: 3 of 4 values differ"
    assert lines[3].startswith("First: RandomUniformLike chance, output r, ") and " ulp, scaled error 0." in lines[3]
    found = json.loads(invoke("verify", out, "--trace", trace, "--json").stdout)
    first = {"node": "chance", "operator": "RandomUniformLike", "output": "r", "ulp": None, "scaled_error": None}
    assert found["first"] == first and found["compared"] == [4, 3]


# ---- traces ----


@pytest.mark.parametrize("face", FACES)
def test_trace(tmp_path, face):
    """Every value of the graph, and outputs that are those of a run without trace."""
    path, data = tmp_path / "t.json", tmp_path / "values"
    made = exact.digest(MODEL, {"x": X}, face=face, trace=path, trace_values=data)
    plain = exact.digest(MODEL, {"x": X}, face=face)
    assert made.result == plain.result and plain.trace is None
    trace = traces.load(path)
    assert made.trace == {"sha256": json.loads(path.read_text())["sha256"], "graph": "model", "faithful": True}
    assert [(e.node, e.operator, e.output) for e in trace.values] == [
        ("conv", "Conv", "a"),
        ("pool", "MaxPool", "b"),
        ("c", "ReduceSum", "c"),
        ("sub", "Sub", "y"),
    ]
    sha256 = {entry.output: entry.sha256 for entry in trace.values}
    assert [sha256[entry["name"]] for entry in made.outputs] == [entry["sha256"] for entry in made.outputs]
    alone = graph(NODES[:1], {"x": (F, ["n", 3, "h", 8])}, {"w": W}, outputs=("a",))
    assert exact.digest(alone, {"x": X}).outputs[0]["sha256"] == sha256["a"]
    with np.load(data) as arrays:
        assert arrays["0"].shape == (2, 4, 6, 8) and sorted(arrays.files) == ["0", "1", "2", "3"]
    found = exact.verify(made, MODEL, {"x": X}, trace=path, trace_values=data)
    assert found.same and found.first is None and found.compared == (4, 0) and found.note == ""


def test_first_difference_is_the_first_in_topological_order(tmp_path):
    """Traces in which values differ that were changed by hand."""
    path = tmp_path / "t.json"
    made = exact.digest(MODEL, {"x": X}, trace=path)
    data = json.loads(path.read_text())
    for number in (3, 1):
        data["values"][number]["sha256"] = "0" * 64
    data["values"] = data["values"][::-1]
    path.write_text(json.dumps(reseal(data)))
    found = exact.verify(made, MODEL, {"x": X}, trace=path)
    assert found.same and (found.first.node, found.first.operator, found.first.output) == ("pool", "MaxPool", "b")
    assert found.compared == (4, 2)


def test_trace_of_functions_and_bodies(tmp_path):
    """What is inside a model-local function is traced; the body of an If is covered by the outputs of the node."""
    inner = [helper.make_node("Neg", ["p"], ["t"]), helper.make_node("Sub", ["p", "t"], ["q"])]
    function = helper.make_function("local", "Twice", ["p"], ["q"], inner, [helper.make_opsetid("", 17)])
    branch = [
        helper.make_graph([helper.make_node(op, ["u"], [f"{op}_out"])], op, [], [onnx.ValueInfoProto(name=f"{op}_out")])
        for op in ("Neg", "Identity")
    ]
    for body in branch:
        body.output[0].type.tensor_type.elem_type = TensorProto.FLOAT
    nodes = [
        helper.make_node("Twice", ["x"], ["u"], "call", domain="local"),
        helper.make_node("If", ["c"], ["y"], "choice", then_branch=branch[0], else_branch=branch[1]),
    ]
    made = helper.make_graph(
        nodes,
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [None]),
            helper.make_tensor_value_info("c", TensorProto.BOOL, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None])],
    )
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("local", 1)]
    model = helper.make_model(made, opset_imports=imports, functions=[function], ir_version=8).SerializeToString()
    path = tmp_path / "t.json"
    receipt = exact.digest(model, {"x": X.ravel(), "c": np.array(True)}, trace=path)
    assert receipt.trace["faithful"]
    assert [entry.operator for entry in traces.load(path).values] == ["Neg", "Sub", "If"]


def fused(monkeypatch):
    """(model, inputs) that ONNX Runtime's DivMulFusion rewrites, with other bits; no rewrite is switched off."""
    monkeypatch.setattr(session, "_disable", lambda options, wanted: None)
    nodes = [node("Div", ["one", "x"], ["d"], "div"), node("Mul", ["d", "z"], ["y"], "mul")]
    model = graph(nodes, {"x": (F, ["n"]), "z": (F, ["n"])}, {"one": np.array(1, F)})
    return model, {"x": np.arange(1, 99, dtype=F), "z": np.arange(101, 199, dtype=F)}


def test_trace_of_a_graph_that_is_fused_without_it(monkeypatch, tmp_path):
    model, feeds = fused(monkeypatch)
    path = tmp_path / "t.json"
    made = exact.digest(model, feeds, trace=path)
    assert made.outputs[0]["sha256"] == values.Tensor("float32", (98,), feeds["z"] / feeds["x"]).sha256
    assert made.trace["graph"] == "optimized" and made.trace["faithful"]
    assert [entry.operator for entry in traces.load(path).values] == ["Div"]
    found = exact.verify(made, model, feeds, trace=path)
    assert found.same and found.compared == (1, 0) and found.note == ""
    data = json.loads(path.read_text())
    data["graph"] = "model"
    path.write_text(json.dumps(reseal(data)))
    assert "are optimized here and model there" in exact.verify(made, model, feeds, trace=path).note


def test_trace_that_changes_the_outputs(monkeypatch, tmp_path):
    """A fused graph as above, and random numbers, which are others when there are fewer nodes before theirs."""
    base, feeds = fused(monkeypatch)
    proto = onnx.load_model_from_string(base)
    proto.graph.node.append(node("RandomUniformLike", ["y"], ["r"], "chance"))
    proto.graph.output.append(onnx.ValueInfoProto(name="r"))
    model, path = tmp_path / "m.onnx", tmp_path / "t.json"
    model.write_bytes(proto.SerializeToString())
    np.savez(tmp_path / "x.npz", **feeds)
    command = ["digest", model, "--input", tmp_path / "x.npz", "-o", tmp_path / "r.json", "--trace", path]
    result = invoke(*command)
    assert result.exit_code == 0 and "The trace changed the outputs" in result.output
    trace = traces.load(path)
    assert (trace.graph, trace.faithful) == ("model", False)
    found = exact.verify(tmp_path / "r.json", trace=path)
    assert found.same and found.first is None and "a trace changed the outputs" in found.note


# ---- what cannot be used ----


def unusable(path, text, **kwargs):
    with pytest.raises(ReceiptError, match=text):
        exact.verify(path, MODEL, {"x": X}, **kwargs)


@pytest.fixture
def receipt(tmp_path):
    path = tmp_path / "r.json"
    exact.digest(MODEL, {"x": X}).save(path)
    return path


def test_damaged_receipts(receipt, tmp_path, monkeypatch):
    text = receipt.read_text()
    for damaged in ("", "{", text[: len(text) // 2], "[" * 100_000, "null", "[]", "{}", '{"format": 3}', "\0", "\ud800"):
        receipt.write_bytes(damaged.encode("utf-8", "surrogatepass"))
        unusable(receipt, "not a receipt")
        assert invoke("verify", receipt).exit_code == 2
    receipt.write_text(text.replace('"architecture": "', '"architecture": "x'))
    unusable(receipt, "was changed after it was made")
    for number in range(len(text)):  # every single character
        if number % 97 == 0 and text[number].isalnum():
            receipt.write_text(text[:number] + ("0" if text[number] != "0" else "1") + text[number + 1 :])
            with pytest.raises(ReceiptError):
                receipts.load(receipt)
    unusable(tmp_path, "Is a directory")
    unusable(tmp_path / "none", "No such file")
    monkeypatch.setattr(sealed, "LARGEST", 100)
    unusable(receipt, "too large")


def test_forged_receipts(receipt):
    """With a right checksum, and wrong insides."""
    good = json.loads(receipt.read_text())

    def forged(**changes):
        receipt.write_text(json.dumps(sealed.seal({k: v for k, v in (good | changes).items() if k != "sha256"})))

    forged(outputs=[])
    unusable(receipt, "its result is not that of what it lists")
    for changes in ({"more": 1}, {"inputs": 3}, {"outputs": [{}]}, {"model": {}}, {"model": None}, {"drawn": 7}):
        forged(**changes)
        unusable(receipt, "not a receipt of this version")
    forged(model={"file": None, "sha256": "0", "external": [{"location": "/etc/passwd", "sha256": ""}]})
    unusable(receipt, "not below the model's folder")
    for changes, text in (
        ({"semantics": SEMANTICS + 1}, f"semantics version {SEMANTICS + 1}, this library {SEMANTICS}"),
        ({"mode": "quick"}, "mode must be one of"),
        ({"outputs": good["outputs"][:1]}, "other outputs than the model has"),
        ({"made_with": []}, "not a receipt of this version"),
        ({"made_with": {"threads": "many"}}, "not a receipt of this version"),
        ({"made_with": good["made_with"] | {"threads": 10**6}}, "not a receipt of this version: 1000000 threads"),
    ):
        receipt.write_text(json.dumps(reseal(good | changes)))
        with pytest.raises(ValueError, match=text):
            exact.verify(receipt, MODEL, {"x": X})
    receipt.write_text(json.dumps(reseal(good) | {"format": "ort-exact receipt 9"}))
    unusable(receipt, "its format is 'ort-exact receipt 9'")


def test_other_model_and_other_inputs(receipt, tmp_path):
    other = graph(NODES, {"x": (F, ["n", 3, "h", 8])}, {"w": W + 1}, outputs=("y", "c"))
    with pytest.raises(ReceiptError, match="the model is not the receipt's"):
        exact.verify(receipt, other, {"x": X})
    (tmp_path / "other.onnx").write_bytes(other)
    result = invoke("verify", receipt, "--model", tmp_path / "other.onnx")
    assert result.exit_code == 2 and "is not the receipt's" in result.output
    with pytest.raises(ReceiptError, match="names no file for the model"):
        exact.verify(receipt)
    with pytest.raises(ReceiptError, match="names no file for the inputs"):
        exact.verify(receipt, MODEL)
    for feeds, text in (
        ({"x": -X}, "inputs that are not the receipt's: x"),
        ({"x": X[:1]}, "inputs that are not the receipt's: x"),
        ({"x": X.astype(np.float64)}, "input x: float64 instead of float32"),
        ({"z": X}, "the inputs of the model are x; missing are x and unknown are z"),
        ({}, "missing are x"),
    ):
        with pytest.raises(ReceiptError, match=text):
            exact.verify(receipt, MODEL, feeds)
    for place, text in ((tmp_path, "is a directory|directory"), (tmp_path / "none", "No such file")):
        with pytest.raises(ReceiptError, match=f"(?i){text}"):
            exact.verify(receipt, place, {"x": X})


def test_traces_that_cannot_be_used(receipt, tmp_path):
    path, data = tmp_path / "t.json", tmp_path / "t.npz"
    exact.digest(MODEL, {"x": X}, trace=path, trace_values=data)
    good = json.loads(path.read_text())
    unusable(receipt, "values of a trace without the trace", trace_values=data)
    unusable(receipt, "its format is", trace=receipt)
    for changes, text in (
        ({"model": "0"}, "of another model, mode or input"),
        ({"mode": "fast"}, "of another model, mode or input"),
        ({"semantics": 99}, "semantics version 99"),
        ({"values": [{}]}, "not a trace of this version"),
        ({"values": 3}, "not a trace of this version"),
    ):
        path.write_text(json.dumps(reseal(good | changes)))
        unusable(receipt, text, trace=path)
    path.write_text(json.dumps(good)[:-9])
    unusable(receipt, "not a trace", trace=path)
    changed = json.loads(json.dumps(good))
    changed["values"][0]["sha256"] = "0" * 64
    path.write_text(json.dumps(reseal(changed)))
    unusable(receipt, "its values are not those of the trace", trace=path, trace_values=data)
    data.write_bytes(b"PK\3\4 no archive")
    unusable(receipt, "not an .npz file of values", trace=path, trace_values=data)


def test_inputs_that_cannot_be_used(files, tmp_path):
    model = files / "m.onnx"
    np.savez(tmp_path / "names.npz", y=X)
    np.savez(tmp_path / "types.npz", x=X.astype(np.float16))
    np.savez(tmp_path / "shapes.npz", x=X[0])
    np.save(tmp_path / "one.npy", X)
    np.savez(tmp_path / "objects.npz", x=np.array([{}], object))
    (tmp_path / "broken.npz").write_bytes((files / "x.npz").read_bytes()[:90])
    (tmp_path / "empty.npz").write_bytes(b"")
    for name, text in (
        ("names.npz", "the inputs of the model are x; missing are x and unknown are y"),
        ("types.npz", "input x: float16 instead of float32"),
        ("shapes.npz", "x"),
        ("one.npy", "not an .npz file of inputs: it holds one array"),
        ("objects.npz", "not an .npz file of inputs"),
        ("broken.npz", "not an .npz file of inputs"),
        ("empty.npz", "not an .npz file of inputs"),
    ):
        result = invoke("digest", model, "--input", tmp_path / name)
        assert result.exit_code == 2 and text in result.output and "Traceback" not in result.output, result.output
    for arguments, text in (
        ([], "missing are x"),
        (["--random", 1, "--dim", "h=99999999999"], "at most 134217728 are drawn"),
        (["--random", 1, "--batch", 10**12], "at most 134217728 are drawn"),
        (["--random", -1], "must not be negative"),
        (["--random", 1, "--dim", "h=-3"], "must not be negative"),
        (["--random", 1, "--dim", "h"], "NAME=SIZE"),
        (["--random", 1, "--input", files / "x.npz"], "exclude each other"),
        (["--batch", 3], "are for --random"),
        (["--random", 1, "--threads", -4], "-4 threads: at least 0 and at most 1024"),
        (["--random", 1, "--threads", 10**9], "at most 1024"),
        (["--input", tmp_path], "is a directory"),
        (["--random", 1, "-o", tmp_path], "is a directory"),
        (["--random", 1, "-o", tmp_path / "none" / "r.json"], "No such file"),
    ):
        result = invoke("digest", model, *arguments)
        assert result.exit_code == 2 and text in result.output and "Traceback" not in result.output, result.output
    for bad in (tmp_path, tmp_path / "none", tmp_path / "empty.npz"):
        assert invoke("digest", bad, "--random", 1).exit_code == 2
    with pytest.raises(ValueError, match="no file"):
        exact.digest(tmp_path, random=1)
    with pytest.raises(ValueError, match="the onnx package cannot read"):
        exact.digest(b"no model", random=1)
    with pytest.raises(ValueError, match="either given or drawn"):
        exact.digest(MODEL, {"x": X}, random=1)


def test_arrays_of_any_layout():
    want = exact.digest(MODEL, {"x": X}).result
    for other in (X.astype(">f4"), np.asfortranarray(X), np.repeat(X, 2, axis=3)[..., ::2], X.tolist()):
        given = {"x": other if isinstance(other, np.ndarray) else np.array(other, F)}
        assert exact.digest(MODEL, given).result == want


def test_an_initializer_may_be_given():
    proto = onnx.load_model_from_string(MODEL)
    proto.graph.input.append(helper.make_tensor_value_info("w", TensorProto.FLOAT, W.shape))
    model = proto.SerializeToString()
    given = exact.digest(model, {"x": X, "w": W + 1})
    assert [entry["name"] for entry in given.inputs] == ["x", "w"]
    changed = onnx.load_model_from_string(MODEL)
    changed.graph.initializer[0].CopyFrom(numpy_helper.from_array(W + 1, "w"))
    assert given.outputs == exact.digest(changed.SerializeToString(), {"x": X}).outputs != exact.digest(model, {"x": X}).outputs


def test_the_page_gives_the_version():
    """docs/receipts.md has a row for every version of the bits."""
    page = (Path(__file__).parent.parent / "docs" / "receipts.md").read_text("utf-8")
    rows = page.split("<!-- semantics -->")[1].split("<!-- /semantics -->")[0]
    numbers = [line.split("|")[1].strip() for line in rows.splitlines() if line.startswith("|")][2:]
    assert numbers == [str(number) for number in range(1, SEMANTICS + 1)]


def test_public_names():
    assert exact.digest is receipts.digest and exact.verify is verifying.verify and exact.ReceiptError is ReceiptError
    assert {"digest", "verify", "diff", "ReceiptError"} <= set(exact.__all__)
    assert measure.faces() == FACES


def test_tool_for_other_processors(tmp_path):
    """On this processor: a receipt is made here and verified in another process."""
    (tmp_path / "chance.onnx").write_bytes(CHANCE)
    tool = Path(__file__).parent.parent / "tools" / "receipts_cpus.py"
    command = [sys.executable, str(tool), str(tmp_path / "chance.onnx"), "--cpus", "native"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ours = f"native ({platform.machine()} {kernels.isa()})"
    assert f"{ours} demo.onnx: same" in done.stdout and "demo.onnx: " in done.stdout
    assert f"{ours} chance.onnx: " in done.stdout
