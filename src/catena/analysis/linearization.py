"""Linearisation: the state-space matrices of small changes about a state.

    d/dt [ z ]   [ (K - W G)_z          H_z       ] [ z ]   [  0    ]
         [ w ] = [ (a_q G + a_v K)_w   (a_v H)_w  ] [ w ] + [ (a_u)_w ] u

z and w are the changes of an independent set of coordinates, and of an independent set of speeds
(the same set unless there are speed rows). The others follow to first order: dq = G z keeps the
loops closed, dv = H w + K z keeps every row satisfied. Without rows G = H = 1 and K = 0. W is the
matrix of `turning`: the axes of a ball joint's speeds rotate with it.
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
    """The state-space matrices of `linearize`. It unpacks as A, B.

    Attributes
    ----------
    A : ndarray (n, n)
        The derivative of the state's rate by the state: changes of the independent `coordinates`
        (along their speeds), then of the independent `speeds`.
    B : ndarray (n, inputs)
        The derivative of the state's rate by the joint forces `inputs`.
    coordinates, speeds, inputs : tuple of str
        The names of the independent coordinates and speeds, and of the inputs.
    others : ndarray (nv, d)
        G, the change of every coordinate per change of each independent one.

    Notes
    -----
    For a batch of states A and B have its leading dimensions, and so has `others` with loops.
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
        """The eigenvalues of A (1/s), those of smallest modulus first.

        They decide stability where A is constant along the motion: at rest, or in a steady motion
        that does not depend on the coordinates that change (such as the spin angle of a wheel, but
        not a quaternion).
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
    """Return the exact state-space matrices of the motion about a state.

    Parameters
    ----------
    m : Mechanism or Machine
        The mechanism, or the machine compiled from it.
    q : array (nq,) or (..., nq)
        Coordinates, rad or m.
    v : array (nv,) or (..., nv), optional
        Speeds, rad/s or m/s. By default zero.
    tau : array (nv,) or (..., nv), optional
        The joint forces at the state, N m or N. By default zero.
    actuated : iterable of str, optional
        The joints or coordinates whose forces are the inputs. By default all joints of the tree.
    coordinates : iterable of str, optional
        The independent coordinates. By default, with loops, the best conditioned ones.
    damping : bool, default True
        Include the viscous damping of the joints, as `simulate` does. Coulomb friction has no
        derivative at rest and is never included.
    project : bool, default False
        Use the admissible states nearest to `q` and `v` (`assemble`) instead of refusing those that
        violate the loops.

    Returns
    -------
    StateSpace
        It unpacks as ``A, B``. Arguments with leading dimensions are a batch, computed in lanes;
        its states must have the same number of degrees of freedom, and share their independent
        coordinates, by default those that are best conditioned over all states.

    Raises
    ------
    ClosureError
        If a state leaves a loop open or its speeds open one, and `project` is False.
    QuestionError
        If the given `coordinates` are not independent, if states of a batch differ in their degrees
        of freedom, or if a contact touches.

    Examples
    --------
    >>> import catena
    >>> A, B = catena.linearize(catena.load("pendulum"), [0.0])
    >>> A.round(2).tolist(), B.round(2).tolist()
    ([[0.0, 1.0], [-9.81, 0.0]], [[0.0], [1.0]])
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
    # with speed rows only, T is the same for all states
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
    """Return the StateSpace with names, and with arrays in the leading shape `lead` of the
    arguments.
    """
    A, B, G = (x.reshape(*lead, *x.shape[-2:]) if x.ndim > 2 else x for x in (A, B, G))
    coordinates, speeds, inputs = (
        tuple(machine.speed_names[k] for k in which) for which in (z, w, motors)
    )
    return StateSpace(A, B, coordinates, speeds, inputs, G)


def _blocks(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Return the block matrix [a b; c d] of each state."""
    return np.concatenate(
        [np.concatenate([a, b], axis=-1), np.concatenate([c, d], axis=-1)], axis=-2
    )


def _states(
    machine: Machine, q: Any, v: Any, tau: Any
) -> tuple[Array, Array, Array, tuple[int, ...]]:
    """Return q, v and tau as rows (n, ...) of many states, and their common leading shape."""
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
    """Raise a QuestionError if the states q (n, nq) differ in their number of degrees of freedom,
    for then the results would have different shapes.
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
    """Return the StateSpace of many states of a mechanism without rows, from the derivatives of
    forward dynamics in lanes.
    """
    a_q, a_v, a_u, *_ = machine.forward_dynamics_derivatives(q, v, tau - D * v)
    unit = np.broadcast_to(np.eye(machine.nv), a_q.shape)
    pick = [*z, *(machine.nv + k for k in z)]
    A = _blocks(-turning(machine, v), unit, a_q, a_v - a_u * D)[..., pick, :][..., pick]
    B = np.concatenate(
        [np.zeros((len(q), machine.nv, len(motors))), a_u[..., z, :][..., motors]], axis=-2
    )
    return _named(machine, A, B, z, z, motors, np.eye(machine.nv)[:, z], lead)


def dampings(machine: Machine) -> Array:
    """Return the viscous damping (nv,) of the joints, one value per speed, including that of joints
    that follow others (mimic).
    """
    values = [
        value_of(x, machine.mechanism.parameters) for x in per_speed(machine.mechanism, "damping")
    ]
    return np.array(values, float).reshape(machine.nv)


def _independent(machine: Machine, T: Array, names: Iterable[str] | None) -> list[int]:
    """Return the indices of n independent speeds, for the basis T (..., nv, n) of the motions, that
    determine all others in every state. names: the choice of the user, or None. Raises a
    QuestionError if they are not independent.
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
    """Return how independent the chosen speeds are: the smallest singular value of their rows of T
    (..., nv, n), over all states.
    """
    return float(np.linalg.svd(T[..., chosen, :], compute_uv=False).min(initial=np.inf))


def _pivots(T: Array) -> list[list[int]]:
    """Return the sets of n independent speeds that each state T (states, nv, n) prefers, without
    repetitions: the longest row of T, then the row with the longest remainder after projection, and
    so on.
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
    """Return K, how the speeds must change with the independent coordinates: A K + (d(A v + B)/dq)
    G = 0, with K = 0 in the independent speeds w.
    """
    x = -t.spaces.inverse @ (t.s_q @ G) if t.A.shape[-2] else np.zeros_like(G)
    return x - H @ x[..., w, :]


def _accelerations(t: Tangent, D: Array) -> tuple[Array, Array, Array]:
    """Return da/dq, da/dv and da/dtau, from M da - A' dlam = dtau - r_q dq - (r_v + D) dv and A da
    = -c_q dq - c_v dv.
    """
    T = t.spaces.T
    # the acceleration per unit of force, with closed loops
    P = T @ np.linalg.solve(across(T) @ t.M @ T, across(T))
    if not t.A.shape[-2]:
        return -P @ t.r_q, -P @ (t.r_v + np.diag(D)), P
    a_q = -t.spaces.inverse @ t.c_q
    a_v = -t.spaces.inverse @ t.c_v
    return a_q - P @ (t.r_q + t.M @ a_q), a_v - P @ (t.r_v + np.diag(D) + t.M @ a_v), P
