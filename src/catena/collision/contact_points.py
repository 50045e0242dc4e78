"""Contact points: the points that the contacts of a mechanism consist of, each one place at which
two bodies may touch.

touches a half-space     a sphere; a capsule by the spheres at its ends; a box by its corners; an
                         ellipsoid; a cylinder by its two rims; a mesh by the corners of its convex
                         hull
touches another shape    pairs in closed form, whose nearest points are unique and move smoothly
two polyhedra            boxes and meshes: a patch, whose contact points depend on the configuration
                         (`contact_patches`)
a rounded pair           a capsule and a polyhedron, a sphere and a mesh: a patch too; with events
                         two capsules as well, and a sphere and a box
cylinder, ellipsoid      and another of these, a capsule, box or mesh: the current nearest points,
                         two where they touch along a line
a hole, a guide          a pin in a larger hole; a block between two walls
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..errors import MechanismError, UnknownNameError
from ..model import GROUND, Contact, Mechanism, Pose, Shape, Vector
from .contact_pairs import (
    ContactPair,
    FeatureMethod,
    Values,
    find_pair,
    reach_of_sizes,
    surface_kinds,
    touching_kinds,
)
from .convex_decomposition import solid_parts
from .thickness import thickness


@dataclass(frozen=True)
class ContactPoint:
    """A point, or a sphere, that may touch a surface.

    contact: the index of its contact. name: its name in results. body, centre, radius: the body of
    the sphere, its centre on the body and its radius, m. other, pose: the body of the surface and
    the pose X_BS of the surface on it. surface, size: the kind of the surface and its radius, m.
    shape, against: the two shapes, if it is not a sphere against such a surface.
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
    shape: Shape | None = None
    against: Shape | None = None

    @property
    def is_rim(self) -> bool:
        """Whether it is a rim that rolls on its lowest point, or stands flat."""
        pair = None if self.shape is None else find_pair(self.surface, self.shape.kind)
        return pair is not None and pair.rim


@dataclass(frozen=True)
class ContactPatch:
    """Two convex shapes that may touch at features that change as they move: corners on faces,
    edges that cross, nearest points.

    The shapes are boxes and meshes; and spheres and capsules, which are corners and edges with a
    radius. contact: the index of its contact. name: its name in results. body, shape: the shape
    that touches; other, against: the surface.
    """

    contact: int
    name: str
    body: str
    shape: Shape
    other: str
    against: Shape

    @property
    def record(self) -> ContactPair:
        """The record of the kinds of both shapes."""
        found = find_pair(self.against.kind, self.shape.kind)
        assert found is not None  # contacts of other kinds are refused
        return found

    @property
    def method(self) -> FeatureMethod:
        """How its features are found at events; raises a MechanismError for pairs that only time
        stepping treats.
        """
        if self.record.features is None:
            raise MechanismError(
                f"contact {self.name!r} is between the {self.shape.kind} of {self.body!r} and the"
                f" {self.against.kind} of {self.other!r}, whose points are found in time stepping"
                " only: run with contact = 'time_stepping', or contact = 'ignore'"
            )
        return self.record.features

    def reach(self, values: Values) -> float:
        """Return a bound of the distance of the touching shape from its body's origin, m."""
        features = self.record.features
        return (reach_of_sizes if features is None else features.reach)(self.shape, values)

    @property
    def swapped(self) -> bool:
        """Whether `pair` lists the surface first, because A must be the shape of the pair's first
        kind.
        """
        features = self.record.features
        leads = features is not None and features.first_leads
        return leads and self.shape.kind != self.record.kinds[0]

    @property
    def pair(self) -> tuple[tuple[str, Shape], tuple[str, Shape]]:
        """The (body, shape) of A and of B: the shape that touches and the surface; for a rounded
        patch, the shape with a radius comes first.
        """
        both = (self.body, self.shape), (self.other, self.against)
        return both[::-1] if self.swapped else both


class Touching(NamedTuple):
    """The side of a contact that touches: its label, its body, and a shape; a point is a sphere of
    radius zero.
    """

    label: str
    body: str
    shape: Shape


class Surface(NamedTuple):
    """The side of a contact that is touched: a label if there are several, the body, and a shape,
    whose kind may also be a bowl or a trough.
    """

    label: str
    body: str
    shape: Shape


def thickness_of(point: ContactPoint | ContactPatch, m: Mechanism) -> float:
    """Return how thick both shapes of a contact are together, m."""
    if isinstance(point, ContactPatch) or point.shape is not None:
        shapes = [point.shape, point.against]
    else:
        shapes = [Shape("sphere", (point.radius,)), Shape(point.surface, (point.size,))]
    return sum(thickness(x, m.parameters) for x in shapes if x is not None)


# Points of a patch, at most.
MOST_POINTS = 16


def contact_points(m: Mechanism, by_features: bool = False) -> list[ContactPoint]:
    """Return the contact points of all contacts that are fixed on their shapes, in order.
    by_features: leave out pairs that events treat by features.
    """
    return [
        _point(k, name, one, s)
        for k, name, one, s in _pairs(m)
        if not _patched(one, s, by_features)
    ]


