"""Random sequences of session operations: tests/session_machine.py in a process of its own, so that a crash is a failure."""

import subprocess
import sys
from pathlib import Path


def test_sequences_of_sessions():
    done = subprocess.run(
        [sys.executable, Path(__file__).with_name("session_machine.py")],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, f"exit code {done.returncode}\n{done.stdout[-3000:]}\n{done.stderr[-5000:]}"
    assert "unregister" in done.stdout or "plugin" not in done.stdout
