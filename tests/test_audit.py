"""audit and strict: docs/audit.md."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from click.testing import CliRunner
from faces import EP, FACES, VERSION, cpu, graph, kernels_created, node
from helpers import bits, data, is_nan
from networks import find
from onnx import TensorProto, parser
from onnxruntime_ep_exact import InferenceSession, NotGuaranteedError, audit, cli, guarantee, measure, nature
from onnxruntime_ep_exact.folding import DECLARED
from onnxruntime_ep_exact.guarantee import BY_NATURE, BY_US, NOT
from onnxruntime_ep_exact.operators import TYPES
from onnxruntime_ep_exact.rewrites import reasons

F = np.float32
W = np.arange(54, dtype=F).reshape(2, 3, 3, 3) / 7
IMAGE = {"x": (F, ["n", 3, 8, 8])}


def parse(text, weights=None):
    model = parser.parse_model(text)
    model.graph.initializer.extend(onnx.numpy_helper.from_array(a, name) for name, a in (weights or {}).items())
    return model.SerializeToString()


def found(report):
    """(operator, graph) -> guarantees."""
    table = {}
    for n in report.nodes:
        table.setdefault((n.operator, n.graph), []).append(n.guarantee)
    return table


def one(nodes, inputs, weights=None, **kwargs):
    """The guarantee of the node whose name is "n"."""
    options = {k: kwargs.pop(k) for k in ("mode", "face", "sess_options") if k in kwargs}
    (row,) = (n for n in audit(graph(nodes, inputs, weights, **kwargs), **options).nodes if n.name == "n")
    return row


EXACT = graph(
    [node("Conv", ["x", "w"], ["a"], "conv"), node("Add", ["a", "a"], ["b"], "add"), node("Transpose", ["b"], name="move")],
    IMAGE,
    {"w": W},
)
INEXACT = graph([node("Conv", ["x", "w"], ["a"], "conv"), node("Atan", ["a"], name="gate")], IMAGE, {"w": W})


# ---- the table ----


def test_table_names_onnx_operators_that_are_not_ours():
    schemas = {s.name: s for s in onnx.defs.get_all_schemas() if s.domain == ""}
    assert set(schemas) >= nature.TYPES | set(nature.DIFFERS)
    assert not nature.TYPES & DECLARED
    assert not set(nature.DIFFERS) & DECLARED
    assert {"Cast", "CastLike"}.isdisjoint(nature.TYPES)
    kinds = [(op, kind) for rule in nature.RULES for op in rule.operators for kind in rule.types or {"any"}]
    assert len(kinds) == len(set(kinds))
    everything = {op for rule in nature.RULES if rule.types is None for op in rule.operators}
    assert everything.isdisjoint(op for op, kind in kinds if kind != "any")
    for rule in nature.RULES:
        for op in rule.operators if rule.types else ():
            texts = {t for c in schemas[op].type_constraints for t in c.allowed_type_strs}
            assert texts & {f"tensor({kind.lower()})" for kind in rule.types}, op


def test_table_is_in_the_page():
    page = (Path(__file__).parent.parent / "docs" / "audit.md").read_text("utf-8")
    for rule in nature.RULES:
        assert f"| {', '.join(sorted(rule.operators))} |" in page, rule
        assert rule.reason in page
    for operator, reason in nature.DIFFERS.items():
        assert any(operator in line and reason in line for line in page.splitlines()), operator


def test_fast_variants_are_those_of_the_pages():
    docs = Path(__file__).parent.parent / "docs"
    pages = {
        op: (docs / name).read_text("utf-8")
        for op, name in (
            ("Conv", "conv.md"),
            ("ConvTranspose", "conv_transpose.md"),
            ("MatMul", "matmul.md"),
            ("Gemm", "matmul.md"),
            ("Softmax", "softmax.md"),
            ("LogSoftmax", "softmax.md"),
            ("Attention", "attention.md"),
            ("Einsum", "einsum.md"),
        )
    }
    assert set(pages) == guarantee.FAST
    assert all("fast" in text.lower() for text in pages.values())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("op", ["Add", "Sub", "Mul", "Div", "Sqrt", "Abs", "Neg", "Floor", "Ceil", "Round"])
def test_one_ieee_operation(op, dtype):
    """ONNX Runtime's result is NumPy's, but for the bits of a NaN, at every length and position."""
    functions = {
        "Sub": np.subtract, "Mul": np.multiply, "Div": np.divide, "Sqrt": np.sqrt, "Abs": np.abs, "Neg": np.negative,
        "Floor": np.floor, "Ceil": np.ceil, "Round": np.rint,
    }  # fmt: skip
    function = functions.get(op, np.add)
    names = ["x", "z"][: function.nin]
    model = graph([node(op, names)], {n: (dtype, ["n"]) for n in names})
    (row,) = audit(model, face="custom_ops").nodes
    if {"Sqrt": (1, 22), "Ceil": (1, 24), "Floor": (1, 24)}.get(op, (0, 0)) > VERSION:
        assert (row.guarantee, row.reason) == (NOT, nature.DIFFERS[op])
        return
    assert (row.guarantee, row.nan) == (BY_NATURE, True)
    session = ort.InferenceSession(model, measure.options(1), providers=[measure.CPU])
    for n in (*range(1, 36), 1031):
        feeds = {name: data(np.random.default_rng([n, i]), (n,), dtype, "special") for i, name in enumerate(names)}
        (got,) = session.run(None, feeds)
        with np.errstate(all="ignore"):
            want = function(*feeds.values())
        assert (is_nan(got) == is_nan(want)).all()
        assert (bits(got) == bits(want))[~is_nan(want)].all(), n


def test_moved_elements_keep_every_bit():
    x = data(np.random.default_rng(3), (64,), F, "special")
    c = np.random.default_rng(4).random(64) < 0.5
    got = cpu(
        graph([node("Where", ["c", "x", "z"])], {"c": (bool, [64]), "x": (F, [64]), "z": (F, [64])}), {"c": c, "x": x, "z": -x}
    )
    assert (bits(got[0]) == bits(np.where(c, x, -x))).all()


# ---- the classes ----


@pytest.mark.parametrize("face", FACES)
def test_a_guaranteed_model(face):
    report = audit(EXACT, face=face)
    add = BY_US if face == "plugin" else BY_NATURE
    assert found(report) == {("Conv", ""): [BY_US], ("Add", ""): [add], ("Transpose", ""): [BY_NATURE]}
    assert report.guaranteed and report.failing == ()
    counts = {
        "plugin": "2 exact by us and 1 exact by nature",
        "custom_ops": "1 exact by us and 2 exact by nature, 1 of these but for the bits of a NaN",
    }
    assert report.verdict == f"GUARANTEED: 3 nodes, {counts[face]}"
    assert [n.provider for n in report.nodes if n.name == "conv"] == [EP if face == "plugin" else measure.CPU]
    assert (report.face, report.mode, report.onnxruntime) == (face, "exact", ort.__version__)


@pytest.mark.parametrize("face", FACES)
def test_a_model_that_is_not_guaranteed(face):
    report = audit(INEXACT, face=face)
    assert not report.guaranteed and report.verdict == "NOT GUARANTEED: 1 of 2 nodes"
    (row,) = report.failing
    assert (row.name, row.operator, row.reason) == ("gate", "Atan", nature.NO_PROMISE)


@pytest.mark.parametrize("face", FACES)
def test_fast_mode(face):
    model = graph(
        [node("Conv", ["x", "w"], ["a"], "n"), node("MaxPool", ["a"], name="p", kernel_shape=[2, 2])], IMAGE, {"w": W}
    )
    report = audit(model, mode="fast", face=face)
    assert found(report) == {("Conv", ""): [NOT], ("MaxPool", ""): [BY_US]}
    assert report.failing[0].reason == "fast mode"


@pytest.mark.parametrize("face", FACES)
def test_a_form_that_is_not_served(face):
    """The integer kernel of ReduceL2 is ONNX Runtime's on both faces."""
    report = audit(graph([node("ReduceL2", ["x"], axes=[0])], {"x": (np.int32, [3, 4])}), face=face)
    assert [(n.guarantee, "do not serve" in n.reason) for n in report.nodes] == [(NOT, True)]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("names, same", [(("a", "b"), True), (("", ""), False)])
