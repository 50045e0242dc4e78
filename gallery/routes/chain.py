"""A serial chain by the structurally recursive method, one joint after the other from the ground.

    J_i = [X_i J_(i-1)   phi_i]                     eq. 5.6
    Jdot_i = [Xdot_i J_(i-1) + X_i Jdot_(i-1)  phidot_i]
            eq. 5.65, with Xdot = -(v_rel x) X (5.66-5.67, sign corrected)
    H_i = J_i' I_i J_i + H*_(i-1)                   eq. 5.46
    bias = sum of J_i' (I_i (Jdot_i qd - g) + v_i x* I_i v_i)

phidot_i of a joint of several turns (5.68-5.71): each column turns with the motions that follow it.
The source omits this, and 2 w x u, in chapter 4 for joints that turn and slide at once; the general
form here has both.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from catena.errors import QuestionError
from catena.model.mechanism import Body, Joint, Mechanism
from catena.model.pose import Pose
from catena.model.values import value_of

Array = np.ndarray


@dataclass(frozen=True)
class Chain:
    """At one state: H, bias (n,), the tip's Jacobian J and Jdot qd (6, ...), angular first, and the
    tip's pose (4, 4).

    J and rate are in the ground's axes at the tip's origin; rate is the acceleration of the tip
    with qdd = 0.
    """

    H: Array
    bias: Array
    J: Array
    rate: Array
    pose: Array


def chain(m: Mechanism, q: Array, v: Array, tip: str) -> Chain:
    """The terms of a serial chain (every body carries at most one) with the frame `tip` on its last
    body.
    """
    joints = m.ordered
    if m.loops or any(a.child != b.parent for a, b in pairwise(joints)):
        raise QuestionError(
            f"mechanism {m.name!r} is not a serial chain: this route takes one body after the"
            " other, without loops"
        )
    n = sum(j.nv for j in joints)
    J = np.zeros((6, 0))
    Jdot = np.zeros((6, 0))
    w = np.zeros(6)
    H = np.zeros((n, n))
    bias = np.zeros(n)
    X_W = np.eye(4)
    # the ground's acceleration instead of weight
    fall = np.array([0.0, 0.0, 0.0, *(-_number(x, m) for x in m.gravity)])
    k = l = 0
    for j in joints:
        qj = q[k : k + j.nq]
        vj = v[l : l + j.nv]
        X_PC = _matrix(j.pose(list(qj)), m)
        X, (phi, phidot) = motion_transform(X_PC), _modes(j, qj, vj, m)
        relative = phi @ vj
        J, Jdot = (
            np.hstack([X @ J, phi]),
            np.hstack([X @ Jdot - crossed(relative) @ X @ J, phidot]),
        )
        w = X @ w + relative
        fall = X @ fall
        X_W = X_W @ X_PC
        I = _inertia(m.body(j.child), m)
        here = slice(0, l + j.nv)
        k = k + j.nq
        l = l + j.nv
        H[here, here] += J.T @ I @ J
        bias[here] += J.T @ (I @ (Jdot @ v[here] + fall) - crossed(w).T @ I @ w)
    H += np.diag([_number(x, m) for j in joints for x in j.armature])
    return _at_tip(m, tip, H, bias, J, Jdot, v, w, X_W)


def _at_tip(
    m: Mechanism,
    tip: str,
    H: Array,
    bias: Array,
    J: Array,
    Jdot: Array,
    v: Array,
    w: Array,
    X_WB: Array,
) -> Chain:
    frame = m.frame(tip)
    X = motion_transform(_matrix(frame.pose, m))
    J, a, w = X @ J, X @ (Jdot @ v), X @ w
    # from the rate of the components to the acceleration of the point
    a[3:] += np.cross(w[:3], w[3:])
    X_WT = X_WB @ _matrix(frame.pose, m)
    R = X_WT[:3, :3]
    turn = np.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])
    return Chain(H, bias, turn @ J, turn @ a, X_WT)


def motion_transform(X_PC: Array) -> Array:
    """6 x 6: a motion (angular first) of P's origin in P's axes, at C's origin in C's axes (eq.
    2.22).
    """
    E, b = X_PC[:3, :3].T, X_PC[:3, 3]
    return np.block([[E, np.zeros((3, 3))], [-E @ skew(b), E]])


def crossed(v: Array) -> Array:
    """v x, for motions; minus its transpose is v x* for forces."""
    return np.block([[skew(v[:3]), np.zeros((3, 3))], [skew(v[3:]), skew(v[:3])]])


def skew(p: Array) -> Array:
    """p x."""
    return np.array([[0.0, -p[2], p[1]], [p[2], 0.0, -p[0]], [-p[1], p[0], 0.0]])


def spatial_inertia(mass: float, com: Array, inertia: Array) -> Array:
    """6 x 6 about the frame's origin, from the inertia about the centre of mass (eq. 5.76-5.78)."""
    S = skew(com)
    return np.block([[inertia - mass * S @ S, mass * S], [-mass * S, mass * np.eye(3)]])


def _modes(j: Joint, q: Array, v: Array, m: Mechanism) -> tuple[Array, Array]:
    """phi and phidot of a joint, at its child body's origin in the child's axes."""
    phi = j.motion_subspace(list(q))
    phidot = np.zeros_like(phi)
    first = 0
    for f in j.freedoms:
        after = phi[:, first + f.nv :] @ v[first + f.nv :]
        phidot[:, first : first + f.nv] = -crossed(after) @ phi[:, first : first + f.nv]
        first += f.nv
    # from the joint's frame to the body's
    X = motion_transform(np.linalg.inv(_matrix(j.offset, m)))
    return X @ phi, X @ phidot


def _inertia(b: Body, m: Mechanism) -> Array:
    xx, xy, xz, yy, yz, zz = (_number(x, m) for x in b.inertia)
    about_com = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    return spatial_inertia(_number(b.mass, m), np.array([_number(x, m) for x in b.com]), about_com)


def _matrix(X: Pose, m: Mechanism) -> Array:
    found = np.eye(4)
    found[:3, :3] = [[_number(x, m) for x in row] for row in X.rotation]
    found[:3, 3] = [_number(x, m) for x in X.position]
    return found


def _number(x: object, m: Mechanism) -> float:
    return float(value_of(x, m.parameters))
