"""stream: a run that goes to disk while it runs. Memory does not grow with its length; whatever stops it, the file is whole.

    plan --Going--> slices of rows --observed--> rows in the file, then its journal --> again, until the end

A slice ends after a number of rows or steps that depends on nothing but the plan, so a run that was broken off and resumed is
the same, bit for bit, as one that was not.
"""

from __future__ import annotations

import inspect
import json
import platform
import time as clock
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CatenaError, SimulationError
from ..model.flexible import frequency_error
from ..results import storage
from ..results.ledger import Ledger
from ..results.result import Result, load_result
from .plan import Plan, prepare
from .record import dataset, largest, measured, observe, variables
from .run import simulate
from .runner import Going, Slice

Array = np.ndarray
EVERY = 1.0  # seconds between writes
BUFFER = 16384  # rows that wait at most
Progress = Callable[[float], None]


def stream(
    mechanism: Any, path: str | Path, q: Any = None, v: Any = None, until: float = 1.0, *, resume: bool = False,
    verify: bool = False, progress: Progress | None = None, asked: str = "", **options: Any,
) -> Result:  # fmt: skip
    """As `simulate`, for one run, with the rows written to `path` (.nc) as they come; the result reads them from there.

    resume: go on with the run that the file holds, if it is the same. progress: called with the time reached. asked: words
    that tell this run from others, kept in the file. Ctrl-C leaves a file that says it is partial, and goes on as
    KeyboardInterrupt. What stops a run in another way is a SimulationError whose `.result` is the part that was computed.
    """
    path = Path(path)
    if path.suffix != ".nc":
        raise CatenaError(f"{path}: a run is written as .nc, not {path.suffix or 'without a suffix'!r}")
    began = clock.perf_counter()
    plan = _plan(mechanism, q, v, until, options)
    going = Going(plan)
    store = Store(path, plan, asked, began)
    if resume:
        store.reopen(going)
    else:
        store.create(going)
    try:
        _follow(going, store, progress)
        if verify and going.complete:
            store.verified = _verify(plan.tighter(), path, progress)
            store.write(going)
    except KeyboardInterrupt:
        if not going.complete:
            going.sentence = f"interrupted at t = {going.t:.9g} s"
        store.write(going)
        raise
    result = load_result(path, lazy=True, mechanism=plan.machine.mechanism)
    if not going.complete:
        raise SimulationError(
            f"{going.sentence}. What was computed until then is in {path}, and in this error's `.result`", result
        )
    return result


def _plan(mechanism: Any, q: Any, v: Any, until: float, options: dict[str, Any]) -> Plan:
    bound = inspect.signature(simulate).bind(mechanism, q, v, until, **options)
    bound.apply_defaults()
    given = bound.arguments
    others = given.pop("options", {})
    for name in ("threads", "verify", "progress"):
        given.pop(name)
    plan = prepare(**given, **others)
    if plan.lead:
        raise SimulationError(
            f"a streamed run is one run; the start has the leading shape {plan.lead}. Stream them one after another"
        )
    return plan


def _follow(going: Going, store: Store, progress: Progress | None) -> None:
    """Run to the end; write when enough rows wait or enough time has passed."""
    while not going.over:
        try:
            store.take(going.advance())
        except SimulationError as error:
            going.fail(str(error))
        if progress is not None:
            progress(going.t)
        if store.due:
            store.write(going)
    store.write(going)


def _verify(plan: Plan, path: Path, progress: Progress | None) -> tuple[float, float]:
    """The largest difference of coordinates to a tighter run, row by row, and the largest coordinate."""
    going, row, difference, size = Going(plan), 1, 0.0, 1.0
    with_rows = load_result(path, lazy=True).data["q"]
    while not going.over:
        part = going.advance()
        if len(part.t):
            q = observed(plan, part)[2]["q"][0]
            kept = with_rows.isel(time=slice(row, row + len(q))).values
            difference = max(difference, float(np.abs(q[: len(kept)] - kept).max(initial=0.0)))
            size, row = max(size, float(np.abs(kept).max(initial=0.0))), row + len(q)
        if progress is not None:
            progress(going.t)
    return difference, size


def observed(plan: Plan, part: Slice) -> tuple[Array, Array, dict[str, Array]]:
    """The states and inputs (1, n, ...) of a slice of one run, and what is shown of them."""
    x, u = np.moveaxis(part.x, 2, 0), np.moveaxis(part.u, 2, 0)
    return x, u, observe(plan.system, part.t, x, u, plan.p)


