"""Models whose weights are in files of their own (ONNX's external data)."""

import hashlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import Any

from .guarantee import bodies

_EXTERNAL = 1  # TensorProto.EXTERNAL


def file_sha256(path: Any) -> str:
    """Of a file's bytes."""
    total = hashlib.sha256()
    with open(path, "rb") as file:
        while part := file.read(1 << 20):
            total.update(part)
    return total.hexdigest()


def locations(proto: Any) -> list[str]:
    """The files, as the model names them, in the order of their first use.

    Raises:
        ValueError: a file that is not below the model's folder.
    """
    found = dict.fromkeys(
        entry.value
        for tensor in _tensors(proto)
        if tensor.data_location == _EXTERNAL
        for entry in tensor.external_data
        if entry.key == "location"
    )
    for location in found:
        check_location(location)
    return list(found)


def check_location(location: str) -> None:
    """Raises ValueError for a path that leads out of the model's folder."""
    path = PurePosixPath(location)
    if not location or path.is_absolute() or ".." in path.parts:
        raise ValueError(f"external data {location!r} is not below the model's folder")


def _tensors(proto: Any) -> Iterator[Any]:
    graphs = [graph for _, graph in bodies(proto.graph)]
    for function in proto.functions:
        graphs += [graph for _, graph in bodies(function)]
    for graph in graphs:
        yield from getattr(graph, "initializer", ())
        for sparse in getattr(graph, "sparse_initializer", ()):
            yield from (sparse.values, sparse.indices)
        for node in graph.node:
            for attribute in node.attribute:
                yield from (attribute.t, *attribute.tensors)


def changed(proto: Any, source: Any, folder: str) -> Any:
    """A model for a session, of a ModelProto that was made from ``source``: bytes, or a path in the folder where the files that
    it needs are put beside it.

    Raises:
        ValueError: over 2 GB.
    """
    names = locations(proto)
    try:
        data = proto.SerializeToString()
    except Exception as error:  # protobuf raises several types
        raise ValueError(f"the model is too large to be changed: {error}") from error
    if not names:
        return data
    target = Path(folder) / "model.onnx"
    target.write_bytes(data)
    for name in names:
        place = Path(folder) / name
        place.parent.mkdir(parents=True, exist_ok=True)
        original = (Path(source).parent / name).resolve()
        if not place.exists():
            try:
                os.link(original, place)
            except OSError:  # another file system
                shutil.copyfile(original, place)
    return str(target)
