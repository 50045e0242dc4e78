"""Contact points: what the contacts of a mechanism come down to, points or spheres that may touch a surface."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

from ..errors import MechanismError, UnknownNameError
from .contacts import Contact
from .mechanism import GROUND, Mechanism
from .pose import Pose, Vector


@dataclass(frozen=True)
class ContactPoint:
    """A point, or a sphere, that may touch a surface: what a contact comes down to.

    contact: the number of its contact. name: in results. body, centre, radius: of the sphere. other, pose: the body of the
    surface and X_BS; surface, size: its kind and radius.
    """

    contact: int
    name: str
    body: str
    centre: Vector
    radius: float
    other: str
    pose: Pose
    surface: str = "plane"
    size: float = 0.0


def contact_points(m: Mechanism) -> list[ContactPoint]:
    """All points of all contacts, in order."""
    return [point for k, c in enumerate(m.contacts) for point in _points(m, k, c)]


def _points(m: Mechanism, k: int, c: Contact) -> Iterator[ContactPoint]:
    spheres, (other, pose, surface, size) = [one for name in c.between[0] for one in _spheres(m, c, name)], _surface(m, c)
    for label, body, centre, radius in spheres:
        name = c.name if len(spheres) == 1 else f"{label}-{c.between[1]}"
        yield ContactPoint(k, name, body, centre, radius, other, pose, surface, size)


def _spheres(m: Mechanism, c: Contact, first: str) -> Iterator[tuple[str, str, Vector, float]]:
    """(label, body, centre, radius) of what touches."""
    shapes = _collision(m, first)
    if c.radius is not None or not shapes:
        frame = m.frame(first)
        yield first, frame.body, frame.pose.position, float(c.radius or 0.0)
        return
    for n, shape in enumerate(shapes, start=1):
        if shape.kind not in _SPHERES:
            raise MechanismError(f"contact {c.name!r}: a {shape.kind} of {first!r} has no points that touch; "
                                 f"take one of {', '.join(_SPHERES)}, or frames")  # fmt: skip
        for label, p, radius in _SPHERES[shape.kind](shape.size):
            label = " ".join(filter(None, (first, label, f"of shape {n}" if len(shapes) > 1 else "")))
            yield label, first, (shape.pose @ Pose(position=p)).position, radius


def _box(size: Any) -> Iterator[tuple[str, Vector, float]]:
    for n, signs in enumerate(product((1, -1), repeat=3), start=1):
        yield f"corner {n}", tuple(0.5 * s * x for s, x in zip(signs, size)), 0.0


def _capsule(size: Any) -> Iterator[tuple[str, Vector, float]]:
    for n, sign in enumerate((1, -1), start=1):
        yield f"end {n}", (0.0, 0.0, 0.5 * sign * size[1]), size[0]


_SPHERES: dict[str, Any] = {"sphere": lambda size: [("", (0.0, 0.0, 0.0), size[0])], "capsule": _capsule, "box": _box}


def _surface(m: Mechanism, c: Contact) -> tuple[str, Pose, str, float]:
    """(body, X_BS, kind, radius) of the surface."""
    second = c.between[1]
    shapes = _collision(m, second)
    if c.surface or not shapes:
        frame = m.frame(second)
        return frame.body, frame.pose, c.surface or "plane", float(c.surface_radius)
    if len(shapes) > 1 or shapes[0].kind not in ("plane", "sphere"):
        kinds = ", ".join(s.kind for s in shapes)
        raise MechanismError(f"contact {c.name!r}: {second!r} collides as {kinds}; a surface is one plane or one sphere")
    (shape,) = shapes
    return second, shape.pose, shape.kind, shape.size[0] if shape.kind == "sphere" else 0.0


def _collision(m: Mechanism, name: str) -> tuple[Any, ...]:
    """The shapes that collide, of a body or the ground."""
    if name == GROUND:
        return m.ground
    return m.body(name).collision if name in m._bodies else ()


def contact_faults(m: Mechanism) -> Iterator[str]:
    """What is wrong with the contacts of a mechanism whose bodies are sound."""
    for c in m.contacts:
        for name in (*c.between[0], c.between[1]):
            try:
                m.frame(name)
            except UnknownNameError as why:
                yield f"contact {c.name!r}: {why}"
    for what in ("law", "impacts", "paradox"):
        if len({getattr(c, what) for c in m.contacts}) > 1:
            yield f"contacts have several values of {what}; all contacts of a mechanism have the same, for they may meet at one instant"
    names = [c.name for c in m.contacts]
    for name in {n for n in names if names.count(n) > 1}:
        yield f"{names.count(name)} contacts are called {name!r}; give each its own name"
