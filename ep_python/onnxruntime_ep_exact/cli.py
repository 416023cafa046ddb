"""The command ``ort-exact``."""

import json
import tempfile
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import click
import numpy as np
import onnxruntime as ort
from rich.markup import escape
from rich.table import Table

from . import cli_exec, cli_receipts, get_ep_name, inputs, kernels, measure
from . import demo as demo_network
from .cli_parts import console as _console
from .cli_parts import mode as _mode
from .cli_parts import sizes
from .semantics import SEMANTICS


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
def main() -> None:
    """Run ONNX models on kernels whose results have the same bits on every machine."""


for command in (*cli_receipts.COMMANDS, cli_exec.execute):
    main.add_command(command)

_threads = click.option("--threads", default="1,2,7", show_default=True, help="Numbers of intra-op threads to run with.")
_seconds = click.option("--seconds", default=2.0, show_default=True, help="How long to time each setting; 0: not at all.")


def _numbers(text: str, option: str = "--threads") -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if not numbers or min(numbers) < 1:
        raise click.BadParameter(f"{text!r} is no list of positive numbers", param_hint=option)
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
    named = sizes(dims)
    try:
        infos = measure.session(model, "cpu").get_inputs()
        if input_file:
            with np.load(input_file) as data:
                feeds = {1: {name: data[name] for name in data.files}}
        else:
            feeds = {n: inputs.make(infos, named, n, seed) for n in (1, 8)}
            if all(np.array_equal(feeds[1][name], feeds[8][name]) for name in feeds[1]):
                del feeds[8]  # no batch axis
        _report(model, feeds, mode, _numbers(threads), seconds)
    except click.ClickException:
        raise
    except Exception as error:  # onnxruntime raises many types
        raise click.ClickException(str(error)) from error


@main.command("receptive-field")
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--input-shape", metavar="N,C,H,W", help="Sizes for the axes that the model leaves open.")
@click.option("--input", "input_name", help="The input to start at; else the first one of rank 3 or more.")
@click.option("--node", "names", multiple=True, metavar="NAME", help="Only this node, by its name or that of an output.")
@click.option("--all", "everything", is_flag=True, help="Also nodes that leave the field as it was.")
@click.option("--local", is_flag=True, help="Leave out operands that see the whole input where others do not.")
@click.option("--json", "as_json", is_flag=True, help="All nodes, as JSON.")
@click.option("--plot", type=click.Path(dir_okay=False), help="Draw the fields over the input (.png, .svg, .pdf).")
def receptive_field(
    model: str,
    input_shape: str | None,
    input_name: str | None,
    names: tuple[str, ...],
    everything: bool,
    local: bool,
    as_json: bool,
    plot: str | None,
) -> None:
    """Output size, jump, receptive field and first centre of MODEL's layers (docs/receptive-field.md)."""
    from . import receptive

    shape = None if input_shape is None else _numbers(input_shape, "--input-shape")
    try:
        report = receptive.analyse(model, shape, input_name, local)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    for name in names:
        if not report.find(name):
            raise click.BadParameter(f"no node behind the input {report.input!r} has the name {name!r}", param_hint="--node")
    chosen = [layer for name in names for layer in report.find(name)]
    if as_json:
        click.echo(
            json.dumps(report.as_dict() if not chosen else report.as_dict() | {"layers": _only(report, chosen)}, indent=1)
        )
    else:
        _print_fields(report, chosen or [layer for layer in report.layers if everything or layer.changes])
    if plot:
        from .receptive import plot as pictures

        try:
            pictures.draw(report, chosen or pictures.some(report), plot)
        except (RuntimeError, ValueError) as error:
            raise click.ClickException(str(error)) from error


def _only(report: Any, chosen: list) -> list[dict]:
    return [entry for layer, entry in zip(report.layers, report.as_dict()["layers"], strict=True) if layer in chosen]


