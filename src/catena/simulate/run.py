"""simulate: one call from a mechanism to a Result.

    start    what is asked, checked at the door
    system   the mechanism, its losses and its controller as one tape
    engine   the method running that tape, many states side by side
    agenda   what happens at instants: stops, blows, locks
    record   rows observed, energies balanced, the ledger written
"""

from __future__ import annotations

import os
import time as clock
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from threading import Lock as Mutex
from typing import Any

import numpy as np

from ..compiler.host import default_width
from ..errors import SimulationError
from ..machine import Machine, compile
from ..mechanism import Mechanism
from ..results import Result
from . import drivers, record, start as door, trouble
from .agenda import Agenda, Occurrence, Scheme, scheme
from .engine import Engine, Tally
from .events import Event
from .methods import Method, method
from .system import System

Array = np.ndarray
ROWS_AT_ONCE = 4096  # output rows computed before they are handed on
KEPT = 32  # machines and systems kept for the next run of the same mechanism


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
    tracks = plan.run(threads, progress)
    found = record.result(plan, tracks, clock.perf_counter() - began)
    if not found.complete:
        raise SimulationError(f"{found.ledger.outcome}. What was computed until then is in this error's `.result`", found)
    if verify:
        finer = plan.tighter()
        found = record.verified(found, record.result(finer, finer.run(threads), 0.0))
    return found


# ---------------------------------------------------------------------------------------------------- the plan
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


@dataclass(frozen=True)
class Plan:
    """A simulation that has passed the door: everything it needs to run, and to be resumed.

    x0: (runs, size). lead: the leading shape the start came in. varied: whether parameters were given.
    """

    machine: Machine
    system: System
    how: Method
    plan: Scheme
    start: float
    until: float
    times: Array
    x0: Array
    p: Array
    lead: tuple[int, ...]
    varied: bool
    control: Any
    tolerance: float
    step: float
    most: int

    @property
    def groups(self) -> list[slice]:
        """The runs that go side by side: one a group where something can happen or a library integrates."""
        count, alone = len(self.x0), not self.plan.empty or self.how.kind == "library"
        width = 1 if alone or count == 1 else default_width()
        return [slice(k, min(k + width, count)) for k in range(0, count, width)]

    def run(self, threads: int | None = None, progress: Callable[[float], None] | None = None) -> list[Track]:
        """Run everything, groups in threads."""
        groups = self.groups
        self.engine(groups[0])  # compiled once, before threads begin
        if len(groups) == 1:
            return [self.track(groups[0], progress)]
        with ThreadPoolExecutor(threads or os.cpu_count() or 1) as pool:
            return list(pool.map(lambda rows: self.track(rows, progress if rows.start == 0 else None), groups))

    def track(self, rows: slice, progress: Callable[[float], None] | None = None) -> Track:
        """Run one group to its end."""
        track = Track(rows)
        track.chunks.extend(self.chunks(track, progress))
        return track

    def engine(self, rows: slice) -> Engine:
        """An engine at the start of these runs; a group that is not full is filled up with copies of its last run."""
        width = 1 if rows.stop - rows.start == 1 and len(self.groups) == len(self.x0) else default_width()
        return Engine(self.system, self.how, _padded(self.x0[rows], width).T, _padded(self.p[rows], width).T,
                      tolerance=self.tolerance, step=self.step, most=self.most)  # fmt: skip

    def chunks(self, track: Track, progress: Callable[[float], None] | None = None) -> Iterator[Chunk]:
        """The rows of a group, a stretch at a time; the track learns the rest."""
        engine = self.engine(track.rows)
        agenda = Agenda(self.plan, self.machine, engine) if not self.plan.empty else None
        yield from stretches(self, engine, agenda, track, progress)
        track.tally = engine.tally
        track.log = [(track.rows.start, o) for o in agenda.log] if agenda is not None else []

    def tighter(self) -> Plan:
        """The same at a hundredth of the tolerance, or half the step."""
        from dataclasses import replace

        finer = self.how.kind in ("adaptive", "library")
        return replace(self, tolerance=max(1e-14, self.tolerance / 100)) if finer else replace(self, step=self.step / 2)


