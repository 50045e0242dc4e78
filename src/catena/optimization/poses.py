"""Poses of a mechanism with unknown parameters: the function of which every pose of a design has a
copy.

    y = (q, v, a, tau, lam, w),     w: the unknown parameters

    e(q, w) = 0,  A v = rate of the rows = 0,  A a = gamma,
            tau + losses + A' lam = inverse dynamics(q, v, a)

v and a are unknowns where speeds are given, tau and lam where a cost or a condition contains joint
forces. Costs of poses are a registry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..compiler import losses
from ..errors import StudyError
from ..machine import Machine
from ..model.loads import identifier
from ..registry import Registry
from ..sensitivity import expression
from ..simulation.system import System
from .loop_rows import LoopRows


@dataclass(frozen=True)
class Pose:
    """The symbols of a pose, and expressions that follow from them.

    q, v, a, tau (nv,), p: as usual. place: {frame: (3,)}, its position. goal: {frame: (2,) or
    (3,)}, its target. shaking_force: (3,), the rate of linear momentum, N.
    """

    q: ca.SX
    v: ca.SX
    a: ca.SX
    tau: ca.SX
    p: ca.SX
    place: Mapping[str, ca.SX]
    goal: Mapping[str, ca.SX]
    shaking_force: ca.SX


@dataclass(frozen=True)
class PoseCost:
    """A cost of a pose: its name, its expression, and one line for help texts."""

    name: str
    of: Callable[[Pose], ca.SX]
    doc: str


def _distance(pose: Pose) -> ca.SX:
    """Return the sum of the squared distances of frames from their targets, m2."""
    if not pose.goal:
        raise StudyError(
            'optimize: cost "distance" is that of frames from points: give points = {"marker": [(x,'
            " y), ...]}, one for each pose"
        )
    return sum(
        (ca.sumsqr(pose.place[name][: goal.numel()] - goal) for name, goal in pose.goal.items()),
        ca.SX(0),
    )


POSE_COSTS: Registry[PoseCost] = Registry(
    "cost of a pose",
    [
        PoseCost(
            "distance",
            _distance,
            "the squared distance of frames from the points given for them, m^2",
        ),
        PoseCost(
            "torque squared",
            lambda pose: ca.sumsqr(pose.tau),
            "the squares of the joint forces that hold or drive it",
        ),
        PoseCost(
            "shaking force",
            lambda pose: ca.sumsqr(pose.shaking_force),
            "the square of the force that its motion puts on the ground, N^2",
        ),
    ],
)


def names_of(machine: Machine, pose: Pose) -> dict[str, Any]:
    """Return the symbols that expressions may use: parameters, q_NAME, v_NAME, a_NAME, tau_NAME,
    and x_FRAME, y_FRAME, z_FRAME.
    """
    m = machine.mechanism
    table: dict[str, Any] = {name: pose.p[k] for k, name in enumerate(m.parameters)}
    table |= {f"q_{identifier(n)}": pose.q[k] for k, n in enumerate(m.coordinate_names)}
    for letter, vector in (("v", pose.v), ("a", pose.a), ("tau", pose.tau)):
        table |= {f"{letter}_{identifier(n)}": vector[k] for k, n in enumerate(m.speed_names)}
    return table | {
        f"{axis}_{identifier(name)}": at[k]
        for name, at in pose.place.items()
        for k, axis in enumerate("xyz")
    }


def cost_of(machine: Machine, pose: Pose, cost: str | Mapping[str, float]) -> ca.SX:
    """Return the expression of a cost, given as a name, an expression, or {one of these:
    weight}.
    """
    parts = {cost: 1.0} if isinstance(cost, str) else dict(cost)
    table = names_of(machine, pose)
    if not parts:
        raise StudyError(
            f"optimize: no cost is given; costs of poses are {', '.join(POSE_COSTS)}, or a text"
            " such as 'tau_arm^2'"
        )
    texts = f"optimize: cost ({', '.join(POSE_COSTS)}, or a text)"
    return sum(
        (
            float(weight)
            * (POSE_COSTS[name].of(pose) if name in POSE_COSTS else expression(name, table, texts))
            for name, weight in parts.items()
        ),
        ca.SX(0),
    )


class PoseTape:
    """The symbols and rows of a pose.

    unknown: the indices of the unknown parameters. p: the values of all. goals: {frame: the number
    of its coordinates that are given, 2 or 3}.
    """

    def __init__(
        self,
        machine: Machine,
        loops: LoopRows,
        actuated: Sequence[int],
        unknown: Sequence[int],
        p: Any,
        goals: Mapping[str, int],
    ):
        system = System(machine.mechanism)
        nq, nv = machine.nq, machine.nv
        self.q, self.v, self.a = ca.SX.sym("q", nq), ca.SX.sym("v", nv), ca.SX.sym("a", nv)
        self.drive, self.lam, self.w = (
            ca.SX.sym("tau", len(actuated)),
            ca.SX.sym("lam", len(loops.rows)),
            ca.SX.sym("w", len(unknown)),
        )
        own, tau = ca.SX(p), ca.SX.zeros(nv)
        for k, place in enumerate(unknown):
            own[place] = self.w[k]
        for k, place in enumerate(actuated):
            tau[place] = self.drive[k]
        self.s = ca.SX.sym("s", sum(goals.values()))
        starts = [sum(list(goals.values())[:k]) for k in range(len(goals))]
        goal = {name: self.s[k : k + n] for (name, n), k in zip(goals.items(), starts)}
        taken = [f.name for f in machine.mechanism.frames]
        frames = [*taken, *(b.name for b in machine.mechanism.bodies if b.name not in taken)]
        error, rate, gamma, A, needed, push, *at = self._traced(system, own, frames)
        self.pose = Pose(self.q, self.v, self.a, tau, own, dict(zip(frames, at)), goal, push)
        chosen = list(loops.rows)
        self.closed = error[list(loops.positions)] if loops.positions else ca.SX.zeros(0)
        self.moving = (
            ca.vertcat(rate[chosen], (A @ self.a - gamma)[chosen]) if chosen else ca.SX.zeros(0)
        )
        self.balance = needed - tau - (A[chosen, :].T @ self.lam if chosen else ca.SX.zeros(nv))

    def _traced(self, system: System, p: ca.SX, frames: Sequence[str]) -> list[ca.SX]:
        """Return the rows of loops, the joint forces of the motion, the rate of momentum, and the
        positions of frames.
        """
        s, m = system.tracer(), system.mechanism
        rows = (
            list(s.constraint_rows())
            if m.constrained
            else [ca.SX.zeros(0)] * 3 + [ca.SX.zeros(0, s.layout.nv)]
        )
        momentum = s.momentum()
        push = momentum[0] * (
            ca.jtimes(momentum[4:7], s.q, s.coordinate_rate()) + ca.jtimes(momentum[4:7], s.v, s.a)
        )
        needed = s.inverse_dynamics() - losses(s)(s.v, s.p)
        f = ca.Function(
            "pose",
            [s.t, s.q, s.v, s.a, s.p],
            [*rows, needed, push, *(s.pose(name)[:, 3] for name in frames)],
        )
        return list(f.call([ca.SX(0), self.q, self.v, self.a, p]))
