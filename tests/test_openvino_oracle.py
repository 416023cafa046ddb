"""tools/openvino_oracle.py: real models and handmade IR files, right and wrong ones. docs/openvino.md"""

import json
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest
import strategies
from click.testing import CliRunner
from helpers import examples
from hypothesis import assume, given
from hypothesis import strategies as st
from networks import NETWORKS, find

sys.path.insert(0, str(Path(__file__).parent.parent / "tools"))
import openvino_ir
import openvino_oracle
from openvino_runtime import ov

PP_OCR = [name for name in NETWORKS if name.startswith("PP-OCR")]
SIZES = {"detector": (64, 96), "recogniser": (48, 64), "classifier": (48, 64)}


def invoke(*arguments):
    result = CliRunner().invoke(openvino_oracle.main, [str(a) for a in arguments])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def checked(xml):
    """The results of all layers, each within the bar."""
    results = openvino_oracle.compare_all(openvino_ir.read(xml, xml.with_suffix(".bin")), seed=1)
    for r in results:
        assert r.error is None, (r.layer, r.error)
        assert r.shape_in_file == r.shape_openvino == r.shape_ours, r
        assert r.scaled_error <= 1e-4 and r.ok, r
        assert 0 <= r.equal_bits <= r.elements
    return results


# ---- real models ----


def fixed(model, name):
    """An OpenVINO model with a fixed input shape."""
    height, width = SIZES[name.split()[1]]
    model.reshape(
        {
            i: [(1, 3, height, width)[axis] if d.is_dynamic else d.get_length() for axis, d in enumerate(i.partial_shape)]
            for i in model.inputs
        }
    )
    return model


@pytest.mark.parametrize("half", [True, False], ids=["FP16 weights", "FP32 weights"])
@pytest.mark.parametrize("name", PP_OCR)
def test_model(name, half, tmp_path):
    path = find(name, None)[0]
    model = fixed(ov.Core().read_model(path), name)
    ov.save_model(model, tmp_path / "m.xml", compress_to_fp16=half)
    results = checked(tmp_path / "m.xml")
    assert len(results) == sum(op.get_type_name() in openvino_ir.TYPES for op in model.get_ops()) > 30
    assert {r.type for r in results} == set(openvino_ir.TYPES)
    sources = {r.weights for r in results}
    assert "drawn" not in sources and ("f16 > f32" in sources) == half


@pytest.mark.parametrize("name", ["PP-OCRv4 detector", "PP-OCR classifier"])
def test_converted_model(name, tmp_path, monkeypatch):
    """convert_model folds normalizations into the weights."""
    monkeypatch.setenv("CI", "true")  # no telemetry
    model = fixed(ov.convert_model(find(name, None)[0]), name)
    ov.save_model(model, tmp_path / "m.xml")
    assert len(checked(tmp_path / "m.xml")) > 30


# ---- random layers ----


@given(strategies.windows(), st.sampled_from((None, 1, 2, 3)), st.integers(1, 5), st.integers(1, 6), strategies.seeds())
@examples(80)
def test_random_layers(window, groups, channels, outputs, seed):
    """Sizes and padding of docs/openvino.md are those of OpenVINO's runtime; values are near."""
    sizes, kernel, attributes = window
    r, auto_pad = len(kernel), attributes["auto_pad"].lower()
    pads = attributes.get("pads", [0] * (2 * r)) if auto_pad == "notset" else [9] * (2 * r)
    weight = [outputs, channels, *kernel] if groups is None else [groups, outputs, channels, *kernel]
    layer = openvino_ir.Layer(
        "c",
        "Convolution" if groups is None else "GroupConvolution",
        "FP32",
        strides=attributes["strides"],
        pads_begin=pads[:r],
        pads_end=pads[r:],
        dilations=attributes["dilations"],
        auto_pad=None if auto_pad == "notset" else auto_pad,
        input_shape=(2, channels * (groups or 1), *sizes),
        weight_shape=tuple(weight),
        output_shape=(),
        weights=None,
        source="drawn",
    )
    assume(min(sizes) > 0)
    (result,) = openvino_oracle.compare_all([layer], seed)
    if result.error is not None:
        assert "window" in result.error and auto_pad in ("notset", "valid")
        return
    assert result.shape_openvino == result.shape_ours == openvino_oracle.output_shape(layer)
    assert result.scaled_error <= 1e-4


