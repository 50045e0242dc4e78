"""A specification without its meshes, height fields and textures, for models whose files of them
are elsewhere. Sensors, which are not read, and pairs of geoms that name what is removed are removed
too. Mass is never lost: a body whose mass or inertia would come from a mesh is refused by name.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from ...errors import FormatError

ALWAYS = 1  # mjINERTIAFROMGEOM_TRUE: bodies' own inertials are not looked at


def strip(spec: Any, path: Path) -> list[tuple[str, str]]:
    """Remove them from a specification, with the geoms that show them; return what was removed,
    (element, name).
    """
    geoms = [g for g in spec.geoms if g.meshname or g.hfieldname]
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
    gone = {g.name for g in geoms if g.name}
    pairs = [x for x in spec.pairs if {x.geomname1, x.geomname2} & gone]
    found = [("geom", g.name or f"of {g.parent.name}") for g in geoms]
    groups = {
        "mesh": list(spec.meshes),
        "hfield": list(spec.hfields),
        "texture": list(spec.textures),
        "skin": list(spec.skins),
        "sensor": list(spec.sensors),
        "pair": pairs,
    }
    found += [(word, x.name) for word, group in groups.items() for x in group]
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for x in (
        *groups["sensor"],
        *pairs,
        *geoms,
        *(x for word in ("mesh", "hfield", "texture", "skin") for x in groups[word]),
    ):
        spec.delete(x)
    return found


def _weighs(g: Any) -> bool:
    """Whether a geom has a mass, or a density that gives it one."""
    return bool(g.density) if math.isnan(g.mass) else bool(g.mass)
