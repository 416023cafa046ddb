"""OpenVINO's runtime: ``from openvino_runtime import ov``.

Importing openvino sends a report to its makers, except in continuous integration. The package asks the environment once.
"""

import os

_before = os.environ.get("CI")
os.environ["CI"] = "true"
try:
    import openvino as ov
finally:
    if _before is None:
        del os.environ["CI"]
    else:
        os.environ["CI"] = _before

__all__ = ["ov"]
