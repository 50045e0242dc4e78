"""The meeting of two smooth or sharp features of convex shapes, by support functions, as
expressions over scalars of any kind.

    h(n) = n . p + |Q' n|        a feature: a point p with half axes Q (3, 3) about it; optionally a
                                 line along l through it
    gap  = max over unit n of  n . (p_A - p_B) - |Q_A' n| - |Q_B' n|,
            n across the lines of both; n leads from B to A

    corner   Q = 0               rim        Q = R (x, y, 0)              edge   a corner with a line
    ball   Q = r 1  ellipsoid  Q = its half axes  side   of a capsule or cylinder: a rim with a line
    face     a corner whose n is given

If n is in the normal cones of both features, these are the nearest of the two shapes, because they
are convex; `margin` reaches zero where n leaves them. n is given by a face or by two lines, or
found by Newton's method in the plane n0 + x t1 + y t2 (one unknown if there is one line): f(m) /
|m| with f(m) = m . r - |Q_A' m| - |Q_B' m|, all of it in products of the columns of Q' (n0, t1,
t2). The steps are unrolled, and derivatives pass through them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..spatial import add, cross, dot, larger, rotate, scale, smaller, sqrt, sub, unrotate

# Newton steps from within the `turn` of a pair; before the last two only rounding remains, and
# these remove it from derivatives too.
NEWTON_STEPS = 7
# Half-spaces of a normal cone, and sides of a face, that have guards.
WATCHED_HALF_SPACES = 4
SIZES = {
    "key": 1,
    "p_a": 3,
    "Q_a": 9,
    "p_b": 3,
    "Q_b": 9,
    "l_a": 3,
    "l_b": 3,
    "start": 3,
    "across": 3,
    "own": 1,
    "free": 2,
    "soft": 2,
    "turn": 1,
    "cone_a": 4 * WATCHED_HALF_SPACES,
    "cone_b": 4 * WATCHED_HALF_SPACES,
    "span_a": 2,
    "span_b": 2,
    "sides": 4 * WATCHED_HALF_SPACES,
    "round": 1,
    "flat": 4,
    "along_a": 3,
    "along_b": 3,
    "parallel": 1,
    "size": 1,
}


class SupportPair(NamedTuple):
    """Two features in numbers, each in the axes of its body, as the mode of a contact point stores
    them.

    key: identifies the features, 0 for none. p, Q (by columns), l: see above; l is zero if there is
    no line. start, across: the initial or given normal, and a direction across it, on A if own = 1,
    else on B. free (2,): 1 if x, or y, is an unknown. soft (2,): added to |Q' n|^2, so that no root
    of zero is taken. turn: the bound of x and y. cone_a, cone_b (4 x 4): guards c . n + k >= 0 for
    the outward normal of A, of B. span_a, span_b (2,): both ends of a line, m. sides (4 x 4):
    guards c . x + k >= 0 for the other shape's point x on the face, from its p; round: one over the
    squared radius of a circle about p. flat (2 x 2): (0, 1/R^2) for a rim, else (1, 0). along_a,
    along_b, parallel: directions the sine of whose angle must stay below parallel^-1/2. size: one
    over the size, 1/m.
    """

    key: Any
    p_a: Any
    Q_a: Any
    p_b: Any
    Q_b: Any
    l_a: Any
    l_b: Any
    start: Any
    across: Any
    own: Any
    free: Any
    soft: Any
    turn: Any
    cone_a: Any
    cone_b: Any
    span_a: Any
    span_b: Any
    sides: Any
    round: Any
    flat: Any
    along_a: Any
    along_b: Any
    parallel: Any
    size: Any

    @staticmethod
    def of(x: Sequence[Any]) -> SupportPair:
        """Return the pair from a flat list of numbers or symbols."""
        found, at = [], 0
        for count in SIZES.values():
            found.append(x[at] if count == 1 else tuple(x[at : at + count]))
            at += count
        return SupportPair(*found)


class SupportMeet(NamedTuple):
    """A meeting of two features: gap, m; normal and tangents; place on A; along (2,): coordinates
    on each line, m; margin: reaches zero where other features become the nearest, or Newton's
    method should start elsewhere.
    """

    gap: Any
    axes: tuple[Any, Any, Any]
    place: Any
    along: tuple[Any, Any]
    margin: Any


# Squared sine of the angle between a normal and a rim's axis, below which the rim is flat and has
# no unique point.
FLAT_RIM_SQUARED_SINE = 1e-10


def support_meet(f: SupportPair, A: tuple[Any, Any], B: tuple[Any, Any]) -> SupportMeet:
    """Return where the features of two bodies meet, each body given as (rotation by
    rows, origin).
    """
    (R_A, o_A), (R_B, o_B) = A, B
    a = add(o_A, rotate(R_A, f.p_a))
    b = add(o_B, rotate(R_B, f.p_b))
    lines = rotate(R_A, f.l_a), rotate(R_B, f.l_b)
    n0, t1, t2 = _frame(f, R_A, R_B, lines)
    r = sub(a, b)
    x, y = _newton(
        f,
        _products(f.Q_a, R_A, (n0, t1, t2)),
        _products(f.Q_b, R_B, (n0, t1, t2)),
        [dot(v, r) for v in (n0, t1, t2)],
    )
    m = add(n0, add(scale(x, t1), scale(y, t2)))
    n = scale(1.0 / sqrt(1.0 + x * x + y * y), m)
    h_a, to_a, square_a = _support(f.Q_a, f.soft[0], unrotate(R_A, n))
    h_b, to_b, square_b = _support(f.Q_b, f.soft[1], unrotate(R_B, n))
    a = sub(a, rotate(R_A, to_a))
    b = add(b, rotate(R_B, to_b))
    s, t = _along(f, lines, n, sub(a, b))
    first = cross(t2, n)  # perpendicular to n and t2
    first = scale(1.0 / sqrt(dot(first, first)), first)
    gap = dot(n, r) - h_a - h_b
    # the place on a face of A is that of B's point
    place = add(scale(1.0 - f.own, add(a, scale(s, lines[0]))), scale(f.own, add(b, scale(gap, n))))
    margin = _margin(
        f,
        (x, y),
        (s, t),
        (unrotate(R_A, n), unrotate(R_B, n)),
        _on_face(f, A, B, a, b, n),
        (square_a, square_b),
        _parallel(f, R_A, R_B),
    )
    return SupportMeet(gap, (n, first, cross(n, first)), place, (s, t), margin)


def _frame(f: SupportPair, R_A: Any, R_B: Any, lines: tuple[Any, Any]) -> tuple[Any, Any, Any]:
    """Return unit vectors n0, t1, t2, from which the normal m = n0 + x t1 + y t2 is searched for.
    n0 is perpendicular to the lines of both features; if only one has a line, t2 lies along it; if
    none has, n0 is the given start.
    """
    (la, lb), has_a, has_b = lines, dot(f.l_a, f.l_a), dot(f.l_b, f.l_b)
    both = has_a * has_b
    one = has_a + has_b - 2.0 * has_a * has_b
    given = [
        add(scale(f.own, rotate(R_A, v)), scale(1.0 - f.own, rotate(R_B, v)))
        for v in (f.start, f.across)
    ]
    l = add(scale(1.0 - has_b, la), lb)
    c = add(
        scale(both, cross(la, lb)),
        scale(1.0 - both, sub(given[0], scale(one * dot(given[0], l), l))),
    )
    n0 = scale(1.0 / sqrt(dot(c, c)), c)
    t2 = add(l, scale(1.0 - both - one, cross(*given)))
    return n0, cross(t2, n0), t2


def _products(Q: Any, R: Any, frame: tuple[Any, Any, Any]) -> tuple[Any, ...]:
    """Return the scalar products of the columns of Q' (n0, t1, t2), in the order 00, 01, 02, 11,
    12, 22.
    """
    q = [_times(Q, unrotate(R, v)) for v in frame]
    return tuple(dot(q[i], q[j]) for i in range(3) for j in range(i, 3))


def _times(Q: Any, n: Any) -> Any:
    """Return the product Q' n of a matrix, given by its columns, and a vector."""
    return tuple(dot(Q[k : k + 3], n) for k in (0, 3, 6))


