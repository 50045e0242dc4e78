"""The file of a run, written while it goes on: memory does not grow with its length, and the file
is valid whenever the run is stopped.

    slice --observe--> waiting rows --> rows in the file, then its journal
    journal --> Checkpoint --> Runner
"""

from __future__ import annotations

import time as clock
import zlib
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import CatenaError, FormatError, SimulationError
from ...results import ContactLedger, Extremes, Result, load_result, storage
from ..integrators import drivers
from ..integrators.engine import Tally
from ..runners.runner import Checkpoint, Runner, Slice
from . import record
from .fingerprint import key
from .sinks import Difference, Outcome, ResultSink, moved

if TYPE_CHECKING:
    from ..planning.plan import RunPlan
    from .record import ObservedRows

Array = NDArray[np.float64]
WRITE_INTERVAL = 1.0  # s, between two writes of the file
WAITING_ROWS = 16384  # most rows that wait to be written


class WrittenLog(NamedTuple):
    """The part of the events and impacts that the file has: their number, their size in bytes,
    their checksum; and how many did not fit (`lost`).
    """

    events: int = 0
    impacts: int = 0
    size: int = 0
    checksum: int = 0
    lost: int = 0

    def and_(self, last: Checkpoint, room: int) -> tuple[WrittenLog, bytes]:
        """Return the record after adding the new events and impacts of a checkpoint, as far as
        `room` (bytes) allows, and the lines to be written.
        """
        events, impacts = _logged(last)
        lines = storage.log_lines(events[self.events :], impacts[self.impacts :])
        ends = list(accumulate(map(len, lines), initial=self.size))
        fit = 0 if self.lost else sum(end <= room for end in ends[1:])
        text = b"".join(lines[:fit])
        return (
            WrittenLog(
                len(events),
                len(impacts),
                ends[fit],
                zlib.crc32(text, self.checksum),
                self.lost + len(lines) - fit,
            ),
            text,
        )


def _logged(last: Checkpoint) -> tuple[list[Any], list[Any]]:
    """Return the events and the impacts of a checkpoint."""
    events = last.events or {"log": [], "contacts": None}
    return events["log"], (events["contacts"] or {"hits": []})["hits"]


