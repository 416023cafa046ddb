"""LSTM, GRU and RNN in sessions: every form of inputs and outputs, the silero-vad networks. docs/recurrent.md"""

import itertools

import numpy as np
import onnx
import pytest
from faces import FACES, VERSION, graph, node, run, session
from helpers import assert_bits, data, examples, kernels, scaled_error
from hypothesis import given
from networks import find
from onnxruntime_ep_exact import measure
from strategies_recurrent import GATES, recurrents

pytestmark = pytest.mark.skipif(VERSION < (1, 25), reason="kernels cannot read lists of texts in an older onnxruntime")

RNG = np.random.default_rng(11)
OPERATORS = list(GATES)
INPUTS = ("x", "w", "r", "b", "lens", "h", "c", "p")
T, N, SIZE, H = 5, 3, 7, 9


def arrays(operator, directions=1, t=T, n=N, dtype=np.float32):
    g = GATES[operator]
    shapes = [(t, n, SIZE), (directions, g * H, SIZE), (directions, g * H, H), (directions, 2 * g * H), None]
    shapes += [(directions, n, H), (directions, n, H), (directions, 3 * H)] if operator == "lstm" else [(directions, n, H)]
    made = [None if shape is None else data(RNG, shape, dtype) for shape in shapes]
    made[4] = RNG.integers(0, t, n, np.int32, endpoint=True)
    return made


def outputs(operator):
    return ("y", "y_h", "y_c") if operator == "lstm" else ("y", "y_h")


def model(operator, given, constant=(), dims=None, wanted=None, opset=14, **attributes):
    """given: the inputs, None for an omitted one; constant: indices of those that are weights; dims: the shapes that the graph
    states, by name of the input."""
    names = [name if a is not None else "" for name, a in zip(INPUTS, given, strict=False)]
    wanted = outputs(operator) if wanted is None else wanted
    feeds = {
        name: (a.dtype, (dims or {}).get(name, a.shape))
        for i, (name, a) in enumerate(zip(names, given, strict=True))
        if name and i not in constant
    }
    weights = {name: given[i] for i, name in enumerate(names) if i in constant and name}
    made = node(operator.upper(), names, wanted, hidden_size=H, **attributes)
    return graph([made], feeds, weights, [name for name in wanted if name], opset)


def feeds(given, constant=()):
    return {name: a for i, (name, a) in enumerate(zip(INPUTS, given, strict=False)) if a is not None and i not in constant}


@pytest.mark.parametrize("opset", [7, 13, 14, 21, 22])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("face", FACES)
def test_weights_constant_or_not(face, operator, opset):
    given = arrays(operator, 2)
    want = getattr(kernels, operator)(*given, direction="bidirectional")
    for constant in ((), (1, 2, 3), (1,), (2, 4), tuple(range(1, len(given)))):
        got = run(model(operator, given, constant, opset=opset, direction="bidirectional"), face, feeds(given, constant))
        for a, b in zip(got, want, strict=True):
            assert_bits(a, b)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("face", FACES)
def test_omitted_inputs_and_outputs(face, operator):
    """Every set of optional inputs, every set of outputs."""
    everything = arrays(operator)
    count = len(everything) - 3
    for number, keep in enumerate(itertools.product((True, False), repeat=count)):
        given = everything[:3] + [a if k else None for a, k in zip(everything[3:], keep, strict=True)]
        names = [name if number >> i & 1 else "" for i, name in enumerate(outputs(operator))]
        while names and not names[-1]:
            names.pop()
        names = names or list(outputs(operator))
        want = dict(zip(outputs(operator), getattr(kernels, operator)(*given), strict=True))
        got = run(model(operator, given, wanted=names), face, feeds(given))
        for name, a in zip([name for name in names if name], got, strict=True):
            assert_bits(a, want[name])


@pytest.mark.parametrize("threads", [1, 2, 7])
@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("face", FACES)
def test_one_session_many_shapes(face, operator, threads):
    """Lengths and batches change from run to run, 0 among them; lengths of rows too."""
    first = arrays(operator)
    dims = {"x": ["t", "n", SIZE], "lens": ["n"], "h": [1, "n", H], "c": [1, "n", H]}
    s = session(model(operator, first, (1, 2, 3, 7), dims), face, measure.options(threads))
    for t, n in [(1, 1), (4, 2), (0, 2), (3, 0), (12, 8), (2, 19)] * 2:
        given = arrays(operator, 1, t, n)
        given[1:4], given[7:] = first[1:4], first[7:]
        for lens in (given[4], np.full(n, t, np.int32)):
            given[4] = lens
            want = getattr(kernels, operator)(*given)
            for a, b in zip(s.run(None, feeds(given, (1, 2, 3, 7))), want, strict=True):
                assert_bits(a, b)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("face", FACES)