# ---- handmade files ----


def port(number, shape, precision="FP32"):
    return f'<port id="{number}" precision="{precision}">' + "".join(f"<dim>{n}</dim>" for n in shape) + "</port>"


def ir(
    x=(1, 2, 6, 7),
    w=(3, 2, 3, 3),
    y=(1, 3, 4, 5),
    kind="Convolution",
    data='strides="1,1" pads_begin="0,0" pads_end="0,0" dilations="1,1"',
    precision="FP32",
    element="f32",
    const=None,
    version="opset1",
    middle="",
    feed="1",
    edges="",
    net="11",
):
    """An IR with one convolution, named c, whose weights lie at offset 8 of the .bin."""
    size = int(np.prod(w)) * {"f16": 2, "bf16": 2, "f64": 8, "i8": 1}.get(element, 4)
    if const is None:
        const = f'element_type="{element}" shape="{",".join(map(str, w))}" offset="8" size="{size}"'
    inner = {"f16": "FP16", "f64": "FP64", "bf16": "BF16", "i8": "I8"}.get(element, "FP32")
    return textwrap.dedent(
        f"""\
        <?xml version="1.0"?>
        <net name="test" version="{net}">
        <layers>
        <layer id="0" name="x" type="Parameter" version="opset1"><output>{port(0, x, precision)}</output></layer>
        <layer id="1" name="w" type="Const" version="opset1"><data {const}/><output>{port(0, w, inner)}</output></layer>
        {middle}
        <layer id="2" name="c" type="{kind}" version="{version}"><data {data}/>
        <input>{port(0, x, precision)}{port(1, w, precision)}</input><output>{port(2, y, precision)}</output></layer>
        </layers>
        <edges>
        <edge from-layer="0" from-port="0" to-layer="2" to-port="0"/>
        <edge from-layer="{feed}" from-port="0" to-layer="2" to-port="1"/>
        {edges}
        </edges>
        </net>"""
    )


def converted(to):
    return (
        f'<layer id="3" name="half" type="Convert" version="opset1"><data destination_type="{to}"/>'
        f'<input><port id="7"/></input><output>{port(0, (3, 2, 3, 3))}</output></layer>'
    )


INTO_CONVERT = '<edge from-layer="1" from-port="0" to-layer="3" to-port="7"/>'
INTO_ITSELF = '<edge from-layer="3" from-port="0" to-layer="3" to-port="7"/>'


def write(folder, text, count=4000, dtype=np.float32):
    xml = folder / "m.xml"
    xml.write_text(text, "utf-8")
    values = np.random.default_rng(0).integers(-99, 99, count) / 128
    xml.with_suffix(".bin").write_bytes(b"12345678" + values.astype(dtype).tobytes())
    return xml


def attributes(r=2, **changed):
    lists = {"strides": [1] * r, "pads_begin": [0] * r, "pads_end": [0] * r, "dilations": [1] * r} | changed
    return " ".join(f'{k}="{v if isinstance(v, str) else ",".join(map(str, v))}"' for k, v in lists.items())


