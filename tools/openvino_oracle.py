"""Runs the Convolution and GroupConvolution layers of an OpenVINO IR in our kernels and in OpenVINO's runtime.

    python tools/openvino_oracle.py model.xml [--bin model.bin] [--json]

Reports per layer whether the shapes agree, the scaled error (docs/exact-mode.md) and how many elements have the same bits.
Exit status: 0 all agree, 1 a layer does not or cannot be run, 2 the file cannot be read. docs/openvino.md
"""

import json
import math
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import click
import numpy as np
from onnxruntime_ep_exact import inputs, kernels
from openvino_ir import Fault, IRError, Layer, read
from openvino_runtime import ov
from rich.console import Console
from rich.markup import escape
from rich.table import Table

#: Elements of the tensors of one layer: 1 GiB of float32.
MOST_ELEMENTS = 1 << 28


@dataclass(frozen=True)
class Result:
    """What one layer gave; ``error`` tells why it gave nothing."""

    layer: str
    type: str
    error: str | None = None
    precision: str | None = None
    weights: str | None = None
    shape_in_file: list[int] | None = None
    shape_openvino: list[int] | None = None
    shape_ours: list[int] | None = None
    scaled_error: float | None = None
    equal_bits: int | None = None
    elements: int | None = None
    ok: bool = False


