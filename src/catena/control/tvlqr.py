"""tvlqr: the linear-quadratic regulator along a motion.

    u = u*(t) - K(t) x,      K = R^-1 B' S,      -S' = A' S + S A - S B R^-1 B' S + Q

S is propagated from interval to interval by the flow of its Hamiltonian matrix, so that it is exact
where A and B are constant, and of order four in the distance of the rows otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy import linalg
from scipy.interpolate import CubicSpline

from ..analysis import StateSpace
from ..machine import Machine, machine_of
from ..model import Mechanism
from ..simulation.control import Controller, Law, check_sample_time, clip_forces, sample_and_hold
from ..simulation.terms import SystemSymbols
from ..simulation.trajectories import Trajectory
from .motions import Motion, gauss_times, interval_flows
from .operating_point import OperatingPoint, deviation
from .riccati import hold_cost, hold_inputs
from .weights import Weight, weight_matrix

Array = np.ndarray


@dataclass(frozen=True)
class TrackingFeedback(Controller):
    """Linear state feedback along a motion; see `tvlqr`.

    Attributes
    ----------
    t : ndarray (T,)
        Times, s. Before the first and after the last one the controller keeps their values.
    K : ndarray (T, inputs, n)
        The gains.
    S : ndarray (T, n, n)
        The cost that is left at a deviation x is x' S x.
    motion : Motion
        The motion that is followed.
    point : OperatingPoint
        The names of states and inputs.
    limits : "effort", float, mapping or None
        The largest force, as for `PID`.
    sample : float or None
        The sample time, s.
    """

    t: Array
    K: Array
    S: Array
    motion: Motion
    point: OperatingPoint
    limits: Any = None
    sample: float | None = None

    def law(self, system: SystemSymbols) -> Law:
        """Return the forces; the current piece of gains and motion is part of the run's state."""
        nq, nv = system.nq, system.nv
        table = system.follow(self._table()).at(system.t)[0]
        q, v, tau = table[:nq], table[nq : nq + nv], table[nq + nv : nq + 2 * nv]
        # the entries of K are row by row
        K = ca.reshape(table[nq + 2 * nv :], self.K.shape[2], self.K.shape[1]).T
        x = deviation(system.layout, self.point, system.q, system.v, q, v)
        forces = clip_forces(system, tau - self.point.spread(system.layout, K @ x), self.limits)
        return sample_and_hold(self.sample, system, Law(forces))

    def _table(self) -> Trajectory:
        """Return q*, v*, tau* and K as piecewise polynomials of time, constant outside it."""
        gains = CubicSpline(self.t, self.K.reshape(len(self.t), -1))
        powers = np.concatenate([self.motion.coefficients(), gains.c], axis=-1)[::-1]
        powers = np.moveaxis(powers, 0, -1)  # (pieces, entries, 4)
        ends = np.zeros((2, *powers.shape[1:]))
        m = self.motion
        for row, k in zip(ends, (0, -1)):
            row[:, 0] = np.concatenate([m.q[k], m.v[k], m.tau[k], self.K[k].ravel()])
        powers = np.concatenate([ends[:1], powers, ends[1:]])
        origins = np.concatenate([self.t[:1], self.t])
        breaks = np.append(self.t[:-1], np.nextafter(self.t[-1], np.inf))
        wide = np.repeat(origins[:, None], powers.shape[1], axis=1)
        names = tuple(f"gain {k}" for k in range(powers.shape[1]))
        return Trajectory(names, breaks, wide, powers, np.zeros((*wide.shape, 3)))


