"""The sources' printed equations, written down by hand in SymPy with their numbers, equal ours
symbol by symbol.

Each formulation against the equations of its own source: [Quinn1991] eq. 22-39 for boltzmann_hamel,
[Baysec1996] eq. 23-53 and 66-77 for newton_euler, the energies and penalty (55-65 are in
test_lagrange and test_hamilton), [Everett1988] eq. 30-32 for variational, [Passerello1972] eq. 1.13
to 3.29 for kane, [Merwe1995] eq. 4.1-4.31 for recursive. Where the print is wrong,
docs/misprints.md or the head of the formulation's module has the line; it is cited here as
"mended". Differences are polynomials in the sines and cosines of the angles, with s^2 = 1 - c^2:
exact.
"""

from __future__ import annotations

import casadi as ca
import pytest
import sympy as sp

from catena.compiler.trace import Tracer
from catena.equations.absolute.charts import chart, state
from catena.equations.absolute.constraint_rows import joint, speeds
from catena.equations.absolute.joint_constraints import Bodies
from catena.equations.formulations import boltzmann_hamel as quinn
from catena.equations.formulations import derive
from catena.equations.formulations import kane as passerello
from catena.equations.formulations._boltzmann_hamel_links import connectivity, links
from catena.equations.formulations._energies import energies
from catena.equations.formulations._free_links import gyration, masses, weights
from catena.equations.formulations.penalty import penalty
from catena.equations.readable import sx_to_sympy
from catena.kernels.tree import layout
from catena.model.mechanism import GROUND, Body, Joint, Mechanism
from catena.model.pose import Pose
from linkages import triple_pendulum

q1, q2, v1, v2, a1, a2 = sp.symbols("q1 q2 v1 v2 a1 a2")
m = sp.symbols("m1 m2")
c = [sp.Matrix(sp.symbols(f"c{i}x c{i}y c{i}z")) for i in (1, 2)]
I = [sp.diag(*sp.symbols(f"I{i}x I{i}y I{i}z")) for i in (1, 2)]
L = sp.Matrix(sp.symbols("Lx Ly Lz"))
gravity = sp.Matrix(sp.symbols("gx gy gz"))
PARAMETERS = [*m, *c[0], *c[1], *I[0].diagonal(), *I[1].diagonal(), *L, *gravity]
# both joints turn about their link's own z, which is y of link 1 for the second
Z = sp.Matrix([0, 0, 1])
Y = sp.Matrix([0, 1, 0])


def spatial_arm() -> Mechanism:
    """Two links in space, every quantity a symbol: link 1 turns about z at the ground, link 2 about
    y of link 1 at L, its own z.
    """
    bodies = [Body(f"link{i + 1}", m[i], tuple(c[i]), tuple(I[i].diagonal())) for i in range(2)]
    joints = [
        Joint("q1", "revolute", GROUND, "link1"),
        Joint(
            "q2", "revolute", "link1", "link2", Pose(((1, 0, 0), (0, 0, 1), (0, -1, 0)), tuple(L))
        ),
    ]
    values = {str(s): 0.3 + 0.1 * k for k, s in enumerate(PARAMETERS)}
    return Mechanism(
        "spatial arm", bodies, joints, gravity=tuple(gravity), parameters=values
    ).validate()


def turn(x) -> sp.Matrix:
    """The rotation by x about z, from the turned axes to those that stand."""
    return sp.Matrix([[sp.cos(x), -sp.sin(x), 0], [sp.sin(x), sp.cos(x), 0], [0, 0, 1]])


# from each link's axes to those of the one before
STEP = [turn(q1), sp.Matrix([[1, 0, 0], [0, 0, 1], [0, -1, 0]]) * turn(q2)]


def skew(a) -> sp.Matrix:
    return sp.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def equal(found, printed) -> bool:
    """Whether two vectors or matrices are the same: every difference vanishes as a polynomial with
    s^2 = 1 - c^2.
    """
    found = sp.Matrix(found)
    printed = sp.Matrix(printed)
    return found.shape == printed.shape and all(vanishes(x - y) for x, y in zip(found, printed))


