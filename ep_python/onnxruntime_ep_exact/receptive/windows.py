"""The fields of convolutions, transposed convolutions and pools."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .fields import Tensor
from .rules import changed, rule, with_others
from .sizes import NotFollowed, bounded, transposed, window

if TYPE_CHECKING:
    from .walk import View

_AUTO_PAD = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def _list(view: View, name: str, count: int, default: int, least: int) -> list[int]:
    values = view.integers(name, []) or [default] * count
    if len(values) != count or min(values) < least:
        raise NotFollowed(f"{name} {values} for {count} values of {least} and more")
    return [bounded(v) for v in values]


def _kernel(view: View, rank: int, weight: int | None) -> list[int]:
    dims = None if weight is None else view.dims(weight)
    if dims is not None and len(dims) == rank and all(isinstance(n, int) for n in dims[2:]):
        kernel = [int(n) for n in dims[2:]]  # type: ignore[arg-type]
    else:
        kernel = view.integers("kernel_shape", [])
    if len(kernel) != rank - 2 or min(kernel) < 1:
        raise NotFollowed("the shape of its kernel is not known" if not kernel else f"a kernel of the shape {kernel}")
    return [bounded(k) for k in kernel]


def _geometry(view: View, rank: int) -> tuple[list[int], list[int], list[tuple[int, int]], str]:
    """strides, dilations, pads of each axis, auto_pad."""
    r = rank - 2
    if r < 1:
        raise NotFollowed(f"an input of rank {rank}")
    auto_pad = view.text("auto_pad", "NOTSET")
    if auto_pad not in _AUTO_PAD:
        raise NotFollowed(f"auto_pad {auto_pad}")
    pads = _list(view, "pads", 2 * r, 0, 0)
    sides = [(pads[i], pads[r + i]) for i in range(r)]
    return _list(view, "strides", r, 1, 1), _list(view, "dilations", r, 1, 1), sides, auto_pad


def _windowed(view: View, x: Tensor, kernel: list[int], ceil_mode: bool = False) -> Tensor:
    strides, dilations, pads, auto_pad = _geometry(view, x.rank)
    for i, k in enumerate(kernel):
        view.spatial(x, 2 + i)
        given = (k, strides[i], dilations[i], pads[i], auto_pad, ceil_mode)
        x = changed(x, 2 + i, lambda f, given=given: f.windows(window(f.size, *given)))
    return x


@rule("Conv", "ConvInteger", "QLinearConv")
def conv(view: View) -> list[Tensor]:
    weight, others = (3, [1, 2, 3, 4, 5, 6, 7, 8]) if view.node.op_type[0] == "Q" else (1, [1, 2, 3])
    x, rank = view.tensor(0), view.rank(0)
    if x is not None:
        x = _windowed(view, x, _kernel(view, rank, weight)).mixed([1])
    return [with_others(view, x, rank, others)]


@rule("ConvTranspose")
def conv_transpose(view: View) -> list[Tensor]:
    x, rank = view.tensor(0), view.rank(0)
    if x is None:
        return [with_others(view, None, rank, [1, 2])]
    kernel = _kernel(view, rank, 1)
    strides, dilations, pads, auto_pad = _geometry(view, rank)
    padding = _list(view, "output_padding", rank - 2, 0, 0)
    shape = view.integers("output_shape", [])
    if shape and len(shape) != rank - 2:
        raise NotFollowed(f"output_shape {shape}")
    for i, k in enumerate(kernel):
        view.spatial(x, 2 + i)
        given = (k, strides[i], dilations[i], pads[i], auto_pad, padding[i], shape[i] if shape else None)
        x = changed(x, 2 + i, lambda f, given=given: f.transposed(transposed(f.size, *given)))
    return [with_others(view, x.mixed([1]), rank, [1, 2])]


@rule("MaxPool", "AveragePool", "LpPool")
def pool(view: View) -> list[Tensor]:
    x = view.main()
    return [_windowed(view, x, _kernel(view, x.rank, None), bool(view.integer("ceil_mode", 0)))]
