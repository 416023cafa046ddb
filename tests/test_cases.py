"""Cases from public reports and from probes, with the right value by docs/.

data/cases.json: `inputs` and `outputs` are literal tensors ("nan", "inf", "-inf" for what JSON lacks); an `error` instead
of outputs is the kind of refusal; null is an omitted input. `constant_inputs` are the inputs that are initializers in the
model of the report.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import reference
from helpers import as_tuple, assert_bits, isa, kernels, variants

CASES = json.loads((Path(__file__).parent / "data" / "cases.json").read_text())
FUNCTIONS = {
    "ArgMax": "arg_max",
    "ArgMin": "arg_min",
    "AveragePool": "average_pool",
    "BatchNormalization": "batch_normalization",
    "Conv": "conv",
    "ConvTranspose": "conv_transpose",
    "CumSum": "cumsum",
    "GlobalLpPool": "global_lp_pool",
    "GroupNormalization": "group_normalization",
    "InstanceNormalization": "instance_normalization",
    "LayerNormalization": "layer_normalization",
    "LpNormalization": "lp_normalization",
    "LpPool": "lp_pool",
    "MatMulInteger": "matmul_integer",
    "MaxPool": "max_pool",
    "RMSNormalization": "rms_normalization",
    "ReduceL1": "reduce_l1",
    "ReduceL2": "reduce_l2",
    "ReduceLogSumExp": "reduce_log_sum_exp",
    "ReduceMax": "reduce_max",
    "ReduceMean": "reduce_mean",
    "ReduceProd": "reduce_prod",
    "ReduceSum": "reduce_sum",
    "ReduceSumSquare": "reduce_sum_square",
    "Resize": "resize",
    "Softmax": "softmax",
}
ERRORS = {"invalid": ValueError, "unsupported": NotImplementedError}


def tensor(description):
    values = [float(v) if isinstance(v, str) else v for v in description["values"]]
    return np.array(values, description["type"]).reshape(description["shape"])


def tensors(case):
    return [None if t is None else tensor(t) for t in case["inputs"]]


def arguments(case):
    """Of the functions of the NumPy face and of the reference."""
    inputs, extra = tensors(case), {}
    if len(case.get("outputs", [])) == 2:
        extra["return_indices"] = True
    if case["operator"].startswith("Reduce"):
        inputs[1:] = [axes.tolist() for axes in inputs[1:]]
    if case["operator"] == "Softmax" and case["opset"] < 13:
        extra["flatten"] = True
    if case["operator"] == "Resize" and case["opset"] == 10:
        inputs[1:] = [None, inputs[1]]
        extra |= {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
    return inputs, {**case["attributes"], **extra}


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_case(case):
    inputs, attributes = arguments(case)
    function = FUNCTIONS[case["operator"]]
    for name, threads in variants():
        with isa(name):
            if "error" in case:
                with pytest.raises(ERRORS[case["error"]]):
                    getattr(kernels, function)(*inputs, threads=threads, **attributes)
                continue
            got = as_tuple(getattr(kernels, function)(*inputs, threads=threads, **attributes))
        for one, description in zip(got, case["outputs"], strict=True):
            assert_bits(one, tensor(description), f"{case['id']} isa={name} threads={threads}")


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_reference(case):
    """The reference itself, so that data and reference cannot drift apart."""
    inputs, attributes = arguments(case)
    function = getattr(reference, FUNCTIONS[case["operator"]])
    if "error" in case:
        with pytest.raises(ERRORS[case["error"]]):
            function(*inputs, **attributes)
        return
    for one, description in zip(as_tuple(function(*inputs, **attributes)), case["outputs"], strict=True):
        assert_bits(one, tensor(description), case["id"])