def vanishes(e) -> bool:
    e = sp.numer(sp.together(sp.expand_trig(e)))
    angles = sorted({f.args[0] for f in e.atoms(sp.sin, sp.cos)}, key=str)
    names = {f(x): sp.Symbol(f"{f.__name__}_{x}") for x in angles for f in (sp.sin, sp.cos)}
    e = e.xreplace(names)
    free = sorted(e.free_symbols, key=str)
    if not free:
        return e == 0
    ring = sp.polys.rings.PolyRing(free, sp.QQ, sp.lex)
    poly = ring.from_expr(e)
    circles = [
        ring.from_expr(names[sp.sin(x)] ** 2 + names[sp.cos(x)] ** 2 - 1)
        for x in angles
        if {names[sp.sin(x)], names[sp.cos(x)]} <= set(free)
    ]
    return not (poly.rem(circles) if circles else poly)


def test_what_is_wrong_is_seen():
    assert vanishes(sp.sin(q1) ** 2 + sp.cos(q1) ** 2 - 1) and not vanishes(
        sp.sin(q1) ** 2 - sp.cos(q1) ** 2
    )
    assert vanishes(
        sp.sin(q1 + q2) - sp.sin(q1) * sp.cos(q2) - sp.cos(q1) * sp.sin(q2)
    ) and not vanishes(q1)


# --- seed 000
tilde = lambda a: skew(a).T  # noqa: E731  # (4): the print's tilde is the transpose of the usual one
C_N = [STEP[0], STEP[0] * STEP[1]]  # C_Ni
W, dW = (
    [sp.Matrix(sp.symbols(f"{letter}{i}x {letter}{i}y {letter}{i}z")) for i in (1, 2)]
    for letter in ("w", "dw")
)
R_dd = sp.Matrix(sp.symbols("Rx Ry Rz"))
S = [m[i] * c[i] for i in range(2)]  # (7a)
# (7b), about O_i
J = [I[i] + m[i] * (c[i].dot(c[i]) * sp.eye(3) - c[i] * c[i].T) for i in range(2)]
g_up = -gravity  # (8)


def C(i: int, j: int) -> sp.Matrix:
    """C_ij, from the axes of link j to those of link i."""
    return C_N[i].T * C_N[j]


def A(w, dw, b) -> sp.Matrix:
    """(22c)."""
    return (tilde(w) * tilde(w) + tilde(dw).T) * b


def equation_22b(w, dw, R=R_dd):
    """tau_i of the print, mended: C_iN in both places, and one L~ less before gravity."""
    one = (
        tilde(S[0]).T * C_N[0].T * R
        + J[0] * dw[0]
        + tilde(w[0]).T * J[0] * w[0]
        + tilde(S[0]).T * C_N[0].T * g_up
        + tilde(L).T
        * (
            m[1] * C_N[0].T * R
            + m[1] * A(w[0], dw[0], L)
            + C(0, 1) * A(w[1], dw[1], S[1])
            + m[1] * C_N[0].T * g_up
        )
    )
    two = (
        tilde(S[1]).T * C_N[1].T * R
        + J[1] * dw[1]
        + tilde(w[1]).T * J[1] * w[1]
        + tilde(S[1]).T * C_N[1].T * g_up
        + tilde(S[1]).T * C(1, 0) * A(w[0], dw[0], L)
    )
    return one, two


@pytest.fixture(scope="module")
def arm():
    s = Tracer(layout(spatial_arm()))
    chain = links(s, melt=True)
    return s, chain


def ours(s: Tracer, x: ca.SX, more: tuple = ()) -> sp.Matrix:
    """An expression of a tracer's symbols, and of others, in SymPy."""
    roles = [
        (s.q, [q1, q2]),
        (s.v, [v1, v2]),
        (s.a, [a1, a2]),
        (s.tau, sp.symbols("tau1 tau2")),
        (s.p, PARAMETERS),
        *more,
    ]
    f = ca.Function("x", [role for role, _ in roles], [ca.densify(x)])
    return sx_to_sympy(f, [list(names) for _, names in roles])[0][0]


