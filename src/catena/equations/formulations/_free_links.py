"""Free links for formulations in absolute velocities: their mass, what acts on them, and what their members need to move.

V = (velocity of the centre of mass in the ground's axes, angular velocity in the link's own) for every link, 6 numbers each.
"""

from __future__ import annotations

import casadi as ca

from ...compiler.trace import matrix, vector
from ...spatial import full
from ..absolute.joint_constraints import Bodies


def masses(b: Bodies) -> ca.SX:
    """(6 n, 6 n): the mass and the inertia of each link."""
    return ca.sparsify(ca.diagcat(*(ca.diagcat(x.mass * ca.SX.eye(3), ca.SX(matrix(full(x.inertia)))) for x in b.links)))


def loads(b: Bodies) -> ca.SX:
    """(6 n,): force on each link's centre of mass in the ground's axes, and torque about it in the link's, of loads alone."""
    found = []
    for k, link in enumerate(b.links):
        R, total = matrix(b.axes(k)), ca.SX.zeros(6)
        for x in (x for x in link.members if x.name in b.tracer.applied.wrenches):
            torque, force = b.tracer.applied.wrenches[x.name]
            total += ca.vertcat(force, R.T @ torque + ca.cross(vector(x.origin), R.T @ force))
        found.append(total)
    return ca.vertcat(*found)


def weights(b: Bodies) -> ca.SX:
    """(6 n,): the links' weights."""
    g = vector([b.value(z) for z in b.mechanism.gravity])
    return ca.vertcat(*(ca.vertcat(x.mass * g, ca.SX.zeros(3)) for x in b.links))


def gyration(b: Bodies) -> ca.SX:
    """(6 n,): -w x I w of each link."""
    spins = ((vector(b.spin(k)), matrix(full(link.inertia))) for k, link in enumerate(b.links))
    return ca.vertcat(*(ca.vertcat(ca.SX.zeros(3), ca.cross(I @ w, w)) for w, I in spins))


def needed(b: Bodies, moved: ca.SX) -> dict[str, ca.SX]:
    """{body: wrench} about the ground's origin in its axes: what each body needs beside its weight. moved: V' (6 n)."""
    g, found = vector([b.value(z) for z in b.mechanism.gravity]), {}
    for x in b.ground:
        f = -x.mass * g
        found[x.name] = ca.vertcat(ca.cross(vector(x.com), f), f)
    for k, link in enumerate(b.links):
        R, w, du, dw = matrix(b.axes(k)), vector(b.spin(k)), moved[6 * k : 6 * k + 3], moved[6 * k + 3 : 6 * k + 6]
        for x in link.members:
            c, I = vector(x.com), matrix(full(x.inertia))
            f = x.mass * (du + R @ (ca.cross(dw, c) + ca.cross(w, ca.cross(w, c))) - g)
            t = R @ (I @ dw + ca.cross(w, I @ w))
            found[x.name] = ca.vertcat(t + ca.cross(vector(b.centre(k)) + R @ c, f), f)
    return found
