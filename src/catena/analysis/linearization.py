"""Linearisation: the state-space matrices of small changes about a state.

    d/dt [ z ]   [ (K - W G)_z          H_z       ] [ z ]   [  0    ]
         [ w ] = [ (a_q G + a_v K)_w   (a_v H)_w  ] [ w ] + [ (a_u)_w ] u

z and w are the changes of an independent set of coordinates, and of an independent set of speeds
(the same set unless there are speed rows). The others follow: dq = G z keeps the loops closed, dv =
H w + K z keeps every row, to first order. Without rows G = H = 1 and K = 0. W is `turning`: a
ball's axes turn with it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import QuestionError
from ..machine import (
    Machine,
    across,
    all_speeds_of,
    array,
    machine_of,
    metric,
    position_count,
    ranks,
    spaces,
    state,
    states,
    where,
)
from ..model import Mechanism, per_speed, value_of
from .projection import possible_state, require_apart
from .tangent import Tangent, row_forces, tangent, turning

Array = np.ndarray


@dataclass(frozen=True)
class StateSpace:
    """State matrices; it unpacks as A, B.

    A (n, n), B (n, inputs), of a batch of states (..., n, n) and (..., n, inputs): of the changes
    of the `coordinates` (along their speeds), then of the `speeds`. others: G (nv, d), of a batch
    with loops (..., nv, d): the change of every coordinate for one of the independent ones.
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

        They tell stability where A stays the same along the motion: at rest, or in a steady motion
        whose changing coordinates do not enter (the spin angle of a wheel does not; a quaternion
        does).
        """
        found = np.linalg.eigvals(self.A)
        return np.take_along_axis(found, np.argsort(np.abs(found), axis=-1, kind="stable"), -1)


def linearize(
    m: Mechanism | Machine,
    q: Any,
    v: Any = None,
    tau: Any = None,
    *,
    actuated: Iterable[str] | None = None,
    coordinates: Iterable[str] | None = None,
    damping: bool = True,
    project: bool = False,
) -> StateSpace:
    """A, B = linearize(mechanism, q, v, tau): the derivatives of the motion at a state, exact.

    tau (nv,): the joint forces there, by default none. actuated: the joints or coordinates that are
    inputs, by default all of the tree's. coordinates: which are independent, by default (with
    loops) the best conditioned ones. damping: with the joints' viscous damping, which `simulate`
    has too; Coulomb friction has no derivative at rest and is left out.

    q (..., nq), v and tau (..., nv): with leading sizes A and B of all states, in lanes. They then
    have the same number of degrees of freedom and the same independent coordinates, by default
    those that stand best for all of them. project: take the possible states nearest to q and v
    (`assemble`); without it a ClosureError refuses states that leave a loop open, or have speeds
    that open one.
    """
    machine = machine_of(m)
    motors = list(range(machine.nv)) if actuated is None else all_speeds_of(machine, actuated)
    D = dampings(machine) if damping else np.zeros(machine.nv)
    if any(x is not None and np.ndim(x) > 1 for x in (q, v, tau)):
        q, v, tau, lead = _states(machine, q, v, tau)
        if not machine.rows:
            return _open(
                machine,
                q,
                v,
                tau,
                lead,
                motors,
                _independent(machine, np.eye(machine.nv), coordinates),
                D,
            )
        q, v = possible_state(machine, "linearize", q, v, project)
        same_freedoms(machine, "linearize", q)
    else:
        (q, v, tau), lead = state(machine, "linearize", q=q, v=v, tau=tau), ()
        q, v = possible_state(machine, "linearize", q, v, project)
    require_apart(machine, "linearize", q)
    a = machine.forward_dynamics(q, v, tau - D * v)
    need = machine.inverse_dynamics(q, v, a) - tau + D * v
    t = tangent(machine, q, v, a, row_forces(machine, q, v, need))
    loops = position_count(machine)
    T = spaces(t.A[..., :loops, :], metric(machine).rows(slice(loops))).T
    # of speed rows alone T is the same for all
    T, free = (np.broadcast_to(x, (*q.shape[:-1], *x.shape[-2:])) for x in (T, t.spaces.T))
    z = _independent(machine, T, coordinates)
    w = z if loops == len(machine.rows) else _independent(machine, free, None)
    G = T @ np.linalg.inv(T[..., z, :])
    H = free @ np.linalg.inv(free[..., w, :])
    K = _following(t, G, H, w)
    a_q, a_v, a_u = _accelerations(t, D)
    A = _blocks(
        (K - turning(machine, v) @ G)[..., z, :],
        H[..., z, :],
        (a_q @ G + a_v @ K)[..., w, :],
        (a_v @ H)[..., w, :],
    )
    B = np.concatenate(
        [np.zeros((*q.shape[:-1], len(z), len(motors))), a_u[..., w, :][..., motors]], axis=-2
    )
    return _named(machine, A, B, z, w, motors, G, lead)


def _named(
    machine: Machine,
    A: Array,
    B: Array,
    z: list[int],
    w: list[int],
    motors: list[int],
    G: Array,
    lead: tuple[int, ...],
) -> StateSpace:
    """The answer in the leading shape that was asked for."""
    A, B, G = (x.reshape(*lead, *x.shape[-2:]) if x.ndim > 2 else x for x in (A, B, G))
    coordinates, speeds, inputs = (
        tuple(machine.speed_names[k] for k in which) for which in (z, w, motors)
    )
    return StateSpace(A, B, coordinates, speeds, inputs, G)


def _blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    """[a b; c d] of each state."""
    return np.concatenate(
        [np.concatenate([a, b], axis=-1), np.concatenate([c, d], axis=-1)], axis=-2
    )


def _states(
    machine: Machine, q: Any, v: Any, tau: Any
) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Rows of many states, and the leading shape that they came in."""
    q, v, _, lead = states(machine, "linearize", q, v, None)
    tau = np.zeros(machine.nv) if tau is None else array(machine, "linearize", "tau", tau)
    whole = np.broadcast_shapes(lead, tau.shape[:-1])
    q, v = (np.broadcast_to(x.reshape(*lead, -1), (*whole, x.shape[-1])) for x in (q, v))
    q, v, tau = (
        np.ascontiguousarray(np.broadcast_to(x, (*whole, x.shape[-1]))).reshape(-1, x.shape[-1])
        for x in (q, v, tau)
    )
    return q, v, tau, whole


