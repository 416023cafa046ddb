"""Runs models that may crash, in a process of its own.

The child answers each request (model bytes, feeds, faces) with one reply per face: an error's text, or the outputs and the
shapes that the session declared for them.
"""

import contextlib
import os
import pickle
import resource
import select
import struct
import subprocess
import sys
import tempfile

SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")
#: Seconds that a request may take; a sanitized build is slow.
PATIENCE = 120 if SANITIZED else 30
#: Bytes of address space of a child, so that a model that asks for more is refused; AddressSanitizer reserves far more, and
#: gets a limit of its own.
ADDRESSES = None if SANITIZED else 6 << 30
ENVIRONMENT = dict(os.environ)
if SANITIZED:
    ENVIRONMENT["ASAN_OPTIONS"] = (
        os.environ.get("ASAN_OPTIONS", "") + ":allocator_may_return_null=1:max_allocation_size_mb=4000"
    )


class Crash(Exception):
    """The child ended, or gave no answer in time."""


def send(stream, value):
    data = pickle.dumps(value)
    stream.write(struct.pack("<Q", len(data)) + data)
    stream.flush()


def receive(stream):
    (size,) = struct.unpack("<Q", stream.read(8))
    return pickle.loads(stream.read(size))


class Child:
    """A child process that is started when it is needed, and again after a crash."""

    process = None

    def ask(self, *request):
        if self.process is None:
            self.errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
            self.process = subprocess.Popen(
                [sys.executable, __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, env=ENVIRONMENT
            )
        try:
            send(self.process.stdin, request)
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                raise Crash(f"no answer within {PATIENCE} s")
            return receive(self.process.stdout)
        except (OSError, struct.error, EOFError, Crash) as error:
            self.process.kill()
            code = self.process.wait()
            self.errors.seek(0)
            text = self.errors.read()[-3000:].decode(errors="replace")
            self.close()
            raise Crash(f"{error if isinstance(error, Crash) else f'exit code {code}'}\n{text}") from None

    def close(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.errors.close()
            self.process = None


def answer(model, feeds, face):
    import numpy as np
    from onnxruntime_ep_exact import measure

    options = measure.options(2)
    options.log_severity_level = 4
    try:
        session = measure.session(model, face, so=options)
        names = [value.name for value in session.get_inputs()]
        outputs = session.run(None, {name: feeds[name] for name in names if name in feeds})
    except Exception as error:  # ONNX Runtime's own exception types, one per status code
        return str(error) or repr(error)
    declared = [value.shape for value in session.get_outputs()]
    return [(np.asarray(y), shape) for y, shape in zip(outputs, declared, strict=True)]


def main():
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever else is printed is no reply
    if ADDRESSES:
        resource.setrlimit(resource.RLIMIT_AS, (ADDRESSES, ADDRESSES))
    with contextlib.suppress(struct.error):  # the parent is done
        while True:
            model, feeds, faces = receive(sys.stdin.buffer)
            send(replies, {face: answer(model, feeds, face) for face in faces})


if __name__ == "__main__":
    main()
