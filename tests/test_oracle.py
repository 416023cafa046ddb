"""The differential oracles: recorded results of ONNX Runtime replayed, live cases, the tools themselves. docs/oracles.md"""

import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tools"))

from oracle import kinds, main, pool, registry, report, runners, shrink, store, wire  # noqa: E402
from oracle.cases import Case, from_json, to_json  # noqa: E402
from oracle.compare import evaluate  # noqa: E402

TOOLS = {
    "conv": "ops_conv_oracle",
    "norms": "ops_norms",
    "pointwise": "ops_pointwise",
    "quantized": "ops_quantized",
    "recurrent": "ops_recurrent",
    "attention": "ops_attention",
}
DATA = ROOT / "tests" / "data"


def run(group, folder, *arguments):
    """Exit code and rows of a run."""
    rows = folder / "rows.jsonl"
    code = main.run(TOOLS[group], group, "", [*map(str, arguments), "--rows", str(rows)])
    return code, [json.loads(line) for line in rows.read_text().splitlines()[1:]]


@pytest.mark.parametrize("group", TOOLS)
def test_replay(group, tmp_path, capsys):
    """Every recorded case is explained. A recording that the generators have left behind is an error."""
    code, rows = run(group, tmp_path, "--replay", DATA / f"oracle-{group}.jsonl.xz")
    assert code == 0, capsys.readouterr().out
    assert {row["operator"] for row in rows} == {row.name for row in registry.OPERATORS if row.group == group}
    assert any(row["ort"] == "value" for row in rows) and all(row["bits"] for row in rows)


@pytest.mark.parametrize("group", TOOLS)
def test_live(group, tmp_path, capsys):
    """New cases, resumed in the middle."""
    operators = sum(row.group == group for row in registry.OPERATORS)
    code, rows = run(group, tmp_path, "--cases", 3 * operators, "--seed", 77)
    assert code == 0, capsys.readouterr().out
    path = tmp_path / "rows.jsonl"
    kept = path.read_text().splitlines()[: len(rows) // 2]
    path.write_text("\n".join(kept) + '\n{"id": "cut o')
    code, again = run(group, tmp_path, "--cases", 3 * operators, "--seed", 77, "--resume")
    assert code == 0 and again == rows
    with pytest.raises(store.Stale):
        run(group, tmp_path, "--cases", 3, "--seed", 78, "--resume")


def test_every_operator_is_in_the_table():
    from onnxruntime_ep_exact.operators import TYPES

    assert {row.name for row in registry.OPERATORS} == TYPES


@pytest.mark.parametrize("row", registry.OPERATORS, ids=lambda row: row.name)
def test_generators_reach_every_revision_attribute_and_type(row):
    from oracle import domain

    cases = [registry.generate(row.name, 5, index) for index in range(400)]
    reached = {next(i for i, span in enumerate(domain.opsets(row.name)) if case.opset in span) for case in cases}
    assert reached == set(range(len(domain.opsets(row.name))))
    allowed = {t for span in domain.opsets(row.name) for opset in span for t in domain.types(row.name, opset)}
    assert {case.x.dtype.name for case in cases} == allowed
    named = {name for span in domain.opsets(row.name) for opset in span for name in domain.attribute_names(row.name, opset)}
    assert {name for case in cases for name in case.attributes} == named
    forms = {"inputs", "constants", "dynamic"} if row.name != "Pow" else {"constants"}  # docs/binary.md: its exponent is one
    assert {case.form for case in cases} == forms


def test_cases_do_not_depend_on_versions():
    """Draws use promised streams only: these digests hold with every Python and NumPy."""
    digests = [registry.generate(name, 0, 3).digest() for name in ("Conv", "ReduceSum", "LayerNormalization")]
    assert digests == DIGESTS
    case = registry.generate("Conv", 0, 3)
    assert from_json(json.loads(json.dumps(to_json(case)))).digest() == case.digest()


DIGESTS = ["dfbd466128b6c0f2", "50069a1185e81de2", "a1113479c427575d"]


class Answers:
    """In ONNX Runtime's place."""

    def __init__(self, answer):
        self.answer = answer

    def run(self, case):
        return self.answer(case)


def wrong(index):
    def answer(case):
        results = [np.array(a) for a in runners.run_reference(case)]
        results[0].reshape(-1)[index] += 1
        return tuple(results)

    return Answers(answer)


def test_a_wrong_element_is_unexplained():
    x = np.array([[[1, 2, np.nan, 4, 3, 1]]], np.float32)
    case = Case("c", "MaxPool", 12, [x], {"kernel_shape": [2]})
    row, _ = evaluate(case, wrong(0))
    assert row["bits"] and len(row["unexplained"]) == 1 and "first at [0, 0, 0]" in row["unexplained"][0]
    row, _ = evaluate(case, wrong(1))  # a window with a NaN
    assert row["unexplained"] == [] and row["kinds"] == ["NaN in a maximum"]


def test_a_wrong_integer_type_shape_refusal_is_unexplained():
    case = Case("c", "ReduceSum", 13, [np.arange(6).reshape(2, 3), np.array([1])], {})
    assert evaluate(case, wrong(1))[0]["unexplained"]
    for answer in (
        lambda case: tuple(a.astype(np.int32) for a in runners.run_reference(case)),
        lambda case: tuple(a.ravel() for a in runners.run_reference(case)),
        lambda case: runners.Failure("refused", "NOT_IMPLEMENTED"),
    ):
        assert evaluate(case, Answers(answer))[0]["unexplained"]
    assert evaluate(case, Answers(lambda case: runners.Failure("crashed")))[0]["kinds"] == ["ORT crashed"]


def test_our_differences_are_unexplained(monkeypatch):
    case = Case("c", "CumSum", 14, [np.arange(5, dtype=np.float32), np.array(0)], {})
    right = Answers(runners.run_reference)
    monkeypatch.setattr("oracle.compare.run_numpy", lambda case: (np.zeros(5, np.float32),))
    assert evaluate(case, right)[0]["unexplained"] == ["numpy: bits"]
    monkeypatch.setattr("oracle.compare.run_face", lambda case, face: runners.Failure("refused", "NOT_IMPLEMENTED"))
    found = evaluate(case, right)[0]["unexplained"]
    assert found == ["numpy: bits", "plugin: refused", "custom_ops: refused"]


def test_shrink():
    """A large case to the smallest that shows the same: one element."""
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 4, 9, 9)).astype(np.float32), rng.standard_normal((6, 4, 3, 3)).astype(np.float32)
    case = Case("c", "Conv", 12, [x, w], {"pads": [1, 1, 1, 1], "strides": [2, 1]}, form="constants")
    first, _ = evaluate(case, wrong(0))
    (tag,) = shrink.tags(first)
    small, row = shrink.shrink(case, lambda one: evaluate(one, wrong(0))[0], tag)
    assert row["unexplained"] and [a.shape for a in small.inputs] == [(1, 1, 1), (1, 1, 1)]
    assert small.attributes == {} and small.form == "inputs" and not any(a.any() for a in small.inputs)


