"""Which shapes of a mechanism may meet: every two on different bodies that are not neighbours, as
its filter says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import NamedTuple

from ..errors import UnknownNameError
from ..model import GROUND, Mechanism, Shape


class Collider(NamedTuple):
    """A shape that collides: what it is called, whose it is, and itself."""

    name: str
    body: str
    shape: Shape


def colliders(m: Mechanism) -> list[Collider]:
    """The shapes that collide, the ground's first: the half-space z <= 0 where contacts with it are
    declared and it has no shapes. One is called as its body; several have their own names or
    numbers too.
    """
    found = []
    touched = not m.ground and any(
        c.between[1] == GROUND and c.surface in ("", "plane") for c in m.contacts
    )
    ground = (Shape("plane", collides=True),) if touched else m.ground  # as contacts have it
    for body, shapes in ((GROUND, ground), *((b.name, b.collision) for b in m.bodies)):
        for k, s in enumerate(shapes, start=1):
            found.append(Collider(body if len(shapes) == 1 else f"{body}.{s.name or k}", body, s))
    return found


def collision_pairs(
    m: Mechanism, pairs: Iterable[tuple[str, str]] | None = None
) -> list[tuple[Collider, Collider]]:
    """The pairs of shapes that may collide. pairs: nothing but these, by names of shapes, bodies or
    groups, neighbours too.
    """
    everything = list(combinations(colliders(m), 2))
    if pairs is not None:
        return _asked(m, everything, [tuple(p) for p in pairs])
    rules = m.collisions
    rigid = _rigid(m)
    near = _neighbours(m)
    found = []
    for a, b in everything:
        apart = rigid[a.body] != rigid[b.body]
        wanted = apart and (
            frozenset((rigid[a.body], rigid[b.body])) not in near or _named(m, a, b, rules.include)
        )
        if (
            wanted
            and not _named(m, a, b, rules.exclude)
            and (not rules.only or _named(m, a, b, rules.only))
        ):
            found.append((a, b))
    return found


def _asked(
    m: Mechanism, everything: list[tuple[Collider, Collider]], pairs: list[tuple[str, ...]]
) -> list[tuple[Collider, Collider]]:
    known = dict.fromkeys(
        [*(c.body for c in colliders(m)), *(c.name for c in colliders(m)), *m.collisions.groups]
    )
    for name in (name for pair in pairs for name in pair):
        if name not in known:
            raise UnknownNameError("colliding shape", name, known, f"mechanism {m.name!r}")
    return [(a, b) for a, b in everything if a.body != b.body and _named(m, a, b, pairs)]


def _named(m: Mechanism, a: Collider, b: Collider, pairs: Iterable[tuple[str, ...]]) -> bool:
    """Whether one of the pairs of names is this one, in either order."""
    has = lambda name, c: c.body in m.collisions.groups.get(name, (name,)) or c.name == name  # noqa: E731
    return any((has(x, a) and has(y, b)) or (has(x, b) and has(y, a)) for x, y in pairs)


def _rigid(m: Mechanism) -> dict[str, str]:
    """{body: the first of the bodies that it is rigidly joined to}."""
    found = {GROUND: GROUND}
    for j in m.ordered:
        found[j.child] = found.get(j.parent, j.parent) if j.nv == 0 else j.child
    return found


def _neighbours(m: Mechanism) -> set[frozenset[str]]:
    """The pairs of rigid groups with a joint between them; a free joint holds nothing together."""
    rigid = _rigid(m)
    return {frozenset((rigid[j.parent], rigid[j.child])) for j in _held(m)}


def _held(m: Mechanism) -> Iterator:
    return (j for j in (*m.joints, *m.loops) if j.nv < 6)
