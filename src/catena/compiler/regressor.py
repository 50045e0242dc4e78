"""The regressor Y(q, v, a) of the inverse dynamics: forces are linear in the ten inertial
parameters of each body.

    tau = Y theta + armature a - loads          theta: m, hx, hy, hz, Ixx, Ixy, Iyy, Ixz, Iyz, Izz
                                                of each body in turn

m is the mass (kg), h = m c the first moment (kg m), I the inertia about the body's own origin in
its axes (kg m2), in Pinocchio's order. Bodies that are carried by no joint that moves, bodies
without mass and flexible bodies have no columns.
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from .. import spatial
from ..kernels import Layout, Seat, as_array, dynamics
from ..model import Body, value_of
from .symbols import elements, vector
from .trace import Tracer

# of each body, about its own origin
INERTIAL = ("m", "hx", "hy", "hz", "Ixx", "Ixy", "Iyy", "Ixz", "Iyz", "Izz")
UNITS = ("kg", *("kg m",) * 3, *("kg m2",) * 6)


def inertial_bodies(layout: Layout) -> tuple[Body, ...]:
    """Return the bodies that have columns: rigid, carried by a joint that moves, with a mass or an
    inertia.
    """
    p = layout.mechanism.parameters
    return tuple(
        b
        for b in layout.rigid
        if layout.seats[b.name].node >= 0 and any(value_of(x, p) for x in (b.mass, *b.inertia))
    )


def inertial_parameters(layout: Layout) -> np.ndarray:
    """Return theta (10 bodies,) of the mechanism at its own parameters."""
    found = []
    for b in inertial_bodies(layout):
        m, *rest = (
            float(value_of(x, layout.mechanism.parameters)) for x in (b.mass, *b.com, *b.inertia)
        )
        c, (xx, xy, xz, yy, yz, zz) = np.array(rest[:3]), rest[3:]
        I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) + m * (
            c @ c * np.eye(3) - np.outer(c, c)
        )
        found.append([m, *(m * c), I[0, 0], I[0, 1], I[1, 1], I[0, 2], I[1, 2], I[2, 2]])
    return np.array(found).reshape(-1)


def regressor(s: Tracer) -> ca.SX:
    """Return Y (nv, 10 bodies) = d tau / d theta; tau is linear in theta."""
    bodies = inertial_bodies(s.layout)
    theta = ca.SX.sym("theta", 10 * len(bodies))
    n = len(s.layout.nodes)
    tau = s.blank(len(s.V))
    mass = [0.0] * n
    h = [(0.0,) * 3] * n
    J = [(0.0,) * 6] * n
    for k, b in enumerate(bodies):
        seat = s.layout.seats[b.name]
        m, hb, Jb = _seated(elements(theta[10 * k : 10 * k + 10]), seat, s.value)
        i = seat.node
        mass[i], h[i], J[i] = mass[i] + m, spatial.add(h[i], hb), spatial.sadd(J[i], Jb)
    tree = s.tree._replace(
        mass=as_array(mass, (n,)),
        h=as_array(h, (n, 3)),
        J=as_array(J, (n, 6)),
        armature=np.zeros(s.layout.nv),
    )
    dynamics.inverse_dynamics(
        tree, s.Q, s.lift.v(s.OWN[1]), s.lift.a(s.OWN[1], s.OWN[2]), s.blank(n, 6), s.work(), tau
    )
    return ca.densify(ca.jacobian(vector(s.lift.back(tau)), theta))


def _seated(theta: list[Any], seat: Seat, value: Any) -> tuple[Any, Any, Any]:
    """Return mass, first moment and Euler tensor about the node's origin in its axes, from the ten
    parameters about the body's own.
    """
    m, h = theta[0], tuple(theta[1:4])
    xx, xy, yy, xz, yz, zz = theta[4:]
    R = tuple(tuple(value(x) for x in row) for row in seat.pose.rotation)
    p = tuple(value(x) for x in seat.pose.position)
    turned = spatial.unrotate_symmetric(
        spatial.transpose(R), spatial.euler_tensor((xx, xy, xz, yy, yz, zz))
    )
    Rh = spatial.rotate(R, h)
    moved = tuple(m * x for x in spatial.outer(p))
    return (
        m,
        spatial.add(Rh, spatial.scale(m, p)),
        spatial.sadd(turned, spatial.sadd(moved, spatial.outer_pair(Rh, p))),
    )
