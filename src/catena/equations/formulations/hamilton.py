"""hamilton: momenta as state ([Baysec1996] eq. 10-15, 59-65).

    h  = dT/dv = M v                              the momenta conjugate to the speeds (13; its print
                                                  has p' and dL/dq)
    H  = h' v - L = T + V                         (14), (15), with v = M^-1 h
    q' = N dH/dh = N M^-1 h                       (10)
    h' = Q - N' dH/dq - w x h + A' lambda         (11)

No acceleration is formed. dH/dq at constant h is -dT/dq + dV/dq at constant v (in H = h'v - L what
v changes cancels, since h = dL/dv), so that H need not be differentiated through M^-1. The momenta
of a ball stand along its own turning axes, hence the bracket w x h (Poincare 1901) and N'; for all
other joints N = 1 and (10), (11) are as printed.

Loops and nonholonomic constraints are rows r(q, v, t) = 0, linear in v, A = dr/dv: with v = M^-1 h
a function of the state, the multipliers are those that keep r from changing along (q', h').

Departures from the print of [Baysec1996]: (13), (61), (65); see `docs/misprints.md`.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import entries, factored, smallest_change, solved
from ...model import Mechanism
from ..equations import Equations, assembled, operations
from ..formulation import Formulation, StateKind, register
from ..statement import Statement
from ._energies import Energies, energies
from ._inertia import require_inertia_of_coordinates
from ._released_joints import released_wrenches


def hamilton(mechanism: Mechanism, coordinates: str = "joint") -> Equations:
    """Return Hamilton's equations. coordinates: "joint", or "absolute" angles for a planar linkage.

    State: the coordinates chosen and their momenta, kg m2/s for a turn, kg m/s for a slide. The
    acceleration is the rate of v(q, h) = M^-1 h along (q', h'), so that it shares no arithmetic
    with Lagrange's equations.
    """
    e = energies(mechanism, coordinates)
    s = e.tracer
    momenta = ca.gradient(e.T, e.v)
    M = ca.jacobian(momenta, e.v)
    require_inertia_of_coordinates("hamilton", e, M)
    factor = factored(entries(M))
    h = ca.SX.sym("h", e.v.numel())
    x = ca.vertcat(e.q, h)
    v = solved(factor, h)
    slope = e.force + e.along(ca.gradient(e.T, e.q) - ca.gradient(e.V, e.q)) - e.bracket(momenta)
    A, lam = ca.jacobian(e.rows, e.v), None
    h_rate = slope
    if e.rows.numel():
        r = ca.substitute(e.rows, e.v, v)
        change = ca.jtimes(r, x, ca.vertcat(e.rate, slope)) + ca.jtimes(r, s.t, ca.SX(1))
        push, lam = smallest_change(factor, A, -ca.substitute(change, h, momenta), *e.scales)
        h_rate = slope + M @ push

    at = [s.t, e.q, e.v, s.tau, s.p]
    rates = ca.Function("rates", at, [ca.densify(ca.vertcat(e.rate, h_rate))])
    momentum = ca.Function("momentum", [e.q, e.v, s.p], [ca.densify(momenta)])
    a = ca.substitute(ca.jtimes(v, x, rates(*at)), h, momenta)
    H = ca.Function("hamiltonian", [x, s.p], [ca.cse(ca.dot(h, v) / 2 + e.V)])
    q, _ = chosen = e.chosen(s.q, s.v)
    own = e.accelerations_in_own(a)
    force = None if lam is None else e.in_own(lam)
    found = assembled(
        s,
        "hamilton",
        e.coordinate_names() + e.speed_names("momentum of {}"),
        x,
        derivative=rates(s.t, e.q, v, s.tau, s.p),
        encode=ca.vertcat(q, momentum(*chosen, s.p)),
        decode=e.own(e.q, v),
        acceleration=own,
        multipliers=force,
        largest=max(M.shape[0], A.shape[0]),
        reactions=None if mechanism.constraints else released_wrenches(s, own, force),
        extra={"coordinates": coordinates, "hamiltonian": H},
        readable=lambda: _statement(e, momenta, slope, A),
    )
    found.extra["operations of the derivative"] = operations(found.derivative)
    return found


def _statement(e: Energies, momenta: ca.SX, slope: ca.SX, A: ca.SX) -> Statement:
    """Return the rows h = M v, which give the speeds, and h' = Q - N' dH/dq - w x h + A' lambda."""
    h = ca.SX.sym("h", e.v.numel())
    rate = ca.SX.sym("h_rate", e.v.numel())
    lam = ca.SX.sym("lam", A.shape[0])
    return e.statement(
        ca.vertcat(h, rate), ca.vertcat(momenta, slope + A.T @ lam), h=h, h_rate=rate, lam=lam
    )


register(
    Formulation(
        "hamilton",
        hamilton,
        unknowns="coordinates and momenta",
        source="[Baysec1996] eq. 10-15, 59-65",
        year=1834,
        state=StateKind.MOMENTA,
    )
)
