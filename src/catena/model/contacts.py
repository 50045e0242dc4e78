"""Contacts: pairs that may touch, with their laws of friction and impact. Frozen records; nothing here moves.

    [[contact]]
    between = ["foot", "ground"]
    friction = 0.6
    restitution = 0.2

The first of `between` is what touches, one name or a list of them: a body (its shapes that collide: spheres, ends of capsules,
corners of boxes) or a frame, which is a point, or with `radius` a sphere about it. The second is the surface: the ground, a body with one shape that
collides, or a frame; a frame is a half-space below its x-y plane, and z its outward normal, unless `surface` says otherwise.

    plane    the half-space z <= 0 of the frame            sphere   a ball of `surface_radius` about the frame
    bowl     the inside of such a sphere                   trough   the inside of a cylinder along the frame's z
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from ..errors import MechanismError, UnknownNameError
from .pose import Pose, Vector

if TYPE_CHECKING:
    from .mechanism import Mechanism

LAWS = ("newton", "poisson")
ORDERS = ("simultaneous", "sequential")
PARADOX = ("stop", "impact")
SURFACES = ("plane", "sphere", "bowl", "trough")
GROUND = "ground"


@dataclass(frozen=True)
class Contact:
    """A pair that may touch.

    between: see the head of this file. friction: Coulomb's coefficient, or (static, kinetic). restitution: 0 (plastic) to 1. law:
    of impact, "newton" (the speed of separation is e times that of approach) or "poisson" (the impulse of expansion is e times
    that of compression). impacts: several at one instant are "simultaneous" or "sequential". paradox: what to do where rigid
    bodies with friction have no motion, or several: "stop" the run with a sentence, or let an "impact" without collision happen.
    radius: of the sphere about a frame, m. surface, surface_radius: what the second is, where it is a frame. name: in results.
    """

    between: Any
    friction: Any
    restitution: float
    law: str = "newton"
    impacts: str = "simultaneous"
    paradox: str = "stop"
    radius: float | None = None
    surface: str = ""
    surface_radius: float = 0.0
    name: str = ""

    def __post_init__(self) -> None:
        pair = self.between
        if isinstance(pair, str) or len(pair) != 2 or not all(_names(x) for x in pair) or not isinstance(pair[1], str):
            raise MechanismError(f"a contact is between {pair!r}; it takes what touches, a name or a list of them, and a surface")
        object.__setattr__(self, "between", (_names(pair[0]), pair[1]))
        object.__setattr__(self, "name", self.name or f"{', '.join(self.between[0])}-{pair[1]}")
        both = self.friction if isinstance(self.friction, (tuple, list)) else (self.friction, self.friction)
        object.__setattr__(self, "friction", tuple(both))
        if faults := list(self._faults()):
            raise MechanismError(f"contact {self.name!r}: {'; '.join(faults)}")

    def _faults(self) -> Iterator[str]:
        if len(self.friction) != 2 or not all(_number(x) and x >= 0.0 for x in self.friction):
            yield f"friction is {_shown(self.friction)}; it is a coefficient of zero or more, or two: static, kinetic"
        elif self.friction[0] < self.friction[1]:
            yield f"its static friction {self.friction[0]:g} is below its kinetic friction {self.friction[1]:g}"
        if not _number(self.restitution) or not 0.0 <= self.restitution <= 1.0:
            yield f"restitution is {self.restitution}; it lies between 0 and 1"
        for what, given, known in (("law", self.law, LAWS), ("impacts", self.impacts, ORDERS), ("paradox", self.paradox, PARADOX)):
            if given not in known:
                yield f"{what} is {given!r}; it is one of {', '.join(known)}"
        if self.surface and self.surface not in SURFACES:
            yield f"surface is {self.surface!r}; it is one of {', '.join(SURFACES)}"
        if self.radius is not None and not self.radius >= 0.0:
            yield f"radius is {self.radius}; it is zero or more, m"
        if self.surface not in ("", "plane") and not self.surface_radius > 0.0:
            yield f"surface_radius is {self.surface_radius}; a {self.surface} has one above zero, m"

    @property
    def static(self) -> float:
        """Of what sticks."""
        return float(self.friction[0])

    @property
    def kinetic(self) -> float:
        """Of what slips."""
        return float(self.friction[1])


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


def _names(x: Any) -> tuple[str, ...]:
    """One name, or several, as a tuple; empty where it is neither."""
    found = (x,) if isinstance(x, str) else tuple(x) if isinstance(x, (tuple, list)) else ()
    return found if all(isinstance(name, str) and name for name in found) else ()


def _number(x: Any) -> bool:
    return isinstance(x, (int, float)) and not isinstance(x, bool) and abs(x) < float("inf")


def _shown(friction: tuple[Any, ...]) -> str:
    return str(friction[0]) if len(set(friction)) == 1 else str(friction)
