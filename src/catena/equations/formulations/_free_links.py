"""Free links for formulations in absolute velocities: their mass, the forces on them, and the
wrenches that the motion of their members requires.

V = (velocity of the centre of mass in the ground's axes, angular velocity in the link's own) for
every link, 6 numbers each; then the rates of the amplitudes of bodies that bend (`_free_beams`).
"""

from __future__ import annotations

from collections.abc import Iterable

import casadi as ca

from ...compiler import matrix, vector
from ...spatial import full
from ..absolute.joint_constraints import Bodies
from ._free_beams import beam_bias, beam_masses, beam_wrenches


def masses(b: Bodies) -> ca.SX:
    """Return the mass and the inertia of each link and of bodies that bend, a square matrix of the
    size of V.
    """
    rigid = (ca.diagcat(x.mass * ca.SX.eye(3), ca.SX(matrix(full(x.inertia)))) for x in b.links)
    bending = b.V.numel() - 6 * len(b.links)
    return ca.sparsify(ca.diagcat(*rigid, ca.SX(bending, bending)) + beam_masses(b))


def _of_links(b: Bodies, parts: Iterable[ca.SX]) -> ca.SX:
    """Return a column of the size of V from parts of the links, with zeros along amplitudes."""
    return ca.vertcat(*parts, ca.SX.zeros(b.V.numel() - 6 * len(b.links)))


def loads(b: Bodies) -> ca.SX:
    """Return the force of loads on each link's centre of mass in the ground's axes, and the torque
    about it in the link's.
    """
    found = []
    for k, link in enumerate(b.links):
        R = matrix(b.axes(k))
        total = ca.SX.zeros(6)
        for x in (x for x in link.members if x.name in b.tracer.applied.wrenches):
            torque, force = b.tracer.applied.wrenches[x.name]
            total += ca.vertcat(force, R.T @ torque + ca.cross(vector(x.origin), R.T @ force))
        found.append(total)
    return _of_links(b, found)


def weights(b: Bodies) -> ca.SX:
    """Return the links' weights; that of bodies that bend is in `gyration`."""
    g = vector([b.value(z) for z in b.mechanism.gravity])
    return _of_links(b, (ca.vertcat(x.mass * g, ca.SX.zeros(3)) for x in b.links))


def gyration(b: Bodies) -> ca.SX:
    """Return -w x I w of each link; for bodies that bend, their weight less the inertia terms
    without accelerations.
    """
    spins = ((vector(b.spin(k)), matrix(full(link.inertia))) for k, link in enumerate(b.links))
    return _of_links(
        b, (ca.vertcat(ca.SX.zeros(3), ca.cross(I @ w, w)) for w, I in spins)
    ) - beam_bias(b)


def needed(b: Bodies, moved: ca.SX) -> dict[str, ca.SX]:
    """Return {body: wrench}, about the ground's origin in its axes: the wrench that the motion of
    each body requires in addition to its weight. moved: V'.
    """
    g = vector([b.value(z) for z in b.mechanism.gravity])
    found = {}
    for x in b.ground:
        f = -x.mass * g
        found[x.name] = ca.vertcat(ca.cross(vector(x.com), f), f)
    for k, link in enumerate(b.links):
        R = matrix(b.axes(k))
        w = vector(b.spin(k))
        du = moved[6 * k : 6 * k + 3]
        dw = moved[6 * k + 3 : 6 * k + 6]
        for x in link.members:
            c = vector(x.com)
            I = matrix(full(x.inertia))
            f = x.mass * (du + R @ (ca.cross(dw, c) + ca.cross(w, ca.cross(w, c))) - g)
            t = R @ (I @ dw + ca.cross(w, I @ w))
            found[x.name] = ca.vertcat(t + ca.cross(vector(b.centre(k)) + R @ c, f), f)
    for body, wrench in beam_wrenches(b, moved).items():
        found[body] = found[body] + wrench
    return found
