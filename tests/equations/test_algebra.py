"""The algebra of variations: every identity of [Everett1988] eq. 3-24 and 28-30 on random frames
that turn in time.

Expressions are not simplified but evaluated: each function of time, each derivative of it, and
time, gets a random value.
"""

from __future__ import annotations

import doctest

import numpy as np
import pytest
import sympy as sm
from sympy.physics.mechanics import KanesMethod, Point, RigidBody, dynamicsymbols, inertia
from sympy.physics.vector import Dyadic, Vector

from catena.equations import algebra
from catena.equations.algebra import (
    frames,
    partials,
    passerello_huston,
    rows,
    variation,
    virtual,
    virtual_displacement,
    virtual_rotation,
)
from catena.errors import FormulationError
from turning_frames import SEEDS, Q, t, turning, values


def numbers(x, frame, seed=0):
    """The components of a vector (3) or a dyadic (3 x 3) along the axes of a frame; turned there as
    numbers.
    """
    if isinstance(x, Vector):
        return sum(
            (
                values(*frame.dcm(f), seed=seed).reshape(3, 3) @ values(*part, seed=seed)
                for part, f in x.args
            ),
            np.zeros(3),
        )
    axes = {a: numbers(a, frame, seed) for a in {a for _, *pair in x.args for a in pair}}
    scalars = values(*(s for s, _, _ in x.args), seed=seed)
    return sum(s * np.outer(axes[a], axes[b]) for s, (_, a, b) in zip(scalars, x.args))


def same(x, y, frame, seed=0):
    """Whether two vectors or dyadics are equal."""
    expected = numbers(y, frame, seed)
    assert np.abs(expected).max() > 1e-3  # nothing is proved by zeros
    np.testing.assert_allclose(numbers(x, frame, seed), expected, rtol=1e-11, atol=1e-11)


def some_vector(seed, *along):
    """A vector with a share along the axes of each frame given."""
    rng = np.random.default_rng(seed + 50)
    q = sm.Matrix(Q)
    k = lambda: sm.Rational(int(rng.integers(1, 9)), 4)  # noqa: E731
    return sum(
        (
            (k() * q[0] * q[1] + k() * t) * f.x
            + k() * q[2] * f.y
            + (k() + q[0] ** 2 + k() * q[1]) * f.z
            for f in along
        ),
        Vector(0),
    )


