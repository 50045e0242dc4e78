"""Angles of a planar linkage measured from the ground, in place of those between its bodies."""

from __future__ import annotations

import numpy as np

from ..errors import FormulationError
from ..kernels import SLIDE, Layout, Work, kinematics
from ..model import plane


def ground_angles(layout: Layout) -> np.ndarray:
    """Return A (nv, nv) with theta = A q: row i adds the turns, about the plane's normal, on the
    way from the ground to joint i.
    """
    m = layout.mechanism
    n = plane(m)
    if n is None:
        raise FormulationError(
            f"absolute angles are for planar linkages, and the joints of {m.name!r} do not all move"
            " in one plane; ask for coordinates='joint'"
        )
    if layout.modal:
        raise FormulationError(
            f"absolute angles: body {layout.modal[0].body!r} of {m.name!r} bends by modes, and its"
            " ends turn by more than joints do; ask for coordinates='joint'"
        )
    if layout.coupled:
        follower = next(j.name for j in m.ordered if j.mimic)
        raise FormulationError(
            f"absolute angles: joint {follower!r} of {m.name!r} follows another, so that its angle"
            " is not free; ask for coordinates='joint'"
        )
    tree = layout.tree()
    x = Work.empty(len(layout.nodes))
    A = np.eye(layout.nv)
    kinematics.poses(tree, np.zeros(layout.nq), x)
    for i, node in enumerate(layout.nodes):
        if node.motion != SLIDE:
            J = np.zeros((6, layout.nv))
            kinematics.jacobian(tree, i, (0.0, 0.0, 0.0), x, J)
            A[node.vi] = np.round(n @ J[:3])
    return A
