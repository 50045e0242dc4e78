"""Signed distances of pairs of shapes, in closed form over scalars of any kind: on the tape, in lanes, as plain numbers.

    d > 0   the least distance of the two shapes          a, b   their nearest points; b - a = d n
    d < 0   minus the shortest translation that parts them   n      the unit normal from the first to the second

A shape is (R, p, size): its pose in a common frame and the sizes of `model.shapes`. Spheres and capsules are points and segments
with a radius, so that their distances are those of their cores. Polyhedra (box, segment) that overlap are treated by separating axes:
the axis of least overlap n, and a translation along n that parts them; the nearest points of the parted shapes are the witnesses.
Nothing branches on values: a pair has one sequence of instructions for every configuration. [Ericson2005], chapters 4 and 5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..spatial import add, cross, dot, larger, neg, rotate, scale, select, smaller, sqrt, sub, unrotate

Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
ROUNDING = 1e-15  # beside the lengths in play: below it a distance or a direction is nothing but rounding
ROUNDS = 12  # Newton steps to the nearest point of an ellipsoid; the fourth leaves rounding, unless it is a needle


class Proximity(NamedTuple):
    """Signed distance (m), nearest points of the first and of the second shape, unit normal from first to second."""

    distance: Scalar
    a: Vector
    b: Vector
    normal: Vector

    def flipped(self) -> Proximity:
        """As the second shape sees it."""
        return Proximity(self.distance, self.b, self.a, neg(self.normal))


class Solid(NamedTuple):
    """A shape at its place: R_WS as three rows, p_WS, sizes."""

    R: Any
    p: Vector
    size: tuple[Scalar, ...]

    def axis(self, k: int) -> Vector:
        """The k-th axis of its frame."""
        return (self.R[0][k], self.R[1][k], self.R[2][k])


# ---------------------------------------------------------------------------------------------------- scalars and vectors
def _clamp(x: Scalar, limit: Scalar) -> Scalar:
    return larger(-limit, smaller(x, limit))


def _sign(x: Scalar) -> Scalar:
    return select(x < 0.0, -1.0, 1.0)


def _choose(condition: Any, a: Vector, b: Vector) -> Vector:
    return (select(condition, a[0], b[0]), select(condition, a[1], b[1]), select(condition, a[2], b[2]))


def _nonzero(x: Scalar) -> Scalar:
    """x, or something very small in place of zero."""
    return select(abs(x) < 1e-290, 1e-290, x)


def _unit(v: Vector, instead: Vector, scale2: Scalar) -> tuple[Scalar, Vector]:
    """Length and direction of v; another direction where v is nothing beside a squared length."""
    square = dot(v, v)
    none = square <= ROUNDING**2 * scale2
    length = sqrt(square)
    return length, _choose(none, instead, scale(1.0 / select(none, 1.0, length), v))


def _across(v: Vector) -> Vector:
    """A unit vector perpendicular to v, which is not zero."""
    wide = abs(v[0]) > abs(v[2])
    w = _choose(wide, (-v[1], v[0], 0.0 * v[0]), (0.0 * v[0], -v[2], v[1]))
    return scale(1.0 / sqrt(_nonzero(dot(w, w))), w)


def _rounded(core: Proximity, ra: Scalar, rb: Scalar) -> Proximity:
    """The pair of two cores with radii."""
    d, a, b, n = core
    return Proximity(d - ra - rb, add(a, scale(ra, n)), sub(b, scale(rb, n)), n)


def _half(s: Solid) -> Vector:
    """From the middle of a capsule or cylinder to the end of its axis."""
    return scale(0.5 * s.size[1], s.axis(2))


def _halves(s: Solid) -> Vector:
    return (0.5 * s.size[0], 0.5 * s.size[1], 0.5 * s.size[2])


def _into_ground(s: Solid, found: Proximity) -> Proximity:
    """From the shape's own frame."""
    d, a, b, n = found
    return Proximity(d, add(s.p, rotate(s.R, a)), add(s.p, rotate(s.R, b)), rotate(s.R, n))


