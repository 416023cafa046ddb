"""Registration, unregistration, threads, forks: each in a process of its own, which must end without a crash."""

import pytest
from faces import FACES, python

plugin = pytest.mark.skipif("plugin" not in FACES, reason="onnxruntime < 1.24.1 has no plugin interface")

SETUP = """
import concurrent.futures, gc, os, sys
import numpy as np, onnxruntime as ort, onnxruntime_ep_exact as ep
from onnxruntime_ep_exact import demo, kernels, measure
MODEL = demo.model()
FEEDS = {"image": np.random.default_rng(0).random((2, 3, 64, 64), dtype=np.float32)}
def check(session, want=[]):
    got = [value.tobytes() for value in session.run(None, FEEDS)]
    want or want.append(got)
    assert got == want[0]
"""


@plugin
def test_unregister_while_a_session_lives():
    python(
        SETUP
        + """
ep.register()
s = ep.InferenceSession(MODEL, face="plugin")
check(s)
ort.unregister_execution_provider_library(ep.get_ep_name())
check(s)
del s
gc.collect()
for _ in range(3):
    ep.register()
    ep.register()
    check(ep.InferenceSession(MODEL, face="plugin"))
    ort.unregister_execution_provider_library(ep.get_ep_name())
"""
    )


@pytest.mark.parametrize("face", FACES)
def test_concurrent_runs_and_sessions(face):
    python(
        SETUP
        + f"""
sessions = [ep.InferenceSession(MODEL, measure.options(n), face={face!r}) for n in (1, 2, 3)]
check(sessions[0])
with concurrent.futures.ThreadPoolExecutor(8) as pool:
    list(pool.map(lambda i: check(sessions[i % 3]), range(60)))
    list(pool.map(lambda i: check(ep.InferenceSession(MODEL, measure.options(1), face={face!r})), range(24)))
"""
    )


@pytest.mark.parametrize("face", FACES)
def test_fork(face):
    python(
        SETUP
        + f"""
s = ep.InferenceSession(MODEL, measure.options(1), face={face!r})
check(s)
child = os.fork()
if child == 0:
    check(s)
    check(ep.InferenceSession(MODEL, measure.options(1), face={face!r}))
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
check(s)
"""
    )


@pytest.mark.parametrize("face", FACES)
def test_memory_does_not_grow(face):
    python(
        SETUP
        + f"""
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
s = ep.InferenceSession(MODEL, measure.options(2), face={face!r})
for _ in range(200):
    check(s)
before = resident()
for _ in range(2000):
    check(s)
assert resident() - before < 20e6, resident() - before
for _ in range(20):
    check(ep.InferenceSession(MODEL, measure.options(1), face={face!r}))
gc.collect()
before = resident()
for _ in range(100):
    check(ep.InferenceSession(MODEL, measure.options(1), face={face!r}))
gc.collect()
assert resident() - before < 20e6, resident() - before
"""
    )
