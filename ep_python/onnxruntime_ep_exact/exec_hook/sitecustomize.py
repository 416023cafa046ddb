"""Python runs this at its start in a command of ``ort-exact exec``, before any other module of the application.

It makes ``import onnxruntime`` give sessions on the exact kernels (onnxruntime_ep_exact.executing), then runs the
sitecustomize that would have run without it."""

import os
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec


class _Loader:
    """onnxruntime's own loader, and what is done behind it."""

    def __init__(self, loader):
        self._loader = loader

    def create_module(self, spec):
        return self._loader.create_module(spec)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        try:
            from onnxruntime_ep_exact import executing
        except ImportError as error:
            raise ImportError(f"ort-exact exec: {sys.executable} has no onnxruntime-ep-exact that works: {error}") from error
        executing.install(module)


class _Finder:
    """Finds onnxruntime by the other finders."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        if name != "onnxruntime":
            return None
        for finder in sys.meta_path:
            spec = None if finder is _Finder else finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Loader(spec.loader)
                return spec
        return None


def _chain():
    here = os.path.dirname(os.path.abspath(__file__))
    rest = [entry for entry in sys.path if os.path.abspath(entry or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", rest)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if os.environ.get("EXACT_EXEC_RECORDS"):
    sys.meta_path.insert(0, _Finder)
_chain()