def contact_patches(m: Mechanism, by_features: bool = False) -> list[ContactPatch]:
    """Return the pairs of shapes of all contacts whose points depend on the configuration, in
    order. by_features: as events treat them.
    """
    return [
        ContactPatch(k, name, one.body, one.shape, s.body, s.shape)
        for k, name, one, s in _pairs(m)
        if _patched(one, s, by_features)
    ]


def patch_points(m: Mechanism, patch: ContactPatch) -> list[ContactPoint]:
    """Return the points of a patch, which have names but no fixed places. Raises a MechanismError
    if there are more than MOST_POINTS.
    """
    (_, one), (_, other) = patch.pair
    count = patch.method.most_points(one, other, m.parameters)
    if count > MOST_POINTS:
        raise MechanismError(
            f"contact {patch.name!r}: faces of {patch.body!r} and {patch.other!r} may touch at"
            f" {count} points, and a contact of two bodies has {MOST_POINTS} at most; take shapes"
            " whose faces have fewer corners"
        )
    names = [patch.name] if count == 1 else [f"{patch.name} point {n}" for n in range(1, count + 1)]
    return [
        ContactPoint(
            patch.contact,
            name,
            patch.body,
            patch.shape.pose.position,
            0.0,
            patch.other,
            patch.against.pose,
            patch.method.surface,
        )
        for name in names
    ]


def rims(m: Mechanism) -> list[tuple[ContactPoint, ContactPoint, ContactPoint, ContactPoint]]:
    """Return, for each cylinder that may stand on a plane, the points of both rims and two more
    points, because an end that stands flat is supported by three points.
    """
    found = [p for p in contact_points(m) if p.is_rim]
    flat = lambda one, n: replace(one, name=f"{one.body} flat {n}{one.name[len(one.body) + 6 :]}")  # noqa: E731
    return [(one, other, flat(one, 1), flat(one, 2)) for one, other in zip(found[::2], found[1::2])]


def _pairs(m: Mechanism) -> Iterator[tuple[int, str, Touching, Surface]]:
    """Yield (index of the contact, name, what touches, surface) for every pair of all contacts."""
    for k, c in enumerate(m.contacts):
        surfaces = list(_surfaces(m, c))
        found = [
            (one, s)
            for first in c.between[0]
            for name in _members(m, first)
            for s in surfaces
            for one in _touching(m, c, name, s)
        ]
        for one, s in found:
            yield k, c.name if len(found) == 1 else f"{one.label}-{c.between[1]}{s.label}", one, s


def _patched(one: Touching, s: Surface, by_features: bool) -> bool:
    """Whether the points of a pair depend on the configuration, so that it is a patch."""
    found = find_pair(s.shape.kind, one.shape.kind)
    return found is not None and found.is_patch(by_features)


def _point(k: int, name: str, one: Touching, s: Surface) -> ContactPoint:
    """Return the ContactPoint of a pair that is not a patch."""
    x, y = one.shape, s.shape
    size = y.size[0] if y.size else 0.0
    pair = find_pair(y.kind, x.kind)
    if pair is not None and pair.meeting is not None:
        return ContactPoint(
            k, name, one.body, x.pose.position, x.size[0], s.body, y.pose, y.kind, size
        )
    return ContactPoint(
        k, name, one.body, x.pose.position, max(x.size), s.body, y.pose, y.kind, size, x, y
    )


# --- what touches
def _touching(m: Mechanism, c: Contact, first: str, s: Surface) -> Iterator[Touching]:
    """Yield the points, spheres or shapes of one name that may touch one surface."""
    shapes = _collision(m, first)
    if c.radius is not None or not shapes:
        frame = m.frame(first)
        yield _allowed(
            c,
            Touching(
                first,
                frame.body,
                Shape("sphere", (float(c.radius or 0.0),), Pose(position=frame.pose.position)),
            ),
            s,
        )
        return
    for n, shape in enumerate(shapes, start=1):
        pair = _allowed_pair(c, Touching(first, first, shape), s)
        for label, part in pair.parts(shape):
            label = " ".join(
                filter(None, (first, label, f"of shape {n}" if len(shapes) > 1 else ""))
            )
            yield _allowed(c, Touching(label, first, part), s)


def _allowed(c: Contact, one: Touching, s: Surface) -> Touching:
    """Return `one`; raise a MechanismError if it cannot touch the surface at a unique point."""
    if _allowed_pair(c, one, s).needs_radius and one.shape.size[0] == 0.0:
        raise MechanismError(
            f"contact {c.name!r}: the point {one.label!r} has no normal on the edges of a"
            f" {s.shape.kind}; give it a radius"
        )
    return one


def _allowed_pair(c: Contact, one: Touching, s: Surface) -> ContactPair:
    """Return the record for a touching shape and a surface; raise a MechanismError if there is
    none.
    """
    kind = one.shape.kind
    surface = s.shape.kind
    found = find_pair(surface, kind)
    if found is None:
        raise MechanismError(
            f"contact {c.name!r}: a {kind} of {one.label!r} and a {surface} have no single point"
            f" where they touch; a {surface} is touched by {', '.join(touching_kinds(surface))}:"
            " put spheres or frames there"
        )
    return found


