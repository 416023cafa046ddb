"""A folder that serves as the root of an arm64 Debian for qemu-aarch64: Python, onnxruntime and NumPy as this Python has them,
and our package, cross-built. Nothing is installed on this machine; needed are apt, dpkg-deb and gcc-aarch64-linux-gnu."""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
#: qemu-user hands this machine's /proc/cpuinfo to the program unless the root has one. Without an ARM entry there
#: onnxruntime's CPU detection ends the process.
CPUINFO = """processor\t: {core}
BogoMIPS\t: 50.00
Features\t: fp asimd evtstrm aes pmull sha1 sha2 crc32 atomics fphp asimdhp cpuid asimdrdm lrcpc dcpop asimddp
CPU implementer\t: 0x41
CPU architecture: 8
CPU variant\t: 0x3
CPU part\t: 0xd0c
CPU revision\t: 1

"""


def _run(*command: str | Path, **kwargs) -> str:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, **kwargs)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def _debian(root: Path, work: Path) -> None:
    """Python, its C++ runtime and its headers, with everything that they depend on: apt of an empty arm64 machine."""
    for folder in ("lists/partial", "cache/archives/partial", "state"):
        (work / folder).mkdir(parents=True, exist_ok=True)
    (work / "state" / "status").touch()
    (work / "apt.conf").write_text('APT::Architecture "arm64"; APT::Architectures { "arm64"; };\n', "utf-8")
    env = {**os.environ, "APT_CONFIG": str(work / "apt.conf"), "DEBIAN_FRONTEND": "noninteractive"}
    folders = {
        "Dir::State": work / "state",
        "Dir::State::lists": work / "lists",
        "Dir::State::status": work / "state" / "status",
        "Dir::Cache": work / "cache",
    }
    if os.geteuid() == 0:  # apt's unprivileged downloader need not reach the folder
        folders["APT::Sandbox::User"] = "root"
    options = [part for name, value in folders.items() for part in ("-o", f"{name}={value}")]
    _run("apt-get", *options, "update", env=env)
    install = ["install", "--yes", "--download-only", "--no-install-recommends", "python3", "libstdc++6"]
    _run("apt-get", *options, *install, env=env)
    archives = work / "cache" / "archives"
    (python,) = (path.name.split("_")[0] for path in archives.glob("python3.*-minimal_*.deb"))
    headers = f"lib{python.removesuffix('-minimal')}-dev"
    _run("apt-get", *options, "download", headers, env=env, cwd=archives)
    for package in archives.glob("*.deb"):
        _run("dpkg-deb", "-x", package, root)


def _python(root: Path) -> tuple[Path, str]:
    """(the Python binary, its version as in 3.11)"""
    (path,) = (p for p in root.glob("usr/bin/python3.*") if p.name.removeprefix("python3.").isdigit())
    return path, path.name.removeprefix("python")


def _wanted() -> list[str]:
    names = ["onnxruntime", "numpy", "ml_dtypes", "cffi", "pycparser", "protobuf", "flatbuffers", "packaging"]
    return [f"{name}=={version(name)}" for name in names]


def _wheels(root: Path, work: Path) -> None:
    """The installed versions of what the worker imports, and what they import."""
    site = root / "site"
    platforms = [f"manylinux_2_{minor}_aarch64" for minor in (28, 27, 17)] + ["manylinux2014_aarch64"]
    target = ["--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", _python(root)[1]]
    target += [part for platform in platforms for part in ("--platform", platform)]
    _run(sys.executable, "-m", "pip", "-q", "install", "--target", site, "--cache-dir", work / "pip", *target, *_wanted())


def build(root: Path) -> None:
    """Cross-builds our wheel and unpacks it into the root. Its file name has this machine's tag: pip must not take build
    tools of the other architecture."""
    headers = root / "usr" / "include" / f"python{_python(root)[1]}"
    settings = {
        "CMAKE_SYSTEM_NAME": "Linux",
        "CMAKE_SYSTEM_PROCESSOR": "aarch64",
        "CMAKE_C_COMPILER": "aarch64-linux-gnu-gcc",
        "CMAKE_C_FLAGS": f"-idirafter {headers.parent}",  # pyconfig.h includes the one of the architecture
        "Python_INCLUDE_DIR": headers,
    }
    env = {**os.environ, "CMAKE_BUILD_PARALLEL_LEVEL": str(os.cpu_count() or 1)}
    with tempfile.TemporaryDirectory() as folder:
        options = [part for name, value in settings.items() for part in ("-C", f"cmake.define.{name}={value}")]
        options += ["-C", f"build-dir={folder}/build"]
        _run(sys.executable, "-m", "pip", "-q", "wheel", "--no-deps", "-w", folder, *options, ROOT, env=env)
        (wheel,) = Path(folder).glob("*.whl")
        shutil.rmtree(root / "site" / "onnxruntime_ep_exact", ignore_errors=True)
        shutil.unpack_archive(wheel, root / "site", "zip")


def _sources() -> str:
    """SHA-256 over what the package is built from."""
    total = hashlib.sha256()
    paths = [ROOT / "pyproject.toml", ROOT / "CMakeLists.txt"]
    paths += [p for folder in ("kernels_c", "provider", "ep_python/onnxruntime_ep_exact") for p in (ROOT / folder).glob("*.*")]
    for path in sorted(paths):
        total.update(f"{path.name}\n".encode() + path.read_bytes())
    return total.hexdigest()


def prepare(root: Path, anew: bool = False) -> None:
    """Makes the root, and builds our package, where they are not there or out of date."""
    wheels = root / "wheels.txt"
    if anew or not wheels.exists() or wheels.read_text("utf-8") != " ".join(_wanted()):
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        with tempfile.TemporaryDirectory() as work:
            _debian(root, Path(work))
            _wheels(root, Path(work))
        (root / "proc").mkdir()
        (root / "proc" / "cpuinfo").write_text("".join(CPUINFO.format(core=i) for i in range(os.cpu_count() or 1)), "utf-8")
        wheels.write_text(" ".join(_wanted()), "utf-8")
    built = root / "built.txt"
    if not built.exists() or built.read_text("utf-8") != _sources():
        build(root)
        built.write_text(_sources(), "utf-8")


def command(root: Path, cpu: str) -> list[str]:
    """Starts the root's Python on a model of qemu-aarch64's."""
    python, _ = _python(root)
    settings = [f"PYTHONPATH={root / 'site'}", f"PYTHONHOME={root / 'usr'}"]
    return ["qemu-aarch64", "-L", str(root), "-cpu", cpu, *(part for s in settings for part in ("-E", s)), str(python)]
