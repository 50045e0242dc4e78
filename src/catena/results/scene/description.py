"""Scene: the drawing of a mechanism, made from the mechanism alone. Poses {body: (4, 4)} place
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...machine import Machine
from ...model import GROUND, Mechanism
from .bodies import draw_bodies
from .drawing import Drawing, Part, Span
from .geometry import Geometry
from .joints import draw_joints
from .loads import draw_loads
from .marks import draw_marks
from .skeleton import (
    ROD_RADIUS_RATIO,
    moved,
    placed,
    skeleton,
    tip_names,
    tips,
    typical_length,
)
from .view import View, upward, view_of

Array = np.ndarray
LAYERS = {  # the layers that can be switched, and whether each is visible at first
    "bodies": True,
    "joints": True,
    "loads": True,
    "contacts": True,
    "axes": False,
    "frames": False,
    "masses": False,
    "inertia": False,
}


@dataclass(frozen=True)
class Scene:
    """The drawing of a mechanism.

    bodies: the names that have poses, including the ground and the pieces of flexible bodies.
    geometries: triangles by key. parts, spans: solids on bodies, and solids between bodies. unit:
    the radius of a rod, m. view: the direction of view; up: the direction against gravity. tips:
    {name: (body, point)} of the points that leave a trace. notes: what could not be drawn, in
    sentences.
    """

    name: str
    bodies: tuple[str, ...]
    geometries: Mapping[str, Geometry]
    parts: tuple[Part, ...]
    spans: tuple[Span, ...]
    unit: float
    view: View
    up: Array
    tips: Mapping[str, tuple[str, Array]]
    notes: tuple[str, ...] = ()

    def box(
        self, at: Mapping[str, Array], layers: Sequence[str] = ("bodies", "joints", "loads")
    ) -> Array:
        """Return the lowest and the highest corner of the visible layers, (2, 3), with bodies at
        poses (..., 4, 4).
        """
        low = np.full(3, np.inf)
        high = np.full(3, -np.inf)
        for p in self.parts:
            if p.layer in layers and p.colour[3] > 0.6 and p.body in at:
                g = self.geometries[p.geometry].points
                corners = (
                    np.array(np.meshgrid(*np.stack([g.min(axis=0), g.max(axis=0)]).T))
                    .reshape(3, -1)
                    .T
                )
                seen = moved(at[p.body], moved(p.pose, corners)).reshape(-1, 3)
                low = np.minimum(low, seen.min(axis=0))
                high = np.maximum(high, seen.max(axis=0))
        return (
            np.array([low, high])
            if np.isfinite(low).all()
            else np.array([[-1.0] * 3, [1.0] * 3]) * 10 * self.unit
        )


def describe(
    m: Mechanism,
    *,
    folders: Sequence[Path] | None = None,
    motors: Sequence[str] = (),
    unit: float | None = None,
) -> Scene:
    """Return the scene of a mechanism at its own parameter values.

    folders: where mesh files are looked for, the model's own first; None takes their names as
    paths. motors: the coordinates that are driven. unit: the radius of a rod, m, by default from
    the mechanism's own lengths.
    """
    bones = skeleton(m)
    d = Drawing(m, unit or ROD_RADIUS_RATIO * typical_length(m, bones), upward(m), folders)
    for draw in (draw_bodies, draw_joints, draw_marks):
        draw(d)
    draw_loads(d, tuple(motors))
    names = dict.fromkeys(
        [GROUND, *(b.name for b in m.bodies), *(limb.body for limb in bones.limbs)]
    )
    ends = dict(zip(tip_names(m), tips(m)))
    return Scene(
        m.name,
        tuple(names),
        d.geometries,
        tuple(d.parts),
        tuple(d.spans),
        d.unit,
        view_of(m),
        d.up,
        ends,
        tuple(d.notes),
    )


def poses(scene: Scene, machine: Machine, q: Array, parameters: Array | None = None) -> Array:
    """Return the poses of the bodies of a scene in its order, (..., bodies, 4, 4)."""
    at = placed(machine, q, parameters)
    return np.stack([at[name] for name in scene.bodies], axis=-3)
