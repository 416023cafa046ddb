"""Proves that exp and log are correctly rounded (docs/exp_log.md): builds the kernels with gcc and clang, runs
tools/prove_exp_log.c through all float32 arguments, and prints the record for the page.

    python tools/prove_exp_log.py [--compilers gcc clang] [--write-lists]

Needs cmake and MPFR's headers; takes a few minutes on two cores. --write-lists renews tests/data/hard_exp.txt and hard_log.txt.
"""

import argparse
import datetime
import hashlib
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCES = ["kernels_c/exp_log.h", "kernels_c/exp_vector.h", "kernels_c/exp_log_isa.c"]


def prove(compiler: str, work: Path, write_lists: bool) -> list[str]:
    """The output lines of both functions for the kernels that this compiler makes."""
    build = work / compiler
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "-S", ROOT, "-B", build, f"-DCMAKE_C_COMPILER={compiler}"], **quiet)
    subprocess.run(["cmake", "--build", build, "--parallel", "2", "--target", "exact_kernels_static"], **quiet)
    program = build / "prove_exp_log"
    flags = ["-std=gnu11", "-O2", "-fno-tree-vectorize", "-ffp-contract=off", "-I", ROOT / "kernels_c"]
    source = ROOT / "tools" / "prove_exp_log.c"
    libraries = [build / "libexact_kernels_static.a", "-lmpfr", "-lgmp", "-lm", "-lpthread"]
    subprocess.run([compiler, *flags, source, *libraries, "-o", program], check=True)
    lines = []
    for function in ("exp", "log"):
        lists = [ROOT / "tests" / "data" / f"hard_{function}.txt"] if write_lists else []
        done = subprocess.run([program, function, *lists], stdout=subprocess.PIPE, text=True)
        print(f"{compiler}:\n{done.stdout}", end="", flush=True)
        if done.returncode:
            raise SystemExit(f"{compiler}: {function} is not correctly rounded")
        lines += done.stdout.splitlines()
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--compilers", nargs="+", default=["gcc", "clang"])
    parser.add_argument("--write-lists", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as work:
        for compiler in options.compilers:
            prove(compiler, Path(work), options.write_lists)
    print(f"\n| date | {datetime.date.today()} |")
    for source in SOURCES:
        print(f"| sha256 of {source} | {hashlib.sha256((ROOT / source).read_bytes()).hexdigest()[:16]} |")


if __name__ == "__main__":
    main()
