"""Planarity: whether all bodies of a mechanism move in one plane, and which."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from .joints import Joint
from .mechanism import GROUND, Mechanism
from .motions import Motion
from .values import value_of


def plane(m: Mechanism) -> tuple[float, float, float] | None:
    """Return the normal of the plane in which all bodies move, in the ground's axes; None where
    there is no such plane.
    """
    return normal(m.ordered, m.parameters)[0]


def normal(
    ordered: Iterable[Joint], parameters: Mapping[str, float]
) -> tuple[tuple[float, float, float] | None, dict[str, np.ndarray]]:
    """Return the normal of the plane in which these joints, parents first, move all bodies, and R
    (3, 3) of each body where all coordinates are zero.

    Every turn is about the normal and every slide perpendicular to it. A turn about the normal
    keeps both true, so that checking one configuration is enough.
    """
    turned: dict[str, np.ndarray] = {GROUND: np.eye(3)}
    turns: list[np.ndarray] = []
    slides: list[np.ndarray] = []
    tumbling = False
    for j in ordered:
        R = turned[j.parent] @ np.array(
            [[value_of(x, parameters) for x in row] for row in j.placement.rotation], float
        )
        for f in j.motions:
            tumbling = tumbling or f.motion == Motion.BALL or f.motion == Motion.SCREW
            (slides if f.motion == Motion.SLIDE else turns).append(R @ f.axis)
        back = np.array(
            [[value_of(x, parameters) for x in row] for row in j.offset.rotation], float
        )
        turned[j.child] = R @ back.T
    if turns:
        n = turns[0]
    else:
        _, s, Vt = np.linalg.svd(np.array(slides).reshape(-1, 3), full_matrices=True)
        tumbling = tumbling or (s > 1e-9).sum() == 3
        n = Vt[2]
    in_plane = all(np.linalg.norm(np.cross(n, t)) < 1e-7 for t in turns) and all(
        abs(n @ s) < 1e-7 for s in slides
    )
    return ((float(n[0]), float(n[1]), float(n[2])) if in_plane and not tumbling else None), turned
