"""The corners of a mesh's convex hull: the points by which it touches a plane."""

from __future__ import annotations

import functools
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import MechanismError, MechanismWarning
from ..model import Shape, Vector

# Corners of the convex hull of a mesh in contact, at most.
MAX_HULL_CORNERS = 64
# A hull whose volume exceeds the mesh's by more, relative to the mesh's, causes a warning.
CONCAVE_VOLUME_RATIO = 1e-3
# Points on the same cell of a grid of this spacing, relative to the size of the mesh, are one
# corner.
SAME_CORNER_RATIO = 1e-9


def hull_corners(shape: Shape) -> list[Vector]:
    """Return the corners of the hull in the shape's axes, m: the points of the file, scaled by the
    three numbers of the shape's size.
    """
    corners = _corners(shape.file) * np.array([float(x) for x in shape.size])
    return [(float(x), float(y), float(z)) for x, y, z in corners]


def warn_if_concave(mesh: str, volume: float, hull: float, what: str) -> None:
    """Warn if a hull has more volume than its mesh. what: a plural noun for the quantities that are
    computed from the hull, for the message.
    """
    if hull > (1 + CONCAVE_VOLUME_RATIO) * volume:
        warnings.warn(
            f"mesh {mesh} is not convex: its hull has {100 * (hull / volume - 1):.3g} % more"
            f" volume, and {what} are those of the hull; cut it into convex parts, with"
            " kind = 'concave_mesh'",
            MechanismWarning,
            stacklevel=2,
        )


@functools.lru_cache(maxsize=64)
def warn_of_file(file: str) -> None:
    """Warn, once per file, of a mesh that is in contact with other bodies and is not convex; meshes
    that are not watertight are not checked.
    """
    given = read_mesh(file)
    import trimesh

    # trimesh merges corners nearer than 1e-8, so the mesh is scaled to size one
    mesh = trimesh.Trimesh(given.vertices / np.ptp(given.vertices, axis=0).max(), given.faces)
    if mesh.is_watertight and mesh.volume > 0.0:
        warn_if_concave(repr(file), float(mesh.volume), float(mesh.convex_hull.volume), "contacts")


@functools.lru_cache(maxsize=64)
def _corners(file: str) -> np.ndarray:
    """Return the corners (n, 3) of the convex hull of a mesh file, near duplicates removed; raise a
    MechanismError if there are too many, or if the mesh is flat.
    """
    from scipy.spatial import ConvexHull, QhullError

    points = _points(file)
    try:
        corners = points[np.sort(ConvexHull(points).vertices)]
    except (QhullError, ValueError):
        raise MechanismError(
            f"mesh {file!r} is flat or has fewer than four points; a body that touches has a volume"
        ) from None
    corners = corners[
        np.sort(
            np.unique(
                np.round(corners / (SAME_CORNER_RATIO * np.ptp(points, axis=0).max())),
                axis=0,
                return_index=True,
            )[1]
        )
    ]
    if len(corners) > MAX_HULL_CORNERS:
        raise MechanismError(
            f"mesh {file!r}: its convex hull has {len(corners)} corners, and a contact takes"
            f" {MAX_HULL_CORNERS} at most; simplify it, or give the body a box, capsules or spheres"
            " that collide instead"
        )
    return corners


def _points(file: str) -> np.ndarray:
    """Return the distinct points (n, 3) of a mesh, m."""
    return np.unique(np.asarray(read_mesh(file).vertices, float), axis=0)


def read_mesh(file: str) -> Any:
    """Return the mesh as trimesh reads it; raise a MechanismError if it cannot be read."""
    path = Path(file.removeprefix("file://"))
    if not os.path.isfile(path):
        raise MechanismError(f"mesh {file!r} is not there; a contact needs its points")
    try:
        import trimesh
    except ImportError:
        raise MechanismError(
            f"mesh {file!r} touches a plane, which needs trimesh: pip install 'catena[studio]'"
        ) from None
    try:
        return trimesh.load(path, force="mesh", process=False)
    except Exception as why:  # readers of broken files raise anything
        raise MechanismError(
            f"mesh {file!r} cannot be read ({type(why).__name__}: {why})"
        ) from None
