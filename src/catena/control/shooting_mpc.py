"""shooting_mpc: model-predictive control by multiple shooting and one quadratic programme per step.

    minimise    sum_k x_k' Q x_k + u_k' R u_k + x_N' F x_N,      x_k: deviations from the target
    with        x_{k+1} = f(x_k, u_k),     u_low <= u <= u_high,     x_low <= x <= x_high

Each step linearises the dynamics about the last plan, which a step of RK4 with exact derivatives
gives for all intervals in lanes, and solves one programme for the changes of the plan: sequential
quadratic programming with one iteration per sample (the real-time iteration of [Diehl2005]).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..compiler import compile_lanes
from ..errors import StateError
from ..machine import Machine, all_speeds_of, machine_of
from ..model import Mechanism
from .plant_step import plant_rate, require_independent, rk4_step
from .qp_solvers import QP, qp_solver
from .weights import Weight, weight_matrix

Array = np.ndarray


@dataclass(frozen=True)
class ShootingMPC:
    """Model-predictive control by multiple shooting; see `shooting_mpc`.

    A plan is a pair: states (N + 1, n) and inputs (N, m).
    """

    machine: Machine
    target: Array
    interval: float
    intervals: int
    motors: tuple[int, ...]
    Q: Array
    R: Array
    final: Array
    u_low: Array
    u_high: Array
    x_low: Array
    x_high: Array
    solver: str | None

    def start(self, q: Any, v: Any) -> tuple[Array, Array]:
        """Return a plan that stays at a state without forces."""
        x = np.r_[np.asarray(q, float), np.asarray(v, float)]
        return np.tile(x, (self.intervals + 1, 1)), np.zeros((self.intervals, len(self.motors)))

    def improve(
        self, q: Any, v: Any, plan: tuple[Array, Array]
    ) -> tuple[tuple[Array, Array], float]:
        """Return a better plan from the state q (nq,), v (nv,), and the largest gap between its
        intervals before this step, which vanishes as plans converge.
        """
        x, u = plan
        n, m, N = x.shape[1], u.shape[1], self.intervals
        after, A, B = self._steps(x[:-1], u)
        gaps = after - x[1:]
        size = N * m + (N + 1) * n
        H = np.zeros((size, size))
        g = np.zeros(size)
        at = lambda k: slice(N * m + k * n, N * m + (k + 1) * n)  # noqa: E731
        for k in range(N + 1):
            W = self.Q if k < N else self.final
            H[at(k), at(k)] = W
            g[at(k)] = W @ (x[k] - self.target)
        for k in range(N):
            own = slice(k * m, (k + 1) * m)
            H[own, own] = self.R
            g[own] = self.R @ u[k]
        E, e = np.zeros(((N + 1) * n, size)), np.zeros((N + 1) * n)
        E[:n, at(0)], e[:n] = np.eye(n), np.r_[q, v] - x[0]
        for k in range(N):
            rows = slice((k + 1) * n, (k + 2) * n)
            E[rows, at(k + 1)], E[rows, at(k)] = np.eye(n), -A[k]
            E[rows, k * m : (k + 1) * m], e[rows] = -B[k], gaps[k]
        low = np.r_[np.tile(self.u_low, N) - u.ravel(), np.tile(self.x_low, N + 1) - x.ravel()]
        high = np.r_[np.tile(self.u_high, N) - u.ravel(), np.tile(self.x_high, N + 1) - x.ravel()]
        low[N * m : N * m + n], high[N * m : N * m + n] = -np.inf, np.inf  # the state is what it is
        none = np.zeros(0)
        d = self._solve(QP(H, g, E, e, np.zeros((0, size)), none, none, low, high))
        found = x + d[N * m :].reshape(N + 1, n), u + d[: N * m].reshape(N, m)
        return found, float(np.abs(gaps).max())

    def shifted(self, plan: tuple[Array, Array]) -> tuple[Array, Array]:
        """Return the plan that remains after one interval; its last state and input are
        repeated.
        """
        x, u = plan
        return np.vstack([x[1:], x[-1:]]), np.vstack([u[1:], u[-1:]])

    def forces(self, plan: tuple[Array, Array]) -> Array:
        """Return the joint forces (nv,) of the first interval."""
        tau = np.zeros(self.machine.nv)
        tau[list(self.motors)] = plan[1][0]
        return tau

    def controller(self) -> ShootingController:
        """Return a controller for `catena.simulate`, with one step per interval."""
        return ShootingController(self)

    @cached_property
    def _solve(self) -> Any:
        return qp_solver(self.solver, 1e-8)

    @cached_property
    def _step(self) -> Any:
        """The function (x, u) -> x after one interval and its derivatives, over lanes."""
        x, u = ca.SX.sym("x", 2 * self.machine.nv), ca.SX.sym("u", len(self.motors))
        tau = ca.SX.zeros(self.machine.nv)
        tau[list(self.motors)] = u
        after = rk4_step(plant_rate(self.machine), x, tau, self.interval)
        parts = [after, ca.jacobian(after, x), ca.jacobian(after, u)]
        return compile_lanes(ca.Function("shoot", [x, u], ca.cse([ca.densify(y) for y in parts])))

    def _steps(self, x: Array, u: Array) -> tuple[Array, Array, Array]:
        """Return the states after one interval (N, n), and their derivatives by x and u."""
        given = [np.ascontiguousarray(x), np.ascontiguousarray(u)]
        after, A, B = (np.array(y) for y in self._step(given, len(x), threads=1)[0])
        n, m = x.shape[1], u.shape[1]
        return after.reshape(-1, n), A.reshape(-1, n, n), B.reshape(-1, n, m)


class ShootingController:
    """A sampled controller that stores its plan from sample to sample."""

    def __init__(self, mpc: ShootingMPC):
        self.mpc, self.sample = mpc, mpc.interval
        self.plan: tuple[Array, Array] | None = None

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Return the joint forces (nv,) at time t (s)."""
        plan = self.mpc.start(q, v) if self.plan is None else self.plan
        plan, _ = self.mpc.improve(q, v, plan)
        self.plan = self.mpc.shifted(plan)
        return self.mpc.forces(plan)


