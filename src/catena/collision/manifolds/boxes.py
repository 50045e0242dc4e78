"""The contact manifold of two boxes: a fixed number of points with a common normal, over scalars of
any kind: symbols, lanes, or plain numbers.

    reference face    of the box along whose axis they overlap least; the common normal is its own
    incident face     of the other box, the one that faces it most
    points            of each edge of the incident face where it begins and where it ends within the
                      sides of the reference face, and the corners of the reference face within the
                      incident one; a corner that two edges share is there once
    crossing          where the axis of least overlap is across two edges, and at an angle to that
                      of the face: one point, the first. Faces that are almost parallel have the
                      crossings of their edges among their points, and a single point could not
                      support a box that stands

gap      along the normal; the least is minus the overlap in penetration, and positive while
         they are apart. A point that does not exist has an infinite gap: for boxes that are apart
         at their corners perhaps all
normal   from the first box to the second; d gap/dt = n . u, u the velocity of the second relative
         to the first at the point, exactly for corners of the incident face and for crossings,
         elsewhere up to the angle between the faces times the slip

Axes are those of [Ericson2005], 4.4.1; edges are clipped by the parameters of [Liang1984]. Nothing
branches on values.
"""

from __future__ import annotations

from typing import NamedTuple

from ...spatial import (
    add,
    dot,
    kernel,
    larger,
    neg,
    product,
    rotate,
    scale,
    select,
    smaller,
    sqrt,
    sub,
    transpose,
    unrotate,
)
from ..solids import Scalar, Solid, Vector, choose, half_edges, nonzero

# Points of a pair; at most eight of them exist at once.
POINTS = 12
# Lengths that differ by less, relative to the shapes' sizes, are equal: an axis is better than
# another by more than that, and sides that are flush within it do not cross.
ALIKE_RATIO = 1e-8
# Cosine of the angle between the normals of a crossing and of a face, above which the points of the
# face represent the crossing.
SAME_NORMAL_COSINE = 1.0 - 1e-5
# An overlap is shallow below this times the length within which lengths are equal; only then the
# points of a face represent a crossing.
SHALLOW_OVERLAP_FACTOR = 1e6
# Squared sine of the angle between edges, below which they have no common normal.
PARALLEL_EDGE_SQUARED_SINE = 1e-12
# The gap of a point that does not exist.
NO_POINT_GAP = float("inf")
# Larger than any length, m.
HUGE = 1e300
TURNS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
UNITS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
SIDES = ((-1.0, -1.0), (1.0, -1.0), (1.0, 1.0), (-1.0, 1.0))

Point = tuple[Scalar, Vector]
Points = tuple[Point, Point, Point, Point]
Matrix = tuple[Vector, Vector, Vector]


class Crossing(NamedTuple):
    """The crossing of two edges: the distance along their common normal, that normal from the first
    box to the second, the place, and how far both edges extend beyond it, m.
    """

    distance: Scalar
    normal: Vector
    place: Vector
    within: Scalar


@kernel
def box_manifold(one: Solid, two: Solid) -> tuple[Vector, tuple[Points, Points, Points]]:
    """Return the normal (3,) of two boxes, and their points (gap, place (3,)) in the frame of their
    poses: where edges begin or cross, where they end, and corners of the reference face, four of
    each.
    """
    g, h = half_edges(one), half_edges(two)
    F = product(transpose(one.R), two.R)  # rows: the axes of the first in those of the second
    E = transpose(F)  # rows: the axes of the second in those of the first
    w = unrotate(one.R, sub(two.p, one.p))
    back = neg(rotate(E, w))
    alike = ALIKE_RATIO * (g[0] + g[1] + g[2] + h[0] + h[1] + h[2])
    mine = _face_distances(w, E, g, h)
    yours = _face_distances(back, F, h, g)
    x = _crossing(w, E, g, h)
    along = _largest(mine)
    beside = _largest(yours)
    second = beside > along + alike
    n, points = _on_face(
        choose(second, yours, mine),
        choose(second, back, w),
        _chosen(second, F, E),
        choose(second, h, g),
        choose(second, g, h),
        alike,
    )
    R = _chosen(second, two.R, one.R)
    o = choose(second, two.p, one.p)
    n = rotate(R, n)
    m = rotate(one.R, x.normal)
    n = choose(second, neg(n), n)
    face = larger(along, beside)
    across = (
        smaller(
            smaller(x.distance - face - alike, x.within + alike),
            larger(SAME_NORMAL_COSINE - dot(m, n), -face - SHALLOW_OVERLAP_FACTOR * alike),
        )
        > 0.0
    )
    return choose(across, m, n), _all(
        points, R, o, across, x.distance, add(one.p, rotate(one.R, x.place))
    )


