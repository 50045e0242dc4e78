"""Runner: the time loop of a group of runs, as a generator of slices.

A slice is a piece of the run with its output rows. It ends after a number of rows or steps that
depends on nothing but the plan, so that a run that was stopped after any slice and restarted from
its checkpoint is the same, bit for bit, as one that was not stopped. Between slices Python
controllers are sampled and events are handled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import SimulationError
from .. import handlers
from ..integrators import drivers
from ..planning.plan import RunPlan, decoded
from . import dead_positions, diagnostics

if TYPE_CHECKING:
    from ..handlers.contact_handler import ContactHandler
    from ..handlers.event_handler import Occurrence
    from ..integrators.engine import Engine, Pieces, Tally

Array = NDArray[np.float64]
ROWS_PER_SLICE = 4096  # most rows in a slice
# most steps in a slice, by kinds of methods; those with equal steps have EQUAL_STEPS_PER_SLICE
STEPS_PER_SLICE = {"adaptive": 2000, "rosenbrock": 2000, "library": 200}
# change of a state relative to its largest number: with more the state has jumped
STATE_JUMP = 1e-9
EQUAL_STEPS_PER_SLICE = 20_000  # most steps in a slice of a method with equal steps


@dataclass(frozen=True)
class Slice:
    """Output rows of W runs: times (n,), states (n, size, W), held inputs and modes (n, nu, W)."""

    t: Array
    x: Array
    u: Array


@dataclass(frozen=True)
class Checkpoint:
    """One run between two slices: everything that the next slice depends on.

    t: s. row: the index of the next output time. asked: the number of samples of a Python
    controller so far. h: the next step, s. x, held: the state; inputs and modes. tally: its cost.
    events: the state of the event handler, or None. over, status, sentence: whether and how it has
    ended. moved: how far and how fast it has moved; origin: the state at its start or at its last
    impact (`error_scales.py`). sides: on which side of zero the conditions of events were last seen
    (`guard_sides.py`). watch: the evidence of its stiffness (`stiffness.py`).
    """

    t: float
    row: int
    asked: int
    h: float
    x: list[float]
    held: list[float]
    tally: Tally
    events: dict[str, Any] | None
    over: bool
    status: int
    sentence: str
    moved: tuple[float, ...] = (0.0, 0.0)
    origin: tuple[float, ...] = ()
    sides: list[list[float]] = field(default_factory=list)
    watch: tuple[float, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the run has reached its end, or an event that ends it."""
        return self.over and self.status in (drivers.REACHED, drivers.EVENT)


class _SliceStart(NamedTuple):
    """The state at the beginning of a slice of a single run, from which the slice can be computed
    again.
    """

    t: float
    row: int
    filled: int  # rows in the engine's store
    h: float
    x: Array
    moved: Array
    tally: Tally
    sides: list[list[float]]
    watch: Array


