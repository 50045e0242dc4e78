"""The rim of a cylinder on a plane in time stepping: four points of it, the lowest one and three
more at quarter turns.

A tilted cylinder rolls on the lowest point; one that stands has all four, wherever they are on its
rim, and tips over the lowest as soon as it leans.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...collision import ContactPoint, Solid, Vector, tangents
from ...compiler import Tracer
from ...contact import Meet, moving, solid, velocity_at
from ...model import Contact
from ...spatial import add, dot, scale, select, sqrt, sub
from ..terms.contact_rows import TouchingPoint

QUARTERS = 4  # points of a rim
LEVEL_TILT_SQUARE = 1e-24  # squared sine of the tilt: with less, no point of a rim is the lowest


@dataclass(frozen=True)
class RimPoint(TouchingPoint):
    """One of the four points of a rim: `number` quarter turns from the lowest."""

    number: int = 0

    @property
    def name(self) -> str:
        """The name of the point in results."""
        return f"{self.point.name} point {self.number + 1}"

    def meet(self, s: Tracer, mode: Any = None) -> Meet:
        """Return the gap, the contact axes, the place and the velocity at the tracer's symbols."""
        assert self.point.shape is not None and self.point.against is not None
        (R_A, o_A, w_A, v_A), (R_B, o_B, w_B, v_B) = (
            moving(s, self.point.body),
            moving(s, self.point.other),
        )
        plane = solid(s, self.point.against, R_B, o_B)
        n = plane.axis(2)
        place = rim_point(plane, solid(s, self.point.shape, R_A, o_A), self.number)
        u = sub(velocity_at(place, o_A, w_A, v_A), velocity_at(place, o_B, w_B, v_B))
        axes = (n, *tangents(n)) if self.rough else (n,)
        return Meet(dot(n, sub(place, plane.p)), axes, place, [dot(axis, u) for axis in axes])


def stepped_points(point: ContactPoint, contact: Contact) -> tuple[TouchingPoint, ...]:
    """Return the contact points of time stepping for a contact point: itself, or the four points of
    a rim.
    """
    if not point.is_rim:
        return (TouchingPoint(point, contact),)
    return tuple(RimPoint(point, contact, number) for number in range(QUARTERS))


def rim_point(plane: Solid, rim: Solid, number: int) -> Vector:
    """Return (3,): the place that is `number` quarter turns from the lowest point of a rim, or from
    its own x axis where no point is lower than another.
    """
    n = plane.axis(2)
    x = rim.axis(0)
    y = rim.axis(1)
    a, b = -dot(n, x), -dot(n, y)
    square = a * a + b * b
    level = square <= LEVEL_TILT_SQUARE
    unit = 1.0 / sqrt(select(level, 1.0, square))
    c = select(level, 1.0, unit * a)
    d = select(level, 0.0, unit * b)
    c, d = ((c, d), (-d, c), (-c, -d), (d, -c))[number]
    return add(rim.p, scale(rim.size[0], add(scale(c, x), scale(d, y))))
