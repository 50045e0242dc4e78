"""whole_body: joint forces of a robot with contacts, tasks and limits, by a quadratic programme.

    minimise    sum_i w_i |J_i a + Jdot_i v - (kp e_i - kd J_i v)|^2 + small |a|^2, |f|^2
    with        M a + bias = S' tau + J_c' f + A' lam          all speeds; tau is eliminated
                J_c a + Jdot_c v = 0                            contacts do not slip
                |f_x|, |f_y| <= mu f_z / sqrt(2),  f_z >= 0     inside the cones of friction
                tau_low <= tau <= tau_high,    A a = gamma      motors, closed loops

Unknowns are x = (a, f, lam). An active set that is kept between calls solves it in most cases
(`active_contacts`), a solver of `QP_SOLVERS` in all others. With several priorities the programme
is solved once for each, and the residuals reached for tasks of higher priority become constraints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import Single, Tracer, compile_single, single_state
from ..errors import StateError
from ..machine import Machine, all_speeds_of, machine_of
from ..model import Mechanism
from .active_contacts import ActiveContacts
from .qp_solvers import QP, qp_solver
from .tasks import Task, joint_values, pack_targets, split_targets

Array = np.ndarray
# weights of accelerations and contact forces, relative to a task of weight one: they choose among
# equally good solutions
SMALL_ACCELERATION = 1e-6
SMALL_FORCE = 1e-7


@dataclass(frozen=True)
class FrameContact:
    """A frame that is pressed against the ground and does not slip, at its origin or, with a size,
    at the four corners of a rectangle in its x-y plane.

    Parameters
    ----------
    frame : str
        The frame; its z axis is the normal, from the ground into the body.
    friction : float
        The coefficient of friction mu.
    size : pair of floats, optional
        Half the edges of the rectangle along x and y, m. By default it is a point.
    """

    frame: str
    friction: float
    size: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if not self.friction > 0:
            raise StateError(
                f"FrameContact of {self.frame!r}: friction is {self.friction!r}; it is above zero"
            )

    @property
    def corners(self) -> list[tuple[float, float]]:
        """The points at which forces act, in the plane of the frame."""
        if self.size is None:
            return [(0.0, 0.0)]
        x, y = self.size
        return [(x, y), (x, -y), (-x, -y), (-x, y)]

    def motion(self, s: Tracer) -> tuple[ca.SX, ca.SX]:
        """Return the rows J (6 or 3, nv) of the contact's velocity in its own axes, and Jdot v."""
        first = 0 if self.size is not None else 3
        return (
            s.jacobian(self.frame, "body")[first:, :],
            s.jacobian_rate(self.frame, "body")[first:],
        )

    def forces(self, s: Tracer) -> ca.SX:
        """Return the joint forces of a unit of each force at each corner, (nv, 3 corners)."""
        J = s.jacobian(self.frame, "body")
        rows = []
        for x, y in self.corners:
            arm = ca.SX([[0, 0, -y], [0, 0, x], [y, -x, 0]])  # r x
            rows.append(J[3:, :] - arm @ J[:3, :])
        return ca.vertcat(*rows).T