# ---------------------------------------------------------------------------------------------------- the file
class Store:
    """The file of a run: rows that wait to be written, the ledger so far, and the journal."""

    def __init__(self, path: Path, plan: Plan, asked: str, began: float):
        self.path, self.plan, self.began, self.before = path, plan, began, 0.0
        self.waiting: list[dict[str, Array]] = []
        self.row, self.number, self.energy = 1, 0, 0.0  # the next row and journal to write; the energy at the start
        self.places: dict[str, storage.Place] = {}
        self.largest: dict[str, float] = {}
        self.potential = 0.0  # energy at the start
        self.verified: tuple[float, float] | None = None
        self.written = clock.perf_counter()
        options = {"by": plan.system.by, "integrator": plan.how.name, "tolerance": plan.tolerance, "step": plan.step,
                   "start": plan.start, "until": plan.until, "rows": len(plan.times), "parameters": plan.p[0].tolist(),
                   "initial state": plan.x0[0].tolist(), "names": list(plan.system.state_names)}  # fmt: skip
        self.key = {**options, "scenario": asked}

    def create(self, going: Going) -> None:
        """Make the file, with the first row and an empty journal."""
        plan = self.plan
        going.begin()
        x, u = plan.x0[:1, None], going.engine.held[None, None, :, 0]
        seen = observe(plan.system, np.array([plan.start]), x, u, plan.p)
        first = dataset(plan.machine, plan.system, np.array([plan.start]), x, u, seen, (), plan.p if plan.varied else None)
        self.energy = float(seen["energy"][0, 0].sum())
        self.potential = float(seen["energy"][0, 0, 1])
        self._largest(seen, np.zeros(1), np.zeros(1))
        beside = self.path.with_name(f".{self.path.name}.new")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            storage.create(beside, first, np.append(plan.start, plan.times), plan.system.size + plan.system.nu)
            self.places = storage.places(beside)
            storage.append(beside, self.places, 0, {}, self.journal(going))
            beside.replace(self.path)
            self.number += 1
        except (OSError, RuntimeError) as error:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
            raise CatenaError(
                f"{self.path}: the results cannot be written there ({storage.reason(error)}); nothing was computed"
            ) from None

    def reopen(self, going: Going) -> None:
        """Go on with what the file holds, if it is the same run."""
        if not self.path.exists():
            raise CatenaError(f"{self.path}: there is no run to resume; leave --resume away to begin it")
        self.places, found = storage.places(self.path), storage.journal_of(self.path)
        before, now = found["key"], json.loads(json.dumps(self.key))
        for name in (name for name in now if before.get(name) != now[name]):
            shown = f": it was {before.get(name)}, and is {now[name]}" if isinstance(now[name], (float, int, str)) else ""
            shown = "" if name == "scenario" else shown
            raise CatenaError(f"{self.path} holds another run, whose {name} differs{shown}; resume it as it was, or begin anew")
        going.restore(found["state"], found["happened"])
        self.row, self.energy, self.largest = found["row"], found["energy"], found["largest"]
        self.potential = found["potential"]
        self.before, self.number = found["wall_time"], found["number"] + 1

    # ------------------------------------------------------------------------------------------------ rows
    def take(self, part: Slice) -> None:
        """Observe rows, and let them wait."""
        if not len(part.t):
            return
        x, u, seen = observed(self.plan, part)
        kept = variables(self.plan.system, x, u, seen)
        rows = {"time": part.t, **{name: values[0] for name, (_, values) in kept.items()}}
        rows["energy_error"] = rows["kinetic"] + rows["potential"] - self.energy - rows["work"]
        self._largest(seen, rows["energy_error"], rows["work"])
        self.waiting.append(rows)

    def _largest(self, seen: dict[str, Array], balance: Array, work: Array) -> None:
        now = largest(self.plan, seen, balance, work, np.array(self.potential))
        self.largest = {name: max(x, self.largest.get(name, 0.0)) for name, x in now.items()}

    @property
    def due(self) -> bool:
        """Whether it is time to write."""
        return sum(len(rows["time"]) for rows in self.waiting) >= BUFFER or clock.perf_counter() - self.written > EVERY

    def write(self, going: Going) -> None:
        """Everything that waits, then the journal."""
        rows = {name: np.concatenate([part[name] for part in self.waiting]) for name in self.waiting[0]} if self.waiting else {}
        count = len(rows["time"]) if rows else 0
        try:
            storage.append(self.path, self.places, self.row, rows, self.journal(going, self.row + count))
        except (OSError, RuntimeError) as error:
            raise CatenaError(
                f"{self.path}: the results could not be written ({storage.reason(error)}); the file holds the first "
                f"{self.row} rows, and --resume goes on from there"
            ) from None
        self.row, self.waiting, self.written = self.row + count, [], clock.perf_counter()
        self.number += 1

    # ------------------------------------------------------------------------------------------------ the journal
    def journal(self, going: Going, row: int = 1) -> dict[str, Any]:
        """What the file must say to be read, and to be gone on with."""
        log = going.agenda.log if going.agenda is not None else []
        return {
            "number": self.number,
            "row": row,
            "state": going.state(),
            "happened": [(o.time, o.what) for o in log],
            "energy": self.energy,
            "potential": self.potential,
            "largest": self.largest,
            "wall_time": self.spent,
            "key": self.key,
            "ledger": asdict(self.ledger(going)),
        }

    @property
    def spent(self) -> float:
        """Seconds that all parts of the run have taken."""
        return self.before + clock.perf_counter() - self.began

    def ledger(self, going: Going) -> Ledger:
        """How far the rows so far can be trusted."""
        plan, tally = self.plan, going.engine.tally
        found = Ledger(
            **measured(self.largest),
            outcome=going.sentence or f"not finished; it had come to t = {going.t:.9g} s",
            formulation=plan.system.by,
            integrator=plan.how.name,
            tolerance=plan.tolerance,
            steps=tally.accepted,
            rejected=tally.rejected,
            evaluations=tally.evaluations,
            wall_time=self.spent,
            frequencies=frequency_error(plan.system.mechanism),
            complete=going.complete,
            versions={"catena": version("catena"), "python": platform.python_version(), "numpy": version("numpy")},
        ).weighed()
        return found if self.verified is None else found.judged(*self.verified)
