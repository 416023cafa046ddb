"""ort-exact exec: applications that know nothing of us (docs/exec.md)."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
import venv
from pathlib import Path

import numpy as np
import pytest
from faces import EP, FACES, graph, node
from onnxruntime_ep_exact import kernels
from onnxruntime_ep_exact.measure import CPU

F = np.float32
W = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(F)
NODES = [node("Conv", ["x", "w"], ["a"], "conv"), node("Abs", ["a"], ["b"], "abs"), node("Transpose", ["b"], ["y"], "move")]
MODEL = graph(NODES, {"x": (F, ["n", 3, 6, 8])}, {"w": W})
PROVIDER = EP if FACES[0] == "plugin" else CPU
#: With a node that is not guaranteed.
CHANCE = graph([*NODES[:2], node("RandomUniformLike", ["b"], ["y"], "chance")], {"x": (F, ["n", 3, 6, 8])}, {"w": W})


def ort_exact(*arguments, env=None, **kwargs):
    command = [sys.executable, "-m", "onnxruntime_ep_exact.cli", "exec", *map(str, arguments)]
    return subprocess.run(
        command, capture_output=True, text=True, env={**os.environ, **(env or {})}, timeout=900, check=False, **kwargs
    )


@pytest.fixture
def app(tmp_path):
    """Runs the text of an application, in a folder with a space in its name, where it finds m.onnx and chance.onnx."""
    folder = tmp_path / "an app"
    folder.mkdir()
    (folder / "m.onnx").write_bytes(MODEL)
    (folder / "chance.onnx").write_bytes(CHANCE)

    def run(text, *options, arguments=(), python=(sys.executable,), **kwargs):
        (folder / "app.py").write_text(textwrap.dedent(text), "utf-8")
        return ort_exact(*options, "--", *python, "app.py", *arguments, cwd=folder, **kwargs)

    run.folder = folder
    return run


def heads(done):
    """(sessions, processes, exact sessions, nodes, by us, by nature, not guaranteed) of the summary, which is the last text."""
    (line,) = (line for line in done.stderr.splitlines() if line.startswith("ort-exact: "))
    return [int(n) for n in re.findall(r"\d+", line)]


def lines(done):
    return done.stderr[done.stderr.rindex("ort-exact: ") :].splitlines()[1:]


# ---- sessions ----

WAYS = """
    import sys
    import numpy as np
    import onnxruntime as ort
    from onnxruntime import InferenceSession
    from onnxruntime.capi.onnxruntime_inference_collection import InferenceSession as Inner

    class Mine(InferenceSession):
        def __init__(self, path):
            super().__init__(path, providers=["CPUExecutionProvider"])
            self.mine = True

    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    data = open("m.onnx", "rb").read()
    cpu = {"arena_extend_strategy": "kSameAsRequested"}
    sessions = [
        ort.InferenceSession("m.onnx"),
        InferenceSession("m.onnx", options, ["CPUExecutionProvider"]),
        ort.InferenceSession(data, sess_options=options, providers=[("CPUExecutionProvider", cpu)]),
        Inner(path_or_bytes=data, providers=["CPUExecutionProvider"], provider_options=[cpu]),
        Mine("m.onnx"),
        ort.InferenceSession("m.onnx", providers=["CUDAExecutionProvider", "CPUExecutionProvider"]),
    ]
    sessions[0].set_providers(["CPUExecutionProvider"])
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 8)).astype(np.float32)
    assert all(isinstance(s, ort.InferenceSession) for s in sessions) and sessions[4].mine
    print(*[s.get_providers()[0] for s in sessions])
    print(*[s.run(None, {"x": x})[0].tobytes().hex() for s in sessions])
    sys.exit(int(sys.argv[1]))