@dataclass(frozen=True)
class WholeBody:
    """Whole-body control of a machine; see `whole_body`."""

    machine: Machine
    levels: tuple[tuple[Task, ...], ...]
    contacts: tuple[FrameContact, ...]
    kp: float
    kd: float
    motors: tuple[int, ...]
    tau_low: Array
    tau_high: Array
    solver: str | None = None

    @property
    def tasks(self) -> tuple[Task, ...]:
        """The tasks of all priorities."""
        return tuple(task for level in self.levels for task in level)

    def targets(self, given: Mapping[str, Any]) -> Array:
        """Return the targets {task: target} of all tasks as one array."""
        return pack_targets(self.machine, self.tasks, given)

    def solve(self, q: Any, v: Any, targets: Any) -> WholeBodySolution:
        """Return accelerations, joint forces and contact forces at a state. q (nq,), v (nv,);
        targets: {task: target}, or the array that `targets` returns. Raises QuestionError where no
        forces satisfy the constraints.
        """
        if isinstance(targets, Mapping):
            targets = self.targets(targets)
        parts = self._evaluate(np.asarray(q, float), np.asarray(v, float), np.asarray(targets))
        x = self._active.solve(parts, self.machine.nv) if len(self.levels) == 1 else None
        if x is None:
            x = self._by_priority(parts)
        nv, nf = self.machine.nv, self._force_count
        tau = np.zeros(nv)
        tau[list(self.motors)] = parts["T"] @ x + parts["t"][:, 0]
        return WholeBodySolution(x[:nv], tau, x[nv : nv + nf].reshape(-1, 3))

    @cached_property
    def _active(self) -> ActiveContacts:
        """The active set of the last call, from which the next one starts."""
        friction = [c.friction / np.sqrt(2.0) for c in self.contacts for _ in c.corners]
        return ActiveContacts(np.array(friction), SMALL_FORCE)

    def _by_priority(self, parts: dict[str, Array]) -> Array:
        """Return the minimum by a solver of quadratic programmes, priority by priority."""
        nv, A, b, G = self.machine.nv, parts["A"], parts["b"][:, 0], parts["G"]
        n = G.shape[1]
        low, high = parts["low"][:, 0], parts["high"][:, 0]
        x_low, x_high, x = np.full(n, -np.inf), np.full(n, np.inf), np.zeros(n)
        x_low[self._normals] = 0.0
        for k in range(len(self.levels)):
            P, c = SMALL_FORCE * np.eye(n), np.zeros(n)
            P[:nv, :nv], c[:nv] = parts[f"H{k}"], -parts[f"g{k}"][:, 0]
            x = self._solve(QP(P, c, A, b, G, low, high, x_low, x_high))
            if k + 1 < len(self.levels):
                rows = np.hstack([parts[f"J{k}"], np.zeros((len(parts[f"J{k}"]), n - nv))])
                A, b = np.vstack([A, rows]), np.append(b, rows @ x)
        return x

    def controller(self, targets: Any, sample: float) -> Any:
        """Return a controller for `catena.simulate` that solves the programme every `sample` s.

        targets: {task: target}, or a function of time (s) that returns them.
        """
        return _SampledWholeBody(self, targets, sample)

    # --- expressions
    @property
    def _force_count(self) -> int:
        return 3 * sum(len(c.corners) for c in self.contacts)

    @cached_property
    def _normals(self) -> list[int]:
        """The indices of the normal forces among the unknowns."""
        return [self.machine.nv + 3 * k + 2 for k in range(self._force_count // 3)]

    @cached_property
    def _solve(self) -> Any:
        return qp_solver(self.solver, 1e-7)

    @cached_property
    def _programme(self) -> tuple[ca.Function, dict[str, tuple[int, int]]]:
        """The function (q, v, targets, p) -> all matrices of the programme, one after another; and
        their shapes.
        """
        s = Tracer(self.machine.layout, self.machine.snap)
        nv, nf, m = self.machine.nv, self._force_count, len(self.machine.rows)
        packed = ca.SX.sym("targets", sum(x.target_size(self.machine) for x in self.tasks))
        parts: dict[str, ca.SX] = {}
        pieces = iter(split_targets(self.machine, self.tasks, packed))
        for k, level in enumerate(self.levels):
            rows = [task.rows(s, next(pieces)) for task in level]
            H, g = SMALL_ACCELERATION * ca.SX.eye(nv), ca.SX.zeros(nv)
            for x in rows:
                weighted = ca.sparsify(ca.diag(ca.DM(x.weight)) @ x.J)
                H = H + ca.sparsify(x.J).T @ weighted
                g = g + weighted.T @ (self.kp * x.error - self.kd * (x.J @ s.v) - x.drift)
            parts[f"H{k}"], parts[f"g{k}"] = H, g
            if k + 1 < len(self.levels):
                parts[f"J{k}"] = ca.vertcat(*(x.J for x in rows))
        M, bias = s.mass_matrix(), s.bias()
        F = [M]
        if nf:
            F.append(-ca.horzcat(*(c.forces(s) for c in self.contacts)))
        loop_rows = ca.SX.zeros(0, nv)
        gamma = ca.SX.zeros(0)
        if m:
            _, _, gamma, loop_rows = s.constraint_rows()
            F.append(-loop_rows.T)
        dynamics = ca.horzcat(*F)
        motors = list(self.motors)
        idle = [k for k in range(nv) if k not in self.motors]
        contact = [c.motion(s) for c in self.contacts]
        J_c = ca.vertcat(ca.SX.zeros(0, nv), *(J for J, _ in contact), loop_rows)
        drift = ca.vertcat(ca.SX.zeros(0), *(d for _, d in contact), -gamma)
        wide = ca.horzcat(J_c, ca.SX.zeros(J_c.shape[0], nf + m))
        parts["A"] = ca.vertcat(dynamics[idle, :], wide)
        parts["b"] = ca.vertcat(-bias[idle], -drift)
        parts["T"], parts["t"] = dynamics[motors, :], bias[motors]
        limited = [k for k in range(len(motors)) if np.isfinite(self.tau_high[motors[k]])]
        cones = self._cones(nv, nf, m)
        tau_low, tau_high = (x[[motors[k] for k in limited]] for x in (self.tau_low, self.tau_high))
        parts["G"] = ca.vertcat(ca.SX(cones), parts["T"][limited, :])
        none = np.zeros(len(cones))
        own = ca.reshape(parts["t"][limited], len(limited), 1)
        parts["low"] = ca.vertcat(ca.SX(none - 1e30), _column(tau_low) - own)
        parts["high"] = ca.vertcat(ca.SX(none), _column(tau_high) - own)
        flat = ca.vertcat(*(ca.vec(ca.densify(x)) for x in parts.values()))
        function = ca.Function("whole_body", [s.q, s.v, packed, s.p], [ca.densify(ca.cse(flat))])
        return function, {name: x.shape for name, x in parts.items()}

    def _cones(self, nv: int, nf: int, m: int) -> Array:
        """Return the rows of the pyramids inside the cones of friction: row x <= 0."""
        rows = np.zeros((4 * (nf // 3), nv + nf + m))
        k = 0
        for contact in self.contacts:
            mu = contact.friction / np.sqrt(2.0)
            for _ in contact.corners:
                for i, (axis, sign) in enumerate(((0, 1), (0, -1), (1, 1), (1, -1))):
                    rows[4 * k + i, nv + 3 * k + axis] = sign
                    rows[4 * k + i, nv + 3 * k + 2] = -mu
                k += 1
        return rows

    @cached_property
    def _call(self) -> Any:
        function, _ = self._programme
        p = list(self.machine.mechanism.parameters.values())

        def rest(*given: Any) -> Array:
            found = function(*given, p)
            if not np.isfinite(np.array(found)).all():
                raise StateError("whole_body: q, v and targets must be finite numbers")
            return np.array(found).ravel()

        if not single_state.available():
            return rest
        size = function.size1_out(0)
        given = tuple(function.size1_in(k) for k in range(3))
        single = Single(given, len(p), "", size, (size,))
        return compile_single(function, single).builtin(
            p, rest, lambda better: vars(self).update(_call=better)
        )

    def _evaluate(self, q: Array, v: Array, targets: Array) -> dict[str, Array]:
        """Return the matrices of the programme at a state."""
        shapes = self._programme[1]
        flat = self._call(q, v, targets)
        found, at = {}, 0
        for name, (rows, columns) in shapes.items():
            found[name] = flat[at : at + rows * columns].reshape(columns, rows).T
            at += rows * columns
        return found


@dataclass(frozen=True)
class WholeBodySolution:
    """Accelerations a (nv,), joint forces tau (nv,), and contact forces (points, 3) in the axes of
    their frames.
    """

    a: Array
    tau: Array
    forces: Array


@dataclass(frozen=True)
class _SampledWholeBody:
    """Whole-body control as a sampled controller of a simulation."""

    law_of: WholeBody
    targets: Any
    sample: float

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the joint forces (nv,) at time t (s)."""
        wanted = self.targets(t) if callable(self.targets) else self.targets
        return self.law_of.solve(q, v, wanted).tau


def whole_body(
    mechanism: Mechanism | Machine,
    tasks: Iterable[Task] | Sequence[Sequence[Task]],
    *,
    contacts: Iterable[FrameContact] = (),
    kp: float = 100.0,
    kd: float = 20.0,
    actuated: Iterable[str] | None = None,
    effort: Any = "effort",
    solver: str | None = None,
) -> WholeBody:
    """Return whole-body control: joint forces that serve tasks within the limits of contacts and
    motors.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The robot, on a fixed or a free base, open or with closed loops.
    tasks : iterable of Task, or sequence of such sequences
        `FrameTask`, `PostureTask`, `ComTask`. Several sequences are priorities, the highest first.
    contacts : iterable of FrameContact
        The frames that stand on the ground.
    kp, kd : float
        Gains of the errors, 1/s2 and 1/s.
    actuated : iterable of str, optional
        The joints with motors. By default all but free and ball joints.
    effort : "effort", float, array (nv,), mapping or None
        The largest joint forces, N m or N: by default those of the joints.
    solver : str, optional
        A solver of `QP_SOLVERS`. By default the first one installed.

    Returns
    -------
    WholeBody
        Its `solve(q, v, targets)` gives the joint forces; its `controller(targets, sample)` is a
        controller of `catena.simulate`.

    Raises
    ------
    StateError
        If there is no task, two have one name, or a gain is negative.
    """
    machine = machine_of(mechanism)
    given: tuple[Any, ...] = tuple(tasks)
    levels = tuple(tuple(x) for x in given) if _nested(given) else (given,)
    names = [task.name for level in levels for task in level]
    if not names or len(set(names)) != len(names):
        raise StateError(
            "whole_body: it takes one task or more with different names; found"
            f" {', '.join(map(repr, names)) or 'none'}"
        )
    if kp < 0 or kd < 0:
        raise StateError(f"whole_body: kp is {kp!r} and kd is {kd!r}; gains are zero or above")
    loose = {j.name for j in machine.mechanism.moving if j.kind in ("free", "ball")}
    motors = all_speeds_of(
        machine,
        [j for j in machine.joint_names if j not in loose] if actuated is None else actuated,
    )
    most = joint_values(machine, "whole_body: effort", effort, np.inf)
    return WholeBody(machine, levels, tuple(contacts), kp, kd, tuple(motors), -most, most, solver)


def _column(x: Array) -> ca.SX:
    return ca.SX(ca.DM(x.reshape(-1, 1)))


def _nested(tasks: tuple[Any, ...]) -> bool:
    return bool(tasks) and isinstance(tasks[0], list | tuple)
