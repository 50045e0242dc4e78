"""Linearisation: the state-space matrices of small changes about a state.

    d/dt [ z ]   [ (K - W G)_z          H_z       ] [ z ]   [  0    ]
         [ w ] = [ (a_q G + a_v K)_w   (a_v H)_w  ] [ w ] + [ (a_u)_w ] u

z and w are the changes of an independent set of coordinates, and of an independent set of speeds
(the same set unless there are speed rows). The others follow to first order: dq = G z keeps the
loops closed, dv = H w + K z keeps every row satisfied. Without rows G = H = 1 and K = 0. W is the
matrix of `turning`: the axes of a ball joint's speeds rotate with it.
"""

from __future__ import annotations

from collections.abc import Iterable
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
from .outputs import Outputs, trace_outputs
from .projection import possible_state, require_apart
from .state_space import StateSpace
from .tangent import Tangent, row_forces, tangent, turning

Array = np.ndarray


def linearize(
    m: Mechanism | Machine,
    q: Any,
    v: Any = None,
    tau: Any = None,
    *,
    actuated: Iterable[str] | None = None,
    coordinates: Iterable[str] | None = None,
    outputs: Iterable[str] | None = None,
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
    outputs : iterable of str, optional
        The measured quantities y, as texts: the name of a coordinate, or an expression of
        q['joint'], v['joint'], a['joint'], tau['joint'], of the position x['frame'], y[...], z[...]
        of a frame in the ground, its velocity vx, vy, vz there, and its angular velocity wx, wy, wz
        in its own axes. By default none.
    damping : bool, default True
        Include the viscous damping of the joints, as `simulate` does. Coulomb friction has no
        derivative at rest and is never included.
    project : bool, default False
        Use the admissible states nearest to `q` and `v` (`assemble`) instead of refusing those that
        violate the loops.

    Returns
    -------
    StateSpace
        It unpacks as ``A, B``, or with outputs as ``A, B, C, D``. Arguments with leading
        dimensions are a batch, computed in lanes; its states must have the same number of degrees
        of freedom, and share their independent coordinates, by default those that are best
        conditioned over all states.

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
    >>> cart = catena.load("cart_pole")
    >>> system = catena.linearize(cart, [0.0, 0.0], actuated=["x"], outputs=["x", "a['x']"])
    >>> system.C.round(3).tolist(), system.D.round(3).tolist()
    ([[1.0, 0.0, 0.0, 0.0], [0.0, 1.962, 0.0, 0.0]], [[0.0], [1.0]])
    """
    machine = machine_of(m)
    motors = list(range(machine.nv)) if actuated is None else all_speeds_of(machine, actuated)
    measured = None if outputs is None else trace_outputs(machine, outputs)
    D = dampings(machine) if damping else np.zeros(machine.nv)
    if any(x is not None and np.ndim(x) > 1 for x in (q, v, tau)):
        q, v, tau, lead = _states(machine, q, v, tau)
        if not machine.rows:
            z = _independent(machine, np.eye(machine.nv), coordinates)
            return _named(machine, _open_motion(machine, q, v, tau, z, D), motors, measured, lead)
        q, v = possible_state(machine, "linearize", q, v, project)
        same_freedoms(machine, "linearize", q)
    else:
        (q, v, tau), lead = state(machine, "linearize", q=q, v=v, tau=tau), ()
        q, v = possible_state(machine, "linearize", q, v, project)
    require_apart(machine, "linearize", q)
    motion = _constrained_motion(machine, (q, v, tau), coordinates, D)
    return _named(machine, motion, motors, measured, lead)


@dataclass(frozen=True)
class _SmallMotion:
    """Small changes about states: q, v, tau and a there; the indices z and w of the independent
    coordinates and speeds; dq = G dz, dv = H dw + K dz; the derivatives of a; and A.
    """

    q: Array
    v: Array
    tau: Array
    a: Array
    z: list[int]
    w: list[int]
    G: Array
    H: Array
    K: Array
    a_q: Array
    a_v: Array
    a_u: Array
    A: Array


def _constrained_motion(
    machine: Machine,
    at: tuple[Array, Array, Array],
    coordinates: Iterable[str] | None,
    D: Array,
) -> _SmallMotion:
    """Return the small changes about one state or many, under all rows."""
    q, v, tau = at
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
    return _SmallMotion(q, v, tau, a, z, w, G, H, K, a_q, a_v, a_u, A)


def _open_motion(
    machine: Machine, q: Array, v: Array, tau: Array, z: list[int], D: Array
) -> _SmallMotion:
    """Return the small changes about many states of a mechanism without rows, from the derivatives
    of forward dynamics in lanes.
    """
    a_q, a_v, a_u, *_ = machine.forward_dynamics_derivatives(q, v, tau - D * v)
    a = machine.forward_dynamics(q, v, tau - D * v)
    a_v = a_v - a_u * D
    unit = np.broadcast_to(np.eye(machine.nv), a_q.shape)
    pick = [*z, *(machine.nv + k for k in z)]
    A = _blocks(-turning(machine, v), unit, a_q, a_v)[..., pick, :][..., pick]
    G = np.eye(machine.nv)[:, z]
    return _SmallMotion(q, v, tau, a, z, z, G, G, np.zeros_like(G), a_q, a_v, a_u, A)


def _measured(
    machine: Machine, x: _SmallMotion, outputs: Outputs, motors: Array
) -> tuple[Array, Array, Array]:
    """Return, about one state or many, the values y of the outputs and the matrices C and D of y =
    C x + D u. motors: the indices of the inputs among the joint forces tau.
    """
    parameters = list(machine.mechanism.parameters.values())
    given = [np.atleast_2d(y) for y in (x.q, x.v, x.a, x.tau)]
    count = len(given[0])
    found = outputs.differentiated.map(count).call([*(y.T for y in given), parameters, 0.0])
    m = len(outputs.texts)
    y = np.array(found[0]).T
    y_q, y_v, y_a, y_u = (
        np.array(part).reshape(m, count, machine.nv).transpose(1, 0, 2) for part in found[1:]
    )
    if x.q.ndim == 1:
        y, y_q, y_v, y_a, y_u = (part[0] for part in (y, y_q, y_v, y_a, y_u))
    q_z = y_q + y_a @ x.a_q
    v_w = y_v + y_a @ x.a_v
    C = np.concatenate([q_z @ x.G + v_w @ x.K, v_w @ x.H], axis=-1)
    return y, C, (y_a @ x.a_u + y_u)[..., motors]


def _named(
    machine: Machine,
    x: _SmallMotion,
    motors: list[int],
    outputs: Outputs | None,
    lead: tuple[int, ...],
) -> StateSpace:
    """Return the StateSpace with names, and with arrays in the leading shape `lead` of the
    arguments.
    """
    still = np.zeros((*x.q.shape[:-1], len(x.z), len(motors)))
    B = np.concatenate([still, x.a_u[..., x.w, :][..., motors]], axis=-2)
    none = np.zeros((0, x.A.shape[-1])), np.zeros((0, len(motors)))
    y, C, D = (
        (np.zeros(0), *none)
        if outputs is None
        else _measured(machine, x, outputs, np.array(motors, int))
    )
    batch = x.q.ndim > 1
    A, B, G, C, D = (
        m.reshape(*lead, *m.shape[-2:]) if m.ndim > 2 else m for m in (x.A, B, x.G, C, D)
    )
    rate = np.concatenate([x.v[..., x.z], x.a[..., x.w]], axis=-1)
    y, q, v, tau, rate = (
        m.reshape(*lead, m.shape[-1]) if batch and m.ndim > 1 else m
        for m in (y, x.q, x.v, x.tau, rate)
    )
    coordinates, speeds, inputs = (
        tuple(machine.speed_names[k] for k in which) for which in (x.z, x.w, motors)
    )
    names = outputs.texts if outputs is not None else ()
    return StateSpace(A, B, coordinates, speeds, inputs, G, C, D, names, q, v, tau, y, rate)


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
            f"{question}: {where(machine)} has {found[0]} degrees of freedom in row 0 of this"
            f" batch and {found[k]} in row {k}, where its loops are singular; all states of a"
            " batch must have the same number: linearise about such a state separately"
        )


def dampings(machine: Machine) -> Array:
    """Return the viscous damping (nv,) of the joints, one value per speed, including that of joints
    that follow others (mimic).
    """
    values = [
        value_of(x, machine.mechanism.parameters) for x in per_speed(machine.mechanism, "damping")
    ]
    return np.array(values, float).reshape(machine.nv)


def _independent(machine: Machine, T: Array, names: Iterable[str] | None) -> list[int]:
    """Return the indices of n independent speeds that determine all others in every state. T (...,
    nv, n): a basis of the motions that the constraint rows allow. names: the speeds that the user
    chose, or None. Raises a QuestionError if the chosen speeds are not independent.
    """
    n = T.shape[-1]
    if names is None and n in (0, machine.nv):
        return list(range(n))
    sets = (
        _pivots(T.reshape(-1, *T.shape[-2:])) if names is None else [all_speeds_of(machine, names)]
    )
    chosen = max(sets, key=lambda one: _independence(T, one)) if len(sets) > 1 else sets[0]
    if len(chosen) != n or _independence(T, chosen) < 1e-9:
        given = ", ".join(repr(machine.speed_names[k]) for k in chosen)
        raise QuestionError(
            f"linearize: {given or 'no coordinate'} are not independent coordinates for the {n}"
            f" degrees of freedom of {where(machine)}"
            f" {'in every row of this batch' if T.ndim > 2 else 'here'}; it takes {n} that move"
            " independently of each other"
        )
    return chosen


def _independence(T: Array, chosen: list[int]) -> float:
    """Return a measure of how independent the chosen speeds are: the smallest singular value of
    their rows of T (..., nv, n), over all states.
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
