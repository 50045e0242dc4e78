"""Reactions for lagrange and hamilton: a joint is released, and T and V are differentiated along
the motions that it prevented.

Six more speeds e = (turn, push) move a body about the ground's origin, along the ground's axes, in
addition to its own motion:

    h = dT/de at e = 0                the momentum that belongs to them
    d/dt dT/de + dV/de = wrench       Lagrange's equation along them

The terms dT/dx of a displacement x along e, and those of the rotating axes, cancel: T does not
change when a body is moved as a whole together with its velocities. The wrench in a joint is the
sum over all bodies beyond it, less the wrenches that act on them from outside.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import Tracer, vector
from ._beams import beams
from ._body_motion import moving_bodies, time_derivative
from ._joint_cuts import joint_wrenches


def released_wrenches(s: Tracer, a: ca.SX, lam: ca.SX | None) -> ca.SX:
    """Return (joints, 6) at the accelerations a and the multipliers lam, as expressions of the
    mechanism's own symbols.
    """
    needed = {}
    g = vector(s.tree.gravity)
    e = ca.SX.sym("e", 6)
    turn, push = e[:3], e[3:]
    for b in moving_bodies(s):
        w = b.w + b.R.T @ turn
        u = b.V + b.R.T @ (push + ca.cross(turn, b.p))
        T = 0.5 * b.m * ca.sumsqr(u + ca.cross(w, b.com)) + 0.5 * ca.dot(w, b.I @ w)
        c = b.p + b.R @ b.com
        needed[b.name] = _along(s, T, -b.m * ca.dot(g, c + push + ca.cross(turn, c)), e)
    for beam in beams(s):
        X = s.pose(beam.body)
        V = s.frame_velocity(beam.body, "body")
        R, p = X[:, :3], X[:, 3]
        w = V[:3] + R.T @ turn
        u = V[3:] + R.T @ (push + ca.cross(turn, p))
        T, U = beam.energies(
            u, w, s.v[beam.own], R + ca.skew(turn) @ R, p + push + ca.cross(turn, p), g
        )
        needed[beam.body] = _along(s, T, U, e)
    force = ca.SX.sym("lam", 0 if lam is None else lam.numel())
    wrenches = joint_wrenches(s, needed, None if lam is None else force)
    return ca.Function("wrenches", [s.t, s.q, s.v, s.a, s.p, force], [wrenches])(
        s.t, s.q, s.v, a, s.p, force if lam is None else lam
    )


def _along(s: Tracer, T: ca.SX, V: ca.SX, e: ca.SX) -> ca.SX:
    """Return the wrench in a released joint, by Lagrange's equations d/dt dT/de + dV/de for its
    speeds e, at e = 0 and the accelerations s.a.
    """
    h, slope = ca.substitute([ca.gradient(T, e), ca.gradient(V, e)], [e], [ca.SX.zeros(6)])
    return time_derivative(s, h, s.a) + slope
