"""The nearest features of two convex shapes of which at least one is a cylinder or an ellipsoid:
the points where they may touch, in numbers.

A pair of features with a normal in the normal cones of both is the nearest pair, because the shapes
are convex. It remains so until the normal leaves a cone, or a point leaves its feature, which
guards detect (`support_pairs`), so no other features need to be checked. Shapes that touch along a
line have two points, the ends of the overlap:

    a side on a face        while the sine of the angle between them is below LEAN_SINE: rims on the
                            face, or the side across an edge of it
    a side along a line     while they are parallel to PARALLEL_LINE_SINE: a rim or a corner on the
                            other line

If no pair of features is the nearest (a flat end on a face), or their normal would not be
determined (a rim at a corner), there are no points until the distance is half of what it was; at a
distance below 1e-9 of the size a corner can pass a rim in this way.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .feature_pairs import (
    BOUNDARY_SLACK,
    NearestPoint,
    ShapePair,
    feature_pair,
    overhang,
    point_of,
    within,
)
from .line_ends import PARALLEL_LINE_SINE, line_ends
from .nearest_normal import difference, farthest_apart, nearest_normal
from .support_features import SupportFeature, SupportShape

Array = np.ndarray
# Pairs that are farther apart than this, relative to the size, have no points.
FAR_APART_RATIO = 0.5
# How far from a normal features are searched, about the sine of the angle, in turn.
SEARCH_SINES = (1e-6, 0.03, 0.4)
# Cosine of the angle between a line and a normal, above which the normal is not near any across the
# line.
NORMAL_ALONG_LINE_COSINE = 0.999
# How far ahead features are chosen, as a share of BOUNDARY_SLACK.
LOOK_AHEAD_SHARE = 0.25
# Sine of the angle at which a flat end lies on a face: more than that at which a rim has no normal
# of its own (`support_pairs.FLAT_RIM_SQUARED_SINE`).
FLAT_END_SINE = 2e-5
# Radii of curvature plus distance, relative to the size, above which a normal is determined.
NORMAL_DETERMINED_RATIO = 1e-6


class PairFeatures(NamedTuple):
    """The contact points of a pair.

    points: their features. places (n, 3): on B, m. separation: m, negative in penetration. normal
    (3,): from B to A. reach: how far points of A may move relative to B, and of B relative to A,
    before features must be searched again, m. flat: whether the shapes touch where no pair of
    features is the nearest.
    """

    points: list[NearestPoint]
    places: Array
    separation: float
    normal: Array
    reach: tuple[float, float] = (np.inf, np.inf)
    flat: bool = False
    turn: float = 2.0  # as in `polyhedron_features.PatchFeatures`: no limit
    yaw: tuple[float, float, float] = (0.0, 0.0, 0.0)


class _Found(NamedTuple):
    """Two features by number, their normal, and its margin inside their normal cones,
    without unit.
    """

    i: int
    j: int
    n: Array
    margin: float


def pair_features(
    A: SupportShape,
    B: SupportShape,
    R: Array,
    p: Array,
    near: Array | None = None,
    w: Array | None = None,
    v: Array | None = None,
) -> PairFeatures:
    """Return the contact points of two shapes, each in the axes of its body; X_BA = (R, p).

    near (3,): an estimate of their normal, in the axes of B. w, v (3,): angular velocity of A and
    velocity of its origin relative to B; where several features are the nearest, those that will be
    so an instant later are used.
    """
    x = ShapePair(A, B, R, p, min(A.radius, B.radius))
    none = np.zeros((0, 3))
    ahead = _ahead(x, w, v)
    found = _search(x, near, ahead) if near is not None else None
    n = nearest_normal(A, B, R, p) if found is None else found.n
    d = float(n @ difference(A, B, R, p)(n))
    if d > FAR_APART_RATIO * x.size:
        return PairFeatures([], none, d, n, (d - 0.5 * FAR_APART_RATIO * x.size, np.inf))
    found = _search(x, n, ahead) if found is None else found
    if found is None:
        return PairFeatures(
            [],
            none,
            d,
            n,
            (max(0.5 * d, BOUNDARY_SLACK * x.size), np.inf),
            # n is accurate to sqrt(DISTANCE_BOUND_RATIO), `near` to rounding
            d <= BOUNDARY_SLACK * x.size
            and any(_lies_flat(x, m) for m in (n, near) if m is not None),
        )
    one = feature_pair(x, found.i, found.j, found.n)
    gap = float(one.placed(R, p).gap)
    points = line_ends(x, ahead, found.n, gap) or [one]
    return PairFeatures(points, np.array([y.placed(R, p).place for y in points]), gap, found.n)


def _lies_flat(x: ShapePair, n: Array) -> bool:
    """Return whether a flat end, with a normal along n, faces a face or a line perpendicular to
    n.
    """
    seen = [
        [f for f, off in zip(shape.features, shape.off(m)) if off < FLAT_END_SINE]
        for shape, m in ((x.A, -(x.R.T @ n)), (x.B, n))
    ]
    flat = [any(f.is_face and f.ring is None for f in own) for own in seen]
    wide = [any(f.is_face or f.is_line for f in own) for own in seen]
    return (flat[0] and wide[1]) or (flat[1] and wide[0])


# --- the nearest pair
def _ahead(x: ShapePair, w: Array | None, v: Array | None) -> ShapePair:
    """Return the pair an instant later: after a motion of LOOK_AHEAD_SHARE times BOUNDARY_SLACK of
    the size.
    """
    fastest = (
        float(np.linalg.norm(v) + np.linalg.norm(w) * np.abs(x.A.extents).max())
        if w is not None and v is not None
        else 0.0
    )
    if w is None or v is None or fastest == 0.0:
        return x
    dt = LOOK_AHEAD_SHARE * BOUNDARY_SLACK * x.size / fastest
    return x._replace(R=x.R + dt * np.cross(w, x.R.T).T, p=x.p + dt * v)


def _search(x: ShapePair, near: Array, ahead: ShapePair) -> _Found | None:
    """Return the pair of features that is the nearest both an instant later and now, with a normal
    near the one given; None if there is none.
    """
    off = np.maximum(x.A.off(-(x.R.T @ near))[:, None], x.B.off(near)[None])
    least = -np.inf
    lowest = difference(x.A, x.B, x.R, x.p)
    at_least = near @ lowest(near) - BOUNDARY_SLACK * x.size
    for reach in SEARCH_SINES:
        found = [
            one
            for i, j in np.argwhere((off > least) & (off <= reach))
            for one in _solve_pair(ahead, int(i), int(j), near)
        ]
        for best in sorted(found, key=lambda one: -one.margin):
            if best.margin < -0.5 * BOUNDARY_SLACK:
                break
            if (
                best.n @ lowest(best.n) < at_least
            ):  # another direction of separation of shapes that overlap
                continue
            now = (
                best
                if ahead is x
                else next(_solve_pair(x, best.i, best.j, best.n), best._replace(margin=-1.0))
            )
            if now.margin >= -0.5 * BOUNDARY_SLACK:
                return now
        least = reach
    return None


def _solve_pair(x: ShapePair, i: int, j: int, near: Array) -> Iterator[_Found]:
    """Yield the features i and j with their normal, if they have one near `near`."""
    f = x.A.features[i]
    g = x.B.features[j]
    R = x.R
    if f.is_face + g.is_face + f.is_line + g.is_line > 1 and not (f.is_line and g.is_line):
        return
    r = R @ f.p + x.p - g.p
    if f.is_face or g.is_face:
        n = -R @ f.normal if f.is_face else g.normal
    elif f.is_line and g.is_line:
        c = np.cross(R @ f.line, g.line)
        if np.linalg.norm(c) < PARALLEL_LINE_SINE:
            return
        n = c * np.copysign(1.0, c @ near) / np.linalg.norm(c)
    elif abs(near @ (R @ f.line + g.line)) > NORMAL_ALONG_LINE_COSINE:
        return
    else:
        n = farthest_apart(r, R @ f.Q, g.Q, near, R @ f.line + g.line)
    if n @ near > 0.0:
        yield _Found(i, j, n, _margin(x, f, g, n))


def _margin(x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array) -> float:
    """Return how far n is inside both cones, and the points are within both features, relative to
    the size; negative outside.
    """
    m = x.R.T @ n
    (a, flat_a), (b, flat_b) = point_of(f, -m), point_of(g, n)
    if flat_a or flat_b or not _steady(x, f, g, n):
        return -1.0
    a = x.R @ a + x.p
    inside = [np.inf, *(-(f.cone @ m)), *(g.cone @ n)]
    s, t = _along(x, f, g, n, a - b)
    for feature, at in ((f, s), (g, t)):
        if feature.is_line:
            inside += [(at - feature.span[0]) / x.size, (feature.span[1] - at) / x.size]
    if f.is_face:
        inside.append((within(f, x.R.T @ (b - x.p)) + overhang(x, f, g, n)) / x.size)
    if g.is_face:
        inside.append((within(g, a) + overhang(x, g, f, -m)) / x.size)
    return float(min(inside))


def _steady(x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array) -> bool:
    """Whether n is determined by the features however near they are: a corner on a rim has no
    unique normal where they touch.
    """
    if f.is_face or g.is_face or (f.is_line and g.is_line):
        return True
    H = np.zeros((3, 3))
    l = x.R @ f.line + g.line
    for Q in (x.R @ f.Q, g.Q):
        q = Q.T @ n
        h = float(np.linalg.norm(q))
        if h > 0.0:
            H += (Q @ Q.T - np.outer(Q @ q, Q @ q) / h**2) / h
    d = n @ (x.R @ f.p + x.p - g.p) - np.linalg.norm(f.Q.T @ x.R.T @ n) - np.linalg.norm(g.Q.T @ n)
    P = np.outer(n, n) + np.outer(l, l)
    return bool(
        np.linalg.eigvalsh(H + d * np.eye(3) + (np.trace(H) + x.size) * P)[0]
        > NORMAL_DETERMINED_RATIO * x.size
    )


def _along(
    x: ShapePair, f: SupportFeature, g: SupportFeature, n: Array, apart: Array
) -> tuple[float, float]:
    """Return the coordinates of the nearest points along the line of each feature, m."""
    u, v = x.R @ f.line, g.line
    if f.is_line and g.is_line:
        k = np.cross(u, v) @ n
        return -float(np.cross(apart, v) @ n / k), -float(np.cross(apart, u) @ n / k)
    return -float(u @ apart), float(v @ apart)