def shooting_mpc(
    mechanism: Mechanism | Machine,
    target: Any,
    Q: Weight,
    R: Weight,
    *,
    horizon: float,
    intervals: int,
    actuated: Iterable[str],
    final: Weight = None,
    limits: Any = np.inf,
    state_limits: dict[str, tuple[float, float]] | None = None,
    solver: str | None = None,
) -> ShootingMPC:
    """Return model-predictive control by multiple shooting with exact derivatives.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        The mechanism, without loops and without ball and free joints.
    target : array (nq,)
        The coordinates to be reached, at rest without forces.
    Q, R : float, array or mapping
        The weights of state (coordinates, then v['speed']) and inputs, per interval.
    horizon : float
        The time that is looked ahead, s.
    intervals : int
        The number of its parts, N.
    actuated : iterable of str
        The joints with motors.
    final : float, array or mapping, optional
        The weight of the last state, such as `P` of an `lqr`. By default Q.
    limits : float or array (inputs,), default inf
        The largest joint forces, N m or N.
    state_limits : mapping, optional
        {coordinate or v['speed']: (lowest, highest)}.
    solver : str, optional
        A solver of `QP_SOLVERS`.

    Returns
    -------
    ShootingMPC
        Its `improve(q, v, plan)` returns a better plan; `controller()` is a controller of
        `catena.simulate`.

    Raises
    ------
    QuestionError
        If the mechanism has loops, speed rows or quaternions.
    StateError
        If an argument is out of its range.
    """
    machine = machine_of(mechanism)
    require_independent("shooting_mpc", machine)
    if not 0.0 < horizon < np.inf or int(intervals) != intervals or intervals < 1:
        raise StateError(
            f"shooting_mpc: horizon is {horizon!r} s in {intervals!r} intervals; both are above"
            " zero, intervals a whole number"
        )
    motors = tuple(all_speeds_of(machine, actuated))
    states = (*machine.coordinate_names, *(f"v['{x}']" for x in machine.speed_names))
    inputs = tuple(machine.speed_names[k] for k in motors)
    q = weight_matrix("shooting_mpc, Q", Q, states)
    most = np.broadcast_to(np.asarray(limits, float), (len(motors),))
    low, high = np.full(len(states), -np.inf), np.full(len(states), np.inf)
    for name, (a, b) in (state_limits or {}).items():
        if name not in states or not a < b:
            raise StateError(
                f"shooting_mpc: state_limits of {name!r} are ({a}, {b}); the states are"
                f" {', '.join(states)}, and the lower limit is first"
            )
        low[states.index(name)], high[states.index(name)] = a, b
    return ShootingMPC(
        machine,
        np.r_[np.asarray(target, float), np.zeros(machine.nv)],
        horizon / intervals,
        int(intervals),
        motors,
        q,
        weight_matrix("shooting_mpc, R", R, inputs, positive=True),
        q if final is None else weight_matrix("shooting_mpc, final", final, states),
        -most,
        most,
        low,
        high,
        solver,
    )