GOOD = {
    "plain": {},
    "strides": {"data": attributes(strides=[2, 3]), "y": (1, 3, 2, 2)},
    "dilations": {"data": attributes(dilations=[2, 1]), "y": (1, 3, 2, 5)},
    "pads": {"data": attributes(pads_begin=[1, 2], pads_end=[3, 0]), "y": (1, 3, 8, 7)},
    "spaces": {"data": 'strides=" 1, 1 " pads_begin="0, 0" pads_end="0 ,0" dilations="1,  1"'},
    "explicit": {"data": attributes(auto_pad="explicit", pads_begin=[1, 0]), "y": (1, 3, 5, 5)},
    "valid": {"data": attributes(auto_pad="valid", pads_begin=[5, 5])},
    "same_upper": {"data": attributes(auto_pad="same_upper", pads_end=[9, 9], strides=[2, 1]), "y": (1, 3, 3, 7)},
    "same_lower": {"data": attributes(auto_pad="same_lower", strides=[2, 2]), "y": (1, 3, 3, 4)},
    "SAME_LOWER": {"data": attributes(auto_pad="SAME_LOWER", dilations=[2, 1]), "y": (1, 3, 6, 7)},
    "1-D": {"x": (2, 2, 9), "w": (3, 2, 4), "y": (2, 3, 6), "data": attributes(1)},
    "3-D": {"x": (1, 2, 5, 4, 6), "w": (3, 2, 2, 3, 2), "y": (1, 3, 4, 2, 5), "data": attributes(3)},
    "grouped": {"kind": "GroupConvolution", "x": (1, 4, 6, 7), "w": (2, 3, 2, 3, 3), "y": (1, 6, 4, 5)},
    "depthwise": {"kind": "GroupConvolution", "x": (1, 4, 6, 7), "w": (4, 1, 1, 3, 3), "y": (1, 4, 4, 5)},
    "f64": {"precision": "FP64", "element": "f64"},
    "f16": {"precision": "FP16", "element": "f16"},
    "bf16": {"precision": "BF16", "element": "bf16"},
    "version 10": {"net": "10"},
    "no batch": {"x": (0, 2, 6, 7), "y": (0, 3, 4, 5)},
    "f16 converted": {"element": "f16", "feed": "3", "edges": INTO_CONVERT, "middle": converted("f32")},
    "i8 converted": {"element": "i8", "feed": "3", "edges": INTO_CONVERT, "middle": converted("f32")},
    "computed weights": {"feed": "3", "middle": converted("f32").replace("Convert", "Multiply")},
}


@pytest.mark.parametrize("name", GOOD)
def test_handmade(name, tmp_path):
    dtype = {"f16": np.float16, "f16 converted": np.float16, "f64": np.float64, "i8 converted": np.int8}.get(name, np.float32)
    xml = write(tmp_path, ir(**GOOD[name]), dtype=dtype)
    if name == "bf16":  # any bits below the exponent of 4
        xml.with_suffix(".bin").write_bytes(bytes(8) + (np.arange(54, dtype=np.uint16) * 300).tobytes())
    (result,) = checked(xml)
    assert result.layer == "c" and result.error is None
    kinds = {"f16 converted": "f16 > f32", "i8 converted": "i8 > f32", "computed weights": "drawn"}
    assert result.weights == kinds.get(name, name if name in ("f64", "f16", "bf16") else "f32")


def test_weights_are_those_of_the_file(tmp_path):
    xml = write(tmp_path, ir())
    (layer,) = openvino_ir.read(xml, xml.with_suffix(".bin"))
    want = np.frombuffer(xml.with_suffix(".bin").read_bytes(), np.float32, 54, 8).reshape(3, 2, 3, 3)
    np.testing.assert_array_equal(layer.weights, want)
    xml.with_suffix(".bin").write_bytes(bytes(8) + np.array([0x3FC0, 0xC000] * 27, "<u2").tobytes())
    xml.write_text(ir(precision="BF16", element="bf16"), "utf-8")
    (layer,) = openvino_ir.read(xml, xml.with_suffix(".bin"))
    assert layer.weights.ravel()[:2].tolist() == [1.5, -2]


def test_layers_in_bodies(tmp_path):
    text = ir()
    inner = text[text.index("<layers>") : text.index("</net>")].replace('name="c"', 'name="inner"')
    body = f'<layer id="9" name="loop" type="Loop" version="opset5"><body>{inner}</body></layer></layers>'
    results = checked(write(tmp_path, text.replace("</layers>", body, 1)))
    assert [r.layer for r in results] == ["c", "inner"]


def const(**changed):
    given = {"element_type": "f32", "shape": "3,2,3,3", "offset": "8", "size": "216"} | changed
    return " ".join(f'{k}="{v}"' for k, v in given.items() if v is not None)