# ---------------------------------------------------------------------------------------------------- half-spaces
def _above(plane: Solid, lowest: Vector) -> Proximity:
    """A half-space and the point of a convex shape that is deepest in it."""
    n = plane.axis(2)
    d = dot(n, sub(lowest, plane.p))
    return Proximity(d, sub(lowest, scale(d, n)), lowest, n)


def plane_sphere(plane: Solid, s: Solid) -> Proximity:
    """The centre's height less the radius."""
    return _above(plane, sub(s.p, scale(s.size[0], plane.axis(2))))


def plane_capsule(plane: Solid, s: Solid) -> Proximity:
    """The lower end; both where it lies flat: the middle."""
    n, h = plane.axis(2), _half(s)
    return _above(plane, sub(s.p, add(scale(_tilt(dot(n, h)), h), scale(s.size[0], n))))


def plane_box(plane: Solid, s: Solid) -> Proximity:
    """The lowest corner, or the middle of the lowest edge or face."""
    n, h, low = plane.axis(2), _halves(s), s.p
    for k in range(3):
        low = sub(low, scale(_tilt(dot(n, s.axis(k))) * h[k], s.axis(k)))
    return _above(plane, low)


def plane_cylinder(plane: Solid, s: Solid) -> Proximity:
    """The lowest point of the lower rim; of a flat end its centre."""
    n, h, z = plane.axis(2), _half(s), s.axis(2)
    side = sub(n, scale(dot(n, z), z))
    square = dot(side, side)
    flat = square <= ROUNDING**2
    rim = scale(select(flat, 0.0, s.size[0] / sqrt(select(flat, 1.0, square))), side)
    return _above(plane, sub(s.p, add(scale(_tilt(dot(n, z)), h), rim)))


def plane_ellipsoid(plane: Solid, s: Solid) -> Proximity:
    """The point whose normal is the plane's: p - D^2 n / |D n| with the half axes D."""
    n = unrotate(s.R, plane.axis(2))
    m = (s.size[0] * n[0], s.size[1] * n[1], s.size[2] * n[2])
    k = 1.0 / sqrt(dot(m, m))
    return _above(plane, sub(s.p, rotate(s.R, (k * s.size[0] * m[0], k * s.size[1] * m[1], k * s.size[2] * m[2]))))


def _tilt(x: Scalar) -> Scalar:
    """The sign of x, zero for what is nothing but rounding."""
    return select(abs(x) <= ROUNDING, 0.0, _sign(x))


# ---------------------------------------------------------------------------------------------------- spheres
def sphere_sphere(s: Solid, o: Solid) -> Proximity:
    """The distance of the centres less the radii."""
    ra, rb = s.size[0], o.size[0]
    d, n = _unit(sub(o.p, s.p), o.axis(2), (ra + rb) * (ra + rb))
    return _rounded(Proximity(d, s.p, o.p, n), ra, rb)


def sphere_capsule(s: Solid, o: Solid) -> Proximity:
    """The nearest point of the capsule's axis."""
    z, L = o.axis(2), 0.5 * o.size[1]
    b = add(o.p, scale(_clamp(dot(sub(s.p, o.p), z), L), z))
    d, n = _unit(sub(b, s.p), _across(z), L * L)
    return _rounded(Proximity(d, s.p, b, n), s.size[0], o.size[0])


def sphere_box(s: Solid, o: Solid) -> Proximity:
    """The nearest point of the box; of the nearest face where the centre is inside."""
    x, h = unrotate(o.R, sub(s.p, o.p)), _halves(o)
    q = _within(x, h)
    over = (abs(x[0]) - h[0], abs(x[1]) - h[1], abs(x[2]) - h[2])
    depth = larger(over[0], larger(over[1], over[2]))
    inside = depth <= 0.0
    on_z = over[2] >= larger(over[0], over[1])
    face = _choose(on_z, (0.0, 0.0, _sign(x[2])), _choose(over[1] >= over[0], (0.0, _sign(x[1]), 0.0), (_sign(x[0]), 0.0, 0.0)))
    d, n = _unit(sub(q, x), neg(face), dot(h, h))
    d, n = select(inside, depth, d), _choose(inside, neg(face), n)
    return _rounded(_into_ground(o, Proximity(d, x, add(x, scale(d, n)), n)), s.size[0], 0.0)