# --- variations (4)-(14)
@pytest.mark.parametrize("seed", SEEDS)
def test_absolute_and_relative_variation(seed):
    N, A, B, _ = turning(seed)
    V = some_vector(seed, A, B)
    # (4), (5): the components are varied; `express` brings the transformation that the algebra
    # avoids
    for R in (N, B):
        components = V.express(R).to_matrix(R)
        defined = sum((variation(c) * e for c, e in zip(components, (R.x, R.y, R.z))), Vector(0))
        same(variation(V, in_frame=R), defined, N, seed)
    # (6)
    same(
        variation(V, in_frame=N),
        variation(V, in_frame=B) + virtual_rotation(B, N).cross(V),
        N,
        seed,
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_virtual_rotation(seed):
    N, A, B, _ = turning(seed)
    same(virtual_rotation(N, B), -virtual_rotation(B, N), N, seed)
    same(virtual_rotation(B, N), virtual_rotation(A, N) + virtual_rotation(B, A), N, seed)
    R = N.dcm(B)  # delta R = theta x R
    skew = R.applyfunc(variation) * R.T
    same(virtual_rotation(B, N), skew[2, 1] * N.x + skew[0, 2] * N.y + skew[1, 0] * N.z, N, seed)


@pytest.mark.parametrize("seed", SEEDS)
def test_variation_and_differentiation(seed):
    _, A, B, C = turning(seed)
    V = some_vector(seed, C)
    # they commute in one and the same frame
    same(variation(V.dt(A), in_frame=A), variation(V, in_frame=A).dt(A), A, seed)
    mixed = variation(V.dt(B), in_frame=A)
    turned = variation(A.ang_vel_in(B), in_frame=A)
    same(mixed, variation(V, in_frame=A).dt(B) + turned.cross(V), A, seed)  # (7)
    # (8)
    same(variation(V, in_frame=A).dt(B), mixed + virtual_rotation(B, A).dt(B).cross(V), A, seed)
    same(virtual_rotation(A, B).dt(B), turned, A, seed)  # (9)
    # in two frames they do not
    assert np.abs(numbers(mixed - variation(V, in_frame=A).dt(B), A)).max() > 1e-2


@pytest.mark.parametrize("seed", SEEDS)
def test_variation_of_a_dyadic(seed):
    N, A, B, C = turning(seed)
    rng = np.random.default_rng(seed)
    I = Dyadic(0)
    relative = Dyadic(0)
    for a in (A.x, A.y, A.z):  # (10)
        for b in (B.x, B.y, B.z):
            scalar = int(rng.integers(1, 5)) * Q[0] * Q[2] + int(rng.integers(1, 5)) * Q[1] + t
            I = I + scalar * (a | b)
            relative = relative + variation(scalar) * (a | b)
    found = variation(I, in_frame=C)
    # (14)
    same(
        found, relative + virtual_rotation(A, C).cross(I) - I.cross(virtual_rotation(B, C)), N, seed
    )
    components = I.to_matrix(C).applyfunc(variation)
    np.testing.assert_allclose(
        numbers(found, C, seed).ravel(), values(*components, seed=seed), rtol=1e-11
    )


# --- speeds (1)-(3), (15)-(24)
U = dynamicsymbols("u1:4")
W = sm.Matrix([[1, Q[1], 0], [sm.sin(Q[2]), 2, 0], [0, Q[0], 1 + t]])
X = sm.Matrix([t, Q[0], 1])
A_RS = sm.Matrix([[Q[2], sm.cos(Q[0])]])
B_R = t * Q[1]
RATES = {q.diff(t): rate for q, rate in zip(Q, W * sm.Matrix(U) + X)}  # (1)
ROW = {U[2]: (A_RS * sm.Matrix(U[:2]))[0] + B_R}  # (2)
ALONG_SPEEDS = {virtual(q): x for q, x in zip(Q, W * sm.Matrix([virtual(u) for u in U]))}  # (18)
ALONG_ROW = {virtual(U[2]): (A_RS * sm.Matrix([virtual(u) for u in U[:2]]))[0]}  # (21)


@pytest.mark.parametrize("seed", SEEDS)
def test_virtual_displacements_and_rotations_by_speeds(seed):
    N, A, B, _ = turning(seed)
    p = some_vector(seed, A, B)
    for moved, velocity in ((variation(p, N), p.dt(N)), (virtual_rotation(B, N), B.ang_vel_in(N))):
        V = velocity.subs(RATES)  # (17)
        same(moved.subs(ALONG_SPEEDS), virtual_displacement(V, U), N, seed)  # (19), (23), (24)
        # (22)-(24)
        same(moved.subs(ALONG_SPEEDS).subs(ALONG_ROW), virtual_displacement(V, U[:2], ROW), N, seed)
    direct = sum((p.diff(q, N) * virtual(q) for q in Q), Vector(0))
    same(variation(p, N), direct, N, seed)  # (16)


def sleigh():
    """A body on a plane with a blade across which it cannot slip; u = speeds along and across the
    blade, and of turning.

    y |    / u1
      |   /====  q3
      +-------- x         u2 (across) = s, a slip that is given
    """
    q, u, (m, J, a, s) = dynamicsymbols("q1:4"), dynamicsymbols("u1:4"), sm.symbols("m J a s")
    N, B = frames("N B")
    B.orient_axis(N, N.z, q[2])
    # of (along, turning, across)
    W = sm.Matrix([[sm.cos(q[2]), 0, -sm.sin(q[2])], [sm.sin(q[2]), 0, sm.cos(q[2])], [0, 1, 0]])
    O, G = Point("O"), Point("G")
    G.set_pos(O, q[0] * N.x + q[1] * N.y + a * B.x)
    rates = {x.diff(t): y for x, y in zip(q, W * sm.Matrix(u))}
    return N, B, O, G, q, u, W, rates, m, J, s


def test_passerello_huston():
    """(3) equals SymPy's generalised inertia forces of a nonholonomic sleigh, sign included."""
    N, B, O, G, q, u, W, rates, m, J, s = sleigh()
    V = G.pos_from(O).dt(N)
    T = m * V.dot(V) / 2 + J * q[2].diff(t) ** 2 / 2
    second = {x.diff(t, 2): y.diff(t).subs(rates) for x, y in rates.items() for x in [x.expr]}
    slip = {u[2].diff(t): 0, u[2]: s}
    found = passerello_huston(T, q, W, A=[[0, 0]])
    B.set_ang_vel(N, u[1] * N.z)
    O.set_vel(N, 0)
    G.set_vel(N, V.subs(rates))
    body = RigidBody("sleigh", G, B, m, (inertia(B, 0, 0, J), G))
    method = KanesMethod(
        N,
        q,
        u[:2],
        kd_eqs=[x - y for x, y in rates.items()],
        u_dependent=[u[2]],
        velocity_constraints=[u[2] - s],
    )
    _, inertial = method.kanes_equations([body], [(G, sm.S.Zero * N.x)])
    for mine, kane in zip(found, inertial):
        n = values(mine.subs(second).subs(rates).subs(slip), kane.subs(slip))
        assert n[0] == pytest.approx(n[1], rel=1e-11) and abs(n[0]) > 1e-3


# --- equations of motion (28)-(32)
def arm():
    """Two links in space: link A turns about the vertical, link B about A's y axis at A's end."""
    q = dynamicsymbols("q1:3")
    u = dynamicsymbols("u1:3")
    l, a, b, g, *m = sm.symbols("l a b g m_A m_B", positive=True)
    N, A, B = frames("N A B")
    A.orient_axis(N, N.z, q[0])
    B.orient_axis(A, A.y, q[1])
    O = Point("O")
    elbow = O.locatenew("elbow", l * A.x)
    GA = O.locatenew("GA", a * A.x)
    GB = elbow.locatenew("GB", b * B.x)
    O.set_vel(N, 0)
    bodies = []
    for f, G, mass in ((A, GA, m[0]), (B, GB, m[1])):
        I = inertia(f, *sm.symbols(f"I_{f.name}x I_{f.name}y I_{f.name}z"))
        bodies.append(RigidBody(f"link {f.name}", G, f, mass, (I, G)))
    return N, A, B, O, q, u, bodies, -g * N.z, {x.diff(t): y for x, y in zip(q, u)}


def test_integration_by_parts():
    """(28)-(30): delta T is a total derivative less the rates of the momenta along the virtual
    displacements.
    """
    N, _, _, O, _, _, bodies, _, _ = arm()
    for body in bodies:
        w = body.frame.ang_vel_in(N)
        p = body.masscenter.pos_from(O)
        h = body.central_inertia.dot(w)
        P = body.mass * p.dt(N)
        theta = virtual_rotation(body.frame, N)
        moved = variation(p, N)
        T = w.dot(h) / 2 + P.dot(P) / (2 * body.mass)  # (25)
        varied = h.dot(variation(w, body.frame)) + P.dot(variation(p.dt(N), N))  # (28)
        # (30)
        through = (h.dot(theta) + P.dot(moved)).diff(t) - h.dt(N).dot(theta) - P.dt(N).dot(moved)
        n = values(variation(T), varied, through)
        np.testing.assert_allclose(n, n[0], rtol=1e-11)


def test_kanes_equations_are_the_special_case():
    """Symbolically: (30) collected by speed is F_r + F*_r, whichever frame the weights are varied
    in.
    """
    N, A, B, O, q, u, bodies, gravity, rates = arm()
    for f, k in ((A, N.z), (B, A.y)):
        f.set_ang_vel({A: N, B: A}[f], u[{A: 0, B: 1}[f]] * k)
    for body in bodies:
        body.masscenter.set_vel(N, body.masscenter.pos_from(O).dt(N).subs(rates))
    method = KanesMethod(N, q, u, kd_eqs=[x - y for x, y in rates.items()])
    active, inertial = method.kanes_equations(
        bodies, [(b.masscenter, b.mass * gravity) for b in bodies]
    )
    for j in (N, A, B):
        found = rows(bodies, gravity, u, N, O, varied=j)
        for r in range(2):
            assert sm.simplify((found[r] - active[r] - inertial[r]).subs(rates)) == 0


def test_what_is_refused():
    N, A = frames("N, A")
    q, u = dynamicsymbols("q u")
    A.orient_axis(N, N.z, q)
    with pytest.raises(FormulationError, match=r"in which frame\?"):
        variation(q * A.x)
    with pytest.raises(FormulationError, match="no coordinate"):
        virtual(sm.Symbol("q"))
    with pytest.raises(FormulationError, match="no name"):
        frames(" ")
    with pytest.raises(FormulationError, match="not linear in u"):
        partials(u**2 * N.x, [u])
    with pytest.raises(FormulationError, match="1 coordinates want W of 1 x 1"):
        passerello_huston(q.diff() ** 2, [q], sm.eye(2))
    A.set_ang_vel(N, u * N.z)
    with pytest.raises(FormulationError, match=r"without the rate of q\(t\).*ang_vel_in"):
        variation(A.x, in_frame=N)


def test_a_frame_that_is_driven_does_not_vary():
    N, A = frames("N A")
    q, r = dynamicsymbols("q r")
    A.orient_axis(N, N.z, q)
    assert variation(r * A.x, in_frame=N, coordinates=[r]) == virtual(r) * A.x
    assert frames("Z").name == "Z"


def test_the_documentation_runs():
    assert doctest.testmod(algebra).failed == 0
