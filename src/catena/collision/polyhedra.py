"""Convex polyhedra: corners, edges and faces of a box, or of the convex hull of a mesh, in the axes
of its body.

A sphere is one corner with a radius about it, a capsule two corners and their edge with a radius;
these have no faces.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from itertools import product

import numpy as np

from ..errors import MechanismError
from ..model import Shape, value_of
from .mesh_hull import hull_corners, warn_of_file

Array = np.ndarray
# Triangles of a hull whose corners are at most this far from a plane, relative to the hull's size,
# are one face.
COPLANAR_RATIO = 1e-9
# Kinds of shapes that are a core with a radius: the z coordinates of the corners of the core.
CORES: dict[str, Callable[[tuple[float, ...]], tuple[float, ...]]] = {
    "sphere": lambda size: (0.0,),
    "capsule": lambda size: (-0.5 * size[1], 0.5 * size[1]),
}
# The faces of a box, with corners in the order of `product`.
BOX: tuple[tuple[int, ...], ...] = (
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
)


@dataclass(frozen=True, eq=False)
class Polyhedron:
    """A convex polyhedron.

    corners (n, 3), m. polygons: the corner numbers of each face, in cyclic order as seen from
    outside. normals (k, 3), offsets (k,): a point x is inside if normals @ x <= offsets. edges (m,
    2): corner numbers; sides (m, 2): the numbers of the faces on both sides of each edge.
    """

    corners: Array
    polygons: tuple[tuple[int, ...], ...]
    normals: Array
    offsets: Array
    edges: Array
    sides: Array

    @functools.cached_property
    def radius(self) -> float:
        """Half the diagonal of the bounding box along the body's axes, m."""
        return float(np.linalg.norm(np.ptp(self.corners, axis=0))) / 2.0

    @functools.cached_property
    def extents(self) -> Array:
        """The corners (8, 3) of the bounding box along the body's axes."""
        low = self.corners.min(axis=0)
        high = self.corners.max(axis=0)
        return np.array(
            [
                [(low, high)[s][k] for k, s in enumerate(signs)]
                for signs in product((0, 1), repeat=3)
            ]
        )

    @functools.cached_property
    def neighbours(self) -> tuple[Array, ...]:
        """For each corner the numbers of the corners at the other ends of its edges."""
        found: list[list[int]] = [[] for _ in self.corners]
        for i, j in self.edges:
            found[i].append(int(j))
            found[j].append(int(i))
        return tuple(np.array(x) for x in found)

    @functools.cached_property
    def directions(self) -> Array:
        """Unit vectors (m, 3) along the edges."""
        d = self.corners[self.edges[:, 1]] - self.corners[self.edges[:, 0]]
        return np.asarray(d / np.linalg.norm(d, axis=1)[:, None])

    @functools.cached_property
    def inward(self) -> Array:
        """For each edge the unit vectors (m, 2, 3) perpendicular to it into the faces on both
        sides; (m, 0, 3) without faces.
        """
        middle = np.array(
            [self.corners[list(face)].mean(axis=0) for face in self.polygons]
        ).reshape(-1, 3)
        x = middle[self.sides] - self.corners[self.edges[:, :1]]
        x = x - np.einsum("kji,ki->kj", x, self.directions)[..., None] * self.directions[:, None]
        return np.asarray(x / np.linalg.norm(x, axis=2)[..., None])

    @functools.cached_property
    def edge_number(self) -> dict[frozenset[int], int]:
        """A dictionary from the set of both corners of an edge to its number."""
        return {frozenset((int(i), int(j))): k for k, (i, j) in enumerate(self.edges)}


def polyhedron(shape: Shape, parameters: Mapping[str, float]) -> Polyhedron:
    """Return the polyhedron of a box or mesh, or the core of a sphere or capsule, in the axes of
    its body, at given values of the mechanism's parameters.
    """
    numbers = tuple(
        _number(x, shape, parameters)
        for x in (
            *shape.size,
            *shape.pose.position,
            *(x for row in shape.pose.rotation for x in row),
        )
    )
    found = _build(shape.kind, numbers[:-12], shape.file, numbers[-12:])
    if shape.file:
        warn_of_file(shape.file)
    return found


def rounding(shape: Shape, parameters: Mapping[str, float]) -> float:
    """Return the radius about the polyhedron of a shape, m: that of a sphere or
    capsule, else zero.
    """
    return _number(shape.size[0], shape, parameters) if shape.kind in CORES else 0.0


def most_corners(shape: Shape, parameters: Mapping[str, float]) -> int:
    """Return the largest number of corners of a face of a shape."""
    return max(len(face) for face in polyhedron(shape, parameters).polygons)


