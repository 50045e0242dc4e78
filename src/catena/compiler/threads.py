"""Work shared among threads: workers for the whole process, which sleep until there is work that is worth it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_threads(work: Callable[[T], R], parts: Sequence[T]) -> list[R]:
    """work(part) of each part, in order: the first in this thread, the others beside it.

    Where no worker is idle and none can be had any more, because there is one per core or the interpreter is ending, in this one.
    """
    taken, alone = [], []
    for k in range(1, len(parts)):
        worker = _crew.worker()
        if worker is None:
            alone.append(k)
        else:
            worker.begin(work, parts[k])
            taken.append((k, worker))
    found: dict[int, Any] = {}
    try:
        for k in (0, *alone)[: len(parts)]:
            found[k] = work(parts[k])
    finally:
        for k, worker in taken:  # they write to arrays that an interruption here would free
            found[k] = worker.end()
            _crew.idle.append(worker)
    for result in found.values():
        if isinstance(result, _Failure):
            raise result.error
    return [found[k] for k in range(len(parts))]


class _Failure:
    """What went wrong in another thread."""

    def __init__(self, error: BaseException):
        self.error = error


class _Worker:
    """A thread that sleeps on a lock between its tasks: a lock wakes it in a fifth of the time that a queue takes."""

    def __init__(self) -> None:
        self._go, self._done = threading.Lock(), threading.Lock()
        self._found: Any = None
        self._go.acquire()
        self._done.acquire()
        threading.Thread(target=self._serve, name="catena", daemon=True).start()

    def begin(self, work: Callable[[Any], Any], part: Any) -> None:
        """Let it do work(part)."""
        self._task = work, part
        self._go.release()

    def end(self) -> Any:
        """Wait for it: what it found, or a `_Failure`."""
        self._done.acquire()
        found, self._found = self._found, None
        return found

    def _serve(self) -> None:
        while True:
            self._go.acquire()
            work, part = self._task
            try:
                self._found = work(part)
            except BaseException as error:
                self._found = _Failure(error)
            del self._task, work, part
            self._done.release()


class _Crew:
    """The workers of a process, and those of them that are idle."""

    def __init__(self) -> None:
        self.idle: list[_Worker] = []
        self._hired, self._hiring = 1, threading.Lock()  # this thread is one

    def worker(self) -> _Worker | None:
        """A worker with nothing to do; a new one while there are fewer than cores; none where that fails."""
        try:
            return self.idle.pop()
        except IndexError:
            pass
        with self._hiring:
            if self._hired >= (os.cpu_count() or 1):
                return None
            try:
                worker = _Worker()
            except RuntimeError:  # the interpreter is ending
                return None
            self._hired += 1
            return worker


_crew = _Crew()


def _again() -> None:
    global _crew
    _crew = _Crew()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_again)  # a child process has the workers but not their threads
