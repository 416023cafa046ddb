"""Options, registration and errors as a user of ONNX Runtime meets them: nothing falls back in silence."""

import numpy as np
import onnxruntime as ort
import onnxruntime_ep_exact as ep
import pytest
from faces import EP, FACES, VERSION, graph, node, python, run, session
from helpers import assert_bits, data, kernels
from onnxruntime_ep_exact import models
from onnxruntime_ep_exact.folding import foldable
from onnxruntime_ep_exact.rewrites import CONFIG_KEY

PREFIX = "ep.exactexecutionprovider."
X = data(np.random.default_rng(3), (1, 4, 8, 8), np.float32)
W = data(np.random.default_rng(4), (5, 4, 3, 3), np.float32)
MODEL = graph([node("Conv", ["x", "w"])], {"x": (np.float32, X.shape)}, {"w": W})
OURS = kernels.conv(X, W)
plugin = pytest.mark.skipif("plugin" not in FACES, reason="onnxruntime < 1.24.1 has no plugin interface")
by_name = pytest.mark.skipif(VERSION < (1, 25), reason="onnxruntime < 1.25 takes a plugin as a device only")


def options(face, **entries):
    so = ort.SessionOptions()
    for name, value in entries.items():
        so.add_session_config_entry(PREFIX + name, value)
    if face == "custom_ops":
        so.register_custom_ops_library(ep.get_library_path())
    return so


def plain_session(face, model=MODEL, **entries):
    """The way of a user without our Python wrapper."""
    so = options(face, **entries)
    if face == "plugin":
        ep.register()
        so.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == EP], {})
    return ort.InferenceSession(model, so, enable_fallback=0)


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_mode_as_config_entry(face, mode):
    assert_bits(plain_session(face, mode=mode).run(None, {"x": X})[0], kernels.conv(X, W, mode=mode))


@pytest.mark.parametrize("face", FACES)
@pytest.mark.parametrize("mode", ["exact", "fast"])
def test_mode_of_the_wrapper(face, mode):
    assert_bits(run(MODEL, face, {"x": X}, mode=mode)[0], kernels.conv(X, W, mode=mode))
    with pytest.raises(ValueError, match="quick"):
        session(MODEL, face, mode="quick")


@pytest.mark.parametrize("face", FACES)
def test_unknown_value_names_itself(face):
    with pytest.raises(Exception, match=r"option mode has the unknown value 'quick' \(exact or fast\)"):
        plain_session(face, mode="quick")


@pytest.mark.parametrize("face", FACES)
@pytest.mark.skipif(VERSION < (1, 24), reason="older hosts cannot list their config entries")
def test_unknown_option_names_itself(face):
    with pytest.raises(Exception, match="unknown option 'colour'"):
        plain_session(face, colour="blue")


@plugin
def test_unknown_option_without_a_node_of_ours():
    model = graph([node("Atan", ["x"])], {"x": (np.float32, X.shape)})
    s = plain_session("plugin", model, colour="blue")
    with pytest.raises(Exception, match="unknown option 'colour'"):
        s.run(None, {"x": X})


@plugin
@by_name
def test_providers_argument_and_provider_options():
    ep.register()
    s = ort.InferenceSession(MODEL, providers=[(EP, {"mode": "fast"}), "CPUExecutionProvider"], enable_fallback=0)
    assert_bits(s.run(None, {"x": X})[0], kernels.conv(X, W, mode="fast"))
    assert_bits(ep.InferenceSession(MODEL, providers=[EP, "CPUExecutionProvider"]).run(None, {"x": X})[0], OURS)
    s = ep.InferenceSession(MODEL, None, [EP], [{"mode": "fast"}])
    assert_bits(s.run(None, {"x": X})[0], kernels.conv(X, W, mode="fast"))
    with pytest.raises(Exception, match="unknown option 'colour'"):
        ep.InferenceSession(MODEL, providers=[(EP, {"colour": "blue"})])


@plugin
def test_every_node_ours():
    so = ort.SessionOptions()
    so.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    assert_bits(run(MODEL, "plugin", {"x": X}, so)[0], OURS)


@plugin
def test_warning_names_the_config_entry():
    def log_of(*entries):
        done = python(
            f"""
            import onnxruntime as ort, onnxruntime_ep_exact as ep
            ep.register()
            so = ort.SessionOptions()
            for entry in {entries!r}:
                so.add_session_config_entry(*entry)
            so.add_provider_for_devices([d for d in ort.get_ep_devices() if d.ep_name == {EP!r}], {{}})
            ort.InferenceSession({MODEL!r}, so)
            """
        )
        return done.stderr

    assert CONFIG_KEY in log_of()
    assert EP not in log_of((CONFIG_KEY, ";".join(ep.REWRITES)))


@plugin
def test_unmodified_graph_require():
    with pytest.raises(Exception, match=r"unmodified_graph = require.*ConvBNFusion"):
        plain_session("plugin", unmodified_graph="require")
    so = options("plugin", unmodified_graph="require")
    assert_bits(session(MODEL, "plugin", so).run(None, {"x": X})[0], OURS)


