"""differential_ik: the joint speeds that reduce the errors of several tasks, within limits.

    minimise   sum_i w_i |J_i v - gain e_i / dt|^2 + damping |v|^2
    with       low <= v <= high from limits of speeds and coordinates,   A v = -e / dt of loops

Where only bounds constrain the speeds, the whole step is one piece of machine code
(`box_programme`), for one state or a batch; otherwise a solver of `QP_SOLVERS` is called.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import Single, Tracer, compile_lanes, compile_single, single_state
from ..errors import StateError
from ..machine import Machine, coordinates, machine_of
from ..model import Mechanism
from .box_programme import box_minimum, exact_box_minimum
from .qp_solvers import QP, qp_solver
from .tasks import Task, joint_values, pack_targets, split_targets

Array = np.ndarray
UNSOLVED = 1e308 * 10.0  # what the first speed is where the unrolled rounds did not suffice


@dataclass(frozen=True)
class DifferentialIK:
    """Differential inverse kinematics of a machine; see `differential_ik`.

    A call with q (nq,) or (..., nq) and the packed targets returns v (..., nv).
    """

    machine: Machine
    tasks: tuple[Task, ...]
    dt: float
    gain: float
    damping: float
    low: Array
    high: Array
    coordinate_low: Array
    coordinate_high: Array
    limit_gain: float
    solver: str | None = None

    def targets(self, given: Mapping[str, Any]) -> Array:
        """Return the targets {task: target} of all tasks as one array, for calls of this object."""
        return pack_targets(self.machine, self.tasks, given)

    def __call__(self, q: Any, targets: Any) -> Array:
        """Return the speeds v (nv,) at coordinates q (nq,) for packed targets; with leading
        dimensions, a batch.
        """
        if isinstance(targets, Mapping):
            targets = self.targets(targets)
        return self.step(q, targets)

    @cached_property
    def step(self) -> Any:
        """Return a function of plain arrays, q (nq,) and packed targets, that computes v with the
        least overhead: one piece of machine code if the speeds have bounds only.
        """
        if self.machine.rows or not single_state.available():
            return self._slow
        box = self._box
        single = Single(
            (box.size1_in(0), box.size1_in(1)),
            box.size1_in(2),
            "",
            self.machine.nv,
            (self.machine.nv,),
        )
        p = list(self.machine.mechanism.parameters.values())

        def replace_step(better: Any) -> None:
            vars(self)["step"] = better

        return compile_single(box, single).builtin(p, self._slow, replace_step)

    def integrate(self, q: Any, v: Any) -> Array:
        """Return the coordinates after dt seconds at the speeds v."""
        return self.machine.move(q, self.dt * np.asarray(v))

    # --- expressions
    @cached_property
    def _symbols(self) -> tuple[list[ca.SX], dict[str, ca.SX]]:
        """The inputs q, targets, p, and the programme's parts as expressions of them."""
        s = Tracer(self.machine.layout, self.machine.snap)
        packed = ca.SX.sym("targets", sum(x.target_size(self.machine) for x in self.tasks))
        nv = self.machine.nv
        H, g = self.damping * ca.SX.eye(nv), ca.SX.zeros(nv)
        for task, part in zip(self.tasks, split_targets(self.machine, self.tasks, packed)):
            rows = task.rows(s, part)
            weighted = ca.diag(ca.DM(rows.weight)) @ rows.J
            H = H + rows.J.T @ weighted
            g = g - weighted.T @ (self.gain / self.dt * rows.error)
        low, high = ca.SX(self.low), ca.SX(self.high)
        for c in coordinates(self.machine):
            for bound, sign, side in (
                (self.coordinate_low, 1.0, low),
                (self.coordinate_high, -1.0, high),
            ):
                if np.isfinite(bound[c.vi]):
                    room = self.limit_gain / self.dt * (float(bound[c.vi]) - s.q[c.qi])
                    side[c.vi] = (
                        ca.fmax(side[c.vi], room) if sign > 0 else ca.fmin(side[c.vi], room)
                    )
        parts = {"H": H, "g": g, "low": ca.fmin(low, high), "high": ca.fmax(low, high)}
        return [s.q, packed, s.p], parts

    @cached_property
    def _box(self) -> ca.Function:
        """The function (q, targets, p) -> v; the first entry of v is infinite if the unrolled
        rounds did not suffice.
        """
        given, p = self._symbols
        v, fine = box_minimum(p["H"], p["g"], p["low"], p["high"])
        v[0] = ca.if_else(fine > 0.5, v[0], UNSOLVED)
        return ca.Function("differential_ik", given, [ca.densify(ca.cse(v))])

    @cached_property
    def _parts(self) -> ca.Function:
        given, p = self._symbols
        return ca.Function("programme", given, ca.cse([ca.densify(x) for x in p.values()]))

    @cached_property
    def _lanes(self) -> Any:
        return compile_lanes(self._box)

    @cached_property
    def _solve(self) -> Any:
        return qp_solver(self.solver)

    # --- the general way
    def _slow(self, q: Any, targets: Any) -> Array:
        """Return v in the cases that the compiled code does not cover: by lanes for a batch, or by
        a solver of quadratic programmes.
        """
        size = sum(x.target_size(self.machine) for x in self.tasks)
        q, y = np.asarray(q, float), np.asarray(targets, float)
        if q.shape[-1:] != (self.machine.nq,) or y.shape[-1:] != (size,):
            raise StateError(
                f"differential_ik: q has the shape {q.shape} and the packed targets {y.shape}; they"
                f" have the shapes (..., {self.machine.nq}) and (..., {size})"
            )
        if not np.isfinite(q).all() or not np.isfinite(y).all():
            raise StateError("differential_ik: q and targets must be finite numbers")
        if q.ndim == y.ndim == 1:
            return self._programme(q, y)
        lead = np.broadcast_shapes(q.shape[:-1], y.shape[:-1])
        q, y = (
            np.ascontiguousarray(np.broadcast_to(x, (*lead, x.shape[-1])).reshape(-1, x.shape[-1]))
            for x in (q, y)
        )
        if self.machine.rows:
            found = np.array([self._programme(*both) for both in zip(q, y)])
            return found.reshape(*lead, self.machine.nv)
        p = np.array(list(self.machine.mechanism.parameters.values()), float)
        found = self._lanes([q, y, p], len(q), threads=self.machine.threads)[0][0]
        found = np.array(found).reshape(len(q), self.machine.nv)
        left = np.flatnonzero(~np.isfinite(found[:, 0]))
        if len(left):
            parts = [
                np.array([self._values(*both)[k] for both in zip(q[left], y[left])])
                for k in range(4)
            ]
            found[left] = exact_box_minimum(*parts)
        return found.reshape(*lead, self.machine.nv)

    def _programme(self, q: Array, targets: Array) -> Array:
        """Return v (nv,) of one state: by pivoting, or with loops by a solver of programmes."""
        H, g, low, high = self._values(q, targets)
        if not self.machine.rows:
            return exact_box_minimum(H[None], g[None], low[None], high[None])[0]
        nv, none = self.machine.nv, np.zeros(0)
        e, _, _, A = self.machine.constraint_rows(q, np.zeros(nv))
        keep = _independent_rows(A)
        return self._solve(
            QP(H, g, A[keep], -e[keep] / self.dt, np.zeros((0, nv)), none, none, low, high)
        )

    def _values(self, q: Array, targets: Array) -> tuple[Array, Array, Array, Array]:
        """Return H (nv, nv), g, low and high (nv,) of one state."""
        p = list(self.machine.mechanism.parameters.values())
        H, g, low, high = (np.array(x) for x in self._parts.call([q, targets, p]))
        return H, g.ravel(), low.ravel(), high.ravel()


