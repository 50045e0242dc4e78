"""A MuJoCo specification without its meshes, height fields and textures, or without those whose
files are missing. Sensors, which are not read, and pairs of geoms that name what is removed are
removed too. Mass is never lost: a body whose mass or inertia would come from a mesh is refused by
name.
"""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

from ...errors import FormatError

ALWAYS = 1  # mjINERTIAFROMGEOM_TRUE: bodies' own inertials are not looked at
ASKED = "it is left out with the meshes, as meshes=False asks"
MISSING = "it is left out, since a file that it needs is missing"

LeftOut = tuple[str, str, str]  # element, name, why


def strip(spec: Any, path: Path) -> list[LeftOut]:
    """Remove all of these from a specification, with the geoms that show them; return a list of
    what was removed.
    """
    return _remove(spec, path, _assets(spec), ASKED)


def strip_missing(spec: Any, path: Path) -> list[LeftOut]:
    """Remove those whose files are missing; return a list of what was removed. A file without
    bodies, which is meant to be included by others, is left unchanged.
    """
    gone = {
        word: [x for x in group if _missing(spec, path, word, x)]
        for word, group in _assets(spec).items()
    }
    if len(spec.bodies) < 2 or not any(gone.values()):
        return []
    return _remove(spec, path, gone, MISSING)


def _assets(spec: Any) -> dict[str, list[Any]]:
    return {
        "mesh": list(spec.meshes),
        "hfield": list(spec.hfields),
        "texture": list(spec.textures),
        "skin": list(spec.skins),
    }


def _missing(spec: Any, path: Path, word: str, asset: Any) -> bool:
    """Return whether an asset names a file that does not exist."""
    folder = {"texture": spec.texturedir, "hfield": ""}.get(word, spec.meshdir) or ""
    named = [asset.file, *getattr(asset, "cubefiles", ())]
    return any(not os.path.isfile(path.parent / folder / name) for name in named if name)


def _remove(spec: Any, path: Path, gone: dict[str, list[Any]], why: str) -> list[LeftOut]:
    meshes = {x.name or Path(x.file).stem for x in gone["mesh"]}
    fields = {x.name or Path(x.file).stem for x in gone["hfield"]}
    geoms = [g for g in spec.geoms if g.meshname in meshes or g.hfieldname in fields]
    _weighed(spec, path, geoms)
    unseen = {g.name for g in geoms if g.name}
    pairs = [x for x in spec.pairs if {x.geomname1, x.geomname2} & unseen]
    sensors = list(spec.sensors) if geoms else []
    found = [("geom", g.name or f"of {g.parent.name}", why) for g in geoms]
    for word, group in (*gone.items(), ("sensor", sensors), ("pair", pairs)):
        found += [(word, x.name, why) for x in group]
    textures = {x.name for x in gone["texture"]}
    for material in spec.materials:
        material.textures = ["" if t in textures else t for t in material.textures]
    for x in (*sensors, *pairs, *geoms, *(x for group in gone.values() for x in group)):
        spec.delete(x)
    return found


def _weighed(spec: Any, path: Path, geoms: list[Any]) -> None:
    """Raise FormatError where the mass of a body comes from one of these geoms."""
    always = int(spec.compiler.inertiafromgeom) == ALWAYS
    weighed = [
        g.parent.name or "(unnamed)"
        for g in geoms
        if g.meshname
        and g.parent.name != "world"
        and _weighs(g)
        and (always or not g.parent.explicitinertial)
    ]
    if weighed:
        several = [*dict.fromkeys(weighed)]
        shown = ", ".join(several[:5]) + (
            f" and {len(several) - 5} more" if len(several) > 5 else ""
        )
        raise FormatError(
            path,
            f"without meshes the mass and inertia of these bodies are not known: {shown}; "
            "give them <inertial>, or the files of their meshes",
        )


def _weighs(g: Any) -> bool:
    """Whether a geom has a mass, or a density that gives it one."""
    return bool(g.density) if math.isnan(g.mass) else bool(g.mass)