def test_what_folding_can_reach():
    assert foldable(models.load(MODEL)) == []
    constant = graph([node("Conv", ["k", "w"], name="c")], {"x": (np.float32, [1])}, {"w": W, "k": X})
    assert foldable(models.load(constant)) == ["c"]
    computed = graph(
        [node("Transpose", ["k"], ["t"], "move"), node("GlobalMaxPool", ["t"], ["u"], "p"), node("Add", ["u", "x"])],
        {"x": (np.float32, [1])},
        {"k": X},
    )
    assert foldable(models.load(computed)) == ["p"]
    counted = graph(  # of integers alone, but for what is ours on the plugin only
        [
            node("Shape", ["x"], ["s"]),
            node("Mul", ["s", "two"], ["t"], "whole"),
            node("Cast", ["t"], ["f"], "widens", to=1),
            node("Sqrt", ["f"], ["r"], "root"),
            node("Cast", ["r"], name="cuts", to=7),
        ],
        {"x": (np.float32, [1])},
        {"two": np.array([2])},
    )
    assert foldable(models.load(counted)) == ["root", "cuts"]
    assert foldable(models.load(counted), "custom_ops") == []
    assert models.load(b"no model") is None


@pytest.mark.parametrize("face", FACES)
def test_options_object_used_twice(face):
    so = ep.session_options(face=face)
    for _ in range(2):
        assert_bits(ort.InferenceSession(MODEL, so, enable_fallback=0).run(None, {"x": X})[0], OURS)
        assert_bits(ep.InferenceSession(MODEL, so, face=face).run(None, {"x": X})[0], OURS)


@pytest.mark.skipif("custom_ops" not in FACES, reason="no custom ops")
def test_options_of_another_opset():
    """docs/softmax.md: the custom-op library takes Softmax by the stated opset, so a wrong statement must not pass."""
    x = X[0]
    older, newer = (graph([node("Softmax", ["x"], axis=0)], {"x": (np.float32, x.shape)}, opset=opset) for opset in (11, 17))
    so = ort.SessionOptions()
    assert_bits(run(older, "custom_ops", {"x": x}, so)[0], kernels.softmax(x.reshape(1, -1)).reshape(x.shape))
    with pytest.raises(ValueError, match=r"opset 11.*opset 17"):
        run(newer, "custom_ops", {"x": x}, so)
    assert_bits(run(newer, "custom_ops", {"x": x})[0], kernels.softmax(x, axis=0))
    with pytest.raises(Exception, match=r"option opset.*'6'"):
        plain_session("custom_ops", opset="6")


@plugin
def test_both_faces_in_one_session():
    so = ep.session_options(face="custom_ops")
    assert_bits(ep.InferenceSession(MODEL, so, face="plugin").run(None, {"x": X})[0], OURS)


def test_a_name_that_is_no_variant():
    done = python(
        """
        import os
        os.environ["EXACT_ISA"] = "avx9000"
        import numpy as np
        from onnxruntime_ep_exact import kernels
        kernels.global_max_pool(np.zeros((1, 1, 2), np.float32))
        """,
        check=False,
    )
    assert done.returncode and "avx9000" in done.stderr


# ---- errors ----

BAD_NODES = {
    "group": (node("Conv", ["x", "w"], name="c1", group=3), "group"),
    "strides": (node("Conv", ["x", "w"], name="c1", strides=[1, 1, 1]), "strides"),
    "kernel_shape": (node("Conv", ["x", "w"], name="c1", kernel_shape=[5, 5]), "kernel_shape|kernel"),
    "auto_pad": (node("Conv", ["x", "w"], name="c1", auto_pad="AROUND"), "AROUND"),
    "window": (node("MaxPool", ["x"], name="c1", kernel_shape=[99, 1]), "window|kernel|fit|output"),
}


@pytest.mark.parametrize("name", BAD_NODES)
@pytest.mark.parametrize("face", FACES)
def test_bad_nodes_name_themselves(face, name):
    bad, reason = BAD_NODES[name]
    model = graph([bad], {"x": (np.float32, [1, 4, "h", "w"])}, {"w": W})
    with pytest.raises(Exception, match=f"(?s)(c1|{bad.op_type}).*({reason})"):
        session(model, face).run(None, {"x": X})


@pytest.mark.parametrize("face", FACES)
def test_error_at_run_time_names_operator_node_and_reason(face):
    model = graph([node("Conv", ["x", "w"], name="c1")], {"x": (np.float32, None), "w": (np.float32, None)})
    s = session(model, face)
    with pytest.raises(Exception, match=f"{EP}: Conv node 'c1': .*channel"):
        s.run(None, {"x": X[:, :3], "w": W})
    assert_bits(s.run(None, {"x": X, "w": W})[0], OURS)


@pytest.mark.skipif("custom_ops" not in FACES, reason="no custom ops")
@pytest.mark.parametrize("attribute", [{"group": 1.0}, {"strides": 2}, {"auto_pad": 1}, {"pads": "x"}])
def test_attribute_of_a_wrong_type_in_the_custom_op_library(attribute):
    """The override takes ONNX Runtime's own check of attribute types away."""
    model = graph([node("Conv", ["x", "w"], name="c1", **attribute)], {"x": (np.float32, X.shape)}, {"w": W})
    with pytest.raises(Exception, match=f"c1.*{next(iter(attribute))}"):
        session(model, "custom_ops")