def differential_ik(
    mechanism: Mechanism | Machine,
    tasks: Iterable[Task],
    *,
    dt: float,
    gain: float = 1.0,
    damping: float = 1e-6,
    speed_limits: Any = "speed",
    limits: bool = True,
    limit_gain: float = 0.5,
    solver: str | None = None,
) -> DifferentialIK:
    """Return a function that computes the joint speeds which reduce the errors of tasks.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, open or with closed loops.
    tasks : iterable of Task
        `FrameTask`, `PostureTask`, `ComTask`; their weights say what matters more.
    dt : float
        The time for which the speeds are kept, s.
    gain : float, default 1.0
        The share of the errors that should vanish within dt, from 0 to 1.
    damping : float, default 1e-6
        The weight of the squared speeds, which keeps them bounded near singular configurations.
    speed_limits : "speed", float, array (nv,), mapping or None
        The largest speeds, rad/s or m/s: by default those of the joints.
    limits : bool, default True
        Keep coordinates within the limits of their joints.
    limit_gain : float, default 0.5
        The share of the distance to a limit that may be covered within dt, from 0 to 1.
    solver : str, optional
        A solver of `QP_SOLVERS` for mechanisms with loops. By default the first one installed.

    Returns
    -------
    DifferentialIK
        Call it with q (..., nq) and targets: {name of the task: target}, or what `targets` packs.

    Raises
    ------
    StateError
        If an argument is out of its range, or two tasks have the same name.

    Examples
    --------
    >>> import catena, numpy as np
    >>> arm = catena.compile(catena.load("two_link_arm"))
    >>> tip = catena.control.FrameTask("tip", position=[1, 1, 0], orientation=0)
    >>> ik = catena.control.differential_ik(arm, [tip], dt=0.01, gain=0.5)
    >>> q, goal = np.array([0.3, 0.5]), np.eye(4)
    >>> goal[:3, 3] = [0.4, 0.5, 0.0]
    >>> targets = ik.targets({"tip": goal})
    >>> for _ in range(60):
    ...     q = ik.integrate(q, ik(q, targets))
    >>> arm.pose(q, "tip")[:2, 3].round(6).tolist()
    [0.4, 0.5]
    """
    machine = machine_of(mechanism)
    given = tuple(tasks)
    if len({task.name for task in given}) != len(given):
        raise StateError("differential_ik: two tasks have the same name; give them other names")
    for name, x, top in (("dt", dt, np.inf), ("gain", gain, 1.0), ("limit_gain", limit_gain, 1.0)):
        if not 0.0 < x <= top:
            raise StateError(f"differential_ik: {name} is {x!r}; it is above zero, at most {top}")
    if not damping > 0.0:
        raise StateError(f"differential_ik: damping is {damping!r}; it is above zero")
    most = joint_values(machine, "differential_ik: speed_limits", speed_limits, np.inf)
    low, high = np.full(machine.nv, -np.inf), np.full(machine.nv, np.inf)
    if limits:
        for c in coordinates(machine):
            low[c.vi], high[c.vi] = c.lower, c.upper
    return DifferentialIK(
        machine, given, dt, gain, damping, -most, most, low, high, limit_gain, solver
    )


def _independent_rows(A: Array) -> list[int]:
    """Return linearly independent rows of A, chosen by the largest remainders."""
    from scipy.linalg import qr

    _, R, order = qr(A.T, mode="economic", pivoting=True)
    size = np.abs(np.diag(R))
    return sorted(order[: int((size > 1e-10 * max(size.max(initial=0.0), 1e-300)).sum())].tolist())