def test_fast_mode_is_the_same(face, operator):
    given = arrays(operator, t=9)
    want = getattr(kernels, operator)(*given)
    for a, b in zip(run(model(operator, given), face, feeds(given), mode="fast"), want, strict=True):
        assert_bits(a, b)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("face", FACES)
def test_lengths_are_checked_at_run_time(face, operator):
    given = arrays(operator)
    s = session(model(operator, given), face)
    for lens in ([T + 1, 0, 0], [0, -1, 0], [2**31 - 1] * 3):
        with pytest.raises(Exception, match=f"{operator.upper()}.*sequence_lens"):
            s.run(None, feeds([*given[:4], np.array(lens, np.int32), *given[5:]]))
    want = getattr(kernels, operator)(*given)
    for a, b in zip(s.run(None, feeds(given)), want, strict=True):  # still of use
        assert_bits(a, b)


@pytest.mark.parametrize("operator", OPERATORS)
@pytest.mark.parametrize("face", FACES)
def test_float64_is_refused(face, operator):
    """The plugin leaves it to ONNX Runtime, which has no working kernel; the custom-op library does not declare it."""
    given = [a if a.dtype == np.int32 else a.astype(np.float64) for a in arrays(operator)]
    pattern = "not support|NOT_IMPLEMENTED" if face == "plugin" else r"Type 'tensor\(double\)'.*is invalid"
    with pytest.raises(Exception, match=pattern):
        run(model(operator, given), face, feeds(given))


@pytest.mark.parametrize("face", FACES)
def test_faults_name_operator_and_node(face):
    given = arrays("lstm")
    for attributes, pattern in (
        ({"direction": "up"}, "direction"),
        ({"clip": 0.0}, "clip"),
        ({"activations": ["Tanh"]}, "activations"),
    ):
        with pytest.raises(Exception, match=f"(?s)LSTM.*{pattern}"):
            run(model("lstm", given, (1, 2), **attributes), face, feeds(given, (1, 2)))


def valid(shapes):
    """Nothing that onnx's or ONNX Runtime's shape inference refuses before a kernel sees it."""
    return shapes.filter(lambda one: one.spoil == "none" and one.dtype != "bfloat16")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("operator", OPERATORS)
def test_random_forms(operator, face):
    """The NumPy face's bits in sessions; every attribute of the strategies."""

    @given(valid(recurrents(operator)))
    @examples(40)
    def one(drawn):
        given = drawn.inputs()
        attributes = {k: v for k, v in drawn.attributes.items() if k != "hidden_size" and not (isinstance(v, list) and not v)}
        want = getattr(kernels, operator)(*given, **attributes)
        names = [name if a is not None else "" for name, a in zip(INPUTS, given, strict=False)]
        made = node(operator.upper(), names, outputs(operator), hidden_size=drawn.hidden, **attributes)
        inputs = {name: (a.dtype, a.shape) for name, a in zip(names, given, strict=True) if name}
        got = run(graph([made], inputs, outputs=outputs(operator), opset=14), face, feeds(given))
        for a, b in zip(got, want, strict=True):
            assert_bits(a, b)

    one()


@pytest.mark.parametrize("name", ["silero-vad", "silero-vad, nested"])
def test_silero_vad(name, request, tmp_path):
    """The whole network over a sequence of chunks, the state handed on: near ONNX Runtime, one set of bits on both faces, on
    every number of threads and every variant."""
    path, _, _ = find(name, request.config.cache.mkdir("wheels"))
    assert "LSTM" in {n.op_type for n in nodes(onnx.load(path).graph)}
    chunks = [data(np.random.default_rng(i), (1, 576), np.float32) * np.float32(0.1 * i) for i in range(4)]

    def listen(s):
        state, heard = np.zeros((2, 1, 128), np.float32), []
        for chunk in chunks:
            out, state = s.run(None, {"input": chunk, "state": state})
            heard += [out, state]
        return heard

    want = listen(measure.session(path, "cpu", so=measure.options(1)))
    results = {}
    for face, threads in itertools.product(FACES, (1, 2, 7)):
        results[face, threads] = listen(measure.session(path, face, so=measure.options(threads)))
    first = next(iter(results.values()))
    assert max(scaled_error(a, b) for a, b in zip(first, want, strict=True)) <= 1e-4
    for key, result in results.items():
        for a, b in zip(result, first, strict=True):
            assert_bits(a, b, str(key))
    feeds_path = str(tmp_path / "feeds.npz")
    measure.save_feeds(feeds_path, {1: {"input": chunks[3], "state": first[-1]}})
    runs = measure.digests_of_variants(path, feeds_path, "exact", [1, 2, 7], kernels.isa_names())
    assert len(runs) == len(kernels.isa_names()) * len(FACES) * 3
    assert len({r.sha256 for r in runs}) == 1


def nodes(body):
    """The nodes of a graph and of the bodies in it."""
    for one in body.node:
        yield one
        for attribute in one.attribute:
            for inner in (attribute.g, *attribute.graphs):
                yield from nodes(inner)