#: keywords of ir(), what the error must tell. The file can be read, the layer cannot.
BAD_LAYERS = [
    ({"data": attributes().replace("strides", "stride")}, "no attribute strides"),
    ({"data": attributes().replace("pads_begin", "p")}, "no attribute pads_begin"),
    ({"data": attributes(auto_pad="valid").replace("pads_end", "p")}, "no attribute pads_end"),
    ({"data": attributes().replace("dilations", "d")}, "no attribute dilations"),
    ({"data": attributes(strides="1,x")}, "strides is 'x'"),
    ({"data": attributes(strides="1_0,1")}, "strides is '1_0'"),
    ({"data": attributes(strides="1.0,1")}, "strides is '1.0'"),
    ({"data": attributes(strides="1,,1")}, "strides is ''"),
    ({"data": attributes(strides="\u0661,1")}, "strides is"),
    ({"data": attributes(strides="1" * 5000 + ",1")}, "no integer of up to 18 digits"),
    ({"data": attributes(strides="")}, "strides has 0 values"),
    ({"data": attributes(strides=[1, 1, 1])}, "strides has 3 values"),
    ({"data": attributes(strides=[0, 1])}, "strides has the value 0"),
    ({"data": attributes(dilations=[1, 0])}, "dilations has the value 0"),
    ({"data": attributes(pads_begin=[-1, 0])}, "pads_begin has the value -1"),
    ({"data": attributes(pads_end=[10**17, 0])}, "elements"),
    ({"data": attributes(strides=[10**17, 10**17], dilations=[10**17, 1])}, "too large"),
    ({"data": attributes(dilations=[9, 1])}, "window"),
    ({"data": attributes(auto_pad="notset")}, "auto_pad is 'notset'"),
    ({"data": attributes(auto_pad="")}, "auto_pad is ''"),
    ({"precision": "FP8"}, "precision FP8"),
    ({"precision": "I32"}, "precision I32"),
    ({"version": "opset99"}, "version opset99"),
    ({"const": const(element_type="i4")}, "element type i4"),
    ({"const": const(element_type=None)}, "no attribute element_type"),
    ({"const": const(shape=None)}, "no attribute shape"),
    ({"const": const(offset=None)}, "no attribute offset"),
    ({"const": const(size=None)}, "no attribute size"),
    ({"const": const(offset="-8")}, "offset -8"),
    ({"const": const(size="-216")}, "size -216"),
    ({"const": const(shape="3,2,-3,-3")}, "negative"),
    ({"const": const(size="212")}, "212 bytes"),
    ({"const": const(shape="3,2,3,4")}, "need 288"),
    ({"const": const(shape="54")}, "output port another"),
    ({"const": const(offset=str(10**17))}, "outside m.bin"),
    ({"const": const(offset="15800")}, "outside m.bin"),
    ({"const": const(offset="99999999999999999999999")}, "no integer"),
    ({"const": const(shape="4294967296,4294967296,4294967296,16", size="216")}, "bytes"),
    ({"const": const(element_type="f64", size="432")}, "the weights are f64"),
    ({"x": (1, 2, -1, 7)}, "dynamic dimension"),
    ({"w": (3, 2, -1, 3)}, "dynamic dimension"),
    ({"y": (-1, 3, 4, 5)}, "dynamic dimension"),
    ({"x": (1, 2, -2, 7)}, "dimension -2"),
    ({"x": (1, 2, "1..4", 7)}, "'1..4'"),
    ({"x": (1, 2, "", 7)}, "''"),
    ({"x": (), "y": ()}, "openvino_convolution"),
    ({"x": (1, 2), "w": (3, 2), "y": (1, 3), "data": attributes(0)}, "openvino_convolution"),
    ({"x": (1, 9, 6, 7)}, "openvino_convolution"),
    ({"x": (1, 2, 10**6, 10**6), "y": (1, 3, 10**6, 10**6)}, "elements, more than"),
    ({"kind": "GroupConvolution"}, "openvino_group_convolution: w has rank 4"),
    ({"feed": "3", "edges": INTO_CONVERT, "element": "f64", "middle": converted("f32")}, "may change"),
    ({"feed": "3", "edges": INTO_CONVERT, "middle": converted("nf4")}, "to nf4"),
    ({"feed": "3", "middle": converted("f32")}, "no edge feeds the Convert"),
    ({"feed": "3", "edges": INTO_ITSELF, "middle": converted("f32")}, "depend on themselves"),
]


