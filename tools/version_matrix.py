"""Runs the tests of the faces on many versions of onnxruntime, each in a fresh virtual environment, and writes
docs/versions.md. Needs what installing the package from source needs, and the Python package index."""

import collections
import datetime
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import click
from rich.console import Console

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "versions.md"
VERSIONS = ("1.17.3", "1.20.1", "1.22.1", "1.24.1", "1.25.1", "1.27.0", "1.30.0", "1.31.1", "1.32.0")
#: A version just too old for a face, and what somebody does who does not know that.
TOO_OLD = {
    "1.16.3": {
        "InferenceSession(model)": "ep.InferenceSession(demo.model())",
        'session_options(face="custom_ops")': 'ep.session_options(face="custom_ops")',
        "register_custom_ops_library(path)": "ort.SessionOptions().register_custom_ops_library(ep.get_library_path())",
    },
    "1.23.2": {
        "register()": "ep.register()",
        'InferenceSession(model, face="plugin")': 'ep.InferenceSession(demo.model(), face="plugin")',
        "register_execution_provider_library(name, path)": (
            "ort.register_execution_provider_library(ep.get_ep_name(), ep.get_library_path())"
        ),
    },
}
TESTS = ("test_faces.py", "test_options.py", "test_lifetime.py", "test_onnx_nodes.py", "test_golden.py")
PACKAGES = ("onnx==1.22.0", "ml_dtypes", "pytest", "hypothesis", "mpmath", "click", "rich")


@dataclass
class Row:
    """What one version gave."""

    version: str
    packages: str
    face: str
    passed: dict = field(default_factory=collections.Counter)
    skipped: dict = field(default_factory=collections.Counter)
    failed: list = field(default_factory=list)


def number(version: str) -> tuple[int, ...]:
    """For comparing."""
    return tuple(int(part) for part in version.split("."))


def run(*command: str | Path, **kwargs) -> subprocess.CompletedProcess:
    """A command whose failure ends the run with its output."""
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **kwargs)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done


def environment(version: str, folder: Path, wheel: Path) -> Path:
    """The Python of a virtual environment with that onnxruntime and our wheel."""
    home = folder / f"ort-{version}"
    python = home / "bin" / "python"
    if not python.exists():
        run(sys.executable, "-m", "venv", home)
    numpy = ["numpy<2"] if number(version) < (1, 19) else ["numpy"]  # built against NumPy 1
    run(python, "-m", "pip", "-q", "install", f"onnxruntime=={version}", *numpy, *PACKAGES, wheel)
    run(python, "-m", "pip", "-q", "install", "--force-reinstall", "--no-deps", wheel)
    return python


def packages(python: Path) -> str:
    """The versions that decide what can work."""
    code = "import platform, numpy, onnx; print(platform.python_version(), numpy.__version__, onnx.__version__, sep=', ')"
    return run(python, "-c", code).stdout.strip()


def tests(python: Path, version: str, folder: Path) -> Row:
    """Runs the tests; counts by test file, and the reasons."""
    report = folder / f"{version}.xml"
    report.unlink(missing_ok=True)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run(
        [*command, *(ROOT / "tests" / t for t in TESTS)], cwd=folder, capture_output=True, text=True, check=False
    )
    (folder / f"{version}.log").write_text(done.stdout + done.stderr, "utf-8")
    if not report.exists():
        sys.exit(f"pytest on {version} wrote no report\n{done.stdout[-3000:]}{done.stderr[-3000:]}")
    face = "both" if number(version) >= (1, 24, 1) else "custom ops"
    row = Row(version, packages(python), face)
    for case in ET.parse(report).getroot().iter("testcase"):
        name = case.get("classname", "").rsplit(".", 1)[-1]
        trouble = [part for part in case if part.tag in ("failure", "error")]
        skip = case.find("skipped")
        if trouble:
            row.failed.append(f"{name}::{case.get('name')}")
        elif skip is not None:
            row.skipped[skip.get("message", "")] += 1
        else:
            row.passed[name] += 1
    return row