@kernel
def _all(points, R, o, across, distance, place):
    """Return all points in the frame of the poses; only the first if edges cross."""
    (a, b, c, d), (e, f, g, h), (i, j, k, l) = points
    first = _placed(a, R, o, across)
    return (
        (
            (select(across, distance, first[0]), choose(across, place, first[1])),
            _placed(b, R, o, across),
            _placed(c, R, o, across),
            _placed(d, R, o, across),
        ),
        (
            _placed(e, R, o, across),
            _placed(f, R, o, across),
            _placed(g, R, o, across),
            _placed(h, R, o, across),
        ),
        (
            _placed(i, R, o, across),
            _placed(j, R, o, across),
            _placed(k, R, o, across),
            _placed(l, R, o, across),
        ),
    )


@kernel
def _placed(point, R, o, across):
    """Return a point in the frame of the poses, with an infinite gap if edges cross."""
    return (select(across, NO_POINT_GAP, point[0]), add(o, rotate(R, point[1])))


@kernel
def _chosen(condition, A, B):
    """Return matrix A where the condition holds, else B."""
    return (
        choose(condition, A[0], B[0]),
        choose(condition, A[1], B[1]),
        choose(condition, A[2], B[2]),
    )


@kernel
def _largest(x):
    """Return the largest of three numbers."""
    return larger(x[0], larger(x[1], x[2]))


@kernel
def _positive(x):
    """Return 1 for x >= 0, else -1."""
    return select(x >= 0.0, 1.0, -1.0)


@kernel
def _face_distances(w, E, g, h):
    """Return the distances along the axes of a box of half sizes g, to another at w with axes E and
    half sizes h.
    """
    return (
        abs(w[0]) - g[0] - (h[0] * abs(E[0][0]) + h[1] * abs(E[1][0]) + h[2] * abs(E[2][0])),
        abs(w[1]) - g[1] - (h[0] * abs(E[0][1]) + h[1] * abs(E[1][1]) + h[2] * abs(E[2][1])),
        abs(w[2]) - g[2] - (h[0] * abs(E[0][2]) + h[1] * abs(E[1][2]) + h[2] * abs(E[2][2])),
    )


# --- edges
@kernel
def _crossing(w, E, g, h):
    """Return the pair of edges along whose common normal the boxes are farthest apart, or overlap
    least, in the frame of the first.
    """
    most = -HUGE
    n = UNITS[2]
    e = UNITS[0]
    f = UNITS[1]
    for i, i1, i2 in TURNS:
        for j, j1, j2 in TURNS:
            # L = e_i x E_j has -z and y as its entries
            y = E[j][i1]
            z = E[j][i2]
            square = y * y + z * z
            along = w[i2] * y - w[i1] * z
            half = g[i1] * abs(z) + g[i2] * abs(y) + h[j1] * abs(E[j2][i]) + h[j2] * abs(E[j1][i])
            d = abs(along) - half
            d = select(
                square > PARALLEL_EDGE_SQUARED_SINE,
                d * abs(d) / larger(square, PARALLEL_EDGE_SQUARED_SINE),
                -HUGE,
            )
            better, s = d > most, _positive(along)
            n = choose(better, _spread(i, -s * z, s * y), n)
            e = choose(better, UNITS[i], e)
            f = choose(better, UNITS[j], f)
            most = larger(d, most)
    n = scale(1.0 / sqrt(dot(n, n)), n)
    return _where_edges_cross(_positive(most) * sqrt(abs(most)), n, e, f, w, E, g, h)


