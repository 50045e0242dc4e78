"""Where a sphere meets a surface: gap, normal and tangents, as expressions over scalars of any
kind.

    c, r      centre and radius of the sphere; r = 0 for a point
    R, o, a   axes (by rows), origin and radius of the surface
    gap       their distance, negative in penetration
    n         the normal, from the surface to the sphere: d gap/dt = n . u, u the velocity of the
              sphere relative to the surface at the point c - r n where they touch

A concave surface (bowl, trough) has its normal towards its centre or axis.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import add, cross, dot, neg, scale, select, sqrt, sub

Meeting = tuple[Any, tuple[Any, Any, Any]]  # gap and normal


def on_plane(c: Any, r: Any, R: Any, o: Any, a: Any) -> Meeting:
    """Return gap and normal of a sphere (centre c, radius r) above a plane (axes R by rows, a point
    o of it); `a` is not used.
    """
    n = (R[0][2], R[1][2], R[2][2])
    return dot(n, sub(c, o)) - r, n


def on_sphere(c: Any, r: Any, R: Any, o: Any, a: Any) -> Meeting:
    """Return gap and normal of a sphere (centre c, radius r) on a sphere (centre o, radius a); its
    axes R are not used.
    """
    distance, n = _between(sub(c, o))
    return distance - a - r, n


def in_bowl(c: Any, r: Any, R: Any, o: Any, a: Any) -> Meeting:
    """Return gap and normal of a sphere (centre c, radius r) inside a bowl, a sphere (centre o,
    radius a); its axes R are not used.
    """
    distance, n = _between(sub(c, o))
    return a - r - distance, neg(n)


def in_trough(c: Any, r: Any, R: Any, o: Any, a: Any) -> Meeting:
    """Return gap and normal of a sphere (centre c, radius r) inside a trough: a cylinder about the
    z axis of R through o, with radius a.
    """
    axis = (R[0][2], R[1][2], R[2][2])
    d = sub(c, o)
    distance, n = _between(sub(d, scale(dot(axis, d), axis)))
    return a - r - distance, neg(n)


def _between(d: Any) -> Meeting:
    """Return length and direction of the vector d; both are zero for d = 0, as in the centre of a
    hole.
    """
    square = dot(d, d)
    apart = square > 0.0
    distance = select(apart, square, 1.0 + 0.0 * square) ** 0.5
    return select(apart, distance, 0.0 * square), scale(1.0 / distance, d)


class FeaturesMeet(NamedTuple):
    """A meeting of two features of polyhedra: gap; normal and tangents; place; x, y: coordinates of
    the point on its face or along both edges, m.
    """

    gap: Any
    axes: tuple[Any, Any, Any]
    place: Any
    x: Any
    y: Any


def features_meet(
    corner: Any, tip: Any, a: Any, b: Any, first: Any, second: Any, along: Any
) -> FeaturesMeet:
    """Return where a corner of A meets a face of B (corner = 1), a corner of B a face of A (tip =
    1), or an edge of A one of B (both 0).

    a, b: points of A and of B. first, second: unit vectors; for a corner the outward normal of B's
    face and a tangent, for a tip those of A's face, for a crossing the directions of A's and B's
    edges, so that first x second points from B to A. along: the direction in which the point is
    projected onto the face, or along which edges are seen as crossing. All in the same axes; d
    gap/dt = n . u at the place.
    """
    edges = 1.0 - corner - tip
    c, r = cross(first, second), sub(a, b)
    n = add(scale(corner - tip, first), scale(edges / sqrt(dot(c, c) + (1.0 - edges)), c))
    gap = dot(n, r)
    # in the plane of the face, or of both edges: w = -x first + y second
    w = sub(r, scale(gap / dot(n, along), along))
    t = cross(n, second)
    det = edges * dot(c, n) + (1.0 - edges)
    x = (1.0 - edges) * dot(second, w) - edges * dot(cross(w, second), n) / det
    y = (1.0 - edges) * dot(t, w) - edges * dot(cross(w, first), n) / det
    place = add(sub(a, scale(tip, r)), scale(-edges * dot(cross(r, second), n) / det, first))
    return FeaturesMeet(gap, (n, second, t), place, x, y)


class RoundedMeet(NamedTuple):
    """A meeting of two features with a radius: gap; unit normal; the point of A's core; residual
    (3,), from the point of B's core to it; s, u: coordinates along the edges of A and B, m.
    """

    gap: Any
    normal: Any
    core: Any
    residual: Any
    s: Any
    u: Any


def rounded_meet(
    face: Any, along_a: Any, along_b: Any, a: Any, b: Any, d: Any, g: Any, radius: Any
) -> RoundedMeet:
    """Return where a corner a of A, or its edge a + s d (along_a = 1), meets a corner b of B, its
    edge b + u g (along_b = 1), or its face (face = 1).

    d, g: unit vectors; for a face g is its outward normal. The nearest points of corners and edges
    have one formula, with e their difference: their distance is |e| less the radius, and d gap/dt =
    n . u at any place along n. All in the same axes.
    """
    w = sub(a, b)
    k = along_a * along_b * dot(d, g)
    # for two edges: each direction without its component along the other
    x = sub(d, scale(k, g))
    y = sub(g, scale(k, d))
    s = -along_a * dot(x, w) / dot(x, x)
    u = along_b * dot(y, w) / dot(y, y)
    core = add(a, scale(s, d))
    e = sub(sub(core, b), scale(u, g))
    v = add(scale(face, g), scale(1.0 - face, e))
    n = scale(1.0 / sqrt(dot(v, v)), v)
    return RoundedMeet(dot(n, e) - radius, n, core, e, s, u)


def tangents(n: Any) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Return two unit vectors that form a right-handed frame with the unit vector n, without a
    singular direction: [Duff2017].

    For n = z they are x and y. They jump where n_z changes its sign; the plane that they span does
    not.
    """
    x, y, z = n
    s = select(z >= 0.0, 1.0 + 0.0 * z, -1.0 + 0.0 * z)
    a = -1.0 / (s + z)
    b = x * y * a
    return (1.0 + s * x * x * a, s * b, -s * x), (b, s + y * y * a, -y)
