"""Fuzzes the kernels: builds tests/fuzz with clang and runs it over tests/fuzz/corpus.txt. Ends with an error when something is
found; the input that shows it is kept, and `--show FILE` runs that alone. docs/fuzzing.md"""

import base64
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

import click

ROOT = Path(__file__).parent.parent
#: One input a line, in Base64.
CORPUS = ROOT / "tests" / "fuzz" / "corpus.txt"
#: Numbers of families in tests/fuzz/ops.h, and how many random inputs each begins with.
FAMILIES, SEEDS = 24, 30
LIMITS = ("-timeout=20", "-rss_limit_mb=2500", "-max_len=256")


def build(folder: Path) -> Path:
    """The fuzz target."""
    setup = ["-DEXACT_FUZZ=ON", "-DCMAKE_C_COMPILER=clang"]
    subprocess.run(["cmake", "-S", ROOT, "-B", folder, *setup], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(
        ["cmake", "--build", folder, "-j", str(os.cpu_count()), "--target", "fuzz_kernels"],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    return folder / "fuzz_kernels"


def plant(folder: Path, seed: int) -> None:
    """The corpus, and random bytes for every family: most of them reach a run."""
    for i, line in enumerate(CORPUS.read_text("ascii").split()):
        (folder / f"kept-{i:04}").write_bytes(base64.b64decode(line))
    rng = random.Random(seed)
    for family in range(FAMILIES):
        for i in range(SEEDS):
            data = bytes([family]) + rng.randbytes(rng.choice((40, 80, 120)))
            (folder / f"seed-{family:02}-{i:02}").write_bytes(data)


def last(pattern: str, text: str) -> str:
    """What the pattern's group matched last."""
    return (re.findall(pattern, text) or ["?"])[-1]


@click.command(help=__doc__)
@click.option("--seconds", default=30, show_default=True, help="Time of the run, after the corpus has been replayed.")
@click.option("--build-dir", type=click.Path(path_type=Path), default=ROOT / "build" / "fuzz", help="Where to build.")
@click.option("--seed", default=0, help="Of libFuzzer and of the random inputs; 0: another one in every run.")
@click.option("--write", is_flag=True, help="Replace the committed corpus by the smallest one of the same coverage.")
@click.option("--show", type=click.Path(exists=True, path_type=Path), help="Run this input alone and print what it is.")
def main(seconds: int, build_dir: Path, seed: int, write: bool, show: Path | None) -> None:
    """Command line."""
    target = build(build_dir)
    if show:
        sys.exit(subprocess.run([target, *LIMITS, show], env=os.environ | {"EXACT_FUZZ_SHOW": "1"}, check=False).returncode)
    found, corpus, merged = (build_dir / name for name in ("found", "corpus", "merged"))
    for folder in (found, corpus, merged):
        folder.mkdir(parents=True, exist_ok=True)
    plant(corpus, seed or random.randrange(1, 1 << 31))
    before = set(found.iterdir())
    command = [
        target,
        *LIMITS,
        f"-max_total_time={seconds}",
        f"-seed={seed}",
        f"-artifact_prefix={found}/",
        "-print_final_stats=1",
    ]
    done = subprocess.run(
        [*command, corpus], env=os.environ | {"EXACT_FUZZ_COUNTS": "1"}, capture_output=True, text=True, check=False
    )
    if done.returncode:
        print(done.stderr[-8000:])
        for path in sorted(set(found.iterdir()) - before):
            print(f"kept: {path}")
        sys.exit(f"the fuzz target ended with {done.returncode}")
    print(done.stderr[done.stderr.rfind("family ") :])
    units, edges = last(r"number_of_executed_units: (\d+)", done.stderr), last(r"cov: (\d+)", done.stderr)
    print(f"{units} executions, {edges} edges covered, no finding")
    if write:
        shutil.rmtree(merged)
        merged.mkdir()
        subprocess.run([target, *LIMITS, "-merge=1", "-use_counters=0", merged, corpus], check=True, capture_output=True)
        lines = sorted(base64.b64encode(path.read_bytes()).decode() for path in merged.iterdir())
        CORPUS.write_text("\n".join(lines) + "\n", "ascii")
        print(f"{len(lines)} inputs in {CORPUS.name}")


if __name__ == "__main__":
    main()