def sphere_cylinder(s: Solid, o: Solid) -> Proximity:
    """A box in the plane of axis and centre: radius by half the length."""
    x, r, h = unrotate(o.R, sub(s.p, o.p)), o.size[0], 0.5 * o.size[1]
    rho = sqrt(x[0] * x[0] + x[1] * x[1])
    axial = rho <= ROUNDING * r
    k = 1.0 / select(axial, 1.0, rho)
    out = (select(axial, 1.0, k * x[0]), select(axial, 0.0, k * x[1]), 0.0)  # the radial direction
    up = (0.0, 0.0, _sign(x[2]))
    side, end = rho - r, abs(x[2]) - h
    inside = larger(side, end) <= 0.0
    e, f = larger(side, 0.0), larger(end, 0.0)
    d, n = _unit(add(scale(e, out), scale(f, up)), out, r * r)
    n = neg(_choose(inside, _choose(side >= end, out, up), n))
    d = select(inside, larger(side, end), d)
    return _rounded(_into_ground(o, Proximity(d, x, add(x, scale(d, n)), n)), s.size[0], 0.0)


def sphere_ellipsoid(s: Solid, o: Solid) -> Proximity:
    """The nearest point q = D^2 (D^2 + t)^-1 x of the ellipsoid with half axes D, where |D (D^2 + t)^-1 x| = 1.

    Newton's method on one over that length, which is nearly linear in t and concave: from the left it converges without overshooting
    [More1983]. t counts from minus the smallest D^2, so that a centre near the ellipsoid's keeps its digits.
    """
    x, D = unrotate(o.R, sub(s.p, o.p)), o.size
    y = tuple(select(abs(x[i]) < ROUNDING * D[i], ROUNDING * D[i], abs(x[i])) for i in range(3))
    least = smaller(D[0], smaller(D[1], D[2]))
    e = [(D[i] - least) * (D[i] + least) for i in range(3)]
    t = larger(larger(D[0] * y[0] - e[0], D[1] * y[1] - e[1]), D[2] * y[2] - e[2])
    for _ in range(ROUNDS):
        m = [1.0 / (e[i] + t) for i in range(3)]
        g = [D[i] * y[i] * m[i] for i in range(3)]
        square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2]
        slope = g[0] * g[0] * m[0] + g[1] * g[1] * m[1] + g[2] * g[2] * m[2]
        t = t + square / slope * (sqrt(square) - 1.0)
    q = tuple(_sign(x[i]) * D[i] * D[i] * y[i] / (e[i] + t) for i in range(3))
    _, out = _unit((q[0] / (D[0] * D[0]), q[1] / (D[1] * D[1]), q[2] / (D[2] * D[2])), (1.0, 0.0, 0.0), 0.0 * t)
    d = dot(sub(x, q), out)
    return _rounded(_into_ground(o, Proximity(d, x, q, neg(out))), s.size[0], 0.0)  # type: ignore[arg-type]


# ---------------------------------------------------------------------------------------------------- segments
def capsule_capsule(s: Solid, o: Solid) -> Proximity:
    """Two segments: the nearest points of their lines, each within its ends."""
    y, z, K, L = s.axis(2), o.axis(2), 0.5 * s.size[1], 0.5 * o.size[1]
    a, b = _segments(s.p, y, K, o.p, z, L)
    _, across = _unit(cross(y, z), _across(y), 1.0)
    d, n = _unit(sub(b, a), across, K * K + L * L)
    return _rounded(Proximity(d, a, b, n), s.size[0], o.size[0])


def _segments(p: Vector, y: Vector, K: Scalar, q: Vector, z: Vector, L: Scalar) -> tuple[Vector, Vector]:
    """The nearest points of the segments p + t y, |t| <= K, and q + u z, |u| <= L; y and z are unit vectors."""
    w = sub(q, p)
    c, f, g = dot(y, w), dot(z, w), dot(y, z)
    t = _clamp((c - f * g) / larger(1.0 - g * g, ROUNDING), K)
    u = _clamp(g * t - f, L)
    t = _clamp(g * u + c, K)
    return add(p, scale(t, y)), add(q, scale(u, z))