def test_seed_000_equations_22_inertial_quasi_coordinates(arm):
    s, chain = arm
    w, dw = ([ca.SX.sym(f"{letter}{i}", 3) for i in range(2)] for letter in ("w", "dw"))
    R = ca.SX.sym("R", 3)
    none = ca.SX.zeros(3)
    tau, F = quinn.gathered(
        chain, *quinn.inertial(chain, quinn.moved(s, chain, w, dw, [none, none], [R, none]))
    )
    more = ((w[0], W[0]), (w[1], W[1]), (dw[0], dW[0]), (dw[1], dW[1]), (R, R_dd))
    for found, printed in zip(tau, equation_22b(W, dW)):
        assert equal(ours(s, found, more), printed)
    total = sum(
        (m[i] * R_dd + C_N[i] * A(W[i], dW[i], S[i]) + m[i] * g_up for i in range(2)),
        sp.zeros(3, 1),
    )
    total += m[1] * C_N[0] * A(W[0], dW[0], L)
    assert equal(ours(s, chain[0].C @ F[0], more), total)  # (22a)


def test_seed_000_equations_25_to_31_relative_quasi_coordinates(arm):
    s, chain = arm
    G = sp.Matrix([[sp.eye(3), sp.zeros(3)], [C(1, 0), sp.eye(3)]])  # (27)
    assert equal(ours(s, quinn.joined(chain, connectivity(chain))[:6, :6]), G)
    Om, dOm = ([ca.SX.sym(f"{letter}{i}", 3) for i in range(2)] for letter in ("O", "dO"))
    # the letters stand for Omega here
    more = ((Om[0], W[0]), (Om[1], W[1]), (dOm[0], dW[0]), (dOm[1], dW[1]))
    w, dw = quinn.absolute(chain, Om, dOm)
    omega = [W[0], C(1, 0) * W[0] + W[1]]  # (30b), (31b)
    assert equal(ours(s, ca.vertcat(*w), more), sp.Matrix([*omega[0], *omega[1]]))
    rate = [
        sum(
            (
                (tilde(omega[i]) * C(i, j) + C(i, j) * tilde(omega[j]).T) * W[j] + C(i, j) * dW[j]
                for j in range(i + 1)
            ),
            sp.zeros(3, 1),
        )
        for i in range(2)
    ]  # (30a)
    assert equal(ours(s, ca.vertcat(*dw), more), sp.Matrix([*rate[0], *rate[1]]))
    M = quinn.relative(chain, Om)
    assert equal(ours(s, ca.vertcat(*M), more), G.T * sp.Matrix([*W[0], *W[1]]))  # (25), (26)


def test_seed_000_equations_29_to_39_configuration_space(arm):
    """M_c alpha'' = D^T M - D^T G^T (22b at omega' = h): (39) mended, D' = 0 for hinges."""
    s, chain = arm
    D = sp.zeros(6, 2)
    D[:3, 0], D[3:, 1] = Z, Z  # (28), (35)
    G = sp.Matrix([[sp.eye(3), sp.zeros(3)], [C(1, 0), sp.eye(3)]])
    rows = sp.Matrix(
        [*equation_22b(W, dW, sp.zeros(3, 1))[0], *equation_22b(W, dW, sp.zeros(3, 1))[1]]
    )
    A_29 = rows.jacobian([*dW[0], *dW[1]])  # (29)
    M_c = D.T * G.T * A_29 * G * D  # (37) with (32)
    assert equal(ours(s, quinn.configuration_inertia(s, chain)), M_c)
    Omega = [Z * v1, Z * v2]
    omega = [Omega[0], C(1, 0) * Omega[0] + Omega[1]]
    # (30a) without accelerations
    h = sp.zeros(3, 1), (tilde(omega[1]) * C(1, 0) + C(1, 0) * tilde(omega[0]).T) * Omega[0]
    at = dict(zip([*W[0], *W[1], *dW[0], *dW[1]], [*omega[0], *omega[1], *h[0], *h[1]]))
    assert equal(
        ours(s, quinn.inverse_forces(s, chain, ca.SX.zeros(2))),
        D.T * G.T * rows.subs(at, simultaneous=True),
    )


