"""The commands digest, verify and diff (docs/receipts.md)."""

import json
import math
from pathlib import Path
from typing import Any

import click
from rich.markup import escape
from rich.table import Table

from . import measure
from .cli_parts import console, errors, mode, sizes

_FILE = click.Path(exists=True, dir_okay=False)
_NEW_FILE = click.Path(dir_okay=False)
_MODEL = click.argument("model", type=_FILE)
_face = click.option("--face", type=click.Choice(measure.FACES), help="Else the plugin, where ONNX Runtime has it.")


def _inputs(command: Any) -> Any:
    for option in (
        click.option(
            "--dim", "dims", multiple=True, metavar="NAME=SIZE", help="Size of a symbolic dimension, or of INPUT:AXIS."
        ),
        click.option("--batch", default=1, show_default=True, help="Of the inputs that are drawn."),
        click.option("--random", "seed", type=int, help="Draw the inputs, from this seed."),
        click.option("--input", "input_file", type=_FILE, help=".npz file, one array per input."),
    ):
        command = option(command)
    return command


def _given(input_file: str | None, seed: int | None, batch: int, dims: tuple[str, ...]) -> dict:
    if input_file is not None and seed is not None:
        raise click.UsageError("--input and --random exclude each other")
    if seed is None and (dims or batch != 1):
        raise click.UsageError("--dim and --batch are for --random")
    return {"inputs": input_file, "random": seed, "batch": batch, "dims": sizes(dims)}


@click.command()
@_MODEL
@_inputs
@click.option("-o", "--output", type=_NEW_FILE, help="The receipt; else it goes to standard output.")
@click.option("--trace", type=_NEW_FILE, help="Also write the SHA-256 of every intermediate value to this file.")
@click.option("--trace-values", type=_NEW_FILE, help="Also write the values themselves to this .npz file.")
@mode
@_face
@click.option("--threads", default=1, show_default=True, help="Intra-op threads; 0: ONNX Runtime's choice.")
def digest(
    model: str,
    input_file: str | None,
    seed: int | None,
    batch: int,
    dims: tuple[str, ...],
    output: str | None,
    trace: str | None,
    trace_values: str | None,
    mode: str,
    face: str | None,
    threads: int,
) -> None:
    """Run MODEL once and write a receipt: SHA-256 of model, inputs and outputs, and what is guaranteed. Exit code 2: error."""
    from . import receipts

    given = _given(input_file, seed, batch, dims)
    with errors():
        made = receipts.digest(model, **given, mode=mode, face=face, threads=threads, trace=trace, trace_values=trace_values)
        if output:
            made.save(output)
        else:
            click.echo(json.dumps(made.as_dict(), indent=1))
    click.echo(f"result {made.result}", err=not output)
    click.echo(made.audit["verdict"], err=not output)
    if made.trace and not made.trace["faithful"]:
        click.echo("The trace changed the outputs: the model has nodes that are not exact", err=not output)


@click.command()
@click.argument("receipt", type=click.Path())
@click.option("--model", type=click.Path(), help="Else the receipt's, here or beside the receipt.")
@click.option("--input", "input_file", type=click.Path(), help="Else the receipt's, or drawn again.")
@click.option("--trace", type=click.Path(), help="The other side's trace: tells the first node that differs.")
@click.option("--trace-values", type=click.Path(), help="The other side's values: tells how far it differs.")
@_face
@click.option("--threads", type=int, help="Else as in the receipt.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def verify(
    receipt: str,
    model: str | None,
    input_file: str | None,
    trace: str | None,
    trace_values: str | None,
    face: str | None,
    threads: int | None,
    as_json: bool,
) -> None:
    """Run again what RECEIPT tells of and compare the bits. Exit code 0: same, 1: different, 2: it cannot be told."""
    from . import verifying

    with errors():
        found = verifying.verify(receipt, model, input_file, trace=trace, trace_values=trace_values, face=face, threads=threads)
    if as_json:
        click.echo(json.dumps(_finite(found.as_dict()), indent=1))
    else:
        _print_verification(found)
    raise SystemExit(0 if found.same else 1)


def _print_verification(found: Any) -> None:
    outputs = len(found.receipt.outputs)
    if found.same:
        click.echo(f"SAME: {outputs} output{'s' * (outputs != 1)}, result {found.receipt.result}")
    else:
        click.echo(f"DIFFERENT: {len(found.different)} of {outputs} outputs: {', '.join(found.different)}")
    if found.guaranteed is False:
        click.echo("The receipt says that not every node of the model is guaranteed")
    if found.compared:
        click.echo(f"Traces: {found.compared[1]} of {found.compared[0]} values differ")
    if found.first:
        far = "" if found.first.ulp is None else f", {found.first.ulp:g} ulp, scaled error {found.first.scaled_error:.3g}"
        click.echo(f"First: {found.first.operator} {found.first.node}, output {found.first.output}{far}")
    if found.note:
        click.echo(f"Note: {found.note}")


def _finite(data: Any) -> Any:
    """JSON has no infinity: it is the text "inf"."""
    if isinstance(data, dict):
        return {key: _finite(value) for key, value in data.items()}
    return "inf" if isinstance(data, float) and math.isinf(data) else data


@click.command()
@_MODEL
@_inputs
@mode
@_face
@click.option("--threads", default=1, show_default=True, help="Intra-op threads; 0: ONNX Runtime's choice.")
@click.option("--all", "everything", is_flag=True, help="All nodes, not only the first 30 that differ.")
@click.option("--json", "as_json", is_flag=True, help="All nodes, as JSON.")
def diff(
    model: str,
    input_file: str | None,
    seed: int | None,
    batch: int,
    dims: tuple[str, ...],
    mode: str,
    face: str | None,
    threads: int,
    everything: bool,
    as_json: bool,
) -> None:
    """Compare every node of MODEL with ONNX Runtime's CPU provider, alone and in the whole run. Exit code 2: error."""
    from . import differences

    given = _given(input_file, seed, batch, dims)
    with errors():
        rows = differences.diff(model, **given, mode=mode, face=face, threads=threads)
    if as_json:
        click.echo(json.dumps([row.as_dict() for row in rows], indent=1))
        return
    shown = rows if everything else [row for row in rows if row.ulp or row.scaled_error or row.different][:30]
    table = Table(title=f"{escape(Path(model).name)}: our session and ONNX Runtime's CPU provider")
    for column in ("node", "operator", "ours", "alone: ulp", "scaled error", "whole run: ulp", "scaled error", "other bits"):
        table.add_column(column, justify="left" if column in ("node", "operator", "ours") else "right")
    for row in shown:
        alone = ("-", "-") if row.ulp is None else (f"{row.ulp:g}", f"{row.scaled_error:.2e}")
        whole = (f"{row.total_ulp:g}", f"{row.total_scaled_error:.2e}", f"{row.different} of {row.elements}")
        table.add_row(escape(row.node), escape(row.operator), "yes" if row.ours else "", *alone, *whole)
    console.print(table)
    alone = sum(1 for row in rows if row.ulp or row.scaled_error)
    whole = sum(1 for row in rows if row.different)
    click.echo(f"{len(rows)} outputs of nodes: {alone} differ alone, {whole} in the whole run, {len(shown)} shown")


COMMANDS = (digest, verify, diff)