def _support(Q: Any, soft: Any, n: Any) -> tuple[Any, Any, Any]:
    """Return the support function |Q' n| of a feature, the point Q Q' n / |Q' n| at which it is
    reached, and |Q' n|^2.
    """
    q = _times(Q, n)
    square = dot(q, q)
    k = 1.0 / sqrt(square + soft)
    return (
        square * k,
        scale(k, add(scale(q[0], Q[0:3]), add(scale(q[1], Q[3:6]), scale(q[2], Q[6:9])))),
        square,
    )


def _newton(f: SupportPair, G_a: Any, G_b: Any, r: Any) -> tuple[Any, Any]:
    """Return the x and y at which the separation f(m) / |m| along m = n0 + x t1 + y t2 is largest,
    by Newton's method.
    """
    u, v = f.free
    x = y = 0.0 * r[0]
    for _ in range(NEWTON_STEPS):
        mu, (g, k1, k2, h11, h12, h22) = 1.0 + x * x + y * y, _slopes(f, G_a, G_b, r, x, y)
        beta = g / mu
        b1 = (k1 - 2.0 * beta * x) / mu
        b2 = (k2 - 2.0 * beta * y) / mu
        e1 = u * (k1 - beta * x)
        e2 = v * (k2 - beta * y)
        J11 = 1.0 - u - u * (h11 + beta + x * b1)
        J22 = 1.0 - v - v * (h22 + beta + y * b2)
        J12 = -u * v * (h12 + x * b2)
        J21 = -u * v * (h12 + y * b1)
        det = J11 * J22 - J12 * J21 + 1e-300
        x = _within(x - (J22 * e1 - J12 * e2) / det, 2.0 * f.turn)
        y = _within(y - (J11 * e2 - J21 * e1) / det, 2.0 * f.turn)
    return x, y