# --- seed 001
def test_seed_001_equations_23_to_46_newton_and_euler():
    """Link by link m x'', m y'', I theta'' (23)-(31), the pins (32)-(37) and their second rates
    (38)-(43), (42) with its minus; (44)-(46).
    """
    b = Bodies(triple_pendulum())
    x = state(b, [chart(b, k) for k in range(3)])
    s = b.tracer
    w_dot = ca.SX.sym("w_dot", 9)
    B = ca.diagcat(*(ca.jacobian(z.V, z.w) for z in x.charts))
    rows = [joint(b, pair) for pair in b.pairs]
    u = speeds(b)
    lam = ca.SX.sym("lam", 6)
    A_all = ca.vertcat(*(r.A for r in rows))
    bias = ca.vertcat(*(r.bias for r in rows))
    force = B.T @ (masses(b) @ B @ w_dot - weights(b) - gyration(b) - A_all.T @ lam - u.G.T @ s.tau)
    out = ca.substitute(
        [ca.vertcat(*(r.f for r in rows)), A_all @ B @ w_dot + bias, force],
        [b.P, b.R, b.V],
        [x.P, x.R, x.V],
    )
    given = [x.x, w_dot, lam, s.tau, s.p]
    xs, ys, th = (sp.symbols(f"{z}1:4") for z in ("x", "y", "theta"))
    us, vs, om = (sp.symbols(f"{z}1:4") for z in ("u", "v", "omega"))
    X, Y, al = (sp.symbols(f"{z}1:4") for z in ("ax", "ay", "alpha"))
    Fx, Fy, tau = (sp.symbols(f"{z}1:4") for z in ("Fx", "Fy", "tau"))
    p = sp.symbols(" ".join(b.mechanism.parameters))
    link = lambda *z: [e for i in range(3) for e in (z[0][i], z[1][i], z[2][i])]  # noqa: E731
    names = [
        [*link(xs, ys, th), *link(us, vs, om)],
        link(X, Y, al),
        [e for i in range(3) for e in (Fx[i], Fy[i])],
        list(tau),
        list(p),
    ]
    f, f_dd, balance = (
        z for z in sx_to_sympy(ca.Function("rows", given, [ca.densify(z) for z in out]), names)[0]
    )
    value = dict(zip(map(str, p), p))
    l, mass, inertia = ([value[f"{letter}{i}"] for i in (1, 2, 3)] for letter in "lmI")
    cos = [sp.cos(z) for z in th]
    sin = [sp.sin(z) for z in th]
    for i in range(3):
        before = (xs[i - 1], ys[i - 1], X[i - 1], Y[i - 1]) if i else (0, 0, 0, 0)
        # (32)-(37)
        assert equal(
            f[2 * i : 2 * i + 2, :],
            [xs[i] - before[0] - l[i] * cos[i], ys[i] - before[1] - l[i] * sin[i]],
        )
        assert equal(
            f_dd[2 * i : 2 * i + 2, :],
            [
                X[i] - before[2] + l[i] * al[i] * sin[i] + l[i] * om[i] ** 2 * cos[i],
                Y[i] - before[3] - l[i] * al[i] * cos[i] + l[i] * om[i] ** 2 * sin[i],
            ],
        )
        after = (Fx[i + 1], Fy[i + 1], tau[i + 1]) if i < 2 else (0, 0, 0)
        assert equal(
            balance[3 * i : 3 * i + 3, :],
            [
                mass[i] * X[i] - (Fx[i] - after[0]),
                mass[i] * Y[i] - (Fy[i] - after[1] - mass[i] * value["g"]),
                inertia[i] * al[i]
                - (l[i] * sin[i] * Fx[i] - l[i] * cos[i] * Fy[i] + tau[i] - after[2]),
            ],
        )  # (23)-(31)
    for i in range(3):  # (44)-(46): without the pins
        own = balance[3 * i + 2, 0]
        behind = range(i, 3)
        own += sum(
            l[i] * (cos[i] * balance[3 * j + 1, 0] - sin[i] * balance[3 * j, 0]) for j in behind
        )
        left = inertia[i] * al[i] + sum(
            mass[j] * l[i] * (cos[i] * Y[j] - sin[i] * X[j]) for j in behind
        )
        net = (
            tau[i]
            - (tau[i + 1] if i < 2 else 0)
            - sum(mass[j] for j in behind) * value["g"] * l[i] * cos[i]
        )
        assert equal([own], [left - net])