@pytest.mark.parametrize("changed, text", BAD_LAYERS, ids=[t for _, t in BAD_LAYERS])
def test_bad_layer(changed, text, tmp_path):
    xml = write(tmp_path, ir(**changed))
    result = invoke(xml, "--json")
    assert result.exit_code == 1, result.output
    (layer,) = json.loads(result.output)["layers"]
    assert layer["layer"] == "c" and text in layer["error"] and not layer["ok"]
    shown = invoke(xml)
    assert shown.exit_code == 1 and "layer 'c'" in shown.output and "0 compared" in shown.output


#: replaced text, its replacement, what the error must tell
EDITS = [
    ('to-layer="2" to-port="1"', 'to-layer="2" to-port="5"', 1, "no edge feeds input 1"),
    ('to-layer="2" to-port="0"', 'to-layer="2" to-port="5"', 1, "no edge feeds input 0"),
    ('from-layer="1" from-port="0"', 'from-layer="1" from-port="4"', 1, "port 4 of layer 1"),
    ("<dim>6</dim>", "<dim>5</dim>", 1, "the output that feeds it"),
    ('<port id="2" precision="FP32">', '<port id="2">', 1, "no attribute precision"),
    ('<port id="1" precision="FP32">', '<port id="1" precision="FP16">', 1, "precision FP16"),
    ("<output><port id=\"2\"", "<output><port id=\"3\"/><port id=\"2\"", 1, "2 output ports"),
    ("<data strides", "<datum strides", 1, "no data element"),
    ('from-layer="0" ', "", 2, "an edge without"),
    ('from-layer="1"', 'from-layer="77"', 2, "layer 77"),
    ('to-layer="2" to-port="0"', 'to-layer="2" to-port="1"', 2, "two edges"),
    ('<layer id="1"', '<layer id="0"', 2, "two layers have the id 0"),
    ('<layer id="1"', "<layer", 2, "no attribute id"),
    ('version="11"', 'version="7"', 2, "IR version 7"),
    ('version="11"', "", 2, "IR version None"),
    ("net", "network", 2, "expected net"),
    ('type="Convolution"', 'type="Relu"', 2, "no Convolution"),
    ("</net>", "", 2, "no XML"),
    ('<?xml version="1.0"?>', '<?xml version="1.0" encoding="nonsense"?>', 2, "no XML"),
    ('<?xml version="1.0"?>', '<!DOCTYPE net><?xml version="1.0"?>', 2, "Error"),
]  # fmt: skip


@pytest.mark.parametrize("old, new, status, text", EDITS, ids=[t for *_, t in EDITS])
def test_bad_file(old, new, status, text, tmp_path):
    good = ir()
    assert old in good
    changed = good.replace(old, new) if old in ("net", "<data strides") else good.replace(old, new, 1)
    result = invoke(write(tmp_path, changed))
    assert result.exit_code == status, result.output
    assert text in " ".join(result.output.split()), result.output


DOCTYPES = {
    "document type": "<!DOCTYPE net>",
    "entity": '<!DOCTYPE net [<!ENTITY a "1,1">]>',
    "expanding entities": '<!DOCTYPE net [<!ENTITY a "1,1"><!ENTITY b "&a;&a;&a;"><!ENTITY c "&b;&b;&b;">]>',
    "external entity": '<!DOCTYPE net [<!ENTITY a SYSTEM "file:///etc/hostname">]>',
    "external document type": '<!DOCTYPE net SYSTEM "http://127.0.0.1:9/none.dtd">',
    "parameter entity": '<!DOCTYPE net [<!ENTITY % a SYSTEM "file:///etc/hostname"> %a;]>',
}


