"""Triangles: three rigid groups of links, each pair joined by one elementary joint, have finitely
many relative positions, in closed form. Every dyad is such a triangle together with its base.

    slides   solutions   the triangle
    0        2           three pins: two circles meet (dyad RRR)
    1        2           two pins and a slide: a line meets a circle (dyads RRP, PRR, RPR)
    2        1           a pin and two slides: two lines meet (dyads RPP, PRP, PPR)

With three slides the angles of the groups are not determined, and there is no such triangle.

The margin of a triangle is the square of the sine of its transmission angle: at most 1, zero at a
dead point, and negative where the triangle cannot be assembled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca

from ..registry import Registry
from .planar_elements import TURN, PlanarPose, compose, inverse, rotate, transform

Point = tuple[Any, Any]


@dataclass(frozen=True)
class Side:
    """One joint of a triangle, between groups A and B: the frame of the joint in each, and the
    direction of a slide in that frame.
    """

    motion: str
    X_AF: PlanarPose
    X_BF: PlanarPose
    direction: Point

    def reversed(self) -> Side:
        """Return the same joint with A and B exchanged. The direction of a slide is reversed, in
        the rotated frame.
        """
        return Side(self.motion, self.X_BF, self.X_AF, (-self.direction[0], -self.direction[1]))

    @property
    def pin_A(self) -> Point:
        """The origin of the joint's frame in A."""
        return (self.X_AF[2], self.X_AF[3])

    @property
    def pin_B(self) -> Point:
        """The origin of the joint's frame in B."""
        return (self.X_BF[2], self.X_BF[3])

    def slid(self, distance: Any) -> PlanarPose:
        """Return the planar pose X_AB of the two groups of a slide at a distance."""
        x, y = self.direction
        D = (1.0, 0.0, x * distance, y * distance)
        return compose(compose(self.X_AF, D), inverse(self.X_BF))


@dataclass(frozen=True)
class Solved:
    """The solution of a triangle: X_AB and X_AC relative to its first group A, and the margin; None
    where there is only one solution.
    """

    X_AB: PlanarPose
    X_AC: PlanarPose
    margin: Any


@dataclass(frozen=True)
class Triangle:
    """A closed form. name: the motions of its joints AB, BC, CA. solve(AB, BC, CA, sign) returns
    the poses. modes: the number of solutions.
    """

    name: str
    modes: int
    solve: Callable[[Side, Side, Side, Any], Solved]


TRIANGLES: Registry[Triangle] = Registry("triangle of joints")


def solve(sides: Sequence[Side], sign: Any) -> Solved:
    """Return the poses of groups B and C in A from the joints AB, BC, CA. `sign`, +1 or -1, chooses
    between two solutions.
    """
    AB, BC, CA = sides
    return TRIANGLES.find(AB.motion + BC.motion + CA.motion).solve(AB, BC, CA, sign)


def _minus(a: Point, b: Point) -> Point:
    return (a[0] - b[0], a[1] - b[1])


def _dot(a: Point, b: Point) -> Any:
    return a[0] * b[0] + a[1] * b[1]


def _cross(a: Point, b: Point) -> Any:
    return a[0] * b[1] - a[1] * b[0]


def _bar(start: Point, end: Point, from_: Point, to: Point) -> PlanarPose:
    """Return the pose of a link that has the points `start` and `end` and carries them to the
    points `from_` and `to` at the same distance.
    """
    own, there = _minus(end, start), _minus(to, from_)
    size = _dot(own, own)
    c, s = _dot(own, there) / size, _cross(own, there) / size
    x, y = rotate((c, s, 0.0, 0.0), start)
    return (c, s, from_[0] - x, from_[1] - y)