def same_freedoms(machine: Machine, question: str, q: Array) -> None:
    """Refuse states q (n, nq) that differ in their number of degrees of freedom: the answers have
    different sizes.
    """
    found = machine.nv - ranks(
        machine.constraint_rows(q, np.zeros((len(q), machine.nv)))[3], metric(machine)
    )
    for k in np.flatnonzero(found != found[0])[:1]:
        raise QuestionError(
            f"{question}: {where(machine)} has {found[0]} degrees of freedom in row 0 of this batch"
            f" and {found[k]} in row {k}, where its loops are singular; the rows of a batch have"
            " the same number: take such a state by itself"
        )


def _open(
    machine: Machine,
    q: Array,
    v: Array,
    tau: Array,
    lead: tuple[int, ...],
    motors: list[int],
    z: list[int],
    D: Array,
) -> StateSpace:
    """Of many states of an open mechanism: by the derivatives of forward dynamics, in lanes."""
    a_q, a_v, a_u, *_ = machine.forward_dynamics_derivatives(q, v, tau - D * v)
    unit = np.broadcast_to(np.eye(machine.nv), a_q.shape)
    pick = [*z, *(machine.nv + k for k in z)]
    A = _blocks(-turning(machine, v), unit, a_q, a_v - a_u * D)[..., pick, :][..., pick]
    B = np.concatenate(
        [np.zeros((len(q), machine.nv, len(motors))), a_u[..., z, :][..., motors]], axis=-2
    )
    return _named(machine, A, B, z, z, motors, np.eye(machine.nv)[:, z], lead)


def dampings(machine: Machine) -> Array:
    """The joints' viscous damping, one value per speed, with that of joints that follow others."""
    values = [
        value_of(x, machine.mechanism.parameters) for x in per_speed(machine.mechanism, "damping")
    ]
    return np.array(values, float).reshape(machine.nv)


def _independent(machine: Machine, T: Array, names: Iterable[str] | None) -> list[int]:
    """The places of as many speeds as T (..., nv, n) has columns, that stand for all of them in
    every state.
    """
    n = T.shape[-1]
    if names is None and n in (0, machine.nv):
        return list(range(n))
    sets = (
        _pivots(T.reshape(-1, *T.shape[-2:])) if names is None else [all_speeds_of(machine, names)]
    )
    chosen = max(sets, key=lambda one: _standing(T, one)) if len(sets) > 1 else sets[0]
    if len(chosen) != n or _standing(T, chosen) < 1e-9:
        given = ", ".join(repr(machine.speed_names[k]) for k in chosen)
        raise QuestionError(
            f"linearize: {given or 'no coordinate'} cannot stand for the {n} degrees of freedom of"
            f" {where(machine)} {'in every row of this batch' if T.ndim > 2 else 'here'}; it takes"
            f" {n} that move independently of each other"
        )
    return chosen


def _standing(T: Array, chosen: list[int]) -> float:
    """How well some speeds stand for all: the smallest singular value of their rows of T (..., nv,
    n).
    """
    return float(np.linalg.svd(T[..., chosen, :], compute_uv=False).min(initial=np.inf))


def _pivots(T: Array) -> list[list[int]]:
    """The choices of the states T (states, nv, n), each once: the longest row of T, then the
    longest of what is left of the others, ...
    """
    left = np.array(T)
    found = np.empty((len(T), T.shape[-1]), int)
    every = np.arange(len(T))
    for k in range(T.shape[-1]):
        found[:, k] = np.einsum("nij,nij->ni", left, left).argmax(axis=1)
        row = left[every, found[:, k]]
        row /= np.linalg.norm(row, axis=1, keepdims=True)
        left -= np.einsum("nij,nj,nk->nik", left, row, row)
    return np.unique(np.sort(found, axis=1), axis=0).tolist()


def _following(t: Tangent, G: Array, H: Array, w: list[int]) -> Array:
    """K: how the speeds must change when the coordinates do: A K + (d(A v + B)/dq) G = 0, K = 0 in
    the independent ones.
    """
    x = -t.spaces.inverse @ (t.s_q @ G) if t.A.shape[-2] else np.zeros_like(G)
    return x - H @ x[..., w, :]


def _accelerations(t: Tangent, D: Array) -> tuple[Array, Array, Array]:
    """da/dq, da/dv, da/dtau: M da - A' dlam = dtau - r_q dq - (r_v + D) dv, A da = -c_q dq - c_v
    dv.
    """
    T = t.spaces.T
    # the response to a force, within the loops
    P = T @ np.linalg.solve(across(T) @ t.M @ T, across(T))
    if not t.A.shape[-2]:
        return -P @ t.r_q, -P @ (t.r_v + np.diag(D)), P
    a_q = -t.spaces.inverse @ t.c_q
    a_v = -t.spaces.inverse @ t.c_v
    return a_q - P @ (t.r_q + t.M @ a_q), a_v - P @ (t.r_v + np.diag(D) + t.M @ a_v), P
