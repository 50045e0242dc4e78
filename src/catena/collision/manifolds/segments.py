"""The contact manifold of a sphere or a capsule and a convex polyhedron: points with a common
normal, over lanes of runs.

    nearest    of the segment (of a sphere its centre) and the polyhedron: an end over a face, or a
               point over an edge or a corner
    both ends  of the part of the segment that lies over the face along whose normal they touch;
               if one of these is the nearest point, that one is used

If the segment itself is inside the polyhedron, the axis of least overlap is used: of a face, or
across an edge. The constants are those of `polyhedron_manifold`; all in the polyhedron's axes. A
capsule along an edge, not over an adjacent face, has one point.
"""

from __future__ import annotations

from ...spatial import (
    add,
    any_lane,
    cross,
    dot,
    get,
    kernel,
    larger,
    put,
    rotate,
    scale,
    select,
    smaller,
    sqrt,
    sub,
    unrotate,
)
from ..solids import ROUNDING, choose, nonzero
from .boxes import ALIKE_RATIO, HUGE, NO_POINT_GAP, PARALLEL_EDGE_SQUARED_SINE, UNITS
from .polyhedra import ZERO, clipped, put_point, solid_at, stretched, within

# Cosine of the angle between the normal and that of a face, above which the face supports the
# segment.
BEARING_FACE_COSINE = 0.5
# Points nearer to each other than this times the length within which lengths are equal are one.
SAME_POINT_FACTOR = 16.0
# An edge is nearer than a face if its squared distance is less than this times the face's.
NEARER_EDGE_RATIO = 1.0 - 1e-12


@kernel
def sphere_on_hull(pose, s, k, at):
    """Compute the one point of a sphere into s.points; return the normal."""
    one = solid_at(pose, k, 0)
    two = solid_at(pose, k, 16)
    x = unrotate(one.R, sub(two.p, one.p))
    d, n, _ = _nearest(s.hulls, s.hulls.shape[k, 0], one.size, x, ZERO, pose[k, 15])
    put_point(s, at, d - two.size[0], add(one.p, rotate(one.R, sub(x, scale(two.size[0], n)))))
    return rotate(one.R, n)


@kernel
def capsule_on_hull(pose, s, k, at):
    """Compute the three points of a capsule into s.points: both ends over the face, and the nearest
    point if it is neither of these; return the normal.
    """
    t = s.hulls
    one = solid_at(pose, k, 0)
    two = solid_at(pose, k, 16)
    a = t.shape[k, 0]
    g = one.size
    r = two.size[0]
    z = unrotate(one.R, (two.R[0][2], two.R[1][2], two.R[2][2]))
    x = sub(unrotate(one.R, sub(two.p, one.p)), scale(0.5 * two.size[1], z))
    D = scale(two.size[1], z)
    alike = ALIKE_RATIO * (pose[k, 15] + pose[k, 31])
    d, n, where = _nearest(t, a, g, x, D, pose[k, 15])
    N = _bearing(t, s, a, g, n)
    begin, end = clipped(s.reference, t.sides[0], x, D, N, 1.0, alike)
    near = SAME_POINT_FACTOR * alike / larger(two.size[1], alike)
    cosine = dot(N, n)
    there = smaller(end - begin, cosine - BEARING_FACE_COSINE) >= 0.0
    last = smaller(end - begin - near, cosine - BEARING_FACE_COSINE) >= 0.0
    base = get(s.reference, 0)
    at_begin = abs(where - begin) <= near
    at_end = abs(where - end) <= near
    first = larger(dot(N, sub(add(x, scale(begin, D)), base)), d) - r
    other = larger(dot(N, sub(add(x, scale(end, D)), base)), d) - r
    taken = (
        select(there, select(at_begin, 1.0, 0.0), 0.0) + select(last, select(at_end, 1.0, 0.0), 0.0)
        > 0.5
    )
    _put(
        s,
        at,
        one,
        x,
        D,
        r,
        n,
        select(there, select(at_begin, where, begin), where),
        select(there, select(at_begin, d - r, first), NO_POINT_GAP),
    )
    _put(
        s,
        at + 1,
        one,
        x,
        D,
        r,
        n,
        select(last, select(at_end, where, end), where),
        select(last, select(at_end, d - r, other), NO_POINT_GAP),
    )
    _put(s, at + 2, one, x, D, r, n, where, select(taken, NO_POINT_GAP, d - r))
    return rotate(one.R, n)


@kernel
def _put(s, i, one, x, D, r, n, t, gap):
    """Store a point of the capsule's surface, where its axis is at t."""
    put_point(s, i, gap, add(one.p, rotate(one.R, sub(add(x, scale(t, D)), scale(r, n)))))


