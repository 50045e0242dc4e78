"""The wrench in every joint by statics: the wrench that the motion of the bodies beyond the joint
requires, less the wrenches that act on them from outside.

A formulation computes, by its own arithmetic, the wrench that each body needs in addition to its
weight to move as it does. Loads, loops and speed rows act on bodies from outside; motors do not,
since they are in joints.

    reaction of joint k  =  sum over the bodies i beyond k of  (needed_i - loads_i - rows_i)

All wrenches here are (torque about the ground's origin, force) in the ground's axes, until they are
converted to the child's origin and axes.
"""

from __future__ import annotations

from collections.abc import Mapping

import casadi as ca

from ...compiler import Tracer, vector
from ...kernels import evaluate_rows, on_child
from ...model import GROUND


def joint_wrenches(
    s: Tracer, needed: Mapping[str, ca.SX], lam: ca.SX | None = None, loads: bool = True
) -> ca.SX:
    """Return the wrench of each joint on its child, (joints, 6) in the order of
    `mechanism.ordered`, about the child's origin in its axes. needed: {body: wrench (6)}, the
    wrenches that the motion requires, for bodies with mass; if it is empty, the result is the
    contribution of loads and rows alone. lam: the multipliers of all rows, loops first, where there
    are any. loads: whether the mechanism's loads are subtracted.
    """
    m = s.layout.mechanism
    total = {b.name: ca.SX.zeros(6) for b in s.layout.mechanism.bodies}
    for body, w in needed.items():
        total[body] = total[body] + w
    for outside in (_loads(s) if loads else {}, {} if lam is None else row_forces(s, lam)):
        for body, w in outside.items():
            if body != GROUND:
                total[body] = total[body] - w
    found = []
    for j in reversed(m.ordered):  # leaves to root
        w, X = total[j.child], s.pose(j.child)
        if j.parent != GROUND:
            total[j.parent] = total[j.parent] + w
        R, p = X[:, :3], X[:, 3]
        found.append(ca.horzcat((w[:3] - ca.cross(p, w[3:])).T @ R, w[3:].T @ R))
    return ca.densify(ca.vertcat(*reversed(found)))


def _loads(s: Tracer) -> dict[str, ca.SX]:
    """Return the wrenches of the mechanism's loads on its bodies."""
    return {
        body: ca.vertcat(t + ca.cross(s.pose(body)[:, 3], f), f)
        for body, (t, f) in s.applied.wrenches.items()
    }


def row_forces(s: Tracer, lam: ca.SX) -> dict[str, ca.SX]:
    """Return the wrenches on bodies of the rows with multipliers lam: of a loop on its child, and
    the opposite on its parent; of a speed row on its body. A row given as an expression acts along
    the speeds of joints, as a motor does, and therefore not on a body from outside.
    """
    m = s.layout.mechanism
    x = s.work()
    count = len(s.con.kind)
    found: dict[str, ca.SX] = {}
    W = s.blank(count, 12)
    none = [0.0] * len(s.V)
    if count:
        evaluate_rows(s.tree, s.con, s.Q, none, none, x, W, *(s.blank(count) for _ in range(3)))
    pushes = [(m.loops[int(s.con.loop[k])], vector(on_child(s.con, x, W, k))) for k in range(count)]
    on: list[tuple[str, ca.SX]] = []
    for k, (j, w) in enumerate(pushes):
        on += [(j.child, lam[k] * w), (j.parent, -lam[k] * w)]
    for row in m.nonholonomic:
        for unit in s.applied.contact_wrenches(row):
            if row.text is None:
                on.append((m.frame(row.frame).body, lam[count] * vector(unit)))
            count += 1
    for body, w in on:
        found[body] = found.get(body, ca.SX.zeros(6)) + w
    return found
