"""Random Attention and Einsum."""

from .domain import choose
from .generators_conv import case

LABELS = "ijkAbc"


def _mask(d, opset, dtype, full):
    """Broadcast, with leading axes missing or 1; from opset 24 on shorter than the keys in some."""
    shape = [1 if d.chance(3) else size for size in full[:3]] + [full[3]]
    if opset >= 24 and full[3] > 3 and d.chance(6):
        shape[3] = d.integer(2, full[3] - 1)
    shape = shape[d.integer(0, 2) :]
    return d.array(shape, "bool" if d.flag() else dtype, "normal")


def attention(d, operator):
    opset, dtype = choose(d, operator)
    batch, kv_heads, group = d.integer(1, 3), d.integer(1, 3), d.pick((1, 1, 2, 3))
    length, size, value = d.integer(1, 9), d.integer(1, 20), d.integer(1, 20)
    past = d.integer(0, 7) if d.chance(3) else None
    current = 0 if d.chance(40) else d.integer(1, 20)
    heads, total = kv_heads * group, current + (past or 0)
    shapes = [[batch, heads, length, size], [batch, kv_heads, current, size], [batch, kv_heads, current, value]]
    attributes = {"is_causal": d.flag()}
    if d.flag():
        shapes = [[n, many, h * width] for n, h, many, width in shapes]
        attributes |= {"q_num_heads": heads, "kv_num_heads": kv_heads}
    if d.flag():
        attributes["scale"] = d.pick((0.1, 1.0, 0.5))
    if d.chance(3) and dtype != "float64":
        attributes["softcap"] = d.pick((0.5, 3.0, 50.0))
    if d.chance(12):
        attributes["softmax_precision"] = 11 if dtype == "float64" else d.pick((1, 10, 16))
    outputs = 3 if past is not None and not d.chance(12) else 1
    if d.chance(3):
        outputs, attributes["qk_matmul_output_mode"] = 4, d.integer(0, 3)
    kind = d.pick(("normal", "normal", "normal", "integers", "tiny", "infinite"))
    inputs = [d.array(shape, dtype, kind) for shape in shapes] + [None] * 4
    if d.flag():
        inputs[3] = _mask(d, opset, dtype, [batch, heads, length, total])
        if inputs[3].shape[-1] == 1 != total:
            inputs[3] = None
    if past is not None:
        inputs[4:6] = [d.array([batch, kv_heads, past, width], dtype, "normal") for width in (size, value)]
    elif opset >= 24 and d.chance(3):
        inputs[6] = d.indices([batch], current + 1)
    while inputs[-1] is None:
        inputs.pop()
    return case(d, operator, opset, inputs, attributes, outputs)


def einsum(d, operator):
    opset, dtype = choose(d, operator)
    count = d.pick((1, 1, 2, 2, 2, 3, 4))
    labels = [LABELS[(i + 1) * 5 % 6] for i in range(d.integer(1, 5 if count < 3 else 4))]
    sizes = {label: 0 if d.chance(60) else d.integer(1, 12 if count < 3 else 5) for label in labels}
    dots = [d.integer(1, 3) for _ in range(d.integer(1, 2))] if d.chance(5) else None
    terms, shapes = [], []
    for index in range(count):
        term = [d.pick(labels) for _ in range(d.integer(0 if d.chance(10) else 1, 3))]
        if len(set(term)) < len(term) and d.integer(0, 2):
            term = list(dict.fromkeys(term))
        one = {label: 1 if d.chance(10) else sizes[label] for label in term}
        shape = [one[label] for label in term]
        if dots is not None and (index == 0 or d.flag()):
            at = d.pick((0, len(term)))
            term[at:at] = ["..."]
            shape[at:at] = [1 if d.chance(5) else size for size in dots]
        terms.append("".join(term))
        shapes.append(shape)
    equation = ("," if d.flag() else " , ").join(terms)
    if d.integer(0, 3):
        used = list(dict.fromkeys(label for term in terms for label in term if label != "."))
        kept = [label for label in used if d.flag()]
        kept = kept[::-1] if d.flag() else kept
        equation += "->" + ("..." if dots is not None else "") + "".join(kept)
    kinds = ("normal", "integers", "tiny") if count > 2 else ("normal", "wide", "integers", "tiny", "infinite")
    kind = d.pick(kinds)
    return case(d, operator, opset, [d.array(shape, dtype, kind) for shape in shapes], {"equation": equation})
