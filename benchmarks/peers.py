"""What the benchmarks share: robots as both sides read them, and the best of several timings."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pinocchio as pin

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "simulation"))
import catena
from robots import urdf

BATCH = 4096


def best(f: Callable[[], object], seconds: float = 0.5, least: int = 5) -> float:
    """The shortest of many runs, in seconds."""
    times, end = [], time.perf_counter() + seconds
    while len(times) < least or time.perf_counter() < end:
        began = time.perf_counter()
        f()
        times.append(time.perf_counter() - began)
    return min(times)


def interleaved(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = 7) -> tuple[float, float]:
    """The best of both, measured in turns so that a busy machine is as unfair to one as to the other."""
    pairs = [(best(ours, 0.05, 3), best(theirs, 0.05, 3)) for _ in range(rounds)]
    return min(p[0] for p in pairs), min(p[1] for p in pairs)


def robot(name: str, **options: object) -> tuple[catena.Machine, pin.Model, object]:
    """Our machine (every joint independent, as the peer takes them), Pinocchio's model, and the bridge between them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        machine = catena.compile(catena.load(urdf(name), mimic=False), **options)
    return machine, pin.buildModelFromUrdf(str(urdf(name))), catena.bridge.bridge(machine, "pinocchio")


def states(machine: catena.Machine, batch: int = BATCH) -> tuple[np.ndarray, ...]:
    """Random q, v, and a (or tau)."""
    rng = np.random.default_rng(0)
    return machine.sample(rng, batch), rng.standard_normal((batch, machine.nv)), rng.standard_normal((batch, machine.nv))
