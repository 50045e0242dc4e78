"""Engines, which run the shards of a study in the threads of this process, in processes, or as
tasks of a Dask cluster.

Each engine yields shards as they are done; this process alone writes them. A task is a study and a
span of runs; a worker keeps the machine code of the last study in memory, and reads it from the
cache on disk the next time.
"""

from __future__ import annotations

import os
import pickle
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import get_context
from typing import Any

import numpy as np

from ..errors import StudyError
from .experiment import Block, Experiment
from .specification import Specification

Span = tuple[int, int, int]  # index of the shard, its first run, the run after its last
Tell = Callable[[int], None]  # called with the number of further runs that are done
# Tasks per worker (in threads: further shards) submitted ahead; their results wait in memory.
QUEUED_PER_WORKER = 2
SCHEDULER_TIMEOUT = "10s"  # how long to wait for a Dask scheduler or worker
MAX_RESTARTS = 3  # how often a pool whose processes died is started again

_experiments: dict[str, Experiment] = {}


def experiment_of(study: Specification) -> Experiment:
    """Return the experiment of a study; the last one is cached for the next shard."""
    name = study.fingerprint
    if name not in _experiments:
        _experiments.clear()
        _experiments[name] = Experiment(study)
    return _experiments[name]


def run_shard(study: Specification, first: int, last: int) -> Block:
    """Compute all runs of one shard, from `first` up to but without `last`, block by block."""
    experiment = experiment_of(study)
    return join_blocks([experiment.block(*span) for span in experiment.blocks(first, last)])


def join_blocks(blocks: list[Block]) -> Block:
    """Return consecutive blocks as one."""
    if len(blocks) == 1:
        return blocks[0]
    names = blocks[0].measures
    return Block(
        blocks[0].first,
        np.concatenate([b.variables for b in blocks]),
        {n: np.concatenate([b.measures[n] for b in blocks]) for n in names},
        [said for b in blocks for said in b.failure],
    )


def in_threads(
    study: Specification, spans: Sequence[Span], threads: int, tell: Tell
) -> Iterator[tuple[int, Block]]:
    """Yield (index, block) of the shards in order, with the blocks of each computed by `threads`
    threads.

    The next shards are computed while one is written.
    """
    experiment = experiment_of(study)

    def one(span: tuple[int, int]) -> Block:
        found = experiment.block(*span)
        tell(span[1] - span[0])
        return found

    waiting = deque(spans)
    running = deque[tuple[int, list[Future[Block]]]]()
    pool = ThreadPoolExecutor(threads)
    try:
        while waiting or running:
            while waiting and len(running) < 1 + QUEUED_PER_WORKER:
                k, first, last = waiting.popleft()
                running.append(
                    (k, [pool.submit(one, span) for span in experiment.blocks(first, last)])
                )
            k, futures = running.popleft()
            yield k, join_blocks([f.result() for f in futures])
    finally:
        pool.shutdown(cancel_futures=True)


# --- processes
def in_processes(
    study: Specification, spans: Sequence[Span], count: int, tell: Tell
) -> Iterator[tuple[int, Block]]:
    """Yield (index, block) of shards computed in `count` processes.

    The shards of a process that dies are run again; after MAX_RESTARTS restarts a StudyError is
    raised.
    """
    text = _pickle_study(study)
    left = list(spans)
    for attempt in range(MAX_RESTARTS + 1):
        try:
            for k, block in _run_pool(text, left, count):
                left = [span for span in left if span[0] != k]
                tell(len(block.failure))
                yield k, block
            return
        except BrokenProcessPool:
            if attempt == MAX_RESTARTS:
                raise StudyError(
                    f"processes of the study died {MAX_RESTARTS + 1} times, for want of memory"
                    f" perhaps; {len(spans) - len(left)} of {len(spans)} shards were finished and"
                    " stay. Take smaller shards (shard=...), and go on with resume=True"
                ) from None


def _run_pool(text: bytes, spans: Sequence[Span], count: int) -> Iterator[tuple[int, Block]]:
    """Yield (index, block) of shards from a pool of processes, in the order in which they finish.
    text: the pickled study.
    """
    waiting = list(reversed(spans))
    running = dict[Future[Block], int]()
    with ProcessPoolExecutor(count, get_context("spawn")) as pool:
        while waiting or running:
            while waiting and len(running) < QUEUED_PER_WORKER * count:
                k, first, last = waiting.pop()
                running[pool.submit(_task, text, first, last)] = k
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                yield running.pop(future), future.result()