def test_seed_001_equations_47_to_53_the_lagrangian():
    """Places (47)-(49), squares of speeds (50)-(52), and L = T - V (53), of angles that are those
    with the ground.
    """
    E = energies(triple_pendulum(), "absolute")
    th = sp.symbols("theta1:4")
    w = sp.symbols("w1:4")
    p = sp.symbols(" ".join(E.tracer.layout.mechanism.parameters))
    f = ca.Function("L", [E.q, E.v, E.tracer.p], [E.T - E.V])
    found = sx_to_sympy(f, [list(th), list(w), list(p)])[0][0][0, 0]
    value = dict(zip(map(str, p), p))
    (l1, l2, l3), (m1, m2, m3), (I1, I2, I3) = (
        [value[f"{letter}{i}"] for i in (1, 2, 3)] for letter in "lmI"
    )
    x = [sum(l * sp.cos(a) for l, a in zip((l1, l2, l3)[:i], th)) for i in (1, 2, 3)]
    y = [sum(l * sp.sin(a) for l, a in zip((l1, l2, l3)[:i], th)) for i in (1, 2, 3)]
    squares = [
        sum(sum(sp.diff(z, a) * da for a, da in zip(th, w)) ** 2 for z in (x[i], y[i]))
        for i in range(3)
    ]
    assert equal(
        squares,
        [
            l1**2 * w[0] ** 2,
            l1**2 * w[0] ** 2
            + l2**2 * w[1] ** 2
            + 2 * l1 * l2 * w[0] * w[1] * sp.cos(th[0] - th[1]),
            l1**2 * w[0] ** 2
            + l2**2 * w[1] ** 2
            + l3**2 * w[2] ** 2
            + 2 * l1 * l2 * w[0] * w[1] * sp.cos(th[0] - th[1])
            + 2 * l1 * l3 * w[0] * w[2] * sp.cos(th[0] - th[2])
            + 2 * l2 * l3 * w[1] * w[2] * sp.cos(th[1] - th[2]),
        ],
    )
    L_53 = (
        (m1 + m2 + m3) * l1**2 * w[0] ** 2 / 2
        + (m2 + m3) * l2**2 * w[1] ** 2 / 2
        + m3 * l3**2 * w[2] ** 2 / 2
        + (m2 + m3) * l1 * l2 * w[0] * w[1] * sp.cos(th[0] - th[1])
        + m3 * l1 * l3 * w[0] * w[2] * sp.cos(th[0] - th[2])
        + m3 * l2 * l3 * w[1] * w[2] * sp.cos(th[1] - th[2])
        + I1 * w[0] ** 2 / 2
        + I2 * w[1] ** 2 / 2
        + I3 * w[2] ** 2 / 2
        - (m1 + m2 + m3) * value["g"] * l1 * sp.sin(th[0])
        - (m2 + m3) * value["g"] * l2 * sp.sin(th[1])
        - m3 * value["g"] * l3 * sp.sin(th[2])
    )
    assert equal([found], [L_53])


def test_seed_001_equations_66_to_77_springs():
    """(22) with (66)-(77) as corrected at the head of `penalty`: inertia times w' is Q - beta A^T
    (f + gamma f').
    """
    mech = triple_pendulum()
    beta = sp.Rational(321)
    gamma = sp.Rational(1, 32)
    e = penalty(mech, beta=float(beta), gamma=float(gamma))
    th = sp.symbols("theta1:4")
    x2, y2, x3, y3, u2, v2_, u3, v3, w1, w2, w3 = sp.symbols("x2 y2 x3 y3 u2 v2 u3 v3 w1 w2 w3")
    tau = sp.symbols("tau1:4")
    p = sp.symbols(" ".join(mech.parameters))
    x = [th[0], x2, y2, th[1], x3, y3, th[2], w1, u2, v2_, w2, u3, v3, w3]
    found = sx_to_sympy(e.derivative, [[sp.Symbol("t")], x, list(tau), list(p)])[0][0]
    value = dict(zip(map(str, p), p))
    (m1, m2, m3), (l1, l2, l3), (I1, I2, I3) = (
        [value[f"{letter}{i}"] for i in (1, 2, 3)] for letter in "mlI"
    )
    (s1, s2, s3), (c1, c2, c3), g = map(sp.sin, th), map(sp.cos, th), value["g"]
    # (67)
    f = sp.Matrix(
        [x2 - l1 * c1 - l2 * c2, y2 - l1 * s1 - l2 * s2, x3 - x2 - l3 * c3, y3 - y2 - l3 * s3]
    )
    y = [th[0], th[1], th[2], x2, y2, x3, y3]
    rates = sp.Matrix([w1, w2, w3, u2, v2_, u3, v3])
    K = f.jacobian(y)  # (68)
    # (69)
    Q = sp.Matrix(
        [tau[0] - tau[1] - m1 * g * l1 * c1, tau[1] - tau[2], tau[2], 0, -m2 * g, 0, -m3 * g]
    )
    weight = [I1 + m1 * l1**2, I2, I3, m2, m2, m3, m3]  # (70)-(76)
    right = Q - beta * K.T * (f + gamma * K * rates)  # (77)
    order = [0, 3, 4, 1, 5, 6, 2]
    assert list(found[:7]) == x[7:]
    assert equal(
        [found[7 + k] * weight[order[k]] for k in range(7)], [right[order[k]] for k in range(7)]
    )