def _slopes(f: SupportPair, G_a: Any, G_b: Any, r: Any, x: Any, y: Any) -> tuple[Any, ...]:
    """Return the separation f(m) along m = n0 + x t1 + y t2, its derivatives by x and y, and minus
    its second derivatives.
    """
    g = r[0] + x * r[1] + y * r[2]
    k1 = r[1]
    k2 = r[2]
    h11 = 0.0
    h12 = 0.0
    h22 = 0.0
    for (g00, g01, g02, g11, g12, g22), soft in ((G_a, f.soft[0]), (G_b, f.soft[1])):
        c0 = g00 + x * g01 + y * g02
        c1 = g01 + x * g11 + y * g12
        c2 = g02 + x * g12 + y * g22
        square = c0 + x * c1 + y * c2
        k = 1.0 / sqrt(larger(square, 0.0) + soft)
        g = g - square * k
        k1 = k1 - c1 * k
        k2 = k2 - c2 * k
        d1, d2 = c1 * k, c2 * k
        h11 = h11 + k * (g11 - d1 * d1)
        h12 = h12 + k * (g12 - d1 * d2)
        h22 = h22 + k * (g22 - d2 * d2)
    return g, k1, k2, h11, h12, h22


def _within(x: Any, most: Any) -> Any:
    """Return x clamped to [-most, most]."""
    return larger(-most, smaller(x, most))


def _along(f: SupportPair, lines: tuple[Any, Any], n: Any, g: Any) -> tuple[Any, Any]:
    """Return the coordinates of the nearest points along each line, m."""
    (la, lb), has_a, has_b = lines, dot(f.l_a, f.l_a), dot(f.l_b, f.l_b)
    both = has_a * has_b
    k = both / (dot(cross(la, lb), n) + 1.0 - both)
    s = -(1.0 - has_b) * dot(la, g) - k * dot(cross(g, lb), n)
    return s, (1.0 - has_a) * dot(lb, g) - k * dot(cross(g, la), n)


def _on_face(f: SupportPair, A: Any, B: Any, a: Any, b: Any, n: Any) -> Any:
    """Return the vector from the p of a face to the other shape's point, in the axes of the face's
    body, without its component along the normal.
    """
    (R_A, o_A), (R_B, o_B) = A, B
    x = add(
        scale(f.own, sub(b, add(o_A, rotate(R_A, f.p_a)))),
        scale(1.0 - f.own, sub(a, add(o_B, rotate(R_B, f.p_b)))),
    )
    x = sub(x, scale(dot(n, x), n))
    return add(scale(f.own, unrotate(R_A, x)), scale(1.0 - f.own, unrotate(R_B, x)))


def _parallel(f: SupportPair, R_A: Any, R_B: Any) -> Any:
    """Return the margin of the guard that keeps along_a and along_b parallel."""
    c = cross(rotate(R_A, f.along_a), rotate(R_B, f.along_b))
    return 1.0 - f.parallel * dot(c, c)


def _margin(
    f: SupportPair, turned: Any, along: Any, n: Any, x: Any, squares: Any, parallel: Any
) -> Any:
    """Return the smallest of all guards, each without unit."""
    least = smaller(
        1.0 - (turned[0] * turned[0] + turned[1] * turned[1]) / (f.turn * f.turn), parallel
    )
    for k in range(0, 4 * WATCHED_HALF_SPACES, 4):
        least = smaller(least, f.cone_a[k + 3] - dot(f.cone_a[k : k + 3], n[0]))
        least = smaller(least, f.cone_b[k + 3] + dot(f.cone_b[k : k + 3], n[1]))
        least = smaller(least, f.size * (f.sides[k + 3] + dot(f.sides[k : k + 3], x)))
    for s, (begin, end) in zip(along, (f.span_a, f.span_b)):
        least = smaller(least, smaller(f.size * (s - begin), f.size * (end - s)))
    for k, square in zip((0, 2), squares):
        least = smaller(least, f.flat[k] + f.flat[k + 1] * square - FLAT_RIM_SQUARED_SINE)
    return smaller(least, 1.0 - f.round * dot(x, x))