"""


def test_every_way_to_make_a_session(app):
    done = app(WAYS, arguments=["7"])
    first, second = done.stdout.splitlines()
    assert done.returncode == 7 and set(first.split()) == {PROVIDER}
    x = np.random.default_rng(0).standard_normal((2, 3, 6, 8)).astype(F)
    want = np.transpose(np.abs(kernels.conv(x, W)))
    assert set(second.split()) == {np.ascontiguousarray(want).tobytes().hex()}
    sessions, processes, exact, nodes, by_us, by_nature, inexact = heads(done)
    assert (sessions, processes, exact, nodes, inexact) == (6, 1, 6, 18, 0) and by_us >= 6 and by_us + by_nature == 18
    labels = [line.split(": 3 nodes: ")[0].strip() for line in lines(done)]
    assert [label for label in labels if label == "m.onnx"] == ["m.onnx"] * 4
    assert len([label for label in labels if re.fullmatch(rf"{len(MODEL)} bytes, SHA-256 [0-9a-f]{{12}}", label)]) == 2
    assert sum("; left out: CUDAExecutionProvider" in line for line in lines(done)) == 1


@pytest.mark.parametrize("face", FACES)
def test_options(app, face):
    """As options and as environment variables; what the application gives is kept otherwise."""
    text = """
        import onnxruntime as ort
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        session = ort.InferenceSession("m.onnx", options)
        print(session.get_session_options().intra_op_num_threads, *session.get_providers())
    """
    provider = f"{EP} " if face == "plugin" else ""
    for arguments, env in (
        (["--face", face, "--threads", "3"], {}),
        ([], {"EXACT_FACE": face, "EXACT_THREADS": "3"}),
        (["--face", face, "--threads", "3"], {"EXACT_FACE": "nonsense", "EXACT_THREADS": "5"}),
    ):
        done = app(text, *arguments, env=env)
        assert done.stdout == f"3 {provider}{CPU}\n", done.stderr
    assert app(text, "--face", face).stdout.startswith("1 ")
    fast = app(text, "--mode", "fast", "--face", face)
    assert heads(fast)[2] == 0 and heads(fast)[6] == 1  # the Conv


@pytest.mark.parametrize(
    "name, value", [("MODE", "quick"), ("FACE", "x"), ("THREADS", "-1"), ("THREADS", "9999"), ("STRICT", "2")]
)
def test_wrong_variables(app, name, value):
    done = app("import onnxruntime as ort; ort.InferenceSession('m.onnx')", env={f"EXACT_{name}": value})
    assert done.returncode == 1 and f"EXACT_{name} must be" in done.stderr


def test_strict(app):
    text = """
        import onnxruntime as ort
        print(ort.InferenceSession("m.onnx").get_inputs()[0].name)
        try:
            ort.InferenceSession("chance.onnx")
        except RuntimeError as error:
            print(type(error).__name__)
    """
    done = app(text)
    assert done.stdout == "x\n" and heads(done)[2] == 1 and heads(done)[6] == 1
    done = app(text, "--strict")
    assert done.stdout == "x\nNotGuaranteedError\n" and heads(done)[2] == 1
    assert lines(done)[1].endswith("1 not guaranteed, refused")


def test_errors_are_the_applications(app):
    text = """
        import onnxruntime as ort
        for model in ("none.onnx", b"no model", 7):
            try:
                ort.InferenceSession(model)
            except Exception as error:
                print(type(error).__name__)
    """
    done = app(text)
    (app.folder / "app.py").write_text(textwrap.dedent(text))
    plain = subprocess.run([sys.executable, "app.py"], cwd=app.folder, capture_output=True, text=True, check=False)
    assert done.stdout == plain.stdout and len(plain.stdout.split()) == 3
    assert [line.strip().split(": ")[0] for line in lines(done)] == [
        "none.onnx",
        lines(done)[1].strip().split(": ")[0],
        "a int",
    ]
    assert all("not audited (failed: " in line for line in lines(done))


def test_without_audit(app, tmp_path):
    text = "import onnxruntime as ort; print(ort.InferenceSession('m.onnx').get_providers()[0])"
    done = app(text, "--no-audit")
    assert done.stdout == f"{PROVIDER}\n"
    assert lines(done) == ["  m.onnx: not audited (EXACT_AUDIT=0)"]
    (tmp_path / "onnx.py").write_text("raise ImportError('not here')")
    done = app(text, env={"PYTHONPATH": str(tmp_path)})
    assert (
        lines(done) == ["  m.onnx: not audited (the audit needs the onnx package: pip install onnx)"] and done.returncode == 0
    )
    done = app(text, "--strict", env={"PYTHONPATH": str(tmp_path)})
    assert done.returncode == 1 and "ImportError: the audit needs the onnx package" in done.stderr


# ---- processes ----


@pytest.mark.parametrize("how", ["spawn", "fork", "forkserver"])
def test_multiprocessing(app, how):
    text = f"""
        import multiprocessing
        import os
        import onnxruntime as ort

        def work(number):
            session = ort.InferenceSession("m.onnx")
            return os.getpid(), session.get_providers()[0]

        if __name__ == "__main__":
            with multiprocessing.get_context({how!r}).Pool(1, maxtasksperchild=1) as pool:
                print(*[name for _, name in pool.map(work, [0, 1], chunksize=1)])
            ort.InferenceSession("chance.onnx")
    """
    done = app(text)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == [PROVIDER] * 2
    assert heads(done)[:3] == [3, 3, 2]


def test_fork_while_another_thread_makes_a_session(app):
    """The child is not held up by a lock that nobody in it will release, and its standard error is the application's."""
    text = """
        import os
        import sys
        import threading
        import onnxruntime as ort
        from onnxruntime_ep_exact.recording import Recording

        inside, done = threading.Event(), threading.Event()

        def record():
            with Recording(ort.SessionOptions()):
                inside.set()
                done.wait(60)  # and then it fails, for want of a session

        thread = threading.Thread(target=record)
        threading.excepthook = lambda _: None
        thread.start()
        inside.wait()
        child = os.fork()
        if child == 0:
            ort.InferenceSession("m.onnx")
            print("from the child", file=sys.stderr, flush=True)
            os._exit(3)
        status = os.waitpid(child, 0)[1]
        done.set()
        thread.join()
        print(os.waitstatus_to_exitcode(status))
    """
    done = app(text)
    assert done.stdout == "3\n" and done.stderr.startswith("from the child\n"), done.stderr
    assert heads(done)[:3] == [1, 2, 1]


