"""The command ``ort-exact``."""

import tempfile
from collections import Counter
from pathlib import Path

import click
import numpy as np
import onnxruntime as ort
from rich.console import Console
from rich.table import Table

from . import demo as demo_network
from . import get_ep_name, inputs, kernels, measure

_console = Console(width=None if Console().is_terminal else 120)


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run ONNX models on kernels whose results have the same bits on every machine."""


_mode = click.option("--mode", type=click.Choice(["exact", "fast"]), default="exact", show_default=True)
_threads = click.option("--threads", default="1,2,7", show_default=True, help="Numbers of intra-op threads to run with.")
_seconds = click.option("--seconds", default=2.0, show_default=True, help="How long to time each setting; 0: not at all.")


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"{text!r} is no list of positive numbers", param_hint="--threads")
    return numbers


@main.command()
@_mode
@_threads
@_seconds
def demo(mode: str, threads: str, seconds: float) -> None:
    """Run a small built-in network everywhere and compare the bits."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo.onnx"
        path.write_bytes(demo_network.model())
        session = measure.session(str(path), "cpu")
        feeds = {n: inputs.make(session.get_inputs(), {}, n, 0) for n in (1, 8)}
        _report(str(path), feeds, mode, _numbers(threads), seconds)


@main.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--input", "input_file", type=click.Path(exists=True, dir_okay=False), help=".npz file, one array per input.")
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="Size of a symbolic dimension, or of INPUT:AXIS.")
@click.option("--seed", default=0, show_default=True, help="Of the inputs that are drawn.")
@_mode
@_threads
@_seconds
def run(model: str, input_file: str | None, dims: tuple, seed: int, mode: str, threads: str, seconds: float) -> None:
    """Run MODEL on ONNX Runtime's CPU provider and on the exact kernels: who ran each node, output bits, time ratio."""
    try:
        sizes = {name: int(size) for name, size in (text.rsplit("=", 1) for text in dims)}
    except ValueError:
        raise click.BadParameter("give NAME=SIZE", param_hint="--dim") from None
    try:
        infos = measure.session(model, "cpu").get_inputs()
        if input_file:
            with np.load(input_file) as data:
                feeds = {1: {name: data[name] for name in data.files}}
        else:
            feeds = {n: inputs.make(infos, sizes, n, seed) for n in (1, 8)}
            if all(np.array_equal(feeds[1][name], feeds[8][name]) for name in feeds[1]):
                del feeds[8]  # no batch axis
        _report(model, feeds, mode, _numbers(threads), seconds)
    except click.ClickException:
        raise
    except Exception as error:  # onnxruntime raises many types
        raise click.ClickException(str(error)) from error


@main.command()
def info() -> None:
    """Versions, the library's path and the instruction-set variants that this CPU can run."""
    from . import get_library_path

    table = Table(show_header=False)
    table.add_row("onnxruntime", ort.__version__)
    table.add_row("provider", get_ep_name())
    table.add_row("library", get_library_path())
    table.add_row("faces here", ", ".join(measure.faces()))
    table.add_row("instruction sets", ", ".join(kernels.isa_names()) + f" (in use: {kernels.isa()})")
    _console.print(table)


def _report(model: str, feeds: dict, mode: str, threads: list[int], seconds: float) -> None:
    first = feeds[min(feeds)]
    _print_nodes(model, first, mode)
    equal = _print_digests(model, feeds, mode, threads)
    if seconds > 0:
        _print_ratios(model, first, mode, seconds)
    if not equal:
        raise SystemExit(1)


def _print_nodes(model: str, feeds: dict, mode: str) -> None:
    face = measure.default_face()
    nodes = measure.placement(model, feeds, face, mode)
    table = Table(title=f"Nodes of the session on {get_ep_name()} ({face}), from ONNX Runtime's profile")
    for column in ("node", "operator", "ran on"):
        table.add_column(column)
    for name, op, provider in nodes:
        table.add_row(name, op, f"[green]{provider}" if provider == get_ep_name() else provider)
    _console.print(table)
    counts = Counter(op for _, op, _ in measure.placement(model, feeds, "cpu"))
    _console.print("ONNX Runtime's own session ran: " + ", ".join(f"{n} {op}" for op, n in counts.items()) + "\n")


def _print_digests(model: str, feeds: dict, mode: str, threads: list[int]) -> bool:
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "feeds.npz")
        measure.save_feeds(path, feeds)
        ours = measure.digests_of_variants(model, path, mode, threads, kernels.isa_names())
    theirs = measure.digests(model, feeds, "cpu", mode, threads, "its own choice")
    table = Table(title="SHA-256 of the outputs (first row of a batch)")
    for column in ("face", "instruction set", "threads", "batch", "sha-256"):
        table.add_column(column)
    for r in ours + theirs:
        table.add_row(r.face, r.isa, str(r.threads), str(r.batch), r.sha256[:32])
    _console.print(table)
    different = len({r.sha256 for r in ours})
    _console.print(
        f"{'[green]' if different == 1 else '[red]'}Exact kernels: {len(ours)} runs, {different} different result"
        f"{'s' if different > 1 else ''}[/]. ONNX Runtime's CPU provider: {len(theirs)} runs, "
        f"{len({r.sha256 for r in theirs})} different.\n"
    )
    return different == 1


def _print_ratios(model: str, feeds: dict, mode: str, seconds: float) -> None:
    table = Table(title="Time on ONNX Runtime's CPU provider / time on ours (above 1: ours is faster)")
    for column in ("face", "threads", "ratio"):
        table.add_column(column)
    for face in measure.faces():
        for threads in (1, 2):
            table.add_row(face, str(threads), f"{measure.ratio(model, feeds, face, mode, threads, seconds):.2f}")
    _console.print(table)


if __name__ == "__main__":
    main()
