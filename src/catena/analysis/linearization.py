"""Linearisation: the state-space matrices of small changes about a state.

    d/dt [ z ]   [ (K - W G)_z          H_z       ] [ z ]   [  0    ]
         [ w ] = [ (a_q G + a_v K)_w   (a_v H)_w  ] [ w ] + [ (a_u)_w ] u

z and w are the changes of an independent set of coordinates, and of an independent set of speeds (the same set unless there are
speed rows). The others follow: dq = G z keeps the loops closed, dv = H w + K z keeps every row, to first order. Without rows
G = H = 1 and K = 0. W is `turning`: a ball's axes turn with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..machine.arguments import array
from ..machine.constraint_rows import metric, position_count, spaces
from ..machine.lookup import all_speeds_of, machine_of, state, states, where
from ..machine.machine import Machine
from ..model.mechanism import Mechanism
from ..model.values import value_of
from .tangent import Tangent, row_forces, tangent, turning

Array = np.ndarray


@dataclass(frozen=True)
class StateSpace:
    """State matrices; it unpacks as A, B.

    A (n, n), B (n, inputs), of a batch of states (..., n, n) and (..., n, inputs): of the changes of the `coordinates` (along their speeds), then of the `speeds`. others: G
    (nv, ...), the change of every coordinate for one of the independent ones.
    """

    A: Array
    B: Array
    coordinates: tuple[str, ...]
    speeds: tuple[str, ...]
    inputs: tuple[str, ...]
    others: Array

    def __iter__(self) -> Iterator[Array]:
        return iter((self.A, self.B))

    @property
    def poles(self) -> Array:
        """The eigenvalues of A (1/s), slowest first.

        They tell stability where A stays the same along the motion: at rest, or in a steady motion whose changing coordinates
        do not enter (the spin angle of a wheel does not; a quaternion does).
        """
        found = np.linalg.eigvals(self.A)
        return np.take_along_axis(found, np.argsort(np.abs(found), axis=-1, kind="stable"), -1)


def linearize(
    m: Mechanism | Machine, q: Any, v: Any = None, tau: Any = None, *, actuated: Iterable[str] | None = None,
    coordinates: Iterable[str] | None = None, damping: bool = True,
) -> StateSpace:  # fmt: skip
    """A, B = linearize(mechanism, q, v, tau): the derivatives of the motion at a state, exact.

    tau (nv,): the joint forces there, by default none. actuated: the joints or coordinates that are inputs, by default all of
    the tree's. coordinates: which are independent, by default (with loops) the best conditioned ones. damping: with the joints'
    viscous damping, which `simulate` has too; Coulomb friction has no derivative at rest and is left out.

    q (..., nq), v and tau (..., nv): with leading sizes A and B of all states, of an open mechanism in lanes.
    """
    machine = machine_of(m)
    motors = list(range(machine.nv)) if actuated is None else all_speeds_of(machine, actuated)
    D = dampings(machine) if damping else np.zeros(machine.nv)
    if any(x is not None and np.ndim(x) > 1 for x in (q, v, tau)):
        return _batch(machine, q, v, tau, motors, None if coordinates is None else tuple(coordinates), D)
    q, v, tau = state(machine, "linearize", q=q, v=v, tau=tau)
    a = machine.forward_dynamics(q, v, tau - D * v)
    need = machine.inverse_dynamics(q, v, a) - tau + D * v
    t = tangent(machine, q, v, a, row_forces(machine, q, v, need))
    loops = position_count(machine)
    T = spaces(t.A[:loops], metric(machine).rows(slice(loops))).T
    z = _independent(machine, T, coordinates)
    w = z if loops == len(t.A) else _independent(machine, t.spaces.T, None)
    G, H = T @ np.linalg.inv(T[z]), t.spaces.T @ np.linalg.inv(t.spaces.T[w])
    K = _following(t, G, H, w)
    a_q, a_v, a_u = _accelerations(t, D)
    A = np.block([[(K - turning(machine, v) @ G)[z], H[z]], [(a_q @ G + a_v @ K)[w], (a_v @ H)[w]]])
    B = np.vstack([np.zeros((len(z), len(motors))), a_u[np.ix_(w, motors)]])
    names = machine.speed_names
    return StateSpace(A, B, tuple(names[k] for k in z), tuple(names[k] for k in w), tuple(names[k] for k in motors), G)


def _batch(machine: Machine, q: Any, v: Any, tau: Any, motors: list[int], chosen: tuple[str, ...] | None, D: Array) -> StateSpace:
    """Of many states of an open mechanism: by the derivatives of forward dynamics, in lanes."""
    if chosen is not None or machine.rows:
        raise QuestionError(
            f"linearize: a batch of states is for open mechanisms, all of whose coordinates are independent; {where(machine)} "
            f"{'has loops or speed rows' if machine.rows else 'is asked for some of them'}: take one state at a time"
        )
    q, v, _, lead = states(machine, "linearize", q, v, None)
    tau = np.zeros(machine.nv) if tau is None else array(machine, "linearize", "tau", tau)
    lead = np.broadcast_shapes(lead, tau.shape[:-1])
    q, v, tau = (np.broadcast_to(x.reshape(*(lead if len(x) > 1 else ()), -1), (*lead, x.shape[-1])) for x in (q, v, np.atleast_2d(tau)))
    a_q, a_v, a_u, *_ = machine.forward_dynamics_derivatives(q, v, tau - D * v)
    unit = np.broadcast_to(np.eye(machine.nv), a_q.shape)
    A = np.concatenate([np.concatenate([-turning(machine, v), unit], axis=-1), np.concatenate([a_q, a_v - a_u * D], axis=-1)], axis=-2)
    B = np.concatenate([np.zeros((*lead, machine.nv, len(motors))), a_u[..., motors]], axis=-2)
    names = machine.speed_names
    return StateSpace(A, B, names, names, tuple(names[k] for k in motors), np.eye(machine.nv))


def dampings(machine: Machine) -> Array:
    """The joints' viscous damping, one value per speed."""
    values = [value_of(x, machine.mechanism.parameters) for j in machine.mechanism.moving for x in j.damping]
    return np.array(values, float).reshape(machine.nv)


