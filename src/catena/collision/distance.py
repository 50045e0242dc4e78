"""Signed distances of pairs of shapes, in closed form over scalars of any kind: symbols, lanes, or
plain numbers.

    d > 0   the least distance of the two shapes          a, b   their nearest points; b - a = d n
    d < 0   minus the shortest translation that separates them
    n       the unit normal from the first to the second

A shape is (R, p, size): its pose in a common frame and the sizes of `model.shapes`. Spheres and
capsules are points and segments with a radius, so that their distances are those of their cores.
Polyhedra (box, segment) that overlap are treated by separating axes: the axis of least overlap n,
and a translation along n that separates them; the nearest points of the separated shapes are the
witness points. Nothing branches on values: a pair has one sequence of instructions for every
configuration. [Ericson2005], chapters 4 and 5.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..spatial import (
    add,
    copysign,
    cross,
    dot,
    larger,
    neg,
    rotate,
    scale,
    select,
    smaller,
    sqrt,
    sub,
    unrotate,
)
from .solids import (
    ROUNDING,
    Proximity,
    Scalar,
    Solid,
    Vector,
    choose,
    clamp,
    direction,
    half_axis,
    half_edges,
    into_ground,
    nonzero,
    perpendicular,
    rounded,
    sign,
)

# Newton steps to the nearest point of an ellipsoid; after the fourth only rounding remains, unless
# it is a needle.
ELLIPSOID_NEWTON_STEPS = 12


# --- half-spaces
def _above(plane: Solid, lowest: Vector) -> Proximity:
    """Return the proximity of a half-space and a convex shape, whose deepest point is `lowest`."""
    n = plane.axis(2)
    d = dot(n, sub(lowest, plane.p))
    return Proximity(d, sub(lowest, scale(d, n)), lowest, n)


def plane_sphere(plane: Solid, s: Solid) -> Proximity:
    """Return the proximity of a half-space and a sphere: the height of the centre less
    the radius.
    """
    return _above(plane, sub(s.p, scale(s.size[0], plane.axis(2))))


def plane_capsule(plane: Solid, s: Solid) -> Proximity:
    """Return the proximity of a half-space and a capsule, at its lower end, or at its centre if it
    lies flat.
    """
    n, h = plane.axis(2), half_axis(s)
    return _above(plane, sub(s.p, add(scale(_tilt(dot(n, h)), h), scale(s.size[0], n))))


def plane_box(plane: Solid, s: Solid) -> Proximity:
    """Return the proximity of a half-space and a box, at the lowest corner, or at the centre of the
    lowest edge or face.
    """
    n = plane.axis(2)
    h = half_edges(s)
    low = s.p
    for k in range(3):
        low = sub(low, scale(_tilt(dot(n, s.axis(k))) * h[k], s.axis(k)))
    return _above(plane, low)


def plane_cylinder(plane: Solid, s: Solid) -> Proximity:
    """Return the proximity of a half-space and a cylinder, at the lowest point of the lower rim, or
    at the centre of a flat end.
    """
    n = plane.axis(2)
    h = half_axis(s)
    z = s.axis(2)
    side = sub(n, scale(dot(n, z), z))
    square = dot(side, side)
    flat = square <= ROUNDING**2
    rim = scale(select(flat, 0.0, s.size[0] / sqrt(select(flat, 1.0, square))), side)
    return _above(plane, sub(s.p, add(scale(_tilt(dot(n, z)), h), rim)))


def plane_ellipsoid(plane: Solid, s: Solid) -> Proximity:
    """Return the proximity of a half-space and an ellipsoid, at the point whose normal is the
    plane's: p - D^2 n / |D n| with the half axes D.
    """
    n = unrotate(s.R, plane.axis(2))
    m = (s.size[0] * n[0], s.size[1] * n[1], s.size[2] * n[2])
    k = 1.0 / sqrt(dot(m, m))
    return _above(
        plane,
        sub(s.p, rotate(s.R, (k * s.size[0] * m[0], k * s.size[1] * m[1], k * s.size[2] * m[2]))),
    )


def _tilt(x: Scalar) -> Scalar:
    """Return the sign of x; zero if |x| is at most ROUNDING."""
    return select(abs(x) <= ROUNDING, 0.0, sign(x))


# --- spheres
def sphere_sphere(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of two spheres: the distance of the centres less the radii."""
    ra, rb = s.size[0], o.size[0]
    d, n = direction(sub(o.p, s.p), o.axis(2), (ra + rb) * (ra + rb))
    return rounded(Proximity(d, s.p, o.p, n), ra, rb)


