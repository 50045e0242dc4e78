"""Sinks: where the slices of runs go. Memory keeps them, File (`result_file.py`) writes them as
they come, TighterRun compares them with those of another sink.
"""

from __future__ import annotations

import time as clock
from dataclasses import dataclass
from functools import cache, cached_property, reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...results import Ledger, Result
from ..integrators import drivers
from . import record, result_memory

if TYPE_CHECKING:
    from ..handlers.contact_handler import ContactHandler
    from ..handlers.event_handler import Occurrence
    from ..integrators.engine import Tally
    from ..planning.plan import RunPlan
    from ..runners.runner import Runner, Slice
    from .record import ObservedRows

Array = NDArray[np.float64]
# how runs end that have reached their end, or an event that ends a run
COMPLETE = (drivers.REACHED, drivers.EVENT)


@dataclass(frozen=True)
class Outcome:
    """How runs ended. status: the worst status of all runs, see `drivers.OUTCOMES`. sentence: the
    same as a sentence. steps: the largest number of steps of a run.
    """

    status: int
    sentence: str
    steps: int

    @property
    def complete(self) -> bool:
        """Whether all runs reached their end, or an event that ends a run."""
        return self.status in COMPLETE


@dataclass(frozen=True)
class Difference:
    """The difference of a run from one with a tighter tolerance. largest: the largest difference of
    a coordinate. size: the scale relative to which it is judged. steps: the number of steps of the
    tighter run.
    """

    largest: float
    size: float
    steps: int
    stopped: str = ""

    def judge(self, ledger: Ledger) -> Ledger:
        """Return the ledger with a verdict on this difference."""
        return ledger.judged(self.largest, self.size, self.steps, self.stopped)


class EndedRun(Protocol):
    """The interface by which sinks read the end of a run; a `Runner` has it, and the `RunEnd` of a
    run in a batch.
    """

    @property
    def status(self) -> int:
        """The status of the drivers at the end, see `drivers.OUTCOMES`."""

    @property
    def sentence(self) -> str:
        """A sentence that says how the run ended."""

    @property
    def tally(self) -> Tally:
        """The steps and evaluations that it took."""

    @property
    def log(self) -> list[Occurrence]:
        """The events of the run."""

    @property
    def contacts(self) -> ContactHandler | None:
        """The handler of the contacts of the run, or None."""


class Sink(Protocol):
    """A consumer of the output rows of runs, slice by slice. rows: the runs of the plan that a
    slice belongs to.
    """

    def begin(self, runner: Runner) -> None:
        """Prepare for the first slice; a sink that resumes a run restores the runner here. By
        default nothing is done.
        """
        return

    def room(self, rows: slice) -> Array | None:
        """Return an array (lanes, 1 + times, size) into which the states of these runs, whole
        groups of lanes, may be written directly; by default None.
        """
        return None

    def take(self, part: Slice, runner: Any, rows: slice) -> None:
        """Take the next slice of the runs `rows`."""

    def finish(self, runner: Any, rows: slice) -> None:
        """Record that these runs have ended."""

    def interrupt(self, runner: Runner, rows: slice) -> None:
        """Record that these runs were interrupted; by default nothing is done."""
        return


class ResultSink(Sink, Protocol):
    """A sink that gives a Result."""

    plan: RunPlan

    @property
    def outcome(self) -> Outcome:
        """How the runs ended."""

    def coordinates(self, rows: slice, first: int, last: int) -> Array:
        """Return (run, last - first, nq): the coordinates of these runs and rows."""

    def result(self, difference: Difference | None = None) -> Result:
        """Return the result. difference: from a tighter run, for the ledger."""

    @property
    def partial(self) -> Result | None:
        """The result up to an interruption, unless it is stored elsewhere, as in a file; else
        None.
        """
        return None


def moved(part: Slice, count: int) -> tuple[Array, Array]:
    """Return states and inputs of a slice, for its first `count` runs, as arrays (run, time, ...);
    the other lanes hold copies.
    """
    return np.moveaxis(part.x, 2, 0)[:count], np.moveaxis(part.u, 2, 0)[:count]


