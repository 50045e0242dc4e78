"""gibbs_appell: the energy of accelerations, differentiated ([Gibbs1879], [Appell1900]).

    S = sum_i 1/2 m_i (a_i - g) . (a_i - g) + 1/2 alpha_i . I_i alpha_i + alpha_i . (omega_i x I_i
    omega_i)
    dS/da_r = Q_r + (A' lambda)_r            one row per speed, whatever the speeds are:
                                             quasi-velocities need no bracket

a_i is the acceleration of the mass centre; it, alpha_i and omega_i stand along the body's own axes.
With a_i - g in place of a_i the weight is inside S. Terms without accelerations are left out, as
they vanish from dS/da. S is a quadratic function of the accelerations a of the joints' speeds,

    M = d2S/da2,    b = dS/da at a = 0,    M a = Q - b + A' lambda

and both are found by automatic differentiation; a_i and alpha_i are the rates of velocities,
differentiated as well.

A joint is released by six more accelerations (alpha, a) of what lies beyond it, as one rigid piece
about the ground's origin: dS along them is the wrench that holds it. Rotors add 1/2 J a_r^2. A
flexible body has a field of accelerations, sum_a A_a B_a(x) over its shapes, and S = 1/2 sum_ab
m_ab A_a . A_b with the constant integrals m_ab of rho B_a B_b.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import Tracer, entries, factored, smallest_change, solved, vector
from ...kernels import layout
from ...model import Mechanism
from ..equations import Equations, assembled
from ..formulation import Formulation, register
from ..statement import Statement
from ._beams import TracedBeam, beams
from ._body_motion import MovingBody, moving_bodies, time_derivative
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches


def gibbs_appell(mechanism: Mechanism) -> Equations:
    """Return the Gibbs-Appell equations. State: coordinates q and speeds v."""
    s = Tracer(layout(mechanism))
    bodies = moving_bodies(s)
    bending = beams(s)
    release = {
        b: ca.SX.sym(f"release_{b}", 6)
        for b in (*(x.name for x in bodies), *(x.body for x in bending))
    }
    S = _gibbs(s, bodies, bending, release)
    held = ca.substitute(S, ca.vertcat(*release.values()), ca.SX.zeros(6 * len(release)))
    row = ca.gradient(held, s.a)
    M = ca.jacobian(row, s.a)
    b = ca.substitute(row, s.a, ca.SX.zeros(s.layout.nv))
    require_inertia("gibbs_appell", s, M)
    Q = s.tau + _forces(s)
    factor = factored(entries(M))
    a = solved(factor, Q - b)
    lam = None
    rows = s.constraint_rows()
    if rows[0].numel():
        change, lam = smallest_change(
            factor, rows[3], rows[2] - rows[3] @ a, s.con.column, s.row_scales()
        )
        a = a + change

    x = ca.vertcat(s.q, s.v)
    return assembled(
        s,
        "gibbs_appell",
        mechanism.coordinate_names + tuple(f"{name}'" for name in mechanism.speed_names),
        x,
        derivative=ca.vertcat(s.coordinate_rate(), a),
        encode=x,
        decode=[s.q, s.v],
        acceleration=a,
        multipliers=lam,
        largest=max(s.layout.nv, rows[0].numel()),
        reactions=None if mechanism.constraints else _reactions(s, S, release, a, lam),
        extra={
            "gibbs_function": ca.Function("gibbs_function", [s.q, s.v, s.a, s.p], [ca.cse(held)])
        },
        readable=lambda: _statement(s, row, Q, rows[3]),
    )


# --- the Gibbs function
def _gibbs(
    s: Tracer, bodies: list[MovingBody], bending: list[TracedBeam], release: dict[str, ca.SX]
) -> ca.SX:
    """Return S of all bodies, including the accelerations that release joints."""
    moved = ca.vertcat(ca.SX(0, 1), *(ca.vertcat(b.w, b.V + ca.cross(b.w, b.com)) for b in bodies))
    rates = ca.vertsplit(time_derivative(s, moved, s.a), 6) if bodies else []
    S = 0.5 * ca.dot(vector(s.tree.armature), s.a**2)
    g = vector(s.tree.gravity)
    for b, rate in zip(bodies, rates):
        turn = release[b.name][:3]
        push = release[b.name][3:]
        u = b.V + ca.cross(b.w, b.com)
        alpha = rate[:3] + b.R.T @ turn
        a = rate[3:] + ca.cross(b.w, u) + b.R.T @ (push + ca.cross(turn, b.p + b.R @ b.com) - g)
        S += (
            0.5 * b.m * ca.sumsqr(a)
            + 0.5 * ca.dot(alpha, b.I @ alpha)
            + ca.dot(alpha, ca.cross(b.w, b.I @ b.w))
        )
    for beam in bending:
        S += _bending(s, beam, release[beam.body], g)
    return S


def _bending(s: Tracer, beam: TracedBeam, release: ca.SX, g: ca.SX) -> ca.SX:
    """Return S of a flexible body, along its own axes: of its points, and of its sections that
    turn.
    """
    X = s.pose(beam.body)
    V = s.frame_velocity(beam.body, "body")
    rate = s.v[beam.own]
    R = X[:, :3]
    p = X[:, 3]
    w = V[:3]
    turn = X[:, :3].T @ release[:3]
    fields = beam.velocities(w, V[3:], rate)  # (3, 1 + fields)
    A = ca.reshape(time_derivative(s, ca.vec(fields), s.a), fields.shape) + ca.skew(w) @ fields
    A += ca.skew(turn) @ beam.places()
    A[:, 0] += R.T @ (release[3:] + ca.cross(release[:3], p) - g)
    alpha = time_derivative(s, w, s.a) + turn
    bend = s.a[beam.own]
    S = 0.5 * ca.trace(A @ beam.masses @ A.T)
    H = ca.vertcat(*(beam.J[d] * (w[d] + ca.dot(beam.chi1[d], rate)) for d in range(3)))
    for d in range(3):
        S += beam.J[d] * (
            0.5 * alpha[d] ** 2
            + alpha[d] * ca.dot(beam.chi1[d], bend)
            + 0.5 * ca.dot(bend, beam.chi2[d] @ bend)
        )
    return S + ca.dot(alpha, ca.cross(w, H))


# --- forces and reactions
def _forces(s: Tracer) -> ca.SX:
    """Return Q (nv) of the loads: the forces along speeds, and the derivative of the power of the
    forces on bodies.
    """
    Q = s.applied.forces
    for body, (t, f) in s.applied.wrenches.items():
        if s.layout.seat(body).node >= 0:
            Q = Q + ca.jtimes(s.frame_velocity(body, "world"), s.v, ca.vertcat(t, f), True)
    return Q


def _reactions(
    s: Tracer, S: ca.SX, release: dict[str, ca.SX], a: ca.SX, lam: ca.SX | None
) -> ca.SX:
    """Return the joints' wrenches: the derivatives of S with respect to the releasing
    accelerations, at the accelerations found.
    """
    all_of = ca.vertcat(*release.values())
    slope = ca.substitute(ca.gradient(S, all_of), all_of, ca.SX.zeros(all_of.numel()))
    needed = dict(zip(release, ca.vertsplit(slope, 6)))
    force = ca.SX.sym("lam", 0 if lam is None else lam.numel())
    given = [s.t, s.q, s.v, s.a, s.p, force]
    found = ca.Function(
        "wrenches", given, [joint_wrenches(s, needed, None if lam is None else force)]
    )
    return found(s.t, s.q, s.v, a, s.p, force if lam is None else lam)


def _statement(s: Tracer, row: ca.SX, Q: ca.SX, A: ca.SX) -> Statement:
    """Return the statement dS/da = Q + A' lambda, with the rows A a = gamma."""
    lam = ca.SX.sym("lam", A.shape[0])
    symbols = {"t": s.t, "q": s.q, "v": s.v, "a": s.a, "tau": s.tau, "p": s.p, "lam": lam}
    held = s.constraint_rows()[1]
    return Statement.of(
        symbols, ca.vertcat(row, held), ca.vertcat(Q + A.T @ lam, ca.SX.zeros(held.numel()))
    )


register(
    Formulation(
        "gibbs_appell",
        gibbs_appell,
        unknowns=(
            "accelerations; the Gibbs function of them differentiated, multipliers for loops and"
            " speed rows"
        ),
        source="[Gibbs1879], [Appell1900]",
        year=1879,
    )
)
