"""What the benchmarks share: robots as both sides read them, the best of several timings, and a
tiny size.

`python benchmarks/NAME.py --tiny` runs a script on the smallest of its problems, each timed once:
whether it works, not how fast.
"""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "simulation"))
import catena
from robots import urdf

TINY = "--tiny" in sys.argv
Size = TypeVar("Size")


def size(full: Size, tiny: Size) -> Size:
    """What a benchmark takes, and what it takes with --tiny."""
    return tiny if TINY else full


ROBOTS = size(("ur5", "panda", "talos"), ("ur5",))
BATCH = size(4096, 16)


def best(f: Callable[[], object], seconds: float = 0.5, least: int = 5) -> float:
    """The shortest of many runs, in seconds."""
    seconds, least = size((seconds, least), (0.0, 1))
    times = []
    end = time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        began = time.perf_counter()
        f()
        times.append(time.perf_counter() - began)
    return min(times)


def interleaved(
    ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7
) -> tuple[float, float]:
    """The best of both, measured in turns so that a busy machine is as unfair to one as to the
    other.
    """
    pairs = [(best(ours, 0.05, 3), best(theirs, 0.05, 3)) for _ in range(size(rounds, 1))]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def robot(name: str, **options: object) -> tuple[catena.Machine, pin.Model, object]:
    """Our machine (every joint independent, as the peer takes them), Pinocchio's model, and the
    bridge between them.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = catena.compile(catena.load(urdf(name), mimic=False), **options)
    return (
        machine,
        pin.buildModelFromUrdf(str(urdf(name))),
        catena.bridge.bridge(machine, "pinocchio"),
    )


def states(machine: catena.Machine, batch: int = BATCH) -> tuple[np.ndarray, ...]:
    """Random q, v, and a (or tau)."""
    rng = np.random.default_rng(0)
    return (
        machine.sample(rng, batch),
        rng.standard_normal((batch, machine.nv)),
        rng.standard_normal((batch, machine.nv)),
    )
