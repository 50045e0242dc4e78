"""simulate: one call from a mechanism to a Result.

plan     what is asked, checked at the door
system   the mechanism, its losses and its controller as one tape
engine   the method running that tape, many states side by side
agenda   what happens at instants: stops, blows, locks
record   rows observed, energies balanced, the ledger written
"""

from __future__ import annotations

import os
import time as clock
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import SimulationError
from ..machine import Machine
from ..mechanism import Mechanism
from ..results import Result
from . import drivers, record, trouble
from .agenda import Agenda, Occurrence
from .engine import Engine, Tally
from .events import Event
from .plan import Plan, decoded, prepare

Array = np.ndarray
ROWS_AT_ONCE = 4096  # output rows computed before they are handed on


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

    events: what happens at instants, records of `catena.simulate.events`. limits: "check" the start alone, "ignore" them,
    or "stop" joints there, with `restitution` (0: they stay, 1: they bounce without loss). friction: dry friction is "smooth",
    turned round over a small speed, or can "stick". stabilise: how loops stay closed: "project", "baumgarte", "corrective" or
    None, or a record of `catena.simulate.stabilise`. verify: run again at a hundredth of the tolerance (or half the step) and
    report the difference. progress: called with the time reached. options: of the formulation, and `motion` for coordinates
    that are prescribed.
    """
    began = clock.perf_counter()
    plan = prepare(
        mechanism, q, v, until, control=control, by=by, integrator=integrator, tolerance=tolerance, step=step, output=output,
        parameters=parameters, start=start, events=events, limits=limits, restitution=restitution, friction=friction,
        stabilise=stabilise, most_steps=most_steps, **options,
    )  # fmt: skip
    found = record.result(plan, tracks(plan, threads, progress), clock.perf_counter() - began)
    if not found.complete:
        raise SimulationError(f"{found.ledger.outcome}. What was computed until then is in this error's `.result`", found)
    if verify:
        finer = plan.tighter()
        found = record.verified(found, record.result(finer, tracks(finer, threads), 0.0))
    return found


# ---------------------------------------------------------------------------------------------------- groups of runs
@dataclass(frozen=True)
class Chunk:
    """A stretch of rows: times (n,), states (n, size, W), held inputs and modes (n, nu, W); the step to go on with, s."""

    t: Array
    x: Array
    u: Array
    step: float


@dataclass
class Track:
    """What a group of runs left: its chunks, its cost, how it ended, what happened in which run, the inputs at the start."""

    rows: slice
    chunks: list[Chunk] = field(default_factory=list)
    tally: Tally = field(default_factory=Tally)
    status: int = drivers.REACHED
    sentence: str = ""
    log: list[tuple[int, Occurrence]] = field(default_factory=list)
    u0: Array = field(default_factory=lambda: np.zeros((0, 1)))


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
    left, engine = Track(rows), plan.engine(rows)
    agenda = Agenda(plan.plan, plan.machine, engine) if not plan.plan.empty else None
    left.chunks.extend(stretches(plan, engine, agenda, left, progress))
    left.tally = engine.tally
    left.log = [(rows.start, o) for o in agenda.log] if agenda is not None else []
    return left


# ---------------------------------------------------------------------------------------------------- the time loop
def stretches(plan: Plan, engine: Engine, agenda: Agenda | None, track: Track, progress: Any) -> Iterator[Chunk]:
    """The rows of a run, a stretch at a time; between stretches a Python controller is asked, and events happen."""
    control, times, until = plan.control, plan.times, plan.until
    sampled = callable(control) and not hasattr(control, "law")
    sample = float(getattr(control, "sample", 0.0)) if sampled else np.inf
    if sampled and not sample > 0:
        raise SimulationError("a Python controller needs a sample time: set control.sample = 0.001 (seconds)")
    if control is not None and not sampled and not hasattr(control, "law"):
        engine.u[:] = forces(engine, control)
    t, row, n = plan.start, 0, 0
    ended = agenda.begin(t) if agenda is not None else False
    if sampled:
        ask(engine, control, t)
        n += 1
    track.u0 = engine.held.copy()
    status = drivers.REACHED
    while t < until and not ended:
        end = min(until, plan.start + n * sample if sampled else until, agenda.next(t) if agenda is not None else until)
        last = row + int(np.searchsorted(times[row : row + ROWS_AT_ONCE], end, side="right"))
        if last == row + ROWS_AT_ONCE:
            end = min(end, times[last - 1])
        part = engine.run(t, end, times[row:last])
        got = len(part.rows)
        if got:
            yield Chunk(times[row : row + got], part.rows, np.tile(engine.held, (got, 1, 1)), engine.h)
        row, t, status = row + got, part.t, part.status
        if progress is not None:
            progress(t)
        if agenda is not None and status == drivers.EVENT:
            ended = agenda.fell(t, part.event)
        elif status != drivers.REACHED:
            break
        elif agenda is not None:
            ended = agenda.due(t)
        if sampled and t >= plan.start + n * sample and t < until:
            ask(engine, control, t)
            n += 1
    if ended:
        status = drivers.EVENT
        yield Chunk(np.array([t]), engine.x[None].copy(), engine.held[None].copy(), engine.h)
    elif status == drivers.EVENT:
        status = drivers.REACHED
    track.status, track.sentence = status, trouble.sentence(plan.machine, engine, status, t)
    if ended and agenda is not None:
        track.sentence = f"ended by {agenda.log[-1].what!r} at t = {t:.9g} s"


def forces(engine: Engine, control: Any) -> Array:
    """Constant joint forces as (nv, 1)."""
    nv = engine.system.nv
    try:
        given = np.asarray(control, float)
    except (TypeError, ValueError):
        raise SimulationError(
            f"control is a {type(control).__name__}; it is joint forces, a controller, or a function (t, q, v) -> forces"
        ) from None
    if given.shape != (nv,) or not np.isfinite(given).all():
        raise SimulationError(f"control has shape {given.shape}; constant joint forces are {nv} finite numbers, one a speed")
    return given[:, None]


def ask(engine: Engine, control: Any, t: float) -> None:
    """Ask a Python controller for the forces to hold until its next sample."""
    s = engine.system
    q, v = decoded(s, engine.x, engine.p)
    one = engine.W == 1
    answer = np.asarray(control(t, q[0], v[0]) if one else control(t, q, v), dtype=float)
    wanted = (s.nv,) if one else (engine.W, s.nv)
    if answer.shape != wanted:
        said = f"the controller returned shape {answer.shape} at t = {t:g} s"
        raise SimulationError(f"{said}; it returns {wanted}, one force a speed")
    if not np.isfinite(answer).all():
        k = int(np.argwhere(~np.isfinite(answer))[0][-1])
        names = [n for j in s.mechanism.moving for n in j.speed_names]
        said = f"the controller returned {answer[..., k]} for {names[k]!r} at t = {t:g} s"
        raise SimulationError(f"{said}; it returns finite numbers")
    engine.u[:] = answer.reshape(engine.W, s.nv).T
