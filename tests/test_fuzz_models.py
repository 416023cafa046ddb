"""Models of one node with random faults, through sessions on both faces in a child process: every one gives an error or
outputs of the declared shapes, the same bits on both faces; none crashes or hangs. docs/fuzzing.md"""

import numpy as np
import onnx
import pytest
from faces import FACES, NEWEST_OPSET, graph, node
from fuzz_child import Child, Crash
from helpers import bits, examples
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper
from test_faces import NO_DOUBLE, OPS, WITHOUT_FLOAT64, case, declared, oldest

EXTREMES = (-(2**63), 2**63 - 1, -(2**31), 2**31, 2**40, 2**47, 2**47 + 1, 2**62, -1, 0, 4096, 65536)
integers = st.one_of(st.integers(-3, 6), st.sampled_from(EXTREMES), st.integers(-(2**63), 2**63 - 1))
floats = st.sampled_from((0.0, -1.0, 1e30, float("inf"), float("nan"), 0.5, 1e-40, 3.0))
#: Values of attributes by type: of the names that operators know, and of no use.
NAMES = ("SAME_UPPER", "SAME_LOWER", "VALID", "nearest", "linear", "cubic", "tf_crop_and_resize", "align_corners", "not_larger")
AttrType = onnx.defs.OpSchema.AttrType
VALUES = {
    AttrType.INT: integers,
    AttrType.INTS: st.one_of(st.lists(integers, min_size=n, max_size=n) for n in (1, 2, 2, 4, 4, 8)),
    AttrType.FLOAT: floats,
    AttrType.FLOATS: st.lists(floats, min_size=1, max_size=5),
    AttrType.STRING: st.sampled_from((*NAMES, "", "x" * 300)),
    AttrType.STRINGS: st.just([b"a", b"b"]),
}
any_value = st.one_of(*VALUES.values(), st.just(helper.make_tensor("t", 1, [2], [1.0, 2.0])))
TYPES = (np.float32, np.float64, np.float16, np.int8, np.uint8, np.int32, np.int64, np.uint64, np.bool_)
HISTORY = {op: [s for s in onnx.defs.get_all_schemas_with_history() if s.domain == "" and s.name == op] for op in OPS}


@pytest.fixture(scope="module")
def child():
    one = Child()
    yield one
    one.close()


def rarely(draw):
    return draw(st.integers(0, 15)) == 7


def attributes_of(op, opset):
    """name -> type in that opset."""
    schema = max((s for s in HISTORY[op] if s.since_version <= opset), key=lambda s: s.since_version)
    return {name: attribute.type for name, attribute in sorted(schema.attributes.items())}


def opsets(op):
    last = max(HISTORY[op], key=lambda schema: schema.since_version, default=None)
    return st.integers(max(7, oldest(op)), last.since_version - 1 if last.deprecated else NEWEST_OPSET)


@st.composite
def arrays(draw, array):
    """Another array in the place of this one."""
    shape = list(array.shape)
    form = draw(st.integers(0, 5))
    if form == 0:
        shape = draw(st.lists(st.integers(0, 5), max_size=7))
    elif form == 1 and shape:
        shape[draw(st.integers(0, len(shape) - 1))] = draw(st.integers(0, 12))
    dtype = draw(st.sampled_from(TYPES)) if rarely(draw) else array.dtype
    if np.issubdtype(dtype, np.integer) and np.prod(shape) < 20:
        info = np.iinfo(dtype)
        return np.array([min(max(draw(integers), info.min), info.max) for _ in range(int(np.prod(shape)))], dtype).reshape(
            shape
        )
    return np.resize(array.astype(dtype), shape) if array.size else np.zeros(shape, dtype)


