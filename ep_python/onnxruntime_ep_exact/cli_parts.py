"""What the commands of ort-exact share."""

from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console

console = Console(width=None if Console().is_terminal else 120)
mode = click.option("--mode", type=click.Choice(["exact", "fast"]), default="exact", show_default=True)


def sizes(dims: tuple[str, ...]) -> dict[str, int]:
    """Of the option --dim NAME=SIZE."""
    try:
        return {name: int(size) for name, size in (text.rsplit("=", 1) for text in dims)}
    except ValueError:
        raise click.BadParameter("give NAME=SIZE", param_hint="--dim") from None


@contextmanager
def errors() -> Iterator[None]:
    """Any error is told in a line, with exit code 2."""
    try:
        yield
    except (click.ClickException, SystemExit):
        raise
    except Exception as error:  # onnxruntime raises many types
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(2) from error
