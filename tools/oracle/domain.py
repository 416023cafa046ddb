"""What an operator allows at an opset: revisions, types, attributes, read from the ONNX schemas and from ops.def."""

import functools
from collections import defaultdict

import onnx
from onnxruntime_ep_exact.operators import OPERATORS
from operators_table import TYPE_NAMES as SETS

from .cases import NEWEST

_ONNX = {"float": "float32", "double": "float64"}


@functools.cache
def _served():
    """operator -> revision -> the types of its first constraint in ops.def."""
    found = defaultdict(dict)
    for schema in onnx.defs.get_all_schemas_with_history():
        for row in OPERATORS:
            if schema.domain == "" and schema.name == row.type and row.since <= schema.since_version <= row.until:
                parts = [SETS[part.strip()] for part in row.constraints[0][1].split("|")]
                found[row.type][schema.since_version] = ", ".join(parts).split(", ")
    return found


@functools.cache
def opsets(operator):
    """For every revision that we serve and that a model of opset 7 to NEWEST can have: the opsets that mean it."""
    every = sorted({s.since_version for s in onnx.defs.get_all_schemas_with_history() if s.name == operator and s.domain == ""})
    spans = []
    for revision, following in zip(every, [*every[1:], NEWEST + 1], strict=True):
        span = range(max(7, revision), min(following, NEWEST + 1))
        if span and revision in _served()[operator]:
            spans.append(span)
    return spans


def _names(strings):
    inner = (s.removeprefix("tensor(").removesuffix(")") for s in strings)
    return [_ONNX.get(name, name) for name in inner]


@functools.cache
def types(operator, opset, index=0):
    """Element types that the schema allows for an input; for the first input those that we serve."""
    schema = onnx.defs.get_schema(operator, opset)
    wanted = schema.inputs[index].type_str
    allowed = next((c.allowed_type_strs for c in schema.type_constraints if c.type_param_str == wanted), [wanted])
    names = sorted(_names(allowed))
    return [n for n in names if n in _served()[operator][schema.since_version]] if index == 0 else names


@functools.cache
def attribute_names(operator, opset):
    return frozenset(onnx.defs.get_schema(operator, opset).attributes)


def choose(d, operator):
    """(opset, type of X): every revision alike, float32 more often."""
    opset = d.pick(d.pick(opsets(operator)))
    names = types(operator, opset)
    return opset, "float32" if "float32" in names and d.chance(2) else d.pick(names)


def allowed(operator, opset, attributes):
    """Without the attributes that this revision does not have."""
    names = attribute_names(operator, opset)
    return {k: v for k, v in attributes.items() if k in names}