def refusals(python: Path, version: str) -> list[tuple[str, str, str]]:
    """(version, call, last line of the error). A call that works, or ends Python by a signal, ends the run."""
    rows = []
    for label, code in TOO_OLD[version].items():
        program = f"import onnxruntime as ort, onnxruntime_ep_exact as ep\nfrom onnxruntime_ep_exact import demo\n{code}\n"
        done = subprocess.run([python, "-c", program], capture_output=True, text=True, check=False)
        if done.returncode != 1:
            sys.exit(f"onnxruntime {version}: {label} ended with {done.returncode} instead of an error\n{done.stderr}")
        rows.append((version, label, done.stderr.strip().splitlines()[-1]))
    return rows


def page(rows: list[Row], refused: list[tuple[str, str, str]]) -> str:
    """docs/versions.md."""
    names = [t.removesuffix(".py") for t in TESTS]
    lines = [
        "# Versions of onnxruntime",
        "",
        f"Made by `python tools/version_matrix.py` on {datetime.date.today()}: the tests of the faces, each version in a fresh",
        "virtual environment with one and the same wheel of ours. Numbers are tests that passed.",
        "",
        f"| onnxruntime | Python, NumPy, onnx | faces | {' | '.join(names)} | failed | left out |",
        "| --- | --- | --- |" + " --- |" * (len(names) + 2),
    ]
    for row in rows:
        counts = " | ".join(str(row.passed[name]) for name in names)
        lines.append(
            f"| {row.version} | {row.packages} | {row.face} | {counts} | {len(row.failed)} | {sum(row.skipped.values())} |"
        )
    failed = collections.defaultdict(list)
    for row in rows:
        for name in row.failed:
            failed[name].append(row.version)
    if failed:
        lines += ["", "## Failed", ""]
        lines += [f"* `{name}`: {', '.join(versions)}" for name, versions in failed.items()]
    lines += ["", "## Left out", "", "| onnxruntime | tests | reason |", "| --- | --- | --- |"]
    lines += [f"| {row.version} | {count} | {reason} |" for row in rows for reason, count in row.skipped.items()]
    lines += [
        "",
        "## Older versions",
        "",
        "The plugin needs onnxruntime 1.24.1, the custom-op library 1.17.3. What an older one answers:",
        "",
        "| onnxruntime | call | error |",
        "| --- | --- | --- |",
    ]
    lines += [f"| {version} | `{call}` | {error} |" for version, call, error in refused]
    return "\n".join(lines) + "\n" + notes()


def notes() -> str:
    """The hand-written part of the page, from its heading on."""
    text = PAGE.read_text("utf-8") if PAGE.exists() else ""
    at = text.find("\n## Notes\n")
    return text[at:] if at >= 0 else ""


@click.command(help=__doc__)
@click.option("--versions", default=",".join(VERSIONS), help="Which, separated by commas.")
@click.option(
    "--folder", type=click.Path(path_type=Path), help="Where the environments are kept; a temporary folder if not given."
)
@click.option("--write", is_flag=True, help="Write docs/versions.md.")
def main(versions: str, folder: Path | None, write: bool) -> None:
    """The command line."""
    console = Console()
    with tempfile.TemporaryDirectory() as temporary:
        folder = (folder or Path(temporary)).absolute()
        folder.mkdir(parents=True, exist_ok=True)
        console.print("building the wheel")
        run(sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", folder / "wheel", ROOT)
        wheel = max((folder / "wheel").glob("*.whl"), key=lambda p: p.stat().st_mtime)
        refused = []
        for version in TOO_OLD:
            refused += refusals(environment(version, folder, wheel), version)
            console.print(f"{version}: " + "; ".join(f"{call}: {error}" for v, call, error in refused if v == version))
        rows = []
        for version in versions.split(","):
            rows.append(tests(environment(version, folder, wheel), version, folder))
            row = rows[-1]
            text = f"{sum(row.passed.values())} passed, {len(row.failed)} failed, {dict(row.skipped)} left out"
            console.print(f"{version}: {text}", markup=False, soft_wrap=True)
            for name in row.failed:
                console.print(f"  {name}", markup=False, soft_wrap=True)
            if write:
                PAGE.write_text(page(rows, refused), "utf-8")
    sys.exit(any(row.failed for row in rows))


if __name__ == "__main__":
    main()