@pytest.mark.parametrize("name", DOCTYPES)
def test_document_types_are_refused(name, tmp_path):
    text = ir().replace('<net name="test"', f'{DOCTYPES[name]}<net name="test"')
    if "entity" in name and "parameter" not in name:
        text = text.replace('name="c"', 'name="c&a;"') if "external" not in name else text.replace("<layers>", "&a;<layers>")
    result = invoke(write(tmp_path, text))
    assert result.exit_code == 2 and "document types and entities are refused" in result.output


@pytest.mark.parametrize(
    "content", [b"", b"\0" * 100, b"\xff\xfe\x00", b"PK\x03\x04", b"<net", b"<a/><b/>", b'<net version="11">&x;</net>']
)
def test_a_file_that_is_no_xml(content, tmp_path):
    (tmp_path / "m.xml").write_bytes(content)
    result = invoke(tmp_path / "m.xml")
    assert result.exit_code == 2 and result.output.startswith("Error: m.xml: no XML")


def test_deeply_nested_elements(tmp_path):
    deep = "<a>" * 100000 + "</a>" * 100000
    (result,) = checked(write(tmp_path, ir().replace("<edges>", deep + "<edges>")))
    assert result.layer == "c"


def test_missing_and_short_weights(tmp_path):
    xml = write(tmp_path, ir(), count=53)
    assert "outside m.bin: bytes 8 to 224 of 220" in " ".join(invoke(xml).output.split())
    xml.with_suffix(".bin").unlink()
    result = invoke(xml)
    assert result.exit_code == 1 and "layer 'c'" in result.output and "m.bin: No such file" in result.output
    other = tmp_path / "other.bin"
    other.write_bytes(bytes(8 + 216))
    assert invoke(xml, "--bin", other).exit_code == 0


def test_a_shape_that_is_not_the_right_one(tmp_path):
    xml = write(tmp_path, ir(y=(1, 3, 5, 5)))
    (layer,) = json.loads(invoke(xml, "--json").output)["layers"]
    assert layer["shape_in_file"] == [1, 3, 5, 5] and layer["shape_ours"] == layer["shape_openvino"] == [1, 3, 4, 5]
    assert not layer["ok"] and invoke(xml).exit_code == 1


def test_weights_that_are_not_finite(tmp_path):
    xml = write(tmp_path, ir(data=attributes(pads_begin=[1, 1]), y=(1, 3, 5, 6)))
    w = np.full(54, np.inf, np.float32)
    xml.with_suffix(".bin").write_bytes(bytes(8) + w.tobytes())
    result = invoke(xml, "--json")
    (layer,) = json.loads(result.output)["layers"]  # no Infinity or NaN in it
    assert layer["error"] is None and layer["ok"] == (layer["scaled_error"] is not None) == (result.exit_code == 0)


def test_options(tmp_path):
    xml = write(tmp_path, ir())
    assert invoke(xml, "--layer", "c", "--threads", "2", "--seed", "7").exit_code == 0
    assert invoke(xml, "--layer", "d").exit_code == 2
    (layer,) = json.loads(invoke(xml, "--bar", "0", "--json").output)["layers"]
    assert layer["ok"] == (layer["scaled_error"] == 0)
    low = invoke(xml, "--max-work", "100")
    assert low.exit_code == 1 and "1080 multiplications" in " ".join(low.output.split())
    first, second = (invoke(xml, "--json").output for _ in range(2))
    assert first == second


def test_a_wrong_result_is_seen(tmp_path, monkeypatch):
    """The oracle fails when our kernel is wrong by more than the bar."""
    right = openvino_oracle.run_ours
    monkeypatch.setattr(openvino_oracle, "run_ours", lambda *a: right(*a) * np.float32(1.001))
    result = invoke(write(tmp_path, ir()), "--json")
    assert result.exit_code == 1
    assert json.loads(result.output)["layers"][0]["scaled_error"] > 1e-4


def test_names_from_the_file_are_printed_as_they_are(tmp_path):
    result = invoke(write(tmp_path, ir().replace('name="c"', 'name="[red]c[/nonsense]&#10;"')))
    assert result.exit_code == 0 and "[red]c[/nonsense]" in result.output
