"""docs/einsum.md"""

import itertools
import math

import numpy as np

from .numerics import FLOATS, arithmetic_type, finish, quiet

_TYPES = (*FLOATS, *(np.dtype(name) for name in ("int32", "int64", "uint32", "uint64")))
MAX_RANK, MAX_OPERANDS, MAX_LENGTH = 16, 32, 255


def letters(term):
    """The labels of a term, "..." being one of them."""
    dots = term.count("...")
    rest = term.replace("...", "", 1)
    if dots > 1 or not all(c.isascii() and c.isalpha() for c in rest):
        raise ValueError(f"term {term!r}")
    before, _, after = term.partition("...")
    return [*before, *["..."] * dots, *after]


def parse(equation, count):
    text = equation.replace(" ", "")
    if len(text) > MAX_LENGTH:
        raise NotImplementedError("length of the equation")
    left, arrow, right = text.partition("->")
    terms = [letters(term) for term in left.split(",")]
    if len(terms) != count:
        raise ValueError("number of terms")
    used = list(itertools.chain.from_iterable(terms))
    if arrow:
        output = letters(right)
    else:
        output = ["..."] * ("..." in used) + sorted(c for c in set(used) if c != "..." and used.count(c) == 1)
    if len(set(output)) != len(output) or not set(output) <= set(used) or ("..." in used) != ("..." in output):
        raise ValueError("output")
    return terms, output


def expand(labels, axes):
    """Each of the `axes` axes of "..." as a label of its own."""
    at = labels.index("...") if "..." in labels else len(labels)
    return [*labels[:at], *[f"...{i}" for i in range(axes if "..." in labels else 0)], *labels[at + 1 :]]


def diagonal(x, labels):
    """The array and its labels, once each."""
    labels = list(labels)
    for label in dict.fromkeys(labels):
        while labels.count(label) > 1:
            i = labels.index(label)
            j = labels.index(label, i + 1)
            if x.shape[i] != x.shape[j]:
                raise ValueError("diagonal")
            x = np.moveaxis(np.diagonal(x, axis1=i, axis2=j), -1, i)
            del labels[j]
    return x, labels


@quiet
def einsum(equation, *operands):
    dtype = operands[0].dtype
    if dtype not in _TYPES:
        raise NotImplementedError(f"type {dtype}")
    if any(x.dtype != dtype for x in operands):
        raise ValueError("types differ")
    if len(operands) > MAX_OPERANDS or any(x.ndim > MAX_RANK for x in operands):
        raise NotImplementedError("operands")
    terms, output = parse(equation, len(operands))
    dots = [x.ndim - len(term) + 1 for x, term in zip(operands, terms, strict=True) if "..." in term]
    if min(dots, default=0) < 0 or len(set(dots)) > 1:
        raise ValueError("axes of ...")
    axes = dots[0] if dots else 0
    terms, output = [expand(term, axes) for term in terms], expand(output, axes)
    if any(x.ndim != len(term) for x, term in zip(operands, terms, strict=True)):
        raise ValueError("rank")
    if len(output) > MAX_RANK:
        raise NotImplementedError("rank of the output")

    summed = [c for c in dict.fromkeys(itertools.chain.from_iterable(terms)) if c not in output]
    order = [*output, *summed]
    sizes = dict.fromkeys(order, 1)
    views = []
    for x, term in zip(operands, terms, strict=True):
        x, labels = diagonal(x, term)
        for label, size in zip(labels, x.shape, strict=True):
            if 1 not in (size, sizes[label]) and size != sizes[label]:
                raise ValueError(f"size of {label}")
            sizes[label] = size if sizes[label] == 1 else sizes[label]
        views.append((x, labels))
    shape, depth = tuple(sizes[c] for c in output), tuple(sizes[c] for c in summed)
    spread = []
    for x, labels in views:
        x = x.transpose([labels.index(c) for c in order if c in labels])
        x = x.reshape([sizes_of(x, labels, order, c) for c in order])
        spread.append(np.broadcast_to(x, (*shape, *depth)))
    if not summed and len(operands) == 1:
        return np.ascontiguousarray(spread[0]).reshape(shape)

    real = arithmetic_type(dtype) if dtype in FLOATS else dtype
    wide = [x.astype(real).reshape(*shape, math.prod(depth)) for x in spread]
    acc = np.zeros(shape, real)
    for at in range(math.prod(depth)):
        p = wide[0][..., at]
        for x in wide[1:]:
            p = p * x[..., at]
        acc = acc + p if summed else p
    acc = np.asarray(acc)
    return finish(acc, dtype) if dtype in FLOATS else np.ascontiguousarray(acc).reshape(shape)


def sizes_of(x, labels, order, label):
    """The size of a label in the transposed array, 1 where it has none."""
    kept = [c for c in order if c in labels]
    return x.shape[kept.index(label)] if label in labels else 1
