"""Shapes as geoms, for the writer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from ...model import GROUND, Mechanism, Shape
from .numbers import number, numbers, placed

MESHES = (".stl", ".obj", ".msh")  # the files that MuJoCo reads

# kind of shape -> the sizes of its geom
_HALVES: dict[str, Callable[[Sequence[Any]], Sequence[Any]]] = {
    "box": lambda size: [x / 2 for x in size],
    "sphere": lambda size: size,
    "ellipsoid": lambda size: size,
    "plane": lambda size: (0, 0, 1),
    "capsule": lambda size: (size[0], size[1] / 2),
    "cylinder": lambda size: (size[0], size[1] / 2),
}


def geom(m: Mechanism, body: str, s: Shape, n: int) -> dict[str, str] | None:
    """Return the attributes of a shape; None where MuJoCo has no such geom."""
    if not sayable(s):
        return None
    found = {"type": s.kind} | placed(s.pose)
    if s.kind == "mesh":
        found["mesh"] = mesh_name(s)
    else:
        found["size"] = numbers(_HALVES[s.kind](s.size))
    if s.name:
        found["name"] = s.name
    if s.colour:
        found["rgba"] = numbers((*s.colour, 1.0)[:4])
    if not s.collides:
        found |= {"contype": "0", "conaffinity": "0"}
    elif (mu := friction(m, body)) is not None:
        found |= {"friction": number(mu), "condim": "3" if mu else "1"}
    return found


def friction(m: Mechanism, body: str) -> float | None:
    """Return the largest kinetic friction coefficient of the contacts of a body, because MuJoCo
    takes the larger of two; None where it has none.
    """
    found = [c.kinetic for c in m.contacts if body in (*c.between[0], c.between[1])]
    return (min if body == GROUND else max)(found) if found else None


def sayable(s: Shape) -> bool:
    """Return whether MuJoCo has a geom for a shape."""
    return s.kind in _HALVES or (s.kind == "mesh" and Path(s.file).suffix.lower() in MESHES)


def mesh_name(s: Shape) -> str:
    """Return the name of the asset: one for each file and scale."""
    return f"{s.file} {numbers(s.size)}"


def meshes(m: Mechanism) -> list[dict[str, str]]:
    """Return the assets of all meshes."""
    found = {
        mesh_name(s): {"name": mesh_name(s), "file": s.file, "scale": numbers(s.size)}
        for shapes in (m.ground, *(b.shapes for b in m.bodies))
        for s in shapes
        if s.kind == "mesh" and sayable(s)
    }
    return list(found.values())


def lost_shapes(m: Mechanism) -> Iterator[str]:
    """Yield a sentence for each property of pictures and collisions that the file does not
    contain.
    """
    for name, shapes in ((GROUND, m.ground), *((b.name, b.shapes) for b in m.bodies)):
        if lost := [s.file or s.kind for s in shapes if not sayable(s)]:
            yield f"shapes of {name!r} are left out, MuJoCo has none such: {', '.join(lost)}"
