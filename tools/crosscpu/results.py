"""What the CPUs gave: judged, printed, and written into the pages between markers."""

import collections
import re
from pathlib import Path

from rich.console import Console
from rich.table import Table

from .cpus import Report


class Results:
    """Hashes by case and CPU."""

    def __init__(self, reports: list[Report]) -> None:
        self.cpus = list(dict.fromkeys(r.cpu for r in reports))
        self.runs = sum(row["face"] != "cpu" for r in reports for row in r.rows)
        #: case -> CPU -> hash of ours -> the runs (variant, face, threads) that gave it
        self.ours: dict[str, dict[str, dict[str, list[str]]]] = {}
        #: case -> CPU -> hash of ONNX Runtime's CPU provider, "" where it has no kernel
        self.theirs: dict[str, dict[str, str]] = {}
        for report in reports:
            for row in report.rows:
                case = row["case"]
                if row["face"] == "cpu":
                    self.theirs.setdefault(case, {})[report.cpu] = row.get("sha256", "")
                    continue
                value = row.get("sha256") or row["error"]
                label = f"{report.isa} {row['face']} {row['threads']}"
                at = self.ours.setdefault(case, {}).setdefault(report.cpu, {})
                at.setdefault(value, []).append(label)

    def hosts(self) -> list[str]:
        """CPUs on which ONNX Runtime's CPU provider ran too: not those of the kernels alone."""
        return [cpu for cpu in self.cpus if any(cpu in row for row in self.theirs.values())]

    def faults(self, golden: dict[str, str]) -> list[str]:
        """Rows of ours with more than one value, or another than golden.txt has."""
        found = []
        for case, by_cpu in self.ours.items():
            values = collections.Counter(value for values in by_cpu.values() for value in values)
            want = golden.get(case) or values.most_common(1)[0][0]
            found += [
                f"{case}: {cpu} {', '.join(runs)}: {value[:200]} instead of {want[:16]}"
                for cpu, values in by_cpu.items()
                for value, runs in values.items()
                if value != want or len(value) != 64
            ]
        return found

    def value(self, case: str) -> str:
        """The one hash of a row of ours."""
        return next(iter(next(iter(self.ours[case].values()))))

    def differing(self, cpu: str, cases: list[str]) -> tuple[int, int]:
        """(cases in which ONNX Runtime's bits are not those of the native run, cases that it runs)"""
        able = [case for case in cases if self.theirs.get(case, {}).get("native")]
        return sum(self.theirs[case].get(cpu) != self.theirs[case]["native"] for case in able), len(able)

    def operator_cases(self) -> list[str]:
        """Cases that are no networks."""
        return [case for case in self.ours if not case.endswith(")")]

    def networks(self) -> list[str]:
        """The other cases."""
        return [case for case in self.ours if case.endswith(")")]

    def print(self, console: Console) -> None:
        """One table: case x CPU, ours beside ONNX Runtime's CPU provider."""
        table = Table("case", *self.cpus)
        for case, by_cpu in self.ours.items():
            cells = []
            for cpu in self.cpus:
                ours = " ".join(value[:6] if len(value) == 64 else "error" for value in by_cpu.get(cpu, {}))
                theirs = self.theirs.get(case, {}).get(cpu, "")[:6] or "-"
                same = theirs == self.theirs.get(case, {}).get("native", theirs)[:6] or theirs == "-"
                cells.append(f"{ours} {theirs}" if same else f"{ours} [yellow]{theirs}[/yellow]")
            table.add_row(case, *cells)
        console.print(table)
        console.print("Each cell: ours, then ONNX Runtime's CPU provider (yellow: not the bits that it has natively).")
        for cpu in self.hosts():
            count, able = self.differing(cpu, self.operator_cases())
            console.print(f"{cpu}: ONNX Runtime's bits differ from native in {count} of {able} operator models")

    # ---- pages ----

    def short_table(self) -> str:
        """README: one row per CPU."""
        cases = self.operator_cases()
        lines = ["| CPU | ours | ONNX Runtime's CPU provider |", "| --- | --- | --- |"]
        for cpu in self.cpus[1:]:
            different = sum(set(self.ours[case].get(cpu, {})) != {self.value(case)} for case in cases)
            theirs = "{} of {}".format(*self.differing(cpu, cases)) if cpu in self.hosts() else "-"
            lines.append(f"| {cpu} | {different} of {len(cases)} | {theirs} |")
        return "\n".join(lines)

    def operator_table(self) -> str:
        """One row per operator: in how many of its cases ONNX Runtime's bits differ from native."""
        hosts = self.hosts()
        groups = collections.defaultdict(list)
        for case in self.operator_cases():
            groups[case.split(" ")[0]].append(case)
        lines = [f"| operator | cases | {' | '.join(hosts[1:])} |", "| --- | --- |" + " --- |" * (len(hosts) - 1)]
        for operator, cases in groups.items():
            counts = [self.differing(cpu, cases) for cpu in hosts[1:]]
            lines.append(f"| {operator} | {len(cases)} | " + " | ".join(f"{n} of {able}" for n, able in counts) + " |")
        return "\n".join(lines)

    def full_table(self, cases: list[str]) -> str:
        """Every case: our hash, and ONNX Runtime's on each CPU."""
        hosts = [cpu for cpu in self.hosts() if any(cpu in self.theirs.get(case, {}) for case in cases)]
        lines = [f"| case | ours, everywhere | {' | '.join(hosts)} |", "| --- | --- |" + " --- |" * len(hosts)]
        for case in cases:
            native = self.theirs.get(case, {}).get("native", "")
            cells = []
            for cpu in hosts:
                value = self.theirs.get(case, {}).get(cpu, "")
                text = value[:8] or "-"
                cells.append(text if value == native else f"**{text}**")
            lines.append(f"| {case} | {self.value(case)[:8]} | {' | '.join(cells)} |")
        return "\n".join(lines)


def between_markers(path: Path, name: str, text: str) -> None:
    """Replaces what stands between <!-- name --> and <!-- /name --> in a page."""
    page = path.read_text("utf-8")
    pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- /{name} -->)", re.DOTALL)
    if not pattern.search(page):
        raise RuntimeError(f"{path} has no markers {name}")
    path.write_text(pattern.sub(lambda m: m[1] + text + "\n" + m[2], page), "utf-8")