@kernel
def _spread(i, y, z):
    """Return a vector with entries y and z along the two axes after axis i."""
    return (0.0, y, z) if i == 0 else ((z, 0.0, y) if i == 1 else (y, z, 0.0))


@kernel
def _where_edges_cross(d, n, e, f, w, E, g, h):
    """Return the Crossing at the nearest points of the two edges that face each other along n; e
    and f are the axes of their boxes that they are parallel to.
    """
    m, T = rotate(E, n), transpose(E)
    a = (
        _positive(n[0]) * g[0] * (1.0 - e[0]),
        _positive(n[1]) * g[1] * (1.0 - e[1]),
        _positive(n[2]) * g[2] * (1.0 - e[2]),
    )
    b = (
        _positive(m[0]) * h[0] * (1.0 - f[0]),
        _positive(m[1]) * h[1] * (1.0 - f[1]),
        _positive(m[2]) * h[2] * (1.0 - f[2]),
    )
    b = sub(w, rotate(T, b))
    z = rotate(T, f)
    r = sub(b, a)
    c = dot(e, r)
    k = dot(z, r)
    cosine = dot(e, z)
    inverse = 1.0 / larger(1.0 - cosine * cosine, PARALLEL_EDGE_SQUARED_SINE)
    t = (c - k * cosine) * inverse
    u = (cosine * c - k) * inverse
    return Crossing(d, n, add(b, scale(u, z)), smaller(dot(e, g) - abs(t), dot(f, h) - abs(u)))


# --- faces
@kernel
def _on_face(distances, w, E, g, h, alike):
    """Return the normal of the reference face and the points on it, in the frame of its box; the
    other box is at w with axes E.
    """
    last = distances[2] >= larger(distances[0], distances[1])
    middle = distances[1] >= distances[0]
    g = _turned(last, middle, g)
    w = _turned(last, middle, w)
    s = _positive(w[2])
    x = _axis(last, middle, 1.0, 0.0, 0.0)
    y = _axis(last, middle, 0.0, 1.0, 0.0)
    n = _axis(last, middle, 0.0, 0.0, s)
    E = (
        _upright(_turned(last, middle, E[0]), s),
        _upright(_turned(last, middle, E[1]), s),
        _upright(_turned(last, middle, E[2]), s),
    )
    c, U, V, u, v = _incident((w[0], w[1], s * w[2]), E, h)
    c = (c[0], c[1], c[2] - g[2])  # heights are above the face
    base = scale(g[2], n)
    p0 = sub(sub(c, U), V)
    p1 = sub(add(c, U), V)
    p2 = add(add(c, U), V)
    p3 = add(sub(c, U), V)
    a0, a1 = _clipped(p0, scale(2.0, U), g, alike)
    b0, b1 = _clipped(p1, scale(2.0, V), g, alike)
    c0, c1 = _clipped(p2, scale(-2.0, U), g, alike)
    d0, d1 = _clipped(p3, scale(-2.0, V), g, alike)
    e0 = _corner(SIDES[0], c, U, V, u, v, g, alike)
    e1 = _corner(SIDES[1], c, U, V, u, v, g, alike)
    e2 = _corner(SIDES[2], c, U, V, u, v, g, alike)
    e3 = _corner(SIDES[3], c, U, V, u, v, g, alike)
    return n, (
        (
            _lifted(a0, base, x, y, n),
            _lifted(b0, base, x, y, n),
            _lifted(c0, base, x, y, n),
            _lifted(d0, base, x, y, n),
        ),
        (
            _lifted(a1, base, x, y, n),
            _lifted(b1, base, x, y, n),
            _lifted(c1, base, x, y, n),
            _lifted(d1, base, x, y, n),
        ),
        (
            _lifted(e0, base, x, y, n),
            _lifted(e1, base, x, y, n),
            _lifted(e2, base, x, y, n),
            _lifted(e3, base, x, y, n),
        ),
    )


