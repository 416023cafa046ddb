"""Draws receptive fields over the input."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import Layer, Report
from .sizes import Dim

#: Told apart by people who do not see red and green alike, and on a print without colours by the line.
_STYLES = [
    (colour, line)
    for line in ("-", "--", ":")
    for colour in ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
]

_INPUT = "#f4efd6"


def draw(report: Report, layers: Sequence[Layer], path: str | Path) -> None:
    """A picture of the input with, for each layer, the field of the output in the middle, and its centre.

    With one axis fields are bars, with two rectangles; of three axes the last two are drawn.

    Raises:
        RuntimeError: matplotlib is not installed.
        ValueError: the input has no known shape, a layer has no field, the file has a format that cannot be written.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise RuntimeError("drawing needs matplotlib: pip install 'onnxruntime-ep-exact[plot]'") from error
    axes = report.axes[-2:]
    if any(isinstance(report.shape[a], Dim) for a in axes):
        raise ValueError("to draw, the input needs a known shape")
    if not layers:
        raise ValueError("there is no layer to draw")
    if len(layers) > len(_STYLES):
        raise ValueError(f"{len(layers)} layers are too many for one picture: choose up to {len(_STYLES)}")
    for layer in layers:
        if layer.reason is not None:
            raise ValueError(f"node {layer.name!r} was not followed: {layer.reason}")
    height, width = (1, *(int(report.shape[a]) for a in axes))[-2:]  # type: ignore[arg-type]
    figure = Figure(figsize=_page(width, height, len(layers), len(axes)), layout="constrained")
    FigureCanvasAgg(figure)
    plane = figure.add_subplot()
    if len(axes) == 2:
        _draw_rectangles(plane, report, layers, axes)
    else:
        _draw_bars(plane, layers, axes[0], width)
    plane.set_xlabel(f"axis {axes[-1]} of {report.input}: {width} positions")
    plane.set_title("Receptive field of the middle output of each node")
    try:
        figure.savefig(path, dpi=120)
    except OSError as error:
        raise ValueError(f"{path}: {error.strerror or error}") from error


def some(report: Report) -> list[Layer]:
    """Up to seven layers to draw when none were chosen: fields of different sizes, spread over the network."""
    by_size: dict[tuple, Layer] = {}
    for layer in report.layers:
        if layer.reason is None:
            by_size.setdefault(tuple(layer.axes[a].field for a in report.axes[-2:]), layer)
    grown = list(by_size.values())
    if len(grown) <= 7:
        return grown
    return [grown[round(i * (len(grown) - 1) / 6)] for i in range(7)]


def _page(width: int, height: int, layers: int, axes: int) -> tuple[float, float]:
    if axes == 1:
        return 10, 1.5 + 0.45 * layers
    return 10, min(14, max(4, 9 * height / width)) + 0.8 + 0.25 * layers


def _span(layer: Layer, axis: int) -> tuple[float, float, float]:
    """First position, last position and centre of the middle output's field, by the affine rule: also beyond the input."""
    assert layer.tensor is not None
    field = layer.tensor.fields[axis]
    assert field.first is not None and field.last is not None
    index = 0 if field.axis is None else max(0, (len(field.first) - 1) // 2)
    if not len(field.first):
        raise ValueError(f"node {layer.name!r} has no outputs")
    first, last = float(field.first[index]), float(field.last[index])
    low, span = field.low, field.span
    if field.whole or low is None or span is None or field.jump is None:
        return first, last, (first + last) / 2
    low = low + index * field.jump
    return float(low), float(low + span), float(low + span / 2)


def _label(layer: Layer, axes: Sequence[int]) -> str:
    sizes = " x ".join("whole" if layer.axes[a].whole else f"{float(layer.axes[a].field or 0):g}" for a in axes)
    name = layer.name if len(layer.name) <= 40 else "..." + layer.name[-37:]
    return f"{name} ({layer.operator}): {sizes}".replace("$", r"\$")


def _draw_rectangles(plane, report: Report, layers: Sequence[Layer], axes: Sequence[int]) -> None:
    from matplotlib.patches import Rectangle

    height, width = (int(report.shape[a]) for a in axes)  # type: ignore[arg-type]
    image = plane.add_patch(Rectangle((-0.5, -0.5), width, height, facecolor=_INPUT, edgecolor="#888888", label="the input"))
    boxes = [[_span(layer, a) for a in axes] for layer in layers]
    order = sorted(range(len(layers)), key=lambda i: -(boxes[i][0][1] - boxes[i][0][0]) * (boxes[i][1][1] - boxes[i][1][0]))
    handles = {}
    for i in order:  # the largest first, so that none hides another
        (top, bottom, y), (left, right, x) = boxes[i]
        colour, line = _STYLES[i]
        handles[i] = plane.add_patch(
            Rectangle(
                (left - 0.5, top - 0.5),
                right - left + 1,
                bottom - top + 1,
                facecolor=colour + "10",
                edgecolor=colour,
                linestyle=line,
                linewidth=2,
                label=_label(layers[i], axes),
            )
        )
        plane.plot([x], [y], marker="+", markersize=10, markeredgewidth=1.5, color=colour)
    _limits(plane, [b[1] for b in boxes], width, plane.set_xlim)
    _limits(plane, [b[0] for b in boxes], height, lambda low, high: plane.set_ylim(high, low))
    plane.set_aspect("equal")
    plane.set_ylabel(f"axis {axes[0]}: {height} positions")
    _legend(plane, [image, *(handles[i] for i in range(len(layers)))])


def _draw_bars(plane, layers: Sequence[Layer], axis: int, width: int) -> None:
    plane.axvspan(-0.5, width - 0.5, color=_INPUT)
    spans = [_span(layer, axis) for layer in layers]
    for i, (low, high, centre) in enumerate(spans):
        colour, _line = _STYLES[i]
        plane.barh(i, high - low + 1, left=low - 0.5, height=0.6, color=colour + "60", edgecolor=colour)
        plane.plot([centre], [i], marker="|", markersize=14, color=colour)
    plane.set_yticks(range(len(layers)), [_label(layer, [axis]) for layer in layers])
    plane.invert_yaxis()
    _limits(plane, spans, width, plane.set_xlim)


def _limits(plane, spans: Sequence[tuple], size: int, setter) -> None:
    """The input, and of fields that reach over its edge no more than half its size on each side."""
    low = max(min(-0.5, *(s[0] - 0.5 for s in spans)), -0.5 - size / 2)
    high = min(max(size - 0.5, *(s[1] + 0.5 for s in spans)), size * 1.5 - 0.5)
    margin = 0.02 * (high - low)
    setter(low - margin, high + margin)


def _legend(plane, handles: Sequence) -> None:
    plane.figure.legend(handles=handles, loc="outside lower left", fontsize=9, frameon=False, ncols=1 + (len(handles) > 8))