def tvlqr(
    mechanism: Mechanism | Machine,
    motion: Any,
    Q: Weight,
    R: Weight,
    *,
    final: Weight = None,
    actuated: Iterable[str] | None = None,
    coordinates: Iterable[str] | None = None,
    sample: float | None = None,
    limits: Any = None,
    wrap: bool = False,
) -> TrackingFeedback:
    """Return the linear-quadratic regulator along a motion.

    It minimises x(T)' F x(T) plus the integral of x' Q x + u' R u over the motion, where x and u
    are small deviations from it.

    Parameters
    ----------
    mechanism : Mechanism or Machine
        What moves.
    motion : Result or tuple (t, q, v, tau)
        The motion to follow, such as the result of `catena.optimize` or a run, with the joint
        forces that cause it: arrays (T,), (T, nq), (T, nv), (T, nv).
    Q, R : float, array or mapping
        The weights of state and inputs, as for `lqr`.
    final : float, array or mapping, optional
        The weight F of the deviation at the end, such as `P` of an `lqr` there. By default Q.
    actuated : iterable of str, optional
        The joints with motors. By default those along which the motion needs a force.
    coordinates : iterable of str, optional
        The independent coordinates, as for `linearize`.
    sample : float, optional
        The sample time, s. The motion is then sampled at this rate, and the gains are those of the
        discrete problem with held inputs. By default the controller is continuous.
    limits, wrap
        As for `lqr`.

    Returns
    -------
    TrackingFeedback
        A controller for `catena.simulate`, with the gains K over time.

    Raises
    ------
    StateError
        If the arrays of the motion do not fit each other, or a weight is not one.
    """
    machine = machine_of(mechanism)
    path = Motion.of(machine, motion)
    check_sample_time("tvlqr", sample)
    if actuated is None:
        used = np.abs(path.tau).max(axis=0) > 0.0
        actuated = [name for name, x in zip(machine.speed_names, used) if x]
    if sample is not None:
        count = max(1, round((path.t[-1] - path.t[0]) / sample))
        t = path.t[0] + sample * np.arange(count + 1)
        path = Motion(machine, t, *path.at(np.minimum(t, path.t[-1])))
    options = {"actuated": tuple(actuated), "coordinates": coordinates}
    knots = path.linearized(path.t, **options)
    options["coordinates"] = knots.coordinates
    q = weight_matrix("tvlqr, Q", Q, knots.states)
    r = weight_matrix("tvlqr, R", R, knots.inputs, positive=True)
    end = q if final is None else weight_matrix("tvlqr, final", final, knots.states)
    inside = path.linearized(gauss_times(path.t).ravel(), **options)
    if sample is None:
        K, S = _continuous(path.t, knots, inside, q, r, end)
    else:
        K, S = _discrete(sample, inside, q, r, end)
    point = OperatingPoint(
        path.q[0], path.v[0], path.tau[0], knots.coordinates, knots.speeds, knots.inputs, wrap
    )
    return TrackingFeedback(path.t, K, S, path, point, limits, sample)


def _continuous(
    t: Array, knots: StateSpace, inside: StateSpace, Q: Array, R: Array, end: Array
) -> tuple[Array, Array]:
    """Return K (T, m, n) and S (T, n, n), from the last row to the first."""
    n = len(Q)
    A, B = inside.A, inside.B
    BRB = B @ np.linalg.solve(R, np.swapaxes(B, -1, -2))
    H = np.block([[A, -BRB], [np.broadcast_to(-Q, A.shape), -np.swapaxes(A, -1, -2)]])
    flows = interval_flows(H.reshape(-1, 2, 2 * n, 2 * n), np.diff(t))
    S = np.empty((len(t), n, n))
    S[-1] = end
    for k in range(len(t) - 2, -1, -1):
        both = linalg.expm(-flows[k]) @ np.vstack([np.eye(n), S[k + 1]])
        found = np.linalg.solve(both[:n].T, both[n:].T).T
        S[k] = 0.5 * (found + found.T)
    return np.linalg.solve(R, np.swapaxes(knots.B, -1, -2) @ S), S


def _discrete(
    sample: float, inside: StateSpace, Q: Array, R: Array, end: Array
) -> tuple[Array, Array]:
    """Return K (T, m, n) and S (T, n, n) of the problem with held inputs."""
    n, m = inside.B.shape[-2:]
    A, B = (x.reshape(-1, 2, n, x.shape[-1]).mean(axis=1) for x in (inside.A, inside.B))
    S, K = np.empty((len(A) + 1, n, n)), np.empty((len(A) + 1, m, n))
    S[-1] = end
    for k in range(len(A) - 1, -1, -1):
        q, r, c = hold_cost(A[k], B[k], Q, R, np.zeros((n, m)), sample)
        F, G = hold_inputs(A[k], B[k], sample)
        K[k] = np.linalg.solve(r + G.T @ S[k + 1] @ G, G.T @ S[k + 1] @ F + c.T)
        found = q + F.T @ S[k + 1] @ F - (F.T @ S[k + 1] @ G + c) @ K[k]
        S[k] = 0.5 * (found + found.T)
    K[-1] = K[-2] if len(A) else 0.0
    return K, S