def output_shape(layer: Layer) -> list[int]:
    """The shape by docs/openvino.md, for an estimate of the work; wrong attributes are left to the kernel."""
    w, grouped = layer.weight_shape, layer.type == "GroupConvolution"
    kernel = w[2 + grouped :]
    channels = math.prod(w[: 1 + grouped])
    out = [*layer.input_shape[:1], channels]
    for n, k, s, d, b, e in zip(
        layer.input_shape[2:], kernel, layer.strides, layer.dilations, layer.pads_begin, layer.pads_end, strict=False
    ):
        before_and_after = 0 if (layer.auto_pad or "explicit").lower() == "valid" else b + e
        if (layer.auto_pad or "").lower().startswith("same"):
            out.append(-(-n // max(1, s)))
        else:
            out.append(max(0, (n + before_and_after - d * (k - 1) - 1) // max(1, s) + 1))
    return out


def check_size(layer: Layer, most_work: int) -> None:
    """Raises IRError for a layer that would take too long or too much memory."""
    out, w = math.prod(output_shape(layer)), layer.weight_shape
    elements = math.prod(layer.input_shape) + math.prod(w) + out
    if elements > MOST_ELEMENTS:
        raise IRError(f"its tensors have {elements} elements, more than {MOST_ELEMENTS}")
    work = out * math.prod(w[2:] if layer.type == "GroupConvolution" else w[1:])
    if work > most_work:
        raise IRError(f"it takes {work} multiplications, more than {most_work} (--max-work)")


def run_openvino(core: ov.Core, layer: Layer, x: np.ndarray, w: np.ndarray, threads: int) -> np.ndarray:
    """The layer in a model of its own, in float32 or float64."""
    opset, parameter = ov.opset1, ov.opset1.parameter(x.shape, x.dtype)
    build = opset.group_convolution if layer.type == "GroupConvolution" else opset.convolution
    lists = (layer.strides, layer.pads_begin, layer.pads_end, layer.dilations)
    try:
        output = build(parameter, opset.constant(w), *lists, (layer.auto_pad or "explicit").lower())
        config = {"INFERENCE_PRECISION_HINT": "f32", "INFERENCE_NUM_THREADS": threads}
        compiled = core.compile_model(ov.Model([output], [parameter]), "CPU", config)
        return np.array(compiled([x])[0])
    except Exception as error:  # OpenVINO raises many types
        reason = " ".join(str(error).split())
        raise IRError(f"OpenVINO: {reason[-300:]}") from error


def run_ours(layer: Layer, x: np.ndarray, w: np.ndarray, threads: int) -> np.ndarray:
    name = "openvino_group_convolution" if layer.type == "GroupConvolution" else "openvino_convolution"
    lists = (layer.strides, layer.pads_begin, layer.pads_end, layer.dilations)
    try:
        return getattr(kernels, name)(x, w, *lists, auto_pad=layer.auto_pad, threads=threads)
    except (ValueError, NotImplementedError, MemoryError, OverflowError) as error:
        raise IRError(str(error)) from error


def scaled_error(got: np.ndarray, want: np.ndarray) -> float:
    """docs/exact-mode.md, "Fast mode"; infinite when elements that are not finite disagree."""
    finite = np.isfinite(want)
    if not np.array_equal(np.isfinite(got), finite) or not np.array_equal(got[~finite], want[~finite], equal_nan=True):
        return math.inf
    got, want = got[finite].astype(np.float64), want[finite].astype(np.float64)
    return float(np.abs(got - want).max() / max(1.0, np.abs(want).max())) if got.size else 0.0


def compare(core: ov.Core, layer: Layer, number: int, seed: int, bar: float, threads: int, most_work: int) -> Result:
    """Runs a layer on both sides. Layers of 16-bit precision are widened and compared before the one rounding."""
    check_size(layer, most_work)
    rng = np.random.default_rng([seed, number])
    real = np.float64 if layer.precision == "FP64" else np.float32
    x = inputs.draw(layer.input_shape, real, rng)
    w = inputs.draw(layer.weight_shape, real, rng) if layer.weights is None else layer.weights
    ours, theirs = run_ours(layer, x, w, threads), run_openvino(core, layer, x, w, threads)
    agree = ours.shape == theirs.shape == layer.output_shape
    error = scaled_error(theirs, ours) if ours.shape == theirs.shape else None
    same = None
    if ours.shape == theirs.shape and ours.dtype == theirs.dtype:
        unsigned = np.dtype(f"u{ours.itemsize}")
        same = int((ours.view(unsigned) == np.ascontiguousarray(theirs).view(unsigned)).sum())
    return Result(
        layer.name,
        layer.type,
        precision=layer.precision,
        weights=layer.source,
        shape_in_file=list(layer.output_shape),
        shape_openvino=list(theirs.shape),
        shape_ours=list(ours.shape),
        scaled_error=error if error is None or math.isfinite(error) else None,
        equal_bits=same,
        elements=ours.size,
        ok=agree and error is not None and error <= bar,
    )


def compare_all(
    layers: list[Layer | Fault], seed: int = 0, bar: float = 1e-4, threads: int = 1, most_work: int = 10**11
) -> list[Result]:
    """One result per layer, in order; a layer that cannot be read or run has an error."""
    core = ov.Core()
    results = []
    for number, layer in enumerate(layers):
        if isinstance(layer, Fault):
            results.append(Result(layer.name, layer.type, error=layer.reason))
            continue
        try:
            results.append(compare(core, layer, number, seed, bar, threads, most_work))
        except IRError as error:
            results.append(Result(layer.name, layer.type, error=str(error)))
    return results


def report(results: list[Result], bar: float) -> None:
    """The table and what sums it up."""
    console = Console(width=None if Console().is_terminal else 160)
    table = Table(title=f"Ours against OpenVINO {ov.__version__.split('-')[0]} on its CPU device, bar {bar:g}")
    for column in ("layer", "type", "weights", "shape", "scaled error", "equal bits"):
        table.add_column(column, justify="right" if column in ("scaled error", "equal bits") else "left")
    for r in results:
        if r.error is not None:
            continue
        shapes = [r.shape_in_file, r.shape_openvino, r.shape_ours]
        shape = "x".join(map(str, shapes[0] or [])) if shapes[0] == shapes[1] == shapes[2] else f"[red]{escape(str(shapes))}"
        error = "[red]not comparable" if r.scaled_error is None else f"{'' if r.ok else '[red]'}{r.scaled_error:.2e}"
        same = "-" if r.equal_bits is None or not r.elements else f"{100 * r.equal_bits / r.elements:.1f} %"
        table.add_row(escape(r.layer), r.type, str(r.weights), shape, error, same)
    console.print(table)
    for r in results:
        if r.error is not None:
            console.print(f"[red]layer {escape(repr(r.layer))}[/] ({r.type}): {escape(r.error)}")
    compared = [r for r in results if r.error is None]
    shapes = sum(r.shape_in_file == r.shape_openvino == r.shape_ours for r in compared)
    worst = max((r.scaled_error for r in compared if r.scaled_error is not None), default=0.0)
    console.print(
        f"{len(results)} layers: {len(compared)} compared, {shapes} with equal shapes, largest scaled error {worst:.2e}, "
        f"{sum(r.ok for r in results)} within the bar."
    )


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("model", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--bin", "weights", type=click.Path(dir_okay=False, path_type=Path), help="The weights; else MODEL with .bin.")
@click.option("--layer", "names", multiple=True, metavar="NAME", help="Only layers of this name.")
@click.option("--seed", default=0, show_default=True, type=click.IntRange(min=0), help="Of the inputs that are drawn.")
@click.option("--bar", default=1e-4, show_default=True, help="The largest scaled error that is accepted.")
@click.option("--threads", default=1, show_default=True, type=click.IntRange(1, 256))
@click.option("--max-work", default=10**11, show_default=True, help="Multiplications that one layer may take.")
@click.option("--json", "as_json", is_flag=True, help="The results as JSON.")
def main(
    model: Path, weights: Path | None, names: tuple[str, ...], seed: int, bar: float, threads: int, max_work: int, as_json: bool
) -> None:
    """Compare the convolutions of MODEL (an OpenVINO IR, .xml) with OpenVINO's own runtime."""
    try:
        layers = read(model, weights or model.with_suffix(".bin"))
        if names:
            layers = [layer for layer in layers if layer.name in names]
        if not layers:
            raise IRError(f"{model.name}: no Convolution or GroupConvolution{' of that name' if names else ''}")
    except IRError as error:
        click.echo(f"Error: {error}", err=True)
        raise SystemExit(2) from error
    results = compare_all(layers, seed, bar, threads, max_work)
    ok = all(r.ok for r in results)
    if as_json:
        head = {"model": os.fspath(model), "openvino": ov.__version__, "seed": seed, "bar": bar, "ok": ok}
        click.echo(json.dumps(head | {"layers": [asdict(r) for r in results]}, indent=1, allow_nan=False))
    else:
        report(results, bar)
    raise SystemExit(0 if ok else 1)


if __name__ == "__main__":
    main()
