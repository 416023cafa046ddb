"""Speed of our sessions against ONNX Runtime's CPU provider: interleaved A/B in one process, ratios of medians.

    python tools/bench.py                          all rows, exact mode, one and two threads
    python tools/bench.py --only Conv --threads 1  rows whose name contains "Conv"
    python tools/bench.py --write docs/benchmarks.md

A ratio is ONNX Runtime's time divided by ours: above 1, ours is faster. Both sessions run at ONNX Runtime's full
optimization level with I/O binding; inputs lie in [-1, 1). Machines are noisy: only the ratios mean anything.
"""

import argparse
import datetime
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from bench_rows import Row, rows
from onnxruntime_ep_exact import inputs as seeded
from onnxruntime_ep_exact import kernels, measure


def _feeds(row: Row, model: bytes | str) -> dict[str, np.ndarray]:
    infos = ort.InferenceSession(model, providers=[measure.CPU]).get_inputs()
    dims = dict(row.dims)
    for info in infos:
        for axis, size in enumerate(info.shape):
            key = f"{info.name}:{axis}"
            if not isinstance(size, int) and key in dims:
                dims[size] = dims[key]
    return seeded.make(infos, dims, 1, 0)


def _bound(session: ort.InferenceSession, feeds: dict) -> Callable[[], None]:
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_cpu_input(name, value)
    for output in session.get_outputs():
        binding.bind_output(output.name)
    return lambda: session.run_with_iobinding(binding)


def _time(call: Callable[[], None], repeat: int) -> float:
    start = time.perf_counter()
    for _ in range(repeat):
        call()
    return (time.perf_counter() - start) / repeat


def measure_row(row: Row, face: str, mode: str, threads: int, seconds: float) -> tuple[float, float]:
    """Median microseconds of one run: ONNX Runtime's CPU provider, ours."""
    model = row.model()
    feeds = _feeds(row, model)
    calls = [_bound(measure.session(model, f, mode, measure.options(threads)), feeds) for f in ("cpu", face)]
    for call in calls:
        call()
    once = max(_time(call, 1) for call in calls)
    # The idle threads of a session spin for a while: with several, a turn is longer, and begins untimed.
    repeat = max(1, min(5000, int((0.002 if threads == 1 else 0.02) / once)))
    samples: list[list[float]] = [[], []]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[0]) < 7:
        for call, list_ in zip(calls, samples, strict=True):
            if threads > 1:
                _time(call, repeat // 2 + 1)
            list_.append(_time(call, repeat))
    return statistics.median(samples[0]) * 1e6, statistics.median(samples[1]) * 1e6


def _markdown(results: list, args: argparse.Namespace) -> str:
    lines = [
        "# Benchmarks",
        "",
        f"Made by `python tools/bench.py --face {args.face} --mode {args.mode} --write docs/benchmarks.md` on "
        f"{datetime.date.today()}: {platform.machine()}, variant {kernels.isa()}, onnxruntime {ort.__version__}, "
        f"onnx {onnx.__version__}.",
        "Ratio: ONNX Runtime's CPU provider / ours, medians of interleaved runs; above 1, ours is faster. `bar` is the least "
        "that a row should reach on one thread.",
        "",
        "| row | " + " | ".join(f"ORT us, {t} thr | ratio, {t} thr" for t in args.threads) + " | bar |",
        "| --- | " + " | ".join("---: | ---:" for _ in args.threads) + " | ---: |",
    ]
    for row, by_threads in results:
        cells = " | ".join(f"{ort_us:.0f} | {ort_us / our_us:.2f}" for ort_us, our_us in by_threads)
        lines.append(f"| {row.name} | {cells} | {row.bar or ''} |")
    lines += ["", "Geometric means of the ratios:", ""]
    for group in dict.fromkeys(row.group for row, _ in results):
        means = [
            statistics.geometric_mean([m[i][0] / m[i][1] for row, m in results if row.group == group])
            for i in range(len(args.threads))
        ]
        lines.append(f"* {group}: " + ", ".join(f"{m:.2f} ({t} thr)" for m, t in zip(means, args.threads, strict=True)))
    return "\n".join(lines) + "\n"


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="rows whose group or name contains this text")
    parser.add_argument("--threads", type=lambda t: [int(n) for n in t.split(",")], default=[1, 2])
    parser.add_argument("--mode", choices=["exact", "fast"], default="exact")
    parser.add_argument("--face", choices=["plugin", "custom_ops"], default="plugin")
    parser.add_argument("--seconds", type=float, default=1.5, help="time for each row and number of threads")
    parser.add_argument("--write", type=Path, help="write the table to this Markdown file")
    args = parser.parse_args()
    results = []
    for row in rows():
        if args.only not in row.group and args.only not in row.name:
            continue
        times = [measure_row(row, args.face, args.mode, t, args.seconds) for t in args.threads]
        results.append((row, times))
        cells = "  ".join(f"{t} thr: {a:9.0f} us {a / b:5.2f}" for t, (a, b) in zip(args.threads, times, strict=True))
        low = row.bar is not None and times[0][0] / times[0][1] < row.bar
        print(f"{row.name:42} {cells}  {'bar ' + str(row.bar) if row.bar else ''}{'  <-- below' if low else ''}", flush=True)
    text = _markdown(results, args)
    print(text[text.index("Geometric") :])
    if args.write:
        args.write.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