_last: tuple[bytes, Any] = (b"", None)


def _task(text: bytes, first: int, last: int) -> Block:
    """Compute one shard of a pickled study in another process; the last study is cached."""
    global _last
    if _last[0] != text:
        _last = text, pickle.loads(text)
    return run_shard(_last[1], first, last)


def _pickle_study(study: Specification) -> bytes:
    """Return the pickled study; raise StudyError where it cannot be pickled."""
    try:
        from cloudpickle import dumps
    except ImportError:
        from pickle import dumps
    try:
        return dumps(study)
    except Exception as why:  # whatever pickle and the things it meets raise
        raise StudyError(
            f"the study cannot be sent to other processes ({type(why).__name__}: {why}); let"
            " measures be texts or functions of a module, or run it in threads"
        ) from None


# --- Dask
def on_dask(
    client: Any, study: Specification, spans: Sequence[Span], tell: Tell
) -> Iterator[tuple[int, Block]]:
    """Yield (index, block) of shards computed as tasks of a Dask cluster.

    Dask runs the shards of a lost worker again elsewhere; where that worker was the last that had
    the study, the study is sent again.
    """
    from distributed import as_completed

    text = _pickle_study(study)
    waiting = list(reversed(spans))
    running = dict[str, Span]()
    shared = _scatter_study(client, text)

    def give(span: Span) -> Any:
        future = client.submit(_task, shared, *span[1:], pure=False, retries=MAX_RESTARTS)
        running[future.key] = span
        return future

    ahead = max(1, QUEUED_PER_WORKER * sum(client.nthreads().values()))
    queue = as_completed(
        [give(waiting.pop()) for _ in range(min(ahead, len(waiting)))], loop=client.loop
    )
    for future in queue:
        span = running.pop(future.key)
        if future.cancelled():  # the study was lost with its last worker
            shared = _scatter_study(client, text)
            queue.add(give(span))
            continue
        block = _block_of_task(future)
        future.release()
        tell(len(block.failure))
        yield span[0], block
        if waiting:
            queue.add(give(waiting.pop()))


def _scatter_study(client: Any, text: bytes) -> Any:
    """Send the study to all workers, and return its future."""
    try:
        client.wait_for_workers(1, timeout=SCHEDULER_TIMEOUT)
        return client.scatter(text, broadcast=True, hash=False)
    except (TimeoutError, OSError) as why:
        raise StudyError(
            f"the Dask cluster has no worker that answers ({type(why).__name__}); start some with"
            " `dask worker ADDRESS`. Finished shards stay: go on with resume=True (--resume)"
        ) from None


def _block_of_task(future: Any) -> Block:
    """Return the block of runs that a finished task has computed; raise StudyError where workers
    kept dying with it.
    """
    from distributed import KilledWorker

    try:
        return future.result()
    except KilledWorker as why:
        raise StudyError(
            f"workers of the cluster died again and again with the same shard ({why}), for want of"
            " memory perhaps; finished shards stay. Take smaller ones (shard=...), and go on with"
            " resume=True"
        ) from None


@contextmanager
def connected(on: Any) -> Iterator[Any]:
    """Yield the engine on which a study runs; the address of a cluster is replaced by a client."""
    if not isinstance(on, str) or on == "processes":
        yield on
        return
    with client_of(on) as client:
        yield client


def client_of(address: str) -> Any:
    """Return a client of the Dask scheduler at "dask://host:port"; raise StudyError where it
    fails.
    """
    try:
        from distributed import Client
    except ImportError:
        raise StudyError(
            "a study on a cluster needs Dask, which is not installed: pip install 'catena[cluster]'"
        ) from None
    place = "tcp://" + address.removeprefix("dask://") if address.startswith("dask://") else address
    try:
        return Client(place, timeout=SCHEDULER_TIMEOUT, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as why:
        raise StudyError(
            f"there is no Dask scheduler at {address} ({type(why).__name__}); start one with `dask"
            " scheduler`, and give its address, dask://host:8786"
        ) from None


def cores() -> int:
    """Return how many cores of this machine this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
