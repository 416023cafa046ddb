"""Operators on ONNX Runtime's own kernels whose results cannot depend on the code path. The list of docs/audit.md."""

from dataclasses import dataclass
from typing import Any

INTEGERS = frozenset({"INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"})
#: Float types with kernels of their own on every processor. float16 and bfloat16 are computed in float32 on some only.
REALS = frozenset({"FLOAT", "DOUBLE"})


@dataclass(frozen=True)
class Rule:
    """The operators are exact by nature for inputs of the types (None: of any), from a version of onnxruntime on. ``nan``:
    float arithmetic, exact but for the bits of a NaN, and where subnormals are kept."""

    operators: frozenset[str]
    types: frozenset[str] | None
    reason: str
    nan: bool = False
    since: tuple[int, int] = (0, 0)


def _rule(operators: str, types: frozenset[str] | None, reason: str, nan: bool = False, since: tuple = (0, 0)) -> Rule:
    return Rule(frozenset(operators.split()), types, reason, nan, since)


RULES: tuple[Rule, ...] = (
    _rule(
        "CenterCropPad Compress Concat ConcatFromSequence Constant ConstantOfShape DepthToSpace Dropout Expand EyeLike Flatten "
        "Gather GatherElements GatherND Identity NonZero OneHot Optional OptionalGetElement OptionalHasElement Pad Reshape "
        "ReverseSequence SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength "
        "Slice SpaceToDepth Split SplitToSequence Squeeze Tile Transpose Trilu Unsqueeze Where",
        None,
        "moves elements",
    ),
    _rule("Shape Size", None, "tells a shape"),
    _rule("If Loop Scan", None, "control flow; the nodes of its bodies are listed"),
    _rule(
        "And BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Equal Greater GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor",
        None,
        "compares, or works on single bits",
    ),
    _rule("Abs Add Div Mod Mul Neg Range Sub", INTEGERS, "integer arithmetic"),
    _rule("Add Div Mul Sub", REALS, "one IEEE operation", nan=True),
    _rule("Sqrt", REALS, "one IEEE operation", nan=True, since=(1, 22)),
    _rule("Abs Neg", REALS, "changes the sign alone", nan=True),
    _rule("Round", REALS, "the result is a number of the type", nan=True),
    _rule("Ceil Floor", REALS, "the result is a number of the type, with its sign", nan=True, since=(1, 24)),
)
#: Names of all operators that are exact by nature in some form.
TYPES: frozenset[str] = frozenset().union(*(rule.operators for rule in RULES))

#: Operators whose integers any kernel computes alike, ours too.
INTEGER_ARITHMETIC = frozenset(["Abs", "Add", "Clip", "Div", "Max", "Min", "Mul", "Neg", "Relu", "Sign", "Sub"])

#: Operators that look exact by nature, and are not -> why.
DIFFERS: dict[str, str] = {
    **dict.fromkeys(("Ceil", "Floor"), "another sign of a zero before onnxruntime 1.24"),
    "ScatterElements": "with indices that repeat, the element that stays is not stated",
    "ScatterND": "with indices that repeat, the element that stays is not stated",
    "Sqrt": "not correctly rounded before onnxruntime 1.22",
}
NO_PROMISE = "ONNX Runtime's own kernel, whose bits may depend on the processor, the threads or the position"
_INSERTED = "InsertedPrecisionFreeCast_"  # how ONNX Runtime names the Casts that it puts around a node without float16 kernel
_TO_INTEGER = "numbers outside the integer's range and NaN convert differently on other processors"
_FLUSHED = "subnormals are flushed (session.set_denormal_as_zero)"
_UNKNOWN = "the element type of an input or output is not known"


def explain(
    node: Any, inputs: list[str], output: str, version: tuple[int, int], flushed: bool = False
) -> tuple[bool, str, bool]:
    """(whether a node of the standard domain is exact by nature, why or why not, whether the bits of a NaN are excepted).

    Args:
        node: a NodeProto.
        inputs: names of the element types of its inputs that are not left out; "" where one is not known.
        output: that of its first output.
        version: of onnxruntime.
        flushed: whether the session flushes subnormals.
    """
    if node.op_type in ("Cast", "CastLike"):
        found = _cast(node, inputs[0] if inputs else "", output)
    else:
        found = _ruled(node, inputs, version)
    return (False, _FLUSHED, False) if flushed and found[2] else found


def _ruled(node: Any, inputs: list[str], version: tuple[int, int]) -> tuple[bool, str, bool]:
    rules = [rule for rule in RULES if node.op_type in rule.operators]
    if node.op_type == "Dropout" and len(node.input) > 2 and node.input[2]:
        return False, "it may draw random numbers", False
    for rule in rules:
        if rule.types is not None and not (inputs and set(inputs) <= rule.types):
            continue
        if version < rule.since:
            break
        return True, rule.reason, rule.nan
    if rules and ("" in inputs or not inputs):
        return False, _UNKNOWN, False
    if rules and not set(inputs) <= INTEGERS | REALS:
        return False, f"for {', '.join(sorted(set(inputs)))} computed in other types, which depend on the processor", False
    return False, DIFFERS.get(node.op_type, NO_PROMISE), False


def _cast(node: Any, source: str, target: str) -> tuple[bool, str, bool]:
    if node.name.startswith(_INSERTED):
        return False, "ONNX Runtime computes the node beside it in float32 here; on other processors it may not", False
    if not source or not target:
        return False, _UNKNOWN, False
    whole = INTEGERS | {"BOOL"}
    if source == target or (source in whole and target in whole) or (source in REALS and target == "BOOL"):
        return True, "converts exactly", False
    if source in whole and target in REALS:
        return True, "one IEEE rounding", False
    if source in REALS and target in REALS:
        return True, "one IEEE rounding or none", True
    if {source, target} in ({"FLOAT", "FLOAT16"}, {"FLOAT", "BFLOAT16"}):
        return True, "one IEEE rounding or none", True
    if target in INTEGERS:
        return False, _TO_INTEGER, False
    return False, f"from {source} to {target}: {NO_PROMISE}", False