def test_processes_started_by_others(app):
    text = """
        import subprocess, sys
        code = "import onnxruntime as ort; ort.InferenceSession('m.onnx')"
        subprocess.run(["sh", "-c", '"$0" -c "$1"; exit 0', sys.executable, code], check=True)
        subprocess.run([sys.executable, "-E", "-c", code], check=True)
    """
    assert heads(app(text))[:3] == [1, 1, 1]


def test_exit_codes(app):
    assert app("import sys; sys.exit('no')").returncode == 1
    assert app("import os, signal; os.kill(os.getpid(), signal.SIGKILL)").returncode == 128 + 9
    assert app("import os, onnxruntime as o; o.InferenceSession('m.onnx'); os._exit(5)").returncode == 5
    assert ort_exact("--", "no-such-command-anywhere").returncode == 127
    assert ort_exact("--", str(app.folder)).returncode == 126
    assert ort_exact().returncode == 2
    assert ort_exact("--mode", "quick", "--", "true").returncode == 2


def test_a_signal_is_passed_on(app):
    (app.folder / "app.py").write_text("import time; open('ready', 'w').close(); time.sleep(60)")
    command = [sys.executable, "-m", "onnxruntime_ep_exact.cli", "exec", "--", sys.executable, "app.py"]
    with subprocess.Popen(command, cwd=app.folder, stderr=subprocess.PIPE) as child:
        end = time.monotonic() + 60
        while not (app.folder / "ready").exists() and time.monotonic() < end:
            time.sleep(0.05)
        child.send_signal(signal.SIGTERM)
        assert child.wait(60) == 128 + signal.SIGTERM


def test_output(app):
    """Standard output, input and error are the application's; the summary is the last of standard error, or in a file."""
    text = """
        import sys
        import onnxruntime as ort
        ort.InferenceSession("m.onnx")
        print(sys.stdin.read(), end="")
        print("problem", file=sys.stderr)
    """
    done = app(text, input="some text\n")
    assert done.stdout == "some text\n" and done.stderr.startswith("problem\nort-exact: 1 session in 1 process, 1 exact in")
    done = app(text, "--summary", "a summary.txt", input="")
    assert done.stdout == "" and done.stderr == "problem\n"
    assert (app.folder / "a summary.txt").read_text().startswith("ort-exact: 1 session in 1 process")
    done = app(text, "--summary", "none/s.txt", input="")
    assert done.returncode == 0 and "Error: " in done.stderr
    assert "no session was made" in app("import onnxruntime").stderr
    assert "no Python of the command imported onnxruntime" in app("print()").stderr
    assert "no Python of the command imported onnxruntime" in app(text, python=(sys.executable, "-E"), input="").stderr


def test_arguments_are_the_applications(app):
    done = app("import sys; print(sys.argv[1:])", arguments=["--help", "--mode", "x", "--", "-h"])
    assert done.stdout == "['--help', '--mode', 'x', '--', '-h']\n"
    done = ort_exact(sys.executable, "-c", "import sys; print(sys.argv)", "--json")
    assert done.stdout == "['-c', '--json']\n"


