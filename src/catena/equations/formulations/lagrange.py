"""lagrange: kinetic and potential energy, differentiated ([Baysec1996] eq. 5-9, 53-58).

    d/dt dT/dv - dT/dq + dV/dq = Q + A' lambda      (5), (6), (9), one row per speed; on a tree no
                                                    constraint force is written

T is quadratic in the speeds, so that with the momenta h = dT/dv, and ' the derivative in time,

    M = dh/dv            the mass matrix, symmetric (55)
    h' = M a + dh/dq q'
    M a = Q - phi + A' lambda,  phi = dh/dq q' + w x h - N' dT/dq + N' dV/dq
            (54), with phi on the right

and every derivative is one sweep of automatic differentiation: h and the gradients backwards, dh/dq
q' forwards along q'. The term w x h and N' stand where a ball's quaternion is turned by its angular
velocity w: Poincare's form of (5), which needs no multiplier for the quaternion's length. For all
other joints N = 1 and the term is absent.

Loops and nonholonomic constraints are rows r(q, v, t) = 0, linear in v: A = dr/dv, A a = -dr/dq q'
- dr/dt.

Departures from the print of [Baysec1996]: (13), (56), (58); see `docs/misprints.md`.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import entries, factored, smallest_change, solved
from ...model import Mechanism
from ..equations import Equations, assembled
from ..formulation import Formulation, register
from ..statement import Statement
from ._energies import Energies, energies
from ._inertia import require_inertia_of_coordinates
from ._released_joints import released_wrenches


def lagrange(mechanism: Mechanism, coordinates: str = "joint") -> Equations:
    """Return Lagrange's equations. coordinates: "joint", or "absolute" angles for a planar linkage.

    State: the coordinates chosen and their speeds. `acceleration` is in the joints' own coordinates
    in either case.
    """
    e = energies(mechanism, coordinates)
    s = e.tracer
    h = ca.gradient(e.T, e.v)
    M = ca.jacobian(h, e.v)
    require_inertia_of_coordinates("lagrange", e, M)
    phi = (
        ca.jtimes(h, e.q, e.rate)
        + e.bracket(h)
        + e.along(ca.gradient(e.V, e.q) - ca.gradient(e.T, e.q))
    )
    factor = factored(entries(M))
    a = solved(factor, e.force - phi)
    A, lam = ca.jacobian(e.rows, e.v), None
    if e.rows.numel():
        drift = ca.jtimes(e.rows, e.q, e.rate) + ca.jtimes(e.rows, s.t, ca.SX(1))
        change, lam = smallest_change(factor, A, -drift - A @ a, *e.scales)
        a = a + change

    own = e.accelerations_in_own(a)
    force = None if lam is None else e.in_own(lam)
    return assembled(
        s,
        "lagrange",
        e.coordinate_names() + e.speed_names("{}'"),
        ca.vertcat(e.q, e.v),
        derivative=ca.vertcat(e.rate, a),
        encode=ca.vertcat(*e.chosen(s.q, s.v)),
        decode=e.own(e.q, e.v),
        acceleration=own,
        multipliers=force,
        largest=max(M.shape[0], A.shape[0]),
        reactions=None if mechanism.constraints else released_wrenches(s, own, force),
        extra={
            "coordinates": coordinates,
            "mass_matrix": ca.Function("mass_matrix", [e.q, s.p], [ca.cse(ca.densify(M))]),
        },
        readable=lambda: _statement(e, h, phi, A),
    )


def _statement(e: Energies, h: ca.SX, phi: ca.SX, A: ca.SX) -> Statement:
    """Return the rows M a + phi = Q + A' lambda."""
    a = ca.SX.sym("a", e.v.numel())
    lam = ca.SX.sym("lam", A.shape[0])
    return e.statement(ca.jtimes(h, e.v, a) + phi, e.force + A.T @ lam, a=a, lam=lam)


def generalised_force(mechanism: Mechanism, frame: str) -> ca.Function:
    """Return a function (q, F, p) -> Q = N' (dx/dq)' F, eq. 8: the generalised force Q (nv) of a
    force F (3, N, ground's axes) at the origin x of a frame.

    Add it to tau. The position itself is differentiated, as virtual work requires; no Jacobian of
    the kernels is used.
    """
    e = energies(mechanism)
    F = ca.SX.sym("F", 3)
    x = e.tracer.pose(frame)[:, 3]
    Q = e.along(ca.jtimes(x, e.q, F, True))
    return ca.Function(
        "generalised_force", [e.q, F, e.tracer.p], [ca.cse(ca.densify(Q))], ["q", "F", "p"], ["Q"]
    )


register(
    Formulation(
        "lagrange",
        lagrange,
        unknowns="coordinates; energies differentiated, multipliers for loops and speed rows",
        source="[Baysec1996] eq. 5-9",
        year=1788,
    )
)
