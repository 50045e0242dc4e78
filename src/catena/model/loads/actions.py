"""Actions: where on bodies the force of a position row acts.

A row of coordinates, such as the ratio of two gears, has a multiplier lam that works along the
coordinates: A' lam. That is all the motion needs. What the bearings carry needs more: the two
bodies that push each other, and the line along which they do. A record that knows it says so by
its `action`; one that does not says what is missing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from ...spatial import cross
from ..pose import Scalar, Vector

Wrench = tuple[Vector, Vector]  # torque about the ground's origin, and force, in the ground's axes


class Line(NamedTuple):
    """The axis about which a body turns, or along which it slides: a point on it and its direction
    of length one, in the ground's axes, where the mechanism is.
    """

    point: Vector
    axis: Vector


@dataclass(frozen=True)
class Freedom:
    """A coordinate of a joint that has one freedom. body: the joint's child. sort: "turning" or
    "sliding". line: its axis, where the mechanism is.
    """

    body: str
    sort: str
    line: Line


@dataclass(frozen=True)
class Action:
    """What a row does to the body `on`; the body `against` feels the opposite.

    wrench: for each unit of the row's multiplier. sideways: for each unit of its size, whatever its
    sign, as teeth push wheels apart on either flank. steady: at all times, as a belt's pretension.
    unknown: wrenches whose size the record does not say, and which do no work. missing: what it
    would have to say, for people; nothing where all is known.
    """

    on: str
    against: str
    wrench: Wrench
    sideways: Wrench | None = None
    steady: Wrench | None = None
    unknown: tuple[Wrench, ...] = ()
    missing: tuple[str, ...] = ()


class Sites(Protocol):
    """What a position row sees of a mechanism when it says where it acts. Scalars are numbers, or
    arrays of them, one per state; vectors are triples in the ground's axes.
    """

    def value(self, x: Scalar) -> float:
        """A field of sort number."""

    def body(self, frame: str) -> str:
        """The body of a frame."""

    def origin(self, frame: str) -> Vector:
        """Where the origin of a frame is, m."""

    def line(self, body: str, carrier: str, sort: str) -> Line:
        """The axis of a field of sort turning or sliding, which both the body and its carrier
        have.
        """

    def freedom(self, coordinate: str) -> Freedom | None:
        """The joint of a coordinate, if it has no other."""

    def slope(self, coordinate: str) -> Any:
        """The derivative of the row by a coordinate."""


def through(point: Vector, force: Vector) -> Wrench:
    """The wrench of a force whose line goes through a point."""
    return cross(point, force), force
