"""The summary of a run: tables for people, and the generated part of docs/oracles.md."""

import sys
from collections import Counter

from rich.console import Console
from rich.table import Table

from . import ROOT, kinds
from .registry import OPERATORS

PAGE = ROOT / "docs" / "oracles.md"


def summarize(rows):
    """operator -> counts."""
    result = {}
    for name in dict.fromkeys(row["operator"] for row in rows):
        own = [row for row in rows if row["operator"] == name]
        both = [row for row in own if row["ort"] == row["reference"] == "value"]
        result[name] = {
            "cases": len(own),
            "bits": sum(row["bits"] for row in own),
            "compared": len(both),
            "same": sum(row["same_as_ort"] for row in both),
            "error": max((row["scaled_error"] for row in own), default=0.0),
            "kinds": Counter(kind for row in own for kind in row["kinds"]),
            "unexplained": sum(bool(row["unexplained"]) for row in own),
        }
    return {row.name: result[row.name] for row in OPERATORS if row.name in result}


HEADINGS = (
    "operator",
    "cases",
    "our ways agree",
    "ORT has a value",
    "same bits as ORT",
    "scaled error",
    "by a kind",
    "unexplained",
)


def lines(summary, rows):
    explained = Counter(row["operator"] for row in rows if row["kinds"])
    for name, s in summary.items():
        error = f"{s['error']:.1e}" if s["error"] else "0"
        numbers = (s["cases"], s["bits"], s["compared"], s["same"], error, explained[name], s["unexplained"])
        yield [name, *map(str, numbers)]
    total = [sum(s[key] for s in summary.values()) for key in ("cases", "bits", "compared", "same")]
    worst = max((s["error"] for s in summary.values()), default=0.0)
    unexplained = sum(s["unexplained"] for s in summary.values())
    yield ["all", *map(str, total), f"{worst:.1e}", str(sum(explained.values())), str(unexplained)]


def kind_counts(summary):
    total = Counter()
    for s in summary.values():
        total.update(s["kinds"])
    return total


def show(rows, about, console=None):
    """Prints the tables and every unexplained case."""
    console = console or Console(width=None if sys.stdout.isatty() else 128)
    summary = summarize(rows)
    table = Table(title=f"ONNX Runtime {about['onnxruntime']}, {about['machine']} {about['processor']}")
    for i, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if i else "left", no_wrap=not i)
    for line in lines(summary, rows):
        table.add_row(*line)
    console.print(table)
    counts = Table(title="Why results differ or are missing")
    counts.add_column("kind")
    counts.add_column("cases", justify="right")
    for name, count in kind_counts(summary).most_common():
        counts.add_row(name, str(count))
    console.print(counts)
    for row in rows:
        for text in row["unexplained"]:
            console.print(f"UNEXPLAINED {row['id']} {text}", markup=False, highlight=False)
            console.print(f"    {row['attributes']} {row['inputs']} opset {row['opset']} {row['form']}", markup=False)


def markdown(rows, about, command):
    summary = summarize(rows)
    yield f"`{command}`: onnxruntime {about['onnxruntime']} on {about['machine']} ({about['processor']}), {about['date']}."
    yield ""
    yield "| " + " | ".join(HEADINGS) + " |"
    yield "| --- |" + " ---: |" * (len(HEADINGS) - 1)
    for line in lines(summary, rows):
        yield "| " + " | ".join(line) + " |"
    yield ""
    yield "| why | cases |"
    yield "| --- | ---: |"
    for name, count in kind_counts(summary).most_common():
        yield f"| {name} | {count} |"


def kinds_table():
    """Every kind, for the page."""
    yield "| kind | operators | what differs | page |"
    yield "| --- | --- | --- | --- |"
    for kind in kinds.every():
        operators = "all" if kind.operators == "*" else ", ".join(kind.operators)
        operators = "types without a kernel: see the pages" if kind.name == "no kernel" else operators
        yield f"| {kind.name} | {operators} | {kind.text} | [{kind.page.split('#')[0]}]({kind.page}) |"


def replace_part(text, name, part):
    """The page with the part between the marks of that name replaced."""
    begin, end = f"<!-- begin {name} -->\n", f"<!-- end {name} -->\n"
    head, rest = text.split(begin)
    _, tail = rest.split(end)
    return head + begin + "\n".join(part) + "\n" + end + tail


def write(name, part, page=PAGE):
    page.write_text(replace_part(page.read_text("utf-8"), name, part), "utf-8")
