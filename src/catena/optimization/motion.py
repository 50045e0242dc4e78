"""Optimal motions: direct collocation or multiple shooting with exact derivatives in machine code.

request --motion_problem--> ranges, guess --transcription--> copies of one function --program,
solvers--> z --optimum--> forward simulation
"""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..errors import StudyError, unknown
from ..sensitivity import expression, symbols
from .contact_modes import ContactRows
from .copies import Copies
from .costs import cost_rate
from .ipopt import Found, solve
from .layout import Layout
from .loop_rows import LoopRows
from .motion_problem import MotionProblem, Ranges
from .optimum import Optimum, check_by_simulation
from .program import Program
from .transcription import TRANSCRIPTIONS, Shape, interval

Array = NDArray[np.float64]
# distance (rad, m, N ...) from a limit at which the error message names a variable
AT_LIMIT_DISTANCE = 1e-6


@dataclass(frozen=True)
class Motion:
    """A motion to be found.

    problem: the request. ranges: of its unknowns. copies: the function of one interval, once per
    interval. rows: the lowest and the highest values of an interval's rows; names: theirs.
    """

    problem: MotionProblem
    ranges: Ranges
    copies: Copies
    rows: tuple[Array, Array]
    names: list[str]

    @staticmethod
    def of(
        problem: MotionProblem, ranges: Ranges, cost: Any, method: str, paths: Mapping[str, Any]
    ) -> Motion:
        """Return the motion, with the function of an interval and all constraints in it."""
        if method not in TRANSCRIPTIONS:
            raise StudyError(f"optimize: {unknown('method', method, TRANSCRIPTIONS)}")
        plan = problem.plan
        system, nq = plan.system, plan.system.nq
        along, low, high = path_rows(paths, symbols(system))
        loops = LoopRows.of(plan.machine, ranges.guess[0][:, :nq], plan.p[0])
        contacts = ContactRows.of(plan, problem.contacts)
        never, called = contacts.conditions(system)
        along = ca.vertcat(along, never)
        low = np.append(low, np.zeros(len(called)))
        high = np.append(high, np.full(len(called), np.inf))
        shape = Shape(
            problem.intervals,
            problem.actuated,
            problem.unknown,
            plan.p[0],
            problem.free_time,
            problem.longest,
        )
        rate, work = cost_rate(system, cost)
        copies = interval(
            system, (rate, work), TRANSCRIPTIONS[method], shape, loops, contacts, along
        )
        states = problem.names[: nq + system.nv]
        names = [
            *(f"the equation of motion of {name!r}" for name in states),
            *loops.names,
            *contacts.names,
            *(f"the condition {text!r}" for text in paths),
            *called,
        ]
        zeros = np.zeros(len(states) + len(loops.names) + len(contacts.names))
        works = np.zeros(copies.nr - len(names))
        names += (
            [f"the work of {plan.machine.speed_names[k]!r}" for k in problem.actuated] * 2
            if work
            else []
        )
        return Motion(
            problem,
            ranges,
            copies,
            (np.concatenate([zeros, low, works]), np.concatenate([zeros, high, works + np.inf])),
            names,
        )

    def program(self) -> tuple[Program, Layout]:
        """Return the nonlinear program of all intervals, and the layout of its unknowns."""
        c, r = self.copies, self.ranges
        nx = r.guess[0].shape[1]
        nw = len(r.w[0])
        layout = Layout(c.count, nx, c.y.numel() - 2 * nx - nw, nw)
        return Program(c, layout.size, layout.places), layout

    def arguments(self, layout: Layout) -> tuple[Array, Array, Array, tuple[Array, Array]]:
        """Return the guess, the lowest and the highest values of the unknowns, and those of the
        rows.
        """
        r = self.ranges
        x, forces, w = r.guess
        # corrections of loops, and work, are unbounded
        none = np.full((layout.N, layout.nu - forces.shape[1]), np.inf)
        low = layout.pack(r.x[0], np.hstack([r.u[0], -none]), r.w[0])
        high = layout.pack(r.x[1], np.hstack([r.u[1], none]), r.w[1])
        rows = np.tile(self.rows[0], layout.N), np.tile(self.rows[1], layout.N)
        return layout.pack(x, np.hstack([forces, np.zeros(none.shape)]), w), low, high, rows

    def optimum(self, found: Found, layout: Layout, seconds: float) -> Optimum:
        """Return the outcome, checked by a forward simulation."""
        problem = self.problem
        s = self.problem.plan.system
        x, u, w = layout.unpack(found.z)
        T = float(w[0]) if problem.free_time else problem.longest
        forces = np.zeros((len(u), s.nv))
        forces[:, problem.actuated] = u[:, : len(problem.actuated)]
        names = list(problem.plan.machine.mechanism.parameters)
        unknown = {
            names[place]: float(y) for place, y in zip(problem.unknown, w[int(problem.free_time) :])
        }
        cost = float(
            np.sum(
                self.copies.value(
                    [np.ascontiguousarray(found.z[layout.places]), self.copies.given], len(u)
                )[0][1]
            )
        )
        return check_by_simulation(
            problem.plan.machine,
            np.linspace(0.0, T, len(u) + 1),
            x[:, : s.nq],
            x[:, s.nq :],
            forces,
            cost=cost,
            unknown=unknown,
            given=problem.given,
            iterations=found.iterations,
            seconds=seconds,
            evaluation=found.evaluation,
        )

    def failed(self, found: Found, layout: Layout) -> str:
        """Return a sentence that says why no optimum was found: the condition that is violated
        most, and where.
        """
        problem, r = self.problem, self.ranges
        x, u, w = layout.unpack(found.z)
        values = self.copies.value(
            [np.ascontiguousarray(found.z[layout.places]), self.copies.given], len(u)
        )[0][0]
        beyond = np.maximum(values - self.rows[1], self.rows[0] - values)
        k, j = np.unravel_index(
            int(np.argmax(np.where(np.isfinite(beyond), beyond, np.inf))), beyond.shape
        )
        h = (float(w[0]) if problem.free_time else problem.longest) / problem.intervals
        both = ((x[1:-1], r.x[0][1:-1], r.x[1][1:-1]), (u[:, : len(problem.actuated)], *r.u))
        at = np.concatenate(
            [
                ((y >= high - AT_LIMIT_DISTANCE) | (y <= low + AT_LIMIT_DISTANCE)).any(axis=0)
                for y, low, high in both
            ]
        )
        tight = [name for name, there in zip(problem.names, at) if there]
        at_limit = f" At their limits are {', '.join(tight)}." if tight else ""
        return (
            f"optimize: no motion of {problem.plan.machine.mechanism.name!r} was found; Ipopt says"
            f" {found.status}. The condition that is violated most is {self.names[int(j)]} between"
            f" t = {k * h:.4g} and {(k + 1) * h:.4g} s, by {beyond[k, j]:.3g}.{at_limit} Give it"
            " more time, more force or wider limits, or an end that it can reach"
        )


