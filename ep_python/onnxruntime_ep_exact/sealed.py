"""JSON files that carry a checksum of what they say."""

import hashlib
import json
from pathlib import Path
from typing import Any

#: Bytes of the largest file that is read.
LARGEST = 1 << 28


class ReceiptError(ValueError):
    """A receipt or trace that cannot be used here: damaged, of another version, or of another model or input."""


def canonical(data: Any) -> bytes:
    """JSON with sorted keys, no spaces, and ASCII alone."""
    return json.dumps(data, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode()


def seal(data: dict) -> dict:
    """With ``sha256``, of the canonical JSON of everything else."""
    return data | {"sha256": hashlib.sha256(canonical(data)).hexdigest()}


def read(path: Any, form: str, what: str) -> dict:
    """What was sealed, without its format and checksum.

    Raises:
        ReceiptError: it cannot be read, is something else, or was changed.
    """
    path = Path(path)
    try:
        if path.stat().st_size > LARGEST:
            raise ReceiptError(f"{path}: too large for a {what}")
        data = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ReceiptError(f"{path}: {error.strerror or error}") from error
    except (ValueError, RecursionError) as error:
        if isinstance(error, ReceiptError):
            raise
        raise ReceiptError(f"{path}: not a {what}: {error}") from error
    return unseal(data, form, what, str(path))


def unseal(data: Any, form: str, what: str, place: str) -> dict:
    """The same for what is read already."""
    if not isinstance(data, dict) or not isinstance(data.get("format"), str):
        raise ReceiptError(f"{place}: not a {what}")
    if data["format"] != form:
        raise ReceiptError(f"{place}: its format is {data['format']!r}, this version reads {form!r}")
    rest = {key: value for key, value in data.items() if key != "sha256"}
    try:
        sealed = seal(rest)["sha256"]
    except (ValueError, RecursionError) as error:
        raise ReceiptError(f"{place}: not a {what}: {error}") from error
    if sealed != data.get("sha256"):
        raise ReceiptError(f"{place}: the {what} was changed after it was made: its checksum is wrong")
    del rest["format"]
    return rest