def sphere_capsule(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of a sphere and a capsule, at the nearest point of the
    capsule's axis.
    """
    z, L = o.axis(2), 0.5 * o.size[1]
    b = add(o.p, scale(clamp(dot(sub(s.p, o.p), z), L), z))
    d, n = direction(sub(b, s.p), perpendicular(z), L * L)
    return rounded(Proximity(d, s.p, b, n), s.size[0], o.size[0])


def sphere_box(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of a sphere and a box, at the nearest point of the box, or of the
    nearest face if the centre is inside.
    """
    x = unrotate(o.R, sub(s.p, o.p))
    h = half_edges(o)
    q = _within(x, h)
    over = (abs(x[0]) - h[0], abs(x[1]) - h[1], abs(x[2]) - h[2])
    depth = larger(over[0], larger(over[1], over[2]))
    inside = depth <= 0.0
    on_z = over[2] >= larger(over[0], over[1])
    face = choose(
        on_z,
        (0.0, 0.0, sign(x[2])),
        choose(over[1] >= over[0], (0.0, sign(x[1]), 0.0), (sign(x[0]), 0.0, 0.0)),
    )
    d, n = direction(sub(q, x), neg(face), dot(h, h))
    d = select(inside, depth, d)
    n = choose(inside, neg(face), n)
    return rounded(into_ground(o, Proximity(d, x, add(x, scale(d, n)), n)), s.size[0], 0.0)


def sphere_cylinder(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of a sphere and a cylinder: a rectangle in the plane of axis and centre,
    radius by half the length.
    """
    x = unrotate(o.R, sub(s.p, o.p))
    r = o.size[0]
    h = 0.5 * o.size[1]
    square = x[0] * x[0] + x[1] * x[1]
    axial = square <= (ROUNDING * r) ** 2  # where the square root has no derivative
    root = sqrt(select(axial, 1.0, square))
    rho = select(axial, 0.0, root)
    k = 1.0 / root
    out = (select(axial, 1.0, k * x[0]), select(axial, 0.0, k * x[1]), 0.0)  # the radial direction
    up = (0.0, 0.0, sign(x[2]))
    side, end = rho - r, abs(x[2]) - h
    inside = larger(side, end) <= 0.0
    # by selection, whose derivative is that of one side: at the border of two regions the larger of
    # two symbols has the mean of both, which is the curvature of neither
    e = select(side > 0.0, side, 0.0)
    f = select(end > 0.0, end, 0.0)
    d, n = direction(add(scale(e, out), scale(f, up)), out, r * r)
    n = neg(choose(inside, choose(side >= end, out, up), n))
    d = select(inside, larger(side, end), d)
    return rounded(into_ground(o, Proximity(d, x, add(x, scale(d, n)), n)), s.size[0], 0.0)


def sphere_ellipsoid(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of a sphere and an ellipsoid with half axes D, at the nearest point q =
    D^2 (D^2 + t)^-1 x, where |D (D^2 + t)^-1 x| = 1.

    Newton's method on one over that length, which is nearly linear in t and concave: from the left
    it converges without overshooting [More1983]. t is counted from minus the smallest D^2, so that
    a centre near the ellipsoid's keeps its digits.
    """
    x = unrotate(o.R, sub(s.p, o.p))
    D = o.size
    y = tuple(select(abs(x[i]) < ROUNDING * D[i], ROUNDING * D[i], abs(x[i])) for i in range(3))
    least = smaller(D[0], smaller(D[1], D[2]))
    e = [(D[i] - least) * (D[i] + least) for i in range(3)]
    t = larger(larger(D[0] * y[0] - e[0], D[1] * y[1] - e[1]), D[2] * y[2] - e[2])
    for _ in range(ELLIPSOID_NEWTON_STEPS):
        m = [1.0 / (e[i] + t) for i in range(3)]
        g = [D[i] * y[i] * m[i] for i in range(3)]
        square = g[0] * g[0] + g[1] * g[1] + g[2] * g[2]
        slope = g[0] * g[0] * m[0] + g[1] * g[1] * m[1] + g[2] * g[2] * m[2]
        t = t + square / slope * (sqrt(square) - 1.0)
    inside = (x[0] / D[0]) ** 2 + (x[1] / D[1]) ** 2 + (x[2] / D[2]) ** 2 < 1.0
    # outside, x itself, because its derivatives matter on planes of symmetry too
    z = tuple(select(inside, sign(x[i]) * y[i], x[i]) for i in range(3))
    q = tuple(D[i] * D[i] * z[i] / (e[i] + t) for i in range(3))
    _, out = direction(
        (q[0] / (D[0] * D[0]), q[1] / (D[1] * D[1]), q[2] / (D[2] * D[2])), (1.0, 0.0, 0.0), 0.0 * t
    )
    d = dot(sub(x, q), out)
    return rounded(into_ground(o, Proximity(d, x, q, neg(out))), s.size[0], 0.0)


# --- segments
def capsule_capsule(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of two capsules, at the nearest points of their segments."""
    y = s.axis(2)
    z = o.axis(2)
    K = 0.5 * s.size[1]
    L = 0.5 * o.size[1]
    a, b = _segments(s.p, y, K, o.p, z, L)
    _, across = direction(cross(y, z), perpendicular(y), 1.0)
    d, n = direction(sub(b, a), across, K * K + L * L)
    return rounded(Proximity(d, a, b, n), s.size[0], o.size[0])


def _segments(
    p: Vector, y: Vector, K: Scalar, q: Vector, z: Vector, L: Scalar, inverse: Scalar = None
) -> tuple[Vector, Vector]:
    """Return the nearest points of the segments p + t y, |t| <= K, and q + u z, |u| <= L; y and z
    are unit vectors.

    inverse: one over the squared sine of the angle between them, if it is known.
    """
    w = sub(q, p)
    c = dot(y, w)
    f = dot(z, w)
    g = dot(y, z)
    t = clamp((c - f * g) * (_inverse(1.0 - g * g) if inverse is None else inverse), K)
    u = clamp(g * t - f, L)
    t = clamp(g * u + c, K)
    return add(p, scale(t, y)), add(q, scale(u, z))


def _within(x: Vector, h: Vector) -> Vector:
    """Return x clamped to the box of half sizes h."""
    return (clamp(x[0], h[0]), clamp(x[1], h[1]), clamp(x[2], h[2]))


def _nearest_to_box(x: Vector, u: Vector, h: Vector) -> Vector:
    """Return the point x + t u, |t| <= 1, that is nearest to the box of half sizes h.

    Along axis i it is between the faces for t from a to b. Half the slope of the squared distance
    is the sum of u^2 (t - clamp(t, a, b)): piecewise linear and nondecreasing. Its zero lies
    between the last breakpoint with a negative slope and the next.
    """
    k = [1.0 / nonzero(u[i]) for i in range(3)]
    spans = [
        (u[i] * u[i], -k[i] * x[i] - abs(k[i]) * h[i], -k[i] * x[i] + abs(k[i]) * h[i])
        for i in range(3)
    ]

    def slope(t: Scalar, own: int = -1) -> Scalar:
        """Return half the slope of the squared distance at t, without axis `own`."""
        parts = [
            U * (t - larger(a, smaller(t, b))) for i, (U, a, b) in enumerate(spans) if i != own
        ]
        return parts[0] + parts[1] if own >= 0 else parts[0] + parts[1] + parts[2]

    low, high = -1.0, 1.0
    for i, (_, a, b) in enumerate(spans):
        for bend in (a, b):
            rising = slope(bend, i) > 0.0
            low = larger(low, select(rising, -1.0, bend))
            high = smaller(high, select(rising, bend, 1.0))
    low = smaller(low, 1.0)
    high = larger(high, -1.0)
    below, above = slope(low), slope(high)
    return add(
        x, scale(larger(low, smaller(high, low - below * (high - low) / nonzero(above - below))), u)
    )


def _axes(candidates: list[tuple[Scalar, Vector]]) -> tuple[Scalar, Vector]:
    """Return the largest signed distance along separating axes, and its axis as a unit vector.
    candidates: pairs (signed square of the distance, axis).
    """
    most, n = candidates[0]
    for other, axis in candidates[1:]:
        n = choose(other > most, axis, n)
        most = larger(other, most)
    return copysign(sqrt(abs(most)), most), scale(1.0 / sqrt(dot(n, n)), n)


def _face_axis(x: Scalar, half: Scalar, axis: Vector) -> tuple[Scalar, Vector]:
    """Return the signed square of the distance along a unit axis, and the axis towards the second
    shape; x: the distance of the centres along it, half: the sum of the half widths.
    """
    d = abs(x) - half
    return d * abs(d), scale(sign(x), axis)


def _edge_axis(L: Vector, along: Scalar, half: Scalar, inverse: Scalar) -> tuple[Scalar, Vector]:
    """Return the signed square of the distance and the axis, as `_face_axis` does, for the
    direction L, which is not a unit vector; inverse: one over its square, at most 1 / ROUNDING, so
    that the axis is never selected if L is zero.
    """
    d = abs(along) - half
    return select(inverse >= 1.0 / ROUNDING, -1e300, d * abs(d) * inverse), scale(sign(along), L)


def _inverse(square: Scalar) -> Scalar:
    """Return one over the square of a sine, at most 1 / ROUNDING."""
    return 1.0 / larger(square, ROUNDING)


TURNS = ((0, 1, 2), (1, 2, 0), (2, 0, 1))
UNITS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def capsule_box(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of a capsule and a box: in the box's frame, along the segment; by six
    separating axes if they overlap.
    """
    # w: from the centre of the segment to that of the box
    h = half_edges(o)
    w = neg(unrotate(o.R, sub(s.p, o.p)))
    z = unrotate(o.R, s.axis(2))
    size = h[0] + h[1] + h[2]
    u = scale(0.5 * s.size[1], z)
    axes = [_face_axis(w[i], h[i] + abs(u[i]), UNITS[i]) for i in range(3)]
    for i, j, k in TURNS:
        inverse = _inverse(z[j] * z[j] + z[k] * z[k])
        axes.append(
            _edge_axis(
                cross(UNITS[i], z),
                w[k] * z[j] - w[j] * z[k],
                h[j] * abs(z[k]) + h[k] * abs(z[j]),
                inverse,
            )
        )
    depth, axis = _axes(axes)
    overlap = depth <= ROUNDING * size
    away = scale(select(overlap, size - depth, 0.0), axis)  # the translation that separates them
    y = _nearest_to_box(neg(add(w, away)), u, h)
    n = choose(overlap, axis, direction(sub(_within(y, h), y), axis, size * size)[1])
    x = _nearest_to_box(neg(w), u, h)  # the distance alone does not need the axis
    e = sub(_within(x, h), x)
    d = select(overlap, depth, sqrt(dot(e, e)))
    a = add(y, away)
    return rounded(into_ground(o, Proximity(d, a, add(a, scale(d, n)), n)), s.size[0], 0.0)


# --- boxes
def box_box(s: Solid, o: Solid) -> Proximity:
    """Return the proximity of two boxes: by fifteen separating axes if they overlap; else the
    nearest of eight corners of each and nine pairs of edges.
    """
    g, h = half_edges(s), half_edges(o)
    w = unrotate(s.R, sub(o.p, s.p))  # everything in the frame of the first
    E = [unrotate(s.R, o.axis(k)) for k in range(3)]  # axes of the second
    size = g[0] + g[1] + g[2] + h[0] + h[1] + h[2]
    # one over the squared sine of each pair of edges
    inverse = [
        [_inverse(E[j][i1] * E[j][i1] + E[j][i2] * E[j][i2]) for j in range(3)]
        for _, i1, i2 in TURNS
    ]
    depth, axis = _axes(_box_axes(w, E, g, h, inverse))
    overlap = depth <= ROUNDING * size
    away = scale(select(overlap, size - depth, 0.0), axis)
    _, a, b = _parted_boxes(add(w, away), E, g, h, inverse)
    n = choose(overlap, axis, direction(sub(b, a), axis, size * size)[1])
    # the distance alone does not need the axis
    d = select(overlap, depth, sqrt(_parted_boxes(w, E, g, h, inverse)[0]))
    return into_ground(s, Proximity(d, a, add(a, scale(d, n)), n))


def _box_axes(
    w: Vector, E: list[Vector], g: Vector, h: Vector, inverse: list[list[Scalar]]
) -> list[tuple[Scalar, Vector]]:
    """Return the candidates for separating axes: of the faces of both boxes and of the pairs of
    edges. Half widths use entries of E only.
    """
    A = [[abs(x) for x in e] for e in E]
    found = [
        _face_axis(w[i], g[i] + (h[0] * A[0][i] + h[1] * A[1][i] + h[2] * A[2][i]), UNITS[i])
        for i in range(3)
    ]
    found += [
        _face_axis(dot(w, E[j]), h[j] + (g[0] * A[j][0] + g[1] * A[j][1] + g[2] * A[j][2]), E[j])
        for j in range(3)
    ]
    for i, i1, i2 in TURNS:
        for j, j1, j2 in TURNS:
            half = g[i1] * A[j][i2] + g[i2] * A[j][i1] + h[j1] * A[j2][i] + h[j2] * A[j1][i]
            found.append(
                _edge_axis(
                    cross(UNITS[i], E[j]), w[i2] * E[j][i1] - w[i1] * E[j][i2], half, inverse[i][j]
                )
            )
    return found


def _parted_boxes(
    w: Vector, E: list[Vector], g: Vector, h: Vector, inverse: list[list[Scalar]]
) -> tuple[Scalar, Vector, Vector]:
    """Return squared distance and nearest points of two boxes that do not overlap: of a corner and
    a box, or of two edges along their common normal.
    """
    rows = (E[0], E[1], E[2])  # rotate(rows, x) is x in the second's frame
    best, a, b = 1e300, w, w
    mine = _corners((0.0, 0.0, 0.0), [scale(g[i], UNITS[i]) for i in range(3)])
    for x, y in zip(
        mine,
        _corners(
            neg(rotate(rows, w)),
            [(g[i] * E[0][i], g[i] * E[1][i], g[i] * E[2][i]) for i in range(3)],
        ),
    ):
        on = _within(y, h)
        best, a, b = _nearer(best, a, b, sub(y, on), x, add(w, _combined(E, on)))
    for x in _corners(w, [scale(h[k], E[k]) for k in range(3)]):
        on = _within(x, g)
        best, a, b = _nearer(best, a, b, sub(x, on), on, x)
    for i, i1, i2 in TURNS:
        # L = e_i x E_j, of which L . E_j1 = E_j2[i] and L . E_j2 = -E_j1[i]
        for j, j1, j2 in TURNS:
            side = sign(w[i2] * E[j][i1] - w[i1] * E[j][i2])
            p = add(
                scale(copysign(g[i1], -side * E[j][i2]), UNITS[i1]),
                scale(copysign(g[i2], side * E[j][i1]), UNITS[i2]),
            )
            q = add(
                scale(copysign(h[j1], -side * E[j2][i]), E[j1]),
                scale(copysign(h[j2], side * E[j1][i]), E[j2]),
            )
            x, y = _segments(p, UNITS[i], g[i], add(w, q), E[j], h[j], inverse[i][j])
            best, a, b = _nearer(best, a, b, sub(y, x), x, y)
    return best, a, b


def _corners(middle: Vector, halves: list[Vector]) -> list[Vector]:
    """Return the eight corners of a box with centre `middle` and half edges `halves`."""
    found = [middle]
    for half in halves:
        found = [x for y in found for x in (add(y, half), sub(y, half))]
    return found


def _nearer(
    best: Scalar, a: Vector, b: Vector, apart: Vector, x: Vector, y: Vector
) -> tuple[Scalar, Vector, Vector]:
    """Return the nearer of two pairs of points, with its squared distance."""
    square = dot(apart, apart)
    better = square < best
    return smaller(square, best), choose(better, x, a), choose(better, y, b)


def _combined(E: list[Vector], x: Sequence[Scalar]) -> Vector:
    """Return the linear combination x1 E1 + x2 E2 + x3 E3 of three vectors."""
    return add(scale(x[0], E[0]), add(scale(x[1], E[1]), scale(x[2], E[2])))
