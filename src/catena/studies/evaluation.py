"""Evaluation of measures from output rows, for many runs at once: the quantities that expressions
contain, and Python functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..results import Ledger, Result
from ..simulation.handlers import Occurrence
from ..simulation.integrators import drivers
from ..simulation.output import ObservedRows, record
from ..simulation.planning import RunPlan, decoded
from .measures import Measure, Signal, place

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Rows:
    """The output rows of some runs at the same times t (rows,), s.

    runs: the indices of the runs in their block. x: states (runs, rows, size). u: inputs (runs,
    rows, nu). events: the events, for a single run.
    """

    runs: NDArray[np.intp]
    t: Array
    x: Array
    u: Array
    events: list[Occurrence] = field(default_factory=list)


def measure(
    plan: RunPlan,
    measures: Iterable[Measure],
    rows: Rows,
    p: Array,
    shown: dict[str, Array],
    failure: list[str],
) -> None:
    """Compute the measures of these runs.

    The values are put into `shown` {name: (runs, ...)}, and the reason why a run has no value into
    `failure`. p: the parameters (runs, count) of these runs.
    """
    source = Signals(plan, rows, p)
    for m in measures:
        if m.function is not None:
            values = _function_values(m, source, failure)
        else:
            values, missing = m.values(rows.t, source.table(m))
            for step, lost in missing:
                for k in np.flatnonzero(lost):
                    _note(
                        failure,
                        int(rows.runs[k]),
                        f"measure {m.name!r}: {step.text}: {step.reduction.never}",
                    )
            bad = ~np.isfinite(values).reshape(len(values), -1).all(axis=1)
            for k in np.flatnonzero(bad):
                _note(
                    failure,
                    int(rows.runs[k]),
                    f"measure {m.name!r} is"
                    f" {'not a finite number in all rows' if m.over_time else values[k]}",
                )
        if m.over_time:
            at, own = _matching_times(np.append(plan.start, plan.times), rows.t)
            shown[m.name][np.ix_(rows.runs, at)] = values[:, own]
        else:
            shown[m.name][rows.runs] = values


def _matching_times(wanted: Array, found: Array) -> tuple[Any, Any]:
    """Return the indices of the wanted times that were found, and their indices among the found
    ones.
    """
    if len(wanted) == len(found):
        return np.arange(len(wanted)), np.arange(len(found))
    own = np.flatnonzero(np.isin(found, wanted))
    return np.searchsorted(wanted, found[own]), own


def _note(failure: list[str], run: int, sentence: str) -> None:
    """Store the reason why a run failed, unless another reason was stored before."""
    failure[run] = failure[run] or sentence


class Signals:
    """The quantities of some rows, computed when a measure first needs them."""

    def __init__(self, plan: RunPlan, rows: Rows, p: Array):
        self.rows, self.p = rows, p
        self.plan = replace(plan, x0=rows.x[:, 0], p=p, lead=(len(p),))
        self._observed: ObservedRows | None = None
        self._known: dict[Signal, Array] = {}

    @property
    def observed(self) -> ObservedRows:
        """All recorded quantities of the rows."""
        if self._observed is None:
            self._observed = record.observe(
                self.plan, self.rows.t, self.rows.x, self.rows.u, self.p
            )
        return self._observed

    def table(self, m: Measure) -> dict[str, Array]:
        """Return {symbol: values} of a measure: signals (runs, rows), and numbers of runs (runs,
        1).
        """
        names = self.plan.machine.parameter_names
        numbers = {name: self.p[:, k : k + 1] for k, name in enumerate(names)}
        return {
            "": np.zeros((len(self.p), 1)),
            **numbers,
            **{symbol: self._one(signal) for symbol, signal in m.signals},
        }

    def _one(self, signal: Signal) -> Array:
        """Return the values of a signal, from the cache where they were computed before."""
        if signal not in self._known:
            self._known[signal] = self._computed(signal)
        return self._known[signal]

    def _computed(self, signal: Signal) -> Array:
        """Compute the values of a signal: (runs, rows), or (runs, 1) for the time of an event."""
        rows = self.rows
        machine = self.plan.machine
        system = self.plan.system
        word = signal.word
        if word == "t":
            return np.broadcast_to(rows.t, rows.x.shape[:2])
        if word == "event":
            first = [o.time for o in rows.events if signal.name in o.what]
            return np.full((len(self.p), 1), first[0] if first else np.nan)
        if word == "work":
            return rows.x[..., -1]
        if word in ("q", "v") and system.equations.state_is_qv:
            return rows.x[..., place(machine, signal) + (system.nq if word == "v" else 0)]
        if word in ("x", "y", "z"):
            X = machine.pose(
                self._q(), signal.name, parameters=self.p[:, None] if self.p.shape[1] else None
            )
            return X[..., "xyz".index(word), 3]
        if word in ("q", "v", "a", "tau"):
            return getattr(self.observed, word)[..., place(machine, signal)]
        energies: dict[str, Callable[[], Array]] = {
            "kinetic": lambda: self.observed.energy[..., 0],
            "potential": lambda: self.observed.energy[..., 1],
            "energy": lambda: self.observed.energy.sum(axis=-1),
            "energy_error": lambda: self.observed.error,
        }
        return energies[word]()

    def _q(self) -> Array:
        """Return the coordinates (runs, rows, nq)."""
        s, x = self.plan.system, self.rows.x
        if s.equations.state_is_qv:
            return np.ascontiguousarray(x[..., : s.nq])
        flat = x.reshape(-1, x.shape[-1])
        q, _ = decoded(s, flat.T, np.repeat(self.p, x.shape[1], axis=0).T)
        return q.reshape(*x.shape[:2], -1)

    # --- results
    def result(self, run: int | None = None) -> Result:
        """Return a Result of all these runs, or of the one with index `run`."""
        pick = slice(None) if run is None else slice(run, run + 1)
        plan = replace(
            self.plan,
            x0=self.plan.x0[pick],
            p=self.p[pick],
            lead=() if run is not None else (len(self.p),),
            varied=bool(self.p.shape[1]),
        )
        seen = record.observe(plan, self.rows.t, self.rows.x[pick], self.rows.u[pick], plan.p)
        happened = [(0, o) for o in self.rows.events]

        def ledger() -> Ledger:
            return record.ledger(
                plan,
                record.extremes(plan, seen),
                [],
                drivers.REACHED,
                drivers.OUTCOMES[drivers.REACHED],
                0.0,
            )

        return Result(
            lambda: record.dataset(plan, seen, happened),
            ledger,
            plan.machine.mechanism,
            {"machine": plan.machine},
        )


def _function_values(m: Measure, source: Signals, failure: list[str]) -> Array:
    """Return the values of a measure that is a Python function. An exception of the function is
    stored as the failure of the runs that it was called with.
    """
    assert m.function is not None
    runs = source.rows.runs
    n = len(source.p)
    values = np.full(n, np.nan)
    for k in [None] if m.batch else range(n):
        own = range(n) if k is None else [k]
        try:
            found = np.asarray(m.function(source.result(k)), float)
            if found.shape not in ((len(own),), *([()] if k is not None else [])):
                raise ValueError(
                    f"it returned shape {found.shape}; it returns"
                    f" {'one number per run' if k is None else 'one number'}"
                )
            values[list(own)] = found
        except Exception as why:  # whatever a user's function raises
            for j in own:
                _note(failure, int(runs[j]), f"measure {m.name!r}: {type(why).__name__}: {why}")
    for lost in np.flatnonzero(~np.isfinite(values)).tolist():
        _note(failure, int(runs[lost]), f"measure {m.name!r} is {values[lost]}")
    return values