# --- seeds 002, 003, 004
OMEGA = [Z * v1, STEP[1].T * (Z * v1) + Z * v2]  # of the links along their own axes
POSITION = [C_N[0] * c[0], C_N[0] * L + C_N[1] * c[1]]  # of the mass centres


def rate(x) -> sp.Matrix:
    """d/dt along the motion."""
    x = sp.Matrix(x)
    return sum(
        (x.diff(z) * dz for z, dz in ((q1, v1), (q2, v2), (v1, a1), (v2, a2))), sp.zeros(*x.shape)
    )


def test_seed_002_equations_30_to_32_variations_of_vectors():
    """-D(omega.I).theta - D(m V).delta p + m g.delta p = 0 with theta, delta p by (31), (32),
    beside the motors; g in its own frame, (26) mended.
    """
    statement = derive(spatial_arm(), "variational").readable()
    roles = {
        "t": [sp.Symbol("t")],
        "q": [q1, q2],
        "v": [v1, v2],
        "a": [a1, a2],
        "tau": list(sp.symbols("tau1 tau2")),
        "p": PARAMETERS,
        "lam": [],
    }
    left, right = sx_to_sympy(statement.tape, [roles[role] for role in statement.roles])[0]
    V = [rate(x) for x in POSITION]
    for k, u in enumerate((v1, v2)):
        work = sum(
            (
                (rate(C_N[i] * I[i] * OMEGA[i]).T * (C_N[i] * OMEGA[i]).diff(u))[0]
                + (rate(m[i] * V[i]).T * V[i].diff(u))[0]
                - m[i] * (gravity.T * V[i].diff(u))[0]
                for i in range(2)
            ),
            sp.Integer(0),
        )
        assert vanishes(left[k] - right[k] - (work - sp.symbols("tau1 tau2")[k]))


