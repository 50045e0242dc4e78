"""The thickness of shapes: what a fast body must not cross within one time step unseen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from ..model import SHAPE_KINDS, Shape, value_of
from .polyhedra import polyhedron


def thickness(shape: Shape, values: Mapping[str, Any]) -> float:
    """Return the distance between the two nearest parallel planes that hold a shape between them,
    m; infinite for a half-space and other surfaces that have one side only.

    For a mesh it is that along the normals of its hull's faces.
    """
    kind = SHAPE_KINDS.get(shape.kind)
    if kind is None:
        return math.inf
    if kind.thickness is not None:
        return kind.thickness([float(value_of(x, values) or 0.0) for x in shape.size])
    if kind.from_file:
        hull = polyhedron(shape, dict(values))
        extent = np.ptp(hull.corners @ np.array(hull.normals).T, axis=0)
        return float(extent.min())
    return math.inf
