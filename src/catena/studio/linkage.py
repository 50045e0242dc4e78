"""Linkage: points clicked in a plane become the bodies, pins and loops of a planar linkage, as
tables of a model file.

  o------o                every line of a chain is a body, a rod of `density` with its frame at its
                          first point, x along it;
 /        \\               points are pins; a chain begins on the ground or on a pin that is there,
                           and ends on the ground, on such
o          o              a pin, or in the open
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from ..errors import CatenaError

DENSITY = "1 kg/m"
SHORTEST_LINE_RATIO = 1e-6  # length of a line, relative to the longest


@dataclass(frozen=True)
class Anchor:
    """The start or end of a chain: on the ground, or on a body at a point of its frame."""

    body: str = "ground"
    at: tuple[Any, ...] | None = None


@dataclass(frozen=True)
class Plane:
    """A plane through the origin: two axes of the ground, to the right and upwards, and the normal
    towards the viewer.

    Pins turn about the normal, so that angles count from the first axis to the second.
    """

    axes: tuple[int, int]
    normal: tuple[int, int, int]

    @property
    def down(self) -> list[float]:
        """Gravity (m/s2) downwards in the plane."""
        return [-9.81 if k == self.axes[1] else 0 for k in range(3)]

    def along(self, size: Any) -> list[Any]:
        """Return the point of a link at a distance `size` along it; links lie along the first
        axis.
        """
        found: list[Any] = [0, 0, 0]
        found[self.axes[0]] = size
        return found

    def angle(self, R: Any) -> float:
        """Return the angle (rad) of a link with orientation R (3, 3) in the plane."""
        right, up = self.axes
        return math.atan2(R[up][right], R[right][right])


PLANES = {
    "x-y": Plane((0, 1), (0, 0, 1)),
    "x-z": Plane((0, 2), (0, -1, 0)),
    "y-z": Plane((1, 2), (1, 0, 0)),
}


@dataclass(frozen=True)
class Linkage:
    """Tables and parameters to be added, and the angles (rad) of the pins as drawn, the first pin
    first.
    """

    tables: tuple[tuple[str, Mapping[str, Any]], ...]
    parameters: Mapping[str, Any]
    angles: Mapping[str, float] = field(default_factory=dict)


def chain(
    points: Sequence[Sequence[float]],
    start: Anchor,
    end: Anchor | None,
    turned: float,
    taken: Iterable[str],
    plane: Plane | None = None,
) -> Linkage:
    """Return the tables of a chain through points (n, 2), m, in the plane, by default x-y.

    end: None leaves the chain open. turned: the present angle (rad) of the body from which it
    starts. taken: names that are in use. Raises CatenaError for fewer than two points, or points
    that coincide.
    """
    plane = plane or PLANES["x-y"]
    if len(points) < 2:
        raise CatenaError("a linkage has two points at least; click once more")
    lines = [(b[0] - a[0], b[1] - a[1]) for a, b in pairwise(points)]
    lengths = [math.hypot(*line) for line in lines]
    if min(lengths) <= SHORTEST_LINE_RATIO * max(lengths):
        raise CatenaError("two points of the linkage coincide; click them apart")
    used = set(taken)
    bodies = [_fresh("link", used) for _ in lines]
    pins = [_fresh("pin", used) for _ in range(len(lines) + (end is not None))]
    sizes = [_fresh("l", used, "") for _ in lines]
    parameters: dict[str, Any] = {name: f"{_round(1000 * x)} mm" for name, x in zip(sizes, lengths)}
    tables: list[tuple[str, Mapping[str, Any]]] = [
        ("body", _body(name, size, plane)) for name, size in zip(bodies, sizes)
    ]
    angle = turned
    before = start.body
    angles = {}
    for k, (body, pin, (x, y)) in enumerate(zip(bodies, pins, lines)):
        own = math.atan2(y, x)
        angles[pin] = math.remainder(own - angle, 2 * math.pi)
        place = _spot(start, points[0], plane) if k == 0 else plane.along(sizes[k - 1])
        tables.append(("joint", _pin(pin, before, body, place, plane)))
        angle, before = own, body
    if end is not None:
        tables.append(
            (
                "loop",
                _pin(
                    pins[-1],
                    before,
                    end.body,
                    plane.along(sizes[-1]),
                    plane,
                    _spot(end, points[-1], plane),
                ),
            )
        )
    return Linkage(tuple(tables), parameters, angles)


def _body(name: str, size: str, plane: Plane) -> dict[str, Any]:
    """Return the table of a slender rod."""
    inertia: list[Any] = [f"density*{size}^3/12"] * 3
    inertia[plane.axes[0]] = 0  # a slender rod
    return {
        "name": name,
        "mass": f"density*{size}",
        "com": plane.along(f"{size}/2"),
        "inertia": inertia,
    }


def _pin(
    name: str,
    parent: str,
    child: str,
    at: list[Any],
    plane: Plane,
    child_at: list[Any] | None = None,
) -> dict[str, Any]:
    """Return the table of a pin."""
    found: dict[str, Any] = {
        "name": name,
        "kind": "revolute",
        "parent": parent,
        "child": child,
        "at": at,
    }
    # pins turn about z unless the file says otherwise
    found |= {} if plane.normal == (0, 0, 1) else {"axis": list(plane.normal)}
    return found if child_at is None else {**found, "child_at": child_at}


def _spot(anchor: Anchor, point: Sequence[float], plane: Plane) -> list[Any]:
    """Return the place of a pin on the ground (the point itself) or on a body, in that body's
    frame.
    """
    if anchor.at is not None:
        return list(anchor.at)
    place: list[Any] = [0, 0, 0]
    for axis, x in zip(plane.axes, point):
        place[axis] = f"{_round(1000 * x)} mm" if abs(x) > 1e-9 else 0
    return place


def _fresh(word: str, used: set[str], gap: str = " ") -> str:
    """Return the word with the first number that makes a name not in use."""
    k = 1
    while f"{word}{gap}{k}" in used:
        k += 1
    used.add(f"{word}{gap}{k}")
    return f"{word}{gap}{k}"


def _round(x: float) -> str:
    """Return a number with four digits, without trailing zeros."""
    return f"{float(f'{x:.4g}'):.10g}"
