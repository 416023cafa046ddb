"""One case: run it, compare the results, explain what differs. The outcome is a row."""

import hashlib
import math

import numpy as np
from onnxruntime_ep_exact.operators import OPERATORS
from reference.numerics import FLOATS, bits, is_nan, quiet

from . import kinds
from .cases import describe, has_casts
from .registry import BY_NAME
from .runners import Failure, in_float64, run_face, run_numpy, run_reference

BAR = 1e-4
FACES = ("plugin", "custom_ops")


def faces(operator):
    """The custom-op library leaves operators of phantom 0 to ONNX Runtime."""
    return FACES if any(row.phantom for row in OPERATORS if row.type == operator) else FACES[:1]


def same_bits(got, want, payloads=True):
    """Without payloads any NaN equals any other."""
    for g, w in zip(got, want, strict=True):
        if g.dtype != w.dtype or g.shape != w.shape:
            return False
        if not ((bits(g) == bits(w)) | (is_nan(g) & is_nan(w) & (not payloads))).all():
            return False
    return True


@quiet
def distance(got, want):
    """(absolute difference, allowed difference) per element; infinite where one is not finite and the other is not the same.

    Allowed is the bar times the scale of the tensor, for 16-bit types plus a unit in the last place."""
    if got.dtype not in FLOATS:
        return np.maximum(np.abs(got.astype(np.float64) - want.astype(np.float64)), got != want), np.zeros(got.shape)
    narrow = {"float16": 2.0**-10, "bfloat16": 2.0**-7}.get(want.dtype.name, 0.0)
    smallest = {"float16": 2.0**-24, "bfloat16": 2.0**-133}.get(want.dtype.name, 0.0)
    got, want = got.astype(np.float64), want.astype(np.float64)
    finite = np.isfinite(want) & np.isfinite(got)
    agree = (got == want) | (np.isnan(got) & np.isnan(want))
    apart = np.where(finite, np.abs(got - want), np.where(agree, 0.0, np.inf))
    scale = max(1.0, float(np.abs(want[finite]).max(initial=0.0)))
    return apart, BAR * scale + narrow * np.where(finite, np.abs(want), 0.0) + smallest


def our_faults(case, want, ours):
    """Where our own results are not one: names of the ways that differ from the reference."""
    faults = []
    for name, got in ours.items():
        if isinstance(want, Failure):
            if name == "numpy" and (not isinstance(got, Failure) or got.kind != want.kind):
                faults.append("numpy: another kind of error")
            if name != "numpy" and want.kind == "invalid" and not isinstance(got, Failure):
                faults.append(f"{name}: serves what is invalid")
        elif isinstance(got, Failure):
            faults.append(f"{name}: {got.kind}")
        # ONNX Runtime's Cast, by which bfloat16 crosses the border, does not keep the bits of a NaN.
        elif not same_bits(got, want, payloads=name == "numpy" or not has_casts(case)):
            faults.append(f"{name}: bits")
    return faults


def against_ort(case, want, theirs):
    """(scaled error of what no kind explains away, kinds, unexplained) of the reference beside ONNX Runtime."""
    if isinstance(theirs, Failure):
        if theirs.kind != "refused":
            return 0.0, [f"ORT {theirs.kind}"], []
        if isinstance(want, Failure):
            return 0.0, ["both refuse"], []
        kind = kinds.refusal(case, theirs.reason)
        return 0.0, [kind.name] if kind else [], [] if kind else [f"ORT refuses: {theirs.reason[:300]}"]
    if isinstance(want, Failure):
        kind = kinds.ours_refuses(case)
        return 0.0, [kind.name] if kind else [], [] if kind else [f"ORT serves what is {want.kind}: {want.reason}"]
    error, named, unexplained = 0.0, set(), []
    shapes = [(g.dtype.name, g.shape) for g in theirs], [(w.dtype.name, w.shape) for w in want]
    if shapes[0] != shapes[1]:
        kind = kinds.other_shape(case)
        return 0.0, [kind.name] if kind else [], [] if kind else [f"ORT's type or shape: {shapes[0]}, ours {shapes[1]}"]
    row = BY_NAME[case.operator]
    allowances = None
    for index, (got, ours) in enumerate(zip(theirs, want, strict=True)):
        apart, allowed = distance(got, ours)
        left = apart > allowed
        if left.any() and allowances is None:
            rounding = row.bound(case, lambda inputs: in_float64(case, inputs))
            allowances = kinds.allowances(case, want, rounding)
        for kind, arrays in (allowances or []) if left.any() else []:
            explained = left & (apart <= allowed + np.broadcast_to(arrays[index], apart.shape))
            if explained.any():
                named.add(kind.name)
                left &= ~explained
        if left.any():
            at = tuple(int(i) for i in np.argwhere(left)[0])
            count = f"{int(left.sum())} of {left.size} elements"
            unexplained.append(f"output {index}: {count}, first at {list(at)}: ORT {got[at]!r}, ours {ours[at]!r}")
        within = apart[apart <= allowed]
        if got.dtype in (np.float32, np.float64) and within.size:
            finite = ours[np.isfinite(ours.astype(np.float64))].astype(np.float64)
            error = max(error, float(within.max()) / max(1.0, float(np.abs(finite).max(initial=0.0))))
    return error, sorted(named), unexplained


def evaluate(case, ort):
    """(row, results of ONNX Runtime). `ort`: something with run(case)."""
    want = run_reference(case)
    ours = {"numpy": run_numpy(case), **{face: run_face(case, face) for face in faces(case.operator)}}
    theirs = ort.run(case)
    faults = our_faults(case, want, ours)
    error, named, unexplained = against_ort(case, want, theirs)
    row = {
        **describe(case),
        "reference": want.kind if isinstance(want, Failure) else "value",
        **{name: got.kind if isinstance(got, Failure) else "value" for name, got in ours.items()},
        "ort": theirs.kind if isinstance(theirs, Failure) else "value",
        "sha256": None if isinstance(want, Failure) else digest(want),
        "bits": not faults,
        "same_as_ort": not isinstance(want, Failure) and not isinstance(theirs, Failure) and equal(theirs, want),
        "scaled_error": 0.0 if math.isnan(error) else error,
        "kinds": named,
        "unexplained": faults + unexplained,
    }
    if isinstance(theirs, Failure):
        row["ort_reason"] = theirs.reason[:300]
    return row, theirs


def equal(got, want):
    return [(g.dtype, g.shape) for g in got] == [(w.dtype, w.shape) for w in want] and same_bits(got, want)


def digest(outputs):
    total = hashlib.sha256()
    for array in outputs:
        total.update(f"{array.dtype.name}{list(array.shape)}".encode())
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:16]