# ---- the hook ----


def test_another_sitecustomize_runs_too(app, tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import builtins; builtins.marked = __name__; ours = False")
    text = """
        import sys
        import onnxruntime as ort
        import sitecustomize
        print(marked, sitecustomize.ours, sitecustomize.__file__)
        ort.InferenceSession("m.onnx")
    """
    done = app(text, env={"PYTHONPATH": str(tmp_path)})
    assert done.stdout == f"sitecustomize False {tmp_path / 'sitecustomize.py'}\n" and heads(done)[:3] == [1, 1, 1]
    (tmp_path / "sitecustomize.py").write_text("1 / 0")
    done = app("print(1)", env={"PYTHONPATH": str(tmp_path)})
    plain = subprocess.run(
        [sys.executable, "-c", "print(1)"],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.stdout, done.returncode) == (plain.stdout, plain.returncode)
    assert "ZeroDivisionError" in done.stderr and "ZeroDivisionError" in plain.stderr


def test_onnxruntime_is_itself_otherwise(app):
    text = """
        import importlib, importlib.resources, pickle
        import onnxruntime as ort
        print(ort.__spec__.loader.__class__.__module__ != "sitecustomize", ort.__loader__ is ort.__spec__.loader)
        print(importlib.resources.files("onnxruntime").joinpath("__init__.py").is_file())
        print(ort.InferenceSession.__mro__[2].__module__)
        import onnxruntime.capi.onnxruntime_pybind11_state
        importlib.reload(ort)
        print(ort.InferenceSession("m.onnx").__class__.__module__)
    """
    done = app(text)
    assert done.stdout.split() == [
        "True",
        "True",
        "True",
        "onnxruntime.capi.onnxruntime_inference_collection",
        "onnxruntime_ep_exact.executing",
    ], done.stderr


def test_a_python_without_the_package(app, tmp_path):
    """A virtual environment with another onnxruntime alone."""
    venv.create(tmp_path / "empty", with_pip=False)
    (tmp_path / "onnxruntime.py").write_text("print('imported')")
    python = tmp_path / "empty" / "bin" / "python"
    shell = ("sh", "-c", 'PYTHONPATH="$PYTHONPATH:$0" exec "$@"', tmp_path, python)
    done = app("import onnxruntime", python=shell)
    assert done.returncode == 1 and done.stdout == "imported\n"
    assert f"ort-exact exec: {python} has no onnxruntime-ep-exact that works" in done.stderr


# ---- an application ----


@pytest.fixture(scope="module")
def picture(tmp_path_factory):
    from PIL import Image, ImageDraw, ImageFont

    path = tmp_path_factory.mktemp("a picture") / "text.png"
    image = Image.new("RGB", (480, 200), "white")
    draw = ImageDraw.Draw(image)
    draw.text((20, 20), "reproducible", fill="black", font=ImageFont.load_default(size=40))
    draw.text((30, 110), "on every machine 2026", fill="black", font=ImageFont.load_default(size=32))
    image.save(path)
    return path


def test_rapidocr(picture):
    """Reads an image with three networks. Plain onnxruntime reads the same text; with us the boxes, and the scores, have the
    same bits for 1, 2 and 7 threads and for every instruction set."""
    command = [sys.executable, str(Path(__file__).parent / "ocr_app.py"), str(picture)]
    plain = subprocess.run(command, capture_output=True, text=True, timeout=900, check=False)
    assert plain.returncode == 0, plain.stderr
    want = json.loads(plain.stdout)
    assert want["texts"] == ["reproducible", "on every machine 2026"]
    runs = [*((isa, 2) for isa in kernels.isa_names()), (kernels.isa(), 1), (kernels.isa(), 7)]
    outputs = {}
    for isa, threads in runs:
        done = ort_exact("--threads", threads, "--", *command, env={"EXACT_ISA": isa})
        assert done.returncode == 0, done.stderr
        sessions, processes, *_, nodes, by_us, by_nature, inexact = heads(done)
        assert (sessions, processes) == (3, 1) and by_us > 200 and by_us + by_nature + inexact == nodes
        outputs[isa, threads] = json.loads(done.stdout)
    assert all(output["texts"] == want["texts"] for output in outputs.values())
    for key in ("boxes", "scores"):
        assert len({json.dumps(output[key]) for output in outputs.values()}) == 1, key
