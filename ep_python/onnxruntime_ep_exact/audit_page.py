"""An audit's report as one HTML page without scripts or other files."""

from html import escape

from .guarantee import BY_NATURE, BY_US, NOT, Report

_COLOURS = {BY_US: "#c9ecc9", BY_NATURE: "#cfe6f7", NOT: "#f7cccc"}
_STYLE = """body { font: 14px sans-serif; margin: 2em; color: #111; background: #fff }
table { border-collapse: collapse; margin: 1em 0 } th, td { border: 1px solid #bbb; padding: 3px 8px; text-align: left }
th { background: #eee } .verdict { font-size: 120%; font-weight: bold; padding: 8px }"""


def _row(cells: tuple, colour: str = "") -> str:
    style = f' style="background:{colour}"' if colour else ""
    return f"<tr{style}>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in cells) + "</tr>"


def _table(title: str, columns: tuple, rows: list[str]) -> list[str]:
    head = "".join(f"<th>{column}</th>" for column in columns)
    return [f"<h2>{title}</h2>", f"<table><tr>{head}</tr>", *rows, "</table>"]


def page(report: Report, name: str) -> str:
    """The whole page. ``name``: of the model."""
    colour = _COLOURS[BY_US if report.guaranteed else NOT]
    nodes = [_row((n.name, n.graph, n.operator, n.provider, n.guarantee, n.why), _COLOURS[n.guarantee]) for n in report.nodes]
    rewrites = [
        _row((r.name, "yes" if r.disabled else "no", {True: "yes", False: "no", None: "-"}[r.applies], r.reason))
        for r in report.rewrites
    ]
    parts = [
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Audit of {escape(name)}</title>',
        f"<style>{_STYLE}</style></head><body><h1>{escape(name)}</h1>",
        f'<p class="verdict" style="background:{colour}">{escape(report.verdict)}</p>',
        f"<p>{report.face}, {report.mode} mode, onnxruntime {escape(report.onnxruntime)}</p>",
        *_table("Counts", ("guarantee", "nodes"), [_row((g, c), _COLOURS[g]) for g, c in report.counts.items()]),
        *_table("Nodes after the optimizer", ("node", "in", "operator", "runs on", "guarantee", "why"), nodes),
        *_table("Graph rewrites that change bits", ("rewrite", "is off", "would rewrite this graph", "why"), rewrites),
        "</body></html>",
    ]
    return "\n".join(parts) + "\n"
