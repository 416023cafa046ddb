"""No kernel reads or writes outside its arrays: they lie against unreadable memory in a process of its own."""

import subprocess
import sys
from pathlib import Path

import pytest


def run(*arguments):
    program = [sys.executable, str(Path(__file__).parent / "guarded.py"), *arguments]
    return subprocess.run(program, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("side", ["end", "start"])
def test_the_page_is_there(side):
    assert run(side, "touch").returncode != 0


@pytest.mark.parametrize("side", ["end", "start"])
def test_bounds(side):
    done = run(side)
    last = "\n".join(done.stdout.splitlines()[-2:])
    assert done.returncode == 0, f"exit code {done.returncode} in: {last}\n{done.stderr[-1500:]}"
    assert last.endswith("calls")
