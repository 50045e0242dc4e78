"""The wrench in every joint that closes a loop, from the multipliers of a formulation."""

from __future__ import annotations

import casadi as ca

from ..compiler import Tracer, vector
from ..kernels import evaluate_rows, layout, on_child
from ..model import GROUND, Mechanism


def loop_wrenches(m: Mechanism, multipliers: ca.Function) -> ca.Function:
    """Return a function (t, q, v, tau, p) -> (loops, 6): the wrench of each joint of
    `mechanism.loops` on its child, about the child's origin in its axes.

    Each row of a loop is a unit wrench between two bodies, with lambda as its size; the wrench in
    the joint is their sum.
    """
    s = Tracer(layout(m))
    count = len(s.con.kind)
    x = s.work()
    none = [0.0] * len(s.V)
    lam = ca.SX.sym("lam", multipliers.numel_out(0))
    W = s.blank(count, 12)
    if count:
        evaluate_rows(s.tree, s.con, s.Q, none, none, x, W, *(s.blank(count) for _ in range(3)))
    total = [ca.SX.zeros(6) for _ in m.loops]
    for k in range(count):
        loop = int(s.con.loop[k])
        total[loop] = total[loop] + lam[k] * vector(on_child(s.con, x, W, k))
    rows = [_on_child_axes(s, j.child, w) for j, w in zip(m.loops, total)]
    at = ca.Function("at", [s.q, s.p, lam], [ca.densify(ca.vertcat(*rows))])
    given = [s.t, s.q, s.v, s.tau, s.p]
    return ca.Function("loop_reactions", given, [at(s.q, s.p, multipliers(*given))])


def _on_child_axes(s: Tracer, child: str, w: ca.SX) -> ca.SX:
    """Return a wrench (6,), given about the ground's origin in its axes, about a body's origin in
    the body's axes, as a row.
    """
    if child == GROUND:
        return w.T
    X = s.pose(child)
    R, p = X[:, :3], X[:, 3]
    return ca.horzcat((w[:3] - ca.cross(p, w[3:])).T @ R, w[3:].T @ R)