class Runner:
    """A group of runs in progress: the engine, the event handler (`agenda`), and the time and
    output row reached.
    """

    def __init__(self, plan: RunPlan, rows: slice = slice(0, 1)):
        self.plan, self.rows, self.engine = plan, rows, plan.engine(rows)
        self.agenda = (
            handlers.EventHandler(plan.scheme, plan.machine, self.engine)
            if not plan.scheme.empty
            else None
        )
        control = plan.control
        self.sampled = callable(control) and not hasattr(control, "law")
        self.sample = float(getattr(control, "sample", 0.0)) if self.sampled else np.inf
        if self.sampled and not self.sample > 0:
            raise SimulationError(
                "a Python controller needs a sample time: set control.sample = 0.001 (seconds)"
            )
        if control is not None and not self.sampled and not hasattr(control, "law"):
            self.engine.u[:] = forces(self.engine.system.nv, control)
        self._tears = dead_positions.can_tear(plan)
        # the last time at which all loops were closed, and the states there
        self._last_closed = plan.start, self.engine.x.copy()
        self._closely = False  # whether slices are short, since a longer one opened a loop
        self.slowest = diagnostics.SlowestSlice()
        self.t = plan.start
        self.row = 0
        self.asked = 0
        if plan.forces is not None:
            self.engine.u[:] = self.engine.pieces.forces[:, 0].T
        self.status = drivers.REACHED
        self.over = False
        self.sentence = ""
        self.begun = False

    def slices(self) -> Iterator[Slice]:
        """Yield slices up to the end of the run. The first is the row of the start, unless the run
        continues from a checkpoint.
        """
        if not self.begun:
            yield self._begin()
        while not self.over:
            try:
                part = self.advance()
            except SimulationError as error:  # the rows so far are kept
                self._fail(str(error))
                return
            yield part

    def _begin(self) -> Slice:
        """Handle the events at the start, and return the row of the start."""
        self.begun, x, held = True, self.engine.x.copy(), self.engine.held.copy()
        ended = self.agenda.begin(self.t) if self.agenda is not None else False
        if self.sampled:
            if begin := getattr(self.plan.control, "begin", None):  # a controller with a state
                begin(self.t)
            self._sample_controller()
        if ended:
            self._end()
        # modes after an impact do not fit the state before it
        jumped = np.abs(self.engine.x - x).max() > STATE_JUMP * np.abs(x).max()
        return Slice(
            np.array([self.t]), x[None], (held if jumped else self.engine.held.copy())[None]
        )

    def advance(self) -> Slice:
        """Advance by one slice, and return its rows."""
        plan, engine = self.plan, self.engine
        if self.sampled and self.t >= plan.start + self.asked * self.sample:
            self._sample_controller()
        end, last = self._until()
        if plan.forces is not None and plan.adaptive:
            engine.u[:] = engine.pieces.forces[:, engine.pieces.number(self.t, after=True)].T
        taken = engine.tally.accepted + engine.tally.rejected
        if engine.W == 1:  # runs side by side, each with its steps, end a slice together
            engine.most = min(plan.most, taken + self._steps)
        start = self._slice_start() if self._tears and engine.W == 1 else None
        began = self.t
        part = engine.run(plan.after_switch(self.t), end, plan.times[self.row : last])
        engine.most = plan.most
        taken = engine.tally.accepted + engine.tally.rejected
        n = len(part.rows)
        t = plan.times[self.row : self.row + n]
        x = part.rows
        u = self._held(t)
        self.row, self.t, self.status = self.row + n, plan.at_switch(part.t), part.status
        # an output time at a switch of the plan
        if self.t > part.t and self.row < len(plan.times) and plan.times[self.row] == self.t:
            t = np.append(t, self.t)
            x = np.concatenate([x, engine.x[None]])
            u = self._held(t)
            self.row = self.row + 1
            n = n + 1
        if self._tears and (torn := self._torn(t, x, u, start)) is not None:
            return torn
        if self.status == drivers.TOO_MANY and taken < plan.most:
            self.status = drivers.REACHED  # only the limit of this slice was reached
            self.slowest.compare(began, self.t, engine)
            if engine.W == 1 and self.slowest.is_hopeless(
                began, self.t, plan.until, self._steps, plan.most
            ):
                self.over, self.status = True, drivers.TOO_SMALL
                self.sentence = diagnostics.sentence(plan.machine, engine, self.status, self.t)
            return Slice(t, x, u)
        try:
            ended = self._events(part.event)
        except SimulationError as error:
            self._fail(str(error))
            return Slice(t, x, u)
        if ended:
            self._end()
            n -= int(n > 0 and t[-1] == self.t)  # the instant of the end is the last row, once
            t = np.append(t[:n], self.t)
            x = np.concatenate([x[:n], engine.x[None]])
            u = np.concatenate([u[:n], engine.held[None]])
        elif self.status != drivers.REACHED or self.t >= plan.until:
            self.over, self.sentence = (
                True,
                diagnostics.sentence(plan.machine, engine, self.status, self.t),
            )
        if self.over:
            engine.tally.laboured = self.slowest.sentence(plan.machine, engine)
        return Slice(t, x, u)

    @property
    def _steps(self) -> int:
        """Return the largest number of steps in the next slice."""
        usual = STEPS_PER_SLICE.get(self.plan.how.kind, self.plan.most)
        if not self._tears:
            return usual
        return min(
            usual, dead_positions.STEPS_NEAR_TEAR if self._closely else dead_positions.WATCHED_STEPS
        )

    def _slice_start(self) -> _SliceStart:
        e = self.engine
        return _SliceStart(
            self.t,
            self.row,
            e.filled,
            e.h,
            e.x.copy(),
            e.moved.copy(),
            e.tally.copy(),
            e.sides.to_list(),
            e.watch.copy(),
        )

    def _go_back(self, start: _SliceStart) -> None:
        e = self.engine
        self.t, self.row, e.filled = start.t, start.row, start.filled
        e.h, e.tally = start.h, start.tally
        e.x[:], e.moved[:], e.watch[:] = start.x, start.moved, start.watch
        e.sides.restore(start.sides)

    def _torn(self, t: Array, x: Array, u: Array, start: _SliceStart | None) -> Slice | None:
        """Return the rows of a slice up to where its prescribed motion tears a loop, which ends the
        run; None where no loop is torn. start: the beginning of the slice, if it can be computed
        again.
        """
        e = self.engine
        every = np.append(t, self.t)
        states, held = np.concatenate([x, e.x[None]]), np.concatenate([u, e.held[None]])
        opening = self._openings(every, states, held)
        torn = np.argwhere(dead_positions.is_torn(opening))
        first, lane = (int(k) for k in torn[0]) if len(torn) else (len(every), 0)
        is_closed = np.asarray((opening <= dead_positions.CLOSED_LOOP).all(axis=1))
        closed = np.flatnonzero(is_closed[:first])
        if len(closed):
            self._last_closed = float(every[closed[-1]]), states[closed[-1]].copy()
        if start is not None and not self._closely and not is_closed.all():
            self._closely = True
            self._go_back(start)
            return self.advance()
        if not len(torn):
            return None
        last, whole = self._last_closed
        self.row -= len(t) - min(first, len(t))
        self.t = last
        self._fail(
            dead_positions.sentence(
                self.plan, last, whole[:, lane], float(every[first]), e.p[:, lane]
            )
        )
        return Slice(t[:first], x[:first], u[:first])

    def _openings(self, t: Array, x: Array, u: Array) -> Array:
        """Return (rows, W): how far loops are open, relative to their lengths."""
        n, _, W = x.shape
        states, held = (a.transpose(0, 2, 1).reshape(n * W, -1) for a in (x, u))
        p = np.tile(self.engine.p.T, (n, 1))
        return dead_positions.openings(self.plan, np.repeat(t, W), states, held, p).reshape(n, W)

    def _held(self, t: Array) -> Array:
        """Return (rows, nu, W): the inputs and modes at rows that were just computed; of piecewise
        constant forces, those that acted up to each row.
        """
        stepped = self.plan.forces is not None and not self.plan.adaptive
        return held_at(t, self.engine.held.copy(), self.engine.pieces if stepped else None)

    def _fail(self, why: str) -> None:
        """End the run with an error."""
        self.over = True
        self.status = drivers.NOT_FINITE
        self.sentence = why

    def _until(self) -> tuple[float, int]:
        """Return the end of the next slice (s) if no event ends it before, and the index after that
        of its last output row.
        """
        times = self.plan.times
        length = rows_of_slice(self.plan)
        last = min((self.row // length + 1) * length, len(times))
        end = times[last - 1] if last < len(times) else self.plan.until
        end = min(end, self.plan.start + self.asked * self.sample) if self.sampled else end
        end = min(end, self.agenda.next(self.t)) if self.agenda is not None else end
        end = min(end, self.plan.before_switch(self.t))
        if self.plan.forces is not None and self.plan.adaptive:
            pieces = self.engine.pieces
            end = min(end, pieces.begin + (pieces.number(self.t, after=True) + 1) * pieces.span)
        return end, self.row + int(np.searchsorted(times[self.row : last], end, side="right"))

    def _events(self, event: int) -> bool:
        """Handle the events that are due. Return whether the run ends."""
        if self.agenda is None:
            return False
        if self.status == drivers.EVENT:
            ended = self.agenda.fell(self.t, event)
            self.status = drivers.REACHED
            return ended
        return self.agenda.due(self.t) if self.status == drivers.REACHED else False

    def _end(self) -> None:
        """End the run because of the event that was just handled."""
        assert self.agenda is not None
        self.over = True
        self.status = drivers.EVENT
        self.sentence = f"ended by {self.agenda.ended_by!r} at t = {self.t:.9g} s"

    def _sample_controller(self) -> None:
        """Evaluate the Python controller at the present time."""
        ask(self.engine, self.plan.control, self.t)
        self.asked += 1

    # --- what sinks read
    @property
    def tally(self) -> Tally:
        """The cost so far."""
        return self.engine.tally

    @property
    def log(self) -> list[Occurrence]:
        """The events that have happened."""
        return self.agenda.log if self.agenda is not None else []

    @property
    def contacts(self) -> ContactHandler | None:
        """The handler of the contacts of the run, or None."""
        return self.agenda.contacts if self.agenda is not None else None

    # --- to continue later
    def checkpoint(self) -> Checkpoint:
        """Return the state of a single run between two slices."""
        e = self.engine
        events = self.agenda.checkpoint() if self.agenda is not None else None
        return Checkpoint(
            self.t,
            self.row,
            self.asked,
            e.h,
            e.x[:, 0].tolist(),
            e.held[:, 0].tolist(),
            e.tally.copy(),
            events,
            self.over,
            self.status,
            self.sentence,
            tuple(e.moved[0].tolist()),
            tuple(e.origin[0].tolist()),
            e.sides.to_list() if self.agenda is not None else [],
            tuple(e.watch[0].tolist()),
        )

    def restore(self, c: Checkpoint) -> None:
        """Continue from a checkpoint; a run that had failed is tried again from there."""
        e, self.begun = self.engine, True
        self.t = c.t
        self.row = c.row
        self.asked = c.asked
        e.h = c.h
        e.x[:, 0], e.held[:, 0], e.moved[0] = c.x, c.held, c.moved
        if c.origin:
            e.origin[0] = c.origin
        if c.watch:
            e.watch[0] = c.watch
        e.tally = c.tally.copy()
        if self.agenda is not None:
            e.sides.restore(c.sides)
        if c.complete:
            self.over = True
            self.status = c.status
            self.sentence = c.sentence
        if self.agenda is not None and c.events is not None:
            self.agenda.restore(c.events)


def rows_of_slice(plan: RunPlan) -> int:
    """Return the largest number of rows in a slice of this plan."""
    if plan.how.kind in STEPS_PER_SLICE or len(plan.times) < 2:
        return ROWS_PER_SLICE
    between = float(plan.times[1] - plan.times[0])
    return int(min(max(EQUAL_STEPS_PER_SLICE / max(1.0, between / plan.step), 1), ROWS_PER_SLICE))


def held_at(t: Array, held: Array, pieces: Pieces | None) -> Array:
    """Return (rows, nu, W): the inputs and modes at rows with times t (s): `held` (nu, W) at all
    rows, except piecewise constant forces, of which those that acted up to each row.
    """
    now = np.broadcast_to(held, (len(t), *held.shape))
    if pieces is None:
        return now
    at = pieces.number(t)
    own = (
        pieces.forces[:, at[0] : at[-1] + 1]
        if len(at) and np.all(np.diff(at) == 1)
        else pieces.forces[:, at]
    )
    own = own.transpose(1, 2, 0)
    return own if own.shape == now.shape else np.concatenate([own, now[:, own.shape[1] :]], axis=1)


# --- controllers in Python
def forces(nv: int, control: Any) -> Array:
    """Return constant joint forces as (nv, 1), N m or N. Raise SimulationError where `control` is
    not nv finite numbers.
    """
    try:
        given = np.asarray(control, float)
    except (TypeError, ValueError):
        raise SimulationError(
            f"control is a {type(control).__name__}; it is joint forces, a controller, or a"
            " function (t, q, v) -> forces"
        ) from None
    if given.shape != (nv,) or not np.isfinite(given).all():
        raise SimulationError(
            f"control has shape {given.shape}; constant joint forces are {nv} finite numbers, one"
            " per speed"
        )
    return given[:, None]


def ask(engine: Engine, control: Any, t: float) -> None:
    """Set the inputs to the forces that a Python controller returns at t (s); they are held until
    its next sample. Raise SimulationError where it returns another shape, or a number that is not
    finite.
    """
    s = engine.system
    q, v = decoded(s, engine.x, engine.p)
    one = engine.W == 1
    answer = np.asarray(control(t, q[0], v[0]) if one else control(t, q, v), dtype=float)
    wanted = (s.nv,) if one else (engine.W, s.nv)
    if answer.shape != wanted:
        message = f"the controller returned shape {answer.shape} at t = {t:g} s"
        raise SimulationError(f"{message}; it returns {wanted}, one force per speed")
    if not np.isfinite(answer).all():
        k = int(np.argwhere(~np.isfinite(answer))[0][-1])
        names = list(s.mechanism.speed_names)
        message = f"the controller returned {answer[..., k]} for {names[k]!r} at t = {t:g} s"
        raise SimulationError(f"{message}; it returns finite numbers")
    engine.u[:] = answer.reshape(engine.W, s.nv).T