def test_nodes_that_the_log_cannot_tell_apart(face, names, same):
    """Nodes without names: two that are ours are ours; of one that is ours and one that is not both are refused."""
    nodes = [
        node("ReduceL2", ["x"], ["a"], names[0], axes=[0], keepdims=0),
        node("ReduceL2", ["i"], ["c"], names[1], axes=[0], keepdims=0),
    ]
    report = audit(graph(nodes, {"x": (F, [3, 4]), "i": (np.int32, [3, 4])}, outputs=("a", "c")), face=face)
    assert sorted(n.guarantee for n in report.nodes) == sorted([BY_US, NOT] if same else [NOT, NOT])
    nodes[1] = node("ReduceL2", ["x"], ["c"], names[1], axes=[1], keepdims=0)
    report = audit(graph(nodes, {"x": (F, [3, 4])}, outputs=("a", "c")), face=face)
    assert [n.guarantee for n in report.nodes] == [BY_US, BY_US]


BODIES = """<ir_version: 8, opset_import: ["": 17]>
g (float[2,3,8,8] x, bool c) => (y, s)
{
  y = If (c) <
    then_branch = t () => (ty) { ta = Neg(x)  ty = MaxPool<kernel_shape=[2,2]>(ta) },
    else_branch = e () => (ey) { ea = Atan(x)  ey = MaxPool<kernel_shape=[2,2]>(ea) }
  >
  n = Constant<value_int=3>()
  s = Loop (n, c, x) <
    body = b (int64 i, bool go, float[2,3,8,8] state) => (stay, next) { stay = Identity(go)  next = CumSum(state, i) }
  >
}"""


