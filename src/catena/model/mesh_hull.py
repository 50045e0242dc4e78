"""The corners of a mesh's convex hull: the points by which it touches a plane."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np

from ..errors import MechanismError
from .pose import Vector
from .shapes import Shape

MOST = 64  # corners of a hull that touches
SAME = 1e-9  # beside the size of the mesh: points nearer to each other than this are one corner


def hull_corners(shape: Shape) -> list[Vector]:
    """The corners of the hull, m, in the shape's axes: the file's points, scaled by the shape's three numbers."""
    corners = _corners(shape.file) * np.array([float(x) for x in shape.size])
    return [(float(x), float(y), float(z)) for x, y, z in corners]


@functools.lru_cache(maxsize=64)
def _corners(file: str) -> np.ndarray:
    from scipy.spatial import ConvexHull, QhullError

    points = _points(file)
    try:
        corners = points[np.sort(ConvexHull(points).vertices)]
    except (QhullError, ValueError):
        raise MechanismError(f"mesh {file!r} is flat or has fewer than four points; a body that touches has a volume") from None
    corners = corners[np.sort(np.unique(np.round(corners / (SAME * np.ptp(points, axis=0).max())), axis=0, return_index=True)[1])]
    if len(corners) > MOST:
        raise MechanismError(f"mesh {file!r}: its convex hull has {len(corners)} corners, and a contact takes {MOST} at most; simplify it, or "
                             "give the body a box, capsules or spheres that collide instead")  # fmt: skip
    return corners


def _points(file: str) -> np.ndarray:
    path = Path(file.removeprefix("file://"))
    if not path.is_file():
        raise MechanismError(f"mesh {file!r} is not there; a contact needs its points")
    try:
        import trimesh
    except ImportError:
        raise MechanismError(f"mesh {file!r} touches a plane, which needs trimesh: pip install 'catena[studio]'") from None
    try:
        return np.unique(np.asarray(trimesh.load(path, force="mesh", process=False).vertices, float), axis=0)  # type: ignore[attr-defined]
    except Exception as why:  # whatever a reader of a broken file raises
        raise MechanismError(f"mesh {file!r} cannot be read ({type(why).__name__}: {why})") from None
