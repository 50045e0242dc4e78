"""Contacts: bodies that may touch the planes of the ground, and pairs that may not collide."""

from __future__ import annotations

from typing import Any

from ...model import GROUND, CollisionFilter, Contact, Frame
from ..mapping import MappingReport
from .names import Names
from .poses import pose

PLANE, SPHERE, CAPSULE, BOX = 0, 2, 3, 6  # mjtGeom
SOFT = (
    "rigid, without restitution, with Coulomb friction; MuJoCo's is soft (solref and solimp are"
    " left out)"
)
UNASKED = (
    "friction is not taken unless contacts=True asks for rigid contacts with the planes of the"
    " ground"
)


def exclusions(m: Any, names: Names, mapping: MappingReport) -> CollisionFilter:
    """Return the pairs of bodies that the file excludes from collision."""
    pairs = []
    for signature in m.exclude_signature:
        a = names.body(int(signature) >> 16)
        b = names.body(int(signature) & 0xFFFF)
        mapping.take("exclude", f"{a}, {b}")
        pairs.append((a, b))
    return CollisionFilter(exclude=tuple(pairs))


def touched(
    m: Any, names: Names, mapping: MappingReport, asked: bool
) -> tuple[list[Frame], tuple[Contact, ...]]:
    """Return a frame for each plane of the ground, and the contacts of bodies with it."""
    solid = [g for g in range(m.ngeom) if m.geom_contype[g] or m.geom_conaffinity[g]]
    planes = [g for g in solid if m.geom_type[g] == PLANE and not m.geom_bodyid[g]]
    if not asked:
        if solid:
            mapping.refuse("contact", "", UNASKED)
        return [], ()
    frames, found = [], []
    for p in planes:
        surface = names.surface(m.geom(p).name or f"plane{p}")
        frames.append(Frame(surface, GROUND, pose(m.geom_pos[p], m.geom_quat[p])))
        for b in range(1, m.nbody):
            mine = [g for g in solid if m.geom_bodyid[g] == b]
            if not any(_meet(m, g, p) for g in mine) or not m.body_weldid[b]:
                continue
            name = f"{names.body(b)} on {surface}"
            if odd := [g for g in mine if m.geom_type[g] not in (SPHERE, CAPSULE, BOX)]:
                mapping.refuse(
                    "contact",
                    name,
                    f"{len(odd)} of its geoms are neither spheres, capsules nor boxes",
                )
                continue
            mapping.approximate("contact", name, SOFT)
            found.append(
                Contact(
                    ((names.body(b),), surface),
                    max(_friction(m, g, p) for g in mine),
                    0.0,
                    name=name,
                )
            )
    return frames, tuple(found)


def _meet(m: Any, a: int, b: int) -> bool:
    return bool(
        m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]
    )


def _friction(m: Any, a: int, b: int) -> float:
    """Return the coefficient of sliding friction: that of the geom with the higher priority, else
    the larger of both; 0 where the geoms that count have condim 1.
    """
    first = int(m.geom_priority[a])
    second = int(m.geom_priority[b])
    chosen = [a, b] if first == second else [a if first > second else b]
    return (
        max(float(m.geom_friction[g, 0]) for g in chosen)
        if max(int(m.geom_condim[g]) for g in chosen) > 1
        else 0.0
    )