@pytest.mark.parametrize("face", FACES)
def test_bodies(face):
    model = parser.parse_model(BODIES)
    for n in model.graph.node:
        n.name = n.op_type.lower()
    report = audit(model.SerializeToString(), face=face)
    want = {
        ("If", ""): [BY_NATURE],
        ("Neg", "if/then_branch"): [BY_US if face == "plugin" else BY_NATURE],
        ("MaxPool", "if/then_branch"): [BY_US],
        ("Atan", "if/else_branch"): [NOT],
        ("MaxPool", "if/else_branch"): [BY_US],
        ("Loop", ""): [BY_NATURE],
        ("Identity", "loop/body"): [BY_NATURE],
        ("CumSum", "loop/body"): [BY_US],
    }
    assert found(report) == want
    with pytest.raises(NotGuaranteedError, match="Atan 'ea' in if/else_branch"):
        InferenceSession(model.SerializeToString(), face=face, strict=True)


FUNCTION = """<ir_version: 8, opset_import: ["": 17, "own": 1]>
g (float[2,3,8,8] x) => (y) { a = own.centred(x)  y = own.centred(a) }
<domain: "own", opset_import: ["": 17]>
centred (q) => (r) { m = ReduceMean<keepdims=1>(q)  d = Sub(q, m)  r = %s(d) }"""


@pytest.mark.parametrize("face", FACES)
def test_functions(face):
    report = audit(parse(FUNCTION % "Atan"), face=face)
    assert found(report) == {
        ("ReduceMean", ""): [BY_US] * 2,
        ("Sub", ""): [BY_US if face == "plugin" else BY_NATURE] * 2,
        ("Atan", ""): [NOT] * 2,
    }
    InferenceSession(parse(FUNCTION % "Neg"), face=face, strict=True)


@pytest.mark.parametrize("face", FACES)
def test_constant_folding_computes_on_kernels_of_onnx_runtime(face):
    """The node is gone after the optimizer; its bits were made by the Atan of this processor."""

    def model(op):
        weights = {"w": W, "s": np.full((2, 1, 1), 0.3, F)}
        nodes = [
            node("Conv", ["x", "w"], ["a"], "conv"),
            node(op, ["s"], ["e"], "scale"),
            node("Mul", ["a", "e"], name="mul"),
        ]
        return graph(nodes, IMAGE, weights)

    report = audit(model("Atan"), face=face)
    assert Counter(n.provider == "constant folding" for n in report.nodes) == {False: 2, True: 1}
    (row,) = report.failing
    assert (row.name, row.operator, row.provider) == ("scale", "Atan", "constant folding")
    assert row.reason == f"computed when the model is loaded: {nature.NO_PROMISE}"
    assert audit(model("Neg"), face=face).guaranteed


