"""Optimal motions: `catena.optimize`. Direct collocation or multiple shooting with exact derivatives in machine code, solved by Ipopt.

    mechanism, start, end, cost --transcription--> one interval's tape --nlp--> Ipopt --optimum--> forward simulation, difference
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError, unknown
from ..machine.lookup import all_speeds_of
from ..machine.machine import Machine
from ..model.mechanism import Mechanism
from ..simulation.plan import RunPlan
from ..simulation.scenario.names import state_entries
from .costs import cost_rate
from .nlp import Program
from .optimum import Optimum, checked
from .sensitivity import planned
from .transcription import TRANSCRIPTIONS, Interval
from .variables import vary

Array = NDArray[np.float64]
SOLVED = ("Solve_Succeeded", "Solved_To_Acceptable_Level")
QUIET = {"print_time": False, "ipopt.print_level": 0, "ipopt.sb": "yes"}
NEAR = 1e-6  # to a limit: what is there when no motion was found is named
BEYOND = 1e-9  # of a range, by which a start or an end may be outside it


def optimize(
    mechanism: Mechanism | Machine, *, cost: str | Mapping[str, float] = "torque squared", q: Any = None, v: Any = None,
    end: Mapping[str, Any] | None = None, until: float | tuple[float, float] = 1.0, actuated: Iterable[str] | None = None,
    bounds: Mapping[str, tuple[float, float]] | None = None, design: Mapping[str, tuple[float, float]] | None = None, intervals: int = 50,
    method: str = "collocation", parameters: Mapping[str, float] | None = None, tolerance: float = 1e-8, iterations: int = 1000,
) -> Optimum:  # fmt: skip
    """The motion of least cost from a start to an end.

    cost: "time", "torque squared", "energy", a text such as "tau_x^2 + v_x^2", or {one of these: weight}. q, v: the start, as of
    `simulate`. end: {"q": {name: value}, "v": {name: value} or "rest"}; what is not named is free. until: the duration (s), or a
    range in which it is free. actuated: the joints whose forces are free, by default those with a limit of effort, or all. bounds:
    {"q.x": (low, high), "v.x": ..., "tau.x": ...}, within the limits of the joints, which always hold. design: {parameter or
    "body.rod.mass": (low, high)}, unknowns as well. intervals: of constant forces. method: "collocation" or "shooting".
    """
    model = mechanism.mechanism if isinstance(mechanism, Machine) else mechanism
    problem = _Problem.of(model, q, v, until, actuated, design, method, intervals, parameters)
    interval = Interval(problem.plan.system, cost_rate(problem.plan.system, cost), TRANSCRIPTIONS.find(method), intervals, actuated=problem.actuated,
                        unknown=problem.unknown, p=problem.plan.p[0], free_time=problem.free_time, until=problem.longest)  # fmt: skip
    program = Program(interval)
    low, high = problem.ranges(end or {}, bounds or {})
    guess = problem.guess(low, high)
    program.compile()
    began = clock.perf_counter()
    solver, alive = program.solver({**QUIET, "ipopt.tol": tolerance, "ipopt.max_iter": iterations})
    found = solver(x0=guess, lbx=low, ubx=high, lbg=0.0, ubg=0.0)
    seconds, stats = clock.perf_counter() - began, solver.stats()
    del alive
    z = np.array(found["x"]).ravel()
    if stats["return_status"] not in SOLVED:
        raise StudyError(problem.failed(program, z, low, high, stats["return_status"]))
    return problem.optimum(z, float(found["f"]), int(stats["iter_count"]), seconds)


@dataclass(frozen=True)
class _Problem:
    """What was asked, checked. longest: the duration, or the longest allowed (s). unknown: (name, place in p, low, high) of each in `design`."""

    plan: RunPlan
    actuated: list[int]
    free: list[tuple[str, int, float, float]]
    free_time: bool
    shortest: float
    longest: float
    intervals: int
    given: Mapping[str, float] | None

    @staticmethod
    def of(model: Mechanism, q: Any, v: Any, until: Any, actuated: Any, design: Any, method: str, intervals: int, parameters: Any) -> _Problem:
        if method not in TRANSCRIPTIONS:
            raise StudyError(f"optimize: {unknown('method', method, TRANSCRIPTIONS)}")
        if not (isinstance(intervals, int) and intervals >= 2):
            raise StudyError(f"optimize: intervals = {intervals!r}; it is a whole number from 2 on")
        free_time = not isinstance(until, int | float)
        shortest, longest = (float(x) for x in until) if free_time else (float(until), float(until))
        if not 0 < shortest <= longest < np.inf:
            raise StudyError(f"optimize: until = {until}; it is a duration, or a range of durations (s) that begins above zero")
        varied = vary(model, None, design or {})
        plan = planned(varied.mechanism, q, v, longest, {"parameters": parameters, "integrator": "dop853", "contact": "ignore"})
        if design and plan.machine.rows:
            raise StudyError(f"optimize: {', '.join(map(repr, design))} cannot be unknown in {model.name!r}: its loops, and so its start, change with them")
        free = []
        for x in varied.variables:
            low, high = (float(y) for y in (design or {})[x.name])
            if x.goes != "p" or not low < high:
                raise StudyError(f"optimize: design {x.name!r} from {low:g} to {high:g}; it is a parameter or a number of the mechanism, with low < high")
            free.append((x.name, x.place, low, high))
        return _Problem(plan, _actuated(plan.machine, actuated), free, free_time, shortest, longest, intervals, parameters)

    @property
    def unknown(self) -> list[int]:
        """The places of unknown parameters."""
        return [place for _, place, _, _ in self.free]

    @property
    def sizes(self) -> tuple[int, int]:
        """Of a state and of the forces."""
        s = self.plan.system
        return s.nq + s.nv, len(self.actuated)

    @property
    def names(self) -> list[str]:
        """Of the states and the free forces."""
        m = self.plan.machine
        return [*(f"q.{n}" for n in m.coordinate_names), *(f"v.{n}" for n in m.speed_names), *(f"tau.{m.speed_names[k]}" for k in self.actuated)]

    # ------------------------------------------------------------------------------------------------ ranges
    def ranges(self, end: Mapping[str, Any], bounds: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
        """The lowest and the highest of every variable; a StudyError with every name that is not there, and every value out of range."""
        nx, nu = self.sizes
        low, high = _limits(self.plan.machine, self.actuated)
        faults = [f"bounds: {unknown('state or force', name, self.names)}" for name in bounds if name not in self.names]
        for name, (a, b) in bounds.items():
            if name in self.names:
                k = self.names.index(name)
                low[k], high[k] = max(low[k], a), min(high[k], b)
                if not low[k] <= high[k]:
                    faults.append(f"bounds: {name} from {a:g} to {b:g} leaves nothing within the joint's limits")
        start, last = self.plan.x0[0, :nx], self._end(end, faults)
        for what, values in (("the start", dict(enumerate(start))), ("the end", last)):
            slack = BEYOND * np.maximum(1.0, np.abs(np.nan_to_num(high[:nx] - low[:nx], posinf=1.0)))
            faults += [f"{what}: {self.names[k]} = {x:g} is beyond its limits, {low[k]:g} to {high[k]:g}" for k, x in values.items()
                       if not low[k] - slack[k] <= x <= high[k] + slack[k]]  # fmt: skip
        if faults:
            raise StudyError(f"optimize: the motion of {self.plan.machine.mechanism.name!r} cannot be as asked:", faults)
        whole = [np.tile(x, (self.intervals + 1, 1)) for x in (low, high)]
        for own in whole:
            own[0, :nx] = start
            own[-1, list(last)] = list(last.values())
        timed = [[self.shortest], [self.longest]] if self.free_time else [[], []]
        design = [[x[2] for x in self.free], [x[3] for x in self.free]]
        packed = [np.concatenate([own.ravel()[: len(own) * (nx + nu) - nu], t, d]) for own, t, d in zip(whole, timed, design)]
        return packed[0], packed[1]

    def _end(self, end: Mapping[str, Any], faults: list[str]) -> dict[int, float]:
        m, found, nq = self.plan.machine.mechanism, dict[int, float](), self.plan.system.nq
        faults += [f"end: {unknown('key', key, ('q', 'v'))}" for key in end if key not in ("q", "v")]
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
                    faults.append(f"end: {unknown('coordinate' if letter == 'q' else 'speed', name, [e.name for e in known], f'mechanism {m.name!r}')}")
        return found

    def guess(self, low: Array, high: Array) -> Array:
        """A straight line from the start to what is given of the end, no forces, the middle of what is free."""
        nx, nu = self.sizes
        N, width = self.intervals, nx + nu
        start, last = low[:nx], low[N * width : N * width + nx]
        fixed = low[N * width : N * width + nx] == high[N * width : N * width + nx]
        line = start + np.linspace(0.0, 1.0, N + 1)[:, None] * np.where(fixed, last - start, 0.0)
        z = np.zeros(len(low))
        z[: N * width].reshape(N, width)[:, :nx] = line[:-1]
        z[N * width : N * width + nx] = line[-1]
        z[N * width + nx :] = 0.5 * (low[N * width + nx :] + high[N * width + nx :])
        return np.clip(z, low, high)

    # ------------------------------------------------------------------------------------------------ what was found
    def optimum(self, z: Array, cost: float, iterations: int, seconds: float) -> Optimum:
        """The record, checked by a forward simulation."""
        nx, nu = self.sizes
        N, width, s = self.intervals, nx + nu, self.plan.system
        rest = z[N * width + nx :]
        T = float(rest[0]) if self.free_time else self.longest
        rows = z[: N * width].reshape(N, width)
        x = np.vstack([rows[:, :nx], z[N * width : N * width + nx]])
        forces = np.zeros((N, s.nv))
        forces[:, self.actuated] = rows[:, nx:]
        names = list(self.plan.machine.mechanism.parameters)
        unknown = {names[place]: float(y) for place, y in zip(self.unknown, rest[int(self.free_time) :])}
        return checked(self.plan.machine, np.linspace(0.0, T, N + 1), x[:, : s.nq], x[:, s.nq :], forces, cost, unknown, self.given, iterations, seconds)

    def failed(self, program: Program, z: Array, low: Array, high: Array, status: str) -> str:
        """Why no optimum was found: the condition that is violated most, and where."""
        nx, nu = self.sizes
        defects = np.abs(program.values(z)[0])
        k, j = np.unravel_index(int(np.nanargmax(np.where(np.isfinite(defects), defects, np.inf))), defects.shape)
        T = float(z[self.intervals * (nx + nu) + nx]) if self.free_time else self.longest
        h = T / self.intervals
        N, width = self.intervals, nx + nu
        rows, lowest, highest = (x[: N * width].reshape(N, width)[1:] for x in (z, low, high))
        at = np.atleast_1d(((rows >= highest - NEAR) | (rows <= lowest + NEAR)).any(axis=0))
        tight = [name for name, there in zip(self.names, at) if there]
        at_limit = f" At their limits are {', '.join(tight)}." if tight else ""
        return (f"optimize: no motion of {self.plan.machine.mechanism.name!r} was found; Ipopt says {status.replace('_', ' ').lower()}. The condition that is violated "
                f"most is the equation of motion of {self.names[int(j)]!r} between t = {k * h:.4g} and {(k + 1) * h:.4g} s, by {defects[k, j]:.3g}.{at_limit} "
                "Give it more time, more force or wider limits, or an end that it can reach")  # fmt: skip


def _actuated(machine: Machine, names: Iterable[str] | None) -> list[int]:
    """The speeds whose forces are free."""
    if names is not None:
        return all_speeds_of(machine, names)
    efforts = [float(x) for j in machine.mechanism.moving for x in j.effort]
    limited = [k for k, x in enumerate(efforts) if np.isfinite(x)]
    return limited or list(range(machine.nv))


def _limits(machine: Machine, actuated: list[int]) -> tuple[Array, Array]:
    """The limits of the joints: of a state, then of the free forces."""
    m = machine.mechanism
    speeds = [(n, *map(float, (a, b, w, e))) for j in m.moving for n, a, b, w, e in zip(j.speed_names, j.lower, j.upper, j.speed, j.effort)]
    by_name = {n: (a, b) for n, a, b, _, _ in speeds}
    places = [by_name.get(n, (-np.inf, np.inf)) for n in m.coordinate_names]
    fastest, strongest = np.array([w for *_, w, _ in speeds]), np.array([e for *_, e in speeds])[actuated]
    low = np.concatenate([[a for a, _ in places], -fastest, -strongest])
    return low, np.concatenate([[b for _, b in places], fastest, strongest])
