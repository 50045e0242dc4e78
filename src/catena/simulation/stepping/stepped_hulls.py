"""The constants of polyhedra that touch by time stepping: corners, faces and edges of boxes and of
the hulls of meshes, as tables that the compiled code reads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...collision import Polyhedron, polyhedron, reach_of_grid
from ...collision.manifolds import Hulls
from ...model import SHAPE_KINDS as KINDS
from ...model import Pose, Shape
from ...spatial import sqrt

# the largest hull of a mesh that time stepping admits: faces, and corners of one face
MOST_FACES = 32
MOST_FACE_CORNERS = 16
UNIT = Shape("box", (1.0, 1.0, 1.0))


def hull_of(shape: Shape) -> Polyhedron:
    """Return the polyhedron of a shape in the shape's own axes; a box is a unit cube, which its
    sizes stretch.
    """
    return polyhedron(UNIT if shape.kind == "box" else replace(shape, pose=Pose()), {})


def size_of(shape: Shape, size: Sequence[Any]) -> tuple[Any, ...]:
    """Return (3,): the factors by which the polyhedron of `hull_of` is stretched, or radius and
    length of a round shape. size: the sizes of the shape.
    """
    return (1.0, 1.0, 1.0) if shape.kind == "mesh" else (*size, 0.0, 0.0)[:3]


def radius_of(shape: Shape, size: Sequence[Any]) -> Any:
    """Return the radius (m) of a ball about the middle of a shape that contains it. size: as
    `size_of` returns it.
    """
    if KINDS[shape.kind].has_grid:
        return reach_of_grid(shape, size)
    if shape.kind == "mesh":
        return float(np.linalg.norm(hull_of(shape).corners, axis=1).max())
    x, y, z = size
    return 0.5 * sqrt(x * x + y * y + z * z) if shape.kind == "box" else x + 0.5 * y


def sides_of(shape: Shape) -> int:
    """Return the largest number of corners of a face of a shape's polyhedron."""
    return max(map(len, hull_of(shape).polygons))


def hulls(
    pairs: Sequence[Sequence[Shape | None]],
    sides: int,
    turn: Sequence[float],
    owner: Sequence[int],
    grids: np.ndarray,
    fields: np.ndarray,
) -> Hulls:
    """Return the tables of the polyhedra of all pairs, each polyhedron once.

    pairs: two shapes each, None for one without a polyhedron. sides: the most corners of a face.
    turn: -1 for pairs whose shapes are swapped, else 1. owner: the pair of each contact point.
    grids, fields: of heightfields, see `Hulls`.
    """
    numbers: dict[Any, int] = {}
    used: list[Polyhedron] = []
    for x in (UNIT, *(x for pair in pairs for x in pair if x is not None)):
        if _key(x) not in numbers:
            numbers[_key(x)] = len(used)
            used.append(hull_of(x))
    count = np.array(
        [(len(p.corners), len(p.polygons), len(p.edges)) for p in used], dtype=np.int64
    )
    c, f, e = count.max(axis=0)
    corner = np.zeros((len(used), c, 3))
    normal = np.zeros((len(used), f, 3))
    polygon = np.zeros((len(used), f, sides, 3))
    edge = np.zeros((len(used), e, 12))
    for k, p in enumerate(used):
        corner[k, : count[k, 0]], normal[k, : count[k, 1]], edge[k, : count[k, 2]] = (
            p.corners,
            p.normals,
            _edges(p),
        )
        for i, face in enumerate(p.polygons):
            # faces with more corners than `sides` are not used: a box that only meets spheres
            polygon[k, i] = (
                p.corners[[face[min(j, len(face) - 1)] for j in range(sides)]]
                if len(face) <= sides
                else 0.0
            )
    shape = np.array(
        [[0 if x is None else numbers[_key(x)] for x in pair] for pair in pairs], dtype=np.int64
    )
    return Hulls(
        count,
        np.array([sides], dtype=np.int64),
        corner,
        normal,
        polygon,
        edge,
        shape,
        np.array(turn, float),
        np.array(owner, dtype=np.int64),
        grids,
        fields,
    )


def _key(x: Shape) -> Any:
    """Return the key by which equal polyhedra are found: all boxes share one."""
    return "box" if x.kind == "box" else (x.file, x.size)


def _edges(p: Polyhedron) -> np.ndarray:
    """Return (m, 12), for each edge: an end, the vector to the other end, and the normals a and b
    of the faces next to it, with b x a along the edge.
    """
    rows = []
    for (i, j), (a, b) in zip(p.edges, p.sides):
        way = p.corners[j] - p.corners[i]
        one = p.normals[a]
        other = p.normals[b]
        if np.cross(other, one) @ way < 0.0:
            one, other = other, one
        rows.append(np.concatenate([p.corners[i], way, one, other]))
    return np.array(rows)