TYPED = [  # with the plugin, with the custom-op library
    ("Add", F, BY_US, BY_NATURE, True),
    ("Add", np.int32, BY_NATURE, BY_NATURE, False),
    ("Mul", np.float64, BY_US, BY_NATURE, True),
    ("Max", F, BY_US, BY_US, False),
    ("Max", np.int64, BY_US, BY_US, False),
    ("Equal", F, BY_NATURE, BY_NATURE, False),
    ("Mod", np.int32, BY_NATURE, BY_NATURE, False),
]


@pytest.mark.parametrize("op, dtype, plugin, custom, nan", TYPED, ids=lambda v: getattr(v, "__name__", str(v)))
@pytest.mark.parametrize("face", FACES)
def test_types(op, dtype, plugin, custom, nan, face):
    row = one([node(op, ["x", "z"])], {"x": (dtype, ["n"]), "z": (dtype, ["n"])}, face=face)
    assert (row.guarantee, row.nan) == ((plugin, False) if face == "plugin" else (custom, nan))


CASTS = [
    (np.float32, TensorProto.FLOAT16, BY_NATURE),
    (np.float64, TensorProto.FLOAT, BY_NATURE),
    (np.int64, TensorProto.INT32, BY_NATURE),
    (np.int64, TensorProto.FLOAT, BY_NATURE),
    (np.float32, TensorProto.BOOL, BY_US),
    (np.float32, TensorProto.INT64, BY_US),
    (np.float64, TensorProto.UINT8, BY_US),
    (np.float64, TensorProto.FLOAT16, NOT),
    (np.float32, TensorProto.STRING, NOT),
]


@pytest.mark.parametrize("source, target, want", CASTS)
def test_casts(source, target, want):
    assert one([node("Cast", ["x"], to=target)], {"x": (source, ["n"])}).guarantee == (want if "plugin" in FACES else NOT)
    if want == BY_US:
        custom = one([node("Cast", ["x"], to=target)], {"x": (source, ["n"])}, face="custom_ops").guarantee
        assert custom == (BY_NATURE if target == TensorProto.BOOL else NOT)


def test_sums_and_dropout():
    three = {name: (F, ["n"]) for name in "abc"}
    assert one([node("Sum", "abc")], three).guarantee == BY_US
    weights = {"ratio": np.array(0.5, F), "training": np.array(True)}
    assert "random" in one([node("Dropout", ["x", "ratio", "training"])], {"x": (F, ["n"])}, weights).reason


def test_float16_between_inserted_casts():
    """Where onnxruntime has no float16 kernel it puts Casts around the node, on this processor."""
    nodes = [node("Add", ["x", "x"], ["a"], "one"), node("Sub", ["a", "x"], name="two")]
    if "plugin" in FACES:
        assert audit(graph(nodes, {"x": (np.float16, ["n"])}), face="plugin").counts[BY_US] == 2
    report = audit(graph(nodes, {"x": (np.float16, ["n"])}), face="custom_ops")
    assert not report.guaranteed
    assert {n.operator for n in report.failing} <= {"Cast", "Add", "Sub"}


def test_flushed_subnormals():
    options = measure.options(1)
    options.add_session_config_entry("session.set_denormal_as_zero", "1")
    row = one([node("Add", ["x", "x"])], {"x": (F, ["n"])}, sess_options=options, face="custom_ops")
    assert row.guarantee == NOT and "subnormals" in row.reason


@pytest.mark.parametrize("face", FACES)
def test_operators_of_other_domains(face):
    model = parse(
        '<ir_version: 8, opset_import: ["": 17, "com.microsoft": 1]> g (float[2] x) => (y) { y = com.microsoft.Gelu(x) }'
    )
    (row,) = audit(model, face=face).nodes
    assert (row.operator, row.guarantee) == ("com.microsoft:Gelu", NOT)


@pytest.mark.parametrize("face", FACES)
def test_a_session_with_another_provider(face):
    """Azure's takes no node of these models. From 1.24 on onnxruntime tells so; before, nobody knows."""
    if "AzureExecutionProvider" not in ort.get_available_providers():
        pytest.skip("this build of onnxruntime has one provider")
    if VERSION < (1, 24):
        with pytest.raises(NotGuaranteedError, match="Add add: it runs on another provider"):
            InferenceSession(EXACT, providers=["AzureExecutionProvider", measure.CPU], face=face, strict=True)
    elif VERSION >= (1, 25) or face == "custom_ops":
        InferenceSession(EXACT, providers=["AzureExecutionProvider", measure.CPU], face=face, strict=True)