def _independent(machine: Machine, T: Array, names: Iterable[str] | None) -> list[int]:
    """The places of as many speeds as T has columns, that stand for all of them."""
    n = T.shape[1]
    if names is None:
        if n == machine.nv:
            return list(range(n))
        from scipy.linalg import qr

        order = qr(T.T, mode="r", pivoting=True)[1]
        return sorted(int(k) for k in order[:n])
    chosen = all_speeds_of(machine, names)
    if len(chosen) != n or np.linalg.svd(T[chosen], compute_uv=False)[-1] < 1e-9:
        given = ", ".join(repr(machine.speed_names[k]) for k in chosen)
        raise QuestionError(f"linearize: {given or 'no coordinate'} cannot stand for the {n} degrees of freedom of "
                            f"{where(machine)} here; it takes {n} that move independently of each other")  # fmt: skip
    return chosen


def _following(t: Tangent, G: Array, H: Array, w: list[int]) -> Array:
    """K: how the speeds must change when the coordinates do: A K + (d(A v + B)/dq) G = 0, K = 0 in the independent ones."""
    x = -t.spaces.inverse @ (t.s_q @ G) if len(t.A) else np.zeros_like(G)
    return x - H @ x[w]


def _accelerations(t: Tangent, D: Array) -> tuple[Array, Array, Array]:
    """da/dq, da/dv, da/dtau: M da - A' dlam = dtau - r_q dq - (r_v + D) dv, A da = -c_q dq - c_v dv."""
    T = t.spaces.T
    P = T @ np.linalg.solve(T.T @ t.M @ T, T.T)  # the response to a force, within the loops
    if not len(t.A):
        return -P @ t.r_q, -P @ (t.r_v + np.diag(D)), P
    a_q, a_v = -t.spaces.inverse @ t.c_q, -t.spaces.inverse @ t.c_v
    return a_q - P @ (t.r_q + t.M @ a_q), a_v - P @ (t.r_v + np.diag(D) + t.M @ a_v), P
