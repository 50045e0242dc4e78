"""Experiment: a study that is ready to run in one process. It computes blocks of runs: numbers in,
measures and failures out.

    run numbers --design--> values --start--> q, v, parameters, joint forces --rollout or runners-->
    rows --measures--> one number per run

Runs with fixed steps and without events go through one driver for the whole block; adaptive runs go
in lanes, each with its own steps and events; runs with sampling or switching go group by group
through `simulation.runner`. No run depends on its neighbours, so that its results are the same to
the bit in any group. Where one run of a group fails, each run of the group is run again by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..compiler import default_width
from ..errors import CatenaError, StudyError
from ..machine import all_speeds_of, compile
from ..results import Result
from ..simulation import RunOptions
from ..simulation.integrators import drivers
from ..simulation.output import moved
from ..simulation.planning import (
    RunPlan,
    checks,
    decoded,
    initial_states,
    prepare,
    projected_states,
)
from ..simulation.runners import BatchRunner, Runner
from . import evaluation
from .closing import Nominal, close
from .evaluation import Rows
from .rollouts import block_rollout, rows_of
from .specification import Specification

Array = NDArray[np.float64]
GROUP = 64  # runs; every block begins at a multiple of it, whatever the width of the lanes
# Numbers in the rows of one block, about: they fit a core's cache, and progress is reported often.
BLOCK_ENTRIES = 2**20
MAX_BLOCK_RUNS = 4096  # runs per block at most


@dataclass(frozen=True)
class Block:
    """The results of consecutive runs from number `first` on.

    variables: (runs, count). measures: {name: (runs,) or (runs, rows)}. failure: why each run
    failed, "" where it did not.
    """

    first: int
    variables: Array
    measures: dict[str, Array]
    failure: list[str] = field(default_factory=list)


class Experiment:
    """The machine code of a study, and its nominal start."""

    def __init__(self, study: Specification):
        self.design = study.design
        self.measures = study.measures
        varied = study.varied
        options = dict(study.options)
        self.machine = compile(varied.mechanism, threads=1)
        self.variables = varied.variables
        q = options.pop("q", None)
        v = options.pop("v", None)
        until = options.pop("until", 1.0)
        names = {"q": _names(q), "v": _names(v)} | {
            key: list(x) for key, x in options.pop("kept", {}).items()
        }
        control = varied.control
        if any(x.goes == "tau" for x in self.variables):
            forces = _forces(control, options.get("forces"), self.machine.nv)
            control, options["forces"] = None, forces
        given = {**dict(varied.mechanism.parameters), **(options.get("parameters") or {})}
        options |= {"parameters": given or None, "control": control, "threads": 1}
        asked = RunOptions.of_many(**options)
        self.plan: RunPlan = prepare(self.machine, q, v, until, asked)
        if len(self.plan.x0) != 1:
            raise StudyError(
                f"the start of a study is one state; found the leading shape {self.plan.lead}. Vary"
                " it: {'q.NAME': [...]}"
            )
        self.nominal = self._nominal(names)
        self.bounds = checks.bounds(self.machine) if asked["limits"] != "ignore" else None
        self.rollout = block_rollout(self.plan)

    def _nominal(self, names: dict[str, list[str]]) -> Nominal:
        """Return the nominal start, with the coordinates and speeds that are given by name."""
        s, plan = self.plan.system, self.plan
        q, v = decoded(s, plan.x0.T, plan.p.T)
        kept = {key: all_speeds_of(self.machine, names[key]) for key in "qv"}
        for x in self.variables:
            if x.goes in "qv":
                kept[x.goes].append(all_speeds_of(self.machine, x.name.partition(".")[2])[0])
        self.v0 = v[0]
        return Nominal(q[0], plan.p[0], sorted(set(kept["q"])), sorted(set(kept["v"])))

    # --- sizes
    @cached_property
    def rows(self) -> Array:
        """The times of the output rows, s, the start included."""
        return np.append(self.plan.start, self.plan.times)

    @cached_property
    def block_size(self) -> int:
        """The number of runs per block."""
        fitting = BLOCK_ENTRIES // (len(self.rows) * self.plan.system.size) // GROUP * GROUP
        return int(np.clip(fitting, GROUP, MAX_BLOCK_RUNS))

    def blocks(self, first: int, last: int) -> list[tuple[int, int]]:
        """Return (first run, run after the last) of each block of a shard."""
        return [(k, min(k + self.block_size, last)) for k in range(first, last, self.block_size)]

    # --- one block
    def block(self, first: int, last: int) -> Block:
        """Compute the runs from `first` up to but without `last`."""
        values = self.design.rows(first, last)
        q, v, p, u, failure = self.starts(values)
        shown = {
            m.name: np.full((last - first, len(self.rows)) if m.over_time else last - first, np.nan)
            for m in self.measures
        }
        for part in self.trajectories(q, v, p, u, failure):
            evaluation.measure(self.plan, self.measures, part, p[part.runs], shown, failure)
        return Block(first, values, shown, failure)

    def result(self, runs: Iterable[int] | int) -> Result:
        """Return the Result of runs by their numbers, exactly as the study ran them.

        It is over `run` where several are asked for. Whole lanes are computed, so that the bits are
        the same. Raises StudyError where a run does not exist or failed.
        """
        asked = [runs] if isinstance(runs, int | np.integer) else list(runs)
        if not asked or not all(0 <= k < self.design.runs for k in asked):
            raise StudyError(
                f"runs {asked} were asked for; this study has runs 0 to {self.design.runs - 1}"
            )
        width = default_width()
        numbers = np.array(
            sorted(
                {
                    j
                    for k in asked
                    for j in range(
                        k // width * width, min((k // width + 1) * width, self.design.runs)
                    )
                }
            )
        )
        values = np.concatenate([self.design.rows(k, k + 1) for k in numbers])
        q, v, p, u, failure = self.starts(values)
        found = {
            int(numbers[k]): (part, j)
            for part in self.trajectories(q, v, p, u, failure)
            for j, k in enumerate(part.runs)
        }
        at = {int(k): j for j, k in enumerate(numbers)}
        for k in asked:
            if k not in found:
                raise StudyError(f"run {k} has no result: {failure[at[k]]}")
        parts = [found[k] for k in asked]
        if any(not np.array_equal(part.t, parts[0][0].t) for part, _ in parts):
            raise StudyError(
                "these runs have rows at different times, as events have ended them; ask for them"
                " one by one"
            )
        rows = Rows(
            np.arange(len(asked)),
            parts[0][0].t,
            np.stack([part.x[j] for part, j in parts]),
            np.stack([part.u[j] for part, j in parts]),
            parts[0][0].events,
        )
        signals = evaluation.Signals(self.plan, rows, np.stack([p[at[k]] for k in asked]))
        return signals.result(0 if isinstance(runs, int | np.integer) else None)

    def starts(self, values: Array) -> tuple[Array, Array, Array, Array, list[str]]:
        """Return q, v, parameters and joint forces (runs, ...) at the start, and why a run cannot
        start.

        values: (runs, variables).
        """
        n, nv = len(values), self.machine.nv
        q, v, p, u = (
            np.tile(x, (n, 1)) for x in (self.nominal.q, self.v0, self.nominal.p, self._inputs())
        )
        target = {"q": q, "v": v, "p": p, "tau": u}
        for x in self.variables:
            own = values[:, self.design.names.index(x.name)]
            target[x.goes][:, x.place] = own if x.goes != "tau" else u[:, x.place] + own
        failure = [""] * n
        _note_refusals(self.machine.spec.parameter_check, p, failure)
        good = np.flatnonzero([not said for said in failure])
        if len(good) and self.machine.rows:
            q[good], v[good], said = close(
                self.machine, self.nominal, q[good], v[good], p[good], self.plan.start
            )
            for k, why in zip(good, said):
                failure[k] = why
        if self.bounds is not None:
            for k in np.flatnonzero(((q < self.bounds[0]) | (q > self.bounds[1])).any(axis=1)):
                _note_refusals(
                    lambda row: checks.within_limits(self.machine, row, self.bounds),  # type: ignore[arg-type]
                    q[k : k + 1],
                    failure,
                    int(k),
                )
        return q, v, p, u[:, :nv], failure

    def _inputs(self) -> Array:
        """Return the joint forces (nv,) that act in every run, N m or N."""
        if self.plan.forces is not None:
            return self.plan.forces[0, 0]
        control = self.plan.control
        constant = control is not None and not callable(control) and not hasattr(control, "law")
        return np.asarray(control, float) if constant else np.zeros(self.machine.nv)

    # --- rows
    def trajectories(
        self, q: Array, v: Array, p: Array, u: Array, failure: list[str]
    ) -> Iterator[Rows]:
        """Yield the rows of all runs that can start, in parts with the same times; note
        failures.
        """
        width, source = self._lanes(np.array([not said for said in failure]))
        if not len(source):
            return
        x0 = initial_states(self.plan.system, self.plan.start, q[source], v[source], p[source])
        x0 = projected_states(self.plan.system, self.plan.start, x0, p[source])
        runs, first = np.unique(source, return_index=True)
        plan = replace(self.plan, x0=x0[first], p=p[runs], lead=(len(runs),))
        if plan.batched:
            yield from _join_equal_times(_adaptive_rows(plan, runs, failure))
            return
        numbers: Sequence[int] = range(len(source) // width)
        if self.rollout is not None:
            part, failed = rows_of(self.rollout, x0, p[source], u[source])
            own = source[part.runs]
            # lanes that hold copies of other runs are left out
            first = np.unique(own, return_index=True)[1]
            keep = first[[not failure[k] for k in own[first]]]
            if len(keep) and len(keep) == len(own) and (np.diff(keep) == 1).all():
                yield replace(part, runs=own)
            elif len(keep):
                yield replace(part, runs=own[keep], x=part.x[keep], u=part.u[keep])
            numbers = failed
        groups = [np.arange(g * width, (g + 1) * width) for g in numbers]
        yield from _join_equal_times(self._one_by_one(groups, source, x0, p, u, failure))

    def _lanes(self, good: NDArray[np.bool_]) -> tuple[int, NDArray[np.intp]]:
        """Return the number of lanes per group, and the index of the run in each lane.

        Groups follow the numbers of the runs; a run that cannot start is replaced by another of its
        group.
        """
        width = max(default_width(), 1)
        runs = np.arange(-(-len(good) // width) * width).reshape(-1, width)
        sound = np.resize(good, runs.size).reshape(runs.shape) & (runs < len(good))
        other = np.take_along_axis(runs, sound.argmax(axis=1)[:, None], axis=1)
        return width, np.where(sound, runs, other)[sound.any(axis=1)].reshape(-1)

    def _one_by_one(
        self,
        groups: list[NDArray[np.intp]],
        source: NDArray[np.intp],
        x0: Array,
        p: Array,
        u: Array,
        failure: list[str],
    ) -> Iterator[Rows]:
        """Yield the rows group by group; where one run of a group fails, each of its runs by
        itself.
        """
        for lanes in groups:
            found = None if self.rollout is not None else self._runner(lanes, source, x0, p, u)
            if found is not None:
                yield from found
                continue
            for k in np.unique(source[lanes]):
                lane = lanes[source[lanes] == k][0]
                alone = self._runner(np.full(len(lanes), lane), source, x0, p, u, failure)
                yield from alone or []

    def _runner(
        self,
        lanes: NDArray[np.intp],
        source: NDArray[np.intp],
        x0: Array,
        p: Array,
        u: Array,
        failure: list[str] | None = None,
    ) -> list[Rows] | None:
        """Simulate one group of runs side by side, and return their states at the output times.

        If a run fails, its reason is appended to the list `failure`; without such a list, None is
        returned instead of the states.
        """
        runs = source[lanes]
        forces = self.plan.forces
        if forces is not None and any(x.goes == "tau" for x in self.variables):
            forces = u[runs][:, None]
        elif forces is not None:
            forces = np.broadcast_to(forces, (len(runs), *forces.shape[1:]))
        plan = replace(self.plan, x0=x0[lanes], p=p[runs], lead=(len(lanes),), forces=forces)
        found = []
        for rows in plan.groups:
            if runs[rows.start] in runs[: rows.start]:
                continue  # a copy, alone in its group
            runner = Runner(plan, rows)
            parts = list(runner.slices())
            said = runner.sentence if runner.status > 1 else ""
            if said and failure is None and rows.stop - rows.start > 1:
                return None
            if said:
                if failure is None:
                    return None
                failure[runs[rows.start]] = said
                continue
            x, held = (
                np.concatenate(each, axis=1)
                for each in zip(*(moved(c, rows.stop - rows.start) for c in parts))
            )
            events = list(runner.agenda.log) if runner.agenda is not None else []
            first = np.unique(runs[rows], return_index=True)[1]
            found.append(
                Rows(
                    runs[rows][first],
                    np.concatenate([c.t for c in parts]),
                    x[first],
                    held[first],
                    events,
                )
            )
        return found


def _adaptive_rows(plan: RunPlan, runs: NDArray[np.intp], failure: list[str]) -> Iterator[Rows]:
    """Yield the rows of adaptive runs in lanes, each run with its own steps and events."""
    batch = BatchRunner(plan, slice(0, len(runs)))
    for _ in batch.run():
        pass
    # with events every run has rows of its own
    for own in batch.parts if plan.scheme.empty else batch.each:
        end = batch.end_of(own.start)
        part = batch.slice_of(own)
        if end.status > drivers.EVENT:
            failure[runs[own.start]] = end.sentence
        else:
            yield Rows(
                runs[own],
                part.t,
                *moved(part, own.stop - own.start),
                list(end.log),
            )


def _join_equal_times(parts: Iterator[Rows]) -> Iterator[Rows]:
    """Yield parts without events that have the same times joined into one, and others as they
    are.
    """
    waiting: list[Rows] = []
    for part in parts:
        if part.events or (waiting and not np.array_equal(waiting[0].t, part.t)):
            yield part
        else:
            waiting.append(part)
    if waiting:
        yield Rows(
            np.concatenate([w.runs for w in waiting]),
            waiting[0].t,
            np.concatenate([w.x for w in waiting]),
            np.concatenate([w.u for w in waiting]),
        )


def _note_refusals(
    check: Callable[[Array], object], rows: Array, failure: list[str], first: int = 0
) -> None:
    """Store, for each row that a check refuses, the message of the check. The check takes many rows
    at once, so that the refused ones are found by bisection. first: the index of the first row in
    `failure`.
    """
    try:
        check(rows)
    except CatenaError as why:
        if len(rows) == 1:
            failure[first] = str(why)
            return
        half = len(rows) // 2
        _note_refusals(check, rows[:half], failure, first)
        _note_refusals(check, rows[half:], failure, first + half)


def _names(x: Any) -> list[str]:
    """Return the names in a start that is given by names; empty for an array."""
    return list(x) if isinstance(x, Mapping) else []


def _forces(control: Any, forces: Any, nv: int) -> Any:
    """Return the constant joint forces (nv,) to which varied ones are added."""
    if hasattr(control, "law") or callable(control):
        raise StudyError(
            "tau.NAME is a joint force that acts all the time; with a controller, write it as a"
            " load: JointForce(...) with a parameter, and vary that"
        )
    if forces is not None:
        raise StudyError("tau.NAME is varied and forces are given too; give one of them")
    return np.zeros(nv) if control is None else np.asarray(control, float)
