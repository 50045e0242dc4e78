"""Solids, the record of a signed distance, and the small algebra in which distances are written."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..spatial import add, copysign, dot, neg, rotate, scale, select, sqrt, sub

Scalar = Any
Vector = tuple[Scalar, Scalar, Scalar]
# A distance or direction below this, relative to the lengths involved, is only rounding.
ROUNDING = 1e-15


class Proximity(NamedTuple):
    """The signed distance (m) of two shapes, the nearest points of the first and of the second, and
    the unit normal from first to second.
    """

    distance: Scalar
    a: Vector
    b: Vector
    normal: Vector

    def flipped(self) -> Proximity:
        """Return the proximity with first and second shape exchanged."""
        return Proximity(self.distance, self.b, self.a, neg(self.normal))


class Solid(NamedTuple):
    """A shape with its pose: R_WS as three rows, p_WS, and its sizes."""

    R: Any
    p: Vector
    size: tuple[Scalar, ...]

    def axis(self, k: int) -> Vector:
        """Return the k-th axis of its frame."""
        return (self.R[0][k], self.R[1][k], self.R[2][k])


# --- scalars and vectors
def clamp(x: Scalar, limit: Scalar) -> Scalar:
    """Return x clamped to [-limit, limit], by selection, so that at a limit the derivative is that
    of one side, and not the mean of both.
    """
    return select(x > limit, limit, select(x < -limit, -limit, x))


def sign(x: Scalar) -> Scalar:
    """Return 1 or -1, with the sign of x."""
    return copysign(1.0, x)


def choose(condition: Any, a: Vector, b: Vector) -> Vector:
    """Return vector a where the condition holds, else b."""
    return (
        select(condition, a[0], b[0]),
        select(condition, a[1], b[1]),
        select(condition, a[2], b[2]),
    )


def nonzero(x: Scalar) -> Scalar:
    """Return x plus 1e-290, so that a division by zero is avoided."""
    return x + 1e-290


def direction(v: Vector, instead: Vector, scale2: Scalar) -> tuple[Scalar, Vector]:
    """Return length and direction of v; the direction `instead` if v is only rounding relative to
    the squared length scale2.
    """
    square = dot(v, v)
    none = square <= ROUNDING**2 * scale2
    length = sqrt(square)
    return length, choose(none, instead, scale(1.0 / select(none, 1.0, length), v))


def perpendicular(v: Vector) -> Vector:
    """Return a unit vector perpendicular to v, which must not be zero."""
    wide = abs(v[0]) > abs(v[2])
    w = choose(wide, (-v[1], v[0], 0.0 * v[0]), (0.0 * v[0], -v[2], v[1]))
    return scale(1.0 / sqrt(nonzero(dot(w, w))), w)


def rounded(core: Proximity, ra: Scalar, rb: Scalar) -> Proximity:
    """Return the proximity of two shapes with cores of known proximity and radii ra and rb."""
    d, a, b, n = core
    return Proximity(d - ra - rb, add(a, scale(ra, n)), sub(b, scale(rb, n)), n)


def half_axis(s: Solid) -> Vector:
    """Return the vector from the centre of a capsule or cylinder to the end of its axis."""
    return scale(0.5 * s.size[1], s.axis(2))


def half_edges(s: Solid) -> Vector:
    """Return half the sizes of a box."""
    return (0.5 * s.size[0], 0.5 * s.size[1], 0.5 * s.size[2])


def into_ground(s: Solid, found: Proximity) -> Proximity:
    """Return a proximity, given in the frame of the solid s, in the frame in which s has its
    pose.
    """
    d, a, b, n = found
    return Proximity(d, add(s.p, rotate(s.R, a)), add(s.p, rotate(s.R, b)), rotate(s.R, n))