def _print_fields(report: Any, layers: list) -> None:
    shape = " x ".join(str(size) for size in report.shape)
    table = Table(title=f"Receptive fields in {escape(report.input)} [{escape(shape)}], in positions of the input")
    for column in ("node", "operator", "axis", "outputs", "jump", "field", "first centre"):
        table.add_column(column, justify="right" if column in ("jump", "field", "first centre") else "left")
    skipped = [layer for layer in layers if layer.reason is not None]
    for layer in layers:
        for place, (a, axis) in enumerate(layer.axes.items()):
            label = [escape(layer.name), layer.operator] if place == 0 else ["", ""]
            field = f"whole ({_text(axis.field)})" if axis.whole else _text(axis.field)
            table.add_row(*label, str(a), _text(axis.size), _text(axis.jump), field, _text(axis.centre))
    _console.print(table)
    first = [layer for layer in skipped if not layer.reason.startswith("it comes after")]
    for layer in first:
        _console.print(f"[yellow]Not followed[/]: {layer.operator} {escape(layer.name)}: {escape(layer.reason)}")
    if behind := len(skipped) - len(first):
        nodes = f"{behind} node{'s' if behind > 1 else ''}"
        _console.print(f"[yellow]Not known[/] behind {'it' if len(first) == 1 else 'those'}: {nodes}")


def _text(value: Any) -> str:
    """A number of the table; "-" where there is none, or none that is known."""
    if value is None:
        return "-"
    return f"{float(value):g}" if isinstance(value, Fraction) else escape(str(value))


@main.command()
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.option("--face", type=click.Choice(measure.FACES), help="Else the plugin, where ONNX Runtime has it.")
@_mode
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
@click.option("--html", type=click.Path(dir_okay=False), help="Also write it as a page, coloured by guarantee.")
def audit(model: str, face: str | None, mode: str, as_json: bool, html: str | None) -> None:
    """Tell what is guaranteed for every node of MODEL (docs/audit.md). Exit code 0: everything, 1: not everything, 2: error."""
    from . import audit_page, guarantee

    try:
        report = guarantee.audit(model, mode=mode, face=face)
        if html:
            Path(html).write_text(audit_page.page(report, Path(model).name), "utf-8")
    except Exception as error:  # onnxruntime raises many types
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(2) from error
    if as_json:
        click.echo(json.dumps(report.as_dict(), indent=1))
    else:
        _print_audit(report)
    raise SystemExit(0 if report.guaranteed else 1)


def _print_audit(report: Any) -> None:
    from . import guarantee

    colours = dict(zip(guarantee.GUARANTEES, ("green", "cyan", "red"), strict=True))
    setting = f"{report.face}, {report.mode}, onnxruntime {report.onnxruntime}"
    table = Table(title=f"Nodes after ONNX Runtime's optimizer ({setting})")
    for column in ("node", "operator", "runs on", "guarantee", "why"):
        table.add_column(column)
    for n in report.nodes:
        guaranteed = f"[{colours[n.guarantee]}]{n.guarantee}"
        table.add_row(escape(n.place), escape(n.operator), n.provider, guaranteed, escape(n.why))
    _console.print(table)
    table = Table(title="Graph rewrites that change bits")
    for column in ("rewrite", "is off", "would rewrite this graph", "why it changes bits"):
        table.add_column(column)
    for r in report.rewrites:
        applies = {True: "yes", False: "no", None: "-"}[r.applies]
        table.add_row(r.name, "yes" if r.disabled else "no", applies, r.reason)
    _console.print(table)
    _console.print("Nodes: " + ", ".join(f"{count} {guarantee}" for guarantee, count in report.counts.items()))
    _console.print(f"[{'green' if report.guaranteed else 'red'}]{report.verdict}[/]", soft_wrap=True)


@main.command()
def info() -> None:
    """Versions, the library's path and the instruction-set variants that this CPU can run."""
    from . import get_library_path

    table = Table(show_header=False)
    table.add_row("onnxruntime", ort.__version__)
    table.add_row("semantics version", str(SEMANTICS))
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
