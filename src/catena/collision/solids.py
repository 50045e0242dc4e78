"""Solids at their places, what a distance says of two of them, and the small algebra that distances
are written in.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import add, copysign, dot, neg, rotate, scale, select, sqrt, sub

Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
# beside the lengths in play: below it a distance or a direction is nothing but rounding
ROUNDING = 1e-15


class Proximity(NamedTuple):
    """Signed distance (m), nearest points of the first and of the second shape, unit normal from
    first to second.
    """

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


# --- scalars and vectors
def clamp(x: Scalar, limit: Scalar) -> Scalar:
    """x between minus the limit and the limit: by selection, so that at a limit it has the
    derivative of one side, and not the mean of both.
    """
    return select(x > limit, limit, select(x < -limit, -limit, x))


def sign(x: Scalar) -> Scalar:
    """One with the sign of x."""
    return copysign(1.0, x)


def choose(condition: Any, a: Vector, b: Vector) -> Vector:
    """Vector a where the condition holds, else b."""
    return (
        select(condition, a[0], b[0]),
        select(condition, a[1], b[1]),
        select(condition, a[2], b[2]),
    )


def nonzero(x: Scalar) -> Scalar:
    """x, or something very small in place of zero."""
    return x + 1e-290


def direction(v: Vector, instead: Vector, scale2: Scalar) -> tuple[Scalar, Vector]:
    """Length and direction of v; another direction where v is nothing beside a squared length."""
    square = dot(v, v)
    none = square <= ROUNDING**2 * scale2
    length = sqrt(square)
    return length, choose(none, instead, scale(1.0 / select(none, 1.0, length), v))


def perpendicular(v: Vector) -> Vector:
    """A unit vector perpendicular to v, which is not zero."""
    wide = abs(v[0]) > abs(v[2])
    w = choose(wide, (-v[1], v[0], 0.0 * v[0]), (0.0 * v[0], -v[2], v[1]))
    return scale(1.0 / sqrt(nonzero(dot(w, w))), w)


def rounded(core: Proximity, ra: Scalar, rb: Scalar) -> Proximity:
    """The pair of two cores with radii."""
    d, a, b, n = core
    return Proximity(d - ra - rb, add(a, scale(ra, n)), sub(b, scale(rb, n)), n)


def half_axis(s: Solid) -> Vector:
    """From the middle of a capsule or cylinder to the end of its axis."""
    return scale(0.5 * s.size[1], s.axis(2))


def half_edges(s: Solid) -> Vector:
    """Half the sizes of a box."""
    return (0.5 * s.size[0], 0.5 * s.size[1], 0.5 * s.size[2])


def into_ground(s: Solid, found: Proximity) -> Proximity:
    """From the shape's own frame."""
    d, a, b, n = found
    return Proximity(d, add(s.p, rotate(s.R, a)), add(s.p, rotate(s.R, b)), rotate(s.R, n))
