"""URDF, with a companion file for what it cannot express: loops, frames, loads, rows, contacts,
gravity, armatures, shapes.

write_urdf(mechanism, "out")        out/NAME.urdf and out/NAME.toml
catena.load("out/NAME.urdf", companion="out/NAME.toml")
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..formats import files
from ..formats.toml import companion
from ..formats.urdf import SAYABLE, text
from ..machine import identifier
from ..model import GRAVITY, CollisionFilter, Mechanism, value_of, with_scalars


def write_urdf(mechanism: Mechanism, folder: Path) -> tuple[Path, Path]:
    """Write NAME.urdf and its companion NAME.toml, and return both paths.

    Parameters are replaced by their values, except in texts of loads.
    """
    m = with_scalars(mechanism, lambda x: value_of(x, mechanism.parameters))
    paths = folder / f"{identifier(m.name)}.urdf", folder / f"{identifier(m.name)}.toml"
    tree = replace(
        m,
        loops=(),
        loads=(),
        nonholonomic=(),
        constraints=(),
        contacts=(),
        frames=(),
        ground=(),
        parameters={},
        gravity=GRAVITY,
        collisions=CollisionFilter(),
        bodies=tuple(
            replace(b, shapes=tuple(s for s in b.shapes if s.kind in SAYABLE)) for b in m.bodies
        ),
        joints=tuple(replace(j, armature=tuple(0.0 for _ in j.armature)) for j in m.joints),
    )
    rest = replace(
        m,
        bodies=tuple(
            replace(b, shapes=left)
            for b in m.bodies
            if (left := tuple(s for s in b.shapes if s.kind not in SAYABLE))
        ),
        joints=tuple(j for j in m.joints if any(j.armature)),
    )
    texts = text(tree), companion(rest)
    for path, written in zip(paths, texts):
        files.write(path, written)
    return paths
