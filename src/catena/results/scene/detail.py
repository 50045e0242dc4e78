"""Detail: solids with fewer triangles, which a page draws during motion on a machine that draws
slowly.

They are made by quadric error metrics (fast-simplification). Without that package there are no
coarser solids, and pages only reduce the number of pixels.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from .geometry import Geometry, creased

DRAFT_TRIANGLES = 6_000  # triangles that can be drawn during motion without a graphics card
LEAST_TRIANGLES = 40  # the least number of triangles of one solid
# triangles of a coarse mesh divided by the square root of those of the file: large ones lose most
COARSE_PER_ROOT = 4.5
SMALL_PIECE = 0.06  # size of loose pieces that are left out, such as screws, relative to the solid
CREASE = 50.0  # degrees: a sharper edge is drawn as an edge
CACHED_SOLIDS = 500  # the number of coarser solids in the cache
_MADE: dict[tuple[bytes, int, int], Geometry] = {}


def coarse(g: Geometry) -> Geometry:
    """Return the solid of a mesh file with about 4.5 sqrt(n) of its n triangles; it is cached with
    the file's triangles, for every scene.
    """
    return reduced(g, int(COARSE_PER_ROOT * np.sqrt(len(g.faces))))


def drafts(shapes: Mapping[str, Geometry], drawn: Sequence[str]) -> dict[str, Geometry]:
    """Return {key: a coarser solid} for the solids of a scene, DRAFT_TRIANGLES triangles in all,
    divided among them in proportion to their sizes; an empty mapping where the scene has no more
    than that. drawn: a key for each time that a solid is drawn.
    """
    if sum(len(shapes[key].faces) for key in drawn) <= DRAFT_TRIANGLES:
        return {}
    uses = Counter(drawn)
    size = {key: float(np.linalg.norm(np.ptp(shapes[key].points, axis=0))) for key in uses}
    all_sizes = sum(n * size[key] for key, n in uses.items())
    made = {
        key: reduced(
            shapes[key].coarse or shapes[key], int(DRAFT_TRIANGLES * size[key] / all_sizes)
        )
        for key in uses
    }
    return {key: g for key, g in made.items() if g is not shapes[key]}


def reduced(g: Geometry, count: int) -> Geometry:
    """Return a solid with about `count` triangles, and at least 40; the solid itself where it has
    no more, or the package is missing.
    """
    if len(g.faces) <= max(count, LEAST_TRIANGLES):
        return g
    try:
        from fast_simplification import simplify
    except ImportError:
        return g
    known = (
        blake2b(np.ascontiguousarray(g.points).tobytes(), digest_size=16).digest(),
        len(g.faces),
        count,
    )
    if known not in _MADE:  # a model that is edited is drawn over and over
        points, faces = _large(*_welded(g))
        if len(faces) > max(count, LEAST_TRIANGLES):
            points, faces = simplify(
                points.astype(np.float32),
                faces.astype(np.int32),
                target_count=max(count, LEAST_TRIANGLES),
            )
        _MADE[known] = (
            creased(np.asarray(points, float), np.asarray(faces, np.int64), CREASE)
            if len(faces)
            else g
        )
        while len(_MADE) > CACHED_SOLIDS:
            _MADE.pop(next(iter(_MADE)))
    return _MADE[known]


def _welded(g: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Return points and faces with points at one place merged, whatever their normals, and without
    faces that have no area.
    """
    size = np.ptp(g.points, axis=0).max() or 1.0
    _, first, which = np.unique(
        np.round(g.points * (1e5 / size)).astype(np.int64),
        axis=0,
        return_index=True,
        return_inverse=True,
    )
    faces = which.reshape(-1)[g.faces]
    whole = (
        (faces[:, 0] != faces[:, 1]) & (faces[:, 1] != faces[:, 2]) & (faces[:, 2] != faces[:, 0])
    )
    return g.points[first], faces[whole]


def _large(points: np.ndarray, faces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return points and faces without small disconnected pieces."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n = len(points)
    edges = np.concatenate([faces[:, :2], faces[:, 1:]])
    _, piece = connected_components(
        coo_array((np.ones(len(edges), bool), (edges[:, 0], edges[:, 1])), shape=(n, n)),
        directed=False,
    )
    low = np.full((piece.max() + 1, 3), np.inf)
    high = np.full((piece.max() + 1, 3), -np.inf)
    np.minimum.at(low, piece, points)
    np.maximum.at(high, piece, points)
    large = (high - low).max(axis=1) > SMALL_PIECE * np.ptp(points, axis=0).max()
    return points, faces[large[piece[faces[:, 0]]]]