def _number(x: object, shape: Shape, parameters: Mapping[str, float]) -> float:
    """Return the value of a size or coordinate; raise a MechanismError if it has none."""
    found = value_of(x, parameters)
    if found is None or not np.isfinite(float(found)):
        raise MechanismError(
            f"a {shape.kind} that touches another has a size or place {x} without a value; give its"
            " parameters numbers"
        )
    return float(found)


@functools.lru_cache(maxsize=256)
def _build(kind: str, size: tuple[float, ...], file: str, pose: tuple[float, ...]) -> Polyhedron:
    """Return the polyhedron of a kind of shape with these numbers, which is cached."""
    R = np.reshape(pose[3:], (3, 3))
    p = np.array(pose[:3])
    if kind in CORES:
        return _core(np.array([(0.0, 0.0, z) for z in CORES[kind](size)]) @ R.T + p)
    corners = np.array(
        list(product(*((-0.5 * x, 0.5 * x) for x in size)))
        if kind == "box"
        else hull_corners(Shape(kind, size, file=file))
    )
    polygons = BOX if kind == "box" else _faces(corners, file)
    return _from_faces(corners @ R.T + p, polygons)


def _core(corners: Array) -> Polyhedron:
    """Return a polyhedron of one or two corners and without faces."""
    edges = np.array([(0, 1)] * (len(corners) - 1), int).reshape(-1, 2)
    return Polyhedron(
        corners, (), np.zeros((0, 3)), np.zeros(0), edges, np.zeros((len(edges), 0), int)
    )


def _from_faces(corners: Array, polygons: Iterable[tuple[int, ...]]) -> Polyhedron:
    """Return the polyhedron with these corners and faces."""
    polygons = tuple(polygons)
    normals: list[Array] = []
    edges: dict[frozenset[int], tuple[int, int]] = {}
    sides: dict[frozenset[int], list[int]] = {}
    for f, face in enumerate(polygons):
        x = corners[list(face)] - corners[list(face)].mean(axis=0)
        n = np.cross(x, np.roll(x, -1, axis=0)).sum(axis=0)
        normals.append(n / np.linalg.norm(n))
        for pair in zip(face, (*face[1:], face[0])):
            edges.setdefault(frozenset(pair), pair)
            sides.setdefault(frozenset(pair), []).append(f)
    N = np.array(normals)
    offsets = np.array([float((corners[list(face)] @ n).mean()) for face, n in zip(polygons, N)])
    return Polyhedron(
        corners,
        polygons,
        N,
        offsets,
        np.array(list(edges.values())),
        np.array([sides[k] for k in edges]),
    )


# --- hulls of meshes
def _faces(corners: Array, file: str) -> tuple[tuple[int, ...], ...]:
    """Return the faces of the convex hull of corners; triangles that lie in one plane are merged
    into one face, however small.
    """
    from scipy.spatial import ConvexHull

    x = corners - corners.mean(axis=0)
    x = x / np.abs(x).max()
    hull = ConvexHull(x)
    group = _planes(x, hull.simplices, hull.neighbors)
    found = []
    for g in sorted(set(group)):
        own = [k for k, other in enumerate(group) if other == g]
        found.append(
            _in_turn(x, np.unique(hull.simplices[own]), hull.equations[own, :3].mean(axis=0))
        )
    if any(len(face) < 3 for face in found) or sum(map(len, found)) % 2:
        raise MechanismError(
            f"mesh {file!r}: the faces of its convex hull are too small to be distinguished;"
            " simplify it"
        )
    return tuple(found)


def _planes(x: Array, triangles: Array, neighbours: Array) -> list[int]:
    """Return the number of the plane of each triangle: starting from the largest, all connected
    triangles within COPLANAR_RATIO of its plane are merged with it.
    """
    y = x[triangles]
    area = np.linalg.norm(np.cross(y[:, 1] - y[:, 0], y[:, 2] - y[:, 0]), axis=1)
    group = [-1] * len(triangles)
    for seed in np.argsort(-area):
        if group[seed] >= 0:
            continue
        n = np.cross(y[seed, 1] - y[seed, 0], y[seed, 2] - y[seed, 0]) / area[seed]
        group[seed], front = int(seed), [int(seed)]
        while front:
            for k in neighbours[front.pop()]:
                if group[k] < 0 and np.abs((y[k] - y[seed, 0]) @ n).max() <= COPLANAR_RATIO:
                    group[k] = int(seed)
                    front.append(int(k))
    return group


def _in_turn(x: Array, own: Array, n: Array) -> tuple[int, ...]:
    """Return the corners of a face in cyclic order about its outward normal n."""
    middle = x[own] - x[own].mean(axis=0)
    u = middle[np.argmax(np.linalg.norm(middle, axis=1))]
    angle = np.arctan2(middle @ np.cross(n, u), middle @ u)
    return tuple(int(k) for k in own[np.argsort(angle)])
