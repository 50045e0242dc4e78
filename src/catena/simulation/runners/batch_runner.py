"""BatchRunner: the time loop of many runs in lanes by an adaptive method, with or without events.

Each round advances every run that has not ended to its next event or to the end of its slice, then
handles all their events: those of stops and of friction for all runs at once (`batch_events.py`),
others run by run (`event_handler.py`). No run depends on the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...compiler import default_width
from ...errors import SimulationError
from ..handlers.batch_events import SpeedEvents
from ..handlers.event_handler import EventHandler, Occurrence
from ..integrators import drivers
from ..integrators.engine import Engine, Tally
from ..integrators.lane_runs import LaneRuns, Whole
from ..terms.error_scales import FINEST, SHARE
from . import dead_positions, diagnostics
from .runner import ROWS_PER_SLICE, STATE_JUMP, STEPS_PER_SLICE, Slice, forces

if TYPE_CHECKING:
    from ..handlers.contact_handler import ContactHandler
    from ..planning.plan import RunPlan

Array = NDArray[np.float64]
TOGETHER = 64  # runs whose loops are looked at in one call


class LaneEvents(Protocol):
    """The interface to the events of runs in lanes, which are identified by their indices, each at
    its own time.
    """

    def begin(self, runs: Whole) -> dict[int, str]:
        """Handle the events at the start, before the first step. Return {run: reason for its
        end}.
        """

    def fell(self, runs: Whole, guards: Whole) -> tuple[dict[int, str], dict[int, str]]:
        """Handle the guard that fell to zero in each run. Return {run: reason for its end}, and
        {run: error} of runs that cannot go on.
        """

    def due(self, run: int) -> str:
        """Handle the events that are scheduled for the present time of a run. Return the reason for
        its end, or "".
        """

    def log(self, run: int) -> list[Occurrence]:
        """Return the events that have happened in a run."""

    def contacts(self, run: int) -> ContactHandler | None:
        """Return the handler of the contacts of a run, or None."""


@dataclass(frozen=True)
class RunEnd:
    """How a run ended, in the form that sinks read. status: see `drivers.OUTCOMES`. sentence: the
    same as a sentence. tally: its cost. log: its events. contacts: the handler of its contacts, or
    None.
    """

    status: int
    sentence: str
    tally: Tally
    log: list[Occurrence] = field(default_factory=list)
    contacts: ContactHandler | None = None


class BatchRunner:
    """The runs `rows` of a plan, in progress. room: an array (at least as many runs, 1 + times,
    size) into which their states are written; None: a new one.
    """

    def __init__(self, plan: RunPlan, rows: slice, room: Array | None = None):
        self.plan = plan
        self.rows = rows
        s = plan.system
        plain = plan.scheme.empty
        x = plan.x0[rows].copy()
        p = plan.p[rows]
        held = np.zeros((len(x), s.nu))
        held[:, s.nv :] = s.holding.start()
        if plan.control is not None and not hasattr(plan.control, "law"):
            held[:, : s.nv] = forces(s.nv, plan.control)[:, 0]
        self.lanes = LaneRuns(
            s,
            plan.how,
            x,
            np.ascontiguousarray(np.hstack([held, p])),
            t=plan.start,
            h=plan.step,
            width=default_width() if plain else min(default_width(), _power_of_two(len(x))),
            rtol=max(SHARE * plan.tolerance, FINEST),
            scales=plan.scales,
            origin=plan.scales.origin(plan.x0[rows]),
            largest=plan.largest,
        )
        self.events: LaneEvents = (
            NoEvents()
            if plain
            else (
                SpeedEvents(plan, self.lanes)
                if SpeedEvents.serves(plan)
                else SeparateEvents(plan, self.lanes, rows)
            )
        )
        count = len(x)
        size = 1 + len(plan.times)
        self.out = np.empty((count, size, s.size)) if room is None else room[:count]
        # without events, inputs and modes stay what they were at the start
        self.held = np.empty((count, size, 0 if plain else s.nu))
        self.status, self.over = np.zeros(count, np.int64), np.zeros(count, bool)
        self.scheduled = np.array([at for at, _ in plan.scheme.timed])
        self._tears = dead_positions.can_tear(plan)
        # runs whose segments are short, since a longer one opened a loop
        self._closely = np.zeros(count, bool)
        self.sentences: dict[int, str] = {}
        # state, and inputs and modes, of runs that an event ended
        self.last: dict[int, tuple[Array, Array]] = {}

    def run(self) -> Iterator[float]:
        """Run to the end, and yield the time that all runs have reached (s) after each round."""
        self._begin()
        while not self.over.all():
            self._advance(np.flatnonzero(~self.over))
            yield float(self.lanes.t.min())

    def _begin(self) -> None:
        """Write the rows of the start, and handle the events at that instant."""
        lanes = self.lanes
        nu = self.plan.system.nu
        x = lanes.x.copy()
        held = lanes.given[:, :nu].copy()
        self.out[:, 0] = x
        if self.plan.scheme.empty:
            return
        for run, by in self.events.begin(np.arange(len(x))).items():
            self._end(run, by)
        # modes after an impact do not fit the state before it
        jumped = np.abs(lanes.x - x).max(axis=1) > STATE_JUMP * np.abs(x).max(axis=1)
        self.held[:, 0] = np.where(jumped[:, None], held, lanes.given[:, :nu])

    def _advance(self, runs: Whole) -> None:
        """Advance each of these runs by its next segment, then handle their events."""
        plan, lanes = self.plan, self.lanes
        end, until_row = self._until(runs)
        taken = lanes.tally[:, :2].sum(axis=1)
        most = np.minimum(plan.most - taken, self._steps)
        start = self._segment_start() if self._tears else ()
        rows = lanes.row.copy()
        lanes.advance(runs, end, until_row, most, plan.times, self.out, self.held, 1)
        status, self.status[runs] = lanes.ended[runs, 0], lanes.ended[runs, 0]
        if self._tears:
            going = self._end_torn(runs, rows, start)
            runs, status = runs[going], status[going]
        fell = runs[status == drivers.EVENT]
        if len(fell):
            ended, failed = self.events.fell(fell, lanes.ended[fell, 1])
            self.status[fell] = drivers.REACHED
            for run, by in ended.items():
                self._end(run, by)
            for run, why in failed.items():
                self._end_with(run, why)
        for run in runs[(status == drivers.REACHED) & np.isin(lanes.t[runs], self.scheduled)]:
            self._due(int(run))
        again = (status == drivers.TOO_MANY) & (lanes.tally[runs, :2].sum(axis=1) < plan.most)
        self.status[runs[again]] = drivers.REACHED
        at_end = runs[(lanes.t[runs] >= plan.until) & (self.status[runs] == drivers.REACHED)]
        self.over[at_end] = True
        for run in runs[
            ~np.isin(self.status[runs], (drivers.REACHED, drivers.EVENT)) & ~self.over[runs]
        ]:
            self._fail(int(run))

    @property
    def _steps(self) -> Whole | int:
        """Return the largest number of steps in the next segment of each run."""
        if not self._tears:
            return STEPS_PER_SLICE["adaptive"]
        return np.where(self._closely, dead_positions.STEPS_NEAR_TEAR, dead_positions.WATCHED_STEPS)

    def _segment_start(self) -> tuple[Array | Whole, ...]:
        return tuple(x.copy() for x in self._changing)

    @property
    def _changing(self) -> tuple[Array | Whole, ...]:
        """Return the arrays that a segment changes; copies of them can undo the segment."""
        lanes = self.lanes
        x = (lanes.x, lanes.t, lanes.h, lanes.row, lanes.tally, lanes.moved, lanes.watch)
        return (*x, lanes.sides.sides, lanes.sides.seen, lanes.sides.far)

    def _end_torn(
        self, runs: Whole, rows: Whole, start: tuple[Array | Whole, ...]
    ) -> NDArray[np.bool_]:
        """End the runs whose prescribed motion has torn a loop, with the rows up to there, and
        return which others go on. rows: the number of rows that each had before. If a long segment
        has opened a loop, the run is set back to the start of the segment, and advanced again in
        short segments.
        """
        plan, lanes = self.plan, self.lanes
        going = np.ones(len(runs), bool)
        for k, found in self._openings(runs, rows):
            if (found <= dead_positions.CLOSED_LOOP).all():
                continue
            run = int(runs[k])
            is_open = np.flatnonzero(dead_positions.is_torn(found))
            going[k] = self._closely[run] and not len(is_open)
            if going[k]:
                continue
            if not self._closely[run]:
                self._closely[run] = True
                self.status[run] = drivers.REACHED
                for now, before in zip(self._changing, start):
                    now[run] = before[run]
                lanes.forget_switches(run)
                continue
            n, first = 1 + int(lanes.row[run]), 1 + int(rows[run]) + int(is_open[0])
            t = np.append(plan.start, plan.times[: n - 1])
            after = float(t[first]) if first < n else float(lanes.t[run])
            lanes.row[run] = first - 1
            opening = self._opening(t[:first], self.out[run, :first], np.full(first, run))
            last = int(np.flatnonzero(opening <= dead_positions.CLOSED_LOOP)[-1:].max(initial=0))
            p = lanes.given[run, plan.system.nu :]
            self._end_with(
                run, dead_positions.sentence(plan, float(t[last]), self.out[run, last], after, p)
            )
        return going

    def _openings(self, runs: Whole, rows: Whole) -> Iterator[tuple[int, Array]]:
        """Return how far loops are open in each run, at its new rows and at its present state. Many
        runs are evaluated together.
        """
        lanes, times = self.lanes, self.plan.times
        for begin in range(0, len(runs), TOGETHER):
            some = runs[begin : begin + TOGETHER].tolist()
            new = [slice(int(rows[run]), int(lanes.row[run])) for run in some]
            counts = [1 + s.stop - s.start for s in new]
            t = [np.append(times[s], lanes.t[run]) for run, s in zip(some, new)]
            x = [
                part
                for run, s in zip(some, new)
                for part in (self.out[run, 1 + s.start : 1 + s.stop], lanes.x[run : run + 1])
            ]
            found = self._opening(np.concatenate(t), np.concatenate(x), np.repeat(some, counts))
            yield from enumerate(np.split(found, np.cumsum(counts)[:-1]), begin)

    def _opening(self, t: Array, x: Array, run: Whole) -> Array:
        """Return (n,): how far loops are open in states x (n, size) at times t (n,) of the runs
        with indices `run` (n,).
        """
        nu = self.plan.system.nu
        given = self.lanes.given[run]
        return dead_positions.openings(self.plan, t, x, given[:, :nu], given[:, nu:])

    def _due(self, run: int) -> None:
        """Handle the events that are scheduled for the present time of a run."""
        try:
            if by := self.events.due(run):
                self._end(run, by)
        except SimulationError as error:
            self._end_with(run, str(error))

    def _end_with(self, run: int, why: str) -> None:
        """End a run that cannot go on. why: the reason."""
        self.over[run], self.status[run], self.sentences[run] = True, drivers.NOT_FINITE, why

    def _until(self, runs: Whole) -> tuple[Array, Whole]:
        """Return for each run the end of its next segment (s), and the index after its last row, as
        `Runner` computes them.
        """
        plan = self.plan
        lanes = self.lanes
        count = len(self.plan.times)
        last = np.minimum((lanes.row // ROWS_PER_SLICE + 1) * ROWS_PER_SLICE, count)
        end = np.where(
            last < count, plan.times[np.maximum(last, 1) - 1] if count else plan.until, plan.until
        )
        later = np.append(self.scheduled, np.inf)
        end = np.minimum(end, later[np.searchsorted(self.scheduled, lanes.t, side="right")])
        return end, np.minimum(np.searchsorted(plan.times, end, side="right"), last)

    def _end(self, run: int, by: str) -> None:
        """End a run because of an event, whose instant becomes its last row unless it is one
        already.
        """
        lanes, plan = self.lanes, self.plan
        t = float(lanes.t[run])
        self.over[run], self.status[run] = True, drivers.EVENT
        self.sentences[run] = f"ended by {by!r} at t = {t:.9g} s"
        if lanes.row[run] > 0 and plan.times[lanes.row[run] - 1] == t:
            lanes.row[run] -= 1
        self.last[run] = lanes.x[run].copy(), lanes.given[run, : plan.system.nu].copy()

    def _fail(self, run: int) -> None:
        """End a run that the driver could not advance; the message contains the likely reason."""
        engine = alone(self.plan, self.lanes, run, self.rows)
        engine.watch[0] = self.lanes.watch[run]
        engine.tally.switches = self.lanes.switches.get(run, [])
        self.over[run] = True
        self.sentences[run] = diagnostics.sentence(
            self.plan.machine, engine, int(self.status[run]), float(self.lanes.t[run])
        )

    # --- what sinks take
    @property
    def parts(self) -> list[slice]:
        """The parts in which sinks receive the runs: all together if every run has all of its rows,
        otherwise one by one.
        """
        whole = (self.status == drivers.REACHED) & (self.lanes.row == len(self.plan.times))
        return [self.rows] if whole.all() else self.each

    @property
    def each(self) -> list[slice]:
        """Each run as a part of its own."""
        return [slice(k, k + 1) for k in range(self.rows.start, self.rows.stop)]

    def slice_of(self, part: slice) -> Slice:
        """Return all rows of one of the `parts`."""
        runs = slice(part.start - self.rows.start, part.stop - self.rows.start)
        nu = self.plan.system.nu
        n = 1 + int(self.lanes.row[runs.start])
        t = np.append(self.plan.start, self.plan.times[: n - 1])
        x = self.out[runs, :n].transpose(1, 2, 0)
        if self.plan.scheme.empty:
            return Slice(t, x, np.broadcast_to(self.lanes.given[runs, :nu].T, (n, nu, x.shape[2])))
        u = self.held[runs, :n].transpose(1, 2, 0)
        if runs.start in self.last:
            own, held = self.last[runs.start]
            t = np.append(t, self.lanes.t[runs.start])
            x = np.concatenate([x, own[None, :, None]])
            u = np.concatenate([u, held[None, :, None]])
        return Slice(t, x, u)

    def end_of(self, run: int) -> RunEnd:
        """Return how one run ended."""
        status = int(self.status[run])
        lanes = self.lanes
        sentence = self.sentences.get(run, drivers.OUTCOMES[status])
        accepted, rejected, evaluations = lanes.tally[run].tolist()
        switches = lanes.switches.get(run, [])
        tally = Tally(accepted, rejected, evaluations, float(lanes.h[run]), switches=switches)
        if accepted + rejected >= diagnostics.MANY_STEPS:
            tally.laboured = f"a run took {accepted + rejected} steps"
        return RunEnd(status, sentence, tally, self.events.log(run), self.events.contacts(run))


def alone(plan: RunPlan, lanes: LaneRuns, run: int, rows: slice) -> Engine:
    """Return an engine with a single lane that holds one run; `run` is its index within `rows` of
    the plan.
    """
    engine = plan.engine(slice(0, 1))
    number = rows.start + run
    engine.x[:], engine.held[:], engine.p[:] = (
        x[:, None] for x in (lanes.x[run], lanes.given[run, : plan.system.nu], plan.p[number])
    )
    engine.h = float(lanes.h[run])
    return engine


def _power_of_two(count: int) -> int:
    """Return the smallest power of two that is at least `count`."""
    return 1 << (count - 1).bit_length()


class NoEvents(LaneEvents):
    """The events of runs that have none."""

    def begin(self, runs: Whole) -> dict[int, str]:
        """Return an empty dictionary, because no run ends at its start."""
        return {}

    def fell(self, runs: Whole, guards: Whole) -> tuple[dict[int, str], dict[int, str]]:
        """Return two empty dictionaries, because there are no guards."""
        return {}, {}

    def due(self, run: int) -> str:
        """Return "", because no event is scheduled."""
        return ""

    def log(self, run: int) -> list[Occurrence]:
        """Return an empty list, because no event has happened."""
        return []

    def contacts(self, run: int) -> ContactHandler | None:
        """Return None, because there are no contacts."""
        return None


class SeparateEvents(LaneEvents):
    """Events that each run handles separately, with its own engine and event handler."""

    def __init__(self, plan: RunPlan, lanes: LaneRuns, rows: slice):
        self.plan, self.lanes = plan, lanes
        self.handlers = [
            EventHandler(plan.scheme, plan.machine, alone(plan, lanes, k, rows))
            for k in range(len(lanes.x))
        ]

    def _handled(self, run: int, call: Any, *given: Any) -> str:
        """Call a method of the event handler of a run, with the present state of that run. Return
        the reason for its end, or "".
        """
        handler = self.handlers[run]
        lanes = self.lanes
        nu = self.plan.system.nu
        engine = handler.engine
        engine.x[:, 0], engine.held[:, 0] = lanes.x[run], lanes.given[run, :nu]
        engine.origin[0], engine.moved[0] = lanes.origin[run], lanes.moved[run]
        ended = call(handler, float(lanes.t[run]), *given)
        lanes.x[run], lanes.given[run, :nu] = engine.x[:, 0], engine.held[:, 0]
        lanes.origin[run], lanes.moved[run] = engine.origin[0], engine.moved[0]
        return handler.ended_by if ended else ""

    def begin(self, runs: Whole) -> dict[int, str]:
        """Handle the events at the start, before the first step. Return {run: reason for its
        end}.
        """
        found = {int(run): self._handled(run, EventHandler.begin) for run in runs}
        return {run: by for run, by in found.items() if by}

    def fell(self, runs: Whole, guards: Whole) -> tuple[dict[int, str], dict[int, str]]:
        """Handle the guard that fell to zero in each run. Return {run: reason for its end}, and
        {run: error} of runs that cannot go on.
        """
        ended, failed = {}, {}
        for run, guard in zip(runs, guards):
            try:
                if by := self._handled(run, EventHandler.fell, int(guard)):
                    ended[int(run)] = by
            except SimulationError as error:
                failed[int(run)] = str(error)
        return ended, failed

    def due(self, run: int) -> str:
        """Handle the events that are scheduled for the present time of a run. Return the reason for
        its end, or "".
        """
        return self._handled(run, EventHandler.due)

    def log(self, run: int) -> list[Occurrence]:
        """Return the events that have happened in a run."""
        return self.handlers[run].log

    def contacts(self, run: int) -> ContactHandler | None:
        """Return the handler of the contacts of a run, or None."""
        return self.handlers[run].contacts
