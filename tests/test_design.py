"""The rules of docs/architecture.md that a text can break, and generated pages."""

import hashlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
from onnxruntime_ep_exact.operators import OPERATORS, TYPES

ROOT = Path(__file__).parent.parent


def sources(pattern):
    return sorted(ROOT.glob(pattern))


@pytest.mark.parametrize("path", sources("kernels_c/*"), ids=lambda p: p.name)
def test_kernels_name_no_onnx_runtime_type(path):
    assert not re.search(r"\bOrt[A-Z]\w*|ort_abi", path.read_text("utf-8"))


@pytest.mark.parametrize("name", ["plugin_ep.c", "custom_ops.c", "kernel.c", "config.c", "node.c"])
def test_faces_name_no_operator(name):
    text = (ROOT / "provider" / name).read_text("utf-8")
    assert not [t for t in TYPES if f'"{t}"' in text]


@pytest.mark.parametrize("path", sources("provider/op_*.c"), ids=lambda p: p.name)
def test_glue_names_no_face(path):
    assert not re.search(r"plugin|custom_op|OrtKernel", path.read_text("utf-8"))


def test_stems():
    """Every family of the table has its kernel, glue and page."""
    for stem in {row.glue for row in OPERATORS}:
        assert (ROOT / "kernels_c" / f"{stem}.c").exists()
        assert (ROOT / "provider" / f"op_{stem}.c").exists()
        assert (ROOT / "docs" / f"{stem}.md").exists()


def test_generated_operator_table():
    subprocess.run([sys.executable, str(ROOT / "tools/operators_table.py"), "--check"], check=True)


@pytest.mark.parametrize("path", [*sources("docs/*.md"), *sources("*.md")], ids=lambda p: p.name)
def test_links_between_pages(path):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", path.read_text("utf-8")):
        assert (path.parent / target).exists(), target


def test_phantom_versions_are_no_revisions():
    """docs/architecture.md: an optimizer that looks for a version of the operator must not find ours."""
    import onnx

    for row in OPERATORS:
        revisions = {s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == row.type and s.domain == ""}
        assert row.phantom == 0 or row.phantom not in revisions, row
        assert {r for r in revisions if row.since <= r <= row.until} or row.since == 1, row


@pytest.mark.parametrize(("page", "count"), [("docs/exp_log.md", 3), ("docs/transcendental.md", 5)])
def test_proof_record_is_of_these_sources(page, count):
    """A change of the sources needs a new run of tools/prove_functions.py."""
    record = re.findall(r"sha256 of (\S+) \| (\w+)", (ROOT / page).read_text("utf-8"))
    assert len(record) == count
    for path, digest in record:
        assert hashlib.sha256((ROOT / path).read_bytes()).hexdigest().startswith(digest), path


def test_rows_reach_the_newest_revision():
    """The newest that is not deprecated: Upsample ends with revision 9."""
    import onnx

    schemas = [s for s in onnx.defs.get_all_schemas_with_history() if s.domain == "" and not s.deprecated]
    for name in TYPES:
        newest = max(s.since_version for s in schemas if s.name == name)
        assert any(row.type == name and row.since <= newest <= row.until for row in OPERATORS), name
