"""The faults of shapes and of the collision filter; a part of `validation`."""

from __future__ import annotations

import math
from collections.abc import Iterator

from ..errors import unknown
from .mechanism import GROUND, Mechanism
from .shapes import KINDS, Shape
from .validation_joints import pose_fault
from .values import value_of


def shape_faults(m: Mechanism) -> Iterator[str]:
    """Yield every fault of the shapes of bodies and of the ground, and of the collision filter."""
    for where, shapes in (
        (f"the {GROUND}", m.ground),
        *((f"body {b.name!r}", b.shapes) for b in m.bodies),
    ):
        for k, s in enumerate(shapes, start=1):
            yield from (
                f"{where}: shape {s.name or f'number {k}'}: {fault}" for fault in _faults(s, m)
            )
    yield from _filter(m)


def _faults(s: Shape, m: Mechanism) -> Iterator[str]:
    kind = KINDS.get(s.kind)
    if kind is None:
        yield unknown("shape kind", s.kind, KINDS)
    elif len(s.size) != len(kind.sizes):
        yield (
            f"a {s.kind} has {len(kind.sizes)} sizes ({', '.join(kind.sizes) or 'none'}), found"
            f" {len(s.size)}"
        )
    elif not s.collides:
        return  # a shape that is only drawn has no further conditions
    elif not kind.solid:
        yield (
            f"a {s.kind} does not collide; what does:"
            f" {', '.join(k for k, x in KINDS.items() if x.solid)}"
        )
    else:
        for name, x in zip(kind.sizes, (value_of(x, m.parameters) for x in s.size)):
            # a negative scale is a mirror
            if x is None or not (math.isfinite(x) and (x if kind.from_file else x > 0)):
                wanted = (
                    "scales that are finite and not zero"
                    if kind.from_file
                    else "sizes that are finite and greater than zero"
                )
                yield f"its {name} is {x}; a {s.kind} that collides has {wanted}"
        if kind.has_grid and bool(s.heights) == bool(s.file):
            yield f"a {s.kind} has either heights, a grid of numbers, or the file that holds them"
        if fault := pose_fault(s.pose):
            yield f"its pose {fault}"


def _filter(m: Mechanism) -> Iterator[str]:
    bodies = [GROUND, *m._bodies]
    groups = m.collisions.groups
    for group, members in groups.items():
        if group in bodies:
            yield f"collisions: group {group!r} has the name of a body; give it its own"
        yield from (
            f"collisions: group {group!r}: {unknown('body', name, bodies)}"
            for name in members
            if name not in bodies
        )
    for what in ("include", "exclude", "only"):
        for name in dict.fromkeys(name for pair in getattr(m.collisions, what) for name in pair):
            if name not in bodies and name not in groups:
                yield f"collisions: {what}: {unknown('body or group', name, [*bodies, *groups])}"
