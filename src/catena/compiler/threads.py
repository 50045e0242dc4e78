"""Worker threads of the process, which sleep until another thread requests their help. That thread
does not wait for them. The work is taken piece by piece from a shared counter, so that a worker
that wakes late finds less to do, or nothing, and delays nobody.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress


def request_helpers(work: Callable[[], object], helpers: int) -> None:
    """Let up to `helpers` workers call work() as well, as soon as they are awake; none where there
    is one per core already.
    """
    for _ in range(helpers):
        worker = _crew.worker()
        if worker is None:
            return
        worker.begin(work)


class _Worker:
    """A thread that sleeps on a lock between its tasks, because a lock wakes it in a fifth of the
    time that a queue takes.
    """

    def __init__(self) -> None:
        self._go = threading.Lock()
        self._go.acquire()
        threading.Thread(target=self._serve, name="catena", daemon=True).start()

    def begin(self, work: Callable[[], object]) -> None:
        """Let the worker call work(), and then be idle again."""
        self._task = work
        self._go.release()

    def _serve(self) -> None:
        while True:
            self._go.acquire()
            with suppress(BaseException):  # the caller does the rest, and meets the same fault
                self._task()
            del self._task
            _crew.idle.append(self)


class _Crew:
    """The workers of a process, and those of them that are idle."""

    def __init__(self) -> None:
        self.idle: list[_Worker] = []
        self._count, self._starting = 1, threading.Lock()  # this thread is one of them

    def worker(self) -> _Worker | None:
        """Return an idle worker, or a new one while there are fewer than cores; None where neither
        is possible.
        """
        try:
            return self.idle.pop()
        except IndexError:
            pass
        with self._starting:
            if self._count >= (os.cpu_count() or 1):
                return None
            try:
                worker = _Worker()
            except RuntimeError:  # the interpreter is ending
                return None
            self._count += 1
            return worker


_crew = _Crew()


def _again() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    # a child process has the workers but not their threads
    os.register_at_fork(after_in_child=_again)
