"""The event handler of a run: what is done when a guard falls to zero, or a scheduled instant
comes.

Between events nothing here is called: the modes are inputs of the compiled equations, and the
driver evaluates the guards. At an event the speeds jump, by the impact equations
(`contact.impact`),

    M dv = P + R' L,      R (v + dv) = wanted

P the applied impulse, R the rows that hold during it: loops, locks, and stops as far as they push.
Friction of joints is a finite force and has no part in an impact. Afterwards the modes are chosen
again (`mode_choice.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...contact import impact
from ...errors import SimulationError, StateError
from ...machine import Machine, Metric, where
from ..events.event_kinds import kind_of
from ..events.event_plan import EventPlan
from ..events.records import InstantEvent, Lock
from ..integrators.engine import Engine
from ..planning.checks import outside
from ..planning.plan import decoded
from ..terms.guards import LOWER, UPPER, Bound, Guard, Meaning
from ..terms.switched_constraints import HoldableSpeed
from .accumulation import Impacts
from .contact_handler import ContactHandler
from .event_storm import EVENTS_PER_BLOCK, EventPace
from .inertia import Inertia
from .mode_choice import THROWING_SPEED, at_rest, choose, locked, log_changes
from .open_impact import open_impact
from .simultaneous_stops import INSTANT_LENGTH, reach_together

Array = NDArray[np.float64]
EVENTS_AT_ONE_INSTANT = 100  # after more events at one instant a run raises an error
EVENTS_IN_ONE_RUN = 1_000_000  # after more events a run raises an error


class Occurrence(NamedTuple):
    """An event that has happened. time: s. what: a sentence that describes it. before, after (nq +
    nv,): q, then v, just before and just after everything that happened at that instant; empty
    where no states were recorded.
    """

    time: float
    what: str
    before: tuple[float, ...] = ()
    after: tuple[float, ...] = ()


class EventHandler:
    """The events of one run. It reads and changes the engine's state and modes.

    Parts are the constraints that can be switched, by index; a holdable speed is one that friction,
    a stop or a lock can hold. log: the events that have happened. ended_by: the description of the
    event that ended the run, or "". touching: the stops that coordinates touch, {(part, side)}.
    impacts: the series of impacts at each stop. energy: twice the largest kinetic energy at an
    event so far, J. lower, upper, dry: limits (rad or m) and dry friction (N m or N) of the
    holdable speeds. contacts: the handler of contacts, or None where the mechanism has none.
    indices: the index in v of each holdable speed. is_open: whether the mechanism has no constraint
    rows other than those of single speeds.
    """

    def __init__(self, plan: EventPlan, machine: Machine, engine: Engine):
        self.plan, self.machine, self.engine = plan, machine, engine
        self.log: list[Occurrence] = []
        self.ended_by = ""
        self.constraints = plan.holding
        self.system = engine.system
        self.p = engine.p[:, 0].copy()
        self.lower, self.upper, self.dry = (np.array(x).ravel() for x in self.system.bounds(self.p))
        self.touching: set[tuple[int, str]] = set()
        self.impacts: dict[tuple[int, str], Impacts] = {}
        self.energy = 0.0
        self.contacts = ContactHandler(self) if self.constraints.contacts else None
        self.indices = np.array([h.index for h in self.constraints.speeds], int)
        only_speeds = len(self.constraints.parts) == len(self.constraints.speeds)
        self.is_open = only_speeds and not (self.system.binds or self.system.mechanism.constrained)
        self._inertia: Inertia | None = None
        self._start = 0.0
        self._last = -np.inf
        self._crowd = 0
        self._count = 0
        self._pace = EventPace()
        self._done: set[int] = set()  # scheduled events that have happened

    # --- to continue later
    def checkpoint(self) -> dict[str, Any]:
        """Return the state of the handler as JSON values, without the modes, which are stored by
        the engine.
        """
        return {
            "start": self._start,
            "last": self._last,
            "crowd": self._crowd,
            "count": self._count,
            "pace": self._pace,
            "energy": self.energy,
            "done": sorted(self._done),
            "touching": sorted(self.touching),
            "impacts": [[*key, *x] for key, x in self.impacts.items()],
            "log": list(self.log),
            "contacts": self.contacts.checkpoint() if self.contacts is not None else None,
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Restore the state that `checkpoint` returned."""
        self._last, self._crowd, self._count, self._done = (
            state["last"],
            state["crowd"],
            state["count"],
            set(state["done"]),
        )
        self._start = state["start"]
        self.energy = state["energy"]
        self._pace = EventPace(*(tuple(x) for x in state.get("pace", ())))
        self.touching = {(int(k), str(side)) for k, side in state["touching"]}
        self.impacts = {(int(k), str(side)): Impacts(*x) for k, side, *x in state["impacts"]}
        self.log = [Occurrence(t, what, *map(tuple, states)) for t, what, *states in state["log"]]
        if self.contacts is not None:
            self.contacts.restore(state["contacts"])

    # --- entry points
    def begin(self, t: float) -> bool:
        """Handle the start of the run at t (s), before the first step: find which joints are at
        rest, and handle the events scheduled for the start. Return whether the run ends.
        """
        return self._recording_states(lambda: self._begin(t))

    def _recording_states(self, handle: Callable[[], bool]) -> bool:
        """Call `handle`, and add the states before and after it to everything that it logs."""
        first = len(self.log)
        before = self._state_numbers()
        try:
            return handle()
        finally:
            after = self._state_numbers() if len(self.log) > first else ()
            for k in range(first, len(self.log)):
                self.log[k] = self.log[k]._replace(before=before, after=after)

    def _state_numbers(self) -> tuple[float, ...]:
        """Return q, then v, as a tuple."""
        q, v = self.state_of()
        return (*q.tolist(), *v.tolist())

    def _begin(self, t: float) -> bool:
        """Handle the start of the run as `begin` does, without recording states in the log."""
        self._start, (q, v) = t, self.state_of()
        for k, h in enumerate(self.constraints.speeds):
            for side in h.sides:
                self._start_at(t, k, h, side, q, v)
        if self.contacts is not None:
            self.contacts.begin(t)
        self._choose(t)
        return self._due(t)

    def next(self, t: float) -> float:
        """Return the time of the next scheduled event after t, s; infinite where there is none."""
        return next((at for at, _ in self.plan.timed if at > t), np.inf)

    def due(self, t: float) -> bool:
        """Handle the events scheduled for this instant t, s. Return whether the run ends."""
        return self._recording_states(lambda: self._due(t))

    def _due(self, t: float) -> bool:
        """Handle the scheduled events as `due` does, without recording states in the log."""
        now = [k for k, (at, _) in enumerate(self.plan.timed) if at == t and k not in self._done]
        self._done.update(now)
        ends = [self.happen(t, self.plan.timed[k][1]) for k in now]
        return any(ends)

    def fell(self, t: float, number: int) -> bool:
        """Handle guard `number`, which fell to zero at t, s. Return whether the run ends."""
        return self._recording_states(lambda: self._fell(t, number))

    def _fell(self, t: float, number: int) -> bool:
        """Handle a guard as `fell` does, without recording states in the log."""
        guard = self.system.guards[number]
        ended = False
        self._count_event(
            t,
            (
                0.0
                if guard.meaning in (Meaning.REACHES_STOP, Meaning.TOUCHES)
                else INSTANT_LENGTH * (t - self._start)
            ),
        )
        if guard.meaning is Meaning.HAPPENS:
            ended = self.happen(t, self.plan.guarded[guard.subject])
        else:
            self._handle_guard(t, guard)
            self._choose(t)
        return self._due(t) or ended

    def happen(self, t: float, e: InstantEvent) -> bool:
        """Handle one event at t, s, and choose the modes again. Return whether the run ends."""
        ends = bool(kind_of(e).handle(self, t, e))
        if ends:
            self.ended_by = self.log[-1].what
        self._choose(t)
        return ends

    def _choose(self, t: float) -> None:
        """Determine the modes of the holdable speeds, then those of the contacts together with
        joints at rest by dry friction. Both are done twice where there are both, because the force
        on a stop depends on the contacts.
        """
        before = self.engine.modes[: 4 * len(self.constraints.speeds), 0].reshape(-1, 4).copy()
        for _ in range(2 if self.contacts is not None and self.constraints.speeds else 1):
            choose(self, t)
            if self.contacts is not None:
                self.contacts.choose(t)
        log_changes(self, t, before)

    def _handle_guard(self, t: float, guard: Guard) -> None:
        """Handle the guard of a switched part at t (s): a stop is reached, a speed comes to rest, a
        gap closes, features change, or an end lies flat. Guards that release a constraint need no
        action here, because the choice of modes finds out what is released.
        """
        if guard.meaning is Meaning.REACHES_STOP and guard.side is not None:
            self.meet(t, guard.subject, guard.side)
        elif guard.meaning is Meaning.COMES_TO_REST:
            self._stop_speed(t, self.constraints.speeds[guard.subject].index)
        elif guard.meaning is Meaning.TOUCHES and self.contacts is not None:
            self.contacts.touch(t, guard.subject - self.contacts.first)
        elif (
            guard.meaning in (Meaning.LEAVES_FACE, Meaning.MOVES_AWAY) and self.contacts is not None
        ):
            self.contacts.renew_features(t, guard.subject)
        elif guard.meaning is Meaning.LIES_FLAT and self.contacts is not None:
            self.contacts.impacts.strike(t, guard.subject - self.contacts.first)

    def _stop_speed(self, t: float, k: int) -> None:
        """Set speed k, which has come to zero up to rounding, to zero at t (s)."""
        if self.system.binds:  # rows carry the change to other speeds
            self.jump(t, wanted={k: 0.0})
            return
        q, v = self.state_of()
        v[k] = 0.0
        self.put(q, v)

    def _count_event(self, t: float, instant: float) -> None:
        """Count an event at t (s), and raise SimulationError where events repeat without progress
        in time. instant: events closer together than this (s) count as simultaneous.
        """
        self._crowd = (
            self._crowd + 1 if t - self._last <= max(instant, 16.0 * np.spacing(abs(t))) else 0
        )
        self._last = t
        self._count = self._count + 1
        last = self.log[-1].what if self.log else "a condition that is met"
        if self._crowd > EVENTS_AT_ONE_INSTANT:
            raise SimulationError(
                f"more than {EVENTS_AT_ONE_INSTANT} events at t = {t:.9g} s, the last: {last};"
                " the run cannot get past it"
            )
        if self._count % EVENTS_PER_BLOCK == 0:
            self._pace = self._pace.then(
                t, float(np.asarray(self.machine.energy(*self.state_of(), self.parameters)[0]))
            )
            if self._pace.storm(self._start):
                raise SimulationError(
                    "events come ever faster and do not become weaker: the last"
                    f" {EVENTS_PER_BLOCK} took {self._pace.last:.2g} s until t = {t:.9g} s,"
                    f" the last: {last}; end the run"
                    " before, with an event, or let impacts lose something (restitution below 1)"
                )
        if self._count > EVENTS_IN_ONE_RUN:
            raise SimulationError(
                f"more than {EVENTS_IN_ONE_RUN} events until t = {t:.9g} s, the last: {last};"
                " end the run before"
            )

    # --- states and modes
    @property
    def parameters(self) -> Array | None:
        """The parameters of this run in the form that the methods of the machine take; None where
        there are none.
        """
        return self.p if len(self.p) else None

    def mode(self, part: int) -> Any:
        """Return the mode record of a switched constraint, by its index."""
        return self.constraints.mode(part, self.engine.modes[:, 0])

    def set_mode(self, part: int, mode: Any) -> None:
        """Set the mode of a switched constraint, by its index, to a mode record."""
        self.engine.modes[self.constraints.slots[part], 0] = mode

    def held_by(self, lock: Lock) -> tuple[int, ...]:
        """Return the indices of the constraints that a lock switches on."""
        return self.plan.parts[next(k for k, other in enumerate(self.plan.locks) if other is lock)]

    def state_of(self) -> tuple[Array, Array]:
        """Return q (nq,) and v (nv,) of the present state."""
        (q,), (v,) = decoded(self.system, self.engine.x, self.engine.p)
        return q, v

    @property
    def inertia(self) -> Inertia:
        """The mass matrix at the present configuration, and its inverse."""
        q = self.state_of()[0]
        if self._inertia is None or not np.array_equal(self._inertia.q, q):
            self._inertia = Inertia(self.machine, q, self.parameters)
        return self._inertia

    def put(self, q: Array, v: Array, work: float = 0.0) -> None:
        """Set the state to (q, v), and add this work (J) to the energy balance."""
        s, x = self.system, self.engine.x
        x[: s.nx, 0] = (
            np.concatenate([q, v])
            if s.equations.state_is_qv
            else np.array(s.equations.encode(q, v, self.p)).ravel()
        )
        x[-1, 0] += work

    def say(self, t: float, what: str) -> None:
        """Log an event at t (s), described by a sentence."""
        self.log.append(Occurrence(float(t), what))

    # --- stops
    def limit(self, k: int, side: Bound) -> float:
        """Return the position of a stop, rad or m. k: the index of the holdable speed."""
        return float(self.lower[k] if side is LOWER else self.upper[k])

    def stop_named(self, k: int, side: Bound) -> str:
        """Return the description of a stop, such as "its lower stop at 0.5 rad"."""
        return (
            f"its {side.name} stop at {self.limit(k, side):.6g} {self.constraints.speeds[k].unit}"
        )

    def _start_at(
        self, t: float, k: int, h: HoldableSpeed, side: Bound, q: Array, v: Array
    ) -> None:
        """Find whether a run starts on a stop, and handle the impact if it moves against it. Raise
        StateError where it starts beyond the stop.
        """
        gap = side.sign * (q[h.coordinate] - self.limit(k, side))
        if gap < -outside(self.machine)[h.coordinate]:
            raise StateError(
                f"simulate: {where(self.machine)}: {h.name!r} starts at {q[h.coordinate]:.6g}"
                f" {h.unit}, beyond {self.stop_named(k, side)}; start within the stops"
            )
        if gap <= 0.0 and side.sign * v[h.index] < 0.0:
            self.meet(t, k, side)
        elif gap <= 0.0:
            self.touching.add((k, side.name))

    def meet(self, t: float, k: int, side: Bound) -> None:
        """Handle a coordinate that reaches its stop at t (s): it rebounds, or it stays where the
        impact is too slow or its rebounds have accumulated.
        """
        h, (q, v) = self.constraints.speeds[k], self.state_of()
        q[h.coordinate] = self.limit(k, side)
        self.put(q, v)
        approach = -side.sign * v[h.index]
        stop = (k, side.name)
        if self.contacts is not None and self.contacts.terms.touching:
            self.touching.add(stop)
            self.contacts.impacts.strike(t)  # one impact of the stop and the contacts that touch
            return
        if approach <= 0.0 or at_rest(self, h.index, v):
            # it touches without an impact; whether it stays is decided by the forces
            self.touching.add(stop)
            return
        resting = {self.constraints.speeds[j].index: 0.0 for j, _ in self.touching}
        rebound = h.restitution * approach
        self.say_met(t, k, side, approach, rebound)
        self._meet_together(t, k, q, v)
        # a negligible impact throws nothing off the other stops
        others = resting if at_rest(self, h.index, v, THROWING_SPEED) else {}
        self.jump(t, wanted={**others, h.index: side.sign * rebound})
        self.engine.restart_scales()
        series = self.impacts[stop] = self.impacts.get(stop, Impacts()).then(
            t, approach, self.limit(k, side)
        )
        if rebound == 0.0 or series.limit is not None:
            self.touching.add(stop)
        # coordinates that rest on other stops are not thrown off by the last, smallest impact
        if series.limit is not None:
            self.jump(t, wanted={h.index: 0.0, **resting})

    def _meet_together(self, t: float, k: int, q: Array, v: Array) -> None:
        """Let stops that other parts than k reach at this instant, t (s), take part in the impact;
        q and v are before it.
        """
        every = enumerate(self.constraints.speeds)
        slides = [(j, h) for j, h in every if h.coordinate >= 0 and j != k]
        if not slides:
            return
        at = np.array([h.coordinate for _, h in slides])
        speed = np.array([v[h.index] for _, h in slides])
        e = np.array([h.restitution for _, h in slides])
        for side, limits in ((LOWER, self.lower), (UPPER, self.upper)):
            limit = limits[[j for j, _ in slides]]
            approach = -side.sign * speed
            found = reach_together(side.sign * (q[at] - limit), approach, limit, e, t - self._start)
            for n in np.flatnonzero(found):
                j = slides[n][0]
                key = (j, side.name)
                if key not in self.touching and self.mode(j).held < 0.5:
                    self._take_part(t, j, side, float(approach[n]), q)

    def _take_part(self, t: float, j: int, side: Bound, approach: float, q: Array) -> None:
        """Put coordinate j onto its stop, which pushes in the impact at t (s)."""
        key = (j, side.name)
        self.say_met(t, j, side, approach, 0.0)
        q[self.constraints.speeds[j].coordinate] = self.limit(j, side)
        self.put(q, self.state_of()[1])
        self.impacts[key] = self.impacts.get(key, Impacts()).then(t, approach, self.limit(j, side))
        self.touching.add(key)

    def say_met(self, t: float, k: int, side: Bound, approach: float, rebound: float) -> None:
        """Log that a coordinate has reached its stop, with the speeds of approach and rebound
        (rad/s or m/s).
        """
        h = self.constraints.speeds[k]
        after = f"rebounds with {rebound:.6g} {h.unit}/s" if rebound else "does not rebound"
        self.say(
            t,
            f"{h.name} meets {self.stop_named(k, side)} with {approach:.6g} {h.unit}/s and {after}",
        )

    # --- impacts
    def jump(
        self, t: float, P: Array | None = None, wanted: dict[int, float] | None = None
    ) -> None:
        """Change the speeds at t (s) by an impulse P (nv,), with some of them set to the values
        {speed: wanted}, and add the work of all impulses to the energy balance. Contacts that then
        approach have their impact too.
        """
        (q, v), wanted = self.state_of(), wanted or {}
        if self.is_open:
            self._open_jump(q, v, P, wanted)
            return
        P = np.zeros(len(v)) if P is None else P
        M, R, change, side, unit, by = self._binding(t, q, v, wanted)
        dv, L, _ = impact(self.machine, M, R, change, P, by, side)
        after = v + dv
        for k, row in unit.items():  # without rounding; a driven speed does not change
            if side[row] == 0.0 or L[row] != 0.0:
                after[k] = v[k] + change[row] if k not in wanted else wanted[k]
        self.put(q, after, float((P + R.T @ L) @ (v + 0.5 * dv)))
        if self.contacts is not None:
            self.contacts.impacts.strike(t)

    def _open_jump(self, q: Array, v: Array, P: Array | None, wanted: dict[int, float]) -> None:
        """Do the work of `jump` for a mechanism without constraint rows other than those of single
        speeds.
        """
        jump = open_impact(self.inertia.inverse, v, P, self._held_speeds(wanted))
        self.put(q, jump.after, jump.work)

    def _held_speeds(self, wanted: dict[int, float]) -> dict[int, tuple[float, float]]:
        """Return {speed: (its value after an impact, the direction in which it is pushed, or 0 for
        both)}, for speeds held by locks and stops and for those in `wanted`.
        """
        held: dict[int, tuple[float, float]] = {}
        for k, side in self.touching:  # between two stops it is pushed both ways
            index = self.constraints.speeds[k].index
            sign = LOWER.sign if side == LOWER.name else UPPER.sign
            held[index] = 0.0, held.get(index, (0.0, 0.0))[1] + sign
        modes = self.engine.modes[: 4 * len(self.indices), 0].reshape(-1, 4)
        held |= {int(k): (0.0, 0.0) for k in self.indices[locked(modes)]}
        return held | {k: (to, 0.0) for k, to in wanted.items()}

    def bilateral(self, t: float, impulsive: bool, stops: bool = True) -> tuple[Array, Metric]:
        """Return the constraint rows that hold besides those of contacts, and their metric: loops,
        locks, driven speeds, and stops if `stops`. Joints that stick by friction are included
        unless the rows are for an impact (`impulsive`).
        """
        q, v = self.state_of()
        _, R, _, side, _, by = self._binding(t, q, v, {})
        if impulsive:
            some = np.full(len(R), True) if stops else side == 0.0
            return R[some], Metric(by.column, by.size[some])
        stuck = [
            h.index
            for k, h in enumerate(self.constraints.speeds)
            if self.mode(k).held > 0.5 and not self.mode(k).locked and self.mode(k).stop is None
        ]
        return np.vstack([R, np.eye(len(v))[stuck]]), Metric(
            by.column, np.append(by.size, np.zeros(len(stuck)))
        )

    def _binding(self, t: float, q: Array, v: Array, wanted: dict[int, float]) -> tuple[Any, ...]:
        """Return the data of the impact equations: M; the rows R that hold during the impact; the
        change R dv that they require; for each row the direction in which it pushes, or 0 for both;
        {speed: its row}; and the metric of the rows.
        """
        nv = len(v)
        n = len(self.constraints.speeds)
        modes = self.engine.modes[:, 0]
        M, A, rate, B, held, z = (np.array(x) for x in self.system.binding(t, q, v, self.p, modes))
        rows = [(a, -float(b), 0.0) for a, b in zip(A, rate.ravel())]
        # rows of contacts are left out: `contact_impacts.py` handles them
        count = len(B) - sum(c.count for c in self.constraints.contacts)
        rows += [
            (B[k], -float(held.ravel()[k]), 0.0) for k in range(n, count) if z.ravel()[k] > 0.5
        ]
        still = self._held_speeds({})
        for k in self.system.driven.speeds if self.system.driven is not None else ():
            still[k] = v[k], 0.0
        still |= {k: (to, 0.0) for k, to in wanted.items()}
        unit = {k: len(rows) + row for row, k in enumerate(still)}
        rows += [(np.eye(nv)[k], to - v[k], side) for k, (to, side) in still.items()]
        R = np.array([row for row, _, _ in rows]).reshape(len(rows), nv)
        closing, locks = self.system.row_scales
        sizes = [
            *closing[: len(A)],
            *(x for x, on in zip(locks[n:count], z.ravel()[n:count]) if on > 0.5),
        ]
        # a row of one speed needs no scale of its own
        by = Metric(self.system.column_scales, np.array(sizes + [0.0] * len(still)))
        return M, R, np.array([x for _, x, _ in rows]), np.array([x for _, _, x in rows]), unit, by
