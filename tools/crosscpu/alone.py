"""The kernels alone, through their C interface: compiled with alone.c for a big-endian and a 32-bit processor and for this
machine, run on the golden cases. Needs Debian's cross compilers and qemu-user."""

import os
import platform
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx
from onnx import helper
from rich.console import Console

from .bundle import typed
from .cases import Case
from .cpus import Report
from .worker import digest

ROOT = Path(__file__).parent.parent.parent
#: name -> (compiler, what starts a program, CMAKE_SYSTEM_PROCESSOR). armhf without NEON: its vectors flush subnormals.
TARGETS = {
    "C native": ("gcc", [], platform.machine()),
    "s390x": ("s390x-linux-gnu-gcc", ["qemu-s390x"], "s390x"),
    "armhf": ("arm-linux-gnueabihf-gcc", ["qemu-arm"], "arm"),
}
PACKAGES = "gcc-s390x-linux-gnu libc6-dev-s390x-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross qemu-user cmake"


def _run(*command: str | Path) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _bits(value: float) -> str:
    return str(struct.unpack("<I", struct.pack("<f", value))[0])


def _attribute(name: str, value) -> str:
    if isinstance(value, float):
        return f"real {name} {_bits(value)}"
    if isinstance(value, str):
        return f"text {name} {value}"
    if isinstance(value, int):
        return f"int {name} {value}"
    if any(isinstance(v, str) for v in value):
        return f"texts {name} {len(value)} {' '.join(value)}"
    if any(isinstance(v, float) for v in value):
        return f"reals {name} {len(value)} {' '.join(map(_bits, value))}"
    return f"ints {name} {len(value)} {' '.join(map(str, value))}"


def write(folder: Path, cases: list[Case]) -> None:
    """cases.txt and inputs.bin."""
    lines = []
    with (folder / "inputs.bin").open("wb") as data:
        for case in cases:
            since = onnx.defs.get_schema(case.operator, case.opset, "").since_version
            lines.append(f"case {case.operator} {since}")
            lines += [_attribute(name, value) for name, value in case.attributes.items()]
            for value, dtype in zip(case.inputs, case.types, strict=True):
                if value is None:
                    lines.append("input 0")
                    continue
                number = helper.np_dtype_to_tensor_dtype(typed(value, dtype).dtype)
                lines.append(f"input {number} {value.ndim} {' '.join(map(str, value.shape))}")
                data.write(value.astype(value.dtype.newbyteorder("<")).tobytes())
            lines.append(f"run {case.outputs}")
    (folder / "cases.txt").write_text("\n".join(lines) + "\n", "utf-8")


def _compile(compiler: str, processor: str, folder: Path) -> Path:
    if not shutil.which(compiler):
        raise RuntimeError(f"{compiler} is not there; Debian's packages: {PACKAGES}")
    build = folder / processor
    settings = {"CMAKE_C_COMPILER": compiler}
    if processor != platform.machine():
        settings |= {"CMAKE_SYSTEM_NAME": "Linux", "CMAKE_SYSTEM_PROCESSOR": processor}
    _run("cmake", "-S", ROOT, "-B", build, *(f"-D{name}={value}" for name, value in settings.items()))
    _run("cmake", "--build", build, "--target", "exact_kernels_static", "-j", str(os.cpu_count() or 1))
    glue = [ROOT / "provider" / name for name in ("ops.c", "node.c")] + sorted((ROOT / "provider").glob("op_*.c"))
    flags = ["-std=gnu11", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", "-Werror", "-static", "-pthread"]
    flags += ["-I", ROOT / "kernels_c", "-I", ROOT / "provider"]
    program = build / "alone"
    _run(compiler, *flags, "-o", program, Path(__file__).with_suffix(".c"), *glue, build / "libexact_kernels_static.a", "-lm")
    return program


def _rows(text: str, data: bytes, cases: list[Case]) -> list[dict]:
    """The outputs, hashed as the worker hashes them."""
    lines, at, rows = iter(text.splitlines()), 0, []
    for case in cases:
        outputs = []
        for _ in range(case.outputs):
            number, *shape = (int(part) for part in next(lines).split()[1:])
            dtype = np.dtype(helper.tensor_dtype_to_np_dtype(number))
            size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            outputs.append(np.frombuffer(data[at : at + size], dtype).reshape(shape))
            at += size
        rows.append({"case": case.name, "face": "C", "threads": 1, "sha256": digest(outputs)})
    if at != len(data):
        raise RuntimeError("the outputs have another size than their shapes")
    return rows


def reports(cases: list[Case], console: Console) -> list[Report]:
    """One per target: every case, twice: packed on one thread, not packed on three."""
    found = []
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        write(folder, cases)
        for name, (compiler, start, processor) in TARGETS.items():
            begin = time.monotonic()
            program = _compile(compiler, processor, folder)
            built = time.monotonic()
            text = _run(*start, program, folder / "cases.txt", folder / "inputs.bin", folder / "outputs.bin")
            rows = _rows(text, (folder / "outputs.bin").read_bytes(), cases)
            found.append(Report(name, "base", ["base"], "", np.__version__, rows))
            console.print(f"{name}: built in {built - begin:.0f} s, {len(rows)} cases in {time.monotonic() - built:.0f} s")
    return found