def prepare(mechanism: Mechanism | Machine, q: Any, v: Any, until: float, *, control: Any, by: str, integrator: str,
            tolerance: float, step: float | None, output: Any, parameters: Any, start: float, events: Iterable[Event],
            limits: str, restitution: float, friction: str, stabilise: Any, most_steps: int, **options: Any) -> Plan:  # fmt: skip
    """Check everything that is asked, and make what is needed to run it."""
    machine = mechanism if isinstance(mechanism, Machine) else kept(("machine", id(mechanism)), mechanism, lambda: compile(mechanism))
    how, times = method(integrator), door.output_times(start, until, output)
    limits, friction = door.choice("way with limits", limits, door.LIMITS), door.choice("friction", friction, door.FRICTION)
    tolerance, restitution = door.number("tolerance", tolerance, 1e-14, 0.1), door.number("restitution", restitution, 0.0, 1.0)
    q, v, p, lead = door.starting_points(machine, q, v, parameters)
    if limits != "ignore":
        door.within_limits(machine, q)
    happening = scheme(machine, events, limits, friction if door.frictions(machine) else "smooth", restitution)
    if late := [e for t, e in happening.timed if not start <= t <= until]:
        raise SimulationError(f"{late[0].title} is to happen at {late[0].at} s; the run goes from {start:g} to {until:g} s")
    if how.kind not in ("adaptive", "library") and (happening.guarded or any(h.guarded for h in happening.holding.speeds)):
        raise SimulationError(f"integrator {how.name!r} cannot locate events: it has no dense output. Stops, friction that sticks and "
                              "`when` need an adaptive one: dop853, dopri5 or radau")  # fmt: skip
    law = control if hasattr(control, "law") else None
    try:
        with np.errstate(divide="raise"):
            system = made(machine, by, law=law, friction=friction, stabilise=stabilise, holding=happening.holding, **options)
    except FloatingPointError:  # an inertia that is zero whatever the configuration
        machine.forward_dynamics(q[0], v[0], np.zeros(machine.nv))  # names it
        raise
    x0 = started(system, start, q, v, p)
    door.closed(machine, start, *decoded(system, x0.T, p.T), p)
    x0 = settled(system, start, x0, p)
    if step is not None and not (np.isfinite(step) and 0 < step <= until - start):
        raise SimulationError(f"step = {step} s; it lies above zero and is at most the run's {until - start:g} s")
    first = min(1e-3, until - start) if how.kind in ("adaptive", "library") else (times[0] - start) / 10
    return Plan(machine, system, how, happening, float(start), float(until), times, x0, p, lead, parameters is not None, control,
                tolerance, float(step or first), most_steps)  # fmt: skip


def started(system: System, t: float, q: Array, v: Array, p: Array) -> Array:
    """The states (runs, size) of starting points."""
    if system.driven is not None or system.jump is not None:
        return np.stack([system.start(*row, t) for row in zip(q, v, p)])
    x = np.array(system.equations.encode(q.T, v.T, _columns(p.T))).T
    return np.concatenate([x, np.tile([*system.controller.start, 0.0], (len(x), 1))], axis=1)


def _columns(p: Array) -> Array:
    """Parameters (count, runs) as CasADi maps over them; it has no matrix of several empty columns."""
    return p if len(p) else np.zeros(0)


def settled(system: System, t: float, x: Array, p: Array) -> Array:
    """States (runs, size) put onto their constraints: what is left open by a start's last digits is closed."""
    kernel = system.kernel("settle") if system.binds else None
    held = np.tile(np.append(np.zeros(system.nv), system.holding.start()), (len(x), 1))
    for _ in range(2 if kernel is not None else 0):
        (x,), _ = kernel([np.full((len(x), 1), float(t)), x, held, p], len(x))  # type: ignore[misc]
    return x


_kept: OrderedDict[tuple, tuple[Any, Any]] = OrderedDict()
_keeping = Mutex()


def kept(key: tuple, owner: Any, make: Callable[[], Any]) -> Any:
    """What was made for this key last time, or made now. The key has the id of its owner, which is kept alive with it."""
    with _keeping:
        if key not in _kept:
            _kept[key] = (owner, make())
            while len(_kept) > KEPT:
                _kept.popitem(last=False)
        _kept.move_to_end(key)
        return _kept[key][1]


def made(machine: Machine, by: str, **options: Any) -> System:
    """The system of a machine's mechanism; kept for the next run where nothing but words and numbers make it."""
    m, holding = machine.mechanism, options["holding"]
    plain = all(x is None or isinstance(x, (str, int, float)) for k, x in options.items() if k != "holding")
    if not plain or holding.size or holding.guards:
        return System(m, by, **options)
    words = sorted((k, x) for k, x in options.items() if k != "holding" and x is not None)
    return kept(("system", id(m), by, *words), m, lambda: System(m, by, **options))


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
            yield Chunk(times[row : row + got], part.rows, np.broadcast_to(engine.held, (got, *engine.held.shape)).copy(), engine.h)
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
        raise SimulationError(f"control is a {type(control).__name__}; it is joint forces, a controller of catena.control, or a function "
                              "(t, q, v) -> forces") from None  # fmt: skip
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
        raise SimulationError(f"the controller returned shape {answer.shape} at t = {t:g} s; it returns {wanted}, one force a speed")
    if not np.isfinite(answer).all():
        k = int(np.argwhere(~np.isfinite(answer))[0][-1])
        names = [n for j in s.mechanism.moving for n in j.speed_names]
        raise SimulationError(f"the controller returned {answer[..., k]} for {names[k]!r} at t = {t:g} s; it returns finite numbers")
    engine.u[:] = answer.reshape(engine.W, s.nv).T


def decoded(s: System, x: Array, p: Array) -> tuple[Array, Array]:
    """q (W, nq) and v (W, nv) of states x (size, W)."""
    if s.by in ("recursive", "kane", "boltzmann_hamel"):
        return x[: s.nq].T.copy(), x[s.nq : s.nq + s.nv].T.copy()
    q, v = s.equations.decode(x[: s.nx], _columns(p))
    return np.array(q).T, np.array(v).T


def _padded(rows: Array, width: int) -> Array:
    """Rows filled up to a lane group with copies of the last."""
    return rows if len(rows) == width else np.concatenate([rows, np.repeat(rows[-1:], width - len(rows), axis=0)])
