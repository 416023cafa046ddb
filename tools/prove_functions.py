"""Proves that the float32 functions are correctly rounded (docs/exp_log.md, docs/transcendental.md): builds the kernels
with gcc and clang, runs tools/prove through all arguments, and prints the record for the pages.

    python tools/prove_functions.py [FUNCTION ...] [--compilers gcc clang] [--write-lists]

Needs cmake and MPFR's headers; a minute or two for each function on one core. --write-lists renews the lists of hard
arguments, tests/data/hard_FUNCTION.txt; without it they must be the same.
"""

import argparse
import datetime
import hashlib
import subprocess
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FUNCTIONS = ("exp", "log", "sigmoid", "tanh", "erf", "softplus", "sin", "cos")
SOURCES = {
    "docs/exp_log.md": ["exp_log.h", "exp_vector.h", "exp_log_isa.c"],
    "docs/transcendental.md": ["exp_log.h", "transcendental.h", "transcendental_tables.h", "sin_cos.h", "transcendental_isa.c"],
}
WARNINGS = ["-Wall", "-Wextra", "-Werror"]


def library(compiler: str, work: Path) -> Path:
    """The kernels that this compiler makes, and tools/prove/paths.c, as one shared library."""
    build = work / compiler
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "-S", ROOT, "-B", build, f"-DCMAKE_C_COMPILER={compiler}"], **quiet)
    subprocess.run(["cmake", "--build", build, "--parallel", "2", "--target", "exact_kernels_static"], **quiet)
    flags = ["-std=gnu11", "-O3", "-fPIC", "-shared", "-fvisibility=hidden", "-I", ROOT / "kernels_c", *WARNINGS]
    flags += ["-ffp-contract=off", "-fno-math-errno", "-fno-trapping-math"]  # those of CMakeLists.txt
    kernels = ["-Wl,--whole-archive", build / "libexact_kernels_static.a", "-Wl,--no-whole-archive"]
    made = work / f"{compiler}.so"
    source = ROOT / "tools" / "prove" / "paths.c"
    subprocess.run([compiler, *flags, source, *kernels, "-lm", "-lpthread", "-o", made], check=True)
    return made


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("functions", nargs="*", metavar="FUNCTION", help=f"of {', '.join(FUNCTIONS)}; all of them by default")
    parser.add_argument("--compilers", nargs="+", default=["gcc", "clang"])
    parser.add_argument("--write-lists", action="store_true")
    options = parser.parse_args()
    if unknown := set(options.functions) - set(FUNCTIONS):
        parser.error(f"no function {', '.join(sorted(unknown))}")
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        program = work / "prove"
        sources = [p for p in sorted((ROOT / "tools" / "prove").glob("*.c")) if p.name != "paths.c"]
        libraries = ["-lmpfr", "-lgmp", "-lm", "-ldl"]
        include = ["-I", ROOT / "kernels_c"]
        subprocess.run(["cc", "-std=gnu11", "-O2", *WARNINGS, *include, *sources, *libraries, "-o", program], check=True)
        kernels = [library(compiler, work) for compiler in options.compilers]
        for function in options.functions or FUNCTIONS:
            found = work / f"hard_{function}.txt"
            failed += [function] if subprocess.run([program, function, found, *kernels]).returncode else []
            listed = ROOT / "tests" / "data" / found.name
            if options.write_lists:
                listed.write_bytes(found.read_bytes())
            elif found.read_bytes() != listed.read_bytes():
                failed.append(f"the list of {function}")
    if failed:
        raise SystemExit(f"not proved: {', '.join(failed)}")
    print(f"\n| date | {datetime.date.today()} |")
    for page, sources in SOURCES.items():
        print(f"\n{page}")
        for source in sources:
            digest = hashlib.sha256((ROOT / "kernels_c" / source).read_bytes()).hexdigest()[:16]
            print(f"| sha256 of kernels_c/{source} | {digest} |")


if __name__ == "__main__":
    main()