# ---- rewrites ----


@pytest.mark.skipif("plugin" not in FACES, reason="the list is the plugin's")
def test_rewrites():
    norm = [np.ones(2, F)] * 4
    weights = {"w": W} | {f"p{i}": value for i, value in enumerate(norm)}
    nodes = [node("Conv", ["x", "w"], ["a"], "c"), node("BatchNormalization", ["a", "p0", "p1", "p2", "p3"], name="b")]
    report = audit(graph(nodes, IMAGE, weights), face="plugin")
    assert [r.name for r in report.rewrites] == list(reasons("plugin"))
    assert [r.name for r in report.rewrites if r.applies] == ["ConvBNFusion"]
    assert [r.name for r in report.rewrites if not r.disabled] == ["ConstantFolding"]
    folded = audit(
        graph(
            [node("MaxPool", ["w"], ["a"], "p", kernel_shape=[2, 2]), node("Add", ["x", "a"])],
            {"x": (F, [2, 3, 2, 2])},
            {"w": W},
        )
    )
    row = next(r for r in folded.rewrites if r.name == "ConstantFolding")
    assert (row.disabled, row.applies) == (True, True)


def test_rewrites_of_the_custom_op_library():
    rewrites = audit(EXACT, face="custom_ops").rewrites
    assert [r.name for r in rewrites] == list(reasons("custom_ops"))
    assert all(r.disabled and r.applies is None for r in rewrites)


# ---- strict ----


@pytest.mark.parametrize("face", FACES)
def test_strict(face, capfd):
    x = np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype(F)
    options = measure.options(1)
    before = options.log_severity_level, options.optimized_model_filepath
    InferenceSession(EXACT, face=face)
    lines = len({line.split(", ", 1)[-1] for line in capfd.readouterr().err.splitlines()})  # without the time
    session = InferenceSession(EXACT, options, face=face, strict=True)
    assert (options.log_severity_level, options.optimized_model_filepath) == before
    assert (bits(session.run(None, {"x": x})[0]) == bits(InferenceSession(EXACT, face=face).run(None, {"x": x})[0])).all()
    assert len({line.split(", ", 1)[-1] for line in capfd.readouterr().err.splitlines()}) == lines
    with pytest.raises(NotGuaranteedError) as caught:
        InferenceSession(INEXACT, face=face, strict=True)
    assert str(caught.value) == f"1 of 2 nodes are not guaranteed:\n  Atan gate: {nature.NO_PROMISE}"
    assert [n.name for n in caught.value.report.failing] == ["gate"]
    assert isinstance(caught.value, RuntimeError)


def test_strict_names_twenty_nodes():
    nodes = [node("Atan", [f"t{i}" if i else "x"], [f"t{i + 1}"], f"atan{i}") for i in range(25)]
    with pytest.raises(NotGuaranteedError) as caught:
        InferenceSession(graph(nodes, {"x": (F, ["n"])}, outputs=("t25",)), strict=True)
    lines = str(caught.value).splitlines()
    assert len(lines) == 22 and lines[0].startswith("25 of 25") and lines[-1] == "  and 5 more"


def test_strict_writes_the_file_that_the_caller_asked_for(tmp_path):
    options = measure.options(1)
    options.optimized_model_filepath = str(tmp_path / "mine.onnx")
    InferenceSession(EXACT, options, strict=True)
    assert [n.op_type for n in onnx.load(tmp_path / "mine.onnx").graph.node] == ["Conv", "Add", "Transpose"]


def test_standard_error_is_passed_on(capfd):
    options = ort.SessionOptions()
    options.log_severity_level = 1
    InferenceSession(EXACT, options, strict=True)
    assert f"{EP}: Conv node 'conv' runs the exact kernel" in capfd.readouterr().err


def test_an_error_of_onnxruntime_is_passed_on():
    options = ort.SessionOptions()
    for call in (lambda: audit(b"no model"), lambda: InferenceSession(b"no model", options, strict=True)):
        with pytest.raises(Exception, match=r"(?i)model|protobuf"):
            call()
    InferenceSession(EXACT, options, strict=True)  # nothing is left locked or redirected


