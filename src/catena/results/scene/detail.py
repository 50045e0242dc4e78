"""Detail: the same solids with fewer triangles, which a page draws while something moves on a
machine that draws slowly.

By quadric error metrics (fast-simplification); without that package there are no coarser solids,
and pages draw fewer pixels only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from hashlib import blake2b

import numpy as np

from .geometry import Geometry, creased

PLENTY = 6_000  # triangles that are drawn in time without a graphics card
FEWEST = 40  # of one solid
# triangles that a file's solid keeps for each square root of those that it has: large ones lose
# most
PER_ROOT = 4.5
SMALL = 0.06  # of a solid's size: loose pieces of it that are left out, such as screws
CREASE = 50.0  # degrees: a sharper edge is seen as one
KEPT = 500  # coarser solids that are remembered
_MADE: dict[tuple[bytes, int, int], Geometry] = {}


def coarse(g: Geometry) -> Geometry:
    """With about 4.5 sqrt(n) of n triangles: what is kept of files, whatever scene they are in."""
    return reduced(g, int(PER_ROOT * np.sqrt(len(g.faces))))


def drafts(shapes: Mapping[str, Geometry], drawn: Sequence[str]) -> dict[str, Geometry]:
    """{key: a coarser solid} of those that are drawn (keys, as often as they are), PLENTY triangles
    in all, shared by size; none where there are no more.
    """
    if sum(len(shapes[key].faces) for key in drawn) <= PLENTY:
        return {}
    uses = Counter(drawn)
    size = {key: float(np.linalg.norm(np.ptp(shapes[key].points, axis=0))) for key in uses}
    all_sizes = sum(n * size[key] for key, n in uses.items())
    made = {
        key: reduced(shapes[key].coarse or shapes[key], int(PLENTY * size[key] / all_sizes))
        for key in uses
    }
    return {key: g for key, g in made.items() if g is not shapes[key]}


def reduced(g: Geometry, count: int) -> Geometry:
    """About so many triangles, 40 at least; itself where it has no more, or the package is
    missing.
    """
    if len(g.faces) <= max(count, FEWEST):
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
        if len(faces) > max(count, FEWEST):
            points, faces = simplify(
                points.astype(np.float32), faces.astype(np.int32), target_count=max(count, FEWEST)
            )
        _MADE[known] = (
            creased(np.asarray(points, float), np.asarray(faces, np.int64), CREASE)
            if len(faces)
            else g
        )
        while len(_MADE) > KEPT:
            _MADE.pop(next(iter(_MADE)))
    return _MADE[known]


def _welded(g: Geometry) -> tuple[np.ndarray, np.ndarray]:
    """Points that are at one place as one, whatever their normals; triangles that keep an area."""
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
    """Without small loose pieces."""
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
    large = (high - low).max(axis=1) > SMALL * np.ptp(points, axis=0).max()
    return points, faces[large[piece[faces[:, 0]]]]
