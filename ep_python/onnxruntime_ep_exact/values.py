"""What a session takes and gives, of any ONNX type, and its canonical SHA-256 (docs/receipts.md)."""

import ctypes
import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnxruntime as ort

#: ONNX Runtime's name of an element type -> NumPy's, where they differ.
_NAMES = {"float": "float32", "double": "float64"}
#: Types that NumPy does not have -> (number in ONNX's TensorProto.DataType, bits of an element).
_WITHOUT_NUMPY = {
    "bfloat16": (16, 16),
    "float8e4m3fn": (17, 8),
    "float8e4m3fnuz": (18, 8),
    "float8e5m2": (19, 8),
    "float8e5m2fnuz": (20, 8),
    "uint4": (21, 4),
    "int4": (22, 4),
}


@dataclass(frozen=True, eq=False)
class Tensor:
    """A tensor. ``data`` has its elements and shape; of a type that NumPy does not have, the elements as unsigned integers, and
    of a 4-bit type bytes of two elements each, the first in the low half."""

    type: str
    shape: tuple[int, ...]
    data: np.ndarray

    @property
    def sha256(self) -> str:
        """Over a head as in ``float32[1,3]`` and a newline, then the elements in row-major order, little-endian."""
        total = hashlib.sha256(f"{self.type}[{','.join(map(str, self.shape))}]\n".encode())
        if self.type == "string":
            for text in self.data.ravel():
                encoded = text if isinstance(text, bytes) else str(text).encode()
                total.update(len(encoded).to_bytes(8, "little") + encoded)
        else:
            little = np.ascontiguousarray(self.data, self.data.dtype.newbyteorder("<"))
            total.update(little.reshape(-1).view(np.uint8))
        return total.hexdigest()


def sha256(value: Any) -> str:
    """Of a Tensor, a list (sequence), a dict (map) or None (an optional without a value)."""
    if isinstance(value, Tensor):
        return value.sha256
    if value is None:
        return hashlib.sha256(b"none\n").hexdigest()
    if isinstance(value, dict):
        parts = [part for key in sorted(value, key=lambda k: (k.sha256, k.type)) for part in (key, value[key])]
        total = hashlib.sha256(f"map[{len(value)}]\n".encode())
    else:
        parts = list(value)
        total = hashlib.sha256(f"sequence[{len(parts)}]\n".encode())
    for part in parts:
        total.update(bytes.fromhex(sha256(part)))
    return total.hexdigest()


def describe(name: str, value: Any) -> dict:
    """The entry of a receipt."""
    if isinstance(value, Tensor):
        return {"name": name, "type": value.type, "shape": list(value.shape), "sha256": value.sha256}
    kind = "none" if value is None else "map" if isinstance(value, dict) else "sequence"
    return {"name": name, "type": kind, "shape": None if value is None else [len(value)], "sha256": sha256(value)}


def _element(kind: str) -> str:
    """``tensor(float)`` -> ``float32``; "" for what is no tensor."""
    inner = kind.removeprefix("optional(")
    inner = inner[7:].rstrip(")") if inner.startswith("tensor(") else ""
    return _NAMES.get(inner, inner)


def given(kind: str, name: str, array: np.ndarray) -> Tensor:
    """An input as a Tensor of the session's type.

    Raises:
        ValueError: the array has another type.
    """
    want = _element(kind)
    if not want:
        raise ValueError(f"input {name}: values of the type {kind} cannot be given")
    if want == "string":
        if array.dtype.kind not in "US":
            raise ValueError(f"input {name}: {array.dtype} instead of string")
        return Tensor(want, array.shape, array.astype(object))
    if want in _WITHOUT_NUMPY:
        bits = _WITHOUT_NUMPY[want][1]
        if bits < 8 or array.dtype.kind not in "Vu" or array.dtype.itemsize * 8 != bits:
            raise ValueError(f"input {name}: {array.dtype} instead of {want}, whose bits are to be given as uint{max(bits, 8)}")
        return Tensor(want, array.shape, array.view(f"u{array.dtype.itemsize}"))
    if array.dtype.name != want:
        raise ValueError(f"input {name}: {array.dtype} instead of {want}")
    return Tensor(want, array.shape, np.asarray(array, array.dtype.newbyteorder("=")))


def run(session: Any, names: Sequence[str], feeds: Mapping[str, Tensor]) -> list[Any]:
    """The outputs of these names, each a Tensor, list, dict or None."""
    kinds = {info.name: info.type for info in session.get_outputs()}
    odd = [name for name in names if _element(kinds[name]) in _WITHOUT_NUMPY]
    if not odd and not any(tensor.type in _WITHOUT_NUMPY for tensor in feeds.values()):
        found = session.run(list(names), {name: tensor.data for name, tensor in feeds.items()})
        return [_wrap(kinds[name], value) for name, value in zip(names, found, strict=True)]
    if any(tensor.type == "string" for tensor in feeds.values()):
        raise ValueError("a model with inputs of strings and values of " + (_element(kinds[odd[0]]) if odd else "8 bits"))
    found = session.run_with_ort_values(list(names), {name: _ort_value(tensor) for name, tensor in feeds.items()})
    return [_read(kinds[name], value) for name, value in zip(names, found, strict=True)]


def _ort_value(tensor: Tensor) -> Any:
    data = np.ascontiguousarray(tensor.data)
    if tensor.type in _WITHOUT_NUMPY:
        return ort.OrtValue.ortvalue_from_numpy_with_onnx_type(data, _WITHOUT_NUMPY[tensor.type][0])
    return ort.OrtValue.ortvalue_from_numpy(data)


def _read(kind: str, value: Any) -> Any:
    element = _element(kind)
    if element not in _WITHOUT_NUMPY:
        return _wrap(kind, value.numpy() if value.is_tensor() else value._get_c_value().to_python_objs())
    shape, bits = tuple(value.shape()), _WITHOUT_NUMPY[element][1]
    count = math.prod(shape)
    data = np.frombuffer(ctypes.string_at(value.data_ptr(), (count * bits + 7) // 8) if count else b"", f"u{max(1, bits // 8)}")
    return Tensor(element, shape, data.reshape(shape) if bits >= 8 else data)


def _wrap(kind: str, value: Any) -> Any:
    if value is None or isinstance(value, Tensor):
        return value
    inner = kind.removeprefix("optional(")
    if inner.startswith("seq("):
        return [_wrap(inner[4:-1], part) for part in value]
    if isinstance(value, dict):
        key, item = inner[4:-1].split(",", 1)
        return {_wrap(f"tensor({key})", np.array(k)): _wrap(item, np.array(v, np.float32)) for k, v in value.items()}
    array = np.asarray(value)
    element = _element(inner) or array.dtype.name
    return Tensor("string" if array.dtype.kind in "OUS" else element, array.shape, array)
