"""A specification without its meshes, height fields and textures, for models whose files of them are elsewhere. Mass is never lost: a body
whose mass or inertia would come from a mesh is refused by name."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...errors import FormatError

ALWAYS = 1  # mjINERTIAFROMGEOM_TRUE: bodies' own inertials are not looked at


def strip(spec: Any, path: Path) -> list[tuple[str, str]]:
    """Take them out of a specification, with the geoms that show them; what was taken out, (element, name)."""
    geoms = [g for g in spec.geoms if g.meshname or g.hfieldname]
    always = int(spec.compiler.inertiafromgeom) == ALWAYS
    weighed = [g.parent.name or "(unnamed)" for g in geoms if g.meshname and g.parent.name != "world" and _weighs(g) and (always or not g.parent.explicitinertial)]
    if weighed:
        raise FormatError(path, f"without meshes the mass and inertia of these bodies are not known: {', '.join(dict.fromkeys(weighed))}; "
                                "give them <inertial>, or the files of their meshes")  # fmt: skip
    found = [("geom", g.name or f"of {g.parent.name}") for g in geoms]
    found += [(word, x.name) for word, group in (("mesh", spec.meshes), ("hfield", spec.hfields), ("texture", spec.textures)) for x in group]
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for x in (*geoms, *list(spec.meshes), *list(spec.hfields), *list(spec.textures), *list(spec.skins)):
        spec.delete(x)
    return found


def _weighs(g: Any) -> bool:
    """Whether a geom has mass, or a density by which it gets one."""
    return bool(g.density) if math.isnan(g.mass) else bool(g.mass)
