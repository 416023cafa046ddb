"""Runs the cases of a bundle (bundle.py) on this CPU: prints a JSON line about this process, then one per case, face and
number of threads. Runs inside an emulated Python: imports onnxruntime, NumPy, our package, and ml_dtypes for bfloat16."""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnxruntime as ort
from onnxruntime_ep_exact import InferenceSession, kernels


def digest(outputs, bfloat16=False):
    """SHA-256 over type, shape and little-endian bytes of every output. bfloat16: floats are float32 that hold bfloat16."""
    total = hashlib.sha256()
    for value in outputs:
        name = value.dtype.name
        if bfloat16 and name == "float32":
            bits = np.ascontiguousarray(value).view(np.uint32)
            if (bits & 0xFFFF).any():
                raise ValueError("an output is not the bfloat16 that it should be")
            name, value = "bfloat16", (bits >> 16).astype(np.uint16)
        elif name == "bfloat16":
            value = value.view(np.uint16)
        little = value.dtype.newbyteorder("<")
        total.update(f"{name}{list(value.shape)}".encode() + np.ascontiguousarray(value, little).tobytes())
    return total.hexdigest()


def session_digest(case, face, threads, folder, arrays):
    """The outputs of a session on one of our faces, or on ONNX Runtime's CPU provider ("cpu")."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # idle threads do not hold up the emulator
    feeds = {name: arrays[key] for name, key in case["feeds"].items()}
    for name in case["bfloat16"]:
        feeds[name] = (feeds[name].astype(np.uint32) << 16).view(np.float32)
    path = str(folder / case["model"])
    if face == "cpu":
        session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    else:
        casts = case["bfloat16"] or case["bfloat16_outputs"]
        if case["numpy"] and face == "plugin" and not casts:  # every node is ours
            options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
        if face == "custom_ops" and 7 <= case.get("opset", 0) < 14:
            options.add_session_config_entry("ep.exactexecutionprovider.opset", str(case["opset"]))
        session = InferenceSession(path, options, face=face)
    return digest(session.run(None, feeds), case["bfloat16_outputs"])


def numpy_digest(case, threads, arrays):
    """The outputs of the NumPy face."""
    call = case["numpy"]
    arguments = [None if key is None else arrays[key] for key in call["arguments"]]
    if call["bfloat16"]:
        import ml_dtypes

        arguments = [
            value.view(ml_dtypes.bfloat16) if key in call["bfloat16"] else value
            for key, value in zip(call["arguments"], arguments, strict=True)
        ]
    result = getattr(kernels, call["function"])(*call["texts"], *arguments, **call["attributes"], threads=threads)
    return digest(result if isinstance(result, tuple) else (result,))


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--faces", default="cpu,plugin,custom_ops,numpy")
    parser.add_argument("--threads", default="1")
    args = parser.parse_args()
    with np.load(args.folder / "inputs.npz") as data:
        arrays = dict(data)
    about = {"isa": kernels.isa(), "isa_names": kernels.isa_names(), "onnxruntime": ort.__version__, "numpy": np.__version__}
    print(json.dumps(about), flush=True)
    for case in json.loads((args.folder / "cases.json").read_text("utf-8")):
        for face in args.faces.split(","):
            if face not in ("cpu", *case["faces"]) and not (face == "numpy" and case["numpy"]):
                continue
            for threads in (int(n) for n in args.threads.split(",")):
                row = {"case": case["name"], "face": face, "threads": threads}
                try:
                    if face == "numpy":
                        row["sha256"] = numpy_digest(case, threads, arrays)
                    else:
                        row["sha256"] = session_digest(case, face, threads, args.folder, arrays)
                except Exception as error:  # onnxruntime has its own types; the reader decides what may fail
                    row["error"] = f"{type(error).__name__}: {error}"
                print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
