"""Optimal design: parameters of a mechanism for which a cost over given poses is least.

springs that balance an arm: "torque squared" over its range;
        least shaking force: over a turn at a constant speed;  a coupler that passes
given points: "distance"
"""

from __future__ import annotations

import time as clock
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from ..analysis import assemble
from ..errors import ClosureError, StudyError
from ..model import Mechanism
from .copies import Copies
from .ipopt import Found, solve
from .loop_rows import LoopRows
from .motion import path_rows
from .pose_problem import PoseProblem
from .poses import PoseTape, cost_of, names_of
from .program import Program

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Design:
    """An optimal design.

    Attributes
    ----------
    parameters : mapping
        The values of the unknown parameters.
    mechanism : Mechanism
        The mechanism with them.
    cost : float
        The mean of the cost over the poses.
    q : array, shape (K, nq)
        The poses, rad or m.
    v, a : array, shape (K, nv)
        Speeds and accelerations; zero at rest.
    tau : array, shape (K, nv)
        Joint forces, where the cost or a condition contains them; otherwise zero.
    difference : float
        The largest difference (rad, m) between q and the poses of `mechanism` as `catena.assemble`
        finds them.
    iterations : int
        Of Ipopt.
    seconds : float
        The time that Ipopt took.
    """

    parameters: Mapping[str, float]
    mechanism: Mechanism
    cost: float
    q: Array
    v: Array
    a: Array
    tau: Array
    difference: float
    iterations: int
    seconds: float

    def __str__(self) -> str:
        found = ", ".join(f"{name} = {x:.6g}" for name, x in self.parameters.items())
        return (
            f"cost {self.cost:.6g}: {found}; {len(self.q)} poses, {self.iterations} iterations,"
            f" {self.seconds:.3g} s\nassembled again, its poses differ by {self.difference:.2g}"
            " (rad, m)"
        )


def best_design(
    model: Mechanism,
    *,
    design: Mapping[str, tuple[float, float]],
    over: Mapping[str, Any],
    cost: str | Mapping[str, float] = "torque squared",
    q: Any = None,
    points: Mapping[str, Any] | None = None,
    speeds: Mapping[str, float] | None = None,
    free: Iterable[str] = (),
    actuated: Iterable[str] | None = None,
    conditions: Mapping[str, Any] | None = None,
    parameters: Mapping[str, float] | None = None,
    tolerance: float = 1e-8,
    iterations: int = 1000,
) -> Design:
    """Return the design of least cost over poses; arguments are those of `catena.optimize` with
    `over`.
    """
    problem = PoseProblem.of(
        model, q, over, points or {}, speeds or {}, list(free), actuated, design, parameters
    )
    poses = _Poses.of(problem, cost, conditions or {})
    poses.copies.compile()
    began = clock.perf_counter()
    found = solve(poses.program, *problem.unknowns(poses.own), poses.rows, tolerance, iterations)
    if not found.solved:
        raise StudyError(poses.failed(found))
    return poses.design(found, clock.perf_counter() - began)


