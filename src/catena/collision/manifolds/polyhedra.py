"""The contact manifold of two convex polyhedra: points with a common normal, over lanes of runs;
corners, faces and edges are constants of the code (`Hulls`).

    reference face    of the polyhedron along whose normal they overlap least; the common normal is
                      its own
    incident face     of the other one, that which faces it most
    points            the corners of the overlap of both faces, projected along the normal: on each
                      side of the incident face the end of the part within the reference face, on
                      each side of the reference face the beginning of the part within the incident
    crossing          where two edges are the features of least overlap, and their normal is at an
                      angle to that of the face: one point, the first

Edges are compared if their arcs of normals cross [Gregorius2013]: only those can be the features of
least overlap. All in the axes of the first polyhedron. Gaps and normals are defined as in
`box_manifold`. Faces are selected in each lane by comparison, and nothing branches on values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...spatial import (
    add,
    any_lane,
    cross,
    dot,
    get,
    kernel,
    larger,
    neg,
    product,
    put,
    rotate,
    scale,
    select,
    smaller,
    sqrt,
    sub,
    transpose,
    unrotate,
)
from ..solids import Solid, choose, nonzero
from .boxes import (
    ALIKE_RATIO,
    HUGE,
    NO_POINT_GAP,
    PARALLEL_EDGE_SQUARED_SINE,
    SAME_NORMAL_COSINE,
    SHALLOW_OVERLAP_FACTOR,
    UNITS,
    box_manifold,
)

# A side of the overlap of two faces is a single corner if it is shorter than this times the length
# within which lengths are equal.
SHORT_SIDE_FACTOR = 4.0
ZERO = (0.0, 0.0, 0.0)


class Hulls(NamedTuple):
    """Constants of h polyhedra, in the axes of their shapes and in units of their sizes (a box is
    the cube of size one), and of n pairs.

    count (h, 3): numbers of corners, faces, edges. sides (1,): the number of corners of a face;
    faces with fewer repeat the last. corner (h, c, 3), normal (h, f, 3), polygon (h, f, sides, 3):
    corners of each face, in cyclic order as seen from outside. edge (h, e, 12): one end, the vector
    to the other, the normals a and b of both faces, with b x a along the edge. shape (n, 2): the
    polyhedra of each pair. turn (n,): -1 if the normal that the code finds points from the touching
    shape to the surface, else 1. owner: the pair of each point.

    Of heightfields: heights, the numbers of all grids one after another; field (n, 5): of each pair
    where its grid begins, its rows and columns, the cells around a sphere that it may touch, and
    the rank of its point.
    """

    count: Any
    sides: Any
    corner: Any
    normal: Any
    polygon: Any
    edge: Any
    shape: Any
    turn: Any
    owner: Any
    heights: Any
    field: Any


@kernel
def solid_at(pose, k, at):
    """Return the shape of pair k whose numbers begin at column `at` of its pose."""
    return Solid(
        (
            (pose[k, at], pose[k, at + 1], pose[k, at + 2]),
            (pose[k, at + 3], pose[k, at + 4], pose[k, at + 5]),
            (pose[k, at + 6], pose[k, at + 7], pose[k, at + 8]),
        ),
        (pose[k, at + 9], pose[k, at + 10], pose[k, at + 11]),
        (pose[k, at + 12], pose[k, at + 13], pose[k, at + 14]),
    )


@kernel
def polyhedron_manifold(pose, s, k, at):
    """Compute the points of pair k into s.points, from `at` on; return the normal from the first to
    the second.
    """
    t = s.hulls
    one = solid_at(pose, k, 0)
    two = solid_at(pose, k, 16)
    a, b = t.shape[k, 0], t.shape[k, 1]
    # pose of the second relative to the first
    F = product(transpose(one.R), two.R)
    w = unrotate(one.R, sub(two.p, one.p))
    alike = ALIKE_RATIO * (pose[k, 15] + pose[k, 31])
    for i in range(t.count[b, 0]):
        put(s.corner, i, add(w, rotate(F, stretched(two.size, get(t.corner[b], i)))))
    along, n = _along_first(t, s, a, b, one.size)
    beside, m = _along_second(t, a, b, one.size, two.size, F, w)
    d, x, place, within = _crossing(t, a, b, one.size, two.size, F, w)
    second = beside > along + alike
    n = choose(second, m, n)
    face = larger(along, beside)
    along_face = choose(second, neg(n), n)
    across = (
        smaller(
            smaller(d - face - alike, within + alike),
            larger(SAME_NORMAL_COSINE - dot(x, along_face), -face - SHALLOW_OVERLAP_FACTOR * alike),
        )
        > 0.0
    )
    N = _facing(t, s, a, b, one.size, two.size, F, w, n, second)
    _in_common(t, s, at, one, n, N, alike, across)
    s.points[at, 0] = select(across, d, s.points[at, 0])
    for c in range(3):
        s.points[at, 1 + c] = select(
            across, add(one.p, rotate(one.R, place))[c], s.points[at, 1 + c]
        )
    return rotate(one.R, choose(across, x, along_face))


@kernel
def stretched(size, x):
    """Return a point of a hull, scaled by the sizes."""
    return (size[0] * x[0], size[1] * x[1], size[2] * x[2])


@kernel
def put_point(s, i, gap, place):
    """Store gap and place of point i in s.points."""
    s.points[i, 0], s.points[i, 1], s.points[i, 2], s.points[i, 3] = (
        gap,
        place[0],
        place[1],
        place[2],
    )


# --- separating axes
@kernel
def _along_first(t, s, a, b, g):
    """Return the largest separation along the normals of the first polyhedron, and that normal."""
    most, n = -HUGE, UNITS[2]
    for f in range(t.count[a, 1]):
        v, low = get(t.normal[a], f), HUGE
        for i in range(t.count[b, 0]):
            low = smaller(low, dot(v, get(s.corner, i)))
        d = low - dot(v, stretched(g, get(t.polygon[a, f], 0)))
        n = choose(d > most, v, n)
        most = larger(d, most)
    return most, n


@kernel
def _along_second(t, a, b, g, h, F, w):
    """Return the largest separation along the normals of the second polyhedron, and that normal."""
    most, n = -HUGE, UNITS[2]
    for f in range(t.count[b, 1]):
        v = rotate(F, get(t.normal[b], f))
        low = HUGE
        for i in range(t.count[a, 0]):
            low = smaller(low, dot(v, stretched(g, get(t.corner[a], i))))
        d = low - dot(v, add(w, rotate(F, stretched(h, get(t.polygon[b, f], 0)))))
        n = choose(d > most, v, n)
        most = larger(d, most)
    return most, n


@kernel
def _crossing(t, a, b, g, h, F, w):
    """Return, for the two edges with crossing arcs of normals along whose common normal the
    separation is largest: distance, normal, place, and how far both extend beyond it.
    """
    most = -HUGE
    n = UNITS[2]
    p = ZERO
    u = UNITS[0]
    q = ZERO
    v = UNITS[1]
    for j in range(t.count[b, 2]):
        E = t.edge[b, j]
        y = add(w, rotate(F, stretched(h, (E[0], E[1], E[2]))))
        z = rotate(F, stretched(h, (E[3], E[4], E[5])))
        c = rotate(F, (E[6], E[7], E[8]))
        d = rotate(F, (E[9], E[10], E[11]))
        for i in range(t.count[a, 2]):
            D = t.edge[a, i]
            x = stretched(g, (D[0], D[1], D[2]))
            e = stretched(g, (D[3], D[4], D[5]))
            A = (D[6], D[7], D[8])
            B = (D[9], D[10], D[11])
            ce = dot(c, e)
            de = dot(d, e)
            Az = dot(A, z)
            Bz = dot(B, z)
            meets = smaller(-ce * de, smaller(-Az * Bz, -ce * Bz)) > 0.0
            if any_lane(meets):
                m = cross(e, z)
                square = dot(m, m)
                m = scale(select(dot(m, add(A, B)) >= 0.0, 1.0, -1.0) / sqrt(nonzero(square)), m)
                far = select(
                    square > PARALLEL_EDGE_SQUARED_SINE * dot(e, e) * dot(z, z),
                    dot(m, sub(y, x)),
                    -HUGE,
                )
                better = meets and far > most
                most = select(better, far, most)
                n = choose(better, m, n)
                p = choose(better, x, p)
                u = choose(better, e, u)
                q = choose(better, y, q)
                v = choose(better, z, v)
    place, within = _where_lines_cross(p, u, q, v)
    return most, n, place, within


@kernel
def _where_lines_cross(p, u, q, v):
    """Return the point of q + s v nearest to p + t u, and how far both nearest points are within
    the ends of their edges, m.
    """
    r = sub(q, p)
    uu = dot(u, u)
    vv = dot(v, v)
    uv = dot(u, v)
    inverse = 1.0 / larger(uu * vv - uv * uv, PARALLEL_EDGE_SQUARED_SINE * uu * vv)
    t = (dot(u, r) * vv - dot(v, r) * uv) * inverse
    s = (dot(u, r) * uv - dot(v, r) * uu) * inverse
    return add(q, scale(s, v)), smaller(
        smaller(t, 1.0 - t) * sqrt(uu), smaller(s, 1.0 - s) * sqrt(vv)
    )


# --- faces
@kernel
def _facing(t, s, a, b, g, h, F, w, n, second):
    """Compute s.reference and s.incident, the corners of both faces; return the normal of the
    incident one.
    """
    # the first has the reference face, most along n, or else the incident face, most against n
    sign = select(second, 1.0, -1.0)
    least, M = HUGE, UNITS[2]
    for f in range(t.count[a, 1]):
        v = get(t.normal[a], f)
        key = sign * dot(v, n)
        better = key < least
        if any_lane(better):
            M = choose(better, v, M)
            least = select(better, key, least)
            for c in range(t.sides[0]):
                put(
                    s.reference,
                    c,
                    choose(better, stretched(g, get(t.polygon[a, f], c)), get(s.reference, c)),
                )
    least, N = HUGE, UNITS[2]
    for f in range(t.count[b, 1]):
        v = rotate(F, get(t.normal[b], f))
        key = -sign * dot(v, n)
        better = key < least
        if any_lane(better):
            N = choose(better, v, N)
            least = select(better, key, least)
            for c in range(t.sides[0]):
                put(
                    s.incident,
                    c,
                    choose(
                        better,
                        add(w, rotate(F, stretched(h, get(t.polygon[b, f], c)))),
                        get(s.incident, c),
                    ),
                )
    for c in range(t.sides[0]):
        x = get(s.reference, c)
        y = get(s.incident, c)
        put(s.reference, c, choose(second, y, x))
        put(s.incident, c, choose(second, x, y))
    return choose(second, M, N)


@kernel
def _in_common(t, s, at, one, n, N, alike, across):
    """Compute the points of the overlap of both faces into s.points."""
    sides = t.sides[0]
    base = get(s.reference, 0)
    tip = get(s.incident, 0)
    facing = dot(N, n)
    for i in range(sides):
        p = get(s.incident, i)
        D = sub(get(s.incident, (i + 1) % sides), p)
        begin, end = clipped(s.reference, sides, p, D, n, 1.0, alike)
        there = (end - begin) * sqrt(dot(D, D)) > SHORT_SIDE_FACTOR * alike
        x = add(p, scale(select(there, end, 0.0), D))
        put_point(
            s,
            at + i,
            select(across, NO_POINT_GAP, select(there, dot(n, sub(x, base)), NO_POINT_GAP)),
            add(one.p, rotate(one.R, x)),
        )
        p = get(s.reference, i)
        D = sub(get(s.reference, (i + 1) % sides), p)
        begin, end = clipped(s.incident, sides, p, D, n, -1.0, -alike)
        there = (end - begin) * sqrt(dot(D, D)) > SHORT_SIDE_FACTOR * alike
        x = add(p, scale(select(there, begin, 0.0), D))
        z = dot(N, sub(tip, x)) / facing
        put_point(
            s,
            at + sides + i,
            select(across, NO_POINT_GAP, select(there, z, NO_POINT_GAP)),
            add(one.p, rotate(one.R, add(x, scale(z, n)))),
        )


@kernel
def clipped(polygon, sides, p, D, n, turn, slack):
    """Return the t where p + t D, 0 <= t <= 1, enters a polygon enlarged by a slack, projected
    along n, and the t where it leaves; the first is larger if the segment is outside.

    turn: 1 if the corners of the polygon are counter-clockwise about n, else -1.
    """
    begin, end = 0.0, 1.0
    for j in range(sides):
        a = get(polygon, j)
        m = scale(turn, cross(sub(get(polygon, (j + 1) % sides), a), n))
        begin, end = within(dot(m, sub(p, a)) - slack * sqrt(dot(m, m)), dot(m, D), begin, end)
    return begin, end


@kernel
def within(e, slope, begin, end):
    """Return the part of begin <= t <= end where e + t slope <= 0 [Liang1984]."""
    r = -e / nonzero(slope)
    first = select(slope < 0.0, larger(begin, r), begin)
    last = select(
        slope > 0.0, smaller(end, r), select(slope < 0.0, end, select(e > 0.0, -1.0, end))
    )
    return first, last


@kernel
def box_points(pose, s, k, at):
    """Compute the points of two boxes into s.points; return the normal."""
    n, points = box_manifold(solid_at(pose, k, 0), solid_at(pose, k, 16))
    i = 0
    for group in points:
        for gap, place in group:
            put_point(s, at + i, gap, place)
            i += 1
    return n
