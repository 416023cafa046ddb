"""Starts worker.py on this CPU and on those that QEMU's user mode emulates."""

import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from . import arm64

WORKER = Path(__file__).parent / "worker.py"
X86 = ("Haswell", "IvyBridge", "Nehalem")
ARM = ("neoverse-n1", "max")
#: Every CPU; "native" is this machine's, the others are models of qemu-x86_64 and qemu-aarch64.
CPUS = ("native", *X86, *ARM)


@dataclass
class Report:
    """What ran on one CPU with one instruction-set variant."""

    cpu: str
    isa: str
    isa_names: list[str]
    onnxruntime: str
    numpy: str
    rows: list[dict] = field(default_factory=list)


def need(cpus: list[str]) -> None:
    """Raises RuntimeError where a CPU cannot be emulated here."""
    for group, machine, tool in ((X86, "x86_64", "qemu-x86_64"), (ARM, None, "qemu-aarch64")):
        wanted = [cpu for cpu in cpus if cpu in group]
        if wanted and not shutil.which(tool):
            raise RuntimeError(f"{', '.join(wanted)}: {tool} is not there; Debian and Ubuntu have it in the package qemu-user")
        if wanted and machine and platform.machine() != machine:
            raise RuntimeError(f"{', '.join(wanted)}: needs the Python of an {machine} machine")


def qemu_version() -> str:
    """As qemu-x86_64 or qemu-aarch64 tells it."""
    tool = shutil.which("qemu-x86_64") or shutil.which("qemu-aarch64")
    if not tool:
        return "none"
    return subprocess.run([tool, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def gathers(cpu: str) -> bool:
    """Whether the CPU's gathers work: gather.c, which has nothing of ours."""
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/gather"
        subprocess.run(["gcc", "-O1", "-mavx2", "-o", program, WORKER.with_name("gather.c")], check=True)
        return subprocess.run(["qemu-x86_64", "-cpu", cpu, program], stderr=subprocess.DEVNULL, check=False).returncode == 0


def without_gathers(reports: list[Report], networks: set[str]) -> int:
    """Takes away what the emulator's wrong gathers spoil: on the avx2 variant Resize and Upsample, the kernels that gather,
    and the networks that have them. Returns the number of runs taken away."""
    count = 0
    for report in reports:
        if report.cpu == "Haswell" and report.isa == "avx2":
            spoilt = {r["case"] for r in report.rows if r["case"].startswith(("Resize ", "Upsample "))} | networks
            kept = [r for r in report.rows if r["face"] == "cpu" or r["case"] not in spoilt]
            count += len(report.rows) - len(kept)
            report.rows = kept
    return count


def start(cpu: str, root: Path) -> list[str]:
    """The command of a Python there."""
    if cpu == "native":
        return [sys.executable]
    if cpu in X86:
        return ["qemu-x86_64", "-cpu", cpu, sys.executable]
    return arm64.command(root, cpu)


def environment() -> dict[str, str]:
    """This process's without what names an instruction set."""
    return {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_") and name != "EXACT_ISA"}


def run(cpu: str, bundle: Path, faces: list[str], threads: list[int], root: Path, isa: str = "") -> Report:
    """All cases of a bundle; `isa` "" is the best variant of the CPU.

    Raises:
        RuntimeError: the process failed.
    """
    env = environment() | ({"EXACT_ISA": isa} if isa else {})
    command = [*start(cpu, root), str(WORKER), str(bundle)]
    command += ["--faces", ",".join(faces), "--threads", ",".join(map(str, threads))]
    done = subprocess.run(command, capture_output=True, text=True, env=env, check=False)
    if done.returncode:
        raise RuntimeError(f"{cpu} {isa}: exit code {done.returncode} of {' '.join(command)}\n{done.stderr[-3000:]}")
    about, *rows = (json.loads(line) for line in done.stdout.splitlines())
    return Report(cpu, **about, rows=rows)


def run_variants(cpu: str, bundle: Path, faces: list[str], threads: list[int], root: Path) -> list[Report]:
    """The best variant, then the others, each in a process of its own. ONNX Runtime's own provider runs once."""
    reports = [run(cpu, bundle, faces, threads, root)]
    ours = [face for face in faces if face != "cpu"]
    others = [name for name in reports[0].isa_names if name != reports[0].isa]
    return reports + [run(cpu, bundle, ours, threads, root, name) for name in others]
