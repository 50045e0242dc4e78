"""The features by which two polyhedra may touch next: points of a contact patch in numbers, and how
far the two may move before these change.

    corner     a corner of A on a face of B      normal fixed on B
    tip        a corner of B on a face of A      normal fixed on A
    crossing   an edge of A across one of B      normal across both

Points are the corners of the overlap of two faces (`facing_faces`). Other features may touch after
some motion: for each pair of features there is a length by which corners must move at least before
it can touch. All these lengths change by no more than the farthest corner moves.

    a corner outside a face                     its height over that face
    a corner on a face                          half of its height above a neighbour: there it must
                                                be the lowest
    an edge across an edge                      their distance; its lower end over a face; that its
                                                ends must be below either face next to the other
                                                edge, for only then it crosses
    what begins at a point of the patch         the height of its other end, for that point does not
                                                go through its face
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .facing_faces import PARALLEL_EDGE_SINE, Corner, Facing, facing, moved
from .half_spaces import FeaturesMeet, features_meet
from .polyhedra import Polyhedron

Array = np.ndarray
# How far a point may leave its face or edge before other features are searched, relative to the
# size.
FEATURE_SLACK_RATIO = 1e-9
# How far ahead features are chosen, as a share of that slack.
LOOK_AHEAD_SHARE = 0.25
# Patches that are farther apart than this, relative to the size, have no points.
FAR_APART_RATIO = 0.5
# Sides of a face that have guards; the others limit how far the point may move.
SIDES = 4
# Rotation, rad, after which edges that lie on edges make new corners; also the distance of such
# edges, relative to the size.
FLUSH_EDGE_ANGLE = 1e-7


class Feature(NamedTuple):
    """A point of a patch in numbers, as the mode of a contact point stores it.

    key: identifies the features, 0 for none. corner, tip: 1 if it is one, else 0. a (3,), b (3,):
    points of A and of B, each in its body's axes. first (3,), second (3,): for a corner normal and
    tangent on B, for a tip those on A (outward), for a crossing the directions of both edges. along
    (3,): the direction on B in which places are projected. sides (4, 3): guards, p x + q y + r >= 0
    while the point is on its face, or on both edges; see `half_spaces.features_meet`.
    """

    key: float
    corner: float
    tip: float
    a: Any
    b: Any
    first: Any
    second: Any
    along: Any
    sides: Any

    @staticmethod
    def absent() -> tuple[float, ...]:
        """Return the numbers of a contact point that is not in use, because it has no feature."""
        return NUMBERS

    @property
    def numbers(self) -> list[float]:
        """All numbers in a flat list, as `of` reads them."""
        return [
            self.key,
            self.corner,
            self.tip,
            *(float(x) for part in self[3:] for x in np.ravel(part)),
        ]

    @staticmethod
    def of(x: Sequence[Any]) -> Feature:
        """Return the feature from a flat list of numbers or symbols."""
        a, b, first, second, along, *sides = (
            tuple(x[k : k + 3]) for k in range(3, 18 + 3 * SIDES, 3)
        )
        return Feature(x[0], x[1], x[2], a, b, first, second, along, tuple(sides))

    def placed(self, R: Array, p: Array) -> FeaturesMeet:
        """Return where the feature is at X_BA = (R, p), in the axes of B."""
        return on_second(self, R, p)


# The numbers of no feature.
NUMBERS: tuple[float, ...] = (
    0.0,
    1.0,
    0.0,
    *(0.0,) * 6,
    0.0,
    0.0,
    1.0,
    1.0,
    0.0,
    0.0,
    0.0,
    0.0,
    1.0,
    *(0.0, 0.0, 1.0) * SIDES,
)


class PatchFeatures(NamedTuple):
    """The points of a patch.

    points: their features. facing: how the polyhedra face each other. places (n, 3): on B, m.
    reach: how far corners of A may move relative to B, and those of B relative to A, before other
    features may touch, m. turn: the sine of the angle by which they may turn. yaw (3,): its dot
    product with the relative rotation since then (axis times the sine of the angle) may be at most
    one in absolute value.
    """

    points: list[Feature]
    facing: Facing
    places: Array
    reach: tuple[float, float]
    turn: float
    yaw: Array
    flat: bool = False  # as in `nearest_features.PairFeatures`

    @property
    def separation(self) -> float:
        """The separation along the normal, m; negative in penetration."""
        return self.facing.separation


def patch_features(
    A: Polyhedron, B: Polyhedron, R: Array, p: Array, w: Array | None = None, v: Array | None = None
) -> PatchFeatures:
    """Return the points of the patch of two polyhedra, each in the axes of its body; X_BA = (R, p).
    w, v (3,): angular velocity of A and velocity of its origin relative to B.

    The features are those of an instant later, so that a corner that comes down exactly at the edge
    of a face and leaves it is not included; but those of this instant if the later ones would be
    off their faces now.
    """
    if w is not None and v is not None:
        fastest = float(np.linalg.norm(np.cross(w, A.corners @ R.T) + v, axis=1).max())
        if fastest > 0.0:
            dt = LOOK_AHEAD_SHARE * FEATURE_SLACK_RATIO * min(A.radius, B.radius) / fastest
            found = _features(A, B, R + dt * np.cross(w, R.T).T, p + dt * v)
            if all(margin(x, R, p) > 0.0 for x in found.points):
                return found
    return _features(A, B, R, p)


def _features(A: Polyhedron, B: Polyhedron, R: Array, p: Array) -> PatchFeatures:
    """Return the points of the patch of two polyhedra at the relative pose X_BA = (R, p)."""
    there = moved(A, R, p)
    seen = facing(there, B)
    size = min(A.radius, B.radius)
    if seen.separation > FAR_APART_RATIO * size:
        d = seen.separation - 0.5 * FAR_APART_RATIO * size
        return PatchFeatures([], seen, np.zeros((0, 3)), (d, np.inf), 2.0, np.zeros(3))
    patch_corners, least = [], [FEATURE_SLACK_RATIO * size]
    for corner in seen.overlap:
        if corner.kind != "crossing" or _sine(there, B, corner, seen.normal) > PARALLEL_EDGE_SINE:
            patch_corners.append(corner)
    points = [
        _feature(A, B, R, p, seen.normal, corner, FEATURE_SLACK_RATIO * size, least)
        for corner in patch_corners
    ]
    places = np.array([_place(x, R, p) for x in points]).reshape(-1, 3)
    reach = _reach(there, B, seen, patch_corners, size)
    more = min(least[1:], default=np.inf)
    turn, yaw = _turns(there, B, seen, size) if patch_corners else (2.0, np.zeros(3))
    return PatchFeatures(
        points,
        seen,
        places,
        (max(min(reach[0], more), least[0]), max(min(reach[1], more), least[0])),
        turn,
        yaw,
    )


def on_second(x: Feature, R: Array, p: Array) -> FeaturesMeet:
    """Return where a feature is at the relative pose X_BA = (R, p), in the axes of B."""
    first = x.first if x.corner else R @ x.first
    second = R @ x.second if x.tip else x.second
    return features_meet(x.corner, x.tip, R @ x.a + p, x.b, first, second, x.along)


def margin(x: Feature, R: Array, p: Array) -> float:
    """Return how far a feature is inside its face, or both edges, including its slack, m."""
    found = on_second(x, R, p)
    return float((x.sides @ np.array([found.x, found.y, 1.0])).min())


def _place(x: Feature, R: Array, p: Array) -> Array:
    """Return the place of a feature (3,) in the axes of B."""
    return np.array(on_second(x, R, p).place)


# --- points
def _feature(
    A: Polyhedron,
    B: Polyhedron,
    R: Array,
    p: Array,
    n: Array,
    c: Corner,
    slack: float,
    least: list[float],
) -> Feature:
    """Return the feature of a corner of the overlap. least: a list of lengths that corners may
    move, to which those of sides without a guard are appended.
    """
    key = 1e3 * c.first + c.second
    if c.kind == "crossing":
        return _crossing(A, B, R, n, c, slack, 3e6 + key)
    if c.kind == "tip":
        b = B.corners[c.second]
        middle, outward, tangent, sides = _on_face(
            A, c.first, R.T @ (b - p), R.T @ n, -1.0, slack, least
        )
        return Feature(2e6 + key, 0.0, 1.0, middle, b, outward, tangent, n, sides)
    a = A.corners[c.first]
    middle, outward, tangent, sides = _on_face(B, c.second, R @ a + p, n, 1.0, slack, least)
    return Feature(1e6 + key, 1.0, 0.0, a, middle, outward, tangent, n, sides)


def _crossing(
    A: Polyhedron, B: Polyhedron, R: Array, n: Array, c: Corner, slack: float, key: float
) -> Feature:
    """Return the feature of a crossing of two edges."""
    (i, j), (k, l) = A.edges[c.first], B.edges[c.second]
    d = A.corners[j] - A.corners[i]
    g = B.corners[l] - B.corners[k]
    if np.cross(R @ d, g) @ n < 0.0:
        i, d = j, -d
    long = float(np.linalg.norm(d))
    wide = float(np.linalg.norm(g))
    sides = np.array(
        [[1, 0, slack], [-1, 0, long + slack], [0, 1, slack], [0, -1, wide + slack]], float
    )
    return Feature(key, 0.0, 0.0, A.corners[i], B.corners[k], d / long, g / wide, n, sides)


def _on_face(
    P: Polyhedron, f: int, x: Array, along: Array, sign: float, slack: float, least: list[float]
) -> tuple[Array, Array, Array, Array]:
    """Return centre, outward normal, a tangent and the guards `sides` (SIDES, 3) of a face on which
    a point x lies, projected in the direction `along`. sign: 1 for a corner, -1 for a tip.
    """
    ring = P.corners[list(P.polygons[f])]
    outward = P.normals[f]
    middle = ring.mean(axis=0)
    to = np.roll(ring, -1, axis=0) - ring
    to = to / np.linalg.norm(to, axis=1)[:, None]
    inward = np.cross(outward, to)
    sides = np.column_stack(
        [
            sign * inward @ to[0],
            inward @ np.cross(outward, to[0]),
            slack - np.einsum("ki,ki->k", inward, ring - middle),
        ]
    )
    if len(sides) > SIDES:
        y = x - along * ((x - middle) @ outward) / (along @ outward)
        inside = np.einsum("ki,ki->k", inward, y - ring)
        order = np.argsort(inside)
        sides = sides[order[:SIDES]]
        least.append(0.5 * max(float(inside[order[SIDES]]), 0.0) * abs(float(along @ outward)))
    return (
        middle,
        outward,
        to[0],
        np.vstack([sides, sides[-1:].repeat(max(SIDES - len(sides), 0), axis=0)]),
    )


def _sine(A: Polyhedron, B: Polyhedron, c: Corner, n: Array) -> float:
    """Return the sine of the angle between two edges, projected along n."""
    (i, j), (k, l) = A.edges[c.first], B.edges[c.second]
    d = A.corners[j] - A.corners[i]
    g = B.corners[l] - B.corners[k]
    return abs(float(np.cross(d, g) @ n)) / float(np.linalg.norm(d) * np.linalg.norm(g))


def _turns(A: Polyhedron, B: Polyhedron, seen: Facing, size: float) -> tuple[float, Array]:
    """Return the sine of the largest rotation up to which the same faces still face each other; and
    the vector `yaw` of PatchFeatures, which limits rotations about the normal if edges lie on
    edges.
    """
    (f, h), t = seen.faces, seen.plane
    a, b = (P.corners[list(P.polygons[k])] @ t.T for P, k in ((A, f), (B, h)))
    d, g = (np.roll(x, -1, axis=0) - x for x in (a, b))
    d, g = (x / np.linalg.norm(x, axis=1)[:, None] for x in (d, g))
    parallel = (
        np.abs(d[:, None, 0] * g[None, :, 1] - d[:, None, 1] * g[None, :, 0]) < FLUSH_EDGE_ANGLE
    )
    away = a[:, None] - b[None]
    beside = (
        np.abs(away[..., 0] * g[None, :, 1] - away[..., 1] * g[None, :, 0])
        < FLUSH_EDGE_ANGLE * size
    )
    leaning = np.arccos(np.clip(-A.normals[f] @ seen.normal, -1.0, 1.0))
    return (
        float(np.sin(0.5 * (0.5 * np.pi - leaning))),
        seen.normal * float((parallel & beside).any()) / FLUSH_EDGE_ANGLE,
    )


# --- how far they may move
def _reach(
    A: Polyhedron, B: Polyhedron, seen: Facing, patch_corners: list[Corner], size: float
) -> tuple[float, float]:
    """Return how far corners of A may move in B's axes, and corners of B in A's, before features
    touch that are not points of the patch, m.
    """
    (f, h), none = seen.faces, not patch_corners
    at_points = (
        _corners_at_points(A, f, patch_corners, seen.plane, "corner", FEATURE_SLACK_RATIO * size),
        _corners_at_points(B, h, patch_corners, seen.plane, "tip", FEATURE_SLACK_RATIO * size),
    )
    corner = _corners(A, B, h, at_points[0])
    tip = _corners(B, A, f, at_points[1])
    own = np.array(A.polygons[f])
    other = np.array(B.polygons[h])
    crossing = _edges(A, B, h, at_points[0])
    back = _edges(B, A, f, at_points[1]).T
    crossing = np.maximum(crossing, _distances(A, B))
    if not none:  # the corners of the overlap represent these
        corner[h, own] = np.inf
        tip[f, other] = np.inf
        rim = [np.isin(P.sides, k).any(axis=1) for P, k in ((A, f), (B, h))]
        crossing[np.ix_(*rim)] = np.inf
    first = (
        crossing / A.radius >= back / B.radius
    )  # the measure that allows the larger motion is used
    return (
        min(corner.min(), crossing[first].min(initial=np.inf)),
        min(tip.min(), back[~first].min(initial=np.inf)),
    )


def _corners_at_points(
    P: Polyhedron, face: int, patch_corners: list[Corner], plane: Array, kind: str, slack: float
) -> set[int]:
    """Return the corners of a face that coincide with points of the patch."""
    at = np.array([c.at for c in patch_corners]).reshape(-1, 2)
    return {
        i
        for i in P.polygons[face]
        if len(at) and np.abs(at - plane @ P.corners[i]).max(axis=1).min() <= slack
    }


def _corners(A: Polyhedron, B: Polyhedron, face: int, at_points: set[int]) -> Array:
    """Return lengths (faces of B, corners of A) that corners move at least before a corner touches
    a face, m.
    """
    height = B.normals @ A.corners.T - B.offsets[:, None]
    lowest = np.stack([height[:, k].min(axis=1) for k in A.neighbours], axis=1)
    found = np.maximum(height.max(axis=0)[None], 0.5 * (height - lowest))
    found[:, list(at_points)] = np.inf
    return found


def _edges(A: Polyhedron, B: Polyhedron, face: int, at_points: set[int]) -> Array:
    """Return lengths (edges of A, edges of B) that corners move at least before the edges cross,
    from the heights of A's corners over B's faces, m.
    """
    height = B.normals @ A.corners.T - B.offsets[:, None]
    i, j = A.edges.T
    beyond = np.minimum(height[:, i], height[:, j]).max(axis=0)
    k, l = B.sides.T
    one = np.maximum(height[np.ix_(k, i)], height[np.ix_(l, j)])
    other = np.maximum(height[np.ix_(k, j)], height[np.ix_(l, i)])
    found = np.maximum(np.minimum(one, other).T, beyond[:, None])
    for ends, far in ((i, j), (j, i)):
        on = np.isin(ends, list(at_points))
        found[on] = np.maximum(found[on], height[face, far[on]][:, None])
    found[np.isin(i, list(at_points)) & np.isin(j, list(at_points))] = np.inf
    return found


def _distances(A: Polyhedron, B: Polyhedron) -> Array:
    """Return the distances (edges of A, edges of B) of two segments, m."""
    p = A.corners[A.edges[:, 0]][:, None]
    q = B.corners[B.edges[:, 0]][None]
    d = A.corners[A.edges[:, 1]][:, None] - p
    g = B.corners[B.edges[:, 1]][None] - q
    a = (d * d).sum(-1)
    b = (d * g).sum(-1)
    c = (g * g).sum(-1)
    r = p - q
    dr = (d * r).sum(-1)
    gr = (g * r).sum(-1)
    det = a * c - b * b
    s = np.clip(
        np.where(
            det > PARALLEL_EDGE_SINE**2 * a * c,
            (b * gr - c * dr) / np.where(det > 0.0, det, 1.0),
            0.0,
        ),
        0.0,
        1.0,
    )
    u = np.clip((b * s + gr) / c, 0.0, 1.0)
    s = np.clip((b * u - dr) / a, 0.0, 1.0)
    x = r + s[..., None] * d - u[..., None] * g
    return np.sqrt((x * x).sum(-1))
