"""Real networks on both faces: our kernels run every node of our families, outputs agree with ONNX Runtime, and the bits of
every such node do not depend on threads, batch, instruction set or face."""

from pathlib import Path

import onnx
import onnx.utils
import onnxruntime as ort
import pytest
from faces import EP, FACES, kernels_created
from helpers import scaled_error
from islands import islands
from networks import NETWORKS, find
from onnxruntime_ep_exact import inputs, kernels, measure
from onnxruntime_ep_exact.operators import OPERATORS

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
#: Operators whose results on one machine depend on their inputs alone: data movement, single IEEE operations, and LRN, which
#: ONNX Runtime computes element by element on one code path.
_STEADY = """Add Sub Mul Div Sum Relu PRelu Clip HardSigmoid Concat Reshape Transpose Shape Slice Gather Cast Constant
ConstantOfShape Unsqueeze Squeeze Flatten Identity Dropout Pad Resize LRN"""
STEADY = set(_STEADY.split())


@pytest.fixture
def network(request):
    """Finds a network of NETWORKS: its path, sizes of dynamic axes, batch sizes."""
    return lambda name: find(name, request.config.cache.mkdir("wheels"))


def feeds(path, axes, batch):
    infos = ort.InferenceSession(path, measure.options(2), providers=[measure.CPU]).get_inputs()
    dims = {size: axes[axis] for info in infos for axis, size in enumerate(info.shape) if axis in axes and size is not None}
    dims |= {f"{info.name}:{axis}": axes[axis] for info in infos for axis in axes if isinstance(axis, int)}
    dims = {k: v for k, v in (dims | axes).items() if isinstance(k, str)}
    return inputs.make(infos, dims, batch, 0)


def served(model, face):
    """The operators of ours that a face serves: the custom-op library overrides from an opset on."""
    opset = max(o.version for o in model.opset_import if o.domain in ("", "ai.onnx"))
    return {row.type for row in OPERATORS if face == "plugin" or 0 < row.phantom <= opset}


def claimed_part(path, types, folder, other_operators=STEADY):
    """(path of the model cut after our last nodes, as far as nothing but our nodes and the other operators come before them;
    how many of ours it has): what more operators compute on ONNX Runtime's kernels may depend on the batch or the threads."""
    model = onnx.load(path)
    steady = {i.name for i in model.graph.input} | {i.name for i in model.graph.initializer} | {""}
    ours, behind = [], {}
    for node in model.graph.node:
        if not all(name in steady for name in node.input) or node.op_type not in other_operators | types:
            continue
        steady |= set(node.output)
        before = {n for name in node.input for n in behind.get(name, ())}
        if node.op_type in types:
            ours.append((node.output[0], before))
            before = {node.output[0]}
        behind |= {name: before for name in node.output}
    covered = {name for _, before in ours for name in before}
    ends = [name for name, _ in ours if name not in covered]
    if not ends:
        return None, 0
    weights = {i.name for i in model.graph.initializer}
    cut = onnx.utils.Extractor(onnx.shape_inference.infer_shapes(model)).extract_model(
        [i.name for i in model.graph.input if i.name not in weights], ends
    )
    target = str(folder / "claimed.onnx")
    onnx.save(cut, target)
    return target, len(ours)


def who_ran(path, face, data):
    """(nodes of our families that ran, those that our kernels ran), as ONNX Runtime tells."""
    placed = measure.placement(path, data, face)
    types = served(onnx.load(path), face)
    families = sorted({name for name, op, _ in placed if op in types})
    if face == "plugin":
        return families, sorted({name for name, _, provider in placed if provider == EP})
    assert [op for _, op, _ in placed if op.startswith(("FusedConv", "Reorder"))] == []
    return families, sorted(set(kernels_created(path, face)))


def check_nodes_and_results(path, data):
    """Every node of our families runs in our kernel, and outputs agree with ONNX Runtime. The number of such nodes."""
    want = ort.InferenceSession(path, measure.options(1), providers=[measure.CPU]).run(None, data)
    for face in FACES:
        families, ours = who_ran(path, face, data)
        assert families and families == ours
        got = measure.session(path, face, so=measure.options(2)).run(None, data)
        assert max(scaled_error(g, w) for g, w in zip(got, want, strict=True)) <= 1e-4
    return len(families)


def check_model(path, axes, batches, folder):
    """The network as far as it is ours, and where that is not all of our nodes each of them, gives one result in every
    setting."""
    data = {n: feeds(path, axes, n) for n in batches}
    nodes = check_nodes_and_results(path, data[1])
    types = set.intersection(*(served(onnx.load(path), face) for face in FACES))
    composed, count = claimed_part(path, types, folder)
    parts = [(composed, data)] if count else []
    if count < nodes:
        parts += islands(path, data[batches[-1]], batches[-1], types, folder)
    for number, (part, given) in enumerate(parts):
        feeds_path = str(folder / f"feeds{number}.npz")
        measure.save_feeds(feeds_path, given)
        runs = measure.digests_of_variants(part, feeds_path, "exact", [1, 2, 7], kernels.isa_names())
        assert len(runs) == len(kernels.isa_names()) * len(FACES) * 3 * len(given)
        assert len({r.sha256 for r in runs}) == 1, part


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name, network, tmp_path):
    check_model(*network(name), tmp_path)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ["PP-OCRv4 recogniser", "PP-OCRv5 recogniser"])
def test_first_row_of_a_batch(name, face, network):
    """The whole network: row 0 of a batch of 4 is batch 1. (On ONNX Runtime's own MatMul it is not: docs/matmul.md.)"""
    path, axes, _ = network(name)
    first = set()
    for threads in (1, 2, 7):
        s = measure.session(path, face, so=measure.options(threads))
        first |= {measure.digest(s.run(None, feeds(path, axes, batch)), batch) for batch in (1, 4)}
    assert len(first) == 1


@pytest.mark.parametrize("name", sorted(p.stem for p in LIGHT.glob("*.onnx")))
def test_light_model(name, tmp_path):
    check_model(str(LIGHT / f"{name}.onnx"), {}, (1,), tmp_path)
