"""Work shared among threads: one pool for the whole process, woken only for work that is worth it."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def in_threads(work: Callable[[T], R], parts: Sequence[T]) -> list[R]:
    """work(part) of each part, in order: the first in this thread, the others beside it.

    Where no thread can be had any more (the interpreter is ending and runs its `atexit` functions), all in this one.
    """
    others, own = [], list(parts[:1])
    for part in parts[1:]:
        try:
            others.append(_pool().submit(work, part))
        except RuntimeError:
            own.append(part)
    try:
        found = [work(part) for part in own]
    finally:
        wait(others)  # they write to arrays that an interruption here would free
    return found[:1] + [other.result() for other in others] + found[1:]


@functools.cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="catena")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child process has the pool but not its threads
