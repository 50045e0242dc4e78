"""What the studio's page must know of model files: which keys a table may have, what they measure, what may stand there."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from ..equations.formulations import formulations
from ..formats.toml import schema
from ..formats.units import DIMENSIONS
from ..model.contacts import LAWS, ORDERS, PARADOX, SURFACES
from ..model.joint_kinds import CATALOGUE
from ..model.loads.keys import LOADS
from ..model.mechanism import GROUND, Mechanism
from ..model.shapes import KINDS
from ..simulation.integrators import METHODS
from ..simulation.scenario.read import SCENARIO

TABLES = {"body": schema.BODY.names, "joint": schema.JOINT.names, "loop": schema.LOOP.names, "frame": schema.FRAME.names,
          "contact": schema.CONTACT.names, "ground": ("name", "kind", "size", "at", "rotate", "file", "colour", "collides", "drawn")}  # fmt: skip
UNITS = {"mass": "kg", "com": "m", "inertia": "kg m²", "at": "m", "child_at": "m", "size": "m", "pitch": "m/rad", "gravity": "m/s²", "until": "s",
         "output": "s", "step": "s", "largest_step": "s", "start": "s", "radius": "m", "length": "m"}  # fmt: skip


def described() -> dict[str, Any]:
    """Everything that does not depend on the model."""
    loads = {name: _load(kind) for name, kind in LOADS.items() if kind.written}
    choices = {
        "joint.kind": [k.name for k in CATALOGUE.values() if not k.made], "loop.kind": [k.name for k in CATALOGUE.values() if not k.made],
        "load.kind": list(loads), "ground.kind": list(KINDS), "scenario.by": [f.name for f in formulations()], "scenario.integrator": list(METHODS),
        "contact.law": list(LAWS), "contact.impacts": list(ORDERS), "contact.paradox": list(PARADOX), "contact.surface": list(SURFACES),
    }  # fmt: skip
    return {"tables": {**{k: list(v) for k, v in TABLES.items()}, "scenario": list(SCENARIO.names)}, "loads": loads, "choices": choices,
            "units": UNITS, "formulations": [f.name for f in formulations()]}  # fmt: skip


def names(m: Mechanism) -> dict[str, list[str]]:
    """What a name in the file may be: of bodies, of frames, of coordinates, of joints."""
    bodies = [GROUND, *(b.name for b in m.bodies)]
    return {"bodies": bodies, "frames": [*bodies, *(f.name for f in m.frames)], "coordinates": list(m.coordinate_names),
            "joints": [j.name for j in (*m.joints, *m.loops)]}  # fmt: skip


def _load(kind: Any) -> list[dict[str, Any]]:
    """The keys of a kind of load: sort, unit, words, and whether it is needed."""
    found = []
    for f in fields(kind):
        key = f.metadata.get("key")
        if key is not None:
            unit = DIMENSIONS[key.measure].unit if isinstance(key.measure, str) and key.measure in DIMENSIONS else ""
            found.append({"name": f.name, "sort": key.sort, "unit": unit, "words": list(key.words), "needed": f.default is MISSING})
    return found
