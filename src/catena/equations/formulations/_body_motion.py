"""The motion of the bodies of a mechanism as expressions of its coordinates and speeds, for
formulations that differentiate velocities.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import casadi as ca

from ...compiler import Tracer, matrix, vector
from ...kernels import kinematics
from ...spatial import full


class MovingBody(NamedTuple):
    """A rigid body. m: mass. com (3), I (3, 3): centre of mass and inertia about it, in the body's
    axes. R, p: the pose of its frame in the ground.

    w, V (3): its angular velocity and the velocity of its origin, along its own axes, linear in the
    speeds.
    """

    name: str
    m: Any
    com: ca.SX
    I: ca.SX
    R: ca.SX
    p: ca.SX
    w: ca.SX
    V: ca.SX


def moving_bodies(s: Tracer) -> list[MovingBody]:
    """Return the rigid bodies in the order of `mechanism.ordered`; modal flexible bodies have a
    class of their own (`_beams`).
    """
    rigid = {b.name: b for b in s.layout.rigid}
    found = []
    x = s.work()
    kinematics.velocities(s.tree, s.Q, s.V, x)
    for body in (rigid[j.child] for j in s.layout.mechanism.ordered if j.child in rigid):
        seat = s.seat(body.name)
        X = s.pose(body.name)
        com, I = (tuple(s.value(z) for z in values) for values in (body.com, body.inertia))
        w, V = (
            (vector(z) for z in kinematics.frame_velocity(*seat, x))
            if seat[0] >= 0
            else (ca.SX(3, 1), ca.SX(3, 1))
        )
        found.append(
            MovingBody(
                body.name,
                s.value(body.mass),
                ca.sparsify(vector(com)),
                ca.sparsify(matrix(full(I))),
                ca.sparsify(X[:, :3]),
                ca.sparsify(X[:, 3]),
                ca.sparsify(w),
                ca.sparsify(V),
            )
        )
    return found


def time_derivative(s: Tracer, f: ca.SX, a: ca.SX) -> ca.SX:
    """Return the rate of an expression of q and v along q' = N v, v' = a."""
    return ca.jtimes(f, ca.vertcat(s.q, s.v), ca.vertcat(s.coordinate_rate(), a))