@st.composite
def models(draw, op):
    """(serialized model, feeds)"""
    opset = draw(opsets(op))
    single = {*NO_DOUBLE, *WITHOUT_FLOAT64}
    types = (np.float32, np.float32, np.float32 if op in single else np.float64, np.float16)
    x, constants, attributes, _ = case(op, draw(st.sampled_from(types)), opset)
    inputs = [x, *constants]
    attributes = dict(attributes)
    known = attributes_of(op, opset)
    for _ in range(draw(st.integers(0, 2 if known else 0))):
        name = draw(st.sampled_from(sorted(known)))
        if rarely(draw):
            attributes.pop(name, None)
        else:
            attributes[name] = draw(any_value if rarely(draw) else VALUES[known[name]])
    for _ in range(draw(st.integers(0, 2))):
        i = draw(st.integers(0, len(inputs) - 1))
        inputs[i] = draw(arrays(inputs[i]))
    names = [f"x{i}" for i in range(len(inputs))]
    feeds = dict(zip(names, inputs, strict=True))
    weights = {name: feeds.pop(name) for name in names if draw(st.integers(0, 2)) == 0}
    shape = draw(st.sampled_from((lambda a: a.shape, lambda a: None, lambda a: [f"d{i}" for i in range(a.ndim)])))
    declared = {name: (array.dtype, shape(array)) for name, array in feeds.items()}
    count = draw(st.sampled_from((-1, 1, 3))) if rarely(draw) else 0
    used = names[:count] if count < 0 else names + [names[-1]] * count
    if used and rarely(draw):
        used[draw(st.integers(0, len(used) - 1))] = ""
    outputs = ["y", "z", "u", "v"][: draw(st.integers(1, 4)) if rarely(draw) else 1]
    return graph([node(op, used, outputs, **attributes)], declared, weights, ["y"], opset), feeds


@st.composite
def mutated_bytes(draw, op):
    """A valid model with a few bytes changed, or its beginning."""
    opset = draw(opsets(op))
    x, constants, attributes, _ = case(op, opset=opset)
    weights = {f"w{i}": array for i, array in enumerate(constants)}
    data = bytearray(graph([node(op, ["x", *weights], **attributes)], {"x": (x.dtype, x.shape)}, weights, opset=opset))
    if draw(st.integers(0, 3)) == 0:
        return bytes(data[: draw(st.integers(0, len(data)))]), {"x": x}
    structure = [i for i in range(len(data)) if i < 160 or i > len(data) - 60]
    for _ in range(draw(st.integers(1, 4))):
        data[draw(st.sampled_from(structure))] = draw(st.integers(0, 255))
    return bytes(data), {"x": x}


def check(child, model, feeds, both=True):
    """both: the operator is ours on both faces, whose bits are then equal."""
    try:
        replies = child.ask(model, feeds, FACES)
    except Crash as crash:
        try:
            child.ask(model, feeds, ["cpu"])
        except Crash:
            return  # ONNX Runtime's own
        raise AssertionError(f"{crash}\n{describe(model)}") from None
    results = {face: reply for face, reply in replies.items() if not isinstance(reply, str)}
    for face, reply in results.items():
        for y, dims in reply:
            assert not dims or len(dims) == y.ndim, f"{face}: {y.shape}, declared {dims}\n{describe(model)}"
            for got, want in zip(y.shape, dims or (), strict=False):
                assert not isinstance(want, int) or got == want, f"{face}: {y.shape}, declared {dims}\n{describe(model)}"
    if len(results) == 2 and both:
        for (a, _), (b, _) in zip(*results.values(), strict=True):
            assert a.dtype == b.dtype and a.shape == b.shape and (bits(a) == bits(b)).all(), f"faces differ\n{describe(model)}"


def describe(model):
    try:
        return onnx.printer.to_text(onnx.load_from_string(model))
    except Exception:  # mutated bytes
        return model.hex()


@pytest.mark.parametrize("op", OPS)
def test_faulty_nodes(child, op):
    if oldest(op) > NEWEST_OPSET:
        pytest.skip("an older onnxruntime")

    @examples(20)
    @given(models(op))
    def run(drawn):
        check(child, *drawn, declared("custom_ops", op))

    run()


@pytest.mark.parametrize("op", OPS)
def test_faulty_bytes(child, op):
    if oldest(op) > NEWEST_OPSET:
        pytest.skip("an older onnxruntime")

    @examples(6)
    @given(mutated_bytes(op))
    def run(drawn):
        check(child, *drawn, declared("custom_ops", op))

    run()
