"""Proves that the bits are the same on other CPUs: one set of one-node models and inputs, run through all faces on this CPU
and on those that QEMU emulates, beside ONNX Runtime's CPU provider. Exit code 1 when a row of ours has two values."""

import concurrent.futures
import datetime
import json
import os
import platform
import sys
import tempfile
import time
from pathlib import Path

import click
from rich.console import Console

sys.path.insert(0, str(Path(__file__).parent))
from crosscpu import alone, arm64, bundle, cases, cpus, results

ROOT = Path(__file__).parent.parent
GOLDEN, GOLDEN_NETWORKS = (ROOT / "tests" / "data" / name for name in ("golden.txt", "golden-networks.txt"))
PAGE, README = ROOT / "docs" / "cross-cpu.md", ROOT / "README.md"
CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "onnxruntime-ep-exact"
THREADS = {"native": [1, 2, 7]}


def read_golden(path: Path = GOLDEN) -> dict[str, str]:
    """Case -> SHA-256."""
    if not path.exists():
        return {}
    lines = path.read_text("utf-8").splitlines()
    return {name: digest for digest, name in (line.split(" ", 1) for line in lines if not line.startswith("#"))}


def write_golden(result: results.Results) -> None:
    """The golden files anew, from runs that agree; that of the networks if they ran."""
    head = [
        "# SHA-256 of the outputs of every case of tools/crosscpu (cases.py, networks.py), the same on every CPU, instruction",
        "# set, face and number of threads. Over each output: type name, shape as [2, 3], little-endian bytes.",
        "# Written by: python tools/cross_cpu.py --cpus native --models --write-golden",
    ]
    for path, cases_of in ((GOLDEN, result.operator_cases()), (GOLDEN_NETWORKS, result.networks())):
        rows = [f"{result.value(case)} {case}" for case in cases_of]
        if rows:
            path.write_text("\n".join([*head, *rows]) + "\n", "utf-8")


def write_pages(result: results.Results, reports: list[cpus.Report]) -> None:
    """The tables of docs/cross-cpu.md and README.md."""
    about = reports[0]
    lines = Path("/proc/cpuinfo").read_text("utf-8").splitlines()
    model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "")
    measured = (
        f"Measured on {datetime.date.today()}: onnxruntime {about.onnxruntime}, NumPy {about.numpy}, {cpus.qemu_version()};\n"
        f"native is {model or platform.machine()} with the variants {', '.join(about.isa_names)}. "
        f"{len(result.operator_cases())} cases, {result.runs} runs of ours."
    )
    nets = result.networks()
    results.between_markers(PAGE, "measured", measured)
    results.between_markers(PAGE, "operators", result.operator_table())
    results.between_markers(PAGE, "cases", result.full_table(result.operator_cases()))
    if nets:
        results.between_markers(PAGE, "networks", result.full_table(nets))
    results.between_markers(README, "cross-cpu", result.short_table())


def collect(names: list[str], folders: list[Path], faces: list[str], root: Path, console: Console) -> list[cpus.Report]:
    """Every CPU on every bundle, as many at once as this machine has cores."""
    jobs = [(cpu, folder) for cpu in names for folder in folders]

    def job(cpu: str, folder: Path) -> list[cpus.Report]:
        start = time.monotonic()
        reports = cpus.run_variants(cpu, folder, faces, THREADS.get(cpu, [1]), root)
        runs = sum(len(report.rows) for report in reports)
        variants = ", ".join(report.isa for report in reports)
        console.print(f"{cpu} ({variants}), {folder.name}: {runs} runs in {time.monotonic() - start:.0f} s")
        return reports

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [report for reports in pool.map(lambda j: job(*j), jobs) for report in reports]


@click.command(help=__doc__)
@click.option("--cpus", "names", default=",".join(cpus.CPUS), help=f"Of {', '.join(cpus.CPUS)}; separated by commas.")
@click.option("--models", is_flag=True, help="The real networks of tests/test_models.py too (minutes per CPU).")
@click.option("--kernels", is_flag=True, help="The kernels alone too, by their C interface: natively, on s390x and armhf.")
@click.option("--ours-only", is_flag=True, help="Leave ONNX Runtime's CPU provider out.")
@click.option("--json", "json_file", type=click.Path(path_type=Path), help="Write every hash.")
@click.option("--root", type=click.Path(path_type=Path), default=CACHE / "arm64", show_default=True, help="The arm64 root.")
@click.option("--prepare", type=click.Choice(["arm64"]), help="Make the arm64 root anew, and stop.")
@click.option("--write-golden", "golden_wanted", is_flag=True, help="Write the golden files of tests/data from this run.")
@click.option("--write", is_flag=True, help="Write the tables of docs/cross-cpu.md and README.md.")
@click.option("--quiet", is_flag=True, help="No table, only faults and times.")
def main(names, models, kernels, ours_only, json_file, root, prepare, golden_wanted, write, quiet) -> None:
    """The command line."""
    console = Console()
    root = root.absolute()
    if prepare:
        arm64.prepare(root, anew=True)
        return
    chosen = names.split(",")
    unknown = [name for name in chosen if name not in cpus.CPUS]
    if unknown:
        raise click.BadParameter(f"{', '.join(unknown)}: the CPUs are {', '.join(cpus.CPUS)}", param_hint="--cpus")
    if write and (chosen[0] != "native" or ours_only):
        raise click.UsageError("--write needs native, first, and ONNX Runtime's CPU provider")
    try:
        cpus.need(chosen)
        if set(chosen) & set(cpus.ARM):
            console.print(f"arm64 root in {root}")
            arm64.prepare(root)
        with tempfile.TemporaryDirectory() as temporary:
            table = cases.cases()
            folders = [Path(temporary) / "operators"]
            bundle.write(folders[0], table)
            resampling: set[str] = set()
            if models:
                from crosscpu import networks  # imports the tests

                folders.append(Path(temporary) / "networks")
                resampling = networks.write(folders[1], CACHE / "wheels")
            faces = ["plugin", "custom_ops", "numpy"] if ours_only else ["cpu", "plugin", "custom_ops", "numpy"]
            reports = collect(chosen, folders, faces, root, console)
            if "Haswell" in chosen and not cpus.gathers("Haswell"):
                left_out = cpus.without_gathers(reports, resampling)
                console.print(
                    f"Haswell: gathers of {cpus.qemu_version()} are wrong (tools/crosscpu/gather.c): "
                    f"{left_out} runs with Resize or Upsample on its avx2 left out"
                )
            if kernels:
                reports += alone.reports(table, console)
    except RuntimeError as error:
        raise click.ClickException(str(error)) from error
    result = results.Results(reports)
    if not quiet:
        result.print(console)
    golden = {} if golden_wanted else read_golden() | read_golden(GOLDEN_NETWORKS)
    faults = result.faults(golden)
    for fault in faults:
        console.print(fault, style="red", markup=False)
    missing = [] if golden_wanted else [case for case in result.ours if case not in golden]
    if missing:
        console.print(f"not in the golden files: {', '.join(missing)}", style="red", markup=False)
    if json_file:
        rows = [{"cpu": r.cpu, "isa": r.isa, **row} for r in reports for row in r.rows]
        json_file.write_text(json.dumps(rows, indent=0), "utf-8")
    if not faults and golden_wanted:
        write_golden(result)
    if not faults and write:
        write_pages(result, reports)
    console.print(f"{result.runs} runs of ours, {len(result.ours)} rows, {len(faults)} runs that differ")
    sys.exit(bool(faults or missing))


if __name__ == "__main__":
    main()