def three_pins(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """Two circles meet: the pin BC lies at distance b from the pin AB and at distance c from the
    pin CA. With d the distance between the pins AB and CA, cos mu = (b^2 + c^2 - d^2)/(2 b c) is
    the cosine of the transmission angle, and twice the area of the triangle is b c sin mu.
    """
    P, Q = AB.pin_A, CA.pin_B
    d = _minus(Q, P)
    own_b, own_c = _minus(BC.pin_A, AB.pin_B), _minus(BC.pin_B, CA.pin_A)
    bb, cc, dd = _dot(own_b, own_b), _dot(own_c, own_c), _dot(d, d)
    cosine = (bb + cc - dd) / (2.0 * ca.sqrt(bb * cc))
    margin = (1.0 - cosine) * (1.0 + cosine)
    along = (bb - cc + dd) / (2.0 * dd)
    across = sign * ca.sqrt(bb * cc) * ca.sqrt(margin) / dd
    X = (P[0] + along * d[0] - across * d[1], P[1] + along * d[1] + across * d[0])
    return Solved(_bar(AB.pin_B, BC.pin_A, P, X), _bar(CA.pin_A, BC.pin_B, Q, X), margin)


def pins_and_slide(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """A line meets a circle: AB is the slide; the pin BC, carried by B along the line, lies at
    distance c from the pin CA.
    """
    X_AB = AB.slid(0.0)
    u = rotate(AB.X_AF, AB.direction)
    w = _minus(transform(X_AB, BC.pin_A), CA.pin_B)
    own_c = _minus(BC.pin_B, CA.pin_A)
    cc = _dot(own_c, own_c)
    c = ca.sqrt(cc)
    off = _cross(w, u) / c
    margin = (1.0 - off) * (1.0 + off)
    X_AB = AB.slid(sign * c * ca.sqrt(margin) - _dot(w, u))
    X = transform(X_AB, BC.pin_A)
    return Solved(X_AB, _bar(CA.pin_A, BC.pin_B, CA.pin_B, X), margin)


def pin_and_slides(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """Two lines meet: AB and CA are slides, BC is the pin."""
    AC = CA.reversed()
    X_AB, X_AC = AB.slid(0.0), AC.slid(0.0)
    u, v = rotate(AB.X_AF, AB.direction), rotate(AC.X_AF, AC.direction)
    w = _minus(transform(X_AC, BC.pin_B), transform(X_AB, BC.pin_A))
    sine = _cross(u, v)
    return Solved(AB.slid(_cross(w, v) / sine), AC.slid(_cross(w, u) / sine), None)


def _first_pin_opposite(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """The slide is BC: solve relative to B, then express the poses relative to A."""
    found = pins_and_slide(BC, CA, AB, sign)
    X_BA = found.X_AC
    X_AB = inverse(X_BA)
    return Solved(X_AB, compose(X_AB, found.X_AB), found.margin)


def _slide_last(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """The slide is CA: the mirror image of the case with the slide AB."""
    found = pins_and_slide(CA.reversed(), BC.reversed(), AB.reversed(), sign)
    return Solved(found.X_AC, found.X_AB, found.margin)


def _pin_first(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """BC and CA are slides, which meet in C: solve relative to C, then express the poses relative
    to A.
    """
    found = pin_and_slides(CA, AB, BC, sign)
    X_AC = inverse(found.X_AB)
    return Solved(compose(X_AC, found.X_AC), X_AC, None)


def _pin_last(AB: Side, BC: Side, CA: Side, sign: Any) -> Solved:
    """AB and BC are slides, which meet in B: solve relative to B, then express the poses relative
    to A.
    """
    found = pin_and_slides(BC, CA, AB, sign)
    X_AB = inverse(found.X_AC)
    return Solved(X_AB, compose(X_AB, found.X_AB), None)


for _triangle in (
    Triangle("RRR", 2, three_pins),
    Triangle("PRR", 2, pins_and_slide),
    Triangle("RPR", 2, _first_pin_opposite),
    Triangle("RRP", 2, _slide_last),
    Triangle("PRP", 1, pin_and_slides),
    Triangle("RPP", 1, _pin_first),
    Triangle("PPR", 1, _pin_last),
):
    TRIANGLES.register(_triangle)

assert all(set(name) <= {TURN, "P"} for name in TRIANGLES)
