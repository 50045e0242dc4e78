"""Actions: where the force of a position row acts on bodies.

A row of coordinates, such as the ratio of two gears, has a multiplier lam that acts along the
coordinates: A' lam. The motion depends on nothing else. The forces in the bearings also depend on
the two bodies that push each other, and on the line along which they do. A record returns this from
its method `action`, or a sentence that says which data are missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ...spatial import cross
from ..pose import Scalar, Vector

Wrench = tuple[Vector, Vector]  # torque about the ground's origin, and force, in the ground's axes


class Line(NamedTuple):
    """The axis about which a body turns, or along which it slides: a point on it and its unit
    direction, in the ground's axes at the present configuration.
    """

    point: Vector
    axis: Vector


@dataclass(frozen=True)
class Freedom:
    """The coordinate of a joint with one degree of freedom. body: the joint's child. sort:
    "turning" or "sliding". line: its axis at the present configuration.
    """

    body: str
    sort: str
    line: Line


@dataclass(frozen=True)
class Action:
    """The wrench of a row on the body `on`; the opposite acts on the body `against`.

    wrench: per unit of the row's multiplier. sideways: per unit of its magnitude, whatever its
    sign, as teeth push wheels apart on either flank. steady: independent of the multiplier, as the
    pretension of a belt. unknown: wrenches of unknown magnitude, which do no work. missing: the
    data that the record would have to state, as a phrase for users; "" where everything is known.
    """

    on: str
    against: str
    wrench: Wrench
    sideways: Wrench | None = None
    steady: Wrench | None = None
    unknown: tuple[Wrench, ...] = ()
    missing: tuple[str, ...] = ()


class Sites(Protocol):
    """The interface by which a position row reads the mechanism when it states where it acts.
    Scalars are numbers, or arrays with one number per state; vectors are triples in the ground's
    axes.
    """

    def value(self, x: Scalar) -> float:
        """Return the number for the value of a field that holds a number."""

    def body(self, frame: str) -> str:
        """Return the name of the body of a frame."""

    def origin(self, frame: str) -> Vector:
        """Return the position of the origin of a frame, m."""

    def line(self, body: str, carrier: str, sort: str) -> Line:
        """Return the common axis of a body and its carrier, for a field of the sort "turning" or
        "sliding".
        """

    def freedom(self, coordinate: str) -> Freedom | None:
        """Return the degree of freedom of a coordinate, if its joint has no other; else None."""

    def slope(self, coordinate: str) -> Any:
        """Return the derivative of the row with respect to a coordinate."""


def through(point: Vector, force: Vector) -> Wrench:
    """Return the wrench of a force along a line through a point."""
    return cross(point, force), force
