"""The build: a plain CMake build without Python, no fused multiply-add in exact code, what the library exports and needs."""

import os
import re
import subprocess
from pathlib import Path

import pytest
from onnxruntime_ep_exact import get_library_path

ROOT = Path(__file__).parent.parent
#: Objects that hold a function defined as correctly rounded, proved for every argument, which may fuse
#: (docs/exp_log.md, docs/transcendental.md).
PROVED = {"exp_log_isa.c.o", "softmax_isa.c.o", "transcendental_isa.c.o"}
FUSED = re.compile(r"\b(vfn?m(add|sub)\w*|fn?m(add|sub)|fml[as]l?2?)\b")


def output(*command, **kwargs):
    return subprocess.run(command, check=True, capture_output=True, text=True, **kwargs).stdout


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """Objects of a plain CMake build: that of EXACT_BUILD_DIR, or a new one."""
    if folder := os.environ.get("EXACT_BUILD_DIR"):
        return Path(folder)
    folder = tmp_path_factory.mktemp("build")
    output("cmake", "-S", str(ROOT), "-B", str(folder))
    output("cmake", "--build", str(folder), "-j", "2")
    return folder


def test_no_fused_multiply_add_in_exact_code(build):
    objects = sorted(p for p in build.rglob("*.o") if "provider" not in str(p))
    exact = [p for p in objects if "exact_fast_" not in str(p) and p.name not in PROVED]
    fast = [p for p in objects if "exact_fast_avx2" in str(p)]
    assert len(exact) > 20
    for path in exact:
        found = FUSED.search(output("objdump", "-d", str(path)))
        assert not found, f"{path.name}: {found and found.group()}"
    assert not fast or any(FUSED.search(output("objdump", "-d", str(p))) for p in fast), "the check finds nothing anywhere"


def test_exports():
    lines = output("nm", "-D", "--defined-only", get_library_path()).splitlines()
    assert sorted(line.split()[-1].split("@")[0] for line in lines) == [
        "CreateEpFactories",
        "RegisterCustomOps",
        "ReleaseEpFactory",
    ]


def test_dependencies():
    text = output("readelf", "-d", get_library_path())
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", text))
    assert needed <= {"libc.so.6", "libm.so.6", "libpthread.so.0", "ld-linux-aarch64.so.1", "ld-linux-x86-64.so.2"}
    assert "NODELETE" in text


def test_extension_is_abi3():
    folder = Path(get_library_path()).parent
    assert [p.name for p in folder.glob("_kernels*.so")] == ["_kernels.abi3.so"]
