"""What the onnx package, where it is installed, can tell about a model before onnxruntime gets it."""

from typing import Any


def load(model: Any) -> Any:
    """The ModelProto of a path or a serialized model; None when onnx is not installed or cannot read it."""
    try:
        import onnx
    except ImportError:
        return None
    try:
        if isinstance(model, bytes | bytearray):
            return onnx.load_model_from_string(bytes(model))
        return onnx.load_model(str(model), load_external_data=False)
    except Exception:  # onnxruntime is to say what is wrong with the file
        return None


def opset(proto: Any) -> int:
    """The opset of the standard domain; 0 when the model names none."""
    return max((entry.version for entry in proto.opset_import if entry.domain in ("", "ai.onnx")), default=0)
