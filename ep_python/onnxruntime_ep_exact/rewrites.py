"""The graph rewrites of ONNX Runtime that change bits before a provider sees the graph."""

import ast
import re
from importlib.resources import files


def reasons(face: str) -> dict[str, str]:
    """Name of each rewrite that a face needs off -> why it changes bits, from the library's list (rewrites.def)."""
    faces = "PLUGIN|BOTH" if face == "plugin" else "CUSTOM|BOTH"
    rows = re.findall(
        rf'^REWRITE\(("[^"]*"), (?:{faces}), ("[^"]*")\)$',
        (files(__package__) / "rewrites.def").read_text("utf-8"),
        re.MULTILINE,
    )
    return {ast.literal_eval(name): ast.literal_eval(reason) for name, reason in rows}


#: Name of each rewrite that the plugin needs off -> why it changes bits. The library has the same list (rewrites.def).
REWRITES: dict[str, str] = reasons("plugin")

#: The session config entry that switches rewrites off: names joined by ';'.
CONFIG_KEY = "optimization.disable_specified_optimizers"