def test_children_that_crash_hang_or_print(tmp_path):
    script = tmp_path / "child.py"
    script.write_text(
        f"import sys; sys.path.insert(0, {str(ROOT / 'tools' / 'oracle')!r})\n"
        "import os, time, wire\n"
        "def handle(what):\n"
        "    os.write(1, b'noise')\n"
        "    if what == 'crash': os.kill(os.getpid(), 11)\n"
        "    if what == 'hang': time.sleep(60)\n"
        "    return what\n"
        "wire.serve(handle)\n"
    )
    for message, error in (("crash", wire.Died), ("hang", wire.Late)):
        child = wire.Child([sys.executable, str(script)])
        assert child.ask(["some", b"thing"]) == ["some", b"thing"]
        with pytest.raises(error):
            child.ask(message, seconds=2)
        assert child.process.returncode == {"crash": -11, "hang": -9}[message]


def test_a_crash_is_a_row(monkeypatch):
    """The worker is started again."""
    case = registry.generate("Conv", 0, 0)
    worker = pool.Worker()
    try:
        assert worker.evaluate(case)["row"]["unexplained"] == []
        worker.child.process.kill()
        row = worker.evaluate(case)["row"]
        assert row["unexplained"] == ["our process: Died signal 9"] and row["id"] == case.id
        assert worker.evaluate(case)["row"]["unexplained"] == []
    finally:
        worker.close()


def test_the_page_lists_the_kinds():
    text = report.PAGE.read_text("utf-8")
    assert report.replace_part(text, "kinds", report.kinds_table()) == text


def anchors(path):
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("kind", kinds.every(), ids=lambda kind: f"{kind.name} {kind.page}")
def test_kinds_cite_their_page(kind):
    page, _, anchor = kind.page.partition("#")
    path = ROOT / "docs" / page
    assert path.exists() and (not anchor or anchor in anchors(path))
    assert kind.refuses or kind.where or kind.shape or kind.serves or kind is kinds.ROUNDING


PROBES = sorted(path for path in (ROOT / "tools" / "probes").glob("*.py") if "__main__" in path.read_text("utf-8"))


@pytest.mark.parametrize("path", PROBES, ids=lambda path: path.stem)
def test_probe(path):
    """It ends with an error when our results are not the reference's."""
    done = subprocess.run([sys.executable, str(path)], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "│" in done.stdout and re.search(r"^agree: \d+ of \d+$", done.stdout, re.MULTILINE)
    assert path.name in (ROOT / "docs" / "oracles.md").read_text("utf-8")