def _within(x: Vector, h: Vector) -> Vector:
    return (_clamp(x[0], h[0]), _clamp(x[1], h[1]), _clamp(x[2], h[2]))


def _nearest_to_box(x: Vector, u: Vector, h: Vector) -> Vector:
    """The point x + t u, |t| <= 1, that is nearest to the box of half sizes h.

    The slope of the squared distance is u . (y - clamp(y)), y = x + t u: piecewise linear and never falling. It bends where y crosses
    a face's plane; its zero lies between the last bend with a slope below zero and the next.
    """

    def slope(t: Scalar) -> Scalar:
        y = add(x, scale(t, u))
        return dot(u, sub(y, _within(y, h)))

    low, high = -1.0, 1.0
    for i in range(3):
        k = 1.0 / _nonzero(u[i])
        for face in (-h[i], h[i]):
            t = _clamp((face - x[i]) * k, 1.0)
            rising = slope(t) > 0.0
            low, high = larger(low, select(rising, -1.0, t)), smaller(high, select(rising, t, 1.0))
    below, above = slope(low), slope(high)
    return add(x, scale(larger(low, smaller(high, low - below * (high - low) / _nonzero(above - below))), u))


def _axes(candidates: list[tuple[Scalar, Vector]]) -> tuple[Scalar, Vector]:
    """The separating axis of the largest signed distance."""
    d, n = candidates[0]
    for other, axis in candidates[1:]:
        better = other > d
        d, n = select(better, other, d), _choose(better, axis, n)
    return d, n


def _edge_axis(L: Vector, centre: Vector, reach: Scalar, scale2: Scalar) -> tuple[Scalar, Vector]:
    """Signed distance along the axis L of two shapes with half widths `reach`; L need not be a unit, and may be nothing."""
    square = dot(L, L)
    none = square <= ROUNDING * scale2
    k = 1.0 / sqrt(select(none, 1.0, square))
    along = dot(centre, L)
    return select(none, -1e300, k * (abs(along) - reach)), scale(k * _sign(along), L)


def _reach(L: Vector, h: Vector) -> Scalar:
    """Half the width of a box along an axis of its own frame."""
    return abs(L[0]) * h[0] + abs(L[1]) * h[1] + abs(L[2]) * h[2]


UNITS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def capsule_box(s: Solid, o: Solid) -> Proximity:
    """A segment and a box: in the box's frame, along the segment; by six separating axes where they overlap."""
    h, w = _halves(o), neg(unrotate(o.R, sub(s.p, o.p)))  # w: from the segment's middle to the box's
    u, size = unrotate(o.R, _half(s)), h[0] + h[1] + h[2]
    faces = [(abs(w[i]) - h[i] - abs(u[i]), scale(_sign(w[i]), UNITS[i])) for i in range(3)]
    edges = [_edge_axis(L := cross(UNITS[i], u), w, _reach(L, h), dot(u, u)) for i in range(3)]
    depth, axis = _axes(faces + edges)
    overlap = depth <= ROUNDING * size
    away = scale(select(overlap, size - depth, 0.0), axis)  # parts them
    y = _nearest_to_box(neg(add(w, away)), u, h)
    n = _choose(overlap, axis, _unit(sub(_within(y, h), y), axis, size * size)[1])
    x = _nearest_to_box(neg(w), u, h)  # the distance alone does not need the axis
    e = sub(_within(x, h), x)
    d, a = select(overlap, depth, sqrt(dot(e, e))), add(y, away)
    return _rounded(_into_ground(o, Proximity(d, a, add(a, scale(d, n)), n)), s.size[0], 0.0)


