"""The faces with which two convex polyhedra face each other, and the overlap of these, which is the
contact patch.

The direction of the largest separation is searched among the normals of faces and the common
normals of edges whose arcs on the Gauss map intersect [Gregorius2013]. The two faces that lie
farthest out along it, projected along it, are convex polygons; each corner of their overlap is a
corner of one inside the other, or a crossing of two edges. The composition of this overlap changes
only when one of its corners reaches an edge or an end, however the bodies move.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .polyhedra import Polyhedron

Array = np.ndarray
# Sine of the angle between edges, below which they are parallel: their common normal is only
# rounding.
PARALLEL_EDGE_SINE = 1e-7
# Corners within this distance of the outermost, relative to the size, are level with it; an axis of
# edges must separate by this much more than one of a face.
LEVEL_CORNER_RATIO = 1e-9


class Corner(NamedTuple):
    """A corner of the overlap: a corner of the first polyhedron in the face of the second
    ("corner"), the reverse ("tip"), or a crossing of edges ("crossing").

    first, second: the numbers of the corner and of the face, or of both edges. at (2,): its
    coordinates in the plane across the normal.
    """

    kind: str
    first: int
    second: int
    at: Array


class Facing(NamedTuple):
    """How two polyhedra face each other.

    separation: along the normal, m; negative in penetration. normal (3,): from the second to the
    first. faces: the numbers of the face of the first and of the second. overlap: the corners of
    the overlap of these, in cyclic order. plane (2, 3): the axes across the normal.
    """

    separation: float
    normal: Array
    faces: tuple[int, int]
    overlap: list[Corner]
    plane: Array


def moved(P: Polyhedron, R: Array, p: Array) -> Polyhedron:
    """Return a polyhedron in the axes of another body, transformed by X = (R, p)."""
    normals = P.normals @ R.T
    return replace(P, corners=P.corners @ R.T + p, normals=normals, offsets=P.offsets + normals @ p)


def facing(A: Polyhedron, B: Polyhedron) -> Facing:
    """Return the Facing of two polyhedra, both given in the same axes: their separating axis, the
    faces on both sides of it, and the overlap of these faces.
    """
    separation, n = separating_axis(A, B)
    faces = _outermost(A, -n), _outermost(B, n)
    t = np.eye(3)[np.argmin(np.abs(n))]
    x = np.cross(t, n)
    plane = np.array([x, np.cross(n, x)]) / np.linalg.norm(x)
    return Facing(separation, n, faces, _overlap(A, B, faces, plane), plane)


def separating_axis(A: Polyhedron, B: Polyhedron) -> tuple[float, Array]:
    """Return the largest separation (m) over the normals of all faces and pairs of edges, and its
    unit normal from B to A.
    """
    by_B = (B.normals @ A.corners.T).min(axis=1) - B.offsets
    by_A = (A.normals @ B.corners.T).min(axis=1) - A.offsets
    k = int(by_B.argmax())
    l = int(by_A.argmax())
    best, n = (by_B[k], B.normals[k]) if by_B[k] >= by_A[l] else (by_A[l], -A.normals[l])
    apart, axes = _crossing_edges(A, B)
    if len(apart) and apart.max() > best + LEVEL_CORNER_RATIO * min(A.radius, B.radius):
        best = apart.max()
        n = axes[int(apart.argmax())]
    return float(best), n


def _crossing_edges(A: Polyhedron, B: Polyhedron) -> tuple[Array, Array]:
    """Return separations and normals of the pairs of edges whose arcs of normals cross."""
    d = A.corners[A.edges[:, 1]] - A.corners[A.edges[:, 0]]
    g = B.corners[B.edges[:, 1]] - B.corners[B.edges[:, 0]]
    d, g = (x / np.linalg.norm(x, axis=1)[:, None] for x in (d, g))
    # (m, 2, 3)
    u = A.normals[A.sides]
    w = B.normals[B.sides]
    over = np.einsum("esi,fi->efs", u, g)
    under = np.einsum("fsi,ei->efs", w, d)
    n = np.cross(d[:, None], g[None])
    size = np.linalg.norm(n, axis=2)
    crossing = (
        (over[..., 0] * over[..., 1] < 0.0)
        & (under[..., 0] * under[..., 1] < 0.0)
        & (size > PARALLEL_EDGE_SINE)
    )
    e, f = np.nonzero(crossing)
    n = n[e, f] / size[e, f, None]
    n *= np.sign(np.einsum("ki,ki->k", n, w[f].sum(axis=1)))[:, None]
    opposed = np.einsum("ki,ki->k", n, u[e].sum(axis=1)) < 0.0
    apart = np.einsum("ki,ki->k", n, A.corners[A.edges[e, 0]] - B.corners[B.edges[f, 0]])
    return apart[opposed], n[opposed]


def _outermost(P: Polyhedron, n: Array) -> int:
    """Return the face that has most of the corners that lie farthest out along n, and among several
    the one whose normal is nearest to n.
    """
    height = P.corners @ n
    top = set(np.flatnonzero(height >= height.max() - LEVEL_CORNER_RATIO * P.radius).tolist())
    along = P.normals @ n
    return max(
        range(len(P.polygons)),
        key=lambda f: (len(top.intersection(P.polygons[f])) if along[f] > 0.0 else -1, along[f]),
    )


# --- overlap
class _Vertex(NamedTuple):
    """A vertex of a polygon that is being clipped."""

    at: Array
    origin: tuple[str, int, int]  # kind, first and second of a `Corner`
    # the line to the next vertex: an edge of the first, or a side of the face of the second
    line: tuple[str, int]


def _overlap(A: Polyhedron, B: Polyhedron, faces: tuple[int, int], plane: Array) -> list[Corner]:
    """Return the overlap of both faces, projected along the normal: the face of the first, clipped
    along each side of the face of the second [Sutherland1974].
    """
    # reversed, because the face of the first is seen from behind
    ring = A.polygons[faces[0]][::-1]
    other = B.polygons[faces[1]]
    after = (*ring[1:], ring[0])
    found = [
        _Vertex(
            plane @ A.corners[i],
            ("corner", i, faces[1]),
            ("edge", A.edge_number[frozenset((i, j))]),
        )
        for i, j in zip(ring, after)
    ]
    b = B.corners[list(other)] @ plane.T
    for k in range(len(other)):
        side = b[(k + 1) % len(b)] - b[k]
        inward = np.array([-side[1], side[0]]) / np.linalg.norm(side)
        found = _clip(B, faces, other, found, k, [float(inward @ (x.at - b[k])) for x in found])
    return [Corner(*x.origin, x.at) for x in found if x.origin[0]]


def _clip(
    B: Polyhedron,
    faces: tuple[int, int],
    ring: tuple[int, ...],
    found: list[_Vertex],
    k: int,
    inside: list[float],
) -> list[_Vertex]:
    """Return the part of a polygon on the inner side of side k. inside: the distances of its
    vertices from that side.
    """
    new = []
    for n, one in enumerate(found):
        s = inside[n]
        after = inside[(n + 1) % len(found)]
        if s >= 0.0:
            new.append(one)
        if (s >= 0.0) != (after >= 0.0):
            at = one.at + s / (s - after) * (found[(n + 1) % len(found)].at - one.at)
            new.append(
                _Vertex(
                    at,
                    _classify(B, faces, ring, one.line, k),
                    ("side", k) if s >= 0.0 else one.line,
                )
            )
    return new


def _classify(
    B: Polyhedron, faces: tuple[int, int], ring: tuple[int, ...], line: tuple[str, int], k: int
) -> tuple[str, int, int]:
    """Return (kind, first, second) of a corner of the overlap that lies on a line and on side k: a
    crossing of edges, or a corner of the second's face; an empty kind if the sides are not
    adjacent.
    """
    m = len(ring)
    if line[0] == "edge":
        return "crossing", line[1], B.edge_number[frozenset((ring[k], ring[(k + 1) % m]))]
    for j in (line[1], k):
        if {line[1], k} == {j, (j + 1) % m}:
            return "tip", faces[0], ring[(j + 1) % m]
    return "", -1, -1