@dataclass(frozen=True)
class _Poses:
    """The nonlinear program of all poses.

    own: the number of unknowns of a pose. moved, pushed: whether speeds, and whether joint forces,
    are among them. names: of its rows.
    """

    problem: PoseProblem
    copies: Copies
    program: Program
    rows: tuple[Array, Array]
    names: list[str]
    own: int
    moved: bool
    pushed: bool

    @staticmethod
    def of(problem: PoseProblem, cost: Any, conditions: Mapping[str, Any]) -> _Poses:
        """Return the nonlinear program of a problem: the unknowns of all poses, a cost, and
        conditions.
        """
        machine = problem.machine
        K = len(problem.q)
        loops = LoopRows.of(machine, problem.q, problem.p)
        tape = PoseTape(
            machine,
            loops,
            problem.actuated,
            problem.places,
            problem.p,
            {name: x.shape[1] for name, x in problem.points.items()},
        )
        total, (along, low, high) = (
            cost_of(machine, tape.pose, cost) / K,
            path_rows(conditions, names_of(machine, tape.pose)),
        )
        moved = problem.rates is not None
        pushed = bool(problem.actuated) and ca.depends_on(ca.vertcat(total, along), tape.drive)
        y = ca.vertcat(
            tape.q,
            *([tape.v, tape.a] if moved else []),
            *([tape.drive, tape.lam] if pushed else []),
            tape.w,
        )
        rows = ca.vertcat(
            tape.closed,
            *([tape.moving] if moved else []),
            *([tape.balance] if pushed else []),
            along,
        )
        if not moved:
            at_rest = ca.vertcat(tape.v, tape.a)
            total, rows = (
                ca.substitute(x, at_rest, ca.SX.zeros(at_rest.numel())) for x in (total, rows)
            )
        copies = Copies(
            y, tape.s, rows, total, np.hstack([np.zeros((K, 0)), *problem.points.values()])
        )
        own = y.numel() - len(problem.places)
        nw = len(problem.places)
        places = np.hstack(
            [np.arange(K * own).reshape(K, own), np.tile(K * own + np.arange(nw), (K, 1))]
        )
        zeros = np.zeros(copies.nr - len(low))
        limits = np.tile(np.concatenate([zeros, low]), K), np.tile(np.concatenate([zeros, high]), K)
        names = [
            *loops.names[: len(loops.positions)],
            *(["the rates of the loops"] * tape.moving.numel() if moved else []),
            *(
                [f"the balance of forces at {name!r}" for name in machine.speed_names]
                if pushed
                else []
            ),
            *(f"the condition {x!r}" for x in conditions),
        ]
        return _Poses(
            problem,
            copies,
            Program(copies, K * own + nw, places),
            limits,
            names,
            own,
            moved,
            pushed,
        )

    def design(self, found: Found, seconds: float) -> Design:
        """Return the outcome; as a check, the poses are assembled again."""
        problem = self.problem
        machine = self.problem.machine
        K = len(problem.q)
        nq = machine.nq
        nv = machine.nv
        rows = found.z[: K * self.own].reshape(K, self.own)
        w = found.z[K * self.own :]
        v, a = (
            (rows[:, nq : nq + nv], rows[:, nq + nv : nq + 2 * nv])
            if self.moved
            else np.zeros((2, K, nv))
        )
        tau = np.zeros((K, nv))
        first = nq + 2 * nv * self.moved
        if self.pushed:
            tau[:, problem.actuated] = rows[:, first : first + len(problem.actuated)]
        values = problem.p.copy()
        values[problem.places] = w
        best = machine.mechanism.with_(
            parameters=dict(zip(machine.mechanism.parameters, values.tolist()))
        )
        return Design(
            dict(zip(problem.names, w.tolist())),
            best,
            self.program.cost(found.z),
            rows[:, :nq],
            v,
            a,
            tau,
            _reassembled(problem, best, rows[:, :nq]),
            found.iterations,
            seconds,
        )

    def failed(self, found: Found) -> str:
        """Return a sentence with the condition that is violated most, and the pose in which it
        is.
        """
        g = self.program.constraints(found.z)
        beyond = np.maximum(g - self.rows[1], self.rows[0] - g)
        worst = int(np.argmax(np.where(np.isfinite(beyond), beyond, np.inf)))
        k, j = divmod(worst, self.copies.nr)
        return (
            f"optimize: no design of {self.problem.machine.mechanism.name!r} was found; Ipopt says"
            f" {found.status}. The condition that is violated most is {self.names[j]} in pose {k}"
            f" ({self.problem.pose(k)}), by {beyond[worst]:.3g}. Widen the ranges of design, or ask"
            " for poses that it can take"
        )


def _reassembled(problem: PoseProblem, best: Mechanism, q: Array) -> float:
    """Return the largest difference between poses and those that assembly finds; infinite if
    none.
    """
    if not problem.machine.rows:
        return 0.0
    try:
        again, _ = assemble(
            best, q, fixed=[problem.machine.coordinate_names[k] for k in problem.which]
        )
    except ClosureError:
        return float("inf")
    return float(np.abs(again - q).max())