# --- memory
class Memory(ResultSink):
    """A sink that holds the slices in memory, with how the groups of runs ended. The quantities
    that results show are computed when they are used.
    """

    def __init__(self, plan: RunPlan, began: float):
        self.plan, self.began = plan, began
        self.parts: dict[tuple[int, int], list[Slice]] = {}
        self.ended: dict[int, EndedRun] = {}
        plain = (
            plan.scheme.empty
            and not plan.system.clocks
            and not len(plan.switches)
            and plan.how.kind != "library"
        )
        lanes = len(plan.groups) * plan.width
        self.x = (
            result_memory.empty((lanes, 1 + len(plan.times), plan.system.size)) if plain else None
        )

    def begin(self, runner: Runner) -> None:
        """Let the drivers write directly into the memory of the result, if each run has as many
        rows as there are output times.
        """
        if self.x is not None:
            runner.engine.store = self.room(runner.rows)
            runner.engine.filled = 1

    def room(self, rows: slice) -> Array | None:
        """Return the part of the memory of the result for these runs, or None."""
        width = self.plan.width
        return (
            None
            if self.x is None
            else self.x[rows.start : rows.start + -(-(rows.stop - rows.start) // width) * width]
        )

    def take(self, part: Slice, runner: EndedRun, rows: slice) -> None:
        """Store the slice until the result is built."""
        parts = self.parts.setdefault((rows.start, rows.stop), [])
        if self.x is not None and not parts:
            self.x[rows, 0] = part.x[0].T[: rows.stop - rows.start]
        parts.append(part)

    def finish(self, runner: EndedRun, rows: slice) -> None:
        """Record how the group ended, and its events."""
        self.ended[rows.start] = runner

    def interrupt(self, runner: Runner, rows: slice) -> None:
        """Record the group as interrupted, with its events up to then."""
        runner.over = True
        runner.status = drivers.INTERRUPTED
        runner.sentence = f"interrupted at t = {runner.t:.9g} s"
        self.ended[rows.start] = runner

    @property
    def partial(self) -> Result | None:
        """The result of the rows so far, for a single run; else None."""
        return self.result() if len(self.plan.x0) == 1 and self.ended else None

    @property
    def outcome(self) -> Outcome:
        """The outcome of the group that ended worst."""
        worst = max(self.ended.values(), key=lambda runner: runner.status)
        return Outcome(
            worst.status, worst.sentence, max(r.tally.accepted for r in self.ended.values())
        )

    @cached_property
    def rows(self) -> ObservedRows:
        """The observed rows of all groups, up to the end of the shortest."""
        plan = self.plan
        lengths = {k: sum(len(c.t) for c in parts) for k, parts in self.parts.items()}
        shortest = min(lengths.values())
        longest = self.parts[max(lengths, key=lambda k: lengths[k])]
        x = (
            np.empty((len(plan.x0), shortest, plan.system.size))
            if self.x is None
            else self.x[: len(plan.x0), :shortest]
        )
        u = np.empty((len(plan.x0), shortest, plan.system.nu))
        for (first, last), parts in self.parts.items():
            at = 0
            for part in parts:
                here = (slice(first, last), slice(at, at + len(part.t)))
                own, held = (y[:, : max(0, shortest - at)] for y in moved(part, last - first))
                u[here] = held
                if self.x is None:
                    x[here] = own
                at += len(part.t)
        return record.observe(plan, np.concatenate([c.t for c in longest])[:shortest], x, u, plan.p)

    def coordinates(self, rows: slice, first: int, last: int) -> Array:
        """Return (run, last - first, nq): the coordinates of these runs and rows."""
        return self.rows.q[rows, first:last]

    def result(self, difference: Difference | None = None) -> Result:
        """Return the result; its rows and its ledger are computed when they are used. difference:
        from a tighter run, for the ledger.
        """
        plan = self.plan
        end = self.outcome
        spent = clock.perf_counter() - self.began
        happened = [(k, o) for k, end in sorted(self.ended.items()) for o in end.log]

        touched = {
            k: end.contacts for k, end in sorted(self.ended.items()) if end.contacts is not None
        }
        hits = [(k, hit) for k, contacts in touched.items() for hit in contacts.impacts.hits]
        contact = (
            reduce(or_, [contacts.ledger() for contacts in touched.values()]) if touched else None
        )

        def judge() -> Ledger:
            tallies = [r.tally for r in self.ended.values()]
            seen = record.extremes(plan, self.rows)
            found = record.ledger(plan, seen, tallies, end.status, end.sentence, spent, contact)
            return found if difference is None else difference.judge(found)

        shown = cache(lambda: record.dataset(plan, self.rows, happened, hits))
        return Result(shown, cache(judge), plan.machine.mechanism, {"machine": plan.machine})


# --- a tighter run
class TighterRun(Sink):
    """A sink that compares the slices of a run at a tighter tolerance with the rows of another
    sink, and stores only the differences.
    """

    def __init__(self, plan: RunPlan, other: ResultSink):
        self.plan, self.other = plan, other
        self.at: dict[int, int] = {}
        self.apart, self.moved = (
            np.zeros(plan.start_coordinates.shape),
            np.zeros(plan.start_coordinates.shape),
        )
        self.steps, self.stopped = 0, ""

    def take(self, part: Slice, runner: EndedRun, rows: slice) -> None:
        """Compare the coordinates of a slice with those of the other sink, row by row."""
        if not len(part.t):
            return
        first = self.at.get(rows.start, 0)
        self.at[rows.start] = first + len(part.t)
        q = record.observe(
            self.plan, part.t, *moved(part, rows.stop - rows.start), self.plan.p[rows]
        ).q
        coarser = self.other.coordinates(rows, first, first + len(part.t))
        for largest, x in (
            (self.apart, q[:, : coarser.shape[1]] - coarser),
            (self.moved, coarser - self.plan.start_coordinates[rows, None]),
        ):
            largest[rows] = np.maximum(largest[rows], np.abs(x).max(axis=1, initial=0.0))

    def finish(self, runner: EndedRun, rows: slice) -> None:
        """Add the steps of these runs to the count, and note whether they reached their end."""
        self.steps += runner.tally.accepted
        if runner.status not in COMPLETE:
            self.stopped = runner.sentence

    @property
    def difference(self) -> Difference:
        """The largest difference of a coordinate over all rows. Its `size` is chosen such that
        largest / size is the worst ratio, over all coordinates and rows, of a difference to the
        scale on which errors of that coordinate are judged (`error_scales.py`).
        """
        size = self.plan.coordinate_sizes
        largest = float(self.apart.max(initial=0.0))
        far = np.minimum((self.moved / size).max(axis=1, initial=0.0, keepdims=True), 1.0)
        scale = self.moved + size * (far + self.plan.rounding / self.other.plan.tolerance)
        worst = float((self.apart / scale).max(initial=0.0))
        return Difference(
            largest,
            largest / worst if worst else float(scale.max(initial=1.0)),
            self.steps,
            self.stopped,
        )
