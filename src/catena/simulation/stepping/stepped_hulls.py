"""The constants of polyhedra that touch by time stepping: corners, faces and edges of boxes and of
the hulls of meshes, as tables of the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...collision import Polyhedron, polyhedron
from ...collision.manifolds import Hulls
from ...model import Pose, Shape
from ...spatial import sqrt

# the largest hull of a mesh that time stepping admits: faces, and corners of one face
MOST_FACES = 32
MOST_FACE_CORNERS = 8
UNIT = Shape("box", (1.0, 1.0, 1.0))


def hull_of(shape: Shape) -> Polyhedron:
    """In the shape's own axes; a box of one by one by one in place of any."""
    return polyhedron(UNIT if shape.kind == "box" else replace(shape, pose=Pose()), {})


def size_of(shape: Shape, size: Sequence[Any]) -> tuple[Any, ...]:
    """(3,): how much a hull is stretched; radius and length of what is round."""
    return (1.0, 1.0, 1.0) if shape.kind == "mesh" else (*size, 0.0, 0.0)[:3]


def radius_of(shape: Shape, size: Sequence[Any]) -> Any:
    """Of a ball about the middle of a shape that holds it."""
    if shape.kind == "mesh":
        return float(np.linalg.norm(hull_of(shape).corners, axis=1).max())
    x, y, z = size
    return 0.5 * sqrt(x * x + y * y + z * z) if shape.kind == "box" else x + 0.5 * y


def sides_of(shape: Shape) -> int:
    """Corners of a face, at most."""
    return max(map(len, hull_of(shape).polygons))


def hulls(
    pairs: Sequence[Sequence[Shape | None]], sides: int, turn: Sequence[float], owner: Sequence[int]
) -> Hulls:
    """The tables of the polyhedra of pairs, each once."""
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
    )


def _key(x: Shape) -> Any:
    return "box" if x.kind == "box" else (x.file, x.size)


def _edges(p: Polyhedron) -> np.ndarray:
    """(m, 12): an end, the way to the other, the normals a and b of the faces beside it, with b x a
    along the edge.
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
