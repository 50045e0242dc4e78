"""How far the ends of an edge of A may move before it touches a polyhedron B by features without a
guard.

For each edge and corner of B there is a length that changes by no more than the ends of A move, and
is positive as long as the edge of A has no nearest point there. The largest of several such lengths
is used:

    the distance less the radius
    the slope of the distance at an end, of A's edge or of B's, where the nearest point is
    how far both ends of A are within a plane beyond which the edge or corner of B has its region
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .polyhedra import Polyhedron

Array = np.ndarray
# Sine of the angle between edges, below which they are parallel: treated as such, they are nearer
# than their ends by its square.
PARALLEL_EDGE_SINE = 1e-6
# A corner this near to one of A's ends, relative to A's length, is not between them.
FLUSH_CORNER_RATIO = 1e-9
# Parallel edges nearer than this, relative to the size, have a guard for their rotation.
CLOSE_EDGE_RATIO = 1e-3


class Pairs(NamedTuple):
    """The edge of A with each edge of B: s, u (m,): coordinates along both of the nearest points of
    their lines, m; wide (m,): lengths of B's edges; sine (m,) of the angle between them. at (m, 2):
    s and u of the nearest points of the edges; e (m, 3): from B's to A's, and distance (m,) of
    these.
    """

    s: Array
    u: Array
    wide: Array
    sine: Array
    at: Array
    e: Array
    distance: Array


def pairs_of_edges(x: Array, d: Array, long: float, B: Polyhedron) -> Pairs:
    """Return the pairs of the edge of A, from x[0] along the unit vector d over the length `long`,
    with all edges of B.
    """
    g = B.directions
    b = B.corners[B.edges[:, 0]]
    wide = np.linalg.norm(B.corners[B.edges[:, 1]] - b, axis=1)
    w, k = x[0] - b, g @ d
    across = d - k[:, None] * g
    other = g - k[:, None] * d
    square = np.maximum(np.einsum("ki,ki->k", across, across), PARALLEL_EDGE_SINE**4)
    s = -np.einsum("ki,ki->k", across, w) / square
    u = np.einsum("ki,ki->k", other, w) / square
    along = np.einsum("ki,ki->k", g, w)
    own = w @ d
    t = np.clip(s, 0.0, long)
    y = np.clip(along + k * t, 0.0, wide)
    t = np.clip(k * y - own, 0.0, long)
    e = w + t[:, None] * d - y[:, None] * g
    return Pairs(s, u, wide, np.sqrt(square), np.column_stack([t, y]), e, np.linalg.norm(e, axis=1))


def reach_of_edges(
    pairs: Pairs,
    x: Array,
    d: Array,
    B: Polyhedron,
    radius: float,
    size: float,
    watched: Callable[[int, int, int], bool],
) -> tuple[float, Array]:
    """Return how far the ends of A may move before its edge crosses an edge of B without a guard,
    m; and, for an edge parallel to A's and near it, the direction about which rotations have a
    guard.

    watched(kind, end, number): whether a feature is a point, identified as by
    `rounded_features._key`.
    """
    long = float(np.linalg.norm(x[-1] - x[0]))
    scale = 1.0 + 2.0 * pairs.distance / np.minimum(long, pairs.wide)
    bound = np.maximum.reduce(
        [pairs.distance - radius, _slopes(pairs, d, B, long) / scale, _within_planes(pairs, x, B)]
    )
    parallel = pairs.sine < PARALLEL_EDGE_SINE
    yaw = np.zeros(3)
    along = np.flatnonzero(parallel & (bound < CLOSE_EDGE_RATIO * size))
    if len(along):
        k = along[pairs.distance[along].argmin()]
        yaw = pairs.e[k] / pairs.distance[k] / PARALLEL_EDGE_SINE
        bound[k] = np.inf
    for k in np.flatnonzero((bound < size) & ~parallel):
        if _is_watched(pairs, int(k), long, B, watched):
            bound[k] = np.inf
    return float(bound.min(initial=np.inf)), yaw


def _slopes(pairs: Pairs, d: Array, B: Polyhedron, long: float) -> Array:
    """Return how much the distance increases from the end where the nearest point is, per unit of
    rotation, m; zero if it is between the ends.
    """
    t, y = pairs.at.T
    own = pairs.e @ d
    other = np.einsum("ki,ki->k", pairs.e, B.directions)
    one = np.where(t <= 0.0, own, np.where(t >= long, -own, 0.0))
    two = np.where(y <= 0.0, -other, np.where(y >= pairs.wide, other, 0.0))
    return np.where(pairs.sine < PARALLEL_EDGE_SINE, 0.0, np.maximum(one, two))


def _within_planes(pairs: Pairs, x: Array, B: Polyhedron) -> Array:
    """Return how far both ends of A are within a plane that bounds the region of each
    edge of B, m.
    """
    away = x[None] - B.corners[B.edges[:, :1]]  # (m, 2, 3)
    u = np.einsum("kei,ki->ke", away, B.directions)
    found = np.maximum((-u).min(axis=1), (u - pairs.wide[:, None]).min(axis=1))
    return np.maximum(
        found, np.einsum("kji,kei->kje", B.inward, away).min(axis=2).max(axis=1, initial=-np.inf)
    )


def _is_watched(
    pairs: Pairs, k: int, long: float, B: Polyhedron, watched: Callable[[int, int, int], bool]
) -> bool:
    """Whether the nearest points of a pair of edges belong to a point with a guard, whose margins
    detect the transition to others.
    """
    t, y = pairs.at[k]
    end = 0 if t <= 0.0 else 1 if t >= long else -1
    c = int(B.edges[k, 0]) if y <= 0.0 else int(B.edges[k, 1]) if y >= pairs.wide[k] else -1
    if end >= 0:
        return watched(2, end, c) if c >= 0 else watched(1, end, k)
    return watched(4, 0, c) if c >= 0 else watched(3, 0, k)


def reach_of_corners(
    x: Array,
    d: Array,
    long: float,
    B: Polyhedron,
    radius: float,
    watched: Callable[[int, int, int], bool],
) -> float:
    """Return how far the ends of A may move before its edge touches a corner of B without a guard,
    m.
    """
    w = B.corners - x[0]
    s = w @ d
    t = np.clip(s, 0.0, long)
    e = t[:, None] * d - w
    distance = np.linalg.norm(e, axis=1)
    least = np.inf
    for c in np.argsort(distance):
        if distance[c] - radius >= least:
            break
        if watched(4, 0, int(c)) or (s[c] != t[c] and watched(2, int(s[c] > t[c]), int(c))):
            continue
        g = B.corners[B.neighbours[c]] - B.corners[c]
        g = g / np.linalg.norm(g, axis=1)[:, None]
        across = np.linalg.norm(np.cross(g, d), axis=1) >= PARALLEL_EDGE_SINE
        along = [
            B.edge_number[frozenset((int(c), int(other)))] for other in B.neighbours[c][~across]
        ]
        end = int(s[c] > 0.5 * long)
        # an end with a guard is near the same edge, and leaves it there
        if abs(s[c] - 0.5 * long) >= (0.5 - FLUSH_CORNER_RATIO) * long and any(
            watched(1, end, k) for k in along
        ):
            continue
        g = g[across]
        scale = 1.0 + 2.0 * distance[c] / long
        within = ((x - B.corners[c]) @ g.T).min(axis=0).max(initial=-np.inf)
        least = min(
            least,
            max(
                distance[c] - radius,
                abs(s[c] - t[c]) / scale,
                float((g @ e[c]).max(initial=-np.inf)) / scale,
                float(within),
            ),
        )
    return float(least)
