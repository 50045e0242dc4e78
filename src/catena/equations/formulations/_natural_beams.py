"""Bodies that bend by modes, for natural_coordinates: y is (P, R) of every link, and the amplitudes
e after them.

A point of the body is X_0 + sum_a X_a B_a with

    X_0 = P + R p,    X_a = c_a(e) R axis_a

p the origin of its frame on the link. They are functions of y, so that with J = dX/dy and m_ab the
integrals of rho B_a B_b

    J^T m (J y'' + (J y')_y y' - g)

is the body's share of M y'' - Q. It contains no angular velocity, except for rotating sections
(`_free_beams`). The mass matrix J^T m J is not constant any more, because the displacements of
bending are products of coordinates.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import matrix
from ..absolute.joint_constraints import Bodies
from ._free_beams import Needed, free_beams, gravity


def natural_beams(b: Bodies, y: ca.SX, rate: ca.SX, L: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the terms that bodies that bend add to M and to -Q. rate: y'. L: V' = L y''."""
    n = y.numel()
    M, bias = ca.SX(n, n), ca.SX(n, 1)
    for x in free_beams(b):
        axes = matrix(b.axes(x.link)) @ x.R if x.link >= 0 else x.R
        X = ca.vertcat(
            x.origin, *(x.beam.c[k] * (axes @ x.beam.axis(k)) for k in range(x.beam.c.numel()))
        )
        J = ca.sparsify(ca.jacobian(X, y))
        m = ca.kron(x.beam.masses, ca.SX.eye(3))
        A = _second_rate(X, y, rate)
        A[:3] -= gravity(b)
        M = M + J.T @ m @ J
        bias = bias + J.T @ (m @ A)
        turned = ca.SX.sym("moved", b.V.numel())
        torque, along = x.sections(turned)
        sections = x.balance(Needed(torque, ca.SX(3, 1), along))
        M += L.T @ ca.jacobian(sections, turned) @ L
        bias += L.T @ ca.substitute(sections, turned, ca.SX.zeros(b.V.numel()))
    return ca.sparsify(M), bias


def _second_rate(f: ca.SX, y: ca.SX, rate: ca.SX) -> ca.SX:
    """Return the second time derivative of f for the rates y' (`rate`) and y'' = 0."""
    still = ca.SX.sym("rate", y.numel())
    return ca.substitute(ca.jtimes(ca.jtimes(f, y, still), y, still), still, rate)
