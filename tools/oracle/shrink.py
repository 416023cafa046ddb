"""The smallest case that still shows a disagreement: every simplification that keeps it is taken, until none does."""

import re

import numpy as np

NEUTRAL = {"strides": 1, "dilations": 1, "kernel_shape": 1, "pads": 0, "output_padding": 0, "output_shape": 1, "axes": 0}


def tags(row):
    """What a row shows, without the numbers in it."""
    return {re.sub(r"[-\d.e+\[\], ]+|nan|inf", "#", text)[:80] for text in row["unexplained"]} | set(row["kinds"])


def with_attribute(case, name, value):
    return case.with_(attributes={**case.attributes, name: value})


def settings(case):
    """The plainest way to run it, and fewer outputs."""
    for changes in ({"form": "inputs"}, {"optimize": False}, {"threads": 1}, {"outputs": 1}):
        if any(getattr(case, k) != v for k, v in changes.items()):
            yield case.with_(**changes)


def attributes(case):
    """Without an attribute, or with numbers nearer to the neutral one."""
    for name, value in case.attributes.items():
        yield case.with_(attributes={k: v for k, v in case.attributes.items() if k != name})
        if isinstance(value, list):
            neutral = NEUTRAL.get(name, 0)
            for i, v in enumerate(value):
                for smaller in {neutral, (v + neutral) // 2, v - 1 if v > neutral else v} - {v}:
                    yield with_attribute(case, name, [*value[:i], smaller, *value[i + 1 :]])
        elif isinstance(value, int) and value > 1:
            yield with_attribute(case, name, value // 2)


def cut(array, axis, size):
    return np.ascontiguousarray(np.take(array, range(size), axis=axis))


def extents(case):
    """One dimension smaller; or every dimension and number of the same size, which may belong together."""
    slots = [(i, axis) for i, a in enumerate(case.inputs) if a is not None for axis in range(a.ndim)]
    for size in sorted({case.inputs[i].shape[axis] for i, axis in slots}, reverse=True):
        equal = [(i, axis) for i, axis in slots if case.inputs[i].shape[axis] == size]
        for smaller in dict.fromkeys((1, size // 2, size - 1)):
            if 0 < smaller < size:
                for chosen in (equal, *[[one] for one in equal]):
                    inputs = list(case.inputs)
                    for i, axis in chosen:
                        inputs[i] = cut(inputs[i], axis, smaller)
                    yield case.with_(inputs=inputs)
                    if chosen is equal:
                        same = {k: smaller if v == size else v for k, v in case.attributes.items()}
                        yield case.with_(inputs=inputs, attributes=same)


def axes(case):
    """One spatial axis less."""
    r = case.x.ndim - 2
    for axis in range(2, case.x.ndim if r > 1 else 0):
        inputs = [a if a is None or a.ndim != case.x.ndim else np.ascontiguousarray(a.take(0, axis)) for a in case.inputs]
        changed = {}
        for name, value in case.attributes.items():
            drop = {r: [axis - 2], 2 * r: [axis - 2, axis - 2 + r]}.get(len(value), []) if isinstance(value, list) else []
            changed[name] = [v for i, v in enumerate(value) if i not in drop] if drop else value
        yield case.with_(inputs=inputs, attributes=changed)


def values(case):
    """Zeros or ones throughout, whole numbers, then zeros in ever smaller pieces."""
    for i, array in enumerate(case.inputs):
        if array is None or array.dtype == np.int64 or not array.size:
            continue
        with np.errstate(all="ignore"):
            plain = np.where(np.isfinite(array.astype(np.float64)), np.rint(array.astype(np.float64)), 0).astype(array.dtype)
        options = [np.zeros_like(array), np.ones_like(array), np.where(array == array, plain, array).astype(array.dtype)]
        piece = array.size // 2
        while piece and array.size // piece <= 64:
            for start in range(0, array.size, piece):
                flat = array.copy().reshape(-1)
                flat[start : start + piece] = 0
                options.append(flat.reshape(array.shape))
            piece //= 2
        for option in options:
            if option.tobytes() != array.tobytes() and np.count_nonzero(option) <= np.count_nonzero(array):
                yield case.with_(inputs=[option if j == i else a for j, a in enumerate(case.inputs)])


def shrink(case, evaluate, tag, most=3000):
    """(smallest case, its row). evaluate: case -> row, or an exception for what is no case; tag: of `tags` of the first row."""
    row, tried, seen = evaluate(case), 0, {case.digest()}
    if tag not in tags(row):
        raise ValueError(f"{case.id} does not show {tag!r} but {sorted(tags(row))}")
    progress = True
    while progress and tried < most:
        progress = False
        for simplify in (settings, axes, extents, attributes, values):
            again = True
            while again and tried < most:
                again = False
                for candidate in simplify(case):
                    if candidate.digest() in seen or tried >= most:
                        continue
                    seen.add(candidate.digest())
                    tried += 1
                    try:
                        result = evaluate(candidate)
                    except Exception:  # not a case: shapes that do not fit together, say
                        continue
                    if tag in tags(result):
                        case, row, again, progress = candidate, result, True, True
                        break
    return case, row