# --- what is touched
def _surfaces(m: Mechanism, c: Contact) -> Iterator[Surface]:
    """Yield the surfaces of a contact; raise a MechanismError for a shape that cannot be one."""
    second = c.between[1]
    shapes = _collision(m, second)
    if c.surface or not shapes:
        frame = m.frame(second)
        yield from WALLS.get(c.surface, _given)(frame.body, frame.pose, c)
        return
    for n, shape in enumerate(shapes, start=1):
        if shape.kind not in surface_kinds():
            raise MechanismError(
                f"contact {c.name!r}: {second!r} collides as a {shape.kind}; a surface is one of"
                f" {', '.join(surface_kinds())}"
            )
        yield Surface(f" shape {n}" if len(shapes) > 1 else "", second, shape)


def _given(body: str, pose: Pose, c: Contact) -> Iterator[Surface]:
    """Yield the surface that the contact itself describes, by default a plane."""
    kind = c.surface or "plane"
    yield Surface("", body, Shape(kind, () if kind == "plane" else (c.surface_radius,), pose))


def _hole(body: str, pose: Pose, c: Contact) -> Iterator[Surface]:
    """Yield a round hole along the frame's z axis."""
    yield Surface("", body, Shape("trough", ((c.radius or 0.0) + c.clearance,), pose))


def _guide(body: str, pose: Pose, c: Contact) -> Iterator[Surface]:
    """Yield two walls, below and above the frame's x-y plane."""
    for label, turned in (("lower", Pose()), ("upper", Pose.rpy(math.pi, 0, 0))):
        yield Surface(
            f" {label} wall",
            body,
            Shape(
                "plane",
                (),
                pose @ turned @ Pose(position=(0.0, 0.0, -((c.radius or 0.0) + c.clearance))),
            ),
        )


WALLS: dict[str, Callable[..., Iterator[Surface]]] = {"hole": _hole, "guide": _guide}


def _members(m: Mechanism, name: str) -> tuple[str, ...]:
    """Return the bodies of a group; for another name, the name itself."""
    return m.collisions.groups.get(name, (name,))


def _collision(m: Mechanism, name: str) -> tuple[Any, ...]:
    """Return the shapes that collide, of a body or of the ground."""
    if name == GROUND:
        shapes = m.ground
    else:
        shapes = m.body(name).collision if name in m._bodies else ()
    return tuple(part for s in shapes for part in solid_parts(s))


def contact_faults(m: Mechanism) -> Iterator[str]:
    """Yield messages about faults of the contacts of a mechanism whose bodies are valid."""
    seen: dict[Any, str] = {}
    for c in m.contacts:
        firsts = [x for first in c.between[0] for x in _members(m, first)]
        unknown = list(_unknown(m, c, (*firsts, c.between[1])))
        yield from unknown
        for name in firsts if not unknown else ():
            yield from _pair_faults(m, c, name)
            pair = name, c.between[1], c.surface, c.radius, c.surface_radius, c.clearance
            if pair in seen:
                yield (
                    f"contact {c.name!r}: {name!r} touches {c.between[1]!r} in contact"
                    f" {seen[pair]!r} already; once is enough"
                )
            seen[pair] = c.name
    for what in ("law", "impacts", "paradox"):
        if len({getattr(c, what) for c in m.contacts}) > 1:
            yield (
                f"contacts have several values of {what}; all contacts of a mechanism have the"
                " same, for they may meet at one instant"
            )
    names = [c.name for c in m.contacts]
    for name in {n for n in names if names.count(n) > 1}:
        yield f"{names.count(name)} contacts are called {name!r}; give each its own name"


def _unknown(m: Mechanism, c: Contact, names: tuple[str, ...]) -> Iterator[str]:
    """Yield messages about names that do not exist."""
    for name in names:
        try:
            m.frame(name)
        except UnknownNameError as why:
            yield f"contact {c.name!r}: {why}"


def _pair_faults(m: Mechanism, c: Contact, name: str) -> Iterator[str]:
    """Yield messages about a contact whose names exist: one body on both sides, or the ground as
    the side that touches.
    """
    body = m.frame(name).body
    other = m.frame(c.between[1]).body
    if name == c.between[1]:
        yield (
            f"contact {c.name!r}: {name!r} is on both sides; a contact is between what touches and"
            " another body or frame"
        )
    elif body == other and (body == GROUND or m.body(body).flexible is None):
        yield (
            f"contact {c.name!r}: {name!r} and {c.between[1]!r} are both on {body!r}, and do not"
            " move against each other; a contact is between two bodies"
        )
    elif name == GROUND and not any(s.collides for s in m.ground):
        yield (
            f"contact {c.name!r}: {GROUND!r} comes first, as what touches; the surface comes last:"
            f" between = [{c.between[1]!r}, {GROUND!r}]"
        )
