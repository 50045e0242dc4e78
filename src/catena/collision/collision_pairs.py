"""The broad phase: which pairs of shapes of a mechanism may collide, namely those on different
bodies that are not neighbours, subject to the mechanism's collision filter.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import Any, NamedTuple

from ..errors import UnknownNameError
from ..model import GROUND, Mechanism, Shape
from .convex_decomposition import solid_parts


class Collider(NamedTuple):
    """A shape that collides: its name, the name of its body, and the shape."""

    name: str
    body: str
    shape: Shape


def colliders(m: Mechanism) -> list[Collider]:
    """Return the shapes that collide, those of the ground first. If contacts with the ground are
    declared and it has no shapes, it is the half-space z <= 0. A single shape has the name of its
    body; several shapes have their own names or numbers appended.
    """
    found = []
    touched = not m.ground and any(
        c.between[1] == GROUND and c.surface in ("", "plane") for c in m.contacts
    )
    ground = (Shape("plane", collides=True),) if touched else m.ground  # as for contacts
    for body, shapes in ((GROUND, ground), *((b.name, b.collision) for b in m.bodies)):
        parts = [part for s in shapes for part in solid_parts(s)]
        for k, s in enumerate(parts, start=1):
            found.append(Collider(body if len(parts) == 1 else f"{body}.{s.name or k}", body, s))
    return found


def collision_pairs(
    m: Mechanism, pairs: Iterable[tuple[str, str]] | None = None
) -> list[tuple[Collider, Collider]]:
    """Return the pairs of shapes that may collide. pairs: if given, only these, also neighbours, by
    names of shapes, bodies or groups.
    """
    everything = list(combinations(colliders(m), 2))
    if pairs is not None:
        return _pairs_by_name(m, everything, [tuple(p) for p in pairs])
    rules = m.collisions
    rigid = _rigid_groups(m)
    near = _neighbours(m)
    found = []
    for a, b in everything:
        apart = rigid[a.body] != rigid[b.body]
        wanted = apart and (
            frozenset((rigid[a.body], rigid[b.body])) not in near
            or _is_named(m, a, b, rules.include)
        )
        if (
            wanted
            and not _is_named(m, a, b, rules.exclude)
            and (not rules.only or _is_named(m, a, b, rules.only))
        ):
            found.append((a, b))
    return found


def _pairs_by_name(
    m: Mechanism, everything: list[tuple[Collider, Collider]], pairs: list[tuple[str, ...]]
) -> list[tuple[Collider, Collider]]:
    """Return the pairs that were asked for by name; raise an UnknownNameError for a name that does
    not exist.
    """
    known = dict.fromkeys(
        [*(c.body for c in colliders(m)), *(c.name for c in colliders(m)), *m.collisions.groups]
    )
    for name in (name for pair in pairs for name in pair):
        if name not in known:
            raise UnknownNameError("colliding shape", name, known, f"mechanism {m.name!r}")
    return [(a, b) for a, b in everything if a.body != b.body and _is_named(m, a, b, pairs)]


def _is_named(m: Mechanism, a: Collider, b: Collider, pairs: Iterable[tuple[str, ...]]) -> bool:
    """Whether one of the pairs of names denotes the pair (a, b), in either order."""
    has = lambda name, c: c.body in m.collisions.groups.get(name, (name,)) or c.name == name  # noqa: E731
    return any((has(x, a) and has(y, b)) or (has(x, b) and has(y, a)) for x, y in pairs)


def _rigid_groups(m: Mechanism) -> dict[str, str]:
    """Return {body: representative of the group of bodies that it is rigidly joined to}."""
    found = {GROUND: GROUND}
    for j in m.ordered:
        found[j.child] = found.get(j.parent, j.parent) if j.nv == 0 else j.child
    return found


def _neighbours(m: Mechanism) -> set[frozenset[str]]:
    """Return the pairs of rigid groups with a joint between them, free joints excepted."""
    rigid = _rigid_groups(m)
    return {frozenset((rigid[j.parent], rigid[j.child])) for j in _holding_joints(m)}


def _holding_joints(m: Mechanism) -> Iterator[Any]:
    """Return the joints that make bodies neighbours: all but free joints, including those that
    close loops.
    """
    return (j for j in (*m.joints, *m.loops) if j.nv < 6)