def test_without_the_onnx_package(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    for call in (lambda: audit(EXACT), lambda: InferenceSession(EXACT, strict=True)):
        with pytest.raises(ImportError, match="needs the onnx package: pip install onnx"):
            call()


# ---- the command ----


def invoke(*arguments):
    return CliRunner().invoke(cli.main, ["audit", *map(str, arguments)])


@pytest.mark.parametrize("face", FACES)
def test_command(tmp_path, face):
    path = tmp_path / "m.onnx"
    path.write_bytes(EXACT)
    result = invoke(path, "--face", face)
    assert result.exit_code == 0 and result.output.rstrip().splitlines()[-1].startswith("GUARANTEED: 3 nodes")
    path.write_bytes(INEXACT)
    result = invoke(path, "--face", face)
    assert result.exit_code == 1 and result.output.rstrip().splitlines()[-1] == "NOT GUARANTEED: 1 of 2 nodes"
    path.write_bytes(b"not a model")
    result = invoke(path, "--face", face)
    assert result.exit_code == 2 and "Error" in result.output and "Traceback" not in result.output
    assert invoke(tmp_path / "none.onnx").exit_code == 2


def test_json(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(INEXACT)
    result = invoke(path, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 1
    assert set(report) == {"guaranteed", "verdict", "counts", "mode", "face", "onnxruntime", "nodes", "rewrites"}
    assert report["guaranteed"] is False and report["counts"] == {BY_US: 1, BY_NATURE: 0, NOT: 1}
    assert set(report["nodes"][0]) == {"name", "operator", "graph", "provider", "guarantee", "reason", "nan"}
    assert all(set(r) == {"name", "reason", "disabled", "applies"} for r in report["rewrites"])
    assert report == json.loads(json.dumps(audit(str(path)).as_dict()))


def test_html(tmp_path):
    path, page = tmp_path / "<m>.onnx", tmp_path / "out.html"
    path.write_bytes(graph([node("Atan", ["x"], name="<b>&")], {"x": (F, ["n"])}))
    assert invoke(path, "--html", page).exit_code == 1
    text = page.read_text("utf-8")
    assert "&lt;b&gt;&amp;" in text and "<b>" not in text and "&lt;m&gt;.onnx" in text
    assert "NOT GUARANTEED: 1 of 1 nodes" in text and text.count("<tr") == text.count("</tr>")
    assert invoke(path, "--html", tmp_path / "none" / "out.html").exit_code == 2


def test_standard_output_holds_json_alone(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(EXACT)
    command = [sys.executable, "-m", "onnxruntime_ep_exact.cli", "audit", str(path), "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and json.loads(done.stdout)["guaranteed"] is True


# ---- real networks ----


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ["PP-OCR classifier", "PP-OCRv5 recogniser", "mtcnn pnet", "magika"])
def test_network(name, face, request, tmp_path):
    """The nodes that are ours are those that the profile of a run shows (plugin), or the log of another session."""
    path, axes, _ = find(name, request.config.cache.mkdir("wheels"))
    report = audit(path, face=face)
    ours = Counter(n.name for n in report.nodes if n.guarantee == BY_US)
    assert ours == Counter(kernels_created(path, face))
    assert sum(ours.values()) >= 5
    if face == "plugin":
        from test_models import feeds

        ran = measure.placement(path, feeds(path, axes, 1), face)
        assert sum(ours.values()) == len([op for _, op, provider in ran if provider == EP])
    assert report.counts[NOT] + report.counts[BY_NATURE] + report.counts[BY_US] == len(report.nodes)
    assert all(n.provider in (EP, measure.CPU, "constant folding") for n in report.nodes)
    for n in report.nodes:
        if n.operator in (TYPES if face == "plugin" else DECLARED):
            assert n.guarantee in (BY_US, BY_NATURE), n


def test_networks_beside_the_log_of_the_other_face(request):
    if len(FACES) < 2:
        pytest.skip("one face")
    path, _, _ = find("PP-OCR classifier", request.config.cache.mkdir("wheels"))
    first, second = (audit(path, face=face) for face in FACES)
    assert first.guaranteed and second.guaranteed
    by_us, by_nature = ({n.operator for n in report.nodes if n.guarantee == BY_US} for report in (first, second))
    assert by_us - by_nature == {"Add", "Div", "Mul"} and not by_nature - by_us
