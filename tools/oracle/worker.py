"""The child process that evaluates cases."""

import sys
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from oracle import wire
from oracle.cases import tensor_to_json
from oracle.compare import evaluate
from oracle.runners import Failure, Ort


class Recorded:
    """What a recording says, in ONNX Runtime's place."""

    def __init__(self, theirs):
        self.theirs = theirs

    def run(self, case):
        return self.theirs


def main(python):
    ort = Ort(python)

    def handle(request):
        if request is None:
            return ort.about
        case, recorded = request
        try:
            row, theirs = evaluate(case, ort if recorded is None else Recorded(recorded))
        except Exception:
            return {"fault": traceback.format_exc()}
        answer = vars(theirs) if isinstance(theirs, Failure) else [tensor_to_json(a) for a in theirs]
        return {"row": row, "ort": answer}

    wire.serve(handle)


if __name__ == "__main__":
    main(sys.argv[1])
