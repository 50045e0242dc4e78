"""The checked request for an optimal motion: ranges of its states, forces and unknown parameters,
its ends, and its first guess.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError, unknown
from ..machine import Machine, all_speeds_of
from ..model import Mechanism
from ..sensitivity import planned
from ..simulation.planning import RunPlan
from ..simulation.scenario import state_entries
from ..studies import vary
from .loop_rows import independent_ends, straight_guess

Array = NDArray[np.float64]
RANGE_SLACK = 1e-9  # relative to a range: by so much a start or an end may be outside it


@dataclass(frozen=True)
class Ranges:
    """The lowest and highest values of the unknowns of an optimal motion: states (N + 1, nx),
    forces (N, nf) and w (nw,), the duration and the unknown parameters.

    guess: first guesses of the three.
    """

    x: tuple[Array, Array]
    u: tuple[Array, Array]
    w: tuple[Array, Array]
    guess: tuple[Array, Array, Array]

    def near(self, x: Array, u: Array, w: Array) -> Ranges:
        """Return the same ranges on twice as many intervals, with a guess from the states, forces
        and w of a solution.
        """
        middle = 0.5 * (x[1:] + x[:-1])
        fine = np.vstack([np.stack([x[:-1], middle], axis=1).reshape(-1, x.shape[1]), x[-1:]])
        return replace(self, guess=(np.clip(fine, *self.x), np.repeat(u, 2, axis=0), w))


@dataclass(frozen=True)
class MotionProblem:
    """A request for an optimal motion.

    plan: the plan of a run from its start. actuated: the speeds whose forces are free. free: (name,
    index in p, low, high) of each unknown parameter. free_time: whether the duration is free;
    shortest, longest: its range, s. intervals: their number. given: parameters that the caller
    gave. contacts: {contact: mode}.
    """

    plan: RunPlan
    actuated: list[int]
    free: list[tuple[str, int, float, float]]
    free_time: bool
    shortest: float
    longest: float
    intervals: int
    given: Mapping[str, float] | None
    contacts: Mapping[str, str] = field(default_factory=dict)

    @staticmethod
    def of(
        model: Mechanism,
        q: Any,
        v: Any,
        until: Any,
        actuated: Any,
        design: Any,
        intervals: int,
        parameters: Any,
        contacts: Mapping[str, str] | None = None,
    ) -> MotionProblem:
        """Return the checked request; raise StudyError where it is not possible."""
        if not (isinstance(intervals, int) and intervals >= 2):
            raise StudyError(f"optimize: intervals = {intervals!r}; it is a whole number from 2 on")
        free_time = not isinstance(until, int | float)
        shortest, longest = (float(x) for x in until) if free_time else (float(until), float(until))
        if not 0 < shortest <= longest < np.inf:
            raise StudyError(
                f"optimize: until = {until}; it is a duration, or a range of durations (s) that"
                " begins above zero"
            )
        varied = vary(model, None, design or {})
        # collocation needs derivatives: dry friction is smoothed
        options = {"parameters": parameters, "integrator": "dop853", "friction": "smooth"}
        plan = planned(varied.mechanism, q, v, longest, options)
        if design and plan.machine.rows:
            raise StudyError(
                f"optimize: {', '.join(map(repr, design))} cannot be unknown in a motion of"
                f" {model.name!r}: its loops, and so its start, change with them"
            )
        free = [(x.name, x.place, *design_range(x.name, x.goes, design)) for x in varied.variables]
        return MotionProblem(
            plan,
            actuated_speeds(plan.machine, actuated),
            free,
            free_time,
            shortest,
            longest,
            intervals,
            parameters,
            dict(contacts or {}),
        )

    @property
    def unknown(self) -> list[int]:
        """The indices of the unknown parameters."""
        return [place for _, place, _, _ in self.free]

    @property
    def names(self) -> list[str]:
        """The names of the states and of the free forces."""
        m = self.plan.machine
        return [
            *(f"q.{n}" for n in m.coordinate_names),
            *(f"v.{n}" for n in m.speed_names),
            *(f"tau.{m.speed_names[k]}" for k in self.actuated),
        ]

    # --- ranges
    def ranges(self, end: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]]) -> Ranges:
        """Return the ranges of all unknowns.

        Raises StudyError with every unknown name and every value out of range.
        """
        s = self.plan.system
        nx, N = s.nq + s.nv, self.intervals
        low, high = _limits(self.plan.machine, self.actuated)
        faults = [
            f"bounds: {unknown('state or force', name, self.names)}"
            for name in bounds
            if name not in self.names
        ]
        for name, (a, b) in bounds.items():
            if name in self.names:
                k = self.names.index(name)
                low[k], high[k] = max(low[k], a), min(high[k], b)
                if not low[k] <= high[k]:
                    faults.append(
                        f"bounds: {name} from {a:g} to {b:g} leaves nothing within the joint's"
                        " limits"
                    )
        start = self.plan.x0[0, :nx]
        last = self._end(end, faults)
        for what, values in (("the start", dict(enumerate(start))), ("the end", last)):
            slack = RANGE_SLACK * np.maximum(
                1.0, np.abs(np.nan_to_num(high[:nx] - low[:nx], posinf=1.0))
            )
            faults += [
                f"{what}: {self.names[k]} = {x:g} is beyond its limits, {low[k]:g} to {high[k]:g}"
                for k, x in values.items()
                if not low[k] - slack[k] <= x <= high[k] + slack[k]
            ]
        if faults:
            raise StudyError(
                f"optimize: the motion of {self.plan.machine.mechanism.name!r} cannot be as asked:",
                faults,
            )
        guess, fixed = self._guess(start, last)
        x = tuple(np.tile(own[:nx], (N + 1, 1)) for own in (low, high))
        for own in x:
            own[0] = start
            own[-1, fixed] = [last[k] for k in fixed]
        timed = [[self.shortest], [self.longest]] if self.free_time else [[], []]
        w = tuple(np.array([*t, *(y[k] for y in self.free)]) for t, k in zip(timed, (2, 3)))
        u = np.tile(low[nx:], (N, 1)), np.tile(high[nx:], (N, 1))
        return Ranges(
            (x[0], x[1]),
            u,
            (w[0], w[1]),
            (np.clip(guess, *x), np.clip(0.0, *u), 0.5 * (w[0] + w[1])),
        )

    def _guess(self, start: Array, last: dict[int, float]) -> tuple[Array, list[int]]:
        """Return a straight line (N + 1, nx) from the start to the given end, with closed loops,
        and the indices of the states that are fixed at the end.
        """
        machine = self.plan.machine
        nq = self.plan.system.nq
        N = self.intervals
        p = self.plan.p[0]
        goal = {k: x for k, x in last.items() if k < nq}
        q = straight_guess(machine, start[:nq], p, goal, N)
        v = np.tile(start[nq:], (N + 1, 1))
        given = [k - nq for k in last if k >= nq]
        v[:, given] += np.linspace(0.0, 1.0, N + 1)[:, None] * (
            np.array([last[nq + k] for k in given]) - start[nq:][given]
        )
        coordinates, speeds = independent_ends(machine, q[-1], p, goal, given)
        return np.hstack([q, v]), [*coordinates, *(nq + k for k in speeds)]

    def _end(self, end: Mapping[str, Any], faults: list[str]) -> dict[int, float]:
        """Return {index in the state: value} of the values given at the end; unknown names are
        added to the faults.
        """
        m = self.plan.machine.mechanism
        found = dict[int, float]()
        nq = self.plan.system.nq
        faults += [
            f"end: {unknown('key', key, ('q', 'v'))}" for key in end if key not in ("q", "v")
        ]
        for letter, first in (("q", 0), ("v", nq)):
            given = end.get(letter, {})
            known = state_entries(m, letter)
            if isinstance(given, str) and given == "rest" and letter == "v":
                found |= {first + e.at: 0.0 for e in known}
                continue
            if not isinstance(given, Mapping):
                found |= dict(zip(range(first, first + len(known)), map(float, given)))
                continue
            for name, value in given.items():
                own = [e for e in known if e.name == name] or [e for e in known if e.joint == name]
                if len(own) == 1:
                    found[first + own[0].at] = float(value)
                else:
                    faults.append(
                        "end:"
                        f" {unknown('coordinate' if letter == 'q' else 'speed', name, [e.name for e in known], f'mechanism {m.name!r}')}"  # noqa: E501
                    )
        return found


def design_range(
    name: str, goes: str, design: Mapping[str, tuple[float, float]]
) -> tuple[float, float]:
    """Return the range of an unknown parameter; raise StudyError where it is not one."""
    low, high = (float(y) for y in design[name])
    if goes != "p" or not low < high:
        raise StudyError(
            f"optimize: design {name!r} from {low:g} to {high:g}; it is a parameter or a number of"
            " the mechanism, with low < high"
        )
    return low, high


def actuated_speeds(machine: Machine, names: Iterable[str] | None) -> list[int]:
    """Return the indices of the speeds whose forces are free: those named, else those with a
    limited effort, else all.
    """
    if names is not None:
        return all_speeds_of(machine, names)
    efforts = [float(x) for j in machine.mechanism.moving for x in j.effort]
    limited = [k for k, x in enumerate(efforts) if np.isfinite(x)]
    return limited or list(range(machine.nv))


def _limits(machine: Machine, actuated: list[int]) -> tuple[Array, Array]:
    """Return the lowest and highest values of a state and of the free forces, by the joints'
    limits.
    """
    m = machine.mechanism
    speeds = [
        (n, *map(float, (a, b, w, e)))
        for j in m.moving
        for n, a, b, w, e in zip(j.speed_names, j.lower, j.upper, j.speed, j.effort)
    ]
    by_name = {n: (a, b) for n, a, b, _, _ in speeds}
    places = [by_name.get(n, (-np.inf, np.inf)) for n in m.coordinate_names]
    fastest = np.array([w for *_, w, _ in speeds])
    strongest = np.array([e for *_, e in speeds])[actuated]
    low = np.concatenate([[a for a, _ in places], -fastest, -strongest])
    return low, np.concatenate([[b for _, b in places], fastest, strongest])
