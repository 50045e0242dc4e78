"""The medium that surrounds a model: drag and viscous friction on the box that has a body's mass
and inertia.
"""

from __future__ import annotations

import math
from typing import Any

from ...model import Frame, Pose
from ...model.loads import Fluid
from ..mapping import MappingReport
from .names import Names

ELLIPSOID = (
    'fluidshape = "ellipsoid" (lift, added mass) has no counterpart; the medium does not act on its'
    " body"
)


def medium(m: Any, names: Names, mapping: MappingReport) -> tuple[list[Frame], list[Fluid]]:
    """Return a frame and a load for each body that moves in the medium."""
    density = float(m.opt.density)
    viscosity = float(m.opt.viscosity)
    stream = tuple(float(x) for x in m.opt.wind)
    frames = list[Frame]()
    loads = list[Fluid]()
    if not (density or viscosity):
        return frames, loads
    shaped = {int(m.geom_bodyid[g]) for g in range(m.ngeom) if m.geom_fluid[g, 0] > 0}
    for b in sorted(shaped):
        mapping.refuse("option", f"medium at {names.body(b)}", ELLIPSOID)
    for b in range(1, m.nbody):
        if m.body_weldid[b] and m.body_mass[b] and b not in shaped:
            frames.append(
                Frame(
                    names.medium(b),
                    names.body(b),
                    Pose(Pose.quaternion(*m.body_iquat[b]).rotation, tuple(m.body_ipos[b])),
                )
            )
            loads.append(
                Fluid(
                    f"medium at {names.body(b)}",
                    frames[-1].name,
                    _box(m, b),
                    density,
                    viscosity,
                    stream,
                )
            )
    mapping.take("option", "medium", "a load `fluid` at each moving body")
    return frames, loads


def _box(m: Any, b: int) -> tuple[float, ...]:
    """Return the sides of the box with the body's mass and principal moments of inertia, m."""
    I = m.body_inertia[b]
    total = float(sum(m.body_inertia[b]))
    return tuple(math.sqrt(max(0.0, 6 * (total - 2 * float(x)) / float(m.body_mass[b]))) for x in I)
