"""tests/data/golden.txt: one hash per case for every CPU, instruction set, face and number of threads.
tools/cross_cpu.py checks the same file on emulated CPUs."""

import hashlib
import sys
from pathlib import Path

import numpy as np
import pytest
import reference
from faces import FACES, NEWEST_OPSET
from onnxruntime_ep_exact import kernels
from onnxruntime_ep_exact.operators import OPERATORS

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import cross_cpu
from crosscpu import bundle, cases, cpus, draw, results, worker

GOLDEN = cross_cpu.read_golden()
CASES = {case.name: case for case in cases.cases()}
HOSTED = [case for case in CASES.values() if case.opset <= NEWEST_OPSET]  # all but with an older onnxruntime
TYPES = {
    "FLOATS": ("float32", "float64", "float16", "bfloat16"),
    "BYTES": ("int8", "uint8"),
    "WHOLE": ("int32", "int64", "uint32", "uint64"),
    "SHORTS": ("int16", "uint16"),
    "SIGNED": ("int8", "int16", "int32", "int64"),
    "SINGLE": ("float32",),
    "TRUTH": ("bool",),
    "AXIS": ("int32", "int64"),
    "UP_TO_SINGLE": ("float32", "float16", "bfloat16"),
    "SCALES": ("float32", "float16", "bfloat16"),
    "SUMS": ("int32",),
}


def test_one_hash_per_case():
    assert list(GOLDEN) == list(CASES)


def test_every_operator_and_type():
    of_no_opset = {("Upsample", "bfloat16"), ("Einsum", "bfloat16")}
    have = {(case.operator, case.types[0]) for case in CASES.values()} | of_no_opset
    for row in OPERATORS:
        names = [name.strip() for name in row.constraints[0][1].split("|")]
        if row.type in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):  # docs/reduce.md: integers are left to ONNX Runtime
            names.remove("WHOLE")
        if row.type in ("Tanh", "Sigmoid", "Erf", "Softplus", "Sin", "Cos", "Gelu", "Mish", "Swish"):  # docs/unary.md
            assert {(row.type, dtype) for dtype in TYPES["FLOATS"] if dtype != "float64"} <= have, row.type
            continue
        if row.type == "Pow":  # docs/binary.md: so are its integers
            names.remove("AXIS")
        assert {(row.type, dtype) for name in names for dtype in TYPES[name]} <= have, row.type


def test_inputs_are_drawn_without_rounding():
    """The generator's words against SplitMix64 in Python integers, and the extremes of the fields."""
    mask = 2**64 - 1
    seed = int.from_bytes(hashlib.sha256(b"name").digest()[:8], "big")
    for number, got in enumerate(draw.words("name", 5), 1):
        z = seed + number * 0x9E3779B97F4A7C15 & mask
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
        z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
        assert int(got) == z ^ z >> 31
    values = draw.draw("plain", (4000,), "float32")
    assert 0.125 <= np.abs(values).min() < 0.126 and 3.9 < np.abs(values).max() < 4
    assert set(draw.draw("whole", (400,), "float16", "whole").tolist()) == {-3, -2, -1, 0, 1, 2, 3}
    assert (np.abs(draw.draw("subnormal", (400,), "float64", "subnormal")) < 2.0**-1020).all()


@pytest.mark.parametrize("name", CASES)
def test_reference(name):
    case = CASES[name]
    function = getattr(reference, bundle.function_name(case.operator))
    arguments = [None if v is None else bundle.typed(v, dtype) for v, dtype in zip(case.inputs, case.types, strict=True)]
    result = function(*bundle.texts_of(case), *bundle.arguments_of(case, arguments), **bundle.attributes_of(case))
    assert worker.digest(result if isinstance(result, tuple) else (result,)) == GOLDEN[name]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    target = tmp_path_factory.mktemp("golden")
    bundle.write(target, HOSTED)
    return target


@pytest.mark.parametrize("isa", kernels.isa_names())
def test_every_face_and_thread_count(isa, folder):
    faces = [*FACES, "numpy"]
    report = cpus.run("native", folder, faces, [1, 2, 7], folder, isa)
    assert report.isa == isa
    served = sum(1 + len(set(FACES) & set(bundle.faces(case))) for case in HOSTED)
    assert len(report.rows) == 3 * served
    assert results.Results([report]).faults(GOLDEN) == []


def test_a_wrong_bit_is_found():
    name = next(iter(GOLDEN))
    row = {"case": name, "face": "numpy", "threads": 1, "sha256": "0" * 64}
    report = cpus.Report("native", "base", ["base"], "", "", [row])
    assert len(results.Results([report]).faults(GOLDEN)) == 1
    assert worker.digest([np.array([0.0], np.float32)]) != worker.digest([np.array([-0.0], np.float32)])


def test_the_page_shows_these_hashes():
    """docs/cross-cpu.md is made by tools/cross_cpu.py --write; a case that was changed since must be measured again."""
    rows = cross_cpu.PAGE.read_text("utf-8").split("<!-- cases -->")[1].split("<!-- /cases -->")[0].splitlines()
    shown = {row.split(" | ")[0].removeprefix("| "): row.split(" | ")[1] for row in rows[3:] if row}
    assert shown and {case: digest for case, digest in shown.items() if not GOLDEN.get(case, "").startswith(digest)} == {}
