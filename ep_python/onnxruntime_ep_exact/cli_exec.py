"""The command exec (docs/exec.md)."""

import json
import os
import signal
import subprocess
import tempfile
from importlib.resources import files
from pathlib import Path

import click

from . import measure
from .executing import RECORDS
from .guarantee import BY_NATURE, BY_US, NOT
from .session import MODES

#: Signals that a shell or a supervisor sends; the command gets them too.
_PASSED_ON = ("SIGTERM", "SIGHUP", "SIGUSR1", "SIGUSR2")


@click.command("exec", context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@click.option("--mode", type=click.Choice(MODES), help="EXACT_MODE; else exact.")
@click.option("--face", type=click.Choice(measure.FACES), help="EXACT_FACE; else the plugin, where ONNX Runtime has it.")
@click.option(
    "--threads", type=click.IntRange(0, measure.MOST_THREADS), help="EXACT_THREADS: intra-op threads of every session."
)
@click.option("--strict", is_flag=True, help="EXACT_STRICT=1: refuse a session that is not guaranteed in every node.")
@click.option("--no-audit", is_flag=True, help="EXACT_AUDIT=0: do not count nodes.")
@click.option("--summary", type=click.Path(dir_okay=False), help="Write the summary to this file, not to standard error.")
def execute(
    command: tuple[str, ...],
    mode: str | None,
    face: str | None,
    threads: int | None,
    strict: bool,
    no_audit: bool,
    summary: str | None,
) -> None:
    """Run COMMAND, an application in Python, with its onnxruntime sessions on the exact kernels. Its exit code is passed on."""
    given = {
        "EXACT_MODE": mode,
        "EXACT_FACE": face,
        "EXACT_THREADS": None if threads is None else str(threads),
        "EXACT_STRICT": "1" if strict else None,
        "EXACT_AUDIT": "0" if no_audit else None,
    }
    with tempfile.TemporaryDirectory(prefix="ort-exact-") as folder:
        hook = str(Path(str(files(__package__) / "exec_hook" / "sitecustomize.py")).parent)
        path = os.pathsep.join(filter(None, (hook, os.environ.get("PYTHONPATH"))))
        env = {**os.environ, **{k: v for k, v in given.items() if v is not None}, RECORDS: folder, "PYTHONPATH": path}
        code = _run(command, env)
        text = report(Path(folder))
    if summary:
        try:
            Path(summary).write_text(text, "utf-8")
        except OSError as error:
            click.echo(f"Error: {error}", err=True)
    else:
        click.echo(text, nl=False, err=True)
    raise SystemExit(code)


def _run(command: tuple[str, ...], env: dict[str, str]) -> int:
    """The exit code, as a shell gives it: 128 and the signal's number for a command that a signal ended."""
    try:
        child = subprocess.Popen(command, env=env)
    except FileNotFoundError:
        click.echo(f"Error: {command[0]}: not found", err=True)
        return 127
    except OSError as error:
        click.echo(f"Error: {command[0]}: {error.strerror}", err=True)
        return 126
    before = {name: signal.signal(getattr(signal, name), lambda number, _: child.send_signal(number)) for name in _PASSED_ON}
    before["SIGINT"] = signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal sends it to the command as well
    try:
        code = child.wait()
    finally:
        for name, handler in before.items():
            signal.signal(getattr(signal, name), handler)
    return 128 - code if code < 0 else code


def report(folder: Path) -> str:
    """The summary, from the files of the processes."""
    rows = [json.loads(line) for path in sorted(folder.glob("*.jsonl")) for line in path.read_text("utf-8").splitlines()]
    sessions = sorted((row for row in rows if "model" in row), key=lambda row: row["at"])
    processes = len(list(folder.glob("*.jsonl")))
    if not sessions:
        if processes:
            return "ort-exact: onnxruntime was imported, no session was made\n"
        return "ort-exact: no Python of the command imported onnxruntime (python -I, -E and -S are out of reach)\n"
    counted = [row["counts"] for row in sessions if row["counts"] is not None]
    total = {name: sum(counts[name] for counts in counted) for name in (BY_US, BY_NATURE, NOT)}
    exact = sum(1 for counts in counted if not counts[NOT])
    head = (
        f"ort-exact: {_many(len(sessions), 'session')} in {_many(processes, 'process', 'es')}, {exact} exact in every node"
        f"; {_many(sum(total.values()), 'node')}: {_counts(total)}"
    )
    return "\n".join([head, *map(_line, sessions)]) + "\n"


def _many(number: int, what: str, ending: str = "s") -> str:
    return f"{number} {what}{ending if number != 1 else ''}"


def _counts(counts: dict[str, int]) -> str:
    return ", ".join(f"{counts[name]} {name}" for name in (BY_US, BY_NATURE, NOT))


def _line(row: dict) -> str:
    if row["counts"] is None:
        text = f"not audited ({row['why']})"
    else:
        text = f"{_many(sum(row['counts'].values()), 'node')}: {_counts(row['counts'])}"
    text += ", refused" if row.get("refused") else ""
    text += f"; left out: {', '.join(row['left_out'])}" if row["left_out"] else ""
    return f"  {row['model']}: {text}"