def test_seed_003_equations_2_4_to_3_29_partial_velocities():
    """The arrays omega_ijk, V_ijk with their rates, and A_rj, f_r of (3.27), (3.29) mended."""
    s = Tracer(layout(spatial_arm()))
    moving = passerello.bodies(s)
    S0K = C_N  # (1.13)
    # (2.4), columns j
    w_ijk = [sp.Matrix.hstack(Z, sp.zeros(3, 1)), sp.Matrix.hstack(Z, S0K[0] * Y)]
    W0K = [skew(w * sp.Matrix([v1, v2])) for w in w_ijk]  # (1.29)
    dS0K = [W0K[i] * S0K[i] for i in range(2)]  # (1.28)
    dw_ijk = [sp.zeros(3, 2), sp.Matrix.hstack(sp.zeros(3, 1), dS0K[0] * Y)]  # (2.6)

    def WSK(k: int, j: int, xi) -> sp.Matrix:
        return skew(w_ijk[k][:, j]) * S0K[k] * xi  # (2.19), mended

    def dWSK(k: int, j: int, xi) -> sp.Matrix:
        # (2.23), mended
        return skew(dw_ijk[k][:, j]) * S0K[k] * xi + skew(w_ijk[k][:, j]) * dS0K[k] * xi

    # (2.18)
    V = [
        sp.Matrix.hstack(*(WSK(0, j, c[0]) for j in range(2))),
        sp.Matrix.hstack(*(WSK(0, j, L) + WSK(1, j, c[1]) for j in range(2))),
    ]
    # (2.22)
    dV = [
        sp.Matrix.hstack(*(dWSK(0, j, c[0]) for j in range(2))),
        sp.Matrix.hstack(*(dWSK(0, j, L) + dWSK(1, j, c[1]) for j in range(2))),
    ]
    # (3.24)
    speed = sp.Matrix([v1, v2])
    I_0 = [S0K[i] * I[i] * S0K[i].T for i in range(2)]
    for i, b in enumerate(moving.rigid):
        assert equal(ours(s, b.G.w), w_ijk[i]) and equal(ours(s, b.G.V), V[i])
        # (2.26), (2.29)
        assert equal(ours(s, b.G.dw @ s.v), dw_ijk[i] * speed) and equal(
            ours(s, b.G.dV @ s.v), dV[i] * speed
        )
    # (3.28)
    A_rj = sum(
        (m[i] * V[i].T * V[i] + w_ijk[i].T * I_0[i] * w_ijk[i] for i in range(2)), sp.zeros(2)
    )
    assert equal(ours(s, passerello.inertia(s, moving)), A_rj)
    omega = [w * speed for w in w_ijk]
    f_r = -sum(
        (
            m[i] * V[i].T * dV[i] * speed
            + w_ijk[i].T * (I_0[i] * dw_ijk[i] * speed + skew(omega[i]) * I_0[i] * omega[i])
            for i in range(2)
        ),
        sp.zeros(2, 1),
    )  # (3.29)
    # (3.2), (3.18)
    F_r = sum((V[i].T * m[i] * gravity for i in range(2)), sp.Matrix(sp.symbols("tau1 tau2")))
    assert equal(ours(s, passerello.forces(s, moving)), f_r + F_r)


def test_seed_004_equations_4_1_to_4_31_two_passes():
    """v_i, a_i outwards, F_i, f_i inwards, tau_i = phi_i^T f_i; the plus before phi_i q_i'' that
    (4.19), (4.20) lost is put back.
    """
    s = Tracer(layout(spatial_arm()))
    A_i = [x.T for x in STEP]  # iA_(i-1)
    b_i = [sp.zeros(3, 1), L]
    phi = [sp.Matrix([*Z, 0, 0, 0])] * 2
    # the ground accelerates against gravity
    v = sp.zeros(6, 1)
    a = sp.Matrix([0, 0, 0, *(-gravity)])
    F = []
    rates = (v1, v2)
    accelerations = (a1, a2)
    for i in range(2):
        X = sp.Matrix([[A_i[i], sp.zeros(3)], [A_i[i] * skew(b_i[i]).T, A_i[i]]])  # (4.8)
        w_before = v[:3, :]
        turned = phi[i][:3, :] * rates[i]
        # (4.12), (4.17)
        bias = sp.Matrix(
            [
                *(skew(A_i[i] * w_before) * turned),
                *(A_i[i] * skew(w_before) * skew(w_before) * b_i[i]),
            ]
        )
        # (4.7), (4.10)
        v = X * v + phi[i] * rates[i]
        a = X * a + phi[i] * accelerations[i] + bias
        w = sp.Matrix(v[:3])
        # (4.36), (4.3)
        I_bar = I[i] - m[i] * skew(c[i]) * skew(c[i])
        h = m[i] * skew(c[i])
        I_i = sp.Matrix([[I_bar, h], [h.T, m[i] * sp.eye(3)]])  # (4.1)
        # (4.21)
        F.append(I_i * a + sp.Matrix([*(skew(w) * I_bar * w), *(m[i] * skew(w) * skew(w) * c[i])]))
    f_2 = F[1]
    out = sp.Matrix([[A_i[1].T, skew(L) * A_i[1].T], [sp.zeros(3), A_i[1].T]])
    f_1 = F[0] + out * f_2  # (4.23)
    assert equal(ours(s, s.inverse_dynamics()), [phi[0].dot(f_1), phi[1].dot(f_2)])  # (4.24)
