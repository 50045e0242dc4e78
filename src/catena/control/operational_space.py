"""OperationalSpace: a frame follows its target as if it were a unit mass on a spring and a damper.

    tau = J' Lambda (a* + kd (x*' - x') + kp e - Jdot v) + bias + N' tau_0
    Lambda = (J M^-1 J')^-1,    N = 1 - M^-1 J' Lambda J,    tau_0 = M (kp0 (q0 - q) - kd0 v)

[Khatib1987] eqs. 48 and 51. The posture torque tau_0 acts in the null space of the frame's motion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import entries, factored, solved
from ..errors import StateError
from ..machine import Machine, machine_of
from ..simulation.control import Controller, Law, clip_forces, sample_and_hold
from ..simulation.terms import SystemSymbols
from ..simulation.trajectories import Trajectory
from .tasks import FrameTask, PostureTask

Array = np.ndarray
# singular values of the rows of a task, relative to the largest: smaller ones are no direction
RANK_OF_TASK = 1e-9


@dataclass(frozen=True)
class OperationalSpace(Controller):
    """Operational-space control of a frame, for mechanisms without loops.

    Parameters
    ----------
    task : FrameTask
        The frame, and which of its directions are controlled: those with a weight above zero.
    target : array (4, 4)
        The pose to hold, in the ground.
    path : Trajectory, optional
        The position over time in place of that of the pose, m: three coordinates, x, y and z.
    kp, kd : float
        Gains of the frame, 1/s2 and 1/s.
    posture : array (nq,), optional
        Coordinates that the null space is drawn to. By default they are free but for kd.
    posture_kp, posture_kd : float
        Gains of the posture, 1/s2 and 1/s.
    limits, sample
        As for `PID`.

    Raises
    ------
    StateError
        If the target is no pose, or a gain is negative.

    Examples
    --------
    >>> import catena, numpy as np
    >>> from catena.control import FrameTask, OperationalSpace
    >>> arm = catena.load("two_link_arm")
    >>> goal = np.eye(4)
    >>> goal[:3, 3] = [0.4, 0.5, 0.0]
    >>> law = OperationalSpace(FrameTask("tip", position=[1, 1, 0], orientation=0), goal, 100, 20)
    >>> run = catena.simulate(arm, q=[0.3, 0.8], until=2.0, control=law)
    >>> catena.compile(arm).pose(run.data["q"].values[-1], "tip")[:2, 3].round(4).tolist()
    [0.4, 0.5]
    """

    task: FrameTask
    target: Any
    kp: float
    kd: float
    path: Trajectory | None = None
    posture: Any = None
    posture_kp: float = 10.0
    posture_kd: float = 6.0
    limits: Any = None
    sample: float | None = None

    def __post_init__(self) -> None:
        if np.shape(self.target) not in ((4, 4), (3, 4)):
            raise StateError(
                f"OperationalSpace: target has the shape {np.shape(self.target)}; it is a pose (4,"
                " 4)"
            )
        for name in ("kp", "kd", "posture_kp", "posture_kd"):
            if not getattr(self, name) >= 0:
                raise StateError(
                    f"OperationalSpace: {name} is {getattr(self, name)!r}; it is zero or above"
                )
        if self.path is not None and len(self.path.names) != 3:
            raise StateError(
                f"OperationalSpace: path has {len(self.path.names)} coordinates; it has three: x,"
                " y, z"
            )

    def law(self, system: SystemSymbols) -> Law:
        """Return the joint forces; there is no state unless it is sampled."""
        if system.layout.mechanism.loops or system.layout.mechanism.row_records:
            raise StateError(
                "OperationalSpace: the mechanism has closed loops or speed rows; use whole_body,"
                " which takes them into account"
            )
        machine = machine_of(system.mechanism)
        target, rate, a = self._wanted(system, machine)
        posture = np.asarray(machine.neutral() if self.posture is None else self.posture, float)
        packed = ca.SX.sym("target", 12)
        s = system.tracer()
        rows = self.task.rows(s, packed)
        rest = PostureTask().rows(s, ca.SX(posture))
        self._require_freedoms(machine, ca.Function("J", [s.q, s.p], [rows.J]))
        M = s.mass_matrix()
        factor = factored(entries(M))
        Y = ca.horzcat(*(solved(factor, rows.J[k, :].T) for k in range(rows.J.shape[0])))
        wanted = ca.SX.sym("wanted", rows.error.numel())  # a* + kd x*'
        pull = wanted + self.kp * rows.error - self.kd * (rows.J @ s.v) - rows.drift
        stiffness = 0.0 if self.posture is None else self.posture_kp
        own = stiffness * rest.error - self.posture_kd * s.v
        # J a = pull, with N own in the null space: the posture's part of J a is taken off
        force = ca.solve(rows.J @ Y, pull - rows.J @ own)
        tau = rows.J.T @ force + M @ own + s.bias()
        f = ca.Function("operational_space", [s.t, s.q, s.v, s.p, packed, wanted], [tau])
        found = f(system.t, system.q, system.v, system.p, target, a + self.kd * rate)
        losses = ca.SX(found) - system.losses
        return sample_and_hold(self.sample, system, Law(clip_forces(system, losses, self.limits)))

    def _require_freedoms(self, machine: Machine, rows: ca.Function) -> None:
        """Raise a StateError where the joints cannot move the frame in all controlled directions,
        at a random state.
        """
        q = machine.sample(np.random.default_rng(0))
        J = np.array(rows(q, list(machine.mechanism.parameters.values())))
        sizes = np.linalg.svd(J, compute_uv=False)
        rank = int((sizes > RANK_OF_TASK * max(sizes.max(initial=0.0), 1e-300)).sum())
        if not np.abs(J).max(initial=0.0) > 0.0:
            rank = 0
        if rank < len(J):
            raise StateError(
                f"OperationalSpace: frame {self.task.frame!r} can move in {rank} of the {len(J)}"
                " directions that are controlled; give the others the weight zero in its FrameTask,"
                " or choose a frame that more joints move"
            )

    def _wanted(self, system: SystemSymbols, machine: Machine) -> tuple[ca.SX, ca.SX, ca.SX]:
        """Return the packed target, with its velocity and acceleration in the controlled
        directions.
        """
        packed = ca.SX(self.task.pack(machine, self.target))
        weight = [
            *np.broadcast_to(np.asarray(self.task.position, float), 3),
            *np.broadcast_to(np.asarray(self.task.orientation, float), 3),
        ]
        order = [k for k in range(6) if weight[k] > 0.0]
        x, v, a = (ca.SX.zeros(3),) * 3
        if self.path is not None:
            x, v, a = system.follow(self.path).at(system.t)
            packed = ca.vertcat(packed[:9], x)
        still = ca.SX.zeros(3)
        return packed, ca.vertcat(v, still)[order], ca.vertcat(a, still)[order]