def _without_log(events: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the part of the event handler's state that the journal stores: all but the events and
    impacts, which the log of the file has.
    """
    return events and {
        **events,
        "log": [],
        "contacts": events["contacts"] and {**events["contacts"], "hits": []},
    }


@dataclass(frozen=True)
class Progress:
    """How far the file has come at a slice boundary. It is replaced as a whole, so that a signal
    never finds half of it.

    row, number: the next row and journal to write. waiting: rows that are not written yet. seen:
    the extremes of all rows so far. last: the last checkpoint. log: which events and impacts are
    written.
    """

    row: int
    number: int
    waiting: tuple[dict[str, Array], ...]
    seen: Extremes
    last: Checkpoint
    log: WrittenLog

    @property
    def count(self) -> int:
        """The number of rows that are not written yet."""
        return sum(len(part["time"]) for part in self.waiting)


class File(ResultSink):
    """The file of one run, locked while it is written. resume: continue the run that it holds."""

    def __init__(self, path: Path, plan: RunPlan, began: float, resume: bool = False):
        if path.suffix != ".nc":
            raise CatenaError(
                f"{path}: a run is written as .nc, not {path.suffix or 'without a suffix'!r}"
            )
        if plan.lead:
            raise SimulationError(
                "a run that is written to a file is one run; the start has the leading shape"
                f" {plan.lead}. Write them one after another"
            )
        if resume and not path.exists():
            raise CatenaError(f"{path}: there is no run to resume; leave --resume away to begin it")
        self.path = path
        self.plan = plan
        self.began = began
        self.before = 0.0
        self.resumed = resume
        self.key, self.start = key(plan), np.zeros((1, 2))  # energies at the start
        self.places: dict[str, storage.FileRegion] = {}
        self.progress: Progress | None = None
        self.difference: Difference | None = None
        self.written = clock.perf_counter()
        self.lock = storage.lock(path)

    def __enter__(self) -> File:
        self.lock.__enter__()
        try:
            if self.resumed:
                self._reopen()
        except BaseException:
            self.lock.__exit__(None, None, None)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Release the lock. After an interruption, or an error of a controller, first bring the
        file to the state of the last slice boundary and note the reason in it.
        """
        try:
            if (
                error is not None
                and not isinstance(error, CatenaError)
                and self.progress is not None
            ):
                last = self.progress.last
                what = (
                    "interrupted"
                    if isinstance(error, KeyboardInterrupt)
                    else f"stopped by {type(error).__name__}: {error}"
                )
                self.write(
                    self.progress
                    if last.complete
                    else replace(
                        self.progress, last=replace(last, sentence=f"{what} at t = {last.t:.9g} s")
                    )
                )
        finally:
            self.lock.__exit__(None, None, None)

    # --- slices
    def take(self, part: Slice, runner: Runner, rows: slice) -> None:
        """Compute the observed quantities of a slice, and write rows to the file when enough of
        them are waiting; the first slice creates the file.
        """
        now = self.progress
        last = runner.checkpoint()
        if now is None:
            self.progress = self._create(self._observed(part), last)
            return
        waiting = now.waiting
        extremes = now.seen
        if len(part.t):
            seen = self._observed(part, self.start)
            shown = {
                name: values[0] for name, (_, values) in record.variables(self.plan, seen).items()
            }
            waiting = (*waiting, {"time": part.t, **shown})
            extremes = extremes | record.extremes(self.plan, seen)
        self.progress = replace(now, waiting=waiting, seen=extremes, last=last)
        if (
            self.progress.count >= WAITING_ROWS
            or clock.perf_counter() - self.written > WRITE_INTERVAL
        ):
            self.write(self.progress)

    def finish(self, runner: Runner, rows: slice) -> None:
        """Write the rows that are still waiting, and how the run ended."""
        last = replace(
            self._now.last, over=runner.over, status=runner.status, sentence=runner.sentence
        )
        self.progress = replace(self._now, last=last)
        self.write(self.progress)

    def _observed(self, part: Slice, start: Array | None = None) -> ObservedRows:
        """Return the observed rows of a slice."""
        return record.observe(self.plan, part.t, *moved(part, 1), self.plan.p, start)

    @property
    def _now(self) -> Progress:
        """The progress of a file that has been created."""
        assert self.progress is not None
        return self.progress

    @property
    def outcome(self) -> Outcome:
        """How the run ended."""
        last = self._now.last
        return Outcome(last.status, last.sentence, last.tally.accepted)

    def coordinates(self, rows: slice, first: int, last: int) -> Array:
        """Return (1, last - first, nq): the coordinates of these rows, read from the file."""
        return storage.rows_of(self.path, self.places["q"], first, last).reshape(
            1, -1, self.plan.system.nq
        )

    def result(self, difference: Difference | None = None) -> Result:
        """Return the result; its rows are read from the file when they are used. difference: the
        difference from a tighter run, for the ledger.
        """
        if difference is not None:
            self.difference = difference
            self.write(self._now)
        machine = self.plan.machine
        return replace(
            load_result(self.path, lazy=True, mechanism=machine.mechanism),
            shared={"machine": machine},
        )

    # --- the file
    def _create(self, first: ObservedRows, last: Checkpoint) -> Progress:
        """Make the file, with the first row and its journal. Raise CatenaError where it cannot be
        written.
        """
        plan, temporary, self.start = (
            self.plan,
            self.path.with_name(f".{self.path.name}.new"),
            first.start,
        )
        progress = Progress(1, 0, (), record.extremes(plan, first), last, WrittenLog())
        try:
            storage.create(
                temporary,
                # events and impacts are in the log
                record.dataset(plan, first).drop_dims(("occurrence", "impact", "component")),
                np.append(plan.start, plan.times),
                plan.system.size + plan.system.nu,
                0
                if last.events is None
                else storage.log_room(self.plan.system.nq + self.plan.system.nv),
            )
            self.places = storage.places(temporary)
            progress, lines = self._with_log(progress)
            storage.append(temporary, self.places, 0, {}, self.journal(progress), lines)
            temporary.replace(self.path)
        except (OSError, RuntimeError) as error:
            raise CatenaError(
                f"{self.path}: the results cannot be written there ({storage.reason(error)});"
                " nothing was computed"
            ) from None
        finally:
            storage.remove(temporary)
        return replace(progress, number=1)

    def _reopen(self) -> None:
        """Read the progress of the run from the file. Raise CatenaError where the file holds
        another run, and FormatError where its journal is damaged.
        """
        self.places = storage.places(self.path)
        try:
            found, log = storage.with_log(self.path)
        except (ValueError, TypeError, KeyError) as error:
            raise FormatError(
                self.path, f"its journal is damaged ({error}); the run cannot be resumed"
            ) from None
        for name in (name for name, now in self.key.items() if found.key.get(name) != now):
            short = not isinstance(self.key[name], str) or name in (
                "catena",
                "formulation",
                "integrator",
            )
            shown = f": it was {found.key.get(name)}, and is {self.key[name]}" if short else ""
            raise CatenaError(
                f"{self.path} holds another run, whose {name} differs{shown}; resume it as it was,"
                " or begin anew"
            )
        try:
            events = found.state["events"]
            if events:
                events = {
                    **events,
                    "log": log.events,
                    "contacts": events["contacts"] and {**events["contacts"], "hits": log.impacts},
                }
            last = Checkpoint(
                **{**found.state, "events": events, "tally": Tally(**found.state["tally"])}
            )
            self._possible(last, found.row)
            self.progress = Progress(
                found.row,
                found.number + 1,
                (),
                Extremes(**found.extremes),
                last,
                WrittenLog(
                    len(log.events), len(log.impacts), found.logged, found.checksum, found.lost
                ),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise FormatError(
                self.path, f"its journal is damaged ({error}); the run cannot be resumed"
            ) from None
        self.start = np.array([found.energy])
        self.before = found.wall_time

    def begin(self, runner: Runner) -> None:
        """Restore the runner from the checkpoint of the file, if it is resumed."""
        if self.progress is not None:
            runner.restore(self.progress.last)

    def _possible(self, last: Checkpoint, row: int) -> None:
        """Raise ValueError where a checkpoint cannot belong to this plan."""
        plan, s = self.plan, self.plan.system
        # below zero it is minus the longest first step, before that is taken
        step = -last.h if last.tally.accepted == 0 else last.h
        if not (plan.start <= last.t <= plan.until and 0 < max(step, last.h) < np.inf):
            raise ValueError(f"t = {last.t}, step {last.h}")
        if not (
            0 <= last.row <= len(plan.times) and 0 < row <= len(plan.times) + 1 and last.asked >= 0
        ):
            raise ValueError(f"row {row} of {len(plan.times) + 1}")
        for what, x, size in (("state", last.x, s.size), ("input", last.held, s.nu)):
            if np.shape(x) != (size,) or not np.isfinite(np.array(x, float)).all():
                raise ValueError(f"the {what} is not {size} finite numbers")

    def write(self, now: Progress) -> None:
        """Write all waiting rows, then the journal. A write that was interrupted is repeated in the
        same place.
        """
        rows = (
            {name: np.concatenate([part[name] for part in now.waiting]) for name in now.waiting[0]}
            if now.waiting
            else {}
        )
        after, lines = self._with_log(replace(now, row=now.row + now.count, waiting=()))
        try:
            storage.append(self.path, self.places, now.row, rows, self.journal(after), lines)
        except (OSError, RuntimeError) as error:
            raise CatenaError(
                f"{self.path}: the results could not be written ({storage.reason(error)}); the file"
                f" holds the first {now.row} rows, and --resume goes on from there"
            ) from None
        self.progress, self.written = replace(after, number=now.number + 1), clock.perf_counter()

    def _with_log(self, now: Progress) -> tuple[Progress, bytes]:
        """Return the progress after the new events and impacts have been added to its log, and the
        lines that are still to be written.
        """
        log, lines = now.log.and_(now.last, self.places[storage.LOG].count)
        return replace(now, log=log), lines

    def journal(self, now: Progress) -> storage.Journal:
        """Return the data with which the file can be read, and the run continued."""
        last = now.last
        spent = self.before + clock.perf_counter() - self.began
        outcome = last.sentence or f"not finished; it had come to t = {last.t:.9g} s"
        status = last.status if last.over else drivers.TOO_MANY
        touched = (last.events or {}).get("contacts")
        contact = ContactLedger(**touched["kept"]) if touched else None
        ledger = record.ledger(self.plan, now.seen, [last.tally], status, outcome, spent, contact)
        d = self.difference
        ledger = ledger if d is None else d.judge(ledger)
        state = asdict(replace(last, events=_without_log(last.events)))
        return storage.Journal(
            now.number,
            now.row,
            state,
            self.start[0].tolist(),
            asdict(now.seen),
            spent,
            self.key,
            asdict(ledger),
            now.log.size,
            now.log.checksum,
            now.log.lost,
        )
