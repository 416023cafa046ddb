"""An application that knows nothing of us: reads an image and prints what rapidocr-onnxruntime found, bit by bit."""

import json
import sys

import numpy as np
from PIL import Image
from rapidocr_onnxruntime import RapidOCR

found, _ = RapidOCR()(np.array(Image.open(sys.argv[1]).convert("RGB")))
rows = [(text, float(score).hex(), [[float(number).hex() for number in point] for point in box]) for box, text, score in found]
print(json.dumps({key: [row[number] for row in rows] for number, key in enumerate(("texts", "scores", "boxes"))}))