def path_rows(paths: Mapping[str, Any], table: Mapping[str, Any]) -> tuple[ca.SX, Array, Array]:
    """Return the expressions of conditions, {text: value or (low, high)}, and their ranges."""
    rows = [expression(text, table, "optimize: condition") for text in paths]
    low, high = np.zeros((2, len(rows)))
    for k, (text, given) in enumerate(paths.items()):
        pair = (given, given) if isinstance(given, int | float) else tuple(given)
        if len(pair) != 2 or not pair[0] <= pair[1]:
            raise StudyError(
                f"optimize: condition {text!r} is {given!r}; it is a value, or (low, high)"
            )
        low[k], high[k] = pair
    return ca.vertcat(*rows) if rows else ca.SX.zeros(0), low, high


def best_motion(
    motion: Motion, tolerance: float, iterations: int
) -> tuple[Optimum, tuple[Array, Array, Array]]:
    """Return the optimum, and its states, forces and w.

    Raises StudyError, which says which condition is violated and where.
    """
    motion.copies.compile()
    began = clock.perf_counter()
    program, layout = motion.program()
    found = solve(program, *motion.arguments(layout), tolerance, iterations)
    if not found.solved:
        raise StudyError(motion.failed(found, layout))
    x, u, w = layout.unpack(found.z)
    return motion.optimum(found, layout, clock.perf_counter() - began), (
        x,
        u[:, : len(motion.problem.actuated)],
        w,
    )
