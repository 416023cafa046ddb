"""The graph rewrites of ONNX Runtime that change bits before a provider sees the graph."""

import ast
import re
from importlib.resources import files

#: Name of each rewrite that the plugin needs off -> why it changes bits. The library has the same list (rewrites.def).
REWRITES: dict[str, str] = {
    ast.literal_eval(name): ast.literal_eval(reason)
    for name, reason in re.findall(
        r'^REWRITE\(("[^"]*"), (?:PLUGIN|BOTH), ("[^"]*")\)$',
        (files(__package__) / "rewrites.def").read_text("utf-8"),
        re.MULTILINE,
    )
}

#: The session config entry that switches rewrites off: names joined by ';'.
CONFIG_KEY = "optimization.disable_specified_optimizers"
