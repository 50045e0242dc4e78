"""The kinetic energy of a flexible body in [Everett1988], eq. 33-41, for one particle: the integral
over the body adds them up.

A particle of the neutral body is at n, deflected by v along the axes of B, which turn in the
inertial frame A. Its kinetic energy can be varied term by term, every term in a frame of its own
choice (38); all that the frames add goes out (39)-(41).
"""

from __future__ import annotations

import pytest
import sympy as sm
from sympy.physics.vector import dot, dynamicsymbols

from catena.equations.algebra import frames, variation, virtual_rotation
from turning_frames import SEEDS, turning, values

A, B, C, I, J, K, L, M = frames("A B C I J K L M")
Q = dynamicsymbols("q1:9")
X = dynamicsymbols("x1:4")
V = dynamicsymbols("v1:4")
N = sm.symbols("n1:4")


@pytest.fixture(scope="module", autouse=True)
def oriented():
    """Eight frames, each turned by an angle of its own; B in A about two axes, the others about
    one.
    """
    B.orient_body_fixed(A, (Q[0], Q[1], 0), "ZXZ")
    for frame, before, axis, q in (
        (C, A, A.x, Q[2]),
        (I, B, B.y, Q[3]),
        (J, A, A.z, Q[4]),
        (K, A, A.y, Q[5]),
        (L, B, B.z, Q[6]),
        (M, A, A.x, Q[7]),
    ):
        frame.orient_axis(before, axis, q)


def particle(A, B):
    """V_n, omega x v, BD v of a particle at x + n + v: x along A, n and v along B."""
    v = sum((a * e for a, e in zip(V, (B.x, B.y, B.z))), 0 * B.x)
    n = sum((a * e for a, e in zip(N, (B.x, B.y, B.z))), 0 * B.x)
    x = sum((a * e for a, e in zip(X, (A.x, A.y, A.z))), 0 * A.x)
    return (x + n).dt(A), B.ang_vel_in(A).cross(v), v.dt(B), (x + n + v).dt(A)


def expanded(V_n, turned, grown, A, i, j, k, l, m):
    """delta KE with each term of (37) varied in a frame of its own, (38)."""

    def delta(x, frame):
        return variation(x, in_frame=frame)

    return (
        dot(V_n, delta(V_n, A))
        + dot(turned, delta(turned, l))
        + dot(grown, delta(grown, m))
        + dot(delta(V_n, i), turned)
        + dot(V_n, delta(turned, i))
        + dot(delta(V_n, j), grown)
        + dot(V_n, delta(grown, j))
        + dot(delta(grown, k), turned)
        + dot(grown, delta(turned, k))
    )


def zero(expression):
    """Whether an expression of sines and cosines is zero: as a polynomial with cos^2 = 1 -
    sin^2.
    """
    found = sm.expand(expression)
    angles = {f.args[0] for f in found.atoms(sm.sin, sm.cos)}
    for q in angles:
        s, c = sm.Dummy("s"), sm.Dummy("c")
        found = sm.expand(found.xreplace({sm.sin(q): s, sm.cos(q): c}))
        found = sm.expand(
            sm.rem(sm.Poly(found, c), sm.Poly(c**2 + s**2 - 1, c)).as_expr()
        ).xreplace({s: sm.sin(q), c: sm.cos(q)})
    return sm.expand(found) == 0


def test_eq_36_and_37_the_energy_multiplied_out():
    V_n, turned, grown, V_p = particle(A, B)
    assert (V_p - (V_n + turned + grown)).express(B).simplify() == 0 * B.x
    terms = (
        dot(V_n, V_n)
        + dot(turned, turned)
        + dot(grown, grown)
        + 2 * (dot(V_n, grown) + dot(V_n, turned) + dot(grown, turned))
    )
    assert zero(dot(V_p, V_p) - terms)


def test_eq_41_the_expanded_variation_collapses_to_the_compact_one():
    V_n, turned, grown, V_p = particle(A, B)
    compact = dot(V_p, variation(V_p, in_frame=A))
    assert zero(expanded(V_n, turned, grown, A, I, J, K, L, M) - compact)


def test_eq_39_and_40_what_the_frames_add_goes_out():
    """Changing each term's frame to C adds theta's, whose products with the same vector twice
    vanish.
    """
    V_n, turned, grown, V_p = particle(A, B)

    def theta(frame):
        return virtual_rotation(C, in_frame=frame)

    added = (
        dot(turned, theta(L).cross(turned))
        + dot(V_n, theta(I).cross(turned))
        + dot(grown, theta(K).cross(turned))
        + dot(grown, theta(M).cross(grown))
        + dot(V_n, theta(J).cross(grown))
        + dot(theta(K).cross(grown), turned)
        + dot(turned, theta(I).cross(V_n))
        + dot(grown, theta(J).cross(V_n))
    )
    assert zero(added)
    in_C = dot(V_p, variation(turned + grown + V_n, in_frame=C)) - dot(
        V_n, variation(V_n, in_frame=C)
    )
    assert zero(
        dot(V_n, variation(V_n, in_frame=A))
        + in_C
        + added
        - expanded(V_n, turned, grown, A, I, J, K, L, M)
    )


@pytest.mark.parametrize("seed", SEEDS)
def test_eq_41_in_frames_that_turn_in_a_chain_and_in_time(seed):
    a, b, c, d = turning(seed, "A B C D")
    V_n, turned, grown, V_p = particle(a, b)
    compact = dot(V_p, variation(V_p, in_frame=a))
    found = values(expanded(V_n, turned, grown, a, c, d, b, d, c), compact, seed=seed)
    assert abs(found[1]) > 1e-3
    assert found[0] == pytest.approx(found[1], rel=1e-10)