@kernel
def _nearest(t, a, g, x, D, radius):
    """Return the signed distance of the segment x + t D and a polyhedron, the normal from the
    polyhedron to the segment, and t.
    """
    deep, m, under, square, over, above, apart = _faces(t, a, g, x, D)
    far, axis, across, square, over, above = _edges(t, a, g, x, D, square, over, above)
    inside = smaller(apart, square - ROUNDING * ROUNDING * radius * radius) <= 0.0
    edge = far > deep + ALIKE_RATIO * radius
    distance = sqrt(square)
    n = choose(inside, choose(edge, axis, m), scale(1.0 / nonzero(distance), over))
    return (
        select(inside, larger(deep, select(edge, far, deep)), distance),
        n,
        select(inside, select(edge, across, under), above),
    )


@kernel
def _faces(t, a, g, x, D):
    """Compare the segment with all faces. Return the largest separation along a normal, that
    normal, and the end of the segment (0 or 1) there; the squared distance of the end nearest to a
    face, the vector to it, and which end; and a number that is positive if the segment is outside.
    """
    most = -HUGE
    m = UNITS[2]
    under = 0.0
    square = HUGE
    over = UNITS[2]
    above = 0.0
    begin = 0.0
    last = 1.0
    y = add(x, D)
    for f in range(t.count[a, 1]):
        v = get(t.normal[a], f)
        base = stretched(g, get(t.polygon[a, f], 0))
        low = dot(v, sub(x, base))
        high = dot(v, sub(y, base))
        begin, last = within(low, high - low, begin, last)
        d = smaller(low, high)
        better = d > most
        m = choose(better, v, m)
        under = select(better, select(low <= high, 0.0, 1.0), under)
        most = larger(d, most)
        if any_lane(larger(low, high) >= 0.0):
            nearer = smaller(low, -_beyond(t, a, f, g, v, x)) >= 0.0 and low * low < square
            square = select(nearer, low * low, square)
            over = choose(nearer, scale(low, v), over)
            above = select(nearer, 0.0, above)
            nearer = smaller(high, -_beyond(t, a, f, g, v, y)) >= 0.0 and high * high < square
            square = select(nearer, high * high, square)
            over = choose(nearer, scale(high, v), over)
            above = select(nearer, 1.0, above)
    return most, m, under, square, over, above, begin - last


@kernel
def _beyond(t, a, f, g, v, x):
    """Return a number that is positive if the point x is beyond a side of face f, projected along
    its normal v.
    """
    most = -HUGE
    for j in range(t.sides[0]):
        p = stretched(g, get(t.polygon[a, f], j))
        S = sub(stretched(g, get(t.polygon[a, f], (j + 1) % t.sides[0])), p)
        most = larger(most, dot(cross(S, v), sub(x, p)))
    return most


@kernel
def _edges(t, a, g, x, D, square, over, above):
    """Compare the segment with all edges. Return the largest separation across an edge, the axis,
    and t there; and the squared distance, vector and t of the nearest point of faces and edges.
    """
    most = -HUGE
    m = UNITS[2]
    across = 0.0
    DD = dot(D, D)
    for i in range(t.count[a, 2]):
        E = t.edge[a, i]
        p = stretched(g, (E[0], E[1], E[2]))
        e = stretched(g, (E[3], E[4], E[5]))
        A = (E[6], E[7], E[8])
        B = (E[9], E[10], E[11])
        r = sub(p, x)
        ee = dot(e, e)
        De = dot(D, e)
        Dr = dot(D, r)
        er = dot(e, r)
        sine = DD * ee - De * De
        along = sine > PARALLEL_EDGE_SQUARED_SINE * DD * ee
        where = _part(select(along, ee * Dr - De * er, 0.0) / select(along, sine, 1.0))
        u = _part((De * where - er) / ee)
        where = _part((Dr + De * u) / nonzero(DD))
        y = sub(add(x, scale(where, D)), add(p, scale(u, e)))
        size = dot(y, y)
        nearer = size < NEARER_EDGE_RATIO * square
        square = select(nearer, size, square)
        over = choose(nearer, y, over)
        above = select(nearer, where, above)
        c = cross(e, D)
        c = scale(select(dot(c, add(A, B)) >= 0.0, 1.0, -1.0) / sqrt(nonzero(dot(c, c))), c)
        far = select(
            smaller(-dot(A, D) * dot(B, D), sine - PARALLEL_EDGE_SQUARED_SINE * DD * ee) > 0.0,
            dot(c, sub(x, p)),
            -HUGE,
        )
        better = far > most
        most = select(better, far, most)
        m = choose(better, c, m)
        across = select(better, where, across)
    return most, m, across, square, over, above


@kernel
def _part(t):
    """Return t clamped to [0, 1]."""
    return larger(0.0, smaller(1.0, t))


@kernel
def _bearing(t, s, a, g, n):
    """Compute s.reference, the corners of the face whose normal is most along n; return that
    normal.
    """
    most, N = -HUGE, UNITS[2]
    for f in range(t.count[a, 1]):
        v = get(t.normal[a], f)
        d = dot(v, n)
        better = d > most
        if any_lane(better):
            N = choose(better, v, N)
            most = select(better, d, most)
            for c in range(t.sides[0]):
                put(
                    s.reference,
                    c,
                    choose(better, stretched(g, get(t.polygon[a, f], c)), get(s.reference, c)),
                )
    return N
