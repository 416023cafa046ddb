"""The command line of tools/ops_conv_oracle.py and tools/ops_norms.py."""

import argparse
import datetime
import json
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from . import report, shrink, store
from .cases import describe, from_json, to_json
from .pool import Worker, evaluate
from .registry import BY_NAME, OPERATORS, generate


def parse(tool, description, arguments=None):
    parser = argparse.ArgumentParser(prog=f"tools/{tool}.py", description=description)
    parser.add_argument("--cases", type=int, default=1000, help="how many, over all operators (default 1000)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--operator", action="append", help="only this one; may be given several times")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--rows", type=Path, default=Path(f"build/{tool}.jsonl"), help="one row per case (JSON Lines)")
    parser.add_argument("--resume", action="store_true", help="go on with the rows of an interrupted run")
    parser.add_argument("--ort-python", metavar="PATH", help="an interpreter whose onnxruntime is the one to compare with")
    parser.add_argument("--record", type=Path, metavar="FILE", help="store ONNX Runtime's results (.jsonl.xz)")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="compare with stored results, on their cases")
    parser.add_argument("--shrink", metavar="CASE", help="reduce this case: an id such as Conv/0/17, or a file with a case")
    parser.add_argument("--kind", help="with --shrink: reduce while this kind shows, instead of what is unexplained")
    parser.add_argument("--write", action="store_true", help="write the summary into docs/oracles.md")
    return parser.parse_args(arguments)


def names(group, wanted):
    own = [row.name for row in OPERATORS if row.group == group]
    if unknown := set(wanted or ()) - set(own):
        raise SystemExit(f"not an operator of this tool: {', '.join(sorted(unknown))}")
    return wanted or own


def case_ids(operators, seed, count):
    """The first `count` cases, operators in turn."""
    return [(operators[i % len(operators)], seed, i // len(operators)) for i in range(count)]


def from_id(text):
    operator, seed, index = text.split("/")
    if operator not in BY_NAME:
        raise SystemExit(f"no such operator: {operator}")
    return generate(operator, int(seed), int(index))


def replayed(path, operators):
    """(about, (case, stored result) pairs). The generators must still make the recorded cases."""
    header, entries = store.read_recording(path)
    pairs = []
    for name, (digest, result) in entries.items():
        if name.split("/")[0] not in operators:
            continue
        case = from_id(name)
        if case.digest() != digest:
            raise store.Stale(f"{path}: case {name} is generated differently now; record again")
        pairs.append((case, result))
    return header, pairs


def run(tool, group, description, arguments=None):
    """The whole tool; the exit code."""
    args = parse(tool, description, arguments)
    operators = names(group, args.operator)
    if args.shrink:
        return run_shrink(args)
    recording = []
    if args.replay:
        about, pairs = replayed(args.replay, operators)
        ids = [case.id for case, _ in pairs]
    else:
        worker = Worker(args.ort_python)
        about = worker.about()
        worker.close()
        ids = ["/".join(map(str, one)) for one in case_ids(operators, args.seed, args.cases)]
        pairs = ((from_id(text), None) for text in ids)
    header = {"tool": tool, "about": about, "seed": args.seed, "replay": args.replay and args.replay.name}
    known = store.read_rows(args.rows, header) if args.resume else {}
    if args.record and known:
        raise SystemExit("--record needs a run from the start")
    todo = ((case, theirs) for case, theirs in pairs if case.id not in known)
    rows, out = {name: known[name] for name in ids if name in known}, store.Rows(args.rows, header, known)
    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal) as bar:
        task = bar.add_task(tool, total=len(ids), completed=len(rows))
        for case, answer in evaluate(todo, args.jobs, args.ort_python):
            rows[case.id] = answer["row"]
            out.add(answer["row"])
            if args.record:
                recording.append((case.id, case.digest(), shortened(answer["ort"])))
            bar.advance(task)
    if args.record:
        store.write_recording(args.record, about, recording)
    ordered = [rows[name] for name in ids]
    report.show(ordered, about)
    if args.write:
        command = f"python tools/{tool}.py --cases {args.cases} --seed {args.seed}"
        report.write(group, report.markdown(ordered, {**about, "date": datetime.date.today()}, command))
        report.write("kinds", report.kinds_table())
    return 1 if any(row["unexplained"] for row in ordered) else 0


def shortened(theirs):
    """A failure's text without what is of no use to a replay."""
    return {**theirs, "reason": theirs["reason"][:1000]} if isinstance(theirs, dict) else theirs


def run_shrink(args):
    """Prints the smallest case, and writes it beside the rows."""
    path = Path(args.shrink)
    case = from_json(json.loads(path.read_text("utf-8"))) if path.is_file() else from_id(args.shrink)
    worker = Worker(args.ort_python)
    try:
        tags = shrink.tags(worker.evaluate(case)["row"])
        unexplained = sorted(tags - set(_kinds(tags)))
        tag = args.kind or next(iter(unexplained), None)
        if tag not in tags:
            raise SystemExit(f"{case.id} shows {sorted(tags) or 'no disagreement'}")
        case, row = shrink.shrink(case, lambda one: worker.evaluate(one)["row"], tag)
    finally:
        worker.close()
    target = args.rows.with_name(case.id.replace("/", "-") + ".json")
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(to_json(case)), "utf-8")
    print(json.dumps(describe(case), indent=1))
    for one, array in enumerate(case.inputs):
        print(f"input {one}: {None if array is None else array.tolist()}")
    print(f"shows: {row['unexplained'] or row['kinds']}\nwritten to {target}")
    return 1 if row["unexplained"] else 0


def _kinds(tags):
    from .kinds import every

    return tags & ({kind.name for kind in every()} | {"both refuse", "ORT crashed", "ORT late"})
