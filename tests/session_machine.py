"""A state machine of sessions, run as a program of its own (tests/test_sessions_stateful.py): sessions are made on both
faces, run alone, in threads and in forked children, and deleted in any order, while the plugin comes and goes. Every step
is printed, so that a crash can be told from its last lines."""

import concurrent.futures
import gc
import os
import signal
import sys
import time
import traceback

import hypothesis.strategies as st
import numpy as np
import onnxruntime as ort
from faces import FACES, graph, node
from helpers import assert_bits, examples, kernels, scaled_error
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)
from onnxruntime_ep_exact import InferenceSession, demo, get_ep_name, measure, register

RNG = np.random.default_rng(5)
WEIGHT, BIAS = RNG.standard_normal((5, 4, 3, 3), np.float32), RNG.standard_normal(5, np.float32)
MATRIX = RNG.standard_normal((9, 7), np.float32)
DEMO = demo.model()


def feeds(*shape):
    return lambda rng: {"x": rng.standard_normal(tuple(n or rng.integers(1, 12) for n in shape), np.float32)}


def resize_feeds(rng):
    return feeds(2, 3, 0, 0)(rng) | {"sizes": np.array([2, 3, *rng.integers(1, 15, 2)])}


class Model:
    """A serialized model, random feeds for it, and the bits that they must give."""

    def __init__(self, data, draw, want):
        self.data, self.draw, self.want = data, draw, want


def one_node(op, inputs, weights, want, draw, more=None, **attributes):
    rank = len(draw(np.random.default_rng(0))["x"].shape)
    declared = {"x": (np.float32, [f"d{i}" for i in range(rank)]), **(more or {})}
    return Model(graph([node(op, inputs, **attributes)], declared, weights), draw, want)


MODELS = {
    "conv": one_node(
        "Conv",
        ["x", "w", "b"],
        {"w": WEIGHT, "b": BIAS},
        lambda f, mode: kernels.conv(f["x"], WEIGHT, BIAS, pads=[1, 1, 1, 1], mode=mode),
        feeds(0, 4, 0, 0),
        pads=[1, 1, 1, 1],
    ),
    "matmul": one_node(
        "MatMul", ["x", "w"], {"w": MATRIX}, lambda f, mode: kernels.matmul(f["x"], MATRIX, mode=mode), feeds(0, 0, 9)
    ),
    "softmax": one_node(
        "Softmax", ["x"], {}, lambda f, mode: kernels.softmax(f["x"], axis=1, mode=mode), feeds(0, 0, 0), axis=1
    ),
    "resize": one_node(
        "Resize",
        ["x", "", "", "sizes"],
        {},
        lambda f, mode: kernels.resize(f["x"], sizes=f["sizes"], mode="cubic"),
        resize_feeds,
        {"sizes": (np.int64, [4])},
        mode="cubic",
    ),
    "demo": Model(DEMO, lambda rng: {"image": rng.random((rng.integers(1, 3), 3, 64, 64), np.float32)}, None),
}
if ort.__version__.startswith("1.17"):  # leaves a Resize without roi to ONNX Runtime
    del MODELS["resize"]


class Session:
    """A session of ours and how it was made; `known` are the bits of its model that other sessions gave."""

    def __init__(self, model, face, mode, threads, options):
        self.name, self.model, self.face, self.mode, self.threads = model, MODELS[model], face, mode, threads
        self.session = InferenceSession(self.model.data, options, face=face, mode=mode)

    def check(self, seed):
        given = self.model.draw(np.random.default_rng(seed))
        want = self.model.want(given, self.mode) if self.model.want else known(seed, given)
        got = self.session.run(None, given)[0]
        label = f"{self.name} {self.face} {self.mode} threads={self.threads} seed={seed}"
        if self.mode == "exact":
            assert_bits(got, want, label)
        else:
            assert scaled_error(got, want) < 1e-4, label


_known = {}


def known(seed, given):
    """What the demonstration network gives in exact mode, from one session."""
    if "session" not in _known:
        _known["session"] = InferenceSession(DEMO, measure.options(1), face="custom_ops")
    return _known.setdefault(seed, _known["session"].run(None, given)[0])


def fork_and(function):
    """Calls the function in a forked child, which must end well within a minute."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        try:
            function()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(1)
    for _ in range(600):
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            assert status == 0, f"the child ended with status {status}"
            return
        time.sleep(0.1)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    raise AssertionError("the forked child hangs")


def registered():
    return "plugin" in FACES and any(device.ep_name == get_ep_name() for device in ort.get_ep_devices())


seeds = st.integers(0, 7)
threads = st.sampled_from((1, 1, 3))


class Sessions(RuleBasedStateMachine):
    """The operations."""

    sessions = Bundle("sessions")

    def __init__(self):
        super().__init__()
        self.options = {}  # (face, mode, threads) -> options that have been used
        print("-- new machine", flush=True)

    @rule(
        target=sessions,
        model=st.sampled_from(sorted(MODELS)),
        face=st.sampled_from(FACES),
        mode=st.sampled_from(("exact", "exact", "fast")),
        threads=threads,
        again=st.booleans(),
    )
    def create(self, model, face, mode, threads, again):
        print("create", model, face, mode, threads, again, flush=True)
        options = self.options.get((face, mode, threads)) if again else None
        options = options or measure.options(threads)
        self.options[face, mode, threads] = options
        return Session(model, face, mode, threads, options)

    @initialize(target=sessions, names=st.lists(st.sampled_from(sorted(MODELS)), min_size=2, max_size=2), threads=threads)
    def begin(self, names, threads):
        print("begin", names, threads, flush=True)
        faces = (FACES * 2)[:2]
        made = [
            Session(name, face, "exact", threads, measure.options(threads)) for name, face in zip(names, faces, strict=True)
        ]
        return multiple(*made)

    @rule(session=sessions, seed=seeds)
    def run(self, session, seed):
        print("run", session.name, session.face, seed, flush=True)
        session.check(seed)

    @rule(some=st.lists(sessions, min_size=1, max_size=3), seed=seeds)
    def run_in_threads(self, some, seed):
        print("threads", [s.name for s in some], seed, flush=True)
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda i: some[i % len(some)].check((seed + i) % 8), range(8)))

    @rule(session=consumes(sessions))
    def delete(self, session):
        print("delete", session.name, session.face, flush=True)
        del session.session
        gc.collect()

    @rule(session=sessions, seed=seeds)
    def fork(self, session, seed):
        """Only sessions without threads of their own survive a fork: threads do not."""
        if session.threads > 1:
            return
        print("fork", session.name, session.face, session.mode, flush=True)
        if not session.model.want:
            known(seed, session.model.draw(np.random.default_rng(seed)))

        def child():
            session.check(seed)
            Session(session.name, session.face, session.mode, 1, measure.options(1)).check(seed)

        fork_and(child)

    @precondition(lambda self: registered())
    @rule()
    def unregister(self):
        """Sessions live on; options hold the devices of the registration and do not."""
        print("unregister", flush=True)
        self.options = {key: value for key, value in self.options.items() if key[0] != "plugin"}
        ort.unregister_execution_provider_library(get_ep_name())

    @precondition(lambda self: "plugin" in FACES and not registered())
    @rule()
    def register(self):
        print("register", flush=True)
        register()

    def teardown(self):
        print("-- end", flush=True)
        gc.collect()


if __name__ == "__main__":
    from hypothesis import Phase, settings

    # What was printed tells a failure; smaller sequences would take minutes to find.
    once = settings(examples(12), stateful_step_count=25, phases=[Phase.generate])
    run_state_machine_as_test(Sessions, settings=once)