@kernel
def _turned(last, middle, v):
    """Return a vector with its entries permuted so that the axis of the face is the last."""
    return choose(last, v, choose(middle, (v[2], v[0], v[1]), (v[1], v[2], v[0])))


@kernel
def _axis(last, middle, x, y, z):
    """Return a vector with its entries permuted back: the inverse of `_turned`."""
    return choose(last, (x, y, z), choose(middle, (y, z, x), (z, x, y)))


@kernel
def _upright(v, s):
    """Return v with its last entry multiplied by s, a sign."""
    return (v[0], v[1], s * v[2])


@kernel
def _lifted(point, base, x, y, n):
    """Return a point (gap, place) of the frame of the poses, from its coordinates along the axes x,
    y, n at the point `base`.
    """
    gap, p = point
    return (gap, add(base, add(scale(p[0], x), add(scale(p[1], y), scale(p[2], n)))))


@kernel
def _incident(w, E, h):
    """Return the centre of the face whose normal points most downwards, its two half edges, and
    their lengths.
    """
    last = abs(E[2][2]) >= larger(abs(E[0][2]), abs(E[1][2]))
    middle = abs(E[1][2]) >= abs(E[0][2])
    N = choose(last, scale(h[2], E[2]), choose(middle, scale(h[1], E[1]), scale(h[0], E[0])))
    U = choose(last, scale(h[0], E[0]), choose(middle, scale(h[2], E[2]), scale(h[1], E[1])))
    V = choose(last, scale(h[1], E[1]), choose(middle, scale(h[0], E[0]), scale(h[2], E[2])))
    u = select(last, h[0], select(middle, h[2], h[1]))
    v = select(last, h[1], select(middle, h[0], h[2]))
    return sub(w, scale(_positive(N[2]), N)), U, V, u, v


@kernel
def _clipped(p, D, g, alike):
    """Return two points (gap, place): where the edge from p to p + D enters the rectangle |x| <=
    g_x, |y| <= g_y, and where it leaves it before its end.
    """
    k = 1.0 / nonzero(D[0])
    l = 1.0 / nonzero(D[1])
    x = -k * p[0]
    y = -l * p[1]
    a = abs(k) * (g[0] + alike)
    b = abs(l) * (g[1] + alike)
    begin = larger(larger(x - a, y - b), 0.0)
    end = smaller(smaller(x + a, y + b), 1.0)
    enters = add(p, scale(smaller(begin, 1.0), D))
    leaves = add(p, scale(larger(end, 0.0), D))
    return (
        (select(begin <= end, enters[2], NO_POINT_GAP), enters),
        (select(smaller(end - begin, 1.0 - end) > 0.0, leaves[2], NO_POINT_GAP), leaves),
    )


@kernel
def _corner(side, c, U, V, u, v, g, alike):
    """Return a corner of the reference face as a point (gap, place), if the incident face is above
    or below it.
    """
    x, y = side[0] * g[0], side[1] * g[1]
    dx = x - c[0]
    dy = y - c[1]
    inverse = 1.0 / (U[0] * V[1] - U[1] * V[0])
    a = (dx * V[1] - dy * V[0]) * inverse
    b = (U[0] * dy - U[1] * dx) * inverse
    z = c[2] + a * U[2] + b * V[2]
    return (
        select(smaller((1.0 - abs(a)) * u, (1.0 - abs(b)) * v) > alike, z, NO_POINT_GAP),
        (x, y, z),
    )
