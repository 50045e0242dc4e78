"""simulate: one call from a mechanism to a Result.

plan     what is asked, checked at the door
system   the mechanism, its losses and its controller as one tape
engine   the method running that tape, many states side by side
going    the time loop, a slice of rows at a time
agenda   what happens at instants: stops, blows, locks
record   rows observed, energies balanced, the ledger written
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SimulationError
from ..machine.machine import Machine
from ..model.mechanism import Mechanism
from ..results.result import Result
from . import record
from .drivers import EVENT, REACHED
from .engine import Tally
from .event_handler import Occurrence
from .events import Event
from .plan import Plan, prepare
from .runner import Going, Slice

Array = np.ndarray


def simulate(
    mechanism: Mechanism | Machine,
    q: Any = None,
    v: Any = None,
    until: float = 1.0,
    *,
    control: Any = None,
    by: str = "recursive",
    integrator: str = "dop853",
    tolerance: float = 1e-9,
    step: float | None = None,
    output: float | Array | None = None,
    parameters: Any = None,
    start: float = 0.0,
    events: Iterable[Event] = (),
    limits: str = "check",
    restitution: float = 0.0,
    friction: str = "smooth",
    stabilise: Any = "project",
    threads: int | None = None,
    most_steps: int = 10_000_000,
    verify: bool = False,
    progress: Callable[[float], None] | None = None,
    **options: Any,
) -> Result:
    """Simulate from `start` to `until` seconds.

    q, v: the start, (nq,) and (nv,), by default at rest in the neutral place; with leading sizes, that many runs at once
    (the result then has a `run` dimension). control: None, joint forces (nv,), a controller of `catena.control`, or any
    function (t, q, v) -> forces with an attribute `sample` (s), called every so often and held. by: a formulation.
    integrator: one of `catena.ALL_INTEGRATORS`; tolerance: relative and absolute, of the whole run, for adaptive ones; step:
    s, the largest of fixed ones. output: spacing (s) or times of the rows. parameters: {name: value or one a run}.

    events: what happens at instants, records of `catena.events`. limits: "check" the start alone, "ignore" them,
    or "stop" joints there, with `restitution` (0: they stay, 1: they bounce without loss). friction: dry friction is "smooth",
    turned round over a small speed, or can "stick". stabilise: how loops stay closed: "project", "baumgarte", "corrective" or
    None, or a record of `catena.simulation.stabilisation`. verify: run again at a hundredth of the tolerance (or half the step) and
    report the difference. progress: called with the time reached. options: of the formulation, and `motion` for coordinates
    that are prescribed.
    """
    began = clock.perf_counter()
    plan = prepare(
        mechanism, q, v, until, control=control, by=by, integrator=integrator, tolerance=tolerance, step=step, output=output,
        parameters=parameters, start=start, events=events, limits=limits, restitution=restitution, friction=friction,
        stabilise=stabilise, most_steps=most_steps, **options,
    )  # fmt: skip
    left = tracks(plan, threads, progress)
    found = record.result(plan, left, clock.perf_counter() - began)
    if any(track.status not in (REACHED, EVENT) for track in left):
        raise SimulationError(f"{found.ledger.outcome}. What was computed until then is in this error's `.result`", found)
    if verify:
        finer = plan.tighter()
        found = record.verified(found, record.result(finer, tracks(finer, threads), 0.0))
    return found


# ---------------------------------------------------------------------------------------------------- groups of runs
@dataclass(frozen=True)
class Track:
    """What a group of runs left: its slices, its cost, how it ended, what happened in which run, the inputs at the start."""

    rows: slice
    slices: list[Slice]
    tally: Tally
    status: int
    sentence: str
    log: list[tuple[int, Occurrence]]
    u0: Array


def tracks(plan: Plan, threads: int | None = None, progress: Callable[[float], None] | None = None) -> list[Track]:
    """Run everything, groups in threads."""
    groups = plan.groups
    if len(groups) == 1:
        return [track(plan, groups[0], progress)]
    plan.engine(groups[0])  # compiled once, before threads begin
    with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
        return list(pool.map(lambda rows: track(plan, rows, progress if rows.start == 0 else None), groups))


def track(plan: Plan, rows: slice, progress: Callable[[float], None] | None = None) -> Track:
    """Run one group to its end."""
    going, slices = Going(plan, rows), []
    going.begin()
    u0 = going.engine.held.copy()
    while not going.over:
        slices.append(going.advance())
        if progress is not None:
            progress(going.t)
    log = [(rows.start, o) for o in going.agenda.log] if going.agenda is not None else []
    return Track(rows, slices, going.engine.tally, going.status, going.sentence, log, u0)
