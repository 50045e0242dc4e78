"""jourdain: the principle of virtual power ([Jourdain1909]).

    sum_i  delta V_i . (p_i' - f_i) - delta v . Q = 0
            for all virtual velocities that the constraints allow

V_i = (w, u) is the twist of body i, angular velocity and velocity of its origin, along the body's
own axes; p_i its momentum about that origin, f_i its weight and loads. With c the mass centre and I
the inertia about it, in the body's axes,

    p = (I w + m c x (u + w x c), m (u + w x c))
    p' = dp/dt + (w x p_w + u x p_u, w x p_u)                   the axes turn, and the origin moves
    delta V_i = (dV_i/dv) delta v                             by differentiation of the twist itself

so that sum_i (dV_i/dv)' (p_i' - f_i) = Q, linear in the accelerations. Only velocities are varied:
no position is, and no partial velocity is written down. Where rows A v + B = 0 hold (loops, speed
rows), virtual velocities are those with A delta v = 0: delta v = Z y with the orthogonal complement
Z of `_independent_speeds`, a = Z y + z, and

    Z' (M (Z y + z) - r) = 0

A joint is released by a virtual twist of all beyond it: its power gives the wrench in the joint.
The points of a flexible body have velocities sum_a V_a B_a(x) over its shapes, so that its virtual
power is sum_ab m_ab delta V_a . A_b.
"""

from __future__ import annotations

import casadi as ca

from ...compiler import Tracer, vector
from ...kernels import layout
from ...model import Mechanism
from ..equations import Equations, assembled
from ..formulation import Formulation, register
from ..statement import Statement
from ._beams import TracedBeam, beams
from ._body_motion import MovingBody, moving_bodies, time_derivative
from ._independent_speeds import own_rows
from ._inertia import require_inertia
from ._joint_cuts import joint_wrenches


def jourdain(mechanism: Mechanism) -> Equations:
    """Return Jourdain's equations. State: coordinates q and speeds v."""
    s = Tracer(layout(mechanism))
    rows, needed = _virtual_power(s)
    M = ca.jacobian(rows, s.a)
    b = ca.substitute(rows, s.a, ca.SX.zeros(s.layout.nv))
    require_inertia("jourdain", s, M)
    r = s.tau + _power_of_loads(s) - b
    lam = None
    held = bool(mechanism.constrained)
    if held:
        own = own_rows(s)
        free = own.complement(s, M)
        Z = free.Z
        z = free.particular(own.gamma)
        a = Z @ _solved(Z.T @ M @ Z, Z.T @ (r - M @ z)) + z if Z.shape[1] else z
        lam = free.multipliers(M @ a - r)
    else:
        a = _solved(M, r)

    x = ca.vertcat(s.q, s.v)
    return assembled(
        s,
        "jourdain",
        mechanism.coordinate_names + tuple(f"{name}'" for name in mechanism.speed_names),
        x,
        derivative=ca.vertcat(s.coordinate_rate(), a),
        encode=x,
        decode=[s.q, s.v],
        acceleration=a,
        multipliers=lam,
        largest=Z.shape[1] if held else s.layout.nv,
        reactions=None if mechanism.constraints else _reactions(s, needed, a, lam),
        readable=lambda: _statement(s, rows, r + b),
    )


# --- virtual power
def _virtual_power(s: Tracer) -> tuple[ca.SX, dict[str, ca.SX]]:
    """Return the coefficients of delta v (nv) in the virtual power of p' less the weight, for all
    bodies at the accelerations s.a; and the wrench that the motion of each body requires.
    """
    rows = vector(s.tree.armature) * s.a
    needed = {}
    g = vector(s.tree.gravity)
    for b in moving_bodies(s):
        V = ca.vertcat(b.w, b.V)
        wrench = _rate_of_momentum(s, b) - _weight(b, g)
        rows += ca.jtimes(V, s.v, wrench, True)
        needed[b.name] = _about_ground(wrench, b.R, b.p)
    for beam in beams(s):
        along, wrench = _bending(s, beam, g)
        rows += along
        needed[beam.body] = wrench
    return rows, needed


def _rate_of_momentum(s: Tracer, b: MovingBody) -> ca.SX:
    """Return p' (6) about the body's origin, along its axes."""
    push = b.m * (b.V + ca.cross(b.w, b.com))
    turn = b.I @ b.w + ca.cross(b.com, push)
    moved = time_derivative(s, ca.vertcat(turn, push), s.a)
    return moved + ca.vertcat(ca.cross(b.w, turn) + ca.cross(b.V, push), ca.cross(b.w, push))