# ---------------------------------------------------------------------------------------------------- boxes
def box_box(s: Solid, o: Solid) -> Proximity:
    """Fifteen separating axes where they overlap; else the nearest of eight corners of each and nine pairs of edges."""
    g, h = _halves(s), _halves(o)
    w = unrotate(s.R, sub(o.p, s.p))  # everything in the frame of the first
    E = [unrotate(s.R, o.axis(k)) for k in range(3)]  # axes of the second
    size = g[0] + g[1] + g[2] + h[0] + h[1] + h[2]
    depth, axis = _axes(_box_axes(w, E, g, h))
    overlap = depth <= ROUNDING * size
    away = scale(select(overlap, size - depth, 0.0), axis)
    _, a, b = _parted_boxes(add(w, away), E, g, h)
    n = _choose(overlap, axis, _unit(sub(b, a), axis, size * size)[1])
    d = select(overlap, depth, sqrt(_parted_boxes(w, E, g, h)[0]))  # the distance alone does not need the axis
    return _into_ground(s, Proximity(d, a, add(a, scale(d, n)), n))


def _box_axes(w: Vector, E: list[Vector], g: Vector, h: Vector) -> list[tuple[Scalar, Vector]]:
    """(signed distance, axis) of the faces of both and of the pairs of edges."""
    reach = lambda L: _reach((dot(L, E[0]), dot(L, E[1]), dot(L, E[2])), h) + _reach(L, g)  # noqa: E731
    faces = [(abs(dot(w, L)) - reach(L), scale(_sign(dot(w, L)), L)) for L in (*UNITS, *E)]
    return faces + [_edge_axis(L := cross(UNITS[i], e), w, reach(L), 1.0) for i in range(3) for e in E]


def _parted_boxes(w: Vector, E: list[Vector], g: Vector, h: Vector) -> tuple[Scalar, Vector, Vector]:
    """Squared distance and nearest points of two boxes that do not overlap: a corner and a box, or two edges along their common normal."""
    found = []
    for k in range(8):
        signs = tuple(1.0 if k >> i & 1 else -1.0 for i in range(3))
        mine, other = tuple(signs[i] * g[i] for i in range(3)), add(w, _combined(E, tuple(signs[i] * h[i] for i in range(3))))
        x = sub(mine, w)
        found.append((mine, add(w, _combined(E, _within((dot(x, E[0]), dot(x, E[1]), dot(x, E[2])), h)))))
        found.append((_within(other, g), other))
    for i in range(3):
        for j in range(3):
            L = cross(UNITS[i], E[j])
            n = scale(_sign(dot(w, L)), L)
            p = [0.0 if k == i else _sign(n[k]) * g[k] for k in range(3)]
            q = [0.0 if k == j else -_sign(dot(n, E[k])) * h[k] for k in range(3)]
            found.append(_segments((p[0], p[1], p[2]), UNITS[i], g[i], add(w, _combined(E, q)), E[j], h[j]))
    best, a, b = 1e300, found[0][0], found[0][1]
    for mine, other in found:
        square = dot(sub(mine, other), sub(mine, other))
        better = square < best
        a, b, best = _choose(better, mine, a), _choose(better, other, b), smaller(square, best)
    return best, a, b


def _combined(E: list[Vector], x: Sequence[Scalar]) -> Vector:
    """x1 E1 + x2 E2 + x3 E3."""
    return add(scale(x[0], E[0]), add(scale(x[1], E[1]), scale(x[2], E[2])))


PAIRS: dict[tuple[str, str], Callable[[Solid, Solid], Proximity]] = {
    ("plane", "sphere"): plane_sphere,
    ("plane", "capsule"): plane_capsule,
    ("plane", "box"): plane_box,
    ("plane", "cylinder"): plane_cylinder,
    ("plane", "ellipsoid"): plane_ellipsoid,
    ("sphere", "sphere"): sphere_sphere,
    ("sphere", "capsule"): sphere_capsule,
    ("sphere", "box"): sphere_box,
    ("sphere", "cylinder"): sphere_cylinder,
    ("sphere", "ellipsoid"): sphere_ellipsoid,
    ("capsule", "capsule"): capsule_capsule,
    ("capsule", "box"): capsule_box,
    ("box", "box"): box_box,
}


def proximity(kinds: tuple[str, str], s: Solid, o: Solid) -> Proximity:
    """The pair of two shapes of these kinds; `PAIRS` has those in closed form, in either order."""
    return PAIRS[kinds](s, o) if kinds in PAIRS else PAIRS[kinds[::-1]](o, s).flipped()
