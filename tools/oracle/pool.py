"""Evaluates cases in worker processes, one per job; a crash or a hang of one costs only its case."""

import queue
import sys
import threading
from pathlib import Path

from .cases import describe
from .wire import Child, Died, Late


class Worker:
    """One child process, started again after a crash."""

    def __init__(self, python=None):
        self.command = [sys.executable, str(Path(__file__).parent / "worker.py"), python or sys.executable]
        self.child = None

    def ask(self, message, seconds=120.0):
        if self.child is None:
            self.child = Child(self.command)
        try:
            return self.child.ask(message, seconds)
        except (Died, Late):
            self.child = None
            raise

    def about(self):
        """Version of ONNX Runtime's CPU provider, and the machine."""
        return self.ask(None)

    def evaluate(self, case, recorded=None):
        """{"row", "ort"} of a case."""
        try:
            answer = self.ask((case, recorded))
        except (Died, Late) as error:
            # ONNX Runtime's provider has a process of its own, so this is ours.
            fault = f"our process: {type(error).__name__} {error}".rstrip()
            row = {**describe(case), "bits": False, "same_as_ort": False, "scaled_error": 0.0, "kinds": []}
            return {"row": {**row, "reference": "?", "ort": "?", "unexplained": [fault]}, "ort": None}
        if "fault" in answer:
            raise RuntimeError(f"{case.id}: {answer['fault']}")
        return answer

    def close(self):
        if self.child:
            self.child.end()


def evaluate(cases, jobs, python=None):
    """Yields (case, answer) for (case, recorded result or None) pairs, in the order in which they are done."""
    todo, done = queue.Queue(maxsize=4 * jobs), queue.Queue()
    stop = threading.Event()

    def work():
        worker = Worker(python)
        try:
            while (pair := todo.get()) is not None:
                done.put((pair[0], worker.evaluate(*pair)))
        except Exception as error:
            done.put(error)
        finally:
            worker.close()
            done.put(None)

    def feed():
        for pair in cases:
            while not stop.is_set():
                try:
                    todo.put(pair, timeout=0.2)
                    break
                except queue.Full:
                    continue
            if stop.is_set():
                break
        for _ in range(jobs):
            todo.put(None)

    threads = [threading.Thread(target=t, daemon=True) for t in (feed, *[work] * jobs)]
    for thread in threads:
        thread.start()
    running = jobs
    try:
        while running:
            item = done.get()
            if isinstance(item, Exception):
                raise item
            if item is None:
                running -= 1
            else:
                yield item
    finally:
        stop.set()