def _weight(b: MovingBody, g: ca.SX) -> ca.SX:
    """Return the moment of the weight about the body's origin and its force, (6), along the body's
    axes.
    """
    f = b.m * (b.R.T @ g)
    return ca.vertcat(ca.cross(b.com, f), f)


def _bending(s: Tracer, beam: TracedBeam, g: ca.SX) -> tuple[ca.SX, ca.SX]:
    """Return the coefficients of delta v in the virtual power of a flexible body, and the wrench,
    about the ground's origin, that its motion requires.
    """
    X = s.pose(beam.body)
    V = s.frame_velocity(beam.body, "body")
    rate = s.v[beam.own]
    bend = s.a[beam.own]
    R, w = X[:, :3], V[:3]
    fields = beam.velocities(w, V[3:], rate)
    A = ca.reshape(time_derivative(s, ca.vec(fields), s.a), fields.shape) + ca.skew(w) @ fields
    A[:, 0] -= R.T @ g
    F = A @ beam.masses  # (3, 1 + fields): what each field's virtual velocity meets
    alpha = time_derivative(s, w, s.a)
    H = ca.SX(3, 1)
    H_rate = ca.SX(3, 1)
    along = ca.SX.zeros(len(beam.own))
    for d in range(3):
        H[d] = beam.J[d] * (w[d] + ca.dot(beam.chi1[d], rate))
        H_rate[d] = beam.J[d] * (alpha[d] + ca.dot(beam.chi1[d], bend))
        along += beam.J[d] * (beam.chi1[d] * alpha[d] + beam.chi2[d] @ bend)
    torque = H_rate + ca.cross(w, H)  # of the sections' own turning
    rows = ca.jtimes(ca.vec(fields), s.v, ca.vec(F), True) + ca.jtimes(w, s.v, torque, True)
    rows[beam.own] += along
    places = beam.places()
    for k in range(1, places.shape[1]):
        torque = torque + ca.cross(places[:, k], F[:, k])
    return rows, _about_ground(ca.vertcat(torque, F[:, 0]), R, X[:, 3])


def _about_ground(wrench: ca.SX, R: ca.SX, p: ca.SX) -> ca.SX:
    """Return a wrench about a body's origin in its axes as one about the ground's origin in the
    ground's.
    """
    t, f = R @ wrench[:3], R @ wrench[3:]
    return ca.vertcat(t + ca.cross(p, f), f)


def _power_of_loads(s: Tracer) -> ca.SX:
    """Return the coefficients of delta v in the virtual power of loads."""
    Q = s.applied.forces
    for body, (t, f) in s.applied.wrenches.items():
        if s.layout.seat(body).node >= 0:
            J = ca.jacobian(s.frame_velocity(body, "body"), s.v)
            R = s.pose(body)[:, :3]
            Q = Q + J[:3, :].T @ (R.T @ t) + J[3:, :].T @ (R.T @ f)
    return Q


# --- what is solved and asked
def _solved(M: ca.SX, b: ca.SX) -> ca.SX:
    """Return M^-1 b for a symmetric positive definite M."""
    return ca.ldl_solve(b, *ca.ldl(ca.sparsify((M + M.T) / 2), False))


def _reactions(s: Tracer, needed: dict[str, ca.SX], a: ca.SX, lam: ca.SX | None) -> ca.SX:
    """Return the joints' wrenches at the accelerations a."""
    force = ca.SX.sym("lam", 0 if lam is None else lam.numel())
    wrenches = joint_wrenches(s, needed, None if lam is None else force)
    return ca.Function("wrenches", [s.t, s.q, s.v, s.a, s.p, force], [wrenches])(
        s.t, s.q, s.v, a, s.p, force if lam is None else lam
    )


def _statement(s: Tracer, rows: ca.SX, Q: ca.SX) -> Statement:
    """Return the coefficients of each delta v in the virtual power, inertia left and forces right;
    then the constraint rows.
    """
    _, held, _, A = s.constraint_rows()
    lam = ca.SX.sym("lam", held.numel())
    symbols = {"t": s.t, "q": s.q, "v": s.v, "a": s.a, "tau": s.tau, "p": s.p, "lam": lam}
    return Statement.of(
        symbols, ca.vertcat(rows, held), ca.vertcat(Q + A.T @ lam, ca.SX.zeros(held.numel()))
    )


register(
    Formulation(
        "jourdain",
        jourdain,
        unknowns="speeds; the virtual power of every body's rate of momentum along its own axes",
        source="[Jourdain1909]",
        year=1909,
    )
)
