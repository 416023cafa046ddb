"""Messages to a child process that may crash or hang. Standard library alone: another interpreter imports it too."""

import contextlib
import os
import pickle
import select
import struct
import subprocess
import sys
import time

_HEAD = struct.Struct("<Q")


class Died(Exception):
    """The child ended; the text says how."""


class Late(Exception):
    """The child did not answer in time, and was stopped."""


class Child:
    """A process that answers one message after another."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)

    def ask(self, message, seconds=60.0):
        """The answer to a message. Raises Died or Late; the child is gone then."""
        payload = pickle.dumps(message, protocol=4)
        try:
            self.process.stdin.write(_HEAD.pack(len(payload)) + payload)
            self.process.stdin.flush()
            end = time.monotonic() + seconds
            (length,) = _HEAD.unpack(self._read(_HEAD.size, end))
            return pickle.loads(self._read(length, end))
        except BrokenPipeError:
            raise Died(self.end()) from None

    def _read(self, count, end):
        fd, parts = self.process.stdout.fileno(), []
        while count:
            if not select.select([fd], [], [], max(0.0, end - time.monotonic()))[0]:
                self.end()
                raise Late
            part = os.read(fd, min(count, 1 << 20))
            if not part:
                raise Died(self.end())
            parts.append(part)
            count -= len(part)
        return b"".join(parts)

    def end(self):
        """Stops the child; how it ended."""
        for pipe in (self.process.stdin, self.process.stdout):
            with contextlib.suppress(OSError):
                pipe.close()
        try:
            code = self.process.wait(1.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        return f"signal {-code}" if code < 0 else f"exit code {code}"


def serve(handle):
    """The child's side: answers until its input ends. What libraries print goes to the error stream."""
    source, sink = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while head := source.read(_HEAD.size):
        payload = pickle.dumps(handle(pickle.loads(source.read(_HEAD.unpack(head)[0]))), protocol=4)
        sink.write(_HEAD.pack(len(payload)) + payload)
        sink.flush()
